"""The paper's two problems, and some that are hard in another way: for policies that trust means, or for all."""

import math
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from semibandits import environments, rng, sets
from semibandits._util.checks import check_choice, check_count
from semibandits._util.resources import check_room
from semibandits._util.suggestions import explained, suggesting
from semibandits.environments.drifting import LAST_START, MOST_ROWS
from semibandits.errors import BadArgument, BadWeights
from semibandits.oracle import solve
from semibandits.problem import Problem
from semibandits.types import Decision, FeasibleSet, Sense

__all__ = ["against", "changing_phases", "coin_table", "grid_path", "k_path"]

if not TYPE_CHECKING:
    __getattr__ = suggesting(__name__)


@explained
def grid_path(m: int, sigma: float) -> Problem:
    """The grid-path problem of Section 7: the longest monotone path through m x m squares.

    Edges along the left and the bottom side have mean 0.5 + sigma/2, all others 0.5 - sigma/2, and all weights are
    independent coins. The best path runs down the left side and along the bottom. `GridPaths` has the numbering.

    >>> problem = grid_path(m=2, sigma=0.4)
    >>> problem.n_items, problem.max_size, problem.optimum
    (12, 4, array([ 1,  6, 10, 11]))
    """
    if not 0.0 < sigma < 1.0:
        raise BadArgument(f"sigma must be between 0 and 1, got {sigma!r}")
    grid = sets.GridPaths(m)
    m = grid.m
    means = np.full(grid.n_items, 0.5 - sigma / 2.0)
    for item, (tail, head) in enumerate(grid.edges):
        assert isinstance(tail, tuple)
        assert isinstance(head, tuple)
        if tail[1] == head[1] == 0 or tail[0] == head[0] == m:
            means[item] = 0.5 + sigma / 2.0
    return Problem(grid, environments.Bernoulli(means))


@explained
def k_path(n_items: int, k: int, gap: float) -> Problem:
    """The K-path problem of Section 6, behind the lower bounds: n_items / k disjoint paths of k items each.

    All items of a path share one coin. Its mean is 0.5 on the first path and 0.5 - gap/k on the others, so that every
    other path is worse by `gap`.

    >>> k_path(n_items=6, k=2, gap=0.5).item_gaps
    array([nan, nan, 0.5, 0.5, 0.5, 0.5])
    """
    paths = sets.KPaths(n_items, k)
    n_items, k = paths.n_items, paths.k
    if not 0.0 < gap / k < 0.5:
        raise BadArgument(f"gap must be between 0 and k/2 = {k / 2}, got {gap!r}")
    path = np.arange(n_items) // k
    return Problem(paths, environments.Bernoulli(np.where(path == 0, 0.5, 0.5 - gap / k), groups=path))


class Player(Protocol):
    """What a `Learner` can do."""

    def ask(self) -> Decision: ...

    def tell(self, id: str, weights: Any) -> Any: ...

    @property
    def round(self) -> int: ...

    @property
    def sense(self) -> Sense: ...


@explained
def against(
    learner: Player, feasible: FeasibleSet, horizon: int, sense: Sense = "min", others: ArrayLike | None = None
) -> Problem:
    """Losses made against one learner: all that it chooses costs 1, all else nothing (rewards: 0, and 1).

    `others`, a table (rounds, items), says what the items cost, or earn, that it does not choose.

    The adversary asks the learner for every decision and notes down the losses. A policy that draws no random numbers
    decides alike when it meets the table again, and pays for every item in every round. Some solution pays no more than
    the average one: on top-k sets of n_items, at most the share k / n_items of it. So the regret of any deterministic
    policy is linear (Cesa-Bianchi and Lugosi, Prediction, Learning, and Games, 2006), while policies for adversarial
    losses do not mind, such as `FPL`, which nobody can foresee. The learner must be new, and of the same sense.

    >>> import semibandits as sb
    >>> slots = sb.sets.TopK(4, 2)
    >>> problem = against(sb.Learner(slots, sb.policies.CombUCB1(), sense="min"), slots, horizon=100)
    >>> problem.environment.losses.sum(), problem.environment.average(100)
    (np.float64(200.0), array([0.5, 0.5, 0.5, 0.5]))
    """
    rounds = check_count("horizon", horizon, BadArgument, LAST_START)
    bad = 1.0 if check_choice("sense", sense, Sense) == "min" else 0.0
    shape = (rounds, feasible.n_items)
    check_room(16 * rounds * feasible.n_items, f"a table of {rounds:,} rounds and {feasible.n_items:,} items takes")
    if others is None:
        losses = np.full(shape, 1.0 - bad)
    else:
        losses = np.array(environments.Adversarial(others).losses)
        if losses.shape != shape:
            raise BadArgument(f"others must have shape {shape}, (rounds, items), got {losses.shape}")
    if not all(hasattr(learner, name) for name in ("ask", "tell", "round", "sense")):
        raise BadArgument(f"expected a Learner with the policy to play against, got {learner!r:.200}")
    if learner.round != 0 or learner.sense != sense:
        raise BadArgument(f"the learner must be new and have sense={sense!r}, got {learner!r} with {learner.sense!r}")
    for row in losses:
        decision = learner.ask()
        if not feasible.contains(decision.items):
            raise BadArgument(f"the learner plays on another set: it chose {decision.items.tolist()!r:.200}")
        row[decision.items] = bad
        try:
            learner.tell(decision.id, row[decision.items])
        except BadWeights as error:
            raise BadArgument(f"the learner must take weights from 0 to 1, one for each item: {error}") from error
    return Problem(feasible, environments.Adversarial(losses), sense)


@explained
def changing_phases(n_items: int = 10, k: int = 5, gap: float = 1 / 16, growth: float = 1.6) -> Problem:
    """Costs whose level jumps between two extremes, while the first k items stay better by `gap` each.

    In odd phases the means are 1 - gap for the first k of the items and 1 for the others, in even ones 0 and gap; phase
    s is as long as growth^s, rounded up. What was seen in other phases misleads a policy that averages, and so its
    regret is nearly linear. This is the stochastically constrained adversary of Zimmert and Seldin (2019), with the
    numbers of Zimmert, Luo and Wei (2019, Section 4), whose losses are from -1 to 1: their Δ is 2 · gap here.

    >>> problem = changing_phases()
    >>> problem.environment.starts[:5], problem.at(2).optimum
    (array([ 1,  3,  6, 11, 18]), array([0, 1, 2, 3, 4]))
    """
    top = sets.TopK(n_items, k)
    if not (isinstance(gap, int | float | np.floating) and 0.0 < gap <= 0.5):
        raise BadArgument(f"gap must be a number from 0 (excluded) to 0.5, got {gap!r:.100}")
    if not (isinstance(growth, int | float | np.floating) and 1.0 < growth <= 1e6):
        raise BadArgument(f"growth must be a number from 1 (excluded) to 1e6, got {growth!r:.100}")
    starts, length = [1], growth
    while starts[-1] + math.ceil(length) <= LAST_START and len(starts) < MOST_ROWS:
        starts.append(starts[-1] + math.ceil(length))
        length *= growth
    check_room(40 * len(starts) * top.n_items, f"{len(starts):,} phases of {top.n_items:,} items take")
    costs = np.where(np.arange(top.n_items) < top.k, 0.0, gap)
    rows = np.where(np.arange(len(starts))[:, None] % 2 == 0, 1.0 - gap + costs, costs)
    return Problem(top, environments.Drifting(rows, starts), sense="min")


@explained
def coin_table(
    feasible: FeasibleSet, horizon: int, gap: float | None = None, seed: int = 0, sense: Sense = "min"
) -> Problem:
    """A table of coins, one per round and item: fair ones but for the items of one solution, better by `gap`.

    Their losses are 1 with a chance of 1/2 - gap only (rewards: 1/2 + gap). The solution is the best one for random
    weights. The default, sqrt(L / (K n)) / 4 for L items, at most K of them chosen, and n rounds, is so little that it
    is hardly found in time: such coins are behind the lower bounds of order sqrt(K L n) (Auer et al. 2002, Theorem 5.1,
    and the paper's Proposition 2, in which all items of a path share one coin; the factor 1/4 could not be verified).
    With `gap=0` nothing can be learned, and regret is what the luckiest solution has by chance.

    >>> import semibandits as sb
    >>> coin_table(sb.sets.TopK(4, 2), horizon=3, seed=1).environment.losses
    array([[0., 0., 0., 0.],
           [0., 0., 0., 1.],
           [0., 1., 0., 0.]])
    """
    rounds = check_count("horizon", horizon, BadArgument, LAST_START)
    better = 1.0 if check_choice("sense", sense, Sense) == "max" else -1.0
    check_room(32 * rounds * feasible.n_items, f"a table of {rounds:,} rounds and {feasible.n_items:,} items takes")
    if gap is None:
        gap = min(0.25, 0.25 * math.sqrt(feasible.n_items / (max(1, feasible.max_size) * rounds)))
    if not (isinstance(gap, int | float | np.floating) and 0.0 <= gap <= 0.5):
        raise BadArgument(f"gap must be a number from 0 to 0.5, got {gap!r:.100}")
    numbers = np.arange(feasible.n_items)
    favoured = solve(feasible, rng.uniform(rng.key(seed, 0, 0, rng.WORLD), numbers) - 1.0)
    chances = np.full(feasible.n_items, 0.5)
    chances[favoured] += better * gap
    keys = rng.keys(seed, 0, 1, rounds, rng.WORLD)[:, None]
    coins = (rng.uniform(keys, numbers) < chances).astype(np.float64)
    return Problem(feasible, environments.Adversarial(coins), sense)
