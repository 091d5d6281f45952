"""COMBAND, LinUCB, OFUL and OLSUCB beside plain programs: no numbers of theirs are published that could be repeated."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from semibandits import Problem, environments, policies, sets
from semibandits.simulation import simulate
from support.listed_plays import Numbers, comband, linear, ols_ucb, rows_of
from support.plain_play import agree

RUNS = 400
MEANS = [0.9, 0.6, 0.5, 0.2]
PAIRS = list(itertools.combinations(range(4), 2))
OF_ALL_SIZES = [[0, 1], [0], [1, 2], [3, 4], [2, 3], [1, 3, 4], [2, 4]]


def played(problem: Problem, policy: Any, horizon: int) -> Numbers:
    result = simulate(problem, policy, horizon=horizon, runs=RUNS, seed=1, checkpoints=[horizon])
    assert result.engine.startswith("compiled")
    regrets: Numbers = result.regret[0, :, -1]
    return regrets


@pytest.mark.long
def test_comband() -> None:
    """Two of four items: N = 6, d = 4, B² = 2, λ = 2·2/(4·3); a solution is worth from 0 to 2."""
    horizon, problem = 2000, Problem(sets.TopK(4, 2), environments.Bernoulli(MEANS))
    eta = math.sqrt(math.log(6.0) / ((4.0 + 2.0 * 2.0 * 3.0) * horizon))
    ours = played(problem, policies.COMBAND(), horizon)
    theirs = comband(rows_of(PAIRS, 4), MEANS, eta, 6.0 * eta, 1.0, 1.0, horizon=horizon, runs=RUNS)
    agree(ours, theirs)


@pytest.mark.long
def test_comband_of_all_sizes() -> None:
    """No linear function is 1 at all solutions: losses are -y / 3."""
    horizon, eta, gamma = 2000, 0.02, 0.1
    means = [0.9, 0.5, 0.5, 0.1, 0.7]
    problem = Problem(sets.Enumerated(OF_ALL_SIZES), environments.Bernoulli(means))
    ours = played(problem, policies.COMBAND(eta=eta, gamma=gamma), horizon)
    rows = rows_of(OF_ALL_SIZES, 5)
    assert np.linalg.matrix_rank(rows) == 5 < np.linalg.matrix_rank(np.column_stack([rows, np.ones(len(rows))]))
    agree(ours, comband(rows, means, eta, gamma, 0.0, 3.0, horizon=horizon, runs=RUNS))


@pytest.mark.long
@pytest.mark.parametrize(
    ("policy", "noise", "base"),
    [
        (policies.LinUCB(alpha=3.0, lam=0.5), 0.0, 3.0),
        (policies.OFUL(lam=0.5), 1.5, math.sqrt(0.5 * 5.0) / 2.0),
        (policies.OFUL(lam=0.5, noise=0.4, norm=0.3), 0.4, math.sqrt(0.5) * 0.3),
    ],
    ids=repr,
)
def test_linear_bandits(policy: Any, noise: float, base: float) -> None:
    means = [0.5, 0.6, 0.4, 0.2, 0.7]
    problem = Problem(sets.Enumerated(OF_ALL_SIZES), environments.Bernoulli(means))
    ours = played(problem, policy, 2000)
    theirs = linear(rows_of(OF_ALL_SIZES, 5), means, 0.5, noise, 0.01, base, horizon=2000, runs=RUNS)
    agree(ours, theirs)


@pytest.mark.long
@pytest.mark.parametrize("known", [True, False])
def test_correlated_items(known: bool) -> None:
    """Two of four items; the first two share one coin, and so do the others."""
    groups = [0, 0, 1, 1]
    means = [0.6, 0.5, 0.5, 0.4] if known else [0.95, 0.85, 0.85, 0.7]
    problem = Problem(sets.TopK(4, 2), environments.Bernoulli(means, groups))
    gamma = np.where(np.equal.outer(groups, groups), 0.2, 0.0) + 0.05 * np.eye(4) if known else None
    ours = played(problem, policies.OLSUCB(gamma, lam=1.0, width=0.1), 2000)
    agree(ours, ols_ucb(rows_of(PAIRS, 4), means, groups, gamma, 1.0, 0.1, horizon=2000, runs=RUNS))
