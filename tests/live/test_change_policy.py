"""A learner that goes on with another policy."""

from pathlib import Path

import numpy as np
import pytest

from semibandits import Learner, errors, policies
from support.operated import TOP, TOTALS, everything


def told(learner: Learner, rounds: int, seed: int = 0) -> None:
    """Clicks, so that no policy draws anything when it learns."""
    generator = np.random.default_rng(seed)
    for round in range(rounds):
        decision = learner.ask()
        clicks = generator.random(decision.items.size) < 0.5
        if round % 5:
            learner.tell(decision.id, clicks)
    learner.observe([0, 1, 1], [1.0, 0.0, 1.0])
    learner.observe(counts=[5, 0, 0, 0, 0, 0], sums=[2, 0, 0, 0, 0, 0])


@pytest.mark.parametrize("name", TOTALS)
def test_another_policy_takes_over_what_was_told(name: str, tmp_path: Path) -> None:
    """It decides as one that was told the counts and sums from the first."""
    learner, policy = Learner(TOP, policies.CombUCB1(init="all"), seed=2), TOTALS[name]
    told(learner, 12)
    waiting = [one.id for one in learner.outstanding]
    totals = learner._updates.tally.totals()
    learner.change_policy(policy)
    assert learner.policy == policy
    assert [one.id for one in learner.outstanding] == waiting
    fresh = Learner(TOP, policy, seed=2)
    fresh._updates.round = 12
    fresh.observe(counts=totals.counts, sums=totals.sums, squares=totals.squares)
    assert learner.counts.tolist() == totals.counts.tolist()
    np.testing.assert_array_equal(learner._agent.stats, fresh._agent.stats)
    learner.save(tmp_path / "learner.json")
    loaded = Learner.load(tmp_path / "learner.json", TOP)
    assert learner.ask().items.tolist() == fresh.ask().items.tolist() == loaded.ask().items.tolist()
    for one in (learner, loaded):
        assert one.tell(waiting[0], [1.0, 0.0]) == 2
    assert learner.counts.tolist() == loaded.counts.tolist()
    assert learner._updates.tally.totals().counts.sum() == totals.counts.sum() + 2


def test_there_and_back(tmp_path: Path) -> None:
    """What the first policy knew is not lost while another is at work, saved and loaded in between."""
    learner = Learner(TOP, policies.CombUCB1(init="all"), seed=2)
    told(learner, 30)
    expected = learner._agent.stats[:2].copy()
    learner.change_policy(policies.ESCB())
    learner.save(tmp_path / "learner.json")
    learner = Learner.load(tmp_path / "learner.json", TOP)
    learner.change_policy(policies.PooledCTS(discount=0.5))
    for _ in range(5):
        learner.ask()
    learner.change_policy(policies.CombUCB1(init="all"))
    np.testing.assert_array_equal(learner._agent.stats[:2], expected)


def test_a_policy_that_cannot_take_over() -> None:
    learner = Learner(TOP, policies.CombUCB1(), seed=2)
    learner.change_policy(policies.OLSUCB())  # nothing was told yet
    learner.change_policy(policies.CombUCB1())
    told(learner, 10)
    before = everything(learner)
    for policy, cause, message in (
        (policies.OLSUCB(), errors.Unsupported, "must see every observation"),
        (policies.SlidingWindow(4), errors.Unsupported, "forgets by rounds"),
        (policies.COMBAND(eta=0.1, gamma=0.1), errors.SemiBanditError, "sum"),
        (policies.CMOSS(), errors.BadArgument, "horizon"),
        ("UCB", errors.BadArgument, "no policy is called 'UCB'"),
        (policies.CTS, errors.BadArgument, "policy"),
    ):
        with pytest.raises(cause, match=message):
            learner.change_policy(policy)  # type: ignore[arg-type]
        assert everything(learner) == before, policy
    bandit = Learner(TOP, feedback="bandit", seed=0)
    bandit.tell(bandit.ask().id, 1.0)
    with pytest.raises(errors.Unsupported, match="sums cannot be handed to another policy"):
        bandit.change_policy(policies.OFUL())


def test_notes_of_another_policy() -> None:
    """A policy that needs a note of its own counts what others decided, and learns nothing else from it."""
    learner = Learner(TOP, policies.CombUCB1(), seed=2)
    waiting = learner.ask()
    learner.change_policy(policies.OSMD(eta=0.1))
    before = [array.copy() for array in learner._agent.state]  # type: ignore[attr-defined]
    assert learner.tell(waiting.id, [1.0, 0.5]) == 2
    assert learner.counts[waiting.items].tolist() == [1, 1]
    for one, other in zip(before, learner._agent.state, strict=True):  # type: ignore[attr-defined]
        np.testing.assert_array_equal(one, other)


def test_the_initialisation_goes_on_under_another_policy() -> None:
    learner = Learner(TOP, policies.CombUCB1(), seed=2)
    first = learner.ask()
    learner.change_policy(policies.KLUCB())
    seen = {*first.items.tolist(), *learner.ask().items.tolist(), *learner.ask().items.tolist()}
    assert seen == set(range(6))
