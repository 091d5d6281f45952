"""The candidates for the default policy, side by side on problems of the suite whose numbers were drawn anew.

    python docs/studies/candidates.py

writes docs/data/candidates.csv, in some four minutes of one core.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits import policies
from semibandits.draws import beta, beta_at_a_glance, beta_width, exponential, normal
from semibandits.errors import BadArgument
from semibandits.experiments import suite
from semibandits.experiments.suite.roster import Player
from semibandits.experiments.suite.words import ratio
from semibandits.kernel import exp, ln, sqrt, turn, where
from semibandits.policies import PooledCTS
from semibandits.policies.index.pooled_cts import SURE, UNSURE, believed, shapes, unseen
from semibandits.rng import uniform
from semibandits.types import Clock, FeasibleSet, Game, IndexPolicy, Items, Note, Params, Policy, Scalar, Stats, Weights

FILE = Path(__file__).parent.parent / "data" / "candidates.csv"
PROBLEMS = (
    "clicks-rare-slate",
    "clicks-even-partition",
    "quiet-slate",
    "noisy-knapsack",
    "loose-path",
    "tight-tree",
    "street-1",
    "heavy-partition",
)
HORIZONS = (300, 5_000)
INSTANCE, RUNS = 2, 24
COIN = 0.25
"""The variance of a coin of mean 1/2, the largest that weights in [0, 1] have."""


class Spread(IndexPolicy):
    """Of each item: count, sum, and the sum of squared distances from the mean."""

    prior: ClassVar[Stats] = (0.0, 0.0, 0.0)

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        return (0.0,)

    @staticmethod
    def observe(s: Stats, x: Scalar, round: int, key: int, item: Scalar, p: Params) -> Stats:
        count, total = s[0] + 1.0, s[1] + x
        mean = where(s[0] > 0.0, s[1] / where(s[0] > 0.0, s[0], 1.0), x)
        return (count, total, s[2] + (x - mean) * (x - total / count))


@dataclass(frozen=True)
class StudentCTS(Spread):
    """Normal weights of unknown mean and variance: a Normal-Gamma posterior, of which the mean has a Student law.

    The prior (σ²)^(-1-α) leaves ν = T + 2α - 1 degrees of freedom, here α = -1/2: U = ŵ + sqrt(S / (ν T)) t(ν). That
    α < 0 makes it safe is Honda and Takemura's result, for one item a round and normal weights; the exponent and how
    often each is tried before are from memory. `squares` are added to S: without them items that gave the same number
    three times would never be drawn anew. An item is worth 1 until it was seen three times.
    """

    squares: float

    def params(self, game: Game) -> Params:
        return (self.squares,)

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        known = s[0] > 2.0
        count = where(known, s[0], 3.0)
        freedom = count - 2.0
        drawn = s[1] / count + sqrt((p[0] + s[2]) / (freedom * count)) * student(freedom, key, item)
        return where(known, drawn, 1.0)


def student(freedom: Scalar, key: int, item: Scalar) -> Scalar:
    """A number from Student's distribution (Bailey 1994: as Box and Muller, with another radius)."""
    radius = sqrt(freedom * (exp(-2.0 / freedom * ln(1.0 - uniform(key, item))) - 1.0))
    return radius * turn(uniform(key, item, 1))[0]


@dataclass(frozen=True)
class MatchedBetaCTS(Spread):
    """A Beta law with the mean of the item's observations and the variance of that mean.

    Two more observations are believed, one at each bound. Of coins it is what `CTS` draws from.
    """

    init: ClassVar[str] = "optimistic"  # type: ignore[misc]
    redraws: ClassVar[bool] = True

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        a, b = matched(s)
        return beta(a, b, key, item)


def matched(s: Stats) -> Stats:
    """Both parameters: of mean m and variance V / (T + 3), m and V those of T + 2 observations."""
    count = s[0] + 2.0
    mean = (s[1] + 1.0) / count
    off = where(s[0] > 0.0, s[1] / where(s[0] > 0.0, s[0], 1.0), 0.5) - 0.5
    variance = (s[2] + 0.5 + 2.0 * s[0] / count * (off * off)) / count
    coin = mean * (1.0 - mean)
    worth = where(variance < coin, (count + 1.0) * (coin / variance), count + 1.0) - 1.0
    return (where(worth * mean > 1.0, worth * mean, 1.0), where(worth - worth * mean > 1.0, worth - worth * mean, 1.0))


@dataclass(frozen=True)
class PooledNormalCTS(Spread):
    """N(ŵ, σ² / T) with one σ² for all items: their variance around their means, and as if of one more, a coin's."""

    @staticmethod
    def share(s: Stats, round: int, p: Params) -> Stats:
        return (s[2], where(s[0] > 1.0, s[0] - 1.0, 0.0))

    @staticmethod
    def pooled(totals: Stats, c: Clock, p: Params) -> Clock:
        return (sqrt((COIN + totals[0]) / (1.0 + totals[1])),)

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        seen = s[0] > 0.0
        count = where(seen, s[0], 1.0)
        return where(seen, s[1] / count + c[0] / sqrt(count) * normal(key, item), 1.0)


# The default without one of its parts: what all items have in common is replaced by what is known of none

learned = PooledCTS.pooled


class WithoutPooledSpread(PooledCTS):
    """PooledCTS that takes an item's weights for coins, until its own observations say otherwise."""

    @staticmethod
    def pooled(totals: Stats, c: Clock, p: Params) -> Clock:
        now, _, good, bad, typical, neglected = learned(totals, c, p)
        return (now, 1.0, good, bad, typical, neglected)


class WithoutLevel(PooledCTS):
    """PooledCTS in which the mean of the items' means is worth nothing."""

    @staticmethod
    def pooled(totals: Stats, c: Clock, p: Params) -> Clock:
        now, dispersion, _, _, typical, neglected = learned(totals, c, p)
        return (now, dispersion, 0.0, 0.0, typical, neglected)


class WithWholeVariance(PooledCTS):
    """PooledCTS that draws what was often seen with no less variance than the rest."""

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        seen, a, b = whole(s, c, p)
        return where(seen, beta(a, b, key, item), unseen(key, item))

    @staticmethod
    def glance(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        seen, a, b = whole(s, c, p)
        return where(seen, beta_at_a_glance(a, b, beta_width(a), beta_width(b), key, item), unseen(key, item))


def whole(s: Stats, c: Clock, p: Params) -> Stats:
    """Whether an item was seen, and both parameters of its Beta distribution if v = 1."""
    seen, a, b = shapes(s, c, p)
    drawn = ln(c[4] / where(seen, believed(s, c[0], p)[0], 1.0))
    v = where(drawn > SURE, where(drawn < UNSURE, drawn, UNSURE), SURE)
    return (seen, where(v * a > 1.0, v * a, 1.0), where(v * b > 1.0, v * b, 1.0))


# All observations are kept: these are played for 300 rounds alone


class Log(NamedTuple):
    """Every observation so far, in rows that are long enough for the whole game."""

    items: NDArray[np.int64]
    x: Weights
    used: NDArray[np.int64]
    facts: Weights
    """The worth of x = 0."""


class Reweighted(Policy):
    """The mean of an item's observations under Dirichlet(1, ..., 1) weights, drawn as exponential numbers."""

    needs_horizon = True
    bonus: ClassVar[bool]
    """Whether an observation of 1 is believed of every item beforehand."""

    def start(self, game: Game, feasible: FeasibleSet) -> Log:
        if not game.horizon:
            raise BadArgument(f"{self!r} keeps every observation, and needs to know the horizon")
        most = game.horizon * game.max_size
        first = np.arange(game.n_items if self.bonus else 0)
        items, x = np.zeros(most + first.size, dtype=np.int64), np.zeros(most + first.size)
        items[: first.size], x[: first.size] = first, 1.0
        return Log(items, x, np.array([first.size]), np.array([game.offset]))

    def scores(self, state: Log, feasible: FeasibleSet, round: int, key: int) -> Weights:
        used, n_items = state.used[0], feasible.n_items
        items, x = state.items[:used], state.x[:used]
        drawn = exponential(key, np.arange(used, dtype=np.uint64))
        weight = np.bincount(items, drawn, n_items)
        return np.where(weight > 0.0, np.bincount(items, drawn * x, n_items) / np.maximum(weight, 1e-300), 1.0)

    def choose(self, state: Log, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
        scores = np.minimum(self.scores(state, feasible, round, key), 1.0)
        return feasible.argmax(scores + state.facts[0]), None

    def learn(
        self, state: Log, feasible: FeasibleSet, round: int, items: Items, weights: Weights, note: Note, key: int
    ) -> Log:
        used = state.used[0]
        to = slice(used, used + items.size)
        after = Log(state.items.copy(), state.x.copy(), state.used + items.size, state.facts)
        after.items[to], after.x[to] = items, weights
        return after


class NonParametricTS(Reweighted):
    """With one observation at the upper bound."""

    bonus = True


class BayesianBootstrap(Reweighted):
    """With nothing but what was seen; every item once before that."""

    bonus = False
    init = "all"


class Candidate(NamedTuple):
    """A policy that might have become the default."""

    policy: Player
    source: str
    idea: str
    showed: str


CANDIDATES = (
    Candidate(
        PooledCTS(),
        "Beta posteriors, empirical Bayes, MOSS",
        "dispersion and level are learned from the item and from all items; less variance for what is often seen",
        "the least at the median, near the best on clicks as on minutes: the default; 1.4 times the best on quiet-"
        "slate in the end, where what it takes to recover from a bad start is not needed",
    ),
    Candidate(
        WithWholeVariance(),
        "PooledCTS without v",
        "as large a variance for what is often seen as for the rest",
        "a little more regret on most problems, most on rare clicks and in the knapsack; no more on quiet-slate in the "
        "end, and a little less on the street",
    ),
    Candidate(
        WithoutLevel(),
        "PooledCTS with k = 0",
        "the mean of the items' means is worth nothing",
        "hardly matters on most problems; a third more regret in the knapsack",
    ),
    Candidate(
        WithoutPooledSpread(),
        "PooledCTS with φ from the item alone",
        "weights are coins, worth 4 observations, until the item's own say otherwise",
        "the part that matters most: every item has to show by itself that the bounds are loose",
    ),
    Candidate(
        PooledNormalCTS(),
        "empirical Bayes, on the spread only",
        "N(ŵ, σ² / T), one σ² from all items",
        "the nearest of the others: to pool the spread is most of the gain, not all of it; the best on quiet-slate in "
        "the end",
    ),
    Candidate(
        BayesianBootstrap(),
        "Rubin 1981",
        "Dirichlet(1, ..., 1) weights on the item's observations",
        "never draws above what it saw of an item: good in little noise, greedy on rare clicks, trapped in the "
        "knapsack; keeps all observations",
    ),
    Candidate(
        NonParametricTS(),
        "Riou and Honda 2020",
        "Dirichlet(1, ..., 1) weights on the item's observations and one at the upper bound",
        "that observation is as far away as the bound is loose, and so are the draws; keeps all observations",
    ),
    Candidate(
        StudentCTS(squares=1e-4),
        "Normal-Gamma; Honda and Takemura 2014",
        "Student draws with T - 2 degrees of freedom, each item tried three times",
        "the tries and the wide first draws cost much where there is little noise; 1.5 times the best on rare clicks",
    ),
    Candidate(
        StudentCTS(squares=0.01),
        "Normal-Gamma; Honda and Takemura 2014",
        "Student draws, with a larger prior variance",
        "better on rare clicks than with less, worse on loose bounds",
    ),
    Candidate(
        StudentCTS(squares=0.25),
        "Normal-Gamma; Honda and Takemura 2014",
        "Student draws, with the prior variance of a coin",
        "the best on rare clicks in the end; none of the three is right for clicks and for minutes",
    ),
    Candidate(
        MatchedBetaCTS(),
        "moments of the Beta law",
        "mean and variance of the item's observations and one at each bound",
        "CTS on clicks; the observations at the bounds hide a small variance for thousands of rounds",
    ),
    Candidate(
        policies.UCBV(zeta=0.25),
        "Audibert, Munos and Szepesvári 2009",
        "upper bounds from the item's variance, a twelfth of the constant",
        "better than zeta = 3 does in the suite, but its last term, 3 E / T, does not know the variance",
    ),
    Candidate(
        policies.CTS(),
        "Wang and Chen 2018",
        "weights as coins that are thrown once more",
        "right for clicks; adds the noise of a coin to everything else",
    ),
    Candidate(
        policies.GaussianCTS(),
        "Perrault et al. 2020",
        "N(ŵ, 1 / (4 T)), which covers every law",
        "too wide wherever weights vary less than a fair coin",
    ),
    Candidate(
        policies.EpsilonGreedy(epsilon=0.0),
        "what most people have",
        "the largest means, each item once before that",
        "hard to beat for 300 rounds on most problems; stays with its mistakes after that",
    ),
)


def run(problems: tuple[str, ...] = PROBLEMS, horizons: tuple[int, ...] = HORIZONS, runs: int = RUNS) -> suite.Table:
    """Every candidate on every problem; those that keep all observations for the fewest rounds only."""
    short = [one.policy for one in CANDIDATES if one.policy.needs_horizon]
    long = [one.policy for one in CANDIDATES if not one.policy.needs_horizon]
    table = suite.play(problems, long, horizons, instance=INSTANCE, runs=runs)
    return table.beside(suite.play(problems, short, horizons[:1], instance=INSTANCE, runs=runs))


def measured() -> suite.Table:
    return suite.Table.read(FILE)


def lines() -> tuple[list[str], list[list[str]]]:
    """The table of the docs: titles, and a row for each candidate, from the least worst ratio to the largest."""
    table = measured()
    about = {suite.label(one.policy): one for one in CANDIDATES}
    by_horizon = [{one.policy: one for one in table.scores([horizon])} for horizon in HORIZONS]
    rows = []
    for one in table.scores():
        there = [scores.get(one.policy) for scores in by_horizon]
        candidate = about[one.policy]
        rows.append(
            [
                f"**{one.policy}**" if candidate is CANDIDATES[0] else one.policy,
                candidate.source,
                candidate.idea,
                f"{ratio(one.worst)} ± {ratio(one.worst_error)}",
                one.worst_at,
                ratio(one.median),
                *("" if at is None else ratio(at.median) for at in there),
                candidate.showed,
            ]
        )
    medians = [f"after {horizon:,}" for horizon in HORIZONS]
    return ["candidate", "source", "idea", "worst", "where", "median", *medians, "what it showed"], rows


if __name__ == "__main__":
    FILE.write_text(run().to_csv(), encoding="utf-8")
