"""CombLinTS: Thompson sampling of a few weights that all items share (Wen, Kveton and Ashkan 2015)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from semibandits.draws import normal
from semibandits.kernel import where
from semibandits.policies.solution.base import PolicyKernels, best_of, score_items
from semibandits.policies.solution.comb_lin import HIGHEST, Belief, CombLin, expected, learn
from semibandits.types import FeasibleSet, Scalar, Weights


@dataclass(frozen=True, eq=False, repr=False)
class CombLinTS(CombLin):
    """Chooses the best solution under weights that are linear in the items' features φ, with weights of these drawn:

        U_t(e) = φ_e'θ,    θ ~ N(θ̄, Σ)

    where N(θ̄, Σ) is what is believed of θ after N(0, lam² I) and observations with normal noise, each of variance
    sigma². A round takes d random numbers, however many items there are. On features, intercepts, costs and `lam`, see
    `CombLinUCB`.

    Where weights are normal and the belief is right, lam >= sigma and the oracle exact, the Bayes regret is of order
    K lam sqrt(d n min(ln L, d)) up to logarithms (Theorem 1). The default of sigma is ours: weights in [0, 1] are known
    to within 1/2.
    """

    needs = "features of the items in which the weights are linear"
    guarantee = "the same of the Bayes regret (Wen et al. 2015)"
    use = "the same, with draws in the place of c"

    def kernels(self, feasible: FeasibleSet) -> PolicyKernels:
        d = len(self.by_feature)
        parameters = np.array([self.sigma * self.sigma])
        return PolicyKernels(_choose, learn, (self.by_feature, parameters), score=_score, numbers=d, solves=True)

    def scores(self, state: Belief, feasible: FeasibleSet, round: int, key: int) -> Weights:
        drawn = np.empty(state.theta.size)
        draw(state, drawn, key)
        return super().scores(state._replace(theta=drawn), feasible, round, key)


def draw(state: Any, theta: Any, key: Any) -> None:
    mean, factor, _ = state
    for i in range(len(theta)):
        theta[i] = mean[i]
    for j in range(len(theta)):
        z = normal(key, j)
        for i in range(j + 1):
            theta[i] += factor[i, j] * z


def _score(state: Any, round: int, key: Any, item: Any, data: Any) -> Scalar:
    """The θ of this state is the one that was drawn."""
    theta, _, constants = state
    features, _ = data
    x = expected(theta, features[:, item])
    return where(x < constants[HIGHEST], x, constants[HIGHEST])


def _choose(state: Any, out: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> Any:
    _, factor, constants = state
    drawn, _, scores = work[:3]
    draw(state, drawn, key)
    score_items((drawn, factor, constants), scores, round, key, data)
    return best_of(scores, out, work)
