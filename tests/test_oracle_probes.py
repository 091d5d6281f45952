"""A user's solver is tried out before the first round: a forgotten sign is found out, whatever the policy."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from semibandits import Learner, Problem, environments, errors, policies, sets, simulate, theory
from semibandits import oracle as probing
from semibandits.types import FeasibleSet, Items
from support.families import FAMILIES

ROUTES = [[0, 1], [2, 3], [4]]
UNIT, COSTS = probing.Span.of("max", (0.0, 1.0)), probing.Span.of("min", (0.0, 1.0))


def cheapest(costs: Any) -> list[int]:
    return min(ROUTES, key=lambda route: sum(costs[leg] for leg in route))


WRONG = sets.Oracle(cheapest, 5, 2)
EVERY: dict[str, Any] = {
    "CombUCB1": policies.CombUCB1(),
    "optimistic": policies.CombUCB1(init="optimistic"),
    "CTS": policies.CTS(),
    "GaussianCTS": policies.GaussianCTS(),
    "PooledCTS": policies.PooledCTS(),
    "window": policies.SlidingWindow(20),
    "Random": policies.Random(),
    "Fixed": policies.Fixed([4]),
    "FPL": policies.FPL(eta=0.1),
    "ESCB": policies.ESCB(),
    "COMBAND": policies.COMBAND(eta=0.1),
}


@pytest.mark.parametrize("sense", ["max", "min"])
@pytest.mark.parametrize("name", EVERY)
def test_a_minimising_solver_with_its_sign_forgotten(name: str, sense: Any) -> None:
    with pytest.raises(errors.MinimisingOracle, match=r"seems to minimise.*worth.*Oracle\(minimise=solver") as caught:
        Learner(WRONG, EVERY[name], sense=sense)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    "world",
    [environments.Bernoulli(np.full(5, 0.5)), environments.Drifting(np.full((2, 5), 0.5), [1, 9])],
)
def test_simulations_find_it_out_too(world: Any) -> None:
    with pytest.raises(errors.MinimisingOracle):
        simulate(Problem(WRONG, world, "min"), policies.CTS(), horizon=20, runs=1, seed=0)


def test_a_problem_does_not_call_the_worst_solution_its_optimum() -> None:
    problem = Problem(WRONG, environments.Bernoulli([0.1, 0.2, 0.3, 0.4, 0.5]))
    for ask in (
        lambda: problem.optimum,
        lambda: problem.min_gap,
        lambda: problem.gap([4]),
        lambda: theory.bounds(problem, [100]),
    ):
        with pytest.raises(errors.MinimisingOracle):
            ask()


class Backwards(sets.TopK):
    """A subclass with the signs mixed up."""

    def argmax(self, weights: Any) -> Items:
        return super().argmax(-np.asarray(weights))


def patched() -> sets.TopK:
    one = sets.TopK(6, 2)
    one.argmax = lambda weights: sets.TopK(6, 2).argmax(-np.asarray(weights))  # type: ignore[method-assign]
    return one


def subsets(weights: Any) -> Items:
    """Minimises over all subsets: of weights above 0 that is none at all."""
    return np.flatnonzero(weights < 0.0)


def with_a_core(weights: Any) -> list[int]:
    """Item 0 always, and the others where they pay: to a minimiser they never do."""
    return [0, *(np.flatnonzero(weights[1:] < 0.0) + 1).tolist()]


@pytest.mark.parametrize(
    "feasible",
    [
        Backwards(6, 2),
        patched(),
        sets.Product(sets.TopK(3, 1), WRONG),
        sets.Oracle(subsets, 6, 6),
        sets.Oracle(with_a_core, 6, 6),
        sets.Oracle(cheapest, 5, 2, ratio=0.5),
        sets.Oracle(cheapest, 5, 2, signed=False),
    ],
)
def test_every_way_to_have_a_solver_of_one_s_own(feasible: FeasibleSet) -> None:
    with pytest.raises(errors.MinimisingOracle):
        Learner(feasible, policies.CTS(), sense="max" if feasible.signed else "min")


@given(data=st.data(), name=st.sampled_from(sorted(FAMILIES)))
def test_no_right_solver_is_suspected_and_every_reversed_one_is(data: st.DataObject, name: str) -> None:
    feasible, solutions = data.draw(FAMILIES[name])
    assume(feasible.max_size > 0)
    span = UNIT if feasible.signed else COSTS
    wrapped = sets.Oracle(feasible.argmax, feasible.n_items, feasible.max_size, feasible.ratio, signed=feasible.signed)
    probes = probing.probed(wrapped, span)
    if not feasible.signed or feasible.ratio < 1.0:
        return
    reverse = sets.Oracle(lambda w: feasible.argmax(-np.asarray(w)), feasible.n_items, feasible.max_size)
    values = [[sum(probe.weights[list(one)]) for one in solutions] for probe in probes]
    if np.ptp(values, axis=1).max() > 0.1:
        with pytest.raises(errors.MinimisingOracle):
            probing.probed(reverse, span)
    else:
        probing.probed(reverse, span)


@pytest.mark.parametrize("gap", [1e-4, 1e-3])
def test_a_solver_s_accuracy_is_not_held_against_it(gap: float) -> None:
    """Of solutions that are nearly as good as the best it takes the worst, as a search with a gap may."""
    solutions = [list(one) for one in itertools.combinations(range(12), 6)]

    def solver(weights: Any) -> list[int]:
        values = weights[np.array(solutions)].sum(axis=1)
        near = np.flatnonzero(values >= values.max() - gap * abs(values.max()))
        return solutions[near[np.argmin(values[near])]]

    for span in (UNIT, COSTS):
        probing.probed(sets.Oracle(solver, 12, 6), span)


def test_constant_and_single_solutions_are_left_alone() -> None:
    probing.probed(sets.Oracle(lambda weights: [0], 4, 1), UNIT)
    probing.probed(sets.Oracle(lambda weights: [], 4, 1), COSTS)

    def positive(weights: Any) -> list[int]:
        if (weights < 0.0).any():
            raise ValueError("negative weights")
        return [1]

    probing.probed(sets.Oracle(positive, 4, 1), UNIT)


def test_built_in_sets_are_not_asked() -> None:
    for feasible in (sets.TopK(5, 2), sets.GridPaths(3), sets.Assignment(3, 3), sets.TopK(5, 2).restrict(exclude=[0])):
        assert not feasible.foreign
        assert probing.probed(feasible, UNIT) == []


def test_a_slow_solver_is_asked_less(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    oracle = sets.Oracle(lambda weights: asked.append(1) or [int(weights.argmax())], 3, 1)
    monkeypatch.setattr(probing, "SLOW", 0.0)
    monkeypatch.setattr(probing, "QUICK", 0.0)
    few = probing.fingerprint(oracle, UNIT, probing.probed(oracle, UNIT))
    assert len(asked) == len(few) == 2
    monkeypatch.setattr(probing, "QUICK", np.inf)
    monkeypatch.setattr(probing, "SLOW", np.inf)
    many = probing.fingerprint(oracle, UNIT, probing.probed(oracle, UNIT))
    assert (many[:2], len(many)) == (few, 2 * probing.PAIRS + probing.HALVES)


def test_what_a_solver_raises_is_said_at_once() -> None:
    def licence(weights: Any) -> list[int]:
        raise RuntimeError("no licence")

    with pytest.raises(errors.OracleFailed, match="no licence"):
        Learner(sets.Oracle(licence, 3, 1), policies.CTS())


def test_one_that_maximises_given_as_one_that_minimises() -> None:
    with pytest.raises(errors.MinimisingOracle, match=r"a solver that maximises.*as sets.Oracle\(solver, ...\)"):
        Learner(sets.Oracle(minimise=lambda costs: [int(costs.argmax())], n_items=3, max_size=1), policies.CTS())


def dijkstra(costs: Any) -> list[int]:
    if (np.asarray(costs) < 0.0).any():
        raise ValueError("negative weights?")
    return [int(np.argmin(costs))]


def test_a_solver_of_costs_that_takes_none_below_0() -> None:
    wrong = sets.Oracle(dijkstra, 3, 1, signed=False)
    with pytest.raises(errors.OracleFailed, match=r"weights\?.*one that takes costs >= 0 is given as minimise="):
        Learner(wrong, policies.CombUCB1(), sense="min")
    half = Learner(sets.Oracle(minimise=dijkstra, n_items=3, max_size=1), policies.CombUCB1(), sense="min")
    with pytest.raises(errors.OracleFailed, match=r"It was handed costs below 0: if it takes none, say signed=False"):
        half.ask()
    right = Learner(sets.Oracle(minimise=dijkstra, n_items=3, max_size=1, signed=False), policies.CTS(), sense="min")
    for _ in range(60):
        decision = right.ask()
        right.tell(decision.id, [[0.5, 0.1, 0.9][decision.items[0]]])
    assert right.best().tolist() == [1]


def only(low: float, high: float) -> Any:
    """A solver that takes weights of its user's own range, and raises where others come."""

    def solver(weights: Any) -> Items:
        if (weights < low).any() or (weights > high).any():
            raise ValueError(f"weights must be from {low} to {high}")
        return np.argsort(-weights, kind="stable")[:2]

    return solver


@pytest.mark.parametrize(
    ("sense", "bounds", "low", "high"),
    [
        ("max", (-1.0, 0.0), -1.0, 0.0),
        ("min", (-1.0, 0.0), 0.0, 1.0),
        ("max", (100.0, 101.0), 100.0, 101.0),
        ("min", (2.0, 120.0), -120.0, -2.0),
    ],
)
def test_solvers_are_asked_within_the_bounds(sense: Any, bounds: Any, low: float, high: float) -> None:
    right = sets.Oracle(only(low, high), 4, 2)
    Learner(right, policies.CTS(), sense=sense, bounds=bounds)
    middle = 0.5 * (bounds[0] + bounds[1])
    assert Problem(right, environments.Table([[middle] * 4], bounds), sense).optimum.size == 2
    wrong = sets.Oracle(lambda weights: only(-np.inf, np.inf)(-weights), 4, 2)
    with pytest.raises(errors.MinimisingOracle):
        Learner(wrong, policies.CTS(), sense=sense, bounds=bounds)
