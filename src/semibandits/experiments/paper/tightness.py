"""Section 6 of the paper, measured: the bounds are tight.

On the K-path problem no consistent algorithm has a factor of log n below (L-K) K/(4Δ) (Proposition 1), and Theorem 4
gives CombUCB1 at most 267 K L/Δ. So its regret must grow as (L-K) K/Δ · log n, and only the constant is open. It is
1.5: the problem is a bandit with L/K arms and the gap δ = Δ/K, whose rewards are multiplied by K; there UCB1 with the
radius sqrt(1.5 log n / T) chooses each other arm 1.5 log n / δ² times, and each time costs Δ.

That is for n without end. At any n the radius of the best path is not yet 0, and the other paths are chosen less often:
R(n)/log n approaches its limit from below, the slope of R against log n from above, both slowly. `predicted_factor`
tells how far R(n)/log n has come.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semibandits import rng
from semibandits._util.checks import check_count
from semibandits.errors import BadArgument
from semibandits.experiments.paper.style import write_title
from semibandits.plotting.axes import COLOURS, check_axes, light_grid, new_axes
from semibandits.policies import CombUCB1
from semibandits.problems import k_path
from semibandits.simulation import simulate
from semibandits.simulation.progress import Progress
from semibandits.theory.kveton2015 import proposition_1, theorem_4

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ALPHA = CombUCB1().alpha
HORIZON = 5_000_000
RUNS = 64
MOST_ELSEWHERE = 0.01
"""The share of the rounds that may go to other paths than the best: with more, n is too small to speak of a limit."""


class Instance(NamedTuple):
    """A K-path problem."""

    L: int
    K: int
    gap: float

    @property
    def unit(self) -> float:
        """(L-K) K/Δ."""
        return (self.L - self.K) * self.K / self.gap


# Three values each of K, of Δ/K and of the number of other paths; any two of them meet in one cell.
CELLS = tuple(
    Instance(K * (others + 1), K, round(K * (0.1, 0.2, 0.4)[(i - j) % 3], 3))
    for i, K in enumerate((1, 3, 5))
    for j, others in enumerate((2, 5, 12))
)


class Cell(NamedTuple):
    """What was measured on one problem."""

    L: int
    K: int
    gap: float
    regret: float
    error: float
    """The standard error of the regret."""
    factor: float
    """R(n)/log n."""
    slope: float
    """(R(n) - R(n/10)) / log 10."""
    slope_error: float
    predicted: float
    """What R(n)/log n should be at this n: `predicted_factor`."""
    lower: float
    """Proposition 1."""
    exact_lower: float
    """Proposition 1 before its last step."""
    upper: float
    """The factor of log n in Theorem 4."""
    between: bool
    """`lower` ≤ `factor` ≤ `upper`, also when the regret is three standard errors off."""

    @property
    def unit(self) -> float:
        """(L-K) K/Δ."""
        return Instance(self.L, self.K, self.gap).unit


class Fit(NamedTuple):
    """factor = constant · (L-K)^a · K^b · (1/Δ)^c, by least squares in logarithms.

    The errors are standard errors from the residuals, and so take in what differs from a power law as well as the
    chance of the runs; what bends all cells alike, such as a finite n, they cannot see.
    """

    constant: float
    exponents: tuple[float, float, float]
    """Of L-K, K and 1/Δ."""
    constant_error: float
    errors: tuple[float, float, float]

    def __str__(self) -> str:
        powers = zip(("(L-K)", "K", "(1/Δ)"), self.exponents, self.errors, strict=True)
        return f"{self.constant:.2f} ± {self.constant_error:.2f} · " + " · ".join(
            f"{name}^({exponent:.3f} ± {error:.3f})" for name, exponent, error in powers
        )


@dataclass(frozen=True)
class Tightness:
    """All cells, and the power law through them."""

    cells: tuple[Cell, ...]
    horizon: int
    runs: int
    seed: int

    @property
    def fit(self) -> Fit | None:
        """Of the factors measured; None where there are too few cells."""
        return self._fit([cell.factor for cell in self.cells])

    @property
    def predicted_fit(self) -> Fit | None:
        """Of the factors predicted: how far from 1.5, 1, 1 and 1 the fit must be at this n."""
        return self._fit([cell.predicted for cell in self.cells])

    def _fit(self, factors: Sequence[float]) -> Fit | None:
        instances = [Instance(cell.L, cell.K, cell.gap) for cell in self.cells]
        return fit(instances, factors) if _spans(instances) else None

    def __str__(self) -> str:
        lines = [
            f"The K-path problem: CombUCB1, n = {self.horizon:,}, {self.runs} runs, seed {self.seed}",
            "",
            f"{'':44}         factor / ((L-K) K/Δ)          slope /",
            "  L  K     Δ  lower  exact  R(n)/log n  upper        measured  predicted  ((L-K) K/Δ)",
        ]
        for c in self.cells:
            scale = math.log(self.horizon) * c.unit
            lines.append(
                f"{c.L:>3} {c.K:>2} {c.gap:>5.4g} {c.lower:>6.1f} {c.exact_lower:>6.1f} {c.factor:>11.1f} "
                f"{c.upper:>6.0f}   {c.factor / c.unit:>7.3f} ± {c.error / scale:.3f} {c.predicted / c.unit:>10.3f} "
                f"  {c.slope / c.unit:.2f} ± {c.slope_error / c.unit:.2f}  {'between' if c.between else 'NOT BETWEEN'}"
            )
        lines += [
            "",
            f"As n grows, both ratios tend to {ALPHA}: the factor from below, the slope from n/10 to n from above.",
        ]
        if self.fit is not None:
            lines += [
                f"R(n)/log n ~ {self.fit}",
                f"predicted  ~ {self.predicted_fit}",
                "± : standard errors from the residuals; the predicted line shows the bias that is left at this n",
            ]
        return "\n".join(lines)


def run(
    cells: Iterable[tuple[int, int, float]] = CELLS,
    *,
    horizon: int = HORIZON,
    runs: int = RUNS,
    seed: int | None = 0,
    progress: bool | Progress | None = None,
) -> Tightness:
    """Measures the regret of CombUCB1 on K-path problems, given as (L, K, Δ).

    Every cell plays in worlds of its own. A horizon at which more than one round in a hundred goes to other paths than
    the best is refused: see `least_horizon`.
    """
    instances = _check_cells(cells)
    horizon, runs = check_count("horizon", horizon, BadArgument), check_count("runs", runs, BadArgument)
    if runs < 2:
        raise BadArgument(f"runs must be at least 2, for a standard error, got {runs}")
    hardest = max(instances, key=lambda cell: least_horizon(*cell))
    if horizon < least_horizon(*hardest):
        raise BadArgument(
            f"horizon must be at least {least_horizon(*hardest):,}, so that at most one round in a hundred goes to "
            f"other paths than the best where L, K, gap = {tuple(hardest)}; got {horizon:,}"
        )
    seed = rng.check_seed(seed)
    found = []
    for number, (L, K, gap) in enumerate(instances):
        result = simulate(
            k_path(L, K, gap),
            CombUCB1(),
            horizon=horizon,
            runs=runs,
            seed=rng.stream_key(seed, number, rng.WORLD),
            checkpoints=[horizon // 10, horizon],
            progress=progress,
        )
        (early, last), (regret_early, regret) = result.rounds.tolist(), result.regret[0].T
        found.append(measured(L, K, gap, early, regret_early, last, regret))
    return Tightness(tuple(found), horizon, runs, seed)


def measured(L: int, K: int, gap: float, early: int, regret_early: Any, n: int, regret: Any) -> Cell:
    """The cell of a problem, from the regret of each run in an early round and in round n."""
    log_n = math.log(n)
    slopes = (np.asarray(regret) - np.asarray(regret_early)) / math.log(n / early)
    mean, slope = float(np.mean(regret)), float(slopes.mean())
    error, slope_error = (float(np.std(sample, ddof=1)) / len(sample) ** 0.5 for sample in (regret, slopes))
    lower, upper = proposition_1(L, K, gap), float(theorem_4(n, L, K, gap) - theorem_4(1, L, K, gap)) / log_n
    return Cell(
        *(L, K, gap, mean, error, mean / log_n, slope, slope_error),
        predicted=predicted_factor(L, K, gap, n),
        lower=lower,
        exact_lower=proposition_1(L, K, gap, exact=True),
        upper=upper,
        between=lower <= (mean - 3.0 * error) / log_n and (mean + 3.0 * error) / log_n <= upper,
    )


def predicted_factor(L: int, K: int, gap: float, n: int) -> float:
    """R(n)/log n if every estimate were its mean: each other path is chosen T times, where the indices are equal,

        sqrt(1.5 log n / T) - sqrt(1.5 log n / (n - (L/K - 1) T)) = Δ/K

    >>> [round(predicted_factor(L=6, K=2, gap=0.4, n=n) / (4 * 2 / 0.4), 3) for n in (10**4, 10**6, 10**9)]
    [1.058, 1.434, 1.497]
    """
    from scipy.optimize import brentq

    others, delta, a = L // K - 1, gap / K, ALPHA * math.log(n)
    at_most = min(2.0 * a / delta**2, n / (others + 1.0))

    def surplus(T: float) -> float:
        return math.sqrt(a / T) - math.sqrt(a / (n - others * T)) - delta

    T = float(brentq(surplus, 1e-6 * at_most, at_most, xtol=1e-9 * at_most))
    return others * gap * T / math.log(n)


def least_horizon(L: int, K: int, gap: float) -> int:
    """The first n at which other paths take no more than one round in a hundred: 1.5 (L/K - 1) (K/Δ)² log n ≤ n/100."""
    rate = ALPHA * (L // K - 1) * (K / gap) ** 2 / MOST_ELSEWHERE
    n = rate * math.log(rate)
    for _ in range(100):
        n = rate * math.log(n)
    return math.ceil(n)


def fit(cells: Iterable[tuple[int, int, float]], factors: Sequence[float]) -> Fit:
    """The power law through the factors of problems given as (L, K, Δ)."""
    instances = _check_cells(cells)
    if len(factors) != len(instances) or not all(0.0 < factor < math.inf for factor in factors):
        raise BadArgument(f"expected {len(instances)} factors > 0, one per cell, got {factors!r:.200}")
    if not _spans(instances):
        raise BadArgument(
            f"a fit needs five cells or more in which L-K, K and the gap vary independently, got {instances!r:.200}"
        )
    design = _design(instances)
    spread = np.linalg.inv(design.T @ design)
    wanted = np.log(factors)
    found = spread @ design.T @ wanted
    residuals = wanted - design @ found
    errors = np.sqrt(np.diag(spread) * (residuals @ residuals) / (len(instances) - design.shape[1]))
    constant = math.exp(found[0])
    return Fit(constant, tuple(found[1:].tolist()), constant * float(errors[0]), tuple(errors[1:].tolist()))


def draw(result: Tightness, ax: "Axes | None" = None) -> "Axes":
    """R(n)/log n against (L-K) K/Δ, between the bounds."""
    check_axes(ax)
    if not isinstance(result, Tightness):
        raise BadArgument(f"result must be a Tightness, got {result!r:.200}")
    ax = new_axes(6.4, 5.0) if ax is None else ax
    ax.set_xscale("log")
    ax.set_yscale("log")
    units = np.array([cell.unit for cell in result.cells])
    ends = np.array([units.min() / 1.5, units.max() * 1.5])
    dark = "#444444"
    for slope, dashes, name in (
        (ALPHA, "solid", f"{ALPHA:g} (L-K) K/Δ, the limit"),
        (0.25, (0, (5, 3)), "Proposition 1: (L-K) K/(4Δ)"),
    ):
        ax.plot(ends, slope * ends, color=dark, linewidth=1.0, linestyle=dashes, zorder=2, label=name)
    for name, marker, values in (
        ("Theorem 4: 267 K L/Δ", "v", [cell.upper for cell in result.cells]),
        ("Proposition 1, exact", "^", [cell.exact_lower for cell in result.cells]),
    ):
        ax.plot(units, values, marker, markersize=5, markerfacecolor="none", color=dark, zorder=3, label=name)
    sizes = sorted({cell.K for cell in result.cells})
    log_n = math.log(result.horizon)
    for number, K in enumerate(sizes):
        ours = [cell for cell in result.cells if cell.K == K]
        ax.errorbar(
            [cell.unit for cell in ours],
            [cell.factor for cell in ours],
            yerr=[3.0 * cell.error / log_n for cell in ours],
            fmt="osDPX*"[number % 6],
            color=COLOURS[number % len(COLOURS)],
            markersize=6,
            capsize=3,
            zorder=4,
            label=f"CombUCB1, K = {K}",
        )
    ax.set_xlim(*ends)
    ax.set_xlabel("(L-K) K/Δ")
    ax.set_ylabel("R(n) / log n")
    inches = ax.get_window_extent().width / ax.figure.dpi
    write_title(ax, f"K-path problem, n = {result.horizon:,}, {result.runs} runs, ± 3 standard errors")
    light_grid(ax)
    columns = 2 if inches > 4.0 else 1
    under = (0.5, -0.12 if columns == 2 else -0.18)
    ax.legend(fontsize="small", frameon=False, ncols=columns, loc="upper center", bbox_to_anchor=under)
    return ax


def _check_cells(cells: Any) -> list[Instance]:
    try:
        listed = [Instance(*cell) for cell in cells]
    except TypeError as error:
        raise BadArgument(f"cells must be triples (L, K, gap), got {cells!r:.200}") from error
    if not listed:
        raise BadArgument("cells must be one or more triples (L, K, gap), got none")
    for cell in listed:
        proposition_1(*cell)  # says what is wrong with it
        if cell.L == cell.K:
            raise BadArgument(f"a problem needs two paths or more, got one: L = K = {cell.K}")
    return listed


def _design(cells: Sequence[Instance]) -> Any:
    """Rows 1, log(L-K), log K, log(1/Δ)."""
    return np.array([(1.0, math.log(L - K), math.log(K), -math.log(gap)) for L, K, gap in cells])


def _spans(cells: Sequence[Instance]) -> bool:
    return len(cells) >= 5 and int(np.linalg.matrix_rank(_design(cells))) == 4
