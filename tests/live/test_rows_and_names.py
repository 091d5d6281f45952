"""Columns of tables: a row's number is nobody's name where items have names, and an item's number may change."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semibandits import Learner, Problem, environments, errors, policies, sets

pd: Any = pytest.importorskip("pandas")

SHOPS = ["home", "sport", "arts", "travel"]
TABLE = pd.DataFrame(
    {"article": ["arts", "home", "sport", "travel"], "shown": [40, 20, 30, 10], "clicks": [10, 15, 3, 5]}
)
TABLE["stocked"] = [False, True, True, True]
NAMED = TABLE.set_index("article")
FOUR = sets.TopK(4, 2)
ROADS = [("home", "park"), ("park", "work"), ("home", "work")]
ROWS = "numbers of rows perhaps"


def learner(**options: Any) -> Learner:
    return Learner(FOUR, policies.CombUCB1(init="optimistic"), labels=SHOPS, seed=0, **options)


@pytest.mark.parametrize("table", [TABLE, TABLE.sort_values("article", ascending=False), TABLE[TABLE.shown > 5]])
def test_rows_are_not_items(table: Any) -> None:
    one = learner()
    for call in (
        lambda: one.observe(counts=table["shown"], sums=table["clicks"]),
        lambda: one.observe(table["clicks"] / table["shown"]),
        lambda: one.ask(available=table["stocked"]),
        lambda: learner(bounds=(0, table["shown"])),
    ):
        with pytest.raises(errors.BadArgument, match=ROWS):
            call()
    assert (one.round, one.counts.sum()) == (0, 0)


@pytest.mark.parametrize("items", [[0, 1, 2], [1, 2, 3], [0, 1, 3], [0, 2, 3]])
def test_which_numbers_are_items(items: list[int]) -> None:
    """Whatever was chosen: pandas turns a column of 1, 2, 3 into a range, as it makes one of rows."""
    weights = np.array([0.1, 0.2, 0.3])
    for series, taken in (
        (pd.DataFrame({"item": items, "w": weights}).set_index("item")["w"], True),
        (pd.DataFrame({"item": items, "w": weights}).set_index("item")["w"][::-1], True),
        (pd.Series(weights, index=np.array(items)), True),
        (pd.Series(weights, index=np.array(items))[::-1], False),
        (pd.Series(weights), False),
        (pd.Series(weights)[[1, 2, 0]], False),
        (pd.Series(weights, index=pd.RangeIndex(1, 4)), False),
    ):
        one = learner()
        decision = one.ask(feasible=sets.TopK(4, 3), available=items)
        if taken:
            assert one.tell(decision.id, series) == 3
            assert one.estimates[items].tolist() == weights.tolist()
        else:
            with pytest.raises(errors.BadArgument, match=ROWS):
                one.tell(decision.id, series)
            assert one.counts.sum() == 0


def test_names_are() -> None:
    one = learner(bounds=(0, NAMED["shown"] / 10))
    assert one.bounds[1].tolist() == [2.0, 3.0, 4.0, 1.0]  # type: ignore[union-attr]
    one.observe(counts=NAMED["shown"], sums=NAMED["clicks"])
    assert one.estimates.tolist() == [0.75, 0.1, 0.25, 0.5]
    for _ in range(5):
        assert "arts" not in one.ask(available=NAMED["stocked"]).labels


def test_without_names_rows_may_be_items() -> None:
    one = Learner(FOUR, policies.CombUCB1(init="optimistic"), seed=0)
    one.observe(counts=TABLE["shown"][::-1], sums=TABLE["clicks"][::-1])
    assert one.estimates.tolist() == [0.25, 0.75, 0.1, 0.5]
    assert 0 not in one.ask(available=TABLE["stocked"]).items


def test_a_sum_that_is_missing_is_not_nothing() -> None:
    one = learner(sense="min", bounds=(0.0, 60.0))
    with pytest.raises(errors.BadWeights, match="sums must have a number for each item with a count, also for sport"):
        one.observe(counts=dict.fromkeys(SHOPS, 100), sums={"home": 30.0, "arts": 1.0, "travel": 2.0})
    with pytest.raises(errors.BadWeights, match="squares must have a number for each item with a count, also for home"):
        one.observe(counts={"home": 2, "arts": 2}, sums={"home": 30, "arts": 20}, squares={"arts": 200})
    assert one.counts.sum() == 0


def test_late_feedback_after_a_change_of_order(tmp_path: Path) -> None:
    """Who was handed the decision has the weights in its order of then."""
    one = Learner(FOUR, policies.CTS(), labels=SHOPS, seed=0)
    moved, kept = one.ask(feasible=sets.TopK(4, 3)), one.ask()
    one.save(tmp_path / "one.json")
    other = Learner.load(tmp_path / "one.json", FOUR, labels=SHOPS[::-1])
    other.save(tmp_path / "two.json")
    again = Learner.load(tmp_path / "two.json", FOUR, labels=SHOPS[::-1])
    for loaded in (other, again):
        for weights in ([0.0, 0.5, 1.0], np.array([0.0, 0.5, 1.0]), dict.fromkeys(range(3), 0.5)):
            with pytest.raises(errors.SemiBanditError, match="tell their weights by label"):
                loaded.tell(moved.id, weights)  # type: ignore[arg-type]
        assert loaded.counts.sum() == 0
        assert loaded.tell(moved.id, dict(zip(moved.labels, [0.0, 0.5, 1.0], strict=True))) == 3
        means = dict(zip(loaded.labels, loaded.estimates.tolist(), strict=True))
        assert [means[name] for name in moved.labels] == [0.0, 0.5, 1.0]
        assert loaded.expire(0.0, weight=1.0)[0] == kept
    same = Learner.load(tmp_path / "one.json", FOUR, labels=SHOPS)
    assert same.tell(moved.id, [0.0, 0.5, 1.0]) == 3


def test_other_sets_of_items_with_other_names() -> None:
    city, turned = sets.Paths(ROADS, "home", "work"), sets.Paths(ROADS[::-1], "home", "work")
    solver = sets.Oracle(minimise=lambda costs: [2], n_items=3, max_size=2, signed=False)
    named = Learner(solver, sense="min", labels=city.labels, seed=0)
    assert named.ask(feasible=city).feasible is city
    with pytest.raises(errors.BadArgument, match="the same items in the same order: its item 0 is 'home->work'"):
        named.ask(feasible=turned)
    own = Learner(solver, sense="min", labels=["a", "b", "c"], seed=0)
    assert own.ask(feasible=turned).feasible is turned  # names of one's own
    world = environments.Beta([1.0, 1.0, 1.0], 2.0)
    with pytest.raises(errors.BadArgument, match="the same items in the same order"):
        environments.Requests(world, [city, solver, turned])
    columns = pd.DataFrame([[0.5, 0.25, 1.0]], columns=turned.labels)
    with pytest.raises(errors.BadArgument, match="the same items in the same order"):
        Problem(solver, environments.Requests(environments.Table(columns), [city]), sense="min")


def test_a_users_solver_for_once_where_items_have_bounds_of_their_own() -> None:
    def best(k: int) -> sets.Oracle:
        return sets.Oracle(lambda weights: np.argsort(-weights)[:k], n_items=3, max_size=k)

    one = Learner(best(2), policies.CTS(), bounds=([0, 0, 0], [1, 2, 3]), seed=0)
    assert one.ask(feasible=best(1)).items.size == 1


def test_a_solver_with_a_tolerance_leaves_out_what_it_should() -> None:
    """Though all weights are tiny, as those of items that nobody has seen may be."""

    def solver(costs: Any) -> list[int]:
        rounded = np.round(costs, 6)
        return np.argsort(rounded, kind="stable")[:3].tolist()  # type: ignore[no-any-return]

    one = Learner(
        sets.Oracle(minimise=solver, n_items=8, max_size=3, signed=False), sense="min", bounds=(0.0, 60.0), seed=0
    )
    assert one.ask(available=range(4, 8)).items.min() >= 4


def test_tables_are_no_vectors() -> None:
    one = learner()
    for table in (pd.DataFrame([[True, False, False, True]], columns=SHOPS), pd.DataFrame([[0, 1, 2]])):
        with pytest.raises(errors.BadArgument, match="got a table"):
            one.ask(available=table)
    with pytest.raises(errors.BadArgument, match="bounds must be a pair"):
        Learner(FOUR, bounds=pd.DataFrame([[2.0, 12.0]] * 4))
    mask = pd.Series([True, False, False, True])[::-1]
    nameless = Learner(FOUR, policies.CTS(), seed=0)
    assert nameless.ask(available=mask).items.tolist() == [0, 3]


def test_the_names_of_a_set_in_another_order() -> None:
    city = sets.Paths(ROADS, "home", "work")
    assert city.labels is not None
    with pytest.raises(errors.BadArgument, match="those of the set in another order: item 0 is 'home->park' there"):
        Learner(city, labels=city.labels[::-1], sense="min")
    assert Learner(city, labels=city.labels, sense="min").labels == city.labels
