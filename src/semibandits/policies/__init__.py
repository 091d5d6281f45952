"""Policies: how to score items from what was observed."""

from semibandits.policies.bg_cts import BGCTS
from semibandits.policies.cl_sg import CLSG
from semibandits.policies.clairvoyant import Clairvoyant
from semibandits.policies.cmoss import CMOSS
from semibandits.policies.comb_lin_ts import CombLinTS
from semibandits.policies.comb_lin_ucb import CombLinUCB
from semibandits.policies.comband import COMBAND
from semibandits.policies.combucb1 import CombUCB1
from semibandits.policies.cts import CTS
from semibandits.policies.discounted import Discounted
from semibandits.policies.epsilon_greedy import EpsilonGreedy
from semibandits.policies.escb import ESCB
from semibandits.policies.explore_then_commit import ExploreThenCommit
from semibandits.policies.fixed import Fixed
from semibandits.policies.fpl import FPL
from semibandits.policies.gaussian_cts import GaussianCTS
from semibandits.policies.hybrid import HYBRID
from semibandits.policies.kl_ucb import KLUCB
from semibandits.policies.lin_ucb import LinUCB
from semibandits.policies.oful import OFUL
from semibandits.policies.ols_ucb import OLSUCB
from semibandits.policies.omm import OMM
from semibandits.policies.osmd import OSMD
from semibandits.policies.random_solutions import Random
from semibandits.policies.recommendation import Recommendation, recommend
from semibandits.policies.sliding_window import SlidingWindow
from semibandits.policies.ucb_v import UCBV

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
