"""Combinatorial Thompson sampling with Beta distributions (Wang and Chen 2018; on top-k Komiyama et al. 2015)."""

from dataclasses import dataclass
from typing import ClassVar

from semibandits.draws import beta_at_a_glance, beta_width, beta_with
from semibandits.kernel import where
from semibandits.rng import uniform
from semibandits.types import Clock, IndexPolicy, Init, Params, Scalar, Stats


@dataclass(frozen=True)
class CTS(IndexPolicy):
    """Chooses the best solution under weights drawn from what is believed about each item:

        U_t(e) ~ Beta(1 + S(e), 1 + T(e) - S(e))

    where S(e) counts the successes among T(e) observations. A weight x that is not 0 or 1 counts as a success with
    probability x (Agrawal and Goyal 2012), by a coin that depends on the seed, the round and the item alone.

    It needs an exact oracle: with an approximate one its regret may grow linearly (Wang and Chen 2018). Unless the set
    is a matroid, it needs independent items: else nothing is promised. No separate initialisation: an unseen item is
    Beta(1, 1).
    """

    needs = "an exact oracle; independent items, or a matroid"
    guarantee = "O(L log n / Δ) (Wang and Chen 2018), and other terms, exponential in K unless it is a matroid"
    use = "coins, to have its authors' proof; large solutions that share few items can trap it"
    formula = "a draw from Beta(1 + successes, 1 + failures); a weight x in (0, 1) is a success with probability x"

    # (count, sum, successes, and the widths of both parameters)
    prior: ClassVar[Stats] = (0.0, 0.0, 0.0, beta_width(1.0), beta_width(1.0))
    init: ClassVar[Init] = "optimistic"  # type: ignore[misc]
    redraws: ClassVar[bool] = True

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        return ()

    @staticmethod
    def observe(s: Stats, x: Scalar, round: int, key: int, item: Scalar, p: Params) -> Stats:
        count, successes = s[0] + 1.0, s[2] + where(uniform(key, item) < x, 1.0, 0.0)
        return (count, s[1] + x, successes, beta_width(1.0 + successes), beta_width(1.0 + (count - successes)))

    @staticmethod
    def observe_many(s: Stats, counts: Scalar, sums: Scalar, squares: Scalar, round: int, p: Params) -> Stats:
        """As many successes as are to be expected: of coins, as there were."""
        count, successes = s[0] + counts, s[2] + sums
        return (count, s[1] + sums, successes, beta_width(1.0 + successes), beta_width(1.0 + (count - successes)))

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        return beta_with(1.0 + s[2], 1.0 + (s[0] - s[2]), s[3], s[4], key, item)

    @staticmethod
    def glance(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        return beta_at_a_glance(1.0 + s[2], 1.0 + (s[0] - s[2]), s[3], s[4], key, item)
