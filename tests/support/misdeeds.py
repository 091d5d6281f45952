"""Functions such as users write for the compiler, that do wrong after a while: what is said then, a line for each.

    python misdeeds.py KIND ENGINE [MISDEED ...]

plays in a process of its own, as machine code that does wrong may end it. The misdeeds of a kind are chosen by numbers
in its data, so that all of them are the same machine code.
"""

import re
import sys
import warnings
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from semibandits import Learner, Problem, environments, errors, policies, rng, sets, simulate
from semibandits.kernel import LANES, score_of, where
from semibandits.policies.solution.base import CompiledPolicy, PolicyKernels
from semibandits.rng import uniform
from semibandits.sets.oracles.lanes import ascending
from semibandits.types import Arrays, Clock, Environment, FeasibleSet, Game, Items, Params, Scalar, Solver, State, Stats
from support.worlds import Sum

N_ITEMS, SIZE = 8, 2
LATE = 60
"""Rounds in which all is well; the first twenty or so are compared by the engines themselves."""
HORIZON = 200
FAR = 10**7
"""So far beyond an array that nothing is there."""

ANSWERS = ("too large", "far too large", "negative", "twice", "descending", "not feasible", "too many", "minus one")
MISDEEDS: dict[str, tuple[str, ...]] = {
    "moves": (*ANSWERS, "note too long", "work too long", "state too long", "far in the state"),
    "solver": (*ANSWERS, "too few", "out too long", "work too long", "far in the work", "raises"),
    "lanes": ("too large", "far too large", "negative", "twice", "descending", "not feasible", "too few", "raises"),
    "world": ("end of table", "far in the table", "nan", "infinite", "too heavy", "too light"),
    "coins": ("nan", "infinite", "too heavy", "too light"),
    "drift": ("end of table", "nan", "infinite", "too heavy", "mean nan", "mean too heavy"),
    "formula": ("nan", "infinite", "far in the parameters", "observes nan"),
}


def number(kind: str, misdeed: str) -> int:
    return MISDEEDS[kind].index(misdeed)


# Answers: the honest one is the two items of largest weight that are neighbours in pairs 0-1, 2-3, ...


def write(out: Any, pair: int, misdeed: int) -> int:
    """A pair, or what else is answered."""
    first = 2 * pair
    out[0], out[1] = first, first + 1
    if misdeed == 0:
        out[1] = N_ITEMS
    elif misdeed == 1:
        out[1] = FAR
    elif misdeed == 2:
        out[0] = -3
    elif misdeed == 3:
        out[1] = first
    elif misdeed == 4:
        out[0], out[1] = first + 1, first
    elif misdeed == 5:
        out[0], out[1] = 0, 3
    elif misdeed == 6:
        return SIZE + 5
    elif misdeed == 7:
        return -1
    return SIZE


def best_pair(weights: Any) -> int:
    best = 0
    for pair in range(len(weights) // 2):
        if weights[2 * pair] + weights[2 * pair + 1] > weights[2 * best] + weights[2 * best + 1]:
            best = pair
    return best


class Pairs(FeasibleSet):
    """Two neighbours; its machine code does wrong, and also `argmax` where it says so."""

    n_items, max_size = N_ITEMS, SIZE

    def __init__(self, misdeed: int, openly: bool = False) -> None:
        self._misdeed, self._openly = misdeed, openly
        self._calls = 0

    def argmax(self, weights: ArrayLike) -> Items:
        out = np.zeros(SIZE, dtype=np.int64)
        self._calls += 1
        size = write(out, best_pair(np.asarray(weights)), self._misdeed if self._openly and self._calls > LATE else -1)
        return out[:size]

    def contains(self, items: Iterable[int]) -> bool:
        some = sorted(items)
        return len(some) == SIZE and some[0] % 2 == 0 and some[1] == some[0] + 1 and 0 <= some[0] < N_ITEMS

    def restrict(self, include: Iterable[int] = (), exclude: Iterable[int] = ()) -> FeasibleSet:
        pairs = [[2 * p, 2 * p + 1] for p in range(N_ITEMS // 2)]
        return sets.Enumerated(
            [p for p in pairs if set(include) <= set(p) and not set(exclude) & set(p)], n_items=N_ITEMS
        )


class EachPairs(Pairs):
    def solver(self) -> Solver:
        return Solver(_one_pair, (np.array([self._misdeed]),), variable_size=False, integers=1)


def _one_pair(weights: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
    integers[0] += 1
    misdeed = data[0][0] if integers[0] > LATE else -1
    size = write(out, best_pair(weights), misdeed)
    if misdeed == 8:
        return 1
    if misdeed == 9:
        for k in range(SIZE + 3):
            out[k] = k
    if misdeed == 10:
        integers[1] = 5
    if misdeed == 11:
        numbers[FAR] = 5.0
    if misdeed == 12:
        raise ZeroDivisionError("so it is")
    return size


class LanePairs(Pairs):
    def solver(self) -> Solver:
        def make_work(lanes: int) -> Arrays:
            return (np.zeros(1, dtype=np.int64), np.zeros(N_ITEMS // 64 + 1, dtype=np.uint64))

        return Solver(_pairs_in_lanes, (np.array([self._misdeed]),), make_work, variable_size=False)


def _pairs_in_lanes(view: Any, data: Arrays, work: Arrays, chosen: Any, faults: Any) -> None:
    work[0][0] += 1
    misdeed = data[0][0] if work[0][0] > LATE else -1
    for lane in range(LANES):
        best = 0
        for pair in range(N_ITEMS // 2):
            here = score_of(view, 2 * pair, lane) + score_of(view, 2 * pair + 1, lane)
            if here > score_of(view, 2 * best, lane) + score_of(view, 2 * best + 1, lane):
                best = pair
        chosen[0, lane], chosen[1, lane] = 2 * best, 2 * best + 1
    ascending(chosen, N_ITEMS, work[1])
    lane = 3
    if misdeed == 0:
        chosen[1, lane] = N_ITEMS + 1
    if misdeed == 1:
        chosen[1, lane] = FAR
    if misdeed == 2:
        chosen[0, lane] = -3
    if misdeed == 3:
        chosen[1, lane] = chosen[0, lane]
    if misdeed == 4:
        chosen[0, lane], chosen[1, lane] = 5, 4
    if misdeed == 5:
        chosen[0, lane], chosen[1, lane] = 0, 3
    if misdeed == 6:
        chosen[1, lane] = N_ITEMS
    if misdeed == 7:
        raise ZeroDivisionError("so it is")


class Odd(CompiledPolicy):
    """A policy written as moves."""

    def __init__(self, misdeed: int) -> None:
        self.misdeed = misdeed

    def start(self, game: Game, feasible: FeasibleSet) -> State:
        return (np.zeros(game.n_items), np.zeros(game.n_items))

    def kernels(self, feasible: FeasibleSet) -> PolicyKernels:
        return PolicyKernels(_choose, _learn, (np.array([self.misdeed]),), note="chosen", integers=2)


def _choose(state: Any, out: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> int:
    misdeed = data[0][0] if round > LATE else -1
    if misdeed == 8:
        note[SIZE] = 1.0
    if misdeed == 9:
        work[1][2] = 7
    return write(out, round % (N_ITEMS // 2), misdeed)


def _learn(state: Any, items: Any, x: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> None:
    misdeed = data[0][0] if round > LATE else -1
    for i in range(len(items)):
        state[0][items[i]] += 1.0
        state[1][items[i]] += x[i]
    if misdeed == 10:
        state[0][len(state[0])] = 1.0
    if misdeed == 11:
        state[1][FAR] = 1.0


class Weather(Environment):
    """Weights 0 or 1, by a table of rows for rounds; item 1 does wrong."""

    def __init__(self, misdeed: int) -> None:
        self.n_items, self.bounds = N_ITEMS, (0.0, 1.0)
        self.means = np.linspace(0.2, 0.8, N_ITEMS)
        rows = np.tile(self.means, (LATE if misdeed == 0 else HORIZON, 1))
        self.tables = (rows, np.array([misdeed]))

    @staticmethod
    def draw(round: int, key: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        late = round > LATE
        misdeed = tables[1][0]
        odd = 0.0
        if late and misdeed == 2:
            odd = np.nan
        if late and misdeed == 3:
            odd = np.inf
        if late and misdeed == 4:
            odd = 2.5
        if late and misdeed == 5:
            odd = -2.5
        row = FAR if late and misdeed == 1 else round - 1
        return 1.0 * (uniform(key, item) < tables[0][row, item]) + odd


class Coins(Environment):
    """Weights 0 or 1, by the entries of the item alone; item 1 does wrong."""

    def __init__(self, misdeed: int) -> None:
        self.n_items, self.bounds = N_ITEMS, (0.0, 1.0)
        self.means = np.linspace(0.2, 0.8, N_ITEMS)
        odd = np.zeros(N_ITEMS)
        odd[1] = (np.nan, np.inf, 2.5, -2.5)[misdeed]
        self.tables = (self.means, odd)

    @staticmethod
    def draw(round: int, key: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        return where(uniform(key, item) < tables[0][item], 1.0, 0.0) + where(round > LATE, tables[1][item], 0.0)


class Climate(Environment):
    """The same where the means drift."""

    drifts = True

    def __init__(self, misdeed: int) -> None:
        self.n_items, self.bounds = N_ITEMS, (0.0, 1.0)
        rows = np.tile(np.linspace(0.2, 0.8, N_ITEMS), (LATE if misdeed == 0 else HORIZON, 1))
        self.whole = np.tile(rows[:1], (HORIZON, 1))
        self.tables = (rows, np.array([misdeed]), rows[0])

    def means(self, round: int) -> Any:  # type: ignore[override]
        return self.whole[round - 1]

    @staticmethod
    def mean(round: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        misdeed = tables[1][0]
        odd = 0.0
        if round > LATE and misdeed == 4:
            odd = np.nan
        if round > LATE and misdeed == 5:
            odd = 3.0
        return tables[2][item] + odd

    @staticmethod
    def draw(round: int, key: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        misdeed = tables[1][0]
        odd = 0.0
        if round > LATE and misdeed == 1:
            odd = np.nan
        if round > LATE and misdeed == 2:
            odd = np.inf
        if round > LATE and misdeed == 3:
            odd = 2.5
        return 1.0 * (uniform(key, item) < tables[0][round - 1, item]) + odd


class Formula(Sum):
    """A policy that is a formula per item."""

    init: ClassVar[Any] = "all"  # type: ignore[misc]
    misdeed: ClassVar[int] = -1

    def params(self, game: Game) -> Params:
        return (np.array([type(self).misdeed]), np.ones(game.n_items))

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        return (float(round),)

    @staticmethod
    def observe(s: Stats, x: Scalar, round: int, key: int, item: Scalar, p: Params) -> Stats:
        if round > LATE and p[0][0] == 3:
            return (s[0] + 1.0, s[1] + x * np.nan)
        return (s[0] + 1.0, s[1] + x)

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        odd = 0.0
        if c[0] > LATE and p[0][0] == 0:
            odd = np.nan
        if c[0] > LATE and p[0][0] == 1:
            odd = np.inf
        at = FAR if c[0] > LATE and p[0][0] == 2 else 0
        return s[1] / (s[0] + 1.0) + 0.0 * p[1][at] + odd


MEANS = np.linspace(0.2, 0.8, N_ITEMS)
SOME = policies.CombUCB1()


def parts(kind: str, misdeed: str, openly: bool) -> tuple[Problem, Any]:
    which = number(kind, misdeed)
    world: Environment = environments.Bernoulli(MEANS)
    if kind == "moves":
        return Problem(Pairs(-1), world), Odd(which)
    if kind == "formula":
        return Problem(sets.TopK(N_ITEMS, SIZE), world), type("Formula", (Formula,), {"misdeed": which})()
    if kind in ("world", "coins", "drift"):
        kinds: dict[str, Any] = {"world": Weather, "coins": Coins, "drift": Climate}
        return Problem(sets.TopK(N_ITEMS, SIZE), kinds[kind](which)), SOME
    return Problem((EachPairs if kind == "solver" else LanePairs)(which, openly), world), SOME


def played(kind: str, engine: str, misdeed: str) -> None:
    """Until it is found out."""
    problem, policy = parts(kind, misdeed, openly=engine in ("plain", "live"))
    if engine != "live":
        simulate(problem, policy, horizon=HORIZON, runs=5, seed=0, engine=engine, threads=1, uncovered="ignore")  # type: ignore[arg-type]
        return
    learner = Learner(problem.feasible, policy, seed=0)
    for round in range(1, HORIZON + 1):
        try:
            decision = learner.ask()
        except Exception:
            assert (learner.round, learner.outstanding) == (round - 1, []), "something was lost"
            raise
        weights = problem.environment.weights(round, rng.key(0, 0, round, rng.WORLD), decision.items)
        learner.tell(decision.id, weights)


def said(kind: str, engine: str, misdeed: str) -> str:
    """What was wrong with what was said; nothing: it was as it should be."""
    try:
        played(kind, engine, misdeed)
    except Exception as error:
        notes = " ".join(getattr(error, "__notes__", ()))
        own = isinstance(error, ZeroDivisionError) or (kind in ("moves", "formula") and isinstance(error, IndexError))
        if not (isinstance(error, errors.SemiBanditError) or own):
            return f"{type(error).__name__}: {error}"
        place = re.search(r"runs? \d+(?: to \d+)?, round (\d+)", f"{error} {notes}")
        if engine != "live" and (place is None or int(place[1]) <= LATE - 40):
            return f"does not say where: {type(error).__name__}: {error} {notes}"
        print(f"  {kind}, {engine}, {misdeed}: {type(error).__name__}: {error} {notes}", flush=True)
        return ""
    return "nobody noticed"


def main() -> None:
    warnings.simplefilter("ignore")
    kind, engine, *some = sys.argv[1:]
    for misdeed in some or MISDEEDS[kind]:
        print(f"trying {misdeed}", flush=True)
        print(f"found {misdeed}: {said(kind, engine, misdeed)}", flush=True)


if __name__ == "__main__":
    main()
