"""Agents that use no machine code."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from semibandits.kernel.warm import plain_code

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A", bound=Any)


def in_its_manner(method: Callable[Concatenate[A, P], T]) -> Callable[Concatenate[A, P], T]:
    """A method of an agent, without machine code where the agent uses none."""

    @wraps(method)
    def call(agent: A, /, *arguments: P.args, **named: P.kwargs) -> T:
        if agent.compiles:
            return method(agent, *arguments, **named)
        with plain_code():
            return method(agent, *arguments, **named)

    return call


def plainly(call: Callable[[], T]) -> T:
    """Calls it, without machine code."""
    with plain_code():
        return call()
