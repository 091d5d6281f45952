"""Checks that a set, an environment or a policy keeps its contract: run them on your own.

Each raises `ConformanceError` with what was expected and what was found, and returns None where all is well.
"""

import contextlib
import functools
from collections.abc import Callable
from typing import ParamSpec

import numpy as np

from semibandits import rng
from semibandits.errors import ConformanceError, EmptyFeasibleSet, Unsupported
from semibandits.kernel import LANES, compiled
from semibandits.sets import TopK
from semibandits.sets.lanes import answers
from semibandits.testing_policies import check_choices, check_formula
from semibandits.testing_worlds import check_declared, check_drawn, check_drift
from semibandits.testing_worlds import demand as _demand
from semibandits.types import (
    Environment,
    FeasibleSet,
    IndexPolicy,
    Items,
    Policy,
    Weights,
    means_in,
    total,
    up_to_date,
)
from semibandits.whose import ours

Q = ParamSpec("Q")


def _conforming(check: Callable[Q, None]) -> Callable[Q, None]:
    """Whatever the object under test raises is a breach of its contract too."""

    @functools.wraps(check)
    def checked(*arguments: Q.args, **options: Q.kwargs) -> None:
        try:
            check(*arguments, **options)
        except ConformanceError:
            raise
        except Exception as error:
            raise ConformanceError(f"{type(error).__name__} was raised: {error!s:.500}") from error

    return checked


@_conforming
def check_set(feasible: FeasibleSet, *, trials: int = 50, seed: int = 0) -> None:
    """Checks that a set's oracle, verifier and restrictions agree with each other.

    It asks for the best solutions of many weights (tied, zero, negative and large ones among them), and then
    demands that no solution ever seen beats the oracle's answer for any of these weights.

    >>> import semibandits as sb
    >>> check_set(sb.sets.TopK(6, 3))
    """
    _demand(isinstance(feasible, FeasibleSet), f"expected a FeasibleSet, got {feasible!r:.200}")
    _demand(trials >= 1, f"trials must be at least 1, got {trials}")
    _demand(feasible.n_items >= 1, f"n_items must be at least 1, got {feasible.n_items}")
    _demand(0 <= feasible.max_size <= feasible.n_items, f"max_size must be 0 to n_items, got {feasible.max_size}")
    _demand(0.0 < feasible.ratio <= 1.0, f"ratio must be in (0, 1], got {feasible.ratio}")
    generator = np.random.default_rng(seed)
    trial_weights = [_weights(feasible, trial % 4, generator) for trial in range(trials)]
    seen: dict[bytes, Items] = {}
    for w in trial_weights:
        items = _answer(feasible, w)
        seen[items.tobytes()] = items
        _check_restrictions(feasible, w, items, generator)
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
        _demand(
            value >= feasible.ratio * total(w, rival) - _slack(w),
            f"argmax is worth {value}, but {rival.tolist()} is worth {total(w, rival)} for {w.tolist()!r:.300}",
        )


def _check_runner_up(feasible: FeasibleSet, w: Weights, solutions: list[Items]) -> None:
    runner_up = feasible.runner_up_with_each(w, _slack(w))
    if runner_up is None:
        return
    best = total(w, feasible.argmax(w))
    _demand(bool((runner_up < best - _slack(w)).all()), "runner_up_with_each must stay below the best")
    for items in solutions:
        if items.size and total(w, items) < best - 3.0 * feasible.n_items * _slack(w):
            overlooked = runner_up[items].min() < total(w, items) - _slack(w)
            _demand(not overlooked, f"runner_up_with_each overlooks {items.tolist()} for {w.tolist()!r:.300}")


def _check_contains(feasible: FeasibleSet, solutions: list[Items], generator: np.random.Generator) -> None:
    """On solutions and their neighbours: an exact oracle, rewarded for just these items, tells which are feasible."""
    for wrong in ([feasible.n_items], [-1], [0, 0]):
        _demand(not feasible.contains(wrong), f"contains({wrong}) must be False")
    if feasible.ratio < 1.0 or not feasible.signed:
        return
    for items in solutions[:20]:
        flipped = np.setxor1d(items, generator.integers(0, feasible.n_items, size=2)).astype(np.int64)
        for some in (items, flipped):
            wanted = np.full(feasible.n_items, -1.0)
            wanted[some] = 1.0
            feasible_by_oracle = np.array_equal(feasible.argmax(wanted), some)
            _demand(
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
    _demand(np.array_equal(w, before), "argmax must not change the weights it is given")
    _demand(
        isinstance(items, np.ndarray) and items.dtype == np.int64 and items.ndim == 1,
        f"argmax must return a vector of int64, got {items!r:.200}",
    )
    _demand(
        bool((np.diff(items) > 0).all()), f"argmax must return ascending items without repeats, got {items.tolist()}"
    )
    _demand(
        items.size == 0 or (items[0] >= 0 and items[-1] < feasible.n_items),
        f"argmax returned unknown items {items.tolist()}",
    )
    _demand(
        items.size <= feasible.max_size, f"argmax returned {items.size} items, more than max_size={feasible.max_size}"
    )
    _demand(np.array_equal(items, feasible.argmax(w)), "argmax must return the same solution for the same weights")
    with contextlib.suppress(Unsupported):
        _demand(feasible.contains(items), f"contains must accept argmax's answer {items.tolist()}")
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
            _demand(
                np.intersect1d(exclude, items).size > 0 or feasible.ratio < 1.0,
                f"{named} is not empty: {items.tolist()}",
            )
            continue
        obeyed = bool(np.isin(include, other).all()) and not np.isin(exclude, other).any()
        _demand(obeyed, f"{named} returned {other.tolist()}")
        with contextlib.suppress(Unsupported):
            _demand(part.contains(other), f"{named} does not contain its own answer {other.tolist()}")
            if np.intersect1d(exclude, items).size:
                _demand(not part.contains(items), f"{named} must not contain {items.tolist()}")
        if feasible.ratio == 1.0:
            _demand(
                total(w, other) <= total(w, items) + _slack(w),
                f"{named} found {other.tolist()}, better than argmax's {items.tolist()}",
            )
            if not np.intersect1d(exclude, items).size:
                _demand(total(w, other) >= total(w, items) - _slack(w), f"{named} must keep argmax's {items.tolist()}")


def _check_best_with_each(feasible: FeasibleSet, w: Weights) -> None:
    try:
        best, expected = feasible.best_with_each(w), FeasibleSet.best_with_each(feasible, w)
    except Unsupported:
        return
    same = np.allclose(best, expected, rtol=0.0, atol=_slack(w))
    _demand(same, f"best_with_each gives {best}, one restricted call per item gives {expected}")
    never = set(feasible.uncovered().tolist())
    _demand(
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
            _demand(
                answer == expected,
                f"the compiled solver() answers {answer}, argmax {expected}, for {w.tolist()!r:.300}",
            )


@_conforming
def check_environment(environment: Environment, *, samples: int = 4000, seed: int = 0) -> None:
    """Checks that weights keep their bounds, depend on the key alone, and have the means the environment declares.

    A mean may be off by at most five standard errors; with the fixed seed the check gives the same answer every time.
    Where the means drift, rounds before, at and after their changes are looked at.

    >>> import semibandits as sb
    >>> check_environment(sb.environments.Bernoulli([0.2, 0.9]))
    """
    _demand(isinstance(environment, Environment), f"expected an Environment, got {environment!r:.200}")
    means = means_in(environment, 1)
    check_declared(environment, means)
    recorded = environment.last_round is not None
    if environment.last_round is not None:  # all there are, once
        samples = min(samples, environment.last_round) if environment.drifts else environment.last_round
    generator = np.random.default_rng(seed)
    keys = rng.keys(seed, 0, 1, samples, rng.WORLD)
    drawn = np.empty((samples, environment.n_items))
    for i, key in enumerate(keys.tolist()):
        row = np.asarray(environment.weights(i + 1, key))
        _demand(row.shape == (environment.n_items,), f"weights must return one number per item, got {row!r:.200}")
        drawn[i] = row
        if i < 20:
            some = np.flatnonzero(generator.random(environment.n_items) < 0.5)
            again = environment.weights(i + 1, key, some)
            _demand(
                np.array_equal(again, drawn[i, some]), "the same round must give the same weights, for any items asked"
            )
    if environment.batched:
        rows = environment.weights(1, keys[:20, None])
        _demand(np.array_equal(rows, drawn[:20]), "batched: a column of keys must give the rows that each key gives")
    draw = environment.drawing()
    if draw is not None and up_to_date(environment, "drawing", "weights"):
        machine = compiled(draw, checked=not ours(environment))
        for i in range(min(samples, 20)):
            for item in range(min(environment.n_items, 5)):
                x = machine(i + 1, keys[i], np.uint64(item), environment.tables)
                _demand(x == drawn[i, item], f"draw() compiled gives {x}, plain {drawn[i, item]}, for item {item}")
    again = environment.weights(1, int(keys[0]))
    _demand(np.array_equal(again, drawn[0]), "the weights of a round must not depend on what was drawn before")
    if not recorded and (drawn != drawn[0]).any():
        others = [environment.weights(1, key) for key in keys[1:50].tolist()]
        _demand(any((row != drawn[0]).any() for row in others), "the weights of a round must depend on its key")
    if environment.drifts:
        check_drift(environment, keys)
    else:
        check_drawn(environment, drawn, means)


@_conforming
def check_policy(
    policy: IndexPolicy | Policy, *, trials: int = 200, seed: int = 0, feasible: FeasibleSet | None = None
) -> None:
    """Checks that a policy keeps its contract.

    An `IndexPolicy`: its functions are array-safe, finite and, where it says so, can take an observation back. They
    must give the same numbers, bit for bit, called on one item at a time, on all items at once as NumPy arrays, and
    compiled. `trials` is the number of items: for a policy made for a certain number, that one.

    A `Policy`: on the set given (default: `TopK(8, 3)`) its choices are feasible, depend on state, round and key alone,
    change nothing, and it learns from late feedback in parts. `trials` is the number of rounds.

    >>> import semibandits as sb
    >>> check_policy(sb.policies.CombUCB1())
    >>> check_policy(sb.policies.HYBRID(), trials=20)
    """
    _demand(isinstance(policy, IndexPolicy | Policy), f"expected an IndexPolicy or a Policy, got {policy!r:.200}")
    _demand(trials >= 1, f"trials must be at least 1, got {trials}")
    if isinstance(policy, IndexPolicy):
        check_formula(policy, trials, seed)
    else:
        check_choices(policy, TopK(8, 3) if feasible is None else feasible, trials, seed)
