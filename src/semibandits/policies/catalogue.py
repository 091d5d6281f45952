"""What each policy needs and promises, and when to use it: the table of the docs, as data."""

from typing import NamedTuple

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
from semibandits.types import IndexPolicy, Policy


class Entry(NamedTuple):
    """One policy."""

    policy: type[IndexPolicy] | type[Policy]
    needs: str
    guarantee: str
    use: str

    @property
    def name(self) -> str:
        return self.policy.__name__


SAMPLING = "an exact oracle, independent items"
FEW = "a set of at most 10,000 solutions"
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
    Entry(
        ESCB,
        "independent items; at most 10,000 solutions, or top-k, or paths of an acyclic graph",
        "O(L log²K log n / Δ), as others state it of Combes et al. 2015 and Degenne and Perchet 2016",
        "independent items with a proof, no randomness; c=0 in practice, which has less regret than KLUCB",
    ),
    Entry(
        OLSUCB,
        f"{FEW}; the covariance, or estimated",
        "between ESCB's and CombUCB1's by the correlation, as others state it; none where it is estimated",
        "items whose covariance is known",
    ),
    Entry(
        CombLinUCB,
        "features of the items in which the weights are linear",
        "O(K d sqrt(n)) up to logarithms for d features, however many items (Wen et al. 2015), for a c that grows",
        "very many items, or new ones, that share a few features; no randomness",
    ),
    Entry(
        CombLinTS,
        "features of the items in which the weights are linear",
        "the same of the Bayes regret (Wen et al. 2015)",
        "the same, with draws in the place of c",
    ),
    Entry(
        HYBRID,
        f"top-k, a partition matroid, or {FEW}",
        "O(Σ log n / Δ_e) in random worlds and O(sqrt(K L n)) in any, on top-k (Zimmert, Luo and Wei 2019)",
        "where you do not know whether the world is random or against you; no horizon needed",
    ),
    Entry(
        OSMD,
        f"top-k, a partition matroid, or {FEW}; the horizon, or eta",
        "at most sqrt(2 K L n log(L/K)), or 2 sqrt(2 K L n) with 'inf', whatever the losses",
        "losses chosen by an adversary",
    ),
    Entry(
        FPL,
        "the horizon, or eta",
        "at most 3 K sqrt(2 L n (log(L/K) + 1)), whatever the losses (Neu and Bartók 2016)",
        "losses chosen by an adversary, on any set with an oracle",
    ),
    Entry(
        OFUL,
        f"{FEW}; the sum alone",
        "O(L K sqrt(n)) up to logarithms (Abbasi-Yadkori et al. 2011)",
        "only what a solution is worth as a whole can be seen; to have a proof",
    ),
    Entry(
        LinUCB, f"{FEW}; the sum alone", "none for this use", "the same in practice: alpha near sqrt(K) / 2 to sqrt(K)"
    ),
    Entry(
        COMBAND,
        f"{FEW}; the sum alone; the horizon, or eta",
        "2 sqrt((d + 2K/λ) n ln N) times the half range of losses, whatever they are",
        "the same against an adversary",
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


def entry(policy: type[IndexPolicy] | type[Policy]) -> Entry:
    return next(one for one in CATALOGUE if one.policy is policy)
