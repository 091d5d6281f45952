"""Files that ask for more than any machine can do."""

import hashlib
import json
import tomllib
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from semibandits.experiments.files import registry
from semibandits.experiments.files.toml_lines import line_of_long_key, lines
from support.experiment_files import GRID, OWN, error, of


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


MANY = 2_000_001
TOP = '{kind = "TopK", n_items = 1_500_000, k = 1}'
PART = {"kind": "TopK", "n_items": 1_500_000, "k": 1}
SPEC = {"format": "semibandits.set", "version": 1, "set": "TopK", "parameters": {"n_items": 1_500_000, "k": 1}}
LARGE = {
    "Product": f"blocks = [{TOP}, {TOP}]",
    "Product of products": f'blocks = [{{kind = "Product", blocks = [{TOP}]}}, {{kind = "Product", blocks = [{TOP}]}}]',
    "Product in a file": 'blocks = {file = "parts.json"}',
    "Product of files": 'blocks = [{file = "spec.json"}, {file = "spec.json"}]',
    "Product of files in files": 'blocks = [{file = "specs.json"}]',
    "Intersection": f'feasible = {{kind = "Product", blocks = [{TOP}, {TOP}]}}\nmatrix = [[1]]',
    "Intersection of few": f"feasible = {TOP}\nmatrix = {{shape = [{MANY}, 1], rows = [], columns = [], values = []}}",
    "TopK": f"n_items = {MANY}\nk = 1",
    "GridPaths": "m = 1000",
    "KPaths": f"n_items = {MANY + 1}\nk = 2",
    "Enumerated": f"solutions = [[0], [{MANY}]]",
    "Enumerated with n_items": f"solutions = [[0]]\nn_items = {MANY}",
    "LaminarMatroid": f"n_items = {MANY}\nfamilies = []",
    "Assignment": "rows = 1500\ncolumns = 1500",
    "Assignment of files": 'rows = {file = "rows.npy"}\ncolumns = {file = "rows.npy"}',
    "BMatching": "rows = 1500\ncolumns = 1500\nrow_capacities = 1\ncolumn_capacities = 1",
    "BMatching of files": 'rows = {file = "rows.npy"}\ncolumns = 1500\nrow_capacities = 1\ncolumn_capacities = 1',
    "MILP": f"matrix = {{shape = [1, {MANY}], rows = [0], columns = [0], values = [1.0]}}\nupper = [1]",
    "MILP of files": 'matrix = {shape = {file = "shape.npy"}, rows = [0], columns = [0], values = [1.0]}\nupper = [1]',
    "Knapsack": 'costs = {file = "long.npy"}\ncapacity = 3',
    "GreedyKnapsack": 'costs = {file = "long.npy"}\ncapacity = 3',
    "PartitionMatroid": 'groups = {file = "long.npy"}\ncapacities = {}',
    "GraphicMatroid": 'graph = {file = "edges.npy"}',
    "Paths": 'graph = {file = "edges.npy"}\nsource = 0\ntarget = 1',
    "DagPaths": 'edges = {file = "edges.npy"}\nsource = 0\ntarget = 1',
    "Oracle": f'function = "mine.py:best"\nn_items = {MANY}\nmax_size = 2',
    "Matroid": f'independent = "mine.py:best"\nn_items = {MANY}',
}


@pytest.fixture(scope="module")
def long_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of few bytes, where that can be: of one byte for each item."""
    folder = tmp_path_factory.mktemp("long")
    (folder / "mine.py").write_text("def best(weights):\n    return [0]\n")
    (folder / "parts.json").write_text(json.dumps([PART, PART]))
    (folder / "spec.json").write_text(json.dumps(SPEC))
    (folder / "one.json").write_text(json.dumps([SPEC]))
    file = {"file": "one.json", "sha256": hashlib.sha256((folder / "one.json").read_bytes()).hexdigest()}
    (folder / "specs.json").write_text(json.dumps({**SPEC, "set": "Product", "parameters": {"blocks": [file, file]}}))
    np.save(folder / "rows.npy", np.arange(1500))
    np.save(folder / "shape.npy", np.array([1, MANY]))
    np.save(folder / "long.npy", np.ones(MANY, dtype=np.int8))
    np.save(folder / "edges.npy", np.ones((MANY, 2), dtype=np.int8))
    return folder


def test_every_kind_of_set_has_a_large_one() -> None:
    assert {kind.partition(" ")[0] for kind in LARGE} == set(registry.SETS)


@pytest.mark.parametrize("kind", LARGE)
def test_sets_of_every_kind_obey_the_limit_of_items(long_files: Path, kind: str) -> None:
    text = OWN.replace('kind = "TopK"\nn_items = 4\nk = 2', f'kind = "{kind.partition(" ")[0]}"\n{LARGE[kind]}')
    said = error(long_files, text)
    assert said.startswith("grid.toml, line ")
    assert " would have more than 2,000,000 items" in said


def test_sets_at_the_limit_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts of a set are counted once."""
    monkeypatch.setattr("semibandits.sets.specification.MOST_ITEMS", 20)
    blocks = ", ".join(['{kind = "TopK", n_items = 4, k = 1}'] * 5)
    matrix = "matrix = {shape = [1, 20], rows = [0], columns = [0], values = [1.0]}\nupper = [1]"
    for table in (f"blocks = [{blocks}]", f'feasible = {{kind = "Product", blocks = [{blocks}]}}\n{matrix}'):
        kind = "Product" if table.startswith("blocks") else "Intersection"
        text = OWN.replace('kind = "TopK"\nn_items = 4\nk = 2', f'kind = "{kind}"\n{table}')
        assert error(tmp_path, text).endswith("means has 4 values, but the set has 20 items")
        assert "more than 20 items with the sets beside it" in error(tmp_path, text.replace("items = 4", "items = 5"))


def test_the_problems_of_a_sweep_count_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"{GRID}[sweep]\nproblem.m = [8, 9, 10]\n"
    assert len(of(tmp_path, text).plans) == 3
    monkeypatch.setattr("semibandits._util.resources.ALWAYS", 0)
    monkeypatch.setattr("semibandits.experiments.files.build.ITEM_BYTES", 2**50)
    assert "the problems of this experiment have 144 items together: so many take 150,994,944 GiB" in error(
        tmp_path, text
    )
