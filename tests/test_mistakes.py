"""What newcomers type: what is welcome though it is not the usual way, and what is said where it cannot work."""

import inspect
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import pandas as pd
import polars as pl
import pytest

import semibandits as sb
from semibandits import environments, policies, problems, sets, theory
from semibandits._util.suggestions import explained

USED = (np, pd, pl, problems, replace, theory)
"""By what is typed below."""


def cautious(costs: Any) -> list[int]:
    """A solver that takes no costs below 0."""
    if (costs < 0.0).any():
        raise ValueError("Contradictory paths found: negative weights?")
    return [0]


@pytest.fixture
def names() -> dict[str, Any]:
    slate = sets.TopK(4, 2)
    clicks = environments.Bernoulli([0.1, 0.9, 0.2, 0.8])
    problem = sb.Problem(slate, clicks)
    learner = sb.Learner(slate, "CombUCB1", seed=7)
    result = sb.simulate(problem, policies.CombUCB1(), horizon=50, runs=2, seed=0, threads=1)
    named = sb.Learner(slate, seed=7, labels=["a", "b", "c", "d"])
    found = {"slate": slate, "clicks": clicks, "problem": problem, "learner": learner, "decision": learner.ask()}
    return globals() | found | {"named": named, "result": result}


MISTAKES = [
    # names that the field has and we have not
    ("policies.UCB1", "no attribute 'UCB1': did you mean 'CombUCB1'?"),
    ("policies.CUCB", "did you mean 'CombUCB1'?"),
    ("policies.ThompsonSampling", "did you mean 'PooledCTS' or 'CTS'?"),
    ("policies.combucb1", "did you mean 'CombUCB1'?"),
    ("policies.KLUCB1", "did you mean 'KLUCB'?"),
    ("policies.Greedy", "did you mean 'EpsilonGreedy'?"),
    ("policies.EpsGreedy", "did you mean 'EpsilonGreedy'?"),
    ("policies.Exp3", "did you mean 'OSMD'?"),
    ("policies.LinTS", "did you mean 'CombLinTS'?"),
    ("policies.Quux", "no attribute 'Quux'; there are BGCTS, CLSG,"),
    ("sets.TopN", "did you mean 'TopK'?"),
    ("sets.SpanningTree", "did you mean 'GraphicMatroid'?"),
    ("sets.Matching", "did you mean 'Assignment'?"),
    ("sets.ShortestPath", "did you mean 'Paths' or 'DagPaths'?"),
    ("sets.ILP", "did you mean 'MILP'?"),
    ("sets.Solver", "did you mean 'Oracle'?"),
    ("environments.Normal", "did you mean 'Gaussian'?"),
    ("environments.Coins", "did you mean 'Bernoulli'?"),
    ("environments.Replay", "did you mean 'Table'?"),
    ("problems.gridpath", "did you mean 'grid_path'?"),
    ("theory.bound", "did you mean 'bounds'?"),
    ("sb.TopK", "did you mean 'sets.TopK'?"),
    ("sb.CombUCB1", "did you mean 'policies.CombUCB1'?"),
    ("sb.UCB1", "did you mean 'policies.CombUCB1'?"),
    ("sb.Bernoulli", "did you mean 'environments.Bernoulli'?"),
    ("sb.grid_path", "did you mean 'problems.grid_path'?"),
    ("sb.recommend", "did you mean 'policies.recommend'?"),
    ("sb.learner", "did you mean 'Learner'?"),
    ("sb.ask()", "did you mean 'Learner.ask'?"),
    ("sb.plot(result)", "did you mean 'SimulationResult.plot'?"),
    ("learner.predict()", "'Learner' object has no attribute 'predict': did you mean 'ask'?"),
    ("learner.select_arm()", "did you mean 'ask'?"),
    ("learner.update(decision.id, [1, 0])", "did you mean 'tell'?"),
    ("learner.fit([0], [1])", "did you mean 'observe'?"),
    ("result.mean()", "'SimulationResult' object has no attribute 'mean': did you mean 'summary'?"),
    ("result.regrets", "did you mean 'regret'?"),
    ("learner.pending", "did you mean 'outstanding'?"),
    ("learner.dump('state.json')", "did you mean 'save'?"),
    ("learner.reset()", "no attribute 'reset'; there are ask, best,"),
    ("decision.arms", "'Decision' object has no attribute 'arms': did you mean 'items'?"),
    ("problem.optimal", "'Problem' object has no attribute 'optimal': did you mean 'optimum'?"),
    ("problem.gaps", "did you mean 'item_gaps'?"),
    ("result.mean_regret", "did you mean 'summary'?"),
    ("result.to_csv('regret.csv')", "did you mean 'to_frame'?"),
    ("result.summary().to_csv()", "'Summary' object has no attribute 'to_csv'; there are"),
    ("clicks.world(seed=7).pull(0)", "'World' object has no attribute 'pull': did you mean 'weights'?"),
    ("sb.run('experiment.toml')", "did you mean 'simulate'?"),
    ("sets.Combinations(4, 2)", "did you mean 'TopK'?"),
    ("theory.upper_bound", "did you mean 'bounds'?"),
    ("policies.OptimisticMatroidMaximization", "did you mean 'OMM'?"),
    # words in the wrong place
    ("policies.CombUCB1(alfa=0.5)", "CombUCB1() has no parameter 'alfa': did you mean 'alpha'?"),
    ("policies.CTS(a=1)", "CTS() has no parameter 'a'; it has no parameters"),
    ("policies.SlidingWindow()", "SlidingWindow() needs 'window': SlidingWindow(window, ...)"),
    ("sets.TopK(n=4, k=2)", "TopK() has no parameter 'n': did you mean 'n_items'?"),
    ("sets.TopK(4)", "TopK() needs 'k': TopK(n_items, k, ...)"),
    ("sets.TopK(2, 4)", "k must be at most n_items=2, got 4"),
    ("environments.Bernoulli(probs=[0.1, 0.2])", "Bernoulli() has no parameter 'probs': did you mean 'means'?"),
    ("problems.grid_path(m=4)", "grid_path() needs 'sigma': grid_path(m, sigma)"),
    ("sb.Problem(slate)", "Problem() needs 'environment': Problem(feasible, environment, ...)"),
    ("sb.Learner(slate, objective='min')", "Learner() has no parameter 'objective': did you mean 'sense'?"),
    ("sb.Learner(slate, random_state=7)", "did you mean 'seed'?"),
    ("sb.simulate(problem, 'CTS', 1000, 10)", "write simulate(problem, policies, horizon=1000, runs=10)"),
    (
        "sb.simulate(problem, 'CTS', horizon=1000)",
        "needs 'runs': simulate(problem, policies, horizon=..., runs=..., ...)",
    ),
    ("sb.simulate(problem, 'CTS', T=1000, runs=10)", "simulate() has no parameter 'T': did you mean 'horizon'?"),
    ("sb.simulate(problem, 'CTS', horizon=9, n_runs=2)", "did you mean 'runs'?"),
    ("sb.simulate(problem, 'CTS', horizon=9, runs=2, n_jobs=4)", "did you mean 'threads'?"),
    ("theory.bounds(problem)", "bounds() needs 'horizons': bounds(problem, horizons)"),
    ("theory.bounds(problem, horizon=1000)", "bounds() has no parameter 'horizon': did you mean 'horizons'?"),
    ("policies.recommend(problem, T=100)", "recommend() has no parameter 'T': did you mean 'horizon'?"),
    ("sets.Paths([(0, 1)], source=0, sink=1)", "Paths() has no parameter 'sink': did you mean 'target'?"),
    ("sets.Knapsack(weights=[1, 2], capacity=2)", "Knapsack() has no parameter 'weights': did you mean 'costs'?"),
    ("result.summary().to_latex('table.tex')", "write to_latex(caption='table.tex')"),
    ("result.plot(loc='best')", "plot() has no parameter 'loc': did you mean 'legend'?"),
    ("result.plot(bound=True)", "plot() has no parameter 'bound': did you mean 'bounds'?"),
    ("result.plot(True, 0.9)", "plot() takes one value without its name, got 2: write plot(bounds, confidence=0.9)"),
    # things in the wrong place
    ("sb.Learner(policies.CTS(), slate)", "got CTS(): the set comes first"),
    ("sb.Learner(problem)", "sense='max'): give its set, .feasible"),
    ("sb.Learner(sets.TopK)", "one that is made is wanted, TopK(...), not the class"),
    ("sb.Learner(cautious)", "a solver is wrapped, sets.Oracle(solver, n_items, max_size)"),
    ("sb.Learner(slate, policies.CombUCB1)", "an instance is wanted, CombUCB1(), not the class"),
    ("sb.Learner(slate, 'cts')", "no policy is called 'cts': did you mean 'CTS'?"),
    ("sb.Learner(slate, 'UCB1')", "no policy is called 'UCB1': did you mean 'CombUCB1'?"),
    ("sb.Learner(slate, 'CombUCB1(alpha=2)')", "given by its name alone, or as policies.CombUCB1(...)"),
    (
        "sb.Learner(slate, 'SlidingWindow')",
        "'SlidingWindow' is not made by its name alone: SlidingWindow() needs 'window'",
    ),
    ("sb.Learner(slate, sense='minimize')", "sense must be 'max' or 'min', got 'minimize'"),
    ("sb.Learner(slate, bounds=1.0)", "bounds must be a pair (lo, hi) of numbers"),
    ("sb.Problem(clicks, slate)", "got Bernoulli(4 items): the set comes first"),
    ("sb.Problem(slate, slate)", "the set comes first, then the environment"),
    ("sb.Problem(slate, [0.1, 0.9])", "rates of clicks, say, make one, environments.Bernoulli([...])"),
    ("sb.simulate('CTS', problem, horizon=9, runs=2)", "problem must be a Problem, got 'CTS'"),
    ("sb.simulate(policies.CTS(), problem, horizon=9, runs=2)", "got CTS(): the problem comes first"),
    ("sb.simulate(slate, 'CTS', horizon=9, runs=2)", "make one, Problem(feasible, environment)"),
    ("sb.simulate(problem, [], horizon=9, runs=2)", "policies must be one or more policies in a list, got []"),
    ("sb.simulate(problem, {'CTS': policies.KLUCB()}, horizon=9, runs=2)", "policies in a list, got {'CTS': KLUCB("),
    ("sb.simulate(problem, {'CTS', 'KLUCB'}, horizon=9, runs=2)", "policies must be one or more policies in a list"),
    ("sb.simulate(problem, 'CTS', horizon=9.5, runs=2)", "horizon must be an integer >= 1, got 9.5"),
    ("sb.simulate(problem, 'CTS', horizon='9', runs=2)", "horizon must be an integer >= 1, got '9'"),
    ("learner.tell([1, 0])", "missing 1 required positional argument: 'weights'"),
    ("sb.Learner.load('state.json')", "load() needs 'feasible': load(path, feasible, ...)"),
    ("sb.Learner.load('state.json', slate, sense='min')", "load() has no parameter 'sense'"),
    ("learner.observe([0, 1], {0: 0.9, 1: 0.2})", "a mapping has its items: give it alone, observe({0: 0.9, 1: 0.2})"),
    ("named.observe({'a', 'b'}, [0.9, 0.2])", "items and weights are aligned, and a set has no order"),
    ("result.compare('CombUCB1')", "compare() needs 'b': compare(a, b, ...)"),
    ("result.plot('regret.png')", "plot() writes no file: result.plot().figure.savefig('regret.png') does"),
    ("result.save('regret.csv')", "save() writes Parquet, to be loaded again, got 'regret.csv'"),
    ("sb.Learner(slate, 'CombUCB1:alpha=2')", "or as policies.CombUCB1(...); got 'CombUCB1:alpha=2'"),
    ("sb.Learner('CombUCB1', slate)", "got 'CombUCB1': the set comes first"),
    ("learner.tell(decision.items, [1, 0])", "expected a decision or its id, a string, got array("),
    ("learner.tell(decision, 1.0)", "expected 2 weights in the order of the items, got 1.0"),
    ("learner.tell(decision, [True, 0.5])", "got a truth value among them: [True, 0.5]"),
    ("learner.tell(decision, [1.0, 2.0])", "weights must be within the bounds (0.0, 1.0), got 2.0 for item"),
    ("learner.tell(decision, ['1', '0'])", "weights must be numbers, got ['1', '0']"),
    ("named.observe(['a', 'e'], [1, 0])", "no item has the label 'e'"),
    ("named.observe(['A'], [1])", "no item has the label 'A': did you mean 'a'?"),
    ("named.observe({('a', 'b'): 1})", "no item ('a', 'b'): items are 0 to 3, or labels, such as 'a'"),
    ("learner.tell(replace(decision, items=decision.items[::-1]), [1, 0])", "tell their weights by name, as a mapping"),
    ("clicks.world(seed=7).weights([0, 1])", "expected a decision, or the number of a round, got [0, 1]"),
    ("clicks.world(seed=7).weights(0)", "round must be an integer >= 1, got 0"),
    # structures and solvers
    ("slate.restrict(exclude={0: False, 1: True})", "items must be distinct integers, got {0: False, 1: True}"),
    ("sets.Oracle(lambda weights: {0: 1, 1: 0}, n_items=4, max_size=2).argmax([1, 1, 1, 1])", "got {0: 1, 1: 0}"),
    ("sets.Oracle(minimise=cautious, n_items=4)", "Oracle() needs 'max_size', the number of items of the largest"),
    ("sets.Oracle(lambda weights: weights > 0, 4, 2).argmax([1, 1, 0, 0])", "of a mask, np.flatnonzero(mask) are the"),
    ("sets.Oracle(lambda weights: ['a'], 4, 2).argmax([1, 1, 0, 0])", "items are told by their numbers, from 0 on"),
    ("sets.Oracle(maximise=cautious, n_items=4, max_size=1)", "did you mean 'function'?"),
    ("sets.DagPaths([(0, 1), (1, 2), (2, 0), (2, 3)], 0, 3)", "1 -> 2 -> 0 -> 1. sets.Paths takes any graph"),
    ("sets.Oracle(minimise=cautious, n_items=4, max_size=1).argmax([1, 1, 1, 1])", "takes none, say signed=False"),
    (
        "sets.Oracle(lambda weights: cautious(-weights), n_items=4, max_size=1).argmax([1, 1, 1, 1])",
        "Weights are of either sign: if it makes costs of them and takes none below 0, say signed=False",
    ),
]


@pytest.mark.parametrize(("typed", "said"), MISTAKES, ids=[typed for typed, _ in MISTAKES])
def test_what_is_said(names: dict[str, Any], typed: str, said: str) -> None:
    with pytest.raises((AttributeError, TypeError, sb.SemiBanditError)) as caught:
        eval(typed, names)
    assert said in str(caught.value)


WELCOME = [
    ("learner.tell(decision, [1, 0])", 2),
    ("learner.tell(decision.id, [True, False])", 2),
    ("learner.tell(replace(decision, items=decision.items[::-1]), {item: 1 for item in decision.items})", 2),
    ("result.plot(labels={policies.CombUCB1: 'ours'}).get_lines()[0].get_label()", "ours"),
    ("learner.tell(decision, np.array([True, False]))", 2),
    ("learner.tell(decision, {item: True for item in decision.items})", 2),
    ("learner.tell(decision, pd.Series([True, False], index=decision.items))", 2),
    ("learner.tell(decision, pd.Series([True, False], index=decision.items, dtype=object))", 2),
    ("learner.tell(decision, np.array([True, False], dtype=object))", 2),
    ("learner.cancel(decision)", None),
    ("len(learner.expire(0, weight=True))", 1),
    ("theory.explain(problem, 1e5).horizon", 100_000),
    ("learner.observe([0, 1], [True, False])", None),
    ("learner.observe(pd.Series([0, 1, 1]), pd.Series([True, False, True]))", None),
    ("learner.observe(pd.Series([0, 1, 1]), pd.Series([True, False, True], dtype='boolean'))", None),
    ("learner.observe(pl.Series([0, 1, 1]), pl.Series([True, False, True]))", None),
    ("named.observe(pd.Series(['a', 'b']), pd.Series([True, False]))", None),
    ("repr(sb.Learner(slate, 'CTS').policy)", "CTS()"),
    ("repr(policies.EpsilonGreedy(epsilon=0))", "EpsilonGreedy(epsilon=0.0, decay=0.0, init='all')"),
    ("sb.simulate(problem, 'CTS', horizon=1e2, runs=2.0, checkpoints=[1e1]).rounds.tolist()", [10, 100]),
    ("sb.simulate(problem, ['CTS', 'CombUCB1'], horizon=9, runs=2).short_names", ["CTS", "CombUCB1"]),
]


@pytest.mark.parametrize(("typed", "told"), WELCOME, ids=[typed for typed, _ in WELCOME])
def test_what_is_welcome(names: dict[str, Any], typed: str, told: Any) -> None:
    assert eval(typed, names) == told


def test_booleans_are_ones_and_zeros() -> None:
    learner = sb.Learner(sets.TopK(3, 2))
    learner.observe(pd.Series([0, 1, 1], dtype="Int64"), pd.Series([True, False, True], dtype="boolean"))
    learner.observe(np.array([2]), np.array([True], dtype=object))
    assert learner.estimates.tolist() == [1.0, 0.5, 1.0]


def test_a_missing_click_is_not_one() -> None:
    learner = sb.Learner(sets.TopK(3, 2))
    for values in (pd.Series([True, None], dtype="boolean"), np.array([True, None], dtype=object), [True, None]):
        with pytest.raises(sb.errors.BadWeights, match="must be"):
            learner.observe([0, 1], values)
    assert learner.counts.tolist() == [0, 0, 0]


def test_a_seed_that_is_drawn_is_told() -> None:
    problem = sb.Problem(sets.TopK(3, 1), environments.Bernoulli([0.1, 0.5, 0.9]))
    results = [sb.simulate(problem, "CTS", horizon=200, runs=3) for _ in range(2)]
    assert results[0].seed != results[1].seed
    assert f"seed {results[0].seed}" in repr(results[0])
    again = sb.simulate(problem, "CTS", horizon=200, runs=3, seed=results[0].seed)
    assert np.array_equal(again.regret, results[0].regret)


def test_epsilon_0_is_greedy() -> None:
    """After each item was seen once it takes the best averages, whatever the keys."""
    learner = sb.Learner(sets.TopK(4, 2), policies.EpsilonGreedy(epsilon=0), seed=3)
    world = environments.Bernoulli([0.3, 0.5, 0.7, 0.4]).world(seed=3)
    greedy = 0
    for _ in range(200):
        known, best = bool(learner.counts.all()), learner.best().tolist()
        decision = learner.ask()
        if known:
            greedy += 1
            assert decision.items.tolist() == best
        learner.tell(decision, world.weights(decision))
    assert greedy >= 190


def test_what_there_is() -> None:
    public = [name for name in dir(sb) if not name.startswith("__")]
    assert public == sorted(set(sb.__all__))


def test_names_that_python_asks_for_itself() -> None:
    for thing in (sb, policies, sb.Learner(sets.TopK(2, 1))):
        assert not hasattr(thing, "__wrapped__")
        assert not hasattr(thing, "_ipython_canary_method_should_not_exist_")


def test_an_error_inside_is_not_taken_for_a_wrong_call() -> None:
    class Mine(policies.CombUCB1):
        def __init__(self, *sizes: int, extra: int) -> None:
            len(extra)  # type: ignore[arg-type]

    with pytest.raises(TypeError, match="has no len"):
        Mine(1, 2, extra=3)
    with pytest.raises(TypeError, match="has no len"):
        sb.simulate(sb.problems.grid_path(2, 0.4), Faulty(), horizon=10, runs=1, engine="plain")


class Faulty(policies.CTS):
    def params(self, game: Any) -> Any:
        return len(game.n_items)


def test_constructors_stay_what_they_are() -> None:
    """Classes of users' own combine ours with others as ever, whatever metaclass these have."""

    class Closes(Protocol):
        def close(self) -> None: ...

    class Abstract(ABC):
        @abstractmethod
        def close(self) -> None: ...

    for ours in (sb.Learner, sb.Problem, sets.TopK, policies.CTS, environments.Bernoulli):
        for theirs in (Closes, Abstract):
            type("Both", (ours, theirs), {"close": lambda self: None})


def test_a_property_that_fails_says_so() -> None:
    class Mine(sb.Learner):
        @property
        def broken(self) -> int:
            raise AttributeError("its own error")

    with pytest.raises(AttributeError, match="its own error"):
        _ = Mine(sets.TopK(2, 1)).broken


def test_signatures_are_those_of_constructors() -> None:
    assert str(inspect.signature(sets.TopK)).startswith("(n_items: int, k: int")
    assert list(inspect.signature(policies.CombUCB1).parameters) == ["alpha", "init"]
    assert list(inspect.signature(sb.simulate).parameters)[:3] == ["problem", "policies", "horizon"]


@pytest.mark.parametrize(
    ("call", "given", "named", "said"),
    [
        ("a, *b, c", (1, 2, 3), {}, "f() needs 'c': f(a, c=..., ...)"),
        ("*, c=1", (1,), {}, "f() takes no values without their names, got 1: write f(c=1)"),
        ("a, c=1", (1, 2, 3), {}, "f() takes at most 2 values, got 3"),
        ("self, a, *, c", (1, 2), {}, "f() takes one value without its name, got 2: write f(a, c=2)"),
        ("a, **more", (), {"b": 1}, "f() needs 'a': f(a, ...)"),
    ],
)
def test_calls_of_all_kinds(call: str, given: tuple[Any, ...], named: dict[str, Any], said: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def f({call}): pass", scope)
    first = (None,) if call.startswith("self") else ()
    with pytest.raises(TypeError) as caught:
        explained(scope["f"])(*first, *given, **named)
    assert str(caught.value) == said
