"""Explore, then commit: the baseline of all baselines."""

import math
from dataclasses import dataclass
from typing import ClassVar

from semibandits._util.checks import check_rounds
from semibandits.kernel import where
from semibandits.types import Clock, Game, IndexPolicy, Init, Params, Scalar, Stats

HUGE = 1e12
"""Outweighs bounds up to so many times their width."""


@dataclass(frozen=True)
class ExploreThenCommit(IndexPolicy):
    """Explores for `rounds` rounds, then chooses the best solution by the means observed until then, for ever.

    While exploring, an item observed T(e) times scores a huge number divided by 1 + T(e), whatever the bounds are, so
    that the least observed are asked for; 1 - T(e) on sets whose oracle takes no positive weights. Without `rounds` it
    explores for n^(2/3) of n rounds, and so needs to know the horizon.
    """

    needs = "the horizon, or rounds"
    guarantee = "O(n^(2/3)) up to logarithms"
    use = "a baseline; a trial before a decision for good"
    formula = "what asks for the least observed items for so many rounds, then the mean of what was seen in them"

    rounds: int | None = None

    # (count, sum, and both of what was asked for while exploring)
    prior: ClassVar[Stats] = (0.0, 0.0, 0.0, 0.0)
    init: ClassVar[Init] = "optimistic"  # type: ignore[misc]
    random: ClassVar[bool] = False
    common_scale: ClassVar[bool] = True
    instead_of_horizon: ClassVar[str] = ": say for how many rounds to explore"

    def __post_init__(self) -> None:
        if self.rounds is not None:
            object.__setattr__(self, "rounds", check_rounds("rounds", self.rounds))

    @property
    def needs_horizon(self) -> bool:  # type: ignore[override]
        return self.rounds is None

    def params(self, game: Game) -> Params:
        return (self.rounds or math.ceil(game.horizon ** (2.0 / 3.0) - 1e-9), HUGE if game.signed else 0.0)

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        return (where(round <= p[0], 1.0, 0.0),)

    @staticmethod
    def observe(s: Stats, x: Scalar, round: int, key: int, item: Scalar, p: Params) -> Stats:
        exploring = where(round <= p[0], 1.0, 0.0)
        return (s[0] + 1.0, s[1] + x, s[2] + exploring, s[3] + exploring * x)

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        wanted = where(p[1] > 0.0, p[1] / (1.0 + s[0]), 1.0 - s[0])
        return where(c[0] > 0.0, wanted, s[3] / where(s[2] > 0.0, s[2], 1.0))
