"""Stochastic combinatorial semi-bandits: pick a feasible subset, see what each item was worth, pick better.

Everything here is imported when it is first used, so that the command line is quick to answer.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from semibandits._util.versions import __version__ as __version__

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

    from semibandits import environments, errors, policies, problems, rng, sets, testing, theory
    from semibandits.errors import SemiBanditError
    from semibandits.live.learner import Learner
    from semibandits.problem import Problem
    from semibandits.simulation.result import SimulationResult
    from semibandits.simulation.simulate import simulate
    from semibandits.types import Decision, Environment, FeasibleSet, IndexPolicy, Policy

__all__ = [
    "Decision",
    "Environment",
    "FeasibleSet",
    "IndexPolicy",
    "Learner",
    "Policy",
    "Problem",
    "SemiBanditError",
    "SimulationResult",
    "environments",
    "errors",
    "policies",
    "problems",
    "rng",
    "sets",
    "simulate",
    "testing",
    "theory",
]

_HOMES = {
    "Decision": "types",
    "Environment": "types",
    "FeasibleSet": "types",
    "IndexPolicy": "types",
    "Learner": "live",
    "Policy": "types",
    "Problem": "problem",
    "SemiBanditError": "errors",
    "SimulationResult": "simulation",
    "simulate": "simulation",
}


class _FormerPaths:
    """Asked last of all where a module is: those of ours that have moved are found under their old names, too."""

    @staticmethod
    def find_spec(name: str, *_: object) -> "ModuleSpec | None":
        if not name.startswith(f"{__name__}."):
            return None
        from semibandits._util.moved import find_spec

        return find_spec(name)


sys.meta_path.append(_FormerPaths)


if not TYPE_CHECKING:  # which sees for itself what is there

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            from semibandits._util.suggestions import no_such_name

            rooms = "problems", "theory", "environments", "sets", "policies"
            no_such_name(__name__, name, __all__, rooms, classes=("Learner", "SimulationResult"))
        home = import_module(f"{__name__}.{_HOMES.get(name, name)}")
        found = getattr(home, name) if name in _HOMES else home
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
