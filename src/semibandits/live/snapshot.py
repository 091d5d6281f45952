"""A learner as a file holds it: what is written of its parts, and what is taken back."""

import dataclasses
from typing import Any

import numpy as np

from semibandits import policies
from semibandits._util.ownership import ours
from semibandits.agent import IndexAgent, PolicyAgent
from semibandits.errors import BadArgument, Unsupported
from semibandits.live import saved_file
from semibandits.live.decisions import Record
from semibandits.live.reading import Reader
from semibandits.policies.solution.base import CompiledPolicy, remade
from semibandits.types import FeasibleSet, IndexPolicy, Items, Policy, Weights
from semibandits.types.policies import CONSTANTS


def saved_policy(policy: Any) -> saved_file.SavedPolicy:
    """Name and parameters, by which one of ours can be made again; the user's own must be given again."""
    name = type(policy).__name__
    if type(policy) is not getattr(policies, name, None) or not dataclasses.is_dataclass(policy):
        return saved_file.SavedPolicy(name, None)
    values = {field.name: getattr(policy, field.name) for field in dataclasses.fields(policy)}
    values = {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
    if any(isinstance(value, np.ndarray) for value in values.values()):  # more than a file is to hold
        return saved_file.SavedPolicy(name, None)
    return saved_file.SavedPolicy(name, values)


def restored_policy(saved: saved_file.SavedPolicy, reordered: bool) -> IndexPolicy | Policy:
    """The policy in the file; `reordered` tells that its items have other numbers there."""
    kind = getattr(policies, saved.name, None) if saved.name in policies.__all__ else None
    if saved.parameters is None or not (isinstance(kind, type) and issubclass(kind, IndexPolicy | Policy)):
        raise BadArgument(f"the policy {saved.name} cannot be made from a file: pass it as policy=")
    if reordered and any(isinstance(value, list) for value in saved.parameters.values()):
        raise BadArgument(
            f"its items are in another order now, and the parameters of {saved.name} are by item: pass it as policy="
        )
    return kind(**saved.parameters)


def check_fits(saved: saved_file.SavedLearner, feasible: FeasibleSet) -> None:
    if (saved.n_items, saved.max_size) != (feasible.n_items, feasible.max_size):
        raise BadArgument(
            f"it was saved with n_items={saved.n_items}, max_size={saved.max_size}; "
            f"{feasible!r} has n_items={feasible.n_items}, max_size={feasible.max_size}"
        )


def check_same_kind(policy: IndexPolicy | Policy, saved: saved_file.SavedPolicy) -> None:
    given = saved_policy(policy)
    if given.name != saved.name or (given.parameters is None) != (saved.parameters is None):
        raise BadArgument(f"it was saved with the policy {saved.name}, got {policy!r}")


def saved_agent(agent: IndexAgent | PolicyAgent) -> dict[str, Any]:
    """The fields of `SavedLearner` that tell what was learned."""
    known = {"stats": saved_file.numbers(agent.stats), "logged": agent.logged, "policy": saved_policy(agent.policy)}
    if isinstance(agent, IndexAgent):
        recent = [
            saved_file.SavedRound(round, items.tolist(), x.tolist())
            for round, parts in agent.recent.items()
            for items, x in parts
        ]
        return {**known, "init_round": agent.init_round.tolist(), "init_x": agent.init_x.tolist(), "recent": recent}
    if not isinstance(agent.state, tuple):
        raise Unsupported(f"a state must be a tuple of NumPy arrays to be saved, got {agent.state!r:.200}")
    what = f"the state of {agent.policy!r:.100}"
    return {
        **known,
        "init_round": [],
        "init_x": [],
        "state": [saved_file.saved_array(array, what) for array in agent.state],
    }


def restore_agent(agent: IndexAgent | PolicyAgent, saved: saved_file.SavedLearner, inputs: Reader) -> None:
    """Takes over what was saved, and refuses what no learner could have written."""
    _fill("stats", agent.stats, saved.stats)
    counts, sums = agent.stats[0], agent.stats[1]
    if not ((counts >= 0.0) & (sums >= 0.0) & (sums <= counts * (1.0 + 1e-9)) & np.isfinite(counts)).all():
        raise BadArgument("counts and sums of weights contradict each other")
    if saved.policy.parameters is not None and not np.isfinite(agent.stats).all():
        raise BadArgument("statistics must be finite")
    agent.logged = saved.logged
    if isinstance(agent, IndexAgent):
        _fill("init_round", agent.init_round, saved.init_round)
        _fill("init_x", agent.init_x, saved.init_x)
        if agent.init_round.max() > saved.round or agent.init_x.min() < 0.0 or agent.init_x.max() > 1.0:
            raise BadArgument("observations of the initialisation are out of range")
        agent.restore_window(saved.round, [_observed(part, inputs, saved.round) for part in saved.recent])
    else:
        _restore_state(agent, saved)


def _restore_state(agent: PolicyAgent, saved: saved_file.SavedLearner) -> None:
    arrays = [saved_file.restored_array(one) for one in saved.state or ()]
    expected = [(array.dtype.name, array.shape) for array in agent.state]
    found = [(array.dtype.name, array.shape) for array in arrays]
    if expected != found:
        raise BadArgument(f"the state should have arrays {expected!r:.200}, got {found!r:.200}")
    names = getattr(agent.state, "_fields", ("",) * len(arrays))
    if ours(agent.policy) and not all(
        name in CONSTANTS or np.isfinite(array).all() for name, array in zip(names, arrays, strict=True)
    ):
        raise BadArgument("the state must be finite")
    restored = remade(agent.state, arrays)
    constants = {name: getattr(agent.state, name) for name in CONSTANTS if name in names}
    agent.state = restored._replace(**constants) if constants else restored


def check_note(agent: IndexAgent | PolicyAgent, record: Record) -> None:
    """Refuses a note that the policy cannot have made for this decision."""
    note, policy = record.note, agent.policy
    found = getattr(note, "shape", None)
    expected = found
    if record.initial or isinstance(policy, IndexPolicy):
        expected = None
    elif isinstance(policy, CompiledPolicy) and (kernels := policy.kernels(agent.feasible)) is not None:
        expected = {"none": None, "chosen": record.items.shape, "all": (agent.feasible.n_items,)}[kernels.note]
    elif policy.needs_note and (ours(policy) or found is None):
        expected = record.items.shape + (found or ())[1:]
    if found != expected:
        raise BadArgument(f"the note of the decision of round {record.round} should have shape {expected}, got {found}")
    made_here = isinstance(policy, Policy) and ours(policy) and note is not None
    if made_here and (note.dtype != np.float64 or not np.isfinite(note).all()):
        raise BadArgument(f"the note of the decision of round {record.round} must be finite numbers")


def _fill(name: str, array: Any, values: Any) -> None:
    if np.shape(values) != array.shape:
        raise BadArgument(f"{name} should have shape {array.shape}, got {np.shape(values)}")
    array[...] = np.array(values, dtype=array.dtype)


def _observed(saved: saved_file.SavedRound, inputs: Reader, last: int) -> tuple[int, Items, Weights]:
    """What one round of a window saw."""
    items, x = inputs.items(saved.items), np.array(saved.x, dtype=np.float64)
    sound = items.shape == x.shape and len(set(saved.items)) == items.size and ((x >= 0.0) & (x <= 1.0)).all()
    if not sound or saved.round > last:
        raise BadArgument(f"the observations of round {saved.round} are out of range")
    return saved.round, items, x
