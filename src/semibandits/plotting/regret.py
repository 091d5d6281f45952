"""Pictures of regret over time, with bounds."""

import itertools
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits._util.checks import check_choice
from semibandits.errors import BadArgument, Unsupported
from semibandits.plotting.axes import COLOURS, DASHES, LOWER_COLOUR, as_label, check_axes, light_grid, new_axes
from semibandits.simulation.result import AnyBounds, LogAxes, SimulationResult, estimate
from semibandits.theory.applicable_bounds import Bound, Bounds
from semibandits.theory.kveton2015 import theorem_6
from semibandits.theory.terms import PER_ITEM, beyond
from semibandits.theory.tight import gap_free

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BELOW = 8
"""So many entries of a legend fit under a picture; more stand beside it."""
BOUND_GREYS = ("#222222", "#808080", "#b4b4b4")
BOUND_DASHES: tuple[Any, ...] = ((0, (5, 3)), (0, (1.5, 2.5)), (0, (5, 3, 1.5, 3)), (0, (12, 3)))


def draw(
    result: SimulationResult,
    bounds: AnyBounds,
    confidence: float,
    log: LogAxes | None,
    ax: "Axes | None",
) -> "Axes":
    check_axes(ax)
    rounds, runs = result.rounds, result.regret.shape[1]
    mean, _, _, low, high = estimate(result.regret.swapaxes(1, 2), confidence)
    curves = bound_curves(result, bounds)
    if log is None:
        log = "" if result.kind in ("dynamic", "static") else _default_log(rounds, mean, curves)
    log = check_choice("log", log, LogAxes)
    floor = 0.0  # where the axis begins, if nothing lies below
    if "y" in log:
        floor = _smallest(mean)
        if rounds.size == 1 and (low > 0.0).any():
            floor = min(floor, float(low[low > 0.0].min()))
        mean = np.where((mean > 0.0) & (mean >= floor), mean, np.nan)
        low, high = (np.where(high > floor, np.maximum(edge, floor), np.nan) for edge in (low, high))
        curves = {
            name: curve._replace(values=np.where(curve.values > 0.0, curve.values, np.nan))
            for name, curve in curves.items()
        }

    own = ax is None
    if ax is None:
        entries = len(result.policies) + len(curves)
        beside = entries > MOST_BELOW
        ax = new_axes(10.8, 5.0) if beside else new_axes(7.2, 4.2 + 0.18 * entries / _columns(entries))
    ax.set_xscale("log" if "x" in log else "linear")
    ax.set_yscale("log" if "y" in log else "linear")
    before = len(ax.get_lines())
    for p, name in enumerate(result.policies):
        colour, dashes = COLOURS[(before + p) % len(COLOURS)], DASHES[(before + p) % len(DASHES)]
        marker = "o" if rounds.size <= 12 else ""
        style = {"color": colour, "linestyle": dashes, "linewidth": 1.8, "marker": marker, "markersize": 4}
        (line,) = ax.plot(
            rounds, mean[p], label=as_label(textwrap.shorten(name, 48, placeholder="...")), zorder=3, **style
        )
        line.sticky_edges.y.append(floor)
        if runs > 1:
            band = ax.fill_between(rounds, low[p], high[p], color=colour, alpha=0.18, linewidth=0.0, zorder=2)
            band.sticky_edges.y.append(floor)
            if rounds.size == 1:  # its band is but an edge
                band.set(alpha=0.7, linewidth=2.0)
    uppers = itertools.cycle(itertools.product(BOUND_GREYS, BOUND_DASHES))
    lowers = itertools.cycle(itertools.product((LOWER_COLOUR,), BOUND_DASHES))
    styles = {"upper": uppers, "trivial": itertools.repeat(("#000000", "solid"))}
    for name, curve in curves.items():
        colour, dashes = next(styles.get(curve.kind, lowers))
        style = {"linewidth": 0.6 if curve.kind == "trivial" else 1.1, "marker": "_" if rounds.size == 1 else ""}
        label = f" {name}" if name.startswith("_") else name  # or Matplotlib would hide it
        ax.plot(rounds, curve.values, label=label, color=colour, linestyle=dashes, markersize=14, zorder=3, **style)

    if "y" not in log:
        ax.update_datalim([(rounds[0], 0.0)])
    ax.set_xlabel("round")
    ax.set_ylabel(f"{result.kind} regret")
    ax.set_title(textwrap.fill(result.problem, 80), loc="left", fontsize="medium", parse_math=False)
    light_grid(ax)
    title = "a single run" if runs == 1 else f"mean of {runs} runs, {100 * confidence:g}% interval"
    _legend(ax, title, own)
    return ax


class Curve(NamedTuple):
    """A bound to draw."""

    values: NDArray[np.float64]
    kind: str = "upper"
    """As a `Bound` has it, or "trivial" for what nothing can exceed."""


def bound_curves(result: SimulationResult, bounds: AnyBounds) -> dict[str, Curve]:
    """The bounds at the checkpoints, by name."""
    if bounds is None or bounds is False:
        return {}
    if result.provenance.get("drifts") and not isinstance(bounds, Mapping):
        raise Unsupported(
            "bounds need a world with means that stay as they are, and this one has none: draw bounds of your own"
        )
    if bounds is True:
        return {name: Curve(values) for name, values in _whatever_the_gaps(result).items()}
    if isinstance(bounds, Bound):
        bounds = (bounds,)
    if isinstance(bounds, list | tuple) and all(isinstance(bound, Bound) for bound in bounds):
        return _from_theory(result, bounds)
    if not isinstance(bounds, Mapping) or not all(isinstance(name, str) for name in bounds):
        raise BadArgument(
            "bounds must be True, what theory.bounds() returns or some of it, or map names to arrays or functions, "
            f"got {bounds!r:.200}"
        )
    curves = {}
    for name, bound in bounds.items():
        values = bound(result.rounds.copy()) if callable(bound) else bound
        try:
            curve = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise BadArgument(f"bound {name!r:.100} must be an array or a function, got {values!r:.200}") from error
        if curve.shape != result.rounds.shape or not np.isfinite(curve).all():
            shape = result.rounds.shape
            raise BadArgument(f"bound {name!r:.100} must be finite numbers of shape {shape}, got {values!r:.200}")
        curves[name] = Curve(curve)
    return curves


def _from_theory(result: SimulationResult, bounds: Sequence[Bound]) -> dict[str, Curve]:
    """Of all bounds of a problem, those about the policies that played and what no policy can help. Of some, all."""
    for bound in bounds:
        if not np.array_equal(bound.rounds, result.rounds):
            raise BadArgument(
                f"the bounds are at other rounds ({bound.rounds.size}) than the result's {result.rounds.size} "
                "checkpoints: make them by theory.bounds(problem, result.rounds)"
            )
    trivial = {}
    approximate = result.kind == "ratio" and result.provenance.get("ratio", 1.0) < 1.0
    regret, played = "ratio" if approximate else "expected", _played(result)
    if isinstance(bounds, Bounds):
        if bounds.problem != result.problem:
            raise BadArgument(f"the bounds are of {bounds.problem:.200}, the result of {result.problem:.200}")
        if regret == "expected":
            trivial = {"no policy loses more": Curve(bounds.trivial, "trivial")}
        bounds = [
            bound
            for bound in bounds
            if bound.regret == regret
            and (bound.policy in played if bound.kind == "upper" else bound.kind == "lower" and bound.value.any())
        ]
    for bound in bounds:
        if bound.regret != regret:
            raise BadArgument(f"{bound.title} bounds {bound.regret} regret, but this is {result.kind} regret")
    return {
        **{
            f"{bound.title}{' (in the limit)' if bound.asymptotic else ''}": Curve(bound.value, bound.kind)
            for bound in bounds
        },
        **trivial,
    }


def _played(result: SimulationResult) -> set[str]:
    return {name for name in names_in_bounds(result) if name is not None}


def names_in_bounds(result: SimulationResult) -> list[str | None]:
    """Each policy as bounds call it: sets without signs make CombUCB1 start optimistically, which is as good."""
    names = {("CombUCB1", 1.5): "CombUCB1", ("CombUCB1", 2.0): "OMM", ("OMM", None): "OMM"}
    known = [
        names.get((parameters.get("policy"), parameters.get("alpha")))
        if parameters.get("init") in ("paper", "optimistic")
        else None
        for parameters in result.provenance.get("parameters", ())
    ]
    return [*known, *[None] * (len(result.policies) - len(known))]


def _whatever_the_gaps(result: SimulationResult) -> dict[str, NDArray[np.float64]]:
    """What holds for CombUCB1 on all problems with as many items."""
    facts = result.provenance
    missing = [name for name in ("n_items", "max_size", "bounds", "ratio", "parameters") if name not in facts]
    if missing:
        raise Unsupported(f"this result does not say its {', '.join(missing)}: the paper's bound cannot be worked out")
    if facts["ratio"] < 1.0:
        raise Unsupported(f"the paper's bound needs an exact oracle; this one's ratio is {facts['ratio']}")
    if not facts.get("promised", True):
        raise Unsupported("the paper's bound needs an exact oracle; this one's search may be cut short")
    if "CombUCB1" not in _played(result):
        raise Unsupported(
            "the paper's bound is of CombUCB1 with alpha=1.5 and init='paper'; what played here is "
            f"{facts['parameters']!r:.300}"
        )
    if facts.get("last_round") is not None:
        raise Unsupported("the paper's bound needs independent rounds; this table was played in the order of its rows")
    L, K = facts["n_items"], max(facts["max_size"], 1)
    lo, hi = (np.asarray(side) if isinstance(side, list) else side for side in facts["bounds"])
    span = float(np.max(hi - lo))
    spans = (hi - lo) / span if isinstance(lo, np.ndarray) else None
    more, size = beyond(PER_ITEM, (lo, hi), L, K), facts.get("optimal_size", 0)
    return {
        "Kveton et al. 2015, Theorem 6": span * theorem_6(result.rounds, L, K, spans=spans) + more,
        "semibandits, D, gap-free": span * gap_free(result.rounds, L, K, size, spans=spans) + more,
    }


def _default_log(rounds: NDArray[np.int64], mean: NDArray[np.float64], curves: Mapping[str, Curve]) -> LogAxes:
    wide = rounds[-1] > 100 * rounds[0]
    positive = mean.min() > -1e-9 * np.abs(mean).max()
    dwarfed = positive and any(curve.values.max() > 10.0 * mean.max() > 0.0 for curve in curves.values())
    return "xy" if wide and dwarfed else "x" if wide else "y" if dwarfed else ""


def _smallest(mean: NDArray[np.float64]) -> float:
    """The smallest positive mean that is more than rounding."""
    some = mean[mean > 1e-9 * max(mean.max(), 0.0)]
    return float(some.min()) if some.size else 0.0


def _columns(entries: int) -> int:
    return 1 if entries < 4 else 2


def _legend(ax: "Axes", title: str, own: bool) -> None:
    """The curves in the order in which they end, from top to bottom; outside of the picture where it is our own."""
    lines = [line for line in ax.get_lines() if not str(line.get_label()).startswith("_")]
    lines.sort(key=lambda line: np.nan_to_num(np.asarray(line.get_ydata())[-1], nan=-np.inf), reverse=True)
    place: dict[str, Any] = {"loc": "best"}
    if own and len(lines) > MOST_BELOW:
        place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "frameon": False}
    elif own:
        under_label = 4.5  # in sizes of the font
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "borderaxespad": under_label, "frameon": False}
        place["ncols"] = _columns(len(lines))
    ax.legend(handles=lines, title=title, fontsize="small", title_fontsize="small", handlelength=3.2, **place)
