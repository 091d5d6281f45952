"""The contract: what a set, an environment and a policy are, and the words they share.

| paper | here |
|---|---|
| item e in E, L | `item`, `n_items` |
| solution A | `items`: int64, ascending, no repeats |
| feasible set Θ, K, the oracle | `FeasibleSet`, `max_size`, `FeasibleSet.argmax` |
| weights w_t, distribution P, w̄ | `weights`, `Environment`, `means` |
| T(e), ŵ(e), U_t(e) | `counts`, `estimates`, `scores` |
"""

from typing import TYPE_CHECKING

from semibandits._util.arrays import Arrays, Bounds, GivenBounds, Items, Scalar, Weights
from semibandits._util.moved import former_names
from semibandits._util.ownership import up_to_date
from semibandits.types.environments import DrawFunction, Environment, bounds_in, checked_numbers, means_in
from semibandits.types.policies import IndexPolicy, Policy
from semibandits.types.sets import ALWAYS, NEVER, FeasibleSet, Quotas, Solver, TradeOffs, another_solution, total
from semibandits.types.words import Clock, Decision, FeedbackKind, Game, Init, Note, Params, Sense, State, Stats
from semibandits.types.worlds import World

__all__ = [
    "ALWAYS",
    "NEVER",
    "Arrays",
    "Bounds",
    "Clock",
    "Decision",
    "DrawFunction",
    "Environment",
    "FeasibleSet",
    "FeedbackKind",
    "Game",
    "GivenBounds",
    "IndexPolicy",
    "Init",
    "Items",
    "Note",
    "Params",
    "Policy",
    "Quotas",
    "Scalar",
    "Sense",
    "Solver",
    "State",
    "Stats",
    "TradeOffs",
    "Weights",
    "World",
    "another_solution",
    "bounds_in",
    "checked_numbers",
    "means_in",
    "total",
    "up_to_date",
]

if not TYPE_CHECKING:
    __getattr__ = former_names(__name__)
