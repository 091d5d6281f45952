"""Pictures of regret over time, with bounds."""

import itertools
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from semibandits._util.checks import check_choice, is_number
from semibandits.errors import BadArgument
from semibandits.plotting.axes import (
    COLOURS,
    DASHES,
    LOWER_COLOUR,
    as_label,
    check_axes,
    light_grid,
    new_axes,
    on_these,
)
from semibandits.plotting.bound_curves import Curve, bound_curves, names_in_bounds
from semibandits.simulation.result import AnyBounds, LegendPlace, SimulationResult
from semibandits.simulation.scales import LogAxes, fitting_scales
from semibandits.simulation.summaries import estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

MOST_IN_LEGEND, MOST_ENTRIES = 4, 8
"""Policies, and policies with bounds; of more the policies are named at the ends of their curves."""
MOST_ABOVE = 3.0
"""A linear axis goes on to so many times the largest regret, wherever bounds lie."""
WIDTH, HEIGHT, LINE = 7.2, 4.2, 0.18
"""Inches, of a picture of its own, and of a line of its legend."""
BOUND_GREYS = ("#222222", "#808080", "#b4b4b4")
BOUND_DASHES: tuple[Any, ...] = ((0, (5, 3)), (0, (1.5, 2.5)), (0, (5, 3, 1.5, 3)), (0, (12, 3)))
BROAD_DASHES: tuple[Any, ...] = ("solid", (0, (3, 0.7)), (0, (1, 0.7)))
LIMITS = {"upper": "curves may lie above", "lower": "curves may lie below"}
NOTHING, ROUNDING = 1e-100, 1e-9
"""Where bands that reach 0 end on a logarithmic axis; and what part of a curve is but rounding."""


def draw(
    result: SimulationResult,
    bounds: AnyBounds,
    *,
    confidence: float,
    log: LogAxes | None,
    ax: "Axes | None",
    size: tuple[float, float] | None,
    title: str | bool | None,
    labels: Sequence[str] | Mapping[Any, str] | None,
    legend: LegendPlace | bool | None,
) -> "Axes":
    check_axes(ax)
    rounds, runs = result.rounds, result.regret.shape[1]
    mean, _, _, low, high = estimate(result.regret.swapaxes(1, 2), confidence)
    known = bound_curves(result, bounds)
    curves = {name: curve for name, curve in known.items() if curve.telling}
    if log is None:
        log = fitting_scales(rounds, mean, result.kind, [curve.shown for curve in curves.values()])
    log = check_choice("log", log, LogAxes)
    for name in curves:
        _as_written("bound", name)
    names, heading = _names(result, labels), _heading(result, title)
    place = _place(legend, len(names) > MOST_IN_LEGEND or len(names) + len(curves) > MOST_ENTRIES)
    own = ax is None
    if ax is None:
        ax = new_axes(*_size(size, len(names) if place == "ends" else 0, len(names) + len(curves)))
    elif size is not None:
        raise BadArgument(f"size is of a picture of its own, but ax has a figure: got size={size!r:.100} and ax")

    ax.set_xscale("log" if "x" in log else "linear")
    ax.set_yscale("log" if "y" in log else "linear")
    drawn = _draw_policies(ax, rounds, names, mean, low, high, positive="y" in log)
    most = MOST_ABOVE * mean.max() if "y" not in log and mean.max() > 0.0 else np.inf
    _draw_bounds(ax, rounds, curves, most, positive="y" in log)
    if "y" not in log:
        ax.update_datalim([(rounds[0], 0.0)])
    ax.set_xlabel("round")
    ax.set_ylabel(f"{result.kind} regret")
    light_grid(ax)

    notes = [f"mean of {runs:,} runs, {100 * confidence:g}% interval" if runs > 1 else "a single run"]
    if of := _bounded(result, names, curves):
        notes.append(f"upper bounds are of {' and '.join(of)}")
    if left_out := len(known) - len(curves):
        notes.append(f"{left_out} {'bound says' if left_out == 1 else 'bounds say'} nothing here: not drawn")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is wrong with a font or a layout is said when it is drawn
        _write(ax, own, drawn, place, heading, notes)
    return ax


def _draw_policies(
    ax: "Axes",
    rounds: NDArray[np.int64],
    names: Sequence[str],
    mean: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    positive: bool,
) -> "list[tuple[Line2D, Any]]":
    """The curves with their dashes."""
    floor = 0.0  # where the axis begins, if nothing lies below
    if positive:
        floor = _smallest(mean)
        if rounds.size == 1 and (low > 0.0).any():
            floor = min(floor, float(low[low > 0.0].min()))
        mean = np.where((mean > 0.0) & (mean >= floor), mean, np.nan)
    before = len(ax.get_lines())
    drawn = []
    for p, name in enumerate(names):
        colour = on_these(ax, COLOURS[(before + p) % len(COLOURS)])
        dashes = DASHES[(before + p) % len(DASHES)]
        marker = "o" if rounds.size <= 12 else ""
        style = {"color": colour, "linestyle": dashes, "linewidth": 1.8, "marker": marker, "markersize": 4}
        label = f"{name} (no regret)" if np.isnan(mean[p]).all() else name
        (line,) = ax.plot(rounds, mean[p], label=label, zorder=3, **style)
        line.sticky_edges.y.append(floor)
        drawn.append((line, dashes))
        if not np.isnan(low[p]).all():  # more than a single run
            _draw_band(ax, rounds, low[p], high[p], colour, floor, positive)
    return drawn


def _draw_band(
    ax: "Axes",
    rounds: NDArray[np.int64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    colour: str,
    floor: float,
    positive: bool,
) -> None:
    """On a logarithmic axis what lies below `floor` does not widen it, and what is not positive goes on for ever."""
    from matplotlib.collections import PolyCollection

    if positive:
        low, high = (np.where(high > 0.0, np.maximum(edge, NOTHING), np.nan) for edge in (low, high))
    known = np.flatnonzero(np.isfinite(low))
    pieces = [at for at in np.split(known, 1 + np.flatnonzero(np.diff(known) > 1)) if at.size]
    outlines = [np.column_stack([np.r_[rounds[at], rounds[at][::-1]], np.r_[low[at], high[at][::-1]]]) for at in pieces]
    band = PolyCollection(outlines, color=colour, alpha=0.18, linewidth=0.0, zorder=2)
    band.sticky_edges.y.append(floor)
    if rounds.size == 1:  # its band is but an edge
        band.set(alpha=0.7, linewidth=2.0)
    ax.add_collection(band, autolim=False)
    edges = np.maximum(np.r_[low, high], floor) if positive else np.r_[low, high]
    ax.update_datalim(np.column_stack([np.r_[rounds, rounds], edges])[np.isfinite(edges)])


def _draw_bounds(
    ax: "Axes", rounds: NDArray[np.int64], curves: Mapping[str, Curve], most: float, positive: bool
) -> None:
    """What is above `most` does not widen the axis."""
    from matplotlib.lines import Line2D

    uppers = itertools.cycle(itertools.product(BOUND_GREYS, BOUND_DASHES))
    lowers = itertools.cycle(itertools.product((LOWER_COLOUR,), BOUND_DASHES))
    broad = itertools.cycle(BROAD_DASHES)
    styles = {"upper": uppers, "trivial": itertools.repeat(("#000000", "solid"))}
    for name, curve in curves.items():
        colour, dashes = next(styles.get(curve.kind, lowers))
        colour = on_these(ax, colour)
        style: dict[str, Any] = {"linewidth": 0.6 if curve.kind == "trivial" else 1.1, "linestyle": dashes}
        label = f" {name}" if name.startswith("_") else name  # or Matplotlib would hide it
        if curve.asymptotic:  # how it grows is what it says, not where it lies
            label = f"{name.removesuffix(')')}: {LIMITS[curve.kind]})"
            style |= {"linestyle": next(broad), "linewidth": 4.0, "alpha": 0.35}
        least = ROUNDING * np.nanmax(curve.shown, initial=0.0)
        values = np.where(curve.shown > least, curve.shown, np.nan) if positive else curve.shown
        seen = values <= most
        if not seen.any() and (values > most).any():
            label += " (above the picture)"
        marker = "_" if rounds.size == 1 else ""
        line = Line2D(rounds, values, label=label, color=colour, marker=marker, markersize=14, zorder=2.5, **style)
        line.set_transform(ax.transData)
        ax.add_artist(line)
        ax.update_datalim(np.column_stack([rounds, values])[seen])


def _write(
    ax: "Axes", own: bool, drawn: "Sequence[tuple[Line2D, Any]]", place: str, heading: str, notes: Sequence[str]
) -> None:
    """Numbers, names, title and legend; notes stand in the legend, or else under the title."""
    from semibandits.plotting import legends

    letters = legends.letters(ax)
    if own:
        if ax.get_xscale() == "linear":
            ax.locator_params("x", nbins=max(3, round(ax.get_window_extent().width / 9.0 / letters)))
        for axis in (ax.xaxis, ax.yaxis):
            axis.label.set_fontsize(letters)
            axis.set_tick_params(which="both", labelsize=letters)
            axis.get_offset_text().set_fontsize(letters)
    if place == "ends":
        legends.label_ends(ax, drawn, letters)
    ax.autoscale_view()
    listed = [] if place == "none" else legends.not_at_ends(ax)
    if heading:
        heading = heading if listed else f"{heading}\n{', '.join(notes)}"
        legends.write_title(ax, heading, letters)
    if listed:
        where = place if place in ("inside", "below") else "below" if own else "free"
        legends.write_legend(ax, listed, "\n".join(notes), where, letters)
    legends.fit(ax)
    legends.shorten(ax)
    if heading:  # the axes may begin further to the right now
        legends.write_title(ax, heading, letters)
        legends.settle(ax)


def _bounded(result: SimulationResult, names: Sequence[str], curves: Mapping[str, Curve]) -> list[str]:
    """The policies that the upper bounds are about, if these are not all that played."""
    proved = {curve.of for curve in curves.values()} - {""}
    played = names_in_bounds(result)
    return [] if proved.issuperset(played) else [name for name, of in zip(names, played, strict=True) if of in proved]


def _smallest(mean: NDArray[np.float64]) -> float:
    """The smallest positive mean that is more than rounding."""
    some = mean[mean > ROUNDING * max(mean.max(), 0.0)]
    return float(some.min()) if some.size else 0.0


def _size(size: Any, at_ends: int, listed: int) -> tuple[float, float]:
    if size is None:
        return WIDTH, max(HEIGHT, 1.5 + 0.16 * at_ends) + LINE * math.ceil((listed - at_ends) / 2)
    given = size.tolist() if isinstance(size, np.ndarray) else size
    pair = tuple(given) if isinstance(given, Sequence) else ()
    if len(pair) != 2 or not all(is_number(side) and 0.5 <= side <= 100.0 for side in pair):
        raise BadArgument(
            f"size must be width and height in inches, from 0.5 to 100, such as (3.3, 2.6), got {size!r:.100}"
        )
    return float(pair[0]), float(pair[1])


def _heading(result: SimulationResult, title: Any) -> str:
    if title is None or title is True:
        return result.problem.replace("$", r"\$")
    if title is False:
        return ""
    if not isinstance(title, str):
        raise BadArgument(f"title must be a string, or False for none, got {title!r:.100}")
    return _as_written("title", title)


def _place(legend: Any, many: bool) -> str:
    """As `LegendPlace`, or "none", or "free" where nobody says."""
    if legend is None:
        return "ends" if many else "free"
    if isinstance(legend, bool):
        return "free" if legend else "none"
    if not isinstance(legend, str) or legend not in get_args(LegendPlace):
        places = ", ".join(map(repr, get_args(LegendPlace)))
        raise BadArgument(f"legend must be True, False or one of {places}, got {legend!r:.100}")
    return legend


def _names(result: SimulationResult, labels: Any) -> list[str]:
    """What curves are called."""
    names = [as_label(name) for name in result.short_names]
    if labels is None:
        return names
    many = len(names)
    if isinstance(labels, Mapping):
        named = [(result.policy_number(policy), label) for policy, label in labels.items()]
        if len({number for number, _ in named}) < len(named):
            raise BadArgument(f"labels name a policy twice: {labels!r:.300}")
    elif isinstance(labels, Sequence) and not isinstance(labels, str) and len(labels) == many:
        named = list(enumerate(labels))
    else:
        raise BadArgument(
            f"labels must be {many} names, one for each policy in its order, or map policies to names, "
            f"got {labels!r:.300}"
        )
    for number, label in named:
        if not isinstance(label, str) or not label.strip():
            raise BadArgument(f"labels must be names, got {label!r:.100} for {result.policies[number]}")
        names[number] = _as_written("label", f" {label}" if label.startswith("_") else label)
    return names


def _as_written(what: str, text: str) -> str:
    """The user's own text, which Matplotlib sets as mathematics between dollars."""
    from matplotlib.mathtext import MathTextParser

    if text.replace(r"\$", "").count("$") % 2 == 0 and "$" in text:
        try:
            MathTextParser("path").parse(text)
        except ValueError as error:
            raise BadArgument(rf"{what} {text!r:.100} is no formula (write \$ for a dollar): {error!s:.300}") from error
    return text
