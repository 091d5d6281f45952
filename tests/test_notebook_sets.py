"""What notebooks show of policies, worlds and sets."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semibandits as sb
from support.pages import Page, show
from test_notebook import HOSTILE

# Policies


def test_a_recommendation() -> None:
    advice = sb.policies.recommend(sb.problems.grid_path(2, 0.4))
    page = show(advice)
    for part in (repr(advice.policy), *advice.reasons, advice.needs, advice.guarantee):
        assert part in page.text
    assert page.tables[0][1:] == [[repr(policy), when] for policy, when in advice.others]
    assert not show(advice._replace(others=())).tables


@pytest.mark.parametrize(
    "policy", [sb.policies.CombUCB1(alpha=0.5), sb.policies.ESCB(), sb.policies.Random()], ids=repr
)
def test_a_policy_says_when_to_use_it(policy: Any) -> None:
    page = show(policy)
    for part in (repr(policy), policy.use, policy.needs, policy.guarantee, getattr(policy, "formula", "")):
        assert part in page.text


# Worlds


def test_worlds() -> None:
    page = show(sb.environments.Uniform([1.0, 2.0], [3.0, 5.0], bounds=(0.0, 10.0)))
    for part in ("Uniform(2 items)", "from 0 to 10", "means from 2 to 3.5"):
        assert part in page.text
    drifting = sb.environments.Drifting([[0.1, 0.9], [0.9, 0.1]], starts=[1, 10])
    assert "means change from round to round" in show(drifting).text
    table = show(sb.environments.Table([[0.1, 0.9], [0.9, 0.1]], order="recorded")).text
    assert "at most 2" in table


def test_means_of_a_world_of_ones_own_are_not_asked_for() -> None:
    class Own(sb.Environment):
        """My `world` of <coins>."""

        n_items, bounds, labels = 2, (0.0, 1.0), ("a", HOSTILE)

        @property
        def means(self) -> Any:
            raise AssertionError

    text = show(Own()).text
    assert "My world of <coins>." in text
    assert f"a, {HOSTILE}" in text


# Sets


@pytest.mark.parametrize(
    ("feasible", "parts"),
    [
        (sb.sets.TopK(5, 2), ["TopK(5, 2)", "10, of at most 2 items", "a matroid", "exact"]),
        (sb.sets.TopK(200, 100), ["more than 1,000,000,000, of at most 100 items"]),
        (sb.sets.GridPaths(3), ["monotone paths", "24", "20, of at most 6 items"]),
        (sb.sets.Paths([("a", "b"), ("b", "c")], "a", "c"), ["a->b, b->c", "costs, negated"]),
        (sb.sets.GreedyKnapsack([1.0, 2.0], 2.0), ["approximate, ratio 0.5"]),
        (sb.sets.Oracle(lambda weights: [0], n_items=1, max_size=1), ["of at most 1 item", "exact"]),
        (sb.sets.MILP([[1.0] * 30], upper=3, labels=[f"book {i}" for i in range(30)]), ["book 5, ... and 24 more"]),
    ],
    ids=repr,
)
def test_sets(feasible: sb.FeasibleSet, parts: list[str]) -> None:
    text = show(feasible).text
    assert repr(feasible) in text
    for part in parts:
        assert part in text


def circles(page: Page) -> list[str]:
    return [value for name, value in page.attributes if name == "fill" and value != "none"]


def test_graphs_and_matrices_have_a_picture() -> None:
    page = show(sb.sets.GridPaths(3))
    assert (page.tags.count("polyline"), page.tags.count("circle")) == (24, 16)
    assert len(circles(page)) == 2  # source and target
    tree = show(sb.sets.GraphicMatroid([(0, 1), (1, 2), (2, 0), (0, 1)]))
    assert (tree.tags.count("polyline"), tree.tags.count("circle"), circles(tree)) == (4, 3, [])
    matrix = show(sb.sets.Assignment(["a", "b"], 3, forbidden=[("a", 0)]))
    assert (matrix.tags.count("rect"), matrix.tags.count("path")) == (6, 1)
    for large in (sb.sets.GridPaths(30), sb.sets.Assignment(30, 30), sb.sets.Assignment(1, 50), sb.sets.TopK(5, 2)):
        assert "svg" not in show(large).tags


def test_pictures_stay_inside_of_their_frames() -> None:
    for feasible in (sb.sets.GridPaths(4), sb.sets.KPaths(12, 3), sb.sets.GraphicMatroid([(0, 1), (1, 2), (0, 2)])):
        page = show(feasible)
        (frame,) = (value for name, value in page.attributes if name == "viewbox")
        width, height = map(float, frame.split()[2:])
        places = [at.split(",") for name, value in page.attributes if name == "points" for at in value.split()]
        assert all(0.0 <= float(x) <= width and 0.0 <= float(y) <= height for x, y in places)
        assert 40.0 < width <= 450.0
        assert 40.0 < height <= 290.0


def test_a_set_of_ones_own_is_not_asked() -> None:
    class Own(sb.FeasibleSet):
        """Mine."""

        n_items, max_size, labels = 2, 1, (HOSTILE, "b")

        def argmax(self, weights: Any) -> Any:
            raise AssertionError

        def contains(self, items: Any) -> Any:
            raise AssertionError

        def restrict(self, include: Any = (), exclude: Any = ()) -> Any:
            raise AssertionError

        def counted(self, limit: int) -> Any:
            raise AssertionError

        @property
        def graph(self) -> Any:
            raise AssertionError

    text = show(Own()).text
    for part in ("Mine.", HOSTILE, "solutions of at most 1 item"):
        assert part in text


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_any_graph_is_shown(seed: int) -> None:
    generator = np.random.default_rng(seed)
    edges = generator.integers(0, 8, (int(generator.integers(1, 20)), 2)).tolist()
    found = show(sb.sets.GraphicMatroid([edge for edge in edges if edge[0] != edge[1]] or [(0, 1)]))
    assert "GraphicMatroid" in found.text
    assert "pre" not in found.tags
