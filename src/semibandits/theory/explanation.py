"""A problem in words: how large, how hard, what is guaranteed and what is unavoidable."""

import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np

from semibandits._util.checks import check_whole
from semibandits._util.showing import Shown
from semibandits._util.suggestions import explained
from semibandits.problem import Problem
from semibandits.theory.applicable_bounds import WIDTH, Bound, Bounds, bounds_by, short
from semibandits.theory.facts import GAPS, LOWER, Facts


@dataclass(frozen=True, eq=False)
class Explanation(Shown):
    """What `explain` found; prints as a paragraph."""

    n_items: int
    max_size: int
    optimal_size: int
    several_optima: bool | None
    """None: out of reach."""
    ratio: float | None
    """What the oracle promises: 1 for an exact one, None where it promises nothing in advance."""
    min_gap: float | None
    max_gap: float | None
    horizon: int
    guarantee: Bound | None
    """The least upper bound for CombUCB1 that is not vacuous."""
    guaranteed: float
    """What CombUCB1 loses at most: by `guarantee`, or n Δ_max."""
    lower: Bound | None
    """The largest lower bound, which holds in the limit of many rounds."""
    unavoidable: float | None
    """Its value at the horizon."""
    apart: float | None
    """How many times as large as `unavoidable` `guaranteed` is."""
    bounds: Bounds
    tolerance: float
    """Gaps up to this count as ties (`Problem.tolerance`)."""

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON can say it; a gap that does not exist is null."""
        plain = ("n_items", "max_size", "optimal_size", "several_optima", "ratio", "horizon", "guaranteed", "tolerance")
        gaps = {name: _finite(getattr(self, name)) for name in ("min_gap", "max_gap")}
        return {
            **{name: getattr(self, name) for name in plain},
            **gaps,
            "guarantee": None if self.guarantee is None else self.guarantee.title,
            "lower": None if self.lower is None else self.lower.title,
            "unavoidable": self.unavoidable,
            "apart": self.apart,
            "bounds": [bound.as_dict() for bound in self.bounds],
            "notes": list(self.bounds.notes),
        }

    def sentences(self) -> list[str]:
        """The size, the gaps and, where there is anything to lose, what is guaranteed and what unavoidable."""
        if self.guaranteed == 0.0 or (_finite(self.min_gap) is None and self.min_gap is not None):
            return [self._sizes(), self._gaps()]
        return [self._sizes(), self._gaps(), self._guarantee(), self._lower()]

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    __repr__ = __str__

    def _sizes(self) -> str:
        optimum = "one of several optima" if self.several_optima else "the optimum"
        if self.ratio != 1.0:
            optimum = "the oracle's answer on the means"
        items = f"{_many(self.n_items, 'item')}, solutions of at most {self.max_size:,}"
        return f"{items}; {optimum} has {self.optimal_size:,}."

    def _gaps(self) -> str:
        if self.ratio is None:
            return "The oracle's search may be cut short: it promises nothing in advance."
        if self.ratio < 1.0:
            return f"The oracle is approximate: it promises {self.ratio:g} of the best. Gaps are out of its reach."
        if self.min_gap is None:
            return self._note(GAPS, "The gaps are out of reach.")
        if _finite(self.min_gap) is None:
            return f"No solution is worse than the optimum by more than {self.tolerance:.2g}: there is nothing to lose."
        coarse = f" Gaps up to {self.tolerance:.2g} count as ties." if self.tolerance > 1e-4 * self.min_gap else ""
        if self.min_gap == self.max_gap:
            return f"Every suboptimal solution is worse by {self.min_gap:.4g}.{coarse}"
        worst = "out of reach" if self.max_gap is None else f"worse by {self.max_gap:.4g}"
        return f"The best of the suboptimal solutions is worse by {self.min_gap:.4g}, the worst is {worst}.{coarse}"

    def _note(self, what: str, otherwise: str) -> str:
        return textwrap.fill(next((note for note in self.bounds.notes if note.startswith(what)), otherwise), WIDTH)

    def _guarantee(self) -> str:
        after = f"After {_many(self.horizon, 'round')}"
        if self.guarantee is None:
            return f"{after} no bound says more than that nothing loses more than {short(self.guaranteed)}."
        against = "" if self.guarantee.regret == "expected" else ", against what the oracle promises,"
        return (
            f"{after} CombUCB1 has lost{against} at most {short(self.guaranteed)} on average\n({self.guarantee.title})."
        )

    def _lower(self) -> str:
        if self.lower is None or self.unavoidable is None:
            return self._note(LOWER, "No lower bound is known.")
        if self.horizon > 1 and not self.unavoidable:
            return f"No loss beyond a constant is unavoidable ({self.lower.title})."
        if self.apart is None or self.apart < 1.0:
            return f"So few rounds tell nothing about the limit ({self.lower.title})."
        return (
            f"In the limit of many rounds no consistent policy beats {short(self.unavoidable)} there\n"
            f"({self.lower.title}): the two are a factor of {self.apart:.3g} apart."
        )


@explained
def explain(problem: Problem, horizon: int = 100_000) -> Explanation:
    """L, K, the gaps, the tightest guarantee, the lower bound and how far they are apart; print it, or read its fields.

    >>> import semibandits as sb
    >>> explain(sb.problems.k_path(n_items=8, k=2, gap=0.5), horizon=1_000_000)
    8 items, solutions of at most 2; the optimum has 2.
    Every suboptimal solution is worse by 0.5.
    After 1,000,000 rounds CombUCB1 has lost at most 4,048 on average
    (semibandits, B, amortised).
    In the limit of many rounds no consistent policy beats 158.4 there
    (Kveton et al. 2015, Proposition 1, exact): the two are a factor of 25.5 apart.
    """
    horizon = check_whole("horizon", horizon)
    facts = Facts(problem)
    found = bounds_by(facts, np.array([float(horizon)]))
    upper = [bound for bound in found.of("upper", "CombUCB1") if not bound.vacuous[0] and not bound.asymptotic]
    guarantee = upper[0] if upper else None
    lower = max(found.of("lower"), key=lambda bound: bound.value[0], default=None)
    guaranteed = float(found.trivial[0] if guarantee is None else guarantee.value[0])
    unavoidable = None if lower is None else float(lower.value[0])
    return Explanation(
        facts.L,
        problem.max_size,
        facts.optimal_size,
        facts.several_optima,
        problem.feasible.ratio if problem.feasible.promised else None,
        facts.min_gap,
        facts.max_gap,
        horizon,
        guarantee,
        guaranteed,
        lower,
        unavoidable,
        guaranteed / unavoidable if unavoidable else None,
        found,
        problem.tolerance,
    )


def _finite(gap: float | None) -> float | None:
    return None if gap is None or gap == float("inf") else gap


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
