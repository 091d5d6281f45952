"""How hard a solution is to tell from the best one: the inner problem of the Graves–Lai bound, and its cuts.

A solution A would be the best one if the means of its items outside U*, p_i, were larger by δ_i >= 0 with Σ δ_i > Δ_A;
the least that it takes is the same with >=. After t_i log n observations of each the cheapest such change has the
information

    g_A(t) = min{Σ t_i kl(p_i, p_i + δ_i) : Σ δ_i >= Δ_A, 0 <= δ_i <= 1 - p_i}
           = max_{η >= 0} η Δ_A - Σ φ_i(η),    φ_i(η) = max_δ η δ - t_i kl(p_i, p_i + δ).

Any δ bounds g_A from above, any η from below.
"""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from semibandits.types import Items, Weights

Rows = NDArray[np.intp]
"""A solution per row, as positions in p; short ones are padded with the last position, where p = 1."""

STEPS = 150
"""Most steps of Newton's method, every third of which halves the interval; about 6 are usual."""
ROUNDING = 1e-15
CUTS_PER_ROUND = 200


def information(p: Weights, increase: Weights) -> Weights:
    """kl(p, p + increase) of two coins, to a few units in the last places also where the increase is tiny."""
    positive = p > 1e-300
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        up = np.where(positive, increase / p, 0.0)
        down = np.where(p < 1.0, -increase / (1.0 - p), 0.0)
    rest = np.where(positive, p * _log1p_error(up), increase)
    return rest + (1.0 - p) * _log1p_error(down)


def _log1p_error(x: Weights) -> Weights:
    """x - log(1 + x)."""
    small = np.abs(x) < 0.02
    y = np.where(small, x, 0.0)
    series = np.zeros_like(y)
    for k in range(10, 1, -1):
        series = 1.0 / k - y * series
    with np.errstate(divide="ignore"):
        return np.where(small, y * y * series, x - np.log1p(x))


def increases(eta: Weights | float, t: Weights, p: Weights) -> tuple[Weights, Weights]:
    """The δ that maximises η δ - t kl(p, p + δ), where t or η is positive, and its slope in η.

    t δ = η (p + δ)(1 - p - δ), a quadratic equation, solved without cancellation.
    """
    b = t - eta * (1.0 - 2.0 * p)
    c = p * (1.0 - p)
    root = np.sqrt(b * b + 4.0 * eta * eta * c)
    with np.errstate(divide="ignore", invalid="ignore"):
        delta = np.where(b > 0.0, 2.0 * eta * c / (b + root), (root - b) / (2.0 * eta))
        delta = np.clip(delta, 0.0, 1.0 - p)
        slope = np.where(root > 0.0, (p + delta) * (1.0 - p - delta) / root, 0.0)
    return delta, slope


class Inner(NamedTuple):
    """For each row: g_A(t) from below, by this η, and the information, item by item, of an allowed change near it."""

    value: Weights
    eta: Weights
    information: Weights


def solve_inner(rows: Rows, gaps: Weights, t: Weights, p: Weights) -> Inner:
    """g_A(t) for many solutions at once, by Newton's method on η inside a shrinking interval.

    All t > 0; t and p reach to the rows' largest position; Σ (1 - p_i) > Δ_A in every row.
    """
    tt, pp = t[rows], p[rows]
    room = (1.0 - pp).sum(axis=1)
    low, high = np.zeros_like(gaps), (tt * (1.0 - pp)).sum(axis=1) / (room - gaps)  # enough for Σ δ >= Δ_A
    with np.errstate(divide="ignore", over="ignore"):
        eta = np.minimum(high, gaps / (pp * (1.0 - pp) / tt).sum(axis=1))
    for step in range(STEPS):
        delta, slope = increases(eta[:, None], tt, pp)
        excess = delta.sum(axis=1) - gaps
        low, high = np.where(excess < 0.0, eta, low), np.where(excess < 0.0, high, eta)
        done = np.abs(excess) <= 1e-13 * gaps
        if (done | (high - low <= 1e-15 * high)).all():
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = eta - excess / slope.sum(axis=1)
        trusted = (newton > low) & (newton < high) & (step % 3 < 2)
        eta = np.where(done, eta, np.where(trusted, newton, 0.5 * (low + high)))
    eta = np.where(done, eta, high)
    delta, _ = increases(eta[:, None], tt, pp)
    short_of_one = (1.0 - pp) * (1.0 - ROUNDING)  # at p + δ = 1 itself the information is infinite
    value = eta * (gaps - delta.sum(axis=1) - 2.0 * ROUNDING * room)
    value += (tt * information(pp, np.minimum(delta, short_of_one))).sum(axis=1)
    lack = np.maximum(1.0, gaps / delta.sum(axis=1)) * (1.0 + 1e-13)
    allowed = np.minimum(delta * lack[:, None], short_of_one)
    return Inner(value, eta, information(pp, allowed))


class Setting(NamedTuple):
    """What all solutions share."""

    weights: Weights
    """The means, negated for costs: what the oracle is to maximise."""
    best: float
    tie: float
    items: Items
    """The items outside U* that some solution contains; their positions in this array are those of `p` and of rows."""
    p: Weights
    """Their means, for costs 1 - mean; and a last 1 for padding."""

    def rows(self, solutions: list[Items], width: int) -> Rows:
        """Without the items of U*."""
        position = np.full(self.weights.size, self.items.size)
        position[self.items] = np.arange(self.items.size)
        rows = np.full((len(solutions), width), self.items.size)
        for row, items in zip(rows, solutions, strict=True):
            row[: items.size] = position[items]
        return rows

    def confusing(self, rows: Rows, gaps: Weights) -> NDArray[np.bool_]:
        """Which of them could be best, were their means larger."""
        room: Weights = (1.0 - self.p[rows]).sum(axis=1)
        return room - gaps > self.tie


class Found(NamedTuple):
    """A lower bound of the least g_A(t), inf where no solution could be best; and cuts, Σ t_i cut_i >= 1, made at t."""

    bound: float
    cuts: Weights


class Family(Protocol):
    """The solutions that are not inside U*."""

    setting: Setting

    @property
    def exhausted(self) -> bool:
        """Whether all the effort allowed is spent."""

    def cover(self) -> tuple[Rows, Weights]:
        """Some solutions that together contain all items outside U*, and their gaps."""

    def largest_ratio(self, d: Weights) -> tuple[float, Rows, Weights]:
        """An upper bound of the largest Σ d_i / Δ_A, and some solutions (with their gaps) where it exceeds 1."""

    def least(self, t: Weights) -> Found:
        """The least g_A(t)."""


def make_cuts(rows: Rows, inner: Inner, size: int) -> Weights:
    """Those of the solutions with the least g_A."""
    chosen = np.argsort(inner.value, kind="stable")[:CUTS_PER_ROUND]
    cuts = np.zeros((chosen.size, size))
    np.put_along_axis(cuts, rows[chosen], inner.information[chosen], axis=1)
    return cuts
