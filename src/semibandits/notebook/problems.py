"""Problems and worlds in notebooks."""

from semibandits._util.html import number, several
from semibandits._util.ownership import ours
from semibandits.notebook.parts import (
    MOST,
    MOST_NAMES,
    Facts,
    about,
    card,
    listed,
    names_of,
    note,
    span,
    what_weights,
    written,
)
from semibandits.problem import Problem
from semibandits.types import Environment

QUICK_ITEMS = 500
"""The optimum of a set of this package is looked for only among so many items."""


@written.register
def _problem(problem: Problem) -> str:
    """The set, the world and, where that is quick, the best solution."""
    feasible, environment = problem.feasible, problem.environment
    pairs: Facts = [
        ("solutions", f"{feasible!r:.200}"),
        ("world", f"{environment!r:.200}"),
        ("items", f"{problem.n_items:,}, at most {problem.max_size:,} in a solution"),
        ("weights", what_weights(problem.sense, problem.bounds)),
    ]
    if feasible.ratio < 1.0:
        pairs.append(("oracle", f"approximate, ratio {feasible.ratio:g}"))
    if environment.hindsight:
        pairs.append(("optimum", "none: a sequence has no means"))
    elif environment.says_sets:
        pairs.append(("optimum", "changes from round to round: every round has a set of its own"))
    elif environment.drifts:
        pairs.append(("optimum", "changes from round to round: problem.at(round).optimum"))
    else:
        pairs += _optimum(problem)
    return card("Problem", listed(pairs))


def _optimum(problem: Problem) -> Facts:
    """Where it is known, or found by an oracle that is neither the user's own nor a search."""
    try:
        if "optimum" in vars(problem) or (problem.n_items <= QUICK_ITEMS and problem.feasible.solver() is not None):
            names = names_of(problem.feasible.labels, problem.optimum)
            return [("optimum", several(names, MOST)), ("its value", number(problem.value(problem.optimum)))]
    except Exception as error:
        return [("optimum", f"not known: {error!s:.200}")]
    return []


@written.register
def _environment(environment: Environment) -> str:
    """What kind of world, and how its means are spread: those of a class of the user's own are not asked for."""
    fixed = not (environment.drifts or environment.hindsight) and ours(environment)
    means = f"from {number(environment.means.min())} to {number(environment.means.max())}" if fixed else ""
    pairs: Facts = [
        ("world", f"{environment!r:.200}"),
        ("items", f"{environment.n_items:,}"),
        ("labels", several(environment.labels, MOST_NAMES)),
        ("weights", span(environment.bounds)),
        ("means", "change from round to round" if environment.drifts else means),
        ("rounds", "" if environment.last_round is None else f"at most {environment.last_round:,}"),
    ]
    return card(type(environment).__name__, note(about(environment)), listed(pairs))
