"""Combinatorial Thompson sampling with normal distributions (Perrault et al. 2020)."""

from dataclasses import dataclass
from typing import ClassVar

from semibandits._util.checks import Begin, check_init, check_positive
from semibandits.draws import normal
from semibandits.kernel import sqrt, where
from semibandits.types import Clock, Game, IndexPolicy, Params, Scalar, Stats
from semibandits.types.policies import of_count_and_sum


@dataclass(frozen=True)
class GaussianCTS(IndexPolicy):
    """Chooses the best solution under weights drawn from normal distributions:

        U_t(e) ~ N(ŵ(e), sigma² / T(e))

    `sigma` is for weights scaled to [0, 1], where 0.5 fits every distribution (its variance proxy is at most 1/4); a
    smaller one explores less, which pays where weights vary less. Independent items and an exact oracle, as for `CTS`.
    """

    needs = "an exact oracle, independent items"
    guarantee = "as CTS, for sub-Gaussian weights, stated by its authors"
    use = "weights that are no coins (a small sigma where they vary little); large solutions"
    formula = "a draw from N(ŵ, sigma² / T)"

    sigma: float = 0.5
    init: Begin = "all"

    # (count, sum, 1 / sqrt(count))
    prior: ClassVar[Stats] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", check_positive("sigma", self.sigma))
        object.__setattr__(self, "init", check_init(self.init))

    def params(self, game: Game) -> Params:
        return (self.sigma,)

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        return ()

    @staticmethod
    def observe(s: Stats, x: Scalar, round: int, key: int, item: Scalar, p: Params) -> Stats:
        count = s[0] + 1.0
        return (count, s[1] + x, 1.0 / sqrt(count))

    observe_many = staticmethod(of_count_and_sum(observe))

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        return where(s[2] > 0.0, s[2] * (s[1] * s[2] + p[0] * normal(key, item)), 1.0)
