"""The whole of a reproduction: what is played, what is written, what is refused."""

import errno
import json
import math
import re
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semibandits.errors import BadArgument, StoreFailed, Unsupported
from semibandits.experiments.paper import PARTS, Claim, Reproduction, folder, reproduce, reproduction, tightness
from semibandits.experiments.paper import runs as plays
from semibandits.experiments.paper.runs import DRAWN, GRIDS
from semibandits.experiments.paper.tightness import predicted_factor
from semibandits.policies import CTS, CombUCB1
from semibandits.simulation import SimulationResult
from semibandits.simulation.progress import Progress
from support.browser import LETTERS, UNFOLD, open_browser
from support.tasks import long


class Games:
    """Stands for `simulate`: regret as it should be, with a little noise, and a list of what was asked for."""

    def __init__(self) -> None:
        self.played: list[tuple[str, str, int, int, int]] = []
        self.announced = 0
        self.advanced = 0

    def simulate(self, problem: Any, policy: Any, **options: Any) -> SimulationResult:
        runs, n = options["runs"], options["horizon"]
        name = f"{problem!r} {problem.means.min():.3f}"
        self.played.append((name, repr(policy), n, runs, options["seed"]))
        options["progress"].advance(runs * n)
        rounds = np.unique([*options["checkpoints"], n])
        if hasattr(problem.feasible, "m"):
            m, sigma = problem.feasible.m, float(np.ptp(problem.means))
            final, deviation = 31.5 * m**2 / sigma**0.91 / 0.4**0.09, 3.0 * m / sigma
            if isinstance(policy, CTS):
                final, deviation = 0.25 * final / m**0.5, 0.2 * deviation
        else:
            L, K, gap = problem.n_items, problem.max_size, problem.min_gap
            final = predicted_factor(L, K, gap, n) * math.log(n)
            deviation = 0.05 * final
        noise = np.random.default_rng(len(self.played)).normal(size=(runs, 1))
        regret = (final + deviation * noise) * np.log(rounds) / math.log(n)
        name = (repr(policy),)
        return SimulationResult(regret[None], rounds, name, repr(problem), 0, "realised", "none", 0.0, "0")

    @contextmanager
    def bar(self, wanted: Any, rounds: int, what: str = "") -> Iterator[Progress]:
        games = self
        self.announced += rounds

        class Counting(Progress):
            def advance(self, rounds: int) -> None:
                games.advanced += rounds

        yield Counting()


class NoProcess(ThreadPoolExecutor):
    """A pool that does nothing of what it is given."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        return super().submit(lambda: None)


@pytest.fixture
def games(monkeypatch: pytest.MonkeyPatch) -> Games:
    found = Games()
    for module in (plays, tightness):
        monkeypatch.setattr(module, "simulate", found.simulate)
    monkeypatch.setattr(plays, "progress_bar", found.bar)
    monkeypatch.setattr(plays, "Processes", NoProcess)
    return found


@pytest.fixture
def no_games(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **options: Any) -> Any:
        raise AssertionError("nothing is to be played")

    for module in (plays, tightness):
        monkeypatch.setattr(module, "simulate", refuse)


# What is played


@pytest.mark.parametrize("only", [None, ["fig1c", "kpath", "thompson"]])
def test_every_game_is_played_once_under_one_bar(games: Games, only: list[str] | None) -> None:
    found = reproduce(quick=only is None, only=only, seed=5)
    assert len(set(games.played)) == len(games.played)
    assert games.advanced == games.announced
    settings = found.settings
    assert len(games.played) == len(GRIDS) + len(settings.thompson) + len(settings.k_paths)
    assert [part.name for part in found.parts] == (only or list(PARTS))
    assert {claim.part for claim in found.claims} == {part.name for part in found.parts}
    assert found.holds is all(claim.holds for claim in found.claims)


@pytest.mark.parametrize(
    ("only", "grids", "thompson", "paths"),
    [
        ("fig1c", 21, 0, 0),
        ("trends", 21, 0, 0),
        (["trends", "fig1c"], 21, 0, 0),
        ("kpath", 0, 0, 6),
        ("bounds", 12, 0, 6),
        ("thompson", 3, 3, 0),
        (("fig1a", "fig1b", "constants"), 0, 0, 0),
    ],
)
def test_parts_play_what_they_need(games: Games, only: Any, grids: int, thompson: int, paths: int) -> None:
    found = reproduce(quick=True, only=only, runs=16)
    listed = [only] if isinstance(only, str) else list(only)
    assert [part.name for part in found.parts] == sorted(listed, key=list(PARTS).index)
    policies = [policy for problem, policy, *_ in games.played if problem.startswith("Problem(GridPaths")]
    assert policies.count(repr(CombUCB1())) == grids
    assert policies.count(repr(CTS())) == thompson
    assert len(games.played) - len(policies) == paths
    assert games.advanced == games.announced
    assert {runs for *_, runs, _ in games.played} <= {16}


def test_both_policies_play_in_the_same_worlds(games: Games) -> None:
    reproduce(only="thompson", seed=9)
    assert {seed for *_, seed in games.played} == {9}
    ucb, cts = (
        {problem for problem, policy, *_ in games.played if policy == one}
        for one in ("CombUCB1(alpha=1.5, init='paper')", "CTS()")
    )
    assert ucb == cts


def test_a_wrong_game_turns_claims_red(games: Games, monkeypatch: pytest.MonkeyPatch) -> None:
    right = games.simulate

    def too_little(problem: Any, policy: Any, **options: Any) -> SimulationResult:
        result = right(problem, policy, **options)
        return SimulationResult(**{**vars(result), "regret": result.regret * 2.0 / 3.0})

    for module in (plays, tightness):
        monkeypatch.setattr(module, "simulate", too_little)
    red = {claim.part for claim in reproduce(quick=True).claims if not claim.holds}
    assert red == {"fig1c", "trends", "kpath"}


def test_what_needs_no_game_plays_none(no_games: None) -> None:
    found = reproduce(only=["fig1a", "fig1b", "constants"])
    assert found.holds
    assert len(found.claims) == 12


def test_everything_can_be_said_in_json(games: Games) -> None:
    found = reproduce(quick=True)
    document = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert [Claim(**claim) for claim in document["claims"]] == list(found.claims)
    assert len(document["parts"]["fig1c"]["cells"]) == 21
    assert document["parts"]["trends"]["ours"]["power_law"]["exponents"]["m"] == pytest.approx(2.0, abs=0.05)
    assert document["settings"]["runs"] == 64
    assert document["versions"]["numpy"] == np.__version__


def test_every_claim_has_a_source_and_numbers(games: Games) -> None:
    claims = reproduce(quick=True).claims
    places = "Section [1-9]|Section 10|Theorem [1-6]|Figure 1[abc]|ours"
    assert [claim for claim in claims if not re.fullmatch(places, claim.source)] == []
    assert 0 < sum(claim.source == "ours" for claim in claims) < len(claims) / 3
    for claim in claims:
        assert claim.value is not None
        low, high = -math.inf if claim.low is None else claim.low, math.inf if claim.high is None else claim.high
        assert math.isfinite(max(low, -high)), claim  # at least one limit
        assert not claim.holds or low <= claim.value <= high, claim


# What is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"only": "fig1d"}, "no part is called 'fig1d': did you mean 'fig1c'?"),
        ({"only": ["fig1c", "trend"]}, "'trend': did you mean 'trends'?"),
        ({"only": [7]}, "no part is called 7; there are fig1a, "),
        ({"only": []}, "one or more of fig1a, fig1b, .* got \\[\\]"),
        ({"only": 7}, "one or more of fig1a, .* got 7"),
        ({"runs": 7}, "at least 8, .* got 7"),
        ({"runs": 0}, "runs must be an integer >= 1, got 0"),
        ({"runs": 10**20}, "runs must be at most 1,000,000,000"),
        ({"seed": -1}, "seed is an integer from 0"),
        ({"out": 7}, "out must be a folder, got 7"),
    ],
)
def test_bad_arguments_are_said_before_anything_is_played(
    no_games: None, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadArgument, match=message):
        reproduce(**options)


def test_a_folder_with_something_else_is_left_alone(no_games: None, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine", encoding="utf-8")
    for marker in (None, "not json", "[]", '{"kind": "else"}'):
        if marker is not None:
            (tmp_path / "claims.json").write_text(marker, encoding="utf-8")
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        with pytest.raises(BadArgument, match="holds something else than a reproduction"):
            reproduce(out=tmp_path)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_file_is_no_folder(no_games: None, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadArgument, match="file is a file"):
        reproduce(out=tmp_path / "file")
    with pytest.raises(StoreFailed, match="deeper cannot be written to"):
        reproduce(out=tmp_path / "file" / "deeper")


def test_a_folder_that_cannot_be_written_to_is_named(
    no_games: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**options: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(folder.tempfile, "TemporaryFile", refuse)
    with pytest.raises(StoreFailed, match=f"{re.escape(str(tmp_path))} cannot be written to: .*Permission denied"):
        reproduce(out=tmp_path)


def test_without_matplotlib_a_report_is_refused_and_the_rest_works(
    no_games: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("matplotlib", "matplotlib.axes", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(Unsupported, match=r'pip install "\.\[plot\]"'):
        reproduce(out=tmp_path / "new")
    assert not (tmp_path / "new").exists()
    assert reproduce(only="fig1b").holds


# What is written


FILES = {"fig1a.svg", "fig1a.png", "fig1a.pdf"}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("reproduction") / "new" / "deep"
    assert reproduce(out=out, only=["fig1b", "constants"]).holds
    return out


def test_the_folder_holds_all_of_it(written: Path) -> None:
    marker = json.loads((written / "claims.json").read_text(encoding="utf-8"))
    there = {path.relative_to(written).as_posix() for path in written.rglob("*") if path.is_file()}
    assert there == {"report.html", "claims.json", *marker["files"]}
    assert {f"figures/{name}.{kind}" for name in ("fig1b", "constants") for kind in ("svg", "png", "pdf")} < there
    assert {"data/fig1b.csv", "data/constants.csv"} < there
    assert marker["kind"] == folder.KIND
    assert [claim["holds"] for claim in marker["claims"]] == [True] * 9
    rows = (written / "data" / "constants.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 1 + 1000
    assert rows[0].startswith("K,theorem_2,theorem_4,paper,cascade,amortised,lower")


def test_the_report_begins_with_the_verdicts(written: Path) -> None:
    page = (written / "report.html").read_text(encoding="utf-8")
    titles = re.findall("<h2[^>]*>(.*?)</h2>", page)
    assert titles == ["Verdicts", PARTS["fig1b"], "The paper&#39;s constants, and sharper ones", "How this was made"]
    assert page.count('<span class="good">holds</span>') == 9
    assert "9 of 9 claims hold: 8 of 8 of the paper&#39;s, 1 of 1 of ours" in page
    assert re.findall("<b>Figure ([0-9]+)[.]</b>", page) == ["1", "2"]
    groups = re.findall('<th scope="rowgroup"[^>]*><a href="#([^"]+)">', page)
    assert groups == re.findall('<h2 id="([^"]+)"', page)[1:3]
    assert page.count("<svg") == page.count("</svg>") == 2
    assert "semibandits reproduce --seed 0 --runs 100 --only fig1b --only constants" in page
    check_page(page)


def test_a_claim_that_does_not_hold_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Claim("fig1b", "the sky is <green>", "blue & grey", "green", False)
    part = reproduction._judges()["fig1b"](plays.play(plays.settings(0, True, None), (), False))
    bare = part._replace(claims=(wrong,), body=())
    monkeypatch.setattr(reproduction, "_judges", lambda: {"fig1b": lambda played: bare})
    found = reproduce(out=tmp_path, only="fig1b")
    assert not found.holds
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "0 of 1 claims hold" in page
    assert "the sky is &lt;green&gt;" in page
    assert '<span class="bad">does not hold</span>' in page


def test_a_former_reproduction_is_replaced(written: Path, tmp_path: Path) -> None:
    out = tmp_path / "again"
    reproduce(out=out, only="fig1b")
    (out / "notes.txt").write_text("mine", encoding="utf-8")
    (out / "figures" / "mine.svg").write_text("mine", encoding="utf-8")
    marker = json.loads((out / "claims.json").read_text(encoding="utf-8"))
    marker["files"] += ["../outside", "notes.txt", "figures/../../outside.svg"]  # by somebody else
    (out / "claims.json").write_text(json.dumps(marker), encoding="utf-8")
    (tmp_path / "outside").touch()
    reproduce(out=out, only="fig1a")
    names = {path.name for path in out.rglob("*") if path.is_file()}
    assert {"fig1a.svg", "fig1a.png", "fig1a.csv", "notes.txt", "mine.svg"} <= names
    assert not {"fig1b.svg", "fig1b.png", "fig1b.csv", "fig1b.parquet"} & names
    assert (tmp_path / "outside").exists()


def test_one_that_is_stopped_while_it_is_written_keeps_the_older_verdicts(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(written, tmp_path / "copy")
    out = tmp_path / "copy"
    before = json.loads((out / "claims.json").read_text(encoding="utf-8"))
    with monkeypatch.context() as patch:
        patch.setattr("semibandits.experiments.table_files.write_table", full_disk)
        with pytest.raises(StoreFailed, match="No space left"):
            reproduce(out=out, only="fig1b", progress=False)
    after = json.loads((out / "claims.json").read_text(encoding="utf-8"))
    assert after["claims"] == before["claims"]
    assert (out / "report.html").read_bytes() == (written / "report.html").read_bytes()
    reproduce(out=out, only="fig1a", progress=False)
    kept = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert {name for name in kept if name.startswith("figures/")} == {f"figures/{name}" for name in FILES}


def test_a_first_one_that_is_stopped_while_it_is_written_is_taken_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("semibandits.experiments.table_files.write_table", full_disk)
        with pytest.raises(StoreFailed, match="No space left"):
            reproduce(out=tmp_path, only="fig1b", progress=False)
    reproduce(out=tmp_path, only="fig1a", progress=False)
    assert {path.name for path in (tmp_path / "figures").iterdir()} == FILES


def full_disk(*arguments: Any) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


def check_page(page: str) -> None:
    """Nothing is asked for from elsewhere, and every id is there once."""
    assert not re.search(r'(src|href|url)\s*[=(]\s*["\']?(https?:|//)', page)
    assert "<script" not in page
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) | set(re.findall(r"url\(#([^)]+)\)", page)) <= set(ids)


def check_in_browser(page: Path) -> None:
    """No complaint, no request but for the page itself, nothing that sticks out, in both themes and on a phone."""
    with open_browser() as browser:
        for theme, width in (("light", 1000), ("dark", 360)):
            visit = browser.visit(page, theme=theme, width=width)
            assert visit.messages == []
            assert visit.requests == [page.resolve().as_uri()]
            assert visit.width <= width
            browser.run(UNFOLD)
            assert browser.violations() == []
            assert min(browser.run(LETTERS)) >= 10.0


@pytest.mark.parametrize("seed", [0, long(1), long(2)])
def test_a_quick_reproduction_is_green(seed: int, tmp_path: Path) -> None:
    found = reproduce(out=tmp_path, quick=True, seed=seed, progress=False)
    assert [claim for claim in found.claims if not claim.holds] == []
    told = [(claim.part, claim.statement, claim.source, claim.measured, claim.expected) for claim in found.claims]
    widths = [max(map(len, column)) for column in zip(*told, strict=True)]
    assert sum(widths) + 5 * 2 + len("holds") <= 150  # columns of a terminal
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    check_page(page)
    check_in_browser(tmp_path / "report.html")
    drawings = sum(len(part.drawings) for part in found.parts)
    shown = page.count("<svg") - page.count('class="narrow"')
    assert shown == drawings == len(list((tmp_path / "figures").glob("*.svg"))) == 11
    begin = page[: page.index("<h2")]
    assert begin.index("28 of 28 claims hold") < begin.index("<svg") < begin.index("<nav")
    assert re.search("Figure 1c.*21 of 21 points agree with the published ones", begin, re.DOTALL)


@pytest.mark.long
def test_a_whole_reproduction_is_green() -> None:
    found: Reproduction = reproduce(progress=False)
    assert [claim for claim in found.claims if not claim.holds] == []
    assert DRAWN in GRIDS
