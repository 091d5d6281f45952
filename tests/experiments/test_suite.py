"""The suite: its problems are what they say, its arithmetic is right, and what it plays is what `simulate` plays."""

import math
import statistics
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import semibandits as sb
from semibandits.errors import BadArgument, BadState
from semibandits.experiments import suite
from semibandits.experiments.suite.playing import runs_of
from semibandits.experiments.suite.roster import spread
from semibandits.experiments.suite.table import Row, Table, cell_rows, score
from semibandits.experiments.suite.worlds import Lognormal
from semibandits.oracle import all_solutions
from semibandits.policies.catalogue import CATALOGUE
from semibandits.testing import check_environment

DOCS = Path(__file__).parent.parent.parent / "docs"
TRAITS = {
    *("rare clicks", "even clicks", "low noise", "high noise", "loose bounds", "tight bounds", "heavy tails"),
    *("a street grid", "solutions of several sizes", "unequal noise", "near ties"),
    *("thousands of items", "correlated items"),
}


# Problems


def test_the_traits_are_there_on_several_sets() -> None:
    assert {case.trait for case in suite.CASES.values()} == TRAITS
    assert len(suite.CASES) >= 24
    assert f" {len(suite.CASES)} problems" in (DOCS / "suite.md").read_text(encoding="utf-8")
    kinds = {type(case.problem.feasible).__name__ for case in suite.CASES.values()}
    assert kinds == {"TopK", "PartitionMatroid", "Assignment", "DagPaths", "Paths", "Knapsack", "GraphicMatroid"}
    for trait in TRAITS - {"a street grid"}:
        sets = {type(case.problem.feasible) for case in suite.CASES.values() if case.trait == trait}
        assert len(sets) >= 2, trait


@pytest.mark.parametrize("case", suite.CASES.values(), ids=lambda case: case.name)
def test_a_problem_says_who_has_it_and_has_something_to_learn(case: suite.Case) -> None:
    assert case.about.endswith(".")
    assert "\n" not in case.about
    problem = case.problem
    assert problem is case.problem
    assert set(case.horizons) <= set(suite.HORIZONS)
    assert (max(case.horizons) == 100_000) == (problem.n_items < 1_000)
    others = case.make(np.random.default_rng(case.seed))
    assert np.array_equal(others.means, problem.means)
    lo, hi = problem.bounds
    assert lo <= problem.means.min() < problem.means.max() <= hi
    if problem.n_items < 100:
        assert 1e-4 * (hi - lo) < problem.min_gap < np.inf


def test_rates_and_bounds_are_as_told() -> None:
    means = {name: case.problem.means for name, case in suite.CASES.items()}
    for name in ("clicks-rare-slate", "clicks-rare-partition", "clicks-rare-assignment"):
        assert 0.005 < np.median(means[name]) < 0.02
    for name in ("clicks-even-slate", "clicks-even-partition", "clicks-even-assignment"):
        assert 0.45 < np.median(means[name]) < 0.55
    for name in ("loose-path", "loose-tree", "loose-assignment"):
        lo, hi = suite.CASES[name].problem.bounds
        world = suite.CASES[name].problem.environment
        drawn = [world.weights(round, sb.rng.key(0, 0, round, sb.rng.WORLD)) for round in range(1, 200)]
        assert 0.05 < (np.max(drawn) - np.min(drawn)) / (hi - lo) < 0.15
    for number in range(1, 5):
        street = suite.CASES[f"street-{number}"].problem
        assert (street.n_items, street.bounds, street.sense) == (224, (0.0, 30.0), "min")
        assert 2.0 <= street.means.min() < street.means.max() <= 12.0
        assert spread(street) == pytest.approx(1.5 / 30.0, abs=0.006)


def test_spread_is_that_of_the_item_that_varies_most_within_its_own_bounds() -> None:
    lo, hi = np.array([0.0, 0.0, 5.0]), np.array([100.0, 1.0, 5.0])
    rows = np.array([[0.0, 0.0, 5.0], [10.0, 1.0, 5.0]])
    world = sb.environments.Table(rows[np.arange(2_000) % 2], (lo, hi))
    assert spread(sb.Problem(sb.sets.TopK(3, 1), world)) == 0.5


def test_solutions_of_several_sizes() -> None:
    roads, stages = (suite.CASES[name].problem.feasible for name in ("sizes-roads", "sizes-stages"))
    assert {items.size for items in all_solutions(stages, 10_000) or ()} == {4, 5, 6, 7, 8, 9, 10}
    generator = np.random.default_rng(0)
    assert {2, 8} <= {roads.argmax(-(generator.random(roads.n_items) ** 3)).size for _ in range(1_000)}


def test_lognormal_weights_have_the_means_they_declare() -> None:
    world = Lognormal([1.0, 5.0, 30.0, 10.0], spread=[0.3, 1.2, 1.0, 2.5], most=60.0)
    check_environment(world)
    drawn = np.minimum(
        world.median * np.exp(world.spread * np.random.default_rng(1).standard_normal((40_000, 4))), 60.0
    )
    assert (np.abs(drawn.mean(axis=0) - world.means) < 4.0 * drawn.std(axis=0) / 200.0).all()
    ours = np.array([world.weights(1, sb.rng.key(0, run, 1, sb.rng.WORLD)) for run in range(4_000)])
    for q in (0.05, 0.5, 0.95):
        exact = np.minimum(world.median * np.exp(world.spread * statistics.NormalDist().inv_cdf(q)), 60.0)
        share = (ours <= exact).mean(axis=0)[exact < 60.0]
        assert (np.abs(share - q) < 4.0 * math.sqrt(q * (1.0 - q) / 4_000)).all()
    with pytest.raises(BadArgument, match="median and spread must be positive"):
        Lognormal([1.0, 0.0], spread=1.0, most=2.0)


# The roster


def test_the_roster_follows_the_catalogue() -> None:
    """Who is not in it needs something that is not there: parameters, features, or to see less."""
    outside = {entry.name for entry in CATALOGUE} - set(suite.PLAYERS)
    assert outside == {
        *("SlidingWindow", "Discounted", "Fixed", "Clairvoyant", "CombLinUCB", "CombLinTS"),
        *("OFUL", "LinUCB", "COMBAND"),
    }
    assert suite.PLAYERS[suite.GREEDY] == sb.policies.EpsilonGreedy(epsilon=0.0)


def test_policies_are_known_by_what_they_are() -> None:
    for name, policy in suite.PLAYERS.items():
        assert suite.label(policy) == name
    assert suite.label(sb.policies.CombUCB1(alpha=0.5)) == "CombUCB1(alpha=0.5)"
    assert suite.label(sb.policies.Fixed([1, 2])) == repr(sb.policies.Fixed([1, 2]))


def test_who_is_left_out_and_why() -> None:
    slate, path = suite.CASES["many-slate"].problem, suite.CASES["tight-path"].problem
    street, small = suite.CASES["street-1"].problem, suite.CASES["common-slate"].problem
    players = suite.PLAYERS
    assert "every solution" in suite.left_out(players["ESCB"], slate, 300)
    assert suite.left_out(players["ESCB"], path, 100_000) == suite.left_out(players["OLSUCB"], small, 300) == ""
    assert "and there may be over 100" in suite.left_out(players["OLSUCB"], small, 100_000)
    assert suite.left_out(players["HYBRID"], slate, 5_000) == ""
    assert "hull" in suite.left_out(players["OSMD"], path, 300)
    assert "many problems" in suite.left_out(players["FPL"], street, 100_000)
    assert suite.left_out(players["OMM"], street, 300)
    assert not any(suite.left_out(players[name], street, 100_000) for name in ("CombUCB1", "CTS", "greedy", "CMOSS"))
    assert suite.left_out(sb.policies.CombLinTS(np.eye(12)), small, 100_000) == ""
    assert "features must have a row" in suite.left_out(sb.policies.CombLinTS(np.eye(12)), path, 300)
    assert "every solution" in suite.left_out(sb.policies.LinUCB(), street, 300)
    told = suite.absent(["street-1"], ["OMM", "CTS", suite.TOLD])
    assert {(one.problem, one.horizon, one.policy) for one in told} == {
        ("street-1", horizon, "OMM") for horizon in suite.HORIZONS
    }


# Arithmetic


def test_ratios_by_hand() -> None:
    runs = {
        "A": np.array([2.0, 4.0, 6.0]),
        "B": np.array([4.0, 10.0, 10.0]),
        "told": np.array([1.0, 1.0, 1.0]),
    }
    a, b, told = cell_rows("p", 300, runs, apart={"told"})
    assert (a.regret, a.ratio, a.ratio_error, a.runs) == (4.0, 1.0, 0.0, 3)
    assert a.error == pytest.approx(2.0 / math.sqrt(3.0))
    # B - 2 A is 0, 2, -2: its standard deviation is 2, and the best's mean 4.
    assert (b.regret, b.ratio) == (8.0, 2.0)
    assert b.ratio_error == pytest.approx(2.0 / math.sqrt(3.0) / 4.0)
    assert told.ratio == 0.25
    assert Table([a, b, told]).best("p", 300) is a


def test_errors_of_ratios_are_those_of_many_repetitions() -> None:
    generator = np.random.default_rng(3)

    def repeat() -> tuple[float, float]:
        luck = generator.normal(0.0, 1.0, 400)  # the same worlds for both
        least = 10.0 + luck + generator.normal(0.0, 0.3, 400)
        more = 25.0 + 2.5 * luck + generator.normal(0.0, 0.3, 400)
        row = cell_rows("p", 1, {"best": least, "other": more})[1]
        return row.ratio, row.ratio_error

    ratios, errors = zip(*(repeat() for _ in range(500)), strict=True)
    assert statistics.mean(errors) == pytest.approx(statistics.stdev(ratios), rel=0.15)


def test_nothing_is_infinitely_better_than_no_regret() -> None:
    zero, some = cell_rows("p", 1, {"A": np.zeros(2), "B": np.array([1.0, 3.0])})
    assert (zero.ratio, zero.ratio_error) == (1.0, 0.0)
    assert math.isinf(some.ratio)
    both = cell_rows("p", 1, {"A": np.zeros(2), "B": np.zeros(2)})
    assert [row.ratio for row in both] == [1.0, 1.0]
    alone = cell_rows("p", 1, {"A": np.array([5.0])})
    assert (alone[0].ratio, alone[0].ratio_error) == (1.0, 0.0)
    assert math.isnan(alone[0].error)


def rows(*ratios: float, policy: str = "A") -> list[Row]:
    return [Row(f"p{i}", 300, policy, 8, one, 0.1, one, 0.2 + i) for i, one in enumerate(ratios)]


def test_scores_by_hand() -> None:
    found = score(rows(1.0, 3.0, 1.0, 1.5))
    assert found == ("A", 4, 0.5, 1.25, 3.0, 1.2, "p1, 300")
    assert score(rows(2.0, 9.0, 4.0)) == ("A", 3, 0.0, 4.0, 9.0, 1.2, "p1, 300")
    assert score([]) is None
    table = Table([*rows(1.0, 3.0), *rows(2.0, 1.0, policy="B")])
    assert [(one.policy, one.worst, one.median) for one in table.scores()] == [("B", 2.0, 1.5), ("A", 3.0, 2.0)]
    assert table.scores(horizons=[5_000]) == []


@given(st.lists(st.floats(1.0, 1e6), min_size=1, max_size=30))
def test_a_median_is_between_the_best_and_the_worst(ratios: list[float]) -> None:
    found = score(rows(*ratios))
    assert found is not None
    assert min(ratios) <= found.median <= found.worst == max(ratios)
    assert sum(ratio <= found.median for ratio in ratios) >= len(ratios) / 2
    assert found.best == sum(ratio == 1.0 for ratio in ratios) / len(ratios)


def test_beside_an_earlier_table() -> None:
    before = Table(cell_rows("p", 300, {"A": np.array([2.0, 4.0]), "told": np.array([1.0, 1.0])}, apart={"told"}))
    mine = Table(cell_rows("p", 300, {"B": np.array([1.0, 2.0])}))
    both = mine.beside(before, apart={"told"})
    assert {row.policy: row.ratio for row in both} == pytest.approx({"B": 1.0, "A": 2.0, "told": 2.0 / 3.0})
    a = both.row("p", 300, "A")
    assert a is not None
    assert a.ratio_error == pytest.approx(math.hypot(1.0, 2.0 * 0.5) / 1.5)


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    table = Table([*rows(1.0, 3.25, 1e-7 + 1.0), Row("q", 5_000, "told, more", 1, 2.0, math.nan, math.inf, math.nan)])
    (tmp_path / "table.csv").write_text(table.to_csv(), encoding="utf-8")
    again = Table.read(tmp_path / "table.csv")
    assert again.to_csv() == table.to_csv()
    assert again.rows[:3] == table.rows[:3]
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(BadArgument, match=r"other\.csv is no table of the suite"):
        Table.read(tmp_path / "other.csv")


# Playing


def test_what_is_played_is_what_simulate_plays() -> None:
    table = suite.play(["ties-slate"], ["CTS", "CMOSS", suite.TOLD, sb.policies.CTS(), "greedy"], [100, 300], runs=3)
    assert table.cells == (("ties-slate", 100), ("ties-slate", 300))
    assert table.policies == ("CTS", "CMOSS", suite.TOLD, "greedy")
    problem = suite.CASES["ties-slate"].problem
    for horizon in (100, 300):
        for name, policy in (("CTS", sb.policies.CTS()), ("CMOSS", sb.policies.CMOSS())):
            result = sb.simulate(problem, policy, horizon=horizon, runs=3, seed=0, checkpoints=[horizon])
            row = table.row("ties-slate", horizon, name)
            assert row is not None
            assert (row.regret, row.runs) == (float(result.regret[0, :, -1].mean()), 3)
    assert table.row("ties-slate", 300, "OMM") is None


def test_what_is_finished_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = (["ties-slate"], ["CTS", "greedy"], [50])
    first = suite.play(*asked, runs=2, out=tmp_path / "suite")
    assert (tmp_path / "suite/data/ratios.csv").read_text(encoding="utf-8") == first.to_csv()
    assert Table.read(tmp_path / "suite/data/ratios.csv").to_csv() == first.to_csv()
    assert (tmp_path / "suite/data/scores.csv").read_text(encoding="utf-8").startswith("policy,cells,best,median,worst")
    module = import_module("semibandits.simulation.simulate")
    played: list[int] = []
    play_all = module.play_all
    monkeypatch.setattr(module, "play_all", lambda *a, **k: [played.append(len(a[2])), play_all(*a, **k)][1])
    again = suite.play(*asked, runs=2, out=tmp_path / "suite")
    assert (again.to_csv(), sum(played)) == (first.to_csv(), 0)
    more = suite.play(asked[0], ["CTS", "greedy", "Random"], [50], runs=2, out=tmp_path / "suite")
    assert [row for row in more if row.policy != "Random"] == list(first)
    assert sum(played) > 0
    with pytest.raises(BadState, match="holds another experiment"):
        suite.play(*asked, runs=2, seed=1, out=tmp_path / "suite")


def test_a_folder_of_others_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("mine")
    with pytest.raises(BadArgument, match="holds something else than the suite"):
        suite.play(["ties-slate"], ["CTS"], [10], runs=1, out=tmp_path)
    with pytest.raises(BadArgument, match="is a file; a folder is wanted"):
        suite.play(["ties-slate"], ["CTS"], [10], runs=1, out=tmp_path / "letter")
    assert [file.name for file in tmp_path.iterdir()] == ["letter"]


def test_what_is_not_there_is_told() -> None:
    with pytest.raises(BadArgument, match="'clic' is no problem of the suite: they are clicks-rare-slate, "):
        suite.play(["clic"])
    with pytest.raises(BadArgument, match="'Best' is no policy that plays the suite: they are CombUCB1, "):
        suite.play(["ties"], ["Best"])
    with pytest.raises(BadArgument, match="a horizon"):
        suite.play(["ties"], ["CTS"], [0])
    with pytest.raises(BadArgument, match="runs"):
        suite.play(["ties"], ["CTS"], [10], runs=0)


def test_more_runs_where_they_are_cheap() -> None:
    cases = suite.CASES
    assert [runs_of(cases["ties-slate"], horizon, None) for horizon in suite.HORIZONS] == [64, 64, 16]
    assert [runs_of(cases["street-1"], horizon, None) for horizon in suite.HORIZONS] == [32, 32, 8]
    assert runs_of(cases["many-slate"], 5_000, None) == 16
    assert runs_of(cases["many-slate"], 5_000, 7) == 7
