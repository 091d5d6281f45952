"""Boosted Gaussian Thompson sampling (Zhang and Combes 2024)."""

import math
from dataclasses import dataclass
from typing import ClassVar

from semibandits._util.checks import Begin, check_init, check_not_negative, check_positive
from semibandits.draws import normal
from semibandits.errors import BadArgument
from semibandits.kernel import log, sqrt, where
from semibandits.policies.index.gaussian_cts import GaussianCTS
from semibandits.types import Clock, Game, IndexPolicy, Params, Scalar, Stats


@dataclass(frozen=True)
class BGCTS(IndexPolicy):
    """Chooses the best solution under weights drawn from normal distributions that are wider than `GaussianCTS`'s:

        U_t(e) ~ N(ŵ(e), g sigma² / T(e)),    g = f / ln t
        f = 2 (1 + lam) [ln t + (K+2) ln ln t + (K/2) ln(1 + e/lam)]

    where K is the size of the largest solution. The boost makes the regret polynomial in K, where that of `CTS` can be
    exponential. `lam=0` leaves out the last term, as the authors do in their experiments, with sigma = 1/2 for weights
    in [0, 1]. In f, t counts as e at least; ln t is 1 in round 1. Independent items and an exact oracle, as for `CTS`.

    Formula, constants and the first rounds follow the code that the authors published.
    """

    needs = "an exact oracle, independent items"
    guarantee = "O(L log K log n / Δ), and other terms polynomial in L and K, stated by its authors"
    use = "to have its authors' proof where solutions are large; GaussianCTS has less regret"
    formula = "a draw from N(ŵ, g sigma² / T), with a boost g that depends on t and K"

    sigma: float = 0.5
    lam: float = 0.0
    init: Begin = "all"

    prior: ClassVar[Stats] = GaussianCTS.prior

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", check_positive("sigma", self.sigma))
        object.__setattr__(self, "lam", check_not_negative("lam", self.lam))
        if 0.0 < self.lam < 1e-100:
            raise BadArgument(f"lam must be 0 or at least 1e-100, got {self.lam!r}")
        object.__setattr__(self, "init", check_init(self.init))

    def params(self, game: Game) -> Params:
        last = 0.5 * game.max_size * math.log(1.0 + math.e / self.lam) if self.lam > 0.0 else 0.0
        return (self.sigma, 2.0 * (1.0 + self.lam), game.max_size + 2.0, last)

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        log_t = max(log(round), 1.0)
        f = p[1] * (log_t + p[2] * log(log_t) + p[3])
        return (p[0] * sqrt(f / where(round < 2, 1.0, log(max(round, 2)))),)

    observe = staticmethod(GaussianCTS.observe)
    observe_many = staticmethod(GaussianCTS.observe_many)

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        return where(s[2] > 0.0, s[2] * (s[1] * s[2] + c[0] * normal(key, item)), 1.0)
