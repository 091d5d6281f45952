"""Randomised policies: a plain simulation of many runs at once, and what every one of them must do in live use.

The simulation knows 0/1 weights and listed solutions only and draws from NumPy's generator; it shares nothing with the
package. Thompson sampling's regret has heavy tails, so that a comparison takes thousands of runs.
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from semibandits import Learner, Problem, environments, errors, rng, sets
from semibandits.simulation import simulate
from semibandits.types import IndexPolicy

Numbers = NDArray[np.float64]
Scores = Callable[[int, Numbers, Numbers, np.random.Generator], Numbers]
"""scores(t, counts, sums, generator): a row for each run, a column for each item."""


def play_many(
    listed: Sequence[Sequence[int]],
    means: Sequence[float],
    scores: Scores,
    *,
    horizon: int,
    runs: int,
    seed: int,
    init: bool,
) -> Numbers:
    """The regret of each run. `init`: begin with solutions of most unseen items; every observation is kept."""
    generator = np.random.default_rng(seed)
    n_items = len(means)
    rows = np.zeros((len(listed), n_items))
    for number, one in enumerate(listed):
        rows[number, list(one)] = 1.0
    gaps = (rows @ means).max() - rows @ means
    counts, sums, regrets = np.zeros((runs, n_items)), np.zeros((runs, n_items)), np.zeros(runs)
    for t in range(1, horizon + 1):
        unseen = (counts == 0.0).astype(np.float64)
        weights = unseen if init and unseen.any() else scores(t, counts, sums, generator)
        chosen = np.argmax(weights @ rows.T, axis=1)
        regrets += gaps[chosen]
        counts += rows[chosen]
        sums += rows[chosen] * (generator.random((runs, n_items)) < means)
    return regrets


def regrets(problem: Problem, policy: IndexPolicy, *, horizon: int, runs: int, seed: int = 1) -> Numbers:
    """The package's own, by whichever engine it chooses."""
    # what is recorded makes it the machine code that other tests have compiled
    result = simulate(problem, policy, horizon=horizon, runs=runs, seed=seed, record="counts")
    assert result.engine.startswith("compiled")
    final: Numbers = result.regret[0, :, -1]
    return final


def near(ours: Numbers, mean: float, error: float, most: float = 3.5) -> None:
    """A published mean with its standard error."""
    own = ours.std(ddof=1) / math.sqrt(ours.size)
    assert abs(ours.mean() - mean) < most * math.hypot(own, error), (ours.mean(), own)


def two_sets(d: int) -> Problem:
    """Two disjoint sets of d/2 items, coins of means 0.9 and 0.7."""
    return Problem(sets.KPaths(d, d // 2), environments.Bernoulli(np.repeat([0.9, 0.7], d // 2)))


def top_k(means: Sequence[float], k: int) -> Problem:
    return Problem(sets.TopK(len(means), k), environments.Bernoulli(means))


def box_muller(seed: int, round: int, item: int) -> float:
    """The normal number of an item in a round of run 0, from its two uniform numbers."""
    key = rng.key(seed, 0, round, rng.POLICY)
    u, v = float(rng.uniform(key, item, 0)), float(rng.uniform(key, item, 1))
    return math.sqrt(-2.0 * math.log(1.0 - u)) * math.cos(2.0 * math.pi * v)


def warmed(policy: IndexPolicy, seed: int = 3, **settings: Any) -> tuple[Learner, list[list[float]]]:
    """A learner of five items that has seen all of them before its first round, and what it saw."""
    learner = Learner(sets.TopK(5, 2), policy, seed=seed, **settings)
    generator = np.random.default_rng(seed)
    seen: list[list[float]] = [generator.random(1 + item).tolist() for item in range(5)]
    low, high = settings.get("bounds", (0.0, 1.0))
    for item, xs in enumerate(seen):
        flipped = settings.get("sense") == "min"
        learner.observe([item] * len(xs), [high - (high - low) * x if flipped else low + (high - low) * x for x in xs])
    return learner, seen


def scores_follow(policy: IndexPolicy, expected: Callable[[int, int, float, int], float], rounds: int = 150) -> None:
    """Beside expected(t, T, mean, item), round by round, with feedback that is sometimes late."""
    learner, seen = warmed(policy)
    generator = np.random.default_rng(8)
    late: list[tuple[Any, Any]] = []
    for t in range(1, rounds + 1):
        wanted = [expected(t, len(xs), math.fsum(xs) / len(xs), item) for item, xs in enumerate(seen)]
        np.testing.assert_allclose(learner.scores(), wanted, rtol=1e-12, atol=1e-12)
        decision = learner.ask()
        assert sorted(decision.items.tolist()) == sorted(np.argsort(wanted)[-2:].tolist())
        late.append((decision, generator.random(2)))
        if t % 4:
            while late:
                told, weights = late.pop()
                learner.tell(told.id, weights)
                for item, x in zip(told.items.tolist(), weights.tolist(), strict=True):
                    seen[item].append(x)


def plays_on(learner: Learner, rounds: int = 40) -> list[Any]:
    generator = np.random.default_rng(4)
    out: list[Any] = []
    for _ in range(rounds):
        assert np.isfinite(learner.scores()).all()
        decision = learner.ask()
        out.append((decision.round, decision.items.tolist()))
        learner.tell(decision.id, generator.random(decision.items.size))
    return [*out, learner.counts.tolist(), learner.estimates.tolist(), learner.scores().tolist()]


def lives(policy: IndexPolicy, folder: Path) -> None:
    """A seed repeats and another one does not; a loaded learner goes on as the saved one; wrong weights do nothing."""
    feasible = sets.GridPaths(2)
    learner, again, other = (Learner(feasible, policy, seed=seed) for seed in (5, 5, 6))
    played = plays_on(learner)
    assert plays_on(again) == played
    assert plays_on(other) != played
    outstanding = learner.ask()
    learner.save(folder / "state.json")
    loaded = Learner.load(folder / "state.json", sets.GridPaths(2))
    assert loaded.scores().tolist() == learner.scores().tolist()
    before = (learner.counts.tolist(), learner.estimates.tolist(), learner.scores().tolist(), learner.round)
    for wrong in ([0.5, 0.5, 0.5, 1.5], [-0.1, 0.5, 0.5, 0.5], [0.5, 0.5, math.nan, 0.5], [0.5]):
        with pytest.raises(errors.SemiBanditError):
            learner.tell(outstanding.id, wrong)
        with pytest.raises(errors.SemiBanditError):
            learner.observe([0, 1, 2, 3], wrong)
    assert (learner.counts.tolist(), learner.estimates.tolist(), learner.scores().tolist(), learner.round) == before
    assert [one.id for one in learner.outstanding] == [outstanding.id]
    for one in (learner, loaded):
        one.tell(outstanding.id, [0.1, 0.2, 0.3, 0.4])
    assert plays_on(loaded) == plays_on(learner)


NOT_POSITIVE = [0.0, -1.0, math.inf, math.nan, "0.5", True, None]


def refuses(kind: Callable[..., IndexPolicy], name: str, value: object) -> None:
    with pytest.raises(errors.BadArgument, match=f"{name} must be .*, got") as raised:
        kind(**{name: value})
    assert repr(value) in str(raised.value)
