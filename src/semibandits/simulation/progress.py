"""A bar on standard error: rounds played, rounds per second, time left."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Progress:
    """What long work reports to. This one says nothing."""

    def say(self, what: str) -> None:
        """What is going on now; nothing: the work itself."""

    def advance(self, rounds: int) -> None:
        """So many rounds more are played, of all runs together. Any thread may call it."""


@contextmanager
def progress_bar(wanted: bool | Progress | None, rounds: int, what: str = "simulating") -> Iterator[Progress]:
    """A bar for so many rounds, where it is wanted; None: where standard error is a terminal or a notebook's.

    In a notebook it is a line of text, after a second.

    One that is handed in is used as it is. So one bar serves several simulations:

    >>> import semibandits as sb
    >>> problem = sb.problems.grid_path(m=2, sigma=0.4)
    >>> with progress_bar(None, 2 * 3 * 100, "two policies") as bar:
    ...     for alpha in (0.5, 1.5):
    ...         _ = sb.simulate(problem, sb.policies.CombUCB1(alpha), horizon=100, runs=3, seed=0, progress=bar)
    """
    if isinstance(wanted, Progress):
        yield wanted
        return
    here = in_notebook()
    if sys.stderr is None or not (here or _in_terminal() if wanted is None else wanted):
        yield Progress()
        return
    if here:
        from semibandits.simulation.text_bar import TextBar

        with TextBar(sys.stderr, rounds, what) as text:
            yield text
        return
    from rich.console import Console
    from rich.progress import BarColumn, ProgressColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress
    from rich.table import Column
    from rich.text import Text

    class Speed(ProgressColumn):
        def render(self, task: Any) -> Text:
            speed = task.finished_speed or task.speed
            return Text(rounds_per_second(speed) if speed else "")

    speed = Speed(Column(no_wrap=True))
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), speed, TimeRemainingColumn())
    with RichProgress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=rounds)

        class Drawn(Progress):
            def say(self, now: str) -> None:
                bar.update(task, description=now or what)

            def advance(self, rounds: int) -> None:
                bar.advance(task, rounds)

        yield Drawn()


def _in_terminal() -> bool:
    """Not where a cell of a notebook called a command: what stands there cannot be written over."""
    return sys.stderr.isatty() and "JPY_PARENT_PID" not in os.environ


def in_notebook() -> bool:
    """Whether standard error is that of a notebook: a kernel of Jupyter's has put its own there."""
    kernel = sys.modules.get("ipykernel.iostream")
    return kernel is not None and isinstance(sys.stderr, kernel.OutStream)


def rounds_per_second(speed: float) -> str:
    return f"{speed:,.0f} rounds/s" if speed < 1e5 else f"{speed / 1e6:,.1f}M rounds/s"
