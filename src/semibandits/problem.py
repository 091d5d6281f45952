"""A problem B = (E, Θ, P): what may be chosen, how the weights are drawn, and so what is best and by how much."""

import contextlib
import hashlib
import heapq
import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from semibandits._util.checks import check_choice, check_items, widest
from semibandits._util.effort import CALL, spend
from semibandits._util.fingerprint import fingerprint
from semibandits._util.forks import cached_property
from semibandits._util.item_bounds import are_per_item, pair_of, spans_of
from semibandits._util.ownership import ours
from semibandits._util.showing import Shown
from semibandits._util.suggestions import Suggests, explained
from semibandits.errors import BadArgument, EmptyFeasibleSet, InfeasibleSolution, Unsupported
from semibandits.oracle import Span, probed, solve
from semibandits.types import Bounds, Environment, FeasibleSet, Items, Sense, Weights, World, bounds_in, total
from semibandits.types.given import check_environment, check_feasible

TIE = 1e-12
"""So much of the span of the weights solutions may differ by and count as tied."""
EPSILON = float(np.finfo(np.float64).eps)
COARSE = 1e-6
"""Where rounding makes more of the span than this, gaps may drown in it."""
SEARCH_LIMIT = 20_000
"""How many subproblems a search for the least gap may solve, where many solutions are tied with the optimum."""


class Problem(Shown, Suggests):
    """A feasible set, an environment, and whether to maximise (`sense="max"`) or minimise (`"min"`, costs).

    An approximate oracle (`feasible.ratio` < 1) is measured against its own answer on the means, `optimum`, and against
    `target`; that needs the true optimum, which `true_optimum` may give.

    >>> import semibandits as sb
    >>> problem = Problem(sb.sets.TopK(4, 2), sb.environments.Bernoulli([0.9, 0.8, 0.5, 0.1]))
    >>> problem.optimum, round(problem.gap([0, 2]), 12)
    (array([0, 1]), 0.3)
    """

    @explained
    def __init__(
        self,
        feasible: FeasibleSet,
        environment: Environment,
        sense: Sense = "max",
        *,
        true_optimum: Iterable[int] | None = None,
    ) -> None:
        check_feasible(feasible)
        check_environment(environment)
        if feasible.n_items != environment.n_items:
            raise BadArgument(f"the set has {feasible.n_items} items, the environment {environment.n_items}")
        _check_names(feasible, tuple(environment.labels or ()))
        self.sense: Sense = check_choice("sense", sense, Sense)
        check_signs(feasible, bounds_in(environment), self.sense)
        own = getattr(type(environment), "feasible", None)
        says = (callable(own) and own is not Environment.feasible) or callable(vars(environment).get("feasible"))
        if says != environment.says_sets or (says and not environment.drifts):
            raise BadArgument(
                f"{environment!r} must either have feasible(round, key), says_sets = True, drifts = True and "
                "means(round), or none of the first two"
            )
        for one in environment.sets:
            check_same_items(one, feasible, environment.labels)
            check_signs(one, bounds_in(environment), self.sense)
        if environment.drifts and true_optimum is not None:
            raise BadArgument(f"true_optimum must be None for {environment!r}: the best changes from round to round")
        self.feasible = feasible
        self.environment = environment
        self._true_optimum = None if true_optimum is None else check_items(true_optimum, feasible.n_items)
        if self._true_optimum is not None and not feasible.contains(self._true_optimum):
            raise InfeasibleSolution(
                f"true_optimum {self._true_optimum.tolist()!r:.200} is not a solution of {feasible!r}"
            )

    def world(self, seed: int | None = None, run: int = 0) -> World:
        """One run of the environment, to play in by hand: that of a simulation with this seed. None draws a seed."""
        return World(self.environment, seed, run, names=(self.feasible.labels, self.feasible.aliases))

    @property
    def n_items(self) -> int:
        return self.feasible.n_items

    @property
    def max_size(self) -> int:
        return self.feasible.max_size

    @property
    def bounds(self) -> Bounds:
        return bounds_in(self.environment)

    @property
    def spans(self) -> Weights:
        """hi - lo of every item."""
        return spans_of(self.bounds, self.n_items)

    @property
    def means(self) -> Weights:
        if self.environment.says_sets:
            raise Unsupported(
                f"every round of {self.environment!r} has a feasible set of its own, and so an optimum and gaps of its "
                "own: ask those of a Problem of that set, environment.feasible(round, key)"
            )
        if self.environment.hindsight:
            raise Unsupported(
                f"{self.environment!r} is a sequence, which has no means of its own, and so no optimum and no gaps: "
                "ask those of problem.at(round), or of a world that resamples the rows, environments.Table(rows)"
            )
        if self.environment.drifts:
            raise Unsupported(
                f"the means of {self.environment!r} change from round to round, and so do the optimum and the gaps: "
                "ask those of problem.at(round)"
            )
        return self.environment.means

    def at(self, round: int) -> "Problem":
        """The problem as it is in one round, in a world that stays so. Itself, unless the world drifts."""
        if self.environment.says_sets:
            raise Unsupported(
                f"what the problem is in a round depends on its set, which {self.environment!r} tells: take a Problem "
                "of environment.feasible(round, key)"
            )
        if not self.environment.drifts:
            return self
        return Problem(self.feasible, self.environment.at(round), self.sense)

    @cached_property
    def signed_means(self) -> Weights:
        """What the oracle is to maximise: the means, negated for costs."""
        return self.means if self.sense == "max" else -self.means

    @cached_property
    def optimum(self) -> Items:
        """A*: the oracle's answer on the means."""
        probed(self.feasible, Span.of(self.sense, self.bounds))
        items = solve(self.feasible, self.signed_means).copy()
        items.setflags(write=False)
        return items

    @cached_property
    def _best(self) -> float:
        return total(self.signed_means, self.optimum)

    @cached_property
    def target(self) -> float:
        """What an approximate oracle promises: `ratio` · f*, for costs f* / `ratio`. For an exact one f* itself.

        f*, the value of the best solution, is known where the oracle is exact, where the set has an exact twin
        (`exact()`), and where `true_optimum` was given.
        """
        best, ratio = self._true_value(), self.feasible.ratio
        if ratio == 1.0:
            return best
        if best < 0.0 or (self.sense == "min" and widest(self.bounds)[0] < 0.0):
            kind = "costs" if self.sense == "min" else "a total"
            raise Unsupported(f"a ratio of {ratio} says nothing about {kind} below 0")
        return ratio * best if self.sense == "max" else best / ratio

    def _true_value(self) -> float:
        own = total(self.means, self.optimum)
        if self._true_optimum is not None:
            best = total(self.means, self._true_optimum)
            if (own - best if self.sense == "max" else best - own) > self.tolerance:
                raise BadArgument(
                    f"true_optimum is worth {best}, but the oracle's own answer {self.optimum.tolist()!r:.100} {own}"
                )
            return best
        if self.feasible.ratio == 1.0:
            return own
        exact = getattr(self.feasible, "exact", None)
        if exact is None:
            raise Unsupported(f"the best solution of {self.feasible!r} is not known: pass true_optimum=")
        return total(self.means, solve(exact(), self.signed_means))

    @cached_property
    def tolerance(self) -> float:
        """Gaps up to this are taken for rounding: the solutions are tied.

        1e-12 of the span hi - lo of the weights' bounds or, if that is more, of the distance of f* from what the
        optimum would be worth if all weights were as close to 0 as the bounds allow: for bounds (0, 1) that is
        1e-12·max(1, |f*|). Far from 0 it is what the rounding of the sums can make.
        """
        lo, hi = widest(self.bounds)
        return max(TIE * max(hi - lo, abs(total(self.signed_means - self._offset, self.optimum))), self._rounding)

    @property
    def _offset(self) -> float:
        """What the oracle maximises has at least this size in all items, where the bounds keep it away from 0."""
        nearest = float(np.clip(0.0, *widest(self.bounds)))
        return nearest if self.sense == "max" else -nearest

    @property
    def _rounding(self) -> float:
        """What may be made of a gap by rounding the means, and sums of as many as are worth f*, far from 0."""
        if self._offset == 0.0:
            return 0.0
        return EPSILON * min(float(self.max_size), self._best / self._offset) * abs(self._best)

    def value(self, items: Iterable[int]) -> float:
        """f(A, w̄): the expected total weight (or cost) of these items."""
        return total(self.means, check_items(items, self.n_items))

    def gap(self, items: Iterable[int]) -> float:
        """Δ_A: how much worse than `optimum` this solution is in expectation. 0 for `optimum` itself."""
        ordered = check_items(items, self.n_items)
        if not np.array_equal(ordered, self.optimum) and not self.feasible.contains(ordered):
            raise InfeasibleSolution(f"{ordered.tolist()!r:.200} is not a solution of {self.feasible!r}")
        return self._best - total(self.signed_means, ordered)

    @cached_property
    def item_gaps(self) -> Weights:
        """Δ_{e,min}: for every item the least gap of a strictly suboptimal solution that contains it.

        NaN for the items of `optimum`, inf where no strictly suboptimal solution contains the item. Gaps up to
        `tolerance` count as ties. `Unsupported` where the weights are so far from 0 that rounding hides gaps.
        """
        self._need_exact_oracle()
        runner_up = self.feasible.runner_up_with_each(self.signed_means, self.tolerance)
        if runner_up is not None:
            gaps = self._best - runner_up
        else:
            gaps = self._best - self.feasible.best_with_each(self.signed_means)
            for item in np.setdiff1d(np.flatnonzero(gaps <= self.tolerance), self.optimum):  # tied: look behind it
                gaps[item] = self._least_gap(self.feasible.restrict(include=(int(item),)))
        self._need_exact_oracle()  # it may have reached its limits on the way
        gaps[self.optimum] = np.nan
        self._need_more_than_rounding(gaps)
        gaps.setflags(write=False)
        return gaps

    @cached_property
    def min_gap(self) -> float:
        """Δ: the least gap of all strictly suboptimal solutions, also of those inside `optimum`; inf without any."""
        outside = float(np.delete(self.item_gaps, self.optimum).min(initial=np.inf))
        inside = self.feasible.restrict(exclude=np.setdiff1d(np.arange(self.n_items), self.optimum))
        runner_up = inside.runner_up_with_each(self.signed_means, self.tolerance)
        if runner_up is None:
            return min(outside, self._least_gap(inside))
        empty = 0.0 if self._best > self.tolerance and self.feasible.contains(()) else -np.inf
        return min(outside, self._best - max(empty, float(runner_up.max())))

    @cached_property
    def max_gap(self) -> float:
        """The largest gap of any solution."""
        self._need_exact_oracle()
        if not self.feasible.signed:
            raise Unsupported("the worst solution is out of reach of an oracle that needs weights <= 0")
        return self._best - total(self.signed_means, solve(self.feasible, -self.signed_means))

    def _need_exact_oracle(self) -> None:
        if self.feasible.ratio < 1.0:
            raise Unsupported(f"gaps need an exact oracle; this one has ratio={self.feasible.ratio}")

    @property
    def _coarse(self) -> bool:
        """Whether rounding may hide gaps that matter."""
        lo, hi = widest(self.bounds)
        return self._rounding > COARSE * (hi - lo)

    def _need_more_than_rounding(self, gaps: Weights) -> None:
        """Whether an item has nothing to lose cannot be told by sums that are too coarse to show it."""
        lo, hi = widest(self.bounds)
        if self._coarse and np.setdiff1d(np.flatnonzero(np.isinf(gaps)), self.feasible.uncovered()).size:
            raise Unsupported(
                f"the gaps cannot be told from rounding: the weights are between {lo} and {hi}, so far from 0 that "
                f"their sums are known to {self.tolerance:.2g} only; move them closer to 0"
            )

    def _least_gap(self, feasible: FeasibleSet) -> float:
        """The least gap above the tolerance in this set.

        Best first (Lawler 1972): take the best solution; while it is tied with the optimum, split the rest of its set
        into parts that leave one of its items out, and parts that contain all of it and something more.
        """
        solved = 0
        order = itertools.count()
        queue: list[tuple[float, int, Items, FeasibleSet]] = []

        def push(part: FeasibleSet) -> None:
            nonlocal solved
            solved += 1
            if solved > SEARCH_LIMIT:
                raise Unsupported(f"so many solutions are tied with the optimum that {SEARCH_LIMIT:,} were not enough")
            spend(CALL + 3 * self.n_items)
            items = solve(part, self.signed_means)
            heapq.heappush(queue, (self._best - total(self.signed_means, items), next(order), items, part))

        def push_restricted(part: FeasibleSet, include: Items, exclude: Items) -> None:
            with contextlib.suppress(EmptyFeasibleSet):
                push(part.restrict(include=include, exclude=exclude))

        push(feasible)
        while queue:
            gap, _, items, part = heapq.heappop(queue)
            if gap > self.tolerance:
                return gap
            for i in range(items.size):
                push_restricted(part, items[:i], items[i : i + 1])
            around = part.restrict(include=items)
            if items.size < part.max_size and (
                not part.signed or solve(around, np.ones(self.n_items)).size > items.size
            ):
                others = np.setdiff1d(np.arange(self.n_items), np.concatenate([items, around.uncovered()]))
                for i in range(others.size):
                    push_restricted(around, others[i : i + 1], others[:i])
        return float("inf")

    @cached_property
    def digest(self) -> str:
        """The same for problems with the same set, means, bounds, sense and dependence; empty where means change.

        Sets of this package go by their content. What a user's oracle answers is all that is known of it: there the
        optimum stands for the set.
        """
        world, feasible = self.environment, self.feasible
        if world.drifts:
            return ""
        numbers = [np.asarray(side, dtype=np.float64) for side in (self.means, *self.bounds)]
        told = [repr(self).encode(), repr((world.independent, world.last_round)).encode()]
        told += [side.tobytes() for side in (*numbers, self.optimum)]
        if ours(feasible) and not feasible.foreign:
            with contextlib.suppress(Unsupported):  # nested too deeply
                told.append(fingerprint(feasible).digest.encode())
        return hashlib.sha256(b"|".join(told)).hexdigest()[:16]

    def __repr__(self) -> str:
        return f"Problem({self.feasible!r}, {self.environment!r}, sense={self.sense!r})"


def _check_names(feasible: FeasibleSet, of_world: tuple[str, ...]) -> None:
    """Where both sides name their items, each has the same name on both; an edge without direction may have two."""
    of_set = tuple(feasible.labels or ())
    if of_set == of_world or not (of_set and of_world):
        return
    for item, names in enumerate(zip(of_world, of_set, feasible.aliases or of_set, strict=True)):
        if names[0] not in names[1:]:
            order = "in another order: take data[list(feasible.labels)]"
            other = (
                "other ones: rename them or, if they are in the order of the items, pass the data without any "
                "(.to_numpy())"
            )
            raise BadArgument(
                f"item {item} of the set is {names[1]!r:.100}, and of the environment {names[0]!r:.100}. The names "
                f"that its data has are {order if set(of_set) == set(of_world) else other}"
            )


def check_same_items(feasible: FeasibleSet, own: FeasibleSet, labels: tuple[str, ...] = ()) -> None:
    """Raises unless two sets have the same items: by number, by name where both have names, else as edges or pairs.

    `labels` are names that were given to the items of one without any: they may be others, but none of another item's.
    """
    if feasible.n_items != own.n_items:
        raise BadArgument(
            f"feasible must be a set of the same {own.n_items} items, got {feasible!r} with {feasible.n_items}"
        )
    graph = getattr(feasible, "graph", None)
    if graph is not None and graph is getattr(own, "graph", None):
        return
    names, known = tuple(feasible.labels or ()), tuple(own.labels or labels)
    if names and known:
        if names not in (known, labels) and (own.labels or not set(names).isdisjoint(known)):
            each = (names, feasible.aliases or names, known, own.aliases or known)
            _demand_same((a, c, a in (c, d) or b in (c, d)) for a, b, c, d in zip(*each, strict=True))
        if own.labels:
            return
    here, there = feasible.identities, own.identities
    if here and there and here != there:
        _demand_same((one, other, one == other) for one, other in zip(here, there, strict=True))


def _demand_same(items: Iterable[tuple[Any, Any, bool]]) -> None:
    """Raises unless each is the same: what an item is here, what there, and whether that is the same."""
    for item, (here, there, same) in enumerate(items):
        if not same:
            raise BadArgument(
                f"feasible must have the same items in the same order: its item {item} is {here!r:.100}, and that of "
                f"the other set {there!r:.100}"
            )


def check_signs(feasible: FeasibleSet, bounds: Bounds, sense: Sense) -> None:
    """Sets whose oracle needs weights <= 0 fit costs >= 0 only (or rewards <= 0)."""
    wrong = np.atleast_1d(np.less(bounds[0], 0.0) if sense == "min" else np.greater(bounds[1], 0.0))
    if not feasible.signed and wrong.any():
        expected = "costs >= 0: bounds[0] >= 0" if sense == "min" else "weights <= 0: bounds[1] <= 0"
        item = int(np.argmax(wrong))
        found = f"bounds={bounds}"
        if are_per_item(bounds):
            found = f"bounds {pair_of(bounds, item)} for item {feasible.labels[item] if feasible.labels else item}"
        raise BadArgument(f"{feasible!r} needs {expected} with sense={sense!r}, got {found}")
