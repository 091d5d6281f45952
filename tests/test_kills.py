"""Processes killed while they save: the file is always one that was written, and nothing is left beside it."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from support.forking import MARKS

pytestmark = MARKS

COMMON = """
import json, os, random, signal, struct, sys, time
from pathlib import Path
import semibandits as sb

folder, kills = Path(sys.argv[1]), int(sys.argv[2])
path, feasible, chance = folder / "learner.json", sb.sets.TopK(100, 10), random.Random(0)
broke, left = [], 0

def advance(learner):
    decision = learner.ask()
    learner.tell(decision.id, [(decision.round * 7 + item) % 10 / 10 for item in decision.items.tolist()])

def start(work):
    ours, theirs = os.pipe()
    child = os.fork()
    if child:
        os.close(theirs)
        return child, ours, os.read(ours, 8)
    try:
        os.close(ours)
        work(theirs)
    except BaseException as error:
        os.write(theirs, repr(error).encode())
    os._exit(1)

def stop(child, pipe, said):
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(pipe, "rb") as file:
        return said + file.read()

def beside():
    return sorted(one.name for one in folder.iterdir() if one != path)
"""

ONE = f"""{COMMON}
def keep_saving(pipe):
    learner = sb.Learner.load(path, feasible)
    while True:
        advance(learner)
        learner.save(path)
        os.write(pipe, struct.pack("<q", learner.round))

model = sb.Learner(feasible, sb.policies.CombUCB1(), seed=0)
model.save(path)
for number in range(kills):
    child = start(keep_saving)
    time.sleep(chance.uniform(0.0, 0.01))
    acknowledged = struct.unpack("<q", stop(*child)[-8:])[0]
    left += bool(beside())
    try:
        found = sb.Learner.load(path, feasible)
    except Exception as error:
        broke.append(f"kill {{number}}: {{error!r}}")
        break
    if not acknowledged <= found.round <= acknowledged + 1:
        broke.append(f"kill {{number}}: round {{acknowledged}} was acknowledged, found {{found.round}}")
        break
    while model.round < found.round:
        advance(model)
    if (found.scores() != model.scores()).any():
        broke.append(f"kill {{number}}: another learner than was saved")
    found.save(path)
    if beside():
        broke.append(f"kill {{number}}: {{beside()}} left after the next save")
print(json.dumps({{"broke": broke, "left": left, "saves": model.round}}))
"""

SEVERAL = f"""{COMMON}
def keep_saving(pipe):
    learner = sb.Learner(feasible, sb.policies.CombUCB1(), seed=0)
    while True:
        advance(learner)
        learner.save(path, overwrite=True)
        if learner.round == 1:
            os.write(pipe, b".")

writers = [start(keep_saving) for _ in range(3)]
for number in range(kills):
    time.sleep(chance.uniform(0.0, 0.01))
    said = stop(*writers.pop(0))
    if said != b".":
        broke.append(f"kill {{number}}: {{said[-200:]}}")
    writers.append(start(keep_saving))
    found = sb.Learner.load(path, feasible)
    model = sb.Learner(feasible, sb.policies.CombUCB1(), seed=0)
    for _ in range(found.round):
        advance(model)
    if (found.scores() != model.scores()).any():
        broke.append(f"kill {{number}}: another learner than was saved")
for writer in writers:
    stop(*writer)
left = len(beside())
sb.Learner(feasible, sb.policies.CombUCB1(), seed=0).save(path, overwrite=True)
if beside():
    broke.append(f"{{beside()}} left after the last save")
print(json.dumps({{"broke": broke, "left": left, "saves": None}}))
"""


@pytest.mark.parametrize("kills", [10, pytest.param(300, marks=pytest.mark.long)])
@pytest.mark.parametrize("writers", [1, 3])
def test_killed_while_saving(
    tmp_path: Path, kills: int, writers: int, campaign: Callable[[str, list[str]], None]
) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", ONE if writers == 1 else SEVERAL, str(tmp_path), str(kills)],
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    found = json.loads(ended.stdout)
    about = f"{found['saves']} saves, {found['left']} half files left and removed" if writers == 1 else "of one file"
    campaign(f"kills: {kills} of {writers} processes that save a learner, {about}", found["broke"])
