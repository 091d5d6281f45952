"""The facts of a problem that bounds ask for; what cannot be found out is None, so that bounds are left out."""

import contextlib
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from semibandits import sets
from semibandits._util.checks import widest
from semibandits._util.effort import OutOfPatience, Patience
from semibandits._util.forks import cached_property
from semibandits.environments.bernoulli import Bernoulli
from semibandits.errors import BadArgument, EmptyFeasibleSet, Unsupported
from semibandits.oracle import solve
from semibandits.problem import Problem
from semibandits.problems import grid_path, k_path
from semibandits.theory.graves_lai.constant import graves_lai_constant
from semibandits.theory.ratio import asks_once_per_item, shares
from semibandits.theory.terms import largest_loss, one_pair
from semibandits.types import Environment, Items, Weights, total

Found = TypeVar("Found")
QUICK_ITEMS = 150
PATIENCE = 1_500_000
"""For gaps, ratios and other optima together: a second or two. Counted, not measured, so that all machines agree."""
GAPS, RATIOS, LOWER = "The gaps were", "The ratio form of bound C was", "A lower bound was"
"""What may be left out, to begin a sentence with."""


def _or_none(find: Callable[[], Found]) -> Found | None:
    try:
        return find()
    except Unsupported:
        return None


class Facts:
    """A problem's numbers in the words of the bounds, each found when first asked for."""

    def __init__(self, problem: Problem) -> None:
        if not isinstance(problem, Problem):
            raise BadArgument(f"problem must be a Problem, got {problem!r:.200}")
        _ = problem.means  # there are none where they drift
        self.problem = problem
        self.L = problem.n_items
        self.K = max(problem.max_size, 1)
        self.pair = pair = one_pair(problem.bounds)
        """The bounds that all items share; None where they have bounds of their own."""
        self.span = float(problem.spans.max()) if pair is None else pair[1] - pair[0]
        """What the radii of confidence intervals are multiplied by, at most."""
        self.spans = problem.spans / self.span if pair is None else None
        """What they are multiplied by for each item, in parts of that, where items have bounds of their own."""
        lo, hi = widest(problem.bounds)
        self.common_span = hi - lo
        """Of the bounds that hold for all items, which policies have that choose whole solutions."""
        self.largest_loss = largest_loss(problem.bounds, self.K)
        self.notes: dict[str, str] = {}
        """What was left out though it exists, and why, in sentences."""
        self._patience = Patience(PATIENCE)

    def _within_reach(self, find: Callable[[], Found], what: str, instead: str) -> Found | None:
        """None, and a note, where it cannot be found, or not quickly."""
        try:
            with self._patience:
                return find()
        except Unsupported as error:
            self.notes[what] = f"{what} left out: {error}."
        except OutOfPatience:
            self.notes[what] = f"{what} left out, as that may take long{instead}."
        return None

    @property
    def exact_oracle(self) -> bool:
        return self.problem.feasible.ratio == 1.0 and self.problem.feasible.promised

    @property
    def approximate_oracle(self) -> bool:
        return self.problem.feasible.ratio < 1.0 and self.problem.feasible.promised

    @property
    def signed(self) -> bool:
        return self.problem.feasible.signed

    @property
    def stationary(self) -> bool:
        return self.problem.environment.last_round is None

    @property
    def no_negative_rewards(self) -> bool:
        return self.problem.sense == "max" and widest(self.problem.bounds)[0] >= 0.0

    @property
    def independent_items(self) -> bool:
        return self.problem.environment.independent

    @property
    def coins(self) -> bool:
        return isinstance(self.problem.environment, Bernoulli)

    @property
    def optimum(self) -> Items:
        return self.problem.optimum

    @property
    def optimal_size(self) -> int:
        return self.optimum.size

    @cached_property
    def item_gaps(self) -> Weights | None:
        return self._gaps[0] if self._gaps else None

    @cached_property
    def min_gap(self) -> float | None:
        return self._gaps[1] if self._gaps else None

    @cached_property
    def _gaps(self) -> tuple[Weights, float] | None:
        if not self.exact_oracle:
            return None
        instead = "; where problem.item_gaps and problem.min_gap can be had, ask them first, and they are used here"
        return self._within_reach(lambda: (self.problem.item_gaps, self.problem.min_gap), GAPS, instead)

    @cached_property
    def ratios(self) -> Weights | None:
        """Those of bound C, with the items' spans where they have their own."""
        if self.item_gaps is None or not self.signed:
            return None
        return self._within_reach(lambda: shares(self.problem), RATIOS, ": see theory.tight.ratio")

    @cached_property
    def max_gap(self) -> float | None:
        found = _or_none(lambda: self.problem.max_gap) if self.exact_oracle else None
        if found is None or self.min_gap in (None, np.inf):
            return found
        return max(found, self.min_gap)  # where they are the same, rounding may have swapped them

    @cached_property
    def one_gap(self) -> float | None:
        """The gap of all suboptimal solutions, where they have the same."""
        least, most = self.min_gap, self.max_gap
        if least is None or most is None or not 0.0 < least < np.inf or most - least > 1e-9 * most:
            return None
        return least

    @cached_property
    def several_optima(self) -> bool | None:
        """Whether other solutions are as good as `optimum`, inside it or not."""
        if not self.exact_oracle:
            return None
        try:
            with self._patience:
                found = self._other_optimum()
        except (Unsupported, OutOfPatience):
            return None
        return None if found and self.problem._coarse else found

    def _other_optimum(self) -> bool:
        problem, feasible = self.problem, self.problem.feasible
        w = problem.signed_means
        enough = total(w, problem.optimum) - problem.tolerance
        with_each = feasible.best_with_each(w)
        if (np.delete(with_each, problem.optimum) >= enough).any():
            return True
        inside = feasible.restrict(exclude=np.setdiff1d(np.arange(self.L), problem.optimum))
        if solve(inside, np.full(self.L, -1.0)).size == problem.optimum.size:  # none is smaller
            return False
        for item in problem.optimum:
            with contextlib.suppress(EmptyFeasibleSet):
                if total(w, solve(inside.restrict(exclude=(item,)), w)) >= enough:
                    return True
        return False

    @property
    def most_a_round_can_lose(self) -> float:
        """Δ_max, or what the bounds of the weights leave where it is not known."""
        return self.largest_loss if self.max_gap is None else self.max_gap

    @property
    def has_graves_lai(self) -> bool:
        """Whether the lower bound of Graves and Lai is defined."""
        return self.exact_oracle and self.coins and self.independent_items and self.pair is not None

    @property
    def quick_graves_lai(self) -> bool:
        """Whether it is found in seconds."""
        feasible = self.problem.feasible
        formula = isinstance(feasible, sets.TopK) and feasible.bases
        return formula or (self.L <= QUICK_ITEMS and not asks_once_per_item(feasible))

    @cached_property
    def graves_lai(self) -> float | None:
        """The certified lower end of its factor of log n."""
        if self.has_graves_lai and not self.quick_graves_lai:
            self.notes[LOWER] = f"{LOWER} not searched for, as that may take long: see theory.graves_lai_constant."
        if not self.has_graves_lai or not self.quick_graves_lai:
            return None
        return _or_none(
            lambda: graves_lai_constant(self.problem, tolerance=1e-4, max_solutions=300, max_calls=5_000).lower
        )

    @cached_property
    def k_path_gap(self) -> float | None:
        """The gap, if this is the K-path problem of Section 6."""
        feasible, gap = self.problem.feasible, self.one_gap
        if not isinstance(feasible, sets.KPaths) or gap is None or gap >= feasible.k / 2.0:
            return None
        return gap if self._is(k_path(self.L, feasible.k, gap)) else None

    @cached_property
    def grid_path(self) -> tuple[int, float] | None:
        """(m, sigma), if this is the grid-path problem of Section 7."""
        feasible, sigma = self.problem.feasible, float(np.ptp(self.problem.means))
        if not isinstance(feasible, sets.GridPaths) or not 0.0 < sigma < 1.0:
            return None
        return (feasible.m, sigma) if self._is(grid_path(feasible.m, sigma)) else None

    def _is(self, paper: Problem) -> bool:
        """Whether this is that problem of the paper, whose set is of the same class."""
        problem, world = self.problem, self.problem.environment
        restricted = problem.feasible.uncovered().size > 0
        return (
            problem.n_items == paper.n_items
            and not restricted
            and problem.sense == "max"
            and isinstance(world, Bernoulli)
            and np.allclose(world.means, paper.means, rtol=0.0, atol=1e-12)
            and np.array_equal(_coins(world), _coins(paper.environment))
        )


def _coins(world: Environment) -> NDArray[np.int64]:
    """For every item the first that shares its coin."""
    own = np.arange(world.n_items)
    groups = getattr(world, "groups", None)
    return own if groups is None else np.unique(groups, return_index=True)[1][groups]
