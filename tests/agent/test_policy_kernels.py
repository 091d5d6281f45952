"""A policy's moves: the text as it is, as machine code, with any oracle."""

import math
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import ArrayLike

from semibandits import Learner, Problem, environments, errors, policies, rng, sets, simulate
from semibandits.kernel import placeholder, sqrt, warm
from semibandits.policies.solution.base import (
    CompiledPolicy,
    PolicyKernels,
    WarmPolicy,
    best_of,
    score_items,
    substituted,
)
from semibandits.rng import uniform
from semibandits.types import FeasibleSet, Game, Items, State
from support.tasks import long
from support.wide import BANDIT, LIVE, WIDE_PROBLEMS

# Placeholders and what stands in for them

inner, outer = placeholder("inner"), placeholder("outer")


def twice(x: float) -> float:
    return 2.0 * x


def helper(x: float, *, more: float = 1.0) -> float:
    return inner(x) + more  # type: ignore[no-any-return]


def text(x: float, y: float = 5.0) -> float:
    return helper(x) + helper(y, more=0.0) + twice(1.0)


def test_placeholders_are_replaced_everywhere_in_a_twin() -> None:
    twin = substituted(text, {inner: lambda x: 10.0 * x})
    assert twin is not text
    assert (twin(1.0), twin(1.0, 2.0), twin.__name__) == (63.0, 33.0, "text")
    other = substituted(text, {inner: twice})
    assert other(1.0, 2.0) == 9.0
    assert twin(1.0, 2.0) == 33.0  # each has its own
    with pytest.raises(Exception, match="inner"):
        text(1.0)
    assert helper.__globals__["inner"] is inner


def test_what_needs_no_twin_stays_itself() -> None:
    assert substituted(twice, {inner: twice}) is twice
    assert substituted(text, {outer: twice}) is text
    assert substituted(inner, {inner: twice}) is twice
    assert substituted(3, {inner: twice}) == 3
    assert substituted(math.sqrt, {inner: twice}) is math.sqrt


# Plain and compiled


def started(kernels: PolicyKernels, feasible: FeasibleSet, patience: float) -> WarmPolicy:
    return WarmPolicy(kernels, feasible, patience)


def both_ways(policy: Any, feasible: FeasibleSet, offset: float, rounds: int = 25) -> None:
    """The same choices, notes, scores and states, bit for bit; feedback late, in parts, and on nothing."""
    state = policy.start(Game(feasible.n_items, feasible.max_size, 500, feasible.signed, offset), feasible)
    kernels = policy.kernels(feasible)
    assert kernels is not None
    plain, machine = started(kernels, feasible, math.inf), started(kernels, feasible, 0.0)
    generator, late = np.random.default_rng(7), []
    for round in range(1, rounds + 1):
        key = rng.key(3, 0, round, rng.POLICY)
        before = [array.tobytes() for array in state]
        (items, note), (same, also) = (live.choose(state, round, key) for live in (plain, machine))
        assert [array.tobytes() for array in state] == before
        np.testing.assert_array_equal(items, same)
        assert (note is None) == (also is None) == (kernels.note == "none")
        if note is not None:
            assert note.tobytes() == also.tobytes()
            assert note.size == (items.size if kernels.note == "chosen" else feasible.n_items)
        assert feasible.contains(items)
        late.append((round, items, note))
        while late and generator.random() < 0.7:
            then, told, noted = late.pop()
            x = np.round(generator.random(told.size), 3)
            parts = [slice(None)]
            if policy.feedback == "bandit":
                x = np.array([x.sum()])
            elif kernels.note != "all":
                cut = int(generator.integers(told.size + 1))
                parts = [slice(cut), slice(cut, None)]
            for part in parts:
                some = told if policy.feedback == "bandit" else told[part]
                cut_note = noted[part] if kernels.note == "chosen" else noted
                a, b = (live.learn(state, then, some, x[part], cut_note, key) for live in (plain, machine))
                assert type(a) is type(b) is type(state)
                assert [array.tobytes() for array in a] == [array.tobytes() for array in b]
                assert [array.tobytes() for array in state] == before or late is None
                state, before = a, [array.tobytes() for array in a]
    assert [one.code is not None for one in machine.warm[:2]] == [True, True]
    assert not machine.warm[2].refused


SOON = (("FPL", "costs"), ("COMBAND", "listed"))
PAIRS = [
    (policy, name)
    for policy in LIVE
    for name, problem in WIDE_PROBLEMS.items()
    if policy != "AESCB" and (not policy.startswith(("HYBRID", "OSMD")) or problem.feasible.quotas() is not None)
]
PAIRS += [("AESCB", "top-k"), ("AESCB", "grid"), ("AESCB", "costs"), ("AESCB", "restricted top-k")]


@pytest.mark.parametrize(("name", "problem"), [pair if pair in SOON else long(*pair) for pair in PAIRS])
def test_machine_code_does_the_same(name: str, problem: str) -> None:
    feasible = WIDE_PROBLEMS[problem].feasible
    lo, hi = WIDE_PROBLEMS[problem].bounds
    offset = (lo if WIDE_PROBLEMS[problem].sense == "max" else -hi) / (hi - lo)
    both_ways(LIVE[name](feasible.n_items), feasible, offset)


def test_the_change_to_machine_code_is_not_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    feasible = WIDE_PROBLEMS["costs"].feasible
    decisions = []
    for patience in (math.inf, 0.0):
        monkeypatch.setattr(warm, "PATIENCE", math.inf)
        learner = Learner(feasible, policies.FPL(eta=0.2), sense="min", bounds=(2.0, 5.0), seed=4)
        generator, seen = np.random.default_rng(0), []
        for round in range(30):
            if round == 15:
                monkeypatch.setattr(warm, "PATIENCE", patience)
            decision = learner.ask()
            seen.append(decision.items.tolist())
            learner.tell(decision.id, generator.uniform(2.0, 5.0, decision.items.size))
        decisions.append([*seen, [array.tolist() for array in learner._agent.state]])  # type: ignore[union-attr]
    assert decisions[0] == decisions[1]


def test_threads_do_not_disturb_each_other() -> None:
    """Learners share a policy, a set, and so the room to work in."""
    feasible, policy = sets.TopK(8, 3), policies.FPL(eta=0.3)

    def play(seed: int) -> list[Any]:
        learner = Learner(feasible, policy, seed=seed)
        seen = []
        for _ in range(60):
            decision = learner.ask()
            seen.append(decision.items.tolist())
            learner.tell(decision.id, (decision.items % 2).astype(np.float64))
        return [*seen, learner._agent.state[0].tolist()]  # type: ignore[union-attr]

    alone = [play(seed) for seed in range(4)]
    together: dict[int, list[Any]] = {}
    threads = [
        threading.Thread(target=lambda seed=seed: together.__setitem__(seed, play(seed)))  # type: ignore[misc]
        for seed in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [together[seed] for seed in range(4)] == alone


# Oracles that are no text


def lived(feasible: FeasibleSet, policy: Any, rounds: int = 40) -> list[Any]:
    learner = Learner(feasible, policy, seed=8)
    generator = np.random.default_rng(1)
    seen: list[Any] = []
    for round in range(rounds):
        decision = learner.ask(available=None if round % 4 else [0, 1, 2, 4, 5])
        seen.append(decision.items.tolist())
        learner.tell(decision.id, generator.random(decision.items.size))
    return [*seen, [array.tolist() for array in learner._agent.state]]  # type: ignore[union-attr]


SOLVING = {
    "FPL": policies.FPL(eta=0.2, most=50),
    "CombLinUCB": policies.CombLinUCB(np.random.default_rng(0).random((6, 2))),
    "CombLinTS": policies.CombLinTS(np.random.default_rng(0).random((6, 2))),
}


@pytest.mark.parametrize("name", SOLVING)
def test_any_python_oracle_plays(name: str) -> None:
    top = sets.TopK(6, 2)
    expected = lived(top, SOLVING[name])
    backwards = sets.Oracle(lambda weights: top.argmax(weights)[::-1].tolist(), 6, 2, contains=top.contains)
    assert lived(backwards, SOLVING[name]) == expected
    assert lived(Own(), SOLVING[name]) == expected


@pytest.mark.long
@pytest.mark.parametrize("name", ["FPL", "CombLinUCB"])
def test_scores_are_compiled_where_the_oracle_is_not(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = lived(sets.TopK(6, 2), SOLVING[name])
    monkeypatch.setattr(warm, "PATIENCE", 0.0)
    assert lived(Own(), SOLVING[name]) == expected


class Own(FeasibleSet):
    """A user's set: any two of six items. Its answers are in no order."""

    n_items, max_size = 6, 2

    def __init__(self, allowed: Iterable[int] = range(6), included: Iterable[int] = ()) -> None:
        self._allowed, self._included = set(allowed), set(included)

    def argmax(self, weights: ArrayLike) -> Items:
        w = np.asarray(weights)
        ranked = sorted(self._allowed, key=lambda item: (item not in self._included, -w[item], item))
        return np.array(ranked[:2][::-1], dtype=np.int64)

    def contains(self, items: Iterable[int]) -> bool:
        chosen = set(items)
        return len(chosen) == 2 and self._included <= chosen <= self._allowed

    def restrict(self, include: Iterable[int] = (), exclude: Iterable[int] = ()) -> FeasibleSet:
        part = type(self)(self._allowed - set(exclude), self._included | set(include))
        if len(part._allowed) < 2 or not part._included <= part._allowed or len(part._included) > 2:
            raise errors.EmptyFeasibleSet("nothing is left")
        return part


WRONG: dict[str, Any] = {
    "too few": np.array([0]),
    "too many": np.array([0, 1, 2]),
    "unknown": np.array([0, 17]),
    "negative": np.array([-1, 0]),
    "twice": np.array([3, 3]),
    "fractions": np.array([0.5, 1.5]),
    "a matrix": np.array([[0, 1]]),
    "nothing": None,
}


@pytest.mark.parametrize("name", SOLVING)
@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_answers_of_a_users_set_are_caught(name: str, wrong: str) -> None:
    class Liar(Own):
        lies = False

        def argmax(self, weights: ArrayLike) -> Items:
            return WRONG[wrong] if Liar.lies else super().argmax(weights)  # type: ignore[no-any-return]

    learner, honest = Learner(Liar(), SOLVING[name], seed=2), Learner(Own(), SOLVING[name], seed=2)
    for _ in range(5):
        for one in (learner, honest):
            one.tell(one.ask().id, [0.25, 0.5])
    Liar.lies = True
    for available in (None, [0, 1, 2]):
        with pytest.raises((errors.InfeasibleSolution, errors.OracleFailed)):
            learner.ask(available=available)
    Liar.lies = False
    assert (learner.round, learner.outstanding) == (5, [])
    for one in (learner, honest):
        one.ask()
    assert learner.outstanding[0].items.tolist() == honest.outstanding[0].items.tolist()


def test_an_oracle_that_fails() -> None:
    class Broken(Own):
        def argmax(self, weights: ArrayLike) -> Items:
            if broken:
                raise ZeroDivisionError("oops")
            return super().argmax(weights)

    def solver(weights: Any) -> list[int]:
        if broken:
            raise ZeroDivisionError("oops")
        return [0, int(np.argmax(weights[1:])) + 1]

    for feasible in (Broken(), sets.Oracle(solver, 6, 2)):
        for policy in SOLVING.values():
            broken = False
            learner = Learner(feasible, policy)
            broken = True
            with pytest.raises(errors.OracleFailed, match="oops") as raised:
                learner.ask()
            assert isinstance(raised.value.__cause__, ZeroDivisionError)
            assert learner.round == 0


# A user's own moves


def _score(state: Any, round: int, key: Any, item: Any, data: Any) -> Any:
    return state[1][item] / (state[0][item] + 1.0) + data[0][0] / sqrt(state[0][item] + 1.0) + 0.1 * uniform(key, item)


def _choose(state: Any, out: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> Any:
    score_items(state, work[2], round, key, data)
    size = best_of(work[2], out, work)
    for i in range(size):
        note[i] = work[2][out[i]]
    return size


def _learn(state: Any, items: Any, x: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> None:
    for i in range(len(items)):
        state[0][items[i]] += 1.0
        state[1][items[i]] += x[i]
    state[2][0] += len(note)


@dataclass(frozen=True)
class Own2(CompiledPolicy):
    """It counts the numbers in its notes: there are none in the initialisation."""

    width: float = 0.5
    init: Any = "optimistic"
    verified: ClassVar[bool] = False

    def start(self, game: Game, feasible: FeasibleSet) -> State:
        return (np.zeros(game.n_items), np.zeros(game.n_items), np.zeros(1, dtype=np.int64))

    def kernels(self, feasible: FeasibleSet) -> PolicyKernels:
        return PolicyKernels(_choose, _learn, (np.array([self.width]),), note="chosen", score=_score, solves=True)


def test_a_users_moves_live() -> None:
    learner = Learner(sets.TopK(6, 2), Own2(init="all"), seed=1)
    for _ in range(10):
        learner.tell(learner.ask().id, [0.5, 0.25])
    counts, sums, noted = learner._agent.state  # type: ignore[union-attr]
    assert (counts.sum(), sums.sum(), noted[0]) == (20.0, 7.5, 14)  # three rounds of initialisation
    np.testing.assert_array_equal(learner.counts, counts)


@pytest.mark.parametrize("init", [long("optimistic"), long("all")])
def test_a_users_moves_are_compiled(init: str) -> None:
    problem = Problem(sets.TopK(6, 2), environments.Bernoulli([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]))
    options: Any = {"horizon": 60, "runs": 3, "seed": 1, "record": "solutions"}
    fast = simulate(problem, Own2(init=init), engine="compiled", **options)
    plain = simulate(problem, Own2(init=init), engine="plain", threads=1, **options)
    assert fast.engine == "compiled"
    np.testing.assert_array_equal(fast.solutions, plain.solutions)  # type: ignore[arg-type]
    np.testing.assert_array_equal(fast.regret, plain.regret)


def test_the_roster_is_whole() -> None:
    public = [getattr(policies, name) for name in policies.__all__]
    moved = {kind for kind in public if isinstance(kind, type) and issubclass(kind, CompiledPolicy)}
    assert moved == {type(make(5)) for make in LIVE.values()}
    assert {name for name, make in LIVE.items() if make(5).feedback == "bandit"} == set(BANDIT) & set(LIVE)


class Alternating(policies.FPL):
    """Its own `choose` stands in the class that has kernels, too."""

    def kernels(self, feasible: FeasibleSet) -> PolicyKernels:
        return super().kernels(feasible)

    def choose(self, state: Any, feasible: FeasibleSet, round: int, key: int) -> Any:
        return (np.array([3, 4]), np.zeros(2)) if round % 2 == 0 else super().choose(state, feasible, round, key)


def test_methods_of_ones_own_are_asked_not_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = Learner(sets.TopK(5, 2), Alternating(eta=0.1), seed=0)
    chosen = []
    for _ in range(6):
        decision = learner.ask()
        chosen.append(decision.items.tolist())
        learner.tell(decision.id, [1.0, 0.0])
    assert chosen[1::2] == [[3, 4]] * 3
    problem = Problem(sets.TopK(5, 2), environments.Bernoulli([0.9, 0.9, 0.5, 0.1, 0.1]))
    for engine in ("plain", "auto"):
        played = simulate(
            problem, Alternating(eta=0.1), horizon=40, runs=1, seed=0, engine=engine, threads=1, record="solutions"
        )
        assert (played.solutions[0, 0, 1::2] == [3, 4]).all()
    later = Learner(sets.TopK(5, 2), policies.FPL(eta=0.1), seed=0)
    later.tell(later.ask().id, [1.0, 0.0])
    monkeypatch.setattr(policies.FPL, "choose", lambda *_: (np.array([1, 2]), np.zeros(2)))
    assert later.ask().items.tolist() == [1, 2]
