"""Listing all solutions of a set, and searching those that are too many."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semibandits import environments, sets
from semibandits.oracle import all_solutions
from semibandits.problem import Problem
from semibandits.theory.graves_lai import constant as graves_lai
from semibandits.theory.graves_lai import search
from semibandits.theory.graves_lai.constant import graves_lai_constant
from semibandits.theory.graves_lai.listed import Listed
from semibandits.types import Weights
from support.families import FAMILIES


def assignment(means: Weights) -> Problem:
    side = round(means.size**0.5)
    return Problem(sets.Assignment(side, side), environments.Bernoulli(means))


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=8)
@given(data=st.data())
def test_every_solution_is_listed_once(family: str, data: st.DataObject) -> None:
    feasible, solutions = data.draw(FAMILIES[family])
    if feasible.ratio < 1.0:
        return
    listed = all_solutions(feasible, 10_000)
    assert listed is not None
    assert sorted({tuple(one.tolist()) for one in listed}) == sorted(set(solutions))
    if not isinstance(feasible, sets.Enumerated):
        assert len(listed) == len(set(solutions))
        assert all_solutions(feasible, len(listed)) is not None
        assert len(listed) == 1 or all_solutions(feasible, len(listed) - 1) is None


def test_an_exhausted_search_leaves_the_bracket_open_but_right(monkeypatch: pytest.MonkeyPatch) -> None:
    means = np.random.default_rng(3).uniform(size=36)
    problem = assignment(means)
    lower, upper = graves_lai_constant(problem, max_solutions=720)
    assert upper <= lower * (1 + 1e-6)
    closed = graves_lai_constant(problem, max_solutions=10)
    assert closed.upper <= closed.lower * (1 + 1e-6)
    assert max(lower, closed.lower) <= min(upper, closed.upper)
    widths = []
    for effort, splits in [(50, 200), (300, 200), (50_000, 0)]:
        monkeypatch.setattr(search, "SPLITS", splits)
        spent = graves_lai_constant(problem, max_solutions=10, max_calls=effort)
        assert spent.lower <= upper
        assert lower <= spent.upper
        widths.append(spent.upper - spent.lower)
    assert widths[0] > widths[1] > 1e-3
    monkeypatch.setattr(graves_lai, "ROUNDS", 2)
    rough = graves_lai_constant(problem, max_solutions=720)
    assert rough.lower < lower < upper < rough.upper < np.inf


@pytest.mark.parametrize(("splits", "etas"), [(200, 12), (0, 12), (3, 2), (0, 1)])
def test_a_search_never_overrates_the_least_information(
    splits: int, etas: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "SPLITS", splits)
    monkeypatch.setattr(search, "ETAS", etas)
    rng = np.random.default_rng(7)
    below = 0
    for _ in range(10):
        problem = assignment(rng.uniform(size=25))
        setting = graves_lai._setting(problem, problem.means)
        listed = all_solutions(problem.feasible, 120)
        assert listed is not None
        t = np.append(rng.exponential(size=setting.items.size) ** 4, 1.0)
        least = Listed(listed, setting).least(t).bound
        found = search.Searched(problem.feasible, setting, 1e-6, 50_000).least(t)
        assert found.bound <= least * (1 + 1e-9)
        below += found.bound < least * (1 - 1e-6)
    assert (below == 0) == (splits == 200)
