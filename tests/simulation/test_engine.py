"""One definition: the learner, the plain loop and machine code make the same decisions, bit for bit."""

import re
from typing import Any, ClassVar

import numpy as np
import pytest

from semibandits import Problem, environments, errors, policies, problems, sets, simulate
from semibandits.kernel import where
from semibandits.rng import uniform
from semibandits.simulation.engines import base
from semibandits.simulation.engines.lanes_engine import LanesEngine
from semibandits.simulation.engines.watch import Fault
from semibandits.simulation.schedule import play_with
from semibandits.simulation.task import Outcome
from semibandits.types import Clock, IndexPolicy, Params, Scalar, Stats
from support.measured import below_every_bound
from support.tasks import agree_everywhere, chosen, learned, long, policy, same, task
from support.worlds import PROBLEMS, Sum, Window, Wobbling

ALIKE = {
    "K-path",
    "beta",
    "knapsack",
    "assignment",
    "resampled",
    "cheapest tree",
    "forests",
    "families",
    "at most k",
    "paths of few hops",
    "undirected paths",
    "optional assignment costs",
    "knapsack with groups",
    "greedy knapsack with groups",
    "product of lists",
    "product of a kind",
    "product of all kinds",
    "b-matching",
    "groups",
    "directed paths",
    "rewards",
    "user's draw",
    "gaussian",
    "costs",
    "spanning forest",
    "greedy knapsack",
    "user's set",
}
"""Problems whose machine code is played by others too, or is much like another's."""


@pytest.mark.parametrize("name", [long(name) if name in ALIKE else name for name in PROBLEMS])
def test_engine_learner_and_plain_loop_agree(name: str) -> None:
    one = task(PROBLEMS[name])
    fast = LanesEngine(one).play(0, 3)
    assert fast is not None
    same(fast, play_with(None, one, 0, 3))
    if not one.problem.environment.hindsight:  # bounds are for laws
        exact = one.problem.feasible.ratio == 1.0
        assert (below_every_bound(one.problem, one.checkpoints, fast.regret) > 0) is exact
    for seed in (7, 8, 9):
        again = task(PROBLEMS[name], seed=seed)
        outcome = LanesEngine(again).play(0, 1)
        assert outcome is not None
        assert chosen(outcome) == learned(again)


@pytest.mark.parametrize(
    "name",
    ["crooked graph", long("large top-k"), long("grid"), long("small top-k"), long("enumerated"), long("user's set")],
)
def test_without_the_lane_pipeline_too(name: str) -> None:
    one = task(PROBLEMS[name])
    slow, fast = LanesEngine(one, pipeline=False).play(0, 3), LanesEngine(one).play(0, 3)
    assert slow is not None
    assert fast is not None
    same(slow, fast)


@pytest.mark.parametrize(
    ("policy", "name"),
    [
        long(Wobbling(), "crooked graph"),
        long(Wobbling(), "enumerated"),
        long(Sum(), "small top-k"),
        long(Wobbling(), "large top-k"),
        long(Sum(), "crooked graph"),
        long(Sum(), "large top-k"),
        long(Wobbling(), "small top-k"),
        long(Wobbling(), "user's draw"),
        long(Sum(), "enumerated"),
        long(Sum(), "user's draw"),
    ],
    ids=repr,
)
def test_users_policies_compile_as_they_are(policy: IndexPolicy, name: str) -> None:
    agree_everywhere(task(PROBLEMS[name], policy), runs=3)


@pytest.mark.parametrize("init", ["optimistic", long("all")])
def test_other_beginnings(init: Any) -> None:
    one = task(PROBLEMS["crooked graph"], policies.CombUCB1(init=init), kind="realised")
    fast = LanesEngine(one).play(0, 2)
    assert fast is not None
    same(fast, play_with(None, one, 0, 2))


@pytest.mark.parametrize("name", ["crooked graph", long("grid"), long("K-path"), long("costs"), long("beta")])
def test_realised_regret(name: str) -> None:
    one = task(PROBLEMS[name], kind="realised", horizon=500)
    fast = LanesEngine(one).play(0, 2)
    assert fast is not None
    same(fast, play_with(None, one, 0, 2))


@pytest.mark.long
def test_block_size_and_place_in_it_change_nothing() -> None:
    one = task(PROBLEMS["grid"], horizon=300)
    wide = LanesEngine(one).play(0, 32)
    assert wide is not None
    for first, runs in ((0, 8), (5, 1), (24, 8)):
        narrow = LanesEngine(one, lanes=8).play(first, runs)
        assert narrow is not None
        same(narrow, Outcome.of({name: array[first : first + runs] for name, array in wide.arrays().items()}))
    later = LanesEngine(one).play(13, 2)
    assert later is not None
    same(later, Outcome.of({name: array[13:15] for name, array in wide.arrays().items()}))


def test_dead_ends_are_ignored_alike() -> None:
    graph = sets.DagPaths([(0, 1), (1, 3), (0, 2), (2, 3), (1, 4), (0, 3)], source=0, target=3)  # (1, 4) is on no path
    one = task(Problem(graph, environments.Bernoulli([0.5] * 6)), horizon=500)
    fast = LanesEngine(one).play(0, 2)
    assert fast is not None
    same(fast, play_with(None, one, 0, 2))
    with pytest.raises(errors.UncoveredItems, match="item 4"):
        LanesEngine(one._replace(uncovered="error"))


@pytest.mark.parametrize("horizon", [1, 3, 8, 9])
def test_horizons_inside_init(horizon: int) -> None:
    problem = Problem(sets.TopK(9, 1), environments.Bernoulli(np.linspace(0.1, 0.9, 9)))
    one = task(problem, horizon=horizon)
    fast = LanesEngine(one).play(0, 2)
    assert fast is not None
    same(fast, play_with(None, one, 0, 2))


class Late(Sum):
    """Scores that stop being finite, for one item, after a while."""

    init: ClassVar[Any] = "all"  # type: ignore[misc]
    last: ClassVar[float] = float("nan")

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        return (round - 150.0,)

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        return s[1] / (s[0] + 1.0) + ((item == 1) & (c[0] > 0.0)) * 1e308 * 10.0


@pytest.mark.filterwarnings("ignore:(overflow|invalid):RuntimeWarning")
@pytest.mark.parametrize(
    "name",
    ["grid", long("user's set"), long("large top-k"), long("enumerated"), long("small top-k"), long("crooked graph")],
)
def test_scores_that_are_not_finite(name: str) -> None:
    with pytest.raises(errors.BadWeights, match=r"run \d+, round \d+: weights must be finite, got .* for item 1"):
        simulate(PROBLEMS[name], Late(), horizon=300, runs=40, seed=0, engine="compiled")


class Huge(Sum):
    """Finite scores whose sums are not."""

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        return 1e308 * (s[1] / (s[0] + 1.0))


@pytest.mark.parametrize("name", ["grid", long("enumerated")])
def test_sums_beyond_the_largest_number(name: str) -> None:
    one = task(PROBLEMS[name], Huge(), horizon=200)
    assert LanesEngine(one).play(0, 32) is None
    result = simulate(PROBLEMS[name], Huge(), horizon=200, runs=2, seed=7, engine="compiled", record="counts")
    plain = simulate(PROBLEMS[name], Huge(), horizon=200, runs=2, seed=7, engine="plain", record="counts")
    np.testing.assert_array_equal(result.counts, plain.counts)  # type: ignore[arg-type]


class Careless(Window):
    """A compiled oracle that answers nonsense must not harm anybody."""

    @staticmethod
    def best_window(w: Any, out: Any, data: Any, numbers: Any, integers: Any) -> int:
        integers[0] += 1
        out[0] = 10**12 if data[0][0] == 1 else 2
        out[1] = 1
        return 7 if data[0][0] == 3 else 2


@pytest.mark.parametrize("width", [2, 3])
def test_a_compiled_oracle_is_not_trusted(width: int) -> None:
    problem = Problem(Careless(8, width), environments.Bernoulli(np.linspace(0.1, 0.9, 8)))
    one = task(problem, horizon=50)
    with pytest.raises(errors.InfeasibleSolution, match=r"run 0, round \d: best_window\(\) of Careless.* differ"):
        play_with(LanesEngine(one), one, 0, 1)


class Remembering(Window):
    """Counts its calls in the run's own work space: every tenth answer is empty."""

    @staticmethod
    def best_window(w: Any, out: Any, data: Any, numbers: Any, integers: Any) -> int:
        integers[0] += 1
        numbers[0] += w[0]
        if integers[0] % 10 == 0:
            return 0
        out[0], out[1] = integers[0] % 7, integers[0] % 7 + 1
        return 2


def test_the_work_space_is_each_runs_own_and_lasts() -> None:
    problem = Problem(Remembering(8, 2), environments.Bernoulli([0.5] * 8))
    outcome = LanesEngine(task(problem, horizon=64)).play(0, 2)
    assert outcome is not None
    assert outcome.solutions is not None
    begun = 4  # rounds of Init
    for run in range(2):
        for call, row in enumerate(outcome.solutions[run, begun:].tolist(), start=1):
            assert row == ([-1, -1] if call % 10 == 0 else [call % 7, call % 7 + 1])


@pytest.mark.long
@pytest.mark.usefixtures("compiled_anew")
def test_nothing_is_allocated_in_machine_code() -> None:
    for name in ("grid", "large top-k", "user's set"):
        engine = LanesEngine(task(PROBLEMS[name], policy()))
        engine.prepare()
        (llvm,) = engine._code.inspect_llvm().values()  # type: ignore[attr-defined]
        assert "define" in llvm
        assert not re.search(r"NRT_(MemInfo_alloc|Allocate|Reallocate)", llvm)


def test_compiled_code_is_shared_between_problems_of_a_kind() -> None:
    engines = [LanesEngine(task(problems.grid_path(m, 0.3))) for m in (2, 5)]
    assert engines[0].bindings == engines[1].bindings
    assert LanesEngine(task(PROBLEMS["crooked graph"])).bindings != engines[0].bindings


def test_a_restricted_graph_knows_that_its_paths_are_short() -> None:
    graph = sets.DagPaths([(0, 2), (0, 1), (1, 2), (0, 2)], 0, 2).restrict(exclude=[1])
    assert graph.max_size == 2
    assert graph.solver().variable_size
    one = task(Problem(graph, environments.Bernoulli([0.5] * 4)), horizon=300)
    fast = LanesEngine(one).play(0, 2)
    assert fast is not None
    same(fast, play_with(None, one, 0, 2))


class Overrun(Window):
    @staticmethod
    def best_window(w: Any, out: Any, data: Any, numbers: Any, integers: Any) -> int:
        for k in range(w.size):
            out[k] = -1
        return w.size


@pytest.mark.long
def test_an_oracle_may_write_too_far() -> None:
    one = task(Problem(Overrun(500, 2), environments.Bernoulli([0.5] * 500)), horizon=300)
    fault = LanesEngine(one).play(0, 1)
    assert isinstance(fault, Fault)
    assert "raised IndexError" in fault.what


def test_a_long_record_in_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    one = task(PROBLEMS["grid"], horizon=300)
    whole = LanesEngine(one).play(0, 3)
    monkeypatch.setattr(base, "TRACE_CELLS", 32 * 6 * 7)  # seven rounds at a time
    pieces = LanesEngine(one).play(0, 3)
    assert whole is not None
    assert pieces is not None
    same(pieces, whole)


def test_where_in_a_random_clock() -> None:
    greedy = policy(random=True, clock=coin_of_the_round, score=sometimes)
    one = task(PROBLEMS["small top-k"], greedy, horizon=500)
    fast = LanesEngine(one).play(0, 2)
    assert fast is not None
    same(fast, play_with(None, one, 0, 2))


def coin_of_the_round(round: int, key: int, p: Params) -> Clock:
    return (where(uniform(key, 1000) < 0.2, 1.0, 0.0),)


def sometimes(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
    return s[1] / (s[0] + 1.0) + c[0] * uniform(key, item)


def _overdue(round: int, key: int, p: Params) -> Clock:
    return (min(1.0 / (round - 60), 0.5),)


@pytest.mark.long
def test_a_clock_that_divides_by_zero() -> None:
    """In plain code it is called with single numbers, and raises."""
    for engine in ("compiled", "plain"):
        with pytest.raises(ZeroDivisionError) as caught:
            simulate(PROBLEMS["grid"], policy(clock=_overdue), horizon=80, runs=2, seed=0, engine=engine)  # type: ignore[arg-type]
        assert caught.value.__notes__ == ["in run 0, round 60"]
