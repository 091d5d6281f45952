"""What is guaranteed for a problem, and what is unavoidable: every bound that applies to it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits.problem import Problem
from semibandits.theory.catalogue import CATALOGUE, Entry, Kind
from semibandits.theory.checks import check_rounds
from semibandits.theory.facts import Facts
from semibandits.types import check_choice

Curve: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Bound:
    """One bound on a policy's regret, at some horizons."""

    name: str
    source: str
    policy: str
    """Whose regret it bounds; "any" or "any consistent" for lower bounds."""
    kind: Kind
    """"upper" and "lower" are about this problem, "worst case" about some problem with the same L and K."""
    regret: Literal["expected", "ratio"]
    """Regret against the optimum, or against what an approximate oracle promises (`Problem.target`)."""
    conditions: tuple[str, ...]
    """What it rests on; all of it was found to hold."""
    asymptotic: bool
    """True: `value` is factor · log n, and bounds R(n) / log n only as n goes to infinity."""
    rounds: Curve
    value: Curve
    vacuous: NDArray[np.bool_]
    """Where it says nothing: an upper bound above n Δ_max, or a lower bound of 0."""

    @property
    def title(self) -> str:
        return f"{self.source}, {self.name}"

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON can say it."""
        return {
            **{name: getattr(self, name) for name in ("name", "source", "policy", "kind", "regret", "asymptotic")},
            "conditions": list(self.conditions),
            **{name: getattr(self, name).tolist() for name in ("rounds", "value", "vacuous")},
        }


class LeftOut(NamedTuple):
    """A bound that does not apply, and the conditions that fail."""

    name: str
    source: str
    policy: str
    missing: tuple[str, ...]


class Bounds(tuple[Bound, ...]):
    """The bounds that apply: upper ones first, and of these CombUCB1's; the least at the last horizon first.

    Prints as a table of the last three horizons.
    """

    rounds: Curve
    trivial: Curve
    """n Δ_max: no policy can lose more. Where Δ_max is out of reach, what the bounds of the weights allow."""
    left_out: tuple[LeftOut, ...]

    def of(self, kind: Kind, policy: str | None = None) -> "list[Bound]":
        """Those of a kind; with `policy`, of that policy only."""
        check_choice("kind", kind, Kind)
        return [bound for bound in self if bound.kind == kind and policy in (None, bound.policy)]

    def __str__(self) -> str:
        return "\n".join(line.rstrip() for line in self._lines())

    __repr__ = __str__

    def _lines(self) -> Iterator[str]:
        title = max([len("bound"), *(len(bound.title) for bound in self)])
        who = max([len("of"), *(len(bound.policy) for bound in self)])
        shown = self.rounds[-3:]
        yield f"{'bound':<{title}}  {'of':<{who}}  {'kind':<10}" + "".join(f"  {f'n = {n:,.6g}':>14}" for n in shown)
        for bound in self:
            marks = ["*" if empty else "~" if bound.asymptotic else " " for empty in bound.vacuous[-3:]]
            values = [f"{short(value)}{mark}" for value, mark in zip(bound.value[-3:], marks, strict=True)]
            yield f"{bound.title:<{title}}  {bound.policy:<{who}}  {bound.kind:<10}" + "".join(
                f"  {value:>14}" for value in values
            )
        yield f"* says nothing: no policy loses more than n Δ_max = {short(self.trivial[-1])}; ~ in the limit only"


def bounds(problem: Problem, horizons: ArrayLike) -> Bounds:
    """Every bound that applies to the problem, at one or more horizons.

    Bounds of CombUCB1 are of `CombUCB1()`: alpha = 1.5, the paper's Init. They are scaled to the bounds of the weights.
    With an approximate oracle only what was proved for one is offered, and it bounds another regret (`Bound.regret`).

    >>> import semibandits as sb
    >>> for bound in bounds(sb.problems.k_path(n_items=8, k=2, gap=0.5), 1000)[:3]:
    ...     print(f"{bound.title}: {bound.value[0]:.0f}")
    semibandits, D, gap-free: 1479
    semibandits, B, amortised: 2058
    semibandits, A, exact cascade: 2058
    """
    rounds = np.atleast_1d(check_rounds(horizons)).ravel()
    facts = Facts(problem)
    trivial = rounds * facts.most_a_round_can_lose
    offered, left_out = [], []
    for entry in CATALOGUE:
        missing = tuple(condition.name for condition in entry.conditions if not condition.holds(facts))
        if missing:
            left_out.append(LeftOut(entry.name, entry.source, entry.policy, missing))
        else:
            offered.append(_bound(entry, facts, rounds, trivial))
    kinds = get_args(Kind)
    offered.sort(
        key=lambda bound: (
            kinds.index(bound.kind),
            bound.policy != "CombUCB1",
            float(f"{bound.value[-1]:.12g}"),  # the same but for rounding: as in the catalogue
        )
    )
    found = Bounds(offered)
    found.rounds, found.trivial, found.left_out = rounds, trivial, tuple(left_out)
    return found


def _bound(entry: Entry, facts: Facts, rounds: Curve, trivial: Curve) -> Bound:
    value = np.asarray(entry.curve(facts, rounds), dtype=np.float64)
    return Bound(
        entry.name,
        entry.source,
        entry.policy,
        entry.kind,
        entry.regret,
        tuple(condition.name for condition in entry.conditions),
        entry.asymptotic,
        rounds,
        value,
        value > trivial if entry.kind == "upper" else value <= 0.0,
    )


def short(value: float) -> str:
    """A number for people."""
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e10 else f"{value:.4g}"
