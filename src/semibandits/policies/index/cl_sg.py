"""CL-SG: Thompson sampling with one normal number for all items (Hu, Pan and Huang 2026)."""

from dataclasses import dataclass
from typing import ClassVar

from semibandits._util.checks import Begin, check_init, check_positive
from semibandits.draws import normal
from semibandits.kernel import log, sqrt, where
from semibandits.types import Clock, Game, IndexPolicy, Params, Scalar, Stats
from semibandits.types.policies import of_count_and_sum


@dataclass(frozen=True)
class CLSG(IndexPolicy):
    """Chooses the best solution under means that are moved up or down all together:

        U_t(e) = ŵ(e) + z sqrt(gamma · ln t / (T(e) + 1)),    z ~ N(0, 1), one for all items of a round

    with gamma = 0.1. Since the items are optimistic together, a solution is so more often than if each item had a
    number of its own.

    Formula and gamma follow the code that the authors published; there an item never seen has mean 0 or 1, here 1. The
    authors state a regret of order sqrt(K L n) up to logarithms (from the abstract; the proof was not checked).
    """

    needs = "an exact oracle"
    guarantee = "O(sqrt(K L n)) up to logarithms, stated by its authors"
    use = "where draws are dear: one number a round; more regret than CTS"
    formula = "ŵ + z · sqrt(gamma · ln t / (T+1)), one standard normal z for all items of a round"

    gamma: float = 0.1
    init: Begin = "all"

    # (count, sum, 1 / sqrt(count + 1))
    prior: ClassVar[Stats] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_positive("gamma", self.gamma))
        object.__setattr__(self, "init", check_init(self.init))

    def params(self, game: Game) -> Params:
        return (self.gamma,)

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        return (normal(key, 0) * sqrt(p[0] * log(round)),)

    @staticmethod
    def observe(s: Stats, x: Scalar, round: int, key: int, item: Scalar, p: Params) -> Stats:
        count = s[0] + 1.0
        return (count, s[1] + x, 1.0 / sqrt(count + 1.0))

    observe_many = staticmethod(of_count_and_sum(observe))

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        seen = s[0] > 0.0
        return where(seen, s[1], 1.0) / where(seen, s[0], 1.0) + c[0] * s[2]
