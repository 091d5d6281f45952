"""The best of a mixed integer program, by HiGHS, every answer of which is checked."""

import contextlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits._util.checks import check_items, check_weights, within
from semibandits._util.effort import spend
from semibandits._util.forks import ForkLock, cached_property
from semibandits.errors import EmptyFeasibleSet, OracleFailed, Unsupported, to_install
from semibandits.sets.base import EXCLUDED, FIXED, FREE, Restrictable
from semibandits.sets.programs.program import Program
from semibandits.types import Items, Weights, total

OPTIONS: dict[str, Any] = {
    "output_flag": False,  # before anything else: nothing may be printed
    "threads": 1,
    "random_seed": 0,
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 0.0,
    "mip_feasibility_tolerance": 1e-9,
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
    "mip_heuristic_run_feasibility_jump": False,  # it costs milliseconds where the whole search costs less
}
LARGEST_WEIGHT = 20
"""Weights are scaled to about 2**20: differences of 1e-15 of the largest are then still above HiGHS' tolerances."""
LARGEST_ENTRY = 20
"""Rows are scaled so that their largest entry is between 1 and 2**20."""
ATTEMPTS = 100
"""How many wrong answers are forbidden, one by one, before giving up."""
START, STEP = 2_000, 300
"""About how many microseconds a search takes, and each of its steps."""
NO_LIMIT = 2**31 - 1
ROUNDING = 1e-9
NO_RATIO = 1e-9
"""Stands for a ratio where none can be proven: it must be above 0."""

_LEFT: list[Any] = []

State: TypeAlias = NDArray[np.int8]
Accepts: TypeAlias = Callable[[Items, Weights], bool]


class Found(NamedTuple):
    """A solution; what no solution is worth more than; and how much of that the solution is proven to be worth."""

    items: Items
    bound: float
    proven: float


class Search:
    """Finds the best x of a program. The model is passed to HiGHS once; then only costs and bounds change.

    Answers do not depend on what was asked before. One question at a time: threads wait for each other.
    """

    def __init__(self, program: Program, cover: Callable[[Items], Items] | None = None) -> None:
        self.program = program
        self.cover = cover
        """Of a wrong answer, the items that no solution contains together; None: that is not known."""
        self.lock = ForkLock(self._begin_anew)

    def __reduce__(self) -> tuple[Any, ...]:
        return Search, (self.program, self.cover)

    def best(
        self, w: Weights, state: State, accepts: Accepts, ratio: float = 1.0, max_nodes: int | None = None
    ) -> Found:
        """The best solution that obeys the state: to `ratio`, or whatever `max_nodes` nodes of the search gave.

        HiGHS works to tolerances: an answer that `accepts(items, x)` does not accept is forbidden, and asked for again.
        """
        n_items = self.program.n_items
        lower = np.maximum(self.program.lower[:n_items], state == FIXED)
        upper = np.minimum(self.program.upper[:n_items], state != EXCLUDED)
        if (lower > upper).any():
            raise EmptyFeasibleSet("an item is both demanded and excluded")
        shift = LARGEST_WEIGHT - int(np.frexp(np.abs(w).max())[1])
        scaled = np.ldexp(w, shift)
        forbidden: list[Items] = []
        while len(forbidden) < ATTEMPTS:
            x, bound = self._run(scaled, lower, upper, forbidden, ratio, max_nodes)
            items = np.flatnonzero(x[:n_items] > 0.5)
            x[:n_items] = 0.0
            x[items] = 1.0
            if (x[:n_items] >= lower).all() and (x[:n_items] <= upper).all() and accepts(items, x):
                with np.errstate(over="ignore"):
                    return Found(items, float(np.ldexp(bound, -shift)), proven(total(scaled, items), bound))
            forbidden.append(items)
        raise OracleFailed(f"HiGHS gave {ATTEMPTS} answers that are not feasible, the last {items.tolist()!r:.200}")

    def _begin_anew(self) -> None:
        """Without the model that another thread has left in the midst of a search: not even to be taken apart."""
        _LEFT.append(vars(self).pop("_model", None))

    @cached_property
    def _model(self) -> Any:
        highspy = import_highs()
        model = highspy.Highs()
        for name, value in OPTIONS.items():
            model.setOptionValue(name, value)
        program, rows = self.program, self.program.rows()
        exponents = np.frexp(np.where(rows.largest > 0.0, rows.largest, 1.0))[1]
        scale = np.ldexp(1.0, np.clip(exponents, 1, LARGEST_ENTRY) - exponents)
        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = rows.matrix.shape
        lp.sense_ = highspy.ObjSense.kMaximize
        lp.col_cost_ = np.zeros(lp.num_col_)
        lp.col_lower_, lp.col_upper_ = np.array(program.lower), np.array(program.upper)
        lp.row_lower_, lp.row_upper_ = rows.lower * scale, rows.upper * scale
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_, lp.a_matrix_.index_ = rows.matrix.indptr, rows.matrix.indices
        lp.a_matrix_.value_ = rows.matrix.data * np.repeat(scale, np.diff(rows.matrix.indptr))
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[whole] for whole in program.integer]
        if model.passModel(lp) == highspy.HighsStatus.kError:
            raise OracleFailed("HiGHS does not accept this program: are its numbers too large?")
        return model

    def _run(
        self,
        w: Weights,
        lower: Weights,
        upper: Weights,
        forbidden: list[Items],
        ratio: float,
        max_nodes: int | None,
        presolve: str = "choose",
    ) -> tuple[Weights, float]:
        """The values of all columns, and the bound, of an answer that HiGHS says is right."""
        highspy = import_highs()
        columns = np.arange(w.size, dtype=np.int32)
        with self.lock:
            model = self._model
            model.clearSolver()  # the answer must not depend on the one before
            added = np.arange(len(self.program.row_lower), model.getNumRow(), dtype=np.int32)
            model.deleteRows(added.size, added)
            model.changeColsCost(w.size, columns, w)
            model.changeColsBounds(w.size, columns, lower, upper)
            # The gap is |P - D| / |P| of the answer's value P and the bound D. So in the end P >= ratio·D or, where
            # both are negative, P >= D / ratio.
            model.setOptionValue("mip_rel_gap", 1.0 - ratio)
            model.setOptionValue("mip_max_nodes", NO_LIMIT if max_nodes is None else max_nodes)
            model.setOptionValue("presolve", "off" if forbidden else presolve)
            for items in forbidden:
                self._forbid(items)
            # The scheduler belongs to a thread, and to a number of threads: the user's own models may want others.
            highspy.Highs.resetGlobalScheduler(True)
            model.run()
            highspy.Highs.resetGlobalScheduler(True)
            status, info, x = model.getModelStatus(), model.getInfo(), np.array(model.getSolution().col_value)
        spend(START + STEP * int(info.simplex_iteration_count))
        kinds = highspy.HighsModelStatus
        if status in (kinds.kInfeasible, kinds.kUnboundedOrInfeasible):  # nothing is unbounded: helpers cost nothing
            raise EmptyFeasibleSet("no values of the columns satisfy all rows")
        if status == kinds.kSolutionLimit and info.primal_solution_status != int(highspy.kSolutionStatusFeasible):
            raise OracleFailed(f"HiGHS found no feasible solution within max_nodes={max_nodes}: allow for more")
        if status in (kinds.kOptimal, kinds.kSolutionLimit):
            return x, float(info.mip_dual_bound)
        if presolve != "off":
            return self._run(w, lower, upper, forbidden, ratio, max_nodes, presolve="off")
        raise OracleFailed(f"HiGHS ended with the status {model.modelStatusToString(status)!r}")

    def _forbid(self, items: Items) -> None:
        """No solution with just these items or, where more is known, with all of the cover."""
        cover = items if self.cover is None else self.cover(items)
        columns = np.arange(self.program.n_items) if self.cover is None else cover
        values = np.where(np.isin(columns, cover), 1.0, -1.0)
        self._model.addRow(-np.inf, cover.size - 1.0, columns.size, columns.astype(np.int32), values)


class Searched(Restrictable):
    """A set whose oracle is a `Search`."""

    _search: Search

    def _accepts(self, items: Items, x: Weights) -> bool:
        """Whether an answer is right, which obeys the restrictions already."""
        return self.contains(items)

    def _best(self, w: Weights, state: State) -> Items:
        return self._search.best(w, state, self._accepts).items

    def argmax(self, weights: ArrayLike) -> Items:
        return self._best(check_weights(weights, self.n_items), self._state)

    def argmax_without(self, weights: ArrayLike, exclude: Iterable[int]) -> Items:
        """Columns of items that are left out are bounded by 0."""
        outside = check_items(exclude, self.n_items)
        if (self._state[outside] == FIXED).any():
            return super().argmax_without(weights, outside)
        state = self._state.copy()
        state[outside] = EXCLUDED
        try:
            return self._best(check_weights(weights, self.n_items), state)
        except EmptyFeasibleSet:
            return super().argmax_without(weights, outside)

    def best_with_each(self, weights: ArrayLike) -> Weights:
        """One search for every item that is not in the best solution."""
        w = check_weights(weights, self.n_items)
        best = np.full(self.n_items, -np.inf)
        items = self._best(w, self._state)
        best[items] = total(w, items)
        for item in np.setdiff1d(np.flatnonzero(self._state == FREE), items):
            demanded = self._state.copy()
            demanded[item] = FIXED
            with contextlib.suppress(EmptyFeasibleSet):
                best[item] = total(w, self._best(w, demanded))
        return best

    def uncovered(self) -> Items:
        return self._uncovered.copy()

    @cached_property
    def _uncovered(self) -> Items:
        """As the paper's Init looks for items: the most of those not seen yet, again and again."""
        unseen = np.ones(self.n_items)
        while unseen.any():
            items = self._search.best(unseen, self._state, self._accepts).items
            if not unseen[items].any():
                break
            unseen[items] = 0.0
        return np.flatnonzero(unseen)

    def _obeys(self, items: Items) -> bool:
        """Whether these items are known, and as restrictions demand."""
        if not within(items, self.n_items):
            return False
        chosen = np.zeros(self.n_items, dtype=bool)
        chosen[items] = True
        return bool(np.where(chosen, self._state != EXCLUDED, self._state != FIXED).all())


def proven(value: float, bound: float) -> float:
    """At least how much of the best a solution is worth, if nothing is worth more than the bound.

    Of negative numbers the one nearer to zero over the other; between a number <= 0 and one above there is no ratio.
    """
    if bound - value <= ROUNDING * max(abs(bound), abs(value), 1.0):
        return 1.0
    if value > 0.0:
        return value / bound
    return max(bound / value, NO_RATIO) if bound < 0.0 else NO_RATIO


def import_highs(what: str = "mixed integer programs need HiGHS") -> Any:
    try:
        import highspy
    except ImportError as error:
        raise Unsupported(f"{what}: {to_install('milp')}") from error
    return highspy
