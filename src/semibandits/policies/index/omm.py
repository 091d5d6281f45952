"""Optimistic matroid maximisation (Kveton, Wen, Ashkan, Eydgahi and Eriksson 2014)."""

from dataclasses import dataclass
from typing import ClassVar

from semibandits._util.checks import check_choice
from semibandits.errors import Unsupported
from semibandits.policies.index.combucb1 import CombUCB1
from semibandits.types import FeasibleSet, Game, IndexPolicy, Init, Params, Stats


@dataclass(frozen=True)
class OMM(IndexPolicy):
    """CombUCB1 on a matroid, with the radius for which its regret is known to be at most Σ 16 log(n) / Δ_e:

        U_t(e) = ŵ(e) + sqrt(2 · log(t-1) / T(e))

    The solutions must be the bases or the independent sets of a matroid by construction, that is the set must say so
    (`FeasibleSet.matroid`); on others it refuses to play: use `CombUCB1(alpha=2.0)` there.
    """

    needs = "a matroid"
    guarantee = "Σ 16 log n / Δ_e over suboptimal items"
    use = "to reproduce Kveton et al. 2014"
    formula = "CombUCB1's with alpha = 2, on matroids alone"

    init: Init = "paper"

    prior: ClassVar[Stats] = CombUCB1.prior
    random: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "init", check_choice("init", self.init, Init))

    def check(self, feasible: FeasibleSet) -> None:
        if not feasible.matroid:
            raise Unsupported(
                f"OMM needs the bases or independent sets of a matroid, which {feasible!r:.200} is not known to be: "
                "use CombUCB1(alpha=2.0)"
            )

    def params(self, game: Game) -> Params:
        return (2.0,)

    clock = staticmethod(CombUCB1.clock)
    observe = staticmethod(CombUCB1.observe)
    observe_many = staticmethod(CombUCB1.observe_many)
    forget = staticmethod(CombUCB1.forget)
    score = staticmethod(CombUCB1.score)
