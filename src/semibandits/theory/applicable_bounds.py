"""Bounds of a problem: every one that applies to it, what is guaranteed and what is unavoidable."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits._util.checks import check_choice, check_horizons
from semibandits._util.showing import Shown
from semibandits._util.suggestions import explained
from semibandits._util.typeset import Cell, Figure, Table, Typeset
from semibandits.errors import BadArgument
from semibandits.problem import Problem
from semibandits.theory.catalogue import BY_GAPS, CATALOGUE, ONE_PAIR, Entry, Kind
from semibandits.theory.facts import Facts

Curve: TypeAlias = NDArray[np.float64]
SHOWN, SHOWN_IN_PAPERS = 3, 6
"""How many horizons a printed table has, at most, and one in LaTeX or Markdown."""
WIDTH = 100
"""Of a printed sentence."""
MARKS = {
    "*": "* says nothing: an upper bound above what can be lost at all, or a lower bound of 0",
    "~": "~ holds in the limit of many rounds only",
}


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
    """True: `value` leaves out what does not grow with n, and bounds R(n) / log n only as n goes to infinity."""
    rounds: Curve
    value: Curve
    vacuous: NDArray[np.bool_]
    """Where it says nothing: an upper bound above n Δ_max, or a lower bound of 0."""
    problem_digest: str = ""
    """Which problem it is of."""

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


class Bounds(Shown, Typeset, tuple[Bound, ...]):
    """The bounds that apply: upper ones first, and of these CombUCB1's; the least at the last horizon first.

    Prints as a table of the last three horizons; in LaTeX and Markdown they are six. A part of it, `bounds[:2]` say, is
    a plain tuple.
    """

    problem: str = ""
    rounds: Curve = np.empty(0)
    trivial: Curve = np.empty(0)
    """No policy can lose more: n Δ_max, or what the bounds of the weights allow where that is out of reach."""
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    """What could not be found out, or not quickly, so that bounds are missing: in sentences."""

    def of(self, kind: Kind, policy: str | None = None) -> list[Bound]:
        """Those of a kind; with `policy`, of that policy only."""
        check_choice("kind", kind, Kind)
        if policy is not None and not isinstance(policy, str):
            raise BadArgument(f"policy must be a name, such as 'CombUCB1', got {policy!r:.100}")
        return [bound for bound in self if bound.kind == kind and policy in (None, bound.policy)]

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON can say it."""
        return {
            "problem": self.problem,
            "rounds": self.rounds.tolist(),
            "trivial": self.trivial.tolist(),
            "bounds": [bound.as_dict() for bound in self],
            "left_out": [one._asdict() for one in self.left_out],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        return "\n".join(line.rstrip() for line in self._lines())

    __repr__ = __str__

    def _table(self) -> Table:
        rows = table_rows(self, SHOWN_IN_PAPERS)
        figures: list[list[Cell]] = [
            [*row[:3], *(Figure(value[:-1], mark=value[-1].strip()) for value in row[3:])] for row in rows
        ]
        horizons = [Figure(f"n = {short(n)}") for n in self.rounds[-SHOWN_IN_PAPERS:]]
        return Table(["bound", "of", "kind", *horizons], figures, notes_on(self, rows))

    def _lines(self) -> Iterator[str]:
        rows = table_rows(self, SHOWN)
        title, who = (max(len(row[column]) for row in rows) for column in (0, 1))
        yield f"{'bound':<{title}}  {'of':<{who}}  {'kind':<10}" + "".join(
            f"  {f'n = {short(n)} ':>15}" for n in self.rounds[-SHOWN:]
        )
        for name, policy, kind, *values in rows:
            yield f"{name:<{title}}  {policy:<{who}}  {kind:<10}" + "".join(f"  {value:>15}" for value in values)
        yield from notes_on(self, rows)
        for note in self.notes:
            yield from textwrap.wrap(note, WIDTH)


@explained
def bounds(problem: Problem, horizons: ArrayLike) -> Bounds:
    """Every bound that applies to the problem, at one or more horizons.

    Bounds of CombUCB1 are of `CombUCB1()`: alpha = 1.5, the paper's Init. They are scaled to the bounds of the weights,
    item by item where items have bounds of their own.
    With an approximate oracle only what was proved for one is offered, and it bounds another regret (`Bound.regret`).
    What takes long is left out, and `notes` says so: the gaps of a large set, say, and with them the bounds by gaps.

    >>> import semibandits as sb
    >>> for bound in bounds(sb.problems.k_path(n_items=8, k=2, gap=0.5), 1000)[:3]:
    ...     print(f"{bound.title}: {bound.value[0]:.0f}")
    semibandits, D, gap-free: 1479
    semibandits, B, amortised: 2058
    semibandits, A, exact cascade: 2058
    """
    facts = Facts(problem)
    rounds = np.atleast_1d(check_horizons(horizons, "horizons")).ravel()
    if rounds.size == 0:
        raise BadArgument(f"horizons must be one or more rounds, got {horizons!r:.200}")
    return bounds_by(facts, rounds)


def bounds_by(facts: Facts, rounds: Curve) -> Bounds:
    """The same, by what is known of the problem already."""
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
    if facts.pair is None:
        needy: dict[str, list[str]] = {}
        for one in left_out:
            if ONE_PAIR.name in one.missing:
                needy.setdefault(one.source, []).append(one.name)
        listed = ", ".join(f"{source} ({'; '.join(names)})" for source, names in needy.items())
        facts.notes[ONE_PAIR.name] = (
            f"Items have bounds of their own, and upper bounds count each by its own span. What needs {ONE_PAIR.name} "
            f"is left out: {listed}."
        )
    found = Bounds(offered)
    found.problem, found.rounds, found.trivial = repr(facts.problem), rounds, trivial
    found.left_out, found.notes = tuple(left_out), tuple(facts.notes.values())
    return found


def _bound(entry: Entry, facts: Facts, rounds: Curve, trivial: Curve) -> Bound:
    value = np.asarray(entry.curve(facts, rounds), dtype=np.float64)
    if any(condition in BY_GAPS for condition in entry.conditions) and entry.kind == "upper":
        value = value + rounds * facts.K * facts.problem.tolerance  # what counts as tied may lose that much
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
        facts.problem.digest,
    )


def table_rows(found: Bounds, last: int | None = None) -> list[list[str]]:
    """Title, policy, kind, and the value at each of the (last) horizons, with one of the marks or a space."""
    some = slice(None if last is None else -last, None)
    rows = [[bound.title, bound.policy, bound.kind, *_marked(bound)[some]] for bound in found]
    return [*rows, ["no policy loses more", "any", "upper", *(f"{short(value)} " for value in found.trivial[some])]]


def _marked(bound: Bound) -> list[str]:
    marks = ["*" if vacuous else "~" if bound.asymptotic else " " for vacuous in bound.vacuous]
    return [f"{short(value)}{mark}" for value, mark in zip(bound.value, marks, strict=True)]


def notes_on(found: Bounds, rows: list[list[str]]) -> list[str]:
    """What the marks in a table of bounds mean, and whether it has all horizons."""
    marks = {value[-1] for row in rows for value in row[3:]}
    meanings = [meaning for mark, meaning in MARKS.items() if mark in marks]
    shown, many = len(rows[0]) - 3, found.rounds.size
    return [*meanings, f"the last {shown} of {many} horizons"] if shown < many else meanings


def short(value: float) -> str:
    """A number for people."""
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e11 else f"{value:.4g}"
