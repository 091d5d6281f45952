"""Reports in a real browser: quiet, alone, readable on a phone, in both themes and on paper."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import semibandits as sb
from semibandits.experiments.paper.reproduction import reproduce
from semibandits.experiments.point import Point
from semibandits.experiments.report.experiment import write_report
from support.browser import LETTERS, UNFOLD, Browser, open_browser


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with open_browser() as window:
        yield window


@pytest.fixture(scope="module")
def reproduction(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With graphs, a part that is drawn for phones and one that is too wide for them."""
    out = tmp_path_factory.mktemp("reproduction")
    reproduce(out=out, only=["fig1b", "constants"], progress=False)
    return out / "report.html"


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two points, each folded."""
    path = tmp_path_factory.mktemp("sweep") / "report.html"
    made = sb.problems.grid_path(1, 0.4)
    result = sb.simulate(made, sb.policies.CTS(), horizon=20, runs=2, seed=0)
    write_report(path, "A sweep", [Point({"m": m}, made, result) for m in (1, 2)])
    return path


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a matrix, long names, bounds, and folded parts."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    long = "a-very-long-name-without-a-place-to-break-it-" * 3
    feasible = sb.sets.Assignment([f"{long}1", "two"], [f"{long}x", "<script>alert(1)</script>"])
    problem = sb.Problem(feasible, sb.environments.Bernoulli([0.2, 0.9, 0.6, 0.4]))
    players = [sb.policies.CombUCB1(), sb.policies.CTS()]
    result = sb.simulate(problem, players, horizon=100, runs=5, seed=0, record=["counts", "sums"])
    points = [Point({long: long}, problem, result)]
    write_report(path, f"A report of {long}", points, description=long, source=f"name = '{long}'\n")
    return path


def test_the_window_notices_what_is_wrong(window: Browser, tmp_path: Path) -> None:
    page, other = tmp_path / "bad.html", tmp_path / "other.css"
    wide = '<p style="width: 500px">'
    page.write_text(f'<link rel="stylesheet" href="{other.name}"><script>console.error("oh")</script>{wide}')
    visit = window.visit(page, width=360)
    assert any("oh" in message for message in visit.messages)
    assert other.as_uri() in visit.requests
    assert visit.width > 360


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_it_opens_quietly_and_fits(window: Browser, report: Path, theme: str, width: int) -> None:
    visit = window.visit(report, theme=theme, width=width)
    assert visit.messages == []
    assert visit.requests == [report.as_uri()]
    window.run(UNFOLD)
    assert window.run("return document.documentElement.scrollWidth") == width
    assert min(window.run(LETTERS)) >= 10.0
    lightness = [np.mean([int(part) for part in colour[4:-1].split(",")]) for colour in visit.colours]
    assert (lightness[0] > lightness[1]) == (theme == "light")
    assert abs(lightness[0] - lightness[1]) > 150


def test_the_inks_of_pictures_follow_the_theme(window: Browser, report: Path) -> None:
    ink = "return getComputedStyle(document.querySelector('figure svg text')).fill"
    seen = {theme: (window.visit(report, theme=theme), window.run(ink))[1] for theme in ("light", "dark")}
    assert seen["light"] != seen["dark"]
    font = "return getComputedStyle(document.querySelector('figure svg text')).fontFamily"
    assert "system-ui" in window.run(font)
    assert window.run("return document.querySelectorAll('figure svg text').length") > 20


def test_links_lead_to_sections_and_nothing_is_a_script(window: Browser, report: Path) -> None:
    window.visit(report)
    assert window.run("return [...document.querySelectorAll('nav a')].every(a => document.querySelector(a.hash))")
    assert window.run("return document.scripts.length") == 0
    assert window.run("return document.compatMode") == "CSS1Compat"


def test_it_prints(window: Browser, report: Path) -> None:
    window.visit(report, theme="dark", media="print")
    assert window.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert window.run("return getComputedStyle(document.querySelector('nav')).display") == "none"
    assert window.pdf().startswith(b"%PDF")


def test_what_is_folded_is_printed_and_links_open_it(window: Browser, sweep: Path) -> None:
    folded = "return [...document.querySelectorAll('main details p[id]')].map(p => p.checkVisibility())"
    window.visit(sweep)
    assert window.run(folded) == [False, False]
    window.visit(sweep, media="print")
    assert window.run(folded) == [True, True]
    window.visit(f"{sweep.as_uri()}#at-m-2")
    assert window.run(folded) == [False, True]
    window.visit(sweep)
    window.run("document.querySelector('table a').click()")
    assert window.run(folded) == [True, False]


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 360)])
@pytest.mark.parametrize("page", ["report", "sweep"])
def test_everybody_can_read_it(
    window: Browser, page: str, theme: str, width: int, request: pytest.FixtureRequest
) -> None:
    """As far as axe-core can tell, to which themes are colours and widths what scrolls."""
    visit = window.visit(request.getfixturevalue(page), theme=theme, width=width)
    assert visit.width == width
    window.run(UNFOLD)
    assert window.violations() == []


def test_what_scrolls_sideways_shows_it(window: Browser, report: Path, reproduction: Path) -> None:
    """A shade at the edge, and keys that reach it; pictures for phones do not scroll."""
    boxes = "return [...document.querySelectorAll('main *, header *')].filter(one => one.scrollWidth > one.clientWidth"
    boxes += " && getComputedStyle(one).overflowX == 'auto').map(one => [one.className, one.tabIndex,"
    boxes += " getComputedStyle(one).backgroundImage.split('gradient').length])"
    for page, kinds in ((report, {"scroll"}), (reproduction, {"scroll", "pictures scroll"})):
        window.visit(page, width=360)
        window.run(UNFOLD)
        found = window.run(boxes)
        assert {name for name, *_ in found} == kinds
        assert all((index, shades) == (0, 5) for _, index, shades in found)
    pictures = "return [...document.querySelectorAll('svg')]"
    pictures += ".filter(one => one.checkVisibility()).map(one => one.getAttribute('class'))"
    for width, shown in ((360, "narrow"), (1280, "wide")):
        window.visit(report, width=width)
        window.run(UNFOLD)
        assert set(window.run(pictures)) - {None} == {shown}


def test_what_notebooks_show_fits_both_themes(window: Browser, tmp_path: Path) -> None:
    learner = sb.Learner(sb.sets.TopK(5, 2), sb.policies.CombUCB1(), seed=0)
    decision = learner.ask()
    learner.tell(decision.id, [0.5, 0.7])
    shown = [sb.problems.grid_path(2, 0.4), decision, learner]
    body = "\n".join(thing._repr_html_() for thing in shown)
    page = tmp_path / "cell.html"
    head = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
    page.write_text(f"{head}<title>cell</title><body>{body}</body></html>", encoding="utf-8")
    for theme in ("light", "dark"):
        visit = window.visit(page, theme=theme)
        assert (visit.messages, visit.requests) == ([], [page.as_uri()])
        inks = "return [...new Set([...document.querySelectorAll('td, dd, th')].map(e => getComputedStyle(e).color))]"
        assert window.run(inks) == [visit.colours[1]]
