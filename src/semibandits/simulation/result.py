"""What a simulation gives back."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits.errors import BadArgument
from semibandits.inputs import check_confidence


class SummaryRow(NamedTuple):
    """One policy's regret at one round, over all runs; `low` and `high` bound its mean with the given confidence."""

    policy: str
    round: int
    runs: int
    mean: float
    deviation: float
    error: float
    low: float
    high: float


class Summary(tuple[SummaryRow, ...]):
    """Rows, one per policy, that print as a table."""

    __slots__ = ()

    def __str__(self) -> str:
        width = max(len("policy"), *(len(row.policy) for row in self))
        lines = [f"{'policy':<{width}}  {'regret':>12}  {'± error':>10}  {'interval':>25}  {'runs':>6}"]
        for row in self:
            interval = f"[{row.low:.2f}, {row.high:.2f}]"
            lines.append(f"{row.policy:<{width}}  {row.mean:>12.2f}  {row.error:>10.2f}  {interval:>25}  {row.runs:>6}")
        return "\n".join(lines)

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class SimulationResult:
    """Cumulative regret of every policy and run at the checkpoints, and what is needed to get it again."""

    regret: NDArray[np.float64]
    """Shape (policies, runs, checkpoints)."""
    rounds: NDArray[np.int64]
    """The checkpoints; the last one is the horizon."""
    policies: tuple[str, ...]
    problem: str
    seed: int
    kind: str
    """"expected" or "realised" regret."""
    engine: str
    seconds: float
    version: str

    def __repr__(self) -> str:
        policies, runs, _ = self.regret.shape
        return (
            f"SimulationResult({policies} policies x {runs} runs of {self.rounds[-1]} rounds, {self.kind} regret, "
            f"seed {self.seed}, {self.engine}, {self.seconds:.1f} s)"
        )

    def summary(self, round: int | None = None, confidence: float = 0.95) -> Summary:
        """Mean regret of each policy at a checkpoint (default: the horizon), with standard error and interval.

        The interval is Student's, over runs. With a single run, error and interval are unknown (NaN).
        """
        check_confidence(confidence)
        at = len(self.rounds) - 1 if round is None else int(np.searchsorted(self.rounds, round))
        if at >= len(self.rounds) or (round is not None and self.rounds[at] != round):
            raise BadArgument(f"round {round!r} is not a checkpoint; they are {self.rounds.tolist()!r:.200}")
        rows = []
        for name, regret in zip(self.policies, self.regret[:, :, at], strict=True):
            runs = regret.size
            mean = float(regret.mean())
            deviation = float(regret.std(ddof=1)) if runs > 1 else float("nan")
            error = deviation / runs**0.5
            half = error * _student(runs - 1, confidence)
            rows.append(SummaryRow(name, int(self.rounds[at]), runs, mean, deviation, error, mean - half, mean + half))
        return Summary(rows)


def _student(freedom: int, confidence: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + confidence / 2.0)) if freedom else float("nan")
