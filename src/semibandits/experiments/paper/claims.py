"""Claims, drawings and tables: the parts of a reproduction."""

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


OURS = "ours"
"""The source of claims that the paper does not make."""


class Claim(NamedTuple):
    """One statement, what came out, and what was to be expected; in words, and as numbers where there are any."""

    part: str
    statement: str
    measured: str
    expected: str
    holds: bool
    source: str = ""
    """Where the paper says so; `OURS` where it does not."""
    value: float | None = None
    """What is judged: of several numbers, the one that decides."""
    error: float | None = None
    """Its standard error."""
    low: float | None = None
    """Where the claim holds, `value` is at least this."""
    high: float | None = None
    """And at most this."""


class Drawing(NamedTuple):
    """A picture, to be drawn when there is a report for it."""

    name: str
    alt: str
    """What it shows, for those who do not see it."""
    caption: str
    draw: "Callable[[], Axes | Figure]"
    narrow: "Callable[[], Axes | Figure] | None" = None
    """The same for a phone, where the picture can be made for one."""


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
    hero: tuple[str | Drawing, ...] = ()
    """What the whole page begins with, as `body`."""

    @property
    def title(self) -> str:
        return PARTS[self.name]

    @property
    def drawings(self) -> list[Drawing]:
        return [one for one in (*self.hero, *self.body) if isinstance(one, Drawing)]


def columns(rows: Sequence[Any]) -> dict[str, list[Any]]:
    """Named tuples as a table.

    >>> columns([Claim("fig1a", "one", "1", "1", True), Claim("fig1b", "two", "2", "2", True)])["part"]
    ['fig1a', 'fig1b']
    """
    return {name: [getattr(row, name) for row in rows] for name in rows[0]._fields}


def summary(claims: Sequence[Claim]) -> str:
    """How many hold, of the paper's and of ours.

    >>> summary([Claim("fig1a", "one", "1", "1", True, "Section 6"), Claim("trends", "two", "2", "3", False, OURS)])
    "1 of 2 claims hold: 1 of 1 of the paper's, 0 of 1 of ours"
    """
    ours = [claim.holds for claim in claims if claim.source == OURS]
    theirs = [claim.holds for claim in claims if claim.source != OURS]
    whose = [f"{sum(some)} of {len(some)} of {who}" for some, who in ((theirs, "the paper's"), (ours, OURS)) if some]
    return f"{sum(claim.holds for claim in claims)} of {len(claims)} claims hold: {', '.join(whose)}"


def power_of_ten(value: float) -> str:
    """A very small number as it is written by hand.

    >>> power_of_ten(1e-12), power_of_ten(2.2e-16), power_of_ten(0.0)
    ('10⁻¹²', '2 × 10⁻¹⁶', '0')
    """
    if value == 0.0:
        return "0"
    digit, exponent = f"{value:.0e}".split("e")
    power = f"10{str(int(exponent)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
    return power if digit == "1" else f"{digit} × {power}"


def plus_minus(value: float, error: float) -> str:
    """With as many decimals as the error's first digit needs.

    >>> plus_minus(1.98134, 0.00142), plus_minus(31.5, 0.4), plus_minus(7120.3, 12.2)
    ('1.981 ± 0.001', '31.5 ± 0.4', '7,120 ± 12')
    """
    import math

    decimals = max(0, -math.floor(math.log10(error))) if error > 0.0 else 3
    return f"{value:,.{decimals}f} ± {error:,.{decimals}f}"
