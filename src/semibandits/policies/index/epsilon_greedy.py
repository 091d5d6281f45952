"""ε-greedy: the best by the estimates, now and then something random (Auer, Cesa-Bianchi and Fischer 2002)."""

from dataclasses import dataclass
from typing import ClassVar

from semibandits._util.checks import Begin, check_init, check_not_negative
from semibandits.errors import BadArgument
from semibandits.kernel import exp, log, where
from semibandits.rng import uniform
from semibandits.types import Clock, Game, IndexPolicy, Params, Scalar, Stats
from semibandits.types.policies import of_count_and_sum


@dataclass(frozen=True)
class EpsilonGreedy(IndexPolicy):
    """Chooses, with probability ε_t, the best solution under random weights as `Random` does, else under the means:

        ε_t = min(1, epsilon / t^decay)

    `epsilon=0` is greedy: after the initialisation it takes what looks best. Else `decay=0` explores for ever: its
    regret is linear. `decay=1` with a large enough `epsilon` is logarithmic, which takes knowledge of the gaps.
    """

    needs = "nothing"
    guarantee = "linear regret; with decay=1, and the gaps known, O(log n)"
    use = "a baseline"
    formula = "ŵ, and random weights with probability min(1, epsilon / t^decay)"

    epsilon: float = 0.1
    decay: float = 0.0
    init: Begin = "all"

    # (count, sum, mean)
    prior: ClassVar[Stats] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_not_negative("epsilon", self.epsilon))
        object.__setattr__(self, "decay", check_not_negative("decay", self.decay))
        if self.decay == 0.0 and self.epsilon > 1.0:
            raise BadArgument(f"epsilon must be at most 1 with decay=0, got {self.epsilon!r}")
        object.__setattr__(self, "init", check_init(self.init))

    def params(self, game: Game) -> Params:
        return (self.epsilon, self.decay)

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        return (where(uniform(key, 0, 1) < p[0] * exp(-p[1] * log(round)), 1.0, 0.0),)

    @staticmethod
    def observe(s: Stats, x: Scalar, round: int, key: int, item: Scalar, p: Params) -> Stats:
        count, sum_ = s[0] + 1.0, s[1] + x
        return (count, sum_, sum_ / count)

    observe_many = staticmethod(of_count_and_sum(observe))

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        return where(c[0] > 0.0, uniform(key, item), s[2])
