"""Starter files: they can be played, teach what they should, and overwrite nothing."""

import json
import tomllib
from pathlib import Path

import pytest

from semibandits.errors import BadArgument, StoreFailed
from semibandits.experiments.files.document import read
from semibandits.experiments.files.starters import EXPERIMENTS, FILES, NOTEBOOKS, STARTERS, write_starter
from semibandits.policies import default


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_starter_can_be_played(tmp_path: Path, name: str) -> None:
    paths = write_starter(name, tmp_path / "new")
    assert [path.name for path in paths] == [f"{name}.toml", *FILES.get(name, ())]
    experiment = read(paths[0])
    assert experiment.title
    assert experiment.description
    assert all(3 <= len(plan.policies) <= 4 for plan in experiment.plans)
    for plan in experiment.plans:
        assert default(plan.problem.feasible, bounds=plan.problem.bounds).policy in plan.policies
    text = paths[0].read_text(encoding="utf-8")
    comments = [line for line in text.splitlines() if "#" in line]
    assert len(comments) >= 12
    assert all(len(line) <= 120 for line in text.splitlines())


def test_there_are_six_and_some_sweep(tmp_path: Path) -> None:
    assert len(EXPERIMENTS) == 6
    texts = [write_starter(name, tmp_path)[0].read_text(encoding="utf-8") for name in EXPERIMENTS]
    assert sum("sweep" in tomllib.loads(text) for text in texts) >= 2


def test_notebooks_are_starters_too(tmp_path: Path) -> None:
    assert list(STARTERS) == [*EXPERIMENTS, *NOTEBOOKS]
    assert [write_starter(name, tmp_path) for name in NOTEBOOKS] == [[tmp_path / "tutorial.ipynb"]]
    assert json.loads((tmp_path / "tutorial.ipynb").read_text(encoding="utf-8"))["nbformat"] == 4
    with pytest.raises(BadArgument, match=r"tutorial\.ipynb would be overwritten"):
        write_starter("tutorial", tmp_path)


def test_names_with_hyphens_and_unknown_ones(tmp_path: Path) -> None:
    assert write_starter("grid-path", tmp_path)[0].name == "grid_path.toml"
    with pytest.raises(BadArgument, match=r"no starter is called 'gridpath': did you mean 'grid_path'\?"):
        write_starter("gridpath", tmp_path)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "suppliers.py").write_text("mine")
    with pytest.raises(BadArgument, match=r"suppliers\.py would be overwritten"):
        write_starter("own_solver", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["suppliers.py"]
    with pytest.raises(StoreFailed, match="could not be written"):
        write_starter("slate", tmp_path / "suppliers.py")
    (tmp_path / "slate.toml").symlink_to("elsewhere.toml")
    with pytest.raises(BadArgument, match=r"slate\.toml would be overwritten"):
        write_starter("slate", tmp_path)
    assert (tmp_path / "slate.toml").is_symlink()


def test_a_sweep_over_noise_leaves_the_means_alone(tmp_path: Path) -> None:
    import numpy as np

    path = write_starter("routing_tree", tmp_path)[0]
    written = tomllib.loads(path.read_text(encoding="utf-8"))["problem"]["environment"]["means"]
    experiment = read(path)
    assert experiment.unit == "ms"
    assert all(np.abs(plan.problem.means - written).max() < 0.1 for plan in experiment.plans)


def test_the_solver_of_the_starter_is_right() -> None:
    from itertools import product

    import numpy as np

    from semibandits.experiments.files.starters import suppliers

    generator = np.random.default_rng(0)
    choices = [choice for choice in product(range(5), repeat=6) if len(set(choice)) <= 3]
    solutions = np.array(choices) + 5 * np.arange(6)
    assert all(suppliers.allowed(solution) for solution in solutions[:50])
    for _ in range(5):
        costs = generator.random(30)
        best = suppliers.cheapest(costs)
        assert suppliers.allowed(best)
        assert costs[best].sum() == pytest.approx(costs[solutions].sum(axis=1).min())
    world = suppliers.prices(0.4)
    drawn = np.mean([world.weights(round, round) for round in range(4000)], axis=0)
    assert np.abs(drawn - world.means).max() < 0.02
