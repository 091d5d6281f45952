"""Live scores: NumPy and machine code give the same bits, and the change from one to the other is not noticed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from semibandits import Learner, policies, sets
from semibandits._util.identity_cache import RecentCache
from semibandits.agent import scores as scoring
from semibandits.kernel import warm
from semibandits.types import Clock, Game, IndexPolicy, Params, Scalar, Stats

ITEMS = 40
EVERYBODY: list[IndexPolicy] = [
    policies.CTS(),
    policies.PooledCTS(),
    policies.PooledCTS(discount=0.9),
    policies.Fixed([1, 2, 3]),
]


def fresh(policy: IndexPolicy) -> scoring.Scores:
    """With statistics of some observations."""
    generator = np.random.default_rng(1)
    params = policy.params(Game(ITEMS, 3, 1000))
    stats = np.repeat(np.array(policy.prior, dtype=np.float64)[:, None], ITEMS, axis=1)
    numbers = np.arange(ITEMS, dtype=np.uint64)
    for round in range(1, 30):
        some = np.flatnonzero(generator.random(ITEMS) < 0.3)
        before = tuple(row[some] for row in stats)
        after = policy.observe(before, generator.random(some.size), round, round, numbers[some], params)
        for row, values in zip(stats, after, strict=True):
            row[some] = values
    return scoring.Scores(policy, params, stats, numbers % 7 == 3)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "PATIENCE", 0.0)
    monkeypatch.setattr(scoring, "COSTLY", 0.0)
    monkeypatch.setattr(warm, "_SPENT", RecentCache(10))


@pytest.mark.parametrize("policy", EVERYBODY, ids=repr)
def test_plain_and_compiled_scores_are_equal(policy: IndexPolicy, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = fresh(policy)
    monkeypatch.setattr(warm, "PATIENCE", 0.0)
    monkeypatch.setattr(scoring, "COSTLY", 0.0)
    quick = fresh(policy)
    quick(1, 5)
    assert quick.warm.code is not None
    monkeypatch.setattr(warm, "PATIENCE", 1e9)
    for round in range(1, 200):
        key = 0 if not policy.random else 0x9E3779B97F4A7C15 * round % 2**64
        np.testing.assert_array_equal(quick(round, key), plain(round, key))
    assert plain.warm.code is None


@pytest.mark.usefixtures("impatient")
def test_a_learner_decides_the_same_before_and_after() -> None:
    told = np.random.default_rng(2).random((60, 2))
    compiled = Learner(sets.TopK(8, 2), policies.CTS(), seed=4)
    decided = [play(compiled, x) for x in told]
    assert compiled._agent._score.warm.code is not None
    warm.PATIENCE = 1e9  # put back by the fixture
    plain = Learner(sets.TopK(8, 2), policies.CTS(), seed=4)
    assert [play(plain, x) for x in told] == decided
    assert plain._agent._score.warm.code is None


def play(learner: Learner, x: Any) -> list[int]:
    decision = learner.ask()
    learner.tell(decision.id, x)
    return decision.items.tolist()


@dataclass(frozen=True)
class Mine(policies.Random):
    """A formula of a user's own."""

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        return 1.0 * item


@pytest.mark.usefixtures("impatient")
def test_formulas_of_others_are_left_alone() -> None:
    mine = fresh(Mine())
    mine(1, 0)
    assert mine.warm.code is None


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("trouble", ["fails", "differs"])
def test_a_compiler_that_cannot_is_not_used(trouble: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def bound(*arguments: Any) -> Any:
        if trouble == "fails":
            raise TypeError("no such thing")
        return lambda *arguments: arguments[-1].fill(0.5)

    monkeypatch.setattr(warm, "bound", bound)
    monkeypatch.setattr(warm, "_PLAIN", RecentCache(10))
    scores = fresh(policies.KLUCB())
    first = scores(7, 0)
    np.testing.assert_array_equal(first, scores(7, 0))
    assert scores.warm.code is None


@pytest.mark.usefixtures("impatient")
def test_cheap_formulas_are_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "COSTLY", 1e9)
    scores = fresh(policies.CombUCB1())
    for round in range(1, 20):
        scores(round, 0)
    assert scores.warm.code is None
