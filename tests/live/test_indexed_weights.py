"""Weights and masks that say themselves whose they are: a Series goes by its index, never by its order."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semibandits import Learner, Problem, environments, errors, policies, sets

LABELS = ["ada", "bob", "cyd", "dan", "eve"]


def new() -> Learner:
    return Learner(sets.TopK(5, 3), policies.CombUCB1(), labels=LABELS, seed=0)


class Coordinates:
    """As xarray's arrays look from outside."""

    ndim = 1
    coords = ("item",)

    def __init__(self, series: pd.Series) -> None:
        self._series = series

    def to_series(self) -> pd.Series:
        return self._series

    def __iter__(self) -> Any:
        return iter(self._series)


@pytest.mark.parametrize("wrap", [lambda series: series, Coordinates])
@pytest.mark.parametrize(
    ("labels", "index"),
    [
        (LABELS, ["cyd", "ada", "bob"]),
        (None, [2, 0, 1]),
        (LABELS, pd.Index([2, 0, 1], name="item")),
        (LABELS, pd.Categorical(["cyd", "ada", "bob"])),
    ],
)
def test_tell_goes_by_the_index_of_a_series(labels: Any, index: Any, wrap: Any) -> None:
    learner = Learner(sets.TopK(5, 3), policies.CombUCB1(), labels=labels, seed=0)
    decision = learner.ask()
    assert decision.items.tolist() == [0, 1, 2]
    assert learner.tell(decision.id, wrap(pd.Series([0.75, 0.25, 0.5], index=index))) == 3
    assert learner.estimates[:3].tolist() == [0.25, 0.5, 0.75]


@given(order=st.permutations(range(3)), count=st.integers(1, 3))
def test_a_series_is_the_mapping_it_says(order: list[int], count: int) -> None:
    learner, other = new(), new()
    weights = {LABELS[item]: (item + 1) / 4 for item in order[:count]}
    assert learner.tell(learner.ask().id, pd.Series(weights)) == other.tell(other.ask().id, weights) == count
    np.testing.assert_array_equal(learner.estimates, other.estimates)


def test_a_column_of_a_table_of_feedback_is_told() -> None:
    learner = new()
    table = pd.DataFrame({"name": ["cyd", "bob", "ada"], "clicked": [True, False, True]}).set_index("name")
    learner.tell(learner.ask().id, table["clicked"])
    assert learner.estimates[:3].tolist() == [1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("weights", "error", "says"),
    [
        (pd.Series([0.5, 0.5], index=["ada", "zoe"]), errors.UnknownItem, "'zoe'"),
        (pd.Series([0.5, 0.5], index=["ada", "eve"]), errors.UnknownItem, "not part of decision .*: eve"),
        (pd.Series([0.5, 0.5], index=["ada", "ada"]), errors.UnknownItem, "given twice"),
        (pd.Series([0.5, 0.5], index=["ada", 0]), errors.BadArgument, "have labels"),
        (pd.Series([0.5, 0.5], index=[0, 1]), errors.BadArgument, r"index, which here is \[0, 1\]"),
        (pd.Series([0.5, 0.5, 0.5]), errors.BadArgument, r"index, which here is \[0, 1, 2\].*set_index.*to_numpy"),
        (pd.Series([0.5, 0.5], index=[0.0, 1.0]), errors.UnknownItem, r"no item 0\.0"),
        (pd.Series([0.5], index=pd.MultiIndex.from_tuples([("ada", 1)])), errors.UnknownItem, r"\('ada', 1\)"),
        (pd.Series([0.5, np.nan], index=["ada", "bob"]), errors.BadWeights, "got nan for item bob"),
        (pd.Series([0.5, pd.NA], index=["ada", "bob"], dtype="Float64"), errors.BadWeights, "NA"),
        (pd.Series([True, pd.NA], index=["ada", "bob"], dtype="boolean"), errors.BadWeights, "NA"),
        (pd.DataFrame([[0.5, 0.5, 0.5]]), errors.BadWeights, "in the order of the items, got"),
        (pl.DataFrame({"a": [0.5], "b": [0.5], "c": [0.5]}), errors.BadWeights, "expected 3 weights"),
        ([True, 0.5, 0.5], errors.BadWeights, "a truth value among them"),
    ],
)
def test_what_an_index_cannot_mean_changes_nothing(weights: Any, error: type[Exception], says: str) -> None:
    learner = new()
    decision = learner.ask()
    with pytest.raises(error, match=says):
        learner.tell(decision.id, weights)
    assert not learner.counts.any()


def test_a_plain_index_that_is_not_the_decision_s_items_is_refused() -> None:
    learner = Learner(sets.TopK(5, 3), policies.CombUCB1(), seed=0)
    learner.tell(learner.ask().id, [0.1, 0.2, 0.3])
    decision = learner.ask()
    assert decision.items.tolist() == [0, 3, 4]
    with pytest.raises(errors.UnknownItem, match="not part of decision"):
        learner.tell(decision.id, pd.Series([0.5, 0.5, 0.5]))
    learner.tell(decision.id, pd.Series([0.5, 0.5, 0.5]).to_numpy())


@pytest.mark.parametrize("clicks", [[True, False, True], np.array([True, False, True]), pl.Series([True, False, True])])
def test_truth_values_are_zeros_and_ones(clicks: Any) -> None:
    learner = new()
    assert learner.tell(learner.ask().id, clicks) == 3
    assert learner.estimates[:3].tolist() == [1.0, 0.0, 1.0]


def test_a_polars_series_has_no_index_and_is_read_in_order() -> None:
    learner = new()
    learner.tell(learner.ask().id, pl.Series([0.25, 0.5, 0.75]))
    assert learner.estimates[:3].tolist() == [0.25, 0.5, 0.75]


ALL = {"ada": False, "bob": True, "cyd": True, "dan": False, "eve": True}


@pytest.mark.parametrize(
    "available",
    [
        list(ALL.values()),
        np.array(list(ALL.values())),
        pl.Series(list(ALL.values())),
        pd.Series(ALL)[["eve", "ada", "cyd", "bob", "dan"]],
        pd.Series(ALL).astype("boolean"),
        dict(reversed(ALL.items())),
        pd.Series(["eve", "bob", "cyd"], index=[7, 8, 9]),
        pl.Series(["eve", "bob", "cyd"]),
        {"eve", "bob", "cyd"},
        (name for name in ("eve", "bob", "cyd")),
    ],
)
def test_a_mask_goes_by_its_index(available: Any) -> None:
    assert new().ask(available=available).labels == ("bob", "cyd", "eve")


@pytest.mark.parametrize(
    ("available", "error", "says"),
    [
        ([True, False], errors.BadArgument, r"mask of 5 items, got an array of shape \(2,\)"),
        (pd.Series([True, True, True], index=["ada", "bob", "cyd"]), errors.BadArgument, "also of dan, eve"),
        ({"ada": True, "bob": False}, errors.BadArgument, "also of cyd, dan, eve"),
        (pd.Series(list(ALL.values())), errors.BadArgument, "numbers of rows perhaps"),
        (pd.Series([0, 0, 1, 1, 0], index=LABELS), errors.BadArgument, "must be True or False for every item"),
        ([0, 0, 1, 1, 0], errors.UnknownItem, r"given twice \(a mask is made of True and False\)"),
        (np.array([0, 0, 1, 1, 0]), errors.UnknownItem, "given twice"),
        (["ada", "bob", "ada"], errors.UnknownItem, "given twice: "),
        (pd.Series([True] * 5, index=[*LABELS[:4], "ada"]), errors.UnknownItem, "given twice"),
        (pd.Series([True] * 5, index=[*LABELS[:4], "zoe"]), errors.UnknownItem, "'zoe'"),
        (pd.Series([True, pd.NA, True, True, True], dtype="boolean"), errors.BadArgument, "must be True or False"),
        ({"ada": 1.0, "bob": 0.5}, errors.BadArgument, "True or False for every item"),
        (np.ones((5, 1), dtype=bool), errors.BadArgument, r"shape \(5, 1\)"),
    ],
)
def test_masks_that_leave_items_open_are_refused(available: Any, error: type[Exception], says: str) -> None:
    learner = new()
    with pytest.raises(error, match=says):
        learner.ask(available=available)
    assert learner.round == 0


def test_observe_goes_by_the_index_too() -> None:
    learner = new()
    learner.observe(pd.Series([0.5, 0.25, 1.0], index=["cyd", "ada", "cyd"]))
    assert learner.counts.tolist() == [1, 0, 2, 0, 0]
    assert learner.estimates[2] == 0.75
    log = pd.DataFrame({"who": ["eve", "bob"], "w": [0.5, 1.0]}, index=[10, 4])
    learner.observe(log["who"], log["w"])
    learner.observe(["bob", "eve"], pd.Series([1.0, 0.5]))
    learner.observe(["bob", "eve"], pd.Series([1.0, 0.5], index=["bob", "eve"]))
    assert learner.counts.tolist() == [1, 3, 2, 0, 3]
    assert (learner.estimates[1], learner.estimates[4]) == (1.0, 0.5)
    for items, weights in [
        (["bob", "eve"], pd.Series([0.5, 1.0], index=["eve", "bob"])),
        (log["who"], log["w"].sort_index()),
        (log["who"], log["w"].reset_index(drop=True)),
    ]:
        with pytest.raises(errors.BadArgument, match="do not belong together"):
            learner.observe(items, weights)
    assert learner.counts.sum() == 9


def test_vectors_in_the_order_of_the_items_may_not_say_otherwise(tmp_path: Path) -> None:
    means = pd.Series([0.5, 0.1, 0.9], index=[2, 0, 1])
    with pytest.raises(errors.BadArgument, match=r"means are read in the order of the items.*\[2, 0, 1\]"):
        environments.Bernoulli(means)
    assert environments.Bernoulli(means.sort_index()).means.tolist() == [0.1, 0.9, 0.5]
    assert environments.Bernoulli(means.set_axis(["a", "b", "c"])).labels == ("a", "b", "c")
    with pytest.raises(errors.BadArgument, match=r"weights are .*\['a', 'b', 'c'\]"):
        sets.TopK(3, 1).argmax(means.set_axis(["a", "b", "c"]))
    with pytest.raises(errors.BadArgument, match=r"weights are .*\[2.0, 0.0, 1.0\]"):
        sets.TopK(3, 1).argmax(means.set_axis([2.0, 0.0, 1.0]))
    with pytest.raises(errors.BadArgument, match="weights are read in the order of the items"):
        sets.TopK(3, 1).argmax(means)
    with pytest.raises(errors.BadArgument, match="labels are read in the order of the items"):
        Learner(sets.TopK(3, 1), policies.CombUCB1(), labels=pd.Series(["c", "a", "b"], index=[2, 0, 1]))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("world", [environments.Table, environments.Adversarial])
def test_columns_of_a_table_are_the_set_s_items(frame: Any, world: Any) -> None:
    spectrum = sets.Assignment(["x", "y"], ["1", "2"])
    rows = {"x:1": [0.9, 0.8], "x:2": [0.1, 0.2], "y:1": [0.3, 0.4], "y:2": [0.7, 0.6]}
    table = frame(rows)
    assert Problem(spectrum, world(table)).at(1).optimum.tolist() == [0, 3]
    assert Problem(spectrum, world(table.to_numpy()[:, ::-1])).environment.labels == ()
    Problem(spectrum, world(frame({f"column_{i}": column for i, column in enumerate(rows.values())})))
    for names in (["y:1", "x:2", "x:1", "y:2"], ["x:1", "x:2", "y:1", "other"], ["X:1", "X:2", "Y:1", "Y:2"]):
        renamed = frame(dict(zip(names, rows.values(), strict=True)))
        says = r"another order: take data\[list\(feasible.labels\)\]" if names[0] == "y:1" else "are other ones"
        with pytest.raises(errors.BadArgument, match=f"item . of the set is '.*', and of the environment .*{says}"):
            Problem(spectrum, world(renamed))


EDGES = [("s", "a"), ("s", "b"), ("a", "t"), ("b", "t")]


@pytest.mark.parametrize(
    "world",
    [
        environments.Bernoulli,
        lambda means: environments.Beta(means, 1.0),
        lambda means: environments.Uniform(0.0, means, (0.0, 1.0)),
        lambda means: environments.Gaussian(means, 0.1),
        lambda means: environments.CorrelatedGaussian(means, 0.1 * np.eye(4)),
        lambda means: environments.Custom(lambda generator: np.zeros(4), means),
    ],
)
def test_means_by_name_are_the_set_s_items(world: Any) -> None:
    roads = sets.Paths(EDGES, "s", "t")
    means = pd.Series({"s->a": 0.2, "s->b": 0.8, "a->t": 0.1, "b->t": 0.9})
    assert Problem(roads, world(means), "min").optimum.tolist() == [0, 2]
    with pytest.raises(errors.BadArgument, match=r"item 0 of the set is 's->a', and of .* 'b->t'.*another order"):
        Problem(roads, world(means[::-1]), "min")


def test_a_street_has_two_names() -> None:
    """Without direction it may be named from either end; in the order of the items all the same."""
    streets = sets.Paths([("a", "b"), ("b", "c"), ("a", "c")], "a", "c", directed=False)
    times = pd.Series({"b-a": 9.0, "b-c": 1.0, "c-a": 2.0})
    world = environments.Uniform(times, times + 1.0)
    assert Problem(streets, world, "min").optimum.tolist() == [2]
    for names in (["c-a", "b-a", "c-b"], ["b-c", "a-b", "a-c"], ["A-B", "B-C", "A-C"]):
        with pytest.raises(errors.BadArgument, match="item 0 of the set is 'a-b', and of the environment"):
            Problem(streets, environments.Uniform(times.set_axis(names), times.set_axis(names) + 1.0), "min")
    directed = sets.Paths([("a", "b"), ("b", "c"), ("a", "c")], "a", "c")
    with pytest.raises(errors.BadArgument, match="item 0 of the set is 'a->b', and of the environment 'b->a'"):
        Problem(directed, environments.Bernoulli(pd.Series({"b->a": 0.5, "b->c": 0.5, "a->c": 0.5})), "min")


def test_other_vectors_and_tables_by_item() -> None:
    frame = pd.DataFrame([[0.0, 0.1, 0.9]], columns=[2, 1, 0])
    for world in (environments.Table, environments.Adversarial):
        with pytest.raises(errors.BadArgument, match=r"other numbers: \[2, 1, 0\]"):
            world(frame)
    turned = pd.Series([1.0, 2.0, 9.0], index=[2, 1, 0])
    for make in (
        lambda: sets.Knapsack(turned, 9),
        lambda: sets.GreedyKnapsack(turned, 9),
        lambda: sets.PartitionMatroid(turned, 1),
        lambda: policies.CombLinUCB(pd.DataFrame(np.eye(3), index=[2, 1, 0])),
    ):
        with pytest.raises(errors.BadArgument, match=r"are read in the order of the items.*\[2, 1, 0\]"):
            make()


class Plain(environments.Bernoulli):
    """As users wrote them before worlds had names."""

    labels = None  # type: ignore[assignment]


def test_worlds_without_names_and_names_in_lists() -> None:
    roads = sets.Paths(EDGES, "s", "t")
    Problem(roads, Plain([0.1] * 4), "min")
    world = environments.Bernoulli([0.1] * 4)
    world.labels = list(roads.labels)  # type: ignore[assignment]
    Problem(roads, world, "min")
