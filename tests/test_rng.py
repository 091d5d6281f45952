"""Random numbers: the same bits everywhere, and nothing to tell them from independent uniform ones."""

from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from semibandits import kernel, rng
from semibandits.errors import BadArgument
from semibandits.rng import FEEDBACK, POLICY, WORLD

Words = NDArray[np.uint64]
Pairs = tuple[Words, Words]

LAST = 2**64 - 1
WORD = st.integers(0, LAST)


def array(*values: int) -> Words:
    return np.array(values, dtype=np.uint64)


# The same bits for a number, for an array and for the compiler.


@settings(max_examples=200)
@given(key=WORD, item=WORD, draw=st.sampled_from([0, 1, 2]))
@example(key=0, item=0, draw=0)
@example(key=0, item=LAST, draw=1)
@example(key=LAST, item=0, draw=2)
@example(key=LAST, item=LAST, draw=2)
def test_a_number_an_array_and_the_compiler_draw_the_same(key: int, item: int, draw: int) -> None:
    value = rng.uniform(key, item, draw)
    assert 0 <= value < 1
    assert (value * 2**53).is_integer()
    assert rng.uniform(array(key), array(item), draw).tolist() == [value]
    assert rng.uniform(key, array(item, item), draw).tolist() == [value, value]
    assert rng.uniform(array(key, key)[:, None], item, draw).tolist() == [[value], [value]]
    assert kernel.compiled(rng.uniform)(np.uint64(key), np.uint64(item), draw) == value
    assert rng.uniform(np.uint64(key), np.uint64(item), draw) == value
    if key < 2**63 and item < 2**63:  # signed integers are as good
        assert kernel.compiled(rng.uniform)(key, item, draw) == value
        assert rng.uniform(np.int64(key), np.array([item]), draw).tolist() == [value]
    branch = rng.below(key, item)
    assert rng.below(key, array(item)).tolist() == [branch]
    assert int(kernel.compiled(rng.below)(np.uint64(key), np.uint64(item))) == branch


@given(seed=WORD, run=WORD, first=st.integers(0, LAST - 8), stream=st.sampled_from([WORLD, POLICY, FEEDBACK]))
@example(seed=0, run=0, first=0, stream=WORLD)
@example(seed=LAST, run=LAST, first=LAST - 8, stream=FEEDBACK)
def test_the_keys_of_many_rounds_are_the_keys_of_each(seed: int, run: int, first: int, stream: int) -> None:
    together = rng.keys(seed, run, first, 8, stream)
    assert together.dtype == np.uint64
    assert together.tolist() == [rng.key(seed, run, first + later, stream) for later in range(8)]


# The bits that were promised.


def splitmix64(state: int) -> int:
    """The output function of splitmix64, from its definition."""
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    state = (state ^ state >> 27) * 0x94D049BB133111EB % 2**64
    return state ^ state >> 31


def by_hand(seed: int, run: int, round: int, stream: int, item: int, draw: int) -> float:
    state = 0x2545F4914F6CDD1D
    for part in (seed, run, stream, round):
        state = splitmix64((state + part * 0x9E3779B97F4A7C15) % 2**64)
    state = splitmix64((state + item * 0xD1B54A32D192ED03) % 2**64)
    if draw:
        state = splitmix64((state + draw * 0xA24BAED4963EE407) % 2**64)
    return (state >> 11) / 2**53


def test_mix_answers_as_published() -> None:
    # The first outputs of splitmix64 from the seed 1234567.
    published = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert [rng.mix((1234567 + step * 0x9E3779B97F4A7C15) % 2**64) for step in range(1, 6)] == published


@given(seed=WORD, run=WORD, round=WORD, stream=st.integers(0, 2), item=WORD, draw=st.integers(0, 2**63 - 1))
@example(seed=0, run=0, round=0, stream=0, item=0, draw=0)
@example(seed=LAST, run=LAST, round=LAST, stream=2, item=LAST, draw=LAST)
def test_numbers_are_as_defined(seed: int, run: int, round: int, stream: int, item: int, draw: int) -> None:
    assert rng.mix(seed) == splitmix64(seed)
    value = rng.uniform(rng.key(seed, run, round, stream), item, draw)
    assert value == by_hand(seed, run, round, stream, item, draw)


def test_numbers_never_change() -> None:
    pinned = {
        (7, 0, 1, WORLD, 0, 0): 0.004939750450021152,
        (7, 0, 1, WORLD, 1, 0): 0.3437494592304593,
        (7, 0, 2, WORLD, 0, 0): 0.10161638297182518,
        (7, 0, 1, POLICY, 0, 0): 0.5703369105797185,
        (7, 0, 1, FEEDBACK, 0, 0): 0.18950982471552014,
        (7, 1, 1, WORLD, 0, 0): 0.4848004943443939,
        (7, 0, 1, WORLD, 0, 1): 0.4549815952266164,
        (7, 0, 1, WORLD, 0, 2): 0.49493082238861175,
        (8, 0, 1, WORLD, 0, 0): 0.889870956539914,
    }
    drawn = {
        (seed, run, round, stream, item, draw): rng.uniform(rng.key(seed, run, round, stream), item, draw)
        for seed, run, round, stream, item, draw in pinned
    }
    assert drawn == pinned


def test_no_two_rounds_share_a_key() -> None:
    keys = [
        rng.keys(seed, run, 1, 20, stream)
        for seed, run, stream in product(range(200), range(50), (WORLD, POLICY, FEEDBACK))
    ]
    assert np.unique(np.concatenate(keys)).size == 200 * 50 * 3 * 20


# A battery for two series of words that are said to be uniform, each in itself, and independent of each other.

SIZE = 2**16
"""The length of a series."""


def two_sided(z: NDArray[np.float64] | float, count: int = 1) -> float:
    """The p-value of the farthest of `count` standard normal numbers, by Bonferroni."""
    return min(1.0, 2 * count * float(stats.norm.sf(np.max(np.abs(z)))))


def planes(words: Words) -> Words:
    """A row for each bit, the top bit first, with that bit of all words."""
    bits = np.unpackbits(words.astype(">u8")[:, None].view(np.uint8), axis=1)
    return np.ascontiguousarray(np.packbits(bits, axis=0).T).view(np.uint64)


def coins(heads: Words) -> NDArray[np.float64]:
    """The standard normal number of each row of bits, as the throws of a fair coin."""
    count = np.bitwise_count(heads).sum(axis=-1, dtype=np.float64)
    normal: NDArray[np.float64] = (count - SIZE / 2) / np.sqrt(SIZE / 4)
    return normal


def unit(words: Words) -> NDArray[np.float64]:
    return (words >> 11) / 2.0**53


def uniformity(a: Words, b: Words) -> float:
    """Kolmogorov-Smirnov, on either series."""
    return min(1.0, 2 * min(float(stats.kstest(unit(series), "uniform").pvalue) for series in (a, b)))


def correlation(a: Words, b: Words) -> float:
    """The product of the two deviations from 1/2 has mean 0 and variance 1/144."""
    return two_sided(float(np.sum((unit(a) - 0.5) * (unit(b) - 0.5))) * 12 / np.sqrt(SIZE))


def pairs(a: Words, b: Words) -> float:
    """Chi-square of the pairs on a grid of 16 by 16."""
    cells = (a >> 60) * 16 + (b >> 60)
    return float(stats.chisquare(np.bincount(cells.astype(np.int64), minlength=256)).pvalue)


def bit_frequency(a: Words, b: Words) -> float:
    """Each of the top 53 bits is set as often as not, in either series."""
    return two_sided(coins(np.stack([planes(a)[:53], planes(b)[:53]])), count=2 * 53)


def bit_correlation(a: Words, b: Words) -> float:
    """No bit of one series knows a bit of the other: any two differ as often as not."""
    return two_sided(coins(planes(a)[:, None] ^ planes(b)), count=64 * 64)


def avalanche(a: Words, b: Words) -> float:
    """Chi-square of the number of differing bits, Binomial(64, 1/2); the tails from 20 and 44 on are one cell each."""
    differing = np.clip(np.bitwise_count(a ^ b), 20, 44)
    expected = stats.binom.pmf(np.arange(20, 45), 64, 0.5)
    expected[[0, -1]] = stats.binom.cdf(20, 64, 0.5)
    return float(stats.chisquare(np.bincount(differing, minlength=45)[20:], expected * SIZE).pvalue)


def runs(a: Words, b: Words) -> float:
    """Stays of one side of 1/2 end with probability 1/2, in either series."""
    turns = np.array([np.sum((series[1:] ^ series[:-1]) >> 63) for series in (a, b)], dtype=float)
    return two_sided((turns - (SIZE - 1) / 2) / np.sqrt((SIZE - 1) / 4), count=2)


def birthdays(a: Words, b: Words) -> float:
    """Marsaglia's spacings of 512 birthdays in a year of 2^24 days, from the top and from the low bits of a number.

    The spacings that repeat number about Poisson(2) in each of 128 years.
    """
    worst = 1.0
    for series, shift in product((a, b), (40, 11)):
        days = np.sort((series >> shift & (2**24 - 1)).astype(np.int64).reshape(-1, 512))
        spacings = np.sort(np.diff(days, prepend=0))
        repeated = int(np.sum(np.diff(spacings) == 0))
        years = stats.poisson(2 * len(days))
        worst = min(worst, 2 * min(years.cdf(repeated), years.sf(repeated - 1)))
    return min(1.0, 4 * worst)


BATTERY: tuple[Callable[[Words, Words], float], ...] = (
    uniformity,
    correlation,
    pairs,
    bit_frequency,
    bit_correlation,
    avalanche,
    runs,
    birthdays,
)


def words(
    seed: int = 7,
    run: int = 0,
    stream: int = WORLD,
    first: int = 1,
    item: int = 0,
    draw: int = 0,
    *,
    shape: tuple[int, int],
) -> Words:
    """A row for each round from `first` on, a column for each item from `item` on."""
    rounds, items = shape
    columns = np.arange(item, item + items, dtype=np.uint64)
    drawn: Words = rng.bits(rng.keys(seed, run, first, rounds, stream)[:, None], columns, draw)
    return drawn


def even(make: Callable[[], Words]) -> Pairs:
    """The neighbours 0 and 1, 2 and 3, ... along the first axis."""
    series = make()
    return series[0:-1:2], series[1::2]


def odd(make: Callable[[], Words]) -> Pairs:
    """The neighbours 1 and 2, 3 and 4, ... along the first axis."""
    series = make()
    return series[1::2], series[2::2]


SERIES: dict[str, Callable[[], Words]] = {
    "rounds of an item": lambda: words(shape=(2 * SIZE + 1, 1)),
    "items of a round": lambda: words(shape=(1, 2 * SIZE + 1)).T,
    "items of many rounds": lambda: words(shape=(512, 257)).T,
    "seeds": lambda: np.stack([words(seed=seed, shape=(16, 16)) for seed in range(513)]),
    "runs": lambda: np.stack([words(run=run, shape=(16, 16)) for run in range(513)]),
    "draws": lambda: np.stack([words(draw=draw, shape=(64, 128)) for draw in range(17)]),
}
SQUARE = (256, 256)
USES: dict[str, Callable[[], Pairs]] = {
    **{f"{name}, even": partial(even, make) for name, make in SERIES.items()},
    **{f"{name}, odd": partial(odd, make) for name, make in SERIES.items()},
    "world and policy": lambda: (words(shape=SQUARE), words(stream=POLICY, shape=SQUARE)),
    "world and feedback": lambda: (words(shape=SQUARE), words(stream=FEEDBACK, shape=SQUARE)),
    "policy and feedback": lambda: (words(stream=POLICY, shape=SQUARE), words(stream=FEEDBACK, shape=SQUARE)),
    # One step in one part of the name must not be one step in another.
    "next seed and next run": lambda: (words(seed=8, shape=SQUARE), words(run=1, shape=SQUARE)),
    "next run and next stream": lambda: (words(run=1, shape=SQUARE), words(stream=POLICY, shape=SQUARE)),
    "next run and next round": lambda: (words(run=1, shape=SQUARE), words(first=2, shape=SQUARE)),
    "next round and next item": lambda: (words(first=2, shape=SQUARE), words(item=1, shape=SQUARE)),
    "next item and next draw": lambda: (words(item=1, shape=SQUARE), words(draw=1, shape=SQUARE)),
}
LEVEL = 1e-4 / (len(USES) * len(BATTERY))
"""Perfect numbers would fail one of all these tests with probability 1e-4; ours are fixed and do or do not."""


def rejections(sides: Pairs) -> set[str]:
    """The tests that tell the two series from independent uniform numbers."""
    a, b = (np.ascontiguousarray(side).reshape(-1) for side in sides)
    assert a.size == b.size == SIZE
    return {test.__name__ for test in BATTERY if test(a, b) < LEVEL}


@pytest.mark.parametrize("use", USES)
def test_the_battery_finds_nothing(use: str) -> None:
    assert rejections(USES[use]()) == set()


# The battery has teeth: every test of it rejects one of these, and each of these is rejected.


def counters(first: int, item: int, shape: tuple[int, int]) -> Words:
    """A number for each round and item, in one level: their sum, on a Weyl sequence."""
    rounds = np.arange(first, first + shape[0], dtype=np.uint64)
    items = np.arange(item, item + shape[1], dtype=np.uint64)
    return (rounds[:, None] + items) * np.uint64(0x9E3779B97F4A7C15)


def multiplied(z: Words) -> Words:
    """The first third of the finaliser."""
    return (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)


LONG = (2 * SIZE + 1, 1)
TOGETHER = {"correlation", "pairs", "bit_correlation", "avalanche"}
"""The tests that hold one series against the other."""
WEAK: dict[str, tuple[Callable[[], Pairs], set[str]]] = {
    "no mixing": (lambda: even(lambda: counters(1, 0, LONG)), {*TOGETHER, "runs", "birthdays"}),
    "one multiplication": (lambda: even(lambda: multiplied(counters(1, 0, LONG))), {"bit_correlation", "avalanche"}),
    "one level": (
        lambda: (rng.mix(counters(2, 0, SQUARE)), rng.mix(counters(1, 1, SQUARE))),
        {test.__name__ for test in BATTERY},
    ),
    "one stream for world and policy": (lambda: (words(shape=SQUARE), words(shape=SQUARE)), TOGETHER),
}


@pytest.mark.parametrize("weak", WEAK)
def test_the_battery_rejects(weak: str) -> None:
    make, rejecting = WEAK[weak]
    assert rejections(make()) == rejecting


# Seeds.


@pytest.mark.parametrize("seed", [0, LAST, np.int64(7), np.uint8(7), np.uint64(LAST)])
def test_a_seed_is_a_64_bit_word(seed: int) -> None:
    checked = rng.check_seed(seed)
    assert type(checked) is int
    assert checked == seed


@pytest.mark.parametrize("seed", [-1, 2**64, True, 1.5, "7", np.int64(-1), np.float64(7), np.True_])
def test_nothing_else_is_a_seed(seed: object) -> None:
    with pytest.raises(BadArgument, match="a seed is an integer from 0"):
        rng.check_seed(seed)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="a seed is an integer from 0"):
        rng.key(seed, 0, 1, WORLD)  # type: ignore[arg-type]


def test_no_seed_is_a_new_one_each_time() -> None:
    first, second = rng.check_seed(None), rng.check_seed(None)
    assert first != second
    assert {0 <= seed <= LAST for seed in (first, second)} == {True}
