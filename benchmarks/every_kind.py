"""Every set, every environment and every policy, on problems that it can play: for `same_numbers.py`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

import semibandits as sb
from semibandits import environments, policies, sets
from semibandits.kernel import sqrt, where
from semibandits.rng import uniform

AnyPolicy = sb.IndexPolicy | sb.Policy
STREETS = [("a", "b"), ("a", "c"), ("b", "c"), ("b", "d"), ("c", "d"), ("c", "e"), ("d", "f"), ("e", "f"), ("b", "e")]
ROWS = np.array([[1, 0, 1, 1, 2, 0], [0, 1, 1, 0, 0, 1], [0, 0, 0, 1, 0, 1]])
ROUTES = [[0, 1], [2, 3], [4], [1, 3, 5]]


def unlike(members: list[int]) -> bool:
    """A user's own matroid: columns that are linearly independent."""
    return bool(np.linalg.matrix_rank(ROWS[:, members]) == len(members))


def best_route(weights: Any) -> list[int]:
    """A user's own solver."""
    return max(ROUTES, key=lambda route: sum(weights[item] for item in route))


def cheapest_route(costs: Any) -> list[int]:
    """A user's own solver that minimises."""
    return min(ROUTES, key=lambda route: sum(costs[item] for item in route))


def coins_that_agree(generator: np.random.Generator) -> Any:
    """A user's own sampler: six coins, of which the first three fall alike."""
    own = generator.random(6)
    own[:3] = own[0]
    return (own < 0.5).astype(float)


SETS: dict[str, Callable[[], sb.FeasibleSet]] = {
    "TopK": lambda: sets.TopK(8, 3),
    "TopK of any size": lambda: sets.TopK(8, 3, bases=False),
    "PartitionMatroid": lambda: sets.PartitionMatroid(["x", "x", "y", "y", "y", "z", "z"], {"x": 1, "y": 2, "z": 1}),
    "LaminarMatroid": lambda: sets.LaminarMatroid(7, [(range(7), 3), ([0, 1], 1), ([2, 3, 4], 2)]),
    "GraphicMatroid": lambda: sets.GraphicMatroid(STREETS),
    "Matroid": lambda: sets.Matroid(unlike, n_items=6),
    "DagPaths": lambda: sets.DagPaths(STREETS, "a", "f"),
    "GridPaths": lambda: sets.GridPaths(3),
    "KPaths": lambda: sets.KPaths(12, 3),
    "Paths": lambda: sets.Paths(STREETS, "a", "f", directed=False),
    "Paths of few hops": lambda: sets.Paths(STREETS, "a", "f", max_hops=3),
    "Assignment": lambda: sets.Assignment(["p", "q", "r"], ["1", "2", "3", "4"], forbidden=[("q", "4")]),
    "Assignment, optional": lambda: sets.Assignment(3, 3, optional=True),
    "BMatching": lambda: sets.BMatching(4, 3, row_capacities=1, column_capacities=[2, 1, 1]),
    "Knapsack": lambda: sets.Knapsack([4, 3, 3, 2, 5, 1, 2], 8),
    "Knapsack with groups": lambda: sets.Knapsack([4, 3, 3, 2, 5, 1], 6, groups=["a", "b", "b", "a", "c", "c"]),
    "GreedyKnapsack": lambda: sets.GreedyKnapsack([4, 3, 3, 2, 5, 1, 2], 8),
    "MILP": lambda: sets.MILP([[1, 1, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 1, 1, 1]], -np.inf, 1),
    "Intersection": lambda: sets.Intersection(sets.TopK(6, 3), [[1.0, 2.0, 3.0, 1.0, 2.0, 3.0]], -np.inf, 6.0),
    "Product": lambda: sets.Product(sets.TopK(5, 2), sets.DagPaths(STREETS, "a", "f")),
    "Enumerated": lambda: sets.Enumerated([[0, 1], [0], [1, 2], [3, 4], [2, 3], [1, 3, 4], [2, 4]]),
    "Oracle": lambda: sets.Oracle(best_route, n_items=6, max_size=3),
    "Oracle of costs": lambda: sets.Oracle(minimise=cheapest_route, n_items=6, max_size=3, signed=False),
    "restricted": lambda: sets.GridPaths(3).restrict(exclude=[4, 10]),
}
COSTS_ONLY = ("Paths", "Paths of few hops", "Oracle of costs")
SLOW_SETS = ("MILP", "Intersection", "Matroid", "Oracle", "Oracle of costs")
"""Plain Python, or a solver of programs."""


def means(n_items: int) -> Any:
    return np.random.default_rng(n_items).uniform(0.1, 0.9, n_items).round(3)


def coins(n_items: int) -> sb.Environment:
    return environments.Bernoulli(means(n_items))


def costs(n_items: int) -> sb.Environment:
    """Between -2 and 5, which are not the bounds of [0, 1]."""
    low = 5.0 * means(n_items) - 2.0
    return environments.Uniform(low, low + 1.5, bounds=(-2.0, 5.0))


def minutes(n_items: int) -> sb.Environment:
    return environments.Gaussian(10.0 + 50.0 * means(n_items), sigma=6.0, bounds=(0.0, 60.0))


def recorded(n_items: int, order: Any = "resampled") -> sb.Environment:
    rows = np.random.default_rng(7).random((2_000, n_items)) * means(n_items)
    return environments.Table(rows.round(4), order=order)


def covariance(n_items: int) -> Any:
    return 0.01 * (np.eye(n_items) + 0.5)


def changing(n_items: int, smooth: bool = False) -> sb.Environment:
    return environments.Drifting([means(n_items), means(n_items)[::-1], means(n_items)], [1, 500, 1_200], smooth)


def losses(n_items: int) -> sb.Environment:
    return environments.Adversarial((np.random.default_rng(3).random((2_000, n_items)) < means(n_items)).astype(float))


ENVIRONMENTS: dict[str, Callable[[int], sb.Environment]] = {
    "Bernoulli": coins,
    "Bernoulli in groups": lambda n: environments.Bernoulli(means(n), groups=[item // 2 for item in range(n)]),
    "Beta": lambda n: environments.Beta(4.0 * means(n), 2.0),
    "Uniform": costs,
    "Gaussian": minutes,
    "Table": recorded,
    "Table in order": lambda n: recorded(n, "recorded"),
    "Drifting": changing,
    "Drifting smoothly": lambda n: changing(n, True),
    "CorrelatedGaussian": lambda n: environments.CorrelatedGaussian(means(n), covariance(n)),
    "Adversarial": losses,
    "Scaled": lambda n: environments.Scaled(coins(n), (1.0 + means(n), 1.0 + means(n) + np.arange(n))),
    "Custom": lambda n: environments.Custom(coins_that_agree, means=[0.5] * 6),
}


@dataclass(frozen=True)
class Greedyish(sb.IndexPolicy):
    """A user's own index."""

    bonus: float = 0.5
    init: Any = "all"
    prior: ClassVar[Any] = (0.0, 0.0, 1.0)

    def params(self, game: Any) -> Any:
        return (self.bonus,)

    @staticmethod
    def clock(round: Any, key: Any, p: Any) -> Any:
        return (p[0],)

    @staticmethod
    def observe(s: Any, x: Any, round: Any, key: Any, item: Any, p: Any) -> Any:
        return (s[0] + 1.0, s[1] + x, (s[1] + x) / (s[0] + 1.0))

    @staticmethod
    def score(s: Any, c: Any, key: Any, item: Any, p: Any) -> Any:
        return s[2] + c[0] * uniform(key, item) / sqrt(s[0] + 1.0)


class HalfRandom(sb.Policy):
    """A user's own policy of whole solutions, with a note."""

    needs_note = True

    def start(self, game: Any, feasible: Any) -> Any:
        return (np.zeros(game.n_items),)

    def choose(self, state: Any, feasible: Any, round: Any, key: Any) -> Any:
        noise = sb.rng.uniform(key, np.arange(feasible.n_items, dtype=np.uint64))
        best = feasible.argmax(-state[0])
        items = feasible.argmax(noise) if sb.rng.uniform(key, feasible.n_items) < 0.5 else best
        return items, 0.5 * feasible.max_size / feasible.n_items + 0.5 * np.isin(items, best)

    def learn(self, state: Any, feasible: Any, round: Any, items: Any, weights: Any, note: Any, key: Any) -> Any:
        lost = state[0].copy()
        lost[items] += (1.0 - weights) / note
        return (lost,)


class Weather(sb.Environment):
    """A user's own world: all chances are halved in a wet round."""

    bounds = (0.0, 1.0)

    def __init__(self, chances: Any, wet: float) -> None:
        self.n_items = chances.size
        self.means = chances * (1.0 - wet / 2.0)
        self.tables = (chances, np.array([wet]))

    @staticmethod
    def draw(round: Any, key: Any, item: Any, tables: Any) -> Any:
        chance = tables[0][item] * where(uniform(key, tables[0].size) < tables[1][0], 0.5, 1.0)
        return where(uniform(key, item) < chance, 1.0, 0.0)


PLACES: dict[str, Callable[[], sb.Problem]] = {
    "grid": lambda: sb.problems.grid_path(3, 0.2),
    "k paths": lambda: sb.problems.k_path(12, 3, 0.6),
    "top of costs": lambda: sb.Problem(SETS["TopK"](), costs(8), sense="min"),
    "trees of minutes": lambda: sb.Problem(SETS["GraphicMatroid"](), minutes(9), sense="min"),
    "ways of minutes": lambda: sb.Problem(SETS["Paths"](), minutes(9), sense="min"),
    "groups": lambda: sb.Problem(SETS["PartitionMatroid"](), ENVIRONMENTS["Beta"](7)),
    "budget": lambda: sb.Problem(SETS["Knapsack"](), recorded(7)),
    "pairs": lambda: sb.Problem(SETS["Assignment"](), costs(11)),
    "listed": lambda: sb.Problem(SETS["Enumerated"](), coins(5)),
    "two blocks": lambda: sb.Problem(SETS["Product"](), coins(14)),
    "changing": lambda: sb.Problem(SETS["TopK"](), changing(8)),
    "losses": lambda: sb.Problem(SETS["TopK"](), losses(8), sense="min"),
    "correlated": lambda: sb.Problem(SETS["KPaths"](), ENVIRONMENTS["CorrelatedGaussian"](12)),
    "weather": lambda: sb.Problem(SETS["TopK"](), Weather(means(8), 0.25)),
}


class Player(NamedTuple):
    """A policy, where it plays, and what it is told."""

    make: Callable[[sb.Problem], AnyPolicy]
    places: tuple[str, ...]
    slow: tuple[str, ...] = ()
    """Of these places, those where a round takes a millisecond."""
    feedback: Any = "semi"


def features(problem: sb.Problem) -> Any:
    return np.column_stack([np.ones(problem.n_items), np.random.default_rng(1).random((problem.n_items, 3))])


def some_solution(problem: sb.Problem) -> Any:
    sign = -1.0 if problem.sense == "min" else 1.0
    return problem.feasible.argmax(sign * np.random.default_rng(2).random(problem.n_items)).tolist()


PLAYERS: dict[str, Player] = {
    "CombUCB1": Player(lambda _: policies.CombUCB1(), ("grid", "top of costs", "ways of minutes", "weather")),
    "CombUCB1, all": Player(lambda _: policies.CombUCB1(alpha=0.5, init="all"), ("two blocks", "trees of minutes")),
    "KLUCB": Player(lambda _: policies.KLUCB(), ("grid", "top of costs", "ways of minutes")),
    "CTS": Player(lambda _: policies.CTS(), ("grid", "top of costs", "budget")),
    "GaussianCTS": Player(lambda _: policies.GaussianCTS(sigma=0.2), ("grid", "trees of minutes")),
    "PooledCTS": Player(lambda _: policies.PooledCTS(), ("grid", "top of costs", "ways of minutes", "weather")),
    "PooledCTS, window": Player(lambda _: policies.PooledCTS(window=150), ("changing", "trees of minutes")),
    "PooledCTS, discount": Player(lambda _: policies.PooledCTS(discount=0.99), ("changing", "pairs")),
    "BGCTS": Player(lambda _: policies.BGCTS(), ("grid", "pairs")),
    "CLSG": Player(lambda _: policies.CLSG(), ("k paths", "top of costs")),
    "UCBV": Player(lambda _: policies.UCBV(), ("groups", "top of costs")),
    "CMOSS": Player(lambda _: policies.CMOSS(), ("grid", "top of costs")),
    "CMOSS, any time": Player(lambda _: policies.CMOSS(anytime=True), ("listed",)),
    "OMM": Player(lambda _: policies.OMM(), ("groups", "trees of minutes")),
    "SlidingWindow": Player(lambda _: policies.SlidingWindow(150), ("changing", "ways of minutes")),
    "Discounted": Player(lambda _: policies.Discounted(0.99), ("changing", "pairs")),
    "EpsilonGreedy": Player(lambda _: policies.EpsilonGreedy(0.3, decay=0.25), ("grid", "top of costs")),
    "ExploreThenCommit": Player(lambda _: policies.ExploreThenCommit(), ("grid", "ways of minutes")),
    "ExploreThenCommit, 40": Player(lambda _: policies.ExploreThenCommit(40), ("top of costs",)),
    "Random": Player(lambda _: policies.Random(), ("budget", "top of costs")),
    "Fixed": Player(lambda problem: policies.Fixed(some_solution(problem)), ("grid", "pairs")),
    "Clairvoyant": Player(policies.Clairvoyant, ("top of costs", "changing")),
    "Greedyish": Player(lambda _: Greedyish(), ("top of costs",)),
    "ESCB": Player(lambda _: policies.ESCB(), ("grid", "top of costs", "budget")),
    "ESCB, approximate": Player(lambda _: policies.ESCB("approximate", c=0.0, steps=100), ("grid", "top of costs")),
    "OLSUCB": Player(lambda _: policies.OLSUCB(), ("groups", "trees of minutes")),
    "OLSUCB, told": Player(lambda p: policies.OLSUCB(covariance(p.n_items)), ("correlated",)),
    "CombLinUCB": Player(lambda p: policies.CombLinUCB(features(p)), ("grid", "ways of minutes")),
    "CombLinTS": Player(lambda p: policies.CombLinTS(features(p)), ("pairs", "top of costs")),
    "HYBRID": Player(lambda _: policies.HYBRID(), ("top of costs", "groups", "losses", "listed"), ("listed",)),
    "OSMD": Player(lambda _: policies.OSMD(), ("losses", "groups")),
    "OSMD, eta": Player(lambda _: policies.OSMD(eta=0.1), ("top of costs", "listed", "grid"), ("listed", "grid")),
    "OSMD, inf": Player(lambda _: policies.OSMD("inf", eta=0.1), ("groups", "listed"), ("listed",)),
    "FPL": Player(lambda _: policies.FPL(), ("losses",)),
    "FPL, eta": Player(lambda _: policies.FPL(eta=0.05), ("grid", "ways of minutes", "budget")),
    "OFUL": Player(lambda _: policies.OFUL(), ("groups", "top of costs"), (), "bandit"),
    "LinUCB": Player(lambda _: policies.LinUCB(), ("grid", "trees of minutes"), (), "bandit"),
    "COMBAND": Player(lambda _: policies.COMBAND(), ("top of costs",), (), "bandit"),
    "COMBAND, eta": Player(lambda _: policies.COMBAND(eta=0.02), ("budget", "groups"), (), "bandit"),
    "HalfRandom": Player(lambda _: HalfRandom(), ("top of costs", "grid"), ("top of costs", "grid")),
}


def check_complete() -> None:
    """Whether there is one of every public kind."""
    made = {type(player.make(PLACES[player.places[0]]())).__name__ for player in PLAYERS.values()}
    missing = set(policies.__all__) - made - {"Recommendation", "default", "recommend"}
    missing |= set(sets.__all__) - {name.split()[0].strip(",") for name in SETS} - {"from_spec"}
    missing |= set(environments.__all__) - {name.split()[0] for name in ENVIRONMENTS} - {"Independent"}
    assert not missing, f"nothing is played with {', '.join(sorted(missing))}"
