"""Efficient sampling for combinatorial bandits: one confidence interval for a whole solution."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from semibandits._util.checks import Begin, check_choice, check_init, check_not_negative
from semibandits._util.identity_cache import IdentityCache
from semibandits.errors import BadArgument, Unsupported
from semibandits.kernel import sqrt
from semibandits.oracle import all_solutions, compiled_oracle
from semibandits.policies.solution.aescb import FACTOR, OFFSET, approximate, exploration
from semibandits.policies.solution.base import CompiledPolicy, PolicyKernels
from semibandits.policies.solution.listing import MOST_SOLUTIONS, listing, write_solution
from semibandits.types import FeasibleSet, Game, Solver, TradeOffs, Weights, up_to_date

Method: TypeAlias = Literal["auto", "exact", "approximate"]

FEW = 1_000
"""Where there are no more solutions, "auto" looks at each of them, even if the set has a dynamic program."""
MOST_STEPS = 10_000_000
INSTEAD = (
    f"ESCB plays on sets of at most {MOST_SOLUTIONS:,} solutions, on TopK and on paths of acyclic graphs; "
    "CombUCB1, KLUCB, GaussianCTS and CTS need nothing but the set's oracle"
)


class Observed(NamedTuple):
    """What was seen of each item, and the constants of the game."""

    counts: Weights
    sums: Weights
    constants: Weights
    """OFFSET, FACTOR = c K, MARGIN = L max(1, ln K)²."""


@dataclass(frozen=True, repr=False)
class ESCB(CompiledPolicy):
    """ESCB-2 (Combes, Talebi, Proutière and Lelarge 2015). In round t it chooses the solution A with the largest index

        b_t(A) = Σ_A ŵ(e) + sqrt(f(t)/2 · Σ_A 1/T(e)),    f(t) = log t + c K log log t

    where K is the size of the largest solution, c = 4 and log log t is at least 0: a confidence interval of the sum,
    which is shorter than the sum of the items' intervals. It needs independent items. Items nobody has seen count as
    seen once, with the largest weight. c = 4 is confirmed by a remark in the code of AESCB's first author; the paper
    itself could not be read. Public code has c = 0, without a proof: regret is then several times smaller.

    `method="exact"` compares all solutions, up to 10,000; of tied ones it takes the first of the set's list.

    `method="approximate"` is AESCB (Cuvelier, Combes and Gourdin 2021), for sets that know a dynamic program: `TopK`
    and paths of acyclic graphs. The index of its choice is at most

        max(δ, K B / steps),    δ = L max(1, ln K)² / t,    B = sqrt(f(t)/2 · max_A Σ_A 1/T(e))

    below the largest one, but for rounding (proof: `policies.solution.aescb`). δ is what the authors allow for: they
    round the weights up to multiples of δ/K and look for the largest bonus at every total weight, ever more totals from
    round to round. Here only those are tried that can be better than what the oracle finds, often none, and no more
    than `steps` + 2 of them: in late rounds, with δ < K B / steps, the multiples may be larger. A round costs at most
    about steps · edges operations on paths, steps · K · L on `TopK`. Their theorem, O(L (ln K)² log n / Δ) for
    independent items, could not be read, and covers rounds with δ >= K B / steps only; raise `steps` for more of them.

    `method="auto"` is exact where the set has no more than 1,000 solutions, or no dynamic program, else approximate.

    >>> import semibandits as sb
    >>> learner = sb.Learner(sb.sets.TopK(100, 10), ESCB())
    >>> learner.ask().items.size
    10
    """

    needs = "independent items; at most 10,000 solutions, or top-k, or paths of an acyclic graph"
    guarantee = "O(L log²K log n / Δ), as others state it of Combes et al. 2015 and Degenne and Perchet 2016"
    use = "independent items with a proof, no randomness; c=0 in practice, which has less regret than KLUCB"

    method: Method = "auto"
    c: float = 4.0
    steps: int = 1_000
    init: Begin = "all"

    by_item: ClassVar[tuple[str, ...]] = ("counts", "sums")

    def __post_init__(self) -> None:
        object.__setattr__(self, "method", check_choice("method", self.method, Method))
        object.__setattr__(self, "c", check_not_negative("c", self.c))
        object.__setattr__(self, "steps", _steps(self.steps))
        object.__setattr__(self, "init", check_init(self.init))

    def check(self, feasible: FeasibleSet) -> None:
        self._approximates(feasible)

    def start(self, game: Game, feasible: FeasibleSet) -> Observed:
        size = float(game.max_size)
        margin = game.n_items * max(1.0, math.log(max(size, 1.0))) ** 2
        constants = np.array([game.offset, self.c * size, margin])
        return Observed(np.zeros(game.n_items), np.zeros(game.n_items), constants)

    def observe_many(self, state: Observed, counts: Weights, sums: Weights, squares: Weights) -> Observed:
        return state._replace(counts=state.counts + counts, sums=state.sums + sums)

    def kernels(self, feasible: FeasibleSet) -> PolicyKernels:
        found = self._approximates(feasible)
        if found is None:
            return PolicyKernels(_choose, _learn, listing(feasible, "ESCB", INSTEAD), numbers=feasible.n_items)
        trade_offs, solver = found
        return approximate(trade_offs, solver, feasible.n_items, feasible.max_size, self.steps, _learn)

    def _approximates(self, feasible: FeasibleSet) -> tuple[TradeOffs, Solver] | None:
        """The dynamic program; None: it is exact here. Raises where it can be neither."""
        found = dynamic_program(feasible) if self.method != "exact" else None
        if self.method == "approximate" and found is None:
            raise Unsupported(f"{self!r} needs a dynamic program, which {feasible!r} does not know: {INSTEAD}")
        if found is None or (self.method == "auto" and _few(feasible)):
            listing(feasible, "ESCB", INSTEAD)
            return None
        return found


def _steps(value: Any) -> int:
    """As many as fit into memory for the smallest sets."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not 1 <= value <= MOST_STEPS:
        raise BadArgument(f"steps must be a whole number from 1 to {MOST_STEPS:,}, got {value!r:.100}")
    return int(value)


def dynamic_program(feasible: FeasibleSet) -> tuple[TradeOffs, Solver] | None:
    """What it takes to approximate; None: the set does not know it."""
    if not up_to_date(feasible, "trade_offs", "argmax"):
        return None
    trade_offs, solver = feasible.trade_offs(), compiled_oracle(feasible)
    return None if trade_offs is None or solver is None else (trade_offs, solver)


_FEW: IdentityCache[bool] = IdentityCache()


def _few(feasible: FeasibleSet) -> bool:
    if feasible not in _FEW:
        _FEW[feasible] = all_solutions(feasible, FEW) is not None
    return _FEW[feasible]


def _choose(state: Any, out: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> Any:
    counts, sums, constants = state
    members, starts = data
    gains, _, values = work
    for item in range(len(counts)):
        count = max(counts[item], 1.0)
        values[item] = (sums[item] / count if counts[item] > 0.0 else 1.0) + constants[OFFSET]
        gains[item] = 1.0 / count
    half = 0.5 * exploration(round, constants[FACTOR])
    best = 0.0
    which = 0
    for j in range(len(starts) - 1):
        value = 0.0
        gain = 0.0
        for i in range(starts[j], starts[j + 1]):
            value += values[members[i]]
            gain += gains[members[i]]
        index = value + sqrt(half * gain)
        if j == 0 or index > best:
            best = index
            which = j
    return write_solution(which, members, starts, out)


def _learn(state: Any, items: Any, x: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> None:
    counts, sums, _ = state
    for i in range(len(items)):
        counts[items[i]] += 1.0
        sums[items[i]] += x[i]
