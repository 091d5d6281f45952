"""A learner as a file holds it: JSON with a version and a checksum, replaced as a whole or not at all."""

import dataclasses
import errno
import hashlib
import math
import os
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from semibandits import policies
from semibandits._util.files import NoPlainFile, read_file, read_head, replace_file
from semibandits._util.json_files import DAMAGE, Count
from semibandits._util.locks import alone
from semibandits._util.resources import memory
from semibandits.agent import Agent, Learned
from semibandits.errors import BadArgument, BadState, FileChanged, Unsupported
from semibandits.live.reading import Reader
from semibandits.live.tally import Totals
from semibandits.types import Bounds, FeasibleSet, IndexPolicy, Items, Policy, Weights

FORMAT = "semibandits.learner"
VERSION = 4
"""In files of version 1 there is no fingerprint, in those of version 2 no epoch, in those of version 3 no tally, no
times and nothing of weights beyond the bounds."""
HEAD = 160
"""So many bytes at the beginning of a file tell it from any other: its checksum is among them."""
MOST_BYTES = 2**32
"""A larger file is not read, nor one that takes more than a quarter of the memory."""


Number = float | Literal["inf", "-inf", "nan"]
"""JSON has no other way to say these."""


Parameter = bool | int | float | str | list[int | float | list[float]] | None


class SavedPolicy(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    parameters: dict[str, Parameter] | None
    """None for a policy of the user's own, which must be given again."""


class SavedArray(msgspec.Struct, forbid_unknown_fields=True):
    """Numbers in the order of their places; "int64" or "float64"."""

    kind: Literal["int64", "float64"]
    shape: list[Count]
    values: list[int | Number]


class SavedDecision(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    round: Count
    items: list[Count]
    weights: list[float | None] | None
    initial: bool
    cancelled: bool
    note: SavedArray | None = None
    epoch: Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{16})?$")] = ""
    time: float = 0.0
    expired: bool = False
    earlier: bool = False
    """Whether another policy made it."""
    chosen_from: str = ""
    """What the set prints that it was chosen from, if that was not the learner's own."""
    renumbered: bool = False
    """Whether its items had other numbers when it was made."""


class SavedRound(msgspec.Struct, forbid_unknown_fields=True):
    """What was observed in a round that a window still covers, on the policy's scale."""

    round: Count
    items: list[Count]
    x: list[float]


class SavedLearner(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    name: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{16}$")]
    seed: int
    round: Count
    n_items: Count
    max_size: Count
    sense: str
    bounds: tuple[float | list[float], float | list[float]]
    """Of all items, or of each in their order."""
    labels: list[str] | None
    uncovered: str
    policy: SavedPolicy
    stats: list[list[Number]]
    init_round: list[Count]
    init_x: list[float]
    logged: Count
    outstanding: list[SavedDecision]
    finished: list[SavedDecision]
    recent: list[SavedRound] = []
    feedback: Literal["semi", "bandit"] = "semi"
    state: list[SavedArray] | None = None
    """Of a policy that chooses whole solutions."""
    fingerprint: list[str] = []
    """By which the set is known again."""
    outside: Literal["error", "clip"] = "error"
    clipped: list[Count] | None = None
    """Weights beyond the bounds, by item; None: none were."""
    tally: list[list[float]] | None = None
    """Counts, sums and sums of squares of all that was told, on the scale of the bounds; None: it was not kept."""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    version: int
    checksum: str
    learner: msgspec.Raw


# Files


class Files:
    """The files that a learner has loaded or written, by real path: what they begin with."""

    def __init__(self) -> None:
        self._heads: dict[Path, tuple[bytes, ...]] = {}

    def know(self, path: str | os.PathLike[str], head: bytes) -> None:
        self._heads[_real(path)] = (head,)

    def write(self, path: str | os.PathLike[str], learner: SavedLearner, overwrite: bool) -> None:
        """Replaces a file that is known, or any."""
        target = _real(path)
        if not target.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "No such folder", str(target.parent))
        body = msgspec.json.encode(learner)
        data = msgspec.json.encode(_File(FORMAT, VERSION, hashlib.sha256(body).hexdigest(), msgspec.Raw(body)))
        alone(target.parent, lambda: self._replace(target, data, overwrite))

    def _replace(self, target: Path, data: bytes, overwrite: bool) -> None:
        there, new = self._there(target, overwrite), data[:HEAD]
        self._heads[target] = (there, new)  # one of these is there if we are interrupted
        replace_file(target, data)
        self._heads[target] = (*self._heads[target][-2:], new)  # a signal handler may have saved meanwhile

    def _there(self, target: Path, overwrite: bool) -> bytes:
        """What the file begins with. Raises where others have written it; an empty one has nothing to lose."""
        before = self._heads.get(target, ())
        try:
            head = read_head(target, HEAD)
        except (FileNotFoundError, NoPlainFile):  # which is refused where it would be replaced
            return b""
        known = (*before, *self._heads.get(target, ()))
        if head and head not in known and not overwrite:
            if not head.startswith(b'{"format":"%b"' % FORMAT.encode()):
                what = "is no saved learner"
            else:
                what = "has changed since this learner loaded or saved it" if known else "is none this learner has seen"
            raise FileChanged(
                f"{target} {what}, and would be lost: load it, save to another path, or replace it with save(path, "
                "overwrite=True)"
            )
        return head


def _real(path: str | os.PathLike[str]) -> Path:
    return Path(os.path.realpath(path))


def read(path: str | os.PathLike[str]) -> tuple[SavedLearner, bytes]:
    """What a file holds, and what it begins with."""
    try:
        data = read_file(path, min(MOST_BYTES, memory() // 4))
    except NoPlainFile as error:
        raise BadState(f"{path} is not a saved learner: {error.strerror}") from error
    try:
        file = msgspec.json.decode(data, type=_File)
    except DAMAGE as error:
        raise BadState(f"{path} is not a saved learner, or was cut short ({len(data)} bytes): {error}") from error
    if file.format != FORMAT:
        raise BadState(f"{path} holds {file.format!r:.100}, expected {FORMAT!r}")
    if not 1 <= file.version <= VERSION:
        raise BadState(f"{path} has version {file.version}; this release reads versions 1 to {VERSION}")
    if hashlib.sha256(bytes(file.learner)).hexdigest() != file.checksum:
        raise BadState(f"{path} was damaged or edited: its checksum does not match")
    try:
        return msgspec.json.decode(file.learner, type=SavedLearner), data[:HEAD]
    except DAMAGE as error:
        raise BadState(f"{path} is not a saved learner: {error}") from error


# Arrays and parts of a learner


def _numbers(values: NDArray[np.float64]) -> list[list[Number]]:
    """A matrix as JSON can say it."""
    rows: list[list[Number]] = values.tolist()
    if np.isfinite(values).all():
        return rows
    return [[x if math.isfinite(x) else str(x) for x in row] for row in values.tolist()]  # type: ignore[misc]


def saved_array(array: Any, what: str) -> SavedArray:
    kinds: Any = ("int64", "float64")
    if not isinstance(array, np.ndarray) or array.dtype.name not in kinds:
        raise Unsupported(f"{what} must be made of NumPy arrays of int64 or float64 to be saved, got {array!r:.200}")
    values = [x if math.isfinite(x) else str(x) for x in array.ravel().tolist()]
    return SavedArray(array.dtype.name, list(array.shape), values)  # type: ignore[arg-type]


def restored_array(saved: SavedArray) -> NDArray[Any]:
    if math.prod(saved.shape) != len(saved.values):
        raise BadArgument(f"an array of shape {saved.shape} has {len(saved.values)} numbers")
    if saved.kind == "int64" and not all(isinstance(x, int) for x in saved.values):
        raise BadArgument("an array of whole numbers holds others")
    return np.array([float(x) if isinstance(x, str) else x for x in saved.values], dtype=saved.kind).reshape(
        saved.shape
    )


def saved_policy(policy: Any) -> SavedPolicy:
    """Name and parameters, by which one of ours can be made again; the user's own must be given again."""
    name = type(policy).__name__
    if type(policy) is not getattr(policies, name, None) or not dataclasses.is_dataclass(policy):
        return SavedPolicy(name, None)
    values = {field.name: getattr(policy, field.name) for field in dataclasses.fields(policy)}
    values = {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
    if any(isinstance(value, np.ndarray) for value in values.values()):  # more than a file is to hold
        return SavedPolicy(name, None)
    return SavedPolicy(name, values)


def restored_policy(saved: SavedPolicy, reordered: bool) -> IndexPolicy | Policy:
    """The policy in the file; `reordered` tells that its items have other numbers there."""
    kind = getattr(policies, saved.name, None) if saved.name in policies.__all__ else None
    if saved.parameters is None or not (isinstance(kind, type) and issubclass(kind, IndexPolicy | Policy)):
        raise BadArgument(f"the policy {saved.name} cannot be made from a file: pass it as policy=")
    if reordered and any(isinstance(value, list) for value in saved.parameters.values()):
        raise BadArgument(
            f"its items are in another order now, and the parameters of {saved.name} are by item: pass it as policy="
        )
    return kind(**saved.parameters)


def saved_bounds(bounds: Bounds) -> tuple[Any, Any]:
    lo, hi = bounds
    return np.asarray(lo).tolist(), np.asarray(hi).tolist()


def check_fits(saved: SavedLearner, feasible: FeasibleSet) -> None:
    if (saved.n_items, saved.max_size) != (feasible.n_items, feasible.max_size):
        raise BadArgument(
            f"it was saved with n_items={saved.n_items}, max_size={saved.max_size}; "
            f"{feasible!r} has n_items={feasible.n_items}, max_size={feasible.max_size}"
        )


def check_same_kind(policy: IndexPolicy | Policy, saved: SavedPolicy) -> None:
    given = saved_policy(policy)
    if given.name != saved.name or (given.parameters is None) != (saved.parameters is None):
        raise BadArgument(f"it was saved with the policy {saved.name}, got {policy!r}")


def saved_agent(agent: Agent) -> dict[str, Any]:
    """The fields of `SavedLearner` that tell what was learned."""
    learned = agent.learned()
    what = f"the state of {agent.policy!r:.100}"
    return {
        "policy": saved_policy(agent.policy),
        "stats": _numbers(learned.stats),
        "logged": learned.logged,
        "init_round": learned.init_round.tolist(),
        "init_x": learned.init_x.tolist(),
        "recent": [SavedRound(round, items.tolist(), x.tolist()) for round, items, x in learned.recent],
        "state": None if learned.state is None else [saved_array(array, what) for array in learned.state],
    }


def restore_agent(agent: Agent, saved: SavedLearner, reader: Reader) -> None:
    """Takes over what was saved, and refuses what no learner could have written."""
    learned = Learned(
        np.array(saved.stats, dtype=np.float64),
        saved.logged,
        np.array(saved.init_round, dtype=np.int64),
        np.array(saved.init_x, dtype=np.float64),
        [_observed(part, reader, saved.round) for part in saved.recent],
        None if saved.state is None else [restored_array(one) for one in saved.state],
    )
    agent.restore(learned, saved.round, finite=saved.policy.parameters is not None)


def restored_counts(saved: list[int] | None, n_items: int) -> NDArray[np.int64]:
    counts = np.zeros(n_items, dtype=np.int64) if saved is None else np.array(saved, dtype=np.int64)
    if counts.shape != (n_items,):
        raise BadArgument(f"weights beyond the bounds are counted for {n_items} items, got {counts.size} numbers")
    return counts


def restored_tally(saved: SavedLearner, agent: Agent) -> Totals:
    """What was told in all; of a file that does not say it, what the policy has not forgotten."""
    if saved.tally is None:
        counts, sums = agent.stats[0], np.minimum(agent.stats[1], agent.stats[0])
        return Totals(counts.copy(), sums, sums.copy())  # as of coins, the widest there is
    rows = [np.array(row, dtype=np.float64) for row in saved.tally]
    if [row.shape for row in rows] != [(saved.n_items,)] * 3:
        raise BadArgument(f"a tally has three numbers for each of {saved.n_items} items")
    totals = Totals(*rows)
    slack = 1.0 + 1e-9
    sound = (totals.squares >= 0.0) & (totals.squares <= totals.sums * slack) & (totals.sums <= totals.counts * slack)
    if not (sound & (totals.counts < 2.0**63)).all():
        raise BadArgument("counts, sums and squares of the tally contradict each other")
    return totals


def _observed(saved: SavedRound, reader: Reader, last: int) -> tuple[int, Items, Weights]:
    """What one round of a window saw."""
    items, x = reader.items(saved.items), np.array(saved.x, dtype=np.float64)
    sound = items.shape == x.shape and len(set(saved.items)) == items.size and ((x >= 0.0) & (x <= 1.0)).all()
    if not sound or saved.round > last:
        raise BadArgument(f"the observations of round {saved.round} are out of range")
    return saved.round, items, x
