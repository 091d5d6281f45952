"""A bar in plain text for notebooks, where standard error is no terminal but shows a line that is written over."""

import threading
import time
from typing import Any, Self, TextIO

from semibandits.simulation.progress import Progress, rounds_per_second

PATIENCE, EVERY = 1.0, 0.25
"""Seconds until the first line, since most work is done before, and between two."""
WIDTH = 30


class TextBar(Progress):
    """Tells how far so many rounds are, on one line, from a thread of its own; the last one says how long it took."""

    def __init__(self, stream: TextIO, rounds: int, what: str) -> None:
        self._stream, self._rounds, self._what = stream, rounds, what
        self._now, self._played, self._widest = "", 0, 0
        self._begun = time.perf_counter()
        self._lock, self._done = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._draw_on, name="semibandits progress", daemon=True)

    def say(self, what: str) -> None:
        self._now = what

    def advance(self, rounds: int) -> None:
        with self._lock:
            self._played += rounds

    def line(self) -> str:
        share = min(1.0, self._played / self._rounds) if self._rounds else 1.0
        full = int(WIDTH * share)
        told = f"{self._now or self._what}  {'█' * full}{'░' * (WIDTH - full)}  {100.0 * share:3.0f}%"
        if share:
            seconds = self._seconds()
            told += f"  {rounds_per_second(self._played / seconds)}  {_clock(seconds / share - seconds)} left"
        return told

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._done.set()
        self._thread.join()
        if self._widest:
            took = self._seconds()
            speed = rounds_per_second(self._played / took)
            self._write(f"{self._what}: {self._played:,} rounds in {_clock(took)}, {speed}", "\n")

    def _seconds(self) -> float:
        return max(1e-9, time.perf_counter() - self._begun)

    def _draw_on(self) -> None:
        pause = PATIENCE
        while not self._done.wait(pause):
            self._write(self.line())
            pause = EVERY

    def _write(self, line: str, end: str = "") -> None:
        """Over what was there; no more, once the stream takes no more."""
        try:
            self._stream.write(f"\r{line:<{self._widest}}{end}")
            self._stream.flush()
        except (OSError, ValueError):  # closed, or without letters for it
            self._done.set()
        self._widest = max(self._widest, len(line))


def _clock(seconds: float) -> str:
    """As a stop watch says it.

    >>> _clock(7.4), _clock(3725.0)
    ('0:07', '1:02:05')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
