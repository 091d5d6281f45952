"""The parts of `testing.check_environment` that compare draws with what an environment declares."""

import numpy as np
from numpy.typing import NDArray

from semibandits.errors import ConformanceError
from semibandits.kernel import compiled
from semibandits.types import Environment, Weights, means_in, up_to_date
from semibandits.whose import ours

ROUNDS = (1, 2, 10, 100, 1_000, 10_000)
"""Looked at in worlds that do not say when they change."""
MOST_ROUNDS = 24
LEAST_DRAWS = 1_000


def demand(holds: bool | np.bool_, message: str) -> None:
    if not holds:
        raise ConformanceError(message)


def check_declared(environment: Environment, means: Weights) -> None:
    """Demands that means are one number per item, within the bounds."""
    lo, hi = environment.bounds
    demand(lo < hi, f"bounds must have lo < hi, got {environment.bounds}")
    demand(
        isinstance(means, np.ndarray) and means.shape == (environment.n_items,),
        f"means must be an array of shape ({environment.n_items},), got {means!r:.200}",
    )
    demand(
        bool(((means >= lo) & (means <= hi)).all()),
        f"means must be within the bounds {environment.bounds}, got {means}",
    )


def check_drawn(environment: Environment, drawn: Weights, means: Weights) -> None:
    """Demands that weights, a row per draw, keep the bounds and have these means, up to five standard errors."""
    lo, hi = environment.bounds
    samples = len(drawn)
    demand(bool(((drawn >= lo) & (drawn <= hi)).all()), f"weights left the bounds {environment.bounds}")
    shift = drawn - means  # before the mean, which would lose digits far from zero
    errors = shift.std(axis=0, ddof=1) / np.sqrt(samples) if samples > 1 else np.full(environment.n_items, hi - lo)
    # Rare events may be missing from the sample: allow for what it would not show.
    slack = 5.0 * errors + (hi - lo) * 10.0 / samples + 1e-12 * max(abs(lo), abs(hi))
    wrong = np.abs(shift.mean(axis=0)) > slack
    if wrong.any():
        item = int(np.argmax(wrong))
        raise ConformanceError(
            f"item {item}: the declared mean is {means[item]}, {samples} draws have mean {drawn[:, item].mean()} "
            f"with standard error {errors[item]}"
        )


def check_drift(environment: Environment, keys: NDArray[np.uint64]) -> None:
    """Demands the same of several rounds of a world that drifts, and that its functions do the same when compiled."""
    rounds = _rounds_to_look_at(environment)
    few = keys[: max(LEAST_DRAWS, keys.size // len(rounds))].tolist()
    for round in rounds:
        try:
            means = means_in(environment, round)
            check_declared(environment, means)
            drawn = np.array([environment.weights(round, key) for key in few])
            check_drawn(environment, drawn, means)
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
