"""Parameters of policies: what is refused, in which words, and what is taken."""

import itertools
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from semibandits import Learner, errors, sets
from semibandits.policies import CMOSS, KLUCB, OMM, UCBV, EpsilonGreedy, ExploreThenCommit
from semibandits.types import IndexPolicy

NOT_NUMBERS = [
    "1.5",
    "",
    True,
    False,
    [1.0],
    (1,),
    {},
    1j,
    math.nan,
    math.inf,
    -math.inf,
    np.float64(math.nan),
    np.bool_(True),
]
NEGATIVE = [-1, -1e-9, -1.5, np.float64(-2.0)]

Maker = Callable[[Any], IndexPolicy]
NOT_NEGATIVE: dict[str, tuple[str, Maker]] = {
    "KLUCB": ("c", lambda value: KLUCB(c=value)),
    "EpsilonGreedy": ("epsilon", lambda value: EpsilonGreedy(epsilon=value, decay=1.0)),
    "EpsilonGreedy, decay": ("decay", lambda value: EpsilonGreedy(decay=value)),
}
POSITIVE: dict[str, tuple[str, Maker]] = {
    "UCBV": ("zeta", lambda value: UCBV(zeta=value)),
    "CMOSS": ("c", lambda value: CMOSS(c=value)),
    "CMOSS, delta": ("delta", lambda value: CMOSS(delta=value)),
}
NUMBERS = {**NOT_NEGATIVE, **POSITIVE}


def refused(make: Maker, name: str, value: Any, expected: str) -> None:
    """By a message that names the parameter and says what is expected and what came."""
    with pytest.raises(errors.BadArgument) as refusal:
        make(value)
    message = str(refusal.value)
    assert message.startswith(f"{name} must be "), message
    assert expected in message
    assert message.endswith(f"got {value!r}"[:104])


@pytest.mark.parametrize("which", NUMBERS)
@pytest.mark.parametrize(
    "value", [*NOT_NUMBERS, *NEGATIVE, 1e101, 10**400, np.ones(1)], ids=lambda value: f"{value!r:.40}"
)
def test_what_is_no_number(which: str, value: Any) -> None:
    name, make = NUMBERS[which]
    refused(make, name, value, "a number >= 0" if which in NOT_NEGATIVE else "a positive number")


@pytest.mark.parametrize("which", [which for which in NUMBERS if which != "CMOSS, delta"])
def test_nothing_is_no_number(which: str) -> None:
    name, make = NUMBERS[which]
    refused(make, name, None, "number")


@pytest.mark.parametrize("which", POSITIVE)
@pytest.mark.parametrize("value", [0, 0.0, -0.0, np.int64(0)], ids=repr)
def test_zero_where_it_makes_no_sense(which: str, value: Any) -> None:
    name, make = POSITIVE[which]
    refused(make, name, value, "a positive number")


@pytest.mark.parametrize("which", NOT_NEGATIVE)
def test_zero_where_it_does(which: str) -> None:
    name, make = NOT_NEGATIVE[which]
    assert getattr(make(0), name) == 0.0


@pytest.mark.parametrize("which", NUMBERS)
@pytest.mark.parametrize("value", [1, 0.25, np.float32(0.5), np.float64(0.5), np.int32(2), 1e100], ids=repr)
def test_any_kind_of_number_becomes_a_float(which: str, value: Any) -> None:
    name, make = NUMBERS[which]
    kept = getattr(make(value), name)
    assert type(kept) is float
    assert kept == value


@pytest.mark.parametrize(
    "value", [*NOT_NUMBERS, *NEGATIVE, 0, 0.0, 1.5, 2**63, 1e300, 10**400], ids=lambda value: f"{value!r:.40}"
)
def test_rounds_that_cannot_be_counted(value: Any) -> None:
    refused(ExploreThenCommit, "rounds", value, "a whole number of rounds, at least 1")


@pytest.mark.parametrize("value", [7, 7.0, np.int64(7), np.float64(7.0), np.uint8(7)], ids=repr)
def test_rounds_that_can(value: Any) -> None:
    policy = ExploreThenCommit(value)
    assert type(policy.rounds) is int
    assert policy == ExploreThenCommit(7)


@pytest.mark.parametrize("value", [1.0000001, 2, 100.0])
def test_epsilon_above_one_needs_a_decay(value: float) -> None:
    with pytest.raises(errors.BadArgument, match=rf"epsilon must be at most 1 with decay=0, got {float(value)!r}"):
        EpsilonGreedy(value)
    assert EpsilonGreedy(value, decay=0.1).epsilon == value
    assert EpsilonGreedy(1.0).epsilon == 1.0


@pytest.mark.parametrize("value", [0, 1, None, "yes", 1.0, np.bool_(True), []], ids=repr)
def test_anytime_is_yes_or_no(value: Any) -> None:
    refused(lambda value: CMOSS(anytime=value), "anytime", value, "True or False")


@pytest.mark.parametrize("kind", [KLUCB, UCBV, CMOSS, EpsilonGreedy])
@pytest.mark.parametrize("value", ["paper", "none", "", None, True, 1, ["all"]], ids=repr)
def test_how_to_begin(kind: Any, value: Any) -> None:
    """Who keeps every observation cannot begin as the paper does, which overwrites them."""
    refused(lambda value: kind(init=value), "init", value, "'all' or 'optimistic'")
    assert kind(init="all") == kind()
    assert kind(init="optimistic") != kind()


@pytest.mark.parametrize("value", ["none", "", None, True, 1], ids=repr)
def test_how_omm_may_begin(value: Any) -> None:
    refused(lambda value: OMM(init=value), "init", value, "'paper' or 'all' or 'optimistic'")


POLICIES = [
    *(KLUCB(), KLUCB(c=0, init="optimistic"), UCBV(), UCBV(1), CMOSS(), CMOSS(c=2.0), CMOSS(delta=0.1)),
    *(CMOSS(anytime=True), OMM(), OMM("all"), EpsilonGreedy(), EpsilonGreedy(2.0, 1.0), EpsilonGreedy(0.2)),
    *(ExploreThenCommit(), ExploreThenCommit(5)),
]


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_a_policy_is_its_parameters(policy: IndexPolicy) -> None:
    again = eval(repr(policy))
    assert again == policy
    assert hash(again) == hash(policy)
    assert pickle.loads(pickle.dumps(policy)) == policy
    with pytest.raises(AttributeError):
        policy.init = "all"
    assert all(isinstance(number, float | int) for number in policy.prior)


def test_different_parameters_are_different_policies() -> None:
    assert all(one != other for one, other in itertools.combinations(POLICIES, 2))


@pytest.mark.parametrize("policy", [policy for policy in POLICIES if not policy.needs_horizon], ids=repr)
def test_a_learner_goes_on_where_it_was_saved(policy: IndexPolicy, tmp_path: Any) -> None:
    generator = np.random.default_rng(0)
    feasible = sets.TopK(5, 2)
    learner = Learner(feasible, policy, seed=3)
    for _ in range(20):
        learner.tell(learner.ask().id, generator.random(2))
    learner.save(tmp_path / "state.json")
    again = Learner.load(tmp_path / "state.json", feasible, policy)
    for _ in range(30):
        one, other, weights = learner.ask(), again.ask(), generator.random(2)
        np.testing.assert_array_equal(learner.scores(), again.scores())
        assert one.items.tolist() == other.items.tolist()
        learner.tell(one.id, weights)
        again.tell(other.id, weights)
