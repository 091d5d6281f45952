"""Suggestions: what was probably meant by a name that does not exist, or by a call that does not fit."""

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from importlib import import_module
from importlib.machinery import PathFinder
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

SHORTEST = 3
"""Letters of the beginning of a name, of which it was perhaps meant."""
CLOSE, CLOSER = 0.65, 0.75
"""How alike names are of which one was perhaps meant for the other: if they begin alike, and in any case."""
OURS = {
    # policies
    "CombUCB1": "ucb ucb1 cucb combucb combinatorialucb",
    "PooledCTS CTS": "thompsonsampling thompson ts posteriorsampling combts bayesian",
    "CTS": "betats betathompson betathompsonsampling bernoullits",
    "GaussianCTS": "gaussiants normalts gaussianthompson gaussianthompsonsampling",
    "EpsilonGreedy": "greedy egreedy epsgreedy epsilon",
    "ExploreThenCommit": "etc explorefirst",
    "CMOSS": "moss",
    "UCBV": "ucbtuned ucb1tuned bernstein empiricalbernstein",
    "OSMD": "exp3 omd mirrordescent",
    "OMM": "optimisticmatroidmaximization optimisticmatroidmaximisation",
    "KLUCB": "bayesucb klucb1",
    "COMBAND": "exp2 hedge exponentialweights",
    "FPL": "ftpl followtheperturbedleader",
    "CombLinTS": "lints linearthompson linearthompsonsampling",
    "CombLinUCB": "c2ucb",
    "SlidingWindow": "swucb swts window",
    "Discounted": "ducb discountucb discount forgetting",
    "Random": "uniform",
    "Clairvoyant": "optimal best omniscient oracle",
    "Fixed": "constant static",
    # sets
    "TopK": "topn top slate slates uniformmatroid subset subsets multipleplays combinations choose",
    "GraphicMatroid": "spanningtree spanningtrees mst tree trees forest",
    "Assignment": "matching bipartitematching permutation permutations ranking",
    "Paths DagPaths": "path shortestpath route routes routing dijkstra graph network",
    "DagPaths": "dag",
    "MILP": "ilp mip lp integerprogram linearprogram program constraints",
    "Oracle": "solver custom blackbox function optimizer optimiser",
    "Knapsack": "budget",
    "Enumerated": "explicit superarms solutions listed",
    "PartitionMatroid": "partition categories quotas",
    # environments
    "Gaussian": "normal gauss",
    "CorrelatedGaussian": "multivariatenormal multivariategaussian mvn",
    "Bernoulli": "binary binomial coin coins clicks",
    "Table": "replay history logged log data dataset csv",
    "Drifting": "nonstationary changing piecewise dynamic drift",
    "Custom": "sampler",
    # what a learner and a result can do
    "ask": "predict select act choose decide play pull step suggest recommend next getaction selectarm selectarms",
    "outstanding": "pending open waiting",
    "save": "dump tojson todict serialize serialise",
    "tell": "update learn reward feedback report partialfit",
    "observe": "fit warmstart",
    "estimates": "mean means theta averages",
    "summary": "describe statistics stats report table mean std final meanregret",
    "optimum": "optimal best bestitems solution",
    "item_gaps": "gaps",
    "items": "arms actions action selected chosen item solution superarm",
    "weights world": "sample draw step pull rewards rvs",
    "simulate": "run experiment",
    "Learner": "bandit cmab",
    "to_frame": "todataframe dataframe df tocsv",
    "plot": "draw show figure",
    "bounds": "bound regretbound regretbounds range limits rewardrange lowerbound upperbound lowerbounds upperbounds",
    # parameters
    "horizon horizons n_items": "n",
    "horizon horizons": "t rounds nrounds steps nsteps timesteps",
    "runs": "nruns repetitions repeats reps replications trials nsims simulations experiments",
    "seed": "randomstate randomseed rng",
    "threads": "njobs workers nworkers processes cores jobs",
    "policies policy": "agent agents algorithm algorithms bandit bandits strategy",
    "feasible": "set actions actionset solutionset",
    "source": "start origin",
    "target": "sink end destination goal",
    "costs": "weights sizes prices",
    "n_items": "l d narms arms nitems size",
    "k max_size": "m cardinality topk",
    "means": "p mu probs probabilities prob rates",
    "sigma": "std scale noise",
    "function": "maximise maximize solver solve",
    "legend": "loc location",
    "sense": "objective direction goal maximize maximise minimize minimise mode",
    "max": "maximize maximise maximum maximization",
    "min": "minimize minimise minimum minimization",
    "labels": "names itemnames",
    "weights": "rewards reward values losses costs feedback",
    "progress": "verbose progressbar tqdm",
    "alpha c": "exploration confidence delta",
    "epsilon": "eps",
}
"""Our names, and what others call such things (in small letters alone)."""
SYNONYMS: dict[str, list[str]] = {}
for _ours, _others in OURS.items():
    for _other in _others.split():
        SYNONYMS.setdefault(_other, []).extend(_ours.split())


def did_you_mean(name: object, there: Iterable[str]) -> str:
    """How an error about an unknown name ends: with the name that was probably meant, else with all there are.

    >>> did_you_mean("CombUCB", ["CombUCB1", "CTS"])
    ": did you mean 'CombUCB1'?"
    >>> did_you_mean("ThompsonSampling", ["CombUCB1", "CTS"])
    ": did you mean 'CTS'?"
    """
    listed = list(dict.fromkeys(there))
    if near := _near(name, listed):
        return _meant(near)
    return f"; there are {', '.join(listed)}" if listed else "; there are none"


def _meant(names: Iterable[str]) -> str:
    return f": did you mean {' or '.join(map(repr, names))}?"


def _near(name: object, listed: list[str]) -> list[str]:
    import difflib  # only for those who mistype

    if not isinstance(name, str):
        return []
    if name in listed:
        return [name]
    if same := [one for one in SYNONYMS.get(re.sub("[^a-z0-9]", "", name.lower()), ()) if one in listed]:
        return same
    lower = {one.lower(): one for one in listed}
    if begun := [one for one in lower if len(name) >= SHORTEST and one.startswith(name.lower())]:
        return [lower[begun[0]]]
    close = [one for one in lower if one[:1] == name[:1].lower()]
    near = difflib.get_close_matches(name.lower(), lower, 1, CLOSER)
    near = near or difflib.get_close_matches(name.lower(), close, 1, CLOSE)
    return [lower[one] for one in near]


# Names that modules and objects do not have


def no_such_name(
    module: str, name: str, there: Iterable[str], rooms: Iterable[str] = (), classes: Iterable[str] = ()
) -> NoReturn:
    """Raises the `AttributeError` of a module: with the name that was meant, in a room or a class of it perhaps."""
    message = f"module {module!r} has no attribute {name!r}"
    folder = vars(sys.modules[module]).get("__path__")
    if name.startswith("__") or (folder and PathFinder.find_spec(f"{module}.{name}", folder)):  # Python itself asks
        raise AttributeError(message)
    full = {one: one for one in there}
    inside = [(room, import_module(f"{module}.{room}").__all__) for room in rooms]
    inside += [(kind, dir(getattr(sys.modules[module], kind))) for kind in classes]
    for of, names in inside:
        full = {one: f"{of}.{one}" for one in names if not one.startswith("_")} | full
    if near := _near(name, list(full)):
        raise AttributeError(f"{message}{_meant(full[one] for one in near)}")
    raise AttributeError(f"{message}{did_you_mean(name, there)}")


def suggesting(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module that has `__all__`."""

    def find(name: str) -> Any:
        no_such_name(module, name, import_module(module).__all__)

    return find


class Suggests:
    """An object that says what was probably meant where it has no such attribute."""

    __slots__ = ()

    if not TYPE_CHECKING:  # which sees for itself what is there

        def __getattr__(self, name: str) -> Any:
            kind = type(self)
            if name.startswith("_") or hasattr(kind, name):  # a property that failed: its own error
                return object.__getattribute__(self, name)
            there = [one for one in dir(self) if not one.startswith("_")]
            raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}{did_you_mean(name, there)}")


# Calls that do not fit


def misfit(name: str, accepted: Signature, given: Sequence[Any], named: Iterable[str]) -> str:
    """What is wrong with a call, in words; empty where nothing is."""
    try:
        accepted.bind(*given, **dict.fromkeys(named))
        return ""
    except TypeError:
        pass
    kinds = {one.name: one.kind for one in accepted.parameters.values()}
    names = [one for one, kind in kinds.items() if kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)]
    for unknown in named:
        if unknown not in names and Parameter.VAR_KEYWORD not in kinds.values():
            hint = did_you_mean(unknown, names) if names else "; it has no parameters"
            return f"{name}() has no parameter {unknown!r}{hint}"
    places = [one for one in names if kinds[one] is not Parameter.KEYWORD_ONLY]
    if len(given) > len(places) and Parameter.VAR_POSITIONAL not in kinds.values():
        return _too_many(name, places, [one for one in names if one not in places and one not in named], given)
    required = [one for one in names if accepted.parameters[one].default is Parameter.empty]
    filled = {*places[: len(given)], *named}
    if missing := [one for one in required if one not in filled]:
        shown = [one if one in places else f"{one}=..." for one in required]
        whole = ", ".join([*shown, *(["..."] if len(required) < len(kinds) else [])])
        return f"{name}() needs {' and '.join(map(repr, missing))}: {name}({whole})"
    return ""


def _too_many(name: str, places: list[str], by_name: list[str], given: Sequence[Any]) -> str:
    rest = given[len(places) :]
    if len(rest) > len(by_name):
        return f"{name}() takes at most {len(places) + len(by_name)} values, got {len(given)}"
    meant = [*places, *(f"{one}={value!r:.40}" for one, value in zip(by_name, rest, strict=False))]
    count = f"{len(places)} values without their names" if places[1:] else "one value without its name"
    count = count if places else "no values without their names"
    return f"{name}() takes {count}, got {len(given)}: write {name}({', '.join(meant)})"


def explained(function: Callable[P, T]) -> Callable[P, T]:
    """A function, method or constructor that says what was meant where a call does not fit.

    Not for calls that change something and are to be all or nothing: a signal's handler may raise on the way out.
    """

    @wraps(function)
    def call(*given: P.args, **named: P.kwargs) -> T:
        try:
            return function(*given, **named)
        except TypeError:
            if wrong := _misfit_of(function, given, named):
                raise TypeError(wrong) from None
            raise

    return call


def _misfit_of(function: Callable[..., Any], given: Sequence[Any], named: Iterable[str]) -> str:
    accepted = signature(function)
    own = [*accepted.parameters.values()]
    of, _, name = function.__qualname__.rpartition(".")
    if own and own[0].name in ("self", "cls"):
        accepted, given = accepted.replace(parameters=own[1:]), given[1:]
    return misfit(of if name == "__init__" else name, accepted, given, named)


def explain_classes(module: str) -> None:
    """Makes the constructors of a room's classes such functions."""
    for kind in vars(sys.modules[module]).values():
        if isinstance(kind, type) and kind.__module__.startswith(f"{module}.") and "__init__" in vars(kind):
            kind.__init__ = explained(kind.__init__)  # type: ignore[misc]
