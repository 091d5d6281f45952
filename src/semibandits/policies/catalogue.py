"""What each policy needs and promises, and when to use it: the table of the docs, as data."""

from typing import NamedTuple

from semibandits.policies.bg_cts import BGCTS
from semibandits.policies.cl_sg import CLSG
from semibandits.policies.clairvoyant import Clairvoyant
from semibandits.policies.cmoss import CMOSS
from semibandits.policies.combucb1 import CombUCB1
from semibandits.policies.cts import CTS
from semibandits.policies.discounted import Discounted
from semibandits.policies.epsilon_greedy import EpsilonGreedy
from semibandits.policies.explore_then_commit import ExploreThenCommit
from semibandits.policies.fixed import Fixed
from semibandits.policies.gaussian_cts import GaussianCTS
from semibandits.policies.kl_ucb import KLUCB
from semibandits.policies.omm import OMM
from semibandits.policies.random_solutions import Random
from semibandits.policies.sliding_window import SlidingWindow
from semibandits.policies.ucb_v import UCBV
from semibandits.types import IndexPolicy


class Entry(NamedTuple):
    """One policy."""

    policy: type[IndexPolicy]
    needs: str
    guarantee: str
    use: str

    @property
    def name(self) -> str:
        return self.policy.__name__


SAMPLING = "an exact oracle, independent items"
NONE = "none"

CATALOGUE = (
    Entry(
        CombUCB1,
        "nothing",
        "O(K L log n / Δ) and O(sqrt(K L n log n)), any dependence, any oracle with a ratio",
        "to have a proof for every problem; to reproduce the paper",
    ),
    Entry(
        KLUCB,
        "nothing",
        "its confidence bounds are CombUCB1's or tighter; no proof for sums of items is known to us",
        "the safe choice: dependent items, approximate oracles, means near 0 or 1",
    ),
    Entry(
        CTS,
        "an exact oracle; independent items, or a matroid",
        "O(L log n / Δ) (Wang and Chen 2018), and other terms, exponential in K unless it is a matroid",
        "coins: the smallest regret on most problems; large solutions that share few items can trap it",
    ),
    Entry(
        GaussianCTS,
        SAMPLING,
        "as CTS, for sub-Gaussian weights, stated by its authors",
        "weights that are no coins (a small sigma where they vary little); large solutions",
    ),
    Entry(
        BGCTS,
        SAMPLING,
        "O(L log K log n / Δ), and other terms polynomial in L and K, stated by its authors",
        "to have their proof where solutions are large; GaussianCTS has less regret",
    ),
    Entry(
        CLSG,
        "an exact oracle",
        "O(sqrt(K L n)) up to logarithms, stated by its authors",
        "where draws are dear: one number a round; more regret than CTS",
    ),
    Entry(
        UCBV,
        "nothing",
        "its scores are confidence bounds too; what its authors state could not be verified",
        "weights that vary far less than their bounds allow, very many rounds, no randomness",
    ),
    Entry(
        CMOSS,
        "the horizon, or anytime=True",
        "O(log(K) sqrt(K L n)) for K ≤ L/2, stated by its authors; none with anytime=True",
        "a known, short horizon with small gaps",
    ),
    Entry(OMM, "a matroid", "Σ 16 log n / Δ_e over suboptimal items", "to reproduce Kveton et al. 2014"),
    Entry(
        SlidingWindow,
        "an idea of how often things change",
        "O(V^(1/3) n^(2/3)) up to logarithms if the variation V is known, stated by Chen et al. 2021",
        "a world with sudden changes",
    ),
    Entry(
        Discounted,
        "an idea of how fast things change",
        "none that we know for sums of items",
        "a world that drifts slowly; no memory of past rounds",
    ),
    Entry(EpsilonGreedy, "nothing", "linear regret; with decay=1, and the gaps known, O(log n)", "a baseline"),
    Entry(
        ExploreThenCommit,
        "the horizon, or rounds",
        "O(n^(2/3)) up to logarithms",
        "a baseline; a trial before a decision for good",
    ),
    Entry(Random, "nothing", NONE, "a baseline: what learning is worth"),
    Entry(Fixed, "a solution", NONE, "a baseline: what is done today"),
    Entry(Clairvoyant, "the true means", "no regret", "a baseline: what could be had at best"),
)


def entry(policy: type[IndexPolicy]) -> Entry:
    return next(one for one in CATALOGUE if one.policy is policy)
