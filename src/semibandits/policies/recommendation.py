"""The policy to begin with on a problem, or on a set of which no more is known, why, and what else to think of."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from semibandits._util.checks import check_bounds, check_choice, check_rounds, widest
from semibandits._util.item_bounds import are_per_item
from semibandits._util.showing import as_html
from semibandits._util.suggestions import explained
from semibandits.errors import BadArgument, Unsupported
from semibandits.policies.index.bg_cts import BGCTS
from semibandits.policies.index.cmoss import CMOSS
from semibandits.policies.index.combucb1 import CombUCB1
from semibandits.policies.index.cts import CTS
from semibandits.policies.index.discounted import Discounted
from semibandits.policies.index.epsilon_greedy import EpsilonGreedy
from semibandits.policies.index.kl_ucb import KLUCB
from semibandits.policies.index.pooled_cts import PooledCTS
from semibandits.policies.index.sliding_window import SlidingWindow
from semibandits.policies.situation import Situation, few, has_hull, has_tradeoffs
from semibandits.policies.solution.comband import COMBAND
from semibandits.policies.solution.escb import ESCB
from semibandits.policies.solution.fpl import ETA, FPL
from semibandits.policies.solution.hybrid import HYBRID
from semibandits.policies.solution.lin_ucb import LinUCB
from semibandits.policies.solution.listing import MOST_SOLUTIONS
from semibandits.policies.solution.oful import OFUL
from semibandits.policies.solution.ols_ucb import OLSUCB
from semibandits.problem import Problem
from semibandits.types import FeasibleSet, FeedbackKind, Game, GivenBounds, IndexPolicy, Policy

Advised: TypeAlias = IndexPolicy | Policy
Other: TypeAlias = tuple[Advised, str]
"""A policy, and when to take it."""

DEFAULT: Advised = PooledCTS()
"""The policy of learners that are given none."""
MANY = 10
"""Solutions of more items, unless they are a matroid's, may trap CTS."""
PROVEN: Other = (CombUCB1(), "to have a proven bound: theory.bounds() works it out")
PROVEN_APPROXIMATE: Other = (CombUCB1(), "to have a proof for approximate oracles")
AFTER_ALL: Other = (CombUCB1(), "if the world is random after all")


class Recommendation(NamedTuple):
    """The policy, why this one, and what else to think of."""

    policy: Advised
    reasons: tuple[str, ...]
    others: tuple[Other, ...]

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

    def _repr_html_(self) -> str:
        return as_html(self)


@explained
def recommend(
    problem: Problem | FeasibleSet, horizon: int | None = None, feedback: FeedbackKind = "semi"
) -> Recommendation:
    """The policy to begin with, from what a `Problem` says about itself: its oracle, its weights, their dependence.

    Of a feasible set alone no more is known, and the answer is `default`. `horizon` matters where it is short, and
    where the means drift: what to forget depends on how often they change; without it, they are taken to be as long
    again at rest as until the last change. `feedback="bandit"`: only the sum of the chosen weights is seen.

    It answers at once: no solutions are listed, and a solver of your own is called ten times at most. Policies that
    look at every solution are offered where there are known to be few.

    >>> import semibandits as sb
    >>> print(recommend(sb.problems.grid_path(m=4, sigma=0.2)))
    PooledCTS(window=0, discount=1.0)
      - Thompson sampling that learns how much weights vary, from each item and from all, within bounds 0 to 1
      - nothing to tune; where the world changes it forgets, if asked: window= or discount=
      needs: an exact oracle; nothing to be tuned
      guarantee: none is proven; measured on the problems of the suite
    or CombUCB1(alpha=1.5, init='paper'): to have a proven bound: theory.bounds() works it out
    or KLUCB(c=2.0, init='all'): to decide without randomness
    or CTS(): if the weights are coins, to have its authors' proof
    or ESCB(method='auto', c=0.0, steps=1000, init='all'): to decide without randomness, by whole solutions
    """
    if not isinstance(problem, Problem | FeasibleSet):
        raise BadArgument(f"expected a Problem or a FeasibleSet, got {problem!r:.200}")
    horizon = None if horizon is None else check_rounds("horizon", horizon)
    if isinstance(problem, FeasibleSet):
        return default(problem, feedback=feedback)
    if problem.environment.says_sets:
        raise Unsupported(
            f"every round of {problem.environment!r} has a feasible set of its own: ask for the set that is the most "
            "like them, with the environment that is in this one"
        )
    situation = Situation(problem, horizon, check_choice("feedback", feedback, FeedbackKind))
    return next(rule.answer(situation) for rule in RULES if rule.question(situation))


def default(
    feasible: FeasibleSet, *, bounds: GivenBounds = (0.0, 1.0), feedback: FeedbackKind = "semi"
) -> Recommendation:
    """The policy of a `Learner` that is given none, and why: all that it goes by is the set and what is seen.

    >>> import semibandits as sb
    >>> default(sb.sets.TopK(20, 4)) == recommend(sb.sets.TopK(20, 4))
    True
    """
    if not isinstance(feasible, FeasibleSet):
        raise BadArgument(f"feasible must be a FeasibleSet, got {feasible!r:.200}")
    given = check_bounds(bounds, feasible.n_items, feasible.labels or ())
    lo, hi = widest(given)
    own = "bounds per item, " if are_per_item(given) else "bounds "
    if check_choice("feedback", feedback, FeedbackKind) == "bandit":
        return _for_sums_of(feasible, against_us=False)
    reasons = [
        "Thompson sampling that learns how much weights vary, from each item and from all, "
        f"within {own}{lo:g} to {hi:g}",
        "nothing to tune; where the world changes it forgets, if asked: window= or discount=",
    ]
    others: list[Other] = [PROVEN, (KLUCB(), "to decide without randomness")]
    if approximation := _approximation(feasible):
        reasons += [
            f"{approximation}: on some instances draws that are too low are never set right, "
            "and regret is linear (Wang and Chen 2018)",
            "optimistic policies, CombUCB1 and KLUCB, need no more than the ratio",
        ]
        others = [PROVEN_APPROXIMATE, (KLUCB(), "the same optimism, with tighter confidence bounds")]
    elif not feasible.matroid and feasible.max_size > MANY:
        reasons.append(
            f"solutions may have {feasible.max_size:,} items: to leave a poor one, many have to be drawn high at once"
        )
        others.append((BGCTS(), "to have its authors' proof that nothing is exponential in K"))
    return Recommendation(DEFAULT, tuple(reasons), tuple(others))


def _approximation(feasible: FeasibleSet) -> str:
    """What is not exact about the oracle, if anything."""
    if not feasible.promised:
        return "the search may be cut"
    return f"the oracle is approximate (ratio {feasible.ratio:g})" if feasible.ratio < 1.0 else ""


def _for_sums(situation: Situation) -> Recommendation:
    return _for_sums_of(situation.feasible, situation.world.hindsight)


def _for_sums_of(feasible: FeasibleSet, against_us: bool) -> Recommendation:
    known = few(feasible, MOST_SOLUTIONS)
    if known is False:
        raise Unsupported(
            f"where only the sum is seen, a policy looks at every solution and each pair of items, and {feasible!r} "
            "has too many, or cannot list its solutions: see each chosen item's weight (feedback='semi'), or list "
            "fewer solutions in sets.Enumerated"
        )
    limit = f"it looks at every solution: if there are more than {MOST_SOLUTIONS:,}, it says so before the first round"
    if_few = () if known else (limit,)
    if against_us:
        return Recommendation(COMBAND(), ("only the sum is seen, of losses that follow no law", *if_few), ())
    width = math.sqrt(feasible.max_size)
    return Recommendation(
        LinUCB(alpha=float(f"{width:.2g}")),
        ("only the sum is seen: the items' weights are found by least squares", *if_few),
        ((OFUL(), "to have a proof"), (COMBAND(), "if the losses follow no law")),
    )


def _against_an_adversary(situation: Situation) -> Recommendation:
    return _for_any_losses(
        situation.feasible, situation.horizon or situation.world.last_round, "the losses follow no law"
    )


def _for_jumping_levels(situation: Situation) -> Recommendation:
    why = "the level of the means jumps, but never what is best"
    return _for_any_losses(situation.feasible, situation.horizon, why)


def _for_any_losses(feasible: FeasibleSet, horizon: int | None, why: str) -> Recommendation:
    perturbed = FPL()
    if horizon is not None:  # so that a learner, too, can do with it
        game = Game(feasible.n_items, feasible.max_size, horizon, feasible.signed)
        perturbed = FPL(eta=float(f"{FPL().start(game, feasible).constants[ETA]:.2g}"))
    if has_hull(feasible):
        return Recommendation(
            HYBRID(),
            (f"{why}: what is chosen must be drawn, with chances that are known",),
            ((perturbed, "on sets of any kind, given the horizon"), AFTER_ALL),
        )
    return Recommendation(perturbed, (f"{why}, and the set is known by its oracle alone",), (AFTER_ALL,))


def _for_drift(situation: Situation) -> Recommendation:
    """A quarter of the time between two changes is remembered, or what Garivier and Moulines 2011 advise if that is
    longer."""
    n, changes = situation.rounds, situation.changes
    quarter = n / (changes + 1) / 4.0
    window = math.ceil(max(quarter, 2.0 * math.sqrt(n * math.log(n) / changes)))
    rest = max(1e-9, 1.0 / max(quarter, 4.0 * math.sqrt(n / changes)))
    gamma = 1.0 - float(f"{rest:.1g}")
    choice: list[Other] = [
        (PooledCTS(window=window), "for sudden changes"),
        (PooledCTS(discount=gamma), "for a slow drift"),
    ]
    optimist: Advised = SlidingWindow(window, alpha=0.6)  # their radius is close to alpha = 1/2
    if situation.smooth:
        choice.reverse()
        optimist = Discounted(gamma, alpha=0.6)
    guess = "" if situation.starts else ", at a guess"
    count = f"{changes} change{'' if changes == 1 else 's'} in {n:,} rounds{guess}"
    return Recommendation(
        choice[0][0],
        (f"the means drift ({count}): what is old is to be forgotten",),
        (
            choice[1],
            (optimist, "to decide without randomness"),
            (CombUCB1(), "it recovers by itself where the gaps are large: simulate both"),
        ),
    )


def _for_approximations(situation: Situation) -> Recommendation:
    why = _approximation(situation.feasible)
    return Recommendation(
        KLUCB(), (f"{why}: optimism needs no more, Thompson sampling may fail",), (PROVEN_APPROXIMATE,)
    )


def _for_few_looks(situation: Situation) -> Recommendation:
    """Coins, rounds that are known and few: what the suite has such problems of goes to CMOSS."""
    n, most = situation.rounds, situation.feasible.n_items
    return Recommendation(
        CMOSS(),
        (f"{n:,} rounds, known in advance, are few for {most:,} coins: less exploration than usual pays",),
        ((DEFAULT, "if there may be more rounds"), (EpsilonGreedy(epsilon=0.0), "if there may be fewer"), PROVEN),
    )


def _for_one_law(situation: Situation) -> Recommendation:
    """The default, which wins or is close to whoever does on nearly all problems of the suite."""
    feasible, alike = situation.feasible, situation.independent or situation.feasible.matroid
    advice = default(feasible, bounds=situation.problem.bounds)
    others, reasons = list(advice.others), list(advice.reasons)
    if not alike:
        reasons.append(
            "items depend on each other: where all of a large solution rise and fall as one, some runs never leave a "
            "poor solution; KLUCB does"
        )
    if alike:
        others.append((CTS(), "if the weights are coins, to have its authors' proof"))
    if situation.independent and not feasible.matroid and has_tradeoffs(feasible):
        others.append((ESCB(c=0.0), "to decide without randomness, by whole solutions"))
    if not alike and few(feasible):
        others.append((OLSUCB(), "if the covariance of the items is known: give it"))
    return advice._replace(reasons=tuple(reasons), others=tuple(others))


class AdviceRule(NamedTuple):
    """A question, and what is advised where the answer is yes."""

    question: Callable[[Situation], bool]
    answer: Callable[[Situation], Recommendation]


RULES = (
    AdviceRule(lambda s: s.feedback == "bandit", _for_sums),
    AdviceRule(lambda s: s.world.hindsight, _against_an_adversary),
    AdviceRule(lambda s: s.changes > 0 and s.same_best, _for_jumping_levels),
    AdviceRule(lambda s: s.changes > 0, _for_drift),
    AdviceRule(lambda s: bool(_approximation(s.feasible)), _for_approximations),
    AdviceRule(lambda s: s.few_looks and s.coins, _for_few_looks),
    AdviceRule(lambda s: True, _for_one_law),
)
"""For problems; the first question that is answered by yes decides."""
