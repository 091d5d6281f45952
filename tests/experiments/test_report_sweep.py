"""Reports of sweeps: an overview of all points, then each of them."""

import dataclasses
import re
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.transforms import Bbox

import semibandits as sb
from semibandits._util.html import escape
from semibandits.experiments.point import Point
from semibandits.experiments.report import curves, sweep, sweep_pictures
from semibandits.experiments.report.curves import WIDTH
from semibandits.experiments.report.experiment import report
from semibandits.experiments.report.pictures import NARROW, Gallery
from semibandits.experiments.report.ranking import answer, sentence
from semibandits.experiments.report.wording import with_error
from support import pages, results


def coins() -> sb.Problem:
    return sb.Problem(sb.sets.TopK(3, 1), sb.environments.Bernoulli([0.2, 0.5, 0.8]))


def points(*settings: dict[str, Any], policies: int = 2, **changes: Any) -> list[Point]:
    """Made up: regret grows from point to point."""
    made = results.make(policies=policies, **changes)
    return [
        Point(setting, coins(), dataclasses.replace(made, regret=(1 + place) * made.regret))
        for place, setting in enumerate(settings)
    ]


def read(some: list[Point]) -> pages.Page:
    return pages.read_document(report("A sweep", some, source="x = 1"))


def fragment(html: str) -> pages.Page:
    """Of a page whose links lead to what follows."""
    return pages.Page(html)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    pages.skip_drawing(monkeypatch)


def grid(*key_values: tuple[str, list[Any]]) -> list[dict[str, Any]]:
    settings: list[dict[str, Any]] = [{}]
    for key, values in key_values:
        settings = [{**one, key: value} for one in settings for value in values]
    return settings


@pytest.mark.usefixtures("quick")
def test_few_points_have_sections_and_an_overview() -> None:
    some = points({"problem.m": 2}, {"problem.m": 4}, {"problem.m": 3})
    page = read(some)
    for title in ("Overview", "Every point", "Provenance"):
        assert page.text.count(title) >= 2
    rows = page.tables[0]
    assert rows[0] == ["m", "Policy(0)", "Policy(1)"]
    for row, point in zip(rows[1:], some, strict=True):
        assert row[0] == str(point.settings["problem.m"])
        for cell, one in zip(row[1:], point.result.summary(), strict=True):
            mean, error = (float(part.replace(",", "")) for part in cell.split(" ± "))
            assert abs(mean - one.mean) <= 0.06 * one.error
            assert abs(error - one.error) <= 0.06 * one.error
    assert page.text.startswith("A sweep A sweep 3 values of m were played. Policy(0) has the least")
    assert "the best is significantly better than the other in all of them" in page.text
    assert "The optimum is worth 0.8 a round in all of them, the least gap is 0.3." in page.text
    assert page.tags.count("svg") >= 4
    assert page.tags.count("section") == 3


@pytest.mark.usefixtures("quick")
def test_points_are_folded_under_their_answers() -> None:
    some = points({"m": 2}, {"m": 4}, {"m": 4})
    html = report("A sweep", some, source="x = 1")
    answers = re.findall('<details><summary><b>(.*?)</b>: (.*?)</summary>\n<p id="(.*?)">(.*?)</p>', html)
    assert [title for title, *_ in answers] == ["m = 2", "Simulation 2", "Simulation 3"]
    for (_, said, _, whole), point in zip(answers, some, strict=True):
        best = point.result.summary()[0]
        assert said == f"Policy(0), regret {with_error(best.mean, best.error)}"
        assert whole == escape(sentence(point.result))
    cells = [row[0] for row in pages.read_document(html).tables[0][1:]]
    assert cells == ["2", "4", "4"]
    links = re.findall('<th scope="row" class="n"><a href="#(.*?)">', html)
    assert links == [id for *_, id, _ in answers] == ["at-m-2", "at-simulation-2", "at-simulation-3"]


@pytest.mark.parametrize(("runs", "said"), [(1, " (not told apart from 2 others)"), (8, "")])
def test_an_answer_says_whom_it_cannot_tell_apart(runs: int, said: str) -> None:
    result = results.make(policies=3, runs=runs)
    assert re.fullmatch(r"Policy\(0\), regret [\d.]+( ± [\d.]+)? ms" + re.escape(said), answer(result, "ms"))


@pytest.mark.usefixtures("quick")
def test_many_points_are_folded() -> None:
    page = read(points(*grid(("m", [1, 2, 3, 4]), ("sigma", [0.2, 0.4])), policies=1))
    assert page.tags.count("section") == 3
    assert page.tags.count("details") >= 8
    assert "m = 4, sigma = 0.4" in page.text
    assert "The mean regret of Policy is from" in page.text


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("settings", "drawn"),
    [
        (grid(("a.x", [1, 2, 3])), 1),
        (grid(("a.x", [True, False])), 1),
        (grid(("a.x", [1, "two"])), 1),
        (grid(("a.x", [[1, 2], {"k": None}])), 1),
        (grid(("a.x", [1e-6, 1.0, 1e6])), 1),
        (grid(("a.x", [np.int64(1), np.float64(2.5)])), 1),
        (grid(("a.x", [1, 2]), ("b.x", [1, 2, 3])), 2),
        (grid(("a", [1, 2]), ("b", [1, 2, 3, 4, 5])), 2),
        ([{}, {}], 0),
        ([{"a": 1}, {"b": 1}], 0),
        ([{"a": 1}, {"a": 1}], 1),
    ],
)
def test_all_kinds_of_values(settings: list[dict[str, Any]], drawn: int) -> None:
    some = points(*settings)
    made = fragment(sweep.overview(some, Gallery()))
    assert made.tags.count("svg") == 2 * drawn  # a narrow one, too
    assert len(made.tables[0]) == 1 + len(settings)
    assert len(sweep.titles(some)) == len(settings)


def test_the_optimum_and_the_least_gap_of_each_setting() -> None:
    """A sweep may change more of a problem than its name says."""
    made = results.make()
    worlds = [sb.environments.Bernoulli(means) for means in ([0.2, 0.5, 0.8], [0.2, 0.75, 0.9])]
    some = [
        Point({"sigma": place}, sb.Problem(sb.sets.TopK(3, 1), world), made, "ms") for place, world in enumerate(worlds)
    ]
    rows = fragment(sweep._table(some)).tables[0]
    assert rows[0] == ["sigma", "Policy(0)", "Policy(1)", "optimum (ms)", "least gap (ms)"]
    assert [row[3:] for row in rows[1:]] == [["0.8", "0.3"], ["0.9", "0.15"]]


def test_slow_oracles_are_not_asked_for_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "GAP_PATIENCE", 0.0)
    slow = sb.sets.Oracle(lambda weights: [int(weights.argmax())], n_items=3, max_size=1)
    some = [
        Point({"x": place}, sb.Problem(slow, sb.environments.Bernoulli([0.2, 0.5, 0.8 + place / 10])), results.make())
        for place in range(2)
    ]
    rows = fragment(sweep._table(some)).tables[0]
    assert [row[3:] for row in rows] == [["optimum"], ["0.8"], ["0.9"]]


def test_drifting_worlds_have_no_optimum() -> None:
    world = sb.environments.Drifting([[0.9, 0.1], [0.1, 0.9]], starts=[1, 50])
    some = [Point({"x": place}, sb.Problem(sb.sets.TopK(2, 1), world), results.make()) for place in range(2)]
    page = fragment(sweep._table(some))
    assert page.tables[0][0] == ["x", "Policy(0)", "Policy(1)"]
    assert "optimum" not in page.text


def test_colour_is_the_policy_and_dash_the_second_setting() -> None:
    lines = sweep._lines(points(*grid(("a", [1, 2, 3]), ("b", [1, 2]))), "a")
    (ax,) = sweep_pictures.draw({"": lines}, "a").get_axes()
    drawn = [one for one in ax.get_lines() if one.get_linestyle() != "None"]
    assert len(drawn) == len(lines) == 4
    looks = {
        (line.policy, line.others): (one.get_color(), one.get_marker(), one._dash_pattern)
        for line, one in zip(lines, drawn, strict=True)
    }
    for policy in ("Policy(0)", "Policy(1)"):
        assert looks[policy, "b = 1"][:2] == looks[policy, "b = 2"][:2]
        assert looks[policy, "b = 1"][2] != looks[policy, "b = 2"][2]
    for others in ("b = 1", "b = 2"):
        assert looks["Policy(0)", others][2] == looks["Policy(1)", others][2]
        assert looks["Policy(0)", others][:2] != looks["Policy(1)", others][:2]


@pytest.mark.parametrize("width", [WIDTH, NARROW])
@pytest.mark.parametrize(
    ("settings", "unit"),
    [
        (grid(("b", [0.2, 0.4]), ("a", [1, 2, 3])), ""),
        (grid(("b", [0.2, 0.4]), ("a", list(range(5)))), "minutes that a vehicle of the fleet waits at the depot"),
        (grid(("b", ["CombUCB1(alpha=1.5)", "PooledCTS()", "KLUCB(c=0.0)"]), ("a", [1, 2])), ""),
        (grid(("b", [f"a very long value {i}" for i in range(12)]), ("a", [1, "a title of some length"])), ""),
        (grid(("b", [10, 11, 12, 400]), ("a", [1])), "minutes that a vehicle of the fleet waits at the depot, at most"),
    ],
)
def test_no_label_runs_into_another(settings: list[dict[str, Any]], unit: str, width: float) -> None:
    lines = sweep._lines([point._replace(unit=unit) for point in points(*settings)], "b")
    panels: dict[str, list[Any]] = {}
    for line in lines:
        panels.setdefault(line.others, []).append(line)
    assert clashes(sweep_pictures.draw(panels, "b", width)) == []


@pytest.mark.parametrize("width", [WIDTH, NARROW])
@pytest.mark.parametrize("kind", ["expected", "dynamic"])
def test_no_label_of_curves_runs_into_another(kind: Any, width: float) -> None:
    made = results.make(policies=2)
    rounds = np.unique(np.geomspace(1, 2_000_000, made.rounds.size).astype(np.int64))
    made = dataclasses.replace(made, rounds=rounds, kind=kind)
    unit = "minutes that a vehicle of the fleet waits at the depot"
    assert clashes(curves.draw(Point({}, coins(), made, unit), width).figure) == []


def clashes(figure: Any) -> list[tuple[str, str]]:
    """Which labels cover another."""
    FigureCanvasAgg(figure).draw()
    texts: list[Any] = [figure._supylabel]
    for ax in (ax for ax in figure.get_axes() if ax.get_visible()):
        texts += [ax.xaxis.label, ax.yaxis.label, ax._left_title]
        texts += [tick.label1 for axis in (ax.xaxis, ax.yaxis) for tick in axis._update_ticks()]
    shown = [text for text in texts if text is not None and text.get_text() and text.get_visible()]
    boxes = {id(text): text.get_window_extent() for text in [*shown, *figure.legends]}
    names = {id(text): getattr(text, "get_text", lambda: "legend")() for text in [*shown, *figure.legends]}
    return [
        (names[a], names[b])
        for a, b in combinations(boxes, 2)
        if boxes[a].overlaps(boxes[b]) and Bbox.intersection(boxes[a], boxes[b]).size.min() > 1.0
    ]


@pytest.mark.usefixtures("quick")
def test_many_values_have_panels_of_their_own() -> None:
    some = points(*grid(("p.a", [1, 2]), ("p.b", list(range(12)))))
    lines = sweep._lines(some, "p.a")
    figure = sweep_pictures.draw({one.others: [one] for one in lines}, "a")
    assert [ax.get_title(loc="left") for ax in figure.get_axes()] == [f"b = {place}" for place in range(12)]
    text = fragment(sweep.overview(some, Gallery())).text
    assert "Final mean regret against a, for each value of b, with 95% intervals" in text
    assert "3 more values of b are in the table only." in text
    assert "against b, with 95% intervals over runs. Colours and markers stand for policies, dashes for a." in text


def test_words_are_drawn_as_they_are() -> None:
    text = fragment(sweep.overview(points(*grid(("$a$", ["<b>", "$y$", "_z"]))), Gallery())).text
    assert all(word in text for word in ("<b>", "$y$", "_z", "$a$"))


def test_the_pictures_show_the_means() -> None:
    some = points({"a": 1}, {"a": 2})
    lines = sweep._lines(some, "a")
    assert [(line.policy, line.others) for line in lines] == [("Policy(0)", ""), ("Policy(1)", "")]
    assert [[value for value, _, _ in line.points] for line in lines] == [[1, 2], [1, 2]]


def test_swept_policies_keep_one_line() -> None:
    """Where the parameters of a policy are swept, its name changes from point to point."""
    some = points({"policies.0.alpha": 0.5}, {"policies.0.alpha": 1.5}, policies=1)
    some = [
        point._replace(
            result=dataclasses.replace(
                point.result, policies=(f"CombUCB1(alpha={point.settings['policies.0.alpha']})",)
            )
        )
        for point in some
    ]
    (line,) = sweep._lines(some, "policies.0.alpha")
    assert line.policy == "CombUCB1"
    assert len(line.points) == 2


@pytest.mark.usefixtures("quick")
def test_points_may_differ_in_their_policies() -> None:
    some = [*points({"a": 1}, policies=1), *points({"a": 2}, policies=3)]
    rows = fragment(sweep.overview(some, Gallery())).tables[0]
    assert rows[1][2:] == ["", ""]
    assert "has the least mean regret" in sweep.sentence(some)


@pytest.mark.usefixtures("quick")
def test_single_runs() -> None:
    made = sweep.overview(points({"a": 1}, {"a": 2}, runs=1), Gallery())
    assert "±" not in "".join(cell for row in fragment(made).tables[0][1:] for cell in row)
    assert "in none of them" in sweep.sentence(points({"a": 1}, {"a": 2}, runs=1))
