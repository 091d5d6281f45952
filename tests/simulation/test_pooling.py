"""Policies whose items learn from each other: machine code, the plain loop and live learners do the same."""

from typing import Any

import numpy as np
import pytest

from semibandits import Learner, Problem, environments, errors, policies, sets, simulate
from semibandits.simulation.engines.compilable import NotCompilable
from semibandits.simulation.engines.lanes_engine import LanesEngine
from semibandits.simulation.schedule import engine_of, play_with
from semibandits.testing import check_policy
from semibandits.types import Clock, Game, IndexPolicy, Params, Stats
from support import changing
from support.pooling import Leaning, PooledUCB
from support.tasks import agree_everywhere, long, same, task
from support.worlds import PROBLEMS

SMALL = PROBLEMS["small top-k"]
USERS = {"none drawn": PooledUCB(), "a window": PooledUCB(width=0.3, window=20), "drawn": Leaning()}


def changed(base: type[IndexPolicy] = PooledUCB, **functions: Any) -> Any:
    """A user's pooling policy with some functions replaced."""
    replaced = {name: staticmethod(one) if callable(one) else one for name, one in functions.items()}
    return type("Changed", (base,), {"__eq__": object.__eq__, "__hash__": object.__hash__, **replaced})()


def alike(policy: IndexPolicy, problem: Problem = SMALL, **options: Any) -> Any:
    """The result of both engines, which must be the same."""
    options = {"horizon": 150, "runs": 3, "seed": 5, "record": "counts", **options}
    fast = simulate(problem, policy, engine="compiled", **options)
    plain = simulate(problem, policy, engine="plain", threads=1, **options)
    np.testing.assert_array_equal(fast.regret, plain.regret)
    np.testing.assert_array_equal(fast.counts, plain.counts)
    return fast


@pytest.mark.parametrize(
    ("policy", "name"),
    [
        *((policy, "small top-k") for policy in USERS),
        *(long(policy, name) for policy in USERS for name in PROBLEMS if name != "small top-k"),
    ],
)
def test_policies_of_ones_own_agree_everywhere(policy: str, name: str) -> None:
    agree_everywhere(task(PROBLEMS[name], USERS[policy], horizon=200), runs=5)


@pytest.mark.parametrize("policy", USERS)
def test_items_whose_weight_is_known_are_left_out_everywhere(policy: str) -> None:
    low = np.linspace(0.1, 0.6, 8)
    span = 0.3 * (np.arange(8) % 3 > 0)
    world = environments.Uniform(low, low + span, bounds=(low, low + span))
    agree_everywhere(task(Problem(sets.TopK(8, 3), world), USERS[policy], horizon=200), runs=5)


@pytest.mark.parametrize("policy", USERS.values(), ids=repr)
def test_policies_of_ones_own_pass_the_check(policy: IndexPolicy) -> None:
    check_policy(policy)


@pytest.mark.parametrize(
    "policy", [policies.PooledCTS(window=30), long(policies.PooledCTS(discount=0.9)), *map(long, USERS.values())]
)
def test_a_world_that_changes(policy: IndexPolicy) -> None:
    one = task(changing.game(60), policy, horizon=150, kind="dynamic")
    fast = engine_of(one).play(0, 4)
    assert fast is not None
    same(fast, play_with(None, one, 0, 4))


def test_every_run_has_a_clock_of_its_own() -> None:
    """A policy that draws nothing: what the items have in common is another number in every run."""
    together = alike(USERS["none drawn"], runs=40, horizon=60)
    alone = simulate(SMALL, USERS["none drawn"], horizon=60, runs=1, seed=5, record="counts")
    np.testing.assert_array_equal(alone.counts[0, 0], together.counts[0, 0])  # type: ignore[index]
    assert len({tuple(row) for row in together.counts[0].tolist()}) > 10


@pytest.mark.parametrize("policy", [policies.PooledCTS(), USERS["none drawn"]], ids=repr)
def test_threads_and_widths_change_nothing(policy: IndexPolicy) -> None:
    options: dict[str, Any] = {"horizon": 150, "seed": 5, "record": "counts", "engine": "compiled"}
    whole = simulate(SMALL, policy, runs=70, threads=1, **options)
    for runs, threads in ((70, 2), (33, 2), (1, 1)):
        part = simulate(SMALL, policy, runs=runs, threads=threads, **options)
        np.testing.assert_array_equal(part.regret, whole.regret[:, :runs])


def one_item_counts(s: Stats, round: int, p: Params) -> Stats:
    return (s[0], 0.01 * s[1])


def test_a_share_patched_on_the_object_is_played_by_the_plain_loop() -> None:
    mine, as_class = changed(), changed(share=one_item_counts)
    mine.share = one_item_counts
    with pytest.raises(NotCompilable, match=r"has a share\(\) of its own"):
        LanesEngine(task(SMALL, mine))
    plain = [play_with(None, task(SMALL, one, horizon=100), 0, 2) for one in (mine, as_class, changed())]
    same(plain[0], plain[1])
    assert not np.array_equal(plain[0].solutions, plain[2].solutions)  # type: ignore[arg-type]
    alike(as_class)


def counted(s: Stats, round: int, p: Params) -> Stats:
    return (1, round)


def whole(totals: Stats, c: Clock, p: Params) -> Clock:
    return (c[0], 1e-3 * totals[0] + 1e-4 * totals[1])


@pytest.mark.parametrize(
    "functions",
    [
        {"share": counted, "pooled": whole},
        long({"share": lambda s, round, p: (s[0], s[1], s[0], 1, s[2], s[1], 2.0)}),
        long({"pooled": lambda totals, c, p: (c[0], 0.1 * totals[0], c[0])}),
        long({"share": lambda s, round, p: (), "pooled": lambda totals, c, p: (c[0], 0.3)}),
    ],
    ids=["whole numbers, the same for all items", "more than are used", "a longer clock", "nothing"],
)
def test_odd_but_sound(functions: Any) -> None:
    alike(changed(**functions))


@pytest.mark.parametrize("kind", ["learner", "plain", "compiled"])
@pytest.mark.parametrize(
    "answer", [lambda s, round, p: s[0], lambda s, round, p: [s[0], s[1]], lambda s, round, p: None]
)
def test_what_is_no_tuple_is_refused(kind: Any, answer: Any) -> None:
    """An array would else be taken for as many numbers as there are items."""
    mine = changed(share=answer)
    with pytest.raises(errors.BadArgument, match=r"share\(\) of .* must return a tuple of numbers, got"):
        Learner(SMALL.feasible, mine) if kind == "learner" else simulate(
            SMALL, mine, horizon=100, runs=2, seed=0, engine=kind
        )


def late(s: Stats, round: int, p: Params) -> Stats:
    if round == 57:
        raise ValueError("no such hour")
    return (s[0], s[1])


def of_the_hour(s: Stats, round: int, p: Params) -> Stats:
    return (s[0], s[1] * p[2][50 - abs(round - 50)])  # type: ignore[index]


def hours(policy: IndexPolicy, game: Game) -> Any:
    return (1.0, 2.0, np.ones(50))


@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_a_share_that_raises(engine: Any) -> None:
    mine = changed(share=of_the_hour)
    type(mine).params = hours
    with pytest.raises(IndexError) as caught:
        simulate(SMALL, mine, horizon=100, runs=2, seed=0, engine=engine, threads=1)
    assert caught.value.__notes__ == ["in run 0, round 50"]


def test_an_exception_of_share_names_run_and_round() -> None:
    with pytest.raises(ValueError, match="no such hour") as caught:
        simulate(SMALL, changed(share=late), horizon=1000, runs=2, seed=0, threads=1)
    assert caught.value.__notes__ == ["in run 0, round 57"]


@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_a_division_by_zero_of_pooled(engine: Any) -> None:
    """Also where infinity would be forgotten at once."""
    mine = changed(
        clock=lambda round, key, p: (1.0 * round,),
        pooled=lambda totals, c, p: (totals[0], 1.0 / (1.0 + 1.0 / abs(c[0] - 30.0))),
    )
    with pytest.raises(ZeroDivisionError) as caught:
        simulate(SMALL, mine, horizon=60, runs=2, seed=0, engine=engine, threads=1)
    assert caught.value.__notes__ == ["in run 0, round 30"]


def test_a_learner_survives_a_share_that_raises() -> None:
    learner = Learner(SMALL.feasible, changed(share=late), bounds=SMALL.bounds)
    for _ in range(56):
        learner.tell(learner.ask().id, [0.5] * SMALL.max_size)
    before = learner.counts.tolist()
    for _ in range(2):
        with pytest.raises(ValueError, match="no such hour"):
            learner.ask()
    assert (learner.round, learner.counts.tolist(), learner.outstanding) == (56, before, [])


def grows(s: Stats, round: int, p: Params) -> Stats:
    return (s[0], s[1]) if round < 30 else (s[0], s[1], s[0])


def test_what_does_not_compile_is_played_by_the_plain_loop() -> None:
    for function, says in ((grows, "it cannot be compiled"), (lambda s, round, p: (np.exp(s[0]), s[1]), "numpy.exp")):
        with pytest.raises(errors.Unsupported, match=says):
            simulate(SMALL, changed(share=function), horizon=60, runs=2, seed=0, engine="compiled")


@pytest.mark.parametrize(
    ("functions", "says"),
    [
        ({"share": lambda s, round, p: s[0]}, "share must return a tuple of numbers, got array"),
        ({"share": lambda s, round, p: ()}, r"share must return a tuple of numbers, got \(\)"),
        ({"share": lambda s, round, p: (s[0],)}, "pooled cannot be called"),
        ({"share": lambda s, round, p: (np.exp(s[0]), s[1])}, "share would not give the same bits"),
        ({"share": lambda s, round, p: (s[0].sum(), s[1])}, "cannot be called one item at a time"),
        ({"pooled": lambda totals, c, p: (c[0], 1)}, r"pooled must give floats, got \(0\.0, 1\)"),
        ({"pooled": lambda totals, c, p: (c[0], totals[0] + 1e308 * 10.0)}, "must be finite"),
        ({"pooled": lambda totals, c, p: (c[0], totals[0] ** 0.3)}, "pooled would not give the same bits"),
    ],
)
def test_the_check_finds_wrong_pooling(functions: Any, says: str) -> None:
    with pytest.raises(errors.ConformanceError, match=says):
        check_policy(changed(**functions))


@pytest.mark.parametrize("missing", ["share", "pooled"])
def test_half_of_pooling_is_refused(missing: str) -> None:
    half = type("Half", (policies.PooledCTS,), {missing: getattr(IndexPolicy, missing)})
    with pytest.raises(errors.Unsupported, match=r"needs both share\(\) and pooled\(\), or neither"):
        Learner(SMALL.feasible, half())
    with pytest.raises(errors.ConformanceError, match="share and pooled need each other"):
        check_policy(half())
