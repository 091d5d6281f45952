"""Columns of CSV files: what is a number, what is a name, and whose it is."""

from pathlib import Path
from typing import Any

import pytest

from semibandits.errors import BadArgument, BadExperiment
from semibandits.experiments.files.data_files import read_data
from support.experiment_files import of


def read(folder: Path, text: str, **table: Any) -> Any:
    (folder / "a.csv").write_text(text)
    return read_data({"file": "a.csv", **table}, folder)[0]


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["1", "-2", "+3", "0"], [1, -2, 3, 0]),
        (["1", "2.5", ".5", "1e-3", "5."], [1.0, 2.5, 0.5, 0.001, 5.0]),
        (["01", "007"], ["01", "007"]),
        (["1_11", "11_1"], ["1_11", "11_1"]),
        (["1", "end"], ["1", "end"]),
        ([" 4 ", "5"], [4, 5]),
        (["٣", "4"], ["٣", "4"]),
    ],
)
def test_names_are_not_taken_for_numbers(cells: list[str], found: list[Any], tmp_path: Path) -> None:
    text = "\n".join(["title", *cells])
    column = read(tmp_path, text, column="title")
    assert column == found
    assert list(map(type, column)) == list(map(type, found))


def test_columns_that_share_a_name_are_typed_together(tmp_path: Path) -> None:
    nodes = read(tmp_path, "from,to\n1,2\n1,end\n2,end\n", columns=["from", "to"])
    assert nodes == [["1", "2"], ["1", "end"], ["2", "end"]]
    named = read(tmp_path, "from,to,road\n1,2,north\n2,3,south\n", columns=["from", "to", "road"])
    assert named == [[1, 2, "north"], [2, 3, "south"]]


def test_a_table_without_a_header_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadArgument, match=r"a header in the first line.*got \['0.5', '1'\]"):
        read(tmp_path, "0.5,1\n0.25,0\n")


TABLE = """
title = "Table"
horizon = 3
runs = 2
seed = 0
[problem.set]
kind = "TopK"
n_items = 3
k = 1
labels = ["a", "b", "c"]
[problem.environment]
kind = "Table"
rows = {file = "rows.csv"}
order = "recorded"
[[policies]]
name = "CTS"
"""


def test_columns_of_a_table_are_the_set_s_items(tmp_path: Path) -> None:
    rows = "0,1,0.5\n1,0,0.25\n0,0,1\n"
    world = of(tmp_path, TABLE, rows_csv=f"a,b,c\n{rows}").plans[0].problem.environment
    assert world.means(1).tolist() == [0.0, 1.0, 0.5]  # type: ignore[operator]
    for header, says in (("c,b,a", "another order"), ("x,y,z", "other ones")):
        expected = f"item 0 of the set is 'a', and of the environment '{header[0]}'.*{says}"
        with pytest.raises(BadExperiment, match=expected):
            of(tmp_path, TABLE, rows_csv=f"{header}\n{rows}")
