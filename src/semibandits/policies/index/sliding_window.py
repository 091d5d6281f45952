"""CombUCB1 on the last rounds only, for worlds that change (after Garivier and Moulines 2011)."""

from dataclasses import dataclass, field
from typing import ClassVar

from semibandits._util.checks import check_positive, check_rounds
from semibandits.kernel import log, sqrt, where
from semibandits.policies.index.combucb1 import CombUCB1
from semibandits.types import Clock, Game, IndexPolicy, Init, Params, Scalar, Stats


@dataclass(frozen=True)
class SlidingWindow(IndexPolicy):
    """CombUCB1 that remembers `window` rounds:

        U_t(e) = ŵ(e) + sqrt(alpha · log(min(t-1, window)) / T(e))

    where T(e) and ŵ(e) are of the rounds t-window, ..., t-1. An item without observations there scores as if it had
    been seen once, at its best. In a live learner a round's feedback leaves with the round it was asked in; what
    arrives later than that is not learned.

    A long window forgets too slowly, a short one never learns; in one that is too short to see all items some are never
    tried. For Υ changes in n rounds Garivier and Moulines take 2 sqrt(n log(n) / Υ), and alpha close to 1/2.
    """

    needs = "an idea of how often things change"
    guarantee = "O(V^(1/3) n^(2/3)) up to logarithms if the variation V is known, stated by Chen et al. 2021"
    use = "a world with sudden changes"
    formula = "CombUCB1 on the last `window` rounds"

    window: int = field()  # or the base's 0 would be its default
    alpha: float = 1.5

    # (count, sum, 1 / sqrt(count)), as CombUCB1
    prior: ClassVar[Stats] = CombUCB1.prior
    init: ClassVar[Init] = "optimistic"  # type: ignore[misc]
    random: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "window", check_rounds("window", self.window))
        object.__setattr__(self, "alpha", check_positive("alpha", self.alpha))

    def params(self, game: Game) -> Params:
        return (self.alpha, self.window)

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        return (sqrt(p[0] * log(min(max(round - 1, 1), p[1]))),)

    observe = staticmethod(CombUCB1.observe)

    @staticmethod
    def forget(s: Stats, x: Scalar, round: int, p: Params) -> Stats:
        count, sum_ = s[0] - 1.0, s[1] - x
        seen = count > 0.0
        sum_ = where(seen & (sum_ > 0.0), where(sum_ < count, sum_, count), 0.0)  # rounding must not leave the range
        return (count, sum_, where(seen, 1.0 / sqrt(where(seen, count, 1.0)), 0.0))

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        return where(s[2] > 0.0, s[2] * (s[1] * s[2] + c[0]), 1.0 + c[0])
