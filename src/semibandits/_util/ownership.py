"""Ownership of code: this package's, an installation's, or the user's own."""

import functools
import os
import site
import sys
import sysconfig
from types import FunctionType
from typing import Any

PACKAGE = __name__.partition(".")[0]
WRITTEN_IN_PYTHON = 1 << 9
"""The flag of classes that are not built into Python; some of C have it, too."""

OF_EXTENSIONS = ("_cython_", "pybind11_", "nanobind")
"""Modules without files, of which extensions of installed packages say that their classes are."""


def root(module: object) -> str:
    """The first part of a module's name; some classes give something else for it."""
    return module.partition(".")[0] if isinstance(module, str) else ""


@functools.cache
def is_installed(file: str) -> bool:
    """Whether this file belongs to Python or to what is installed."""
    path = os.path.abspath(file)
    return path.startswith(_folders()) or bool({"site-packages", "dist-packages"} & set(path.split(os.sep)))


@functools.cache
def _folders() -> tuple[str, ...]:
    """Those of Python and of what is installed."""
    paths = sysconfig.get_paths()
    known = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    return tuple(os.path.join(os.path.abspath(path), "") for path in (*known, site.getusersitepackages()))


def is_users(module: object, file: object = None) -> bool:
    """Whether a module of this name, from this file, is the user's: scripts and notebooks are, and what is neither of
    Python, nor installed, nor this package."""
    if root(module) in (PACKAGE, "__main__", "__mp_main__"):
        return root(module) != PACKAGE
    if isinstance(file, str):
        return not is_installed(file)
    return root(module) not in sys.stdlib_module_names and not root(module).startswith(OF_EXTENSIONS)


def is_users_function(function: FunctionType) -> bool:
    known = function.__globals__
    return is_users(known.get("__name__"), known.get("__file__"))


def is_users_class(kind: type) -> bool:
    """Also one that was made by calling `type`, which is said to be of the module that called it."""
    if not kind.__flags__ & WRITTEN_IN_PYTHON or root(kind.__module__) in (PACKAGE, ""):
        return False
    if is_users(kind.__module__, file_of(kind.__module__)):
        return True
    found: Any = sys.modules.get(kind.__module__)
    for name in kind.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is not kind and "<locals>" not in kind.__qualname__


def file_of(module: object) -> str | None:
    """The file that a module was made of, where it was."""
    file = getattr(sys.modules.get(module), "__file__", None) if isinstance(module, str) else None
    return file if isinstance(file, str) else None


def folder_of(known: dict[str, Any]) -> str | None:
    """Where the file of a module lies, by its globals."""
    file = known.get("__file__")
    return os.path.dirname(os.path.abspath(file)) if isinstance(file, str) else None


def ours(thing: object) -> bool:
    """Whether a set, an environment or a policy is of a class of this package, as it stands there.

    Not one that is a subclass of a user's, that has a method of its own put on it, or a block that is not ours.
    """
    methods = _methods_of(type(thing))
    if methods is None or not methods.isdisjoint(getattr(thing, "__dict__", ())):
        return False
    blocks = getattr(thing, "blocks", None)
    return blocks is None or all(map(ours, blocks))


def _methods(kind: type) -> frozenset[str] | None:
    """The names of its methods; None: it is not a class of ours."""
    if root(kind.__module__) != PACKAGE:
        return None
    return frozenset(name for name in dir(kind) if callable(getattr(kind, name, None)))


_methods_of: Any = functools.lru_cache(256)(_methods)


def vouched(thing: Any) -> bool:
    """Whether a set or a policy is `verified` by who wrote its class: a user's own says so itself, and inherits it from
    no class of ours."""
    if not thing.verified or ours(thing):
        return bool(thing.verified)
    stated = next((one for one in type(thing).__mro__ if "verified" in vars(one)), object)
    return root(stated.__module__) != PACKAGE


def up_to_date(thing: object, compiled: str, plain: str) -> bool:
    """Whether neither the object nor a subclass has overridden the plain method and left the compiled one as it was."""
    if plain in getattr(thing, "__dict__", ()):
        return False
    classes = type(thing).__mro__
    owner = {name: next(i for i, one in enumerate(classes) if name in vars(one)) for name in (compiled, plain)}
    return owner[compiled] <= owner[plain]
