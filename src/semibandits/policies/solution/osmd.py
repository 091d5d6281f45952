"""Online stochastic mirror descent, for losses chosen by an adversary (Audibert, Bubeck and Lugosi 2014)."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from semibandits._util import checks
from semibandits._util.checks import check_choice
from semibandits.kernel import ln, sqrt
from semibandits.policies.solution import polytope
from semibandits.policies.solution.from_hull import FromHull
from semibandits.policies.solution.losses import loss_scale, same_size
from semibandits.policies.solution.quota_projection import (
    entropy_in_group,
    even_point,
    fits,
    grouped,
    inf_in_group,
    quotas_of,
    settle,
)
from semibandits.policies.solution.sampling import chance, systematic, told
from semibandits.types import FeasibleSet, Game, Items, Note, State, Weights

Regulariser: TypeAlias = Literal["entropy", "inf"]


class OSMDState(NamedTuple):
    """What was learned, and the constants of the game."""

    point: Weights
    """x, in the convex hull of the solutions."""
    weights: Weights
    """Where all solutions are listed: x as a mean of them. Empty elsewhere."""
    facts: Weights
    """η, the loss of x, ℓ = facts[1] - facts[2] x, the lowest loss, and 1 for INF, 0 for the entropy."""


@dataclass(frozen=True, repr=False)
class OSMD(FromHull):
    """A point x_t moves through the convex hull of the solutions; the solution that is chosen is drawn with this mean.

        ℓ̂_t(e) = ℓ_t(e) 1{e chosen} / x_t(e)
        x_{t+1} = argmin η <x, ℓ̂_t> + D_F(x, x_t),    D_F the Bregman divergence of F,    x_1 = argmin F

    For L items, at most K of them chosen, n rounds and losses in [0, 1]:

    - "entropy": F = Σ x log x - x, η = sqrt(2 K D / (n L)), and the regret is at most sqrt(2 K L n D), where
      D = log(L/K), or 1 + log(L/K) where solutions differ in size.
    - "inf": F = -2 Σ sqrt(x), η = sqrt(2/n), and the regret is at most 2 sqrt(2 K L n), the best possible but for a
      constant.

    `eta` replaces η, and must be given where the horizon is not known. The tuning was read in Lattimore and Szepesvári,
    *Bandit Algorithms* (theorem 30.2), and otherwise worked out anew, not read in the paper.

    x becomes a loss as `policies.solution.losses` says: 1 - x where all solutions are equally large. Losses that can
    be negative, down to ℓ₀, are estimated by (ℓ - ℓ₀) 1{e chosen} / x + ℓ₀, and the bounds then hold but for a
    constant. On sets of quotas (top-k, partition matroids) x_{t+1} is a search on a line for each group; on others all
    solutions are listed, which must be few. A part of the set is played from the nearest point, in D_F, of its own
    hull.

    Feedback that is late or comes in parts is weighted by the chances that items had when they were chosen, and every
    part of it moves the point by itself.

    >>> OSMD().needs_horizon, OSMD("inf", eta=0.1).needs_horizon
    (True, False)
    """

    regulariser: Regulariser = "entropy"
    eta: float | None = None

    instead_of_horizon: ClassVar[str] = ": give eta=, or take HYBRID, which needs no horizon"
    by_item: ClassVar[tuple[str, ...]] = ("point",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "regulariser", check_choice("regulariser", self.regulariser, Regulariser))
        if self.eta is not None:
            object.__setattr__(self, "eta", checks.check_positive("eta", self.eta))

    @property
    def needs_horizon(self) -> bool:  # type: ignore[override]
        return self.eta is None

    def start(self, game: Game, feasible: FeasibleSet) -> OSMDState:
        quotas = quotas_of(feasible)
        if quotas is not None:
            point, weights = even_point(grouped(quotas)), np.zeros(0)
        else:
            hull = self.hull(feasible)
            weights, point = polytope.minimum(hull, np.zeros(game.n_items), self._rule)
        loss = loss_scale(game, feasible)
        return OSMDState(
            point, weights, np.array([self._rate(game, feasible), *loss, loss.lowest, self.regulariser == "inf"])
        )

    def _rate(self, game: Game, feasible: FeasibleSet) -> float:
        if self.eta is not None:
            return self.eta
        n, many, few = max(game.horizon, 1), game.n_items, max(game.max_size, 1)
        if self.regulariser == "inf":
            return math.sqrt(2.0 / n)
        distance = math.log(many / few) + (not same_size(feasible))
        return math.sqrt(2.0 * few * distance / (n * many))

    @property
    def _rule(self) -> polytope.Rule:
        return polytope.ENTROPY if self.regulariser == "entropy" else polytope.INF

    @property
    def texts(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        return _choose, _learn

    def mean(self, state: State, hull: polytope.Hull, round: int) -> tuple[Weights, Weights]:
        x = state.point
        if hull.is_whole(x, state.weights):
            return state.weights, x
        return polytope.minimum(hull, -self._rule.slope(x, 1.0 - x), self._rule)

    def learned(self, state: State, hull: polytope.Hull, items: Items, x: Weights, note: Note) -> State:
        eta, at_zero, slope, lowest, _ = state.facts
        losses = np.full(state.point.size, lowest * (note[:, 1].sum() if items.size else 1.0))
        losses[items] += (at_zero - slope * x - lowest) / note[:, 0]
        goal = eta * losses - self._rule.slope(state.point, 1.0 - state.point)
        mean, point = polytope.minimum(hull, goal, self._rule)
        return state._replace(point=point, weights=mean)


def _choose(state: Any, out: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> Any:
    point, _, facts = state
    members, starts, _, sizes, quota = data
    x = work[2]
    for item in range(len(x)):
        x[item] = point[item]
    settle(x, data)
    for g in range(len(sizes)):
        begin, end = starts[g], starts[g + 1]
        if not fits(x, members, begin, end, sizes[g], quota[0]):
            for i in range(begin, end):
                x[members[i]] = downhill(x[members[i]], facts)
            project(x, x, members, begin, end, sizes[g], quota[0], work[0], facts)
    return systematic(x, out, note, data, key, work[0], work[1])


def _learn(state: Any, items: Any, x: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> None:
    point, _, facts = state
    members, starts, _, sizes, quota = data
    if len(note) == 0 and len(items) > 0:
        return
    slope = work[2]
    shift = facts[0] * facts[3] * told(items, note, data)
    for i in range(len(members)):
        slope[members[i]] = shift + downhill(point[members[i]], facts)
    add_losses(slope, items, x, note, data, facts)
    for g in range(len(sizes)):
        project(slope, point, members, starts[g], starts[g + 1], sizes[g], quota[0], work[0], facts)


def downhill(x: Any, facts: Any) -> Any:
    """-F' of one item."""
    return 1.0 / sqrt(x) if facts[4] == 1.0 else -ln(x)


def project(c: Any, x: Any, members: Any, begin: int, end: int, k: int, exact: int, room: Any, facts: Any) -> None:
    if facts[4] == 1.0:
        inf_in_group(c, x, members, begin, end, k, exact, room)
    else:
        entropy_in_group(c, x, members, begin, end, k, exact, room)


def add_losses(slope: Any, items: Any, x: Any, note: Any, data: Any, facts: Any) -> None:
    for i in range(len(items)):
        if data[2][items[i]] >= 0:
            loss = (facts[1] - facts[2] * x[i]) - facts[3]
            slope[items[i]] += facts[0] * loss / chance(note, i, items[i], data)
