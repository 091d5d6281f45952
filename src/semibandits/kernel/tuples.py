"""Reading, writing and adding to all numbers of an item in a lane: kernel functions, one for each length."""

import functools
from collections.abc import Callable
from typing import Any


def _load_0(array: Any, item: Any, lane: Any) -> Any:
    return ()


def _load_1(array: Any, item: Any, lane: Any) -> Any:
    return (array[0, item, lane],)


def _load_2(array: Any, item: Any, lane: Any) -> Any:
    return (array[0, item, lane], array[1, item, lane])


def _load_3(array: Any, item: Any, lane: Any) -> Any:
    return (array[0, item, lane], array[1, item, lane], array[2, item, lane])


def _load_4(array: Any, item: Any, lane: Any) -> Any:
    return (array[0, item, lane], array[1, item, lane], array[2, item, lane], array[3, item, lane])


def _store_0(array: Any, item: Any, lane: Any, values: Any) -> None:
    pass


def _store_1(array: Any, item: Any, lane: Any, values: Any) -> None:
    array[0, item, lane] = values[0]


def _store_2(array: Any, item: Any, lane: Any, values: Any) -> None:
    array[0, item, lane] = values[0]
    array[1, item, lane] = values[1]


def _store_3(array: Any, item: Any, lane: Any, values: Any) -> None:
    array[0, item, lane] = values[0]
    array[1, item, lane] = values[1]
    array[2, item, lane] = values[2]


def _store_4(array: Any, item: Any, lane: Any, values: Any) -> None:
    array[0, item, lane] = values[0]
    array[1, item, lane] = values[1]
    array[2, item, lane] = values[2]
    array[3, item, lane] = values[3]


LOADS, STORES = (_load_0, _load_1, _load_2, _load_3, _load_4), (_store_0, _store_1, _store_2, _store_3, _store_4)


@functools.cache
def loader(size: int) -> Callable[..., Any]:
    """Reads numbers 0 to size-1 of an item in a lane."""
    if size < len(LOADS):
        return LOADS[size]
    last, shorter = size - 1, loader(size - 1)

    def load(array: Any, item: Any, lane: Any) -> Any:
        return shorter(array, item, lane) + (array[last, item, lane],)  # noqa: RUF005 (unpacking does not compile)

    return load


@functools.cache
def storer(size: int) -> Callable[..., Any]:
    """Writes them."""
    if size < len(STORES):
        return STORES[size]
    last, shorter = size - 1, storer(size - 1)

    def store(array: Any, item: Any, lane: Any, values: Any) -> None:
        shorter(array, item, lane, values)
        array[last, item, lane] = values[last]

    return store


@functools.cache
def adder(size: int) -> Callable[..., Any]:
    """Adds to them."""
    if size == 0:
        return _store_0
    last, shorter = size - 1, adder(size - 1)

    def add(array: Any, item: Any, lane: Any, values: Any) -> None:
        shorter(array, item, lane, values)
        array[last, item, lane] += values[last]

    return add
