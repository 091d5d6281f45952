"""One decision from another set of the same items: every policy plays, or says why not, and nothing has changed."""

from typing import Any

import numpy as np
import pytest

import semibandits as sb
from semibandits import policies, rng, sets
from semibandits.errors import BadArgument, MinimisingOracle, SemiBanditError, UnknownItem, Unsupported

OWN = sets.TopK(6, 3)
LISTED = sets.Enumerated([[0, 1, 2], [1, 2, 3], [3, 4, 5], [0, 4, 5]], 6)
OTHERS = {
    "fewer": sets.TopK(6, 1),
    "more": sets.TopK(6, 5),
    "at most": sets.TopK(6, 4, bases=False),
    "groups": sets.PartitionMatroid([0, 0, 1, 1, 2, 2], 1),
    "listed": sets.Enumerated([[0], [1, 5], [2, 3, 4, 5]], 6),
}
MEANS = np.array([0.9, 0.2, 0.7, 0.4, 0.6, 0.1])
PLAYERS: list[Any] = [
    policies.CombUCB1(),
    policies.BGCTS(),
    policies.CLSG(),
    policies.CTS(),
    policies.Discounted(gamma=0.99),
    policies.EpsilonGreedy(),
    policies.GaussianCTS(),
    policies.KLUCB(),
    policies.OMM(),
    policies.PooledCTS(),
    policies.Random(),
    policies.SlidingWindow(window=10),
    policies.UCBV(),
    policies.Clairvoyant(sb.Problem(OWN, sb.environments.Bernoulli(MEANS))),
    policies.Fixed([0, 1, 2]),
    policies.ESCB(),
    policies.ESCB(method="approximate"),
    policies.FPL(eta=0.3, most=20),
    policies.OLSUCB(),
    policies.CombLinTS(features=np.eye(6)),
    policies.CombLinUCB(features=np.eye(6)),
    policies.OSMD(eta=0.2),
    policies.HYBRID(),
    policies.COMBAND(eta=0.1),
    policies.OFUL(),
    policies.LinUCB(),
]
REFUSED = {"OSMD", "HYBRID", "COMBAND"}
"""They learn about the solutions of one set."""


def state_of(learner: sb.Learner) -> list[Any]:
    agent = learner._agent
    return [agent.stats.tobytes(), *(array.tobytes() for array in getattr(agent, "state", ())), learner.round]


@pytest.mark.parametrize("own", [OWN, LISTED], ids=["top", "listed"])
@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("policy", PLAYERS, ids=repr)
def test_every_policy_plays_or_refuses(policy: Any, name: str, own: Any) -> None:
    other = OTHERS[name]
    feedback = "bandit" if getattr(policy, "feedback", "semi") == "bandit" else "semi"
    try:
        learner = sb.Learner(own, policy, seed=1, feedback=feedback)
    except Unsupported:
        pytest.skip("it does not play on its own set")
    for round in range(1, 25):
        asked = other if round % 3 == 0 else None
        before, decision, refused = state_of(learner), None, None
        try:
            decision = learner.ask(feasible=asked)
        except SemiBanditError as error:
            refused = error
        if decision is None:
            assert asked is not None
            assert state_of(learner) == before
            assert type(policy).__name__ in REFUSED | {"OMM", "Fixed", "ESCB"}
            assert isinstance(refused, Unsupported) or type(policy).__name__ == "Fixed"
            continue
        assert type(policy).__name__ not in REFUSED or asked is None
        assert (own if asked is None else other).contains(decision.items)
        weights = MEANS[decision.items] * rng.uniform(round, decision.items.astype(np.uint64))
        learner.tell(decision.id, float(weights.sum()) if feedback == "bandit" else weights)
    assert np.isfinite(learner._agent.stats).all()


ALLOWED = [(False, None, False), (True, None, True), (True, False, False), (False, True, True)]


@pytest.mark.parametrize(("needs", "only", "refused"), ALLOWED)
def test_a_users_policy_says_whether_it_can(needs: bool, only: bool | None, refused: bool) -> None:
    """One that needs its notes is not taken to understand those of another set."""

    class Mine(policies.OLSUCB):
        needs_note = needs
        own_set_only = only

    learner = sb.Learner(OWN, Mine(init="optimistic"), seed=1)
    if refused:
        with pytest.raises(Unsupported, match="cannot choose from another set"):
            learner.ask(feasible=OTHERS["more"])
    else:
        assert learner.ask(feasible=OTHERS["more"]).items.size == 5
    assert learner.ask(available=[0, 1, 2]).items.tolist() == [0, 1, 2]


def test_constants_are_those_of_the_learners_own_set() -> None:
    """Where they depend on the size of solutions: another size for one decision does not change them."""
    learner = sb.Learner(OWN, policies.BGCTS(), seed=0)
    params = learner._agent.params  # type: ignore[attr-defined]
    learner.ask(feasible=OTHERS["more"])
    assert learner._agent.params == params == policies.BGCTS().params(learner._agent.game)  # type: ignore[attr-defined]


def test_a_solver_is_tried_out_once() -> None:
    calls: list[int] = []

    def best(weights: Any) -> Any:
        calls.append(1)
        return np.argsort(-weights, kind="stable")[:2]

    learner = sb.Learner(OWN, policies.CombUCB1(), seed=0)
    own = sets.Oracle(best, n_items=6, max_size=2)
    learner.ask(feasible=own)
    first = len(calls)
    assert first <= 4
    learner.ask(feasible=own)
    assert len(calls) == first + 1
    upside_down = sets.Oracle(lambda weights: np.argsort(weights, kind="stable")[:2], n_items=6, max_size=2)
    before = learner.round
    with pytest.raises(MinimisingOracle):
        learner.ask(feasible=upside_down)
    assert learner.round == before


def test_other_items_are_refused() -> None:
    learner = sb.Learner(OWN, policies.CombUCB1(), seed=0)
    with pytest.raises(BadArgument, match="same 6 items"):
        learner.ask(feasible=sets.TopK(5, 2))
    with pytest.raises(BadArgument, match="must be a FeasibleSet"):
        learner.ask(feasible=[0, 1])  # type: ignore[call-overload]
    named = sb.Learner(sets.Assignment(["a", "b"], ["x", "y"]), policies.CombUCB1(), seed=0)
    with pytest.raises(BadArgument, match="its item 0 is 'b:x'"):
        named.ask(feasible=sets.Assignment(["b", "a"], ["x", "y"]))
    costs = sb.Learner(sets.TopK(3, 1), policies.CombUCB1(), seed=0)
    with pytest.raises(BadArgument, match="needs weights <= 0"):
        costs.ask(feasible=sets.Paths([(0, 1), (1, 2), (0, 2)], 0, 2))


def test_init_does_not_ask_shortest_paths_for_longest_ones() -> None:
    edges = [(0, 1), (1, 2), (0, 2), (2, 3), (0, 3)]
    for init in ("paper", "all"):
        learner = sb.Learner(sets.DagPaths(edges, 0, 3), policies.CombUCB1(init=init), sense="min", seed=0)
        roads = sets.Paths(edges, 0, 3)
        for feasible in (roads, None, roads, None, roads, None, roads):
            decision = learner.ask(feasible=feasible)
            assert roads.contains(decision.items)
            learner.tell(decision.id, np.full(decision.items.size, 0.5))
        assert (learner.counts > 0).all()


def test_policies_that_choose_whole_solutions_are_given_a_part_of_the_other_set() -> None:
    edges = [(a, b) for a in range(8) for b in range(8) if a != b and (a * b) % 3 != 1]
    roads = sets.Paths(edges, 0, 5)
    learner = sb.Learner(roads, policies.FPL(eta=0.2, most=5), sense="min", seed=0)
    for closed in ([0, 3], [7, 11, 12], []):
        between = roads.between(3, 6)
        open_ = np.setdiff1d(np.arange(len(edges)), closed)
        decision = learner.ask(available=open_, feasible=between)
        assert between.contains(decision.items)
        assert not np.isin(closed, decision.items).any()
        learner.tell(decision.id, np.full(decision.items.size, 0.5))


def test_another_source_and_target_without_some_edges() -> None:
    edges = [(a, b) for a in range(6) for b in range(6) if a != b and (a + b) % 4]
    roads = sets.Paths(edges, 0, 5)
    learner = sb.Learner(roads, policies.CTS(), sense="min", seed=3)
    twin = sb.Learner(sets.Paths(edges, 0, 5), policies.CTS(), sense="min", seed=3)
    generator = np.random.default_rng(0)
    for _ in range(30):
        source, target = generator.choice(6, 2, replace=False).tolist()
        open_ = generator.random(len(edges)) < 0.8
        try:
            fresh = sets.Paths(edges, source, target).restrict(exclude=np.flatnonzero(~open_))
            expected = twin.ask(feasible=fresh)
        except sb.errors.EmptyFeasibleSet:
            with pytest.raises(sb.errors.EmptyFeasibleSet):
                learner.ask(available=open_, feasible=roads.between(source, target))
            continue
        decision = learner.ask(available=open_, feasible=roads.between(source, target))
        assert decision.items.tolist() == expected.items.tolist()
        weights = generator.random(decision.items.size)
        learner.tell(decision.id, weights)
        twin.tell(expected.id, weights)


def test_items_without_names_are_known_by_their_pairs_and_edges() -> None:
    """The same number of items is not enough where the sets say what the items are."""

    class Own(sets.Assignment):
        pass

    one, other = sets.Assignment(3, 3, forbidden=[(0, 0)]), sets.Assignment(3, 3, forbidden=[(2, 2)])
    grid = sets.GridPaths(1)
    turned = sets.DagPaths(list(reversed(grid.edges)), (0, 0), (1, 1))
    for own, wrong in [
        (one, other),
        (sets.Assignment(2, 3), sets.Assignment(3, 2)),
        (sets.BMatching(2, 3, [1, 2], [1, 1, 1]), sets.Assignment(3, 2)),
        (grid, turned),
        (turned, grid),
        (Own(2, 2), sets.Assignment(1, 4)),
        (sets.Assignment(2, 2), Own(1, 4)),
        (sets.Product([sets.Assignment(2, 2), OWN]), sets.Product([sets.Assignment(1, 4), OWN])),
        (sets.Assignment(2, 2), sets.Intersection(sets.Assignment(1, 4), np.ones((1, 4)), [0.0], [4.0])),
    ]:
        learner = sb.Learner(own, seed=1)
        with pytest.raises(BadArgument, match=r"its item \d is \(.*\), and that of the other set \("):
            learner.ask(feasible=wrong)
        with pytest.raises(BadArgument, match=r"its item \d is"):
            sb.environments.Requests(sb.environments.Bernoulli([0.5] * own.n_items), [own, wrong])
        named = sets.MILP(np.ones((1, own.n_items)), [1.0], [1.0], labels=[f"i{i}" for i in range(own.n_items)])
        if not (own.labels or wrong.labels):
            with pytest.raises(BadArgument, match=r"its item \d is"):
                sb.environments.Requests(sb.environments.Bernoulli([0.5] * own.n_items), [named, own, wrong])
        assert learner.round == 0
    assert sb.Learner(one, seed=1).ask(feasible=sets.Assignment(3, 3, forbidden=[(0, 0)])).round == 1
    assert sb.Learner(grid, seed=1).ask(feasible=sets.DagPaths(grid.edges, (0, 0), (1, 1))).round == 1


def test_edges_without_direction_are_known_from_either_end() -> None:
    links = [("a", "b"), ("b", "c"), ("a", "c"), ("b", "c", "bridge")]
    learner = sb.Learner(sets.Paths(links, "a", "c", directed=False), policies.CombUCB1(), sense="min", seed=1)
    learner.observe({"b-a": 0.1, "c-a": 0.9, "c-b": 0.5, "b-c bridge": 0.2})
    assert learner.estimates.tolist() == pytest.approx([0.1, 0.5, 0.9, 0.2])
    other = sets.Paths([(head, tail, *name) for tail, head, *name in links], "a", "c", directed=False)
    decision = learner.ask(feasible=other, available=["b-a", "b-c bridge"])
    assert decision.items.tolist() == [0, 3]
    assert learner.tell(decision.id, {"b-a": 0.1, "c-b bridge": 0.2}) == 2
    with pytest.raises(BadArgument, match="its item 0 is 'a->b'"):
        learner.ask(feasible=sets.Paths(links, "a", "c"))


FLIPPED = [[("a", "b"), ("b", "c")], [("b", "a"), ("b", "c")]]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda graph: graph,
        lambda graph: sets.Product([graph, sets.GraphicMatroid([("x", "y"), ("y", "x")])]),
        lambda graph: sets.Intersection(graph, np.ones((1, 2)), [0.0], [2.0]),
    ],
    ids=["graph", "product", "intersection"],
)
def test_sets_of_sets_know_both_ends(wrap: Any) -> None:
    one, other = (wrap(sets.GraphicMatroid(edges)) for edges in FLIPPED)
    prefix = "0:" if one.labels[0].startswith("0:") else ""
    learner = sb.Learner(one, policies.CTS(), seed=1)
    learner.observe({f"{prefix}b-a": 0.25})
    assert learner.estimates[0] == 0.25
    for own, asked in [(one, other), (other, one), (one, sets.Enumerated([list(range(one.n_items))], one.n_items))]:
        assert sb.Learner(own, policies.CTS(), seed=1).ask(feasible=asked).round == 1


@pytest.mark.parametrize(
    "links",
    [
        [("a", "b"), ("b", "a"), ("b", "c")],
        [("a", "b"), ("a", "b"), ("b", "a"), ("b", "c")],
        [("a", "b-c"), ("b-c", "a"), ("c", "a-b")],
        [("a", "a"), ("a", "b")],
    ],
)
def test_an_end_that_may_be_another_items_is_no_name(links: Any) -> None:
    """Every label is one item's, and no other name is that of two, in whatever order the edges come."""
    graph = sets.GraphicMatroid(links)
    names = [{label, alias} for label, alias in zip(graph.labels, graph.aliases, strict=True)]
    assert sum(map(len, names)) == len(set().union(*names))
    generator = np.random.default_rng(0)
    for _ in range(20):
        order = generator.permutation(len(links))
        turned = generator.random(len(links)) < 0.5
        other = sets.GraphicMatroid(
            [links[i][::-1] if turn else links[i] for i, turn in zip(order, turned, strict=True)]
        )
        learner = sb.Learner(graph, policies.CombUCB1(init="optimistic"), seed=1)
        try:
            learner.ask(feasible=other)
        except BadArgument:
            continue
        for item, (label, alias) in enumerate(zip(other.labels, other.aliases, strict=True)):
            found = [learner._reader._item_of[name] for name in (label, alias) if name in learner._reader._item_of]
            assert found
            assert set(found) == {item}


def test_labels_of_ones_own_have_no_other_end() -> None:
    class Named(sets.GraphicMatroid):
        labels = ("x", "y")

    learner = sb.Learner(Named(FLIPPED[0]), seed=1)
    with pytest.raises(UnknownItem, match="'b-a'"):
        learner.observe({"b-a": 1.0})


def test_a_set_with_the_names_that_were_given() -> None:
    edges = [("a", "b"), ("b", "c"), ("a", "c")]
    learner = sb.Learner(sets.DagPaths(edges, "a", "c"), labels=["x", "y", "z"], seed=1)
    named = sets.MILP(np.array([[1.0, 1.0, 1.0]]), [1.0], [1.0], labels=["x", "y", "z"])
    assert learner.ask(feasible=named).items.size == 1
    swapped = sets.MILP(np.array([[1.0, 1.0, 1.0]]), [1.0], [1.0], labels=["y", "x", "z"])
    with pytest.raises(BadArgument, match="the same items in the same order"):
        learner.ask(feasible=swapped)


@pytest.mark.parametrize(
    "policy", [policies.FPL(eta=0.5), policies.CombLinTS(np.eye(4)), policies.CombLinUCB(np.eye(4))], ids=repr
)
def test_scores_of_either_sign_do_not_fit_every_set(policy: Any) -> None:
    """It is said at once, whatever is drawn; from such a set on they all play."""
    roads = sets.Paths([("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")], "a", "d", directed=False)
    learner = sb.Learner(sets.TopK(4, 2), policy, sense="min", seed=1)
    for _ in range(3):
        with pytest.raises(Unsupported, match="needs weights <= 0: make the learner on such a set"):
            learner.ask(feasible=roads)
    assert learner.ask(feasible=sets.TopK(4, 1)).round == 1
    assert sb.Learner(roads, policy, sense="min", seed=1).ask(feasible=sets.TopK(4, 2)).items.size == 2


@pytest.mark.parametrize("policy", [policies.OSMD(eta=0.3), policies.COMBAND(eta=0.1), policies.OMM()], ids=repr)
def test_another_policy_while_the_set_is_tried_out(policy: Any) -> None:
    """What decides is the policy that the set was checked for."""
    learner = sb.Learner(sets.TopK(4, 2), policies.CTS(), seed=1)

    def solver(weights: Any) -> Any:
        learner.change_policy(policy)
        return np.argsort(-weights, kind="stable")[:1]

    with pytest.raises(Unsupported):
        learner.ask(feasible=sets.Oracle(solver, n_items=4, max_size=1))
    assert (learner.policy, learner.round, learner.outstanding) == (policy, 0, [])
