"""What policies share that choose a point of the convex hull of the solutions, and draw a solution of that mean."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from semibandits.policies.solution import polytope
from semibandits.policies.solution.base import CompiledPolicy, PolicyKernels
from semibandits.policies.solution.quota_projection import grouped, quotas_of, room
from semibandits.policies.solution.sampling import chances_noted, one_of
from semibandits.types import FeasibleSet, Items, Note, State, Weights


class FromHull(CompiledPolicy):
    """By text where the set has quotas; elsewhere from the list of all solutions, in NumPy."""

    needs_note: ClassVar[bool] = True

    @property
    @abstractmethod
    def texts(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """The kernels on sets of quotas."""

    @abstractmethod
    def mean(self, state: State, hull: polytope.Hull, round: int) -> tuple[Weights, Weights]:
        """The weights of the solutions, and their mean x."""

    @abstractmethod
    def learned(self, state: State, hull: polytope.Hull, items: Items, x: Weights, note: Note) -> State:
        """The state after this feedback, where all solutions are listed."""

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
            *self.texts,
            data,
            note="chosen" if quotas.exact else "all",
            numbers=room(data) + 2 * data.sizes.size,
            integers=data.sizes.size,
        )

    def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
        if quotas_of(feasible) is not None:
            return super().choose(state, feasible, round, key)
        hull = self.hull(feasible)
        weights, x = self.mean(state, hull, round)
        items = hull.listing.solution(one_of(weights, key))
        return items.copy(), chances_noted(x, items)

    def learn(
        self, state: State, feasible: FeasibleSet, round: int, items: Items, weights: Weights, note: Note, key: int
    ) -> State:
        if quotas_of(feasible) is not None:
            return super().learn(state, feasible, round, items, weights, note, key)
        return self.learned(state, self.hull(feasible), items, weights, note)
