"""How much this process may use: of the machine, of its container, by its limits. The trees here are made up."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from semibandits._util import resources
from semibandits.errors import BadArgument

GIB = 2**30
SLURM = {
    "memory/memory.limit_in_bytes": str(2**63 - 4096),
    "memory/slurm/uid_1/job_2/memory.limit_in_bytes": str(2 * GIB),
    "memory/slurm/uid_1/job_2/step_0/memory.limit_in_bytes": str(4 * GIB),
}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "Tree":
    monkeypatch.setattr(resources, "OWN_GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(resources, "GROUPS", tmp_path / "groups")
    monkeypatch.setattr(resources, "_installed", lambda: 64 * GIB)
    monkeypatch.setattr(resources, "_allowed", list)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(64)), raising=False)
    monkeypatch.delattr(os, "process_cpu_count", raising=False)
    return Tree(tmp_path)


class Tree:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, own: str, files: dict[str, str]) -> None:
        (self.folder / "cgroup").write_text(own)
        for name, text in files.items():
            path = self.folder / "groups" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n")


@pytest.mark.parametrize(
    ("own", "files", "gib"),
    [
        ("0::/\n", {"memory.max": str(GIB)}, 1),  # a container that sees its own group as the root
        ("0::/a/b\n", {"a/b/memory.max": "max", "a/memory.max": str(3 * GIB)}, 3),  # a limit of a slice around it
        ("0::/a/b\n", {"a/b/memory.max": str(5 * GIB), "a/memory.max": str(8 * GIB)}, 5),
        ("0::/a/b\n", {"memory.max": str(7 * GIB)}, 7),  # whose path is that outside
        ("0::/../a:b\n", {"a:b/memory.max": str(6 * GIB)}, 6),
        ("0::/a\n", {"b/memory.max": str(GIB), "a/memory.high": str(GIB)}, 64),
        ("4:memory:/slurm/uid_1/job_2/step_0\n1:cpu:/\n0::/\n", SLURM, 2),
        ("4:memory:/docker/x\n0::/\n", {"memory/memory.limit_in_bytes": str(GIB)}, 1),
        ("4:cpu,memory:/a\n", {"cpu,memory/a/memory.limit_in_bytes": str(GIB)}, 1),
        ("3:memoryless:/a\n", {"memory/a/memory.limit_in_bytes": str(GIB)}, 64),
        ("", {"memory.max": str(GIB)}, 1),  # where /proc says nothing
        ("nonsense\n::\n\udcff", {"memory.max": "nonsense"}, 64),
    ],
)
def test_memory_limits_of_the_groups_around_this_process_count(
    tree: Tree, own: str, files: dict[str, str], gib: int
) -> None:
    tree(own.encode("utf-8", "surrogateescape").decode("latin-1"), files)
    assert resources.memory() == gib * GIB


@pytest.mark.parametrize(
    ("own", "files", "cores"),
    [
        ("0::/\n", {"cpu.max": "200000 100000"}, 2),
        ("0::/a/b\n", {"a/b/cpu.max": "max 100000", "a/cpu.max": "150000 100000"}, 2),
        ("0::/a/b\n", {"a/b/cpu.max": "10000 100000", "a/cpu.max": "150000 100000"}, 1),
        ("0::/\n", {"cpu.max": "max 100000"}, 64),
        ("0::/\n", {"cpu.max": "99999999 100000"}, 64),
        ("0::/\n", {"cpu.max": "nonsense"}, 64),
        (
            "1:cpu,cpuacct:/a\n",
            {"cpu/a/cpu.cfs_quota_us": "300000", "cpu/a/cpu.cfs_period_us": "100000", "cpu/cpu.cfs_quota_us": "-1"},
            3,
        ),
        ("", {}, 64),
    ],
)
def test_a_quota_of_processor_time_counts(tree: Tree, own: str, files: dict[str, str], cores: int) -> None:
    tree(own, files)
    assert resources.cores() == cores


def test_python_may_be_told_how_many_cores_there_are(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "process_cpu_count", lambda: 3, raising=False)
    assert resources.cores() == 3
    monkeypatch.setattr(os, "process_cpu_count", lambda: None)
    assert resources.cores() == 1


def test_where_no_one_tells(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "_installed", lambda: None)
    assert resources.memory() == 2**36
    monkeypatch.delattr("os.sched_getaffinity")
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert resources.cores() == 1


@pytest.mark.parametrize("kind", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_limits_of_the_process_count(kind: str) -> None:
    code = f"""
import resource
from semibandits._util import resources
half = resources.memory() // 2
resource.setrlimit(resource.{kind}, (half, resource.getrlimit(resource.{kind})[1]))
assert resources.memory() == half
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_words_are_true_in_a_container(tree: Tree) -> None:
    tree("0::/\n", {"memory.max": str(GIB)})
    with pytest.raises(BadArgument, match=r"^it takes 2 GiB of memory, and this process may use 1: ask for less$"):
        resources.check_room(2 * GIB, "it takes", "ask for less")
