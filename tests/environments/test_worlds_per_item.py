"""Worlds in which every item has bounds of its own."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from semibandits import environments, errors, rng
from semibandits.testing import check_environment
from semibandits.types import Environment, means_in

LO = np.array([6.7, 3.4, 1.4, 1.1, 8.3])
HI = LO + np.array([2.0, 0.1, 0.0, 19.0, 7.0])
BOUNDS = (LO, HI)
MIDDLE = 0.3 * LO + 0.7 * HI
U = np.random.default_rng(0).random((60, 5))

WORLDS: dict[str, Callable[[], Environment]] = {
    "Gaussian": lambda: environments.Gaussian(MIDDLE, 3.0, BOUNDS),
    "Gaussian, far out": lambda: environments.Gaussian(LO - 1.0, 0.05, BOUNDS),
    "Gaussian in groups": lambda: environments.Gaussian(MIDDLE, 3.0, BOUNDS, groups=[0, 0, 1, 1, 2]),
    "Uniform": lambda: environments.Uniform(LO, HI, BOUNDS),
    "Table": lambda: environments.Table(LO + (HI - LO) * U, BOUNDS),
    "Table in order": lambda: environments.Table(LO + (HI - LO) * U, BOUNDS, order="recorded"),
    "Adversarial": lambda: environments.Adversarial(LO + (HI - LO) * U, BOUNDS),
    "Custom": lambda: environments.Custom(lambda generator: generator.uniform(LO, HI), 0.5 * (LO + HI), BOUNDS),
    "CorrelatedGaussian": lambda: environments.CorrelatedGaussian.equicorrelated(MIDDLE, 2.0, 0.5, BOUNDS),
    "Scaled": lambda: environments.Scaled(environments.Bernoulli(U[0], groups=[0, 0, 1, 1, 2]), BOUNDS),
    "Scaled, drifting": lambda: environments.Scaled(environments.Drifting(U[:3], [1, 30, 50], smooth=True), BOUNDS),
    "Scaled, recorded": lambda: environments.Scaled(environments.Table(U, order="recorded"), BOUNDS),
    "Scaled, correlated": lambda: environments.Scaled(
        environments.CorrelatedGaussian.equicorrelated(U[1], 0.2, 0.5), BOUNDS
    ),
    "Scaled, by a sampler": lambda: environments.Scaled(
        environments.Custom(lambda generator: generator.random(5), [0.5] * 5), BOUNDS
    ),
}


@pytest.mark.parametrize("name", WORLDS)
def test_weights_are_as_declared(name: str) -> None:
    world = WORLDS[name]()
    check_environment(world, samples=1000)
    assert [side.tolist() for side in world.bounds] == [LO.tolist(), HI.tolist()]  # type: ignore[union-attr]
    assert means_in(world, 1)[2] == world.weights(1, rng.key(0, 0, 1, rng.WORLD))[2] == 1.4  # its weight is known


def test_an_item_is_drawn_as_if_all_had_its_bounds() -> None:
    key = rng.key(3, 1, 4, rng.WORLD)
    both = environments.Gaussian([3.0, 6.0], [2.0, 1.0], ([2.0, 4.0], [4.0, 9.0]))
    for item, pair in enumerate([(2.0, 4.0), (4.0, 9.0)]):
        alone = environments.Gaussian([3.0, 6.0], [2.0, 1.0], pair)
        assert both.means[item] == alone.means[item]
        assert both.weights(4, key)[item] == alone.weights(4, key)[item]


@pytest.mark.parametrize("name", ["Gaussian", "CorrelatedGaussian", "Uniform", "Custom", "Table"])
def test_equal_bounds_are_the_pair(name: str) -> None:
    make: dict[str, Callable[[Any], Environment]] = {
        "Gaussian": lambda bounds: environments.Gaussian([0.2, 0.5], 0.3, bounds),
        "CorrelatedGaussian": lambda bounds: environments.CorrelatedGaussian.equicorrelated(
            [0.2, 0.5], 0.3, 0.1, bounds
        ),
        "Uniform": lambda bounds: environments.Uniform([0.2, 0.5], 0.9, bounds),
        "Custom": lambda bounds: environments.Custom(lambda generator: generator.random(2), [0.5, 0.5], bounds),
        "Table": lambda bounds: environments.Table([[0.2, 0.5]], bounds),
    }
    one, other = (make[name](bounds) for bounds in [(0.0, 1.0), (np.zeros(2), [1.0, 1.0])])
    assert one.bounds == other.bounds == (0.0, 1.0)
    assert [table.tolist() for table in one.tables] == [table.tolist() for table in other.tables]


def test_a_scaled_world_has_the_same_uniform_numbers() -> None:
    coins = environments.Bernoulli(U[0])
    world = environments.Scaled(coins, BOUNDS)
    for round in range(1, 20):
        key = rng.key(0, 0, round, rng.WORLD)
        assert np.array_equal(world.weights(round, key), np.where(coins.weights(round, key) > 0.0, HI, LO))
    assert np.allclose(world.means, LO + (HI - LO) * coins.means, rtol=1e-15)
    assert world.independent
    drifting = environments.Drifting(U[:3], [1, 30, 50])
    scaled = environments.Scaled(drifting, BOUNDS)
    assert np.allclose(scaled.average(70), LO + (HI - LO) * drifting.average(70), rtol=1e-15)
    assert np.array_equal(scaled.at(40).means, scaled.means(40))


def test_labels_lead_the_way() -> None:
    frame = pd.DataFrame(LO + (HI - LO) * U, columns=list("abcde"))
    low, high = frame.min(), frame.max()
    world = environments.Table(frame, (low[::-1], high.sample(frac=1.0, random_state=1)))
    assert [side.tolist() for side in world.bounds] == [low.tolist(), high.tolist()]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: environments.Uniform(LO, HI + 1.0, BOUNDS),
            r"item 0 are from 6.7 to 9.7, outside its bounds \(6.7, 8.7\)",
        ),
        (lambda: environments.Custom(lambda generator: LO, LO - 1.0, BOUNDS), "mean of item 0 is 5.7, outside its"),
        (
            lambda: environments.Table([HI, HI + U[0]], BOUNDS),
            r"rows must be from 6.7 to 8.7, got .* row 1 for item 0",
        ),
        (lambda: environments.Adversarial([LO, LO - [0, 1, 0, 0, 0]], BOUNDS), "from 3.4 to 3.5, got 2.4 in row 1"),
        (lambda: environments.Gaussian(LO, 1e-9, (LO + 1.0, HI + 20.0)), r"item 1: the bounds \(4.4, 23.5\)"),
        (lambda: environments.Gaussian(LO, 1.0, (LO[:4], HI[:4])), "must be 5 numbers"),
        (lambda: environments.Scaled(environments.Uniform(0.0, [1.0, 2.0]), BOUNDS), r"bounds \(0, 1\)"),
        (lambda: environments.Scaled(WORLDS["Uniform"](), BOUNDS), r"bounds \(0, 1\)"),
        (lambda: environments.Scaled("Bernoulli", BOUNDS), "must be an Environment"),  # type: ignore[arg-type]
    ],
)
def test_bad_worlds(make: Callable[[], Environment], said: str) -> None:
    with pytest.raises(errors.BadArgument, match=said):
        make()


@pytest.mark.parametrize("world", [environments.Table, environments.Adversarial])
def test_tables_in_single_precision(world: Any) -> None:
    rows = np.array([[0.3, 0.1], [0.25, 0.7]], dtype=np.float32)
    (recorded,) = world(rows, (0.0, [0.3, 0.7])).tables
    assert recorded.tolist() == [[0.3, float(np.float32(0.1))], [0.25, 0.7 if rows[1, 1] > 0.7 else float(rows[1, 1])]]
    for wrong in (0.3000002, float("nan")):
        with pytest.raises(errors.BadArgument, match=r"must be from 0.0 to 0.3, got .* in row 0 for item 0"):
            world([[wrong, 0.1]], (0.0, [0.3, 0.7]))
