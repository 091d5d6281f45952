"""The bounds to draw over regret: those about the policies that played, at the checkpoints."""

import os
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits.errors import BadArgument, Unsupported
from semibandits.simulation.result import AnyBounds, SimulationResult
from semibandits.theory.applicable_bounds import Bound, Bounds
from semibandits.theory.kveton2015 import theorem_6
from semibandits.theory.terms import PER_ITEM, beyond, largest_loss
from semibandits.theory.tight import gap_free


class Curve(NamedTuple):
    """A bound to draw."""

    values: NDArray[np.float64]
    kind: str = "upper"
    """As a `Bound` has it, or "trivial" for what nothing can exceed."""
    of: str = ""
    """The policy that it is about, where it is not about all."""
    asymptotic: bool = False
    vacuous: NDArray[np.bool_] | None = None
    """Where it says nothing and nobody asked for it all the same."""

    @property
    def telling(self) -> bool:
        return self.vacuous is None or not self.vacuous.all()

    @property
    def shown(self) -> NDArray[np.float64]:
        """NaN where nothing is drawn."""
        return self.values if self.vacuous is None else np.where(self.vacuous, np.nan, self.values)


def bound_curves(result: SimulationResult, bounds: AnyBounds) -> dict[str, Curve]:
    """The bounds at the checkpoints, by name."""
    if bounds is None or bounds is False:
        return {}
    if result.provenance.get("drifts") and not isinstance(bounds, Mapping):
        raise Unsupported(
            "bounds need a world with means that stay as they are, and this one has none: draw bounds of your own"
        )
    if bounds is True:
        return _whatever_the_gaps(result)
    if isinstance(bounds, Bound):
        bounds = (bounds,)
    if isinstance(bounds, list | tuple) and all(isinstance(bound, Bound) for bound in bounds):
        return _from_theory(result, bounds)
    if not isinstance(bounds, Mapping) or not all(isinstance(name, str) for name in bounds):
        if isinstance(bounds, str | os.PathLike) and Path(bounds).suffix:
            raise BadArgument(f"plot() writes no file: result.plot().figure.savefig({os.fspath(bounds)!r:.100}) does")
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
    own = result.provenance.get("problem_digest")
    for bound in bounds:
        if own and bound.problem_digest and bound.problem_digest != own:
            raise BadArgument(
                f"{bound.title} is of another problem than the result, {result.problem:.200}: of another set, or of "
                "other means or bounds"
            )
        if not np.array_equal(bound.rounds, result.rounds):
            raise BadArgument(
                f"the bounds are at other rounds ({bound.rounds.size}) than the result's {result.rounds.size} "
                "checkpoints: make them by theory.bounds(problem, result.rounds)"
            )
    most, trivial = {}, None
    approximate = result.kind == "ratio" and result.provenance.get("ratio", 1.0) < 1.0
    regret, played = "ratio" if approximate else "expected", _played(result)
    if isinstance(bounds, Bounds):
        if bounds.problem != result.problem:
            raise BadArgument(f"the bounds are of {bounds.problem:.200}, the result of {result.problem:.200}")
        if regret == "expected":
            most = {"no policy loses more": Curve(bounds.trivial, "trivial")}
        trivial = bounds.trivial
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
            f"{bound.title}{' (in the limit)' if bound.asymptotic else ''}": Curve(
                bound.value,
                bound.kind,
                bound.policy if bound.kind == "upper" else "",
                bound.asymptotic,
                None if trivial is None else _vacuous(bound, trivial),
            )
            for bound in bounds
        },
        **most,
    }


def _vacuous(bound: Bound, trivial: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Where it says nothing. A bound that holds in the limit says nothing before it is no more than can be lost."""
    if not bound.asymptotic:
        return bound.vacuous
    beyond = bound.vacuous | (bound.value > trivial)
    return np.logical_or.accumulate(beyond[::-1])[::-1]


def _played(result: SimulationResult) -> set[str]:
    return {name for name in names_in_bounds(result) if name is not None}


def names_in_bounds(result: SimulationResult) -> list[str | None]:
    """Each policy as bounds call it: sets without signs make CombUCB1 start optimistically, which is as good."""
    known = [_name_in_bounds(parameters) for parameters in result.provenance.get("parameters", ())]
    own = result.provenance.get("own_code", ())
    known = [None if users else name for name, users in zip_longest(known, own)]
    return [*known, *[None] * (len(result.policies) - len(known))]


def _name_in_bounds(played: Mapping[str, Any]) -> str | None:
    if played.get("policy") == "ESCB":
        return "ESCB" if played.get("c") == 4.0 and played.get("method") == "exact" else None
    names: dict[Any, str] = {("CombUCB1", 1.5): "CombUCB1", ("CombUCB1", 2.0): "OMM", ("OMM", None): "OMM"}
    begun = played.get("init") in ("paper", "optimistic")
    return names.get((played.get("policy"), played.get("alpha"))) if begun else None


def _whatever_the_gaps(result: SimulationResult) -> dict[str, Curve]:
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
    values = {
        "Kveton et al. 2015, Theorem 6": span * theorem_6(result.rounds, L, K, spans=spans) + more,
        "semibandits, D, gap-free": span * gap_free(result.rounds, L, K, size, spans=spans) + more,
    }
    most = result.rounds * facts.get("max_gap", largest_loss((lo, hi), K))
    return {name: Curve(value, of="CombUCB1", vacuous=value > most) for name, value in values.items()}
