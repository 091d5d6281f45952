"""Long work reports to a bar of its own, or to one that several simulations share."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from semibandits import policies, problems, simulate
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
