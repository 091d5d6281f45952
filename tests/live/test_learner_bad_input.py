"""Bad input is named and changes nothing."""

import copy
import pickle
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest

from semibandits import Learner, errors, policies, sets
from semibandits.types import Decision, Items, Params, Scalar, Stats


def snapshot(learner: Learner, path: Path) -> bytes:
    learner.save(path)
    return path.read_bytes()


@pytest.fixture
def learner() -> Learner:
    """With one decision outstanding, one finished, and one half told."""
    learner = Learner(sets.TopK(6, 2), policies.CombUCB1(), labels=list("abcdef"), seed=1)
    learner.tell(learner.ask().id, [0.5, 1.0])
    learner.tell(learner.ask().id, {2: 0.25})
    learner.ask()
    return learner


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda x, d: x.tell(d.id, [0.5, NAN]), errors.BadWeights, "got nan"),
        (lambda x, d: x.tell(d.id, [INF, 0.5]), errors.BadWeights, "got inf"),
        (lambda x, d: x.tell(d.id, {4: NAN}), errors.BadWeights, "got nan"),
        (lambda x, d: x.tell(d.id, [0.5, 1.5]), errors.BadWeights, r"bounds \(0.0, 1.0\), got 1.5 for item f"),
        (lambda x, d: x.tell(d.id, [0.5, -1e-6]), errors.BadWeights, "got -1e-06"),
        (lambda x, d: x.tell(d.id, [0.5]), errors.BadWeights, "expected 2 weights, got 1"),
        (lambda x, d: x.tell(d.id, [0.5, 0.5, 0.5]), errors.BadWeights, "expected 2 weights, got 3"),
        (lambda x, d: x.tell(d.id, 0.5), errors.BadWeights, "expected 2 weights in the order of the items, got 0.5"),
        (lambda x, d: x.tell(d.id, [[0.5, 0.5]]), errors.BadWeights, "expected 2 weights"),
        (lambda x, d: x.tell(d.id, [[0.5], 0.5]), errors.BadWeights, "expected 2 weights"),
        (lambda x, d: x.tell(d.id, "no"), errors.BadWeights, "'no'"),
        (lambda x, d: x.tell(d.id, {0.5, 0.25}), errors.BadWeights, "order of the items"),
        (lambda x, d: x.tell(d.id, np.ma.array([0.5, 0.9], mask=[0, 1])), errors.BadWeights, "masked"),
        (lambda x, d: x.tell(d.id, ["0.5", 0.5]), errors.BadWeights, "numbers"),
        (lambda x, d: x.tell(d.id, [True, 0.5]), errors.BadWeights, "truth value"),
        (lambda x, d: x.tell(d.id, [None, 0.5]), errors.BadWeights, "numbers"),
        (lambda x, d: x.tell(d.id, [2**64, 0]), errors.BadWeights, "18446744073709551616"),
        (lambda x, d: x.tell(d.id, [1j, 0]), errors.BadWeights, "numbers"),
        (lambda x, d: x.tell(d.id, {0: 0.5}), errors.UnknownItem, "not part of decision"),
        (lambda x, d: x.tell(d.id, {4: 0.5, 0: 0.5}), errors.UnknownItem, "not part of decision"),
        (lambda x, d: x.tell(d.id, {9: 0.5}), errors.UnknownItem, "no item 9: items are 0 to 5"),
        (lambda x, d: x.tell(d.id, {-1: 0.5}), errors.UnknownItem, "no item -1"),
        (lambda x, d: x.tell(d.id, {"z": 0.5}), errors.UnknownItem, "'z'"),
        (lambda x, d: x.tell(d.id, {4.0: 0.5}), errors.UnknownItem, "no item 4.0"),
        (lambda x, d: x.tell(d.id, {True: 0.5}), errors.UnknownItem, "no item True"),
        (lambda x, d: x.tell("nonsense", [0.5, 0.5]), errors.UnknownDecision, "no decision 'nonsense'"),
        (lambda x, d: x.tell(d.items, [0.5, 0.5]), errors.UnknownDecision, "expected a decision or its id"),
        (lambda x, d: x.tell(foreign(), [0.5, 0.5]), errors.UnknownDecision, "no decision"),
        (lambda x, d: x.cancel("nonsense"), errors.UnknownDecision, "no decision 'nonsense'"),
        (lambda x, d: x.cancel(foreign()), errors.UnknownDecision, "no decision"),
        (lambda x, d: x.observe([0, 9], [0.5, 0.5]), errors.UnknownItem, "no item 9"),
        (lambda x, d: x.observe(np.array([0, -9]), [0.5, 0.5]), errors.UnknownItem, "no item -9"),
        (lambda x, d: x.observe([0, 1], [0.5, NAN]), errors.BadWeights, "got nan"),
        (lambda x, d: x.observe([0, 1], [0.5]), errors.BadWeights, "expected 2 weights, got 1"),
        (lambda x, d: x.observe([0, 1]), errors.BadArgument, "items and weights"),
        (lambda x, d: x.observe({0: 0.5}, [0.5]), errors.BadArgument, "items and weights"),
        (lambda x, d: x.observe("abc", [0.5, 0.5, 0.5]), errors.UnknownItem, "list of items"),
        (
            lambda x, d: x.ask(available=[0]),
            errors.EmptyFeasibleSet,
            "available: .* has no solution without items",
        ),
        (lambda x, d: x.ask(available=[0, 77]), errors.UnknownItem, "77"),
        (lambda x, d: x.ask(8), errors.BadArgument, "list of items or a mask, got 8; n= is how many decisions"),
        (lambda x, d: x.ask(available=np.array(3)), errors.UnknownItem, "list of items"),
        (lambda x, d: x.ask(available=[0, 0, 1, 1, 1, 1]), errors.UnknownItem, "twice .a mask is made of True"),
        (lambda x, d: x.ask(available=np.array([1, 0, 1, 1, 0, 1])), errors.UnknownItem, "True and False"),
        (lambda x, d: x.ask(available=iter([1, 0, 0, 0, 0, 0])), errors.UnknownItem, "True and False"),
        (lambda x, d: x.ask(available=[2, 2, 3]), errors.UnknownItem, "an item is given twice: "),
        (lambda x, d: x.observe(np.array(1), [0.5]), errors.UnknownItem, "list of items"),
        (lambda x, d: x.observe(np.ma.array([0, 1], mask=[1, 0]), [0.5, 0.5]), errors.UnknownItem, "masked array"),
        (lambda x, d: x.ask(available=np.ma.array([True] * 6, mask=[1] + [0] * 5)), errors.BadArgument, "masked array"),
        (lambda x, d: x.ask(available=np.ma.array([0, 1, 2], mask=[1, 0, 0])), errors.BadArgument, "masked array"),
        (lambda x, d: x.observe(counts={0: [1, 2]}, sums={0: 1}), errors.BadWeights, "counts must be one number for"),
        (lambda x, d: x.observe(counts={0: 1}, sums={0: [[1]]}), errors.BadWeights, "sums must be one number for"),
        (lambda x, d: x.expire(0, weight={0: [1, 2]}), errors.BadWeights, "weight must be one number for an item, got"),
        (lambda x, d: x.intervals("a"), errors.BadArgument, "confidence"),
    ],
)
def test_nothing_changes(
    learner: Learner, tmp_path: Path, call: Callable[[Learner, Decision], object], error: type[Exception], says: str
) -> None:
    path = tmp_path / "state.json"
    before = snapshot(learner, path)
    with pytest.raises(error, match=says) as caught:
        call(learner, learner.outstanding[-1])
    assert isinstance(caught.value, errors.SemiBanditError)
    assert snapshot(learner, path) == before


def foreign() -> str:
    return Learner(sets.TopK(6, 2), policies.CombUCB1(), seed=1).ask().id


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ([0, 5], errors.InfeasibleSolution),
        ([0, 0], errors.InfeasibleSolution),
        ([77], errors.InfeasibleSolution),
        (ZeroDivisionError("boom"), errors.OracleFailed),
    ],
)
def test_an_oracle_that_goes_wrong_changes_nothing(answer: object, error: type[Exception], tmp_path: Path) -> None:
    sane = sets.TopK(6, 2)
    broken = False

    def solver(weights: Items) -> Iterable[int]:
        if not broken:
            return sane.argmax(weights)
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[return-value]

    feasible = sets.Oracle(solver, 6, 2, contains=lambda items: not broken or list(items) != [0, 5])
    learner = Learner(feasible, policies.CombUCB1())
    learner.tell(learner.ask().id, [0.5, 0.5])
    path = tmp_path / "state.json"
    before = snapshot(learner, path)
    broken = True
    with pytest.raises(error):
        learner.ask()
    assert snapshot(learner, path) == before
    broken = False
    assert learner.ask().round == 2


class Careless(sets.TopK):
    """A set of the user's own with a wrong oracle."""

    verified = False

    def argmax(self, weights: object) -> Items:
        return np.array([0, 1, 2])


def test_answers_of_the_users_own_sets_are_checked() -> None:
    with pytest.raises(errors.InfeasibleSolution, match="3 items, more than max_size=2"):
        Learner(Careless(4, 2), policies.CombUCB1()).ask()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"sense": "maximum"}, "'maximum'"),
        ({"bounds": (1.0, 0.0)}, "lo < hi"),
        ({"bounds": (0.0, INF)}, "finite"),
        ({"bounds": 7}, "got 7"),
        ({"labels": ["a"]}, "3 strings"),
        ({"labels": ["a", "b", "a"]}, "'a' twice"),
        ({"labels": "abc"}, "3 strings"),
        ({"labels": [1, 2, 3]}, "3 strings"),
        ({"labels": 5}, "3 strings"),
        ({"labels": {"a", "b", "c"}}, "3 strings"),
        ({"labels": {"a": 0, "b": 1, "c": 2}}, "3 strings"),
        ({"labels": ["a", "b", "\ud800"]}, "printable"),
        ({"bounds": (0.0, 1e308)}, "finite"),
        ({"seed": -1}, "got -1"),
        ({"seed": 2**64}, "got 18446744073709551616"),
        ({"uncovered": "maybe"}, "'maybe'"),
    ],
)
def test_construction(options: dict[str, object], says: str) -> None:
    with pytest.raises(errors.BadArgument, match=says):
        Learner(sets.TopK(3, 1), policies.CombUCB1(), **options)  # type: ignore[arg-type]


class Fussy(policies.CombUCB1):
    """Cannot learn from weights above 0.9, or forgets what to return."""

    @staticmethod
    def observe(s: Stats, x: Scalar, round: int, key: int, item: Scalar, p: Params) -> Stats:
        if np.any(x > 0.9):
            raise RuntimeError("too much")
        after = policies.CombUCB1.observe(s, x, round, key, item, p)
        return after[:2] if np.any(x == 0.9) else after


def test_a_policy_that_raises_changes_nothing(tmp_path: Path) -> None:
    learner = Learner(sets.Enumerated([[0, 1], [0, 2]]), Fussy())
    learner.tell(learner.ask().id, [0.25, 0.5])
    decision = learner.ask()  # Init's second: item 0 is to be overwritten
    path = tmp_path / "state.json"
    before = snapshot(learner, path)
    for bad, error in ((0.95, RuntimeError), (0.9, ValueError)):
        with pytest.raises(error):
            learner.tell(decision.id, [bad, 0.5])
        with pytest.raises(error):
            learner.observe([0, 1, 1, 0], [0.5, 0.5, 0.5, bad])
        assert snapshot(learner, path) == before
    assert learner.tell(decision.id, [0.75, 0.5]) == 2
    assert learner.estimates.tolist() == [0.75, 0.5, 0.5]


def test_solvers_may_use_their_arrays_again() -> None:
    buffer = np.zeros(2, dtype=np.int64)

    def solver(weights: Items) -> Items:
        buffer[:] = np.sort(np.argsort(-weights, kind="stable")[:2])
        return buffer

    learner = Learner(sets.Oracle(solver, 4, 2), policies.CombUCB1())
    first, second = learner.ask(), learner.ask()
    assert (first.items.tolist(), second.items.tolist()) == ([0, 1], [2, 3])
    assert not first.items.flags.writeable
    learner.tell(first.id, [1.0, 1.0])
    assert learner.counts.tolist() == [1, 1, 0, 0]


def test_a_solver_that_never_finds_some_items_is_suspected() -> None:
    learner = Learner(sets.Oracle(lambda w: [int(np.argmax(w[:2])), 2], 4, 2), policies.CombUCB1())
    learner.ask()
    learner.ask()
    with pytest.raises(errors.UncoveredItems, match="does it maximise"):
        learner.ask()


def test_learners_are_not_copied() -> None:
    for clone in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="save and load"):
            clone(Learner(sets.TopK(3, 1), policies.CombUCB1()))


def test_errors_survive_pickling() -> None:
    error = errors.UncoveredItems([1, 2], ["a", "b"])
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.items) == (str(error), (1, 2))


def test_construction_from_the_wrong_things() -> None:
    with pytest.raises(errors.BadArgument, match="FeasibleSet"):
        Learner([[0, 1]], policies.CombUCB1())  # type: ignore[arg-type]
    with pytest.raises(errors.BadArgument, match="policy"):
        Learner(sets.TopK(3, 1), "CombUCB")
