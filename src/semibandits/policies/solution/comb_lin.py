"""Combinatorial linear policies: features of the items, and a normal belief about the few weights of these.

The belief is N(θ̄, Σ), and Σ is kept as an upper triangular factor S, Σ = SS'. An observation of x with features φ is
one step of a Kalman filter in Carlson's form (1973), which changes the factor's columns one after the other: Σ stays
symmetric and positive definite whatever is rounded. With y = x + offset, f = S'φ, a₀ = σ² and e = 0, for each column j:

    a_j = a_{j-1} + f_j²,   column ← column · sqrt(a_{j-1} / a_j) - e · f_j / sqrt(a_{j-1} a_j),   e ← e + column · f_j

and, in the end, θ̄ ← θ̄ + e (y - φ'θ̄) / a_d.
"""

from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits._util.checks import check_range
from semibandits._util.indexed import check_order
from semibandits.errors import BadArgument
from semibandits.kernel import sqrt
from semibandits.policies.solution.base import CompiledPolicy, best_of, score_items
from semibandits.types import FeasibleSet, Game, Scalar, Weights

LARGEST = 1e30
"""Of features and parameters, so that products of four of them are numbers still."""
OFFSET, HIGHEST = range(2)
NOISE = 0
"""The first of a policy's parameters: σ²."""


class Belief(NamedTuple):
    """The weights of the features are N(theta, factor factor')."""

    theta: Weights
    factor: NDArray[np.float64]
    constants: Weights
    """The game's OFFSET, and the HIGHEST score."""


@dataclass(frozen=True, eq=False, repr=False)
class CombLin(CompiledPolicy):
    """A policy that knows each item by its features: a row of `features`."""

    features: ArrayLike
    lam: float = 1.0
    sigma: float = 0.5

    by_item: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        by_feature = _checked(self.features)
        by_feature.setflags(write=False)
        object.__setattr__(self, "features", by_feature.T)
        for name in ("lam", "sigma"):
            object.__setattr__(self, name, check_range(name, getattr(self, name), 1.0 / LARGEST, LARGEST))

    @property
    def by_feature(self) -> NDArray[np.float64]:
        """A row for each feature."""
        return np.asarray(self.features).T

    def check(self, feasible: FeasibleSet) -> None:
        n_items = self.by_feature.shape[1]
        if n_items != feasible.n_items:
            raise BadArgument(
                f"features must have a row for each of the {feasible.n_items} items of {feasible!r}, got {n_items} rows"
            )

    def start(self, game: Game, feasible: FeasibleSet) -> Belief:
        self.check(feasible)
        d = len(self.by_feature)
        largest_weight = max(abs(game.offset), abs(1.0 + game.offset))
        most = 1e300 if game.signed else 1.0 + game.offset
        return Belief(np.zeros(d), self.lam * largest_weight * np.eye(d), np.array([game.offset, most]))

    def estimates(self, state: Belief) -> Weights:
        expected_of_all: Weights = state.theta @ self.by_feature - state.constants[OFFSET]
        return expected_of_all

    def scores(self, state: Belief, feasible: FeasibleSet, round: int, key: int) -> Weights:
        scores: Weights = self.live(feasible).scores(state, round, key) - state.constants[OFFSET]
        return scores

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    def __repr__(self) -> str:
        d, n_items = self.by_feature.shape
        others = (f"{field.name}={getattr(self, field.name)!r}" for field in fields(self)[1:])
        return f"{type(self).__name__}(<{d} features of {n_items} items>, {', '.join(others)})"


def _checked(features: ArrayLike) -> NDArray[np.float64]:
    """A copy, with a row for each feature."""
    check_order("features", features, names=True)
    try:
        given = np.asarray(features)
    except ValueError:
        raise BadArgument("features must be a matrix, got rows of different lengths") from None
    if given.dtype.kind not in "biuf" or isinstance(features, np.ma.MaskedArray):
        raise BadArgument(f"features must be numbers, got {given.dtype} in {features!r:.100}")
    if given.ndim != 2 or 0 in given.shape:
        raise BadArgument(
            f"features must have a row for each item and a column for each feature, got an array of shape {given.shape}"
        )
    by_feature = np.array(given.T, dtype=np.float64, order="C", copy=True)
    wrong = np.argwhere(~(np.abs(by_feature) <= LARGEST))
    if wrong.size:
        j, item = wrong[0].tolist()
        raise BadArgument(
            f"features must be numbers from {-LARGEST:g} to {LARGEST:g}, got {by_feature[j, item]}"
            f" as feature {j} of item {item}"
        )
    return by_feature


def expected(theta: Any, phi: Any) -> Scalar:
    """φ'θ of one item, or of many."""
    total = 0.0
    for j in range(len(theta)):
        total += theta[j] * phi[j]
    return total


def variance(factor: Any, phi: Any) -> Scalar:
    """φ'Σφ of one item, or of many."""
    total = 0.0
    for j in range(len(factor)):
        along = 0.0
        for i in range(j + 1):
            along += factor[i, j] * phi[i]
        total += along * along
    return total


def choose(state: Any, out: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> Any:
    _, _, scores = work[:3]
    score_items(state, scores, round, key, data)
    return best_of(scores, out, work)


def learn(state: Any, items: Any, x: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> None:
    theta, factor, constants = state
    features, parameters = data
    gain, _, _ = work[:3]
    for k in range(len(items)):
        observe(theta, factor, features[:, items[k]], x[k] + constants[OFFSET], parameters[NOISE], gain)


def observe(theta: Any, factor: Any, phi: Any, y: Any, noise: Any, gain: Any) -> None:
    miss = y - expected(theta, phi)
    a = noise
    for j in range(len(theta)):
        along = 0.0
        for i in range(j + 1):
            along += factor[i, j] * phi[i]
        before = a
        a = before + along * along
        keep = sqrt(before / a)
        take = along / (sqrt(before) * sqrt(a))
        gain[j] = 0.0
        for i in range(j + 1):
            old = factor[i, j]
            factor[i, j] = old * keep - gain[i] * take
            gain[i] += old * along
    for i in range(len(theta)):
        theta[i] += gain[i] * (miss / a)
