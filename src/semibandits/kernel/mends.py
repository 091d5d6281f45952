"""Mends of numba and llvmlite: leaks, waits, and what is not made for several threads.

Each is left out where their insides have changed.
"""

import contextlib
import functools
import threading
from importlib import import_module
from typing import Any


def mend() -> None:
    """Once, when numba has been imported."""
    _free_pass_managers()
    _free_without_waiting()
    _leave_warnings_alone()
    _compare_flags_quickly()


def _free_pass_managers() -> None:
    """Mends a leak of llvmlite (seen in 0.50): its pass managers inherit a `_dispose` that does nothing before the one
    that frees them, which lost about six megabytes with every kernel."""
    with contextlib.suppress(ImportError, AttributeError):
        from llvmlite.binding import ffi, newpassmanagers

        for kind in (newpassmanagers.ModulePassManager, newpassmanagers.FunctionPassManager):
            if kind._dispose is ffi.ObjectRef._dispose:
                kind._dispose = newpassmanagers.NewPassManager._dispose


def _free_without_waiting() -> None:
    """Objects of LLVM that are garbage are freed under LLVM's lock, by whichever thread collects the garbage: it would
    wait for a compiler at work in another, a second perhaps. These are left for whoever frees one next."""
    with contextlib.suppress(ImportError, AttributeError):
        from llvmlite.binding import ffi

        lock, free = ffi.lib._lock._lock, ffi.ObjectRef.__del__
        left: list[Any] = []

        def freed(self: Any) -> None:
            if not lock.acquire(blocking=False):
                left.append(self)
                return
            try:
                free(self)
                while left:
                    free(left.pop())
            finally:
                lock.release()

        _ = lock._is_owned, ffi.ObjectRef.close
        ffi.ObjectRef.__del__ = freed


beside: set[int] = set()
"""The threads that compile beside others."""


def _leave_warnings_alone() -> None:
    """numba collects its warnings by `warnings.catch_warnings`, which is for programs of one thread: what others set
    meanwhile would be undone, or stay. Threads that compile beside others let them pass instead."""
    with contextlib.suppress(ImportError, AttributeError):
        fixer: Any = import_module("numba.core.errors").WarningsFixer
        usual = fixer.catch_warnings

        def catch_warnings(self: Any, filename: Any = None, lineno: Any = None) -> Any:
            if threading.get_ident() in beside:
                return contextlib.nullcontext()
            return usual(self, filename, lineno)

        fixer.catch_warnings = catch_warnings


def _compare_flags_quickly() -> None:
    """Mends what takes numba a quarter of its own time (seen in 0.61 to 0.68): whenever it looks for the type of a call
    it compares two sets of flags, and works out all the defaults of both to do so."""
    with contextlib.suppress(ImportError, AttributeError):
        from numba.core.targetconfig import TargetConfig

        @functools.cache
        def defaults(kind: Any) -> dict[str, Any]:
            return {name: option.default for name, option in kind.options.items()}

        def values(self: Any) -> dict[str, Any]:
            return {**defaults(self.__class__), **self._values}

        _ = TargetConfig.values, TargetConfig()._values, TargetConfig.options
        TargetConfig.values = values
