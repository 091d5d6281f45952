"""What an oracle is asked and answers, read and checked."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from semibandits.errors import BadWeights, InfeasibleSolution, OracleFailed, SemiBanditError
from semibandits.indexed import check_order
from semibandits.types import FeasibleSet, Items, Weights, up_to_date
from semibandits.whose import ours, vouched


def check_weights(weights: ArrayLike, n_items: int) -> Weights:
    """Weights as a finite float64 vector, one per item."""
    check_order("weights", weights)
    try:
        w = np.asarray(weights)
    except ValueError as error:
        raise BadWeights(f"expected {n_items} numbers, got {weights!r:.200}") from error
    if w.dtype.kind not in "fiu":
        raise BadWeights(f"weights must be numbers, got {weights!r:.200}")
    w = w.astype(np.float64, copy=False)
    if w.shape != (n_items,):
        raise BadWeights(f"expected {n_items} weights, one per item, got an array of shape {w.shape}")
    finite = np.isfinite(w)
    if np.count_nonzero(finite) < n_items:  # a quick all()
        item = int(np.argmin(finite))
        raise BadWeights(f"weights must be finite, got {w[item]} for item {item}")
    return w


def as_items(items: Any) -> Items | None:
    """Items in ascending order without a copy where they already are; None where they are no set of whole numbers."""
    if not isinstance(items, np.ndarray):
        if isinstance(items, str | bytes) or not isinstance(items, Iterable):
            return None
        items = list(items)
        if any(isinstance(item, bool) or not isinstance(item, int | np.integer) for item in items):
            return None
        try:
            items = np.array(items, dtype=np.int64)
        except OverflowError:
            return None
    if items.ndim != 1 or (items.dtype.kind not in "iu" and items.size):
        return None
    ordered: Items = items.astype(np.int64, copy=False)
    if not (ordered[1:] > ordered[:-1]).all():
        ordered = np.sort(ordered)
        if (ordered[1:] == ordered[:-1]).any():
            return None
    return ordered


def within(items: Items | None, n_items: int) -> bool:
    """Whether these ascending items are all among 0..n_items-1."""
    return items is not None and (items.size == 0 or (items[0] >= 0 and items[-1] < n_items))


def check_answer(items: Any, n_items: int, max_size: int, who: str = "the oracle") -> Items:
    """An oracle's or a policy's answer as items; a named error where it is no set of known items or a too large one."""
    ordered = as_items(items)
    if ordered is None:
        raise InfeasibleSolution(f"{who} must return distinct integers, got {items!r:.200}")
    if not within(ordered, n_items):
        raise InfeasibleSolution(
            f"{who} returned an unknown item in {ordered.tolist()!r:.200}; items are 0 to {n_items - 1}"
        )
    if ordered.size > max_size:
        raise InfeasibleSolution(f"{who} returned {ordered.size} items, more than max_size={max_size}")
    return ordered.copy()  # the solver may use its array again


def solve(feasible: FeasibleSet, weights: Weights) -> Items:
    """The oracle's answer, checked. What learners and problems call instead of `argmax`."""
    if feasible.verified and ours(feasible):
        return feasible.argmax(weights)
    weights = check_weights(weights, feasible.n_items)
    try:
        items = check_answer(feasible.argmax(weights), feasible.n_items, feasible.max_size)
        if vouched(feasible) or feasible.contains(items):
            return items
    except SemiBanditError:
        raise
    except Exception as error:
        raise OracleFailed(f"the oracle raised {said(error)}") from error
    raise InfeasibleSolution(f"the oracle returned {items.tolist()!r:.200}, which the set says is not feasible")


def said(error: Exception) -> str:
    """What was raised in the function that was called, by the user's own code perhaps, and where in it."""
    called = error.__traceback__.tb_next if error.__traceback__ else None
    where = f" ({Path(called.tb_frame.f_code.co_filename).name}, line {called.tb_lineno})" if called else ""
    return f"{type(error).__name__}: {error}{where}"


def all_solutions(feasible: FeasibleSet, limit: int) -> list[Items] | None:
    """All of them, as `FeasibleSet.listed` says, unless a subclass has another oracle than the set that lists them."""
    if up_to_date(feasible, "listed", "argmax"):
        return feasible.listed(limit)
    return FeasibleSet.listed(feasible, limit)
