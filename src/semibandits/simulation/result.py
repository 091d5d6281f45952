"""The result of a simulation: regret, its means over runs, comparisons of policies."""

import itertools
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits._util.showing import Shown, above
from semibandits._util.suggestions import Suggests, explained
from semibandits.errors import BadArgument
from semibandits.simulation.scales import LogAxes
from semibandits.simulation.short_names import short_names
from semibandits.simulation.summaries import Comparison, Comparisons, Summary, SummaryRow, estimate
from semibandits.types import IndexPolicy, Policy

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from semibandits.theory.applicable_bounds import Bound

LegendPlace: TypeAlias = Literal["ends", "inside", "below"]
ERROR = 0.05
"""The chance that any of the comparisons of one simulation is wrong by luck."""
MOST_IN_PAIRS = 4
"""Of so many policies every two are compared; of more, all with the best."""
AnyBounds: TypeAlias = (
    "Mapping[str, ArrayLike | Callable[[NDArray[np.int64]], ArrayLike]] | Sequence[Bound] | Bound | bool | None"
)


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
        many = f"{policies} {'policy' if policies == 1 else 'policies'} x {runs} {'run' if runs == 1 else 'runs'}"
        return (
            f"SimulationResult({many} of {self.rounds[-1]} rounds, {self.kind} regret, "
            f"seed {self.seed}, {self.engine}, {self.seconds:.1f} s)"
        )

    @explained
    def summary(self, round: int | None = None, confidence: float = 0.95) -> Summary:
        """Mean regret of each policy at a checkpoint (default: the horizon), with standard error and interval.

        The interval is Student's, over runs. With a single run, error and interval are unknown (NaN).
        """
        at = self._checkpoint(round)
        rows = []
        for name, regret in zip(self.policies, self.regret[:, :, at], strict=True):
            rows.append(SummaryRow(name, int(self.rounds[at]), regret.size, *estimate(regret, confidence)))
        found = Summary(rows)
        found.confidence, found.leaders = float(confidence), self._leaders(at)
        return found

    def _leaders(self, at: int) -> frozenset[str]:
        means = self.regret[:, :, at].mean(axis=1)
        if self.regret.shape[1] == 1 or not np.isfinite(means).all():
            return frozenset()
        best, round = int(means.argmin()), int(self.rounds[at])
        others = (other for other in range(len(means)) if other != best)
        pairs = [self.compare(other, best, round, self._confidence_in_pairs) for other in others]
        return frozenset([self.policies[best], *(one.a for one in pairs if not one.significant)])

    @explained
    def compare(self, a: int | str, b: int | str, round: int | None = None, confidence: float = 0.95) -> Comparison:
        """The difference of two policies' regret, a's less b's, at a checkpoint (default: the horizon).

        Policies are given by number or by name, as in `policies` or without the parameters. They played in the same
        worlds, so that the differences run by run tell more than the two means do. The interval is Student's, over
        runs.
        """
        at = self._checkpoint(round)
        first, second = self.policy_number(a), self.policy_number(b)
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
        """The policies' names with no more parameters than tell them apart, as pictures have them."""
        return short_names(self.policies)

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
        size: tuple[float, float] | None = None,
        title: str | bool | None = None,
        labels: Sequence[str] | Mapping[Any, str] | None = None,
        legend: LegendPlace | bool | None = None,
    ) -> "Axes":
        """Draws each policy's mean regret over the rounds, its confidence interval shaded (Student's, over runs).

        `bounds=theory.bounds(problem, result.rounds)` draws what is known about the policies that played, and what
        is unavoidable, where it says something; a list of some of these bounds draws those, whatever they say; True
        what holds for CombUCB1 whatever the gaps, which needs no problem. Bounds of one's own map names to curves: an
        array with a value for each of `rounds`, or a function of them.

        `log` names the logarithmic axes. By default both where the largest regret or bound is more than ten times the
        least regret, else none; rounds stay linear where they span less than two decades and in worlds that drift, and
        are logarithmic where there are but a few checkpoints over more decades.

        `title` is the problem unless given; "" or False for none. `labels` are other names for the policies, one for
        each, or some by a policy's name, short name, class or number. `legend` says where names stand: at the "ends" of
        the curves, "inside" or "below"; True is a legend where there is room, False none. By default more than four
        policies are named at their ends, fewer in a legend.

        Draws on `ax` where given, else on a figure of its own of `size` (width, height) inches, `.figure` of what is
        returned: one of pyplot's where pyplot is in use or in a notebook.
        """
        axes: Axes = above("plotting.regret").draw(
            self, bounds, confidence=confidence, log=log, ax=ax, size=size, title=title, labels=labels, legend=legend
        )
        return axes

    def _checkpoint(self, round: Any) -> int:
        if round is None:
            return len(self.rounds) - 1
        if not isinstance(round, Real) or round not in self.rounds:
            raise BadArgument(f"round {round!r:.100} is not a checkpoint; they are {self.rounds.tolist()!r:.200}")
        return int(np.flatnonzero(self.rounds == round)[0])

    def policy_number(self, which: Any) -> int:
        """The place in `policies` of a policy given by name, short name, class, number, or itself."""
        numbers, found = range(len(self.policies)), list[int]()
        if isinstance(which, type) and issubclass(which, IndexPolicy | Policy):
            which = which.__name__
        if isinstance(which, IndexPolicy | Policy):  # those that print alike are numbered
            which = repr(which)
            found = [at for at, name in enumerate(self.policies) if re.sub(r" #\d+$", "", name) == which]
        elif isinstance(which, str):
            found = [at for at, name in enumerate(self.policies) if name == which]
            for at, names in enumerate(zip(self.short_names, self.policies, strict=True)) if not found else ():
                if which in (names[0], names[1].partition("(")[0]):
                    found.append(at)
        elif isinstance(which, int | np.integer) and not isinstance(which, bool) and which in numbers:
            found = [int(which)]
        if len(found) == 1:
            return found[0]
        there = ", ".join(f"{at}: {name}" for at, name in enumerate(self.policies))
        problem = "is the name of several policies; give a number" if found else "is no policy"
        raise BadArgument(f"{which!r:.100} {problem}; there are {there:.1000}")
