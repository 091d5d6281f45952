"""The check of an environment: draws, compared with what it declares."""

import numpy as np
from numpy.typing import NDArray

from semibandits import rng
from semibandits._util.item_bounds import shown
from semibandits._util.ownership import ours
from semibandits.errors import ConformanceError
from semibandits.kernel import compiled
from semibandits.testing.conformance import conforming, demand
from semibandits.types import Bounds, Environment, FeasibleSet, Weights, bounds_in, means_in, up_to_date

ROUNDS = (1, 2, 10, 100, 1_000, 10_000)
"""Looked at in worlds that do not say when they change."""
MOST_ROUNDS = 24
LEAST_DRAWS = 1_000


@conforming
def check_environment(environment: Environment, *, samples: int = 4000, seed: int = 0) -> None:
    """Checks that weights keep their bounds, depend on the key alone, and have the means the environment declares.

    A mean may be off by at most five standard errors; with the fixed seed the check gives the same answer every time.
    Where the means drift, rounds before, at and after their changes are looked at.

    >>> import semibandits as sb
    >>> check_environment(sb.environments.Bernoulli([0.2, 0.9]))
    """
    demand(isinstance(environment, Environment), f"expected an Environment, got {environment!r:.200}")
    means = means_in(environment, 1)
    _check_declared(environment, means)
    recorded = environment.last_round is not None
    if environment.last_round is not None:  # all there are, once
        samples = min(samples, environment.last_round) if environment.drifts else environment.last_round
    generator = np.random.default_rng(seed)
    keys = rng.keys(seed, 0, 1, samples, rng.WORLD)
    drawn = np.empty((samples, environment.n_items))
    for i, key in enumerate(keys.tolist()):
        row = np.asarray(environment.weights(i + 1, key))
        demand(row.shape == (environment.n_items,), f"weights must return one number per item, got {row!r:.200}")
        drawn[i] = row
        if i < 20:
            some = np.flatnonzero(generator.random(environment.n_items) < 0.5)
            again = environment.weights(i + 1, key, some)
            demand(
                np.array_equal(again, drawn[i, some]), "the same round must give the same weights, for any items asked"
            )
    if environment.batched:
        rows = environment.weights(1, keys[:20, None])
        demand(np.array_equal(rows, drawn[:20]), "batched: a column of keys must give the rows that each key gives")
    draw = environment.drawing()
    if draw is not None and up_to_date(environment, "drawing", "weights"):
        machine = compiled(draw, checked=not ours(environment))
        for i in range(min(samples, 20)):
            for item in range(min(environment.n_items, 5)):
                x = machine(i + 1, keys[i], np.uint64(item), environment.tables)
                demand(x == drawn[i, item], f"draw() compiled gives {x}, plain {drawn[i, item]}, for item {item}")
    again = environment.weights(1, int(keys[0]))
    demand(np.array_equal(again, drawn[0]), "the weights of a round must not depend on what was drawn before")
    if not recorded and (drawn != drawn[0]).any():
        others = [environment.weights(1, key) for key in keys[1:50].tolist()]
        demand(any((row != drawn[0]).any() for row in others), "the weights of a round must depend on its key")
    _check_sets(environment, keys[:50].tolist())
    if environment.drifts:
        _check_drift(environment, keys)
    else:
        _check_drawn(environment, drawn, means)


def _check_sets(environment: Environment, keys: list[int]) -> None:
    """Demands that the sets of rounds have its items, and depend on the round and its key alone."""
    says = type(environment).feasible is not Environment.feasible
    demand(
        says == environment.says_sets, "environments with feasible(round, key), and no others, have says_sets = True"
    )
    if not says:
        return
    demand(environment.drifts, "what is best changes with the set: an environment that says sets needs drifts = True")
    said = [environment.feasible(round, key) for round, key in enumerate(keys, start=1)]
    for one in (*environment.sets, *said):
        demand(
            one is None or isinstance(one, FeasibleSet), f"feasible() must return a FeasibleSet or None, got {one!r}"
        )
        known = one is None or one.n_items == environment.n_items
        demand(known, f"feasible() must return sets of the {environment.n_items} items, got {one!r:.200}")
    if environment.sets:
        known = all(any(one is other for other in environment.sets) for one in said if one is not None)
        demand(known, "feasible() must return one of `sets`, or None")
    for round, key in reversed(list(enumerate(keys, start=1))):
        again, one = environment.feasible(round, key), said[round - 1]
        same = again is one or (again is not None and one is not None and _alike(again, one))
        demand(same, f"feasible({round}, key) must be the same set every time, got {one!r:.100} and {again!r:.100}")


def _alike(one: FeasibleSet, other: FeasibleSet) -> bool:
    """Whether two sets answer alike."""
    low = np.random.default_rng(0).random((4, one.n_items)) - 1.0
    return all(np.array_equal(one.argmax(w), other.argmax(w)) for w in low)


def _check_declared(environment: Environment, means: Weights) -> None:
    """Demands that means are one number per item, within the bounds."""
    bounds = lo, hi = _bounds_of(environment)
    demand(
        isinstance(means, np.ndarray) and means.shape == (environment.n_items,),
        f"means must be an array of shape ({environment.n_items},), got {means!r:.200}",
    )
    demand(
        bool(((means >= lo) & (means <= hi)).all()),
        f"means must be within the bounds {shown(bounds)}, got {means}",
    )


def _bounds_of(environment: Environment) -> Bounds:
    """A pair lo < hi, or such vectors."""
    bounds = lo, hi = bounds_in(environment)
    demand(bool(np.all(np.less_equal(lo, hi)) and np.any(np.less(lo, hi))), f"bounds must have lo < hi, got {bounds}")
    return bounds


def _check_drawn(environment: Environment, drawn: Weights, means: Weights) -> None:
    """Demands that weights, a row per draw, keep the bounds and have these means, up to five standard errors."""
    bounds = _bounds_of(environment)
    lo, hi = (np.zeros(environment.n_items) + side for side in bounds)
    samples = len(drawn)
    demand(bool(((drawn >= lo) & (drawn <= hi)).all()), f"weights left the bounds {shown(bounds)}")
    shift = drawn - means  # before the mean, which would lose digits far from zero
    errors = shift.std(axis=0, ddof=1) / np.sqrt(samples) if samples > 1 else hi - lo
    # Rare events may be missing from the sample: allow for what it would not show.
    slack = 5.0 * errors + (hi - lo) * 10.0 / samples + 1e-12 * np.maximum(np.abs(lo), np.abs(hi))
    wrong = np.abs(shift.mean(axis=0)) > slack
    if wrong.any():
        item = int(np.argmax(wrong))
        raise ConformanceError(
            f"item {item}: the declared mean is {means[item]}, {samples} draws have mean {drawn[:, item].mean()} "
            f"with standard error {errors[item]}"
        )


def _check_drift(environment: Environment, keys: NDArray[np.uint64]) -> None:
    """Demands the same of several rounds of a world that drifts, and that its functions do the same when compiled."""
    rounds = _rounds_to_look_at(environment)
    few = keys[: max(LEAST_DRAWS, keys.size // len(rounds))].tolist()
    for round in rounds:
        try:
            means = means_in(environment, round)
            _check_declared(environment, means)
            drawn = np.array([environment.weights(round, key) for key in few])
            _check_drawn(environment, drawn, means)
            _check_compiled(environment, round, few[:5], drawn, means)
        except ConformanceError as error:
            raise ConformanceError(f"in round {round}, {error}") from error


def _rounds_to_look_at(environment: Environment) -> list[int]:
    """Where it starts to change, the round before, and one halfway to the next."""
    starts = np.asarray(getattr(environment, "starts", ROUNDS), dtype=np.int64)
    between = (starts[1:] + starts[:-1]) // 2
    rounds = np.unique([*starts, *between, *(starts[1:] - 1), starts[-1] + 1_000])
    if environment.last_round is not None:
        rounds = rounds[rounds <= environment.last_round]
    some = np.linspace(0, rounds.size - 1, num=min(rounds.size, MOST_ROUNDS)).round().astype(np.int64)
    return [int(round) for round in rounds[some]]


def _check_compiled(environment: Environment, round: int, keys: list[int], drawn: Weights, means: Weights) -> None:
    draw = environment.drawing()
    if draw is None or not up_to_date(environment, "drawing", "weights"):
        return
    mean = getattr(environment, "mean", None)
    own = ours(environment)
    for item in range(min(environment.n_items, 5)):
        for row, key in enumerate(keys):
            x = compiled(draw, checked=not own)(round, np.uint64(key), np.uint64(item), environment.tables)
            demand(x == drawn[row, item], f"draw() compiled gives {x}, plain {drawn[row, item]}, for item {item}")
        if mean is not None:
            x = compiled(mean, checked=not own)(round, np.uint64(item), environment.tables)
            demand(x == means[item], f"mean() compiled gives {x}, means(round) {means[item]}, for item {item}")
