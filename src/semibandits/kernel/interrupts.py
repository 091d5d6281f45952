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
                    handlers[number] = handler
                    with contextlib.suppress(ValueError):  # in an interpreter within another
                        signal.signal(number, lambda number, frame: came.append((number, frame)))
        yield
    finally:
        raised: list[BaseException] = []
        while True:  # those that are back may come and raise before all are
            try:
                for number, handler in handlers.items():
                    with contextlib.suppress(ValueError):
                        signal.signal(number, handler)
                break
            except BaseException as error:
                raised.append(error)
        for number, frame in came:
            try:
                handlers[number](number, frame)
            except BaseException as error:
                raised.append(error)
        if raised:
            raise raised[0]
