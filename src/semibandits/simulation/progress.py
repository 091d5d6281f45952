"""A bar on standard error: rounds played, rounds per second, time left."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Progress:
    """What long work reports to. This one says nothing."""

    def say(self, what: str) -> None:
        """What is going on now."""

    def advance(self, rounds: int) -> None:
        """So many rounds more are played, of all runs together. Any thread may call it."""


@contextmanager
def progress_bar(wanted: bool | None, rounds: int) -> Iterator[Progress]:
    """A bar where it is wanted; None: where standard error is a terminal."""
    if not (sys.stderr.isatty() if wanted is None else wanted):
        yield Progress()
        return
    from rich.console import Console
    from rich.progress import BarColumn, ProgressColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress
    from rich.text import Text

    class Speed(ProgressColumn):
        def render(self, task: Any) -> Text:
            speed = task.finished_speed or task.speed
            if not speed:
                return Text("")
            return Text(f"{speed:,.0f} rounds/s" if speed < 1e5 else f"{speed / 1e6:,.1f}M rounds/s")

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), Speed(), TimeRemainingColumn())
    with RichProgress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("simulating", total=rounds)

        class Drawn(Progress):
            def say(self, what: str) -> None:
                bar.update(task, description=what)

            def advance(self, rounds: int) -> None:
                bar.advance(task, rounds)

        yield Drawn()
