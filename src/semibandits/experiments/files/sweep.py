"""Sweeps: an experiment file as many documents, one for every combination of the values to be tried."""

import copy
import functools
import itertools
import json
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, NoReturn

from semibandits._util.checks import whole
from semibandits._util.suggestions import did_you_mean
from semibandits.experiments.files.toml_lines import Path

SWEPT = ("problem", "policies", "horizon", "seed")
"""Where a sweep may set values."""
MOST_POINTS = 10_000
LONG = 80
"""Words longer than this are cut, and numbered."""

Fail = Callable[[Path, str], NoReturn]
"""Raises the error about what is at this path of the file."""


class Axis(NamedTuple):
    """One thing that a sweep varies."""

    name: str
    """As the file has it: "problem.m"."""
    path: Path
    """Where its values go."""
    origin: Path
    """Where the list of them is."""
    values: list[Any]
    shown: list[Any]
    """The same as numbers and words."""


class Variant(NamedTuple):
    """One combination: the document with the values in their places, and where in the file these come from."""

    settings: dict[str, Any]
    document: dict[str, Any]
    origins: dict[Path, Path]


def read_axes(document: dict[str, Any], fail: Fail) -> list[Axis]:
    """What the table [sweep] varies, checked."""
    table = document.get("sweep", {})
    if not isinstance(table, dict):
        fail(("sweep",), f"[sweep] must be a table, got {table!r:.100}")
    axes: list[Axis] = []
    for origin, values in _lists(table, ("sweep",)):
        name = ".".join(str(part) for part in origin[1:])
        if not isinstance(values, list) or not values:
            fail(origin, f"{name} must be a list of the values to try, got {values!r:.100}")
        if len(values) > MOST_POINTS:
            fail(origin, f"{name} has {len(values):,} values; at most {MOST_POINTS:,} combinations can be played")
        path = _place(name, document, functools.partial(fail, origin))
        if path == ("horizon",):
            values = [whole(value) for value in values]
        for other in axes:
            shorter, longer = sorted((other, Axis(name, path, origin, [], [])), key=lambda axis: len(axis.path))
            if longer.path[: len(shorter.path)] == shorter.path:
                fail(origin, f"{longer.name} is already set by the sweep over {shorter.name}")
        axes.append(Axis(name, path, origin, values, _distinct(values, origin, fail)))
    points = math.prod(len(axis.values) for axis in axes)
    if points > MOST_POINTS:
        fail(("sweep",), f"the sweep has {points:,} combinations; at most {MOST_POINTS:,} can be played")
    return axes


def variants(document: dict[str, Any], axes: list[Axis]) -> Iterator[Variant]:
    """Every combination; the last axis varies fastest."""
    base = {key: value for key, value in document.items() if key != "sweep"}
    for numbers in itertools.product(*(range(len(axis.values)) for axis in axes)):
        here = copy.deepcopy(base)
        for axis, number in zip(axes, numbers, strict=True):
            parent: Any = here
            for part in axis.path[:-1]:
                parent = parent[part]
            parent[axis.path[-1]] = copy.deepcopy(axis.values[number])
        settings = {axis.name: axis.shown[number] for axis, number in zip(axes, numbers, strict=True)}
        yield Variant(settings, here, _origins(base, axes, numbers))


def _origins(base: dict[str, Any], axes: list[Axis], numbers: tuple[int, ...]) -> dict[Path, Path]:
    """Where the values come from; what is wrong with a list of numbers is the fault of those that are swept."""
    pairs = list(zip(axes, numbers, strict=True))
    origins = {axis.path: (*axis.origin, number) for axis, number in pairs}
    for axis, number in pairs:
        whole = axis.path
        while isinstance(whole[-1], int):
            whole = whole[:-1]
        if whole == axis.path or (whole in origins and number == 0):  # rather what has just changed
            continue
        listed: Any = base
        for part in whole:
            listed = listed[part]
        if not any(isinstance(one, dict) for one in listed):
            origins[whole] = (*axis.origin, number)
    return origins


def shown(value: Any) -> Any:
    """A value as a number or a word: tables by their names and parameters."""
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        names = [key for key in ("name", "kind", "class") if isinstance(value.get(key), str)]
        rest = ", ".join(f"{key}={shown(part)}" for key, part in value.items() if key not in names[:1])
        return f"{value[names[0]]}({rest})" if names else f"{{{rest}}}"
    return json.dumps(value, default=str)


def _lists(table: dict[str, Any], path: Path) -> Iterator[tuple[Path, Any]]:
    """ "problem.m" = [...] and problem.m = [...] alike."""
    for key, value in table.items():
        if isinstance(value, dict) and value:
            yield from _lists(value, (*path, key))
        else:
            yield (*path, key), value


def _place(name: str, document: dict[str, Any], fail: Callable[[str], NoReturn]) -> Path:
    """The path that a name leads to: through tables by their keys, through lists by number, to policies by name."""
    first, *rest = name.split(".")
    if first not in SWEPT:
        problem = document.get("problem")
        of_problem = isinstance(problem, dict) and first in problem
        hint = f": did you mean 'problem.{name}'?" if of_problem else did_you_mean(first, SWEPT)
        fail(f"a sweep cannot set {name!r:.100}{hint}")
    if not rest:
        return (first,)
    path: Path = (first,)
    parent: Any = document.get(first)
    for number, part in enumerate(rest):
        key: str | int = part
        if isinstance(parent, list):
            key = _number(part, parent, ".".join((first, *rest[:number])), fail)
        elif not isinstance(parent, dict):
            fail(f"{name!r:.100} leads nowhere: {'.'.join(map(str, path))} is no table of this file")
        path = (*path, key)
        parent = parent[key] if isinstance(key, int) else parent.get(key)
    return path


def _number(part: str, listed: list[Any], where: str, fail: Callable[[str], NoReturn]) -> int:
    if part.isdecimal():
        if int(part) < len(listed):
            return int(part)
        fail(f"{where} has {len(listed)} entries, numbered from 0; there is no {part}")
    names = [policy_name(one) for one in listed]
    if names.count(part) > 1:
        numbers = " or ".join(f"{where}.{i}" for i, name in enumerate(names) if name == part)
        fail(f"{where}.{part} occurs {names.count(part)} times: say {numbers}")
    if part not in names:
        fail(f"there is no {part!r:.100} in {where}{did_you_mean(part, [name for name in names if name])}")
    return names.index(part)


def policy_name(table: Any) -> str:
    """What a table of [[policies]] is called: by its name, or by that of its class."""
    if not isinstance(table, dict):
        return ""
    return str(table.get("name") or str(table.get("class", "")).rpartition(":")[2])


def _distinct(values: list[Any], origin: Path, fail: Fail) -> list[Any]:
    texts = [json.dumps(value, sort_keys=True, default=str) for value in values]
    seen: set[str] = set()
    for number, text in enumerate(texts):
        if text in seen:
            fail((*origin, number), f"{shown(values[number])!s:.100} occurs twice in this sweep")
        seen.add(text)
    return [_shortened(shown(value), number) for number, value in enumerate(values, start=1)]


def _shortened(value: Any, number: int) -> Any:
    long = isinstance(value, str) and len(value) > LONG
    return f"{value[: LONG - 20]}... ({number})" if long else value
