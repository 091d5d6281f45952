"""Sets and environments as users give them: what is none is refused, with a word about what is perhaps meant."""

from typing import Any

import numpy as np

from semibandits.errors import BadArgument
from semibandits.types.environments import Environment
from semibandits.types.policies import IndexPolicy, Policy
from semibandits.types.sets import FeasibleSet


def check_feasible(given: Any) -> None:
    if isinstance(given, FeasibleSet):
        return
    hint = ""
    if isinstance(given, type):
        hint = f": one that is made is wanted, {given.__name__}(...), not the class"
    elif isinstance(given, Environment | IndexPolicy | Policy | str):
        hint = ": the set comes first"
    elif isinstance(getattr(given, "feasible", None), FeasibleSet):  # a problem, a learner
        hint = ": give its set, .feasible"
    elif callable(given):
        hint = ": a solver is wrapped, sets.Oracle(solver, n_items, max_size)"
    raise BadArgument(f"feasible must be a FeasibleSet, as those of semibandits.sets, got {given!r:.200}{hint}")


def check_environment(given: Any) -> None:
    if isinstance(given, Environment):
        return
    hint = ""
    if isinstance(given, FeasibleSet):
        hint = ": the set comes first, then the environment"
    elif isinstance(given, list | tuple | np.ndarray):
        hint = ": rates of clicks, say, make one, environments.Bernoulli([...])"
    raise BadArgument(f"environment must be an Environment, got {given!r:.200}{hint}")
