"""Tables as files, read back by other programs."""

import csv
import math
from pathlib import Path

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semibandits.errors import BadArgument, StoreFailed
from semibandits.experiments.table_files import write_table


def read(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


@given(st.lists(st.floats(), min_size=1))
@settings(max_examples=50, deadline=None)
def test_numbers_are_read_back_exactly(tmp_path_factory: pytest.TempPathFactory, numbers: list[float]) -> None:
    folder = tmp_path_factory.mktemp("data")
    write_table(folder, "x", {"numbers": np.array(numbers), "again": [np.float64(one) for one in numbers]})
    rows = read(folder / "x.csv")[1:]
    parquet = polars.read_parquet(folder / "x.parquet")["numbers"].to_list()
    for given_, row, other in zip(numbers, rows, parquet, strict=True):
        assert [math.copysign(1.0, float(cell)) for cell in row] == [math.copysign(1.0, given_)] * 2 or math.isnan(
            given_
        )
        for found in (*map(float, row), other):
            assert found == given_ or (math.isnan(found) and math.isnan(given_))


def test_words_gaps_and_columns_of_many_kinds(tmp_path: Path) -> None:
    columns = {"n": [1, None, 3], "word": ['a "b"', "c, d", "ü\ne"], "mixed": [1, 2.5, "x"], "both": [1, 2.5, None]}
    csv_file, parquet = write_table(tmp_path / "new", "t", {**columns, "large": [2**64 - 1, 0, 1]})
    assert read(csv_file)[1:] == [
        ["1", 'a "b"', "1", "1", str(2**64 - 1)],
        ["", "c, d", "2.5", "2.5", "0"],
        ["3", "ü\ne", "x", "", "1"],
    ]
    frame = polars.read_parquet(parquet)
    assert frame["n"].to_list() == [1, None, 3]
    assert frame["word"].to_list() == columns["word"]
    assert frame["mixed"].to_list() == ["1", "2.5", "x"]
    assert frame["both"].to_list() == [1.0, 2.5, None]
    assert read(write_table(tmp_path, "empty", {"a": [], "b": []})[0]) == [["a", "b"]]


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(BadArgument, match="must have one length"):
        write_table(tmp_path, "x", {"a": [1], "b": []})
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreFailed, match=r"x\.csv could not be written"):
        write_table(tmp_path / "file", "x", {"a": [1]})
