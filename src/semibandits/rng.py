"""Randomness as a pure function: no generator, no state, nothing to store.

Every random number is named by (seed, run, round, stream, item, draw) and worked out from that name alone, by levels
of the splitmix64 finaliser (Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014):

    key(seed, run, round, stream) = mix(mix(mix(mix(root + seed·c) + run·c) + stream·c) + round·c)
    uniform(key, item, draw)      = mix(key + item·c'), mixed once more with the draw where draw > 0

So a round can be drawn before or after any other, by any thread, for the chosen items only, and always the same. The
world and the policy read different streams: a policy that shared the world's would know the future.

The functions are array-safe: `uniform(key, items)` and `uniform(keys[:, None], items)` draw whole arrays.
"""

import secrets

import numpy as np
from numpy.typing import NDArray

from semibandits.errors import BadArgument
from semibandits.kernel import as_word, word
from semibandits.types import Scalar

WORLD = 0
"""The stream of the weights."""
POLICY = 1
"""The stream of the scores a policy draws."""
FEEDBACK = 2
"""The stream of coins a policy throws while it learns."""

_MASK = 0xFFFFFFFFFFFFFFFF
_ROOT = 0x2545F4914F6CDD1D
_BY_BRANCH = 0x9E3779B97F4A7C15
_BY_ITEM = 0xD1B54A32D192ED03
_BY_DRAW = 0xA24BAED4963EE407


def mix(z: Scalar) -> Scalar:
    """The finaliser of splitmix64: a bijection of 64-bit words in which every input bit moves every output bit."""
    z = ((z ^ (z >> word(30))) * word(0xBF58476D1CE4E5B9)) & word(_MASK)
    z = ((z ^ (z >> word(27))) * word(0x94D049BB133111EB)) & word(_MASK)
    return z ^ (z >> word(31))


def below(key: Scalar, number: Scalar) -> Scalar:
    """The key of the `number`-th branch under `key`."""
    return mix((as_word(key) + ((as_word(number) * word(_BY_BRANCH)) & word(_MASK))) & word(_MASK))


def bits(key: Scalar, item: Scalar, draw: int = 0) -> Scalar:
    """64 random bits for an item."""
    z = mix((as_word(key) + ((as_word(item) * word(_BY_ITEM)) & word(_MASK))) & word(_MASK))
    return z if draw == 0 else mix((z + ((as_word(draw) * word(_BY_DRAW)) & word(_MASK))) & word(_MASK))


def uniform(key: Scalar, item: Scalar, draw: int = 0) -> Scalar:
    """A number from [0, 1), a multiple of 2^-53.

    >>> uniform(key(seed=7, run=0, round=1, stream=WORLD), 3)
    0.1311648672751371
    """
    return (bits(key, item, draw) >> word(11)) * (1.0 / 9007199254740992.0)


def stream_key(seed: int, run: int, stream: int) -> int:
    """The key above all rounds of one stream of one run."""
    return int(below(below(below(_ROOT, check_seed(seed)), run), stream))


def key(seed: int, run: int, round: int, stream: int) -> int:
    """The key of one round."""
    return int(below(stream_key(seed, run, stream), round))


def keys(seed: int, run: int, first: int, count: int, stream: int) -> NDArray[np.uint64]:
    """The keys of `count` rounds from round `first` on."""
    rounds: NDArray[np.uint64] = below(stream_key(seed, run, stream), np.arange(first, first + count, dtype=np.uint64))
    return rounds


def check_seed(seed: int | None) -> int:
    """The seed as a 64-bit word; None draws one from the operating system."""
    if seed is None:
        return secrets.randbits(64)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed <= _MASK:
        raise BadArgument(f"a seed is an integer from 0 to 2**64 - 1, got {seed!r}")
    return int(seed)
