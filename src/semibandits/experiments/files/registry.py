"""The registry: everything that has a name, made by its name, for experiment files and the command line."""

import ast
import inspect
import re
import types
import typing
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from semibandits import environments, policies, problems, sets
from semibandits._util.suggestions import did_you_mean
from semibandits.errors import BadArgument, SemiBanditError
from semibandits.policies.catalogue import CATALOGUE
from semibandits.policies.catalogue import POLICIES as POLICIES
from semibandits.problem import Problem
from semibandits.sets.specification import Tally
from semibandits.types import Environment, FeasibleSet, IndexPolicy, Policy

PROBLEMS: dict[str, Callable[..., Problem]] = {
    made.__name__: made for made in (problems.grid_path, problems.k_path, problems.changing_phases, problems.coin_table)
}
SETS: dict[str, Callable[..., Any]] = {name: getattr(sets, name) for name in sets.__all__ if name != "from_spec"}
ENVIRONMENTS: dict[str, Callable[..., Any]] = {
    **{name: getattr(environments, name) for name in environments.__all__ if name != "Independent"},
    "CorrelatedGaussian.equicorrelated": environments.CorrelatedGaussian.equicorrelated,
}

LARGEST = 2**64
"""Whole numbers in files and on the command line are smaller."""
NODES = ("source", "target")
"""Parameters of sets that are single nodes of a graph."""
PLAIN = {bool: "true or false", int: "a whole number", float: "a number", str: "a word", type(None): "nothing"}


class WrongParameter(BadArgument):
    """A parameter that does not exist, or is of the wrong kind; `parameter` is its name."""

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter


# Making things


def make_policy(
    name: str, parameters: Mapping[str, Any] | None = None, problem: Problem | None = None
) -> IndexPolicy | Policy:
    """The policy of this name; `problem` is for `Clairvoyant`, which knows its means.

    >>> make_policy("CombUCB1", {"alpha": 0.5})
    CombUCB1(alpha=0.5, init='paper')
    """
    maker = known("policy", name, POLICIES)
    given = dict(parameters or {})
    if maker is policies.Clairvoyant:
        given.setdefault("problem", problem)
    made: IndexPolicy | Policy = make(f"policy {name}", maker, given)
    return made


def make_problem(name: str, parameters: Mapping[str, Any] | None = None, tally: Tally | None = None) -> Problem:
    """The problem of this name; a set among its parameters may be a table with a `kind`.

    The `tally` has counted the sets that are among the parameters as they are.

    >>> make_problem("grid_path", {"m": 2, "sigma": 0.4})
    Problem(GridPaths(2), Bernoulli(12 items), sense='max')
    """
    maker = known("problem", name, PROBLEMS)
    tally = tally or Tally()
    tally.expect(name, dict(parameters or {}))
    made: Problem = make(f"problem {name}", maker, with_sets(parameters or {}, tally))
    return made


def make_set(kind: str, parameters: Mapping[str, Any] | None = None, tally: Tally | None = None) -> FeasibleSet:
    """The set of this kind; lists in lists become tuples, which may be nodes of a graph.

    >>> make_set("TopK", {"n_items": 5, "k": 2})
    TopK(5, 2)
    """
    maker = known("set", kind, SETS)
    tally = tally or Tally()
    tally.expect(kind, dict(parameters or {}))
    given = {name: _frozen(name, value) for name, value in with_sets(parameters or {}, tally).items()}
    made: FeasibleSet = make(f"set {kind}", maker, given)
    tally.add(kind, made, given)
    return made


def make_environment(kind: str, parameters: Mapping[str, Any] | None = None, tally: Tally | None = None) -> Environment:
    """The environment of this kind; its `sets` may be tables with a `kind`.

    >>> make_environment("Bernoulli", {"means": [0.9, 0.1]})
    Bernoulli(2 items)
    """
    maker, given = known("environment", kind, ENVIRONMENTS), dict(parameters or {})
    if "sets" in given:
        given |= with_sets({"sets": given["sets"]}, tally or Tally())
    made: Environment = make(f"environment {kind}", maker, given)
    return made


def known(what: str, name: Any, there: Mapping[str, Any]) -> Any:
    """What has this name."""
    if not isinstance(name, str) or name not in there:
        raise BadArgument(f"no {what} is called {name!r:.100}{did_you_mean(name, there)}")
    return there[name]


def make(what: str, maker: Callable[..., Any], parameters: Mapping[str, Any]) -> Any:
    """Calls a class or function with these parameters, if it has them and they are of the right kind."""
    try:
        accepted = inspect.signature(maker).parameters
    except (TypeError, ValueError) as error:
        raise BadArgument(f"the parameters of {what} cannot be told: {error}") from error
    names = [one.name for one in accepted.values() if one.kind is not one.VAR_KEYWORD]
    open_ended = len(names) < len(accepted)
    for name in parameters:
        if name not in names and not open_ended:
            hint = did_you_mean(name, names) if names else "; it has no parameters"
            raise WrongParameter(f"{what} has no {name!r:.100}{hint}", name)
    missing = [name for name in names if accepted[name].default is inspect.Parameter.empty and name not in parameters]
    if missing:
        raise BadArgument(f"{what} needs {' and '.join(map(repr, missing))}")
    for name, value in parameters.items():
        if name in accepted:
            _check_kind(name, value, accepted[name].annotation)
    keywords = dict(parameters)
    positional: Any = ()
    for one in accepted.values():
        if one.kind is one.VAR_POSITIONAL:
            positional = keywords.pop(one.name)
            if not isinstance(positional, list | tuple):
                raise WrongParameter(f"{one.name} must be a list, got {positional!r:.200}", one.name)
    try:
        return maker(*positional, **keywords)
    except SemiBanditError:
        raise
    except Exception as error:  # a list where a number should be, a number too large for an array, ...
        why = f"{type(error).__name__}: {error!s:.200}"
        raise BadArgument(f"{what} cannot be made of {dict(parameters)!r:.200}: {why}") from error


def with_sets(parameters: Mapping[str, Any], tally: Tally) -> dict[str, Any]:
    """The parameters, with sets where tables with a `kind` were, alone or in lists."""

    def one(value: Any) -> Any:
        if isinstance(value, dict) and isinstance(value.get("kind"), str):
            return make_set(value["kind"], {name: part for name, part in value.items() if name != "kind"}, tally)
        return [one(part) for part in value] if isinstance(value, list) else value

    return {name: one(value) for name, value in parameters.items()}


def _frozen(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_tuples, value)) if name in NODES else [_tuples(part) for part in value]
    return value


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _check_kind(name: str, value: Any, annotation: Any) -> None:
    """Where a number, a word, or true or false is wanted, it must be one; all else is left to who is given it."""
    union = isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union
    kinds = [type(None) if kind is None else kind for kind in (typing.get_args(annotation) if union else [annotation])]
    if not all(isinstance(kind, type) and kind in PLAIN for kind in kinds):
        return
    fits = type(value) in kinds or (type(value) is int and float in kinds)
    if not fits:
        wanted = " or ".join(PLAIN[kind] for kind in kinds if kind is not type(None))
        raise WrongParameter(f"{name} must be {wanted}, got {value!r:.100}", name)


# Reading calls


def parse_call(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the parameters in `CombUCB1`, `CombUCB1:alpha=0.5,init=all` or `CombUCB1(alpha=0.5, init='all')`.

    Values are numbers, words (with or without quotes), true, false, lists, and sets by the same rules.

    >>> parse_call("CombUCB1:alpha=0.5,init=all")
    ('CombUCB1', {'alpha': 0.5, 'init': 'all'})
    """
    name, colon, rest = text.strip().partition(":")
    written = f"{name}({rest})" if colon and "(" not in name else text.strip()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's, about odd strings
            call = ast.parse(written, mode="eval").body
        if isinstance(call, ast.Name):
            return call.id, {}
        if isinstance(call, ast.Call):
            return _name(call.func), _keywords(call)
    except BadArgument:
        raise
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise BadArgument(_malformed(text)) from error
    raise BadArgument(_malformed(text))


def _malformed(text: str) -> str:
    return f"expected a name, or a name and parameters such as CombUCB1:alpha=0.5,init=all, got {text!r:.200}"


def _name(node: ast.expr) -> str:
    if not isinstance(node, ast.Name):
        raise ValueError("not a plain name")
    return node.id


def _keywords(call: ast.Call) -> dict[str, Any]:
    if call.args or any(keyword.arg is None for keyword in call.keywords):
        raise BadArgument(f"parameters must be given by name, as in name=value: {ast.unparse(call)!r:.200}")
    return _once([(keyword.arg, _value(keyword.value)) for keyword in call.keywords])


def _once(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise BadArgument(f"{name} is given {names.count(name)} times")
    return dict(pairs)


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Name):
        return {"true": True, "false": False}.get(node.id, node.id)
    if isinstance(node, ast.Call):
        return _once([("kind", _name(node.func)), *_keywords(node).items()])
    if isinstance(node, ast.List | ast.Tuple):
        return [_value(part) for part in node.elts]
    if isinstance(node, ast.Dict):
        if not all(isinstance(key, ast.Name | ast.Constant) for key in node.keys):
            raise ValueError("not a plain key")
        return _once([(_value(key), _value(value)) for key, value in zip(node.keys, node.values, strict=True) if key])
    value = ast.literal_eval(node)
    if type(value) not in PLAIN:
        raise ValueError("bytes, a set, ...")
    if isinstance(value, int) and abs(value) >= LARGEST:
        raise BadArgument("whole numbers must be below 2**64")
    return value


# Listing what there is


class Described(NamedTuple):
    """One line about something that has a name."""

    name: str
    parameters: str
    """As they would be written; those without a value must be given."""
    what: str
    needs: str = ""
    """What a policy asks for; empty: nothing."""


def describe_policies() -> list[Described]:
    """Every policy, and when to use it."""
    found = []
    for entry in CATALOGUE:
        parameters = "" if entry.policy is policies.Clairvoyant else _parameters(entry.policy)
        found.append(Described(entry.name, parameters, entry.use, "" if entry.needs == "nothing" else entry.needs))
    return found


def describe_sets() -> list[Described]:
    """Every kind of set."""
    return _described(SETS)


def describe_environments() -> list[Described]:
    """Every kind of environment."""
    return _described(ENVIRONMENTS)


def describe_problems() -> list[Described]:
    """Every problem that has a name."""
    return _described(PROBLEMS)


def _described(named: Mapping[str, Callable[..., Any]]) -> list[Described]:
    return [Described(name, _parameters(maker), _first_sentence(maker)) for name, maker in named.items()]


def _parameters(maker: Callable[..., Any]) -> str:
    shown = []
    for one in inspect.signature(maker).parameters.values():
        default = "" if one.default is one.empty else f"={one.default!r}"
        shown.append(f"{one.name}{default}")
    return ", ".join(shown)


def _first_sentence(thing: Any) -> str:
    paragraph = (inspect.getdoc(thing) or "").partition("\n\n")[0].replace("\n", " ")
    return re.split(r"\. (?=[A-Z])", paragraph)[0].removesuffix(".").replace("`", "")
