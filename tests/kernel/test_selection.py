"""The k-th largest of some numbers."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from semibandits.kernel.selection import select


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=30), st.data())
def test_selection(values: list[float], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(values)))
    room = np.array(values)
    found = select(room, 0, room.size - 1, k - 1)
    assert found == sorted(values, reverse=True)[k - 1]
    assert room[: k - 1].min(initial=found) >= found >= room[k:].max(initial=found)
