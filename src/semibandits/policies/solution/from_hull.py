"""Policies that choose a point of the convex hull of the solutions, and draw a solution of that mean."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from semibandits.policies.solution import polytope
from semibandits.policies.solution.base import CompiledPolicy, PolicyKernels, by_kernels, copied
from semibandits.policies.solution.listing import write_solution
from semibandits.policies.solution.quota_projection import grouped, quotas_of, room
from semibandits.policies.solution.sampling import chance, one_of, systematic, told
from semibandits.types import FeasibleSet, Items, Note, State, Weights

CHANCE, SHARE = range(2)
"""Of a row of the note of a listed solution: the item's chance, and what share of the decision it is."""


class Draws(NamedTuple):
    """How solutions of a given mean are drawn, and what their notes tell: functions that policies are written with."""

    draw: Callable[..., Any]
    """draw(x, out, note, key, data, work) -> size"""
    chance: Callable[..., Any]
    """chance(note, place, item, data): what the chance of this item was, at this place among those told of."""
    told: Callable[..., Any]
    """told(items, note, data): the share of a decision's items that are told of at once."""


def _draw_by_quotas(x: Any, out: Any, note: Any, key: Any, data: Any, work: Any) -> Any:
    numbers, integers, _ = work
    return systematic(x, out, note, data, key, numbers, integers)


def _draw_listed(x: Any, out: Any, note: Any, key: Any, data: polytope.Hull, work: Any) -> Any:
    """By the weights of the solutions, in the place of numbers."""
    weights, _, _ = work
    members, starts = data.listing
    size = write_solution(one_of(weights, key), members, starts, out)
    note[:size, CHANCE] = x[out[:size]]
    note[:size, SHARE] = 1.0 / max(size, 1)
    return size


def _listed_chance(note: Any, place: int, item: Any, data: polytope.Hull) -> Any:
    return note[place, CHANCE]


def _listed_share(items: Any, note: Any, data: polytope.Hull) -> Any:
    return note[:, SHARE].sum() if len(items) else 1.0


BY_QUOTAS = Draws(_draw_by_quotas, chance, told)
LISTED = Draws(_draw_listed, _listed_chance, _listed_share)
"""In NumPy."""


class FromHull(CompiledPolicy):
    """Its kernel functions are written once, for two ways to find points of the hull, and to draw.

    Where the set has quotas, they are compiled. Elsewhere they run as they are, with NumPy's linear algebra, on the
    list of all solutions.
    """

    needs_note: ClassVar[bool] = True
    own_set_only: ClassVar[bool] = True

    @abstractmethod
    def functions(self, listed: bool) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """To choose and to learn. `listed`: with a `polytope.Hull` for data, and one row of the note for each item."""

    def hull(self, feasible: FeasibleSet) -> polytope.Hull:
        return polytope.hull(feasible, type(self).__name__)

    def check(self, feasible: FeasibleSet) -> None:
        if quotas_of(feasible) is None:
            self.hull(feasible)

    def kernels(self, feasible: FeasibleSet) -> PolicyKernels | None:
        quotas = quotas_of(feasible)
        if quotas is None:
            return None
        data = grouped(quotas)
        return PolicyKernels(
            *self.functions(listed=False),
            data,
            note="chosen" if quotas.exact else "all",
            numbers=room(data) + 2 * data.sizes.size,
            integers=data.sizes.size,
        )

    @by_kernels
    def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
        if quotas_of(feasible) is not None:
            return super().choose(state, feasible, round, key)
        hull, (choose, _) = self.hull(feasible), self.functions(listed=True)
        out, note = np.zeros(feasible.n_items, dtype=np.int64), np.zeros((feasible.n_items, 2))
        size = choose(state, out, note, round, key, hull, _room(hull))
        return out[:size].copy(), note[:size].copy()

    @by_kernels
    def learn(
        self, state: State, feasible: FeasibleSet, round: int, items: Items, weights: Weights, note: Note, key: int
    ) -> State:
        if quotas_of(feasible) is not None:
            return super().learn(state, feasible, round, items, weights, note, key)
        hull, (_, learn) = self.hull(feasible), self.functions(listed=True)
        after = copied(state)
        learn(after, items, weights, np.zeros((0, 2)) if note is None else note, round, key, hull, _room(hull))
        return after


def _room(hull: polytope.Hull) -> tuple[Weights, Items, Weights]:
    n_solutions, n_items = hull.rows.shape
    return np.zeros(n_solutions), np.zeros(0, dtype=np.int64), np.zeros(n_items)
