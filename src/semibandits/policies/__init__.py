"""Policies: how to score items from what was observed."""

from semibandits.policies.index.bg_cts import BGCTS
from semibandits.policies.index.cl_sg import CLSG
from semibandits.policies.index.clairvoyant import Clairvoyant
from semibandits.policies.index.cmoss import CMOSS
from semibandits.policies.index.combucb1 import CombUCB1
from semibandits.policies.index.cts import CTS
from semibandits.policies.index.discounted import Discounted
from semibandits.policies.index.epsilon_greedy import EpsilonGreedy
from semibandits.policies.index.explore_then_commit import ExploreThenCommit
from semibandits.policies.index.fixed import Fixed
from semibandits.policies.index.gaussian_cts import GaussianCTS
from semibandits.policies.index.kl_ucb import KLUCB
from semibandits.policies.index.omm import OMM
from semibandits.policies.index.random_solutions import Random
from semibandits.policies.index.sliding_window import SlidingWindow
from semibandits.policies.index.ucb_v import UCBV
from semibandits.policies.recommendation import Recommendation, recommend
from semibandits.policies.solution.comb_lin_ts import CombLinTS
from semibandits.policies.solution.comb_lin_ucb import CombLinUCB
from semibandits.policies.solution.comband import COMBAND
from semibandits.policies.solution.escb import ESCB
from semibandits.policies.solution.fpl import FPL
from semibandits.policies.solution.hybrid import HYBRID
from semibandits.policies.solution.lin_ucb import LinUCB
from semibandits.policies.solution.oful import OFUL
from semibandits.policies.solution.ols_ucb import OLSUCB
from semibandits.policies.solution.osmd import OSMD

__all__ = [
    "BGCTS",
    "CLSG",
    "CMOSS",
    "COMBAND",
    "CTS",
    "ESCB",
    "FPL",
    "HYBRID",
    "KLUCB",
    "OFUL",
    "OLSUCB",
    "OMM",
    "OSMD",
    "UCBV",
    "Clairvoyant",
    "CombLinTS",
    "CombLinUCB",
    "CombUCB1",
    "Discounted",
    "EpsilonGreedy",
    "ExploreThenCommit",
    "Fixed",
    "GaussianCTS",
    "LinUCB",
    "Random",
    "Recommendation",
    "SlidingWindow",
    "recommend",
]
