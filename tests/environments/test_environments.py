"""Distributions against SciPy's, correlations against their definition, and bad input."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from semibandits import Learner, Problem, environments, errors, policies, rng, sets, simulate
from semibandits.kernel import where
from semibandits.testing import check_environment
from semibandits.types import Arrays, Environment, Items, Scalar, Weights

SAMPLES = 20_000


def draws(environment: Environment, seed: int = 1) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    keys = rng.keys(seed, 0, 1, SAMPLES, rng.WORLD)
    if environment.batched:
        return environment.weights(1, keys[:, None])  # type: ignore[return-value]
    return np.array([environment.weights(i + 1, int(key)) for i, key in enumerate(keys)])  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("environment", "laws"),
    [
        (
            environments.Beta([0.5, 2.0, 40.0], [0.5, 5.0, 3.0]),
            [stats.beta(0.5, 0.5), stats.beta(2, 5), stats.beta(40, 3)],
        ),
        (environments.Uniform([0.0, -3.0], [1.0, 5.0]), [stats.uniform(0, 1), stats.uniform(-3, 8)]),
        (
            environments.Gaussian([0.5, 0.9, -1.0, 4.0, 50.0], [0.1, 0.5, 0.3, 0.5, 0.5]),
            [
                stats.truncnorm(-5, 5, 0.5, 0.1),
                stats.truncnorm(-1.8, 0.2, 0.9, 0.5),
                stats.truncnorm(1 / 0.3, 2 / 0.3, -1.0, 0.3),
                stats.truncnorm(-8, -6, 4.0, 0.5),
                stats.truncnorm(-100, -98, 50.0, 0.5),
            ],
        ),
        (environments.Gaussian([10.0], 50.0, bounds=(0.0, 120.0)), [stats.truncnorm(-0.2, 2.2, 10.0, 50.0)]),
    ],
    ids=["Beta", "Uniform", "Gaussian", "wide Gaussian"],
)
def test_marginals_are_the_stated_laws(environment: Environment, laws: list["stats.rv_frozen"]) -> None:
    sample = draws(environment)
    for item, law in enumerate(laws):
        assert stats.kstest(sample[:, item], law.cdf).pvalue > 1e-4
        assert environment.means[item] == pytest.approx(law.mean(), rel=1e-9)
    off_diagonal = np.corrcoef(sample.T)[np.triu_indices(environment.n_items, 1)] if environment.n_items > 1 else []
    assert np.all(np.abs(off_diagonal) < 4.5 / np.sqrt(SAMPLES))  # items are independent


def test_bernoulli_frequencies_and_groups() -> None:
    means = np.array([0.0, 0.1, 0.5, 0.5, 1.0, 0.7])
    world = environments.Bernoulli(means, groups=[3, 7, 5, 5, 3, 5])
    sample = draws(world)
    assert set(np.unique(sample)) == {0.0, 1.0}
    error = np.sqrt(means * (1 - means) / SAMPLES)
    assert (np.abs(sample.mean(axis=0) - means) <= 4.5 * error).all()
    assert (sample[:, 2] == sample[:, 3]).all()  # one coin
    assert (sample[:, 5] >= sample[:, 2]).all()  # the same coin, a larger mean
    assert abs(np.corrcoef(sample[:, 1], sample[:, 2])[0, 1]) < 4.5 / np.sqrt(SAMPLES)


@pytest.mark.parametrize(
    ("centre", "sigma", "bounds", "mean"),
    [
        (0.9, 1e8, (0.0, 1.0), 0.5),
        (0.9e-8, 1.0, (0.0, 1e-8), 0.5e-8),
        (-1e6, 3e4, (0.0, 1.0), float(stats.truncexpon(b=1e6 / 9e8, scale=9e8 / 1e6).mean())),  # all but exponential
        (5.0, 0.2, (0.0, 1.0), float(stats.truncnorm(-25, -20, 5.0, 0.2).mean())),
        (1e3, 1.0, (0.0, 2e3), 1e3),
    ],
)
def test_truncated_means_keep_their_digits(
    centre: float, sigma: float, bounds: tuple[float, float], mean: float
) -> None:
    assert environments.Gaussian([centre], sigma, bounds).means[0] == pytest.approx(mean, rel=1e-6)


@pytest.mark.parametrize(
    "world",
    [
        environments.Gaussian([0.4, 0.6], 0.2, groups=[0, 0]),
        environments.Uniform(0.0, [1.0, 0.5], groups=[0, 0]),
        environments.Beta(2.0, [3.0, 1.0], groups=[0, 0]),
    ],
    ids=repr,
)
def test_a_group_rises_and_falls_together(world: environments.Uniform) -> None:
    first, second = draws(world).T
    assert (np.diff(second[np.argsort(first)]) >= 0).all()


@settings(max_examples=50)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.integers(0, 2**64 - 1), st.data())
def test_only_the_key_and_the_item_matter(means: list[float], key: int, data: st.DataObject) -> None:
    world = environments.Bernoulli(means)
    items = np.array(sorted(data.draw(st.sets(st.integers(0, len(means) - 1)))), dtype=np.int64)
    whole = world.weights(5, key)
    assert np.array_equal(world.weights(5, key, items), whole[items])
    column = np.array([key, 7], dtype=np.uint64)[:, None]
    assert np.array_equal(world.weights(5, column)[0], whole)
    longer = environments.Bernoulli([*means, 0.5])
    assert np.array_equal(longer.weights(5, key)[:-1], whole)


def test_table_resamples_rows() -> None:
    rows = np.random.default_rng(0).random((5, 3))
    world = environments.Table(rows)
    sample = draws(world)
    picked = [int(np.flatnonzero((rows == row).all(axis=1))[0]) for row in sample]
    assert stats.chisquare(np.bincount(picked, minlength=5)).pvalue > 1e-4
    np.testing.assert_allclose(world.means, rows.mean(axis=0))


def test_table_in_recorded_order_ends() -> None:
    world = environments.Table([[0.0, 1.0], [0.5, 0.25]], order="recorded")
    assert world.weights(2, 0).tolist() == [0.5, 0.25]
    assert world.weights(1, 99, np.array([1])).tolist() == [1.0]
    with pytest.raises(errors.EndOfTable, match="round 3 was asked of a table with rows for rounds 1 to 2"):
        world.weights(3, 0)
    with pytest.raises(errors.BadArgument, match="integer >= 1, got 0"):
        world.weights(0, 0)


def test_custom_sampler_is_keyed_by_the_round() -> None:
    world = environments.Custom(lambda generator: generator.random(4), means=[0.5] * 4)
    assert world.weights(1, 11).tolist() == world.weights(9, 11).tolist()
    assert world.weights(1, 11).tolist() != world.weights(1, 12).tolist()


@pytest.mark.parametrize(
    "environment",
    [
        environments.Bernoulli([0.1, 0.5, 0.999], groups=[0, 1, 0]),
        environments.Beta([1.0, 2.0], 3.0),
        environments.Uniform([0.0, 5.0], [1.0, 5.0]),
        environments.Gaussian([0.0, 0.5, 1.5], 0.4),
        environments.Table([[0.0, 1.0], [0.5, 0.25], [1.0, 1.0]]),
        environments.Custom(lambda generator: generator.beta(2, 2, size=2), means=[0.5, 0.5]),
    ],
    ids=repr,
)
def test_the_shipped_checks_accept_our_own_environments(environment: Environment) -> None:
    check_environment(environment)


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: environments.Bernoulli([]), r"shape \(0,\)"),
        (lambda: environments.Bernoulli([0.5, 1.5]), "1.5 for item 1"),
        (lambda: environments.Bernoulli([0.5, np.nan]), "nan for item 1"),
        (lambda: environments.Bernoulli("half"), "'half'"),
        (lambda: environments.Bernoulli([0.5, 0.5], groups=[1]), "2 integers"),
        (lambda: environments.Bernoulli([0.5, 0.5], groups=[0.5, 1]), "2 integers"),
        (lambda: environments.Beta([1.0, 0.0], [1.0, 1.0]), "got 0.0 to 1.0"),
        (lambda: environments.Beta([1.0, 1.0], [1.0]), "2 numbers"),
        (lambda: environments.Uniform([1.0], [0.0]), "1.0 > 0.0 for item 0"),
        (lambda: environments.Uniform([0.0], [2.0], bounds=(0, 1)), "outside the bounds"),
        (lambda: environments.Uniform([1.0], [1.0]), "pass bounds="),
        (lambda: environments.Uniform([0.0], [1.0], bounds=(-1e308, 1e308)), "1e\\+100"),
        (lambda: environments.Uniform([0.0], [1.0], bounds=("0", "1")), "pair"),
        (lambda: environments.Uniform([0.0], [1.0], bounds={0, 1}), "pair"),
        (lambda: environments.Uniform([0.0], [1.0], bounds=(0, 10**400)), "pair"),
        (lambda: environments.Beta([1e308], [1e308]), "1e9"),
        (lambda: environments.Bernoulli(["0.1"]), "numbers"),
        (lambda: environments.Bernoulli([0.5j]), "numbers"),
        (lambda: environments.Gaussian([0.5], 0.0), "got 0.0"),
        (lambda: environments.Gaussian([9999.0], 0.1), "10,000 sigma"),
        (lambda: environments.Gaussian([0.5], 0.1, bounds=(1, 0)), "lo < hi"),
        (lambda: environments.Gaussian([0.5], 0.1, bounds=3), "got 3"),
        (lambda: environments.Table([[0.5], [2.0]]), "got 2.0 in row 1 for item 0"),
        (lambda: environments.Table([[np.nan]]), "got nan in row 0 for item 0"),
        (lambda: environments.Table([0.5]), r"shape \(1,\)"),
        (lambda: environments.Table([[0.5]], order="shuffled"), "'shuffled'"),
        (lambda: environments.Custom(3, [0.5]), "got 3"),
        (lambda: environments.Custom(lambda g: g.random(1), [1.5]), "outside the bounds"),
    ],
)
def test_bad_input(build: Callable[[], object], says: str) -> None:
    with pytest.raises(errors.BadArgument, match=says):
        build()


def test_a_sampler_that_breaks_its_word() -> None:
    with pytest.raises(errors.BadWeights, match=r"2 weights, got an array of shape \(3,\)"):
        environments.Custom(lambda g: g.random(3), [0.5, 0.5]).weights(1, 1)
    with pytest.raises(errors.BadWeights, match=r"7\.0 for item 0"):
        environments.Custom(lambda g: [7.0], [0.5]).weights(1, 1)


class Lull(environments.Bernoulli):
    """A user's, with weights that depend on the round."""

    def weights(self, round: int, key: Scalar, items: Items | None = None) -> Weights:
        drawn = super().weights(round, key, items)
        return np.zeros_like(drawn) if 20 <= round < 40 else drawn


class Flood(environments.Uniform):
    """One with another draw."""

    @staticmethod
    def draw(round: int, key: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        return where(round > 30, 0.0 * item, 1.0 + 0.0 * item)


@pytest.mark.parametrize("world", [Lull([0.5, 0.7, 0.9]), Flood([0.0] * 3, [1.0] * 3)])
@pytest.mark.parametrize("engine", ["plain", "auto"])
def test_a_world_that_changes_one_of_ours_is_played_as_it_is(world: Any, engine: Any) -> None:
    """Not what the class above it says of its own functions: that they take many rounds at once, and draw otherwise."""
    problem, policy = Problem(sets.TopK(3, 1), world), policies.CombUCB1()
    played = simulate(problem, policy, horizon=60, runs=1, seed=3, engine=engine, record="sums").sums
    learner = Learner(problem.feasible, policy, seed=3)
    sums = np.zeros(3)
    for round in range(1, 61):
        decision = learner.ask()
        weights = world.weights(round, rng.key(3, 0, round, rng.WORLD), decision.items)
        sums[decision.items] += weights
        learner.tell(decision.id, weights)
    assert np.array_equal(played[0, 0], sums)
    assert not world.batched


def test_a_quantile_of_the_users_takes_many_rounds_at_once() -> None:
    class Fair(environments.Bernoulli):
        @staticmethod
        def quantile(u: Scalar, item: Scalar, tables: Arrays) -> Scalar:
            return where(u < 0.5, 1.0, 0.0)

    assert Fair([0.5]).batched
