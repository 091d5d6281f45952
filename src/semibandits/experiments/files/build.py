"""Building problems and policies from the tables of an experiment file."""

import hashlib
import inspect
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from semibandits._util.checks import ITEM_BYTES, check_bounds
from semibandits._util.resources import check_room
from semibandits._util.suggestions import did_you_mean
from semibandits.experiments.files import registry
from semibandits.experiments.files.data_files import is_csv, read_data
from semibandits.experiments.files.located import NAMES, Located
from semibandits.experiments.files.user_code import Allowed, OwnCode, Reference
from semibandits.problem import Problem
from semibandits.sets.specification import FORMAT, Tally, read_spec
from semibandits.types import Environment, FeasibleSet, IndexPolicy, Policy

PER_ITEM = ("means", "low", "high", "a", "b", "sigma", "groups")
"""Parameters of environments that are one value per item, where they are lists."""
FUNCTIONS = {"Oracle": ("function", "minimise", "contains"), "Matroid": ("independent",), "Custom": ("sample",)}
"""Parameters that are the user's own functions."""


class Assembled(NamedTuple):
    """A problem, and the digests of the files it was made of."""

    problem: Problem
    files: dict[str, str]


class Assembler:
    """Makes what the tables of one file describe, from that file's folder; equal problems are made once."""

    def __init__(self, folder: Path, own_code: Allowed = "files") -> None:
        self._folder = folder
        self._allowed = own_code
        self._code = OwnCode(folder, own_code)
        self._problems: dict[str, Assembled] = {}
        self._items = 0
        """Of all problems together."""
        self._tally = Tally()
        """Of the sets of that in the making."""
        self._files: dict[str, str] = {}
        """Those that the problem in the making is made of."""

    def code(self, place: Located) -> Iterator[Reference]:
        """The code that these tables name. None of it is run; what may not be is refused."""
        for one in _code_in(place):
            with one.locating_errors():
                reference = Reference.read(one.value)
                reference.check(self._allowed)
            yield reference

    def problem(self, place: Located) -> Assembled:
        table = place.table()
        text = json.dumps(table.value, sort_keys=True, default=str)
        if text not in self._problems:
            self._files, self._tally = {}, Tally()
            problem = self._named_problem(table) if _is_named(table) else self._own_problem(table)
            self._items += problem.n_items
            with table.locating_errors():
                what = f"the problems of this experiment have {self._items:,} items together: so many take"
                check_room(ITEM_BYTES * self._items, what)
            self._problems[text] = Assembled(problem, self._files)
        return self._problems[text]

    def policy(self, place: Located, problem: Problem) -> IndexPolicy | Policy:
        table = place.table()
        self._files, self._tally = {}, Tally()
        if "class" in table:
            return self._of_class("policy", table, (IndexPolicy, Policy))  # type: ignore[no-any-return]
        name = self._name("policy", table, "name", registry.POLICIES, "CombUCB1")
        parameters = {key: self._value(table[key]) for key in table.value if key != "name"}
        with table.locating_errors():
            return registry.make_policy(name, parameters, problem)

    def _named_problem(self, table: Located) -> Problem:
        if "class" in table:
            return self._of_class("problem", table, Problem)  # type: ignore[no-any-return]
        for key in ("set", "environment"):
            if key in table:
                table[key].fail("give either the name of a problem, or its set and its environment, not both")
        name = self._name("problem", table, "name", registry.PROBLEMS, "grid_path")
        parameters = {key: self._value(table[key]) for key in table.value if key != "name"}
        with table.locating_errors():
            return registry.make_problem(name, parameters, self._tally)

    def _own_problem(self, table: Located) -> Problem:
        missing = [key for key in ("set", "environment") if key not in table]
        if missing:
            _check_mistyped(table, table.value, (*missing, "name", "class"))
            table.fail(
                f"{table.name} needs {' and '.join(f'[problem.{key}]' for key in missing)}, or the name of a problem: "
                f"{', '.join(registry.PROBLEMS)}"
            )
        table.check_keys(("set", "environment", "sense", "true_optimum"))
        feasible = self._set(table["set"])
        environment = self._environment(table["environment"], feasible)
        others = {key: self._value(table[key]) for key in ("sense", "true_optimum") if key in table}
        with table.locating_errors():
            return Problem(feasible, environment, **others)

    def _set(self, place: Located) -> FeasibleSet:
        table = place.table()
        if "class" in table:
            return self._of_class("set", table, FeasibleSet)  # type: ignore[no-any-return]
        if "file" in table and "kind" not in table:
            return self._set_of_file(table)
        kind = self._name("set", table, "kind", registry.SETS, "TopK")
        parameters = self._parameters(table, kind)
        names = [*inspect.signature(registry.SETS[kind]).parameters, "labels"]
        for key in parameters:
            if key not in names:
                table.fail(f"set {kind} has no {key!r:.100}{did_you_mean(key, names)}", key)
        labels = None if kind == "MILP" else parameters.pop("labels", None)
        with table.locating_errors():
            feasible = registry.make_set(kind, parameters, self._tally)
        if labels is not None:
            _set_labels(feasible, labels, table["labels"])
        return feasible

    def _set_of_file(self, table: Located) -> FeasibleSet:
        table["file"].text()
        made = self._value(table)
        if not isinstance(made, FeasibleSet):
            table["file"].fail(f"{table.value['file']} must be the specification of a set, as to_spec() makes it")
        return made

    def _environment(self, place: Located, feasible: FeasibleSet) -> Environment:
        table = place.table()
        if "class" in table:
            return self._of_class("environment", table, Environment, feasible)  # type: ignore[no-any-return]
        kind = self._name("environment", table, "kind", registry.ENVIRONMENTS, "Bernoulli")
        parameters = self._parameters(table, kind, feasible)
        for name in PER_ITEM:
            _check_length(name, parameters.get(name), feasible.n_items, table)
        with table.locating_errors():
            return registry.make_environment(kind, parameters, self._tally)

    def _parameters(self, table: Located, kind: str, feasible: FeasibleSet | None = None) -> dict[str, Any]:
        """What a set or, with the set, an environment is made of."""
        functions = FUNCTIONS.get(kind, ())

        def parameter(key: str) -> Any:
            if key in functions:
                return self._function(table[key])
            if feasible is not None and key == "environment" and isinstance(table.value[key], dict):
                return self._environment(table[key], feasible)
            if feasible is not None and key == "bounds":
                return self._bounds(table, feasible)
            return self._value(table[key])

        return {key: parameter(key) for key in table.value if key != "kind"}

    def _bounds(self, table: Located, feasible: FeasibleSet) -> Any:
        """Of an environment. In the rows of a CSV file each has the two of an item."""
        value, written = self._value(table["bounds"]), table.value["bounds"]
        if isinstance(value, list) and any(isinstance(side, dict) for side in value):
            with table.locating_errors():
                return check_bounds(value, feasible.n_items, feasible.labels or ())
        if not (isinstance(written, dict) and is_csv(written.get("file"))):
            return value
        rows = list(value)
        if any(np.shape(row) != (2,) for row in rows):
            table.fail("bounds in a CSV file are two columns, the least and the largest weight of every item", "bounds")
        return tuple(list(side) for side in zip(*rows, strict=True))

    def _name(self, what: str, table: Located, key: str, there: dict[str, Any], example: str) -> str:
        if key not in table:
            words = [one for one, value in table.value.items() if isinstance(value, str)]
            _check_mistyped(table, words, (key, "class", *(["file"] if what == "set" else [])))
            table.fail(f"{table.name} needs a {key}, such as {key} = {example!r}, or a class of your own")
        with table[key].locating_errors():
            registry.known(what, table.value[key], there)
        return str(table.value[key])

    def _of_class(self, what: str, table: Located, wanted: Any, feasible: FeasibleSet | None = None) -> Any:
        """Of the user's own class, or what their function returns."""
        double = [key for key in NAMES if key in table and key != "class"]
        if double:
            table[double[0]].fail(f"give either {double[0]} or class, not both")
        maker = self._function(table["class"])
        parameters = {key: self._value(table[key]) for key in table.value if key != "class"}
        if feasible is not None and "bounds" in table:
            parameters["bounds"] = self._bounds(table, feasible)
        name = str(table.value["class"]).rpartition(":")[2]
        with table.locating_errors():
            made = registry.make(f"{what} {name}", maker, parameters)
        if not isinstance(made, wanted):
            table["class"].fail(f"{name} makes no {what}, but {made!r:.100}")
        return made

    def _function(self, place: Located) -> Callable[..., Any]:
        with place.locating_errors():
            function = self._code.load(place.value)
        file = Reference.read(place.value).where
        if file in self._code.files:
            self._note(file, self._code.files[file])
        return function

    def _value(self, place: Located) -> Any:
        """A parameter: as it is written, or what is in the file that it names, or a set."""
        value = place.value
        if isinstance(value, list) and any(isinstance(part, list | dict) for part in value):
            return [self._value(place[number]) for number in range(len(value))]
        if not isinstance(value, dict):
            return value
        if isinstance(value.get("kind"), str) or isinstance(value.get("class"), str):
            return self._set(place)
        if isinstance(value.get("file"), str):
            with place.locating_errors():
                read, data = read_data(value, self._folder)
                self._note(value["file"], data)
                return self._specified(read, (self._folder / value["file"]).parent)
        return {key: self._value(place[key]) for key in value}

    def _specified(self, read: Any, folder: Path) -> Any:
        """What was read, with sets where specifications of sets are, alone or in a list."""
        if isinstance(read, dict) and read.get("format") == FORMAT:
            return read_spec(read, folder, self._tally)
        if isinstance(read, list) and any(isinstance(part, dict) for part in read):
            return [self._specified(part, folder) for part in read]
        return read

    def _note(self, file: str, data: bytes) -> None:
        self._files[file] = hashlib.sha256(data).hexdigest()


def _code_in(place: Located) -> Iterator[Located]:
    """Every reference to code that these tables, and the tables in them, hold."""
    value = place.value
    keys: Iterable[Any] = ()
    if isinstance(value, dict):
        keys, functions = value, FUNCTIONS.get(str(value.get("kind")), ())
        yield from (place[key] for key in value if key in ("class", *functions) and isinstance(value[key], str))
    elif isinstance(value, list):
        keys = range(len(value))
    for key in keys:
        if isinstance(value[key], dict | list):
            yield from _code_in(place[key])


def _set_labels(feasible: FeasibleSet, labels: Any, place: Located) -> None:
    """Names of the items, for a set that has none of its own."""
    if feasible.labels:
        place.fail(f"{feasible!r} has labels of its own: {', '.join(feasible.labels[:3])}, ...")
    if not isinstance(labels, list) or len(labels) != feasible.n_items:
        many = f"{len(labels)}: " if isinstance(labels, list) else ""
        place.fail(f"labels must be {feasible.n_items} different words, one per item, got {many}{labels!r:.100}")
    seen: set[str] = set()
    for number, label in enumerate(labels):
        wrong = "is no word" if not isinstance(label, str) else "occurs twice" if label in seen else ""
        if not wrong and not label.isprintable():
            hidden = next(letter for letter in label if not letter.isprintable())
            wrong = f"cannot be printed: it contains the invisible character U+{ord(hidden):04X}"
        if wrong:
            place.source.fail((*place.path, number), f"labels must be different words, but {label!r:.100} {wrong}")
        seen.add(label)
    feasible.labels = tuple(labels)


def _check_length(name: str, values: Any, n_items: int, table: Located) -> None:
    """Of a list of plain values."""
    if not isinstance(values, list) or len(values) == n_items or any(isinstance(one, list) for one in values):
        return
    written = table.value[name]
    file = f" ({written['file']})" if isinstance(written, dict) else ""
    table[name].fail(f"{name} has {len(values)} values{file}, but the set has {n_items} items")


def _check_mistyped(table: Located, keys: Iterable[str], wanted: tuple[str, ...]) -> None:
    """Fails if one of the keys is nearly one that is wanted, or is `name` where `kind` is, or the other way round."""
    import difflib  # only for those who mistype

    for key in keys:
        swapped = [one for one in wanted if {one, key} == {"name", "kind"}]
        for near in swapped or difflib.get_close_matches(key.lower(), wanted, 1, 0.6):
            table.fail(f"{table.name} has no {key!r:.100}: did you mean {near!r}?", key)


def _is_named(table: Located) -> bool:
    return "name" in table or "class" in table
