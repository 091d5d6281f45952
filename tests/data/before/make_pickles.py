"""Objects that an earlier version pickled: what users may have kept of theirs, naming modules as they were then.

    PYTHONPATH=<the version before>/src python tests/data/before/make_pickles.py

Run once, as `make.py` was.
"""

import base64
import json
import pickle
from pathlib import Path
from typing import Any

import cloudpickle
import make
import numpy as np
from semibandits.moves import Moved, Moves

import semibandits as sb

PROBLEM = sb.problems.grid_path(2, 0.4)


def choose_first(state: Any, out: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> int:
    for k in range(2):
        out[k] = k
    return 2


def learn_sums(state: Any, items: Any, x: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> None:
    for k in range(len(items)):
        state[0][items[k]] += x[k]


class First(Moved):
    """A user's own policy, written for the compiler."""

    def start(self, game: Any, feasible: Any) -> Any:
        return (np.zeros(game.n_items),)

    def moves(self, feasible: Any) -> Moves:
        return Moves(choose_first, learn_sums)


def kept() -> dict[str, Any]:
    """By name: plain pickles of what is ours."""
    environments = sb.environments
    drifting = environments.Drifting([np.full(3, 0.2), np.full(3, 0.8)], [1, 10])
    return {
        **{f"set {name}": made() for name, made in make.SETS.items()},
        **{f"policy {name}": one.policy for name, one in make.KEPT.items() if one.policy.__module__ != make.__name__},
        "policy Clairvoyant": sb.policies.Clairvoyant(PROBLEM),
        "environment Bernoulli": environments.Bernoulli([0.2, 0.5]),
        "environment Beta": environments.Beta([2.0, 1.0], [1.0, 3.0]),
        "environment Drifting": drifting,
        "environment Table": environments.Table(np.arange(6.0).reshape(3, 2) / 6),
        "problem": PROBLEM,
        "result": sb.simulate(PROBLEM, sb.policies.CombUCB1(), horizon=20, runs=2, seed=1, engine="plain"),
        "error": sb.errors.BadArgument("no"),
    }


if __name__ == "__main__":
    data = {name: pickle.dumps(one, protocol=4) for name, one in kept().items()}
    data["own policy"] = cloudpickle.dumps(First())  # with its class, which is in no module
    written = {name: base64.b64encode(one).decode() for name, one in data.items()}
    Path(__file__).with_name("pickles.json").write_text(json.dumps(written, indent=1) + "\n")
