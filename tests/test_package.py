"""The package as a whole: quick to import, small in memory, one version."""

import subprocess
import sys
import tracemalloc
from importlib.metadata import version

import numpy as np
import pytest

import semibandits as sb

HEAVY = {"numba", "scipy", "matplotlib", "rich", "polars", "click"}


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_a_first_ask_needs_no_compiler_and_no_heavy_import() -> None:
    loaded = run(
        "import sys, semibandits as sb\n"
        "for feasible in (sb.sets.TopK(1000, 5), sb.sets.Enumerated([[0, 1], [2]]), sb.sets.GridPaths(3)):\n"
        "    learner = sb.Learner(feasible, sb.policies.CombUCB1())\n"
        "    for _ in range(5):\n"
        "        decision = learner.ask()\n"
        "        learner.tell(decision.id, [0.5] * len(decision.items))\n"
        f"print(*({HEAVY} & sys.modules.keys()))"
    )
    assert loaded == ""


def test_help_is_light() -> None:
    loaded = run(
        "import sys\nfrom semibandits.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        f"print('loaded:', *({HEAVY - {'click'}} & sys.modules.keys()))"
    )
    assert "reproduce" in loaded
    assert loaded.endswith("loaded:")


def test_versions_agree() -> None:
    assert sb.__version__ == version("semibandits")


def growth(rounds: int) -> int:
    """How much memory a learner gains over these rounds, after it has settled."""
    learner = sb.Learner(sb.sets.TopK(30, 5), sb.policies.CombUCB1())
    weights = np.full(5, 0.5)

    def play(count: int) -> None:
        for _ in range(count):
            learner.tell(learner.ask().id, weights)

    tracemalloc.start()
    try:
        play(3000)
        before = tracemalloc.get_traced_memory()[0]
        play(rounds)
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def test_memory_is_flat() -> None:
    assert growth(20_000) < 20_000  # less than a byte per round


@pytest.mark.long
def test_memory_is_flat_over_a_million_rounds() -> None:
    assert growth(1_000_000) < 100_000
