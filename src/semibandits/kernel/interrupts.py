"""Ctrl-C while the compiler is at work: held back until it is done.

numba and LLVM do not bear to be interrupted: they may crash later, or refuse to compile the function ever again.
"""

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """What signals make Python do (raise `KeyboardInterrupt`, as a rule) is done when this ends.

    That is in the main thread alone; others are never interrupted.
    """
    handlers: dict[int, Any] = {}
    came: list[tuple[int, Any]] = []
    try:
        if threading.current_thread() is threading.main_thread():
            for number in map(int, signal.valid_signals()):
                if callable(handler := signal.getsignal(number)):
                    with contextlib.suppress(ValueError):  # in an interpreter within another
                        signal.signal(number, lambda number, frame: came.append((number, frame)))
                        handlers[number] = handler
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number, frame in came:
            handlers[number](number, frame)
