"""The command `compare`: policies side by side on one problem."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from semibandits.cli.base import (
    Refused,
    Whole,
    folder_option,
    json_option,
    need_matplotlib,
    no_report_option,
    seed_option,
    users_code,
)
from semibandits.cli.opening import Reading, complete_policy, complete_problem, open_problem, reading_options
from semibandits.cli.results import play, show

if TYPE_CHECKING:
    from semibandits.problem import Problem
    from semibandits.types import FeedbackKind


@click.command()
@click.argument("problem", shell_complete=complete_problem)
@click.option(
    "-p",
    "--policy",
    "policies",
    multiple=True,
    metavar="POLICY",
    shell_complete=complete_policy,
    help="A policy, with parameters if need be, or file.py:Name, a class of your own; as many as you like.  "
    "[default: CombUCB1, the default of learners, and the one recommended]",
)
@click.option("--horizon", type=Whole(), default=10_000, show_default=True, metavar="N", help="Rounds.")
@click.option("--runs", type=Whole(), default=100, show_default=True, metavar="N", help="Runs of each.")
@seed_option
@folder_option("--out", "Folder for a report and the data.  [default: nothing is written]")
@reading_options
@no_report_option
@json_option
def compare(
    problem: str,
    policies: tuple[str, ...],
    horizon: int,
    runs: int,
    seed: int,
    out: Path | None,
    no_report: bool,
    as_json: bool,
    reading: Reading,
) -> None:
    """Compare policies on a problem, in the same worlds.

    PROBLEM is a named problem with its parameters (see `semibandits problems`), or an experiment file whose problem is
    taken, with what the file says about regret and feedback. Policies are those of `semibandits policies`, or your own:
    a class in a Python file, beside the experiment file or, if the problem has a name, in this folder.

    \b
    Example:  semibandits compare grid_path:m=4,sigma=0.2
              semibandits compare k_path:n_items=20,k=4,gap=0.5 -p CombUCB1:alpha=0.5 -p KLUCB -p CTS
              semibandits compare "grid_path(m=3, sigma=0.25)" -p CombUCB1 -p CTS --out comparison
              semibandits compare k_path:n_items=20,k=4,gap=0.5 -p CTS -p careful.py:Careful:bonus=0.2
    """
    if out is not None and not no_report:
        need_matplotlib()
    from semibandits.errors import UncoveredItems
    from semibandits.experiments.comparing import as_toml, policy_table
    from semibandits.experiments.files.document import as_in_files, parse
    from semibandits.experiments.point import Point
    from semibandits.simulation import simulate

    opened = open_problem(problem, reading)
    feedback = opened.options.get("feedback", "semi")
    with users_code():
        texts = policies or _usual(opened.problem, horizon, feedback)
    document = {
        "title": opened.title.encode(errors="replace").decode(),
        **opened.options,
        "horizon": horizon,
        "runs": runs,
        "seed": seed,
        "problem": opened.table,
        "policies": [policy_table(text) for text in texts],
    }
    with users_code():
        experiment = parse(as_toml(document), "", opened.folder, reading.own_code, reading.say)
    if out is not None:
        play(experiment, out, no_report, as_json)
        return
    (plan,) = experiment.plans
    try:
        with users_code():
            result = simulate(plan.problem, plan.policies, **plan.arguments)
    except UncoveredItems as error:
        raise Refused(f"{problem}: {as_in_files(error)}") from error
    show([Point({}, plan.problem, result, experiment.unit)], as_json)


def _usual(problem: "Problem", horizon: int, feedback: "FeedbackKind") -> list[str]:
    """Who plays where nobody is named: the paper's, what a learner plays by default, and what is advised."""
    from semibandits.errors import Unsupported
    from semibandits.policies import default, recommend

    try:
        advised = [repr(recommend(problem, horizon, feedback).policy)]
    except Unsupported:  # where no round is as another, nobody is advised
        advised = []
    usual = default(problem.feasible, bounds=problem.bounds, feedback=feedback).policy
    if feedback == "bandit":
        return advised or [repr(usual)]
    return list(dict.fromkeys(["CombUCB1", repr(usual), *advised]))
