"""Independent blocks decided together: the direct sum of any sets."""

import itertools
from collections.abc import Iterable, Iterator
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import as_items, check_items, check_n_items, check_restriction, check_weights, within
from semibandits._util.forks import cached_property
from semibandits.errors import EmptyFeasibleSet, InvalidSet, SemiBanditError, Unsupported
from semibandits.oracle import compiled_oracle, count_solutions, solve, solve_without
from semibandits.sets.base import BuiltIn, restriction
from semibandits.sets.oracles import product
from semibandits.sets.programs.program import Program
from semibandits.types import FeasibleSet, Items, Solver, Weights, total


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

    @cached_property
    def aliases(self) -> tuple[str, ...]:  # type: ignore[override]
        if not self.labels or not any(block.aliases for block in self.blocks):
            return ()
        return tuple(f"{b}:{name}" for b, block in enumerate(self.blocks) for name in block.aliases or block.labels)

    @cached_property
    def identities(self) -> list[Any]:  # type: ignore[override]
        """Of blocks that do not know it, the number."""
        parts = [block.identities or range(block.n_items) for block in self.blocks]
        return [(b, one) for b, part in enumerate(parts) for one in part]

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

    def _solve(self, weights: Weights, exclude: list[Items] | None = None) -> list[Items]:
        """The best solution of each block; `exclude`: without these items of each."""
        answers = []
        for b, (block, w) in enumerate(self._weighed(weights)):
            try:
                banned = exclude is not None and exclude[b].size
                answers.append(solve_without(block, w, exclude[b]) if exclude and banned else solve(block, w))
            except SemiBanditError as error:
                error.say_where(f"block {b}")
                raise
        return answers

    def argmax(self, weights: ArrayLike) -> Items:
        return self._joined(self._solve(check_weights(weights, self.n_items)))

    def argmax_without(self, weights: ArrayLike, exclude: Iterable[int]) -> Items:
        w, outside = check_weights(weights, self.n_items), check_items(exclude, self.n_items)
        try:
            return self._joined(self._solve(w, self._split(outside)))
        except EmptyFeasibleSet:
            return super().argmax_without(weights, outside)

    def _joined(self, parts: list[Items]) -> Items:
        return np.concatenate([items + offset for items, offset in zip(parts, self.offsets, strict=True)])

    def warm_up(self) -> None:
        for block in self.blocks:
            if isinstance(block, BuiltIn):
                block.warm_up()

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
        oracles = [_oracle_of(block) for block in self.blocks]
        found = [oracle for oracle in oracles if oracle is not None]
        return product.solver([block.n_items for block in self.blocks], found) if len(found) == len(oracles) else None

    def single(self) -> Solver | None:
        return self.solver()

    def counted(self, limit: int) -> int | None:
        """One block of many solutions is enough to tell that there are many."""
        counts = [count_solutions(block, limit) for block in self.blocks]
        found = 1
        for count in counts:
            found = min(found * (1 if count is None else count), limit + 1)
        return None if found <= limit and None in counts else found

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


def _oracle_of(block: FeasibleSet) -> Solver | None:
    """A block's oracle for one run at a time; None where it has none, or a subclass has outdated it."""
    if not isinstance(block, BuiltIn):
        return None
    oracle = compiled_oracle(block)
    if oracle is None or oracle.in_lanes or any(array.ndim != 1 for array in oracle.data):
        return None
    return oracle
