"""Exceptions raised where a signal handler's can be: at the points of Python's bytecode that look for signals.

These are the beginning of a function, a jump back, and the end of a call of what is written in C, or of one with
unpacked arguments. (`CHECK_EVAL_BREAKER` in CPython's interpreter.)
"""

import dis
import gc
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import semibandits

OURS = str(Path(semibandits.__file__).parent)
CALLS = {dis.opmap[name] for name in ("CALL", "CALL_KW", "PRECALL") if name in dis.opmap}
ALWAYS = {dis.opmap[name] for name in dis.opmap if name.startswith(("JUMP_BACKWARD", "POP_JUMP_BACKWARD"))}
ALWAYS.add(dis.opmap["CALL_FUNCTION_EX"])
ALWAYS.discard(dis.opmap.get("JUMP_BACKWARD_NO_INTERRUPT", -1))


class Interrupted(BaseException):
    """By the handler of a signal, as `KeyboardInterrupt`."""


class Interrupter:
    """Raises at the point of this number, counted from 0, among those of our own code and of what it calls."""

    def __init__(self, number: int) -> None:
        self._left = number
        self._before: dict[FrameType, int] = {}
        """By frame: what was done last, unless that was a call of a Python function."""

    def run(self, work: Callable[[], Any]) -> Any:
        """Without the collector of garbage, whose callbacks (hypothesis has one) and finalisers would be points too."""
        collects = gc.isenabled()
        gc.disable()
        sys.settrace(self._trace)
        try:
            return work()
        finally:
            sys.settrace(None)
            if collects:
                gc.enable()

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "call":
            caller = frame.f_back
            if caller is not None and self._before.get(caller) in CALLS:
                del self._before[caller]
            generator = frame.f_code.co_flags & inspect.CO_GENERATOR  # what is raised while it ends is not heard of
            ours = frame.f_code.co_filename.startswith(OURS) and not generator
            if ours or (caller in self._before and not generator):
                self._point(frame)
            frame.f_trace_opcodes, frame.f_trace_lines = ours, False
            return self._trace if ours else None
        if event == "opcode":
            before = self._before.get(frame)
            now = self._before[frame] = frame.f_code.co_code[frame.f_lasti]
            if before in ALWAYS or (before in CALLS and now not in CALLS):
                self._point(frame)
        elif event == "return":
            self._before.pop(frame, None)
        return self._trace

    def _point(self, frame: FrameType) -> None:
        self._left -= 1
        if self._left < 0:
            self._before.clear()
            raise Interrupted(f"{frame.f_code.co_qualname}, line {frame.f_lineno}")


def interrupted(work: Callable[[], Any], number: int) -> tuple[bool, Any, str]:
    """Whether work() went through, because it has no such point; what it gave; where it was interrupted."""
    try:
        return True, Interrupter(number).run(work), ""
    except Interrupted as error:
        return False, None, str(error)
