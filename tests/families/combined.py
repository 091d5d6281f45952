from hypothesis import strategies as st

from semibandits import Problem
from strategies import Instance

FAMILIES: dict[str, st.SearchStrategy[Instance]] = {}
PROBLEMS: dict[str, Problem] = {}
