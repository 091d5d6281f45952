"""Bounds of each item in experiment files: written out, in columns of a table, and in the report."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semibandits import environments, errors, experiments
from semibandits.notebook import html

HEAD = """
horizon = 50
runs = 2
seed = 1
policies = [{{name = "CombUCB1"}}, {{name = "KLUCB"}}]

[problem]
sense = "min"
set = {{kind = "TopK", n_items = {n}, k = 1}}

[problem.environment]
kind = "Scaled"
bounds = {bounds}
environment = {{kind = "Beta", a = 1.0, b = {b}}}
"""
ROWS = [("a", 2.0, 6.0), ("b", 5.0, 25.0), ("c", 3.0, 3.0)]


def read(folder: Path, bounds: str, n: int = 3) -> Any:
    table = "name,free,jammed\n" + "".join(f"{name},{free},{jammed}\n" for name, free, jammed in ROWS[:n])
    (folder / "links.csv").write_text(table)
    (folder / "two.csv").write_text("free,jammed\n" + "".join(f"{one},{other}\n" for _, one, other in ROWS[:n]))
    (folder / "pair.json").write_text("[0.0, 30.0]")
    (folder / "file.toml").write_text(HEAD.format(n=n, bounds=bounds, b=[2.0] * n))
    return experiments.read(folder / "file.toml")


@pytest.mark.parametrize(
    "bounds",
    [
        "[[2, 5, 3], [6.0, 25, 3]]",
        '{file = "links.csv", columns = ["free", "jammed"]}',
        '{file = "two.csv"}',
        '[{file = "links.csv", column = "free"}, {file = "links.csv", column = "jammed"}]',
    ],
)
@pytest.mark.parametrize("n", [2, 3])
def test_ways_to_write_them(bounds: str, n: int, tmp_path: Path) -> None:
    if bounds.startswith("[[") and n == 2:
        bounds = "[[2, 5], [6, 25]]"
    problem = read(tmp_path, bounds, n).plans[0].problem
    expected = [[row[side] for row in ROWS[:n]] for side in (1, 2)]
    assert [side.tolist() for side in problem.bounds] == expected
    assert isinstance(problem.environment, environments.Scaled)
    np.testing.assert_allclose(problem.means, np.array(expected[0]) + problem.spans / 3.0, rtol=1e-12)


ROADS = """set = {{kind = "Paths", graph = [["a", "b"], ["b", "c"], ["a", "c"]], source = "a", target = "c"}}"""
BY_NAME = {"a->c": 4.0, "a->b": 2.0, "b->c": 3.0}


@pytest.mark.parametrize("where", ["text", "file"])
def test_by_name(where: str, tmp_path: Path) -> None:
    """Names lead the way, not the order in which they are written."""
    (tmp_path / "most.json").write_text(json.dumps(BY_NAME))
    table = ", ".join(f'"{name}" = {most}' for name, most in BY_NAME.items())
    bounds = f"[0.0, {{{table}}}]" if where == "text" else '[0.0, {file = "most.json"}]'
    text = HEAD.replace('set = {{kind = "TopK", n_items = {n}, k = 1}}', ROADS)
    (tmp_path / "file.toml").write_text(text.format(bounds=bounds, b=[2.0] * 3))
    problem = experiments.read(tmp_path / "file.toml").plans[0].problem
    assert problem.bounds[1].tolist() == [2.0, 3.0, 4.0]  # type: ignore[union-attr]
    (tmp_path / "file.toml").write_text(text.format(bounds=bounds.replace("a->c", "a->d"), b=[2.0] * 3))
    (tmp_path / "most.json").write_text(json.dumps({"a->d": 4.0, "a->b": 2.0, "b->c": 3.0}))
    with pytest.raises(
        errors.SemiBanditError, match=r"file.toml.*the items are \['a->b', 'b->c', 'a->c'\], got .*a->d"
    ):
        experiments.read(tmp_path / "file.toml")


def test_a_pair_in_a_file(tmp_path: Path) -> None:
    assert read(tmp_path, '{file = "pair.json"}').plans[0].problem.bounds == (0.0, 30.0)


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ('{file = "links.csv", column = "free"}', "two columns"),
        ('{file = "links.csv", columns = ["free"]}', "two columns"),
        ('{file = "links.csv", columns = ["jammed", "free"]}', "lo <= hi, got .* for item 0"),
        ("[[2, 5], [6, 25]]", "must be 3 numbers"),
        ("[[2, 5, 3], 1]", "lo <= hi"),
    ],
)
def test_what_is_refused(bounds: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(errors.SemiBanditError, match=said) as raised:
        read(tmp_path, bounds)
    assert "file.toml" in str(raised.value)


def test_the_report_tells(tmp_path: Path) -> None:
    experiment = read(tmp_path, "[[2, 5, 3], [6.0, 25, 3]]")
    assert "per item, from 2 to 25" in html(experiment.plans[0].problem)
    experiments.run(experiment, tmp_path / "out", progress=False, report=True)
    report = (tmp_path / "out" / "report.html").read_text()
    assert "from 2 to 25, each item within bounds of its own" in report


def test_of_an_environment_of_ones_own(tmp_path: Path) -> None:
    """An item in each row, as for those here."""
    (tmp_path / "mine.py").write_text(
        "import semibandits as sb\n\ndef world(bounds):\n    return sb.environments.Uniform(*bounds, bounds=bounds)\n"
    )
    (tmp_path / "two.csv").write_text("free,jammed\n2,6\n5,25\n")
    text = HEAD.replace('kind = "Scaled"', 'class = "mine.py:world"').replace("environment = {{", "# environment = {{")
    (tmp_path / "file.toml").write_text(text.format(n=2, bounds='{file = "two.csv"}', b=1.0))
    problem = experiments.read(tmp_path / "file.toml").plans[0].problem
    assert [side.tolist() for side in problem.bounds] == [[2.0, 5.0], [6.0, 25.0]]
