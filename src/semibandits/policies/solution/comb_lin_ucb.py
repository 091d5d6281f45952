"""CombLinUCB: optimism about a few weights that all items share (Wen, Kveton and Ashkan 2015)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from semibandits._util.checks import check_not_negative
from semibandits.kernel import sqrt, where
from semibandits.policies.solution.base import PolicyKernels
from semibandits.policies.solution.comb_lin import HIGHEST, CombLin, choose, expected, learn, variance
from semibandits.types import FeasibleSet, Scalar

C = 1
"""The second of its parameters."""


@dataclass(frozen=True, eq=False, repr=False)
class CombLinUCB(CombLin):
    """Chooses the best solution under upper bounds of weights that are linear in the items' features φ:

        U_t(e) = φ_e'θ̄ + c sqrt(φ_e'Σ φ_e)

    where N(θ̄, Σ) is what is believed of θ after N(0, lam² I) and observations with normal noise, each of variance
    sigma². An item is scored by its features, whether it was seen or not; there may be a million of them. A constant
    column in `features` is an intercept.

    The weights themselves are taken to be linear, divided by the width of their bounds; so no intercept is needed for
    bounds other than (0, 1), nor for costs. `lam` is in units of the largest weight that the bounds allow.

    For weights in [0, 1] that are linear and, within a round, independent, features no longer than 1 and an exact
    oracle, Theorem 2 has

        c >= sqrt(d ln(1 + n K lam²/(d sigma²)) + 2 ln(1/delta)) / sigma + |θ*| / lam
        R(n) <= 2 c K lam sqrt(d n ln(1 + n K lam²/(d sigma²)) / ln(1 + lam²/sigma²)) + n K delta

    whatever the number of items; the authors suggest lam = sigma = 1 and delta = 1/(n K). The defaults are ours:
    weights in [0, 1] are known to within 1/2, and one standard deviation is a start.

    >>> import semibandits as sb
    >>> sb.policies.CombLinUCB([[1.0, 0.0], [1.0, 0.5], [1.0, 1.0]])
    CombLinUCB(<2 features of 3 items>, lam=1.0, sigma=0.5, c=1.0)
    """

    needs = "features of the items in which the weights are linear"
    guarantee = (
        "O(K d sqrt(n)) up to logarithms for d features, however many items (Wen et al. 2015), for a c that grows"
    )
    use = "very many items, or new ones, that share a few features; no randomness"

    c: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "c", check_not_negative("c", self.c))

    def kernels(self, feasible: FeasibleSet) -> PolicyKernels:
        parameters = np.array([self.sigma * self.sigma, self.c])
        return PolicyKernels(
            choose, learn, (self.by_feature, parameters), score=_score, numbers=len(self.by_feature), solves=True
        )


def _score(state: Any, round: int, key: Any, item: Any, data: Any) -> Scalar:
    theta, factor, constants = state
    features, parameters = data
    phi = features[:, item]
    bound = expected(theta, phi) + parameters[C] * sqrt(variance(factor, phi))
    return where(bound < constants[HIGHEST], bound, constants[HIGHEST])
