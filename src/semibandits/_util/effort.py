"""A budget of work, counted where it is done: who has little patience gives up at the same point on any machine."""

from contextvars import ContextVar, Token
from types import TracebackType

CALL = 100
"""What a call of an oracle counts for, beside its items: of a user's own nobody knows better."""


class OutOfPatience(BaseException):
    """More work was announced than there is patience for.

    Like a cancellation it is no `Exception`: nobody on the way may take it for a failure of what was interrupted.
    """


class Patience:
    """So much work is waited for in `with` blocks of this object, all together, in about microseconds of plain Python.

    >>> with Patience(1000):
    ...     spend(900)
    """

    def __init__(self, work: int) -> None:
        self.left = work
        self._tokens: list[Token[Patience | None]] = []

    def __enter__(self) -> "Patience":
        self._tokens.append(_current.set(self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _current.reset(self._tokens.pop())


_current: ContextVar[Patience | None] = ContextVar("patience", default=None)


def spend(work: int) -> None:
    """Announces work; raises `OutOfPatience` where it is too much. Without a `Patience` there is no limit."""
    patience = _current.get()
    if patience is not None:
        patience.left -= work
        if patience.left < 0:
            raise OutOfPatience
