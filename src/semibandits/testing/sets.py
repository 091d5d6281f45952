"""The check of a set: oracle, verifier and restrictions agree with each other."""

import contextlib

import numpy as np

from semibandits._util.ownership import ours
from semibandits.errors import EmptyFeasibleSet, Unsupported
from semibandits.kernel import LANES
from semibandits.sets.oracles.lanes import answers
from semibandits.testing.conformance import conforming, demand
from semibandits.types import FeasibleSet, Items, Weights, total, up_to_date


@conforming
def check_set(feasible: FeasibleSet, *, trials: int = 50, seed: int = 0) -> None:
    """Checks that a set's oracle, verifier and restrictions agree with each other.

    It asks for the best solutions of many weights (tied, zero, negative and large ones among them), and then
    demands that no solution ever seen beats the oracle's answer for any of these weights.

    >>> import semibandits as sb
    >>> check_set(sb.sets.TopK(6, 3))
    """
    demand(isinstance(feasible, FeasibleSet), f"expected a FeasibleSet, got {feasible!r:.200}")
    demand(trials >= 1, f"trials must be at least 1, got {trials}")
    demand(feasible.n_items >= 1, f"n_items must be at least 1, got {feasible.n_items}")
    demand(0 <= feasible.max_size <= feasible.n_items, f"max_size must be 0 to n_items, got {feasible.max_size}")
    demand(0.0 < feasible.ratio <= 1.0, f"ratio must be in (0, 1], got {feasible.ratio}")
    generator = np.random.default_rng(seed)
    trial_weights = [_weights(feasible, trial % 4, generator) for trial in range(trials)]
    seen: dict[bytes, Items] = {}
    for w in trial_weights:
        items = _answer(feasible, w)
        seen[items.tobytes()] = items
        _check_restrictions(feasible, w, items, generator)
        _check_without(feasible, w, items, generator)
    solutions = list(seen.values())
    for w in trial_weights:
        _check_nothing_better(feasible, w, solutions)
        _check_runner_up(feasible, w, solutions)
    _check_contains(feasible, solutions, generator)
    _check_best_with_each(feasible, trial_weights[0])
    _check_solver(feasible, trial_weights)


def _slack(w: Weights) -> float:
    """What adding these numbers in another order may change."""
    return 1e-9 * max(1.0, float(np.abs(w).sum()))


def _check_nothing_better(feasible: FeasibleSet, w: Weights, solutions: list[Items]) -> None:
    value = total(w, feasible.argmax(w))
    rival = max(solutions, key=lambda items: total(w, items))
    if feasible.ratio == 1.0 or total(w, rival) >= 0.0:
        demand(
            value >= feasible.ratio * total(w, rival) - _slack(w),
            f"argmax is worth {value}, but {rival.tolist()} is worth {total(w, rival)} for {w.tolist()!r:.300}",
        )


def _check_runner_up(feasible: FeasibleSet, w: Weights, solutions: list[Items]) -> None:
    runner_up = feasible.runner_up_with_each(w, _slack(w))
    if runner_up is None:
        return
    best = total(w, feasible.argmax(w))
    demand(bool((runner_up < best - _slack(w)).all()), "runner_up_with_each must stay below the best")
    for items in solutions:
        if items.size and total(w, items) < best - 3.0 * feasible.n_items * _slack(w):
            overlooked = runner_up[items].min() < total(w, items) - _slack(w)
            demand(not overlooked, f"runner_up_with_each overlooks {items.tolist()} for {w.tolist()!r:.300}")


def _check_contains(feasible: FeasibleSet, solutions: list[Items], generator: np.random.Generator) -> None:
    """On solutions and their neighbours: an exact oracle, rewarded for just these items, tells which are feasible."""
    for wrong in ([feasible.n_items], [-1], [0, 0]):
        demand(not feasible.contains(wrong), f"contains({wrong}) must be False")
    if feasible.ratio < 1.0 or not feasible.signed:
        return
    for items in solutions[:20]:
        flipped = np.setxor1d(items, generator.integers(0, feasible.n_items, size=2)).astype(np.int64)
        for some in (items, flipped):
            wanted = np.full(feasible.n_items, -1.0)
            wanted[some] = 1.0
            feasible_by_oracle = np.array_equal(feasible.argmax(wanted), some)
            demand(
                feasible.contains(some) == feasible_by_oracle,
                f"contains({some.tolist()}) is {not feasible_by_oracle}, but the oracle, rewarded for exactly these "
                f"items, {'returns them' if feasible_by_oracle else 'returns others'}",
            )


def _weights(feasible: FeasibleSet, kind: int, generator: np.random.Generator) -> Weights:
    w = (
        generator.normal(size=feasible.n_items),
        generator.integers(-2, 3, size=feasible.n_items).astype(np.float64),
        (generator.random(feasible.n_items) < 0.5).astype(np.float64),
        generator.normal(size=feasible.n_items) * 1e6,
    )[kind]
    return w if feasible.signed else -np.abs(w)


def _answer(feasible: FeasibleSet, w: Weights) -> Items:
    before = w.copy()
    items = feasible.argmax(w)
    demand(np.array_equal(w, before), "argmax must not change the weights it is given")
    demand(
        isinstance(items, np.ndarray) and items.dtype == np.int64 and items.ndim == 1,
        f"argmax must return a vector of int64, got {items!r:.200}",
    )
    demand(
        bool((np.diff(items) > 0).all()), f"argmax must return ascending items without repeats, got {items.tolist()}"
    )
    demand(
        items.size == 0 or (items[0] >= 0 and items[-1] < feasible.n_items),
        f"argmax returned unknown items {items.tolist()}",
    )
    demand(
        items.size <= feasible.max_size, f"argmax returned {items.size} items, more than max_size={feasible.max_size}"
    )
    demand(np.array_equal(items, feasible.argmax(w)), "argmax must return the same solution for the same weights")
    with contextlib.suppress(Unsupported):
        demand(feasible.contains(items), f"contains must accept argmax's answer {items.tolist()}")
    return items


def _check_restrictions(feasible: FeasibleSet, w: Weights, items: Items, generator: np.random.Generator) -> None:
    """Leaving out items of the best solution, or demanding them, must be obeyed and cannot make things better."""
    some = items[generator.random(items.size) < 0.5] if items.size > 1 else items
    others = np.setdiff1d(np.arange(feasible.n_items), items)
    nothing = items[:0]
    for include, exclude in ((nothing, some), (some, nothing), (some, others)):
        named = f"restrict(include={include.tolist()}, exclude={exclude.tolist()!r:.100})"
        try:
            part = feasible.restrict(include=include, exclude=exclude)
            other = part.argmax(w)
        except Unsupported:
            continue
        except EmptyFeasibleSet:
            demand(
                np.intersect1d(exclude, items).size > 0 or feasible.ratio < 1.0,
                f"{named} is not empty: {items.tolist()}",
            )
            continue
        obeyed = bool(np.isin(include, other).all()) and not np.isin(exclude, other).any()
        demand(obeyed, f"{named} returned {other.tolist()}")
        with contextlib.suppress(Unsupported):
            demand(part.contains(other), f"{named} does not contain its own answer {other.tolist()}")
            if np.intersect1d(exclude, items).size:
                demand(not part.contains(items), f"{named} must not contain {items.tolist()}")
        if feasible.ratio == 1.0:
            demand(
                total(w, other) <= total(w, items) + _slack(w),
                f"{named} found {other.tolist()}, better than argmax's {items.tolist()}",
            )
            if not np.intersect1d(exclude, items).size:
                demand(total(w, other) >= total(w, items) - _slack(w), f"{named} must keep argmax's {items.tolist()}")


def _check_without(feasible: FeasibleSet, w: Weights, items: Items, generator: np.random.Generator) -> None:
    """A quick way round the restricted set must lead to the same answer."""
    if not (up_to_date(feasible, "argmax_without", "argmax") and up_to_date(feasible, "argmax_without", "restrict")):
        return
    random = np.flatnonzero(generator.random(feasible.n_items) < 0.3)
    for exclude in (items[:1], items[generator.random(items.size) < 0.5], random):
        named = f"argmax_without(weights, {exclude.tolist()!r:.100})"
        try:
            expected = feasible.restrict(exclude=exclude).argmax(w)
        except (EmptyFeasibleSet, Unsupported) as error:
            try:
                answer = feasible.argmax_without(w, exclude)
            except type(error):
                continue
            demand(
                feasible.ratio < 1.0 and not np.isin(exclude, answer).any(),
                f"{named} returned {answer.tolist()}, but restrict raises {type(error).__name__}",
            )
            continue
        answer = feasible.argmax_without(w, exclude)
        demand(
            np.array_equal(answer, expected),
            f"{named} returned {answer.tolist()}, the restricted set {expected.tolist()}, for {w.tolist()!r:.300}",
        )


def _check_best_with_each(feasible: FeasibleSet, w: Weights) -> None:
    try:
        best, expected = feasible.best_with_each(w), FeasibleSet.best_with_each(feasible, w)
    except Unsupported:
        return
    same = np.allclose(best, expected, rtol=0.0, atol=_slack(w))
    demand(same, f"best_with_each gives {best}, one restricted call per item gives {expected}")
    never = set(feasible.uncovered().tolist())
    demand(
        never <= set(np.flatnonzero(np.isneginf(best)).tolist()), f"uncovered() names items that are covered: {never}"
    )


def _check_solver(feasible: FeasibleSet, trial_weights: list[Weights]) -> None:
    """The oracle for the compiler must answer as `argmax` does, ties included."""
    solver = feasible.solver()
    if solver is None or not up_to_date(feasible, "solver", "argmax"):
        return
    for start in range(0, len(trial_weights), int(LANES)):
        some = trial_weights[start : start + int(LANES)]
        padded = np.stack([some[min(lane, len(some) - 1)] for lane in range(int(LANES))], axis=1)
        chosen = answers(solver, padded, feasible.max_size, checked=not ours(feasible))
        for lane, w in enumerate(some):
            answer, expected = [item for item in chosen[lane] if item < feasible.n_items], feasible.argmax(w).tolist()
            demand(
                answer == expected,
                f"the compiled solver() answers {answer}, argmax {expected}, for {w.tolist()!r:.300}",
            )
