"""A saved learner and the set it is loaded onto: are the items the same, and which is which?"""

import contextlib
import hashlib
import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from semibandits.agent import Agent
from semibandits.errors import BadArgument, Unsupported
from semibandits.live.reading import check_labels
from semibandits.live.snapshot import SavedDecision, SavedLearner, SavedRound, restored_array, saved_array
from semibandits.oracle import Probe, Span, fingerprint
from semibandits.sets.graphs.reading import Graph
from semibandits.types import FeasibleSet

INSIST = "if every item has the number that it had then, pass same_items=True"
BY_NAME = f"Items are matched by name where both have labels (labels=); {INSIST}"
EXACT = "set:"
"""So begins the fingerprint of a set that can be written down; others are known by their oracle's answers."""

NUMBERED = re.compile(r"(.+) #\d+")
"""The label of an edge that is parallel to another."""


class Match(NamedTuple):
    """The names of the items, and what is left to be done."""

    labels: list[str] | None
    order: NDArray[np.int64] | None = None
    """For every item its number in the file; None: the same."""
    doubt: str = ""
    """What to say unless the set has the fingerprint in the file."""
    exact: bool = False
    """Whether answers of the oracle are not enough for that."""


def match(saved: SavedLearner, feasible: FeasibleSet, labels: Any, same_items: bool) -> Match:
    """By their names, where both sides have any; else the set is to be compared."""
    own = list(() if feasible.labels is None else feasible.labels) or None
    names = own if labels is None else list(check_labels(labels, feasible.n_items))
    found = Match(names or saved.labels)
    if same_items:
        return found
    if names is None or saved.labels is None:
        return found._replace(
            doubt=f"{feasible!r} is not the set it was saved with, or has its items in another order. {BY_NAME}"
        )
    number = {label: item for item, label in enumerate(saved.labels)}
    if labels is None:
        names = _as_saved(feasible, names, number)
    there = set(names)
    missing = [label for label in saved.labels if label not in there]
    new = [label for label in names if label not in number]
    if missing or new:
        lost = f"saved and missing: {_listed(missing)}" if missing else ""
        added = f"new: {_listed(new)}" if new else ""
        doubt = f"its items are not those of {feasible!r}: {'; '.join(filter(None, (lost, added)))}"
        if len(names) != saved.n_items:
            raise BadArgument(doubt)
        if labels is not None:
            raise BadArgument(f"{doubt}. But {INSIST}")
        return Match(
            saved.labels, doubt=f"{doubt}. Give the names they were saved by as labels=, or {INSIST}", exact=True
        )
    if len(saved.labels) != saved.n_items or len(number) != saved.n_items:
        raise BadArgument(f"it has {saved.n_items} items and {len(saved.labels)} labels")
    order = np.array([number[label] for label in names], dtype=np.int64)
    if (order == np.arange(order.size)).all():
        return found
    counted = [label for label in names if (same := NUMBERED.fullmatch(label)) and same[1] in number]
    if counted and labels is None:
        raise BadArgument(
            f"its items are in another order now, and some are told apart by that alone: {_listed(counted)}. "
            "Give names of their own to the edges, or to all items as labels="
        )
    return found._replace(order=order)


def _as_saved(feasible: FeasibleSet, names: list[str], known: dict[str, int]) -> list[str]:
    """Edges without direction may have been saved from their other end."""
    graph = getattr(feasible, "graph", None)
    if not isinstance(graph, Graph) or graph.directed:
        return names
    turned = graph.labels(turned=True)
    return [other if one not in known and other in known else one for one, other in zip(names, turned, strict=True)]


def check_match(found: Match, saved: SavedLearner, fingerprint: Callable[[], list[str]]) -> None:
    """Raises where names did not settle it, and the fingerprints do not agree."""
    if not found.doubt:
        return
    if not saved.fingerprint:
        raise BadArgument(f"it was saved by a release that kept nothing to know the set by. {BY_NAME}")
    today = fingerprint()
    both = zip(saved.fingerprint, today, strict=False)  # a slow solver is asked less
    exact = today[0].startswith(EXACT)
    nothing = not exact and saved.n_items > 1 and len(set(today)) == 1  # always the same answer: it could be any set
    if any(was != now for was, now in both) or nothing or (found.exact and not exact):
        raise BadArgument(found.doubt)


def fingerprint_of(feasible: FeasibleSet, span: Span, probes: list[Probe]) -> list[str]:
    """A digest of the set, where it can be written down; else one for each of its oracle's answers."""
    if not feasible.foreign:
        with contextlib.suppress(Unsupported, AttributeError):
            spec = feasible.to_spec()  # type: ignore[attr-defined]
            return [EXACT + hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()]
    return fingerprint(feasible, span, probes)


def renumbered(saved: SavedLearner, order: NDArray[np.int64], agent: Agent) -> SavedLearner:
    """The same with every item under its number of today."""
    place = np.argsort(order)
    if not all(len(row) == order.size for row in saved.stats):
        raise BadArgument("statistics of other items than it has")
    state = agent.reordered([restored_array(one) for one in saved.state or []], order)
    return msgspec.structs.replace(
        saved,
        stats=[[row[item] for item in order] for row in saved.stats],
        init_round=_taken(saved.init_round, order),
        init_x=_taken(saved.init_x, order),
        outstanding=[_renumbered_decision(one, order, place) for one in saved.outstanding],
        finished=[_renumbered_decision(one, order, place) for one in saved.finished],
        recent=[_renumbered_round(one, place) for one in saved.recent],
        state=None if state is None else [saved_array(array, "the state") for array in state],
        clipped=None if saved.clipped is None else _taken(saved.clipped, order),
        tally=None if saved.tally is None else [_taken(row, order) for row in saved.tally],
    )


def renumbered_bounds(saved: SavedLearner, order: NDArray[np.int64] | None) -> tuple[Any, Any]:
    """The bounds in the file with every item's under its number of today."""
    lo, hi = (side if order is None or isinstance(side, float) else _taken(side, order) for side in saved.bounds)
    return lo, hi


def _renumbered_decision(one: SavedDecision, order: NDArray[np.int64], place: NDArray[np.int64]) -> SavedDecision:
    items = _placed(one.items, place)
    sorting = np.argsort(items)
    weights, note = one.weights, one.note
    if weights is not None and len(weights) == items.size:
        weights = [weights[i] for i in sorting]
    if note is not None:
        rows = restored_array(note)
        if len(rows) not in (items.size, order.size):
            raise BadArgument(f"the note of the decision of round {one.round} belongs to no items")
        note = saved_array(rows[sorting if len(rows) == items.size else order], "a note")
    other = one.renumbered or items.tolist() != one.items
    return msgspec.structs.replace(one, items=items[sorting].tolist(), weights=weights, note=note, renumbered=other)


def _renumbered_round(one: SavedRound, place: NDArray[np.int64]) -> SavedRound:
    items = _placed(one.items, place)
    if len(one.x) != items.size:
        raise BadArgument(f"the observations of round {one.round} are out of range")
    sorting = np.argsort(items)
    return SavedRound(one.round, items[sorting].tolist(), [one.x[i] for i in sorting])


def _placed(items: list[int], place: NDArray[np.int64]) -> NDArray[np.int64]:
    if any(item >= place.size for item in items):
        raise BadArgument(f"items are 0 to {place.size - 1}, got {items!r:.100}")
    return place[np.array(items, dtype=np.int64)]


def _taken(values: list[Any], order: NDArray[np.int64]) -> list[Any]:
    return [values[item] for item in order] if len(values) == order.size else values


def _listed(labels: list[str]) -> str:
    shown = ", ".join(map(repr, labels[:10]))
    return shown + (f" and {len(labels) - 10} more" if len(labels) > 10 else "")
