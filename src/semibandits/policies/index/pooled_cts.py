"""Combinatorial Thompson sampling that learns the spread of the weights, from each item and from all of them."""

from dataclasses import dataclass
from typing import ClassVar

from semibandits._util.checks import check_fraction, check_rounds
from semibandits.draws import beta
from semibandits.errors import BadArgument
from semibandits.kernel import exp, log, where
from semibandits.types import Clock, Game, IndexPolicy, Init, Params, Scalar, Stats

ITEM = 4.0
"""Observations of an item that weigh as much as all other items, when it is asked how much its weights vary."""
LEVEL = 10.0
"""Observations that the level of the other items is worth, at most, to an item."""
DOUBT = 1e-3
"""How long they are taken for coins: until so much variance was to be expected of coins."""
LEAST = 1e-9
"""The least dispersion, and the least variance of a coin."""
MOST = 1e9
"""The most observations of coins that an item's observations are worth."""


@dataclass(frozen=True)
class PooledCTS(IndexPolicy):
    """Chooses the best solution under weights drawn from what is believed about each item:

        U_t(e) ~ Beta(a, b),    a = max(1, (k M + S(e)) / φ(e)),    b = max(1, (k (1 - M) + T(e) - S(e)) / φ(e))

    where S(e) is the sum of the T(e) observations x in [0, 1]. φ(e) in (0, 1] is their dispersion: the variance that
    was observed, divided by that of coins of the same mean. Coins have φ = 1, and this is `CTS` but for its prior;
    where weights vary little φ is small, and an observation counts for 1/φ of a coin's. So nobody need tell the noise,
    and loose bounds do little harm.

    What the items have in common is learned from all of them, as in empirical Bayes methods: φ(e) is that of the item's
    own observations and, as if it were of 4 more, that of all items; M is the mean of the items' means, and worth k
    observations, k = V / τ² but 10 at most, for V the typical variance of an observation and τ² that of the items'
    means. An item nobody has seen is drawn by what the others were like.

    A weight is remembered for `window` rounds only, where that is not 0; and with a `discount` below 1 it counts so
    many times less with every round that passes.

    It needs an exact oracle, as every policy that samples: with an approximate one its regret may grow linearly (Wang
    and Chen 2018). No bound of its regret is proven.
    """

    needs = "an exact oracle; nothing to be tuned"
    guarantee = "none is proven; measured on the problems of the suite"
    use = "the default: weights of any spread, coins too, loose bounds, many items"
    formula = "a draw from Beta(k M + S, k (1 - M) + T - S) / dispersion"

    window: int = 0
    discount: float = 1.0

    # (count, sum, sum of squared distances from the mean, and the last round observed, if they are discounted to it)
    prior: ClassVar[Stats] = (0.0, 0.0, 0.0, 0.0)
    init: ClassVar[Init] = "optimistic"  # type: ignore[misc]
    redraws: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.window != 0:
            object.__setattr__(self, "window", check_rounds("window", self.window))
        if self.discount != 1.0:
            object.__setattr__(self, "discount", check_fraction("discount", self.discount))
        if self.window and self.discount != 1.0:
            raise BadArgument(f"either window or discount, got window={self.window} and discount={self.discount}")

    def params(self, game: Game) -> Params:
        return (log(self.discount), 0.0 if self.discount == 1.0 else 1.0)

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        return (round - 1.0,)

    @staticmethod
    def observe(s: Stats, x: Scalar, round: int, key: int, item: Scalar, p: Params) -> Stats:
        later = p[1] * where(s[3] > round, s[3], 1.0 * round)
        old, new = exp((later - s[3]) * p[0]), exp((later - round) * p[0])
        count, sum_ = s[0] * old, s[1] * old
        mean = where(count > 0.0, sum_ / where(count > 0.0, count, 1.0), x)
        after, total = count + new, sum_ + new * x
        return (after, total, s[2] * old + new * ((x - mean) * (x - total / after)), later)

    @staticmethod
    def forget(s: Stats, x: Scalar, round: int, p: Params) -> Stats:
        count, sum_ = s[0] - 1.0, s[1] - x
        seen = count > 0.0
        some = where(seen, count, 1.0)
        sum_ = where(seen & (sum_ > 0.0), where(sum_ < count, sum_, count), 0.0)  # rounding must not leave the range
        squares = s[2] - (x - sum_ / some) * (x - s[1] / (some + 1.0))
        return (count, sum_, where(seen & (squares > 0.0), squares, 0.0), s[3])

    @staticmethod
    def share(s: Stats, round: int, p: Params) -> Stats:
        count, mean, varied, of_coins = believed(s, round - 1.0, p)
        known = where(count < 1.0, count, 1.0)
        return (known, known * mean, known * (mean * mean), known / where(count > 1.0, count, 1.0), varied, of_coins)

    @staticmethod
    def pooled(totals: Stats, c: Clock, p: Params) -> Clock:
        known, means, squares, shares, varied, of_coins = totals
        some = where(known > 0.0, known, 1.0)
        level = where(known > 0.0, means / some, 0.5)
        dispersion = (DOUBT + varied) / (DOUBT + of_coins)
        dispersion = where(dispersion < 1.0, dispersion, 1.0)
        variance = dispersion * level * (1.0 - level)
        between = (squares - means * level) / where(known > 2.0, known - 1.0, 1.0) - variance * (shares / some)
        worth = where(LEVEL * between > variance, variance / where(between > 0.0, between, 1.0), LEVEL)
        return (c[0], dispersion, worth * level, worth * (1.0 - level))

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        count, mean, varied, of_coins = believed(s, c[0], p)
        good, bad = c[2] + count * mean, c[3] + count * (1.0 - mean)
        both = good + bad
        coin = (good / both) * (bad / both)
        coin = ITEM * where(coin > LEAST, coin, LEAST)
        dispersion = (c[1] * coin + varied) / (coin + of_coins)
        per = 1.0 / where(dispersion > LEAST, where(dispersion < 1.0, dispersion, 1.0), LEAST)
        per = where(per * both < MOST, per, MOST / both)
        a, b = per * good, per * bad
        return where(s[0] > 0.0, beta(where(a > 1.0, a, 1.0), where(b > 1.0, b, 1.0), key, item), 1.0)


def believed(s: Stats, now: Scalar, p: Params) -> Stats:
    """Of an item: its observations, their mean, and how much they varied, beside how much coins would have."""
    seen = s[0] > 0.0
    left = exp((now - where(seen, s[3], now)) * p[0])
    count = s[0] * left
    mean = s[1] / where(seen, s[0], 1.0)
    more = where(count > 1.0, count - 1.0, 0.0)
    return (count, mean, s[2] * left, more * (mean * (1.0 - mean)))
