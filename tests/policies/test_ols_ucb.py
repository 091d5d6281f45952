"""OLSUCB beside the same index written with matrices, over whole histories."""

import dataclasses
import math
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from semibandits import errors, sets
from semibandits.kernel import warm
from semibandits.policies import ESCB, OLSUCB
from semibandits.policies.solution import listing, ols_ucb
from semibandits.types import FeasibleSet, Game
from support.reference import Solution, paths

Numbers = NDArray[np.float64]
History = list[tuple[list[int], list[float]]]
"""What was told at once: items and their x."""

EDGES = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (0, 3), (2, 4), (3, 4)]
SETS: dict[str, tuple[FeasibleSet, list[Solution]]] = {
    "TopK": (sets.TopK(6, 3), [(a, b, c) for a in range(6) for b in range(a + 1, 6) for c in range(b + 1, 6)]),
    "DagPaths": (sets.DagPaths(EDGES, 0, 4), paths(EDGES, 0, 4)),
    "Enumerated": (sets.Enumerated([[0, 1], [2], [1, 2, 3], [0, 3], []]), [(0, 1), (2,), (1, 2, 3), (0, 3), ()]),
}


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "PATIENCE", math.inf)


def exploration(t: int, k: int, lam: float) -> float:
    late = math.log(math.log(t)) if t > math.e else 0.0
    return math.log(t) + (k + 2) * late + k / 2 * math.log(1 + math.e / lam)


def indices(
    listed: list[Solution], history: History, gamma: Numbers, lam: float, offset: float, k: int, t: int
) -> dict[Solution, float]:
    """D⁻¹ (lam diag(Γ) D + Σ_s I_s Γ I_s) D⁻¹, of which a solution takes its own rows and columns."""
    n = len(gamma)
    counts, sums, shown = np.zeros(n), np.zeros(n), np.zeros((n, n))
    for items, x in history:
        selected = np.zeros((n, n))
        selected[items, items] = 1.0
        shown += selected @ gamma @ selected
        counts[items] += 1.0
        sums[items] += x
    unseen = counts == 0
    sums[unseen] = counts[unseen] = 1.0
    shown[unseen, unseen] = np.diag(gamma)[unseen]
    inverse = np.diag(1 / counts)
    matrix = inverse @ (lam * np.diag(np.diag(gamma)) @ np.diag(counts) + shown) @ inverse
    width = math.sqrt(2 * exploration(t, k, lam))
    found = {}
    for one in listed:
        part = np.array(one, dtype=int)
        variance = max(float(matrix[np.ix_(part, part)].sum()), 0.0)
        found[one] = float((sums / counts + offset)[part].sum()) + width * math.sqrt(variance)
    return found


def estimated(history: History, n: int, width: float, t: int) -> Numbers:
    """Pair by pair, by NumPy's covariance."""
    gamma = np.full((n, n), 0.25)
    for i in range(n):
        for j in range(n):
            rows = [(x[items.index(i)], x[items.index(j)]) for items, x in history if i in items and j in items]
            if len(rows) > 1:
                sample = np.cov(np.array(rows).T, ddof=1)[0, 1]
                gamma[i, j] = min(0.25, sample + math.sqrt(width * math.log(t) / len(rows)))
    return gamma


def random_history(listed: list[Solution], n: int, rounds: int, generator: np.random.Generator) -> History:
    """Weights that share a common part; some are told in parts, and some items are never seen."""
    history: History = []
    for _ in range(rounds):
        items = [item for item in listed[generator.integers(len(listed))] if item != 1]
        common = generator.random()
        x = [0.6 * common + 0.4 * generator.random() for _ in items]
        cut = int(generator.integers(len(items) + 1)) if generator.random() < 0.3 else 0
        history += [(part, weights) for part, weights in ((items[:cut], x[:cut]), (items[cut:], x[cut:])) if part]
    return history


def told(policy: OLSUCB, feasible: FeasibleSet, history: History, offset: float) -> Any:
    state = policy.start(Game(feasible.n_items, feasible.max_size, offset=offset), feasible)
    for round, (items, x) in enumerate(history, start=1):
        state = policy.learn(state, feasible, round, np.array(items), np.array(x), None, 0)
    return state


def random_gamma(n: int, generator: np.random.Generator) -> Numbers:
    """Positive definite, with entries of either sign."""
    root = generator.normal(size=(n, n))
    return root @ root.T * 0.2 / n + 0.01 * np.eye(n)


@pytest.mark.parametrize("which", SETS)
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("offset", [0.0, -1.0, 0.5])
def test_decisions(which: str, known: bool, offset: float) -> None:
    feasible, listed = SETS[which]
    n, k = feasible.n_items, feasible.max_size
    generator = np.random.default_rng((len(which), known, int(4 + offset * 2)))
    for rounds in (0, 3, 20, 200):
        for t in (1, 2, 1 + rounds, 10**5):
            gamma = random_gamma(n, generator)
            lam, width = float(generator.choice([1e-3, 0.1, 2.0])), float(generator.choice([0.0, 0.1, 2.0]))
            history = random_history(listed, n, rounds, generator)
            policy = OLSUCB(gamma if known else None, lam, width)
            state = told(policy, feasible, history, offset)
            expected = indices(listed, history, gamma if known else estimated(history, n, width, t), lam, offset, k, t)
            items, note = policy.choose(state, feasible, t, 0)
            assert note is None
            assert expected[tuple(items.tolist())] == pytest.approx(max(expected.values()), abs=1e-9)


def test_the_estimated_covariance() -> None:
    """Number by number, also of items that were told apart."""
    feasible, listed = SETS["TopK"]
    generator = np.random.default_rng(3)
    history = random_history(listed, 6, 300, generator)
    for width, t in ((0.0, 50), (0.01, 50), (2.0, 300)):
        state = told(OLSUCB(width=width), feasible, history, 0.0)
        expected = estimated(history, 6, width, t)
        for i in range(6):
            for j in range(6):
                found = ols_ucb.covariance(state, np.zeros((0, 0)), i, j, math.log(t))
                assert found == pytest.approx(expected[i, j], abs=1e-12)
    off = expected[~np.eye(6, dtype=bool)]
    assert ((off > 0.0) & (off < 0.25)).any() or (off == 0.25).all()


@pytest.mark.parametrize("t", [1, 2, 3, 20, 10**6])
@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("lam", [0.01, 0.1, 1.0])
def test_the_constants(t: int, k: int, lam: float) -> None:
    """An item without a bonus, beside two whose bonus makes up for what they lack, or not quite."""
    gamma = np.array([[0.1, 0.0, 0.0], [0.0, 0.2, 0.05], [0.0, 0.05, 0.15]])
    feasible = sets.Enumerated([[0], [1, 2]])
    policy = OLSUCB(gamma, lam)
    variance = (1 + lam) * (0.2 / 400 + 0.15 / 300) + 2 * 0.05 * 100 / (400 * 300)
    bonus = math.sqrt(2 * exploration(t, k, lam) * variance)
    for lack, wanted in ((bonus + 1e-7, [0]), (bonus - 1e-7, [1, 2])):
        state = policy.start(Game(3, k), feasible)
        state.together[0, 0], state.together[1, 1], state.together[2, 2] = 1e18, 400, 300
        state.together[1, 2] = state.together[2, 1] = 100
        state.sums[:] = 0.9e18, 400 * 0.5, 300 * (0.4 - lack)
        assert policy.choose(state, feasible, t, 0)[0].tolist() == wanted


def test_independent_items_make_it_escb() -> None:
    """With Γ = 1/4 on the diagonal it is ESCB with (1 + lam) f for f, which ESCB's c can be chosen for."""
    feasible, listed = SETS["TopK"]
    n, k = feasible.n_items, feasible.max_size
    generator = np.random.default_rng(8)
    different = set()
    for t in (30, 1000, 10**6):
        for lam in (1e-6, 0.1):
            policy = OLSUCB(np.eye(n) / 4, lam)
            f = (1 + lam) * exploration(t, k, lam)
            other = ESCB("exact", c=(f - math.log(t)) / (k * math.log(math.log(t))))
            for _ in range(10):
                history = random_history(listed, n, 300, generator)
                state, same = told(policy, feasible, history, -1.0), other.start(Game(n, k, offset=-1.0), feasible)
                for items, x in history:
                    same = other.learn(same, feasible, 1, np.array(items), np.array(x), None, 0)
                chosen = policy.choose(state, feasible, t, 0)[0].tolist()
                assert chosen == other.choose(same, feasible, t, 0)[0].tolist()
                different.add(tuple(chosen))
    assert len(different) > 2


def test_learning_in_parts() -> None:
    """Only items that are told together make a pair; the old state stays as it was."""
    feasible = sets.TopK(4, 3)
    policy = OLSUCB()
    start = policy.start(Game(4, 3), feasible)
    state = policy.learn(start, feasible, 1, np.array([0, 1]), np.array([0.5, 0.25]), None, 0)
    state = policy.learn(state, feasible, 1, np.array([3]), np.array([1.0]), None, 0)
    state = policy.learn(state, feasible, 2, np.array([0, 1, 3]), np.array([1.0, 0.5, 0.0]), None, 0)
    assert state.together.tolist() == [[2, 2, 0, 1], [2, 2, 0, 1], [0, 0, 0, 0], [1, 1, 0, 2]]
    assert state.sums.tolist() == [1.5, 0.75, 0.0, 1.0]
    assert state.firsts.tolist() == [[1.5, 1.5, 0, 1.0], [0.75, 0.75, 0, 0.5], [0, 0, 0, 0], [0.0, 0.0, 0, 1.0]]
    assert state.products[0, 1] == state.products[1, 0] == 0.5 * 0.25 + 1.0 * 0.5
    assert not any(array.any() for array in start[:4])
    known = OLSUCB(np.eye(4) / 4).start(Game(4, 3), feasible)
    assert [array.shape for array in known] == [(4,), (4, 4), (0, 0), (0, 0), (5,)]


def test_machine_code_decides_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    feasible, listed = SETS["TopK"]
    n = feasible.n_items
    generator = np.random.default_rng(9)
    histories = [random_history(listed, n, 60, generator) for _ in range(20)]
    gammas = [random_gamma(n, generator) if case % 2 else None for case in range(20)]
    made = []
    for patience in (math.inf, 0.0):
        monkeypatch.setattr(warm, "PATIENCE", patience)
        run = []
        for history, gamma in zip(histories, gammas, strict=True):
            policy = OLSUCB(gamma, width=0.1)
            state = told(policy, feasible, history, -1.0)
            items, _ = policy.choose(state, feasible, 77, 0)
            run.append((items.tolist(), [array.tobytes() for array in state]))
        made.append(run)
    assert made[0] == made[1]
    assert len({tuple(items) for items, _ in made[0]}) > 2


BAD = {
    "a square matrix, a row for each item, got the shape (2, 3)": np.zeros((2, 3)),
    "a square matrix, a row for each item, got the shape (3,)": [0.1, 0.1, 0.1],
    "a square matrix, a row for each item, got the shape (0,)": [],
    "a square matrix of numbers, got [[1.0], [1.0, 2.0]]": [[1.0], [1.0, 2.0]],
    "a square matrix of numbers, got 'wide'": "wide",
    "finite, got nan for items 0 and 1": [[0.1, math.nan], [math.nan, 0.1]],
    "finite, got -inf for items 1 and 1": [[0.1, 0.0], [0.0, -math.inf]],
    "that of weights in [0, 1], at most 1/4: divide it by the square of the width of the bounds; got 400": [[400.0]],
    "symmetric, got 0.05 for items 0 and 1 but 0.04 for 1 and 0": [[0.1, 0.05], [0.04, 0.1]],
    "positive definite, got one that is not positive definite, of smallest eigenvalue -0.1": [[0.1, 0.2], [0.2, 0.1]],
    "positive definite, got one that is not positive definite, of smallest eigenvalue -1": [[-1.0]],
    "positive definite, got one that is singular, of smallest eigenvalue 0": [[0.0, 0.0], [0.0, 0.0]],
}


@pytest.mark.parametrize("message", BAD)
def test_bad_covariance(message: str) -> None:
    with pytest.raises(errors.BadArgument) as refusal:
        OLSUCB(BAD[message])
    assert str(refusal.value).startswith(f"covariance must be {message}")
    assert "definite" not in message or "add a little to its diagonal" in str(refusal.value)


@pytest.mark.parametrize("n", [2, 5, 40])
def test_items_that_are_copies_of_each_other(n: int) -> None:
    """Rounding must not let it pass, and a little more on the diagonal will do."""
    with pytest.raises(errors.BadArgument, match="singular"):
        OLSUCB(np.full((n, n), 0.25))
    assert len(OLSUCB(np.full((n, n), 0.25) + 1e-9 * np.eye(n))._rows) == n


@pytest.mark.parametrize(
    ("name", "value"), [("lam", 0.0), ("lam", -1), ("lam", 1e-200), ("width", -0.1), ("width", None), ("init", "paper")]
)
def test_other_bad_arguments(name: str, value: Any) -> None:
    with pytest.raises(errors.BadArgument, match=f"{name} must be .*, got"):
        OLSUCB(**{name: value})


def test_sets_it_cannot_play_on(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(errors.BadArgument, match="a row for each of the 4 items, got 3 x 3"):
        OLSUCB(np.eye(3)).check(sets.TopK(4, 2))
    monkeypatch.setattr(listing, "MOST_SOLUTIONS", 300)
    with pytest.raises(errors.Unsupported, match=r"OLSUCB looks at every solution.*10,000.*CombUCB1 and KLUCB"):
        OLSUCB().check(sets.TopK(12, 4))
    OLSUCB(np.eye(12)).check(sets.TopK(12, 2))


@pytest.mark.parametrize(
    "policy", [OLSUCB(), OLSUCB([[0.25, 0.1], [0.1, 0.2]], lam=1, width=0), OLSUCB(init="optimistic")]
)
def test_a_policy_is_its_parameters(policy: OLSUCB) -> None:
    again = dataclasses.replace(policy)
    assert again == policy
    assert hash(again) == hash(policy)
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert policy != OLSUCB(lam=0.3)
    assert repr(OLSUCB(np.eye(9))).startswith("OLSUCB(covariance=<9 x 9>, ")
