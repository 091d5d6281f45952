"""Pairs of a row and a column as items, and exchanges among them: the base of assignments and b-matchings."""

import math
from collections.abc import Iterable, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits._util.checks import as_items, check_count, check_items, check_n_items, check_weights, within
from semibandits._util.forks import cached_property
from semibandits._util.indexed import by_name
from semibandits.errors import EmptyFeasibleSet, InvalidSet, UnknownItem
from semibandits.sets.base import EXCLUDED, FIXED, FREE, Solved, best_without
from semibandits.sets.graphs.bipartite import Counts, Matrix
from semibandits.sets.programs.program import Program
from semibandits.types import Items, Weights, total

Name = str | int | float
PAIR_BYTES = 64
SHOWN = 10
"""How many names an error lists at most."""


class Side:
    """The rows, or the columns: so many, or these names."""

    def __init__(self, kind: str, given: Any) -> None:
        self.kind = kind
        self.named = not isinstance(given, int | np.integer)
        self.names: tuple[Name, ...] = (
            _names(kind, given) if self.named else tuple(range(check_n_items(given, kind, each=PAIR_BYTES)))
        )
        self.count = check_count(f"the number of {kind}", len(self.names))
        self._index = {name: i for i, name in enumerate(self.names)} if self.named else {}
        self._by_index = all(isinstance(name, str) for name in self._index)

    def index(self, name: Any) -> int | None:
        """Of a name or, where names are no numbers themselves, an index; None: there is no such."""
        if isinstance(name, bool) or not isinstance(name, Name | np.integer | np.floating):
            return None
        if self._by_index and isinstance(name, int | np.integer):
            return int(name) if 0 <= name < self.count else None
        return self._index.get(name)  # type: ignore[arg-type]

    def parameter(self) -> int | list[Name]:
        return list(self.names) if self.named else self.count

    def shown(self, which: Sequence[int]) -> str:
        names = ", ".join(repr(self.names[i]) for i in which[:SHOWN])
        kind = self.kind if len(which) > 1 else self.kind[:-1]
        return f"{kind} {names}" + (f" and {len(which) - SHOWN} more" if len(which) > SHOWN else "")


def _names(kind: str, given: Any) -> tuple[Name, ...]:
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if isinstance(given, str | bytes | bool) or not isinstance(given, Iterable):
        raise InvalidSet(f"{kind} must be an integer >= 1 or a list of names, got {given!r:.200}")
    names: dict[str, Name] = {}
    values: set[Name] = set()
    for name in given:
        plain = name.item() if isinstance(name, np.generic) else name
        text = str(plain)
        if not (text and text.isprintable() if isinstance(plain, str) else _is_number(plain)):
            raise InvalidSet(f"names of {kind} must be numbers or printable strings, got {name!r:.100}")
        if text in names or plain in values:  # 1 and 1.0 look different, 1 and "1" are
            raise InvalidSet(f"names of {kind} must be distinct, got {name!r:.100} twice")
        names[text] = plain
        values.add(plain)
    return tuple(names.values())


def _is_number(name: Any) -> bool:
    if isinstance(name, float):
        return math.isfinite(name)
    return isinstance(name, int) and not isinstance(name, bool)


class Pairs(Solved):
    """Pairs (row, column), each used at most once, rows and columns used at most as often as their capacities say.

    Not `optional`: the side with the smaller total of capacities is filled, the rows where totals are equal.
    """

    _more_columns = 0
    """For how many columns more than there are the oracle's matrix must have room."""

    def __init__(
        self, rows: Any, columns: Any, row_capacities: Any, column_capacities: Any, forbidden: Any, optional: Any
    ) -> None:
        if not isinstance(optional, bool | np.bool_):
            raise InvalidSet(f"optional must be True or False, got {optional!r:.100}")
        self.optional = bool(optional)
        self._rows, self._columns = Side("rows", rows), Side("columns", columns)
        per_row = _capacities("row_capacities", row_capacities, self._rows)
        per_column = _capacities("column_capacities", column_capacities, self._columns)
        self.row_capacities, self.column_capacities = tuple(per_row), tuple(per_column)
        self._by_column = sum(per_column) < sum(per_row)
        check_n_items(self.n_rows * self.n_columns, "the number of pairs", each=PAIR_BYTES)
        allowed = np.ones((self.n_rows, self.n_columns), dtype=bool)
        for pair in _listed(forbidden):
            allowed[self._place(pair)] = False
        self.pairs: NDArray[np.int64] = np.argwhere(allowed)
        self.pairs.setflags(write=False)
        self._item_of = np.where(allowed, np.cumsum(allowed).reshape(allowed.shape) - 1, -1)
        self.n_items = len(self.pairs)
        if not self.optional:
            self._check_enough()
        # More than all of the other side is no more than all of it.
        self._per_row: Counts = np.array([min(most, self.n_columns) for most in per_row])
        self._per_column: Counts = np.array([min(most, self.n_rows) for most in per_column])
        self.max_size = min(sum(per_row), sum(per_column))
        self._set_free()
        if self.n_items == 0:
            raise InvalidSet(f"all {self.n_rows} x {self.n_columns} pairs are forbidden, so that there are no items")
        if self.optional:
            self.max_size = self._matrix.most_pairs()[0]

    def _check_enough(self) -> None:
        filled, per_line, others = self._rows, self.row_capacities, self._columns
        if self._by_column:
            filled, per_line, others = self._columns, self.column_capacities, self._rows
        most = max(per_line)
        if most > others.count:
            which = filled.shown([per_line.index(most)])
            raise EmptyFeasibleSet(f"{which} must have {most} {others.kind}, but there are {others.count}")

    def _place(self, pair: Any) -> tuple[int, int]:
        if not isinstance(pair, tuple | list | np.ndarray) or len(pair) != 2:
            raise InvalidSet(f"forbidden must be a list of pairs (row, column), got {pair!r:.100} in it")
        row, column = self._rows.index(pair[0]), self._columns.index(pair[1])
        if row is None or column is None:
            kind, name = ("row", pair[0]) if row is None else ("column", pair[1])
            raise InvalidSet(f"the forbidden pair {tuple(pair)!r:.100} names no {kind}: there is no {name!r:.50}")
        return row, column

    @property
    def n_rows(self) -> int:
        return self._rows.count

    @property
    def n_columns(self) -> int:
        return self._columns.count

    @property
    def row_names(self) -> tuple[Name, ...]:
        """As given; their numbers where there was but a count."""
        return self._rows.names

    @property
    def column_names(self) -> tuple[Name, ...]:
        return self._columns.names

    def item(self, row: Any, column: Any) -> int:
        """The item that is this pair, of names or of indices."""
        i, j = self._rows.index(row), self._columns.index(column)
        if i is None or j is None:
            kind, name, known = ("row", row, self._rows) if i is None else ("column", column, self._columns)
            raise UnknownItem(f"there is no {kind} {name!r:.100}: {known.shown(range(known.count))}")
        if self._item_of[i, j] < 0:
            raise UnknownItem(f"the pair ({self.row_names[i]!r:.100}, {self.column_names[j]!r:.100}) is forbidden")
        return int(self._item_of[i, j])

    @cached_property
    def identities(self) -> list[tuple[int, int]]:  # type: ignore[override]
        return list(map(tuple, self.pairs.tolist()))

    @cached_property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        if not (self._rows.named or self._columns.named):
            return ()
        found: dict[str, None] = {}
        for i, j in self.pairs.tolist():
            label = first = f"{self.row_names[i]}:{self.column_names[j]}"
            number = 1
            while label in found:  # names may hold colons
                number += 1
                label = f"{first} #{number}"
            found[label] = None
        return tuple(found)

    def contains(self, items: Iterable[int]) -> bool:
        ordered = as_items(items)
        if ordered is None or not within(ordered, self.n_items) or ordered.size > self.max_size:
            return False
        state = self._state[ordered]
        if (state == EXCLUDED).any() or np.count_nonzero(state == FIXED) < np.count_nonzero(self._state == FIXED):
            return False
        used_rows, used_columns = self._used(ordered)
        fits = (used_rows <= self._per_row).all() and (used_columns <= self._per_column).all()
        return bool(fits) and (self.optional or ordered.size == self.max_size)

    def _used(self, items: Items) -> tuple[Counts, Counts]:
        rows, columns = self.pairs[items].T
        return np.bincount(rows, minlength=self.n_rows), np.bincount(columns, minlength=self.n_columns)

    def _prepare(self) -> None:
        used_rows, used_columns = self._used(np.flatnonzero(self._state == FIXED))
        left_rows, left_columns = self._per_row - used_rows, self._per_column - used_columns
        for side, left, used in ((self._rows, left_rows, used_rows), (self._columns, left_columns, used_columns)):
            if (left < 0).any():
                i = int(np.argmin(left))
                raise EmptyFeasibleSet(f"{side.shown([i])} would be used {used[i]} times, more than its capacity")
        lines, others, place = self._rows, self._columns, self.pairs.T
        need, room = left_rows, left_columns
        if self._by_column:
            lines, others, place, need, room = others, lines, place[::-1], room, need
        # Only what may still be used is kept.
        free = (self._state == FREE) & (need[place[0]] > 0) & (room[place[1]] > 0)
        kept, open_ = np.flatnonzero(need > 0), np.flatnonzero(room > 0)
        item_at = np.full((kept.size, -(-(open_.size + self._more_columns) // 8) * 8), -1)
        item_at[np.searchsorted(kept, place[0][free]), np.searchsorted(open_, place[1][free])] = np.flatnonzero(free)
        self._matrix = Matrix(item_at, need[kept], room[open_])
        if not self.optional:
            shortage = self._matrix.most_pairs()[1]
            if shortage is not None:
                which = lines.shown(kept[shortage.lines].tolist())
                wanted = f"must have {shortage.need} of the {others.kind} in all, but can have at most {shortage.most}"
                raise EmptyFeasibleSet(f"{which} {wanted}")

    def argmax_without(self, weights: ArrayLike, exclude: Iterable[int]) -> Items:
        """Places without an item cost infinity, and so do those that are left out.

        A search would not end where there is no solution: whether there is one tells that with the fewest of them.
        """
        outside = check_items(exclude, self.n_items)
        if not self.optional:
            fewest = np.zeros(self.n_items)
            fewest[outside] = -1.0
            if fewest[self._live(fewest)].any():
                return self.restrict(exclude=outside).argmax(weights)
        return best_without(self, self._live, weights, outside)

    # Exchanges

    def best_with_each(self, weights: ArrayLike) -> Weights:
        w = check_weights(weights, self.n_items)
        scale = 1.0 if np.abs(w).max() < 1e290 else 2.0**-64  # sums of them must be finite
        value, losses, _ = self._exchanges(w * scale)
        with np.errstate(over="ignore"):
            return (value - losses) / scale

    def runner_up_with_each(self, weights: ArrayLike, tolerance: float) -> Weights:
        """A worse solution takes a step that is part of no tied one, so the cheapest way round through each will do."""
        w = check_weights(weights, self.n_items)

        def least_loss(losses: Weights, steps: Weights) -> float:
            return min(float(some[some > tolerance].min(initial=np.inf)) for some in (losses, steps))

        value, losses, steps = self._exchanges(w)
        best: Weights = value - losses
        tied = np.flatnonzero(losses <= tolerance)
        best[tied] = -np.inf
        if np.isfinite(least_loss(losses, steps)):  # else all solutions are tied
            for item in tied.tolist():
                value, *costs = self.restrict(include=(item,))._exchanges(w)
                best[item] = value - least_loss(*costs)
        return best

    def uncovered(self) -> Items:
        return np.flatnonzero(np.isinf(self._exchanges(np.zeros(self.n_items))[1]))

    def _exchanges(self, w: Weights) -> tuple[float, Weights, Weights]:
        """The best value, what each item costs to have, and what every step of an exchange costs that is taken.

        One more pair in a column must be made up for: another pair leaves the column, and its row takes another
        column, and so on round; or there is room. A step is from column to column, or to and from the outside, the
        node behind the last column, where pairs may come and go. All cheapest ways are found by Floyd and Warshall.
        The columns here are the shorter side.
        """
        chosen = self.argmax(w)
        rows, columns = self.pairs.T
        per_row, per_column = self._per_row, self._per_column
        used_row, used_column = self._used(chosen)
        row_filled, column_filled = not self.optional and not self._by_column, not self.optional and self._by_column
        if self.n_rows < self.n_columns:
            rows, columns, per_row, per_column = columns, rows, per_column, per_row
            used_row, used_column, row_filled, column_filled = used_column, used_row, column_filled, row_filled
        outside = per_column.size
        free = self._state == FREE
        inside = np.zeros(self.n_items, dtype=bool)
        inside[chosen] = True
        leaving = np.flatnonzero(free & inside)
        coming = np.flatnonzero(free & ~inside)
        comes = np.full((per_row.size, outside + 1), np.inf)  # what it costs a row to take a column
        comes[rows[coming], columns[coming]] = -w[coming]
        if not row_filled:
            comes[:, outside] = 0.0  # or none
        spare = np.zeros(0, dtype=np.int64) if row_filled else np.flatnonzero(used_row < per_row)
        into, out_of = np.full(outside, np.inf), np.full(outside, np.inf)  # a column's own steps outside, and back
        if not column_filled:
            into[used_column < per_column] = 0.0
            out_of[used_column > 0] = 0.0
        cost = np.full((outside + 1, outside + 1), np.inf)
        for item in leaving.tolist():
            a = columns[item]
            cost[a] = np.minimum(cost[a], w[item] + comes[rows[item]])
        cost[:outside, outside] = np.minimum(cost[:outside, outside], into)
        cost[outside, :outside] = np.minimum(comes[spare, :outside].min(axis=0, initial=np.inf), out_of)
        way = _cheapest_ways(cost)
        back = np.full((per_row.size, outside + 1), np.inf)  # from a column to a row that can take one more
        back[spare] = way[:, outside]
        for item in leaving.tolist():
            i = rows[item]
            back[i] = np.minimum(back[i], w[item] + way[:, columns[item]])
        losses = np.full(self.n_items, np.inf)
        losses[chosen] = 0.0
        losses[coming] = np.maximum(back[rows[coming], columns[coming]] - w[coming], 0.0)
        steps = [w[item] + comes[rows[item]] + way[:, columns[item]] for item in leaving.tolist()]
        steps.append(out_of + way[:outside, outside])
        return total(w, chosen), losses, np.concatenate(steps)

    def program(self) -> Program:
        program = Program(self.n_items)
        for side, per_line, fill in ((0, self._per_row, not self._by_column), (1, self._per_column, self._by_column)):
            for line, most in enumerate(per_line.tolist()):
                items = np.flatnonzero(self.pairs[:, side] == line).tolist()
                program.add_row(items, 1.0, float(most) if fill and not self.optional else 0.0, float(most))
        return program

    def _parameters(self) -> dict[str, Any]:
        forbidden = [[self.row_names[i], self.column_names[j]] for i, j in np.argwhere(self._item_of < 0).tolist()]
        return {
            "rows": self._rows.parameter(),
            "columns": self._columns.parameter(),
            "forbidden": forbidden,
            "optional": self.optional,
        }

    def _described(self) -> str:
        """The end of what the set prints."""
        forbidden = self.n_rows * self.n_columns - self.n_items
        without = f", {forbidden} forbidden" if forbidden else ""
        return without + (", optional" if self.optional else "") + self._restricted


def _capacities(name: str, given: Any, side: Side) -> list[int]:
    listed = given.tolist() if isinstance(given, np.ndarray) else given
    if isinstance(listed, int | np.integer):
        listed = [listed] * side.count
    if isinstance(listed, str | bytes | Set) or not isinstance(listed, Iterable):
        raise InvalidSet(f"{name} must be an integer >= 0, a list of them or a mapping, got {given!r:.200}")
    named = by_name(listed)
    listed = list(listed) if named is None else named[1]
    if len(listed) != side.count:
        raise InvalidSet(f"{name} must be {side.count} integers, one each, got {len(listed)}")
    if named is not None:
        known = {side.index(one): capacity for one, capacity in zip(*named, strict=True)}
        if known.keys() != set(range(side.count)):
            raise InvalidSet(f"{name} must have one of each of the {side.kind}, by name, got {given!r:.200}")
        listed = [known[i] for i in range(side.count)]
    for one in listed:
        if isinstance(one, bool) or not isinstance(one, int | np.integer) or one < 0:
            raise InvalidSet(f"{name} must be integers >= 0, got {one!r:.100}")
    return [int(one) for one in listed]


def _listed(forbidden: Any) -> Iterable[Any]:
    if isinstance(forbidden, str | bytes) or not isinstance(forbidden, Iterable):
        raise InvalidSet(f"forbidden must be a list of pairs (row, column), got {forbidden!r:.200}")
    return forbidden


def _cheapest_ways(cost: Weights) -> Weights:
    """Between all nodes, where no way round costs less than nothing but for rounding."""
    size = len(cost)
    # Prices that make every step cost at least nothing, so that rounding errors are not taken again and again.
    price = np.zeros(size)
    for _ in range(size):
        lower = np.minimum(price, (price[:, None] + cost).min(axis=0))
        if (lower == price).all():
            break
        price = lower
    way = np.maximum(cost + price[:, None] - price, 0.0)
    np.fill_diagonal(way, 0.0)
    for k in range(size):
        np.minimum(way, way[:, k, None] + way[k], out=way)
    return way - price[:, None] + price
