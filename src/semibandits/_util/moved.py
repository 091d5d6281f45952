"""Former import paths: modules that have moved are found under their old names, with a warning, for one release."""

import sys
import warnings
from collections.abc import Callable
from functools import partial, wraps
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T")
PREFIX = f"{__name__.partition('.')[0]}."
INDEX = """
    bg_cts cl_sg clairvoyant cmoss combucb1 counted cts discounted epsilon_greedy explore_then_commit fixed gaussian_cts
    kl_ucb omm random_solutions sliding_window ucb_v
"""
SOLUTION = """
    aescb comb_lin comb_lin_ts comb_lin_ucb comband escb fpl from_hull full_bandit hybrid lin_ucb listing losses oful
    ols_ucb osmd polytope quota_projection sampling
"""
ORACLES = "dijkstra greedy hop_paths lanes paths_trade_offs sorting top_k_trade_offs"
FILES = "data_files document sweep toml_lines"
STUDIES = "constants lemma_1 tightness"


def _into(room: str, inner: str, names: str) -> dict[str, str]:
    return {f"{room}.{name}": f"{room}.{inner}.{name}" for name in names.split()}


MOVED = {
    "answers": "oracle",
    "hard_problems": "problems",
    "learner": "live.learner",
    "moves": "policies.solution.base",
    "policies.checks": "_util.checks",
    "probing": "oracle",
    "structure": "types.sets",
    "testing_policies": "testing.policies",
    "testing_worlds": "testing.environments",
    **_into("policies", "index", INDEX),
    **_into("policies", "solution", SOLUTION),
    "sets.built_in": "sets.base",
    "sets.curves": "plotting.curves",
    "sets.drawing": "plotting.sets",
    "sets.drawing_graphs": "plotting.graphs",
    "sets.graph": "sets.graphs.reading",
    "sets.layout": "plotting.layout",
    "sets.pairs_matrix": "sets.graphs.bipartite",
    "sets.paths_in_lanes": "sets.oracles.paths_lanes",
    "sets.top_k_in_lanes": "sets.oracles.top_k_lanes",
    "sets.top_k_single": "sets.oracles.top_k",
    **_into("sets", "graphs", "detours network simple_paths"),
    **_into("sets", "oracles", ORACLES),
    **_into("sets", "programs", "highs program"),
    "simulation.plots": "plotting.regret",
    "theory.applicable": "theory.applicable_bounds",
    "theory.graves_lai_cuts": "theory.graves_lai.cuts",
    "theory.graves_lai_list": "theory.graves_lai.listed",
    "theory.graves_lai_search": "theory.graves_lai.search",
    **_into("experiments", "files", FILES),
    **_into("experiments", "paper", STUDIES),
    "experiments.assembling": "experiments.files.build",
    "experiments.figure_1c": "experiments.paper.published",
    "experiments.named": "experiments.files.registry",
    "experiments.numbers": "experiments.result_tables",
    "experiments.own_code": "experiments.files.user_code",
    "experiments.place": "experiments.files.located",
    "experiments.starters": "experiments.files.starters",
    "experiments.tables": "experiments.table_files",
}
"""Modules that users may have imported from: old names and new ones."""
RENAMED = {
    "environments.base.check_bounds": "_util.checks.check_bounds",
    "environments.base.check_vector": "_util.checks.check_vector",
    "environments.base.check_vectors": "_util.checks.check_vectors",
    "moves.Moves": "policies.solution.PolicyKernels",
    "moves.oracle_text": "oracle.compiled_oracle",
    "policies.checks.begin": "_util.checks.check_init",
    "policies.checks.not_negative": "_util.checks.check_not_negative",
    "policies.checks.positive": "_util.checks.check_positive",
    "policies.checks.rounds": "_util.checks.check_rounds",
    "policies.checks.share": "_util.checks.check_fraction",
    "sets.base.check_count": "_util.checks.check_count",
    "sets.base.check_items": "_util.checks.check_items",
    "sets.base.check_n_items": "_util.checks.check_n_items",
    "structure.Arrays": "types.Arrays",
    "types.check_choice": "_util.checks.check_choice",
}
"""Names in these and in others that are elsewhere now, or called otherwise."""


def find_spec(name: str) -> ModuleSpec | None:
    moved = name.removeprefix(PREFIX) in MOVED
    return ModuleSpec(name, _Loader()) if moved else None  # type: ignore[arg-type]


class _Loader:  # no importlib.abc.Loader, which is slow to import
    """Puts the moved module in the place of the old one; one in which names have changed is asked name by name."""

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        old = module.__name__.removeprefix(PREFIX)
        new = PREFIX + MOVED[old]
        if any(name.startswith(f"{old}.") for name in RENAMED):
            _warn(f"{module.__name__} is now {new}, with other names in it")
            vars(module)["__getattr__"] = partial(_found, module, import_module(new))
        else:
            _warn(f"{module.__name__} is now {new}")
            sys.modules[module.__name__] = import_module(new)


def _found(old: ModuleType, new: ModuleType, name: str) -> Any:
    """A name of a moved module."""
    known = f"{old.__name__}.{name}".removeprefix(PREFIX)
    if known == "moves.Moved":
        _warn(f"{PREFIX}{known} is now {PREFIX}policies.solution.CompiledPolicy, whose moves() is called kernels()")
        found: Any = _by_moves(new.CompiledPolicy)
    elif known in RENAMED:
        _warn(f"{PREFIX}{known} is now {PREFIX}{RENAMED[known]}")
        found = _renamed(known)
    else:
        return getattr(new, name)
    vars(old)[name] = found
    return found


def _renamed(known: str) -> Any:
    home, _, name = RENAMED[known].rpartition(".")
    return getattr(import_module(PREFIX + home), name)


def former_names(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module from which names have moved."""

    def find(name: str) -> Any:
        known = f"{module}.{name}".removeprefix(PREFIX)
        if known not in RENAMED:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        _warn(f"{module}.{name} is now {PREFIX}{RENAMED[known]}")
        return _renamed(known)

    return find


def _by_moves(base: type) -> type:
    """The base class of policies that say `moves`, where now they say `kernels`."""

    def kernels(self: Any, feasible: Any) -> Any:
        return self.moves(feasible)

    about = {"__module__": f"{PREFIX}moves", "__doc__": base.__doc__, "kernels": kernels}
    return type(base)("Moved", (base,), about)


def renamed(**names: str) -> Callable[[type[T]], type[T]]:
    """For named tuples: fields that had other names, `old="new"`, can be given and read by these, with a warning."""

    def decorate(kind: type[T]) -> type[T]:
        make: Any = kind.__new__

        @wraps(make)
        def make_with(cls: type[T], *values: Any, **named: Any) -> Any:
            for old in named.keys() & names:
                _warn(f"{kind.__name__}({old}=...) is now {kind.__name__}({names[old]}=...)")
                named[names[old]] = named.pop(old)
            return make(cls, *values, **named)

        def reader(old: str) -> property:
            def read(self: T) -> Any:
                _warn(f"{kind.__name__}.{old} is now {kind.__name__}.{names[old]}")
                return getattr(self, names[old])

            return property(read)

        for name, value in {"__new__": make_with, **{old: reader(old) for old in names}}.items():
            setattr(kind, name, value)
        return kind

    return decorate


def _warn(what: str) -> None:
    warnings.warn(f"{what}; the next release does not know the old name", DeprecationWarning, stacklevel=3)
