"""The best point of the convex hull of a set of quotas, group by group, for three regularisers: kernel functions.

Within a group of n items, of which solutions contain k (or at most k), each writes the point x in [0, 1]^n that
minimises a linear function plus a regulariser, under the one condition that x adds up to k (or at most). So
x_i = f(c_i + λ) for one multiplier λ, found by a search on a line: finite for the entropy, Newton's within a bracket
for the others. The brackets come from the k-th and next smallest of the c, relative to which all is worked out, so
that neither huge nor tiny c lose digits. `c` and `x` may be the same array.
"""

from typing import Any, NamedTuple

import numpy as np

from semibandits.kernel import exp, ln, sqrt
from semibandits.kernel.selection import select
from semibandits.types import ALWAYS, NEVER, Arrays, FeasibleSet, Items, Quotas, up_to_date

LEAST = 1e-100
"""No item that may be chosen gets less."""
FARTHEST = 300.0
"""Logarithms of shares are no farther than that from the k-th."""
FLATTEST, STEEPEST = 1e75, 1e-300
"""1/sqrt(x) - 1 stays between them."""
STEPS = 200
"""Far more than Newton's method ever takes; bisection alone would be done."""
TOGETHER = 20
EXACT, MOST = range(2)


class Groups(NamedTuple):
    """Quotas as the kernel functions read them. Items of group g are members[starts[g] : starts[g + 1]], ascending."""

    members: Items
    starts: Items
    group: Items
    sizes: Items
    constants: Items
    """EXACT, MOST: whether the sizes are exact, and how many items a solution has at most."""


def quotas_of(feasible: FeasibleSet) -> Quotas | None:
    """The set's quotas, unless a subclass has another oracle than the set that knows them."""
    return feasible.quotas() if up_to_date(feasible, "quotas", "argmax") else None


def grouped(quotas: Quotas) -> Groups:
    free = np.flatnonzero(quotas.group >= 0)
    members = free[np.argsort(quotas.group[free], kind="stable")]
    counts = np.bincount(quotas.group[free], minlength=quotas.sizes.size)
    sizes = np.minimum(quotas.sizes, counts).astype(np.int64)
    most = int(sizes.sum()) + int((quotas.group == ALWAYS).sum())
    return Groups(
        members.astype(np.int64),
        np.cumsum([0, *counts], dtype=np.int64),
        np.ascontiguousarray(quotas.group, dtype=np.int64),
        sizes,
        np.array([quotas.exact, most], dtype=np.int64),
    )


def room(data: Groups) -> int:
    """How many numbers the kernel functions need to work with."""
    return 4 * data.group.size


def even_point(data: Arrays) -> Any:
    """The point that spreads each group's number evenly over its items."""
    members, starts, group, sizes, _ = data
    point = (group == ALWAYS).astype(np.float64)
    counts = np.diff(starts)
    point[members] = np.repeat(sizes / np.maximum(counts, 1), counts)
    return point


def settle(x: Any, group: Any) -> None:
    """The items that are in no solution, and those that are in all."""
    for item in range(len(group)):
        if group[item] == NEVER:
            x[item] = 0.0
        elif group[item] == ALWAYS:
            x[item] = 1.0


def fits(x: Any, members: Any, begin: int, end: int, k: int, exact: int) -> bool:
    """Whether these x need no projection."""
    total = 0.0
    for i in range(begin, end):
        total += x[members[i]]
    return total <= k + 1e-9 and (exact == 0 or total >= k - 1e-9)


def settled(x: Any, members: Any, begin: int, end: int, k: int, exact: int) -> bool:
    """Writes x where there is nothing to search for: none are chosen, or all are."""
    if k > 0 and (k < end - begin or exact == 0):
        return False
    for i in range(begin, end):
        x[members[i]] = 0.0 if k == 0 else 1.0
    return True


def entropy_in_group(c: Any, x: Any, members: Any, begin: int, end: int, k: int, exact: int, room: Any) -> None:
    """x = a exp(-c), at most 1: minimises Σ c x + x ln x - x.

    Relative to the k-th smallest c. Each step leaves out the items that are at 1 and divides the rest of k among the
    others: a grows until it fits.
    """
    if settled(x, members, begin, end, k, exact):
        return
    n = end - begin
    if exact == 0:
        total = 0.0
        for i in range(n):
            room[i] = min(exp(-c[members[begin + i]]), 1.0)
            total += room[i]
        if total <= k:
            for i in range(n):
                x[members[begin + i]] = max(room[i], LEAST)
            return
    for i in range(n):
        room[i] = -c[members[begin + i]]
    tau = -select(room, 0, n - 1, k - 1)
    for i in range(n):
        room[i] = exp(min(max(tau - c[members[begin + i]], -FARTHEST), FARTHEST))
    a = 0.0
    full = -1
    for _ in range(n + 1):
        rest = 0.0
        count = 0
        for i in range(n):
            if a * room[i] < 1.0:
                rest += room[i]
            else:
                count += 1
        if count == full or count >= k:
            break
        full = count
        a = (k - count) / rest
    for i in range(n):
        x[members[begin + i]] = max(min(a * room[i], 1.0), LEAST)


def inf_in_group(c: Any, x: Any, members: Any, begin: int, end: int, k: int, exact: int, room: Any) -> None:
    """x = 1/(c + λ)², at most 1: minimises Σ c x - 2 sqrt(x).

    λ = ν - τ, where τ is the k-th smallest c and ν lies between 1 and sqrt(n - k + 1).
    """
    if settled(x, members, begin, end, k, exact):
        return
    n = end - begin
    if exact == 0:
        total = 0.0
        for i in range(begin, end):
            total += inf_share(c[members[i]])
        if total <= k:
            for i in range(begin, end):
                x[members[i]] = inf_share(c[members[i]])
            return
    for i in range(n):
        room[i] = -c[members[begin + i]]
    tau = -select(room, 0, n - 1, k - 1)
    low, high = 1.0, sqrt(n - k + 1.0)
    nu = min(max(tau, low), high)
    for _ in range(STEPS):
        full = 0
        total, slope = 0.0, 0.0
        for i in range(begin, end):
            root = (c[members[i]] - tau) + nu
            if root < 1.0:
                full += 1
            else:
                share = 1.0 / (root * root)
                total += share
                slope += share / root
        if total + full > k:
            low = nu
        else:
            high = nu
        # Newton's step for total^(-1/2), which is almost a straight line.
        step = (1.0 / sqrt(k - float(full)) - 1.0 / sqrt(total)) * total * sqrt(total) / slope
        new = nu + step
        if new < low or new > high:
            new = 0.5 * (low + high)
        moved = abs(new - nu)
        nu = new
        if moved <= 1e-15 * nu:
            break
    for i in range(begin, end):
        x[members[i]] = inf_share((c[members[i]] - tau) + nu)


def inf_share(root: Any) -> Any:
    return 1.0 if root <= 1.0 else max(1.0 / (root * root), LEAST)


def hybrid_in_group(
    c: Any, x: Any, members: Any, begin: int, end: int, k: int, exact: int, gamma: Any, guess: Any, room: Any
) -> None:
    """Minimises Σ c x - sqrt(x) + γ (1-x) ln(1-x): h(x) = c + λ with h(x) = 1/(2 sqrt(x)) + γ (1 + ln(1-x)).

    λ = ν - τ, where τ is the k-th smallest c. By the k-th and the next one, ν lies between h(k/(k+1)) less their
    distance and h(1/(n-k+1)); `guess` is one of λ. Each item's x is kept as y = 1/sqrt(x) - 1, of which h is a concave
    function.
    """
    if settled(x, members, begin, end, k, exact):
        return
    n = end - begin
    if exact == 0:
        total = 0.0
        for i in range(n):
            room[i] = hybrid_root(c[members[begin + i]], gamma, hybrid_guess(c[members[begin + i]], gamma))
            total += 1.0 / ((1.0 + room[i]) * (1.0 + room[i]))
        if total <= k:
            for i in range(n):
                x[members[begin + i]] = 1.0 / ((1.0 + room[i]) * (1.0 + room[i]))
            return
        if k == n:  # only rounding makes it more
            for i in range(n):
                x[members[begin + i]] = 1.0
            return
    for i in range(n):
        room[i] = -c[members[begin + i]]
    tau = -select(room, 0, n - 1, k - 1)
    after = -room[k]
    for i in range(k + 1, n):
        after = min(after, -room[i])
    low = hybrid_slope(sqrt((k + 1.0) / k) - 1.0, gamma) - (after - tau)
    high = hybrid_slope(sqrt(n - k + 1.0) - 1.0, gamma)
    nu = min(max(guess + tau, low), high)
    for i in range(n):
        room[i] = c[members[begin + i]] - tau
    if not hybrid_together(n, k, nu, low, high, gamma, room):
        hybrid_one_by_one(n, k, nu, low, high, gamma, room)
    for i in range(n):
        x[members[begin + i]] = 1.0 / ((1.0 + room[n + i]) * (1.0 + room[n + i]))


def hybrid_together(n: int, k: int, nu: Any, low: Any, high: Any, gamma: Any, room: Any) -> bool:
    """One Newton's method for ν and all y at once, the y behind the n slopes in `room`; whether it came to an end."""
    for i in range(n):
        room[n + i] = hybrid_guess(room[i] + nu, gamma)
    for _ in range(TOGETHER):
        for i in range(n):
            y = room[n + i]
            s = 1.0 + y
            t = y * (2.0 + y)
            room[2 * n + i] = (room[i] + nu) - (0.5 * s + gamma * (1.0 + ln(t / (s * s))))
            room[3 * n + i] = 2.0 * s * t / (s * t + 4.0 * gamma)  # dy/dz
        small, lacking, slope = 0.0, 0.0, 0.0
        large = 0
        for i in range(n):
            s = 1.0 + room[n + i]
            share = 1.0 / (s * s)
            fall = 2.0 * share / s * room[3 * n + i]  # -dx/dz
            slope += fall
            small -= fall * room[2 * n + i]
            if share < 0.5:
                small += share
            else:
                large += 1
                lacking += room[n + i] * (2.0 + room[n + i]) * share
        step = ((small - lacking) + (large - k)) / slope
        new = min(max(nu + step, low), high)
        step = new - nu
        nu = new
        far = abs(step)
        for i in range(n):
            y = room[n + i]
            error = room[2 * n + i] + step
            far = max(far, abs(error))
            room[n + i] = hybrid_step(y, error * room[3 * n + i])
        if far <= 1e-8 * gamma:
            return True
    return False


def hybrid_one_by_one(n: int, k: int, nu: Any, low: Any, high: Any, gamma: Any, room: Any) -> None:
    """The same by a search for ν within its bracket, each y worked out to the end in every step."""
    for i in range(n):
        room[n + i] = hybrid_guess(room[i] + nu, gamma)
    for _ in range(STEPS):
        # How much more than k: what the small x have, less what the large ones lack, and whole numbers.
        small, lacking, slope = 0.0, 0.0, 0.0
        large = 0
        for i in range(n):
            y = hybrid_root(room[i] + nu, gamma, room[n + i])
            room[n + i] = y
            s = 1.0 + y
            t = y * (2.0 + y)
            share = 1.0 / (s * s)
            if share < 0.5:
                small += share
            else:
                large += 1
                lacking += t * share
            slope += 4.0 * share * t / (s * t + 4.0 * gamma)
        excess = (small - lacking) + (large - k)
        if excess > 0.0:
            low = nu
        else:
            high = nu
        new = nu + excess / slope
        if not (new >= low and new <= high):
            new = 0.5 * (low + high)
        moved = abs(new - nu)
        nu = new
        if moved <= 1e-9 * gamma or low == high:
            break
    for i in range(n):
        room[n + i] = hybrid_root(room[i] + nu, gamma, room[n + i])


def hybrid_slope(y: Any, gamma: Any) -> Any:
    """h at 1/sqrt(x) = 1 + y."""
    s = 1.0 + y
    return 0.5 * s + gamma * (1.0 + ln(y * (2.0 + y) / (s * s)))


def hybrid_guess(z: Any, gamma: Any) -> Any:
    """A y for h = z: from where h is almost a logarithm, or almost a straight line, and the next term of its series."""
    if z > 0.5 + 1.5 * gamma:
        s = 2.0 * (z - gamma)
        return min(s + 2.0 * gamma / (s * s) - 1.0, FLATTEST)
    y = 0.5 * exp((z - 0.5) / gamma - 1.0)
    bend = y * (1.5 - 0.5 / gamma)
    return max(y * (1.0 + bend) if bend > 0.0 else y / (1.0 - bend), STEEPEST)


def hybrid_step(y: Any, step: Any) -> Any:
    """Newton's step, but to the left one that cannot pass the root, nor 0."""
    return min(y + step, FLATTEST) if step > 0.0 else max(y * (y / (y - step)), STEEPEST)


def hybrid_root(z: Any, gamma: Any, y: Any) -> Any:
    """The y for h = z by Newton's method from a guess."""
    for _ in range(STEPS):
        s = 1.0 + y
        t = y * (2.0 + y)
        error = z - (0.5 * s + gamma * (1.0 + ln(t / (s * s))))
        y = hybrid_step(y, error * 2.0 * s * t / (s * t + 4.0 * gamma))
        if abs(error) <= 1e-9 * gamma:
            break
    return y
