"""CMOSS: a radius without log n, the open question of Kveton et al. 2015, Section 10 (Ye et al. 2025)."""

import math
from dataclasses import dataclass
from typing import ClassVar

from semibandits._util.checks import Begin, check_init, check_positive
from semibandits.errors import BadArgument
from semibandits.kernel import ln, sqrt, where
from semibandits.types import Clock, Game, IndexPolicy, Params, Scalar, Stats
from semibandits.types.policies import of_count_and_sum


@dataclass(frozen=True)
class CMOSS(IndexPolicy):
    """Chooses the best solution under bounds whose radius vanishes for items observed often enough:

        U_t(e) = ŵ(e) + sqrt(c · ln₊(1 / (delta · T(e))) / T(e)),    delta = L max(1, log₂ K)² / (K n)

    where ln₊ is the logarithm, at least 0. With K = 1 and c = 1 that is MOSS (Audibert and Bubeck 2009). It needs the
    horizon n; `anytime=True` takes the round t in its place, which also works live, and for which nothing is claimed.

    The authors state a regret of order log(K) sqrt(K L n) for K <= L/2 (from the abstract; the proof was not checked).
    Their delta is known here from a review of the paper only, where it is another one for K > L/2; the floor under
    log₂ K is ours (theirs is 0 for K = 1), and c could not be found: so both are parameters.
    """

    needs = "the horizon, or anytime=True"
    guarantee = "O(log(K) sqrt(K L n)) for K ≤ L/2, stated by its authors; none with anytime=True"
    use = "a known, short horizon with small gaps"
    formula = "ŵ + sqrt(c · ln₊(1 / (delta · T)) / T)"

    c: float = 1.0
    delta: float | None = None
    anytime: bool = False
    init: Begin = "all"

    prior: ClassVar[Stats] = (0.0, 0.0)
    random: ClassVar[bool] = False
    instead_of_horizon: ClassVar[str] = ": use anytime=True"

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", check_positive("c", self.c))
        if self.delta is not None:
            object.__setattr__(self, "delta", check_positive("delta", self.delta))
        if not isinstance(self.anytime, bool):
            raise BadArgument(f"anytime must be True or False, got {self.anytime!r:.100}")
        if self.anytime and self.delta is not None:
            raise BadArgument(f"anytime=True makes a delta of its own in every round, got delta={self.delta!r}")
        object.__setattr__(self, "init", check_init(self.init))

    @property
    def needs_horizon(self) -> bool:  # type: ignore[override]
        return not self.anytime and self.delta is None

    def params(self, game: Game) -> Params:
        size = max(game.max_size, 1)
        per_round = size / (game.n_items * max(1.0, math.log2(size)) ** 2)
        if self.anytime:
            return (self.c, per_round, 0.0)
        return (self.c, 0.0, per_round * game.horizon if self.delta is None else 1.0 / self.delta)

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        """1 / delta."""
        return (p[1] * round + p[2],)

    @staticmethod
    def observe(s: Stats, x: Scalar, round: int, key: int, item: Scalar, p: Params) -> Stats:
        return (s[0] + 1.0, s[1] + x)

    observe_many = staticmethod(of_count_and_sum(observe))

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        seen = s[0] > 0.0
        per = 1.0 / where(seen, s[0], 1.0)
        often = c[0] * per
        return where(seen, s[1] * per + sqrt(p[0] * ln(where(often > 1.0, often, 1.0)) * per), 1.0)
