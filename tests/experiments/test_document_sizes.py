"""Files that ask for more than any machine can do."""

from pathlib import Path

import pytest

from experiment_files import GRID, error


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GRID.replace("runs = 2", "runs = 1" + "0" * 5000), "grid.toml, line 3: a number has too many digits"),
        (GRID.replace("m = 2", "m = 0x" + "1" * 5000), "grid.toml, line 8: problem.m must be below 2**64"),
        (
            GRID.replace("= 50", f"= {2**63 - 1}"),
            "grid.toml, line 2: horizon must be at most 1,000,000,000,000, got 9,2",
        ),
        (
            GRID.replace("runs = 2", f"runs = {10**12}"),
            "grid.toml, line 3: runs must be at most 1,000,000,000, got 1,000",
        ),
        (
            GRID.replace("runs = 2", f"runs = {10**9}"),
            "grid.toml, line 3: the results of 1,000,000,000 runs of each policy",
        ),
        (f"{GRID}[sweep]\npolicies.{'1' * 5000}.alpha = [1]\n", "grid.toml, line 18: keys have at most 200 letters"),
        (f"{GRID}[{'a.' * 500}a]\n", "grid.toml, line 17: tables and lists may be 50 deep in each other, no more"),
        (f"{GRID}{'a.' * 500}a = 1\n", "grid.toml, line 17: tables and lists may be 50 deep in each other, no more"),
        ("x = " + "[" * 5000 + "]" * 5000, "grid.toml"),
        (
            f"{GRID}[sweep]\nproblem.m = {list(range(1, 200))}\nproblem.sigma = {[i / 1000 for i in range(1, 200)]}\n",
            "grid.toml, line 17: the sweep has 39,601 combinations; at most 10,000",
        ),
    ],
)
def test_what_is_too_large_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    assert error(tmp_path, text).startswith(message)
