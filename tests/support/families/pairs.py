"""Assignments and b-matchings, their solutions found by trying every set of pairs."""

import itertools
from collections.abc import Sequence

from hypothesis import assume
from hypothesis import strategies as st

from semibandits import Problem, environments, sets
from support.reference import Solution
from support.strategies import Instance

Pair = tuple[int, int]


def matchings(pairs: Sequence[Pair], per_row: list[int], per_column: list[int], optional: bool) -> list[Solution]:
    full = min(sum(per_row), sum(per_column))
    found = []
    for size in range(full + 1) if optional else [full]:
        for one in itertools.combinations(range(len(pairs)), size):
            rows, columns = [pairs[item][0] for item in one], [pairs[item][1] for item in one]
            if all(rows.count(i) <= most for i, most in enumerate(per_row)) and all(
                columns.count(j) <= most for j, most in enumerate(per_column)
            ):
                found.append(one)
    return found


@st.composite
def shapes(draw: st.DrawFn) -> tuple[int, int, set[Pair], bool]:
    rows = draw(st.integers(1, 4))
    columns = draw(st.integers(1, min(4, 9 // rows)))
    everything = [(i, j) for i in range(rows) for j in range(columns)]
    forbidden = draw(st.just(set()) | st.sets(st.sampled_from(everything), max_size=len(everything) - 1))
    return rows, columns, forbidden, draw(st.booleans())


@st.composite
def assignment(draw: st.DrawFn) -> Instance:
    rows, columns, forbidden, optional = draw(shapes())
    pairs = [(i, j) for i in range(rows) for j in range(columns) if (i, j) not in forbidden]
    solutions = matchings(pairs, [1] * rows, [1] * columns, optional)
    assume(solutions)
    row_names = draw(st.sampled_from([rows, ["a", "b", "c", "d"][:rows], [7, 0.5, 1, -2][:rows]]))
    names = range(rows) if isinstance(row_names, int) else row_names
    named = [(names[i], j) for i, j in forbidden]
    return sets.Assignment(row_names, columns, forbidden=named, optional=optional), solutions


@st.composite
def b_matching(draw: st.DrawFn) -> Instance:
    rows, columns, forbidden, optional = draw(shapes())
    pairs = [(i, j) for i in range(rows) for j in range(columns) if (i, j) not in forbidden]
    per_row = draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows))
    per_column = draw(st.lists(st.integers(0, 3), min_size=columns, max_size=columns))
    solutions = matchings(pairs, per_row, per_column, optional)
    assume(solutions)
    return sets.BMatching(rows, columns, per_row, per_column, forbidden=forbidden, optional=optional), solutions


FAMILIES: dict[str, st.SearchStrategy[Instance]] = {"Assignment": assignment(), "BMatching": b_matching()}

PROBLEMS: dict[str, Problem] = {
    "assignment": Problem(sets.Assignment(4, 5, forbidden=[(0, 0), (3, 2)]), environments.Bernoulli([0.5] * 18)),
    "optional assignment costs": Problem(
        sets.Assignment(4, 3, optional=True),
        environments.Uniform([-1.0] * 12, [0.25 * (i % 5) for i in range(12)], bounds=(-1.0, 1.0)),
        sense="min",
    ),
    "b-matching": Problem(sets.BMatching(4, 5, 2, [1, 2, 3, 1, 3]), environments.Bernoulli([0.5] * 20)),
}
