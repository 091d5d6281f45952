"""The bindings of the compiled loops, declared once: fields are placeholders, and their values take their place.

The loops import placeholders from here by name, and `kernel.bound` is given `by_placeholder()`. So a new flag is a
field here, its value where an engine is made, and its use in a loop.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from semibandits.kernel import LANES, placeholder, score_of

Function = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class LoopBindings:
    """What both loops leave open."""

    draw: Function
    mean: Function
    to_unit: Function
    scale_at: Function
    """What an item has of the scale's bounds: they are numbers, or arrays where each item has its own."""
    limit_at: Function
    """The same of the limits of a user's weights."""
    REALISED: bool
    DRIFTS: bool
    RECORDS: bool
    USERS_CODE: bool
    """Whether any function is not of this package, so that it is watched."""
    USERS_WORLD: bool
    """Whether the environment is a user's."""
    LISTS: bool
    """Whether new answers are listed, to be compared with what the set contains."""

    def by_placeholder(self) -> dict[Any, Any]:
        return {PLACEHOLDERS[name]: value for name, value in vars(self).items()}


@dataclass(frozen=True, kw_only=True)
class LanesBindings(LoopBindings):
    """What `lanes.play` leaves open."""

    clock: Function
    share: Function
    pooled: Function
    observe: Function
    forget: Function
    score: Function
    glance: Function
    solve: Function
    """One of `lanes_solving`, which prepares what the oracle needs."""
    oracle: Function
    """The set's own function."""
    score_of: Function
    for_oracle: Function
    load: Function
    """All the statistics of an item in a lane, as a tuple."""
    store: Function
    load_clock: Function
    store_clock: Function
    load_totals: Function
    add_to_totals: Function
    RANDOM: bool
    POOLS: bool
    """Whether items share what they know, by `share` and `pooled`."""
    OWN_CLOCKS: bool
    """Whether every lane has a clock of its own."""
    REDRAWS: bool
    GLANCES: bool
    WINDOW: bool
    CLIPS: bool
    OVERWRITES: bool
    VARIABLE_SIZE: bool
    USERS_ORACLE: bool
    DRAWS_APART: bool
    """Whether a user's environment draws weights one by one, every index checked."""
    LANES: int


@dataclass(frozen=True, kw_only=True)
class SingleBindings(LoopBindings):
    """What `single.play` leaves open, beside the placeholders of the policy's own kernel functions."""

    choose: Function
    learn: Function
    sum_to_unit: Function
    SUM_OF_X: bool
    SUM_OF_WEIGHTS: bool
    NOTE_OF_CHOSEN: bool
    USERS_ANSWERS: bool
    """Whether the policy or the set is a user's."""


PLACEHOLDERS: dict[str, Any] = {
    field.name: placeholder(field.name) for loop in (LanesBindings, SingleBindings) for field in fields(loop)
} | {"LANES": LANES, "score_of": score_of}


def of_all(bound: Any, item: Any) -> Any:
    """A number that is every item's."""
    return bound


def of_each(bound: Any, item: Any) -> Any:
    """The item's own, of an array."""
    return bound[item]


def __getattr__(name: str) -> Any:
    if name not in PLACEHOLDERS:
        raise AttributeError(f"no compiled loop leaves {name!r} open")
    return PLACEHOLDERS[name]
