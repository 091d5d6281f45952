"""The items: estimates with intervals against the truth."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semibandits import policies
from semibandits._util.forks import cached_property
from semibandits._util.html import Html, Number, details, number, paragraph, table
from semibandits.agent import confidence_radii
from semibandits.errors import SemiBanditError
from semibandits.experiments.point import Point
from semibandits.experiments.report.curves import WIDTH, in_lines, legend_below
from semibandits.experiments.report.pictures import NARROW, Gallery, figure
from semibandits.experiments.report.wording import in_unit, of_unit
from semibandits.plotting.axes import CHOSEN, COLOURS, DARK, light_grid, own_axes, shortened
from semibandits.types import Items, Weights

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CONFIDENCE = 0.95
MOST_ITEMS = 40
MOST_PICTURES = 3
"""Policies whose estimates are drawn, the best first; of all there are numbers."""
OTHER = COLOURS[0]


@dataclass(frozen=True)
class Learned:
    """What one policy has seen of the items."""

    point: Point
    policy: int

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(runs, items)"""
        assert self.point.result.counts is not None
        counts: NDArray[np.int64] = self.point.result.counts[self.policy]
        return counts

    @cached_property
    def estimates(self) -> Weights:
        """(runs, items): the mean of all that was seen of each item, NaN where that is nothing."""
        assert self.point.result.sums is not None
        seen = np.maximum(self.counts, 1)
        means = np.clip(self.point.result.sums[self.policy] / seen, *self.point.problem.bounds)
        return np.where(self.counts > 0, means, np.nan)

    @cached_property
    def intervals(self) -> tuple[Weights, Weights]:
        """Of run 0: as `Learner.intervals`, Hoeffding's at all rounds at once."""
        lo, hi = self.point.problem.bounds
        spans = self.point.problem.spans
        radius = spans * np.where(spans > 0.0, confidence_radii(self.counts[0], CONFIDENCE), 0.0)
        middle = self.estimates[0]
        return np.clip(middle - radius, lo, hi), np.clip(middle + radius, lo, hi)

    def error(self, items: Items | slice) -> Weights:
        """The root mean square of estimate less true mean over the runs that saw the item, one per item."""
        off = (self.estimates - self.point.problem.means)[:, items]
        seen = np.isfinite(off)
        squares = np.where(seen, off, 0.0) ** 2
        runs = seen.sum(axis=0)
        return np.where(runs > 0, np.sqrt(squares.sum(axis=0) / np.maximum(runs, 1)), np.nan)

    def best(self, run: int) -> Weights:
        """What the oracle is to maximise by the estimates of a run; items never seen count as worst."""
        lo, hi = self.point.problem.bounds
        largest = self.point.problem.sense == "max"
        weights = np.where(np.isnan(self.estimates[run]), lo if largest else hi, self.estimates[run])
        return weights if largest else -weights


def sees_items(point: Point, policy: int) -> bool:
    """Whether the policy was told what each chosen item weighed, and not only their sum."""
    known = point.result.provenance
    parameters = known.get("parameters", [])
    kind = parameters[policy].get("policy", "") if policy < len(parameters) else ""
    return known.get("feedback") != "bandit" and getattr(getattr(policies, kind, None), "feedback", "semi") == "semi"


def items(point: Point, gallery: Gallery, found: dict[int, Items], *, pictures: bool = True) -> Html:
    """Estimates with intervals against the truth, of every policy; `found` are solutions that must be shown."""
    problem, result = point.problem, point.result
    if result.counts is None:
        return paragraph(
            "Not known: how often each item was chosen was not recorded. simulate(..., record=['counts', 'sums']) does."
        )
    body, with_means, with_sums = "", not problem.environment.drifts, result.sums is not None
    if not with_means:
        body += paragraph(
            "The means change from round to round, so that there is no truth to hold an estimate against: what follows "
            "is how often each item was chosen."
        )
    elif not with_sums:
        body += paragraph(
            "What the items weighed was not recorded, only how often they were chosen: "
            "simulate(..., record=['counts', 'sums']) keeps both."
        )
    optimum = _optimum(point)
    names = result.short_names
    order = result.ranking()
    if with_means and with_sums:
        body += _overview(point, order, optimum) + _how(point)
    for rank, policy in enumerate(order):
        learned = Learned(point, policy)
        shown = relevant(learned, optimum, found.get(policy, optimum[:0]))
        inner = "" if sees_items(point, policy) else paragraph("It was told only sums, not these weights themselves.")
        if with_means and with_sums and pictures and rank < MOST_PICTURES:
            inner += _drawn(learned, shown, optimum, gallery, f"items-{policy}", names[policy])
        numbers = _listed(learned, shown, optimum, with_means, with_sums)
        inner += details("The numbers", numbers) if "<svg" in inner else numbers
        body += inner if len(order) == 1 else details(names[policy], inner, open=rank == 0)
    return Html(body)


def _optimum(point: Point) -> Items:
    """None where there is none, or the oracle fails."""
    try:
        return np.empty(0, dtype=np.int64) if point.problem.environment.drifts else point.problem.optimum
    except SemiBanditError:
        return np.empty(0, dtype=np.int64)


def relevant(learned: Learned, optimum: Items, found: Items) -> Items:
    """The items to be shown: of the optimum, of the solution found, then those chosen most often; best first."""
    point = learned.point
    often = np.argsort(-learned.counts.sum(axis=0), kind="stable")
    listed = np.array(list(dict.fromkeys([*optimum.tolist(), *found.tolist(), *often.tolist()])))[:MOST_ITEMS]
    if point.problem.environment.drifts:
        return listed
    worth = point.problem.signed_means[listed]
    ordered: Items = listed[np.argsort(-worth, kind="stable")]
    return ordered


def label(point: Point, item: int) -> str:
    """How the set calls an item."""
    labels = point.problem.feasible.labels
    return str(labels[item]) if labels else str(item)


def _overview(point: Point, order: list[int], optimum: Items) -> Html:
    rows, names = [], point.result.short_names
    others = np.setdiff1d(np.arange(point.problem.n_items), optimum)
    for policy in order:
        learned = Learned(point, policy)
        low, high = learned.intervals
        seen = np.isfinite(learned.estimates[0])
        covered = seen & (low <= point.problem.means) & (point.problem.means <= high)
        share = learned.counts[:, optimum].sum() / max(int(learned.counts.sum()), 1)
        errors = [number(_mean_square(learned.error(some)), 4) for some in (optimum, others)]
        rows.append(
            [
                names[policy],
                Number(f"{100.0 * share:.1f}%"),
                *errors,
                Number(f"{np.count_nonzero(~seen):,} of {seen.size:,}"),
                Number(f"{np.count_nonzero(covered):,} of {np.count_nonzero(seen):,}"),
            ]
        )
    columns = [
        "policy",
        "choices in the optimum",
        "RMS error, optimal items",
        "RMS error, other items",
        "never seen",
        "covered",
    ]
    caption = (
        "Choices in the optimum: how much of all that was chosen belongs to it. RMS error: the root mean square of "
        f"estimate less true mean, over items and runs{in_unit(point.unit)}. Never seen: items not chosen once in run "
        "0. Covered: of the others, those whose 95% interval holds the true mean."
    )
    return table(columns, rows, caption)


def _mean_square(errors: Weights) -> float:
    known = errors[np.isfinite(errors)]
    return float(np.sqrt((known**2).mean())) if known.size else float("nan")


def _how(point: Point) -> Html:
    said = (
        "Estimates and intervals are those of run 0: the mean of all that was seen of an item, with Hoeffding's "
        "interval at 95%, which holds for all rounds at once however the items were chosen. Errors are over all runs. "
        "An item that looks bad early is given up before it can make up for it, so that such means are a little too "
        f"{'low' if point.problem.sense == 'max' else 'high'} on average."
    )
    return paragraph(said, "note")


def _drawn(learned: Learned, shown: Items, optimum: Items, gallery: Gallery, name: str, policy: str) -> Html:
    n_items = learned.point.problem.n_items
    which = "all items" if shown.size == n_items else f"{shown.size} of {n_items:,} items"
    words = f"What {policy} knows of {which} at the end of run 0: estimates with 95% intervals, and the true means"
    drawn, narrow = (_draw(learned, shown, optimum, width) for width in (WIDTH, NARROW))
    one = gallery.picture(name, drawn, f"{words}.", narrow)
    return figure(one, f"{words}. Best items first; those of the optimum in bold.")


def _draw(learned: Learned, shown: Items, optimum: Items, width: float) -> "Axes":
    from matplotlib.lines import Line2D

    point = learned.point
    ax = own_axes(width, 1.1 + 0.19 * shown.size)
    rows = np.arange(shown.size)
    low, high = (edge[shown] for edge in learned.intervals)
    middle, inside = learned.estimates[0][shown], np.isin(shown, optimum)
    for some, colour, face in ((inside, CHOSEN, CHOSEN), (~inside, OTHER, "white")):
        seen = some & np.isfinite(middle)
        ax.hlines(rows[seen], low[seen], high[seen], color=colour, linewidth=1.6, zorder=2)
        ax.plot(middle[seen], rows[seen], "o", color=colour, markerfacecolor=face, markersize=4.5, zorder=3)
    ax.plot(point.problem.means[shown], rows, "|", color="black", markersize=9, markeredgewidth=1.6, zorder=4)
    for row in rows[np.isnan(middle)]:
        where: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": "small", "color": DARK}
        ax.annotate("never seen", (point.problem.means[shown[row]], row), (6, 0), **where)
    names = [_middle_cut(label(point, item), int(5.2 * width)) for item in shown]
    ax.set_yticks(rows, names, fontsize="small", parse_math=False)
    for text, is_optimal in zip(ax.get_yticklabels(), inside, strict=True):
        text.set_fontweight("bold" if is_optimal else "normal")
    ax.set_ylim(shown.size - 0.4, -0.6)
    weight = "reward" if point.problem.sense == "max" else "cost"
    ax.set_xlabel(in_lines(f"mean {weight} of an item{of_unit(point.unit)}", 0.8 * width), parse_math=False)
    light_grid(ax, axis="x")
    ax.spines["left"].set_visible(False)
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", length=0)
    handles: list[Any] = [
        Line2D([], [], color=CHOSEN, marker="o", markersize=4.5, label="in the optimum"),
        Line2D([], [], color=OTHER, marker="o", markersize=4.5, markerfacecolor="white", label="another item"),
        Line2D([], [], color="black", marker="|", markersize=9, markeredgewidth=1.6, linestyle="", label="true mean"),
    ]
    legend_below(ax, handles)
    return ax


def _middle_cut(name: str, width: int) -> str:
    """Long names often differ in their ends."""
    return name if len(name) <= width else f"{shortened(name, width // 2 + 2)}{name[2 - width // 2 :]}"


def _listed(learned: Learned, shown: Items, optimum: Items, with_means: bool, with_sums: bool) -> Html:
    point = learned.point
    runs = learned.counts.shape[0]
    columns, cells = ["item", "times chosen"], [[label(point, i) for i in shown], learned.counts[0, shown].tolist()]
    if runs > 1:
        columns.append("mean of runs")
        cells.append([number(x, 1) for x in learned.counts[:, shown].mean(axis=0)])
    if with_means:
        columns[1:1] = ["in the optimum", "true mean"]
        means = [number(x, 4) for x in point.problem.means[shown]]
        cells[1:1] = [["yes" if inside else "" for inside in np.isin(shown, optimum)], means]
    if with_means and with_sums:
        low, high = learned.intervals
        columns += ["estimate", "95% interval"]
        cells.append([number(x, 4) for x in learned.estimates[0, shown]])
        cells.append([_interval(low[i], high[i]) for i in shown])
        if runs > 1:
            columns.append("error over runs")
            cells.append([number(x, 4) for x in learned.error(shown)])
    left = point.problem.n_items - shown.size
    caption = f"Run 0{', and over all runs' if runs > 1 else ''}. " + (
        f"Means, estimates and errors are in {point.unit}. " if point.unit and with_means else ""
    )
    caption += f"The {shown.size} items that matter most; {left:,} more are left out." if left else ""
    return table(columns, list(zip(*cells, strict=True)), caption)


def _interval(low: float, high: float) -> Number:
    return Number("–" if np.isnan(low) else f"{number(low, 3)} to {number(high, 3)}")
