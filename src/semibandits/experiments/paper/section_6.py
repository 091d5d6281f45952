"""The lower-bound experiment of Section 6: regret on K-path problems between Proposition 1 and Theorem 4."""

import math
from collections.abc import Sequence
from typing import Any

from semibandits._util.html import Html, Number, number, table
from semibandits.experiments.paper import tightness
from semibandits.experiments.paper.claims import OURS, Claim, Drawing, Part, columns, plus_minus
from semibandits.experiments.paper.fits import Powers, powers
from semibandits.experiments.paper.runs import Plays
from semibandits.experiments.paper.style import plain_numbers
from semibandits.experiments.paper.tightness import ALPHA, Cell, Tightness
from semibandits.experiments.report.pictures import NARROW
from semibandits.plotting.axes import own_axes

WITHIN = 0.15
"""How far from 1 an exponent may be: at the n played here it is a little below."""
NEAR = 0.05
"""How far from the predicted regret the measured one may be, beside what chance explains."""
CHANCE = 4.0
"""So many standard errors are chance."""


def judge(plays: Plays) -> Part:
    found = plays.k_paths
    assert found is not None
    log_n = math.log(found.horizon)
    fitted = growth(found, [cell.factor for cell in found.cells])
    predicted = growth(found, [cell.predicted for cell in found.cells])
    body = (
        Html(
            "<p>Theorem 4 promises that CombUCB1 loses at most 267 <i>K L</i>/Δ · log <i>n</i> (and a constant) where "
            "all gaps are Δ. Proposition 1 says that on the K-path problem no consistent algorithm loses less than "
            "(<i>L</i> − <i>K</i>) <i>K</i>/(4Δ) · log <i>n</i> in the long run. Both grow alike, so the bounds are "
            "tight but for the constant. Here is where CombUCB1 really is: about "
            f"{ALPHA} (<i>L</i> − <i>K</i>) <i>K</i>/Δ · log <i>n</i>.</p>\n"
        ),
        Drawing(
            "kpath",
            "Regret over log n against (L-K)K/Delta on logarithmic axes: all points lie just below the line 1.5 times "
            "it, above Proposition 1 and far below Theorem 4.",
            f"K-path problems, n = {found.horizon:,}: every point lies between Proposition 1 and Theorem 4. "
            "Bars: ± 3 standard errors (smaller than the marks).",
            lambda: plain_numbers(tightness.draw(found)),
            lambda: plain_numbers(tightness.draw(found, own_axes(NARROW, 5.0))),
        ),
        Html(
            "<p>Proposition 1 is about <i>n</i> without end. So <i>n</i> was chosen so large that the other paths take "
            "at most one round in a hundred. What is left of the finite <i>n</i> can be worked out: if every estimate "
            "were its mean, how often would the other paths be chosen? That is <i>predicted</i> below.</p>\n"
        ),
        table(
            ["L", "K", "Δ", "Proposition 1", "exact", "R(n)/log n", "± error", "predicted", "Theorem 4"],
            [_row(cell, log_n) for cell in found.cells],
            f"Factors of log n; {found.runs} runs, n = {found.horizon:,}; ± one standard error.",
        ),
        Html(
            "<p>A power law through all points has (<i>L</i> − <i>K</i>) to the power "
            f"{', <i>K</i> to the power '.join(_powers(fitted)[:2])} and 1/Δ to the power {_powers(fitted)[2]}. The "
            f"prediction at this <i>n</i> has {', '.join(f'{one:.2f}' for one in predicted.exponents)}; all three tend "
            "to 1 as <i>n</i> grows.</p>\n"
        ),
    )
    numbers = {
        "horizon": found.horizon,
        "runs": found.runs,
        "cells": [cell._asdict() for cell in found.cells],
        "fit": fitted._asdict(),
        "predicted_fit": predicted._asdict(),
    }
    claims = claims_of(found, fitted)
    return Part("kpath", claims, body, {"kpath": columns(found.cells)}, numbers)


def growth(found: Tightness, factors: Sequence[float]) -> Powers:
    """The exponents of L - K, K and 1/Δ in these factors of log n, with the errors that chance leaves."""
    terms = [(cell.L - cell.K, cell.K, 1.0 / cell.gap) for cell in found.cells]
    return powers(terms, factors, [cell.error / math.log(found.horizon) for cell in found.cells])


def claims_of(found: Tightness, fitted: Powers) -> tuple[Claim, ...]:
    between = sum(cell.between for cell in found.cells)
    least = min(cell.factor / cell.lower for cell in found.cells)
    most = max(cell.factor / cell.upper for cell in found.cells)
    log_n = math.log(found.horizon)
    off = [cell.factor / cell.predicted - 1.0 for cell in found.cells]
    allowed = [NEAR + CHANCE * cell.error / log_n / cell.predicted for cell in found.cells]
    near = sum(abs(by) <= limit for by, limit in zip(off, allowed, strict=True))
    closest = max(range(len(off)), key=lambda at: abs(off[at]) / allowed[at])
    farthest = max(range(3), key=lambda at: abs(fitted.exponents[at] - 1.0))
    exponents = ", ".join(f"{exponent:.2f}" for exponent in fitted.exponents)
    return (
        Claim(
            "kpath",
            "Regret is above Proposition 1 and below Theorem 4",
            f"{between} of {len(found.cells)}; ≥ {least:.1f} × above, ≥ {1 / most:.0f} × below",
            "all",
            between == len(found.cells),
            "Section 6",
            value=between,
            low=len(found.cells),
        ),
        Claim(
            "kpath",
            "Regret as of 1.5 log n/(Δ/K)² tries of other paths",
            f"{near} of {len(found.cells)}; off by {_percent(min(off))} to {_percent(max(off))} %",
            f"within {100 * NEAR:.0f} % + {CHANCE:.0f} errors",
            near == len(found.cells),
            OURS,
            value=off[closest],
            error=(allowed[closest] - NEAR) / CHANCE,
            low=-allowed[closest],
            high=allowed[closest],
        ),
        Claim(
            "kpath",
            "It grows as (L−K) K/Δ: exponents of L−K, K, 1/Δ",
            f"{exponents} ± {max(fitted.errors):.2f}",
            f"1 ± {WITHIN} each",
            all(abs(exponent - 1.0) <= WITHIN for exponent in fitted.exponents),
            "Section 6",
            value=fitted.exponents[farthest],
            error=fitted.errors[farthest],
            low=1.0 - WITHIN,
            high=1.0 + WITHIN,
        ),
    )


def _powers(fitted: Powers) -> list[str]:
    return [plus_minus(*pair) for pair in zip(fitted.exponents, fitted.errors, strict=True)]


def _percent(share: float) -> str:
    return f"{100 * share:+.1f}".replace("-", "−")


def _row(cell: Cell, log_n: float) -> tuple[Any, ...]:
    return (
        *(cell.L, cell.K, Number(f"{cell.gap:g}"), number(cell.lower, 1), number(cell.exact_lower, 1)),
        *(number(cell.factor, 1), number(cell.error / log_n, 1), number(cell.predicted, 1), number(cell.upper, 0)),
    )
