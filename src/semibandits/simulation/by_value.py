"""Pickling so that other machines need not have the user's files."""

import functools
import io
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from types import ModuleType
from typing import Any

import cloudpickle

from semibandits._util.ownership import PACKAGE, is_users, root

LARGE = 10 * 2**20
"""Bytes of the user's data in modules that are not sent along: these have to be on the workers."""

ABOUT = ("__name__", "__package__", "__path__", "__file__")
"""What a module's functions know of it in any case."""

_REGISTERING = Lock()


def pack(thing: object) -> tuple[bytes, str]:
    """The thing, pickled with the code that is neither of Python nor installed; where that fails, without it, and why.

    What cloudpickle always sends by value (scripts, notebooks, what is registered with it) is so in any case.
    """
    if not (modules := [module for module in list(sys.modules.values()) if _is_users(module)]):
        return cloudpickle.dumps(thing), ""
    try:
        with _by_value(modules):
            file = io.BytesIO()
            _Pickler(file, modules).dump(thing)
            whole = file.getvalue()
        why = ""
    except Exception as error:
        whole, why = b"", f"{type(error).__name__}: {error!s:.200}"
    if not why and len(whole) <= LARGE:
        return whole, ""
    plain = cloudpickle.dumps(thing)
    if not why and len(whole) <= len(plain) + LARGE:
        return whole, ""
    return plain, why or f"it takes {len(whole) / 2**20:.0f} MiB"


def _is_users(module: object) -> bool:
    """Whether a module is a Python file that is no part of an installation."""
    if not isinstance(module, ModuleType) or root(module.__name__) in (PACKAGE, "__main__"):
        return False
    file = getattr(module, "__file__", None)
    if not isinstance(file, str) or not file.endswith(".py") or sys.modules.get(module.__name__) is not module:
        return False
    return is_users(module.__name__, file)


@contextmanager
def _by_value(modules: list[ModuleType]) -> Iterator[None]:
    """While this lasts, cloudpickle sends the code of these modules by value."""
    with _REGISTERING:
        before = cloudpickle.list_registry_pickle_by_value()
        new = [module for module in modules if module.__name__ not in before]
        for module in new:
            cloudpickle.register_pickle_by_value(module)
        try:
            yield
        finally:
            for module in new:
                cloudpickle.unregister_pickle_by_value(module)


class _Pickler(cloudpickle.CloudPickler):  # type: ignore[misc]
    """Keeps a module and its functions together, however modules name each other, as far as they are sent; and sends
    functions that remember their answers, without these."""

    def __init__(self, file: io.BytesIO, modules: list[ModuleType]) -> None:
        super().__init__(file)
        self._shells = {module.__name__: _Shell(module) for module in modules}
        for module in modules:  # what cloudpickle takes for the globals of functions that are sent
            self.globals_ref[id(vars(module))] = _Globals(self._shells[module.__name__])

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, _Shell):
            return _empty, (thing.module.__name__, _only(thing.module, ABOUT))
        if isinstance(thing, _Globals):
            return vars, (thing.shell,)
        if isinstance(thing, ModuleType) and thing.__name__ in self._shells:
            names = vars(thing).keys() - {"__builtins__", "__loader__", "__spec__", "__cached__"}
            return _same, (self._shells[thing.__name__],), _only(thing, sorted(names)), None, None, _fill
        if isinstance(thing, functools._lru_cache_wrapper) and thing.__module__ in self._shells:
            return _remembering, (thing.__wrapped__, thing.cache_parameters())
        return super().reducer_override(thing)


class _Shell:
    """A module that is sent, without what is in it."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module


class _Globals(dict[str, Any]):
    """What is in it, to be put together where it arrives."""

    def __init__(self, shell: _Shell) -> None:
        super().__init__(_only(shell.module, ABOUT))
        self.shell = shell


def _only(module: ModuleType, names: Iterable[str]) -> dict[str, Any]:
    return {name: vars(module)[name] for name in names if name in vars(module)}


def _empty(name: str, about: dict[str, Any]) -> ModuleType:
    module = ModuleType(name)
    _fill(module, about)
    return module


def _same(module: ModuleType) -> ModuleType:
    return module


def _fill(module: ModuleType, names: dict[str, Any]) -> None:
    vars(module).update(names)


def _remembering(function: Callable[..., Any], how: dict[str, Any]) -> Callable[..., Any]:
    remembering: Callable[..., Any] = functools.lru_cache(**how)(function)
    return remembering
