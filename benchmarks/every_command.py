"""What the command line prints and writes: for `same_numbers.py`."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Part = tuple[str, Any]
"""A name and what it is the digest of."""
EXPERIMENTS = {
    "sweep": """
title = "Two grids"
horizon = 1_500
runs = 12
[problem]
name = "grid_path"
sigma = 0.4
[[policies]]
name = "CombUCB1"
[[policies]]
name = "CTS"
[[policies]]
name = "ESCB"
c = 0.0
[sweep]
problem.m = [1, 2]
policies.CombUCB1.alpha = [0.5, 1.5]
""",
    "costs": """
horizon = 400
runs = 6
unit = "min"
[problem]
sense = "min"
[problem.set]
kind = "Assignment"
rows = ["hall", "roof"]
columns = ["red", "green", "blue"]
forbidden = [["roof", "red"]]
[problem.environment]
kind = "Gaussian"
means = [9.0, 8.0, 11.0, 7.0, 12.0]
sigma = 2.0
bounds = [0.0, 20.0]
[[policies]]
name = "KLUCB"
[[policies]]
name = "Clairvoyant"
[[policies]]
name = "FPL"
""",
}
TEXTS = (
    "version --json",
    "policies --json",
    "sets --json",
    "environments --json",
    "problems --json",
    "new",
    "policies",
    "bounds k_path:n_items=8,k=2,gap=0.5 --horizon 1000000 --json",
    "bounds grid_path:m=3,sigma=0.25 --horizon 100000 --json",
    "bounds grid_path:m=3,sigma=0.25 --horizon 100000",
    "compare grid_path:m=2,sigma=0.4 -p CombUCB1:alpha=0.5 -p CTS --horizon 300 --runs 10",
    "compare grid_path:m=2,sigma=0.4 -p ComUCB1",
)


def command(words: str, folder: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "160"}
    line = [sys.executable, "-m", "semibandits", *words.split()]
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def cli_text(words: str) -> Iterator[Part]:
    with tempfile.TemporaryDirectory() as folder:
        done = command(words, folder)
        yield "output", [done.returncode, done.stdout, done.stderr]


def cli_run(name: str) -> Iterator[Part]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "experiment.toml").write_text(EXPERIMENTS[name])
        done = command("run experiment.toml --out results --no-report", folder)
        yield "output", [done.returncode, done.stdout, done.stderr]
        yield from tables(Path(folder, "results", "data"))


def cli_starters() -> Iterator[Part]:
    names = ("grid_path", "routing_tree", "channel_assignment", "slate", "budget", "own_solver")
    with tempfile.TemporaryDirectory() as folder:
        yield "output", [command(f"new {name}", folder).stdout for name in names]
        yield "files", {path.name: path.read_text() for path in sorted(Path(folder).iterdir())}


def cli_reproduce() -> Iterator[Part]:
    with tempfile.TemporaryDirectory() as folder:
        done = command("reproduce --quick --out paper", folder)
        yield "output", [done.returncode, done.stdout.replace(folder, "")]
        yield "claims", json.loads(Path(folder, "paper", "claims.json").read_text())["claims"]
        yield from tables(Path(folder, "paper", "data"))


def tables(folder: Path) -> Iterator[Part]:
    for path in sorted(folder.glob("*.csv")):
        if path.name != "timing.csv":
            yield path.name, path.read_text()
