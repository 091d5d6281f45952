"""Upper confidence bounds from empirical variances (Audibert, Munos and Szepesvári 2009; Merlis and Mannor 2019)."""

from dataclasses import dataclass
from typing import ClassVar

from semibandits._util.checks import Begin, check_init, check_positive
from semibandits.kernel import log, sqrt, where
from semibandits.types import Clock, Game, IndexPolicy, Params, Scalar, Stats


@dataclass(frozen=True)
class UCBV(IndexPolicy):
    """Chooses the best solution under bounds that shrink with the variance observed:

        U_t(e) = ŵ(e) + sqrt(2 V(e) E / T(e)) + 3 E / T(e),    E = zeta · log t

    where V(e) is the variance of the observations (the mean of their squares less the square of their mean). zeta = 3
    makes it sqrt(6 V log t / T) + 9 log t / T, known as BC-UCB. It pays where weights vary little; for coins of means
    near 1/2 it is worse than CombUCB1.

    The form in E was checked against public code of UCB-V; that BC-UCB has zeta = 3 is from memory.
    """

    needs = "nothing"
    guarantee = "its scores are confidence bounds too; what its authors state could not be verified"
    use = "weights that vary far less than their bounds allow, very many rounds, no randomness"
    formula = "ŵ + sqrt(2 V E / T) + 3 E / T, E = zeta · log t, V the variance observed"

    zeta: float = 3.0
    init: Begin = "all"

    # (count, sum, sum of squares)
    prior: ClassVar[Stats] = (0.0, 0.0, 0.0)
    random: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "zeta", check_positive("zeta", self.zeta))
        object.__setattr__(self, "init", check_init(self.init))

    def params(self, game: Game) -> Params:
        return (self.zeta,)

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        return (p[0] * log(round),)

    @staticmethod
    def observe(s: Stats, x: Scalar, round: int, key: int, item: Scalar, p: Params) -> Stats:
        return (s[0] + 1.0, s[1] + x, s[2] + x * x)

    @staticmethod
    def observe_many(s: Stats, counts: Scalar, sums: Scalar, squares: Scalar, round: int, p: Params) -> Stats:
        return (s[0] + counts, s[1] + sums, s[2] + squares)

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        seen = s[0] > 0.0
        per = 1.0 / where(seen, s[0], 1.0)
        mean = s[1] * per
        variance = s[2] * per - mean * mean
        e = c[0] * per
        return where(seen, mean + sqrt(2.0 * where(variance > 0.0, variance, 0.0) * e) + 3.0 * e, 1.0)
