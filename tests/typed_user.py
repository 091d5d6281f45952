"""What a user writes, for `mypy --strict`: the public contract has usable types. Checked with the package, not run."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

import semibandits as sb
from semibandits.types import Items


class OneOf(sb.FeasibleSet):
    def __init__(self, n_items: int) -> None:
        self.n_items, self.max_size = n_items, 1

    def argmax(self, weights: ArrayLike) -> Items:
        return np.array([int(np.argmax(weights))])

    def contains(self, items: Iterable[int]) -> bool:
        return len(list(items)) == 1

    def restrict(self, include: Iterable[int] = (), exclude: Iterable[int] = ()) -> sb.FeasibleSet:
        return sb.sets.Enumerated([[item] for item in range(self.n_items)]).restrict(include, exclude)


def live() -> int:
    learner = sb.Learner(OneOf(3), sb.policies.CombUCB1(), sense="min", bounds=(0, 120), labels=["a", "b", "c"], seed=7)
    decision: sb.Decision = learner.ask(available=["a", "b"])
    by_label: dict[str, float] = dict.fromkeys(decision.labels, 1.0)
    by_item: dict[int, float] = {int(item): 1.0 for item in decision.items}
    learner.observe(by_label)
    learner.observe([0, 1], np.array([1.0, 2.0]))
    learner.save("state.json")
    loaded = sb.Learner.load("state.json", OneOf(3), labels=["c", "a", "b"], same_items=False)
    best: float = float(loaded.estimates[loaded.best()].sum())
    return learner.tell(decision.id, by_label) + learner.tell(decision.id, by_item) + round(best)


def untuned() -> float:
    by_item = sb.Learner(OneOf(3), bounds=([0, 1, 2], {"a": 5.0, "b": 6.0, "c": 7.0}), labels=["a", "b", "c"])
    assert by_item.bounds
    learner = sb.Learner(OneOf(3), bounds=(0, 30), seed=7)
    policy: sb.IndexPolicy | sb.Policy = learner.policy
    forgetful = sb.Learner(OneOf(3), sb.policies.PooledCTS(window=500))
    same: sb.Learner = sb.Learner(OneOf(3), policy, feedback="semi")
    named = sb.Learner(OneOf(3), "CombUCB1")
    visitors = sb.environments.Bernoulli([0.1, 0.5, 0.9]).world(seed=7)
    decision = named.ask()
    assert named.tell(decision, visitors.weights(decision)) + named.tell(decision, [True])
    named.cancel(decision)
    none: sb.IndexPolicy | sb.Policy | None = None
    return float(sb.Learner(OneOf(3), none).scores()[0]) + forgetful.round + same.round


def solvers() -> list[sb.sets.Oracle]:
    return [
        sb.sets.Oracle(lambda weights: [int(weights.argmax())], 3, 1),
        sb.sets.Oracle(minimise=lambda costs: [int(costs.argmin())], n_items=3, max_size=1, signed=False),
    ]


def experiment() -> float:
    problem = sb.Problem(sb.sets.TopK(3, 1), sb.environments.Bernoulli([0.1, 0.5, 0.9]), sense="max")
    result = sb.simulate(problem, [sb.policies.CombUCB1(), sb.policies.CombUCB1(alpha=0.5)], horizon=10, runs=2, seed=0)
    assert sb.simulate(problem, ["CTS", sb.policies.CombUCB1()], horizon=1e5, runs=1e2).seed
    assert problem.world().weights(1, [0, 2]).sum()
    sb.testing.check_set(OneOf(3))
    return result.summary()[0].mean + problem.gap([0]) + float(result.regret[0, 0, -1])


def policies() -> float:
    world = sb.environments.Drifting([[0.1, 0.9], [0.9, 0.1]], starts=[1, 5])
    problem = sb.Problem(sb.sets.TopK(2, 1), world)
    advice: sb.policies.Recommendation = sb.policies.recommend(problem, horizon=10)
    usual: sb.policies.Recommendation = sb.policies.default(sb.sets.TopK(2, 1), bounds=(0, 30), feedback="semi")
    players: list[sb.IndexPolicy | sb.Policy] = [advice.policy, usual.policy, sb.policies.Clairvoyant(problem)]
    result = sb.simulate(problem, players, horizon=10, runs=2, seed=0, regret="static")
    return float(result.regret[0, 0, -1]) + float(world.means(3)[0]) + problem.at(3).min_gap


def theory() -> float:
    problem = sb.problems.grid_path(m=2, sigma=0.4)
    result = sb.simulate(problem, sb.policies.CombUCB1(), horizon=10, runs=2, seed=0)
    bounds: sb.theory.Bounds = sb.theory.bounds(problem, result.rounds)
    result.plot(bounds=bounds)
    result.plot(bounds=bounds.of("upper", policy="CombUCB1")[:2])
    result.plot(bounds={"mine": lambda n: 3.0 * np.log(n)})
    result.plot(size=(3.3, 2.6), title="", labels={"CTS": "Thompson", 0: "ours"}, legend="ends", log="xy")
    result.plot(title=False, labels=["ours"], legend=False)
    result.summary().to_latex(caption="Regret", label="tab:regret").upper()
    result.compare(0, "CTS").to_markdown().upper()
    result.comparisons().to_latex().upper()
    if not result.policies:
        sb.Wrold  # type: ignore[attr-defined]  # noqa: B018
        problem.optimal  # type: ignore[attr-defined]  # noqa: B018
    bounds.to_markdown().upper()
    explanation: sb.theory.Explanation = sb.theory.explain(problem, horizon=1000)
    lower, upper = sb.theory.graves_lai_constant(problem)
    factor: float = sb.theory.kveton2015.proposition_1(L=8, K=2, gap=0.5)
    return lower + upper + factor + explanation.guaranteed + float(bounds[0].value[-1])
