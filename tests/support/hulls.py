"""Policies that draw solutions of a given mean: all their draws and the chances of them, and plain simulations."""

import itertools
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from semibandits import Learner
from semibandits.policies.solution import from_hull, sampling
from semibandits.types import FeasibleSet, Game, Items, Policy

Numbers = NDArray[np.float64]


def game(feasible: FeasibleSet, horizon: int = 0, offset: float = 0.0) -> Game:
    return Game(feasible.n_items, feasible.max_size, horizon, feasible.signed, offset)


def starts(x: Numbers, feasible: FeasibleSet) -> Iterator[tuple[float, list[float]]]:
    """Where systematic sampling may start in each group, one place for each outcome, and that outcome's chance."""
    quotas = feasible.quotas()
    assert quotas is not None
    cuts = []
    for g in range(quotas.sizes.size):
        ends = np.cumsum(x[quotas.group == g]) % 1.0
        cuts.append(np.unique(np.concatenate(([0.0, 1.0], ends))))
    for cells in itertools.product(*(range(len(cut) - 1) for cut in cuts)):
        chance = math.prod(cut[i + 1] - cut[i] for cut, i in zip(cuts, cells, strict=True))
        yield chance, [0.5 * (cut[i] + cut[i + 1]) for cut, i in zip(cuts, cells, strict=True)]


def draws(
    policy: Policy, state: Any, feasible: FeasibleSet, round: int, x: Numbers, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[float, Items, Numbers]]:
    """Every decision that the policy may take in this round, its chance and its note. x are the items' chances."""
    found = []
    for chance, places in starts(x, feasible):
        with monkeypatch.context() as patch:
            patch.setattr(sampling, "uniform", lambda key, g, places=places: places[int(g)])
            items, note = policy.choose(state, feasible, round, 0)
        if chance > 1e-13:  # what is left is rounding
            found.append((chance, items, note))
    return found


def listed_draws(
    policy: Policy, state: Any, feasible: FeasibleSet, round: int, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[float, Items, Numbers]]:
    """The same where all solutions are listed."""
    found = []
    known: list[Numbers] = [np.ones(1)]
    j = 0
    while j < known[0].size:

        def this(weights: Numbers, key: int, j: int = j) -> int:
            known[0] = weights
            return j

        with monkeypatch.context() as patch:
            patch.setattr(from_hull, "one_of", this)
            items, note = policy.choose(state, feasible, round, 0)
        found.append((float(known[0][j]), items, note))
        j += 1
    return found


def play_many(
    point: Callable[[int, Any], Numbers],
    learn: Callable[[int, Any, Numbers, Numbers, Numbers], Any],
    start: Any,
    means: Numbers,
    k: int,
    *,
    horizon: int,
    runs: int,
    seed: int,
) -> Numbers:
    """The regret of many runs of coins at once: a row of x for each run, k of the items, from NumPy's generator.

    `learn(t, state, x, chosen, losses)` gets 0/1 rows of what was chosen and the losses 1 - weight of all items. A
    solution is drawn by systematic sampling in an order that is new for every run and round.
    """
    generator = np.random.default_rng(seed)
    state, n = start, means.size
    best = np.sort(means)[-k:].sum()
    regret = np.zeros(runs)
    for t in range(1, horizon + 1):
        x = point(t, state)
        order = np.argsort(generator.random((runs, n)), axis=1)
        ends = np.cumsum(np.take_along_axis(x, order, axis=1), axis=1) * (k / x.sum(axis=1, keepdims=True))
        marks = np.floor(ends + generator.random((runs, 1)))
        picked = np.diff(marks, axis=1, prepend=0.0) > 0.5
        chosen = np.zeros((runs, n))
        np.put_along_axis(chosen, order, picked.astype(np.float64), axis=1)
        regret += best - chosen @ means
        losses = 1.0 - (generator.random((runs, n)) < means).astype(np.float64)
        state = learn(t, state, x, chosen, losses)
    return regret


def saved_goes_on(policy: Policy, feasible: FeasibleSet, folder: Path) -> Learner:
    """A learner saved with a decision outstanding decides as its copy does, once both have had the feedback."""
    learner = Learner(feasible, policy, seed=5)
    generator = np.random.default_rng(1)
    for _ in range(10):
        decision = learner.ask()
        learner.tell(decision.id, generator.random(decision.items.size))
    late = learner.ask()
    learner.save(folder / "state.json")
    again = Learner.load(folder / "state.json", feasible)
    for one in (learner, again):
        one.tell(late.id, {int(late.items[1]): 0.25})
        one.tell(late.id, {int(item): 0.75 for item in late.items if item != late.items[1]})
    for _ in range(5):
        assert learner.ask().items.tolist() == again.ask().items.tolist()
    return learner
