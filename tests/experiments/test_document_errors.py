"""All that can be wrong with an experiment file: the error says on which line, and what was probably meant."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from semibandits.errors import BadExperiment
from semibandits.experiments.files.document import read
from support.experiment_files import GRID, MINE, OWN, error, of


def line(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (line(GRID, "alpha", "alhpa"), "grid.toml, line 13: policy CombUCB1 has no 'alhpa': did you mean 'alpha'?"),
        (
            line(GRID, "horizon", "horizn"),
            "grid.toml, line 2: an experiment file has no 'horizn': did you mean 'horizon'?",
        ),
        (line(GRID, "horizon = 50\n", ""), "grid.toml: horizon, the number of rounds of a run, is missing"),
        (line(GRID, "runs = 2\n", ""), "grid.toml: runs, the number of runs of each policy, is missing"),
        (line(GRID, "= 50", "= 50.5"), "grid.toml, line 2: horizon must be a whole number of at least 1, got 50.5"),
        (line(GRID, "= 50", "= true"), "grid.toml, line 2: horizon must be a whole number of at least 1, got True"),
        (line(GRID, "runs = 2", "runs = 0"), "grid.toml, line 3: runs must be a whole number of at least 1, got 0"),
        (line(GRID, "seed = 3", "seed = -1"), "grid.toml, line 4: a seed is an integer from 0"),
        (line(GRID, "seed = 3", 'seed = "x"'), "grid.toml, line 4: a seed is an integer from 0"),
        (line(GRID, '"Grid"', "7"), "grid.toml, line 1: title must be a string, got 7"),
        (line(GRID, "seed = 3", "unit = 7"), "grid.toml, line 4: unit must be a string, got 7"),
        (line(GRID, "seed = 3", 'unit = "a\\nb"'), "grid.toml, line 4: unit must be a short word, such as 'ms'"),
        (line(GRID, "seed = 3", f'unit = "{21 * "m"}"'), "grid.toml, line 4: unit must be a short word, such as 'ms'"),
        (line(GRID, '"CTS"', '"SlidingWindow"'), "grid.toml, line 15: policy SlidingWindow needs 'window'"),
        (
            line(OWN, '"TopK"\nn_items = 4\nk = 2', '"Enumerated"\nsolutions = [[0, 1, 2]]\nn_items = 4').replace(
                '"CTS"', '"CombUCB1"'
            ),
            "grid.toml, line 16: CombUCB1(alpha=1.5, init='paper') does not fit: no feasible solution contains item 3. "
            "Initialisation must observe every item; if these do not matter, write uncovered = 'ignore' at the top",
        ),
        (line(GRID, "seed = 3", 'regret = "real"'), "grid.toml, line 4: regret must be 'expected' or 'realised'"),
        (line(GRID, "seed = 3", "checkpoints = [10, 5]"), "grid.toml, line 4: checkpoints must ascend"),
        (line(GRID, "seed = 3", "checkpoints = [10, 51]"), "grid.toml, line 4: checkpoints must ascend"),
        (line(GRID, "seed = 3", "checkpoints = 10"), "grid.toml, line 4: checkpoints must be a list of rounds"),
        (
            line(GRID, "seed = 3", 'feedback = "bandit"'),
            "grid.toml, line 11: CombUCB1(alpha=1.5, init='paper') does not",
        ),
        (line(GRID, "m = 2", "m = 0"), "grid.toml, line 8: m must be an integer >= 1, got 0"),
        (line(GRID, "0.4", "nan"), "grid.toml, line 9: sigma must be between 0 and 1, got nan"),
        (line(GRID, "sigma = 0.4", ""), "grid.toml, line 6: problem grid_path needs 'sigma'"),
        (
            line(GRID, "grid_path", "grid_paht"),
            "grid.toml, line 7: no problem is called 'grid_paht': did you mean 'grid_path'",
        ),
        (
            line(GRID, 'name = "grid_path"\n', ""),
            "grid.toml, line 6: [problem] needs [problem.set] and [problem.environment]",
        ),
        (line(GRID, 'name = "CTS"', ""), "grid.toml, line 15: [policies.1] needs a name, such as name = 'CombUCB1'"),
        (line(GRID, '"CTS"', '"CST"'), "grid.toml, line 16: no policy is called 'CST': did you mean 'CTS'?"),
        (line(GRID, '"CTS"', "7"), "grid.toml, line 16: no policy is called 7"),
        (line(GRID, '"CTS"', '"OMM"'), "grid.toml, line 15: OMM(init='paper') does not fit: "),
        (line(GRID, '"CTS"', '"Fixed"\nitems = [0]'), "grid.toml, line 15: Fixed(items=(0,)) does not fit: [0] is not"),
        (line(GRID, '"CTS"', '"CTS"\nclass = "a.py:b"'), "grid.toml, line 16: give either name or class, not both"),
        (line(GRID, '"CTS"', '"Clairvoyant"\nproblem = 3'), "grid.toml, line 17: Clairvoyant needs the problem"),
        (GRID.partition("[[")[0], "grid.toml: there is no policy: write [[policies]]"),
        (
            GRID.replace("[problem]", 'policies = "CTS"\n[problem]').partition("[[")[0],
            "grid.toml, line 6: policies are",
        ),
        (
            GRID.replace("[problem]", 'policies = ["CTS"]\n[problem]').partition("[[")[0],
            "grid.toml, line 6: policies are written below [[policies]], each its own: name = 'CTS'",
        ),
        (line(OWN, '"TopK"', '"Topk"'), "grid.toml, line 8: no set is called 'Topk': did you mean 'TopK'?"),
        (line(OWN, "k = 2", "k = 5"), "grid.toml, line 10: k must be"),
        (
            line(OWN, "k = 2", 'k = 2\nlabels = ["a"]'),
            "grid.toml, line 11: labels must be 4 different words, one per item, got 1: ['a']",
        ),
        (
            line(OWN, "k = 2", 'k = 2\nlabels = "abcd"'),
            "grid.toml, line 11: labels must be 4 different words, one per item, got 'abcd'",
        ),
        (
            line(OWN, "k = 2", 'k = 2\nlabels = [\n"a",\n"b\\u200dc",\n"c",\n"d"]'),
            "grid.toml, line 13: labels must be different words, but 'b\\u200dc' cannot be printed: it contains the "
            "invisible character U+200D",
        ),
        (
            line(OWN, "k = 2", 'k = 2\nlabels = ["a", "b",\n"a", "d"]'),
            "grid.toml, line 12: labels must be different words, but 'a' occurs twice",
        ),
        (
            line(OWN, "k = 2", 'k = 2\nlabels = ["a", 7, "c", "d"]'),
            "grid.toml, line 11: labels must be different words, but 7 is no word",
        ),
        (
            line(OWN, "k = 2", 'k = 2\nlabelz = ["a"]'),
            "grid.toml, line 11: set TopK has no 'labelz': did you mean 'labels'",
        ),
        (
            line(OWN, "k = 2", "k = 2\nx = 1"),
            "grid.toml, line 11: set TopK has no 'x'; there are n_items, k, bases, labels",
        ),
        (line(OWN, 'kind = "T', 'kinzz = "T'), "grid.toml, line 8: [problem.set] has no 'kinzz': did you mean 'kind'?"),
        (line(OWN, 'kind = "T', 'name = "T'), "grid.toml, line 8: [problem.set] has no 'name': did you mean 'kind'?"),
        (
            line(OWN, 'kind = "B', 'kin = "B'),
            "grid.toml, line 13: [problem.environment] has no 'kin': did you mean 'kind'?",
        ),
        (
            line(OWN, "[problem.environment]", "[problem.environmentz]"),
            "grid.toml, line 12: [problem] has no 'environmentz': did you mean 'environment'?",
        ),
        (line(GRID, 'name = "g', 'namzz = "g'), "grid.toml, line 7: [problem] has no 'namzz': did you mean 'name'?"),
        (
            line(GRID, 'name = "CTS', 'Name = "CTS'),
            "grid.toml, line 16: [policies.1] has no 'Name': did you mean 'name'?",
        ),
        (
            line(GRID, 'name = "CTS', 'clas = "mine.py:CTS'),
            "grid.toml, line 16: [policies.1] has no 'clas': did you mean 'class'?",
        ),
        (
            line(OWN, "[problem]", '[problem]\nname = "grid_path"'),
            "grid.toml, line 8: give either the name of a problem, or its set and its environment, not both",
        ),
        (
            line(GRID, "m = 2", 'environment = {kind = "Bernoulli", means = [0.5]}'),
            "grid.toml, line 8: give either the name of a problem, or its set and its environment, not both",
        ),
        (
            line(OWN, '"TopK"\nn_items = 4\nk = 2', '"Assignment"\nrows = ["a"]\ncolumns = ["x"]\nlabels = ["y"]'),
            "grid.toml, line 11: Assignment(1 x 1) has labels of its own: a:x, ...",
        ),
        (line(OWN, "k = 2", "kk = 2"), "grid.toml, line 10: set TopK has no 'kk': did you mean 'k'?"),
        (line(OWN, '"min"', '"least"'), "grid.toml, line 5: sense must be 'max' or 'min', got 'least'"),
        (line(OWN, "sense", "sens"), "grid.toml, line 5: [problem] has no 'sens': did you mean 'sense'?"),
        (line(OWN, '"Bernoulli"', '"Bernouli"'), "grid.toml, line 13: no environment is called 'Bernouli'"),
        (line(OWN, "0.8]", "1.8]"), "grid.toml, line 14: means must be in [0, 1]"),
        (line(OWN, "0.8]", "]"), "grid.toml, line 14: means has 3 values, but the set has 4 items"),
        (line(OWN, "0.8]", '"x"]'), "grid.toml, line 14: means must be numbers"),
        (
            line(OWN, "[0.1, 0.9, 0.2, 0.8]", '{file = "no.csv"}'),
            "grid.toml, line 14: no.csv cannot be read: No such file",
        ),
        (
            line(OWN, "[0.1, 0.9, 0.2, 0.8]", '{file = "no.txt"}'),
            "grid.toml, line 14: a file of data must be .csv, .npy or",
        ),
        (
            line(OWN, '[problem.set]\nkind = "TopK"\nn_items = 4\nk = 2', ""),
            "grid.toml, line 4: [problem] needs [problem.set], or",
        ),
        (
            line(OWN, '"Bernoulli"', '"Drifting"').replace("]\n\n[[", "]\nstarts = 3\n\n[["),
            "grid.toml, line 14: means must be a matrix",
        ),
        (
            line(
                OWN,
                'kind = "Bernoulli"\nmeans = [0.1, 0.9, 0.2, 0.8]',
                'kind = "Adversarial"\nlosses = [[0, 1, 0, 1], [1, 0, 1, 0]]',
            ),
            "grid.toml, line 1: the horizon is 50, but Adversarial(2 rounds, 4 items) ends with round 2",
        ),
        (
            line(OWN, "runs = 2", 'runs = 2\nregret = "realised"')
            .replace('"Bernoulli"\nmeans = [', '"Drifting"\nstarts = [1]\nmeans = [[')
            .replace("0.8]", "0.8]]"),
            "grid.toml, line 3: regret must be 'dynamic' or 'static' in a world that drifts",
        ),
        (
            line(OWN, "runs = 2", 'runs = 2\nregret = "ratio"')
            .replace('"TopK"', '"Oracle"\nfunction = "mine.py:best"\nratio = 0.5\nmax_size = 4')
            .replace("k = 2\n", ""),
            "grid.toml, line 5: ",
        ),
        (
            line(OWN, "sense = ", "true_optimum = [0]\nsense = "),
            "grid.toml, line 5: true_optimum [0] is not a solution",
        ),
        (
            line(OWN, "sense = ", "set = 3\nsense = ").partition("[problem.set]")[0]
            + '[problem.environment]\nkind = "Uniform"\n[[policies]]\nname = "CTS"',
            "grid.toml, line 5: problem.set must be a table, got 3",
        ),
        (
            f"{GRID}[sweep]\nproblem.m = [1, 0]\n",
            "grid.toml, line 18: m must be an integer >= 1, got 0 (with problem.m = 0)",
        ),
        (f"{GRID}[sweep]\nproblem.m = [\n1,\n2,\n0\n]\n", "grid.toml, line 21: m must be an integer >= 1, got 0"),
        (
            f"{GRID}[sweep]\nproblem.m = []\n",
            "grid.toml, line 18: problem.m must be a list of the values to try, got []",
        ),
        (
            f"{OWN}[sweep]\nproblem.set.k = {{}}\n",
            "grid.toml, line 19: problem.set.k must be a list of the values to try",
        ),
        (
            f"{GRID}[sweep]\nproblem.m = {list(range(20_000))}\n",
            "grid.toml, line 18: problem.m has 20,000 values; at most 10,000 combinations can be played",
        ),
        (f"{GRID}[sweep]\nseed = {[*range(9_999), 5]}\n", "grid.toml, line 18: 5 occurs twice in this sweep"),
        (
            f"{OWN}[sweep]\nproblem.environment.means.0 = [0.1, 7]\n",
            "grid.toml, line 19: means must be in [0, 1]",
        ),
        (
            f"{OWN}[sweep]\nproblem.environment.means.0 = [0.1]\nproblem.environment.means.1 = [0.1, 7]\n",
            "grid.toml, line 20: means must be in [0, 1]",
        ),
        (
            f"{OWN}[sweep]\nproblem.environment.means.0 = [0.1, 7]\nproblem.environment.means.1 = [0.1]\n",
            "grid.toml, line 19: means must be in [0, 1]",
        ),
        (f"{GRID}[sweep]\nproblem.m = 3\n", "grid.toml, line 18: problem.m must be a list of the values to try, got 3"),
        (f"{GRID}[sweep]\nproblem.m = [1, 2, 1]\n", "grid.toml, line 18: 1 occurs twice in this sweep"),
        (f"{GRID}[sweep]\nproblem.k = [1, 2]\n", "grid.toml, line 18: problem grid_path has no 'k'"),
        (
            f"{GRID}[sweep]\nproblen.m = [1, 2]\n",
            "grid.toml, line 18: a sweep cannot set 'problen.m': did you mean 'problem'?",
        ),
        (f"{GRID}[sweep]\nm = [1, 2]\n", "grid.toml, line 18: a sweep cannot set 'm': did you mean 'problem.m'?"),
        (
            f"{GRID}[sweep]\nruns = [1, 2]\n",
            "grid.toml, line 18: a sweep cannot set 'runs'; there are problem, policies",
        ),
        (
            f"{GRID}[sweep]\npolicies.CTX.a = [1, 2]\n",
            "grid.toml, line 18: there is no 'CTX' in policies: did you mean 'CTS'?",
        ),
        (
            f"{GRID}[sweep]\npolicies.2.a = [1, 2]\n",
            "grid.toml, line 18: policies has 2 entries, numbered from 0; there is no 2",
        ),
        (
            f"{GRID}[sweep]\nproblem.m.x = [1]\n",
            "grid.toml, line 18: 'problem.m.x' leads nowhere: problem.m is no table",
        ),
        (
            f'{GRID}[sweep]\n"problem.m" = [1]\nproblem = [{{name = "x"}}]\n',
            "grid.toml, line 19: problem.m is already set by",
        ),
        (
            GRID.replace("CTS", "CombUCB1") + "[sweep]\npolicies.CombUCB1.alpha = [1]\n",
            "grid.toml, line 18: policies.CombUCB1 occurs 2 times: say policies.0 or policies.1",
        ),
        (f"sweep = 3\n{GRID}", "grid.toml, line 1: [sweep] must be a table, got 3"),
        (
            f'{GRID}[executor]\nkind = "thread"\n',
            "grid.toml, line 18: no executor is called 'thread': did you mean 'threads'?",
        ),
        (f"{GRID}[executor]\nworkers = 2\n", "grid.toml, line 18: [executor] has no 'workers'"),
        (f'{GRID}[executor]\nkind = "dask"\n', "grid.toml, line 17: a Dask executor needs the address"),
        (
            f"{GRID}[executor]\nthreads = 0\n",
            "grid.toml, line 18: executor.threads must be a whole number of at least 1",
        ),
        ("title = \nhorizon = 3", "grid.toml, line 1: invalid value (column 9)"),
        ("[problem]\nm = 3\nm = 4\n", "grid.toml, line 3: cannot overwrite a value (column 6)"),
        ("a = [1,\n2", "grid.toml, line 2: unclosed array"),
        ("", "grid.toml is empty"),
        ("# only words\n", "grid.toml is empty"),
        (f'"" = 0\n{GRID}', "grid.toml, line 1: an experiment file has no ''"),
        (line(GRID, "m = 2", '"" = 2'), "grid.toml, line 8: problem grid_path has no ''"),
        (
            line(OWN, "[0.1, 0.9, 0.2, 0.8]", "[[0.1, 0.9]]\nstarts = [1]").replace('"Bernoulli"', '"Drifting"'),
            "grid.toml, line 7: the set has 4 items, the environment 2 (environment: line 12)",
        ),
    ],
)
def test_errors_point_at_the_line(tmp_path: Path, text: str, message: str) -> None:
    assert error(tmp_path, text, mine_py=MINE).startswith(message)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("mine.py:bst", "line 8: mine.py defines no 'bst': did you mean 'best'?"),
        ("mine.py:number", "line 8: number in mine.py must be a function or a class, got 7"),
        ("none.py:best", "line 8: none.py cannot be read: No such file"),
        ("mine.py", "line 8: expected 'file.py:name' or 'package.module:name', got 'mine.py'"),
        ("mine:best", "line 8: 'mine:best' would import the module mine, which may do anything"),
        ("a b:best", "line 8: expected 'file.py:name' or 'package.module:name', got 'a b:best'"),
        ("broken.py:best", "line 8: broken.py, line 2: "),
        ("raises.py:best", "line 8: raises.py, line 3: ZeroDivisionError: division by zero"),
        ("imports.py:best", "line 8: imports.py, line 1: ModuleNotFoundError: No module named 'mine'; files beside it"),
        ("exits.py:best", "line 8: exits.py, line 3: sys.exit(0)"),
        ("silent.py:best", "line 8: silent.py, line 4: Silent"),
        ("mine.py:Mine", "line 4: "),
    ],
)
def test_errors_in_code_of_ones_own(tmp_path: Path, reference: str, message: str) -> None:
    text = OWN.replace('kind = "TopK"', f'kind = "Oracle"\nfunction = "{reference}"').replace("k = 2", "max_size = 2")
    text = text.replace('kind = "Oracle"\nf', "f").replace("n_items = 4", 'kind = "Oracle"\nn_items = 4')
    broken, raises = "def best(weights):\n    return [\n", "def best(w):\n    pass\n1 / 0\n"
    silent = "class Silent(Exception):\n    def __str__(self):\n        return 1 / 0\nraise Silent\n"
    others = {"imports_py": "import mine\n", "exits_py": "import sys\n\nsys.exit(0)\n", "silent_py": silent}
    said = error(tmp_path, text, mine_py=MINE, broken_py=broken, raises_py=raises, **others)
    assert said.startswith(f"grid.toml, {message}")


def test_a_solver_that_fails_is_found_before_anything_is_played(tmp_path: Path) -> None:
    text = OWN.replace('kind = "TopK"', 'kind = "Oracle"\nfunction = "mine.py:best"').replace("k = 2", "max_size = 2")
    assert "the solver raised KeyError" in error(tmp_path, text, mine_py="def best(weights):\n    return {}[1]\n")
    assert "more than max_size=2" in error(tmp_path, text, mine_py="def best(weights):\n    return [0, 1, 2]\n")
    assert "(mine.py, line 2)" in error(tmp_path, text, mine_py="def best(weights):\n    return {}[1]\n")
    for answer, items in (("[]", "0, 1, 2, 3"), ("[0]", "1, 2, 3")):
        mine = f"def best(weights):\n    return {answer}\n"
        said = error(tmp_path, text.replace("CTS", "CombUCB1"), mine_py=mine)
        assert f"the oracle found no solution with items {items}" in said
        assert said.startswith("grid.toml, line 17: CombUCB1(alpha=1.5, init='paper') does not fit: ")
    sample = text.replace('"Bernoulli"', '"Custom"\nsample = "mine.py:draw"')
    mine = "def best(weights):\n    return [0, 1]\ndef draw(generator):\n    return {}[1]\n"
    assert "one round cannot be played: KeyError: 1" in error(tmp_path, sample, mine_py=mine)


def test_a_class_must_make_what_is_wanted(tmp_path: Path) -> None:
    said = error(tmp_path, GRID.replace('name = "CTS"', 'class = "mine.py:best"\nweights = [1]'), mine_py=MINE)
    assert said.startswith("grid.toml, line 17: policy best cannot be made of")
    said = error(tmp_path, GRID.replace('name = "CTS"', 'class = "mine.py:World"\nsize = 3'), mine_py=MINE)
    assert said == "grid.toml, line 16: World makes no policy, but World(3 items)"
    said = error(tmp_path, GRID.replace('name = "CTS"', 'class = "mine.py:Mine"\nalhpa = 3'), mine_py=MINE)
    assert said == "grid.toml, line 17: policy Mine has no 'alhpa': did you mean 'alpha'?"


@pytest.mark.parametrize(
    ("table", "content", "message"),
    [
        ("", "a,b\n1,2\n3\n", "data.csv: line 3 has 1 cells, the header 2"),
        ("", "a,b\n1,x\n", "data.csv: line 2, column 'b' must be a number, got 'x'"),
        ("", "a,b\n", "data.csv: expected a header and at least one row below it"),
        (', column = "men"', "mean,x\n1,2\n", "data.csv: there is no column 'men'; there are mean, x"),
        (', column = "b"', "a,b,b\n1,2,3\n", "data.csv: there are 2 columns 'b': which of them is meant?"),
        (', column = "b"', "a,b\n1,2\n\n1, \n", "data.csv: line 4, column 'b' is empty"),
        (', column = "a"', "a\n0.1\n0.2\n", "means has 2 values (data.csv), but the set has 4 items"),
        (', column = "a", columns = ["a"]', "a\n1\n", "data.csv: give either column or columns, not both"),
        (', columns = "a"', "a\n1\n", "data.csv: columns must be a list of titles, got 'a'"),
        (', colum = "a"', "a\n1\n", "a file of data has no 'colum': did you mean 'column'?"),
        (', column = "a"', 'a\n"1', "data.csv cannot be read as csv: unexpected end of data"),
    ],
)
def test_errors_in_data_files(tmp_path: Path, table: str, content: str, message: str) -> None:
    text = OWN.replace("[0.1, 0.9, 0.2, 0.8]", f'{{file = "data.csv"{table}}}')
    assert error(tmp_path, text, data_csv=content) == f"grid.toml, line 14: {message}"


def test_other_data_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(b"no array")
    for name in ("x.npy", "x.json"):
        text = OWN.replace("[0.1, 0.9, 0.2, 0.8]", f'{{file = "{name}"}}')
        assert error(tmp_path, text, x_json="[1").startswith(f"grid.toml, line 14: {name} cannot be read as ")
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000000,), }"
    huge = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    np.savez(tmp_path / "archive.npz", [1.0])
    for data in (
        huge,
        huge.replace(b"(", b"[("),
        huge.replace(b"'<f8'", b"('a'"),
        (tmp_path / "archive.npz").read_bytes(),
        b"PK\x03\x04",
    ):
        (tmp_path / "x.npy").write_bytes(data)
        said = error(tmp_path, OWN.replace("[0.1, 0.9, 0.2, 0.8]", '{file = "x.npy"}'))
        assert said.startswith("grid.toml, line 14: x.npy cannot be read as npy: ")
    (tmp_path / "pickled.npy").write_bytes(b"")
    np.save(tmp_path / "pickled.npy", np.array([{}], dtype=object))
    assert "pickle" in error(tmp_path, OWN.replace("[0.1, 0.9, 0.2, 0.8]", '{file = "pickled.npy"}'))
    text = re.sub(r"kind = .TopK.\nn_items = 4\nk = 2", 'file = "set.json"', OWN)
    assert "must be the specification of a set" in error(tmp_path, text, set_json="[1]")
    wrong = json.dumps({"format": "semibandits.set", "version": 1, "set": "TopK", "parameters": {"n_items": 3}})
    assert error(tmp_path, text, set_json=wrong).startswith("grid.toml, line 7: a TopK needs 'k'")


def test_items_that_no_solution_contains(tmp_path: Path) -> None:
    text = OWN.replace('kind = "TopK"\nn_items = 4\nk = 2', 'kind = "Enumerated"\nsolutions = [[0], [1]]\nn_items = 4')
    text = text.replace("CTS", "CombUCB1")
    assert "does not fit: no feasible solution contains items 2, 3" in error(tmp_path, text)
    assert of(tmp_path, text.replace("runs", 'uncovered = "ignore"\nruns')).plans


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_bytes(b"title = 'x'\nhorizon = '\xff'\n")
    for path, message in (
        (tmp_path / "grid.toml", "line 2: not UTF-8 text"),
        (tmp_path, "is a folder; expected an experiment file"),
        (tmp_path / "gird.toml", "there is no file"),
        (tmp_path / "none" / "grid.toml", "there is no file"),
    ):
        with pytest.raises(BadExperiment, match=message):
            read(path)
    with pytest.raises(BadExperiment, match=r"did you mean 'grid.toml'\?"):
        read(tmp_path / "gird.toml")
