"""Kullback-Leibler upper confidence bounds (Garivier and Cappé 2011; C-KL-UCB for combinatorial problems)."""

from dataclasses import dataclass
from typing import ClassVar

from semibandits._util.checks import Begin, check_init, check_not_negative
from semibandits.kernel import exp, ln, log, sqrt, where
from semibandits.types import Clock, Game, IndexPolicy, Params, Scalar, Stats
from semibandits.types.policies import of_count_and_sum

CLOSEST = 1e-9
"""Means are kept so far from 0 and 1, which raises their bounds by 2.2e-8 at most, and lowers them by 1e-9."""
LEAST = 1e-14
"""The least divergence, which raises bounds by 7.1e-8 at most and keeps rounding harmless."""
LIFT = 1e-7
"""What is added in the end: the series may fall short by 7.5e-8."""


@dataclass(frozen=True)
class KLUCB(IndexPolicy):
    """Chooses the best solution under bounds that know the variance of a coin:

        U_t(e) = max{q : T(e) · kl(ŵ(e), q) <= log t + c · log log t},    kl(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q))

    with c = 2 and log log t at least 0. From round 3 on it is below CombUCB1's bound, far below for means near 0 or 1,
    and it holds for all weights in [0, 1]. Proofs for one item at a time ask for c = 3, and c = 0 does best in
    practice; public code for combinatorial problems has one or the other, and where c = 2 comes from could not be
    verified.

    Scores are at most 2e-7 above the true bound, and never below it by more than 1e-8.
    """

    needs = "nothing"
    guarantee = "its confidence bounds are CombUCB1's or tighter; no proof for sums of items is known to us"
    use = "the safe choice: dependent items, approximate oracles, means near 0 or 1"
    formula = "the largest q with T · kl(ŵ, q) ≤ log t + c · log log t, to 2e-7"

    c: float = 2.0
    init: Begin = "all"

    # (count, sum, and of the mean p: p, log p, p / (1-p))
    prior: ClassVar[Stats] = (0.0, 0.0, 0.5, 0.0, 1.0)
    random: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", check_not_negative("c", self.c))
        object.__setattr__(self, "init", check_init(self.init))

    def params(self, game: Game) -> Params:
        return (self.c,)

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        return (log(round) + p[0] * log(max(log(round), 1.0)),)

    @staticmethod
    def observe(s: Stats, x: Scalar, round: int, key: int, item: Scalar, p: Params) -> Stats:
        count, sum_ = s[0] + 1.0, s[1] + x
        mean = sum_ / count
        mean = where(mean > CLOSEST, where(mean < 1.0 - CLOSEST, mean, 1.0 - CLOSEST), CLOSEST)
        return (count, sum_, mean, ln(mean), mean / (1.0 - mean))

    observe_many = staticmethod(of_count_and_sum(observe))

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        seen = s[0] > 0.0
        return where(seen, kl_bound(s[2], s[3], s[4], c[0] / where(seen, s[0], 1.0)), 1.0)


def kl_bound(mean: Scalar, log_mean: Scalar, odds: Scalar, d: Scalar) -> Scalar:
    """max{q : kl(mean, q) <= d}, with a single logarithm.

    By the variational form of kl (Donsker and Varadhan), for every y > 0,

        q <= Q(y) = (1 + p/y) (1 - E),    E = e^-d (p / (p + y))^p

    and Q is least, and equal to q, where E (1 + y) = 1, that is at y = e^s - 1 with s = d + p (logit q - logit p). A
    formula close to that s gives y, and the first terms of the least Q's expansion around it do the rest.
    """
    d = where(d > LEAST, d, LEAST)
    v = d * odds
    s = d + sqrt(v * (v + 1.7 + 0.3 * mean))
    t = 0.125 * where(s < 40.0, s, 40.0)
    y = t * (1.0 + t * (0.5 + t * (1.0 / 6.0)))
    y = y * (2.0 + y)
    y = y * (2.0 + y)
    y = y * (2.0 + y)
    power = mean * (log_mean - ln(mean + y)) - d
    e = exp(where(power > -50.0, power, -50.0))
    inverse = 1.0 / (e * y)
    off = 1.0 - e * (1.0 + y)
    step = off * inverse * (1.0 + odds)
    step = where(step > 0.5, 0.5, where(step < -0.5, -0.5, step))
    per_y = e * inverse
    r = 1.0 + mean * per_y
    z = ((1.0 + mean) * (1.0 / 3.0) - r) * step
    q = r * ((1.0 - e) - 0.5 * mean * off * step * per_y * (1.0 + z * (1.0 + 1.25 * z))) + LIFT
    return where(q < mean, mean, where(q > 1.0, 1.0, q))
