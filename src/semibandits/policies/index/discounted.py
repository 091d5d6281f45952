"""CombUCB1 with discounted observations, for worlds that change (after Garivier and Moulines 2011)."""

from dataclasses import dataclass
from typing import ClassVar

from semibandits._util.checks import check_fraction, check_positive
from semibandits.kernel import exp, log, sqrt, where
from semibandits.types import Clock, Game, IndexPolicy, Init, Params, Scalar, Stats

LEAST = 1e-12
"""What is left of an observation at least: else a score could grow beyond all bounds."""


@dataclass(frozen=True)
class Discounted(IndexPolicy):
    """CombUCB1 in which an observation counts gamma times less with every round that passes:

        U_t(e) = ŵ(e) + sqrt(alpha · log(n) / T(e)),    T(e) = Σ gamma^(t-1-s),    n = (1 - gamma^(t-1)) / (1 - gamma)

    where the sum is over the rounds s < t in which e was observed, ŵ(e) is the mean with these weights, and n is the
    discounted number of rounds. An item never seen scores higher than all others of its bounds. Late feedback counts
    as much as if it had been in time.

    About 1 / (1 - gamma) rounds matter. For Υ changes in n rounds Garivier and Moulines take gamma = 1 - sqrt(Υ/n) / 4.
    A learner's `counts` are those of the item's last observation, rounded down.
    """

    needs = "an idea of how fast things change"
    guarantee = "none that we know for sums of items"
    use = "a world that drifts slowly; no memory of past rounds"
    formula = "CombUCB1 on observations that fade by gamma a round"

    gamma: float
    alpha: float = 1.5

    # (discounted count, discounted sum, and the last round observed, to which both are discounted)
    prior: ClassVar[Stats] = (0.0, 0.0, 0.0)
    init: ClassVar[Init] = "optimistic"  # type: ignore[misc]
    random: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_fraction("gamma", self.gamma))
        object.__setattr__(self, "alpha", check_positive("alpha", self.alpha))

    def params(self, game: Game) -> Params:
        return (self.alpha, self.gamma, log(self.gamma))

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        rounds = (1.0 - exp((round - 1.0) * p[2])) / (1.0 - p[1])
        return (p[0] * log(max(rounds, 1.0)), round - 1.0)

    @staticmethod
    def observe(s: Stats, x: Scalar, round: int, key: int, item: Scalar, p: Params) -> Stats:
        later = where(s[2] > round, s[2], 1.0 * round)
        old, new = exp((later - s[2]) * p[2]), exp((later - round) * p[2])
        return (s[0] * old + new, s[1] * old + x * new, later)

    @staticmethod
    def observe_many(s: Stats, counts: Scalar, sums: Scalar, squares: Scalar, round: int, p: Params) -> Stats:
        later = where(s[2] > round, s[2], 1.0 * round)
        old, new = exp((later - s[2]) * p[2]), exp((later - round) * p[2])
        return (s[0] * old + counts * new, s[1] * old + sums * new, later)

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        seen = s[0] > 0.0
        count = where(seen, s[0], 1.0)
        left = count * exp((c[1] - s[2]) * p[2])
        radius = sqrt(c[0] / where(left > LEAST, left, LEAST))
        return where(seen, s[1] / count + radius, 1.0 + sqrt(c[0] / LEAST))
