"""Which of a user's functions need no check of their indices."""

from typing import Any

import numpy as np
import pytest

from semibandits.environments import Bernoulli, Uniform
from semibandits.kernel import sqrt, where
from semibandits.kernel.own_entries import reads_own_entries
from semibandits.rng import uniform

TABLE = np.ones(3)


def plain(round: Any, key: Any, item: Any, tables: Any) -> Any:
    return where(uniform(key, item) < tables[0][item], 1.0, 0.0)


def several(round: Any, key: Any, item: Any, tables: Any) -> Any:
    low = tables[0][item]
    return low + (tables[1][item] - low) * sqrt(uniform(key, item)) + np.maximum(0.0 * round, 0.0)


def of_another_item(round: Any, key: Any, item: Any, tables: Any) -> Any:
    return tables[0][item + 1]


def of_the_round(round: Any, key: Any, item: Any, tables: Any) -> Any:
    return tables[0][round]


def in_a_row(round: Any, key: Any, item: Any, tables: Any) -> Any:
    return tables[0][round - 1, item]


def of_a_table_by_number(round: Any, key: Any, item: Any, tables: Any) -> Any:
    return tables[round][item]


def of_another_name(round: Any, key: Any, item: Any, tables: Any) -> Any:
    mine = tables[0]
    return mine[item]


def with_another_item(round: Any, key: Any, item: Any, tables: Any) -> Any:
    item = round
    return tables[0][item]


def with_other_tables(round: Any, key: Any, item: Any, tables: Any) -> Any:
    tables = (TABLE,)
    return tables[0][item]


def of_a_global(round: Any, key: Any, item: Any, tables: Any) -> Any:
    return TABLE[item]


def by_a_method(round: Any, key: Any, item: Any, tables: Any) -> Any:
    return TABLE.take(item)


def helper(item: Any) -> Any:
    return TABLE[item]


def by_a_helper(round: Any, key: Any, item: Any, tables: Any) -> Any:
    return helper(item)


def by_one_inside(round: Any, key: Any, item: Any, tables: Any) -> Any:
    return (lambda at: TABLE[at])(item)


def written(round: Any, key: Any, item: Any, tables: Any) -> Any:
    tables[0][item] = 1.0
    return tables[0][item]


def enclosing(table: Any) -> Any:
    def draw(round: Any, key: Any, item: Any, tables: Any) -> Any:
        return table[item]

    return draw


def enclosing_a_helper(function: Any) -> Any:
    def draw(round: Any, key: Any, item: Any, tables: Any) -> Any:
        return function(item)

    return draw


@pytest.mark.parametrize("draw", [plain, several])
def test_the_entries_of_the_item_are_there(draw: Any) -> None:
    assert reads_own_entries(draw, 2, 3)


@pytest.mark.parametrize("kind", [Bernoulli, Uniform])
def test_quantiles(kind: Any) -> None:
    assert reads_own_entries(kind.quantile, 1, 2)


@pytest.mark.parametrize(
    "draw",
    [
        *(of_another_item, of_the_round, in_a_row, of_a_table_by_number, of_another_name, with_another_item),
        *(with_other_tables, of_a_global, by_a_method, by_a_helper, by_one_inside, written, print),
        *(enclosing(TABLE), enclosing_a_helper(helper)),
    ],
)
def test_anything_else_may_be_beyond_the_end(draw: Any) -> None:
    assert not reads_own_entries(draw, 2, 3)
