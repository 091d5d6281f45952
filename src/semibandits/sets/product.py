"""Independent blocks decided together: the direct sum of any sets."""

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import as_items, check_items, check_n_items, check_restriction, check_weights, within
from semibandits._util.forks import cached_property
from semibandits.errors import EmptyFeasibleSet, InvalidSet, SemiBanditError, Unsupported
from semibandits.oracle import compiled_oracle, solve
from semibandits.sets.base import BuiltIn, restriction
from semibandits.sets.programs.program import Program
from semibandits.types import Arrays, FeasibleSet, Items, Solver, Weights, total


class Product(BuiltIn):
    """One solution of every block, chosen together: item i of block b is item offsets[b] + i.

    The blocks may be any sets, users' own among them, also one set several times. The oracle asks each block's, and
    checks the answers of sets that do not vouch for their own; ties are broken as the blocks break them. Where all
    blocks have an oracle for the compiler, so has the product, and blocks of a kind share its machine code.

    A block with `signed=False` needs weights <= 0, and so the product says the same of itself. `ratio` is the least of
    the blocks', and is kept where the best totals of all blocks have the same sign, as with rewards >= 0 or costs >= 0:
    else an approximate block may lose more than the blocks together are worth.

    `labels` are the blocks', each after the number of its block, where all blocks have some.

    >>> from semibandits import sets
    >>> shifts = Product(sets.TopK(3, 1), sets.TopK(4, 2))
    >>> shifts.argmax([0.1, 0.9, 0.5, 0.4, 0.2, 0.3, 0.1])
    array([1, 3, 5])
    >>> shifts.split([1, 3, 5])
    [array([1]), array([0, 2])]
    """

    def __init__(self, *blocks: FeasibleSet | Iterable[FeasibleSet]) -> None:
        if len(blocks) == 1 and not isinstance(blocks[0], FeasibleSet):
            if not isinstance(blocks[0], Iterable):
                raise InvalidSet(f"expected sets, or one list of sets, got {blocks[0]!r:.200}")
            blocks = tuple(blocks[0])
        if not blocks:
            raise InvalidSet("a product needs at least one block, got none")
        listed: list[FeasibleSet] = []
        for block in blocks:
            if not isinstance(block, FeasibleSet):
                raise InvalidSet(f"block {len(listed)} must be a FeasibleSet, got {block!r:.200}")
            listed.append(block)
        self._set_blocks(listed)

    def _set_blocks(self, blocks: list[FeasibleSet]) -> None:
        self.blocks = tuple(blocks)
        ends = np.cumsum([block.n_items for block in blocks]).tolist()
        self.offsets: tuple[int, ...] = (0, *ends[:-1])
        self.n_items = check_n_items(ends[-1])
        self.max_size = sum(block.max_size for block in blocks)
        self.signed = all(block.signed for block in blocks)
        self.matroid = all(block.matroid for block in blocks)

    @property
    def foreign(self) -> bool:
        return super().foreign or any(block.foreign for block in self.blocks)

    @property
    def promised(self) -> bool:  # type: ignore[override]
        return all(block.promised for block in self.blocks)

    @property
    def ratio(self) -> float:  # type: ignore[override]
        """The least of the blocks': a search that reaches its limits lowers its own."""
        return min(block.ratio for block in self.blocks)

    def exact(self) -> "Product":
        """The same solutions with oracles that find the best."""
        blocks: list[FeasibleSet] = []
        for block in self.blocks:
            twin = getattr(block, "exact", None)
            if block.ratio == 1.0:
                blocks.append(block)
            elif twin is not None:
                blocks.append(twin())
            else:
                raise Unsupported(f"the best solution of {block!r} is not known")
        return Product(blocks)

    @cached_property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        if not all(block.labels for block in self.blocks):
            return ()
        return tuple(f"{b}:{label}" for b, block in enumerate(self.blocks) for label in block.labels)

    def split(self, items: Iterable[int]) -> list[Items]:
        """For every block those of these items that are its own, by its own numbers."""
        return self._split(check_items(items, self.n_items))

    def _split(self, ordered: Items) -> list[Items]:
        parts = np.split(ordered, np.searchsorted(ordered, self.offsets[1:]))
        return [part - offset for part, offset in zip(parts, self.offsets, strict=True)]

    def _weighed(self, weights: Weights) -> Iterator[tuple[FeasibleSet, Weights]]:
        """Every block with its own weights."""
        for block, offset in zip(self.blocks, self.offsets, strict=True):
            yield block, weights[offset : offset + block.n_items]

    def _solve(self, weights: Weights) -> list[Items]:
        answers = []
        for b, (block, w) in enumerate(self._weighed(weights)):
            try:
                answers.append(solve(block, w))
            except SemiBanditError as error:
                error.say_where(f"block {b}")
                raise
        return answers

    def argmax(self, weights: ArrayLike) -> Items:
        answers = self._solve(check_weights(weights, self.n_items))
        return np.concatenate([items + offset for items, offset in zip(answers, self.offsets, strict=True)])

    def contains(self, items: Iterable[int]) -> bool:
        ordered = as_items(items)
        if ordered is None or not within(ordered, self.n_items):
            return False
        return all(block.contains(part) for block, part in zip(self.blocks, self._split(ordered), strict=True))

    def restrict(self, include: Iterable[int] = (), exclude: Iterable[int] = ()) -> "Product":
        inside, outside = check_restriction(include, exclude, self.n_items)
        blocks = list(self.blocks)
        for b, (demanded, banned) in enumerate(zip(self._split(inside), self._split(outside), strict=True)):
            if demanded.size or banned.size:
                try:
                    blocks[b] = self.blocks[b].restrict(include=demanded, exclude=banned)
                except EmptyFeasibleSet as error:
                    nothing = f"{self!r} has no solution {restriction(inside, outside)}"
                    raise EmptyFeasibleSet(f"{nothing}: block {b}: {error}") from None
                except SemiBanditError as error:
                    error.say_where(f"block {b}")
                    raise
        restricted = copy(self)
        restricted._set_blocks(blocks)
        return restricted

    def best_with_each(self, weights: ArrayLike) -> Weights:
        w = check_weights(weights, self.n_items)
        parts = [block.best_with_each(own) for block, own in self._weighed(w)]
        return np.concatenate([part + best for part, best in zip(parts, _others(self._values(w)), strict=True)])

    def _values(self, w: Weights) -> list[float]:
        """What the best solution of each block is worth."""
        return [total(own, items) for (_, own), items in zip(self._weighed(w), self._solve(w), strict=True)]

    def runner_up_with_each(self, weights: ArrayLike, tolerance: float) -> Weights | None:
        """A solution is worse than the best exactly if it is in one of its blocks, and one is enough.

        That is the item's own block or, with the best of its own that has the item, the one of the others that can be
        worse at the least loss.
        """
        w = check_weights(weights, self.n_items)
        values = self._values(w)
        others = _others(values)
        runners_up, losses = [], []
        for (block, own), value in zip(self._weighed(w), values, strict=True):
            runner_up = block.runner_up_with_each(own, tolerance)
            if runner_up is None:
                return None
            empty = 0.0 if value > tolerance and block.contains(()) else -np.inf
            runners_up.append(runner_up)
            losses.append(value - max(empty, float(runner_up.max())))
        found = []
        for b, (block, own) in enumerate(self._weighed(w)):
            best = block.best_with_each(own)
            elsewhere = min((loss for c, loss in enumerate(losses) if c != b), default=np.inf)
            found.append(np.maximum(runners_up[b], best - elsewhere) + others[b])
        return np.concatenate(found)

    def uncovered(self) -> Items:
        parts = [block.uncovered() + offset for block, offset in zip(self.blocks, self.offsets, strict=True)]
        return np.concatenate(parts)

    def solver(self) -> Solver | None:
        texts = [_text_of(block) for block in self.blocks]
        found = [text for text in texts if text is not None]
        return _compose(self.blocks, found) if len(found) == len(texts) else None

    def single(self) -> Solver | None:
        return self.solver()

    def program(self) -> Program:
        """Block by block, restrictions of the blocks included: they are the product's own."""
        program = Program(self.n_items)
        for block, offset in zip(self.blocks, self.offsets, strict=True):
            part = Program.of(block)
            column = list(range(offset, offset + block.n_items))
            for c, (lower, upper, integer) in enumerate(zip(part.lower, part.upper, part.integer, strict=True)):
                if c >= block.n_items:
                    column.append(program.add_column(lower, upper, integer))
                program.lower[column[c]], program.upper[column[c]] = lower, upper
            for r, (begin, end) in enumerate(zip(part.starts, part.starts[1:], strict=False)):
                columns = [column[c] for c in part.columns[begin:end]]
                program.add_row(columns, part.values[begin:end], part.row_lower[r], part.row_upper[r])
        return program

    def _parameters(self) -> dict[str, Any]:
        return {"blocks": list(self.blocks)}

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.blocks[:3]))
        more = f", ... {len(self.blocks)} blocks" if len(self.blocks) > 3 else ""
        return f"Product({shown}{more})"


def _others(values: list[float]) -> list[float]:
    """For every place the sum of all but its value: no difference of sums, which would lose digits."""
    before = itertools.accumulate(values[:-1], initial=0.0)
    behind = list(itertools.accumulate(values[:0:-1], initial=0.0))[::-1]
    return [a + b for a, b in zip(before, behind, strict=True)]


# The oracles of the blocks as one text. All their data lie in a few long arrays, one for each type of numbers, and
# blocks are told apart by a plan: so the machine code depends on the kinds of blocks, not on how many there are.

WIDTH = 8
"""Numbers in the plan for a block: its kind, then where its items, numbers and integers begin and end, and where in the
plan those places of its data are listed."""


class _Kind(NamedTuple):
    """Blocks with the same text, and the same types of data."""

    function: Callable[..., Any]
    pools: tuple[int, ...]
    """For each array of the data, in which of the long arrays it lies."""


def _text_of(block: FeasibleSet) -> Solver | None:
    """A block's oracle for one run at a time; None where it has none, or a subclass has outdated it."""
    if not isinstance(block, BuiltIn):
        return None
    text = compiled_oracle(block)
    if text is None or text.in_lanes or any(array.ndim != 1 for array in text.data):
        return None
    return text


def _compose(blocks: tuple[FeasibleSet, ...], texts: list[Solver]) -> Solver:
    types = sorted({array.dtype.str for text in texts for array in text.data})
    pools: list[list[Any]] = [[np.empty(0, dtype=kind)] for kind in types]
    filled = [0] * len(types)
    kinds: dict[_Kind, int] = {}
    rows: list[int] = []
    places: list[int] = []
    # Work space that is any run's lies at the beginning, and is any block's too.
    numbers = max((text.numbers for text in texts if not text.own_work), default=0)
    integers = max((text.integers for text in texts if not text.own_work), default=0)
    item = 0
    for block, text in zip(blocks, texts, strict=True):
        own = [types.index(array.dtype.str) for array in text.data]
        kind = kinds.setdefault(_Kind(text.function, tuple(own)), len(kinds))
        first_number, first_integer = (numbers, integers) if text.own_work else (0, 0)
        rows += [kind, item, item + block.n_items, first_number, first_number + text.numbers]
        rows += [first_integer, first_integer + text.integers, 1 + WIDTH * len(blocks) + len(places)]
        if text.own_work:
            numbers += text.numbers
            integers += text.integers
        item += block.n_items
        for pool, array in zip(own, text.data, strict=True):
            places += [filled[pool], filled[pool] + array.size]
            filled[pool] += array.size
            pools[pool].append(array)
    plan = np.array([len(blocks), *rows, *places], dtype=np.int64)
    return Solver(
        _all_blocks(tuple(kinds)),
        (plan, *(np.concatenate(pool) for pool in pools)),
        variable_size=any(text.variable_size for text in texts),
        numbers=numbers,
        integers=integers,
        own_work=any(text.own_work for text in texts),
    )


@functools.lru_cache
def _all_blocks(kinds: tuple[_Kind, ...]) -> Callable[..., Any]:
    solve_block = _one_of(kinds, 0)

    def solve_all(weights: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
        plan = data[0]
        size = 0
        for b in range(plan[0]):
            row = 1 + b * WIDTH
            first = plan[row + 1]
            count = solve_block(
                plan[row],
                weights[first : plan[row + 2]],
                out[size:],
                data,
                plan[row + 7],
                numbers[plan[row + 3] : plan[row + 4]],
                integers[plan[row + 5] : plan[row + 6]],
            )
            for k in range(size, size + count):
                out[k] += first
            size += count
        return size

    return solve_all


def _one_of(kinds: tuple[_Kind, ...], number: int) -> Callable[..., Any]:
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
    """A block's own data, as views of the long arrays."""
    if not pools:
        return _no_data
    shorter, pool, at = _data_of(pools[:-1]), pools[-1] + 1, 2 * len(pools) - 2

    def data_of(data: Arrays, place: Any) -> Any:
        own = data[pool][data[0][place + at] : data[0][place + at + 1]]
        return shorter(data, place) + (own,)  # noqa: RUF005 (unpacking does not compile)

    return data_of


def _no_data(data: Arrays, place: Any) -> Any:
    return ()
