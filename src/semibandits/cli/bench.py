"""The command `bench`: the speed of this machine."""

import click

from semibandits.cli.base import json_option, print_json
from semibandits.cli.tables import lines, table


@click.command()
@json_option
def bench(as_json: bool) -> None:
    """Measure the speed of this machine.

    Rounds simulated per second, and microseconds of a live decision and its feedback. Every figure is measured now,
    beside a loop in NumPy as it is written for a paper; "times" says how many rounds one core of ours plays in the time
    of one of the loop's. Under 20 seconds on two cores, with the compiler's work.

    \b
    Example:  semibandits bench
              semibandits bench --json > speed.json
    """
    from rich.console import Console

    from semibandits.experiments import speed

    console = Console(stderr=True)
    if console.is_terminal:
        with console.status("measuring") as status:
            measured = speed.measure(say=lambda what: status.update(f"measuring {what}"))
    else:
        measured = speed.measure()
    if as_json:
        print_json({**measured._asdict(), "speeds": [one._asdict() for one in measured.speeds]})
        return
    click.echo(f"{measured.processor}, {measured.cores} cores, Python {measured.python}; rounds per second\n")
    titles = ["problem", "policy", "one core", "all cores", "NumPy loop", "times", "ask + tell, µs"]
    rows = [
        [
            *(one.problem, one.policy),
            *(f"{rounds:,.0f}" for rounds in (one.one_core, one.all_cores, one.numpy_loop, one.ratio)),
            f"{one.ask_tell:.1f}",
        ]
        for one in measured.speeds
    ]
    click.echo(table(titles, rows, right=titles[2:]))
    click.echo(
        "\n"
        + lines(
            "NumPy loop: the same on one core, as it is written for a paper; times: one core to that loop;",
            "ask + tell: a live decision and its feedback.",
        )
    )
