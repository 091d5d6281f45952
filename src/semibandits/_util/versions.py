"""Versions of Python and of packages, also where packages lie on the path without having been installed."""

import functools
import sys
from importlib import import_module

__version__ = "0.1.0"
"""Of this package; pyproject.toml takes it from here."""


def versions(*packages: str) -> dict[str, str]:
    """Of Python, of this package, and of others, by name; those that are not there, or do not tell, are left out."""
    import platform

    found = {"python": platform.python_version(), "semibandits": __version__}
    return found | {name: version for name in packages if (version := _version(name)) is not None}


@functools.cache
def _version(name: str) -> str | None:
    loaded = getattr(sys.modules.get(name), "__version__", None)
    if loaded is not None:
        return str(loaded)
    from importlib.metadata import PackageNotFoundError, version  # costs more than all of this module

    try:
        return version(name)  # which does not import it
    except PackageNotFoundError:
        pass
    try:
        return str(import_module(name).__version__)
    except (ImportError, AttributeError):
        return None
