"""Shortest augmenting paths by Dijkstra's algorithm with prices: the search that oracles of matchings share."""

from typing import Any, NamedTuple

from semibandits.kernel import as_word

INFINITY = float("inf")
NOWHERE = 1 << 62
NUMBERS, INTEGERS = 4, 3
"""How many numbers and integers a search needs for each node."""


class Search(NamedTuple):
    """The work space of a search, all but the last three by node: views of arrays, or lists of its own.

    A path costs the sum of its steps; prices make every step cost at least nothing. A settled node's price is minus
    infinity for a while, so that no better way to it is found.
    """

    price: Any
    distance: Any
    """Of nodes that were reached and are not settled; else infinity."""
    reached_from: Any
    rank: Any
    """The node itself where a path may end there, else the node plus how many nodes there are."""
    settled: Any
    """The nodes that are settled, nearest first, with their distances, and their prices before."""
    settled_at: Any
    price_before: Any


def search_in(numbers: Any, integers: Any, nodes: int) -> Search:
    """A search among so many nodes, a multiple of 8, in the first NUMBERS and INTEGERS times as many of these."""
    return Search(
        price=numbers[:nodes],
        distance=numbers[nodes : 2 * nodes],
        reached_from=integers[:nodes],
        rank=integers[nodes : 2 * nodes],
        settled=integers[2 * nodes : 3 * nodes],
        settled_at=numbers[2 * nodes : 3 * nodes],
        price_before=numbers[3 * nodes : 4 * nodes],
    )


def nearest(search: Search) -> tuple[float, int]:
    """The least distance, and the lowest rank of a node that has it."""
    least = least_of(search.distance)
    return least, first_of(search.distance, least, search.rank)


def settle(search: Search, found: int, node: int, distance: float) -> None:
    """The node as number `found` of those that are settled."""
    search.settled[found] = node
    search.settled_at[found] = distance
    search.price_before[found] = search.price[node]
    search.price[node] = -INFINITY
    search.distance[node] = INFINITY


def raise_prices(search: Search, found: int, least: float) -> None:
    """After a search that settled so many nodes and ended at this distance: steps on its path cost nothing then."""
    for k in range(found):
        search.price[search.settled[k]] = search.price_before[k] + (search.settled_at[k] - least)


# These loops take nearly all the time. As unsigned numbers, places need no check for being negative, and the compiler
# takes many nodes at a time.


def begin(costs: Any, search: Search, line: int, offset: float) -> None:
    """The distances of all columns from this line, the first node."""
    price, distance, reached_from = search.price, search.distance, search.reached_from
    for j in range(as_word(len(costs))):
        distance[j] = costs[j] - price[j] - offset
        reached_from[j] = line


def extend(costs: Any, search: Search, line: int, offset: float) -> None:
    """Distances of columns by way of this line, where they are shorter."""
    price, distance, reached_from = search.price, search.distance, search.reached_from
    for j in range(as_word(len(costs))):
        x = costs[j] - price[j] - offset
        if x < distance[j]:
            distance[j] = x
            reached_from[j] = line


def least_of(numbers: Any) -> float:
    """The least of these numbers, a multiple of 8: of each eighth by itself, since a minimum waits for the last."""
    one = as_word(len(numbers) // 8)
    two = one + one
    four = two + two
    three, five, six, seven = two + one, four + one, four + two, four + two + one
    a = b = c = d = e = f = g = h = INFINITY
    for j in range(one):
        a = numbers[j] if numbers[j] < a else a
        b = numbers[j + one] if numbers[j + one] < b else b
        c = numbers[j + two] if numbers[j + two] < c else c
        d = numbers[j + three] if numbers[j + three] < d else d
        e = numbers[j + four] if numbers[j + four] < e else e
        f = numbers[j + five] if numbers[j + five] < f else f
        g = numbers[j + six] if numbers[j + six] < g else g
        h = numbers[j + seven] if numbers[j + seven] < h else h
    a = b if b < a else a
    c = d if d < c else c
    e = f if f < e else e
    g = h if h < g else g
    a = c if c < a else a
    e = g if g < e else e
    return e if e < a else a


def first_of(numbers: Any, least: float, rank: Any) -> int:
    """The lowest rank of a number that is the least."""
    best = NOWHERE
    for j in range(as_word(len(numbers))):
        k = rank[j] if numbers[j] == least else NOWHERE
        best = k if k < best else best
    return best
