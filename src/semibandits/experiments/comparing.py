"""Some policies on one problem as an experiment, without a file."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from semibandits import __version__
from semibandits.digest import digest
from semibandits.experiments.document import Experiment, Plan, Where
from semibandits.problem import Problem
from semibandits.types import IndexPolicy, Policy

OPTIONS = ("regret", "feedback", "uncovered")
"""What `simulate` may be told besides."""


def experiment_of(
    document: Mapping[str, Any],
    problem: Problem,
    policies: Sequence[IndexPolicy | Policy],
    files: Mapping[str, str] | None = None,
) -> Experiment:
    """The experiment that this document describes, as a file would, with problem and policies made of it already.

    Its keys are `title`, `horizon`, `runs`, `seed`, `problem` and `policies`, perhaps `unit` and those of `OPTIONS`.
    `files` are the digests of those that the problem is made of.
    """
    told = {f"problem.{name}": _inline(value) for name, value in document["problem"].items()}
    options = {name: document[name] for name in ("horizon", "runs", "seed", *OPTIONS) if name in document}
    fixed = {name: _inline(value) for name, value in options.items() if name != "runs"}
    name = digest((problem.feasible, problem.environment, problem.sense, *fixed.values()))
    return Experiment(
        path=Path("experiment.toml"),
        text=as_toml(document),
        title=document["title"],
        description="",
        plans=(Plan(name[:16], {}, problem, tuple(policies), options),),
        where=Where(),
        identity={"semibandits": __version__, **fixed, **told},
        files=dict(files or {}),
        unit=document.get("unit", ""),
    )


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
    return "".join(f"{_key(name)} = {_inline(value)}\n" for name, value in table.items() if value is not None)


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_key(name)} = {_inline(one)}' for name, one in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_inline, value))}]"
    if isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _key(name: str) -> str:
    return name if name.replace("_", "a").isalnum() and name.isascii() else json.dumps(name)
