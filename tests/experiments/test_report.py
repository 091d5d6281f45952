"""The report of any experiment: valid pages, with the numbers that results and learners themselves give."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semibandits as sb
from semibandits._util import resources
from semibandits.experiments.point import Point
from semibandits.experiments.report import curves, items, solutions
from semibandits.experiments.report.experiment import report
from semibandits.experiments.report.pictures import Gallery
from semibandits.plotting import bound_curves as plots
from support import pages, results

HOSTILE = "</td><script>alert('1')</script>\"&amp;<b>"
BOTH: Any = ["counts", "sums"]
quickly = pytest.mark.usefixtures("quick")


def coins(n: int) -> sb.environments.Bernoulli:
    return sb.environments.Bernoulli(np.linspace(0.2, 0.8, n).round(2))


def play(problem: sb.Problem, *players: Any, horizon: int = 100, runs: int = 4, **options: Any) -> Point:
    """So few rounds that nothing is compiled."""
    options = {"record": BOTH, **options}
    return Point({}, problem, sb.simulate(problem, list(players), horizon=horizon, runs=runs, seed=3, **options))


def read(*points: Point, **options: Any) -> pages.Page:
    return pages.read_document(report("A title", points, **options))


def table(page: pages.Page, *head: str) -> list[list[str]]:
    """The rows of the first table that has these columns first."""
    return next(rows[1:] for rows in page.tables if rows and tuple(rows[0][: len(head)]) == head)


def floats(text: str) -> list[float]:
    return [float(x) for x in re.findall(r"-?[\d.]+(?:e-?\d+)?", text.replace(",", "").replace("−", "-"))]


@pytest.fixture(scope="module")
def grid() -> Point:
    problem = sb.problems.grid_path(m=2, sigma=0.4)
    return play(problem, sb.policies.CombUCB1(), sb.policies.CTS(), sb.policies.Random(), horizon=150)


@pytest.fixture(scope="module")
def page(grid: Point) -> pages.Page:
    return read(grid, description="First.\n\nSecond: " + HOSTILE, source=f"[problem]\nname = '{HOSTILE}'\n")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    pages.skip_drawing(monkeypatch)


# One simulation


def test_it_has_all_its_parts(page: pages.Page) -> None:
    for part in ("What was played", "Who lost least", "Regret over time", "Items", "Solution", "Time per round"):
        assert page.text.count(part) >= 2  # the link and the heading
        assert f"#{part.lower().replace(' ', '-')}" in page.links
    assert "#provenance" in page.links
    for said in ("GridPaths(2)", "12, at most 4", "rewards, to be maximised, from 0 to 1", "150 rounds, 4 times"):
        assert said in page.text
    assert page.text.count(HOSTILE) == 2
    assert page.tags.count("svg") >= 5
    assert page.tags.count("figcaption") >= page.tags.count("table") - 2


def test_the_summary_is_the_results_own(grid: Point, page: pages.Page) -> None:
    rows = table(page, "policy", "mean regret")
    summary = sorted(grid.result.summary(), key=lambda row: row.mean)
    assert [row[0] for row in rows] == [row.policy.partition("(")[0] for row in summary]
    for cells, row in zip(rows, summary, strict=True):
        shown = [value for cell in cells[1:] for value in floats(cell)]
        off = np.abs(np.array(shown) - [row.mean, row.error, row.low, row.high, row.deviation])
        assert (off <= 0.06 * row.error).all()


def test_comparisons_are_the_results_own(grid: Point, page: pages.Page) -> None:
    rows = table(page, "policy", "against")
    assert len(rows) == 3
    for first, second, *cells, verdict in rows:
        one = grid.result.compare(first, second, confidence=1.0 - 0.05 / 3.0)
        shown = [value for cell in cells for value in floats(cell)]
        off = np.abs(np.array(shown) - [one.difference, one.error, one.low, one.high])
        assert (off <= 0.06 * one.error).all()
        assert one.difference <= 0.0
        assert verdict == ("cannot be told apart" if one.low <= 0.0 <= one.high else "less regret")


def test_items_are_as_a_learner_sees_them(grid: Point, page: pages.Page) -> None:
    """A learner that is shown what run 0 saw has the same estimates, intervals and best solution."""
    result, problem = grid.result, grid.problem
    assert result.counts is not None
    assert result.sums is not None
    found = solutions.find(grid)
    assert isinstance(found, dict)
    for policy in range(3):
        counts, ones = result.counts[policy, 0], result.sums[policy, 0].astype(np.int64)
        learner = sb.Learner(problem.feasible, sb.policies.CombUCB1())
        for item in np.flatnonzero(counts):
            learner.observe([item] * counts[item], [1.0] * ones[item] + [0.0] * (counts[item] - ones[item]))
        learned = items.Learned(grid, policy)
        np.testing.assert_array_equal(learned.counts[0], learner.counts)
        np.testing.assert_allclose(learned.estimates[0], learner.estimates)
        seen = counts > 0
        np.testing.assert_allclose(np.stack(learned.intervals, axis=1)[seen], learner.intervals()[seen])
        np.testing.assert_array_equal(found[policy].items, learner.best())
    rows = table(page, "item", "in the optimum", "true mean", "times chosen")
    best = items.Learned(grid, result.ranking()[0])
    for name, optimal, mean, chosen, average, estimate, _, error in rows:
        item = int(name)
        assert (optimal == "yes") == (item in problem.optimum)
        assert float(mean) == problem.means[item]
        assert int(chosen.replace(",", "")) == best.counts[0, item]
        assert float(average.replace(",", "")) == pytest.approx(best.counts[:, item].mean(), abs=0.06)
        off = best.estimates[:, item] - problem.means[item]
        assert float(estimate) == pytest.approx(best.estimates[0, item], abs=6e-5)
        assert float(error) == pytest.approx(np.sqrt(np.nanmean(off**2)), abs=6e-5)
    assert len(rows) == 12


def test_solutions_are_judged_by_the_true_means(grid: Point, page: pages.Page) -> None:
    found = solutions.find(grid)
    assert isinstance(found, dict)
    rows = table(page, "policy", "expected reward", "gap")
    for policy, cells in zip(grid.result.ranking(), rows, strict=True):
        one = found[policy]
        gaps = [
            grid.problem.gap(grid.problem.feasible.argmax(items.Learned(grid, policy).best(run))) for run in range(4)
        ]
        assert one.optimal == sum(gap <= 1e-12 for gap in gaps)
        assert float(cells[1]) == pytest.approx(grid.problem.value(one.items), abs=1e-3)
        assert float(cells[2]) == pytest.approx(gaps[0], abs=1e-3)
        assert cells[3] == f"{one.optimal} of 4 runs"


def test_bounds_are_those_of_the_theory(grid: Point, page: pages.Page) -> None:
    """Each is held against the regret of the policy it is about, lower ones against the least of all."""
    head = ["bound", "of", "regret is", "value", "times"]
    shown_rows, folded_rows = (rows[1:] for rows in page.tables if rows[0] == head)
    rows = {row[0]: row for row in [*shown_rows, *folded_rows]}
    known = sb.theory.bounds(grid.problem, grid.result.rounds)
    means = [row.mean for row in grid.result.summary()]
    shown = [(bound, means[0]) for bound in known.of("upper", "CombUCB1")]
    shown += [(bound, min(means)) for bound in known.of("lower")]
    assert {bound.kind for bound, _ in shown} == {"upper", "lower"}
    for bound, regret in shown:
        _, of, kind, value, times = rows[bound.title]
        upper = bound.kind == "upper"
        assert (of, kind) == (("CombUCB1", "at most") if upper else ("any consistent policy", "at least"))
        assert floats(value)[0] == pytest.approx(bound.value[-1], rel=1e-3)
        assert (rows[bound.title] in folded_rows) == bound.vacuous[-1]
        assert value.endswith("~") == bound.asymptotic
        assert floats(times)[0] == pytest.approx(bound.value[-1] / regret, rel=1e-3)
    assert not any(bound.title in rows for bound in known if bound.policy == "OMM")
    assert "Upper bounds are on CombUCB1; none is drawn for CTS, Random." in page.text
    assert "~: holds in the limit of many rounds only." in page.text
    assert f"{len(folded_rows)} more bounds say nothing yet: more than any policy can lose" in page.text


def test_a_lower_bound_is_drawn_where_so_much_can_be_lost() -> None:
    point = play(sb.Problem(sb.sets.TopK(3, 1), sb.environments.Bernoulli([0.2, 0.7, 0.8])), sb.policies.CombUCB1())
    known = sb.theory.bounds(point.problem, point.result.rounds)
    (lower,) = known.of("lower")
    assert 0 < np.count_nonzero(lower.value > known.trivial) < lower.value.size
    few = curves._few(known, plots.bound_curves(point.result, known))
    (drawn,) = few.of("lower")
    np.testing.assert_array_equal(np.isnan(drawn.value), lower.value > known.trivial)
    assert not {bound.policy for bound in few.of("upper")} - {"CombUCB1"}


def test_legends_have_the_names_of_the_tables(grid: Point) -> None:
    texts = re.findall("<text[^>]*>([^<]*)</text>", curves.curves(grid, Gallery(), bounds=False))
    assert {"CombUCB1", "CTS", "Random"} <= set(texts)
    assert "expected regret (units of reward)" in texts


def test_where_it_was_played(page: pages.Page) -> None:
    assert f"machine {resources.processor()}, {resources.cores()} core" in page.text


# Other worlds


def test_costs_have_their_unit_and_paths_begin_otherwise() -> None:
    graph = [("A", "B"), ("A", "C"), ("B", "C"), ("B", "D"), ("C", "D")]
    problem = sb.Problem(
        sb.sets.Paths(graph, "A", "D"), sb.environments.Gaussian([3, 9, 2, 8, 4], 1.0, bounds=(0, 20)), "min"
    )
    point = play(problem, sb.policies.CombUCB1(), sb.policies.CTS())._replace(unit="min & s")
    page = read(point)
    assert "began CombUCB1: optimistically, whatever init says" in page.text
    for said in (
        "from 0 to 20 min & s",
        "Expected regret in min & s after 100 rounds",
        "the second's in min & s, run by run",
        "expected regret (min & s)",
        "mean cost of an item (min & s)",
        "items and runs in min & s.",
        "errors are in min & s.",
        f"{problem.value(problem.optimum):.3f}".rstrip("0") + " min & s a round",
    ):
        assert said in page.text
    assert table(page, "bound", "of", "regret is", "value (min & s)")
    assert table(page, "policy", "expected cost (min & s)", "gap (min & s)")
    assert "units of" not in page.text
    assert re.search(r"regret after 100 rounds, [\d.,]+ ± [\d.,]+ min & s", page.text)


@quickly
def test_a_drifting_world_has_counts_and_says_why() -> None:
    world = sb.environments.Drifting([[0.9, 0.1, 0.5], [0.1, 0.9, 0.5]], starts=[1, 50])
    point = play(sb.Problem(sb.sets.TopK(3, 1), world), sb.policies.CombUCB1())
    page = read(point)
    assert "The means change from round to round" in page.text
    assert "The best solution changes from round to round" in page.text
    assert "worlds that stay as they are" in page.text
    assert "dynamic: against the best solution of every round" in page.text
    rows = table(page, "item", "times chosen", "mean of runs")
    assert sum(int(row[1]) for row in rows) == 100


@quickly
def test_an_adversary() -> None:
    world = sb.environments.Adversarial(np.random.default_rng(0).random((60, 3)))
    point = play(sb.Problem(sb.sets.TopK(3, 1), world, "min"), sb.policies.CombUCB1(), sb.policies.CTS(), horizon=60)
    assert "static: against the one solution" in read(point).text


@quickly
def test_an_approximate_oracle_is_held_against_its_own_answer() -> None:
    greedy = sb.sets.GreedyKnapsack([3, 4, 5, 6], 9)
    point = play(sb.Problem(greedy, coins(4)), sb.policies.CombUCB1(), regret="ratio")
    page = read(point)
    assert "approximate: its answers are worth at least" in page.text
    assert "the oracle's answer on the true means" in page.text
    (row,) = table(page, "policy", "expected reward", "gap", "no gap in", "of the best there is")
    found = solutions.find(point)
    assert isinstance(found, dict)
    best = point.problem.value(greedy.exact().argmax(point.problem.means))
    assert float(row[4].rstrip("%")) == pytest.approx(100.0 * point.problem.value(found[0].items) / best, abs=0.06)


@quickly
def test_an_oracle_of_ones_own_that_fails_later() -> None:
    working = True

    def solver(weights: Any) -> list[int]:
        if not working:
            raise RuntimeError(HOSTILE)
        return [int(weights.argmax())]

    problem = sb.Problem(sb.sets.Oracle(solver, n_items=3, max_size=1, ratio=0.5), coins(3))
    point = play(problem, sb.policies.CTS())
    assert "Told only" not in read(point).text
    working = False
    page = read(point)
    assert page.text.count(f"RuntimeError: {HOSTILE}") >= 1


@quickly
def test_sums_only() -> None:
    blind, seeing = sb.policies.COMBAND(), sb.policies.CombUCB1()
    problem = sb.Problem(sb.sets.TopK(4, 2), coins(4))
    page = read(play(problem, blind, feedback="bandit"))
    assert "only the sum of the chosen items' weights" in page.text
    assert "told only sums" in page.text
    page = read(play(problem, blind, seeing))
    assert "what they made of the items is not recorded: COMBAND" in page.text
    assert [row[0] for row in table(page, "policy", "expected reward")] == ["CombUCB1"]


# Other results


@pytest.fixture(scope="module")
def labelled() -> Point:
    return play(sb.Problem(sb.sets.TopK(4, 2), coins(4)), sb.policies.CTS())


@quickly
@pytest.mark.parametrize(("record", "said"), [((), "was not recorded"), (["counts"], "only how often")])
def test_less_was_recorded(record: Any, said: str) -> None:
    point = play(sb.Problem(sb.sets.TopK(3, 1), coins(3)), sb.policies.CTS(), record=record)
    assert said in read(point).text


@quickly
def test_a_single_run_has_no_errors_and_one_policy_no_comparisons() -> None:
    problem = sb.Problem(sb.sets.TopK(3, 1), coins(3))
    page = read(play(problem, sb.policies.CTS(), sb.policies.Random(), runs=1))
    assert "A single run gives no errors" in page.text
    assert table(page, "policy", "mean regret")[0][2:] == []
    assert not [rows for rows in page.tables if "against" in rows[0]]
    page = read(play(problem, sb.policies.CTS()))
    assert not [rows for rows in page.tables if "against" in rows[0]]


@quickly
def test_thirty_policies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(items, "MOST_PICTURES", 0)
    problem = sb.Problem(sb.sets.TopK(3, 1), coins(3))
    players = [sb.policies.CombUCB1(alpha=0.1 * (i + 1), init="all") for i in range(30)]
    page = read(play(problem, *players, horizon=20, runs=3))
    assert len(table(page, "policy", "mean regret")) == 30
    assert len(table(page, "policy", "against")) == 29
    assert page.text.count("CombUCB1(alpha=1.5)") >= 3


@quickly
def test_ten_thousand_items() -> None:
    problem = sb.Problem(sb.sets.TopK(10_000, 3), sb.environments.Bernoulli(np.linspace(0.1, 0.9, 10_000)))
    page = read(play(problem, sb.policies.CTS(), horizon=5, runs=2))
    rows = table(page, "item", "in the optimum")
    assert len(rows) == 40
    assert [row[0] for row in rows[:3]] == ["9999", "9998", "9997"]
    assert "9,960 more are left out" in page.text


@quickly
def test_a_result_that_says_little() -> None:
    """From a file of an earlier version, say."""
    result = results.make(provenance={}, counts=None)
    page = read(Point({}, sb.problems.grid_path(2, 0.4), result))
    assert "Not known: this result was made by a version that did not measure it." in page.text
    assert "not known" in page.text


def test_labels_with_html_in_them() -> None:
    class Mine(sb.policies.CTS):
        def __repr__(self) -> str:
            return f"{HOSTILE}\x00 $x$"

    labels = [f"{HOSTILE}{i}" for i in range(4)]
    problem = sb.Problem(sb.sets.Assignment([HOSTILE, "中文"], ["$x_1$", "_y"]), coins(4))
    problem.feasible.labels = tuple(labels)
    point = play(problem, Mine())
    page = read(point._replace(settings={HOSTILE: HOSTILE}))
    assert page.text.count(HOSTILE) > 8
    assert set(labels) <= {row[0] for row in table(page, "item", "in the optimum")}


@settings(max_examples=30)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=9),
        min_size=4,
        max_size=4,
        unique=True,
    )
)
def test_any_labels_show_as_they_are(labelled: Point, labels: list[str]) -> None:
    labelled.problem.feasible.labels = tuple(labels)
    page = pages.read(items.items(labelled, "", {}, pictures=False))
    assert {row[0] for row in page.tables[1][1:]} == set(labels)
    text = pages.read(solutions.solutions(labelled, Gallery(), solutions.find(labelled))).text
    assert ", ".join(labels[item] for item in labelled.problem.optimum) in text


@quickly
def test_a_set_without_a_shape_is_told_in_words() -> None:
    point = play(sb.Problem(sb.sets.TopK(3, 2), coins(3)), sb.policies.Random(), horizon=3, runs=1)
    assert not solutions.has_shape(point.problem.feasible)
    assert solutions.has_shape(sb.sets.GridPaths(2))
    assert solutions.has_shape(sb.sets.Assignment(2, 2))
    assert re.search(r"the optimum.* 1, 2", read(point).text)


# What takes too long


def test_slow_oracles_are_not_asked_too_often(grid: Point, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solutions, "PATIENCE", 0.0)
    found = solutions.find(grid)
    assert isinstance(found, dict)
    assert {one.runs for one in found.values()} == {1}
    assert "only the first 1 of 4 runs were solved" in solutions.solutions(grid, Gallery(), found, pictures=False)
    monkeypatch.setattr(curves, "PATIENCE", 0.0)
    problem = sb.Problem(sb.sets.Oracle(lambda w: [int(w.argmax())], n_items=3, max_size=1), coins(3))
    point = play(problem, sb.policies.CTS(), horizon=5, runs=1)
    assert "would take this oracle about" in curves.curves(point, Gallery("x-"))
