"""Draws the pictures of the docs, from the actual objects: `python docs/pictures.py`.

What a learner knows after some rounds; the two problems of the paper with their item numbers; regret as
`SimulationResult.plot`, and sets as their `draw`, show them; the constants of the bounds, the experiment on their
tightness, all policies side by side, the suite, and the comparisons with the paper's neighbours (some minutes;
Matplotlib).
"""

from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from studies import choosing, neighbours, suite

import semibandits as sb
from semibandits.experiments.paper import constants, tightness

FOLDER = Path(__file__).parent / "img"
STYLE = (
    "<style>text{font:13px system-ui,sans-serif;text-anchor:middle;fill:#222}"
    ".edge{stroke:#888;stroke-width:2}.best{stroke:#c0392b;stroke-width:4}.node{fill:#fff;stroke:#444;stroke-width:1.5}"
    ".start{fill:#c0392b}.end{fill:#2471a3}.tag{fill:#fff;stroke:#ccc}.small{font-size:10px;fill:#555}</style>"
)

HOME = (
    "<style>text{font-size:19px;fill:#333}.head{font-weight:600;fill:#111}.street,.unknown{stroke-width:4}"
    ".unknown{stroke:#aaa;stroke-width:1.5;stroke-dasharray:4 4}"
    ".way{stroke:#f0a35e;stroke-width:13;stroke-linecap:round}</style>"
)
TOWN = np.random.default_rng(12).uniform(4.0, 20.0, 40)
"""Minutes that the streets of a town take on average."""

Point = tuple[float, float]


def edge(tail: Point, head: Point, label: object, best: bool) -> str:
    """A line from node to node with an arrow's head before the end and the item's number in the middle."""
    (x1, y1), (x2, y2) = tail, head
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    x1, y1, x2, y2 = x1 + 12 * dx, y1 + 12 * dy, x2 - 14 * dx, y2 - 14 * dy
    back = (x2 - 9 * dx, y2 - 9 * dy)
    corners = ((x2, y2), (back[0] - 5 * dy, back[1] + 5 * dx), (back[0] + 5 * dy, back[1] - 5 * dx))
    wing = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    kind, color = ("best", "#c0392b") if best else ("edge", "#888")
    middle = ((x1 + x2) / 2, (y1 + y2) / 2)
    return (
        f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{back[0]:.1f}" y2="{back[1]:.1f}"/>'
        f'<polygon points="{wing}" fill="{color}"/>'
        f'<rect class="tag" x="{middle[0] - 13:.1f}" y="{middle[1] - 9:.1f}" width="26" height="18" rx="5"/>'
        f'<text x="{middle[0]:.1f}" y="{middle[1] + 4.5:.1f}">{escape(str(label))}</text>'
    )


def node(at: Point, kind: str, label: str) -> str:
    name = f'<text class="small" x="{at[0] - 22:.1f}" y="{at[1] - 9:.1f}">{escape(label)}</text>' if label else ""
    return f'<circle class="node {kind}" cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="8"/>' + name


def page(width: int, height: int, title: str, parts: list[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
        f'<title>{escape(title)}</title><rect width="{width}" height="{height}" fill="#fff"/>{STYLE}\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def grid_path(m: int = 3) -> str:
    problem = sb.problems.grid_path(m, sigma=0.4)
    grid = problem.feasible
    assert isinstance(grid, sb.sets.GridPaths)
    best = set(problem.optimum.tolist())
    place = {(row, column): (60.0 + 110 * column, 45.0 + 100 * row) for row in range(m + 1) for column in range(m + 1)}
    parts = [edge(place[tail], place[head], item, item in best) for item, (tail, head) in enumerate(grid.edges)]
    kinds = {(0, 0): "start", (m, m): "end"}
    parts += [node(at, kinds.get(name, ""), f"({name[0]}, {name[1]})") for name, at in place.items()]
    return page(120 + 110 * m, 95 + 100 * m, f"GridPaths({m}): items, nodes (row, column), best path", parts)


def k_path(n_items: int = 12, k: int = 3) -> str:
    problem = sb.problems.k_path(n_items, k, gap=0.5)
    best = set(problem.optimum.tolist())
    paths = n_items // k
    middle = 35.0 + 35 * (paths - 1)
    start, end = (40.0, middle), (40.0 + 130 * k + 60, middle)
    parts, nodes = [], []
    for item in range(n_items):
        path, step = divmod(item, k)
        y = 35.0 + 70 * path
        tail = start if step == 0 else (70.0 + 130 * step, y)
        head = end if step == k - 1 else (70.0 + 130 * (step + 1), y)
        parts.append(edge(tail, head, item, item in best))
        if step:
            nodes.append(node(tail, "", ""))
    parts += [*nodes, node(start, "start", ""), node(end, "end", "")]
    return page(140 + 130 * k, 70 * paths, f"KPaths({n_items}, {k}): items, best path", parts)


def home(rounds: tuple[int, ...] = (2, 8, 40)) -> str:
    """A town of which a learner knows ever more: what its streets seem to take, and the route that seems best."""
    town = sb.sets.GridPaths(4)
    traffic = sb.environments.Uniform(TOWN - 3.0, TOWN + 3.0, bounds=(0.0, 30.0)).world(seed=1)
    learner = sb.Learner(town, sense="min", bounds=(0.0, 30.0), seed=1)
    quickest = TOWN[town.argmax(-TOWN)].sum()
    parts = []
    for number, until in enumerate(rounds):
        while learner.round < until:
            decision = learner.ask()
            learner.tell(decision, traffic.weights(decision))
        left = 30.0 + 230 * number
        best, estimates = learner.best(), learner.estimates
        place = [((left + 43 * b, 20.0 + 43 * a), (left + 43 * d, 20.0 + 43 * c)) for (a, b), (c, d) in town.edges]
        parts += [street(*place[item], "way", "") for item in best]
        parts += [street(*ends, *shade(estimate)) for ends, estimate in zip(place, estimates, strict=True)]
        seen, more = int((learner.counts > 0).sum()), TOWN[best].sum() - quickest
        parts += [
            f'<text x="{left + 86:.0f}" y="{y}" class="{kind}">{line}</text>'
            for y, kind, line in (
                (228, "head", f"after {until} trips"),
                (254, "", f"{seen} of {town.n_items} streets seen"),
                (278, "", f"{more:.0f} minutes too long" if more > 0.5 else "the quickest route"),
            )
        ]
    return page(692, 294, "A town after some trips: the streets seen, and the route that seems best", [HOME, *parts])


def street(tail: Point, head: Point, kind: str, color: str) -> str:
    (x1, y1), (x2, y2) = tail, head
    return f'<line class="{kind}" x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}"{color}/>'


def shade(minutes: float) -> tuple[str, str]:
    """Class and colour: from light to dark, the more minutes; nobody's, dashed, where none are known."""
    if minutes != minutes:
        return "unknown", ""
    share = min(max((minutes - 3.0) / 18.0, 0.0), 1.0)
    mixed = (round(light + share * (dark - light)) for light, dark in ((169, 8), (207, 48), (229, 107)))
    return "street", f' stroke="rgb({",".join(map(str, mixed))})"'


def regret() -> Any:
    """As docs/simulation.md draws it."""
    policies = [sb.policies.CombUCB1(), sb.policies.CombUCB1(alpha=0.5)]
    problem = sb.problems.grid_path(m=3, sigma=0.2)
    return sb.simulate(problem, policies, horizon=100_000, runs=100, seed=0).plot(bounds=True)


def tutorial() -> Any:
    """As section 5 of docs/tutorial.md draws it."""
    policies = [sb.policies.CombUCB1(), sb.policies.PooledCTS()]
    problem = sb.problems.grid_path(m=3, sigma=0.25)
    return sb.simulate(problem, policies, horizon=10_000, runs=100, seed=5).plot()


def bounds(problem: sb.Problem, path: Path) -> None:
    """The regret of CombUCB1 with every bound that applies over it."""
    result = sb.simulate(problem, sb.policies.CombUCB1(), horizon=1_000_000, runs=20, seed=0)
    save(result.plot(bounds=sb.theory.bounds(problem, result.rounds)), path)


def save(ax: Any, path: Path) -> None:
    save_figure(ax.figure, path)


def save_figure(figure: Any, path: Path) -> None:
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": ""}):
        figure.savefig(path, metadata={"Date": None})


def sets(path: Path) -> None:
    """What four kinds of sets have learned."""
    import matplotlib
    from matplotlib.figure import Figure

    generator = np.random.default_rng(4)
    ring = [(node, (node + 1) % 9) for node in range(9)]
    roads = [*ring, *((node, (node + 4) % 9) for node in range(0, 9, 2)), (1, 3), (5, 7)]
    books = ["Emma", "Ulysses", "Amerika", "Persuasion", "The Castle", "Dubliners"]
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": ""}):
        figure = Figure(figsize=(11.0, 9.0), layout="constrained")
        axes = figure.subplots(2, 2).ravel()
        grid = sb.problems.grid_path(m=4, sigma=0.4)
        tree = sb.sets.GraphicMatroid(roads)
        pairs = sb.sets.Assignment(["Ada", "Bo", "Cy"], ["mon", "tue", "wed", "thu"], forbidden=[("Bo", "mon")])
        slate = sb.sets.MILP([[1.0] * len(books)], upper=3, labels=books)
        for ax, feasible, estimates in (
            (axes[0], grid.feasible, grid.means),
            (axes[1], tree, generator.random(tree.n_items)),
            (axes[2], pairs, generator.random(pairs.n_items)),
            (axes[3], slate, generator.random(slate.n_items)),
        ):
            feasible.draw(feasible.argmax(estimates), estimates, ax=ax)  # type: ignore[attr-defined]
        figure.savefig(path, metadata={"Date": None})


PICTURES = {"home.svg": home, "grid_path.svg": grid_path, "k_path.svg": k_path}

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        (FOLDER / name).write_text(draw(), encoding="utf-8")
    save(regret(), FOLDER / "regret.svg")
    save(tutorial(), FOLDER / "tutorial.svg")
    sets(FOLDER / "sets.svg")
    bounds(sb.problems.grid_path(m=4, sigma=0.2), FOLDER / "bounds_grid_path.svg")
    bounds(sb.problems.k_path(n_items=32, k=4, gap=0.8), FOLDER / "bounds_k_path.svg")
    save(constants.draw(), FOLDER / "constants.svg")
    save(tightness.draw(tightness.run()), FOLDER / "tightness.svg")
    save_figure(choosing.draw(choosing.run()), FOLDER / "choosing.svg")
    save_figure(suite.draw(suite.measured()), FOLDER / "suite.svg")
    title = "top 4 of 20, a change in round 20,000"
    save_figure(choosing.draw({title: choosing.run_changing()}), FOLDER / "change.svg")
    for compare in (neighbours.sizes, neighbours.correlation, neighbours.adversary, neighbours.feedback):
        save_figure(neighbours.draw(compare()), FOLDER / f"{compare.__name__}.svg")
