"""Explore, then commit: the baseline of all baselines."""

import math
from dataclasses import dataclass
from typing import ClassVar

from semibandits.kernel import where
from semibandits.policies.checks import rounds
from semibandits.types import Clock, Game, IndexPolicy, Init, Params, Scalar, Stats


@dataclass(frozen=True)
class ExploreThenCommit(IndexPolicy):
    """Explores for `rounds` rounds, then chooses the best solution by the means observed until then, for ever.

    While exploring, an item observed T(e) times scores 1 / (1 + T(e)), so that the least observed are asked for.
    Without `rounds` it explores for n^(2/3) of n rounds, and so needs to know the horizon.
    """

    rounds: int | None = None

    # (count, sum, mean of what was observed while exploring)
    prior: ClassVar[Stats] = (0.0, 0.0, 0.0)
    init: ClassVar[Init] = "optimistic"  # type: ignore[misc]
    random: ClassVar[bool] = False
    instead_of_horizon: ClassVar[str] = ": say for how many rounds to explore"

    def __post_init__(self) -> None:
        if self.rounds is not None:
            object.__setattr__(self, "rounds", rounds("rounds", self.rounds))

    @property
    def needs_horizon(self) -> bool:  # type: ignore[override]
        return self.rounds is None

    def params(self, game: Game) -> Params:
        return (self.rounds or math.ceil(game.horizon ** (2.0 / 3.0) - 1e-9),)

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        return (where(round <= p[0], 1.0, 0.0),)

    @staticmethod
    def observe(s: Stats, x: Scalar, round: int, key: int, item: Scalar, p: Params) -> Stats:
        count, sum_ = s[0] + 1.0, s[1] + x
        return (count, sum_, where(round <= p[0], sum_ / count, s[2]))

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        return where(c[0] > 0.0, 1.0 / (1.0 + s[0]), s[2])
