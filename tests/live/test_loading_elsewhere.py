"""A saved learner meets another set, or the same items in another order: never a weight under a wrong name."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semibandits import Learner, errors, policies, sets
from semibandits._util.checks import check_items
from semibandits.types import FeasibleSet, IndexPolicy, Items, Policy
from support.street_learners import COSTS, EDGES, begun, goes_on, roads, seen, tell
from support.tasks import long
from support.wide import BANDIT, GIVEN, LIVE, Lottery

ORDERS = st.permutations(range(len(EDGES)))


INDEX: dict[str, IndexPolicy] = {
    "CombUCB1": policies.CombUCB1(),
    "all": policies.CombUCB1(init="all"),
    "KLUCB": policies.KLUCB(),
    "UCBV": policies.UCBV(),
    "window": policies.SlidingWindow(9),
    "pooled": policies.PooledCTS(),
    "pooled, window": policies.PooledCTS(window=9),
    "pooled, discount": policies.PooledCTS(discount=0.9),
    "Discounted": policies.Discounted(0.9),
    "CTS": policies.CTS(),
}
RANDOM = (
    "CTS",
    "pooled",
    "pooled, window",
    "pooled, discount",
    "AESCB",
    "CombLinTS",
    "FPL",
    "OSMD",
    "OSMD inf",
    "HYBRID",
    "COMBAND",
)
"""Their draws, or what they round, go by the number of the item."""


@given(order=ORDERS)
@settings(max_examples=10)
@pytest.mark.parametrize("name", INDEX)
def test_load_onto_the_same_items_in_another_order(
    name: str, order: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("state") / "state.json"
    learner = begun(INDEX[name])
    learner.save(path)
    loaded = Learner.load(path, roads(order))
    assert seen(loaded) == seen(learner)
    assert all(loaded._feasible.contains(one.items) for one in loaded.outstanding)
    if name not in RANDOM:
        again = Learner.load(path, roads(order))
        assert goes_on(again) == goes_on(learner)


@pytest.mark.parametrize(
    "name", [name if name in ("ESCB", "OFUL", "COMBAND", "HYBRID") else long(name) for name in LIVE]
)
@pytest.mark.parametrize("seed", [0, long(1), long(2), long(3)])
def test_whole_solutions_in_another_order(name: str, seed: int, tmp_path: Path) -> None:
    order = np.random.default_rng(seed).permutation(len(EDGES))
    features = np.random.default_rng(7).random((len(EDGES), 3))
    by_features = {"CombLinUCB": policies.CombLinUCB, "CombLinTS": policies.CombLinTS}

    def made(rows: Any) -> Policy:
        return by_features[name](features[rows]) if name in by_features else LIVE[name](len(EDGES))

    options = {"feedback": "bandit"} if name in BANDIT else {}
    learner = begun(made(np.arange(len(EDGES))), **options)
    learner.save(tmp_path / "state.json")
    wanted = made(order) if name in GIVEN or name == "OLSUCB known" else None
    loaded = Learner.load(tmp_path / "state.json", roads(order), wanted)
    assert seen(loaded) == seen(learner)
    fields = learner._agent.policy.by_item  # type: ignore[union-attr]
    for field in fields:
        was, now = getattr(learner._agent.state, field), getattr(loaded._agent.state, field)  # type: ignore[union-attr]
        if was.size:
            np.testing.assert_array_equal(now, was[np.ix_(*[order] * was.ndim)])
    if name not in RANDOM:
        assert goes_on(loaded) == goes_on(learner)
    else:
        goes_on(loaded)


@given(order=ORDERS, name=st.sampled_from([*INDEX, "ESCB", "COMBAND", "HYBRID", "OSMD", "FPL"]))
@settings(max_examples=25)
def test_there_and_back_nothing_has_changed(
    order: list[int], name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("state")
    begun(INDEX[name] if name in INDEX else LIVE[name](len(EDGES))).save(path / "was.json")
    Learner.load(path / "was.json", roads(order)).save(path / "there.json")
    Learner.load(path / "there.json", roads()).save(path / "back.json")
    was, back = (json.loads((path / name).read_text())["learner"] for name in ("was.json", "back.json"))
    for decision in back["outstanding"] + back["finished"]:
        decision.pop("renumbered", None)  # once, if not by now
    for one in (was, back):  # a window keeps its parts of a round in any order
        one["recent"] = sorted(
            (part["round"], sorted(zip(part["items"], part["x"], strict=True))) for part in one.get("recent", [])
        )
    assert was == back


def names(count: int) -> list[str]:
    return [f"n{item}" for item in range(count)]


def test_names_that_are_missing_or_new_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    begun(policies.CombUCB1()).save(path)
    other = sets.DagPaths([*EDGES[:-1], ("c", "x"), ("x", "t")], "s", "t")
    with pytest.raises(errors.BadState, match=r"saved and missing: 'c->t'; new: 'c->x', 'x->t'"):
        Learner.load(path, other)
    with pytest.raises(errors.BadState, match=r"saved and missing: 'b->c', 'c->t'$"):
        Learner.load(path, sets.DagPaths(EDGES[:-2], "s", "t"))


def test_other_names_for_the_same_items(tmp_path: Path) -> None:
    path, renamed = tmp_path / "state.json", sets.DagPaths([(a.upper(), b.upper()) for a, b in EDGES], "S", "T")
    learner = begun(policies.CombUCB1())
    learner.save(path)
    with pytest.raises(errors.BadState, match=r"missing: 's->a', .*; new: 'S->A', .*same_items=True"):
        Learner.load(path, renamed)
    loaded = Learner.load(path, renamed, same_items=True)
    assert loaded._reader.labels == renamed.labels
    np.testing.assert_array_equal(loaded.estimates, learner.estimates)


def test_names_given_to_the_learner_instead_of_the_set_s_own(tmp_path: Path) -> None:
    path, pairs = tmp_path / "state.json", sets.Assignment(["x", "y"], ["1", "2"])
    mine = ["one", "two", "three", "four"]
    learner = Learner(pairs, policies.CombUCB1(), labels=mine)
    learner.tell(learner.ask().id, [0.25, 0.75])
    learner.save(path)
    for again in (
        Learner.load(path, sets.Assignment(["x", "y"], ["1", "2"])),
        Learner.load(path, pairs, labels=mine),
    ):
        assert (again._reader.labels, again.estimates[0]) == (tuple(mine), 0.25)
    turned = Learner.load(path, pairs, labels=mine[::-1])
    assert turned.estimates[3] == 0.25
    with pytest.raises(errors.BadState, match="Give the names they were saved by as labels="):
        Learner.load(path, sets.Assignment(["y", "x"], ["1", "2"]))
    with pytest.raises(errors.BadState, match="missing: 'one'; new: 'five'"):
        Learner.load(path, pairs, labels=["five", *mine[1:]])


def test_parallel_edges_that_only_their_order_tells_apart(tmp_path: Path) -> None:
    path, twice = tmp_path / "state.json", [("s", "t"), ("s", "t"), ("s", "a"), ("a", "t")]
    Learner(sets.DagPaths(twice, "s", "t"), policies.CombUCB1()).save(path)
    Learner.load(path, sets.DagPaths(twice, "s", "t"))
    with pytest.raises(errors.BadState, match=r"told apart by that alone: 's->t #2'"):
        Learner.load(path, sets.DagPaths([twice[2], *twice[:2], twice[3]], "s", "t"))


@pytest.mark.parametrize("kind", [lambda rows: sets.Paths(rows, "s", "t", directed=False), sets.GraphicMatroid])
def test_edges_without_direction_are_known_from_either_end(kind: Any, tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    learner = Learner(kind(EDGES), policies.CTS(), sense="min", seed=0)
    for weight in (0.25, 0.5, 0.75):
        learner.tell(learner.ask().id, dict.fromkeys(learner.outstanding[-1].labels, weight))
    learner.save(path)
    loaded = Learner.load(path, kind([(b, a) if i % 2 else (a, b) for i, (a, b) in enumerate(EDGES)][::-1]))
    assert loaded.labels != learner.labels[::-1]
    np.testing.assert_array_equal(loaded.estimates, learner.estimates[::-1])
    np.testing.assert_array_equal(loaded.counts, learner.counts[::-1])


def solver_of(order: list[int], edges: list[tuple[str, str]] = EDGES) -> sets.Oracle:
    """A program of the user's own, with the edges as his database gives them."""
    inner = sets.DagPaths([edges[item] for item in order], "s", "t")
    return sets.Oracle(lambda weights: inner.argmax(weights).tolist(), inner.n_items, inner.max_size)


class Own(FeasibleSet):
    """A set of the user's own."""

    def __init__(self, order: list[int]) -> None:
        self._inner = roads(order)
        self.n_items, self.max_size = self._inner.n_items, self._inner.max_size

    def argmax(self, weights: Any) -> Items:
        return self._inner.argmax(weights)

    def contains(self, items: Iterable[int]) -> bool:
        return self._inner.contains(items)

    def restrict(self, include: Iterable[int] = (), exclude: Iterable[int] = ()) -> FeasibleSet:
        return self._inner.restrict(include, exclude)


UNNAMED: dict[str, Any] = {
    "Enumerated": lambda order: sets.Enumerated(
        [check_items([list(order).index(e) for e in one], 8) for one in ([0, 3], [1, 4], [5], [0, 2, 6, 7])], n_items=8
    ),
    "Knapsack": lambda order: sets.Knapsack([float(item + 1) for item in order], 12.0),
    "MILP": lambda order: sets.MILP(np.array([[float(item + 1) for item in order]]), upper=12.0),
    "solver": solver_of,
    "own set": Own,
    "product": lambda order: sets.Product(sets.TopK(2, 1), solver_of(order)),
    "python matroid": lambda order: sets.Matroid(
        lambda items: len({order[item] % 3 for item in items}) == len(list(items)), 8
    ),
}


@pytest.mark.parametrize("name", UNNAMED)
def test_without_names_another_order_is_refused(name: str, tmp_path: Path) -> None:
    path, order = tmp_path / "state.json", [2, 1, 0, 3, 6, 5, 7, 4]
    make = UNNAMED[name]
    learner = Learner(make(list(range(8))), policies.CTS(), sense="min", seed=1)
    decision = learner.ask()
    learner.tell(decision.id, np.full(decision.items.size, 0.5))
    learner.save(path)
    Learner.load(path, make(list(range(8))))
    with pytest.raises(errors.BadState, match=r"not the set it was saved with.*\(labels=\).*pass same_items=True"):
        Learner.load(path, make(order))
    insisted = Learner.load(path, make(order), same_items=True)
    np.testing.assert_array_equal(insisted.estimates, learner.estimates)


def test_a_solver_of_which_but_two_items_changed_places(tmp_path: Path) -> None:
    """Every item is asked for, so that none can hide. Two edges in a row are always chosen together: for a solver they
    are one."""
    path = tmp_path / "state.json"
    Learner(solver_of(list(range(8))), policies.CTS(), sense="min").save(path)
    for i in range(8):
        for j in range(i):
            if (j, i) == (6, 7):
                continue
            order = list(range(8))
            order[i], order[j] = j, i
            with pytest.raises(errors.BadState, match="not the set it was saved with"):
                Learner.load(path, solver_of(order))


def test_a_solver_that_makes_weights_whole_numbers(tmp_path: Path) -> None:
    """It is asked on its own scale; where its answers tell nothing, they are not taken for a proof."""
    path = tmp_path / "state.json"

    def budget(sizes: list[int]) -> sets.Oracle:
        inner = sets.Knapsack(sizes, 6)
        return sets.Oracle(lambda weights: inner.argmax(weights.astype(int)), 4, 4)

    Learner(budget([1, 2, 3, 4]), policies.CTS(), bounds=(0.0, 1000.0)).save(path)
    Learner.load(path, budget([1, 2, 3, 4]))
    with pytest.raises(errors.BadState, match="not the set it was saved with"):
        Learner.load(path, budget([1, 3, 2, 4]))
    Learner(budget([1, 2, 3, 4]), policies.CTS()).save(path, overwrite=True)
    with pytest.raises(errors.BadState, match="not the set it was saved with"):
        Learner.load(path, budget([1, 3, 2, 4]))


def test_sets_without_labels_may_say_so_in_their_own_way(tmp_path: Path) -> None:
    path, own = tmp_path / "state.json", Own(list(range(8)))
    own.labels = None  # type: ignore[assignment]
    own.graph = {"of": "its own"}  # type: ignore[attr-defined]
    learner = Learner(own, policies.CombUCB1(), sense="min")
    learner.save(path)
    assert Learner.load(path, own).labels == ()
    own.labels = tuple(COSTS)
    Learner(own, policies.CombUCB1(), sense="min").save(path, overwrite=True)
    assert Learner.load(path, own).labels == tuple(COSTS)


def test_names_given_to_a_solver_match_it(tmp_path: Path) -> None:
    path, order = tmp_path / "state.json", [3, 1, 0, 2, 7, 5, 6, 4]
    labels = list(COSTS)
    learner = begun(policies.CombUCB1(), solver_of(list(range(8))), labels=labels)
    learner.save(path)
    loaded = Learner.load(path, solver_of(order), labels=[labels[item] for item in order])
    assert seen(loaded) == seen(learner)
    with pytest.raises(errors.BadState, match="labels="):  # the file has names, the solver has none
        Learner.load(path, solver_of(order))
    assert seen(Learner.load(path, solver_of(list(range(8))))) == seen(learner)
    assert goes_on(loaded) == goes_on(learner)


def as_version_1(path: Path) -> None:
    """As releases before fingerprints wrote it."""
    file = json.loads(path.read_text())
    del file["learner"]["fingerprint"]
    body = json.dumps(file["learner"], separators=(",", ":"))
    digest = hashlib.sha256(body.encode()).hexdigest()
    path.write_text(f'{{"format":"semibandits.learner","version":1,"checksum":"{digest}","learner":{body}}}')


def test_files_of_older_releases(tmp_path: Path) -> None:
    path, order = tmp_path / "state.json", [2, 1, 0, 3, 6, 5, 7, 4]
    learner = begun(policies.CombUCB1())
    learner.save(path)
    as_version_1(path)
    assert seen(Learner.load(path, roads(order))) == seen(learner)  # by name
    for feasible, labels in ((sets.TopK(4, 2), None), (solver_of(order), list("abcdefgh"))):
        old = Learner(feasible, policies.CombUCB1(), labels=labels)
        old.save(path, overwrite=True)
        as_version_1(path)
        with pytest.raises(errors.BadState, match=r"kept nothing to know the set by.*same_items=True"):
            Learner.load(path, feasible)
        loaded = Learner.load(path, feasible, same_items=True)
        loaded.save(path)
        Learner.load(path, feasible)
        assert loaded._reader.labels == (None if labels is None else tuple(labels))


def test_policies_that_speak_of_item_numbers(tmp_path: Path) -> None:
    path, order = tmp_path / "state.json", [2, 1, 0, 3, 6, 5, 7, 4]
    begun(policies.Fixed([1, 4])).save(path)
    with pytest.raises(errors.BadState, match="the parameters of Fixed are by item: pass it as policy="):
        Learner.load(path, roads(order))
    loaded = Learner.load(path, roads(order), policies.Fixed([order.index(1), order.index(4)]))
    assert loaded.ask().labels == ("s->b", "b->t")


def test_a_user_s_policy_that_does_not_tell_what_is_by_item(tmp_path: Path) -> None:
    path, order = tmp_path / "state.json", [2, 1, 0, 3, 6, 5, 7, 4]

    class Told(Lottery):
        by_item = ("counts", "worth")

    learner = begun(Lottery())
    learner.save(path)
    Learner.load(path, roads(), Lottery())
    with pytest.raises(errors.BadState, match=r"in another order now.*Policy\.by_item"):
        Learner.load(path, roads(order), Lottery())
    learner = begun(Told())
    learner.save(path, overwrite=True)
    loaded = Learner.load(path, roads(order), Told())
    np.testing.assert_array_equal(loaded._agent.state.worth, learner._agent.state.worth[order])  # type: ignore[union-attr]
    assert seen(loaded) == seen(learner)


@pytest.mark.parametrize(
    "change",
    [
        lambda learner: learner["stats"][0].pop(),
        lambda learner: learner["outstanding"][0]["items"].__setitem__(0, 99),
        lambda learner: learner["labels"].pop(),
        lambda learner: learner["labels"].__setitem__(0, learner["labels"][1]),
        lambda learner: learner["init_x"].pop(),
    ],
)
def test_hostile_files_in_another_order(change: Any, tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    begun(policies.CombUCB1()).save(path)
    file = json.loads(path.read_text())
    change(file["learner"])
    body = json.dumps(file["learner"], separators=(",", ":"))
    file["checksum"] = hashlib.sha256(body.encode()).hexdigest()
    path.write_text(json.dumps({**file, "learner": None}).replace("null}", body + "}"))
    with pytest.raises(errors.BadState):
        Learner.load(path, roads([2, 1, 0, 3, 6, 5, 7, 4]))


@pytest.mark.long
@pytest.mark.parametrize("name", INDEX)
def test_random_orders_over_load(name: str, tmp_path: Path) -> None:
    """Learners that are saved, and loaded in a new order, again and again, beside one that never is."""
    generator = np.random.default_rng(11)
    for chain in range(25):
        stays = begun(INDEX[name])
        moves = begun(INDEX[name])
        for leg in range(12):
            noise = [np.random.default_rng([chain, leg]) for _ in range(2)]
            for learner, own in zip((stays, moves), noise, strict=True):
                waiting = learner.outstanding
                for decision in waiting[: leg % 3]:
                    tell(learner, decision, own)
                if name not in RANDOM:
                    for _ in range(3):
                        tell(learner, learner.ask(), own)
            moves.save(tmp_path / "state.json", overwrite=True)
            moves = Learner.load(tmp_path / "state.json", roads(generator.permutation(len(EDGES))))
            assert seen(moves) == seen(stays)
