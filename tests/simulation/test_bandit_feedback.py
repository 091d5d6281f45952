"""Where nothing but the sum over the chosen items is seen: live, and in simulations."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semibandits import Learner, Problem, environments, errors, policies, rng, sets, simulate
from semibandits.types import Policy
from support.tasks import agree_everywhere, chosen, learned, long, task
from support.wide import BANDIT, LIVE, TUNED, WIDE_PROBLEMS, Lottery, Sums
from support.worlds import CROOKED, LISTED

TOP = sets.TopK(5, 2)
LIVING = [name for name in LIVE if name in BANDIT]


def bandit(policy: Policy | None = None, feasible: Any = TOP, **settings: Any) -> Learner:
    return Learner(feasible, policy or policies.OFUL(), feedback="bandit", seed=4, **settings)


def known(learner: Learner) -> list[Any]:
    state = learner._agent.state  # type: ignore[union-attr]
    waiting = [one.id for one in learner.outstanding]
    return [learner.round, waiting, learner.counts.tolist(), [array.tolist() for array in state]]


# Live


@pytest.mark.parametrize(
    ("sense", "bounds"), [("max", (0.0, 1.0)), ("min", (0.0, 1.0)), ("max", (2.0, 5.0)), ("min", (-3.0, 5.0))]
)
def test_the_sum_is_on_the_scale_of_x(sense: Any, bounds: tuple[float, float]) -> None:
    """Of so many items: their bounds are added up too, whatever the size of the solution."""
    lo, hi = bounds
    told: list[tuple[int, float]] = []

    class Spy(Sums):
        def learn(self, state: Any, feasible: Any, round: int, items: Any, weights: Any, note: Any, key: int) -> Any:
            assert key == rng.key(4, 0, round, rng.FEEDBACK)
            told.append((items.size, float(weights[0])))
            return super().learn(state, feasible, round, items, weights, note, key)

    learner = bandit(Spy(), LISTED, sense=sense, bounds=bounds)
    generator = np.random.default_rng(0)
    worth = {}
    for _ in range(6):
        decision = learner.ask()
        weights = generator.uniform(lo, hi, decision.items.size)
        assert learner.tell(decision.id, float(weights.sum())) == 1
        x = (weights - lo) / (hi - lo) if sense == "max" else (hi - weights) / (hi - lo)
        assert told[-1] == (decision.items.size, pytest.approx(x.sum(), abs=1e-12))
        worth[tuple(decision.items.tolist())] = float(weights.sum())
    best = (max if sense == "max" else min)(worth, key=lambda one: worth[one])
    assert learner.ask().items.tolist() == list(best)  # sizes from 0 to 3 were compared rightly
    assert learner.counts.tolist() == [0] * 6  # of items nothing was seen
    assert np.isnan(learner.estimates).all()
    np.testing.assert_array_equal(learner.intervals(), [[lo, hi]] * 6)


@pytest.mark.parametrize("name", LIVING)
@pytest.mark.parametrize(("sense", "bounds"), [("max", (0.0, 1.0)), ("min", (2.0, 5.0))])
def test_a_policy_learns_the_same_from_the_sum_and_from_the_items(name: str, sense: Any, bounds: Any) -> None:
    for feasible in (TOP, CROOKED):
        policy = LIVE[name](feasible.n_items)
        by_sum = bandit(policy, feasible, sense=sense, bounds=bounds)
        by_item = Learner(feasible, policy, seed=4, sense=sense, bounds=bounds)
        generator = np.random.default_rng(1)
        for _ in range(25):
            one, other = by_sum.ask(), by_item.ask()
            assert one.items.tolist() == other.items.tolist()
            steps = generator.integers(0, 9, one.items.size) / 8.0  # so that sums are exact, or nearly
            weights = bounds[0] + (bounds[1] - bounds[0]) * steps
            by_sum.tell(one.id, float(weights.sum()))
            assert by_item.tell(other.id, weights) == one.items.size
        for a, b in zip(known(by_sum)[3], known(by_item)[3], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
        assert by_item.counts.sum() > 0
        assert by_sum.counts.sum() == 0


@pytest.mark.parametrize(
    "wrong",
    [
        [1.0, 0.5],
        [1.0],
        (),
        {},
        {0: 1.0},
        "1.0",
        None,
        True,
        np.True_,
        np.array([True]),
        np.array([0.5, 0.5]),
        np.ma.masked_array([1.0], mask=[True]),
        1j,
        math.nan,
        math.inf,
        -math.inf,
        2.001,
        -0.001,
        10**400,
        10**5000,
        -(10**5000),
        np.array(["1"]),
        b"1",
    ],
    ids=lambda value: "a huge number" if isinstance(value, int) and abs(value) > 9 else repr(value),
)
def test_what_is_not_the_sum_is_refused(wrong: Any) -> None:
    learner = bandit()
    decision = learner.ask()
    before = known(learner)
    with pytest.raises(errors.BadWeights, match=r"got|masked"):
        learner.tell(decision.id, wrong)
    assert known(learner) == before
    assert learner.tell(decision.id, 1.0) == 1


@pytest.mark.parametrize("sum", [1, 0, 2, 1.5, np.float32(0.5), np.int8(1), np.array(1.5), np.array([0.25])])
def test_what_is_one_number(sum: Any) -> None:
    learner = bandit()
    assert learner.tell(learner.ask().id, sum) == 1


@given(
    st.floats(-10.0, 10.0),
    st.floats(0.1, 10.0),
    st.integers(1, 6),
    st.floats(0.0, 1.0),
    st.sampled_from(["max", "min"]),
)
def test_sums_at_and_beyond_their_bounds(lo: float, width: float, size: int, at: float, sense: Any) -> None:
    """What rounding makes of adding up the bounds is no error; what is clearly beyond them is."""
    hi = lo + width
    feasible = sets.TopK(6, size)
    learner = bandit(policies.LinUCB(), feasible, bounds=(lo, hi), sense=sense)
    for value in (lo, hi, lo + at * (hi - lo)):
        value = min(max(value, lo), hi)
        summed = 0.0
        for _ in range(size):
            summed += value
        assert learner.tell(learner.ask().id, summed) == 1
    for beyond in (size * lo - 0.01 * width, size * hi + 0.01 * width):
        decision = learner.ask()
        with pytest.raises(errors.BadWeights, match=f"the sum of {size} weights must be from"):
            learner.tell(decision.id, beyond)


def test_again_late_and_otherwise() -> None:
    learner = bandit(policies.COMBAND(eta=0.1))
    first, second, third = (learner.ask() for _ in range(3))
    assert learner.tell(third.id, 1.25) == 1
    before = known(learner)
    assert learner.tell(third.id, 1.25) == 0
    with pytest.raises(errors.ContradictingFeedback, match=r"already has the sum 1\.25, got 1\.0"):
        learner.tell(third.id, 1.0)
    assert known(learner) == before
    learner.cancel(second.id)
    with pytest.raises(errors.UnknownDecision, match="cancelled"):
        learner.tell(second.id, 1.0)
    with pytest.raises(errors.UnknownDecision):
        learner.tell("nobody-9", 1.0)
    assert learner.tell(first.id, 0.5) == 1
    assert learner.outstanding == []
    single = bandit(feasible=sets.TopK(4, 1))
    decision = single.ask()
    assert (single.tell(decision.id, 0.5), single.tell(decision.id, 0.5)) == (1, 0)
    with pytest.raises(errors.ContradictingFeedback):
        single.tell(decision.id, 0.25)


def test_an_empty_solution_is_worth_nothing() -> None:
    learner = bandit(Sums(), LISTED)
    while (decision := learner.ask()).items.size:
        learner.tell(decision.id, 0.5)
    for wrong in (0.01, -0.01):
        with pytest.raises(errors.BadWeights, match="the sum of 0 weights must be from"):
            learner.tell(decision.id, wrong)
    assert (learner.tell(decision.id, 0), learner.tell(decision.id, 0.0)) == (1, 0)
    assert learner.outstanding == []


def test_nothing_is_observed_of_items() -> None:
    learner = bandit()
    with pytest.raises(errors.Unsupported, match="is about weights of items, and this learner has feedback='bandit'"):
        learner.observe([0], [0.5])
    semi = Learner(TOP, policies.OFUL())
    with pytest.raises(errors.Unsupported, match="sums over its own decisions"):
        semi.observe([0], [0.5])
    decision = semi.ask()
    with pytest.raises(errors.BadWeights, match="learns from the sum of all 2 weights, got 1 of them"):
        semi.tell(decision.id, {int(decision.items[0]): 0.5})
    assert (semi.counts.sum(), [one.id for one in semi.outstanding]) == (0, [decision.id])
    assert semi.tell(decision.id, {int(item): 0.5 for item in decision.items}) == 2
    assert semi.counts.sum() == 2


@pytest.mark.parametrize(("sense", "bounds"), [("max", (0.0, 1.0)), ("min", (2.0, 5.0))])
def test_the_best_by_what_the_sums_tell(sense: Any, bounds: tuple[float, float]) -> None:
    lo, hi = bounds
    means = lo + (hi - lo) * np.array([0.9, 0.1, 0.5, 0.7, 0.3])
    for policy in (policies.OFUL(), policies.LinUCB()):
        learner = bandit(policy, sense=sense, bounds=bounds)
        for round in range(60):
            decision = learner.ask(available=np.roll(np.arange(5), round)[:3])
            learner.tell(decision.id, float(means[decision.items].sum()))
        np.testing.assert_allclose(learner.estimates, means, atol=0.1 * (hi - lo))
        assert learner.best().tolist() == ([0, 3] if sense == "max" else [1, 4])
    for other in (policies.COMBAND(eta=0.1), Sums()):
        with pytest.raises(errors.Unsupported, match="no estimates of items"):
            bandit(other).best()
    assert Learner(TOP, policies.COMBAND(eta=0.1)).best().size == 2


ITEMS = [policies.CombUCB1(), policies.CTS(), Lottery()]
ITEMS += [make(5) for name, make in LIVE.items() if name not in BANDIT]


@pytest.mark.parametrize("policy", ITEMS, ids=lambda policy: repr(policy)[:40])
def test_policies_that_must_see_items_are_refused(policy: Any) -> None:
    says = "must see the weight of every chosen item.*use OFUL, LinUCB or COMBAND"
    with pytest.raises(errors.Unsupported, match=says):
        Learner(TOP, policy, feedback="bandit")
    problem = Problem(TOP, environments.Bernoulli([0.1, 0.2, 0.3, 0.4, 0.5]))
    with pytest.raises(errors.Unsupported, match=says):
        simulate(problem, [policies.OFUL(), policy], horizon=5, runs=1, seed=0, feedback="bandit")
    for wrong in ("full", None, True, ["bandit"]):
        with pytest.raises(errors.BadArgument, match="feedback must be 'semi' or 'bandit', got"):
            Learner(TOP, policy, feedback=wrong)  # type: ignore[arg-type]
        with pytest.raises(errors.BadArgument, match="feedback must be"):
            simulate(problem, policy, horizon=5, runs=1, seed=0, feedback=wrong)  # type: ignore[arg-type]


# Simulations

SOON = (("OFUL", "costs"),)
PAIRS = [(policy, name) for policy in (*LIVING, "COMBAND tuned") for name in WIDE_PROBLEMS]


@pytest.mark.parametrize(("policy", "name"), [pair if pair in SOON else long(*pair) for pair in PAIRS])
def test_all_three_decide_alike(policy: str, name: str) -> None:
    problem = WIDE_PROBLEMS[name]
    one = TUNED[policy] if policy in TUNED else LIVE[policy](problem.n_items)
    agree_everywhere(task(problem, one, horizon=120, feedback="bandit"), runs=2)


@pytest.mark.parametrize("name", WIDE_PROBLEMS)
def test_a_learner_with_the_same_seed_is_run_0(name: str) -> None:
    """In both kinds of feedback, by the plain loop; a user's policy too."""
    from semibandits.simulation.schedule import play_with

    problem = WIDE_PROBLEMS[name]
    for feedback in ("semi", "bandit"):
        for policy in (policies.OFUL(), policies.COMBAND(eta=0.05), Sums()):
            one = task(problem, policy, horizon=30, feedback=feedback)
            assert chosen(play_with(None, one, 0, 1)) == learned(one)


def test_sums_are_given_beside_items() -> None:
    """With "semi" too; where sums are exact nothing differs, but for what rounding does."""
    problem = Problem(TOP, environments.Bernoulli([0.1, 0.2, 0.3, 0.4, 0.5]))
    options: Any = {"horizon": 200, "runs": 3, "seed": 2, "record": "solutions"}
    entrants = [policies.OFUL(), policies.COMBAND(), policies.LinUCB()]
    semi = simulate(problem, [*entrants, policies.CombUCB1()], feedback="semi", engine="plain", **options)
    only = simulate(problem, entrants, feedback="bandit", engine="plain", **options)
    np.testing.assert_array_equal(semi.regret[:3], only.regret)
    np.testing.assert_array_equal(semi.solutions[:3], only.solutions)  # type: ignore[index]
    assert (semi.provenance["feedback"], only.provenance["feedback"]) == ("semi", "bandit")


def test_no_more_than_the_sum_is_shown() -> None:
    """Two worlds with other weights but the same sums are not told apart."""
    rows = np.random.default_rng(0).integers(0, 9, (60, 4)) / 8.0
    pairs = sets.Enumerated([[0, 1], [2, 3]])
    turned = rows[:, [1, 0, 3, 2]]
    results = [
        simulate(
            Problem(pairs, environments.Adversarial(table), sense="min"),
            [policies.OFUL(), policies.COMBAND(), policies.LinUCB()],
            horizon=60,
            runs=2,
            seed=1,
            feedback="bandit",
            record="solutions",
        )
        for table in (rows, turned)
    ]
    np.testing.assert_array_equal(results[0].solutions, results[1].solutions)  # type: ignore[arg-type]
    np.testing.assert_allclose(results[0].regret, results[1].regret, atol=1e-12)


def test_sums_are_enough_to_learn() -> None:
    """Costs in [2, 5]: the best solution has one item, which x alone, of which two items have more, would not tell."""
    means = np.array([2.2, 2.4, 3.0, 2.4, 4.9, 2.2])
    feasible = sets.Enumerated([[0, 3], [2, 5], [1], [4], [0, 2, 5], [3, 5]])
    problem = Problem(feasible, environments.Uniform(means - 0.1, means + 0.1, bounds=(2.0, 5.0)), sense="min")
    result = simulate(
        problem,
        [policies.LinUCB(alpha=0.1), Sums()],
        horizon=120,
        runs=3,
        seed=0,
        feedback="bandit",
        record="solutions",
        checkpoints=[100, 120],
    )
    assert problem.optimum.tolist() == [1]
    assert result.solutions is not None
    assert (result.solutions[..., -20:, 0] == 1).all()
    np.testing.assert_array_equal(result.regret[..., 0], result.regret[..., 1])
