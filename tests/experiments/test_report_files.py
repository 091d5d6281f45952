"""Reports as files, and what is no report."""

import dataclasses
import sys
from pathlib import Path

import pytest

import semibandits as sb
from semibandits.errors import BadArgument, Unsupported
from semibandits.experiments.point import Point
from semibandits.experiments.report import solutions
from semibandits.experiments.report.experiment import report, write_report
from semibandits.experiments.report.pictures import Gallery
from support import pages

quickly = pytest.mark.usefixtures("quick")


@pytest.fixture(scope="module")
def grid() -> Point:
    problem, policies = sb.problems.grid_path(m=2, sigma=0.4), [sb.policies.CombUCB1(), sb.policies.CTS()]
    return Point({}, problem, sb.simulate(problem, policies, horizon=100, runs=4, seed=3, record=["counts", "sums"]))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    pages.skip_drawing(monkeypatch)


@quickly
def test_the_file_is_written_whole(grid: Point, tmp_path: Path) -> None:
    simple = Point({}, grid.problem, dataclasses.replace(grid.result, counts=None, sums=None))
    write_report(tmp_path / "r.html", "T", [simple])
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == report("T", [simple])
    write_report(tmp_path / "r.html", "T", [simple], figures=True)
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert {f"{name}.{form}" for name in ("regret", "bounds") for form in ("svg", "png", "pdf")} == names
    with pytest.raises(FileNotFoundError, match="No such folder"):
        write_report(tmp_path / "none" / "r.html", "T", [simple])


def test_bad_points(grid: Point) -> None:
    with pytest.raises(BadArgument, match="got none"):
        report("x", [])
    for wrong in (grid.result, grid.problem, (1, 2, 3), None):
        with pytest.raises(BadArgument, match=r"a point is Point\(settings, problem, result\)"):
            report("x", [wrong])  # type: ignore[list-item]
    with pytest.raises(BadArgument, match="counts of 12 items, but the problem has 3"):
        report(
            "x", [Point({}, sb.Problem(sb.sets.TopK(3, 1), sb.environments.Bernoulli([0.2, 0.5, 0.8])), grid.result)]
        )


def test_without_matplotlib_it_says_which_extra(grid: Point, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    with pytest.raises(Unsupported, match=r"\.\[plot\]"):
        write_report(tmp_path / "r.html", "T", [grid])
    assert not list(tmp_path.iterdir())


def test_pyplot_keeps_nothing(grid: Point) -> None:
    from matplotlib import pyplot

    try:
        solutions.solutions(grid, Gallery(), solutions.find(grid))
        assert pyplot.get_fignums() == []
    finally:
        del sys.modules["matplotlib.pyplot"]  # or it would be in use in other tests


@quickly
def test_what_the_user_likes_of_matplotlib_changes_nothing(grid: Point) -> None:
    import matplotlib

    simple = Point({}, grid.problem, dataclasses.replace(grid.result, counts=None, sums=None))
    plain = report("T", [simple])
    with matplotlib.rc_context({"axes.facecolor": "red", "font.size": 30, "text.usetex": True}):
        assert report("T", [simple]) == plain
        assert matplotlib.rcParams["font.size"] == 30
