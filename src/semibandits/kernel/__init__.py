"""The maths a policy may use, and its compiler: the only room that imports numba, and only when it is asked to compile.

A function made of arithmetic, of `where`, `sqrt`, `log`, `ln`, `exp`, `turn` and the like, and of other such functions
(called by their plain names, not through their modules) works on numbers, on NumPy arrays and, through `compiled`, as
machine code, with equal results bit for bit.
"""

from semibandits.kernel.compiler import LANES, bound, compiled, is_ours, lane_loops, placeholder
from semibandits.kernel.elementary import exp, ln, turn
from semibandits.kernel.foreign import foreign, outsized
from semibandits.kernel.maths import as_index, as_word, betaincinv, log, lowest_bit, ndtri_exp, sqrt, where, word, xlogy

score_of = placeholder("score_of")
"""score_of(view, item, lane): what an oracle for lanes is to maximise the sum of."""

__all__ = [
    "LANES",
    "as_index",
    "as_word",
    "betaincinv",
    "bound",
    "compiled",
    "exp",
    "foreign",
    "is_ours",
    "lane_loops",
    "ln",
    "log",
    "lowest_bit",
    "ndtri_exp",
    "outsized",
    "placeholder",
    "score_of",
    "sqrt",
    "turn",
    "where",
    "word",
    "xlogy",
]
