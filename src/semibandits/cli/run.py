"""The command `run`: experiment files."""

from pathlib import Path

import click

from semibandits.cli.base import folder_option, json_option, need_matplotlib, no_report_option
from semibandits.cli.completing import complete_files
from semibandits.cli.opening import Reading, reading_options
from semibandits.cli.results import play


@click.command()
@click.argument("file", type=click.Path(path_type=Path), shell_complete=complete_files)
@folder_option("--out", "Folder for the results.  [default: the file's name and -results]")
@reading_options
@no_report_option
@json_option
def run(file: Path, out: Path | None, no_report: bool, as_json: bool, reading: Reading) -> None:
    """Run the experiment that a file describes.

    FILE is TOML: problem, policies, horizon, runs, seed, sweeps; `semibandits new` writes one to begin with. The
    folder gets report.html, which opens in any browser, figures/ (SVG, PNG, PDF) and data/ (every number). What was
    stopped goes on from there when the same command is given again; with more runs or policies in the file, only these
    are played.

    A file may name Python code in files of its folder, which is run: that is said first, on standard error. With
    --no-own-code such a file is refused, and nothing of it is run: for files of strangers.

    \b
    Example:  semibandits new grid_path
              semibandits run grid_path.toml
              semibandits run grid_path.toml --out results --json
              semibandits run from_a_stranger.toml --no-own-code
    """
    if not no_report:
        need_matplotlib()
    experiment = reading(file)
    play(experiment, Path(f"{file.stem}-results") if out is None else out, no_report, as_json)
