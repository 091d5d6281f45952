"""Curves of regret over time, beside what is proved."""

import dataclasses
import textwrap
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from semibandits import theory
from semibandits._util.effort import OutOfPatience, Patience
from semibandits._util.html import Html, Number, details, number, paragraph, several, table
from semibandits.errors import SemiBanditError
from semibandits.experiments.point import Point
from semibandits.experiments.report.pictures import NARROW, Gallery, figure
from semibandits.experiments.report.wording import of_unit
from semibandits.oracle import solve
from semibandits.plotting.axes import own_axes
from semibandits.plotting.bound_curves import Curve, bound_curves, names_in_bounds
from semibandits.problem import Problem
from semibandits.theory.applicable_bounds import Bound, Bounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 5.8, 3.4
"""Inches."""
PATIENCE = 15.0
"""Seconds that the oracle may take for the gaps of all items."""
LIMIT = (
    " A bound in the limit of many rounds may lie above the regret of a good policy at a given round; it is drawn only "
    "where it is no more than can be lost at all."
)


def curves(point: Point, gallery: Gallery, *, bounds: bool = True) -> Html:
    """The regret of every policy over the rounds, then with bounds where there are any."""
    result = point.result
    words = f"{result.kind.capitalize()} regret of {several_policies(point)} up to round {result.rounds[-1]:,}"
    runs = result.regret.shape[1]
    bands = f"means of {runs} runs with 95% intervals" if runs > 1 else "a single run"
    body = _picture(point, gallery, "regret", f"{words}, {bands}.", f"{words}: {bands}.")
    return Html(body + _with_bounds(point, gallery)) if bounds else body


def _picture(point: Point, gallery: Gallery, name: str, alt: str, caption: str, bounds: Bounds | None = None) -> Html:
    wide, narrow = (draw(point, width, bounds) for width in (WIDTH, NARROW))
    return figure(gallery.picture(name, wide, alt, narrow), f"{caption}{_how_it_bends(wide)}")


def draw(point: Point, width: float, bounds: Bounds | None = None) -> "Axes":
    ax = own_axes(width, HEIGHT)
    point.result.plot(bounds, ax=ax, legend=False, title=False)
    _finish(ax, point)
    return ax


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


def name_as_many_as_fit(ax: "Axes") -> None:
    """The numbers of the x axis that there is room for."""
    from matplotlib.ticker import LogLocator

    figure: Any = ax.figure
    most = int(0.75 * figure.get_figwidth() / (0.09 * len(number(ax.get_xlim()[1])) + 0.12))
    if ax.get_xscale() == "log":
        ax.xaxis.set_major_locator(LogLocator(numticks=1 + max(1, most)))
    else:
        ax.locator_params("x", nbins=max(1, most))


def _finish(ax: "Axes", point: Point) -> None:
    """Units, and the legend under the picture."""
    from semibandits.plotting.legends import not_at_ends

    ax.set_ylabel(in_lines(regret_label(point), HEIGHT - 0.5), parse_math=False)
    ax.set_xlabel("round")
    plain_numbers(ax)
    name_as_many_as_fit(ax)
    runs = point.result.regret.shape[1]
    legend_below(ax, not_at_ends(ax), f"mean of {runs:,} runs, 95% interval" if runs > 1 else "a single run")


def in_lines(label: str, inches: float) -> str:
    """The label of an axis that is so long, in as many lines as it takes; its unit begins one."""
    most = int(12.0 * inches)
    parts = [label] if len(label) <= most else label.split(" (", 1)
    rest = [f"({part}" for part in parts[1:]]
    return "\n".join(textwrap.fill(part, most) for part in (parts[0], *rest))


def legend_below(ax: "Axes", handles: Sequence[Any], title: str = "") -> None:
    """In as many columns as there is room for; the figure grows by it."""
    whole: Any = ax.figure
    width = whole.get_figwidth()
    labels = [textwrap.fill(str(handle.get_label()), int(13.5 * width) - 7) for handle in handles]
    longest = max(len(line) for label in labels for line in label.split("\n"))
    columns = max(1, min(3, len(handles), int(13.0 * width / (longest + 9))))
    rows = -(-len(labels) // columns)
    lines = sum(max(label.count("\n") + 1 for label in labels[row::rows]) for row in range(rows))
    whole.set_figheight(whole.get_figheight() + 0.17 * (lines + bool(title)))
    style = {"fontsize": "small", "title_fontsize": "small", "frameon": False, "handlelength": 3.2}
    place = {"loc": "outside lower left", "alignment": "left", "ncols": columns}
    whole.legend(handles=handles, labels=labels, title=title or None, **place, **style)


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
        return paragraph("No bounds are drawn: none that applies here is about these policies.", "note")
    drawn = _few(bounds, known)
    words = f"The regret of {several_policies(point)} beside what is proved"
    limit = LIMIT if any(bound.asymptotic for bound in drawn) else ""
    body = _picture(point, gallery, "bounds", f"{words}.", f"{words}.{limit}", drawn)
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
    vacuous: list[tuple[float, list[Any]]] = []
    for bound in bounds:
        if _title(bound) not in known:
            continue
        value, lower = float(bound.value[-1]), bound.kind == "lower"
        own = float(means.min()) if lower else max(means[at] for at, name in enumerate(bounded) if name == bound.policy)
        mark = "~" if bound.asymptotic else ""
        of, kind = (bound.policy, "at most") if not lower else (f"{bound.policy} policy", "at least")
        (vacuous if bound.vacuous[-1] else rows).append(
            (value, [bound.title, of, kind, Number(f"{number(value)}{mark}"), _times(value, own)])
        )
    if any(curve.kind == "trivial" for curve in known.values()):
        value = float(bounds.trivial[-1])
        most = _times(value, float(means.max()))
        rows.append((value, ["no policy loses more", "any policy", "at most", number(value), most]))
    columns = ["bound", "of", "regret is", f"value{of_unit(point.unit)}", "times"]
    shown, folded = ([cells for _, cells in sorted(some, key=lambda row: -row[0])] for some in (rows, vacuous))
    body = table(columns, shown, _about(point, bounds, known)) if shown else ""
    if folded:
        many = "1 more bound says" if len(folded) == 1 else f"{len(folded)} more bounds say"
        body += details(f"{many} nothing yet: more than any policy can lose", table(columns, folded))
    return Html(body)


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
        none = f"; none is drawn for {others}" if others else ""
        caption += f"Upper bounds are on {several(sorted(proved))}{none}. "
    else:
        caption += f"No upper bound is drawn for {others}. "
    caption += (
        "Times: divided by the mean regret of that policy, lower bounds by the least of all, what any policy can lose "
        "by the largest."
    )
    if any(bound.asymptotic and not bound.vacuous[-1] for bound in shown):
        caption += (
            " ~: holds in the limit of many rounds only. At a given round a good policy may lie below such a lower "
            "bound, or above such an upper one, as parts that do not grow with the rounds are left out."
        )
    return caption
