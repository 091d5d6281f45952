"""Experiment files: what they are read as, against the same made by hand."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import semibandits as sb
from semibandits.errors import BadExperiment
from semibandits.experiments.files.document import Where, read
from support.experiment_files import GRID, MINE, OWN, of

ROOT = Path(__file__).parents[2]


def test_a_named_problem_is_that_made_by_hand(tmp_path: Path) -> None:
    experiment = of(tmp_path, GRID)
    assert (experiment.title, experiment.description, experiment.where) == ("Grid", "", Where())
    (plan,) = experiment.plans
    assert plan.settings == {}
    assert plan.policies == (sb.policies.CombUCB1(), sb.policies.CTS())
    by_hand = sb.problems.grid_path(2, 0.4)
    expected = sb.simulate(by_hand, list(plan.policies), horizon=50, runs=2, seed=3)
    assert np.array_equal(sb.simulate(plan.problem, plan.policies, **plan.arguments).regret, expected.regret)
    assert experiment.rounds == 2 * 2 * 50


def test_a_set_and_an_environment(tmp_path: Path) -> None:
    experiment = of(tmp_path, OWN)
    assert experiment.title == "grid"
    problem = experiment.plans[0].problem
    assert problem.sense == "min"
    assert problem.optimum.tolist() == [0, 2]
    assert experiment.plans[0].arguments["seed"] == 0


def test_a_unit_is_no_part_of_what_makes_an_experiment(tmp_path: Path) -> None:
    experiment = of(tmp_path, GRID)
    with_unit = of(tmp_path, f'unit = " ms "\n{GRID}')
    assert (experiment.unit, with_unit.unit) == ("", "ms")
    assert with_unit.identity == experiment.identity
    assert with_unit.plans[0].name == experiment.plans[0].name


def test_sets_in_sets_and_the_options_of_simulate(tmp_path: Path) -> None:
    text = """
    horizon = 30
    runs = 1
    regret = "realised"
    checkpoints = [10, 20]
    uncovered = "ignore"
    [problem.set]
    kind = "Product"
    blocks = [{kind = "TopK", n_items = 3, k = 1}, {kind = "Paths", graph = [["a", "b"]], source = "a", target = "b"}]
    [problem.environment]
    kind = "Bernoulli"
    means = [0.1, 0.2, 0.3, 0.4]
    [[policies]]
    name = "CombUCB1"
    """.replace('{kind = "Paths", graph', '{kind = "DagPaths", edges')
    (plan,) = of(tmp_path, text).plans
    assert plan.problem.optimum.tolist() == [2, 3]
    assert plan.arguments["checkpoints"] == [10, 20]
    assert (plan.arguments["regret"], plan.arguments["uncovered"]) == ("realised", "ignore")


def test_data_in_files(tmp_path: Path) -> None:
    np.save(tmp_path / "means.npy", [0.5, 0.25, 0.125])
    text = """
    horizon = 2
    runs = 1
    [problem.set]
    kind = "GraphicMatroid"
    graph = {file = "links.csv", columns = ["from", "to"]}
    [problem.environment]
    kind = "Bernoulli"
    means = {file = "links.csv", column = "mean"}
    groups = {file = "groups.json"}
    [[policies]]
    name = "CTS"
    """
    links = "from,to,mean\na,b,0.5\nb,c,0.25\n\nc,a,0.125\n"
    experiment = of(tmp_path, text, links_csv=links, groups_json="[0, 0, 1]")
    problem = experiment.plans[0].problem
    assert problem.feasible.labels == ("a-b", "b-c", "c-a")
    assert problem.means.tolist() == [0.5, 0.25, 0.125]
    assert problem.environment.groups.tolist() == [0, 0, 1]  # type: ignore[attr-defined]
    assert set(experiment.files) == {"links.csv", "groups.json"}
    text = text.replace('{file = "links.csv", column = "mean"}', '{file = "means.npy"}')
    assert of(tmp_path, text).plans[0].problem.means.tolist() == [0.5, 0.25, 0.125]

    table = '[problem.environment]\nkind = "Table"\nrows = {file = "rows.csv"}\norder = "recorded"\n'
    text = re.sub(r"\[problem.environment\](.|\n)*(?=\n    \[\[)", table, text)
    rows = of(tmp_path, text, rows_csv="a-b,b-c,a-c\n0,1,0.5\n1,0,0.25\n").plans[0].problem.environment
    assert rows.rows.tolist() == [[0, 1, 0.5], [1, 0, 0.25]]  # type: ignore[attr-defined]


def test_items_with_names(tmp_path: Path) -> None:
    text = OWN.replace("k = 2", 'k = 2\nlabels = ["a", "b", "c", "d"]')
    assert of(tmp_path, text).plans[0].problem.feasible.labels == ("a", "b", "c", "d")


def test_a_set_by_its_specification(tmp_path: Path) -> None:
    spec = json.dumps(sb.sets.TopK(4, 2).restrict(exclude=[0]).to_spec())
    text = re.sub(r"kind = .TopK.\nn_items = 4\nk = 2", 'file = "set.json"', OWN)
    assert of(tmp_path, text, set_json=spec).plans[0].problem.optimum.tolist() == [2, 3]


SLATES = """
horizon = 60
runs = 2
seed = 1
[problem]
set = {kind = "TopK", n_items = 4, k = 3}
[problem.environment]
kind = "Requests"
environment = {kind = "Bernoulli", means = [0.1, 0.2, 0.3, 0.4]}
sets = [{kind = "TopK", n_items = 4, k = 1}, {kind = "TopK", n_items = 4, k = 2}]
[[policies]]
name = "CombUCB1"
"""


@pytest.mark.parametrize("where", ["text", "file", "files"])
def test_a_set_in_every_round(where: str, tmp_path: Path) -> None:
    listed = [sb.sets.TopK(4, k) for k in (1, 2)]
    specs = {f"top{k}_json": json.dumps(one.to_spec()) for k, one in enumerate(listed)}
    specs["both_json"] = json.dumps([one.to_spec() for one in listed])
    written = {
        "text": 'sets = [{kind = "TopK", n_items = 4, k = 1}, {kind = "TopK", n_items = 4, k = 2}]',
        "file": 'sets = {file = "both.json"}',
        "files": 'sets = [{file = "top0.json"}, {file = "top1.json"}]',
    }
    (plan,) = of(tmp_path, SLATES.replace(written["text"], written[where]), **specs).plans
    world = sb.environments.Requests(sb.environments.Bernoulli([0.1, 0.2, 0.3, 0.4]), listed)
    expected = sb.simulate(
        sb.Problem(sb.sets.TopK(4, 3), world), sb.policies.CombUCB1(), horizon=60, runs=2, seed=1, regret="dynamic"
    )
    assert np.array_equal(sb.simulate(plan.problem, plan.policies, **plan.arguments).regret, expected.regret)


def test_a_policy_that_cannot_play_on_the_sets_of_the_rounds(tmp_path: Path) -> None:
    with pytest.raises(BadExperiment, match=r"HYBRID.* cannot choose from another set, TopK\(4, 1\)"):
        of(tmp_path, SLATES.replace("CombUCB1", "HYBRID"))


def test_code_of_ones_own(tmp_path: Path) -> None:
    text = """
    horizon = 2
    runs = 1
    [problem.set]
    kind = "Oracle"
    function = "mine.py:best"
    n_items = 4
    max_size = 2
    [problem.environment]
    kind = "Custom"
    sample = "mine.py:coins"
    means = [0.1, 0.9, 0.2, 0.8]
    [[policies]]
    class = "mine.py:Mine"
    alpha = 0.5
    [sweep]
    policies.Mine.alpha = [0.1, 0.2]
    """
    experiment = of(tmp_path, text, mine_py=MINE)
    assert experiment.plans[0].problem.optimum.tolist() == [1, 3]
    assert [repr(plan.policies[0]) for plan in experiment.plans] == [
        f"Mine(alpha={a}, init='paper')" for a in (0.1, 0.2)
    ]
    assert list(experiment.files) == ["mine.py"]
    text = 'horizon = 2\nruns = 1\n[problem]\nclass = "mine.py:whole"\nm = 3\n[[policies]]\nname = "CTS"\n'
    assert of(tmp_path, text).plans[0].problem.n_items == 24
    text = OWN.replace('kind = "Bernoulli"\nmeans = [0.1, 0.9, 0.2, 0.8]', 'class = "mine.py:World"\nsize = 4')
    assert of(tmp_path, text).plans[0].problem.means.tolist() == [0.5] * 4


def test_every_combination_of_a_sweep(tmp_path: Path) -> None:
    text = f"""{GRID}
[sweep]
"problem.m" = [1, 2]
problem.sigma = [0.2, 0.4, 0.6]
policies.CombUCB1.alpha = [0.5, 1]
"""
    plans = of(tmp_path, text).plans
    assert [tuple(plan.settings.values()) for plan in plans] == [
        (m, sigma, alpha) for m in (1, 2) for sigma in (0.2, 0.4, 0.6) for alpha in (0.5, 1)
    ]
    for plan in plans:
        m, sigma, alpha = plan.settings.values()
        assert plan.problem.n_items == 2 * m * (m + 1)
        assert plan.problem.means.max() == 0.5 + sigma / 2
        assert plan.policies[0] == sb.policies.CombUCB1(alpha)
    assert len({plan.name for plan in plans}) == 6  # policies share what is kept
    assert plans[0].problem is plans[1].problem


def test_sweeps_over_whole_tables_numbers_and_horizons(tmp_path: Path) -> None:
    text = re.sub(r"\[problem\](.|\n)*?(?=\n\[\[)", "", GRID).replace("horizon = 50\n", "")
    text += """
[[policies]]
name = "CTS"

[sweep]
horizon = [10, 20]
"problem" = [{name = "grid_path", m = 1, sigma = 0.1}, {name = "k_path", n_items = 4, k = 2, gap = 0.5}]
policies.2 = [{name = "Random"}, {name = "KLUCB"}]
"""
    plans = of(tmp_path, text).plans
    assert [plan.arguments["horizon"] for plan in plans] == [10] * 4 + [20] * 4
    assert plans[2].settings == {
        "horizon": 10, "problem": "k_path(n_items=4, k=2, gap=0.5)", "policies.2": "Random()",
    }  # fmt: skip
    assert repr(plans[3].policies[2]) == "KLUCB(c=2.0, init='all')"


def test_executors(tmp_path: Path) -> None:
    for text, where in (
        ("threads = 2", Where("threads", 2)),
        ('kind = "processes"\nworkers = 3', Where("processes", 3)),
        ('kind = "processes"', Where("processes")),
        ('kind = "dask"\naddress = "tcp://x:1"', Where("dask", address="tcp://x:1")),
    ):
        assert of(tmp_path, f"{GRID}[executor]\n{text}\n").where == where


def test_what_identifies_an_experiment(tmp_path: Path) -> None:
    plain = of(tmp_path, GRID).identity
    same = GRID.replace('"Grid"', '"Other"').replace("runs = 2", "runs = 9").replace("alpha = 1.5", "")
    same = same.replace("seed = 3", 'seed = 3\nregret = "expected"') + "[executor]\nthreads = 2\n"
    assert of(tmp_path, same).identity == plain
    for old, new in (("horizon = 50", "horizon = 51"), ("seed = 3", ""), ("m = 2", "m = 3"), ("0.4", "0.5")):
        assert of(tmp_path, GRID.replace(old, new)).identity != plain
    few, more = (of(tmp_path, f"{GRID}[sweep]\nproblem.m = {values}\n") for values in ([1, 2], [1, 2, 3]))
    assert few.identity == more.identity != plain
    assert [plan.name for plan in few.plans] == [plan.name for plan in more.plans[:2]]


def test_a_byte_order_mark_and_other_ends_of_lines(tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_bytes(b"\xef\xbb\xbf" + GRID.replace("\n", "\r\n").encode())
    assert read(tmp_path / "grid.toml").title == "Grid"
    (tmp_path / "grid.toml").write_bytes(GRID.replace("\n", "\r\n").replace("m = 2", "m = 0").encode())
    with pytest.raises(BadExperiment, match="line 8: m must be"):
        read(tmp_path / "grid.toml")


@pytest.mark.parametrize("page", ["experiments.md"])
def test_whole_files_in_the_docs_are_accepted(tmp_path: Path, page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    files = [
        block for block in re.findall(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL) if "horizon" in block
    ]
    assert files
    for block in files:
        assert of(tmp_path, block).plans
