"""FPL: its choices and weights against integrals, whole runs against a second program, and what it is handed late."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import integrate, stats

from semibandits import Learner, errors, policies, problems, rng, sets
from semibandits.kernel import warm
from semibandits.policies.solution.fpl import FPL, FPLState
from semibandits.types import FeasibleSet, Game
from support.plain_play import agree

Numbers = NDArray[np.float64]
COSTS, REWARDS = -1.0, 0.0


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "PATIENCE", 0.0)


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "PATIENCE", math.inf)


def game(feasible: FeasibleSet, horizon: int = 0, offset: float = COSTS) -> Game:
    return Game(feasible.n_items, feasible.max_size, horizon, feasible.signed, offset)


def started(policy: FPL, feasible: FeasibleSet, losses: Sequence[float], offset: float = COSTS) -> FPLState:
    return policy.start(game(feasible, offset=offset), feasible)._replace(losses=np.array(losses))


def one_of(shifts: Sequence[float]) -> Numbers:
    """The chance of each item to have the least shift - Z, Z from Exp(1)."""

    def chance(i: int) -> float:
        def density(z: float) -> float:
            others = [1.0 - math.exp(-max(0.0, z + d - shifts[i])) for j, d in enumerate(shifts) if j != i]
            return math.exp(-z) * math.prod(others)

        kinks = sorted({max(0.0, shifts[i] - d) for d in shifts})
        ends = zip(kinks, [*kinks[1:], 60.0], strict=True)
        return math.fsum(integrate.quad(density, low, high, epsabs=1e-12)[0] for low, high in ends)

    return np.array([chance(i) for i in range(len(shifts))])


@pytest.mark.parametrize(("n_items", "k", "n"), [(10, 3, 1000), (5, 1, 10), (64, 32, 10**6), (3, 3, 77)])
def test_constants_of_theorem_1(n_items: int, k: int, n: int) -> None:
    feasible = sets.TopK(n_items, k)
    width = math.log(n_items / k) + 1.0
    eta, most, worth, shift, largest = FPL().start(game(feasible, n), feasible).constants
    assert eta == pytest.approx(math.sqrt(width / (2 * n_items * n)), rel=1e-14)
    assert most == max(1, math.ceil(math.sqrt(n_items * n) / (math.e * k * math.sqrt(2 * width))))
    assert (worth, shift, largest) == (0.0, 0.0, math.inf)
    if most > 1:  # the first two terms of their bound are what they say, and the third is no more than it
        bound = 3 * k * math.sqrt(2 * n_items * n * width)
        assert k * width / eta + 2 * eta * k * n_items * n == pytest.approx(2 * bound / 3, rel=1e-12)
        assert n_items * n / (math.e * most) <= bound / 3
    assert FPL(eta=0.5, most=7).start(game(feasible), feasible).constants[:2].tolist() == [0.5, 7.0]
    assert FPL(eta=0.001).start(game(feasible), feasible).constants[1] == math.ceil(1 / (0.002 * math.e * k))
    assert FPL(most=7).start(game(feasible, n), feasible).constants[:2].tolist() == [eta, 7.0]


def test_choices_and_redraws_have_their_distribution(compiled: None) -> None:
    """On sets of one item, and on pairs of three items, which are all but the last one."""
    most, rounds, eta = 6, 15_000, 0.25
    single, pairs = sets.TopK(4, 1), sets.TopK(3, 2)
    shifts = [0.0, 0.5, 1.0, 2.5]
    q = one_of(shifts)
    assert q.sum() == pytest.approx(1.0, abs=1e-9)
    check_frequencies(FPL(eta, most), single, [shift / eta for shift in shifts], q, most, rounds)
    check_frequencies(FPL(eta, most), pairs, [0.0, 2.0, 5.0], pair_chances([0.0, 0.5, 1.25]), most, rounds)


def pair_chances(shifts: Sequence[float]) -> Numbers:
    """The chance of each of three items to be among the two of least shift - Z: not to be the one of largest."""

    def last(i: int) -> float:
        others = [d for j, d in enumerate(shifts) if j != i]

        def density(z: float) -> float:  # both others have Z_j > z + d_j - d_i
            return math.exp(-z) * math.prod(math.exp(-max(0.0, z + d - shifts[i])) for d in others)

        kinks = sorted({0.0, *(max(0.0, shifts[i] - d) for d in others)})
        ends = zip(kinks, [*kinks[1:], 60.0], strict=True)
        return math.fsum(integrate.quad(density, low, high, epsabs=1e-12)[0] for low, high in ends)

    lasts = np.array([last(i) for i in range(3)])
    assert lasts.sum() == pytest.approx(1.0, abs=1e-9)
    return 1.0 - lasts


def check_frequencies(
    policy: FPL, feasible: FeasibleSet, losses: list[float], q: Numbers, most: int, rounds: int
) -> None:
    """Items by their chances, and K of each by (1 - q)^(k-1) q, the rest at M."""
    state = started(policy, feasible, losses)
    ks: list[list[int]] = [[] for _ in losses]
    for round in range(1, rounds + 1):
        items, note = policy.choose(state, feasible, round, rng.key(11, 0, round, rng.POLICY))
        for item, k in zip(items.tolist(), note.tolist(), strict=True):
            ks[item].append(abs(int(k)))
    for item, drawn in enumerate(ks):
        p = q[item]
        assert abs(len(drawn) - rounds * p) < 4.0 * math.sqrt(rounds * p * (1 - p))
        law = np.array([p * (1 - p) ** (k - 1) for k in range(1, most)] + [(1 - p) ** (most - 1)])
        seen = np.bincount(drawn, minlength=most + 1)[1:]
        assert stats.chisquare(seen, law * len(drawn)).pvalue > 1e-4
        mean, error = np.mean(drawn), np.std(drawn) / math.sqrt(len(drawn))
        assert abs(mean - (1 - (1 - p) ** most) / p) < 4.0 * error


def second_program(
    listed: Sequence[Sequence[int]],
    means: Sequence[float],
    gain: float,
    *,
    eta: float,
    most: int,
    below: float | None = None,
    horizon: int,
    runs: int,
    seed: int,
) -> Numbers:
    """The regret of each run, all runs at once: coins x of these means, an item being worth x + gain.

    It keeps estimated gains: that of an item is 1 + gain, less K (1 - x) where it was chosen. `below`: B.
    """
    generator = np.random.default_rng(seed)
    n_items = len(means)
    rows = np.zeros((len(listed), n_items), dtype=bool)
    for number, one in enumerate(listed):
        rows[number, list(one)] = True
    values = rows @ (np.array(means) + gain)
    gains, regrets = np.zeros((runs, n_items)), np.zeros(runs)

    def draw(which: NDArray[np.int64]) -> NDArray[np.int64]:
        scores = eta * gains[which] + generator.exponential(size=(which.size, n_items))
        if below is not None:
            scores = np.minimum(scores - below, 0.0)
        return np.argmax(scores @ rows.T, axis=1)

    for _ in range(horizon):
        chosen = draw(np.arange(runs))
        regrets += values.max() - values[chosen]
        waiting = rows[chosen].copy()
        k = np.zeros((runs, n_items))
        for _ in range(most):
            open_runs = np.flatnonzero(waiting.any(axis=1))
            if open_runs.size == 0:
                break
            k += waiting
            waiting[open_runs] &= ~rows[draw(open_runs)]
        x = generator.random((runs, n_items)) < means
        gains += 1.0 + gain - k * (1.0 - x)
    return regrets


def our_regrets(
    feasible: FeasibleSet, policy: FPL, means: Sequence[float], offset: float, *, horizon: int, runs: int
) -> Numbers:
    best = feasible.argmax(np.array(means) + offset)
    worth = np.array(means) + offset
    regrets = np.zeros(runs)
    for run in range(runs):
        state = policy.start(game(feasible, horizon, offset), feasible)
        for round in range(1, horizon + 1):
            key = rng.key(5, run, round, rng.POLICY)
            items, note = policy.choose(state, feasible, round, key)
            x = (rng.uniform(rng.key(5, run, round, rng.WORLD), items) < np.array(means)[items]).astype(np.float64)
            state = policy.learn(state, feasible, round, items, x, note, key)
            regrets[run] += worth[best].sum() - worth[items].sum()
    return regrets


PAIRS = [list(pair) for pair in itertools.combinations(range(5), 2)]


@pytest.mark.parametrize("offset", [COSTS, REWARDS])
def test_whole_runs_of_pairs(compiled: None, offset: float) -> None:
    """The offset does not matter where all solutions are equally large."""
    means, horizon = [0.8, 0.2, 0.7, 0.4, 0.3], 300
    eta = math.sqrt((math.log(5 / 2) + 1) / (2 * 5 * horizon))
    most = math.ceil(math.sqrt(5 * horizon) / (math.e * 2 * math.sqrt(2 * math.log(5 / 2) + 2)))
    ours = our_regrets(sets.TopK(5, 2), FPL(), means, offset, horizon=horizon, runs=60)
    theirs = second_program(PAIRS, means, COSTS, eta=eta, most=most, horizon=horizon, runs=2000, seed=1)
    agree(ours, theirs)
    agree(ours, second_program(PAIRS, means, REWARDS, eta=eta, most=most, horizon=horizon, runs=2000, seed=2))


LARGE_AND_SMALL = [[0], [1, 2, 3], [1, 2]]


@pytest.mark.parametrize(
    ("means", "offset"),
    [
        ((0.9, 0.4, 0.5, 0.4), REWARDS),  # the large one is better, though its x are small
        ((0.3, 0.8, 0.9, 0.7), COSTS),  # the small one is better, though its x is small
        ((0.5, 0.9, 0.9, 0.2), -0.4),  # one of two items
        ((0.5, 0.9, 0.9, 0.9), -1.25),
    ],
)
def test_whole_runs_of_solutions_of_different_sizes(plain: None, means: tuple[float, ...], offset: float) -> None:
    feasible = sets.Enumerated(LARGE_AND_SMALL, n_items=4)
    ours = our_regrets(feasible, FPL(0.2, 8), means, offset, horizon=100, runs=15)
    theirs = second_program(LARGE_AND_SMALL, means, offset, eta=0.2, most=8, horizon=100, runs=2000, seed=3)
    agree(ours, theirs)


def cheapest(weights: Numbers) -> list[int]:
    assert (weights <= 0.0).all()
    return list(max(LARGE_AND_SMALL, key=lambda items: weights[items].sum()))


@pytest.mark.parametrize("offset", [COSTS, -1.5])
def test_whole_runs_with_an_oracle_for_weights_below_zero(offset: float) -> None:
    feasible = sets.Oracle(
        cheapest, n_items=4, max_size=3, signed=False, contains=lambda items: list(items) in LARGE_AND_SMALL
    )
    means, horizon = (0.5, 0.9, 0.9, 0.8), 100
    shift = math.log(4 * horizon)
    eta = math.sqrt(shift / (2 * 4 * horizon))
    most = math.ceil(math.sqrt(4 * horizon) / (math.e * 3 * math.sqrt(2 * shift)))
    start = FPL().start(game(feasible, horizon, offset), feasible)
    assert start.constants == pytest.approx([eta, most, 1.0 + offset, shift, 0.0])
    assert FPL(eta=0.1).start(game(feasible), feasible).constants[3] == pytest.approx(math.log(100.0))
    ours = our_regrets(feasible, FPL(), means, offset, horizon=horizon, runs=20)
    theirs = second_program(
        LARGE_AND_SMALL, means, offset, eta=eta, most=most, below=shift, horizon=horizon, runs=2000, seed=4
    )
    agree(ours, theirs)


def test_a_users_solver_decides_as_the_built_in_set(plain: None) -> None:
    def two_best(weights: Numbers) -> list[int]:
        return sorted(np.argsort(-weights, kind="stable")[:2].tolist())

    built_in, own = sets.TopK(5, 2), sets.Oracle(two_best, n_items=5, max_size=2)
    histories = [history(FPL(0.1, 9), feasible, 60) for feasible in (built_in, own)]
    assert histories[0] == histories[1]


def history(policy: FPL, feasible: FeasibleSet, rounds: int, offset: float = COSTS) -> list[Any]:
    state = policy.start(game(feasible, offset=offset), feasible)
    generator = np.random.default_rng(3)
    out: list[Any] = []
    for round in range(1, rounds + 1):
        key = rng.key(2, 0, round, rng.POLICY)
        before = [array.copy() for array in state]
        items, note = policy.choose(state, feasible, round, key)
        after = policy.learn(state, feasible, round, items, generator.random(items.size), note, key)
        assert all(map(np.array_equal, before, state))
        state = after
        out += [items.tolist(), note.tolist(), *[array.tolist() for array in state]]
        out.append(policy.live(feasible).scores(state, round + 1, key).tolist())
    return out


def plain_is_compiled(policy: FPL, feasible: FeasibleSet, monkeypatch: pytest.MonkeyPatch, offset: float) -> None:
    histories = []
    for patience in (math.inf, 0.0):
        monkeypatch.setattr(warm, "PATIENCE", patience)
        histories.append(history(policy, feasible, 50, offset))
    assert histories[0] == histories[1]


def test_machine_code_decides_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    plain_is_compiled(FPL(0.1, 9), sets.TopK(6, 2), monkeypatch, COSTS)


@pytest.mark.long
@pytest.mark.parametrize(
    "feasible",
    [
        sets.Enumerated(LARGE_AND_SMALL, n_items=4),
        sets.GridPaths(2),
        sets.Assignment(3, 3),
        sets.Paths([("a", "b"), ("b", "c"), ("a", "c"), ("c", "b"), ("b", "d"), ("c", "d")], "a", "d"),
    ],
    ids=repr,
)
def test_machine_code_decides_alike_on_other_sets(feasible: FeasibleSet, monkeypatch: pytest.MonkeyPatch) -> None:
    plain_is_compiled(FPL(0.1, 9), feasible, monkeypatch, -1.25)


def test_feedback_late_in_parts_and_in_any_order(plain: None) -> None:
    feasible, policy = sets.Enumerated([[0, 1, 2], [1, 3], [2, 3], []], n_items=4), FPL(0.5, 20)
    state = started(policy, feasible, [1.0, 2.0, 3.0, 1.0], REWARDS)
    generator = np.random.default_rng(1)
    told = []
    for round in range(1, 31):
        items, note = policy.choose(state, feasible, round, rng.key(7, 0, round, rng.POLICY))
        assert np.sign(note).tolist() == [-1.0, 1.0, 1.0][: items.size]
        told.append((round, items, generator.integers(0, 5, size=items.size) / 4, note))
    in_order = backwards = in_parts = state
    for round, items, x, note in told:
        in_order = policy.learn(in_order, feasible, round, items, x, note, 0)
    for round, items, x, note in told[::-1]:
        backwards = policy.learn(backwards, feasible, round, items, x, note, 0)
        parts = np.array_split(np.arange(items.size), max(1, items.size))
        for part in parts[::-1]:
            in_parts = policy.learn(in_parts, feasible, round, items[part], x[part], note[part], 0)
    expected = np.array([1.0, 2.0, 3.0, 1.0])
    for _, items, x, note in told:
        expected[items] += np.abs(note) * (1 - x)
    for one in (in_order, backwards, in_parts):
        np.testing.assert_array_equal(one.losses, expected)
        assert one.rounds.tolist() == [30]
    elsewhere = policy.learn(in_order, feasible, 31, np.array([1, 3]), np.array([0.5, 0.5]), None, 0)
    assert all(map(np.array_equal, elsewhere, in_order))


@settings(max_examples=40)
@given(
    st.lists(st.floats(0, 300), min_size=4, max_size=4),
    st.integers(1, 12),
    st.floats(1e-3, 10.0),
    st.integers(0, 2**64 - 1),
    st.sampled_from([COSTS, REWARDS, -0.5, -3.0]),
)
def test_every_choice_is_the_perturbed_best(
    losses: list[float], most: int, eta: float, key: int, offset: float
) -> None:
    """Against a program that draws all M times, and looks afterwards."""
    feasible, policy = sets.Enumerated(LARGE_AND_SMALL, n_items=4), FPL(eta, most)
    state = started(policy, feasible, losses, offset)._replace(rounds=np.array([17]))

    def best(drawn_with: int) -> list[int]:
        z = [-math.log1p(-float(rng.uniform(drawn_with, item))) for item in range(4)]
        costs = [eta * (losses[item] - 17 * (1 + offset)) - z[item] for item in range(4)]
        return min(LARGE_AND_SMALL, key=lambda items: math.fsum(costs[item] for item in items))

    items, note = policy.choose(state, feasible, 18, key)
    assert items.tolist() == best(key)
    again = [best(int(rng.below(key, k))) for k in range(1, most + 1)]
    expected = [next((k for k, one in enumerate(again, start=1) if item in one), most) for item in items.tolist()]
    assert np.abs(note).tolist() == expected


def test_an_adversary_that_knows_combucb1_does_not_know_fpl(compiled: None) -> None:
    feasible, horizon, n_items, k = sets.TopK(6, 2), 4000, 6, 2
    problem = problems.against(Learner(feasible, policies.CombUCB1(), sense="min", seed=0), feasible, horizon)
    losses = problem.environment.losses  # type: ignore[attr-defined]
    best = np.sort(losses.sum(axis=0))[:k].sum()
    policy = FPL()
    regrets = []
    for run in range(4):
        state = policy.start(game(feasible, horizon), feasible)
        paid = 0.0
        for round in range(1, horizon + 1):
            key = rng.key(1, run, round, rng.POLICY)
            items, note = policy.choose(state, feasible, round, key)
            row = losses[round - 1, items]
            paid += row.sum()
            state = policy.learn(state, feasible, round, items, 1.0 - row, note, key)
        regrets.append(paid - best)
    assert losses.sum() - best > 0.6 * k * horizon
    assert np.mean(regrets) < 3 * k * math.sqrt(2 * n_items * horizon * (math.log(n_items / k) + 1))
    assert np.mean(regrets) < 0.05 * k * horizon


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("eta", value) for value in (0.0, -1.0, math.inf, math.nan, "0.5", True)),
        *(("most", value) for value in (0, 2.5, -3, math.nan, "2", True, 2**54)),
    ],
)
def test_bad_parameters(name: str, value: object) -> None:
    with pytest.raises(errors.BadArgument, match=f"{name} must be .*, got"):
        FPL(**{name: value})  # type: ignore[arg-type]


def test_what_it_says_of_itself() -> None:
    assert repr(FPL(eta=1, most=np.int64(3))) == "FPL(eta=1.0, most=3)"  # type: ignore[arg-type]
    assert FPL(most=3).needs_horizon
    assert not FPL(eta=0.1).needs_horizon
    assert FPL(eta=0.1) == FPL(eta=0.1)
    assert FPL.needs_note
    assert policies.FPL is FPL
    feasible = sets.TopK(3, 1)
    with pytest.raises(errors.BadArgument, match=r"needs to know the horizon: give eta="):
        FPL().start(game(feasible), feasible)
