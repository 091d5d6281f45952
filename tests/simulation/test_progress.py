"""Long work reports to a bar of its own, or to one that several simulations share."""

import io
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from semibandits import policies, problems, simulate
from semibandits.simulation import text_bar
from semibandits.simulation.progress import Progress, progress_bar

GRID = problems.grid_path(2, 0.4)
UCB = policies.CombUCB1()


class Heard(Progress):
    def __init__(self) -> None:
        self.rounds = 0
        self.said: list[str] = []
        self._lock = threading.Lock()

    def say(self, what: str) -> None:
        self.said.append(what)

    def advance(self, rounds: int) -> None:
        with self._lock:
            self.rounds += rounds


@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_all_rounds_are_told(engine: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options: Any = {"horizon": 50, "seed": 0, "engine": engine}
    heard = Heard()
    simulate(GRID, [UCB, policies.CombUCB1(0.5)], runs=35, progress=heard, **options)
    assert heard.rounds == 2 * 35 * 50
    assert heard.said == ([] if engine == "plain" else ["compiling", ""] * 2)
    for runs in (3, 40, 40):  # what is found in a store counts, and a block that is played again counts once
        heard = Heard()
        simulate(GRID, UCB, runs=runs, progress=heard, store=tmp_path, **options)
        assert heard.rounds == runs * 50
    assert capsys.readouterr() == ("", "")


def test_an_executor_tells_too() -> None:
    heard = Heard()
    with ThreadPoolExecutor(2) as pool:
        simulate(GRID, UCB, horizon=50, runs=4, seed=0, executor=pool, progress=heard)
    assert heard.rounds == 200


def test_one_that_is_handed_in_is_used_as_it_is() -> None:
    heard = Heard()
    with progress_bar(heard, 10) as bar:
        assert bar is heard
    with progress_bar(False, 10, "something") as bar:
        bar.say("nothing")
        bar.advance(3)


def test_a_shared_bar_keeps_its_own_words(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in a narrow terminal, on one line."""
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "60", "LINES": "24"}.items():
        monkeypatch.setenv(name, value)
    with progress_bar(True, 2 * 150, "a sweep over many parameters") as bar:
        simulate(GRID, UCB, horizon=50, runs=3, seed=0, progress=bar)
        bar.say("compiling")
        simulate(GRID, UCB, horizon=50, runs=3, seed=0, engine="compiled", progress=bar)
    out, err = capsys.readouterr()
    last = err.split("\r")[-2:]
    assert out == ""
    assert any("a sweep over many parameters" in line and "100%" in line for line in last), last
    assert "compiling" not in "".join(last)


class Stream(io.StringIO):
    """Like that of a Jupyter kernel: no terminal. It tells when something is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def flush(self) -> None:
        self.written.set()


def in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> Stream:
    """A kernel's standard error, whose bar has no patience, and a clock that stands at ten seconds."""
    stream = Stream()
    monkeypatch.setitem(sys.modules, "ipykernel.iostream", types.SimpleNamespace(OutStream=Stream))
    monkeypatch.setattr(sys, "stderr", stream)
    times = iter([0.0])
    monkeypatch.setattr(text_bar, "time", types.SimpleNamespace(perf_counter=lambda: next(times, 10.0)))
    monkeypatch.setattr(text_bar, "PATIENCE", 0.0)
    return stream


@pytest.mark.parametrize("wanted", [None, True])
def test_a_notebook_has_a_bar_of_text(wanted: bool | None, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = in_a_notebook(monkeypatch)
    monkeypatch.setattr(text_bar, "EVERY", 0.001)
    with progress_bar(wanted, 4_000_000, "a sweep") as bar:
        assert notebook.written.wait(60.0)
        bar.advance(1_000_000)
        bar.say("compiling")
        notebook.written.clear()
        assert notebook.written.wait(60.0)
        notebook.written.clear()
        assert notebook.written.wait(60.0)  # begun after both
        bar.say("")
        bar.advance(3_000_000)
    first, *lines, last = notebook.getvalue().split("\r")[1:]
    assert first == f"a sweep  {30 * '░'}    0%"
    assert f"compiling  {7 * '█'}{23 * '░'}   25%  0.1M rounds/s  0:30 left" in map(str.rstrip, lines)
    assert last.rstrip() == "a sweep: 4,000,000 rounds in 0:10, 0.4M rounds/s"
    assert last.endswith("\n")
    assert len(last) - 1 >= max(map(len, lines))  # nothing of what was there is left


def test_short_work_says_nothing_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = in_a_notebook(monkeypatch)
    monkeypatch.setattr(text_bar, "PATIENCE", 1e6)
    simulate(GRID, UCB, horizon=50, runs=3, seed=0)
    simulate(GRID, UCB, horizon=50, runs=3, seed=0, progress=True)
    assert notebook.getvalue() == ""


def test_none_is_drawn_where_none_is_wanted_or_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    in_a_notebook(monkeypatch)
    with progress_bar(False, 10) as bar:
        bar.advance(10)
        assert type(bar) is Progress
    monkeypatch.setattr(sys, "stderr", io.StringIO())  # somebody caught it
    with progress_bar(None, 10) as bar:
        assert type(bar) is Progress


@pytest.mark.parametrize("of_a_notebook", [True, False])
def test_commands_called_by_a_cell_draw_no_bar(of_a_notebook: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """They have a terminal, but what is written there stays."""
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.delenv("JPY_PARENT_PID", raising=False)
    if of_a_notebook:
        monkeypatch.setenv("JPY_PARENT_PID", "1")
    with progress_bar(None, 10) as bar:
        assert (type(bar) is Progress) == of_a_notebook


def test_a_line_that_cannot_be_written_stops_the_bar_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_bar, "PATIENCE", 0.0)
    monkeypatch.setattr(text_bar, "EVERY", 0.0)
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    with text_bar.TextBar(stream, 10, "simulating") as bar:
        bar.advance(5)
        assert bar._done.wait(10.0)


def test_what_stops_work_stops_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook, before = in_a_notebook(monkeypatch), threading.active_count()

    def work() -> None:
        with progress_bar(None, 10) as bar:
            assert notebook.written.wait(60.0)
            bar.advance(5)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert threading.active_count() == before
    assert "simulating: 5 rounds" in notebook.getvalue()
