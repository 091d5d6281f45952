"""Experiments: files that describe them, runs, reports and tables; `paper` plays the paper's own."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from semibandits._util.suggestions import no_such_name

if TYPE_CHECKING:
    from semibandits.experiments.files.document import Experiment, read
    from semibandits.experiments.point import Point
    from semibandits.experiments.report.experiment import write_report
    from semibandits.experiments.running import run
    from semibandits.experiments.table_files import write_table

__all__ = ["Experiment", "Point", "read", "run", "write_report", "write_table"]
_HOMES = {
    **dict.fromkeys(("Experiment", "read"), "files.document"),
    "Point": "point",
    "run": "running",
    "write_report": "report.experiment",
    "write_table": "table_files",
}

if not TYPE_CHECKING:  # what nobody asks for is not loaded

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            no_such_name(__name__, name, __all__)
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)

    def __dir__() -> list[str]:
        return __all__
