"""The index of ESCB-2 maximised approximately, by dynamic programming (Cuvelier, Combes and Gourdin 2021).

The index of a solution A is v(A) + sqrt(h g(A)): v and g add up over its items, g is not negative, h = f(t)/2. Let A₁
be the solution of largest v, and `best` the largest index found so far.

Limits. For every b > 0, sqrt(h g) <= h g / 2b + b/2. So with P the largest total of p = v + h g / 2b, which the oracle
finds, no index exceeds P + b/2. A solution with v(A) = P - y has a bonus of at most sqrt(2 b y), hence an index above
`best` only if y < w², w = (sqrt(2b) + sqrt(2b + 4 (P - best)))/2; and, B being the largest bonus, only if
v(A) > best - B. Each is a lower limit on v(A); let `low` be the highest of them. As best >= v(A₁), v(A₁) - low <= B.
What an index may be, P - y + sqrt(2 b y) or v(A) + B, grows no faster than v(A): if v(A) <= low + r, it is at most
best + r.

The dynamic program. With ξ = max(δ/K, (v(A₁) - low)/steps) and u = ceil(v/ξ), v(A) <= ξ u(A) <= v(A) + K ξ. Let A have
the largest index, and u(A) = max u - d. If d <= (v(A₁) - low)/ξ, the program finds a solution C with u(C) >= u(A) and
g(C) >= g(A) for this d, so that v(C) >= ξ u(C) - K ξ >= v(A) - K ξ. Otherwise v(A) <= ξ u(A) < ξ max u - (v(A₁) - low)
<= low + K ξ. So the better of `best` and the best of all these C is worse than A by at most K ξ <= max(δ, K B/steps).
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from semibandits.kernel import as_index, log, sqrt
from semibandits.policies.solution.base import PolicyKernels
from semibandits.types import Solver, TradeOffs

LINES = 4
"""How many b are tried: the largest bonus, then each time that of the solution found last."""
ROUNDING = 1e-15
OFFSET, FACTOR, MARGIN = range(3)
"""Of the state's constants; the last one is δ t."""
STEPS, LARGEST, NUMBERS, INTEGERS = range(4)
"""Of the plan: the last two are how much room the oracle and this take, before what the program takes."""


def approximate(
    trade_offs: TradeOffs, solver: Solver, n_items: int, max_size: int, steps: int, learn: Callable[..., Any]
) -> PolicyKernels:
    """For states (counts, sums, constants)."""
    numbers, integers = trade_offs.room(steps + 1)
    before = 3 * n_items + solver.numbers, n_items + max_size + solver.integers
    return PolicyKernels(
        _kernel_function(trade_offs.fill, trade_offs.take, solver.function),
        learn,
        (np.array([steps, max_size, *before]), trade_offs.data, solver.data),  # type: ignore[arg-type]
        numbers=before[0] + numbers,
        integers=before[1] + integers,
    )


@functools.lru_cache
def _kernel_function(
    fill: Callable[..., Any], take: Callable[..., Any], solve: Callable[..., Any]
) -> Callable[..., Any]:
    def choose(state: Any, out: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> int:
        counts, sums, constants = state
        plan, own, known = data
        numbers, integers, _ = work
        steps, largest, numbers_end, integers_end = plan[STEPS], plan[LARGEST], plan[NUMBERS], plan[INTEGERS]
        n = len(counts)
        value, gain, blend = numbers[:n], numbers[n : 2 * n], numbers[2 * n : 3 * n]
        rounded, trial = integers[:n], integers[n : n + largest]
        room, places = numbers[3 * n : numbers_end], integers[n + largest : integers_end]
        totals, steps_back = numbers[numbers_end:], integers[integers_end:]
        half = 0.5 * exploration(round, constants[FACTOR])
        margin = constants[MARGIN] / round
        highest = 0.0
        for item in range(n):
            count = max(counts[item], 1.0)
            value[item] = (sums[item] / count if counts[item] > 0.0 else 1.0) + constants[OFFSET]
            gain[item] = 1.0 / count
            highest = max(highest, abs(value[item]))
        size, best, top, low, upper, bonus = 0, 0.0, 0.0, 0.0, 0.0, 0.0
        a, b = 1.0, 0.0
        for line in range(2 + LINES):
            for item in range(n):
                blend[item] = a * value[item] + b * gain[item]
            count = solve(blend, trial, known, room, places)
            worth = added(value, trial, count)
            found = sqrt(half * added(gain, trial, count))
            if line == 0 or worth + found > best:
                best = worth + found
                size = copied(trial, count, out)
            if line == 0:
                top = worth
                a, b = 0.0, 1.0
                continue
            if line == 1:
                upper = top + found
                low = best - found
            else:
                total = added(blend, trial, count)
                upper = min(upper, total + 0.5 * bonus)
                width = sqrt(2.0 * bonus) + sqrt(max(2.0 * bonus + 4.0 * (total - best), 0.0))
                low = max(low, total - 0.25 * (width * width))
            if upper <= best + margin:
                return size
            bonus = found
            a, b = 1.0, half / (2.0 * bonus)
        reach = top - low
        if reach <= 0.0:
            return size
        unit = max(max(margin / largest, reach / steps), ROUNDING * highest)
        for item in range(n):
            ratio = value[item] / unit
            rounded[item] = as_index(ratio)  # towards 0
            if rounded[item] < ratio:
                rounded[item] += 1
        most = min(as_index(reach / unit) + 1, steps + 1)
        fill(rounded, gain, most, own, totals, steps_back)
        for d in range(most + 1):
            count = take(d, trial, rounded, gain, most, own, totals, steps_back)
            index = added(value, trial, count) + sqrt(half * added(gain, trial, count))
            if index > best:
                best = index
                size = copied(trial, count, out)
        return size

    return choose


def exploration(round: int, factor: float) -> Any:
    """f(t); a logarithm of a logarithm is at least 0."""
    return log(round) + factor * log(max(log(round), 1.0))


def added(weights: Any, items: Any, size: int) -> float:
    total = 0.0
    for i in range(size):
        total += weights[items[i]]
    return total


def copied(items: Any, size: int, out: Any) -> int:
    for i in range(size):
        out[i] = items[i]
    return size
