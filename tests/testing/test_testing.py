"""The shipped checks find what is wrong with a set, an environment, a policy."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from semibandits import environments, policies, sets
from semibandits.errors import ConformanceError
from semibandits.kernel import where
from semibandits.rng import below, uniform
from semibandits.testing import check_environment, check_policy, check_set
from semibandits.types import Clock, Environment, FeasibleSet, Items, Params, Scalar, Stats, Weights
from support import worlds


class Base(sets.TopK):
    def __init__(self) -> None:
        super().__init__(6, 3)


class SecondBest(Base):
    def argmax(self, weights: object) -> Items:
        honest = sets.TopK(6, 3)
        return honest.restrict(exclude=honest.argmax(weights)[:1]).argmax(weights)  # type: ignore[arg-type]

    def restrict(self, include: Iterable[int] = (), exclude: Iterable[int] = ()) -> sets.TopK:
        return sets.TopK(6, 3).restrict(include, exclude)


class Moody(Base):
    calls = 0

    def argmax(self, weights: object) -> Items:
        self.calls += 1
        return super().argmax(np.zeros(6)) if self.calls % 2 else np.array([3, 4, 5])


class Unsorted(Base):
    def argmax(self, weights: object) -> Items:
        return super().argmax(weights)[::-1]  # type: ignore[arg-type]


class TooShort(Base):
    max_size = 2

    def __init__(self) -> None:
        super().__init__()
        self.max_size = 2


class Distrustful(Base):
    def contains(self, items: Iterable[int]) -> bool:
        return False


class Gullible(Base):
    def contains(self, items: Iterable[int]) -> bool:
        return True


class Gullible2(Base):
    """Takes any three numbers from 0 to 6."""

    def contains(self, items: Iterable[int]) -> bool:
        listed = sorted(items)
        if self._restricted:
            return super().contains(listed)
        return len(set(listed)) == len(listed) and (not listed or 0 <= listed[0] <= listed[-1] < 6)


class Optimist(Base):
    def runner_up_with_each(self, weights: object, tolerance: float) -> Weights:
        return super().best_with_each(weights)  # type: ignore[arg-type]


class Forgetful(Base):
    def restrict(self, include: Iterable[int] = (), exclude: Iterable[int] = ()) -> sets.TopK:
        return self


class Boastful(Base):
    def best_with_each(self, weights: object) -> Weights:
        return super().best_with_each(weights) + 1.0  # type: ignore[arg-type]


class Vandal(Base):
    def argmax(self, weights: object) -> Items:
        items = super().argmax(weights)  # type: ignore[arg-type]
        weights[0] += 1.0  # type: ignore[index]
        return items


@pytest.mark.parametrize(
    ("feasible", "says"),
    [
        (SecondBest(), "argmax is worth|better than argmax"),
        (Moody(), "same solution"),
        (Unsorted(), "ascending"),
        (TooShort(), "more than max_size=2"),
        (Distrustful(), "contains must accept"),
        (Gullible(), "must not contain"),
        (Gullible2(), r"contains\(.*\) is True, but the oracle"),
        (Optimist(), "runner_up_with_each"),
        (Forgetful(), "restrict"),
        (Boastful(), "best_with_each"),
        (Vandal(), "must not change"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_check_set_finds(feasible: FeasibleSet, says: str) -> None:
    with pytest.raises(ConformanceError, match=says):
        check_set(feasible)


def test_check_set_takes_solvers_of_all_kinds() -> None:
    top = sets.TopK(5, 2)
    check_set(sets.Oracle(top.argmax, 5, 2))
    check_set(sets.Oracle(top.argmax, 5, 2, signed=False))
    check_set(sets.Oracle(lambda w: [int(np.argmax(w))], 5, 1, ratio=0.5))


class Liar(environments.Bernoulli):
    """Declares other means than it has."""

    def weights(self, round: int, key: Scalar, items: Items | None = None) -> Weights:
        return 0.9 * super().weights(round, key, items)


class Wild(environments.Bernoulli):
    def weights(self, round: int, key: Scalar, items: Items | None = None) -> Weights:
        return 2.0 * super().weights(round, key, items)


class Restless(environments.Bernoulli):
    def weights(self, round: int, key: Scalar, items: Items | None = None) -> Weights:
        chosen = np.arange(self.n_items) if items is None else items
        return np.random.default_rng(chosen.size).random(chosen.size)


class Deaf(environments.Bernoulli):
    """Keeps its own generator, by round."""

    def weights(self, round: int, key: Scalar, items: Items | None = None) -> Weights:
        drawn = np.random.default_rng(round).random(self.n_items)
        return drawn if items is None else drawn[items]


class Stuck(environments.Bernoulli):
    """A column of keys gives the first key's row every time."""

    batched = True

    def weights(self, round: int, key: Scalar, items: Items | None = None) -> Weights:
        first = np.broadcast_to(np.ravel(key)[0], np.shape(key)) if np.ndim(key) else key
        return super().weights(round, first, items)


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        (Deaf([0.5, 0.5]), "depend on its key|not batched|column of keys"),
        (Stuck([0.5, 0.5]), "column of keys"),
        (environments.Custom(lambda g: [7.0], [0.5]), "not in the bounds"),
        (Liar([0.5, 0.5]), "declared mean is 0.5"),
        (Wild([0.5, 0.5]), "left the bounds"),
        (Restless([0.5, 0.5, 0.5]), "same round must give the same weights"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_check_environment_finds(environment: Environment, says: str) -> None:
    with pytest.raises(ConformanceError, match=says):
        check_environment(environment)


class Infinite(policies.CombUCB1):
    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        return where(s[0] > 0.0, s[1], np.inf)


class Branching(policies.CombUCB1):
    """Not array-safe: it treats all items alike."""

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        return s[2] + item[0]


class Uncompilable(policies.CombUCB1):
    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        return s[2] + c[0] * len(f"{key:x}")


class Wordy(policies.CombUCB1):
    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        return s[2] if s[0] > 1 else s[2] + c[0]


class Halfhearted(policies.CombUCB1):
    """Takes back count and sum, but not the width."""

    @staticmethod
    def forget(s: Stats, x: Scalar, round: int, p: Params) -> Stats:
        return (s[0] - 1.0, s[1] - x, s[2])


class Miscounting(policies.CombUCB1):
    @staticmethod
    def observe(s: Stats, x: Scalar, round: int, key: int, item: Scalar, p: Params) -> Stats:
        return (s[0] + 2.0, s[1] + x, s[2])


class Lucky(policies.CombUCB1):
    """Draws: a correct policy."""

    random = True

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        return s[2] + uniform(key, item) + uniform(below(key, 5), item, 1)


class Amnesiac(policies.CombUCB1):
    @staticmethod
    def forget(s: Stats, x: Scalar, round: int, p: Params) -> Stats:
        return s


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (Infinite(), "finite"),
        (Branching(), "one item at a time"),
        (Uncompilable(), "cannot be compiled"),
        (Amnesiac(), "forget must undo"),
        (Halfhearted(), "number 2 differs"),
        (Miscounting(), "count must be 1"),
        (Wordy(), "score cannot be called on arrays"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_check_policy_finds(policy: policies.CombUCB1, says: str) -> None:
    with pytest.raises(ConformanceError, match=says):
        check_policy(policy)


def test_check_policy_takes_policies_that_draw() -> None:
    for seed in range(6):  # keys on both sides of 2^63
        check_policy(Lucky(), seed=seed)


@pytest.mark.parametrize(
    "environment",
    [
        environments.Beta([1e-5], [1.0]),
        environments.Uniform([1e15], [1e15 + 1]),
        environments.Table(np.random.default_rng(0).random((50, 3)), order="recorded"),
        environments.Table([[0.1]] * 3, bounds=(0.0, 0.1)),
        environments.Bernoulli([0.0, 1.0, 1e-6]),
    ],
    ids=repr,
)
def test_check_environment_raises_no_false_alarm(environment: Environment) -> None:
    check_environment(environment)


class Crashing(Base):
    def contains(self, items: Iterable[int]) -> bool:
        raise ZeroDivisionError("oops")


def test_exceptions_of_the_object_are_breaches_too() -> None:
    with pytest.raises(ConformanceError, match="ZeroDivisionError was raised: oops"):
        check_set(Crashing())
    for sample in (lambda g: g.random(3), lambda g: 0.5, lambda g: 1 / 0):
        with pytest.raises(ConformanceError):
            check_environment(environments.Custom(sample, [0.5, 0.5]))  # type: ignore[arg-type]


def test_the_checks_want_the_right_things() -> None:
    for check in (check_set, check_environment, check_policy):
        with pytest.raises(ConformanceError, match="expected a"):
            check(None)  # type: ignore[operator]


class LastOfTied(worlds.Window):
    """A compiled oracle that breaks ties in another way than `argmax`."""

    @staticmethod
    def best_window(w: Any, out: Any, data: Any, numbers: Any, integers: Any) -> int:
        width = data[0][0]
        best, start = 0.0, -1
        for first in range(w.size - width + 1):
            total = 0.0
            for item in range(first, first + width):
                total += w[item]
            if total > 0.0 and total >= best:
                best, start = total, first
        for k in range(width):
            out[k] = start + k
        return 0 if start < 0 else width


def test_compiled_oracles_and_draws_are_compared_with_the_plain_ones() -> None:
    check_set(worlds.Window(8, 3))
    with pytest.raises(ConformanceError, match=r"the compiled solver\(\) answers .*, argmax"):
        check_set(LastOfTied(8, 3))
    check_environment(worlds.Steps([0.3, 0.6, 0.9]))


class Exponential(policies.CombUCB1):
    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        return np.exp(-s[0])


class Ticking(Lucky):
    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        return (round,)


class Timeless(Lucky):
    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        return ()

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        return s[1] / (s[0] + 1.0) + uniform(key, item)


def test_check_policy_knows_what_will_not_compile() -> None:
    with pytest.raises(ConformanceError, match=r"score would not give the same bits .* numpy\.exp"):
        check_policy(Exponential())
    with pytest.raises(ConformanceError, match="clock of a random policy must give floats"):
        check_policy(Ticking())
    check_policy(Timeless())
