"""All families of sets: random instances of each with the list of their solutions, and problems to play on."""

from semibandits import Problem
from support.families import budgets, combined, graphs, matroids, pairs
from support.strategies import BASIC

MODULES = (matroids, graphs, pairs, budgets, combined)
FAMILIES = BASIC | {name: family for module in MODULES for name, family in module.FAMILIES.items()}
PROBLEMS: dict[str, Problem] = {name: problem for module in MODULES for name, problem in module.PROBLEMS.items()}
