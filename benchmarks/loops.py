"""CombUCB1 as researchers write it: one run at a time, NumPy and Python loops."""

import math

import numpy as np


def numpy_grid(m: int, sigma: float, horizon: int, generator: np.random.Generator) -> float:
    """One run as it is written for a paper: vectors over the edges, plain loops over the grid. Returns the regret."""
    side = m + 1
    grid_means = np.full((side, side, 2), 0.5 - sigma / 2)  # [row, column, 0] leads down, [row, column, 1] to the right
    grid_means[:, 0, 0] = grid_means[m, :, 1] = 0.5 + sigma / 2
    means = grid_means.ravel()
    exists = np.ones((side, side, 2), dtype=bool)
    exists[m, :, 0] = exists[:, m, 1] = False

    def longest_path(weights: np.ndarray) -> list[int]:
        w = weights.tolist()
        best = [0.0] * (side * side)
        right = [False] * (side * side)
        for row in range(m, -1, -1):
            for column in range(m, -1, -1):
                node = row * side + column
                if row < m and column < m:
                    down_total = w[2 * node] + best[node + side]
                    right_total = w[2 * node + 1] + best[node + 1]
                    right[node] = right_total > down_total
                    best[node] = right_total if right[node] else down_total
                elif row < m:
                    best[node] = w[2 * node] + best[node + side]
                elif column < m:
                    right[node] = True
                    best[node] = w[2 * node + 1] + best[node + 1]
        path, node = [], 0
        for _ in range(2 * m):
            path.append(2 * node + right[node])
            node += 1 if right[node] else side
        return path

    unseen = exists.ravel().astype(float)
    estimates = np.zeros(means.size)
    counts = np.ones(means.size)
    optimum = 2 * m * (0.5 + sigma / 2)
    regret = 0.0
    for t in range(1, horizon + 1):
        initial = bool(unseen.any())
        path = longest_path(unseen if initial else estimates + np.sqrt(1.5 * math.log(t - 1) / counts))
        weights = generator.random(2 * m) < means[path]
        if initial:
            estimates[path] = weights
            unseen[path] = 0.0
        else:
            counts[path] += 1
            estimates[path] += (weights - estimates[path]) / counts[path]
        regret += optimum - means[path].sum()
    return regret


def numpy_top_k(means: np.ndarray, k: int, horizon: int, generator: np.random.Generator, ticks: int = 1) -> float:
    """One run with NumPy's own selection. Returns the regret. `ticks`: by how much a round puts the clock on."""
    n_items = means.size
    sums = np.zeros(n_items)
    counts = np.zeros(n_items)
    optimum = np.sort(means)[-k:].sum()
    regret = 0.0
    for t in range(1, horizon + 1):
        if t * k <= n_items:  # every item once
            chosen = np.arange((t - 1) * k, t * k)
        else:
            scores = sums / counts + np.sqrt(1.5 * math.log(ticks * (t - 1)) / counts)
            chosen = np.argpartition(scores, n_items - k)[n_items - k :]
        sums[chosen] += generator.random(k) < means[chosen]
        counts[chosen] += 1
        regret += optimum - means[chosen].sum()
    return float(regret)


def numpy_thompson(means: np.ndarray, k: int, horizon: int, generator: np.random.Generator) -> float:
    """Thompson sampling with Beta distributions for the top k of some items: regret."""
    successes, failures = np.ones(means.size), np.ones(means.size)
    best, gained = float(np.sort(means)[-k:].sum()), 0.0
    for _ in range(horizon):
        drawn = generator.beta(successes, failures)
        chosen = np.argpartition(drawn, means.size - k)[-k:]
        weights = generator.random(k) < means[chosen]
        successes[chosen] += weights
        failures[chosen] += ~weights
        gained += float(means[chosen].sum())
    return horizon * best - gained
