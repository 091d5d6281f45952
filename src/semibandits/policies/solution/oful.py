"""OFUL: optimism with confidence ellipsoids, from the sums alone (Abbasi-Yadkori, Pál and Szepesvári 2011)."""

import math
from dataclasses import dataclass

from semibandits._util.checks import check_fraction, check_not_negative
from semibandits.policies.solution.full_bandit import FullBandit, ridge
from semibandits.policies.solution.listing import FEW
from semibandits.types import Game


@dataclass(frozen=True)
class OFUL(FullBandit):
    """Chooses the best solution under bounds that hold in all rounds together with probability 1 - delta:

        θ̂'a + w sqrt(a'V⁻¹a),    w = noise · sqrt(2 ln(det(V)^½ det(lam I)^-½ / delta)) + sqrt(lam) · norm

    where a is a solution as a vector of zeros and ones, V = lam I + Σ aa' and θ̂ = ½ + V⁻¹ Σ a (y - |A|/2). It is given
    only the sum y of the chosen items' weights: the comparison with linear bandits of Kveton et al. 2015. `noise` is
    such that y is noise-sub-Gaussian, K/2 unless given, as it holds for any sum of K weights in [0, 1]; for independent
    ones sqrt(K)/2 would do. `norm` is a bound on the length of the vector of the items' means less ½, sqrt(L)/2 unless
    given. The published θ̂ has no ½; for means in [0, 1] it halves that length, and costs are like rewards.

    The regret is of order L K sqrt(n) up to logarithms. It looks at every solution in every round: small sets only. The
    width follows from the authors' Theorem 1 as Wen et al. 2015 quote it; the paper itself could not be read.
    """

    needs = f"{FEW}; the sum alone"
    guarantee = "O(L K sqrt(n)) up to logarithms (Abbasi-Yadkori et al. 2011)"
    use = "only what a solution is worth as a whole can be seen; to have a proof"

    lam: float = 1.0
    delta: float = 0.01
    noise: float | None = None
    norm: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "lam", ridge(self.lam))
        object.__setattr__(self, "delta", check_fraction("delta", self.delta))
        for name in ("noise", "norm"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, check_not_negative(name, getattr(self, name)))

    def width(self, game: Game) -> tuple[float, float, float]:
        noise = 0.5 * game.max_size if self.noise is None else self.noise
        norm = 0.5 * math.sqrt(game.n_items) if self.norm is None else self.norm
        return noise, -2.0 * math.log(self.delta), math.sqrt(self.lam) * norm
