"""Online stochastic mirror descent, for losses chosen by an adversary (Audibert, Bubeck and Lugosi 2014)."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from semibandits._util import checks
from semibandits._util.checks import check_choice
from semibandits.kernel import ln, sqrt
from semibandits.policies.solution import polytope
from semibandits.policies.solution.from_hull import BY_QUOTAS, CHANCE, LISTED, Draws, FromHull
from semibandits.policies.solution.listing import FEW
from semibandits.policies.solution.losses import loss_scale, same_size
from semibandits.policies.solution.quota_projection import (
    EXACT,
    entropy_in_group,
    even_point,
    fits,
    grouped,
    inf_in_group,
    quotas_of,
    settle,
)
from semibandits.policies.solution.sampling import chance
from semibandits.types import FeasibleSet, Game, Weights

Regulariser: TypeAlias = Literal["entropy", "inf"]
ETA, AT_ZERO, SLOPE, LOWEST, INF = range(5)


class OSMDState(NamedTuple):
    """What was learned, and the constants of the game."""

    point: Weights
    """x, in the convex hull of the solutions."""
    weights: Weights
    """Where all solutions are listed: x as a mean of them. Empty elsewhere."""
    constants: Weights
    """ETA, the loss of x, ℓ = AT_ZERO - SLOPE x, the LOWEST loss, and for INF 1, for the entropy 0."""


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

    needs = f"top-k, a partition matroid, or {FEW}; the horizon, or eta"
    guarantee = "at most sqrt(2 K L n log(L/K)), or 2 sqrt(2 K L n) with 'inf', whatever the losses"
    use = "losses chosen by an adversary"

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
            weights, point = polytope.minimum(hull, np.zeros(game.n_items), _rule(self.regulariser == "inf"))
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

    def functions(self, listed: bool) -> tuple[Callable[..., Any], Callable[..., Any]]:
        if listed:
            return _kernel_functions(_near_listed, _descend_listed, LISTED)
        return _kernel_functions(_near_by_quotas, _descend_by_quotas, BY_QUOTAS)


@functools.lru_cache
def _kernel_functions(
    near: Callable[..., Any], descend: Callable[..., Any], draws: Draws
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`near(state, data, work)` writes the nearest point of the hull, in D_F, to the last of `work`.

    `descend(state, items, x, note, share, data, work)` moves the point to argmin η <x, ℓ̂> + D_F(x, point), where ℓ̂ is
    `excess` / chance for the items, and `share` of the lowest loss more for all there are.
    """
    draw, _, told = draws

    def choose(state: Any, out: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> Any:
        _, _, x = work
        near(state, data, work)
        return draw(x, out, note, key, data, work)

    def learn(state: Any, items: Any, x: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> None:
        if len(note) > 0 or len(items) == 0:
            descend(state, items, x, note, told(items, note, data), data, work)

    return choose, learn


def excess(x: Any, constants: Any) -> Any:
    """The loss of x over the lowest."""
    return (constants[AT_ZERO] - constants[SLOPE] * x) - constants[LOWEST]


def _near_by_quotas(state: Any, data: Any, work: Any) -> None:
    point, _, constants = state
    members, starts, group, sizes, quota = data
    numbers, _, x = work
    for item in range(len(x)):
        x[item] = point[item]
    settle(x, group)
    for g in range(len(sizes)):
        begin, end = starts[g], starts[g + 1]
        if not fits(x, members, begin, end, sizes[g], quota[EXACT]):
            for i in range(begin, end):
                x[members[i]] = downhill(x[members[i]], constants)
            project(x, x, members, begin, end, sizes[g], quota[EXACT], numbers, constants)


def _descend_by_quotas(state: Any, items: Any, x: Any, note: Any, share: Any, data: Any, work: Any) -> None:
    point, _, constants = state
    members, starts, group, sizes, quota = data
    numbers, _, slope = work
    eta = constants[ETA]
    shift = eta * constants[LOWEST] * share
    for i in range(len(members)):
        slope[members[i]] = shift + downhill(point[members[i]], constants)
    for i in range(len(items)):
        item = items[i]
        if group[item] >= 0:
            slope[item] += eta * excess(x[i], constants) / chance(note, i, item, data)
    for g in range(len(sizes)):
        project(slope, point, members, starts[g], starts[g + 1], sizes[g], quota[EXACT], numbers, constants)


def downhill(x: Any, constants: Any) -> Any:
    """-F' of one item."""
    return 1.0 / sqrt(x) if constants[INF] == 1.0 else -ln(x)


def project(c: Any, x: Any, members: Any, begin: int, end: int, k: int, exact: int, room: Any, constants: Any) -> None:
    if constants[INF] == 1.0:
        inf_in_group(c, x, members, begin, end, k, exact, room)
    else:
        entropy_in_group(c, x, members, begin, end, k, exact, room)


def _rule(inf: bool) -> polytope.Rule:
    return polytope.INF if inf else polytope.ENTROPY


def _near_listed(state: OSMDState, data: polytope.Hull, work: Any) -> None:
    weights, _, x = work
    if data.is_whole(state.point, state.weights):
        weights[:], x[:] = state.weights, state.point
    else:
        rule = _rule(state.constants[INF] == 1.0)
        weights[:], x[:] = polytope.minimum(data, -rule.slope(state.point, 1.0 - state.point), rule)


def _descend_listed(
    state: OSMDState, items: Any, x: Any, note: Any, share: Any, data: polytope.Hull, work: Any
) -> None:
    point, weights, constants = state
    _, _, losses = work
    rule = _rule(constants[INF] == 1.0)
    losses[:] = constants[LOWEST] * share
    losses[items] += excess(x, constants) / note[:, CHANCE]
    weights[:], point[:] = polytope.minimum(data, constants[ETA] * losses - rule.slope(point, 1.0 - point), rule)
