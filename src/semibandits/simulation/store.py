"""A store of finished blocks in a folder, so that a simulation that was killed goes on where it stopped."""

import io
import json
import os
import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semibandits._util.files import make_folders, read_file, read_npy, remove_half_written, replace_file
from semibandits._util.fingerprint import Fingerprint, fingerprint
from semibandits._util.fingerprint.former_names import SAME_NUMBERS, TODAY, Former
from semibandits._util.marked_folder import MarkedFolder
from semibandits._util.ownership import PACKAGE
from semibandits._util.resources import memory
from semibandits.errors import BadState, StoreFailed
from semibandits.simulation.parcel import edition
from semibandits.simulation.task import Outcome, Task

NOTE = "experiment.json"
MOST_NOTE = 2**24
"""Bytes of it."""
MOST_PARTS = 1000
"""Of the user's code and data that it names."""
ABOUT = "about"
"""In a block: what it is of."""
SHOWN = 3
"""So many differences an error names."""
BLOCK = re.compile(r"[0-9a-f]{16}-\d+\.npz")


def is_stored(name: str) -> bool:
    """Whether a store may have written a file of this name."""
    return name == NOTE or BLOCK.fullmatch(name) is not None


class Store:
    """One experiment's folder: what it is, and a file for each finished block of runs of each policy.

    An experiment is the same if its data are, and the code that plays it: the user's as far as it can be seen, and all
    of this package's. `unseen` tells what cannot.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        experiment: tuple[object, ...],
        policies: Sequence[object],
        description: str,
    ) -> None:
        self._folder = Path(folder)
        made_of = self._identify(experiment, policies, TODAY)
        note = {
            "experiment": made_of.digest,
            "description": description,
            "written_by": edition()[PACKAGE],
            "unseen": list(self.unseen)[:MOST_PARTS],
            "parts": dict(list(made_of.parts.items())[:MOST_PARTS]),
        }
        marked = MarkedFolder(self._folder, NOTE, MOST_NOTE)
        path = marked.marker
        others: list[str] = []
        try:
            make_folders(self._folder)
            remove_half_written(self._folder, is_stored)
            others = marked.listed()
            if not path.exists():
                if others and not path.exists():
                    raise BadState(f"{folder} is not empty and holds no experiment: {self._way_out(others)}")
                self._write(path, json.dumps(note, indent=1).encode())
            found = marked.read_marker()
            held = str(found["experiment"])
            known = [str(one) for one in found.get("unseen", [])]
            author = str(found.get("written_by", f"an earlier version of {PACKAGE}"))
        except (BadState, StoreFailed):
            raise
        except OSError as error:
            raise StoreFailed(f"{folder} cannot be used as a store: {error}") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise BadState(f"{path} is damaged ({error!s:.100}): {self._way_out(others)}") from error
        if author != note["written_by"]:
            if author not in SAME_NUMBERS:
                raise BadState(
                    f"{folder} was written by {_named(author)}, this is {_named(note['written_by'])}: they may play "
                    "differently. Play in another folder, or remove this one, and its runs are played again"
                )
            made_of = self._identify(experiment, policies, SAME_NUMBERS[author])
        if held != made_of.digest:
            what = f"{found.get('description')!s:.300}"
            differs = f"; {_difference(found.get('parts'), made_of)}" if what == description[:300] else ""
            raise BadState(
                f"{folder} holds another experiment: {what}{differs}. Give another folder, or remove this one; what "
                "has changed while it was played (a count, remembered answers) is as before in a new process"
            )
        unseen = list(dict.fromkeys([*known, *self.unseen]))[:MOST_PARTS]
        if unseen != known:
            self._write(path, json.dumps({**found, "unseen": unseen}, indent=1).encode())

    def _identify(self, experiment: tuple[object, ...], policies: Sequence[object], former: Former) -> Fingerprint:
        """Takes the names of the experiment and of its policies; in a store of an earlier edition, those of then."""
        made_of = fingerprint(experiment, former)
        played = [fingerprint(policy, former) for policy in policies]
        self._experiment = made_of.digest
        self._policies = [policy.digest for policy in played]
        self.unseen = tuple(dict.fromkeys(said for one in (made_of, *played) for said in one.unseen))
        return made_of

    def _way_out(self, files: list[str]) -> str:
        """What can be done where the note does not say what the folder holds."""
        runs = files and all(map(is_stored, files))
        return f"remove {self._folder}, and its runs are played again" if runs else "give another folder"

    def load(self, policy: int, task: Task, runs: int) -> Iterator[tuple[int, Outcome]]:
        """The finished runs below `runs`: the first run of a block, and what is known of it. Damaged files are not.

        A whole file that says of itself that it holds something else raises `BadState`: it came from another folder.
        """
        for path in sorted(self._folder.glob(f"{self._policies[policy][:16]}-*.npz")):
            try:
                first = int(path.stem.rpartition("-")[2])
                file = _arrays(read_file(path, memory() // 4))
                found = {name: file[name] for name in Outcome.empty(task, 0).arrays()}
                timed = {"seconds": file["seconds"]} if "seconds" in file else {}
                count = len(found["regret"])
                expected = Outcome.empty(task, count).arrays() | {name: np.empty(count) for name in timed}
                about = json.loads(str(file[ABOUT]))
                if not isinstance(about, dict):
                    continue
            except Exception:  # NumPy and zipfile have many for a damaged file
                continue
            self._check_owner(path, about, self._about(policy, first, count))
            found |= timed
            if _kinds(found) == _kinds(expected):
                yield first, Outcome.of({name: array[: max(0, runs - first)] for name, array in found.items()})

    def save(self, policy: int, first: int, outcome: Outcome) -> None:
        data = io.BytesIO()
        timed = {} if outcome.seconds is None else {"seconds": outcome.seconds}
        about = self._about(policy, first, len(outcome.regret)) | {
            "recorded": list(outcome.arrays()),
            "written_by": edition()[PACKAGE],
        }
        np.savez(data, **outcome.arrays(), **timed, **{ABOUT: np.array(json.dumps(about))})  # type: ignore[arg-type]
        self._write(self._folder / f"{self._policies[policy][:16]}-{first}.npz", data.getvalue())

    def _about(self, policy: int, first: int, runs: int) -> dict[str, Any]:
        """What a block says of itself."""
        return {"experiment": self._experiment, "policy": self._policies[policy], "first_run": first, "runs": runs}

    @staticmethod
    def _check_owner(path: Path, found: dict[str, Any], expected: dict[str, Any]) -> None:
        author = found.get("written_by", edition()[PACKAGE])  # of earlier editions, which the note tells, there is none
        if author != edition()[PACKAGE]:
            raise BadState(
                f"{path} was written by {_named(author)}, this is {_named(edition()[PACKAGE])}: they may play "
                "differently. Remove it, and its runs are played again"
            )
        for name, value in expected.items():
            if found.get(name) != value:
                other = "another experiment" if name == "experiment" else "another policy" if name == "policy" else ""
                what = f"of {other}" if other else f"from {found.get('first_run')!s:.20} on, not from {path.stem[17:]}"
                raise BadState(
                    f"{path} holds runs {what}: was it copied or renamed? Remove it, or give the store another folder"
                )

    def _write(self, path: Path, data: bytes) -> None:
        try:
            replace_file(path, data)
        except OSError as error:
            kept = len(list(self._folder.glob("*.npz")))
            raise StoreFailed(
                f"{path} could not be written: {error.strerror or error}. The {kept} finished blocks before it are "
                "kept; the same call, made again, goes on from there"
            ) from error


def _named(version: object) -> str:
    said = f"{version!s:.100}"
    return said if PACKAGE in said else f"{PACKAGE} {said}"


def _difference(parts: object, made_of: Fingerprint) -> str:
    """What of the user's code and data is not as it was."""
    known = parts if isinstance(parts, dict) else {}
    changed = [name for name, value in made_of.parts.items() if known.get(name, value) != value]
    new = [name for name in made_of.parts if name not in known] if len(known) < MOST_PARTS else []
    gone = [name for name in known if name not in made_of.parts]
    for names, what in ((changed, "changed"), (new, "new"), (gone, "gone")):
        if names:
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            return f"{', '.join(names[:SHOWN])}{more} {'is' if len(names) == 1 else 'are'} {what} since"
    return "this one differs in data or code"


def _arrays(data: bytes) -> dict[str, NDArray[Any]]:
    """Those of an .npz file as `save` writes it, in which nothing is packed and so nothing unpacks to more."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        parts = file.infolist()
        packed = any(part.compress_type != zipfile.ZIP_STORED for part in parts)
        if packed or sum(part.file_size for part in parts) > len(data):
            raise ValueError("no file of a store")
        return {part.filename.removesuffix(".npy"): read_npy(file.read(part)) for part in parts}


def _kinds(arrays: dict[str, NDArray[Any]]) -> dict[str, tuple[object, ...]]:
    return {name: (array.dtype, array.shape) for name, array in arrays.items()}
