"""Sets as JSON documents, and documents as sets.

A document says of which kind the set is, what its constructor is to be given, and how it was restricted:

    {"format": "semibandits.set", "version": 1, "set": "TopK", "parameters": {"n_items": 5, "k": 2}, "exclude": [3]}

A set among the parameters is a document too. JSON has no word for an infinity, which is {"float": "inf"} or
{"float": "-inf"}, and none for a tuple: a list in a list is one when it is read, since tuples may be nodes of a graph
and lists may not. A long list may be {"file": name, "sha256": digest} of a file that holds it as JSON.
"""

import hashlib
import inspect
import json
import math
import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from semibandits._util.files import read_file, replace_file
from semibandits._util.suggestions import did_you_mean
from semibandits.errors import BadSpecification, SemiBanditError, Unsupported
from semibandits.sets.base import BuiltIn
from semibandits.types import FeasibleSet

FORMAT = "semibandits.set"
VERSION = 1
LONG = 1_000
"""Lists of more values than this go to files of their own, where there is a folder for them."""
MOST_ITEMS = 2_000_000
"""Of all sets in a document together: few words, which describe large ones, must not be able to fill the memory."""
MOST_BYTES = 2**28
"""Of a file that a document names."""
LISTED = ("edges", "graph", "costs", "groups")
"""Parameters that are lists of something for each item."""
NODES = ("source", "target")
"""Parameters that are single nodes of a graph."""
Folder = str | os.PathLike[str] | None


def to_spec(feasible: FeasibleSet, folder: Folder = None) -> dict[str, Any]:
    """The set as a document; equal sets give equal ones. With a `folder`, long lists become files in it."""
    kind = type(feasible)
    if not isinstance(feasible, BuiltIn) or not kind.__module__.startswith(f"{__package__}."):
        raise Unsupported(f"{feasible!r} is not a set of this package, so that no specification can name it")
    if folder is not None and not Path(folder).is_dir():
        raise FileNotFoundError(f"no such folder: {os.fspath(folder)!r}")
    parameters = {name: _written(value, feasible, folder) for name, value in feasible._parameters().items()}
    document = {"format": FORMAT, "version": VERSION, "set": kind.__name__, "parameters": parameters}
    for name, items in zip(("include", "exclude"), feasible._restriction(), strict=True):
        if items.size:
            document[name] = _written(items, feasible, folder)
    return document


def from_spec(spec: dict[str, Any], folder: Folder = None) -> FeasibleSet:
    """The set that a document of `to_spec` describes; `folder` holds the files it names, if any.

    >>> from_spec({"format": "semibandits.set", "version": 1, "set": "TopK", "parameters": {"n_items": 5, "k": 2}})
    TopK(5, 2)
    """
    return read_spec(spec, folder, Tally())


def read_spec(spec: Any, folder: Folder, tally: "Tally") -> FeasibleSet:
    """The same, as a part of a larger document."""
    try:
        return _Reader(folder, tally).set(spec)
    except RecursionError:
        raise BadSpecification("the document holds documents in documents without end") from None


def _known() -> dict[str, type[BuiltIn]]:
    """The sets that a specification can hold, by name."""
    from semibandits import sets

    return {
        name: kind
        for name, kind in sorted(vars(sets).items())
        if isinstance(kind, type) and issubclass(kind, BuiltIn) and kind._parameters is not BuiltIn._parameters
    }


# Writing


def _written(value: Any, feasible: FeasibleSet, folder: Folder) -> Any:
    if isinstance(value, dict):
        return {str(key): _written(part, feasible, folder) for key, part in value.items()}
    plain = _plain(value, feasible, folder)
    if folder is None or not isinstance(plain, list) or _size(plain) <= LONG:
        return plain
    data = json.dumps(plain, separators=(",", ":")).encode()
    digest = hashlib.sha256(data).hexdigest()
    path = Path(folder) / f"{digest}.json"
    if not path.is_file() or path.read_bytes() != data:
        replace_file(path, data)
    return {"file": path.name, "sha256": digest}


def _plain(value: Any, feasible: FeasibleSet, folder: Folder) -> Any:
    """As JSON has it: nothing of NumPy, no tuples."""
    if isinstance(value, FeasibleSet):
        return to_spec(value, folder)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(part, feasible, folder) for part in value]
    if value is None or isinstance(value, bool | np.bool_):
        return None if value is None else bool(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating) and not math.isnan(value):
        return float(value) if math.isfinite(value) else {"float": str(float(value))}
    raise Unsupported(
        f"the specification of {feasible!r} cannot hold {value!r:.100}: nodes and names must be strings, numbers, "
        "booleans, None or tuples of them"
    )


def _size(value: Any) -> int:
    """How many values a list holds, those of lists in it included; sets have files of their own."""
    return sum(_size(part) for part in value) if isinstance(value, list) else int(not _is_set(value))


def _is_set(value: Any) -> bool:
    return isinstance(value, dict) and "format" in value


# Reading


class _Reader:
    def __init__(self, folder: Folder, tally: "Tally") -> None:
        self._folder = folder
        self._tally = tally

    def set(self, spec: Any) -> FeasibleSet:
        if not isinstance(spec, dict):
            raise BadSpecification(f"a specification must be a dict, as JSON has it, got {spec!r:.200}")
        if spec.get("format") != FORMAT:
            raise BadSpecification(f"expected a document of format {FORMAT!r}, got {spec.get('format')!r:.100}")
        version = spec.get("version")
        if type(version) is not int or version != VERSION:
            raise BadSpecification(f"the document has version {version!r:.100}; this release reads version {VERSION}")
        _check_names("the document", spec, ["format", "version", "set", "parameters"], ["include", "exclude"])
        name, parameters, kinds = spec["set"], spec["parameters"], _known()
        if not isinstance(name, str) or name not in kinds:
            raise BadSpecification(f"no set is called {name!r:.100}{did_you_mean(name, kinds)}")
        if not isinstance(parameters, dict):
            raise BadSpecification(f"the parameters of {name} must be a dict, got {parameters!r:.200}")
        feasible = self._made(name, kinds[name], parameters)
        if "include" in spec or "exclude" in spec:
            include, exclude = (self._items(word, spec.get(word, [])) for word in ("include", "exclude"))
            return feasible.restrict(include=include, exclude=exclude)
        return feasible

    def _made(self, name: str, kind: type[BuiltIn], parameters: dict[str, Any]) -> FeasibleSet:
        accepted = list(inspect.signature(kind).parameters.values())
        listed = {one.name for one in accepted if one.kind is one.VAR_POSITIONAL}
        needed = [one.name for one in accepted if one.default is one.empty]
        _check_names(f"a {name}", parameters, needed, [one.name for one in accepted])
        self._tally.expect(name, parameters)
        values = {key: self._value(value, f"{key} of {name}") for key, value in parameters.items()}
        self._tally.expect(name, values)  # what was in files, too
        for node in NODES:
            if isinstance(values.get(node), list):
                values[node] = tuple(values[node])
        made_of = dict(values)
        positional: list[Any] = []
        for key in listed:
            if not isinstance(values[key], list):
                raise BadSpecification(f"{key} of {name} must be a list, got {parameters[key]!r:.200}")
            positional = values.pop(key)
        try:
            feasible = kind(*positional, **values)
        except SemiBanditError:
            raise
        except Exception as error:  # an int where a list should be, a number too large for an array, ...
            why = f"{type(error).__name__}: {error!s:.200}"
            raise BadSpecification(f"no {name} can be made of {parameters!r:.200}: {why}") from error
        self._tally.add(name, feasible, made_of)
        return feasible

    def _value(self, raw: Any, where: str) -> Any:
        """A parameter; `where` is its name in errors."""
        if isinstance(raw, list):
            return [self._inner(part, f"{where}, entry {i}") for i, part in enumerate(raw)]
        return self._inner(raw, where)

    def _inner(self, raw: Any, where: str) -> Any:
        if raw is None or isinstance(raw, str | bool | int | float):
            return raw
        if isinstance(raw, list):
            return tuple(self._inner(part, where) for part in raw)
        if _is_set(raw):
            try:
                return self.set(raw)
            except SemiBanditError as error:
                error.say_where(where)
                raise
        if isinstance(raw, dict) and raw.keys() == {"float"} and raw["float"] in ("inf", "-inf"):
            return float(raw["float"])
        if isinstance(raw, dict) and raw.keys() == {"file", "sha256"}:
            return self._file(raw["file"], raw["sha256"], where)
        if isinstance(raw, dict) and raw.keys().isdisjoint(("float", "file")):
            return {key: self._value(part, f"{key!r:.100} in {where}") for key, part in raw.items()}
        raise BadSpecification(f"{where} cannot be {raw!r:.200}")

    def _file(self, name: Any, digest: Any, where: str) -> Any:
        if not isinstance(name, str) or not re.fullmatch(r"\w[\w.-]{0,200}", name, re.ASCII):
            raise BadSpecification(f"{where}: {name!r:.100} is not the plain name of a file")
        if self._folder is None:
            raise BadSpecification(f"{where} is in the file {name!r}: pass folder=")
        try:
            data = read_file(Path(self._folder) / name, MOST_BYTES)
        except OSError as error:
            raise BadSpecification(f"{where} cannot be read: {error}") from error
        if hashlib.sha256(data).hexdigest() != digest:
            raise BadSpecification(
                f"{where}: the file {name!r} was damaged or edited, its digest is not {digest!r:.100}"
            )
        try:
            content = json.loads(data)
        except ValueError as error:
            raise BadSpecification(f"{where}: the file {name!r} is not JSON: {error}") from error
        return _Reader(None, self._tally)._value(content, where)

    def _items(self, word: str, raw: Any) -> list[int]:
        items = self._value(raw, word)
        if not isinstance(items, list) or not all(type(item) is int for item in items):
            raise BadSpecification(f"{word} must be a list of items, got {raw!r:.200}")
        return items


def _check_names(what: str, given: dict[str, Any], needed: list[str], others: list[str]) -> None:
    known = [*needed, *others]
    for name in given:
        if name not in known:
            raise BadSpecification(f"{what} has no {name!r:.100}{did_you_mean(name, known)}")
    missing = [name for name in needed if name not in given]
    if missing:
        raise BadSpecification(f"{what} needs {', '.join(map(repr, missing))}, got {list(given)!r:.200}")


class Tally:
    """Counts the items of all sets that a document describes, each before it is made, as far as that can be told."""

    def __init__(self) -> None:
        self._items = 0

    def expect(self, name: str, parameters: dict[str, Any]) -> None:
        """Raises where this set, or problem, would have too many items, with those that there are already."""
        self._check(name, _implied(parameters), parameters)

    def add(self, name: str, made: FeasibleSet, parameters: dict[str, Any]) -> None:
        """A set that was made of these."""
        self._items = self._check(name, made.n_items, parameters)

    def _check(self, name: str, items: int, parameters: dict[str, Any]) -> int:
        parts = any(map(_holds_set, parameters.values()))  # which were counted
        total = max(self._items, items) if parts else self._items + items
        if total > MOST_ITEMS:
            others = " with the sets beside it" if total > items else ""
            raise BadSpecification(f"{name} would have more than {MOST_ITEMS:,} items{others}: {parameters!r:.200}")
        return total


def _implied(parameters: dict[str, Any]) -> int:
    """How many items a few words may stand for: n_items, rows times columns, the m of an m x m grid, a matrix's shape.

    Lists with an entry for each item count, too.
    """
    whole = {key: value for key, value in parameters.items() if type(value) is int}
    counts = [value for key, value in whole.items() if key.startswith("n_")]
    counts += [2 * m * (m + 1) for key, m in whole.items() if key == "m"]
    for side in ("rows", "columns"):
        counts += [whole[side]] if side in whole else [len(parameters[side])] if _is_long(parameters.get(side)) else []
    listed = [len(parameters[key]) for key in LISTED if _is_long(parameters.get(key))]
    matrix = parameters.get("matrix")
    shape = matrix.get("shape") if isinstance(matrix, dict) else None
    if shape is not None and _is_long(shape):
        listed += [int(number) for number in shape if isinstance(number, int | np.integer)]
    return max(math.prod(counts), *listed, *counts, 0)


def _is_long(value: Any) -> bool:
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _holds_set(value: Any) -> bool:
    return any(isinstance(one, FeasibleSet) for one in (value if isinstance(value, list) else [value]))
