"""CombUCB1 (Gai, Krishnamachari and Jain 2012; Kveton, Wen, Ashkan and Szepesvári 2015, Algorithms 1 and 2)."""

from dataclasses import dataclass
from typing import ClassVar

from semibandits._util.checks import check_choice, check_positive
from semibandits.kernel import log, sqrt, where
from semibandits.types import Clock, Game, IndexPolicy, Init, Params, Scalar, Stats
from semibandits.types.policies import of_count_and_sum


@dataclass(frozen=True)
class CombUCB1(IndexPolicy):
    """Chooses the best solution under upper confidence bounds of the items' weights:

        U_t(e) = ŵ(e) + sqrt(alpha · log(t-1) / T(e)),    alpha = 1.5 in the paper

    where T(e) counts the observations of item e before round t and ŵ(e) is their mean.

    `init="paper"` begins with Algorithm 2 to the letter: it asks the oracle for solutions with as many unseen items as
    possible until none is left, an item observed again *overwrites* its estimate, and every count is 1 in the end.
    `init="all"` begins the same way but keeps every observation. `init="optimistic"` has no such phase: an unseen item
    scores at the upper bound of the weights; so does every policy on sets whose oracle takes no positive weights.
    """

    needs = "nothing"
    guarantee = "O(K L log n / Δ) and O(sqrt(K L n log n)), any dependence, any oracle with a ratio"
    use = "to have a proof for every problem; to reproduce the paper"
    formula = "ŵ + sqrt(alpha · log(t-1) / T)"

    alpha: float = 1.5
    init: Init = "paper"

    # (count, sum, 1 / sqrt(count)): with the last one, r, the score is r · (sum · r + sqrt(alpha · log(t-1))).
    prior: ClassVar[Stats] = (0.0, 0.0, 0.0)
    random: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", check_positive("alpha", self.alpha))
        object.__setattr__(self, "init", check_choice("init", self.init, Init))

    def params(self, game: Game) -> Params:
        return (self.alpha,)

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        return (sqrt(p[0] * log(max(round - 1, 1))),)

    @staticmethod
    def observe(s: Stats, x: Scalar, round: int, key: int, item: Scalar, p: Params) -> Stats:
        count, sum_ = s[0] + 1.0, s[1] + x
        return (count, sum_, 1.0 / sqrt(count))

    observe_many = staticmethod(of_count_and_sum(observe))

    @staticmethod
    def forget(s: Stats, x: Scalar, round: int, p: Params) -> Stats:
        count, sum_ = s[0] - 1.0, s[1] - x
        seen = count > 0.0
        return (count, where(seen, sum_, 0.0), where(seen, 1.0 / sqrt(where(seen, count, 1.0)), 0.0))

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        return where(s[2] > 0.0, s[2] * (s[1] * s[2] + c[0]), 1.0)
