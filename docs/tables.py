"""Writes the tables of policies into choosing.md and policies.md, from what the policies say of themselves, and those
of suite.md from data/suite.csv and data/candidates.csv.

    python docs/tables.py

Tables stand between two comments, each in a place of its own. What was measured stays as it is in choosing.md.
"""

import inspect
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from studies import candidates, suite

from semibandits.policies.catalogue import CATALOGUE
from semibandits.types import IndexPolicy

FOLDER = Path(__file__).parent
BEGIN, END = "<!-- written by docs/tables.py -->\n\n", "\n<!-- end of the table -->\n"


def uses(old: str) -> str:
    return table(
        ("policy", "when to use it", "what it needs"),
        ((f"`{one.name}`", one.use, one.needs) for one in CATALOGUE),
    )


def guarantees(old: str) -> str:
    return table(("policy", "guarantee"), ((f"`{one.name}`", one.guarantee) for one in CATALOGUE))


def costs(old: str) -> str:
    """As it was measured, in the order of the other tables, without policies that were removed."""
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in old.splitlines()]
    measured = {row[0]: row for row in rows}
    names = (f"`{one.name}`" for one in CATALOGUE)
    return table(head, (measured[name] for name in names if name in measured))


def policies(old: str) -> str:
    kinds = (one.policy for one in CATALOGUE if issubclass(one.policy, IndexPolicy))
    return table(
        ("policy", "score of an item in round t, from T observations with mean ŵ"),
        ((f"`{call(kind)}`", kind.formula) for kind in kinds),
    )


def call(kind: type[IndexPolicy]) -> str:
    """The policy with its defaults; `init`, which many have, is told elsewhere."""
    shown = [
        name if one.default is one.empty else f"{name}={one.default!r}"
        for name, one in inspect.signature(kind).parameters.items()
        if name != "init"
    ]
    return f"{kind.__name__}({', '.join(shown)})"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    titles = list(head)
    lines = [titles, ["---"] * len(titles), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines).replace("| --- ", "|---").replace("--- |", "---|")


def of_suite(old: str) -> str:
    return suite.markdown()


def of_candidates(old: str) -> str:
    return table(*candidates.lines())


PAGES: dict[str, tuple[Callable[[str], str], ...]] = {
    "choosing.md": (uses, guarantees, costs),
    "policies.md": (policies,),
    "suite.md": (of_suite, of_candidates),
}
"""What is written into the places of a page, in their order."""


def page(name: str) -> str:
    """The page as it should be."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    between = re.compile(f"{re.escape(BEGIN)}(.*?){re.escape(END)}", re.DOTALL)
    places, makers = len(between.findall(text)), iter(PAGES[name])
    assert places == len(PAGES[name]), f"{name} has {places} places for tables, not {len(PAGES[name])}"
    return between.sub(lambda old: BEGIN + next(makers)(old[1]) + END, text)


if __name__ == "__main__":
    for name in PAGES:
        (FOLDER / name).write_text(page(name), encoding="utf-8")
