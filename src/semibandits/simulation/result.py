"""The result of a simulation: regret, its means over runs, comparisons of policies."""

import itertools
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits._util.checks import check_confidence
from semibandits._util.showing import Shown, above, as_html
from semibandits._util.suggestions import Suggests, explained
from semibandits.errors import BadArgument
from semibandits.types import IndexPolicy, Policy, Scalar

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from semibandits.theory.applicable_bounds import Bound

LogAxes: TypeAlias = Literal["", "x", "y", "xy"]
ERROR = 0.05
"""The chance that any of the comparisons of one simulation is wrong by luck."""
MOST_IN_PAIRS = 4
"""Of so many policies every two are compared; of more, all with the best."""
AnyBounds: TypeAlias = (
    "Mapping[str, ArrayLike | Callable[[NDArray[np.int64]], ArrayLike]] | Sequence[Bound] | Bound | bool | None"
)


class Estimate(NamedTuple):
    """A mean over runs; `low` and `high` bound it with the given confidence. Numbers, or arrays of them."""

    mean: Scalar
    deviation: Scalar
    error: Scalar
    low: Scalar
    high: Scalar


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


def shown(number: float) -> str:
    """With two decimals, or more where these would be zeros.

    >>> shown(1234.5), shown(0.0), shown(-3.21e-13)
    ('1234.50', '0.00', '-3.21e-13')
    """
    return f"{number:.2e}" if 0.0 < abs(number) < 0.005 else f"{number:.2f}"


class Summary(Shown, tuple[SummaryRow, ...]):
    """Rows, one per policy, that print as a table."""

    __slots__ = ()

    def __str__(self) -> str:
        width = max(len("policy"), *(len(row.policy) for row in self))
        lines = [f"{'policy':<{width}}  {'regret':>12}  {'± error':>10}  {'interval':>25}  {'runs':>6}"]
        for row in self:
            interval, mean, error = f"[{shown(row.low)}, {shown(row.high)}]", shown(row.mean), shown(row.error)
            lines.append(f"{row.policy:<{width}}  {mean:>12}  {error:>10}  {interval:>25}  {row.runs:>6}")
        return "\n".join(lines)

    __repr__ = __str__


class Comparison(NamedTuple):
    """The regret of policy `a` less that of policy `b` at one round, run by run in the same worlds.

    `difference` is its mean, `deviation` that of one run, `error` that of the mean; `low` and `high` bound the mean
    with the given confidence. `unpaired` is the error that runs in different worlds would have left.
    """

    a: str
    b: str
    round: int
    runs: int
    difference: float
    deviation: float
    error: float
    low: float
    high: float
    confidence: float
    unpaired: float

    @property
    def significant(self) -> bool:
        """Whether the interval leaves 0 out. A single run tells nothing."""
        return self.low > 0.0 or self.high < 0.0

    def __str__(self) -> str:
        after = f"after {self.round} rounds"
        if self.runs == 1:
            return f"{self.a} and {self.b} {after} of a single run:\ndifference {shown(self.difference)}, error unknown"
        errors = f"standard error {shown(self.error)} over {self.runs} paired runs (unpaired: {shown(self.unpaired)})"
        interval = f"{100 * self.confidence:g}% interval"
        if self.low <= 0 <= self.high:
            return (
                f"{self.a} and {self.b} cannot be told apart {after}:\n"
                f"difference {shown(self.difference)}, {interval} [{shown(self.low)}, {shown(self.high)}], {errors}"
            )
        less, more = (self.a, self.b) if self.difference < 0 else (self.b, self.a)
        low, high = sorted((abs(self.low), abs(self.high)))
        return (
            f"{less} has less regret than {more} {after}:\n"
            f"{shown(abs(self.difference))} less, {interval} [{shown(low)}, {shown(high)}], {errors}"
        )

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return as_html(self)


class Comparisons(Shown, tuple[Comparison, ...]):
    """Comparisons of pairs, which print one below the other. A part of them is a plain tuple."""

    confidence_note: str = ""
    """How sure their intervals are, in words."""

    def __str__(self) -> str:
        return "\n\n".join(map(str, self))

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class SimulationResult(Shown, Suggests):
    """Cumulative regret of every policy and run at the checkpoints, and what is needed to get it again."""

    regret: NDArray[np.float64]
    """Shape (policies, runs, checkpoints)."""
    rounds: NDArray[np.int64]
    """The checkpoints; the last one is the horizon."""
    policies: tuple[str, ...]
    problem: str
    seed: int
    kind: str
    """"expected", "realised", "ratio", "dynamic" or "static" regret."""
    engine: str
    seconds: float
    version: str
    counts: NDArray[np.int64] | None = None
    """How often each item was chosen, shape (policies, runs, n_items); None where not recorded."""
    sums: NDArray[np.float64] | None = None
    """What each item weighed in all the rounds in which it was chosen, added up: rewards or costs as the environment
    gives them, shape (policies, runs, n_items); None where not recorded. sums / counts are the observed means."""
    solutions: NDArray[np.int32] | None = None
    """What was chosen, shape (policies, runs, horizon, max_size): ascending, then -1; None where not recorded."""
    provenance: dict[str, Any] = field(default_factory=dict)
    """Further facts about the problem, the policies' parameters, the machine; what JSON can say."""

    def __post_init__(self) -> None:
        cells = (len(self.policies), *self.regret.shape[1:2])
        arrays = {
            "regret": (self.regret, np.float64, (*cells, len(self.rounds))),
            "rounds": (self.rounds, np.int64, (len(self.rounds),)),
            "counts": (self.counts, np.int64, (*cells, None)),
            "sums": (self.sums, np.float64, (*cells, None)),
            "solutions": (self.solutions, np.int32, (*cells, None, None)),
        }
        for name, (array, dtype, shape) in arrays.items():
            if array is not None and (
                array.dtype != dtype
                or len(array.shape) != len(shape)
                or (not array.size and name != "solutions")  # no solution may have any items
                or any(want not in (have, None) for have, want in zip(array.shape, shape, strict=True))
            ):
                wanted = ", ".join("any" if size is None else str(size) for size in shape)
                raise BadArgument(
                    f"{name} must be {np.dtype(dtype)} of shape ({wanted}), got {array.dtype} of shape {array.shape}"
                )

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
        at = self._checkpoint(round)
        rows = []
        for name, regret in zip(self.policies, self.regret[:, :, at], strict=True):
            rows.append(SummaryRow(name, int(self.rounds[at]), regret.size, *estimate(regret, confidence)))
        return Summary(rows)

    def compare(self, a: int | str, b: int | str, round: int | None = None, confidence: float = 0.95) -> Comparison:
        """The difference of two policies' regret, a's less b's, at a checkpoint (default: the horizon).

        Policies are given by number or by name, as in `policies` or without the parameters. They played in the same
        worlds, so that the differences run by run tell more than the two means do. The interval is Student's, over
        runs.
        """
        at = self._checkpoint(round)
        first, second = self._policy(a), self._policy(b)
        of_a, of_b = self.regret[first, :, at], self.regret[second, :, at]
        alone = estimate(of_a, confidence).error, estimate(of_b, confidence).error
        return Comparison(
            self.policies[first],
            self.policies[second],
            int(self.rounds[at]),
            of_a.size,
            *estimate(of_a - of_b, confidence),
            confidence=float(confidence),
            unpaired=float(np.hypot(*alone)),
        )

    def ranking(self) -> list[int]:
        """The policies, by number, from the least mean regret at the horizon to the largest."""
        means = self.regret[:, :, -1].mean(axis=1)
        return sorted(range(len(self.policies)), key=lambda policy: (means[policy], policy))

    def comparisons(self) -> Comparisons:
        """Each of a policy with one that has more regret at the horizon; those of the best come first.

        Up to four policies are compared in pairs, more with the best only. The intervals of all pairs hold together
        with 95% (Bonferroni): which is best is known only from the same runs.
        """
        order = self.ranking()
        pairs = itertools.combinations(order, 2) if len(order) <= MOST_IN_PAIRS else ((order[0], b) for b in order[1:])
        found = Comparisons(self.compare(a, b, confidence=self._confidence_in_pairs) for a, b in pairs)
        found.confidence_note = self.confidence_note
        return found

    @property
    def _confidence_in_pairs(self) -> float:
        return 1.0 - ERROR / max(1, math.comb(len(self.policies), 2))

    @property
    def confidence_note(self) -> str:
        """How sure the intervals of `comparisons` are, in words.

        >>> import semibandits as sb
        >>> players = [sb.policies.CombUCB1(), sb.policies.CTS(), sb.policies.Random()]
        >>> sb.simulate(sb.problems.grid_path(2, 0.4), players, horizon=10, runs=2, seed=0).confidence_note
        '98.33% each, so that all 3 pairs hold together with 95%'
        """
        pairs = math.comb(len(self.policies), 2)
        together = f"{100.0 * (1.0 - ERROR):g}%"
        if pairs <= 1:
            return together
        return f"{100.0 * self._confidence_in_pairs:.4g}% each, so that all {pairs} pairs hold together with {together}"

    @property
    def short_names(self) -> list[str]:
        """The policies' names with no more parameters than tell them apart."""
        alike: dict[str, list[str]] = {}
        for name in self.policies:
            alike.setdefault(name.partition("(")[0], []).append(name)
        short = [_short(name, alike[name.partition("(")[0]]) for name in self.policies]
        return short if len(set(short)) == len(short) else list(self.policies)

    def to_frame(self) -> Any:
        """One row per policy, run and checkpoint (`policy`, `run`, `round`, `regret`): Polars, or else pandas."""
        from semibandits.simulation import frames

        return frames.to_frame(self)

    def to_pandas(self) -> "pd.DataFrame":
        """As `to_frame`, always pandas."""
        from semibandits.simulation import frames

        return frames.to_pandas(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a Parquet file, one row per policy and run; a file that was there is replaced whole or not at all."""
        from semibandits.simulation import frames

        frames.write(path, self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "SimulationResult":
        """What `save` wrote; raises `BadState` for anything else."""
        from semibandits.simulation import frames

        return frames.read(path)

    @explained
    def plot(
        self,
        bounds: AnyBounds = None,
        *,
        confidence: float = 0.95,
        log: LogAxes | None = None,
        ax: "Axes | None" = None,
    ) -> "Axes":
        """Draws each policy's mean regret over the rounds, its confidence interval shaded (Student's, over runs).

        `bounds=theory.bounds(problem, result.rounds)` draws all that is known about the policies that played, and what
        is unavoidable; some of these bounds, those; True what holds for CombUCB1 whatever the gaps, which needs no
        problem. Bounds of one's own map names to curves: an array with a value for each of `rounds`, or a function of
        them. `log` names the
        logarithmic axes: by default x where the checkpoints span more than two decades, and y where a bound is more
        than ten times the regret. The legend lists the curves as they end, from top to bottom.

        Draws on `ax` where given, else on a figure of its own, `.figure` of what is returned: one of pyplot's where
        pyplot is in use or in a notebook.
        """
        axes: Axes = above("plotting.regret").draw(self, bounds, confidence, log, ax)
        return axes

    def _checkpoint(self, round: Any) -> int:
        if round is None:
            return len(self.rounds) - 1
        if not isinstance(round, Real) or round not in self.rounds:
            raise BadArgument(f"round {round!r:.100} is not a checkpoint; they are {self.rounds.tolist()!r:.200}")
        return int(np.flatnonzero(self.rounds == round)[0])

    def _policy(self, which: Any) -> int:
        which = repr(which) if isinstance(which, IndexPolicy | Policy) else which
        names: Sequence[Any] = self.policies if isinstance(which, str) else range(len(self.policies))
        sane = isinstance(which, int | np.integer | str) and not isinstance(which, bool)
        found = [at for at, name in enumerate(names) if sane and name == which]
        if not found and isinstance(which, str):
            found = [at for at, name in enumerate(self.policies) if name.partition("(")[0] == which]
        if len(found) == 1:
            return found[0]
        there = ", ".join(f"{at}: {name}" for at, name in enumerate(self.policies))
        problem = "is the name of several policies; give a number" if found else "is no policy"
        raise BadArgument(f"{which!r:.100} {problem}; there are {there:.1000}")


def estimate(sample: NDArray[np.float64], confidence: float) -> Estimate:
    """Mean, standard deviation, standard error and Student's interval over the last axis; NaN where it has length 1."""
    from scipy.special import stdtrit

    check_confidence(confidence)
    runs = sample.shape[-1]
    mean = sample.mean(axis=-1)
    deviation = sample.std(axis=-1, ddof=1) if runs > 1 else np.full_like(mean, np.nan)
    error = deviation / runs**0.5
    half = error * (stdtrit(runs - 1, 0.5 + confidence / 2.0) if runs > 1 else np.nan)
    numbers = mean, deviation, error, mean - half, mean + half
    return Estimate(*(map(float, numbers) if sample.ndim == 1 else numbers))


def _short(name: str, alike: list[str]) -> str:
    """Without what all names like it have in common.

    >>> alike = ["CombUCB1(alpha=0.5, init='paper')", "CombUCB1(alpha=1.5, init='paper')"]
    >>> _short(alike[0], alike)
    'CombUCB1(alpha=0.5)'
    """
    short, _, rest = name.partition("(")
    if len(alike) == 1:
        return short
    parts = [set(other.partition("(")[2].removesuffix(")").split(", ")) for other in alike]
    if not all(
        other.endswith(")") and all("=" in part for part in some) for other, some in zip(alike, parts, strict=True)
    ):
        return name
    common = set.intersection(*parts)
    return f"{short}({', '.join(part for part in rest.removesuffix(')').split(', ') if part not in common)})"
