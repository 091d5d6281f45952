"""The greedy algorithm of matroids (Edmonds 1971): items by weight, each taken where the matroid allows it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from semibandits.sets.oracles.order import HEAD, put_in_order, sort_some, stretch
from semibandits.sets.oracles.sorting import mark, words, write_marked
from semibandits.types import Arrays, Items, Solver

MOST, BASES = range(2)
"""Constants: the size of the largest solution, and whether all have it."""


def solver(
    kernel: Callable[..., Any],
    structure: Arrays,
    state: Items,
    free: Items,
    fixed: Items,
    n_items: int,
    max_size: int,
    bases: bool,
) -> Solver:
    """With a kernel function that `greedy` has made for such a structure. A call begins with this state."""
    n = free.size
    return Solver(
        kernel,
        (free, fixed, np.array([max_size, bases], dtype=np.int64), state, *structure),
        numbers=2 * n,
        integers=2 * n + HEAD + state.size + words(n_items),
        variable_size=not bases,
    )


def keep_all(begin: int, end: int, state: Any, structure: Arrays, numbers: Any, integers: Any) -> int:
    return begin


def greedy(takes: Callable[..., Any], sift: Callable[..., Any] = keep_all) -> Callable[..., Any]:
    """The kernel function for the matroids in which `takes(item, state, structure)` tells whether an item is taken.

    It changes the state if so. `sift(begin, end, state, structure, numbers, integers)` may drop items that will not be
    taken before the stretch is sorted, by moving all others to its end: it returns the first of these.
    """

    def best_independent(weights: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
        """Behind the work space of the order: the state, and the marks of the items."""
        free, fixed, constants, initial = data[:4]
        structure = data[4:]
        most, bases = constants[MOST], constants[BASES]
        n = len(free)
        behind = 2 * n + HEAD
        state = integers[behind : behind + len(initial)]
        marks = integers[behind + len(initial) : behind + len(initial) + words(len(weights))]
        for i in range(len(initial)):
            state[i] = initial[i]
        size = len(fixed)
        for i in range(size):
            mark(fixed[i], marks)
        end = put_in_order(weights, free, numbers, integers)
        begin = 0
        while size < most and begin < n:
            if begin == end:
                end = stretch(begin, n, integers)
                begin = sift(begin, end, state, structure, numbers, integers)
                end = sort_some(begin, end, n, numbers, integers)
            for i in range(begin, end):
                if bases == 0 and numbers[i] <= 0.0:
                    most = size
                    break
                item = integers[i]
                if takes(item, state, structure):
                    mark(item, marks)
                    size += 1
                    if size == most:
                        break
            begin = end
        return write_marked(out, marks)

    return best_independent
