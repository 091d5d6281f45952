"""The maths a policy may use, and its compiler: the only room that imports numba, and only when it is asked to compile.

A function made of arithmetic and of `where`, `sqrt`, `log` and `word` works on numbers, on NumPy arrays and, through
`compiled`, as machine code, with equal results bit for bit.
"""

from semibandits.kernel.compiler import compiled
from semibandits.kernel.maths import log, sqrt, where, word

__all__ = ["compiled", "log", "sqrt", "where", "word"]
