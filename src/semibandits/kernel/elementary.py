"""Logarithm, exponential, sine and cosine of numbers and arrays: the same bits from NumPy and from machine code.

NumPy and the compiler each have their own versions of these, which round differently. Here they are arithmetic, without
branches, so that they run in lanes too. Relative errors stay below 1e-15. The coefficients are Chebyshev fits, worked
out in 60 digits, of the functions named beside them.
"""

from semibandits._util.arrays import Scalar
from semibandits.kernel.maths import from_bits, to_bits, where

_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # the first has 21 bits to spare
_PER_LN2 = 1.4426950408889634
_SHIFT = 6755399441055744.0  # 1.5 · 2^52: a number added to it is rounded to an integer, which its last bits show
_SHIFT_BITS = 0x4338000000000000
_ROOT_HALF_BITS = 0x3FE6A09E667F3BCD
_TURN = 6.283185307179586


def ln(x: Scalar) -> Scalar:
    """The natural logarithm of a number from 2.3e-308 to 1.7e308; of others nothing useful."""
    bits = to_bits(x)
    exponent = (bits - _ROOT_HALF_BITS) >> 52
    f = from_bits(bits - (exponent << 52)) - 1.0
    k = from_bits(exponent + _SHIFT_BITS) - _SHIFT
    s = f / (2.0 + f)
    z = s * s
    # (2 artanh(s) / s - 2) / z
    r = 0.15331710618210773 + z * 0.14616585424888623
    r = 0.22222211130259878 + z * (0.18182889455674947 + z * r)
    r = 0.666666666666667 + z * (0.39999999999899444 + z * (0.2857142862600327 + z * r))
    return k * _LN2_HIGH + (s * (2.0 + z * r) + k * _LN2_LOW)


def exp(x: Scalar) -> Scalar:
    """e^x; below -700 and above 700 as if it were these."""
    x = where(x < -700.0, -700.0, where(x > 700.0, 700.0, x))
    shifted = x * _PER_LN2 + _SHIFT
    k = shifted - _SHIFT
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    # (e^r - 1 - r) / r²
    y = 2.7620088445409746e-07 + r * 2.510038549551032e-08
    y = 2.4801521295954376e-05 + r * (2.7557268459997064e-06 + r * y)
    y = 0.0013888888917213717 + r * (0.00019841269863053618 + r * y)
    y = 0.04166666666662413 + r * (0.008333333333330062 + r * y)
    y = 1.0 + (r + r * r * (0.5000000000000001 + r * (0.16666666666666669 + r * y)))
    return y * from_bits((to_bits(shifted) - _SHIFT_BITS + 1023) << 52)


def turn(u: Scalar) -> Scalar:
    """The cosine and the sine of u turns, that is of 2πu, for u from 0 to 1."""
    shifted = 4.0 * u + _SHIFT
    quarter = to_bits(shifted) - _SHIFT_BITS
    r = (u - 0.25 * (shifted - _SHIFT)) * _TURN
    z = r * r
    # (sin(r) / r - 1) / r²
    s = 2.755731610068303e-06 + z * (-2.5051131455427946e-08 + z * 1.591810123027412e-10)
    s = -0.16666666666666666 + z * (0.008333333333330946 + z * (-0.0001984126983675497 + z * s))
    s = r + r * (z * s)
    # (cos(r) - 1 + r²/2) / r⁴
    c = -2.7557317270560326e-07 + z * (2.0876146024689747e-09 + z * -1.1382614868556325e-11)
    c = 0.041666666666666664 + z * (-0.0013888888888887395 + z * (2.4801587298763433e-05 + z * c))
    c = (1.0 - 0.5 * z) + z * z * c
    odd = (quarter & 1) != 0
    cosine, sine = where(odd, s, c), where(odd, c, s)
    return where(((quarter + 1) & 2) != 0, -cosine, cosine), where((quarter & 2) != 0, -sine, sine)
