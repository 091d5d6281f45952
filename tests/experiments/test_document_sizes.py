"""Files that ask for more than any machine can do."""

import tomllib
import tracemalloc
from pathlib import Path

import pytest

from experiment_files import GRID, error
from semibandits.experiments.toml_lines import line_of_long_key, lines


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
        *(
            (f"{GRID}{key}\n", "grid.toml, line 17: tables and lists may be 50 deep in each other, no more")
            for key in (
                f"{'a.' * 20_000}a = 1",
                f"[{'a . ' * 20_000}a]",
                f"[[{'a.' * 50}a]]",
                f"x = {{{'a.' * 20_000}a = 1}}",
                '"a".' * 20_000 + "a = 1",
                "'a.b' . " * 50 + "a = 1",
            )
        ),
        ("x = " + "[" * 5000 + "]" * 5000, "grid.toml"),
        ("x = " + "{a = " * 5000 + "1" + "}" * 5000, "grid.toml"),
        ("x = [" + ",".join(["1" * 3999] * 50) + f",{'1' * 5000}]", "grid.toml, line 1: a number has too many digits"),
        ("#" * 4_000_001, "grid.toml cannot be read: it has 4,000,001 bytes; at most 4,000,000 are read"),
        (
            f"{GRID}[sweep]\nproblem.m = {list(range(1, 200))}\nproblem.sigma = {[i / 1000 for i in range(1, 200)]}\n",
            "grid.toml, line 17: the sweep has 39,601 combinations; at most 10,000",
        ),
    ],
)
def test_what_is_too_large_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    assert error(tmp_path, text).startswith(message)


def test_dots_in_words_and_comments_are_no_deep_keys() -> None:
    dots = "a." * 100
    text = f"""# {dots} it's
x = "{dots}" # {dots}
y = '{dots}'
z = \"\"\"{dots}
"{dots}" \\\" {dots}\"\"\"
w = '''{dots}'{dots}'''
{"b." * 49}c = 1.5
"""
    assert len(tomllib.loads(text)) == 5
    assert line_of_long_key(text, 50) is None
    assert line_of_long_key(text, 49) == 7


def test_long_strings_and_blanks_take_little_memory() -> None:
    long = 10**6
    text = f'{" " * long}x = \'{"a" * long}\' # {"c" * long}\ny = "{"a" * long}"\nz = """{"a" * long}"""\n'
    tracemalloc.start()
    try:
        assert lines(text) == {("x",): 1, ("y",): 2, ("z",): 3}
        assert line_of_long_key(text, 50) is None
        assert tracemalloc.get_traced_memory()[1] < 10 * long
    finally:
        tracemalloc.stop()
