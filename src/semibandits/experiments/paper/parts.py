"""What the parts of a reproduction are made of."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

PARTS = {
    "fig1a": "Figure 1a: the K-path problem",
    "fig1b": "Figure 1b: the grid and its best path",
    "fig1c": "Figure 1c: regret on 21 grids",
    "trends": "Section 7: linear in L, linear in 1/σ",
    "kpath": "Section 6: regret between the lower and the upper bound",
    "constants": "The paper's constants, and sharper ones",
    "bounds": "Measured regret under every bound",
    "thompson": "Section 9: Thompson sampling beside CombUCB1",
}
"""The parts of a reproduction, by name."""


class Claim(NamedTuple):
    """One statement of the paper, what came out, and what was to be expected."""

    part: str
    statement: str
    measured: str
    expected: str
    holds: bool


class Drawing(NamedTuple):
    """A picture, to be drawn when there is a report for it."""

    name: str
    alt: str
    """What it shows, for those who do not see it."""
    caption: str
    draw: "Callable[[], Axes | Figure]"


class Part(NamedTuple):
    """One part of the paper: what is claimed, and all that is to be shown of it."""

    name: str
    claims: tuple[Claim, ...]
    body: tuple[str | Drawing, ...]
    """HTML and pictures, in order."""
    tables: "Mapping[str, Mapping[str, Sequence[Any] | NDArray[Any]]]"
    """The data, by the names of their files."""
    numbers: Mapping[str, Any]
    """What JSON can say of it beside the claims."""

    @property
    def title(self) -> str:
        return PARTS[self.name]


def columns(rows: Sequence[Any]) -> dict[str, list[Any]]:
    """Named tuples as a table.

    >>> columns([Claim("fig1a", "one", "1", "1", True), Claim("fig1b", "two", "2", "2", True)])["part"]
    ['fig1a', 'fig1b']
    """
    return {name: [getattr(row, name) for row in rows] for name in rows[0]._fields}


def plus_minus(value: float, error: float) -> str:
    """With as many decimals as the error's first digit needs.

    >>> plus_minus(1.98134, 0.00142), plus_minus(31.5, 0.4), plus_minus(7120.3, 12.2)
    ('1.981 ± 0.001', '31.5 ± 0.4', '7,120 ± 12')
    """
    import math

    decimals = max(0, -math.floor(math.log10(error))) if error > 0.0 else 3
    return f"{value:,.{decimals}f} ± {error:,.{decimals}f}"
