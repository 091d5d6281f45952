"""The constants in bounds on the regret of CombUCB1, against K: the c in

    R(n) ≤ c · L/Δ · log n + (π²/3 + 1) K L

where every suboptimal solution has the gap Δ. The paper has 48 K^(4/3) (Theorem 2) and 267 K (Theorem 4), of which the
second is smaller from K = 173 on; `theory.tight` proves less with the paper's own argument at its best (cascade) and
with another (amortised). Below K/4 none can be: on the K-path problem every consistent algorithm loses that much where
L is many times K (Proposition 1).
"""

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semibandits._util import html
from semibandits._util.checks import check_count
from semibandits.errors import BadArgument
from semibandits.experiments.paper.claims import OURS, Claim, Drawing, Part, columns
from semibandits.experiments.paper.runs import Plays
from semibandits.experiments.paper.style import plain_numbers
from semibandits.plotting.axes import COLOURS, DARK, check_axes, light_grid, new_axes
from semibandits.theory.kveton2015 import (
    best_geometric,
    crossover,
    geometric_constant,
    proposition_1,
    theorem_2,
    theorem_4,
    two_event_constant,
)
from semibandits.theory.tight import amortised_constant, cascade_constant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EXACT = 1e-9
"""What is left to rounding."""
UP_TO = 1000
"""K for which constants are compared."""
KS = (1, 2, 3, 5, 8, 10, 16, 50, 100, 172, 173, 1000)


class Row(NamedTuple):
    """The constants of one K."""

    K: int
    theorem_2: float
    theorem_4: float
    paper: float
    """The smaller of the two."""
    cascade: float
    amortised: float
    lower: float
    """What no consistent algorithm can go below."""

    @property
    def gain(self) -> float:
        """How many times smaller than the paper's the smallest is."""
        return self.paper / min(self.cascade, self.amortised)


class Table(tuple[Row, ...]):
    """One row per K."""

    def __str__(self) -> str:
        lines = [
            "R(n) ≤ c · L/Δ · log n + (π²/3 + 1) K L, where every suboptimal solution has the gap Δ: c",
            "",
            "   K  Theorem 2  Theorem 4  the smaller   cascade  amortised   gain   lower bound",
        ]
        lines += [
            f"{row.K:>4} {row.theorem_2:>10,.1f} {row.theorem_4:>10,.0f} {row.paper:>12,.1f} {row.cascade:>9,.1f} "
            f"{row.amortised:>10,.0f} {row.gain:>6.1f} {row.lower:>13,.2f}"
            for row in self
        ]
        return "\n".join(lines)


def table(Ks: Iterable[int] = KS) -> Table:
    """
    >>> print(table([2, 173]))
    R(n) ≤ c · L/Δ · log n + (π²/3 + 1) K L, where every suboptimal solution has the gap Δ: c
    <BLANKLINE>
       K  Theorem 2  Theorem 4  the smaller   cascade  amortised   gain   lower bound
       2      121.0        534        121.0      24.0         24    5.0          0.50
     173   46,270.3     46,191     46,191.0  25,772.1      4,128   11.2         43.25
    """
    if not isinstance(Ks, Iterable):
        raise BadArgument(f"Ks must be one or more integers >= 1, got {Ks!r:.200}")
    listed = [check_count("K", K, BadArgument) for K in Ks]
    if not listed:
        raise BadArgument("Ks must be one or more integers >= 1, got none")
    return Table(_row(K) for K in listed)


def draw(ax: "Axes | None" = None) -> "Axes":
    """The constants for K = 1 to 1000, with the K from which Theorem 4 is better than Theorem 2."""
    check_axes(ax)
    ax = new_axes(7.2, 5.0) if ax is None else ax
    rows = table(sorted({round(K) for K in np.geomspace(1, 1000, 60)}))
    ks = [row.K for row in rows]
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.plot(ks, [row.paper for row in rows], color="#C4C4C4", linewidth=6.0, solid_capstyle="round", zorder=2)
    curves: tuple[tuple[str, str, str, Any, int], ...] = (
        ("theorem_2", "Theorem 2: 48 K^(4/3)", COLOURS[0], (0, (6, 1.5)), 3),
        ("theorem_4", "Theorem 4: 267 K", COLOURS[1], (0, (6, 1.5, 1.2, 1.5)), 1),
        ("cascade", "cascade, at its best", COLOURS[3], "solid", -5),
        ("amortised", "amortised: 24 (K-1)", COLOURS[2], "solid", 0),
        ("lower", "lower bound: K/4", COLOURS[6], (0, (1.2, 1.2)), 0),
    )
    for name, text, colour, dashes, up in curves:
        values = [getattr(row, name) for row in rows]
        ax.plot(ks, values, color=colour, linestyle=dashes, linewidth=1.8, zorder=3, label=text)
        _write(ax, text, ks[-1], values[-1], (8, up), ha="left", va="center")
    first = math.floor(crossover()) + 1
    height = _row(first).paper
    ax.plot([first], [height], "o", color=DARK, markersize=6, zorder=4)
    _write(ax, f"from K = {first} on\nTheorem 4 is the smaller", first, height, (-8, 14), ha="right", va="bottom")
    ax.set_xlim(0.9, ks[-1])
    ax.set_xlabel("K")
    ax.set_ylabel("c")
    ax.set_title(
        "R(n) ≤ c · L/Δ · log n + …, one gap Δ (grey: the smaller of the paper's two)", loc="left", fontsize="medium"
    )
    light_grid(ax)
    return ax


def _write(ax: "Axes", text: str, x: float, y: float, offset: tuple[int, int], **place: Any) -> None:
    """Text beside a point."""
    ax.annotate(text, (x, y), offset, textcoords="offset points", fontsize="small", color=DARK, **place)


def _row(K: int) -> Row:
    second, fourth = _factor(theorem_2, K), _factor(theorem_4, K)
    # (L-K) K/(4Δ), per L/Δ as L grows: 2K has half of it.
    gap = K / 4.0
    lower = 2.0 * proposition_1(2 * K, K, gap) * gap / (2 * K)
    return Row(K, second, fourth, min(second, fourth), cascade_constant(K), amortised_constant(K), lower)


def _factor(theorem: Callable[..., Any], K: int) -> float:
    """What stands before L/Δ · log n in a theorem."""
    return float(theorem(math.e, L=K, K=K, gap=1.0) - theorem(1, L=K, K=K, gap=1.0)) / K


def judge(plays: Plays) -> Part:
    """The paper's constants, derived again, and sharper ones."""
    rows = table()
    best = best_geometric()
    golden = (1.0 + math.sqrt(5.0)) / 2.0
    exact = 24.0 * golden**5
    theirs = geometric_constant(alpha=0.1459, beta=0.2360)
    around = min(
        geometric_constant(best.alpha * (1.0 + a), best.beta * (1.0 + b))
        for a in (-0.01, 0.0, 0.01)
        for b in (-0.01, 0.0, 0.01)
    )
    events = {two_event_constant(K) / K ** (4.0 / 3.0) for K in (1, 2, 10, 100)}
    all_rows = table(range(1, UP_TO + 1))
    smaller = [row for row in all_rows if row.theorem_2 < row.theorem_4]
    gains = [row.gain for row in all_rows]
    sharper = sum(row.cascade < row.paper and row.amortised < row.paper for row in all_rows)
    claims = (
        Claim(
            "constants",
            "Geometric sequences give 267 at best, rounded up",
            f"24 φ⁵ = {exact:.3f}; its α, β: {theirs:.3f}",
            "between 266 and 267",
            math.ceil(exact) == math.ceil(theirs) == 267 and abs(best.constant - exact) < 1e-9 and exact <= around,
            "Theorem 4",
            value=theirs,
            low=266.0,
            high=267.0,
        ),
        Claim(
            "constants",
            "Two events with the paper's α and d give 48",
            f"{max(events):.6g}",
            "48",
            all(abs(event - 48.0) < EXACT for event in events),
            "Theorem 2",
            value=max(events),
            low=48.0 - EXACT,
            high=48.0 + EXACT,
        ),
        Claim(
            "constants",
            "Theorem 3 is tighter for K < (534/96)³ < 173",
            f"K = {smaller[0].K} to {smaller[-1].K}; (534/96)³ = {crossover():.1f}",
            "K = 1 to 172",
            [row.K for row in smaller] == list(range(1, 173)) and 172.0 < crossover() < 173.0,
            "Section 3",
            value=crossover(),
            low=172.0,
            high=173.0,
        ),
        Claim(
            "constants",
            "Better constants exist, as Section 10 suspects",
            f"{sharper} of {UP_TO}; {min(gains):.1f} to {max(gains):.1f} × smaller",
            f"all K up to {UP_TO}",
            sharper == UP_TO,
            OURS,
            value=sharper,
            low=UP_TO,
        ),
    )
    body = (
        html.Html(
            "<p>Where all gaps are Δ, the regret is at most <i>c</i> · <i>L</i>/Δ · log <i>n</i> and something that "
            "does not grow. Theorem 2 has <i>c</i> = 48 <i>K</i><sup>4/3</sup> (of two "
            "events, with α = 4 and <i>d</i> = <i>K</i><sup>2/3</sup>), Theorem 4 has 267 <i>K</i>, the "
            "better one from <i>K</i> = 173 on. The paper found 267 by a numerical search over geometric sequences "
            "and suspected that others do better. The least value is 24 φ<sup>5</sup> with the golden ratio φ. "
            "For a given <i>K</i> the thresholds are whole numbers, and the best of them are found exactly "
            "(<i>cascade</i>). Another way of counting (<i>amortised</i>) gives 24 (<i>K</i> − 1). No constant can "
            "be below <i>K</i>/4, by Proposition 1.</p>\n"
        ),
        Drawing(
            "constants",
            "Five constants against K on logarithmic axes: Theorem 2, Theorem 4, the cascade, the amortised constant, "
            "and the lower bound far below.",
            "The constant c in the paper's bounds, in the sharper ones, and below which there is none.",
            lambda: plain_numbers(draw()),
        ),
        html.table(
            ["K", "Theorem 2", "Theorem 4", "cascade", "amortised", "gain", "lower bound"],
            [
                (
                    *(row.K, html.number(row.theorem_2, 1), html.number(row.theorem_4, 0), html.number(row.cascade, 1)),
                    *(html.number(row.amortised, 0), html.number(row.gain, 1), html.number(row.lower, 2)),
                )
                for row in rows
            ],
            "Gain: the smaller of the paper's two over the smaller of the other two.",
        ),
    )
    numbers = {
        "geometric": exact,
        "at_the_papers_alpha_and_beta": theirs,
        "crossover": crossover(),
        "rows": [{**row._asdict(), "gain": row.gain} for row in rows],
    }
    return Part("constants", claims, body, {"constants": columns(all_rows)}, numbers)
