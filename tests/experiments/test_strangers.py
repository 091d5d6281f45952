"""Files of strangers, opened without own code: nothing of theirs is run, imported, read or written."""

import json
import os
import random
import sys
import tomllib
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from semibandits.errors import SemiBanditError
from semibandits.experiments.comparing import as_toml
from semibandits.experiments.files import document
from support.experiment_files import GRID, OWN

CODE = "import pathlib\npathlib.Path({canary!r}).touch()\ndef {name}(*given, **more):\n    return [0]\n"
FILES = (
    "code.py",
    "in/code.py",
    "../outside.py",
    "{folder}/../outside.py",
    "linked.py",
    "linked/outside.py",
    "code.csv",
)
MODULES = (
    "os",
    "subprocess",
    "code",
    "canary_module",
    "semibandits.policies",
    "builtins",
    "antigravity",
    "this",
    "..x",
)
NAMES = ("system", "f", "Popen", "exec", "CTS", "__import__", "f.g", "f()", "")
DATA = (
    "secret.csv",
    "/etc/passwd",
    "../secret.csv",
    "linked.csv",
    "linked/secret.csv",
    "/dev/zero",
    "loop.csv",
    "a.json",
)
KEYS = ("class", "kind", "name", "function", "minimise", "contains", "independent", "sample", "file", "set", "problem")
KINDS = ("Oracle", "Matroid", "Custom", "Product", "TopK", "Bernoulli", "Table", "CorrelatedGaussian.equicorrelated")


class Stranger:
    """Takes an experiment that can be played, and puts things into it that it should not have."""

    def __init__(self, seed: int, folder: Path) -> None:
        self._choose = random.Random(seed)
        self._folder = folder

    def reference(self) -> str:
        pick = self._choose.choice
        where = pick((*FILES, *MODULES)).format(folder=self._folder)
        return f"{where}{pick((':', ':', ':', '.', '::', ''))}{pick(NAMES)}"

    def value(self, depth: int = 0) -> Any:
        kind = self._choose.randrange(7 if depth < 3 else 4)
        if kind < 2:
            return self.reference()
        if kind == 2:
            return self._choose.choice((*KINDS, *DATA, 4, 0.5, True, -1, "\x1b[31m"))
        if kind == 3:
            return {"file": self._choose.choice(DATA)}
        if kind == 4:
            return [self.value(depth + 1) for _ in range(self._choose.randrange(3))]
        return self.table(depth)

    def table(self, depth: int) -> dict[str, Any]:
        return {self._choose.choice(KEYS): self.value(depth + 1) for _ in range(self._choose.randrange(1, 4))}

    def aimed(self) -> dict[str, Any]:
        """A file that would be played, up to where it has run code."""
        pick = self._choose.choice
        code = f"{pick((*FILES, *MODULES)).format(folder=self._folder)}:{pick(('f', 'system'))}"
        made: dict[str, Any] = tomllib.loads(OWN)
        oracle = {"kind": "Oracle", pick(("function", "minimise")): code, "n_items": 4, "max_size": 2}
        matroid = {"kind": "Matroid", "independent": code, "n_items": 4}
        own = pick(({"class": code}, {"class": code, "command": "touch canary"}))
        sets = (own, oracle, matroid, {**oracle, "contains": code}, {"kind": "Product", "blocks": [own]})
        worlds = (own, {"kind": "Custom", "sample": code, "means": [0.5] * 4})
        path, table = pick(
            (("policies.0", own), ("problem", own), ("problem.set", pick(sets)), ("world", pick(worlds)))
        )
        if path == "policies.0":
            made["policies"] = [table]
        elif path == "problem":
            made["problem"] = table
        else:
            made["problem"]["set" if path == "problem.set" else "environment"] = table
        if path != "world" and self._choose.random() < 0.3:
            made["sweep"] = {path: [table]}
        return made

    def document(self) -> dict[str, Any]:
        if self._choose.random() < 0.5:
            return self.aimed()
        made: dict[str, Any] = tomllib.loads(self._choose.choice((GRID, OWN)))
        made |= {"title": self.reference(), "description": str(self.value())}
        for _ in range(self._choose.randrange(4)):
            at: Any = made
            while True:
                tables = [one for one in (at.values() if isinstance(at, dict) else at) if isinstance(one, dict | list)]
                if not tables or self._choose.random() < 0.3:
                    break
                at = self._choose.choice(tables)
            if isinstance(at, list):
                at.append(self.value())
            else:
                at[self._choose.choice((*KEYS, *at))] = self.value()
        if self._choose.random() < 0.3:
            path = self._choose.choice(("problem", "problem.set", "policies.0", "policies.0.class", "problem.set.kind"))
            made["sweep"] = {path: [self.value(), self.value()]}
        if self._choose.random() < 0.1:
            made["executor"] = {"kind": "dask", "address": "tcp://127.0.0.1:1"}
        return made


def lay_out(folder: Path) -> tuple[Path, Path]:
    """A stranger's folder, full of traps, and what none may touch."""
    canary, here = folder / "canary", folder / "here"
    (here / "in").mkdir(parents=True)
    (folder / "elsewhere").mkdir()
    for name in ("here/code.py", "here/in/code.py", "outside.py", "elsewhere/outside.py", "here/canary_module.py"):
        (folder / name).write_text("".join(CODE.format(canary=str(canary), name=name) for name in ("f", "system")))
    for name in ("secret.csv", "elsewhere/secret.csv"):
        (folder / name).write_text("SECRET\n31415\n")
    (here / "linked.py").symlink_to(folder / "outside.py")
    (here / "linked.csv").symlink_to(folder / "secret.csv")
    (here / "linked").symlink_to(folder / "elsewhere")
    (here / "loop.csv").symlink_to(here / "loop.csv")
    (here / "a.json").write_text(
        json.dumps([{"kind": "Oracle", "function": "code.py:f", "n_items": 2, "max_size": 1}, {"class": "code.py:f"}])
    )
    return here, canary


@pytest.mark.parametrize(
    "count", [pytest.param(150, id="short"), pytest.param(4000, marks=pytest.mark.long, id="long")]
)
def test_files_of_strangers_run_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, campaign: Callable[[str, list[str]], None], count: int
) -> None:
    here, canary = lay_out(tmp_path)
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "path", [str(here), *sys.path])  # as with python -m
    document.read(_written(here, OWN), own_code="none")  # whatever this imports is our own doing
    ours = set(sys.modules)
    opened: list[str] = []
    monkeypatch.setattr("semibandits.experiments.files.user_code.importlib.import_module", opened.append)
    before = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*"))
    broke, read = [], 0
    for seed in range(count):
        try:
            text = as_toml(Stranger(seed, here).document())
        except SemiBanditError:
            continue
        try:
            document.read(_written(here, text), own_code="none")
            read += 1
        except SemiBanditError as error:
            if "31415" in str(error) or "SECRET" in str(error) or "root:" in str(error):
                broke.append(f"{seed}: tells a secret: {error}")
        except Exception:
            broke.append(f"{seed}: {traceback.format_exc(limit=-1)}")
        foreign = [name for name in sys.modules.keys() - ours if _is_foreign(name, tmp_path)]
        if canary.exists() or opened or foreign:
            broke.append(f"{seed}: ran or imported {opened} {foreign}")
            canary.unlink(missing_ok=True)
            opened.clear()
    if sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*")) != before:
        broke.append("files were written")
    campaign(f"strangers' experiments without own code: {count:,} files, {read:,} of them playable", broke)


def _is_foreign(name: str, folder: Path) -> bool:
    file = getattr(sys.modules[name], "__file__", None) or ""
    return file.startswith(str(folder)) or name.startswith("experiment_") or name in MODULES


def _written(folder: Path, text: str) -> Path:
    path = folder / "grid.toml"
    path.write_text(text, encoding="utf-8", newline=os.linesep)
    return path
