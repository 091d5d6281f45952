"""Regret over time, beside what is proved."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from semibandits import theory
from semibandits.answers import solve
from semibandits.errors import SemiBanditError
from semibandits.experiments.point import Point
from semibandits.experiments.report.pictures import Gallery, figure
from semibandits.experiments.report.standing import ranking, short_names
from semibandits.markup import Html, number, paragraph, table
from semibandits.problem import Problem
from semibandits.simulation.plots import Curve, bound_curves
from semibandits.theory.applicable import Bounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 5.8
"""Inches: narrow enough that the text can be read on a phone."""
PATIENCE = 15.0
"""Seconds that the oracle may take for the gaps of all items."""


def new_axes(height: float, width: float = WIDTH) -> "Axes":
    """Of a figure that nobody else knows."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").add_subplot()


def curves(point: Point, gallery: Gallery, *, bounds: bool = True) -> Html:
    """The regret of every policy over the rounds, then with bounds where there are any."""
    result = point.result
    ax = new_axes(3.4)
    result.plot(ax=ax)
    _finish(ax, point)
    words = f"{result.kind.capitalize()} regret of {several_policies(point)} up to round {result.rounds[-1]:,}"
    runs = result.regret.shape[1]
    bands = f"means of {runs} runs with 95% intervals" if runs > 1 else "a single run"
    body = figure(gallery.picture("regret", ax, f"{words}, {bands}."), f"{words}: {bands}.")
    return Html(body + _with_bounds(point, gallery)) if bounds else body


def several_policies(point: Point) -> str:
    names = short_names(point.result)
    return names[0] if len(names) == 1 else f"{len(names)} policies"


def label_regret(ax: "Axes", point: Point) -> None:
    unit = "reward" if point.problem.sense == "max" else "cost"
    ax.set_ylabel(f"{point.result.kind} regret (units of {unit})")


def plain_numbers(ax: "Axes") -> None:
    """Numbers on the axes as people write them, also on logarithmic ones."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    for axis, scale in ((ax.xaxis, ax.get_xscale()), (ax.yaxis, ax.get_yscale())):
        axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
        if scale == "log":
            axis.set_minor_formatter(NullFormatter())


def _finish(ax: "Axes", point: Point) -> None:
    """Units, and the legend under the picture."""
    label_regret(ax, point)
    ax.set_xlabel("round")
    ax.set_title("", loc="left")
    plain_numbers(ax)
    old = ax.get_legend()
    assert old is not None
    lines = {str(line.get_label()): line for line in ax.get_lines()}
    legend_below(ax, [lines[text.get_text()] for text in old.get_texts()], old.get_title().get_text())
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
    ax = new_axes(3.4)
    result.plot(_few(bounds, known), ax=ax)
    _finish(ax, point)
    words = f"The regret of {several_policies(point)} beside what is proved"
    return Html(figure(gallery.picture("bounds", ax, f"{words}."), f"{words}.") + _listed(point, known))


def _too_slow(point: Point) -> str:
    """What to say where the gaps would take the oracle too long."""
    problem = point.problem
    seconds = min(4.0 * problem.n_items * _solving(problem) for _ in range(2))  # the first may have had to compile
    if seconds < PATIENCE or problem.feasible.runner_up_with_each(problem.signed_means, problem.tolerance) is not None:
        return ""
    return (
        f"No bounds are drawn: the gaps of {problem.n_items:,} items would take this oracle about {seconds:.0f} s. "
        "theory.bounds(problem, result.rounds) works them out."
    )


def _solving(problem: Problem) -> float:
    began = time.perf_counter()
    solve(problem.feasible, problem.signed_means)
    return time.perf_counter() - began


def _few(bounds: Bounds, known: dict[str, Curve]) -> Bounds:
    """The lower bounds, and the least upper one of each source at the horizon: more would hide each other."""
    least: dict[str, Any] = {}
    for bound in bounds:
        if bound.title in known and bound.kind == "upper":
            key = bound.source
            least[key] = min(least.get(key, bound), bound, key=lambda one: float(one.value[-1]))
    few = Bounds(bound for bound in bounds if bound.kind == "lower" or bound in least.values())
    few.problem, few.rounds, few.trivial = bounds.problem, bounds.rounds, bounds.trivial
    return few


def _listed(point: Point, known: dict[str, Curve]) -> Html:
    """All bounds at the horizon."""
    result = point.result
    means = result.regret[:, :, -1].mean(axis=1)
    best = float(means[ranking(result)[0]])
    kinds = {"upper": "at most", "lower": "at least", "trivial": "at most"}
    trivial = min(
        (float(curve.values[-1]) for curve in known.values() if curve.kind == "trivial"), default=float("inf")
    )
    rows = []
    for title, curve in sorted(known.items(), key=lambda item: -float(item[1].values[-1])):
        value = float(curve.values[-1])
        empty = curve.kind == "upper" and value > trivial
        times = number(value / best if best > 0.0 else float("nan"))
        rows.append([title, kinds.get(curve.kind, curve.kind), number(value), times, "vacuous" if empty else ""])
    caption = (
        f"What is proved about the regret after {result.rounds[-1]:,} rounds. The last number is how many times the "
        f"least mean regret, {number(best)}, that is. Vacuous: more than any policy can lose, so that it says nothing "
        "yet."
    )
    return table(["bound", "regret is", "value", "times the least", ""], rows, caption)
