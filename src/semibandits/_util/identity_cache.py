"""A weak cache by identity, which keeps values as long as their objects live, and a cache of the values used last."""

import contextlib
import functools
import weakref
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
D = TypeVar("D")


class IdentityCache(Generic[T]):
    """Values by the identity of their objects, which may be equal to each other, or have no hash."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, T]] = {}

    def __contains__(self, thing: object) -> bool:
        known = self._known.get(id(thing))
        return known is not None and known[0]() is thing

    def __getitem__(self, thing: object) -> T:
        return self._known[id(thing)][1]

    def get(self, thing: object, default: T) -> T:
        known = self._known.get(id(thing))
        return known[1] if known is not None and known[0]() is thing else default

    def __setitem__(self, thing: object, value: T) -> None:
        number = id(thing)
        known = self._known.get(number)
        if known is not None and known[0]() is thing:
            self._known[number] = (known[0], value)
            return
        forget = functools.partial(self._known.pop, number)  # in C: what a signal raises in such a call is lost
        self._known[number] = (weakref.ref(thing, forget), value)

    def __len__(self) -> int:
        return len(self._known)


class RecentCache(Generic[K, T]):
    """The values that were used last, at most so many. Threads need no lock: at worst one finds a value gone."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: OrderedDict[K, T] = OrderedDict()

    def get(self, key: K, default: D) -> T | D:
        with contextlib.suppress(KeyError):  # another thread may just have made room
            self._known.move_to_end(key)
        return self._known.get(key, default)

    def __contains__(self, key: K) -> bool:
        return key in self._known

    def __setitem__(self, key: K, value: T) -> None:
        self._known.pop(key, None)
        self._known[key] = value
        while len(self._known) > self._most:
            with contextlib.suppress(KeyError):
                self._known.popitem(last=False)

    def __len__(self) -> int:
        return len(self._known)
