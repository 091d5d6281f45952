"""The oracle of `Product`: those of all blocks as one kernel function.

All their data lie in a few long arrays, the pools, one for each type of numbers, and a plan tells blocks apart: so the
machine code depends on the kinds of blocks, not on how many there are.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from semibandits.types import Arrays, Solver

COUNT, BLOCKS = range(2)
"""In the plan: how many blocks there are; from there on the rows of blocks, and then the places of their data."""
KIND, ITEMS, NUMBERS, INTEGERS, PLACES, WIDTH = 0, 1, 3, 5, 7, 8
"""In the row of a block: its kind, where its items, numbers and integers begin and (the next entry) end, and where in
the plan the beginnings and ends of its data are."""
PLAN, POOLS = range(2)
"""In the data: the plan; from there on the pools."""


class Kind(NamedTuple):
    """Blocks with the same kernel function, and the same types of data."""

    function: Callable[..., Any]
    pools: tuple[int, ...]
    """In which pool each array of the data lies."""


def solver(n_items: Sequence[int], oracles: Sequence[Solver]) -> Solver:
    """Of blocks with so many items, and these oracles for one run at a time."""
    types = sorted({array.dtype.str for oracle in oracles for array in oracle.data})
    pools: list[list[Any]] = [[np.empty(0, dtype=kind)] for kind in types]
    filled = [0] * len(types)
    kinds: dict[Kind, int] = {}
    rows: list[int] = []
    places: list[int] = []
    # Work space that is any run's lies at the beginning, and is any block's too.
    numbers = max((oracle.numbers for oracle in oracles if not oracle.own_work), default=0)
    integers = max((oracle.integers for oracle in oracles if not oracle.own_work), default=0)
    item = 0
    for count, oracle in zip(n_items, oracles, strict=True):
        own = [types.index(array.dtype.str) for array in oracle.data]
        kind = kinds.setdefault(Kind(oracle.function, tuple(own)), len(kinds))
        first_number, first_integer = (numbers, integers) if oracle.own_work else (0, 0)
        rows += [kind, item, item + count, first_number, first_number + oracle.numbers]
        rows += [first_integer, first_integer + oracle.integers, BLOCKS + WIDTH * len(oracles) + len(places)]
        if oracle.own_work:
            numbers += oracle.numbers
            integers += oracle.integers
        item += count
        for pool, array in zip(own, oracle.data, strict=True):
            places += [filled[pool], filled[pool] + array.size]
            filled[pool] += array.size
            pools[pool].append(array)
    plan = np.array([len(oracles), *rows, *places], dtype=np.int64)
    return Solver(
        best_of_blocks(tuple(kinds)),
        (plan, *(np.concatenate(pool) for pool in pools)),
        variable_size=any(oracle.variable_size for oracle in oracles),
        numbers=numbers,
        integers=integers,
        own_work=any(oracle.own_work for oracle in oracles),
    )


@functools.lru_cache
def best_of_blocks(kinds: tuple[Kind, ...]) -> Callable[..., Any]:
    """The kernel function for blocks of these kinds."""
    solve_block = _one_of(kinds, 0)

    def solve_all(weights: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
        plan = data[PLAN]
        size = 0
        for b in range(plan[COUNT]):
            row = BLOCKS + b * WIDTH
            first = plan[row + ITEMS]
            count = solve_block(
                plan[row + KIND],
                weights[first : plan[row + ITEMS + 1]],
                out[size:],
                data,
                plan[row + PLACES],
                numbers[plan[row + NUMBERS] : plan[row + NUMBERS + 1]],
                integers[plan[row + INTEGERS] : plan[row + INTEGERS + 1]],
            )
            for k in range(size, size + count):
                out[k] += first
            size += count
        return size

    return solve_all


def _one_of(kinds: tuple[Kind, ...], number: int) -> Callable[..., Any]:
    """Solves a block of any kind from this number on."""
    function, data_of = kinds[number].function, _data_of(kinds[number].pools)

    def last(kind: Any, weights: Any, out: Any, data: Arrays, place: Any, numbers: Any, integers: Any) -> Any:
        return function(weights, out, data_of(data, place), numbers, integers)

    if number == len(kinds) - 1:
        return last
    others = _one_of(kinds, number + 1)

    def this(kind: Any, weights: Any, out: Any, data: Arrays, place: Any, numbers: Any, integers: Any) -> Any:
        if kind == number:
            return function(weights, out, data_of(data, place), numbers, integers)
        return others(kind, weights, out, data, place, numbers, integers)

    return this


@functools.cache
def _data_of(pools: tuple[int, ...]) -> Callable[..., Any]:
    """A block's own data, as views of the pools."""
    if not pools:
        return _no_data
    shorter, pool, at = _data_of(pools[:-1]), POOLS + pools[-1], 2 * len(pools) - 2

    def data_of(data: Arrays, place: Any) -> Any:
        plan = data[PLAN]
        own = data[pool][plan[place + at] : plan[place + at + 1]]
        return shorter(data, place) + (own,)  # noqa: RUF005 (unpacking does not compile)

    return data_of


def _no_data(data: Arrays, place: Any) -> Any:
    return ()
