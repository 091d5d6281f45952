"""Curves of regret over time, beside what is proved."""

import dataclasses
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from semibandits import theory
from semibandits._util.effort import OutOfPatience, Patience
from semibandits._util.html import Html, Number, number, paragraph, several, table
from semibandits.errors import SemiBanditError
from semibandits.experiments.point import Point
from semibandits.experiments.report.pictures import Gallery, figure
from semibandits.experiments.report.wording import of_unit
from semibandits.oracle import solve
from semibandits.plotting.axes import own_axes
from semibandits.plotting.bound_curves import Curve, bound_curves, names_in_bounds
from semibandits.problem import Problem
from semibandits.simulation import SimulationResult
from semibandits.theory.applicable_bounds import Bound, Bounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 5.8
"""Inches: narrow enough that the text can be read on a phone."""
PATIENCE = 15.0
"""Seconds that the oracle may take for the gaps of all items."""
LIMIT = (
    " A bound in the limit of many rounds may lie above the regret of a good policy at a given round; it is drawn only "
    "where it is no more than can be lost at all."
)


def curves(point: Point, gallery: Gallery, *, bounds: bool = True) -> Html:
    """The regret of every policy over the rounds, then with bounds where there are any."""
    result = point.result
    ax = own_axes(WIDTH, 3.4)
    _briefly_named(result).plot(ax=ax, legend="below")
    _finish(ax, point)
    words = f"{result.kind.capitalize()} regret of {several_policies(point)} up to round {result.rounds[-1]:,}"
    runs = result.regret.shape[1]
    bands = f"means of {runs} runs with 95% intervals" if runs > 1 else "a single run"
    body = figure(gallery.picture("regret", ax, f"{words}, {bands}."), f"{words}: {bands}.{_how_it_bends(ax)}")
    return Html(body + _with_bounds(point, gallery)) if bounds else body


def _briefly_named(result: SimulationResult) -> SimulationResult:
    return dataclasses.replace(result, policies=tuple(result.short_names))


def _how_it_bends(ax: "Axes") -> str:
    if (ax.get_xscale(), ax.get_yscale()) != ("log", "linear"):
        return ""
    return (
        " Rounds are on a logarithmic axis: there log n is a straight line, and regret that grows as fast as the "
        "rounds bends up."
    )


def several_policies(point: Point) -> str:
    names = point.result.short_names
    return names[0] if len(names) == 1 else f"{len(names)} policies"


def regret_label(point: Point) -> str:
    """For an axis."""
    weights = "reward" if point.problem.sense == "max" else "cost"
    return f"{point.result.kind} regret{of_unit(point.unit or f'units of {weights}')}"


def plain_numbers(ax: "Axes") -> None:
    """Numbers on the axes as people write them, also on logarithmic ones."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    for axis, scale in ((ax.xaxis, ax.get_xscale()), (ax.yaxis, ax.get_yscale())):
        axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
        if scale == "log":
            axis.set_minor_formatter(NullFormatter())


def _finish(ax: "Axes", point: Point) -> None:
    """Units, and the legend under the picture."""
    from semibandits.plotting.legends import not_at_ends

    ax.set_ylabel(regret_label(point), parse_math=False)
    ax.set_xlabel("round")
    ax.set_title("", loc="left")
    plain_numbers(ax)
    old = ax.get_legend()
    assert old is not None
    legend_below(ax, not_at_ends(ax), old.get_title().get_text())
    old.remove()


def legend_below(ax: "Axes", handles: Sequence[Any], title: str = "") -> None:
    """In as many columns as there is room for; the figure grows by it."""
    longest = max(len(str(handle.get_label())) for handle in handles)
    columns = max(1, min(3, len(handles), int(13.0 * WIDTH / (longest + 9))))
    whole: Any = ax.figure
    whole.set_figheight(whole.get_figheight() + 0.17 * (-(-len(handles) // columns) + bool(title)))
    style = {"fontsize": "small", "title_fontsize": "small", "frameon": False, "handlelength": 3.2}
    whole.legend(
        handles=handles, title=title or None, loc="outside lower left", alignment="left", ncols=columns, **style
    )


def _with_bounds(point: Point, gallery: Gallery) -> Html:
    problem, result = point.problem, point.result
    if problem.environment.drifts:
        return paragraph("No bounds are drawn: those we know are for worlds that stay as they are.", "note")
    try:
        if too_slow := _too_slow(point):
            return paragraph(too_slow, "note")
        bounds = theory.bounds(problem, result.rounds)
        known = bound_curves(result, bounds)
    except SemiBanditError as error:
        return paragraph(f"No bounds are drawn: {error}.", "note")
    if not any(curve.kind in ("upper", "lower") for curve in known.values()):
        return paragraph("No bounds are drawn: none that we know is about these policies on this problem.", "note")
    ax = own_axes(WIDTH, 3.4)
    drawn = _few(bounds, known)
    _briefly_named(result).plot(drawn, ax=ax, legend="below")
    _finish(ax, point)
    words = f"The regret of {several_policies(point)} beside what is proved"
    limit = LIMIT if any(bound.asymptotic for bound in drawn) else ""
    body = figure(gallery.picture("bounds", ax, f"{words}."), f"{words}.{limit}{_how_it_bends(ax)}")
    return Html(body + _listed(point, bounds, known))


def least_gap(problem: Problem, patience: float) -> float:
    """NaN where there is none, or where the oracle would take longer than so many seconds."""
    try:
        if _seconds(problem, patience) >= patience:
            return float("nan")
        with Patience(round(1e6 * patience)):
            return problem.min_gap
    except (SemiBanditError, OutOfPatience):
        return float("nan")


def _seconds(problem: Problem, patience: float) -> float:
    """How long the gaps of all items take about; 0 where that is too long but there is another way."""
    seconds = min(4.0 * problem.n_items * _solving(problem) for _ in range(2))  # the first may have had to compile
    if seconds < patience or problem.feasible.runner_up_with_each(problem.signed_means, problem.tolerance) is None:
        return seconds
    return 0.0


def _too_slow(point: Point) -> str:
    """What to say where the gaps would take the oracle too long."""
    problem = point.problem
    seconds = _seconds(problem, PATIENCE)
    if seconds < PATIENCE:
        return ""
    return (
        f"No bounds are drawn: the gaps of {problem.n_items:,} items would take this oracle about {seconds:.0f} s. "
        "problem.item_gaps works them out, and theory.bounds(problem, result.rounds) then uses them."
    )


def _solving(problem: Problem) -> float:
    began = time.perf_counter()
    solve(problem.feasible, problem.signed_means)
    return time.perf_counter() - began


def _few(bounds: Bounds, known: dict[str, Curve]) -> Bounds:
    """The least upper bound of each source at the horizon, more would hide each other; and the lower bounds, as far as
    they are no more than any policy can lose."""
    least: dict[str, Bound] = {}
    for bound in bounds:
        if bound.kind == "upper" and _title(bound) in known:
            least[bound.source] = min(least.get(bound.source, bound), bound, key=lambda one: float(one.value[-1]))
    lower = [
        dataclasses.replace(bound, value=np.where(bound.value > bounds.trivial, np.nan, bound.value))
        for bound in bounds.of("lower")
        if _title(bound) in known and (bound.value <= bounds.trivial).any()
    ]
    few = Bounds([*least.values(), *lower])
    few.problem, few.rounds, few.trivial = bounds.problem, bounds.rounds, bounds.trivial
    return few


def _title(bound: Bound) -> str:
    """As pictures call it."""
    return f"{bound.title}{' (in the limit)' if bound.asymptotic else ''}"


def _listed(point: Point, bounds: Bounds, known: dict[str, Curve]) -> Html:
    """All bounds at the horizon, each beside the regret of the policy it is about."""
    result, bounded = point.result, names_in_bounds(point.result)
    means = result.regret[:, :, -1].mean(axis=1)
    rows: list[tuple[float, list[Any]]] = []
    for bound in bounds:
        if _title(bound) not in known:
            continue
        value, lower = float(bound.value[-1]), bound.kind == "lower"
        own = float(means.min()) if lower else max(means[at] for at, name in enumerate(bounded) if name == bound.policy)
        mark = "*" if bound.vacuous[-1] else "~" if bound.asymptotic else ""
        of, kind = (bound.policy, "at most") if not lower else (f"{bound.policy} policy", "at least")
        rows.append((value, [bound.title, of, kind, Number(f"{number(value)}{mark}"), _times(value, own)]))
    if any(curve.kind == "trivial" for curve in known.values()):
        value = float(bounds.trivial[-1])
        most = _times(value, float(means.max()))
        rows.append((value, ["no policy loses more", "any policy", "at most", number(value), most]))
    rows.sort(key=lambda row: -row[0])
    columns = ["bound", "of", "regret is", f"value{of_unit(point.unit)}", "times"]
    return table(columns, [cells for _, cells in rows], _about(point, bounds, known))


def _times(value: float, regret: float) -> Number:
    return number(value / regret if regret > 0.0 else float("nan"))


def _about(point: Point, bounds: Bounds, known: dict[str, Curve]) -> str:
    """What the table shows, and of whom nothing is proved."""
    shown = [bound for bound in bounds if _title(bound) in known]
    proved = {bound.policy for bound in shown if bound.kind == "upper"}
    pairs = list(zip(point.result.short_names, names_in_bounds(point.result), strict=True))
    others = several([name for name, called in pairs if called not in proved], 5)
    caption = f"What is proved about the regret after {point.result.rounds[-1]:,} rounds. "
    if proved:
        none = f"; none that we know is on {others}" if others else ""
        caption += f"Upper bounds are on {several(sorted(proved))}{none}. "
    else:
        caption += f"No upper bound that we know is on {others}. "
    caption += (
        "Times: divided by the mean regret of that policy, lower bounds by the least of all, what any policy can lose "
        "by the largest."
    )
    if any(bound.vacuous[-1] for bound in shown):
        caption += " *: more than any policy can lose, so that it says nothing yet."
    if any(bound.asymptotic and not bound.vacuous[-1] for bound in shown):
        caption += (
            " ~: holds in the limit of many rounds only. At a given round a good policy may lie below such a lower "
            "bound, or above such an upper one, as parts that do not grow with the rounds are left out."
        )
    return caption
