"""Checks that a set, an environment or a policy keeps its contract: run them on your own.

Each raises `ConformanceError` with what was expected and what was found, and returns None where all is well.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from semibandits import rng
from semibandits.errors import ConformanceError, EmptyFeasibleSet, Unsupported
from semibandits.kernel import compiled
from semibandits.types import Environment, FeasibleSet, Game, IndexPolicy, Items, Weights, total


def check_set(feasible: FeasibleSet, *, trials: int = 50, seed: int = 0) -> None:
    """Checks that a set's oracle, verifier and restrictions agree with each other.

    It asks for the best solutions of many weights (tied, zero, negative and large ones among them), and then
    demands that no solution ever seen beats the oracle's answer for any of these weights.

    >>> import semibandits as sb
    >>> check_set(sb.sets.TopK(6, 3))
    """
    _demand(feasible.n_items >= 1, f"n_items must be at least 1, got {feasible.n_items}")
    _demand(0 <= feasible.max_size <= feasible.n_items, f"max_size must be 0 to n_items, got {feasible.max_size}")
    _demand(0.0 < feasible.ratio <= 1.0, f"ratio must be in (0, 1], got {feasible.ratio}")
    trial_weights = list(_weights(feasible, trials, seed))
    solutions: dict[bytes, Items] = {}
    for w in trial_weights:
        items = _answer(feasible, w)
        solutions[items.tobytes()] = items
        _check_restrictions(feasible, w, items)
    exact = feasible.ratio == 1.0
    for w in trial_weights:
        value = total(w, feasible.argmax(w))
        rival = max(solutions.values(), key=lambda items: total(w, items))
        scale = 1e-9 * max(1.0, float(np.abs(w).sum()))
        demanded = total(w, rival) if exact else feasible.ratio * total(w, rival)
        if exact or total(w, rival) >= 0.0:
            _demand(
                value >= demanded - scale,
                f"argmax is worth {value}, but {rival.tolist()} is worth {total(w, rival)} for {w.tolist()!r:.300}",
            )
    _check_best_with_each(feasible, trial_weights[0])
    for wrong in ([feasible.n_items], [-1], [0, 0]):
        _demand(not feasible.contains(wrong), f"contains({wrong}) must be False")


def _weights(feasible: FeasibleSet, trials: int, seed: int) -> Iterator[Weights]:
    generator = np.random.default_rng(seed)
    for trial in range(trials):
        kind = trial % 4
        if kind == 0:
            w = generator.normal(size=feasible.n_items)
        elif kind == 1:
            w = generator.integers(-2, 3, size=feasible.n_items).astype(np.float64)
        elif kind == 2:
            w = (generator.random(feasible.n_items) < 0.5).astype(np.float64)
        else:
            w = generator.normal(size=feasible.n_items) * 1e6
        yield w if feasible.signed else -np.abs(w)


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


def _check_restrictions(feasible: FeasibleSet, w: Weights, items: Items) -> None:
    """Leaving out an item of the best solution, or demanding it, must be obeyed and cannot make things better."""
    if items.size == 0:
        return
    item = int(items[0])
    value, scale = total(w, items), 1e-9 * max(1.0, float(np.abs(w).sum()))
    for include, exclude in (((), (item,)), ((item,), ())):
        try:
            other = feasible.restrict(include=include, exclude=exclude).argmax(w)
        except (EmptyFeasibleSet, Unsupported):
            continue
        named = f"restrict(include={list(include)}, exclude={list(exclude)})"
        _demand((item in other) == bool(include), f"{named} returned {other.tolist()}")
        if feasible.ratio == 1.0:
            _demand(
                total(w, other) <= value + scale,
                f"{named} found {other.tolist()}, better than argmax's {items.tolist()}",
            )
            _demand(not include or total(w, other) >= value - scale, f"{named} must keep argmax's {items.tolist()}")


def _check_best_with_each(feasible: FeasibleSet, w: Weights) -> None:
    try:
        best, expected = feasible.best_with_each(w), FeasibleSet.best_with_each(feasible, w)
    except Unsupported:
        return
    same = np.allclose(best, expected, rtol=0.0, atol=1e-9 * max(1.0, float(np.abs(w).sum())))
    _demand(same, f"best_with_each gives {best}, one restricted call per item gives {expected}")
    never = set(feasible.uncovered().tolist())
    _demand(
        never <= set(np.flatnonzero(np.isneginf(best)).tolist()), f"uncovered() names items that are covered: {never}"
    )


def check_environment(environment: Environment, *, samples: int = 4000, seed: int = 0) -> None:
    """Checks that weights keep their bounds, depend on the key alone, and have the means the environment declares.

    A mean may be off by at most five standard errors; with the fixed seed the check gives the same answer every time.

    >>> import semibandits as sb
    >>> check_environment(sb.environments.Bernoulli([0.2, 0.9]))
    """
    lo, hi = environment.bounds
    means = np.asarray(environment.means)
    _demand(lo < hi, f"bounds must have lo < hi, got {environment.bounds}")
    _demand(means.shape == (environment.n_items,), f"means must have shape ({environment.n_items},), got {means.shape}")
    _demand(
        bool(((means >= lo) & (means <= hi)).all()),
        f"means must be within the bounds {environment.bounds}, got {means}",
    )
    drawn = np.empty((samples, environment.n_items))
    some = np.arange(environment.n_items)[::2]
    for i in range(samples):
        key = rng.key(seed, 0, i + 1, rng.WORLD)
        drawn[i] = environment.weights(i + 1, key)
        if i < 20:
            again = environment.weights(i + 1, key, some)
            _demand(
                np.array_equal(again, drawn[i, some]), "the same round must give the same weights, for any items asked"
            )
    _demand(bool(((drawn >= lo) & (drawn <= hi)).all()), f"weights left the bounds {environment.bounds}")
    error = drawn.std(axis=0, ddof=1) / np.sqrt(samples)
    # An item that never varied in the sample may be a rare event: allow for what the sample would not show.
    slack = 5.0 * error + (hi - lo) * np.where(error > 0.0, 1e-9, 10.0 / samples)
    wrong = np.abs(drawn.mean(axis=0) - means) > slack
    if wrong.any():
        item = int(np.argmax(wrong))
        raise ConformanceError(
            f"item {item}: the declared mean is {means[item]}, {samples} draws have mean {drawn[:, item].mean()} "
            f"with standard error {error[item]}"
        )


def check_policy(policy: IndexPolicy, *, trials: int = 200, seed: int = 0) -> None:
    """Checks that a policy's functions are array-safe, finite and, where it says so, can take an observation back.

    The functions must give the same numbers, bit for bit, called on one item at a time, on all items at once as
    NumPy arrays, and compiled.

    >>> import semibandits as sb
    >>> check_policy(sb.policies.CombUCB1())
    """
    generator = np.random.default_rng(seed)
    p = policy.params(Game(n_items=trials, max_size=max(1, trials // 4), horizon=10_000))
    _demand(
        len(policy.prior) >= 2 and policy.prior[0] == 0.0,
        f"prior must begin with count 0 and a sum, got {policy.prior}",
    )
    stats = tuple(np.full(trials, value, dtype=np.float64) for value in policy.prior)
    numbers = np.arange(trials, dtype=np.uint64)
    for round in (1, 2, 3, 10, 1000):
        key = rng.key(seed, 0, round, rng.POLICY)
        clock = policy.clock(round, key, p)
        scores = policy.score(stats, clock, key, numbers, p)
        _demand(np.shape(scores) == (trials,), f"score on arrays must return one number per item, got {scores!r:.200}")
        _demand(bool(np.isfinite(scores).all()), f"scores must be finite in round {round}, got {scores!r:.200}")
        _same(policy.score, scores, (stats, clock, key, numbers, p))
        x = generator.random(trials) if round > 2 else generator.integers(0, 2, trials).astype(np.float64)
        after = policy.observe(stats, x, round, key, numbers, p)
        _demand(len(after) == len(policy.prior), f"observe must return {len(policy.prior)} numbers, got {len(after)}")
        _same(policy.observe, after, (stats, x, round, key, numbers, p))
        if type(policy).forget is not IndexPolicy.forget:
            before = policy.forget(after, x, round, p)
            _same(policy.forget, before, (after, x, round, p))
            for name, old, new in zip(("count", "sum"), stats, before, strict=False):
                _demand(
                    bool(np.allclose(old, new, rtol=0.0, atol=1e-9)),
                    f"forget must undo observe, but the {name} differs",
                )
        _demand(bool((after[0] > stats[0] * 0.0).all()), "the count of an observed item must be positive")
        stats = tuple(np.asarray(row, dtype=np.float64) for row in after)


def _same(function: Callable[..., Any], whole: object, arguments: tuple[object, ...]) -> None:
    """One item at a time, plain and compiled, must give what all items at once gave."""
    name = getattr(function, "__name__", str(function))
    rows = np.stack([np.asarray(row) for row in whole]) if isinstance(whole, tuple) else np.asarray(whole)[None]
    for how, call in (("called one item at a time", function), ("compiled", compiled(function))):
        for item in range(0, rows.shape[1], 7):
            one = tuple(_pick(argument, item) for argument in arguments)
            try:
                got = call(*one)
            except Exception as error:
                raise ConformanceError(f"{name} cannot be {how}: {error!s:.500}") from error
            alone = np.array(got if isinstance(got, tuple) else (got,), dtype=np.float64)
            _demand(
                np.array_equal(alone, rows[:, item]),
                f"{name} gives {alone} {how} and {rows[:, item]} on arrays, for {one!r:.300}",
            )


def _pick(argument: object, item: int) -> object:
    if isinstance(argument, tuple):
        return tuple(_pick(part, item) for part in argument)
    if isinstance(argument, np.ndarray) and argument.ndim == 1:
        return argument[item]
    return np.uint64(argument) if isinstance(argument, int) and argument >= 1 << 63 else argument


def _demand(holds: bool | np.bool_, message: str) -> None:
    if not holds:
        raise ConformanceError(message)
