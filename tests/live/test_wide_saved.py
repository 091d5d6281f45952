"""Learners with policies that choose whole solutions, saved in the middle and loaded again."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semibandits import Learner, errors, policies, sets
from semibandits.policies import ESCB, FPL, OSMD
from semibandits.types import FeasibleSet, Game, Items, Note, Policy, State
from support.tasks import long
from support.wide import BANDIT, GIVEN, LIVE, NOTED, WIDE_PROBLEMS, Lottery, Sums
from support.worlds import CROOKED, LISTED

TOP = sets.TopK(7, 3)
Change = Callable[[dict[str, Any]], object]


def begun(policy: Policy, feasible: FeasibleSet = TOP, rounds: int = 14, **settings: Any) -> Learner:
    """Every third decision is outstanding, one of them told in part where parts are allowed, one cancelled."""
    learner = Learner(feasible, policy, seed=6, uncovered="ignore", **settings)
    lo, hi = settings.get("bounds", (0.0, 1.0))
    generator = np.random.default_rng(2)
    for round in range(rounds):
        decision = learner.ask()
        weights = generator.uniform(lo, hi, decision.items.size)
        if round == 5:
            learner.cancel(decision.id)
        elif round % 3 != 1:
            learner.tell(decision.id, weights.sum() if settings.get("feedback") == "bandit" else weights)
        elif round % 2 and decision.items.size > 1 and policy.feedback == "semi":
            learner.tell(decision.id, {int(decision.items[1]): weights[1]})
    return learner


def goes_on(learner: Learner, rounds: int = 14, bounds: tuple[float, float] = (0.0, 1.0)) -> list[Any]:
    """What it decides while outstanding feedback comes, the newest first, and what it then knows."""
    generator = np.random.default_rng(3)
    seen: list[Any] = []
    waiting = learner.outstanding[::-1]
    for _ in range(rounds):
        for decision in (learner.ask(), *waiting[:1]):
            seen.append((decision.round, decision.items.tolist()))
            weights = generator.uniform(*bounds, decision.items.size)
            if learner._feedback == "bandit":
                learner.tell(decision.id, weights.sum())
            else:
                told = learner._log.find(decision.id).weights
                rest = np.arange(weights.size) if told is None else np.flatnonzero(np.isnan(told))
                learner.tell(decision.id, dict(zip(decision.items[rest].tolist(), weights[rest], strict=True)))
        waiting = waiting[1:]
    state = learner._agent.state  # type: ignore[union-attr]
    return [*seen, learner.counts.tolist(), str(learner.estimates.tolist()), [array.tolist() for array in state]]


def given(name: str, policy: Policy) -> Policy | None:
    return policy if name in GIVEN else None


@pytest.mark.parametrize("name", [long(name) if name == "AESCB" else name for name in LIVE])
def test_both_go_on_alike(name: str, tmp_path: Path) -> None:
    for problem in (WIDE_PROBLEMS["top-k"], WIDE_PROBLEMS["costs"]):
        feasible, bounds = problem.feasible, problem.bounds
        policy = LIVE[name](feasible.n_items)
        learner = begun(policy, feasible, sense=problem.sense, bounds=bounds)
        assert len(learner.outstanding) >= 4
        learner.save(tmp_path / "state.json", overwrite=True)
        loaded = Learner.load(tmp_path / "state.json", feasible, given(name, policy))
        assert type(loaded._agent.policy) is type(policy)
        assert repr(loaded._agent.policy) == repr(policy)
        loaded.save(tmp_path / "again.json", overwrite=True)
        assert (tmp_path / "again.json").read_bytes() == (tmp_path / "state.json").read_bytes()
        for saved, kept in zip(learner._agent.state, loaded._agent.state, strict=True):  # type: ignore[union-attr]
            assert (saved.dtype, saved.shape, saved.tobytes()) == (kept.dtype, kept.shape, kept.tobytes())
        assert type(learner._agent.state) is type(loaded._agent.state)  # type: ignore[union-attr]
        assert goes_on(loaded, bounds=bounds) == goes_on(learner, bounds=bounds)


@pytest.mark.parametrize("name", ["COMBAND", "OFUL", "LinUCB"])
def test_sums_alone(name: str, tmp_path: Path) -> None:
    for feasible, settings in ((TOP, {}), (CROOKED, {"sense": "min", "bounds": (2.0, 5.0)})):
        learner = begun(LIVE[name](feasible.n_items), feasible, feedback="bandit", **settings)
        learner.save(tmp_path / "state.json", overwrite=True)
        loaded = Learner.load(tmp_path / "state.json", feasible)
        bounds: Any = settings.get("bounds", (0.0, 1.0))
        finished = next(id for id, record in loaded._log.finished.items() if not record.cancelled and record.items.size)
        told = learner._log.find(finished).weights
        assert told is not None
        assert loaded.tell(finished, told[0]) == 0
        with pytest.raises(errors.ContradictingFeedback):
            loaded.tell(finished, told[0] - 0.01)
        assert goes_on(loaded, bounds=bounds) == goes_on(learner, bounds=bounds)


def test_init_goes_on_with_what_is_outstanding(tmp_path: Path) -> None:
    learner = Learner(TOP, ESCB(), seed=1)
    first = learner.ask()
    learner.save(tmp_path / "state.json")
    loaded = Learner.load(tmp_path / "state.json", TOP)
    for one in (learner, loaded):
        assert not set(one.ask().items.tolist()) & set(first.items.tolist())
    learner.cancel(first.id)
    learner.save(tmp_path / "state.json")
    loaded = Learner.load(tmp_path / "state.json", TOP)
    assert loaded.ask().items.tolist() == learner.ask().items.tolist()


@pytest.mark.parametrize("name", GIVEN)
def test_features_are_not_written(name: str, tmp_path: Path) -> None:
    policy = LIVE[name](7)
    begun(policy).save(tmp_path / "state.json")
    with pytest.raises(errors.BadState, match=rf"{name} cannot be made from a file: pass it as policy="):
        Learner.load(tmp_path / "state.json", TOP)
    with pytest.raises(errors.BadState, match=f"saved with the policy {name}"):
        Learner.load(tmp_path / "state.json", TOP, policies.ESCB())
    with pytest.raises(errors.BadState, match="features must have a row"):
        Learner.load(tmp_path / "state.json", TOP, LIVE[name](6))


def test_a_users_policy_must_be_given_again(tmp_path: Path) -> None:
    learner = begun(Lottery())
    learner.save(tmp_path / "state.json")
    with pytest.raises(errors.BadState, match="policy Lottery cannot be made from a file: pass it as policy="):
        Learner.load(tmp_path / "state.json", TOP)
    assert goes_on(Learner.load(tmp_path / "state.json", TOP, Lottery())) == goes_on(learner)
    summing = begun(Sums(), LISTED, feedback="bandit")
    summing.save(tmp_path / "sums.json")
    loaded = Learner.load(tmp_path / "sums.json", LISTED, Sums())
    assert goes_on(loaded) == goes_on(summing)  # -inf in its state, and notes of whole numbers


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (ESCB(c=4.0, init="optimistic"), ESCB(c=0.0, init="optimistic")),
        (policies.OLSUCB(init="optimistic"), policies.OLSUCB(width=0.0, lam=1e-9, init="optimistic")),
        (policies.CombLinUCB(np.eye(7), c=9.0), policies.CombLinUCB(np.eye(7), c=0.0)),
        (FPL(eta=1e-4, most=1), FPL(eta=5.0, most=3)),
        (policies.HYBRID(), policies.HYBRID(gamma=0.01)),
        (policies.COMBAND(eta=0.001), policies.COMBAND(eta=0.9, gamma=0.1)),
        (policies.OFUL(), policies.OFUL(noise=0.0, norm=0.1)),
        (policies.LinUCB(alpha=3.0), policies.LinUCB(alpha=0.0)),
    ],
    ids=lambda policy: type(policy).__name__,
)
def test_other_parameters_take_the_place_of_the_saved_ones(first: Policy, second: Policy, tmp_path: Path) -> None:
    """As long as nothing but one solution is available, the parameters do not matter to what is learned."""
    one, other = Learner(TOP, first, seed=3), Learner(TOP, second, seed=3)
    generator = np.random.default_rng(5)
    for _ in range(40):
        available, weights = generator.permutation(7)[:3], generator.random(3)
        for learner in (one, other):
            learner.tell(learner.ask(available=available).id, weights)
    one.save(tmp_path / "state.json")
    loaded = Learner.load(tmp_path / "state.json", TOP, second)
    expected = goes_on(other, rounds=30)
    assert goes_on(loaded, rounds=30) == expected
    assert goes_on(one, rounds=30) != expected


class Listing(Lottery):
    def start(self, game: Game, feasible: FeasibleSet) -> State:
        return {"tally": super().start(game, feasible)}

    def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
        return super().choose(state["tally"], feasible, round, key)


class Wordy(Lottery):
    def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
        return super().choose(state, feasible, round, key)[0], "a word"


class Bare(Lottery):
    def start(self, game: Game, feasible: FeasibleSet) -> State:
        return (*super().start(game, feasible), 3)


class Short(Lottery):
    def start(self, game: Game, feasible: FeasibleSet) -> State:
        return (*super().start(game, feasible), np.zeros(3, dtype=np.float32))


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (Listing(), r"a state must be a tuple of NumPy arrays to be saved, got \{'tally'"),
        (Bare(), "must be made of NumPy arrays of int64 or float64 to be saved, got 3"),
        (Short(), "int64 or float64 to be saved, got array.*float32"),
        (Wordy(), "a note must be made of NumPy arrays of int64 or float64 to be saved, got 'a word'"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_saved(policy: Policy, says: str, tmp_path: Path) -> None:
    learner = Learner(TOP, policy)
    learner.ask()
    with pytest.raises(errors.Unsupported, match=says):
        learner.save(tmp_path / "state.json", overwrite=True)
    assert list(tmp_path.iterdir()) == []


def tampered(folder: Path, change: Change) -> Path:
    """The same file with some change in it, and a checksum that is right."""
    file = json.loads((folder / "state.json").read_text())
    change(file["learner"])
    body = json.dumps(file["learner"])
    path = folder / "tampered.json"
    head = json.dumps({"format": file["format"], "version": file["version"]})[:-1]
    path.write_text(f'{head}, "checksum": "{hashlib.sha256(body.encode()).hexdigest()}", "learner": {body}}}')
    return path


def notes(change: Callable[[dict[str, Any]], object]) -> Change:
    """Of all decisions that wait for feedback."""

    def changed(learner: dict[str, Any]) -> None:
        for one in learner["outstanding"]:
            change(one)

    return changed


def longer(array: dict[str, Any]) -> None:
    array["values"] += array["values"][:1] or [1.0]
    array["shape"] = [len(array["values"])]


def array(*values: Any) -> dict[str, Any]:
    return {"kind": "float64", "shape": [len(values)], "values": list(values)}


def array_of_ones(shape: list[int]) -> dict[str, Any]:
    return {"kind": "int64", "values": [1] * int(np.prod(shape))}


STATES: dict[str, Change] = {
    "no state": lambda learner: learner.pop("state"),
    "an array too few": lambda learner: learner["state"].pop(),
    "an array too many": lambda learner: learner["state"].append(array(1.0)),
    "a longer array": lambda learner: longer(learner["state"][0]),
    "NaN": lambda learner: learner["state"][0]["values"].__setitem__(0, "nan"),
    "another kind": lambda learner: learner["state"][0].update(array_of_ones(learner["state"][0]["shape"])),
    "a word": lambda learner: learner["state"][0]["values"].__setitem__(0, "one"),
    "a shape that does not fit": lambda learner: learner["state"][0]["shape"].append(2),
    "a negative shape": lambda learner: learner["state"][0].update(shape=[-1]),
    "a huge shape": lambda learner: learner["state"][0].update(shape=[2**60, 2**60]),
    "too large a number": lambda learner: learner["state"][0]["values"].__setitem__(0, 10**400),
    "NaN in the sums": lambda learner: learner["stats"][1].__setitem__(0, "nan"),
    "sums above counts": lambda learner: learner["stats"][1].__setitem__(0, 1e9),
    "too few statistics": lambda learner: learner["stats"].pop(),
    "another feedback": lambda learner: learner.update(feedback="full"),
}
NOTES: dict[str, Change] = {
    "a note that is NaN": notes(lambda one: one["note"]["values"].__setitem__(0, "nan")),
    "no note": notes(lambda one: one.pop("note")),
    "a longer note": notes(lambda one: longer(one["note"])),
    "an empty note": notes(lambda one: one.update(note=array())),
    "a note of words": notes(lambda one: one["note"].update(values=["x"] * len(one["note"]["values"]))),
    "a matrix": notes(lambda one: one["note"].update(shape=[1, *one["note"]["shape"]])),
}


@pytest.mark.parametrize("name", LIVE)
def test_a_file_no_learner_has_written(name: str, tmp_path: Path) -> None:
    policy = LIVE[name](7)
    begun(policy).save(tmp_path / "state.json")
    Learner.load(tampered(tmp_path, lambda learner: None), TOP, given(name, policy))
    accepted = []
    for what, change in {**STATES, **(NOTES if name in NOTED else {})}.items():
        path = tampered(tmp_path, change)
        try:
            Learner.load(path, TOP, given(name, policy))
        except errors.BadState:
            continue
        accepted.append(what)
    assert not accepted


def test_sums_no_learner_has_written(tmp_path: Path) -> None:
    begun(policies.OFUL(), feedback="bandit").save(tmp_path / "state.json")
    for weights in ([], [1.0, 2.0], [None], ["1.0"], [9.0], [-0.5], 1.0):
        path = tampered(tmp_path, lambda learner: learner["finished"][0].update(weights=weights))  # noqa: B023
        with pytest.raises(errors.BadState):
            Learner.load(path, TOP)
    Learner.load(tampered(tmp_path, lambda learner: learner["finished"][0].update(weights=[1.25])), TOP)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda learner: learner.update(feedback="bandit"), "must see the weight of every chosen item"),
        (lambda learner: learner["policy"].update(name="OSMD", parameters={"eta": 0.1, "regulariser": "huge"}), "huge"),
        (lambda learner: learner["policy"]["parameters"].update(eta="much"), "eta"),
        (lambda learner: learner["policy"]["parameters"].update(eta=None), "horizon"),
        (lambda learner: learner["policy"]["parameters"].update(beta=0.1), "beta"),
        (lambda learner: learner["policy"].update(name="Problem"), "cannot be made from a file"),
        (lambda learner: learner["policy"].update(name="Moved"), "cannot be made from a file"),
        (lambda learner: learner["policy"].update(name="CombUCB1", parameters={}), "shape|stats"),
    ],
    ids=["feedback", "regulariser", "a word", "no eta", "beta", "Problem", "Moved", "a formula"],
)
def test_policies_no_learner_has_written(change: Change, says: str, tmp_path: Path) -> None:
    begun(FPL(eta=0.1)).save(tmp_path / "state.json")
    with pytest.raises(errors.BadState, match=says):
        Learner.load(tampered(tmp_path, change), TOP)


def test_other_sets_and_kinds_are_refused(tmp_path: Path) -> None:
    begun(OSMD(eta=0.1)).save(tmp_path / "state.json")
    for other in (sets.TopK(8, 3), sets.TopK(7, 2)):
        with pytest.raises(errors.BadState, match="was saved with n_items=7, max_size=3"):
            Learner.load(tmp_path / "state.json", other)
    for policy in (policies.HYBRID(), policies.CombUCB1(), Lottery()):
        with pytest.raises(errors.BadState, match="it was saved with the policy OSMD"):
            Learner.load(tmp_path / "state.json", TOP, policy)
    for name in BANDIT[:3]:
        with pytest.raises(errors.BadState):
            Learner.load(tmp_path / "state.json", TOP, LIVE[name](7))
