"""Experiment files for tests, and what reading them gives or says."""

from pathlib import Path
from typing import Any

import pytest

from semibandits.errors import BadExperiment
from semibandits.experiments.files.document import Experiment, read

GRID = """\
title = "Grid"
horizon = 50
runs = 2
seed = 3

[problem]
name = "grid_path"
m = 2
sigma = 0.4

[[policies]]
name = "CombUCB1"
alpha = 1.5

[[policies]]
name = "CTS"
"""

OWN = """\
horizon = 50
runs = 2

[problem]
sense = "min"

[problem.set]
kind = "TopK"
n_items = 4
k = 2

[problem.environment]
kind = "Bernoulli"
means = [0.1, 0.9, 0.2, 0.8]

[[policies]]
name = "CTS"
"""


MINE = '''
import numpy as np
import semibandits as sb
from semibandits.policies import CombUCB1

SCALE = 2

def best(weights):
    return np.argsort(-weights)[:SCALE]

def coins(generator):
    return (generator.random(4) < MEANS).astype(float)

MEANS = np.array([0.1, 0.9, 0.2, 0.8])

class Mine(CombUCB1):
    """A policy of one's own."""

class World(sb.environments.Bernoulli):
    def __init__(self, size: int):
        super().__init__([0.5] * size)

def whole(m):
    return sb.problems.grid_path(m, 0.4)

number = 7
'''


def write(folder: Path, text: str, **files: Any) -> Path:
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_text(content, encoding="utf-8")
    path = folder / "grid.toml"
    path.write_text(text, encoding="utf-8")
    return path


def of(folder: Path, text: str, **files: Any) -> Experiment:
    return read(write(folder, text, **files))


def error(folder: Path, text: str, **files: Any) -> str:
    path = write(folder, text, **files)
    with pytest.raises(BadExperiment) as caught:
        read(path)
    return str(caught.value).replace(str(path), "grid.toml").replace(f"{folder}/", "")
