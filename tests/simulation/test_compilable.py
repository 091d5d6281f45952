"""What may be compiled, and what is said where it may not."""

import math
from math import exp
from typing import Any

import numpy as np
import pytest

from semibandits import Problem, environments, errors, sets, simulate
from semibandits.simulation.engines.compilable import NotCompilable
from semibandits.simulation.engines.lanes_engine import LanesEngine
from semibandits.types import Clock, Params, Scalar, Stats
from support.tasks import mean, policy, task, ucb
from support.worlds import PROBLEMS, Steps, Sum


class Pythonic(Sum):
    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        return s[1] + 0.0 * (s[1] @ s[1])


class OddTopK(sets.TopK):
    """A subclass that decides otherwise, and knows nothing of compilers."""

    def argmax(self, weights: Any) -> Any:
        return np.arange(self.k)


class OddCoins(environments.Bernoulli):
    def weights(self, round: int, key: Any, items: Any = None) -> Any:
        return 1.0 - super().weights(round, key, items)


def test_what_cannot_be_compiled_is_played_plainly_and_says_why() -> None:
    coins = environments.Bernoulli([0.2, 0.5, 0.9])
    cases = [
        (Problem(sets.TopK(3, 1), coins), Pythonic(), "cannot be compiled"),
        (Problem(OddTopK(3, 1), coins), ucb, "has no oracle for the compiler"),
        (Problem(sets.TopK(3, 1), OddCoins([0.2, 0.5, 0.9])), ucb, "draws its weights in Python"),
        (Problem(sets.TopK(3, 1), environments.Custom(lambda g: g.random(3), [0.5] * 3)), ucb, "in Python"),
        (Problem(sets.Oracle(lambda w: [int(w.argmax())], 3, 1), coins), ucb, "no oracle for the compiler"),
    ]
    for problem, one, says in cases:
        result = simulate(problem, one, horizon=1001, runs=2, seed=0, uncovered="ignore")
        assert result.engine.startswith("plain loop: ")
        assert says in result.engine
        with pytest.raises(errors.Unsupported, match=says):
            simulate(problem, one, horizon=10, runs=1, seed=0, engine="compiled")
    odd = simulate(cases[1][0], ucb, horizon=1001, runs=2, seed=0, uncovered="ignore", record="counts")
    assert odd.counts is not None
    assert odd.counts[0, 0].tolist() == [1001, 0, 0]


def test_the_engine_is_named() -> None:
    few = simulate(PROBLEMS["grid"], ucb, horizon=100, runs=20, seed=0)
    assert few.engine == "plain loop: 2,000 rounds are too few to compile for, in one process"
    more = simulate(PROBLEMS["grid"], ucb, horizon=100, runs=21, seed=0)
    assert more.engine == "compiled"
    np.testing.assert_array_equal(few.regret, more.regret[:, :20])
    mixed = simulate(PROBLEMS["small top-k"], [ucb, Pythonic()], horizon=1001, runs=2, seed=0)
    assert "CombUCB1(alpha=1.5, init='paper'): compiled; Pythonic(" in mixed.engine
    assert "plain loop: it cannot be compiled" in mixed.engine


@pytest.mark.long
def test_only_formulas_with_the_same_bits_are_compiled() -> None:
    def engine(**changes: Any) -> str:
        return simulate(PROBLEMS["small top-k"], policy(**changes), horizon=700, runs=3, seed=0).engine

    assert engine(score=mean) == "compiled"
    assert engine(score=lambda s, c, key, item, p: np.sqrt(s[1]) + math.pi + s[0] ** 2) == "compiled"
    assert engine(random=True, clock=lambda round, key, p: ()) == "compiled"
    for says, changes in {
        "uses numpy.exp, which is not in semibandits.kernel": {"score": lambda s, c, key, item, p: np.exp(-s[1])},
        "uses a power: write products": {"clock": lambda round, key, p: (float(round) ** -3,)},
        "uses exp, which is not": {"clock": lambda round, key, p: (exp(-round),)},
        "must give floats": {"random": True, "clock": lambda round, key, p: (key,)},
        "do not agree on the first rounds": {"score": lambda s, c, key, item, p: s[1] + (item - 3) * 1e-3},
    }.items():
        assert says in engine(**changes)


def test_what_the_plain_loop_refuses_is_refused() -> None:
    long = policy(observe=lambda s, x, round, key, item, p: (s[0] + 1.0, s[1] + x, 3.0))
    with pytest.raises(ValueError, match="longer") as caught:
        simulate(PROBLEMS["small top-k"], long, horizon=1000, runs=3, seed=0)
    assert caught.value.__notes__ == ["in run 0, round 1"]


def late(round: int, key: int, p: Params) -> Clock:
    if round == 57:
        raise ValueError("no such hour")
    return (0.0,)


def test_exceptions_in_machine_code_name_run_and_round() -> None:
    with pytest.raises(ValueError, match="no such hour") as caught:
        simulate(PROBLEMS["small top-k"], policy(clock=late), horizon=1000, runs=3, seed=0, threads=1)
    assert caught.value.__notes__ == ["in run 0, round 57"]


def test_overrides_on_the_object_count() -> None:
    one = sets.TopK(6, 2)
    one.argmax = lambda weights: np.array([0, 1])  # type: ignore[method-assign]
    with pytest.raises(NotCompilable, match="no oracle"):
        LanesEngine(task(Problem(one, environments.Bernoulli([0.5] * 6))))
    mine = policy()
    mine.score = mean  # type: ignore[method-assign]
    with pytest.raises(NotCompilable, match=r"a score\(\) of its own"):
        LanesEngine(task(PROBLEMS["small top-k"], mine))
    world = Steps([0.5] * 9)
    world.tables = (world.means.astype(np.float32), world.tables[1])
    with pytest.raises(NotCompilable, match="table of float32"):
        LanesEngine(task(Problem(sets.TopK(9, 3), world)))
