"""What was worked out for an object, kept as long as the object lives."""

import weakref
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Kept(Generic[T]):
    """Values by the identity of their objects, which may be equal to each other, or have no hash."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, T]] = {}

    def __contains__(self, thing: object) -> bool:
        known = self._known.get(id(thing))
        return known is not None and known[0]() is thing

    def __getitem__(self, thing: object) -> T:
        return self._known[id(thing)][1]

    def __setitem__(self, thing: object, value: T) -> None:
        number = id(thing)
        self._known[number] = (weakref.ref(thing, lambda _: self._known.pop(number, None)), value)

    def __len__(self) -> int:
        return len(self._known)
