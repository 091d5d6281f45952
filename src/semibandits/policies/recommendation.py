"""The policy to begin with on a problem, why, and what else to think of."""

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from semibandits import rng
from semibandits._util.checks import check_choice, check_rounds
from semibandits.errors import BadArgument, Unsupported
from semibandits.oracle import all_solutions, solve
from semibandits.policies.index.bg_cts import BGCTS
from semibandits.policies.index.combucb1 import CombUCB1
from semibandits.policies.index.cts import CTS
from semibandits.policies.index.discounted import Discounted
from semibandits.policies.index.gaussian_cts import GaussianCTS
from semibandits.policies.index.kl_ucb import KLUCB
from semibandits.policies.index.sliding_window import SlidingWindow
from semibandits.policies.solution.comband import COMBAND
from semibandits.policies.solution.escb import ESCB
from semibandits.policies.solution.fpl import ETA, FPL
from semibandits.policies.solution.hybrid import HYBRID
from semibandits.policies.solution.lin_ucb import LinUCB
from semibandits.policies.solution.oful import OFUL
from semibandits.policies.solution.ols_ucb import OLSUCB
from semibandits.problem import Problem
from semibandits.types import Environment, FeasibleSet, FeedbackKind, Game, IndexPolicy, Policy, means_in

Advised: TypeAlias = IndexPolicy | Policy

MANY = 10
"""Solutions of more items, unless they are a matroid's, may trap CTS."""
UNKNOWN = 1000
"""The round of the only change, in worlds that do not say when they change."""
FEW = 1000
"""Solutions that are listed to see whether they are few."""
SOON = 100_000
"""Rounds, where it is not said how many, and the world changes for ever."""
SAMPLE = 500
"""Rounds drawn to see how weights spread."""


class Recommendation(NamedTuple):
    """The policy, why this one, and what else to think of."""

    policy: Advised
    reasons: tuple[str, ...]
    others: tuple[tuple[Advised, str], ...]

    @property
    def needs(self) -> str:
        return self.policy.needs

    @property
    def guarantee(self) -> str:
        return self.policy.guarantee

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "policy": repr(self.policy),
            "reasons": list(self.reasons),
            "needs": self.needs,
            "guarantee": self.guarantee,
            "others": [{"policy": repr(policy), "when": when} for policy, when in self.others],
        }

    def __str__(self) -> str:
        lines = [repr(self.policy), *(f"  - {reason}" for reason in self.reasons)]
        lines += [f"  needs: {self.needs}", f"  guarantee: {self.guarantee}"]
        return "\n".join([*lines, *(f"or {policy!r}: {when}" for policy, when in self.others)])

    def __repr__(self) -> str:
        return str(self)


def recommend(
    problem: Problem | FeasibleSet, horizon: int | None = None, feedback: FeedbackKind = "semi"
) -> Recommendation:
    """The policy to begin with, from what a `Problem` says about itself: its oracle, its weights, their dependence.

    A feasible set alone will do too: of its weights nothing is then known. `horizon` matters where the means drift:
    what to forget depends on how often they change; without it, they are taken to be as long again at rest as until the
    last change. `feedback="bandit"`: only the sum of the chosen weights is seen.

    >>> import semibandits as sb
    >>> print(recommend(sb.problems.grid_path(m=4, sigma=0.2)))
    CTS()
      - the oracle is exact and the items are independent coins: Thompson sampling has the smallest regret
      needs: an exact oracle; independent items, or a matroid
      guarantee: O(L log n / Δ) (Wang and Chen 2018), and other terms, exponential in K unless it is a matroid
    or ESCB(method='auto', c=0.0, steps=1000, init='all'): to decide without randomness
    or KLUCB(c=2.0, init='all'): if the items may depend on each other after all
    or CombUCB1(alpha=1.5, init='paper'): to have a proven bound: theory.bounds() works it out
    """
    if not isinstance(problem, Problem | FeasibleSet):
        raise BadArgument(f"expected a Problem or a FeasibleSet, got {problem!r:.200}")
    feasible, world = (problem.feasible, problem.environment) if isinstance(problem, Problem) else (problem, None)
    horizon = None if horizon is None else check_rounds("horizon", horizon)
    if check_choice("feedback", feedback, FeedbackKind) == "bandit":
        return _for_sums(feasible, world is not None and world.hindsight)
    if world is not None and world.hindsight:
        return _for_an_adversary(feasible, horizon or world.last_round)
    if isinstance(problem, Problem) and world is not None and world.drifts:
        starts = [int(start) for start in getattr(world, "starts", ())]
        n = horizon or 2 * (starts or [UNKNOWN])[-1]
        n = n if horizon or n <= 100 * SOON else SOON
        changes = sum(1 < start <= n for start in starts) if starts else 1
        if changes and _same_best(problem, [start for start in starts if start <= n]):
            return _for_an_adversary(feasible, horizon, "the level of the means jumps, but never what is best")
        if changes:
            return _for_drift(changes, n, bool(getattr(world, "smooth", False)), known=bool(starts))
        world = world.at(1)
    proven = (CombUCB1(), "to have a proven bound: theory.bounds() works it out")
    if feasible.ratio < 1.0 or not feasible.promised:
        why = f"the oracle is approximate (ratio {feasible.ratio:g})" if feasible.promised else "the search may be cut"
        return Recommendation(
            KLUCB(),
            (f"{why}: optimism needs no more, Thompson sampling may fail",),
            ((CombUCB1(), "to have a proof for approximate oracles"),),
        )
    independent = world is not None and world.independent
    if not feasible.matroid and not independent:
        known = ((OLSUCB(), "if their covariance is known: give it"),) if world and _fits(OLSUCB(), feasible) else ()
        return Recommendation(
            KLUCB(),
            ("the items may depend on each other, for which Thompson sampling promises nothing",),
            ((CTS(), "if the items are independent"), *known, proven),
        )
    safe: tuple[tuple[Advised, str], ...] = ((KLUCB(), "to decide without randomness"),)
    if not feasible.matroid:
        exact = ((ESCB(c=0.0), "to decide without randomness"),) if _fits(ESCB(), feasible) else ()
        safe = (*exact, (KLUCB(), "if the items may depend on each other after all"))
    sigma = _spread(world) if world is not None and independent else None
    if sigma is not None:
        return Recommendation(
            GaussianCTS(sigma),
            ("the oracle is exact, and the weights are no coins: Thompson sampling by their spread has least regret",),
            ((CTS(), "if the spread is not to be trusted: it is that of a sample"), *safe, proven),
        )
    if feasible.matroid:
        return Recommendation(
            CTS(),
            ("the solutions are a matroid's, found exactly: Thompson sampling is safe and has the smallest regret",),
            (
                (GaussianCTS(), "if the items are independent, but no coins; the less they vary, the smaller sigma"),
                *safe,
                proven,
            ),
        )
    if feasible.max_size > MANY:
        return Recommendation(
            GaussianCTS(),
            (
                "the oracle is exact and the items are independent: Thompson sampling has the smallest regret",
                f"solutions may have {feasible.max_size} items, which can trap CTS for very long, but not this one",
            ),
            ((BGCTS(), "to have its authors' proof that nothing is exponential in K"), *safe, proven),
        )
    return Recommendation(
        CTS(),
        ("the oracle is exact and the items are independent coins: Thompson sampling has the smallest regret",),
        (*safe, proven),
    )


def _fits(policy: Policy, feasible: FeasibleSet) -> bool:
    """Whether the policy can play on this set."""
    try:
        if feasible.quotas() is None and feasible.trade_offs() is None and all_solutions(feasible, FEW) is None:
            return False  # it would say so, but only after some seconds
        policy.check(feasible)
    except Unsupported:
        return False
    return True


def _same_best(problem: Problem, starts: list[int]) -> bool:
    """Whether, in a world that changes in steps, one solution is best all along: then what is old is not outdated."""
    world, feasible = problem.environment, problem.feasible
    if getattr(world, "smooth", True) or feasible.ratio < 1.0 or not _fits(HYBRID(), feasible):
        return False
    sign = 1.0 if problem.sense == "max" else -1.0
    best = solve(feasible, sign * means_in(world, 1))
    return all(np.array_equal(solve(feasible, sign * means_in(world, start)), best) for start in starts[:100])


def _for_an_adversary(
    feasible: FeasibleSet, horizon: int | None, why: str = "the losses follow no law"
) -> Recommendation:
    perturbed = FPL()
    if horizon is not None:  # so that a learner, too, can do with it
        game = Game(feasible.n_items, feasible.max_size, horizon, feasible.signed)
        perturbed = FPL(eta=float(f"{FPL().start(game, feasible).constants[ETA]:.2g}"))
    if _fits(HYBRID(), feasible):
        return Recommendation(
            HYBRID(),
            (f"{why}: what is chosen must be drawn, with chances that are known",),
            ((perturbed, "on sets of any kind, given the horizon"), (CombUCB1(), "if the world is random after all")),
        )
    return Recommendation(
        perturbed,
        (f"{why}, and the set is known by its oracle alone",),
        ((CombUCB1(), "if the world is random after all"),),
    )


def _for_sums(feasible: FeasibleSet, against_us: bool) -> Recommendation:
    width = math.sqrt(feasible.max_size)
    by_sum = LinUCB(alpha=float(f"{width:.2g}"))
    if not _fits(by_sum, feasible):
        raise Unsupported(
            f"where only the sum is seen, a policy looks at every solution, and {feasible!r} has too many: see each "
            "chosen item's weight (feedback='semi'), or list fewer solutions in sets.Enumerated"
        )
    if against_us:
        return Recommendation(COMBAND(), ("only the sum is seen, of losses that follow no law",), ())
    return Recommendation(
        by_sum,
        ("only the sum is seen: the items' weights are found by least squares",),
        ((OFUL(), "to have a proof"), (COMBAND(), "if the losses follow no law")),
    )


def _for_drift(changes: int, n: int, smooth: bool, known: bool) -> Recommendation:
    """A quarter of the time between two changes is remembered, or what Garivier and Moulines 2011 advise if that is
    longer; their radius is close to alpha = 1/2."""
    quarter = n / (changes + 1) / 4.0
    window = math.ceil(max(quarter, 2.0 * math.sqrt(n * math.log(n) / changes)))
    rest = max(1e-9, 1.0 / max(quarter, 4.0 * math.sqrt(n / changes)))
    windowed, discounted = SlidingWindow(window, alpha=0.6), Discounted(1.0 - float(f"{rest:.1g}"), alpha=0.6)
    choice: list[tuple[Advised, str]] = [(windowed, "for sudden changes"), (discounted, "for a slow drift")]
    if smooth:
        choice.reverse()
    count = f"{changes} change{'' if changes == 1 else 's'} in {n:,} rounds{'' if known else ', at a guess'}"
    return Recommendation(
        choice[0][0],
        (f"the means drift ({count}): what is old is to be forgotten",),
        (choice[1], (CombUCB1(), "it recovers by itself where the gaps are large: simulate both")),
    )


def _spread(world: Environment) -> float | None:
    """The largest standard deviation of an item's weights, as drawn, relative to the bounds; None: they are coins."""
    lo, hi = world.bounds
    last = min(SAMPLE, world.last_round or SAMPLE)
    drawn = np.array([world.weights(round, rng.key(0, 0, round, rng.WORLD)) for round in range(1, last + 1)])
    if ((drawn == lo) | (drawn == hi)).all():
        return None
    spread = math.ceil(100.0 * float(drawn.std(axis=0).max()) / (hi - lo)) / 100.0
    return min(max(spread, 0.01), 0.5)
