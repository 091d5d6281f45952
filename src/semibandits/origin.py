"""Whose code it is: what others wrote is checked by who asks it, what is written here is not."""

import functools
from typing import Any

HERE = __name__.partition(".")[0]


def ours(thing: object) -> bool:
    """Whether a set, an environment or a policy is of a class of this package, as it stands there.

    Not one that is a subclass of a user's, that has a method of its own put on it, or a block that is not ours.
    """
    kind = type(thing)
    if kind.__module__.partition(".")[0] != HERE:
        return False
    own: Any = getattr(thing, "__dict__", ())
    return bool(_methods_of(kind).isdisjoint(own)) and all(ours(block) for block in getattr(thing, "blocks", ()))


def _methods(kind: type) -> frozenset[str]:
    return frozenset(name for name in dir(kind) if callable(getattr(kind, name, None)))


_methods_of: Any = functools.cache(_methods)
