"""What numba has been told that functions mean, and by whom: code alone does not say."""

import os
from pathlib import Path
from typing import Any

from semibandits._util.ownership import PACKAGE, root

OWNERS = ("numba", "llvmlite", "abc", PACKAGE)
"""The packages that may tell the compiler what functions mean; `abc` makes templates for numba."""


def strangers() -> bool:
    """Whether anybody but numba and this package has told the compiler what functions mean, or may have."""
    try:
        from numba.core.registry import cpu_target

        typing, target = cpu_target.typing_context._registries, cpu_target.target_context._registries
        if not typing or not target:
            return True
        told: list[Any] = []
        for known in typing:
            named = [one for _, kind in known.globals for one in getattr(kind, "templates", ())]
            told += [getattr(one, "_overload_func", one) for one in (*known.functions, *known.attributes, *named)]
        for known in target:
            told += [one[0] for one in known.functions]
            told += [one[0] for part in (known.getattrs, known.setattrs, known.casts, known.constants) for one in part]
    except (ImportError, AttributeError, IndexError, TypeError):
        return True
    return any(root(getattr(one, "__module__", "")) not in OWNERS and not _is_numbas(one) for one in told)


def can_be_kept(signature: Any) -> bool:
    """Whether machine code of users' functions may be, for arguments of these types: not of classes of theirs, which
    another process would have to import."""
    kinds = [*signature]
    while kinds:
        kind = kinds.pop()
        if root(getattr(getattr(kind, "instance_class", None), "__module__", PACKAGE)) != PACKAGE:
            return False
        kinds += getattr(kind, "types", ())
    return not strangers()


def _is_numbas(function: Any) -> bool:
    """Whether it is of numba's files: some functions are of no module there."""
    import numba

    file = getattr(getattr(function, "__code__", None), "co_filename", "")
    return isinstance(file, str) and file.startswith(f"{Path(numba.__file__).parent}{os.sep}")
