"""LinUCB: linear bandits with a constant width, from the sums alone (Li, Chu, Langford and Schapire 2010)."""

from dataclasses import dataclass

from semibandits._util.checks import check_not_negative
from semibandits.policies.solution.full_bandit import FullBandit, ridge
from semibandits.policies.solution.listing import FEW
from semibandits.types import Game


@dataclass(frozen=True)
class LinUCB(FullBandit):
    """Chooses the solution of the largest

        θ̂'a + alpha sqrt(a'V⁻¹a)

    with a, V and θ̂ as in `OFUL`, whose width is wide to be safe. It is given only the sum of the chosen items' weights.
    For this use nothing is proved; alpha = 1 is a start, as standard deviations of sums of a few weights in [0, 1] are
    about that. It looks at every solution in every round: small sets only.
    """

    needs = f"{FEW}; the sum alone"
    guarantee = "none for this use"
    use = "the same in practice: alpha near sqrt(K) / 2 to sqrt(K)"

    alpha: float = 1.0
    lam: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "lam", ridge(self.lam))
        object.__setattr__(self, "alpha", check_not_negative("alpha", self.alpha))

    def width(self, game: Game) -> tuple[float, float, float]:
        return 0.0, 0.0, self.alpha
