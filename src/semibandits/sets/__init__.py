"""Feasible sets: which subsets of the items may be chosen, and the oracle that finds the best of them."""

from semibandits.sets.enumerated import Enumerated
from semibandits.sets.oracle import Oracle
from semibandits.sets.paths import DagPaths, GridPaths, KPaths
from semibandits.sets.top_k import TopK

__all__ = ["DagPaths", "Enumerated", "GridPaths", "KPaths", "Oracle", "TopK"]
