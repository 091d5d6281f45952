"""What notebooks show of problems, learners, results and bounds."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semibandits as sb
from support import pages, results
from support.pages import show

HOSTILE = "</td></table><script>alert('1')</script>"


def coins(n: int) -> sb.environments.Bernoulli:
    return sb.environments.Bernoulli(np.linspace(0.2, 0.8, n))


# Problems


def test_a_problem() -> None:
    text = show(sb.Problem(sb.sets.TopK(4, 2), coins(4))).text
    for part in (
        "TopK(4, 2)",
        "Bernoulli(4 items)",
        "4, at most 2 in a solution",
        "rewards, from 0 to 1",
        "2, 3",
        "1.4",
    ):
        assert part in text


def test_a_problem_names_its_items() -> None:
    problem = sb.Problem(sb.sets.Assignment([HOSTILE, "b"], ["x", "y"]), coins(4), sense="min")
    text = show(problem).text
    assert "costs" in text
    assert f"{HOSTILE}:" in text


def test_a_problem_does_nothing_slow() -> None:
    calls = []

    def solver(weights: Any) -> list[int]:
        calls.append(1)
        return [int(weights.argmax())]

    problem = sb.Problem(sb.sets.Oracle(solver, n_items=3, max_size=1), coins(3))
    assert "optimum" not in show(problem).text
    assert not calls
    _ = problem.optimum
    calls.clear()
    assert "optimum 2" in show(problem).text
    assert not calls
    big = sb.Problem(sb.sets.TopK(100_000, 5), coins(100_000))
    assert "optimum" not in show(big).text
    assert not {"item_gaps", "min_gap", "max_gap"} & vars(problem).keys()


def test_a_problem_that_drifts_or_fails() -> None:
    drifting = sb.environments.Drifting([[0.1, 0.9], [0.9, 0.1]], starts=[1, 10])
    assert "changes from round to round" in show(sb.Problem(sb.sets.TopK(2, 1), drifting)).text
    problem = sb.Problem(sb.sets.TopK(2, 1), coins(2))

    class Broken(sb.sets.TopK):
        def argmax(self, weights: Any) -> Any:
            raise RuntimeError(HOSTILE)

    problem.feasible = Broken(2, 1)
    assert f"not known: the oracle raised RuntimeError: {HOSTILE}" in show(problem).text
    del problem.feasible
    assert "Problem" in pages.read(problem._repr_html_()).text  # not even its own repr works


# Decisions and learners


@settings(max_examples=50)
@given(st.lists(st.text(st.characters(exclude_categories=["C", "Z"]), max_size=8), min_size=3, max_size=3, unique=True))
def test_labels_show_as_they_are(labels: list[str]) -> None:
    learner = sb.Learner(sb.sets.TopK(3, 2), sb.policies.CombUCB1(), labels=labels, seed=0)
    decision = learner.ask()
    rows = show(decision).tables[0]
    assert rows[1:] == [[str(item), labels[item]] for item in decision.items]
    assert {row[0] for row in show(learner).tables[0][1:]} == set(labels)


def test_a_decision() -> None:
    learner = sb.Learner(sb.sets.TopK(200, 60), sb.policies.CombUCB1(), seed=0)
    decision = learner.ask()
    page = show(decision)
    assert decision.id in page.text
    assert "Decision of round 1" in page.text
    assert "... and 35 more" in page.text
    assert page.tables[0][1:] == [[str(item)] for item in decision.items[:25]]


def test_a_learner_shows_what_it_knows() -> None:
    learner = sb.Learner(sb.sets.TopK(4, 2), sb.policies.CombUCB1(), bounds=(0.0, 10.0), seed=7)
    assert "after 0 rounds" in show(learner).text
    decision = learner.ask()
    learner.tell(decision.id, [9.0, 4.0])
    waiting = learner.ask()
    page = show(learner)
    assert "after 2 rounds" in page.text
    assert f"waiting for {waiting.id} (round 2)" in page.text
    low, high = learner.intervals()[0]
    assert page.tables[0][1][:4] == ["0", "1", "9.000", f"{low:.3f} to {high:.3f}"]
    assert page.tables[0][3][:3] == ["2", "0", "–"]


def test_a_large_learner_shows_what_it_has_seen_most() -> None:
    learner = sb.Learner(sb.sets.TopK(1000, 1), sb.policies.CombUCB1(), seed=0)
    learner.observe([900] * 3 + [800] * 2, [0.5] * 5)
    page = show(learner)
    assert [row[0] for row in page.tables[0][1:4]] == ["900", "800", "0"]
    assert "... and 975 more" in page.text


@pytest.mark.parametrize(
    ("policy", "feedback"),
    [
        (sb.policies.COMBAND(eta=0.1, gamma=0.1), "bandit"),
        (sb.policies.FPL(eta=0.1), "semi"),
        (sb.policies.SlidingWindow(5), "semi"),
        (sb.policies.PooledCTS(window=5), "semi"),
        (sb.policies.Random(), "semi"),
    ],
    ids=repr,
)
def test_learners_of_all_kinds(policy: Any, feedback: Any) -> None:
    learner = sb.Learner(sb.sets.TopK(3, 2), policy, seed=0, feedback=feedback)
    decision = learner.ask()
    learner.tell(decision.id, 1.5 if feedback == "bandit" else [1.0, 0.5])
    assert "after 1 round" in show(learner).text


# Results


def test_a_result_shows_its_summary() -> None:
    result = results.make(policies=3, runs=5)
    page = show(result)
    for row, cells in zip(result.summary(), page.tables[0][1:], strict=True):
        assert cells[0].strip() == row.policy
        shown = [float(cell.replace(",", "")) for cell in cells[1:3]]
        np.testing.assert_allclose(shown, [row.mean, row.error], rtol=0.05)
    assert page.tags.count("polyline") == 3
    dashes = [value for name, value in page.attributes if name == "stroke-dasharray"]
    assert len(dashes) == 6  # each curve has its own, and a sample of it beside its name
    assert sorted(dashes[:3]) == sorted(dashes[3:])
    assert len(set(dashes)) == 3
    assert "5 runs" in page.text


def test_curves_have_the_scales_of_the_plot() -> None:
    rounds = np.unique(np.geomspace(1, 10_000, 60).astype(np.int64))
    growth = np.log1p(rounds) / np.log1p(rounds[-1])

    def drawn(*ends: float) -> tuple[str, list[np.ndarray]]:
        regret = np.array(ends)[:, None, None] * growth[None, None] * np.ones((1, 3, 1))
        page = show(results.make(policies=len(ends), rounds=rounds, regret=regret))
        lines = [value for name, value in page.attributes if name == "points"]
        return page.text, [np.array([at.split(",") for at in line.split()], dtype=float) for line in lines]

    text, (large, small) = drawn(1.0, 9.0)
    assert "logarithmic" not in text
    np.testing.assert_allclose(np.diff(small[:, 0]) / np.diff(rounds), 392.0 / 9999.0, atol=0.2)
    np.testing.assert_allclose(136.0 - large[:, 1], (136.0 - small[:, 1]) * 9.0, atol=1.0)
    text, (large, small) = drawn(1.0, 90.0)
    assert text.count("(logarithmic)") == 2
    assert "regret, up to 90 (log" in text
    np.testing.assert_allclose(small[:, 0], 14.0 + 392.0 * np.log(rounds) / np.log(10_000), atol=0.1)
    np.testing.assert_allclose(small[:, 1] - large[:, 1], small[0, 1] - large[0, 1], atol=0.2)  # the same, times 90
    assert (small[0, 1], large[-1, 1]) == (136.0, 14.0)


@pytest.mark.parametrize(
    "result",
    [
        results.make(policies=1, runs=1),
        results.make(policies=40, runs=2),
        results.make(rounds=[7]),
        results.make(policies=2, regret=np.zeros((2, 5, 4))),
        results.make(policies=2, regret=np.full((2, 5, 4), -3.0)),
        results.make(policies=2, regret=np.full((2, 5, 4), np.nan)),
        results.make(policies=2, kind="dynamic", provenance={}),
    ],
)
def test_results_of_all_kinds(result: Any) -> None:
    page = show(result)
    assert len(page.tables) == 1
    assert ("... and 15 more" in page.text) == (len(result.policies) == 40)


def test_names_are_escaped() -> None:
    result = dataclasses.replace(results.make(policies=2), policies=(HOSTILE, "b"))
    for thing in (result, result.summary(), result.compare(0, 1), result.comparisons()):
        assert HOSTILE in show(thing).text


def test_a_summary_keeps_its_order() -> None:
    result = results.make(policies=3, runs=5)
    summary = result.summary(confidence=0.5)
    page = show(summary)
    assert f"Regret after {result.rounds[-1]:,} rounds, 5 runs" in page.text
    for row, cells in zip(summary, page.tables[0][1:], strict=True):
        assert cells[0] == row.policy
        shown = [float(cell.replace(",", "")) for cell in [*cells[1:3], *cells[3].split(" to ")]]
        np.testing.assert_allclose(shown, [row.mean, row.error, row.low, row.high], rtol=0.05)


def test_what_is_tiny_is_no_zero() -> None:
    tiny = sb.environments.Scaled(coins(4), bounds=(0.0, 1e-9))
    result = sb.simulate(sb.Problem(sb.sets.TopK(4, 2), tiny), ["CTS", "Random"], horizon=60, runs=3, seed=0, threads=1)
    for thing in (result, result.summary(), result.comparisons()):
        text = show(thing).text
        assert "0.000000" not in text
        assert "e−0" in text or "e-0" in text or "e−1" in text
    assert "80% interval" in show(result.summary(confidence=0.8)).text


def test_what_is_known_without_error_is_no_zero() -> None:
    world = sb.environments.Bernoulli([0.00504, 0.00502, 0.00500])
    players = [sb.policies.Fixed([item]) for item in range(3)]
    result = sb.simulate(sb.Problem(sb.sets.TopK(3, 1), world), players, horizon=100, runs=5, seed=1, threads=1)
    for thing in (result, result.summary()):
        assert {row[1] for row in show(thing).tables[0][1:]} == {"0", "0.002", "0.004"}
    assert {row[3] for row in show(result.comparisons()).tables[0][1:]} == {"−0.002", "−0.004"}


def test_a_summary_of_many_one_run_or_none() -> None:
    assert "... and 15 more" in show(results.make(policies=40).summary()).text
    single = show(results.make(policies=1, runs=1).summary())
    assert "a single run" in single.text
    assert single.tables[0][1][2:] == ["–", "–"]
    assert "no policies" in show(sb.simulation.Summary()).text
    assert str(sb.simulation.Summary()).startswith("policy ")


def test_a_comparison_says_what_it_prints() -> None:
    result = results.make(policies=2)
    for one in (result.compare(0, 1), results.make(policies=2, runs=1).compare(0, 1)):
        assert show(one).text == " ".join(str(one).replace(":\n", " ").split())


def compared(*regrets: list[float]) -> Any:
    rows = np.array(regrets)[:, :, None]
    return results.make(policies=len(rows), rounds=[100], regret=rows).comparisons()


def test_comparisons_are_a_table_of_all_pairs() -> None:
    found = compared([10.0, 11.0, 12.0], [20.0, 21.5, 22.0], [9.0, 12.0, 13.0])
    page = show(found)
    apart, less = "cannot be told apart from", "has less regret than"
    assert [row[1] for row in page.tables[0][1:]] == [apart, less, less]
    for one, cells in zip(found, page.tables[0][1:], strict=True):
        assert [cells[0], cells[2]] == [one.a, one.b]
        shown = [float(cell.replace(",", "").replace("−", "-")) for cell in [*cells[3:5], *cells[5].split(" to ")]]
        np.testing.assert_allclose(shown, [one.difference, one.error, one.low, one.high], rtol=0.05, atol=0.01)
    assert "all 3 pairs hold together with 95%" in page.text
    assert "3 runs in the same worlds" in page.text
    assert repr(found) == str(found) == "\n\n".join(map(str, found))  # and without a notebook


def test_comparisons_of_one_run_of_none_and_of_many() -> None:
    assert show(compared([1.0], [2.0])).tables[0][1][4:] == ["–", "–"]
    assert "less than two policies" in show(compared([1.0, 2.0])).text
    assert "... and 14 more" in show(results.make(policies=40).comparisons()).text
    reversed_pair = sb.simulation.Comparisons(one._replace(a=one.b, b=one.a) for one in compared([1, 2.0], [7, 8.1]))
    assert reversed_pair[0].significant
    turned = reversed_pair[0]._replace(difference=6.0, low=5.0, high=7.0)
    assert show(sb.simulation.Comparisons([turned])).tables[0][1][1] == "has more regret than"


# Bounds


@pytest.fixture(scope="module")
def grid() -> sb.Problem:
    return sb.problems.grid_path(2, 0.4)


def test_bounds_are_the_table_that_is_printed(grid: sb.Problem) -> None:
    bounds = sb.theory.bounds(grid, [10, 100, 1000, 10_000])
    page = show(bounds)
    lines = str(bounds).splitlines()
    head, *rows = page.tables[0]
    assert head == ["bound", "of", "kind", "n = 100", "n = 1,000", "n = 10,000"]
    assert len(rows) == len(bounds) + 1
    for row, line in zip(rows, lines[1:], strict=False):
        assert line.split() == " ".join(row).split()
    for line in lines[len(rows) + 1 :]:
        assert line in page.text
    assert f"{len(bounds.left_out)} do not apply" in page.text
    assert [row[0] for row in page.tables[1][1:]] == [f"{one.source}, {one.name}" for one in bounds.left_out]
    assert page.tables[1][1][2] == ", ".join(bounds.left_out[0].missing)


def test_an_explanation_says_its_sentences(grid: sb.Problem) -> None:
    explained = sb.theory.explain(grid)
    page = show(explained)
    assert " ".join(str(explained).split()) in page.text
    assert len(page.tables[0]) == len(explained.bounds) + 2
    no_gaps = sb.Problem(sb.sets.TopK(2, 1), sb.environments.Bernoulli([0.5, 0.5]))
    assert "there is nothing to lose" in show(sb.theory.explain(no_gaps)).text
