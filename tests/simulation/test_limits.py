"""How much may be asked of a simulation."""

from typing import Any

import pytest

from semibandits import Problem, environments, errors, policies, problems, sets, simulate

grid = problems.grid_path(2, 0.4)
ucb = policies.CombUCB1()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"horizon": 10**12 + 1}, "^horizon must be at most 1,000,000,000,000$"),
        ({"horizon": 10**5000}, "^horizon must be at most 1,000,000,000,000$"),
        ({"runs": 10**26}, "^runs must be at most 1,000,000,000$"),
        (
            {"runs": 10**9, "checkpoints": range(1, 11)},
            "^the results of 1,000,000,000 runs of each policy, of 10 rounds, take 75 GiB of memory",
        ),
        ({"runs": 10**9, "checkpoints": [10], "record": ["counts", "sums"]}, "take 186 GiB of memory"),
        ({"horizon": 10**11, "record": "solutions"}, "take 1,490 GiB of memory"),
    ],
)
def test_what_no_machine_can_hold_is_refused(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], says: str
) -> None:
    monkeypatch.setattr("semibandits.simulation.machine.os.sysconf", lambda name: 2**17)  # 16 GiB
    with pytest.raises(errors.BadArgument, match=says):
        simulate(grid, ucb, **{"horizon": 10, "runs": 1, "seed": 0, **options})


def test_a_world_that_drifts_needs_every_round_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("os.sysconf")  # 64 GiB are taken for granted
    drifting = Problem(sets.TopK(2, 1), environments.Drifting([[0.1, 0.9]], starts=[1]))
    with pytest.raises(errors.BadArgument, match="take 745 GiB of memory, and this machine has 64: ask for fewer"):
        simulate(drifting, ucb, horizon=10**11, runs=1, seed=0)
