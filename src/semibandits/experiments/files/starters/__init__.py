"""Files to begin with: experiments, full of comments, and notebooks."""

from importlib import resources
from pathlib import Path

from semibandits._util.suggestions import did_you_mean
from semibandits.errors import BadArgument
from semibandits.experiments.result_folder import write_file

EXPERIMENTS = {
    "grid_path": "the paper's problem: the longest path through a grid",
    "routing_tree": "a network: the links that connect all towns fastest",
    "channel_assignment": "radio: which link gets which channel",
    "slate": "recommendation: so many articles of each category",
    "budget": "projects that fit into a budget, from a CSV file",
    "own_solver": "a solver and constraints of your own, in Python",
}
NOTEBOOKS = {"tutorial": "a notebook: from the paper to your own solver in 15 minutes"}
STARTERS = EXPERIMENTS | NOTEBOOKS
"""What there is, and what it is about."""
FILES = {"budget": ("projects.csv",), "own_solver": ("suppliers.py",)}
"""What an experiment file comes with."""


def write_starter(name: str, folder: Path) -> list[Path]:
    """Writes NAME.toml, and what it needs, or NAME.ipynb, to a folder, which is made where it is missing.

    Files that exist are kept: it raises `BadArgument` instead.
    """
    known = name.replace("-", "_")
    if known not in STARTERS:
        raise BadArgument(f"no starter is called {name!r:.100}{did_you_mean(known, STARTERS)}")
    ending = "ipynb" if known in NOTEBOOKS else "toml"
    paths = [folder / file for file in (f"{known}.{ending}", *FILES.get(known, ()))]
    there = [str(path) for path in paths if path.exists() or path.is_symlink()]
    if there:
        raise BadArgument(f"{' and '.join(there)} would be overwritten: remove it, or give another folder")
    for path in paths:
        write_file(path, (resources.files(__package__) / path.name).read_bytes())
    return paths
