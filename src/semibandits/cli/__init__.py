"""The command line: open, call one library function, print."""

import click

from semibandits import __version__
from semibandits.cli.base import Commands
from semibandits.cli.bench import bench
from semibandits.cli.bounds import bounds
from semibandits.cli.compare import compare
from semibandits.cli.completion import completion
from semibandits.cli.lists import environments, policies, problems, sets
from semibandits.cli.new import new
from semibandits.cli.reproduce import reproduce
from semibandits.cli.run import run
from semibandits.cli.suite import suite
from semibandits.cli.version import version


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="semibandits", message="%(prog)s %(version)s")
def main() -> None:
    """Stochastic combinatorial semi-bandits: keep your solver, learn while deciding.

    \b
    See the paper working:          semibandits reproduce --quick
    Compare policies on a problem:  semibandits compare grid_path:m=4,sigma=0.2
    See which policy wins where:    semibandits suite --quick
    Ask what is guaranteed for it:  semibandits bounds grid_path:m=4,sigma=0.2
    Learn it in a notebook:         semibandits new tutorial
    Begin an experiment:            semibandits new
    Run it:                         semibandits run experiment.toml

    Every command explains itself with --help; with --json all but completion print JSON and nothing else.

    \b
    Exit status: 0 done; 1 a claim of the paper does not hold; 2 something in
    the input is wrong, said on standard error; 130 stopped with Ctrl-C.
    """


for command in (
    reproduce,
    run,
    new,
    compare,
    bounds,
    suite,
    problems,
    sets,
    environments,
    policies,
    bench,
    version,
    completion,
):
    main.add_command(command)
