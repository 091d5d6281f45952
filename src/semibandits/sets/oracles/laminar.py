"""The oracle of `LaminarMatroid`: greedy, the room of families deciding."""

from typing import Any

from semibandits.sets.oracles.greedy import greedy
from semibandits.types import Arrays


def takes(item: int, room: Any, structure: Arrays) -> bool:
    """Where all families around the item have room: it takes a place in each."""
    around_item, around = structure
    family = around_item[item]
    while family >= 0 and room[family] > 0:
        family = around[family]
    if family >= 0:
        return False
    family = around_item[item]
    while family >= 0:
        room[family] -= 1
        family = around[family]
    return True


best_independent = greedy(takes)
"""Of families with so much room (the state); the structure is the smallest family around each item, and around each
family, or -1."""
