"""Experiments with the user's own code, and folders of others."""

from pathlib import Path

import numpy as np
import pytest

from semibandits.errors import BadArgument, BadState
from semibandits.experiments.running import run
from support.experiment_files import GRID, OWN, of

POLICY = """\
import semibandits as sb

TABLE = [{rate}]


class Mine(sb.policies.CombUCB1):
    RATE = {rate}

    def params(self, game):
        return (self.RATE * TABLE[0],)
"""


def test_own_code_that_was_changed_plays_again_and_others_do_not(tmp_path: Path) -> None:
    text = f'{GRID}\n[[policies]]\nclass = "mine.py:Mine"\n'
    (tmp_path / "mine.py").write_text(POLICY.format(rate=0.1))
    before = run(of(tmp_path, text), tmp_path / "out").points[0].result
    (tmp_path / "mine.py").write_text(POLICY.format(rate=5.0))
    after = run(of(tmp_path, text), tmp_path / "out").points[0].result
    fresh = run(of(tmp_path, text), tmp_path / "fresh").points[0].result
    assert np.array_equal(after.regret, fresh.regret)
    assert not np.array_equal(after.regret[2], before.regret[2])
    assert len(list((tmp_path / "out").glob("runs/*/*-0.npz"))) == 4  # the first two, and two versions of the third


CLUSTER = """
horizon = 30
runs = 2
seed = 5

[problem.set]
kind = "Oracle"
function = "mine.py:best"
n_items = 3
max_size = 1

[problem.environment]
class = "mine.py:World"

[[policies]]
class = "mine.py:Careful"
"""

OF_ALL_KINDS = """
import semibandits as sb
import beside_mine

def best(weights):
    return [beside_mine.largest(weights)]

class World(sb.environments.Bernoulli):
    def __init__(self):
        super().__init__([0.1, 0.5, 0.9])

class Careful(sb.policies.CombUCB1):
    def params(self, game):
        return (beside_mine.ALPHA,)
"""

BESIDE = """
ALPHA = 0.3

def largest(weights):
    return max(range(len(weights)), key=lambda item: weights[item])
"""


def test_own_code_travels_to_a_cluster_that_has_not_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clusters = pytest.importorskip("clusters", reason="needs the extra [cluster]")
    user = tmp_path / "user"
    user.mkdir()
    (user / "mine.py").write_text(OF_ALL_KINDS)
    (user / "beside_mine.py").write_text(BESIDE)
    with clusters.Cluster(tmp_path / "cluster") as cluster:
        monkeypatch.syspath_prepend(user)  # as with PYTHONPATH, on this machine alone
        executor = f'[executor]\nkind = "dask"\naddress = "{cluster.address}"\n'
        there = run(of(user, CLUSTER + executor), tmp_path / "there")
    here = run(of(user, CLUSTER), tmp_path / "here")
    assert np.array_equal(here.points[0].result.regret, there.points[0].result.regret)


def test_own_code_does_not_end_the_program(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "import sys\n\ncalls = []\n\ndef best(weights):\n    calls.append(1)\n"
        "    if len(calls) > 30:\n        sys.exit(0)\n    return [0, int(weights[2] > weights[1]) + 1]\n"
    )
    text = OWN.replace(
        'kind = "TopK"\nn_items = 4\nk = 2', 'kind = "Oracle"\nfunction = "own.py:best"\nn_items = 3\nmax_size = 2'
    )
    text = text.replace("[0.1, 0.9, 0.2, 0.8]", "[0.1, 0.9, 0.2]").replace('"CTS"', '"Random"')
    with pytest.raises(BadArgument, match=r"must not end the program: sys.exit\(0\)"):
        run(of(tmp_path, text), tmp_path / "out")


def test_a_folder_of_others_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    with pytest.raises(BadState, match=r"holds no experiment, but other files: thesis.tex"):
        run(of(tmp_path, GRID), tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]
