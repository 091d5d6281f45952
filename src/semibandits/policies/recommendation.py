"""Which policy for this problem?"""

import math
from typing import Any, NamedTuple

from semibandits.errors import BadArgument
from semibandits.policies.bg_cts import BGCTS
from semibandits.policies.catalogue import entry
from semibandits.policies.combucb1 import CombUCB1
from semibandits.policies.cts import CTS
from semibandits.policies.discounted import Discounted
from semibandits.policies.kl_ucb import KLUCB
from semibandits.policies.sliding_window import SlidingWindow
from semibandits.types import Environment, FeasibleSet, IndexPolicy

MANY = 10
"""Solutions of more items, unless they are a matroid's, may trap Thompson sampling."""


class Recommendation(NamedTuple):
    """The policy, why this one, and what else to think of."""

    policy: IndexPolicy
    reasons: tuple[str, ...]
    others: tuple[tuple[IndexPolicy, str], ...]

    @property
    def needs(self) -> str:
        return entry(type(self.policy)).needs

    @property
    def guarantee(self) -> str:
        return entry(type(self.policy)).guarantee

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


def recommend(problem: Any, horizon: int | None = None) -> Recommendation:
    """The policy to begin with, from what a `Problem` says about itself: its oracle, its weights, their dependence.

    A feasible set alone will do too: of its weights nothing is then known. `horizon` matters where the means drift:
    what to forget depends on how often they change.

    >>> import semibandits as sb
    >>> print(recommend(sb.problems.grid_path(m=4, sigma=0.2)))
    CTS()
      - the oracle is exact and the items are independent: Thompson sampling has the smallest regret
      needs: independent items, exact oracle
      guarantee: O(L log n / Δ) (Wang and Chen 2018), and terms that may be exponential in K, but not on matroids
    or KLUCB(c=2.0, init='all'): if the items may depend on each other after all
    or CombUCB1(alpha=1.5, init='paper'): to have a proven bound: theory.bounds() works it out
    """
    feasible = getattr(problem, "feasible", problem)
    world = getattr(problem, "environment", None)
    if not isinstance(feasible, FeasibleSet) or not isinstance(world, Environment | None):
        raise BadArgument(f"expected a Problem or a FeasibleSet, got {problem!r:.200}")
    if world is not None and world.drifts:
        return _for_drift(world, horizon)
    proven = (CombUCB1(), "to have a proven bound: theory.bounds() works it out")
    if feasible.ratio < 1.0 or not feasible.promised:
        why = f"the oracle is approximate (ratio {feasible.ratio:g})" if feasible.promised else "the search may be cut"
        return Recommendation(
            KLUCB(),
            (f"{why}: optimism needs no more, Thompson sampling may fail",),
            ((CombUCB1(), "to have a proof for approximate oracles"),),
        )
    if feasible.matroid:
        return Recommendation(
            CTS(),
            ("the solutions are a matroid's, found exactly: Thompson sampling is safe and has the smallest regret",),
            ((KLUCB(), "to have no randomness in the decisions"), proven),
        )
    if world is None or not world.independent:
        return Recommendation(
            KLUCB(),
            ("the items may depend on each other, for which Thompson sampling promises nothing",),
            ((CTS(), "if the items are independent"), proven),
        )
    if feasible.max_size > MANY:
        return Recommendation(
            BGCTS(),
            (
                "the oracle is exact and the items are independent",
                f"solutions may have {feasible.max_size} items, which can trap CTS for very long; BGCTS escapes",
            ),
            ((CTS(), "where most solutions share items with the best one, it does better"), (KLUCB(), "no randomness")),
        )
    return Recommendation(
        CTS(),
        ("the oracle is exact and the items are independent: Thompson sampling has the smallest regret",),
        ((KLUCB(), "if the items may depend on each other after all"), proven),
    )


def _for_drift(world: Any, horizon: int | None) -> Recommendation:
    """The lengths of Garivier and Moulines 2011 for so many changes in so many rounds."""
    starts = getattr(world, "starts", (1, 1000))
    rounds = 2 * int(starts[-1]) if horizon is None else horizon
    changes = max(1, sum(1 < start <= rounds for start in starts))
    window = max(1, math.ceil(2.0 * math.sqrt(rounds * math.log(max(rounds, 2)) / changes)))
    gamma = 1.0 - math.sqrt(changes / max(rounds, changes + 1)) / 4.0
    windowed, discounted = SlidingWindow(window), Discounted(round(gamma, 6))
    choice: list[tuple[IndexPolicy, str]] = [(windowed, "for sudden changes"), (discounted, "for a slow drift")]
    if getattr(world, "smooth", False):
        choice.reverse()
    return Recommendation(
        choice[0][0],
        (f"the means drift ({changes} changes in {rounds:,} rounds): what is old must be forgotten",),
        (choice[1], (CombUCB1(), "if the changes turn out to be small")),
    )
