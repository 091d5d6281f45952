"""The constants of the bounds: the paper's, derived again, and sharper ones."""

import math

from semibandits._util.html import Html, number, table
from semibandits.experiments.paper import constants
from semibandits.experiments.paper.claims import OURS, Claim, Drawing, Part, columns
from semibandits.experiments.paper.runs import Plays
from semibandits.experiments.paper.style import plain_numbers
from semibandits.theory.kveton2015 import best_geometric, crossover, geometric_constant, two_event_constant

EXACT = 1e-9
"""What is left to rounding."""
UP_TO = 1000
"""K for which constants are compared."""


def judge(plays: Plays) -> Part:
    rows = constants.table()
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
    all_rows = constants.table(range(1, UP_TO + 1))
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
        Html(
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
            lambda: plain_numbers(constants.draw()),
        ),
        table(
            ["K", "Theorem 2", "Theorem 4", "cascade", "amortised", "gain", "lower bound"],
            [
                (
                    *(row.K, number(row.theorem_2, 1), number(row.theorem_4, 0), number(row.cascade, 1)),
                    *(number(row.amortised, 0), number(row.gain, 1), number(row.lower, 2)),
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
