"""ESCB beside brute force: exact decisions, and how far from them the approximate ones may be."""

import itertools
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semibandits import Learner, errors, sets
from semibandits.kernel import warm
from semibandits.policies import ESCB
from semibandits.policies.solution import aescb, base, escb, listing
from semibandits.types import FeasibleSet, Game, Items
from support.families import FAMILIES
from support.reference import Solution, paths
from support.strategies import Instance
from support.tasks import long

OFFSETS = [0.0, -1.0, 0.75, -0.4, 20.0]
"""Of weights in [0, 1], of costs, and of other bounds."""


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "PATIENCE", math.inf)


@pytest.fixture
def short_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """To find out that a set has more than 10,000 solutions takes seconds."""
    monkeypatch.setattr(listing, "MOST_SOLUTIONS", 300)
    monkeypatch.setattr(escb, "FEW", 100)


def exploration(t: int, k: int, c: float) -> float:
    return math.log(t) + (c * k * math.log(math.log(t)) if t > math.e else 0.0)


def bonus_of(one: Any, counts: Any, f: float) -> float:
    return math.sqrt(f / 2 * math.fsum(1 / max(counts[item], 1) for item in one))


def index_of(one: Any, counts: Any, sums: Any, offset: float, f: float) -> float:
    means = [1.0 if counts[item] == 0 else sums[item] / counts[item] for item in one]
    return math.fsum(means) + len(one) * offset + bonus_of(one, counts, f)


def observed(policy: ESCB, feasible: FeasibleSet, offset: float, counts: Any, means: Any) -> Any:
    state = policy.start(Game(feasible.n_items, feasible.max_size, offset=offset), feasible)
    state.counts[:] = counts
    state.sums[:] = state.counts * np.array(means)
    return state


def chosen(policy: ESCB, feasible: FeasibleSet, state: Any, t: int) -> Items:
    """Nothing is changed by choosing, and choosing again chooses the same."""
    before = [array.copy() for array in state]
    items, note = policy.choose(state, feasible, t, 0)
    again, _ = policy.choose(state, feasible, t, 1)
    assert note is None
    assert again.tolist() == items.tolist()
    for one, other in zip(before, state, strict=True):
        np.testing.assert_array_equal(one, other)
    return items


@pytest.mark.parametrize("family", sorted(set(FAMILIES) - {"GreedyKnapsack"}))  # its oracle may overlook solutions
@pytest.mark.usefixtures("plain")
@given(st.data())
@settings(max_examples=10)
def test_exact_decisions(family: str, data: st.DataObject) -> None:
    instance: Instance = data.draw(FAMILIES[family])
    feasible, listed = instance
    counts = data.draw(st.lists(st.integers(0, 50), min_size=feasible.n_items, max_size=feasible.n_items))
    means = np.random.default_rng(data.draw(st.integers(0, 99))).random(feasible.n_items)
    t, c, offset = (
        data.draw(st.integers(1, 10**6)),
        data.draw(st.sampled_from([0.0, 4.0])),
        data.draw(st.sampled_from(OFFSETS)),
    )
    policy = ESCB("exact", c=c)
    state = observed(policy, feasible, offset, counts, means)
    f = exploration(t, feasible.max_size, c)
    best = max(index_of(one, counts, state.sums, offset, f) for one in listed)
    items = chosen(policy, feasible, state, t)
    assert tuple(items.tolist()) in {tuple(one) for one in listed}
    assert index_of(items, counts, state.sums, offset, f) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("t", [1, 2, 3, 16, 10**6])
@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize(("method", "c"), [("exact", 4.0), ("exact", 0.0), ("exact", 1.5)])
@pytest.mark.usefixtures("plain")
def test_the_constants(t: int, k: int, method: Any, c: float) -> None:
    """An item seen so often that it has no bonus, beside one whose bonus makes up for what it lacks, or not quite."""
    feasible = sets.Enumerated([[0], [1]])
    policy = ESCB(method, c=c)
    bonus = math.sqrt(exploration(t, k, c) / (2 * 400))
    for lack, wanted in ((bonus + 1e-7, 0), (bonus - 1e-7, 1)):
        state = policy.start(Game(2, k), feasible)
        state.counts[:] = 1e18, 400.0
        state.sums[:] = 0.9e18, 400 * (0.9 - lack)
        assert chosen(policy, feasible, state, t).tolist() == [wanted]


@pytest.mark.parametrize("steps", [1, 10, 1000])
@pytest.mark.parametrize("lines", [0, aescb.LINES])
@pytest.mark.parametrize("which", ["TopK", "paths"])
@pytest.mark.usefixtures("plain")
def test_the_guarantee_of_the_approximation(
    which: str, lines: int, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the lines, everything is left to the dynamic program. With 1,000 steps most decisions are exact."""
    monkeypatch.setattr(aescb, "LINES", lines)
    generator = np.random.default_rng((steps, lines, len(which)))
    policy = ESCB("approximate", steps=steps)
    exact = 0
    for case in range(100):
        feasible, listed = random_set(which, generator)
        n, k, offset = feasible.n_items, feasible.max_size, OFFSETS[case % len(OFFSETS)]
        counts = np.floor(10 ** generator.uniform(-0.3, 4, n))
        t = int(10 ** generator.uniform(0 if case % 4 == 0 else 3, 7))
        state = observed(policy, feasible, offset, counts, generator.random(n))
        f = exploration(t, k, 4.0)
        indices = {one: index_of(one, counts, state.sums, offset, f) for one in listed}
        allowed = max(n * max(1.0, math.log(k)) ** 2 / t, k * max(bonus_of(one, counts, f) for one in listed) / steps)
        loss = max(indices.values()) - indices[tuple(chosen(policy, feasible, state, t).tolist())]
        assert loss <= allowed + 1e-9
        exact += loss < 1e-9
    assert steps < 1000 or exact > 80


SHAPES = {
    "TopK": (sets.TopK(3, 1), 0),
    "paths": (sets.DagPaths([(0, 1)] * 3, 0, 1), 0),
    "TopK and more": (sets.TopK(7, 5).restrict(include=[3, 4, 5, 6]), 4),
    "long paths": (sets.DagPaths([(0, 1)] * 3 + [(1, 2), (2, 3), (3, 4), (4, 5)], 0, 5), 4),
}


@pytest.mark.parametrize("which", SHAPES)
@pytest.mark.parametrize("t", [10**4, 10**6])
@pytest.mark.usefixtures("plain")
def test_what_no_linear_oracle_finds(which: str, t: int) -> None:
    """Three solutions (weight, 1/T): the best is below the line that joins the others."""
    feasible, others = SHAPES[which]
    policy = ESCB("approximate", c=0.0)
    scale = exploration(t, 1, 0.0) / 6.9
    counts = [1e9, 12.0 * scale, 4.0 * scale] + [1e9] * others
    for shift in (0.0, -0.6):
        state = observed(policy, feasible, 0.0, counts, [1.0, 0.6, 0.0] + [0.5] * others)
        state.constants[0] = shift
        assert 1 in chosen(policy, feasible, state, t).tolist()


@pytest.mark.parametrize("parts", [1, 4])
@pytest.mark.usefixtures("plain")
def test_the_guarantee_is_attained(parts: int) -> None:
    """Four ways of four edges. The best, of items 8 to 11, and the next just differ in what rounding takes away.

    They do if weights are rounded to δ/4, as they are; if it were to δ, the loss would be four times as large.
    """
    feasible = sets.KPaths(16, 4)
    t = 1000
    allowed = 16 * math.log(4) ** 2 / t
    unit = allowed / parts
    weights = np.repeat([0.25, 0.0, round(0.15 / unit) * unit - 1e-9, (round(0.15 / unit) - 1) * unit + 1e-9], 4)
    counts = np.repeat([1e9, 16.0, 48.0, 48.0 - 1e-6], 4)
    policy = ESCB("approximate", c=0.0, steps=100_000)
    state = observed(policy, feasible, 0.0, counts, weights)
    f = exploration(t, 4, 0.0)
    index = [index_of(range(way, way + 4), counts, state.sums, 0.0, f) for way in (0, 4, 8, 12)]
    assert max(index) == index[2]
    loss = index[2] - index[int(chosen(policy, feasible, state, t)[0]) // 4]
    assert loss <= allowed
    assert parts == 1 or loss > 0.99 * allowed


def random_set(which: str, generator: np.random.Generator) -> tuple[FeasibleSet, list[Solution]]:
    """With paths of one to six edges."""
    if which == "TopK":
        n = int(generator.integers(1, 9))
        k = int(generator.integers(1, n + 1))
        return sets.TopK(n, k), list(itertools.combinations(range(n), k))
    nodes = int(generator.integers(2, 8))
    edges = [(a, b) for a, b in itertools.combinations(range(nodes), 2) if b == a + 1 or generator.random() < 0.4]
    return sets.DagPaths(edges, 0, nodes - 1), paths(edges, 0, nodes - 1)


@pytest.mark.usefixtures("short_lists")
def test_which_method() -> None:
    """Exact where all solutions can be looked at, the dynamic program elsewhere."""
    exact = ESCB("exact").kernels(sets.TopK(6, 2)).choose
    for feasible in (sets.TopK(6, 2), sets.TopK(6, 2, bases=False), sets.GridPaths(4), sets.Assignment(5, 5)):
        assert ESCB().kernels(feasible).choose is exact
    for feasible in (sets.TopK(12, 4), sets.GridPaths(6)):
        assert ESCB().kernels(feasible).choose is ESCB("approximate").kernels(feasible).choose is not exact
        with pytest.raises(errors.Unsupported, match="looks at every solution"):
            ESCB("exact").check(feasible)
    assert ESCB().kernels(sets.GridPaths(5)).choose is not exact
    assert ESCB("exact").kernels(sets.GridPaths(5)).choose is exact
    assert ESCB("approximate").kernels(sets.TopK(6, 2)).choose is ESCB().kernels(sets.TopK(12, 4)).choose


@pytest.mark.parametrize("method", ["auto", "exact", "approximate"])
@pytest.mark.usefixtures("short_lists")
def test_sets_it_cannot_play_on(method: Any) -> None:
    for feasible in (sets.Assignment(9, 9), sets.TopK(40, 9, bases=False)):
        with pytest.raises(errors.Unsupported) as refusal:
            ESCB(method).check(feasible)
        for word in ("10,000 solutions", "TopK", "acyclic", "CombUCB1", "KLUCB", "GaussianCTS", "CTS", repr(feasible)):
            assert word in str(refusal.value)


@pytest.mark.parametrize("method", ["exact", "approximate"])
@pytest.mark.usefixtures("plain")
def test_a_published_value(method: Any) -> None:
    """From the tests of CombinatorialBandits.jl, by AESCB's first author; its bonus is sqrt(log(1000)/2 · Σ b)."""
    means = [1 / 6, 0.8041237113402062, 1 / 6, 0.7921348314606742, 1 / 6]
    b = [1.0818164611145353, 0.10037472319619399, 1.0818164611145353, 0.10939717022506537, 1.0818164611145353]
    policy = ESCB(method, c=0.0)
    state = observed(policy, sets.TopK(5, 2), 0.0, [2 / one for one in b], means)
    items = chosen(policy, sets.TopK(5, 2), state, 10**6)
    assert index_of(items, state.counts, state.sums, 0.0, math.log(10**6)) == pytest.approx(3.0669981573660285)


@pytest.mark.parametrize("policy", [ESCB(), ESCB("approximate", steps=50)], ids=repr)
def test_live(policy: ESCB, tmp_path: Path) -> None:
    """A loaded learner goes on as the saved one; costs, and paths of different lengths."""
    edges = [(a, b) for a, b in itertools.combinations(range(5), 2)]
    feasible = sets.DagPaths(edges, 0, 4)
    learner = Learner(feasible, policy, sense="min", bounds=(0.0, 5.0), seed=1)
    generator = np.random.default_rng(6)
    for round in range(60):
        if round == 30:
            learner.save(tmp_path / "state.json")
            other = Learner.load(tmp_path / "state.json", feasible)
        decision = learner.ask()
        weights = 5.0 * generator.random(decision.items.size)
        learner.tell(decision.id, weights)
        if round >= 30:
            again = other.ask()
            assert again.items.tolist() == decision.items.tolist()
            other.tell(again.id, weights)


def test_an_oracle_of_the_users_own_outdates_the_program() -> None:
    class Best(sets.TopK):
        def argmax(self, weights: Any) -> Items:
            return super().argmax(weights)

    with pytest.raises(errors.Unsupported, match="dynamic program"):
        ESCB("approximate").check(Best(50, 5))


@pytest.mark.parametrize("method", ["exact", "approximate"])
@pytest.mark.usefixtures("plain")
def test_ties_and_unseen_items(method: Any) -> None:
    """An item nobody has seen is worth 1, with a bonus as if seen once; of equal solutions the first is chosen."""
    feasible = sets.Enumerated(list(itertools.combinations(range(5), 2))) if method == "exact" else sets.TopK(5, 2)
    policy = ESCB(method)
    for t in (1, 10, 1000):
        state = observed(policy, feasible, 0.0, [0.0] * 5, [0.0] * 5)
        assert chosen(policy, feasible, state, t).tolist() == [0, 1]
        state = observed(policy, feasible, 0.0, [1.0, 2.0, 0.0, 1.0, 2.0], [1.0, 1.0, 0.0, 0.9, 1.0])
        assert chosen(policy, feasible, state, t).tolist() == ([0, 1] if t == 1 else [0, 2])


@pytest.mark.parametrize("method", ["exact", "approximate"])
@pytest.mark.usefixtures("plain")
def test_parts_of_the_set(method: Any) -> None:
    """K stays that of the whole game."""
    generator = np.random.default_rng(2)
    policy = ESCB(method, steps=10_000)
    for _ in range(20):
        counts = generator.integers(1, 30, 8)
        state = observed(policy, sets.TopK(8, 3), 0.0, counts, generator.random(8))
        part = sets.TopK(8, 3).restrict(include=[2], exclude=[5, 6])
        listed = [one for one in itertools.combinations(range(8), 3) if 2 in one and not {5, 6} & set(one)]
        indices = {one: index_of(one, counts, state.sums, 0.0, exploration(10**7, 3, 4.0)) for one in listed}
        items = policy.choose(state, part, 10**7, 0)[0]
        assert indices[tuple(items.tolist())] > max(indices.values()) - 0.005


@pytest.mark.parametrize("method", ["exact", "approximate"])
@pytest.mark.usefixtures("plain")
def test_learning(method: Any) -> None:
    """In parts or at once, in any order, with or without having chosen it."""
    feasible = sets.TopK(5, 3)
    policy = ESCB(method)
    state = policy.start(Game(5, 3), feasible)
    once = policy.learn(state, feasible, 1, np.array([0, 2, 4]), np.array([0.5, 0.25, 1.0]), None, 7)
    assert state.counts.tolist() == [0.0] * 5
    parts = policy.learn(state, feasible, 1, np.array([4]), np.array([1.0]), None, 7)
    parts = policy.learn(parts, feasible, 1, np.array([0, 2]), np.array([0.5, 0.25]), None, 7)
    twice = policy.learn(once, feasible, 2, np.array([0, 1, 2]), np.array([0.5, 0.125, 0.0]), None, 9)
    for one, other in zip(once, parts, strict=True):
        np.testing.assert_array_equal(one, other)
    assert type(twice) is type(state)
    assert twice.counts.tolist() == [2.0, 1.0, 2.0, 0.0, 1.0]
    assert twice.sums.tolist() == [1.0, 0.125, 0.25, 0.0, 1.0]


def hard_states(policy: ESCB, feasible: FeasibleSet) -> list[Any]:
    generator = np.random.default_rng(4)
    n = feasible.n_items
    counts = [np.floor(10 ** generator.uniform(-0.3, 4, n)) for _ in range(60)]
    return [observed(policy, feasible, -1.0, one, generator.random(n)) for one in counts]


@pytest.mark.parametrize(
    ("feasible", "method"),
    [
        (sets.GridPaths(3), "exact"),
        (sets.GridPaths(4), "approximate"),
        long(sets.TopK(30, 5), "approximate"),
        long(sets.TopK(30, 5).restrict([3], [8]), "approximate"),
    ],
    ids=repr,
)
def test_machine_code_decides_alike(feasible: FeasibleSet, method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = ESCB(method, c=0.0, steps=200)
    states = hard_states(policy, feasible)
    made = []
    for patience in (math.inf, 0.0):
        monkeypatch.setattr(warm, "PATIENCE", patience)
        decisions = [policy.choose(state, feasible, 10**6, 0)[0] for state in states]
        learned = [
            policy.learn(state, feasible, 9, items, np.linspace(0.0, 1.0, items.size), None, 0)
            for state, items in zip(states, decisions, strict=True)
        ]
        made.append(([items.tolist() for items in decisions], [[array.tobytes() for array in one] for one in learned]))
    assert made[0] == made[1]
    assert len({tuple(items) for items in made[0][0]}) > 10


@pytest.mark.parametrize("feasible", [sets.GridPaths(4), sets.TopK(30, 5)], ids=repr)
def test_these_states_need_the_program(feasible: FeasibleSet) -> None:
    """Or their decisions would show nothing of it."""
    policy = ESCB("approximate", c=0.0, steps=200)
    program, solver = feasible.trade_offs(), feasible.single()
    assert program is not None
    assert solver is not None
    calls: list[int] = []

    def fill(weights: Any, gains: Any, most: int, *rest: Any) -> None:
        calls.append(most)
        program.fill(weights, gains, most, *rest)

    made = policy.kernels(feasible)
    room = base.make_room(made, feasible, None)
    text = aescb._kernel_function(fill, program.take, solver.function)
    for state in hard_states(policy, feasible):
        text(state, room.out, room.note, 10**6, 0, made.data, room.work)
    assert len(calls) >= 3
    assert max(calls) <= 201


@pytest.mark.parametrize("value", [0, -1, 1.5, 10.0, True, None, "9", math.nan, 10**8], ids=repr)
def test_bad_steps(value: Any) -> None:
    with pytest.raises(errors.BadArgument, match="steps must be a whole number from 1 to 10,000,000, got") as refusal:
        ESCB(steps=value)
    assert repr(value) in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "value"), [("method", "fast"), ("method", None), ("c", -1.0), ("c", math.inf), ("init", "paper")]
)
def test_other_bad_arguments(name: str, value: Any) -> None:
    with pytest.raises(errors.BadArgument, match=f"{name} must be .*, got") as refusal:
        ESCB(**{name: value})
    assert repr(value) in str(refusal.value)


@pytest.mark.parametrize("policy", [ESCB(), ESCB("exact", c=1), ESCB("approximate", 0.0, np.int64(7), "optimistic")])
def test_a_policy_is_its_parameters(policy: ESCB) -> None:
    again = eval(repr(policy))
    assert again == policy
    assert hash(again) == hash(policy)
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert policy != ESCB(c=2.0)
