"""The file a learner is saved to: JSON with a version and a checksum, replaced as a whole or not at all."""

import hashlib
import os
import secrets
from pathlib import Path

import msgspec

from semibandits.errors import BadState

FORMAT = "semibandits.learner"
VERSION = 1


class SavedPolicy(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    parameters: dict[str, float | int | str | bool | None]


class SavedDecision(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    round: int
    items: list[int]
    weights: list[float | None] | None
    initial: bool
    cancelled: bool


class SavedLearner(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    seed: int
    round: int
    n_items: int
    max_size: int
    sense: str
    bounds: tuple[float, float]
    labels: list[str] | None
    uncovered: str
    policy: SavedPolicy
    stats: list[list[float]]
    init_round: list[int]
    init_x: list[float]
    logged: int
    outstanding: list[SavedDecision]
    finished: list[SavedDecision]


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    version: int
    checksum: str
    learner: msgspec.Raw


def write(path: str | os.PathLike[str], learner: SavedLearner) -> None:
    """Writes beside the old file, then puts the new one in its place: a crash leaves one of the two, whole."""
    body = msgspec.json.encode(learner)
    data = msgspec.json.encode(_File(FORMAT, VERSION, hashlib.sha256(body).hexdigest(), msgspec.Raw(body)))
    target = Path(path)
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def read(path: str | os.PathLike[str]) -> SavedLearner:
    data = Path(path).read_bytes()
    try:
        file = msgspec.json.decode(data, type=_File)
    except msgspec.MsgspecError as error:
        raise BadState(f"{path} is not a saved learner, or was cut short ({len(data)} bytes): {error}") from error
    if file.format != FORMAT:
        raise BadState(f"{path} holds {file.format!r:.100}, expected {FORMAT!r}")
    if file.version != VERSION:
        raise BadState(f"{path} has version {file.version}; this release reads version {VERSION}")
    if hashlib.sha256(bytes(file.learner)).hexdigest() != file.checksum:
        raise BadState(f"{path} was damaged or edited: its checksum does not match")
    try:
        return msgspec.json.decode(file.learner, type=SavedLearner)
    except msgspec.MsgspecError as error:
        raise BadState(f"{path} is not a saved learner: {error}") from error
