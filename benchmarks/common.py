"""What the benchmarks share: measuring in turn, naming the machine, tables."""

import json
import math
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import semibandits as sb


def timed(function: Callable[[], object], inner: int = 1) -> Callable[[], float]:
    """A measurement: seconds per call."""

    def measure() -> float:
        start = time.perf_counter()
        for _ in range(inner):
            function()
        return (time.perf_counter() - start) / inner

    return measure


def in_turn(measurements: Sequence[Callable[[], float]], repeats: int) -> list[float]:
    """The medians of measurements taken in turn, so that all of them see the same machine."""
    taken: list[list[float]] = [[] for _ in measurements]
    for _ in range(repeats):
        for measure, values in zip(measurements, taken, strict=True):
            values.append(measure())
    return [statistics.median(values) for values in taken]


def machine() -> dict[str, str]:
    """What the figures were measured on."""
    cpu = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        models = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        cpu = models[0] if models else cpu
    found = {"CPU": cpu, "cores": str(os.cpu_count()), "Python": platform.python_version()}
    for package in ("numpy", "numba"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "none"
    return found


@dataclass(frozen=True)
class Mean:
    """The regret of several runs: its mean, and the standard deviation of one run."""

    mean: float
    deviation: float
    runs: int

    @classmethod
    def of(cls, regrets: Sequence[float] | NDArray[np.float64]) -> "Mean":
        values = np.asarray(regrets, dtype=np.float64)
        return cls(float(values.mean()), float(values.std(ddof=1)), values.size)

    def distance(self, other: "Mean") -> float:
        """Between the two means, in standard errors of their difference if the other's runs spread as these do."""
        error = self.deviation * math.sqrt(1 / self.runs + 1 / other.runs)
        return abs(self.mean - other.mean) / max(error, 1e-9)

    def __str__(self) -> str:
        return f"{self.mean:,.1f} ± {self.deviation / math.sqrt(self.runs):.1f}"


@dataclass(frozen=True)
class Goal:
    """A figure beside what it should be."""

    what: str
    value: float
    limit: float
    at_most: bool = True
    check: bool = False
    """Not a wish but a condition: numbers that are wrong need not be fast."""

    @property
    def met(self) -> bool:
        return self.value <= self.limit if self.at_most else self.value >= self.limit

    @property
    def verdict(self) -> str:
        return f"{'at most' if self.at_most else 'at least'} {self.limit:g}: {'met' if self.met else 'MISSED'}"


@dataclass
class Table:
    """Rows with the same columns, and the goals they speak of."""

    title: str
    rows: list[dict[str, str | float]] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        columns = list(dict.fromkeys(name for row in self.rows for name in row))
        cells = [[number(row.get(name, "")) for name in columns] for row in self.rows]
        lines = [self.title]
        lines += ["", *aligned([columns, *cells])] if cells else []
        lines += ["", *aligned([[g.what, number(g.value), g.verdict] for g in self.goals])] if self.goals else []
        lines += ["", *self.notes] if self.notes else []
        return "\n".join(lines) + "\n"

    def document(self) -> dict[str, object]:
        return {
            "title": self.title,
            "rows": self.rows,
            "goals": [{**asdict(goal), "met": goal.met} for goal in self.goals],
            "notes": self.notes,
        }


def aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Columns of text; what begins with a digit in the last line stands to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    right = [text[:1].isdigit() for text in lines[-1]]
    return [
        "  ".join(
            text.rjust(width) if flush else text.ljust(width)
            for text, width, flush in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in lines
    ]


def number(value: str | float) -> str:
    """Three or more significant digits, thousands apart."""
    if isinstance(value, str):
        return value
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


def print_document(tables: Sequence[Table]) -> None:
    print(json.dumps({"machine": machine(), "tables": [table.document() for table in tables]}, indent=1))


def report(tables: Sequence[Table], as_json: bool) -> None:
    if as_json:
        print_document(tables)
    else:
        print(", ".join(f"{what} {found}" for what, found in machine().items()), "\n")
        print(*tables, sep="\n")


def top_k(n_items: int, k: int) -> sb.Problem:
    """k items of mean 0.6 among items of mean 0.4, shuffled."""
    means = np.full(n_items, 0.4)
    means[np.random.default_rng(0).permutation(n_items)[:k]] = 0.6
    return sb.Problem(sb.sets.TopK(n_items, k), sb.environments.Bernoulli(means))


def play(
    problem: sb.Problem,
    policy: sb.IndexPolicy | sb.Policy | None = None,
    *,
    horizon: int,
    runs: int,
    threads: int = 1,
    seed: int = 0,
) -> NDArray[np.float64]:
    """The regret of a policy of ours (CombUCB1 unless said otherwise) after `horizon` rounds, run by run."""
    result = sb.simulate(
        problem,
        policy or sb.policies.CombUCB1(),
        horizon=horizon,
        runs=runs,
        seed=seed,
        threads=threads,
        checkpoints=[horizon],
        engine="compiled",
        progress=False,
    )
    regret: NDArray[np.float64] = result.regret[0, :, -1]
    return regret


def peak_memory() -> int:
    """The most memory this process has held, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # Linux hands a parent's ru_maxrss down to its children
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
