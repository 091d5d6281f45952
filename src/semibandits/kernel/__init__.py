"""The maths a policy may use, and its compiler: the only room that imports numba, and only when it is asked to compile.

A function made of arithmetic, of `where`, `sqrt`, `log`, `word` and `as_word`, and of other such functions (called by
their plain names, not through their modules) works on numbers, on NumPy arrays and, through `compiled`, as machine
code, with equal results bit for bit.
"""

from semibandits.kernel.compiler import compiled
from semibandits.kernel.maths import as_word, log, sqrt, where, word

__all__ = ["as_word", "compiled", "log", "sqrt", "where", "word"]
