"""What a learner tells those who count and time its calls."""

import logging
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypeAlias

_LOG = logging.getLogger("semibandits")

Kind: TypeAlias = Literal["ask", "tell", "observe", "cancel", "expire", "change_policy"]


class Event(NamedTuple):
    """A call that has ended, as a hook is told of it."""

    kind: Kind
    seconds: float
    """How long it took."""
    ids: tuple[str, ...] = ()
    """Of the decisions that it is about."""
    solving: float = 0.0
    """Of these seconds, those of the solver."""
    weights: int = 0
    """How many weights were taken in."""
    error: Exception | None = None
    """What it raised: then nothing has changed."""


Hook: TypeAlias = Callable[[Event], object]


def announce(hooks: Sequence[Hook], event: Event) -> None:
    """Tells each of them. What one raises is written to the log of this package: it is not the caller's affair."""
    for hook in list(hooks):
        try:
            hook(event)
        except Exception:
            _LOG.warning("the hook %r raised on %s", hook, event.kind, exc_info=True)
