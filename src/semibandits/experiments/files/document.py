"""Experiment files: reading them, and finding what is wrong with them before anything is played."""

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from semibandits import __version__, rng
from semibandits._util.checks import check_choice
from semibandits._util.files import read_file
from semibandits._util.suggestions import did_you_mean
from semibandits.agent import Scale, Setting, Uncovered, check_feedback, make_agent
from semibandits.errors import BadExperiment, SemiBanditError, UncoveredItems
from semibandits.experiments.files import registry
from semibandits.experiments.files.build import Assembler
from semibandits.experiments.files.located import Located, Source
from semibandits.experiments.files.sweep import Axis, Variant, read_axes, variants
from semibandits.experiments.files.toml_lines import line_of_long_key, lines
from semibandits.experiments.files.user_code import REFUSED, Allowed
from semibandits.policies import Random
from semibandits.problem import Problem
from semibandits.simulation import simulate
from semibandits.simulation.simulate import MOST_ROUNDS, MOST_RUNS, check_memory
from semibandits.simulation.task import RegretKind
from semibandits.types import FeedbackKind, IndexPolicy, Policy

KEYS = (
    *("title", "description", "unit", "horizon", "runs", "seed", "regret", "feedback", "checkpoints", "uncovered"),
    *("problem", "policies", "sweep", "executor"),
)
NEEDED = {
    "horizon": "horizon, the number of rounds of a run, is missing",
    "runs": "runs, the number of runs of each policy, is missing",
    "problem": "there is no problem: write [problem] and below it name = 'grid_path', say",
    "policies": "there is no policy: write [[policies]] and below it name = 'CombUCB1', say",
}
"""What every file must have, and what is said of one that has not."""
IDENTITY = ("horizon", "seed", "regret", "feedback", "checkpoints", "uncovered", "problem")
"""What makes an experiment the one it is."""
EXECUTORS = {"threads": ("threads",), "processes": ("workers",), "dask": ("address",)}
"""Where runs are played, and what is to be said about it."""
MOST_BYTES = 4_000_000
"""Of an experiment file."""
MOST_WORKERS = 10_000
LONGEST_UNIT = 20
LONGEST_KEY = 200
DEEPEST = 50
"""So many tables and lists may be in each other."""
TOO_DEEP = f"tables and lists may be {DEEPEST} deep in each other, no more"
LONG = 200
"""Values longer than this are told apart by their digest."""


class Where(NamedTuple):
    """Where runs are played: on threads of this process, in processes of this machine, on a Dask cluster."""

    kind: Literal["threads", "processes", "dask"] = "threads"
    workers: int | None = None
    """Threads or processes; None: one per core."""
    address: str = ""
    """Of a Dask scheduler."""


class Plan(NamedTuple):
    """One simulation of an experiment, to be played."""

    name: str
    """The same for the same problem, horizon, seed and kind of regret: where its runs are kept."""
    settings: dict[str, Any]
    """What the sweep has set here, by its name in the file."""
    problem: Problem
    policies: tuple[IndexPolicy | Policy, ...]
    arguments: dict[str, Any]
    """What else `simulate` is to be given."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """What an experiment file asks for. All of it is known to be playable."""

    path: Path
    text: str
    title: str
    description: str
    plans: tuple[Plan, ...]
    """One for every combination of the sweep."""
    where: Where
    identity: dict[str, str]
    """What makes it this experiment: all but title, description, unit, runs, policies, executor, and what is swept."""
    files: dict[str, str]
    """Digests of the files that its problems are made of."""
    unit: str = ""
    """Of weights, such as "ms"."""

    @property
    def rounds(self) -> int:
        """Of all simulations, policies and runs together."""
        sizes = ((plan.arguments["horizon"] * plan.arguments["runs"], len(plan.policies)) for plan in self.plans)
        return sum(each * policies for each, policies in sizes)


Say = Callable[[Mapping[str, Sequence[str]]], None]
"""Is told which names of which files and modules are the code that is about to be run."""


def read(
    path: str | os.PathLike[str],
    *,
    own_code: Allowed = "files",
    files: str | os.PathLike[str] | None = None,
    say: Say | None = None,
) -> Experiment:
    """The experiment in this file; raises `BadExperiment`, which says on which line, for whatever cannot be played.

    A file may name Python code of the user's own, which this runs: `own_code` is "files" for code in files beside it,
    "modules" for that of installed modules, too, and "none" to refuse all, for files of strangers. `files` is the
    folder below which data and code are, where it is not the file's own. `say` is called with the names that are used
    of each file and module, {"solver.py": ["best"]}, before any of it is run.
    """
    name = os.fspath(path)
    return parse(_read_text(name), name, Path(name).parent if files is None else Path(files), own_code, say)


def parse(text: str, name: str, folder: Path, own_code: Allowed = "files", say: Say | None = None) -> Experiment:
    """The experiment in the text of a file of this name; what it names besides is found from this folder.

    The name is empty for a text that is in no file: then errors tell no line.
    """
    check_choice("own_code", own_code, Allowed)
    document, source = _parse(text, name)
    whole = Located(document, (), source)
    whole.check_keys(KEYS)
    axes = read_axes(document, source.fail)
    for key, message in NEEDED.items():
        if key not in whole and not any(axis.path == (key,) for axis in axes):
            whole.fail(message)
    runs = whole["runs"].count(MOST_RUNS)
    assembler = Assembler(folder, own_code)
    where = _read_where(whole["executor"].table(), own_code) if "executor" in whole else Where()
    code = _code(document, axes, source, assembler)
    if code and say is not None:
        say(code)
    files: dict[str, str] = {}
    checked: set[str] = set()
    plans: list[Plan] = []
    for variant in variants(document, axes):
        place = Located(variant.document, (), _source(source, variant, first=not plans))
        plans.append(_plan(place, variant, runs, assembler, files, checked))
    return Experiment(
        path=Path(name or "experiment.toml"),
        text=text,
        title=whole["title"].text() if "title" in whole else Path(name).stem,
        description=whole["description"].text() if "description" in whole else "",
        plans=tuple(plans),
        where=where,
        identity=_identity(document, axes),
        files=files,
        unit=_unit(whole["unit"]) if "unit" in whole else "",
    )


def _code(document: dict[str, Any], axes: list[Axis], source: Source, assembler: Assembler) -> dict[str, list[str]]:
    """The names that all combinations use of each file and module; nothing is run before all of it is known."""
    found: dict[str, dict[str, None]] = {}
    for number, variant in enumerate(variants(document, axes)):
        place = Located(variant.document, (), _source(source, variant, first=not number))
        for key in ("problem", "policies"):
            for reference in assembler.code(place[key]):
                found.setdefault(reference.where, {})[reference.name] = None
    return {where: list(names) for where, names in found.items()}


def _parse(text: str, name: str) -> tuple[dict[str, Any], Source]:
    line = line_of_long_key(text, DEEPEST)
    if line is not None:
        raise BadExperiment(f"{name}, line {line}: {TOO_DEEP}")
    try:
        document = tomllib.loads(text)
        source = Source(name, lines(text) if name else {})
    except tomllib.TOMLDecodeError as error:
        raise BadExperiment(_syntax_error(name, text, str(error))) from error
    except RecursionError as error:
        raise BadExperiment(f"{name}: lists or tables in each other without end") from error
    except ValueError as error:  # of int()
        found = re.search(r"(?<![\d_])\d[\d_]{4000}", text)
        line = text.count("\n", 0, found.start() if found else 0) + 1
        raise BadExperiment(f"{name}, line {line}: a number has too many digits") from error
    if not document:
        raise BadExperiment(f"{name} is empty; 'semibandits new' writes a file to begin with")
    _check_size(document, source)
    return document, source


def _check_size(document: dict[str, Any], source: Source) -> None:
    """What no experiment needs, and code could stumble over."""
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), document)]
    while waiting:
        path, value = waiting.pop()
        if len(path) > DEEPEST:
            source.fail(path, TOO_DEEP)
        if path and isinstance(path[-1], str) and len(path[-1]) > LONGEST_KEY:
            source.fail(path, f"keys have at most {LONGEST_KEY} letters, got {path[-1]!r:.50}...")
        if type(value) is int and abs(value) >= registry.LARGEST:
            source.fail(path, f"{'.'.join(map(str, path))} must be below 2**64")
        if isinstance(value, dict):
            waiting += (((*path, key), one) for key, one in value.items())
        elif isinstance(value, list):
            waiting += (((*path, number), one) for number, one in enumerate(value))


def _unit(place: Located) -> str:
    unit = place.text().strip()
    if not unit.isprintable() or len(unit) > LONGEST_UNIT:
        place.fail(f"unit must be a short word, such as 'ms', of at most {LONGEST_UNIT} letters, got {unit!r:.100}")
    return unit


def _read_text(name: str) -> str:
    path = Path(name)
    if path.is_dir():
        raise BadExperiment(f"{name} is a folder; expected an experiment file")
    try:
        return read_file(path, MOST_BYTES).decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        there = sorted(one.name for one in path.parent.glob("*.toml")) if path.parent.is_dir() else []
        hint = did_you_mean(path.name, there) if there else "; 'semibandits new' writes a file to begin with"
        raise BadExperiment(f"there is no file {name}{hint}") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise BadExperiment(f"{name}, line {line}: not UTF-8 text") from None
    except OSError as error:
        raise BadExperiment(f"{name} cannot be read: {error.strerror or error}") from error


def _syntax_error(name: str, text: str, message: str) -> str:
    """Python's message, with the line where ours have it."""
    what, _, where = message.rpartition(" (at ")
    found = re.fullmatch(r"line (\d+), column (\d+)\)", where)
    line = int(found[1]) if found else text.count("\n") + 1
    return f"{name}, line {line}: {what[:1].lower()}{what[1:]}" + (f" (column {found[2]})" if found else "")


def _source(source: Source, variant: Variant, first: bool) -> Source:
    """What fails in another than the first combination is probably that one's fault."""
    values = ", ".join(f"{name} = {value}" for name, value in variant.settings.items())
    return replace(source, origins=variant.origins, note="" if first else f" (with {values})")


def _plan(
    place: Located, variant: Variant, runs: int, assembler: Assembler, files: dict[str, str], checked: set[str]
) -> Plan:
    arguments = {**_options(place), "runs": runs}
    problem, its_files = assembler.problem(place["problem"])
    files |= its_files
    fixed = {key: value for key, value in arguments.items() if key != "runs"}
    name = _digest({"problem": place.value["problem"], "files": its_files, **fixed})
    if name not in checked:
        _check_problem(place, problem, arguments)
        checked.add(name)
    tables = place["policies"]
    if not isinstance(tables.value, list) or not tables.value:
        tables.fail("policies are written below [[policies]], each its own")
    policies = []
    for number, table in enumerate(tables.value):
        if isinstance(table, str):
            tables.fail(f"policies are written below [[policies]], each its own: name = {table!r:.100}")
        policy = assembler.policy(tables[number], problem)
        key = _digest([name, table])
        if key not in checked:
            _check_policy(tables[number], policy, problem, arguments)
            checked.add(key)
        policies.append(policy)
    with place["runs"].locating_errors():
        sizes = {name: arguments[name] for name in ("horizon", "runs", "checkpoints")}
        check_memory(problem, len(policies), **sizes, record=("counts", "sums"), stored=True)
    return Plan(name[:16], variant.settings, problem, tuple(policies), arguments)


def _options(place: Located) -> dict[str, Any]:
    """What `simulate` is to be given besides the problem and the policies."""
    options: dict[str, Any] = {"horizon": place["horizon"].count(MOST_ROUNDS), "seed": 0, "checkpoints": None}
    if "seed" in place:
        with place["seed"].locating_errors():
            options["seed"] = rng.check_seed(place.value["seed"])
    for name, choices in (("regret", RegretKind), ("feedback", FeedbackKind), ("uncovered", Uncovered)):
        if name in place:
            with place[name].locating_errors():
                check_choice(name, place.value[name], choices)
    defaults = {"regret": "expected", "feedback": "semi", "uncovered": "error"}
    options |= {name: place.value.get(name, default) for name, default in defaults.items()}
    if "checkpoints" in place:
        options["checkpoints"] = _checkpoints(place["checkpoints"], options["horizon"])
    return options


def _checkpoints(place: Located, horizon: int) -> list[int]:
    rounds = place.value
    if not isinstance(rounds, list) or not rounds or not all(type(one) is int for one in rounds):
        place.fail(f"checkpoints must be a list of rounds, got {rounds!r:.100}")
    if sorted(set(rounds)) != rounds or rounds[0] < 1 or rounds[-1] > horizon:
        place.fail(f"checkpoints must ascend from at least 1 to at most the horizon, {horizon}, got {rounds!r:.100}")
    return rounds


def _check_problem(place: Located, problem: Problem, arguments: dict[str, Any]) -> None:
    """Plays one round: the oracle and the environment are asked, and what regret is measured against is worked out."""
    last = problem.environment.last_round
    if last is not None and arguments["horizon"] > last:
        place["horizon"].fail(
            f"the horizon is {arguments['horizon']}, but {problem.environment!r} ends with round {last}"
        )
    options = {"seed": arguments["seed"], "regret": arguments["regret"], "uncovered": "ignore"}
    try:
        simulate(problem, Random(), horizon=1, runs=1, **options, engine="plain", threads=1, progress=False)
    except SemiBanditError as error:
        about_regret = "regret" in place and str(error).startswith("regret ")
        place["regret" if about_regret else "problem"].fail(str(error))
    except Exception as error:  # in the user's own code
        place["problem"].fail(f"one round cannot be played: {type(error).__name__}: {error!s:.200}")


def _check_policy(table: Located, policy: IndexPolicy | Policy, problem: Problem, arguments: dict[str, Any]) -> None:
    """Whether it fits the set, the horizon and the feedback, and whether two rounds of Init meet different items."""
    feasible = problem.feasible
    try:
        check_feedback(policy, arguments["feedback"])
        given = {name: arguments[name] for name in ("seed", "horizon", "uncovered")}
        agent = make_agent(policy, Setting(feasible, Scale.of(problem.bounds, problem.sense), **given))
        for other in problem.environment.sets:
            if other is not feasible:
                agent.check_other(other)
        agent.init_plan(min(2, arguments["horizon"]))
    except UncoveredItems as error:
        names = [feasible.labels[item] for item in error.items] if feasible.labels else None
        told = UncoveredItems(error.items, names, error.searched)
        table.fail(f"{policy!r} does not fit: {as_in_files(told)}")
    except SemiBanditError as error:
        table.fail(f"{policy!r} does not fit: {as_in_files(error)}")
    except Exception as error:  # in the user's own code
        table.fail(f"{policy!r} cannot begin: {type(error).__name__}: {error!s:.200}")


def as_in_files(error: SemiBanditError) -> str:
    """What it says, with words for those who write files and no Python."""
    return str(error).replace("pass uncovered='ignore'", "write uncovered = 'ignore' at the top of the file")


def _read_where(table: Located, own_code: Allowed) -> Where:
    kind = table["kind"].text() if "kind" in table else "threads"
    if kind not in EXECUTORS:
        table["kind"].fail(f"no executor is called {kind!r:.100}{did_you_mean(kind, EXECUTORS)}")
    table.check_keys(("kind", *EXECUTORS[kind]))
    if kind == "dask":
        if own_code == "none":
            table["kind"].fail(f"a cluster may answer with code, {REFUSED}")
        if "address" not in table:
            table.fail("a Dask executor needs the address of its scheduler, such as address = 'tcp://scheduler:8786'")
        return Where("dask", address=table["address"].text())
    word = EXECUTORS[kind][0]
    workers = table[word].count(MOST_WORKERS) if word in table else None
    return Where("processes" if kind == "processes" else "threads", workers)


def _identity(document: dict[str, Any], axes: Sequence[Axis]) -> dict[str, str]:
    """By the place in the file; what is swept is left out, so that a sweep may be given more values."""
    swept = {axis.path for axis in axes}
    found = {"semibandits": __version__, "seed": "0", "regret": '"expected"', "feedback": '"semi"'}
    found |= {"uncovered": '"error"', "checkpoints": "null"}

    def add(path: tuple[str | int, ...], value: Any) -> None:
        below = {one[len(path)] for one in swept if len(one) > len(path) and one[: len(path)] == path}
        if path in swept:
            found[".".join(map(str, path))] = "swept"
        elif isinstance(value, dict) or below:
            parts: dict[Any, Any] = dict(value.items() if isinstance(value, dict) else enumerate(value or ()))
            for key in parts.keys() | below:
                add((*path, key), parts.get(key))
        else:
            text = json.dumps(value, default=str)
            found[".".join(map(str, path))] = text if len(text) <= LONG else f"sha256 {_digest(value)}"

    for key in IDENTITY:
        if key in document or (key,) in swept:
            add((key,), document.get(key))
    return dict(sorted(found.items()))


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()
