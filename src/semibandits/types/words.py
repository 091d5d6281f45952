"""The words that sets, environments and policies share."""

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from semibandits._util.arrays import Items, Scalar
from semibandits._util.showing import Shown
from semibandits._util.suggestions import Suggests
from semibandits.types.sets import FeasibleSet

Sense: TypeAlias = Literal["max", "min"]
Init: TypeAlias = Literal["paper", "all", "optimistic"]
FeedbackKind: TypeAlias = Literal["semi", "bandit"]
"""What is seen of a decision: the weight of every chosen item, or only their sum."""
State: TypeAlias = Any
Note: TypeAlias = Any

Stats: TypeAlias = tuple[Scalar, ...]
Clock: TypeAlias = tuple[Scalar, ...]
Params: TypeAlias = tuple[Any, ...]
"""Numbers, and arrays that are read at an item."""


@dataclass(frozen=True, eq=False, slots=True)
class Decision(Shown, Suggests):
    """What a learner decided: choose `items`, then tell it their weights under `id`."""

    id: str
    round: int
    items: Items
    labels: tuple[str, ...] = ()
    """The items' names, where the learner has labels."""
    time: float = field(default=0.0, repr=False)
    """When it was made, in seconds since 1970 (UTC), as `time.time()` says. Files of old do not tell: of a decision in
    one of those, when it was loaded."""
    feasible: FeasibleSet | None = field(default=None, repr=False)
    """The set it was chosen from, where that was another than the learner's own."""
    chosen_from: str = field(default="", repr=False)
    """What that set prints, which a saved learner keeps of it."""

    def as_dict(self) -> dict[str, Any]:
        """What JSON can say of it, for logs and messages."""
        known: dict[str, Any] = {"id": self.id, "round": self.round, "items": self.items.tolist(), "time": self.time}
        if self.labels:
            known["labels"] = list(self.labels)
        if self.chosen_from:
            known["chosen_from"] = self.chosen_from
        return known

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decision) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)


class Game(NamedTuple):
    """What a policy may know in advance; `horizon` 0 means unknown. Where a set is not `signed`, scores end at 1."""

    n_items: int
    max_size: int
    horizon: int = 0
    signed: bool = True
    offset: float = 0.0
    """A solution is worth the sum of x + offset over its items: other than 0 where the bounds are not (0, 1).

    NaN where x is on the scale of each item's own bounds: then the worth is no such sum."""
