"""Names that classes had in earlier editions of this package: in the fingerprints of those, they count by these.

An edition is in the table if it plays the same numbers as this one: then its stores are taken up.
"""

from collections import namedtuple
from collections.abc import Mapping
from typing import NamedTuple

from semibandits._util.ownership import PACKAGE


class Former(NamedTuple):
    """What classes of this package were, by the names of today."""

    names: Mapping[str, str]
    shapes: Mapping[str, type]
    """Named tuples that had other fields."""


TODAY = Former({}, {})

FILES_0_1_0 = {
    "environments": """
        adversarial.Adversarial base.Independent bernoulli.Bernoulli beta.Beta correlated_gaussian.CorrelatedGaussian
        custom.Custom drifting.Drifting gaussian.Gaussian table.InOrder table.Table uniform.Uniform
    """,
    "policies": """
        bg_cts.BGCTS cl_sg.CLSG clairvoyant.Clairvoyant cmoss.CMOSS comb_lin.Belief comb_lin.CombLin
        comb_lin_ts.CombLinTS comb_lin_ucb.CombLinUCB comband.COMBAND comband.Losses comband.Span combucb1.CombUCB1
        counted.Counted cts.CTS discounted.Discounted epsilon_greedy.EpsilonGreedy escb.ESCB escb.Observed
        explore_then_commit.ExploreThenCommit fixed.Fixed fpl.FPL fpl.FPLState from_hull.FromHull
        full_bandit.FullBandit full_bandit.Ridge gaussian_cts.GaussianCTS hybrid.HYBRID hybrid.HybridState
        kl_ucb.KLUCB lin_ucb.LinUCB listing.Listing losses.Loss oful.OFUL ols_ucb.OLSUCB ols_ucb.Pairs omm.OMM
        osmd.OSMD osmd.OSMDState polytope.Hull polytope.Rule quota_projection.Groups random_solutions.Random
        recommendation.Recommendation sliding_window.SlidingWindow ucb_v.UCBV
    """,
    "sets": """
        assignment.Assignment b_matching.BMatching built_in.BuiltIn built_in.Restrictable built_in.Solved
        detours.Detours enumerated.Enumerated graph.Graph graphic.GraphicMatroid graphic._Pieces
        greedy_knapsack.GreedyKnapsack highs.Found highs.Search highs.Searched intersection.Intersection
        knapsack.Knapsack laminar.LaminarMatroid matroid.Matroid matroid.MatroidSet milp.MILP network.Network
        oracle.Oracle pairs.Pairs pairs.Side pairs_matrix.Matrix pairs_matrix.Shortage paper_paths.GridPaths
        paper_paths.KPaths partition.PartitionMatroid paths.DagPaths product.Product program.Program
        program.Rows shortest_paths.Paths top_k.TopK
    """,
}
"""Of each room, the files and the classes in them."""
OTHERS_0_1_0 = {
    "_util.ForkLock": "forks.ForkLock",
    "_util.IdentityCache": "kept.Kept",
    "_util.RecentCache": "kept.Recent",
    "live.Learner": "learner.Learner",
    "policies.CompiledPolicy": "moves.Moved",
    "policies.PolicyKernels": "moves.Moves",
    "problems.Player": "hard_problems.Player",
    "simulation.SimulationResult": "simulation.result.SimulationResult",
    "types.Quotas": "structure.Quotas",
    "types.Solver": "structure.Solver",
    "types.TradeOffs": "structure.TradeOffs",
}


SHAPES_0_1_0 = {
    f"{PACKAGE}.types.Solver": namedtuple(
        "Solver",
        "function data make_work once ragged numbers integers own_work",
        defaults=(None, False, True, 0, 0, True),
        module=f"{PACKAGE}.structure",
    )
}


def _names(files: Mapping[str, str], others: Mapping[str, str]) -> Mapping[str, str]:
    in_rooms = {f"{room}.{name.partition('.')[2]}": f"{room}.{name}" for room in files for name in files[room].split()}
    return {f"{PACKAGE}.{now}": f"{PACKAGE}.{then}" for now, then in {**in_rooms, **others}.items()}


SAME_NUMBERS = {"0.1.0 (code 827bb493)": Former(_names(FILES_0_1_0, OTHERS_0_1_0), SHAPES_0_1_0)}
"""Editions that play as this one does."""
