"""Users' functions that do wrong, in machine code, in the plain loop and live: each is found out and named."""

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semibandits import Problem, environments, policies, simulate
from semibandits.types import Arrays, Solver
from support import misdeeds
from support.misdeeds import MISDEEDS
from support.tasks import long
from support.worlds import Window

OPEN_ANSWERS = ("too large", "far too large", "negative", "twice", "not feasible", "minus one")
PLAIN = {
    "moves": MISDEEDS["moves"],
    "solver": OPEN_ANSWERS,
    "world": MISDEEDS["world"],
    "coins": MISDEEDS["coins"],
    "drift": ("end of table", "nan", "infinite", "too heavy"),
    "formula": MISDEEDS["formula"],
}
"""What is done in plain code, too."""
LIVE = ("moves", "solver", "formula")

Campaign = Callable[[str, list[str]], None]


def in_a_child(kind: str, some: tuple[str, ...]) -> list[str]:
    """What broke, the child itself perhaps."""
    tests = Path(misdeeds.__file__).parents[1]
    paths = os.pathsep.join([str(tests), *filter(None, sys.path)])
    child = subprocess.run(
        [sys.executable, misdeeds.__file__, kind, "compiled", *some],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = child.stdout.splitlines()
    tried = [line.removeprefix("trying ") for line in lines if line.startswith("trying ")]
    found = dict(line.removeprefix("found ").split(": ", 1) for line in lines if line.startswith("found "))
    broke = [f"{kind}, {misdeed}: {what}" for misdeed, what in found.items() if what]
    if child.returncode or tried != list(some):
        last = tried[-1] if tried else "nothing yet"
        broke.append(f"{kind}: the process ended with {child.returncode} at {last}: {child.stderr[-300:]}")
    return broke


@pytest.mark.parametrize(
    ("kind", "some"),
    [("moves", ("too large", "twice")), *(long(kind, some) for kind, some in MISDEEDS.items())],
)
def test_in_machine_code(kind: str, some: tuple[str, ...], campaign: Campaign) -> None:
    campaign(f"misbehaving functions, {kind} in machine code: {len(some)} misdeeds", in_a_child(kind, some))


@pytest.mark.parametrize(("kind", "engine"), [(kind, "plain") for kind in PLAIN] + [(kind, "live") for kind in LIVE])
def test_in_plain_code(kind: str, engine: str, campaign: Campaign) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        broke = [f"{one}: {what}" for one in PLAIN[kind] if (what := misdeeds.said(kind, engine, one))]
    campaign(f"misbehaving functions, {kind}, {engine}: {len(PLAIN[kind])} misdeeds", broke)


def test_each_users_data_are_tried_anew() -> None:
    """The same function with other data may be right for one set, and wrong for another."""
    world, policy = environments.Bernoulli([0.3, 0.5, 0.7, 0.9]), policies.CombUCB1()
    played = [
        simulate(Problem(Chosen(4, items), world), policy, horizon=3000, runs=1, seed=0, threads=1)
        for items in ([0, 1, 2, 3], [0, 1])
    ]
    assert played[0].engine.startswith("compiled")
    assert "machine code and the plain loop do not agree" in played[1].engine
    assert np.array_equal(played[0].regret, played[1].regret)


class Chosen(Window):
    """The best item; in machine code, of those that it is told."""

    def __init__(self, n_items: int, told: list[int]) -> None:
        super().__init__(n_items, 1)
        self.told = np.array(told)

    def solver(self) -> Solver:
        return Solver(_best_of_told, (self.told,))


def _best_of_told(w: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
    best, at = 0.0, -1
    for item in data[0]:
        if w[item] > best:
            best, at = w[item], item
    if at < 0:
        return 0
    out[0] = at
    return 1
