"""HYBRID: one policy for weights that are random and for weights chosen by an adversary (Zimmert, Luo and Wei 2019)."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from semibandits._util import checks
from semibandits.errors import BadArgument
from semibandits.kernel import sqrt
from semibandits.policies.solution import polytope
from semibandits.policies.solution.from_hull import BY_QUOTAS, LISTED, Draws, FromHull
from semibandits.policies.solution.listing import FEW
from semibandits.policies.solution.losses import loss_scale, same_size
from semibandits.policies.solution.quota_projection import EXACT, hybrid_in_group, hybrid_slope, quotas_of, settle
from semibandits.types import FeasibleSet, Game, Weights

GAMMA, AT_ZERO, SLOPE = range(3)


class HybridState(NamedTuple):
    """What was learned, and the constants of the game."""

    losses: Weights
    """L̂, the sums of the estimated losses."""
    constants: Weights
    """GAMMA, and the loss of x: ℓ = AT_ZERO - SLOPE x."""
    multipliers: Weights
    """Where to begin the search for each group's multiplier; empty where all solutions are listed."""


@dataclass(frozen=True, repr=False)
class HYBRID(FromHull):
    """Follows the regularised leader over the convex hull of the solutions, and draws a solution of that mean:

        x_t = argmin <x, L̂_{t-1}> + sqrt(t) Σ_e -sqrt(x_e) + γ (1 - x_e) log(1 - x_e)
        ℓ̂_t(e) = (ℓ_t(e) + 1) 1{e chosen} / x_t(e) - 1,    losses ℓ in [-1, 1]

    Its regret is O(Σ_e log(n) / Δ_e) where weights are random, and O(sqrt(K L n)) against any sequence of losses, both
    at once and without knowing the horizon; both for choices of exactly K out of L items, where

        γ = 1 if K <= L/2, else min(1, 1 / sqrt(log(L / (L-K))))

    (The authors' published code has 1/sqrt(log K) instead.) Where solutions differ in size γ = 1, as the authors have
    it for the set of all subsets. `gamma` replaces it.

    x becomes a loss as `policies.solution.losses` says: 1 - 2x where all solutions are equally large. On sets of
    quotas (top-k, partition matroids) x_t is a search on a line for each group; on others all solutions are listed,
    which must be few.

    Feedback that is late or comes in parts is weighted by the chances that items had when they were chosen. The -1 of
    all items, which matters only where sizes differ, comes with it, in parts if it does.
    """

    needs = f"top-k, a partition matroid, or {FEW}"
    guarantee = "O(Σ log n / Δ_e) in random worlds and O(sqrt(K L n)) in any, on top-k (Zimmert, Luo and Wei 2019)"
    use = "where you do not know whether the world is random or against you; no horizon needed"

    gamma: float | None = None

    by_item: ClassVar[tuple[str, ...]] = ("losses",)

    def __post_init__(self) -> None:
        if self.gamma is not None:
            if not 1e-3 <= checks.check_positive("gamma", self.gamma) <= 1.0:
                raise BadArgument(f"gamma must be between 0.001 and 1, got {self.gamma!r:.100}")
            object.__setattr__(self, "gamma", float(self.gamma))

    def start(self, game: Game, feasible: FeasibleSet) -> HybridState:
        self.check(feasible)
        quotas = quotas_of(feasible)
        gamma = self.gamma
        if gamma is None:
            gamma = tuned_gamma(game.n_items, game.max_size) if same_size(feasible) else 1.0
        loss = loss_scale(game, feasible, least=-1.0)
        multipliers = np.zeros(0 if quotas is None else quotas.sizes.size)
        return HybridState(np.zeros(game.n_items), np.array([gamma, loss.at_zero, loss.slope]), multipliers)

    def functions(self, listed: bool) -> tuple[Callable[..., Any], Callable[..., Any]]:
        return _kernel_functions(*((_lead_listed, LISTED) if listed else (_lead_by_quotas, BY_QUOTAS)))


def tuned_gamma(n_items: int, size: int) -> float:
    """Theorem 3 of the paper.

    >>> tuned_gamma(10, 5), tuned_gamma(10, 6), round(tuned_gamma(10, 9), 4)
    (1.0, 1.0, 0.659)
    """
    if 2 * size <= n_items or size == n_items:
        return 1.0
    return min(1.0, 1.0 / math.sqrt(math.log(n_items / (n_items - size))))


@functools.lru_cache
def _kernel_functions(lead: Callable[..., Any], draws: Draws) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`lead(state, root, data, work)` writes argmin <x, L̂> + root · Ψ(x) to the last of `work`."""
    draw, chance, told = draws

    def choose(state: Any, out: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> Any:
        _, _, x = work
        lead(state, sqrt(float(round)), data, work)
        return draw(x, out, note, key, data, work)

    def learn(state: Any, items: Any, x: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> None:
        losses, constants, multipliers = state
        if len(note) == 0 and len(items) > 0:
            return
        rate = 1.0 / sqrt(float(round))
        share = told(items, note, data)
        for item in range(len(losses)):
            losses[item] -= share
        for i in range(len(items)):
            item = items[i]
            p = chance(note, i, item, data)
            g = data.group[item] if len(multipliers) > 0 else -1
            if g >= 0 and p > 0.0 and 1.0 - p > 1e-10:
                multipliers[g] = hybrid_slope(1.0 / sqrt(p) - 1.0, constants[GAMMA]) - losses[item] * rate
            loss = constants[AT_ZERO] - constants[SLOPE] * x[i]
            losses[item] += (loss + 1.0) / p

    return choose, learn


def _lead_by_quotas(state: Any, root: Any, data: Any, work: Any) -> None:
    losses, constants, multipliers = state
    members, starts, group, sizes, quota = data
    numbers, _, x = work
    rate = 1.0 / root
    for item in range(len(x)):
        x[item] = losses[item] * rate
    settle(x, group)
    for g in range(len(sizes)):
        begin, end = starts[g], starts[g + 1]
        hybrid_in_group(x, x, members, begin, end, sizes[g], quota[EXACT], constants[GAMMA], multipliers[g], numbers)


def _lead_listed(state: HybridState, root: Any, data: polytope.Hull, work: Any) -> None:
    weights, _, x = work
    rule = polytope.hybrid(float(state.constants[GAMMA]))
    weights[:], x[:] = polytope.minimum(data, state.losses / root, rule)
