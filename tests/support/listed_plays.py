"""Plain programs of policies that look at every solution, all runs at once, and CombUCB1 on costs that change.

They know 0/1 weights and listed solutions only, draw from NumPy's generator and solve every linear system anew; they
share nothing with the package. Each gives the regret of every run.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


def rows_of(solutions: Sequence[Sequence[int]], n_items: int) -> Numbers:
    return np.array([[float(item in one) for item in range(n_items)] for one in solutions])


def gaps_of(rows: Numbers, means: Sequence[float]) -> Numbers:
    worth = rows @ np.array(means)
    gaps: Numbers = worth.max() - worth
    return gaps


def combucb1(late: int, means: Numbers, starts: NDArray[np.int64], k: int, *, horizon: int, runs: int) -> Numbers:
    """The k lowest of ŵ - sqrt(1.5 log(t - late) / T); row i of the costs' means is reached in round starts[i]."""
    generator = np.random.default_rng(late)
    shape = (runs, means.shape[1])
    counts, sums, regrets = np.zeros(shape), np.zeros(shape), np.zeros(runs)
    for t in range(1, horizon + 1):
        now = means[np.searchsorted(starts, t, side="right") - 1]
        seen = np.maximum(counts, 1.0)
        bounds = sums / seen - np.sqrt(1.5 * math.log(max(t - late, 1)) / seen)
        bounds[counts == 0.0] = -math.inf
        chosen = np.zeros(shape)
        np.put_along_axis(chosen, np.argsort(bounds, axis=1, kind="stable")[:, :k], 1.0, axis=1)
        counts += chosen
        sums += chosen * (generator.random(shape) < now)
        regrets += chosen @ now - np.sort(now)[:k].sum()
    return regrets


def comband(
    rows: Numbers,
    means: Sequence[float],
    eta: float,
    gamma: float,
    middle: float,
    half: float,
    *,
    horizon: int,
    runs: int,
) -> Numbers:
    """Losses are (middle - y) / half; the rows must span everything."""
    generator = np.random.default_rng(11)
    n, d = rows.shape
    gaps = gaps_of(rows, means)
    squares = np.einsum("si,sj->sij", rows, rows).reshape(n, -1)
    losses, regrets = np.zeros((runs, d)), np.zeros(runs)
    for _ in range(horizon):
        exponents = -eta * losses @ rows.T
        weights = np.exp(exponents - exponents.max(axis=1, keepdims=True))
        p = (1.0 - gamma) * weights / weights.sum(axis=1, keepdims=True) + gamma / n
        which = (p.cumsum(axis=1) < generator.random((runs, 1))).sum(axis=1).clip(max=n - 1)
        vectors = rows[which]
        y = (vectors * (generator.random((runs, d)) < means)).sum(axis=1)
        moments = (p @ squares).reshape(runs, d, d)
        estimates = np.linalg.solve(moments, vectors[:, :, None])[:, :, 0]
        losses += ((middle - y) / half)[:, None] * estimates
        regrets += gaps[which]
    return regrets


def linear(
    rows: Numbers,
    means: Sequence[float],
    lam: float,
    noise: float,
    delta: float,
    base: float,
    *,
    horizon: int,
    runs: int,
) -> Numbers:
    """Ridge regression on sums around 1/2, with the width noise · sqrt(log(det V / det lam) - 2 log delta) + base."""
    generator = np.random.default_rng(12)
    d = rows.shape[1]
    gaps = gaps_of(rows, means)
    matrices, sides, regrets = np.tile(lam * np.eye(d), (runs, 1, 1)), np.zeros((runs, d)), np.zeros(runs)
    for _ in range(horizon):
        inverses = np.linalg.inv(matrices)
        theta = 0.5 + np.einsum("rij,rj->ri", inverses, sides)
        spread = np.sqrt(((rows @ inverses) * rows).sum(axis=2))
        width = noise * np.sqrt(np.linalg.slogdet(matrices)[1] - d * math.log(lam) - 2.0 * math.log(delta)) + base
        which = np.argmax(theta @ rows.T + width[:, None] * spread, axis=1)
        vectors = rows[which]
        y = (vectors * (generator.random((runs, d)) < means)).sum(axis=1)
        matrices += np.einsum("ri,rj->rij", vectors, vectors)
        sides += vectors * (y - 0.5 * vectors.sum(axis=1))[:, None]
        regrets += gaps[which]
    return regrets


def ols_ucb(
    rows: Numbers,
    means: Sequence[float],
    groups: Sequence[int],
    gamma: Numbers | None,
    lam: float,
    width: float,
    *,
    horizon: int,
    runs: int,
) -> Numbers:
    """Items of a group share one coin. gamma: the covariance; without it, it is estimated."""
    generator = np.random.default_rng(13)
    d, k = rows.shape[1], rows.sum(axis=1).max()
    gaps = gaps_of(rows, means)
    both, firsts, products = (np.zeros((runs, d, d)) for _ in range(3))
    sums, regrets = np.zeros((runs, d)), np.zeros(runs)
    for t in range(1, horizon + 1):
        counts = np.einsum("rii->ri", both)
        own = np.maximum(counts, 1.0)
        log_t = math.log(t)
        if gamma is None:
            n = np.maximum(both, 2.0)
            around = (products - firsts * firsts.transpose(0, 2, 1) / n) / (n - 1.0)
            covariance = np.where(both < 2.0, 0.25, np.minimum(around + np.sqrt(width * log_t / n), 0.25))
        else:
            covariance = np.broadcast_to(gamma, (runs, d, d))
        matrix = covariance * both / (own[:, :, None] * own[:, None, :])
        variance = ((rows @ matrix) * rows).sum(axis=2)
        variance += lam * (np.einsum("rii->ri", covariance) / own) @ rows.T
        f = log_t + (k + 2.0) * math.log(max(log_t, 1.0)) + 0.5 * k * math.log(1.0 + math.e / lam)
        index = (sums / own) @ rows.T + np.sqrt(2.0 * f * np.maximum(variance, 0.0))
        unseen = counts == 0.0
        index = np.where(unseen.any(axis=1)[:, None], unseen @ rows.T, index)
        which = np.argmax(index, axis=1)
        vectors = rows[which]
        x = (generator.random((runs, max(groups) + 1))[:, groups] < means) * vectors
        pairs = np.einsum("ri,rj->rij", vectors, vectors)
        both += pairs
        firsts += x[:, :, None] * pairs
        products += np.einsum("ri,rj->rij", x, x)
        sums += x
        regrets += gaps[which]
    return regrets
