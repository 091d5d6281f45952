"""Combinatorial Thompson sampling that learns the spread of the weights, from each item and from all of them."""

from dataclasses import dataclass
from typing import ClassVar

from semibandits._util.checks import check_fraction, check_rounds, is_number
from semibandits.draws import beta, beta_at_a_glance, beta_width
from semibandits.errors import BadArgument
from semibandits.kernel import exp, ln, log, where
from semibandits.rng import uniform
from semibandits.types import Clock, Game, IndexPolicy, Init, Params, Scalar, Stats

OWN = 4.0
"""Observations of an item that weigh as much as those of all others, when it is asked how much its weights vary."""
LEVEL = 10.0
"""Observations that the level of the other items is worth to an item, at most."""
DOUBT = 1e-3
"""How long weights are taken for coins: until so much variance would have been seen of coins."""
SURE, UNSURE = 0.1, 1.0
"""What is drawn of the variance, at least and at most."""
ENOUGH, NEGLECTED, FEWER = 6.0, 5.0, 30.0
"""Of the spread of an item seen n times, n less than the first, nothing is taken for granted once others were seen more
than the second times n³ on average, for each item known. Where it was seen so many times less its own spread counts,
and nothing is taken for granted of the level of an item only seen at a bound."""
FADED = 0.01
"""An item of which less than so much of an observation is left counts as never seen."""
TIE = 1e-12
"""What the scores of unseen items differ by, at most, so that decisions made before any feedback try different ones."""
LEAST, MOST = 1e-12, 1e12
"""The least dispersion and variance of a coin; the most coins that an item's observations are worth."""


@dataclass(frozen=True)
class PooledCTS(IndexPolicy):
    """Chooses the best solution under weights drawn from what is believed about each item:

        U_t(e) ~ Beta(max(1, (k M + S(e)) / d), max(1, (k (1 - M) + T(e) - S(e)) / d)),    d = φ(e) v(e)

    where S(e) is the sum of the T(e) observations x in [0, 1]. Before that every item is taken to be worth all that its
    bounds allow, so it is tried once, unless others are sure to be better.

    φ(e) in (0, 1] is the dispersion of the observations: their variance, divided by that of coins of the same mean.
    Coins have φ = 1, and `CTS` is the same with a prior of its own. Where weights vary less an observation is worth 1/φ
    of a coin's, so that nobody need tell the noise, and bounds that are a hundred times too loose do little harm.

    What items have in common is learned from all of them, as in empirical Bayes methods, but for those whose bounds
    meet. φ(e) is that of the item's own observations and, as if of 4 more, that of all items. M is the mean of the
    items' means; it is worth k observations, k = V / τ² but 10 at most, V the typical variance of an observation and τ²
    that of the items' means.

    v(e) = log(T̄ / T(e)), within [0.1, 1], T̄ the mean of T over the items: what was seen more than others is drawn
    with less variance, as MOSS has no bonus for it (Audibert and Bubeck 2009; for Thompson sampling Jin et al. 2021).
    What is neglected comes to have the whole variance.

    An item that varies more than the others must recover from a bad start. So φ(e) is the item's own, if that is
    larger, where it was seen 30 times less than others; and it is 1 if e was seen but n < 6 times while T̄ > 5 n³ for
    each item known (the more items are alike, the less is to be expected of one more), or only ever at a bound: it may
    be a coin. If it was, and 30 times less than others, the level of these says nothing of it either, and it is drawn
    as by `CTS`, but for v(e): items that failed together when they were first tried, as those of a path may, would else
    hold each other down for ever.

    A weight is remembered for `window` rounds only, where that is not 0; with a `discount` below 1 it counts so many
    times less with every round that passes. An item that was forgotten is tried again.

    It needs an exact oracle, as every policy that samples: with an approximate one its regret may grow linearly (Wang
    and Chen 2018). No bound of its regret is proven: what it does on many problems is measured by the suite.
    """

    needs = "an exact oracle; nothing to be tuned"
    guarantee = "none is proven; measured on the problems of the suite"
    use = "the default: weights of any spread, coins too, loose bounds, many items"
    formula = (
        "a draw from Beta((k M + T ŵ) / d, (k (1 - M) + T (1 - ŵ)) / d): d by the dispersion of the item's weights, M "
        "the level of all items, worth k observations"
    )

    window: int = 0
    discount: float = 1.0

    # (count, sum, sum of squared distances from the mean, and the last round observed, if they are discounted to it)
    prior: ClassVar[Stats] = (0.0, 0.0, 0.0, 0.0)
    init: ClassVar[Init] = "optimistic"  # type: ignore[misc]
    redraws: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not is_number(self.window) or self.window != 0:
            object.__setattr__(self, "window", check_rounds("window", self.window))
        if not is_number(self.discount) or self.discount != 1.0:
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
    def observe_many(s: Stats, counts: Scalar, sums: Scalar, squares: Scalar, round: int, p: Params) -> Stats:
        later = p[1] * where(s[3] > round, s[3], 1.0 * round)
        old, new = exp((later - s[3]) * p[0]), exp((later - round) * p[0])
        count, sum_, more, added = s[0] * old, s[1] * old, counts * new, sums * new
        apart = where(count > 0.0, sum_ / where(count > 0.0, count, 1.0) - sums / counts, 0.0)
        within = squares - sums * (sums / counts)
        varied = s[2] * old + new * where(within > 0.0, within, 0.0) + apart * apart * (count * more / (count + more))
        return (count + more, sum_ + added, varied, later)

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
        once = known / where(count > 1.0, count, 1.0)
        return (known, known * mean, known * (mean * mean), once, varied, of_coins, count)

    @staticmethod
    def pooled(totals: Stats, c: Clock, p: Params) -> Clock:
        known, means, squares, once, varied, of_coins, counts = totals
        some = where(known > 0.0, known, 1.0)
        level = where(known > 0.0, means / some, 0.5)
        dispersion = (DOUBT + varied) / (DOUBT + of_coins)
        dispersion = where(dispersion < 1.0, dispersion, 1.0)
        variance = dispersion * level * (1.0 - level)
        between = (squares - means * level) / where(known > 2.0, known - 1.0, 1.0) - variance * (once / some)
        worth = where(LEVEL * between > variance, variance / where(between > 0.0, between, 1.0), LEVEL)
        return (
            c[0],
            dispersion,
            worth * level,
            worth * (1.0 - level),
            where(counts > FADED, counts / some, 1.0),
            NEGLECTED * known,
        )

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        seen, a, b = shapes(s, c, p)
        return where(seen, beta(a, b, key, item), unseen(key, item))

    @staticmethod
    def glance(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        seen, a, b = shapes(s, c, p)
        return where(seen, beta_at_a_glance(a, b, beta_width(a), beta_width(b), key, item), unseen(key, item))


def unseen(key: int, item: Scalar) -> Scalar:
    """The score of an item that was never seen."""
    return 1.0 - TIE * uniform(key, item)


def believed(s: Stats, now: Scalar, p: Params) -> Stats:
    """Of an item: its observations, their mean, and how much they varied, beside how much coins would have."""
    seen = s[0] > 0.0
    left = exp((now - where(seen, s[3], now)) * p[0])
    count = s[0] * left
    mean = where(s[1] < s[0], s[1] / where(seen, s[0], 1.0), where(seen, 1.0, 0.0))
    more = where(count > 1.0, count - 1.0, 0.0)
    return (count, mean, s[2] * left, more * (mean * (1.0 - mean)))


def shapes(s: Stats, c: Clock, p: Params) -> Stats:
    """Whether an item was seen, and both parameters of its Beta distribution."""
    count, mean, varied, of_coins = believed(s, c[0], p)
    seen = count > FADED
    good, bad = c[2] + count * mean, c[3] + count * (1.0 - mean)
    both = where(good + bad > 0.0, good + bad, 1.0)
    coin = (good / both) * (bad / both)
    coin = OWN * where(coin > LEAST, coin, LEAST)
    dispersion = (c[1] * coin + varied) / (coin + of_coins)
    more = c[4] / where(seen, count, 1.0)
    own = varied / where(of_coins > 0.0, of_coins, 1.0)
    fewer = more > FEWER
    dispersion = where(fewer & (own > dispersion), own, dispersion)
    neglected = (count < ENOUGH) & (c[4] > c[5] * (count * count * count))
    at_a_bound = (mean <= 0.0) | (mean >= 1.0)
    unknown = at_a_bound | neglected
    dispersion = where(unknown | (dispersion > 1.0), 1.0, dispersion)
    drawn = ln(more)
    spread = dispersion * where(drawn > SURE, where(drawn < UNSURE, drawn, UNSURE), SURE)
    least = where(both > MOST * LEAST, both / MOST, LEAST)
    per = 1.0 / where(spread > least, spread, least)
    alone = fewer & at_a_bound
    a = where(alone, 1.0 + per * (count * mean), per * good)
    b = where(alone, 1.0 + per * (count * (1.0 - mean)), per * bad)
    return (seen, where(a > 1.0, a, 1.0), where(b > 1.0, b, 1.0))
