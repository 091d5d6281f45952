"""Asking an oracle: its answers checked, its solutions listed, and a user's solver tried out before it is used."""

import hashlib
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from semibandits import rng
from semibandits._util.checks import as_items, check_weights, within
from semibandits._util.ownership import ours, up_to_date, vouched
from semibandits.errors import InfeasibleSolution, MinimisingOracle, OracleFailed, SemiBanditError
from semibandits.types import Bounds, FeasibleSet, Items, Sense, Solver, Weights, total

PAIRS = 4
"""As many pairs of opposite weights a solver is asked, or fewer if it is slow."""
SLOW = 0.5
"""Seconds after which no further pair is asked."""
QUICK = 0.1
"""Seconds after which nothing more is asked."""
HALVES = 40
CLEAR = 0.01
"""A solution counts as worse if it loses so much of what the weights can differ by; less may be a solver's accuracy."""
_SEED = 2015


def check_answer(items: Any, n_items: int, max_size: int, who: str = "the oracle") -> Items:
    """An oracle's or a policy's answer as items; a named error where it is no set of known items or a too large one."""
    ordered = as_items(items)
    if ordered is None:
        raise InfeasibleSolution(f"{who} must return distinct integers, got {items!r:.200}{_numbers_meant(items)}")
    if not within(ordered, n_items):
        raise InfeasibleSolution(
            f"{who} returned an unknown item in {ordered.tolist()!r:.200}; items are 0 to {n_items - 1}"
        )
    if ordered.size > max_size:
        raise InfeasibleSolution(f"{who} returned {ordered.size} items, more than max_size={max_size}")
    return ordered.copy()  # the solver may use its array again


def _numbers_meant(answer: Any) -> str:
    """How to make items of a mask, or of names."""
    try:
        kind = np.asarray(answer).dtype.kind
    except ValueError:
        return ""
    if kind == "b":
        return ": of a mask, np.flatnonzero(mask) are the items"
    return ": items are told by their numbers, from 0 on" if kind == "U" else ""


def solve(feasible: FeasibleSet, weights: Weights) -> Items:
    """The oracle's answer, checked. What learners and problems call instead of `argmax`."""
    if feasible.verified and ours(feasible):
        return feasible.argmax(weights)
    return _answered(feasible, "argmax", check_weights(weights, feasible.n_items))


def solve_without(feasible: FeasibleSet, weights: Weights, exclude: Items) -> Items:
    """The same among the solutions with none of these items."""
    if not (up_to_date(feasible, "argmax_without", "argmax") and up_to_date(feasible, "argmax_without", "restrict")):
        items, who = solve(feasible.restrict(exclude=exclude), weights), "the set that restrict() returned"
    elif feasible.verified and ours(feasible):
        return feasible.argmax_without(weights, exclude)
    else:
        weights = check_weights(weights, feasible.n_items)
        items, who = _answered(feasible, "argmax_without", weights, exclude), "argmax_without()"
    if np.isin(items, exclude).any():
        raise InfeasibleSolution(f"{who} answered {items.tolist()!r:.200}, with items that were excluded")
    return items


def _answered(feasible: FeasibleSet, method: str, *question: Any) -> Items:
    try:
        items = check_answer(getattr(feasible, method)(*question), feasible.n_items, feasible.max_size)
        if vouched(feasible) or feasible.contains(items):
            return items
    except SemiBanditError:
        raise
    except Exception as error:
        raise OracleFailed(f"the oracle raised {describe_exception(error)}") from error
    raise InfeasibleSolution(f"the oracle returned {items.tolist()!r:.200}, which the set says is not feasible")


def describe_exception(error: Exception) -> str:
    """What was raised in the function that was called, by the user's own code perhaps, and where in it."""
    called = error.__traceback__.tb_next if error.__traceback__ else None
    where = f" ({Path(called.tb_frame.f_code.co_filename).name}, line {called.tb_lineno})" if called else ""
    return f"{type(error).__name__}: {error}{where}"


def all_solutions(feasible: FeasibleSet, limit: int) -> list[Items] | None:
    """All of them, as `FeasibleSet.listed` says, unless a subclass has another oracle than the set that lists them."""
    if up_to_date(feasible, "listed", "argmax"):
        return feasible.listed(limit)
    return FeasibleSet.listed(feasible, limit)


def count_solutions(feasible: FeasibleSet, limit: int) -> int | None:
    """How many, as `FeasibleSet.counted` says, unless a subclass has another oracle than the set that counts them."""
    if up_to_date(feasible, "counted", "argmax"):
        return feasible.counted(limit)
    return FeasibleSet.counted(feasible, limit)


def compiled_oracle(feasible: FeasibleSet) -> Solver | None:
    """The set's oracle for one run at a time, if it has one and `argmax` is not another one by now."""
    source = "single" if type(feasible).single is not FeasibleSet.single else "solver"
    return feasible.single() if up_to_date(feasible, source, "argmax") else None


class Probe(NamedTuple):
    """Weights, and what the oracle answered."""

    weights: Weights
    items: Items


class Span(NamedTuple):
    """What a solver will be asked to add up: weights from `low` on, as far as `width`; of all items, or of each."""

    low: float | Weights
    width: float | Weights

    @classmethod
    def of(cls, sense: Sense, bounds: Bounds) -> "Span":
        """Costs come negated."""
        lo, hi = bounds
        return cls(lo if sense == "max" else -hi, hi - lo)

    def part(self, first: int, last: int) -> "Span":
        """That of the items from `first` to the one before `last`."""
        return Span(*(side[first:last] if isinstance(side, np.ndarray) else side for side in self))

    def apart(self, items: Items) -> float:
        """What these items' weights can differ by together."""
        if isinstance(self.width, np.ndarray):
            return total(self.width, items)
        return self.width * items.size


def probed(feasible: FeasibleSet, span: Span, pairs: int = PAIRS) -> list[Probe]:
    """What a set with a user's solver answers to a few weights; of other sets nothing is asked.

    Raises `MinimisingOracle` where each answer is the worst of all of them for the very weights it was given for.
    """
    if not feasible.foreign:
        return []
    first = 0
    for number, block in enumerate(getattr(feasible, "blocks", ())):  # of a product: the wrong one among right ones
        try:
            probed(block, span.part(first, first + block.n_items), pairs)
            first += block.n_items
        except SemiBanditError as error:
            error.say_where(f"block {number}")
            raise
    probes = ask_pairs(feasible, span, pairs)
    answers = [probe.items for probe in probes]
    if feasible.signed and all(np.array_equal(items, answers[0]) for items in answers):
        answers += _opposite(feasible, probes[0])
    _check(feasible, probes, answers, span)
    return probes


def ask_pairs(feasible: FeasibleSet, span: Span, pairs: int = PAIRS) -> list[Probe]:
    """In pairs of weights, of which one is high where the other is low."""
    probes: list[Probe] = []
    started = time.perf_counter()
    while len(probes) < 2 * pairs and not (probes and time.perf_counter() - started > SLOW):
        u = _uniform(feasible, len(probes) + 1)
        both = (span.low + span.width * u, span.low + span.width * (1.0 - u))
        probes += [Probe(weights, solve(feasible, weights)) for weights in both]
    return probes


def ask_halves(feasible: FeasibleSet, span: Span) -> list[Probe]:
    """Half of the items are asked for at a time, to see them all; fewer times if that takes long, or fails."""
    probes: list[Probe] = []
    started = time.perf_counter()
    while len(probes) < HALVES and time.perf_counter() - started < QUICK:
        number = 2 * PAIRS + len(probes) + 1
        u, wanted = _uniform(feasible, number), _uniform(feasible, number, draw=1) < 0.5
        weights = span.low + span.width * np.where(wanted, 1.0 - 0.05 * u, 0.5 * u)
        try:
            probes.append(Probe(weights, solve(feasible, weights)))
        except SemiBanditError:  # which a round may never meet
            break
    return probes


def fingerprint(feasible: FeasibleSet, span: Span, probes: list[Probe]) -> list[str]:
    """A digest of each answer: to the pairs, of which some may be known, and then to the halves.

    The questions are the same every time, but how many are asked depends on how quickly they are answered.
    """
    known = probes or ask_pairs(feasible, span)
    if len(known) == 2 * PAIRS:
        known = known + ask_halves(feasible, span)
    return [hashlib.sha256(probe.items.astype("<i8").tobytes()).hexdigest()[:16] for probe in known]


def _uniform(feasible: FeasibleSet, number: int, draw: int = 0) -> Weights:
    items = np.arange(feasible.n_items, dtype=np.uint64)
    numbers: Weights = rng.uniform(rng.key(_SEED, 0, number, rng.WORLD), items, draw)
    return numbers


def _opposite(feasible: FeasibleSet, probe: Probe) -> list[Items]:
    """What is answered to weights of the other sign, where others make no difference. Not all solvers take them."""
    try:
        return [solve(feasible, -probe.weights)]
    except SemiBanditError:
        return []


def _check(feasible: FeasibleSet, probes: list[Probe], answers: list[Items], span: Span) -> None:
    worst: tuple[float, Probe, Items] | None = None
    for probe in probes:
        own = total(probe.weights, probe.items)
        values = [total(probe.weights, items) for items in answers]
        best = int(np.argmax(values))
        if min(values) < own - 1e-9 * (float(np.max(span.width)) + abs(own)):
            return
        apart = span.apart(np.setxor1d(probe.items, answers[best]))
        loss = values[best] - own
        promised = own >= feasible.ratio * values[best] if own >= 0.0 else own * feasible.ratio >= values[best]
        if loss > CLEAR * apart and not promised and (worst is None or loss > worst[0]):
            worst = loss, probe, answers[best]
    if worst is not None:
        _, probe, better = worst
        turned = getattr(feasible, "_minimises", False)
        fault = "seems to hold a solver that maximises" if turned else "must maximise, and seems to minimise"
        mend = "One that minimises is wrapped as sets.Oracle(minimise=solver, ...)"
        if turned:
            mend = "One that maximises is wrapped as sets.Oracle(solver, ...)"
        raise MinimisingOracle(
            f"{feasible!r} {fault}. Asked for the solution of largest total weight, with weights "
            f"{_shown(probe.weights)}, it answered {probe.items.tolist()!r:.100}, worth "
            f"{total(probe.weights, probe.items):.4g}; but its own answer to other weights, {better.tolist()!r:.100}, "
            f"is worth {total(probe.weights, better):.4g}. {mend}"
        )


def _shown(weights: Weights) -> str:
    shown = ", ".join(f"{weight:.3g}" for weight in weights[:8])
    return f"[{shown}{', ...' if weights.size > 8 else ''}]"
