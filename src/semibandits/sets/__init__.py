"""Feasible sets: which subsets of the items may be chosen, and the oracle that finds the best of them."""

from typing import TYPE_CHECKING

from semibandits._util.suggestions import explain_classes, suggesting
from semibandits.sets.assignment import Assignment
from semibandits.sets.b_matching import BMatching
from semibandits.sets.enumerated import Enumerated
from semibandits.sets.graphic import GraphicMatroid
from semibandits.sets.greedy_knapsack import GreedyKnapsack
from semibandits.sets.intersection import Intersection
from semibandits.sets.knapsack import Knapsack
from semibandits.sets.laminar import LaminarMatroid
from semibandits.sets.matroid import Matroid
from semibandits.sets.milp import MILP
from semibandits.sets.oracle import Oracle
from semibandits.sets.paper_paths import GridPaths, KPaths
from semibandits.sets.partition import PartitionMatroid
from semibandits.sets.paths import DagPaths
from semibandits.sets.product import Product
from semibandits.sets.shortest_paths import Paths
from semibandits.sets.specification import from_spec
from semibandits.sets.top_k import TopK

__all__ = [
    "MILP",
    "Assignment",
    "BMatching",
    "DagPaths",
    "Enumerated",
    "GraphicMatroid",
    "GreedyKnapsack",
    "GridPaths",
    "Intersection",
    "KPaths",
    "Knapsack",
    "LaminarMatroid",
    "Matroid",
    "Oracle",
    "PartitionMatroid",
    "Paths",
    "Product",
    "TopK",
    "from_spec",
]

explain_classes(__name__)

if not TYPE_CHECKING:
    __getattr__ = suggesting(__name__)
