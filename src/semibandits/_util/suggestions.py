"""Suggestions: what was probably meant by a name that does not exist, or by a call that does not fit."""

import re
import sys
from abc import ABCMeta
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from importlib import import_module
from importlib.machinery import PathFinder
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

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
    "COMBAND": "exp2 hedge exponentialweights",
    "FPL": "ftpl followtheperturbedleader",
    "CombLinTS": "lints linearthompson linearthompsonsampling",
    "CombLinUCB": "c2ucb",
    "SlidingWindow": "swucb swts window",
    "Discounted": "ducb discountucb discount forgetting",
    "Random": "uniform",
    "Clairvoyant": "optimal best omniscient",
    "Fixed": "constant static",
    # sets
    "TopK": "topn top slate slates uniformmatroid subset subsets multipleplays",
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
    "tell": "update learn reward feedback report partialfit",
    "observe": "fit warmstart",
    "estimates": "mean means theta averages",
    "summary": "describe statistics stats report table mean std",
    "to_frame": "todataframe dataframe df",
    "plot": "draw show figure",
    "bounds": "bound regretbound regretbounds range limits rewardrange",
    # parameters
    "horizon horizons n_items": "n",
    "horizon horizons": "t rounds nrounds steps nsteps timesteps",
    "runs": "nruns repetitions repeats reps replications trials nsims simulations experiments",
    "seed": "randomstate randomseed rng",
    "threads": "njobs workers nworkers processes cores jobs",
    "policies policy": "agent agents algorithm algorithms bandit bandits strategy",
    "feasible": "set actions actionset solutionset",
    "n_items": "l d narms arms nitems size",
    "k max_size": "m cardinality topk",
    "means": "p mu probs probabilities prob rates",
    "sigma": "std scale noise",
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
    if same := [one for one in SYNONYMS.get(re.sub("[^a-z0-9]", "", name.lower()), ()) if one in listed]:
        return same
    lower = {one.lower(): one for one in listed}
    return [lower[near] for near in difflib.get_close_matches(name.lower(), lower, 1, 0.5)]


# Names that modules and objects do not have


def no_such_name(module: str, name: str, there: Iterable[str], rooms: Iterable[str] = ()) -> NoReturn:
    """Raises the `AttributeError` of a module: with the name that was meant, in one of its `rooms` perhaps."""
    message = f"module {module!r} has no attribute {name!r}"
    folder = vars(sys.modules[module]).get("__path__")
    if name.startswith("__") or (folder and PathFinder.find_spec(f"{module}.{name}", folder)):  # Python itself asks
        raise AttributeError(message)
    full = {one: one for one in there}
    for room in rooms:
        full = {one: f"{room}.{one}" for one in import_module(f"{module}.{room}").__all__} | full
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

        def __getattr__(self, name: str) -> NoReturn:
            kind = type(self)
            if name.startswith("_") or hasattr(kind, name):  # a property that failed: its own error
                object.__getattribute__(self, name)
            there = [one for one in dir(self) if not one.startswith("_")]
            raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}{did_you_mean(name, there)}")


# Calls that do not fit


def misfit(name: str, accepted: Signature, given: Sequence[Any], named: Iterable[str]) -> str:
    """What is wrong with a call, in words; empty where nothing is that could be told."""
    free = [one for one in accepted.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
    names = [one.name for one in free if one.kind is not Parameter.VAR_POSITIONAL]
    open_ended = len(free) < len(accepted.parameters)
    for unknown in named:
        if unknown not in names and not open_ended:
            hint = did_you_mean(unknown, names) if names else "; it has no parameters"
            return f"{name}() has no parameter {unknown!r}{hint}"
    places = [one.name for one in free if one.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)]
    if len(given) > len(places) and Parameter.VAR_POSITIONAL not in {one.kind for one in free}:
        return _too_many(name, places, [one for one in names if one not in places and one not in named], given)
    filled = {*places[: len(given)], *named}
    missing = [one.name for one in free if one.default is Parameter.empty and one.name in names]
    missing = [one for one in missing if one not in filled]
    required = [one.name for one in free if one.default is Parameter.empty]
    whole = ", ".join([*required, *(["..."] if len(required) < len(free) else [])])
    return f"{name}() needs {' and '.join(map(repr, missing))}: {name}({whole})" if missing else ""


def _too_many(name: str, places: list[str], by_name: list[str], given: Sequence[Any]) -> str:
    rest = given[len(places) :]
    if len(rest) > len(by_name):
        return f"{name}() takes at most {len(places) + len(by_name)} values, got {len(given)}"
    meant = [*places, *(f"{one}={value!r:.40}" for one, value in zip(by_name, rest, strict=False))]
    count = f"the first {len(places)} values" if len(places) > 1 else "one value" if places else "no values"
    return f"{name}() takes {count} without their names, got {len(given)}: write {name}({', '.join(meant)})"


class Explained(type):
    """The class of classes whose constructors say what was meant."""

    if not TYPE_CHECKING:  # to which a constructor is what `__init__` says

        def __call__(cls, *given: Any, **named: Any) -> Any:
            try:
                return super().__call__(*given, **named)
            except TypeError:
                if wrong := misfit(cls.__name__, cls.__signature__, given, named):
                    raise TypeError(wrong) from None
                raise

        @property
        def __signature__(cls) -> Signature:
            made_by = cls.__new__ if cls.__init__ is object.__init__ else cls.__init__
            if made_by is object.__new__:
                return Signature()
            return Signature(list(signature(made_by).parameters.values())[1:])


class ExplainedABC(Explained, ABCMeta):
    """The same of abstract ones."""


def explained(function: Callable[P, T]) -> Callable[P, T]:
    """A function that says what was meant where a call does not fit."""

    @wraps(function)
    def call(*given: P.args, **named: P.kwargs) -> T:
        try:
            return function(*given, **named)
        except TypeError:
            if wrong := misfit(function.__name__, signature(function), given, named):
                raise TypeError(wrong) from None
            raise

    return call
