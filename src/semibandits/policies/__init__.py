"""Policies: how to score items from what was observed, or to choose whole solutions."""

from typing import TYPE_CHECKING

from semibandits._util.suggestions import explain_classes, suggesting

# In the order in which they are shown.
# isort: off
from semibandits.policies.index.combucb1 import CombUCB1 as CombUCB1
from semibandits.policies.index.kl_ucb import KLUCB as KLUCB
from semibandits.policies.index.cts import CTS as CTS
from semibandits.policies.index.pooled_cts import PooledCTS as PooledCTS
from semibandits.policies.index.gaussian_cts import GaussianCTS as GaussianCTS
from semibandits.policies.index.bg_cts import BGCTS as BGCTS
from semibandits.policies.index.cl_sg import CLSG as CLSG
from semibandits.policies.index.ucb_v import UCBV as UCBV
from semibandits.policies.index.cmoss import CMOSS as CMOSS
from semibandits.policies.index.omm import OMM as OMM
from semibandits.policies.index.sliding_window import SlidingWindow as SlidingWindow
from semibandits.policies.index.discounted import Discounted as Discounted
from semibandits.policies.solution.escb import ESCB as ESCB
from semibandits.policies.solution.ols_ucb import OLSUCB as OLSUCB
from semibandits.policies.solution.comb_lin_ucb import CombLinUCB as CombLinUCB
from semibandits.policies.solution.comb_lin_ts import CombLinTS as CombLinTS
from semibandits.policies.solution.hybrid import HYBRID as HYBRID
from semibandits.policies.solution.osmd import OSMD as OSMD
from semibandits.policies.solution.fpl import FPL as FPL
from semibandits.policies.solution.oful import OFUL as OFUL
from semibandits.policies.solution.lin_ucb import LinUCB as LinUCB
from semibandits.policies.solution.comband import COMBAND as COMBAND
from semibandits.policies.index.epsilon_greedy import EpsilonGreedy as EpsilonGreedy
from semibandits.policies.index.explore_then_commit import ExploreThenCommit as ExploreThenCommit
from semibandits.policies.index.random_solutions import Random as Random
from semibandits.policies.index.fixed import Fixed as Fixed
from semibandits.policies.index.clairvoyant import Clairvoyant as Clairvoyant
# isort: on

from semibandits.policies.recommendation import Recommendation as Recommendation
from semibandits.policies.recommendation import default as default
from semibandits.policies.recommendation import recommend as recommend

__all__: list[str] = [
    *sorted(name for name, value in globals().items() if isinstance(value, type)),
    "default",
    "recommend",
]

explain_classes(__name__)

if not TYPE_CHECKING:
    __getattr__ = suggesting(__name__)
