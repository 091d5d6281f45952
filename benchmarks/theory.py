"""What bounds cost: `python benchmarks/theory.py`. Every figure is measured in this run, beside its rival.

The rivals are what one writes from the formulas: Dinkelbach's method for each item by itself, and SciPy's SLSQP for the
convex programme behind the lower bound of Graves and Lai.
"""

import argparse

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.special import rel_entr

import semibandits as sb
from common import Goal, Table, in_turn, report, timed
from semibandits.theory import ratio
from semibandits.theory.graves_lai.listed import list_solutions

Numbers = NDArray[np.float64]


def slate(n_items: int, k: int) -> sb.Problem:
    return sb.Problem(sb.sets.TopK(n_items, k), sb.environments.Bernoulli(np.random.default_rng(0).random(n_items)))


def roads(side: int) -> sb.Problem:
    """A grid of streets in both directions: to find the gaps of its paths is hard."""
    nodes = [(x, y) for x in range(side) for y in range(side)]
    ways = [(a, b) for a in nodes for b in nodes if abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1]
    costs = np.random.default_rng(0).random(len(ways))
    return sb.Problem(sb.sets.Paths(ways, nodes[0], nodes[-1]), sb.environments.Bernoulli(costs), "min")


def item_by_item(problem: sb.Problem) -> float:
    """Σ max |A \\ A*| / Δ_A, one restricted oracle after the other."""
    outside = np.ones(problem.n_items)
    outside[problem.optimum] = 0.0
    best = problem.value(problem.optimum)
    least = ratio._item_by_item(problem.feasible, problem.means, outside, best, 1e-12)
    return float((1.0 / least[outside > 0.0]).sum())


def upper_bounds(repeats: int) -> Table:
    table = Table("All bounds of choosing 50 of L items, and the ratios of bound C by themselves")
    for n_items in (1_000, 10_000):
        problem = slate(n_items, 50)
        ours = float(np.nansum(sb.theory.tight.ratios(problem)))
        table.goals.append(
            Goal(f"L = {n_items:,}: relative difference", abs(ours / item_by_item(problem) - 1), 1e-8, check=True)
        )
        all_bounds, ratios, single = in_turn(
            [
                timed(lambda n=n_items: sb.theory.bounds(slate(n, 50), [1e4, 1e5])),
                timed(lambda p=problem: sb.theory.tight.ratios(p)),
                timed(lambda p=problem: item_by_item(p)),
            ],
            repeats,
        )
        table.rows.append(
            {
                "L": n_items,
                "all bounds, s": all_bounds,
                "ratios, s": ratios,
                "item by item, s": single,
                "times as fast": single / ratios,
            }
        )
        table.goals.append(Goal(f"L = {n_items:,}: seconds for all bounds", all_bounds, 1.0))
    problem = roads(28)
    (left_out,) = in_turn([timed(lambda: sb.theory.bounds(problem, [1e4, 1e5]))], repeats)
    table.goals.append(Goal(f"a road network, L = {problem.n_items:,}: seconds, gaps left out", left_out, 3.0))
    return table


def by_slsqp(problem: sb.Problem, solutions: list[NDArray[np.int64]]) -> float:
    """min Σ x Δ such that g_A(t) >= 1 for every suboptimal A, t the observations that x makes."""
    p = problem.means
    gaps = np.array([problem.gap(items) for items in solutions])
    holds = np.array([np.isin(np.arange(problem.n_items), items) for items in solutions], dtype=np.float64)
    parts = [np.setdiff1d(items, problem.optimum) for items in solutions]

    def change(t: Numbers, items: NDArray[np.int64], gap: float) -> Numbers:
        """The cheapest means under which these items make up for the gap."""

        def moved(eta: float) -> Numbers:
            root = np.sqrt((t[items] - eta) ** 2 + 4.0 * eta * t[items] * p[items])
            mean: Numbers = ((eta - t[items]) + root) / (2.0 * eta)
            return mean

        return moved(float(brentq(lambda eta: (moved(eta) - p[items]).sum() - gap, 1e-9, 1e9)))

    def information(x: Numbers) -> Numbers:
        """For every suboptimal solution and item, kl of the cheapest change."""
        t = x @ holds + 1e-12
        rows = np.zeros((len(parts), problem.n_items))
        for row, items, gap in zip(rows, parts, gaps, strict=True):
            if gap > 1e-12 and (1.0 - p[items]).sum() > gap:
                q = change(t, items, gap)
                row[items] = rel_entr(p[items], q) + rel_entr(1.0 - p[items], 1.0 - q)
        return rows[rows.any(axis=1)]

    answer = minimize(
        lambda x: x @ gaps,
        np.full(len(parts), 50.0),
        jac=lambda x: gaps,
        bounds=[(0.0, None)] * len(parts),
        constraints={
            "type": "ineq",
            "fun": lambda x: information(x) @ (x @ holds + 1e-12) - 1.0,
            "jac": lambda x: information(x) @ holds.T,
        },
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-9},
    )
    return float(answer.fun)


def lower_bounds(repeats: int) -> Table:
    table = Table("The lower bound of Graves and Lai on the paper's grid, sigma = 0.4")
    for m in (2, 3, 4, 7):
        problem = sb.problems.grid_path(m, 0.4)
        lower, upper = sb.theory.graves_lai_constant(problem)
        row: dict[str, str | float] = {"m": m, "items": problem.n_items, "lower": lower, "upper": upper}
        measurements = [timed(lambda p=problem: sb.theory.graves_lai_constant(p))]
        if m <= 3:
            solutions = list_solutions(problem.feasible, 1000)
            assert solutions is not None
            theirs = by_slsqp(problem, solutions)
            table.goals.append(Goal(f"m = {m}: relative difference", abs(theirs / upper - 1.0), 1e-4, check=True))
            measurements.append(timed(lambda p=problem, s=solutions: by_slsqp(p, s)))
        seconds = in_turn(measurements, repeats)
        row["seconds"] = seconds[0]
        if len(seconds) > 1:
            row |= {"SLSQP, s": seconds[1], "times as fast": seconds[1] / seconds[0]}
        table.rows.append(row)
        if m == 4:
            table.goals.append(Goal("m = 4: seconds", seconds[0], 5.0))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true", help="numbers alone")
    parser.add_argument("--repeats", type=int, default=5, help="measurements of which the median counts")
    arguments = parser.parse_args()
    tables = [upper_bounds(arguments.repeats), lower_bounds(arguments.repeats)]
    report(tables, arguments.json)


if __name__ == "__main__":
    main()
