"""PooledCTS once more, written from its docstring for many runs at once: it keeps every observation."""

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

# As the docstring has them, and here once more: a change there must be one here.
OWN, LEVEL, DOUBT, SURE, UNSURE, FADED, TIE, LEAST, MOST = 4.0, 10.0, 1e-3, 0.1, 1.0, 0.01, 1e-12, 1e-12, 1e12
ENOUGH, NEGLECTED, FEWER = 6.0, 5.0, 30.0


def moments(weights: Numbers, x: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Count, mean (0: none) and squared distances from the mean, over the last axis but one."""
    count = weights.sum(axis=-2)
    mean = (weights * x).sum(axis=-2) / np.where(count > 0.0, count, 1.0)
    return count, mean, (weights * (x - mean[..., None, :]) ** 2).sum(axis=-2)


def beliefs(count: Numbers, mean: Numbers, squares: Numbers) -> tuple[Numbers, Numbers]:
    """The parameters (a, b) of every item's Beta distribution; rows are runs, columns items."""
    coins = np.maximum(count - 1.0, 0.0) * mean * (1.0 - mean)
    common = np.minimum((DOUBT + squares.sum(-1)) / (DOUBT + coins.sum(-1)), 1.0)
    known = np.minimum(count, 1.0)  # an item that has almost faded says almost nothing of the others
    items = known.sum(-1)
    some = np.where(items > 0.0, items, 1.0)
    level = np.where(items > 0.0, (known * mean).sum(-1) / some, 0.5)
    typical = common * level * (1.0 - level)
    spread = (known * (mean - level[..., None]) ** 2).sum(-1) / np.where(items > 2.0, items - 1.0, 1.0)
    between = spread - typical * (known / np.maximum(count, 1.0)).sum(-1) / some
    worth = np.where(LEVEL * between > typical, typical / np.where(between > 0.0, between, 1.0), LEVEL)
    good = (worth * level)[..., None] + count * mean
    bad = (worth * (1.0 - level))[..., None] + count * (1.0 - mean)
    rate = good / (good + bad)
    expected = OWN * np.maximum(rate * (1.0 - rate), LEAST)
    dispersion = (common[..., None] * expected + squares) / (expected + coins)
    share = np.where(count.sum(-1) > FADED, count.sum(-1) / some, 1.0)[..., None] / np.where(seen(count), count, 1.0)
    alone = squares / np.where(coins > 0.0, coins, 1.0)
    dispersion = np.where(share > FEWER, np.maximum(alone, dispersion), dispersion)
    neglected = (count < ENOUGH) & (share * np.where(seen(count), count, 1.0) > NEGLECTED * items[..., None] * count**3)
    dispersion[(mean <= 0.0) | (mean >= 1.0) | neglected | (dispersion > 1.0)] = 1.0
    spread_drawn = dispersion * np.clip(np.log(np.maximum(share, 1e-300)), SURE, UNSURE)
    coins_worth = np.minimum(1.0 / np.maximum(spread_drawn, LEAST), MOST / (good + bad))
    free = (share > FEWER) & ((mean <= 0.0) | (mean >= 1.0))
    a = np.where(free, 1.0 + coins_worth * count * mean, coins_worth * good)
    b = np.where(free, 1.0 + coins_worth * count * (1.0 - mean), coins_worth * bad)
    return np.maximum(a, 1.0), np.maximum(b, 1.0)


def seen(count: Numbers) -> NDArray[np.bool_]:
    return count > FADED


def drawn(count: Numbers, mean: Numbers, squares: Numbers, generator: np.random.Generator) -> Numbers:
    unseen = 1.0 - TIE * generator.random(count.shape)
    return np.where(seen(count), generator.beta(*beliefs(count, mean, squares)), unseen)
