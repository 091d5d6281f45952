"""Some policies on one problem as the text of an experiment file."""

import inspect
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from semibandits.errors import BadArgument
from semibandits.experiments.files import registry
from semibandits.experiments.files.user_code import Reference

OPTIONS = ("unit", "regret", "feedback", "uncovered")
"""What a file says besides that is as true of other policies, horizons and runs."""
OWN = re.compile(r"([^(=]+\.py|[^\W\d]\w*(?:\.[^\W\d]\w*)+):(.*)", re.DOTALL)
"""A file or module, and a call of what is defined there."""


def policy_table(text: str) -> dict[str, Any]:
    """What a policy is in a file: one of ours, or a class of the user's own in a file or module.

    >>> policy_table("own.py:Careful:alpha=0.5")
    {'class': 'own.py:Careful', 'alpha': 0.5}
    """
    own = OWN.fullmatch(text.strip())
    if own is None:
        return table_of("policy", text, registry.POLICIES)
    name, parameters = registry.parse_call(own[2])
    return {"class": ":".join(Reference.read(f"{own[1]}:{name}")), **parameters}


def table_of(what: str, text: str, there: Mapping[str, Callable[..., Any]]) -> dict[str, Any]:
    """What a call such as "CombUCB1:alpha=0.5" is in a file. None, for which TOML has no word, may be a default only.

    >>> table_of("policy", "CombUCB1:alpha=0.5", registry.POLICIES)
    {'name': 'CombUCB1', 'alpha': 0.5}
    """
    name, parameters = registry.parse_call(text)
    accepted = inspect.signature(registry.known(what, name, there)).parameters
    if "name" in parameters:
        raise BadArgument(f"{what} {name} has no 'name'")
    for key, value in parameters.items():
        if value is None and key in accepted and accepted[key].default is not None:
            raise BadArgument(f"{key} of {what} {name} must have a value, got None")
    return {"name": name, **{key: value for key, value in parameters.items() if value is not None}}


def as_toml(document: Mapping[str, Any]) -> str:
    """A document as TOML: values first, then tables, then lists of tables; what is in those, on one line each.

    >>> print(as_toml({"runs": 2, "problem": {"name": "k_path", "gap": 0.5}, "policies": [{"name": "CTS"}]}))
    runs = 2
    <BLANKLINE>
    [problem]
    name = "k_path"
    gap = 0.5
    <BLANKLINE>
    [[policies]]
    name = "CTS"
    <BLANKLINE>
    """
    plain, tables = [], []
    for name, value in document.items():
        if isinstance(value, Mapping):
            tables.append(f"\n[{name}]\n{_lines(value)}")
        elif isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
            tables += [f"\n[[{name}]]\n{_lines(one)}" for one in value]
        else:
            plain.append(f"{name} = {_inline(value)}\n")
    return "".join(plain + tables)


def _lines(table: Mapping[str, Any]) -> str:
    return "".join(f"{_key(name)} = {_inline(value)}\n" for name, value in table.items())


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_key(name)} = {_inline(one)}' for name, one in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_inline, value))}]"
    if isinstance(value, str):
        return _word(value)
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        raise BadArgument("a value was expected, got None")
    return str(value)


def _key(name: Any) -> str:
    if not isinstance(name, str):
        raise BadArgument(f"keys must be words, got {name!r:.100}; a list of pairs, [[0, 1], ...], may do")
    return name if name.replace("_", "a").isalnum() and name.isascii() else _word(name)


def _word(word: str) -> str:
    try:
        word.encode()
    except UnicodeEncodeError as error:
        raise BadArgument(f"expected text, got {word!r:.100}") from error
    return json.dumps(word, ensure_ascii=False).replace("\x7f", "\\u007f")
