"""The suite as a folder: data/ with the tables, runs/ with what is finished, and suite.json, which marks it."""

from os import PathLike
from pathlib import Path
from typing import Any

from semibandits._util.files import NoPlainFile, make_folders, os_errors_as
from semibandits.errors import BadArgument, StoreFailed
from semibandits.experiments.result_folder import ResultFolder, known_names, write_file
from semibandits.experiments.suite.table import Score, Table, csv_text

MARKER = "suite.json"
KIND = "semibandits suite"
RUNS = "runs"


class SuiteFolder(ResultFolder):
    """A folder that holds the suite, or nothing yet."""

    list_key = "files"

    def __init__(self, path: Path) -> None:
        super().__init__(path, MARKER)
        self.about = {"kind": KIND}
        self.is_marked = self._read()

    def _read(self) -> bool:
        try:
            found: Any = self.read_marker()
        except (FileNotFoundError, NoPlainFile, ValueError, RecursionError):
            return False
        if not isinstance(found, dict) or found.get("kind") != KIND:
            return False
        self.names = known_names(found.get(self.list_key))
        return True

    def write(self, table: Table, instance: int) -> None:
        """The tables as CSV; those of another instance have its number in their names."""
        which = "" if instance == 1 else f"-{instance}"
        scores = csv_text(Score._fields, table.scores())
        texts = {f"data/ratios{which}.csv": table.to_csv(), f"data/scores{which}.csv": scores}
        self.add(texts)
        for name, text in texts.items():
            write_file(self.path / name, text.encode())


def prepare(out: str | PathLike[str]) -> SuiteFolder:
    """The folder, made and marked; one that holds anything but the suite is refused."""
    path = Path(out)
    if path.exists() and not path.is_dir():
        raise BadArgument(f"{path} is a file; a folder is wanted for the suite")
    with os_errors_as(StoreFailed, f"{path} cannot be written to"):
        make_folders(path)
        folder = SuiteFolder(path)
        if folder.listed() and not folder.is_marked:
            raise BadArgument(f"{path} holds something else than the suite: choose another folder")
        folder.refuse_links(("data", RUNS))
        folder.mark()
    return folder
