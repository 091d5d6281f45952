"""Mixed integer programs against SciPy, and what the solver must never do."""

import copy
import itertools
import json
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import highspy
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from semibandits import Problem, environments, errors, sets
from semibandits._util.fingerprint import digest
from semibandits.sets.programs import highs
from semibandits.sets.programs.highs import proven
from semibandits.sets.programs.program import Program
from semibandits.types import Items, Weights

generator = np.random.default_rng
PICK_ONE = [[1, 1, 1]]


def random_program(seed: int, n_items: int = 25, helpers: int = 0, rows: int = 4) -> dict[str, Any]:
    """Whole helpers, numbers of both signs, and a solution for certain."""
    numbers = generator(seed)
    matrix = numbers.integers(-4, 9, (rows, n_items + helpers)).astype(float)
    x = np.concatenate([numbers.integers(0, 2, n_items), numbers.integers(0, 4, helpers)])
    activity = matrix @ x
    return {"matrix": matrix, "lower": activity - 3.0, "upper": activity + 3.0, "n_items": n_items}


@pytest.mark.parametrize("helpers", [0, 3])
@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_scipy(seed: int, helpers: int) -> None:
    given = random_program(seed, helpers=helpers)
    feasible = sets.MILP(**given, column_upper=3.0, integer=True)
    n_items, columns = 25, 25 + helpers
    rows = LinearConstraint(given["matrix"], given["lower"], given["upper"])
    limits = Bounds(0.0, np.repeat([1.0, 3.0], [n_items, helpers]))
    for scale in (1.0, 1e-250, 1e250):
        w = generator(seed).normal(size=n_items)
        items = feasible.argmax(w * scale)
        costs = np.append(-w, np.zeros(helpers))
        found = milp(costs, constraints=rows, integrality=np.ones(columns), bounds=limits, options={"mip_rel_gap": 0})
        assert w[items].sum() == pytest.approx(-found.fun, abs=1e-9)
        assert feasible.contains(items)
        assert feasible.proven == feasible.ratio == 1.0


def test_every_form_of_the_matrix() -> None:
    dense = np.array([[1.0, 2.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 3.0, 0.0, 1.0]])
    triples = {"shape": [2, 6], "rows": [0, 0, 1, 1], "columns": [0, 1, 3, 5], "values": [1, 2, 3, 1]}
    forms: list[Any] = [dense, dense.tolist(), dense.astype(int), sparse.csr_array(dense), sparse.coo_matrix(dense)]
    forms += [sparse.csc_array(dense), triples]
    for matrix in forms:
        feasible = sets.MILP(matrix, upper=[2, 3])
        assert repr(feasible) == "MILP(6 items, 2 rows)"
        assert feasible.argmax([3.0, 2.0, 1.0, 5.0, -1.0, 1.0]).tolist() == [0, 2, 3]
        assert feasible.max_size == 4
    again = sets.MILP(**json.loads(json.dumps(feasible._parameters())))
    assert again._parameters() == feasible._parameters()
    assert again._parameters()["matrix"] == {**triples, "values": [1.0, 2.0, 3.0, 1.0]}
    assert sets.MILP([1, 2, 3], upper=3)._parameters()["matrix"] == [[1.0, 2.0, 3.0]]  # one row
    twice = {"shape": [1, 2], "rows": [0, 0, 0], "columns": [0, 0, 1], "values": [1.0, 1.0, 1.0]}
    assert not sets.MILP(twice, upper=1).contains([0])
    assert sets.MILP(np.zeros((0, 3))).argmax([1.0, -1.0, 1.0]).tolist() == [0, 2]


def test_helpers_and_their_bounds_travel() -> None:
    given: dict[str, Any] = {"lower": [0, None], "upper": [0, 4.5], "n_items": 2}
    given |= {"column_lower": [None, 0.25], "column_upper": [3, None], "integer": [True, False], "labels": ["a", "b"]}
    first = sets.MILP([[1, 2, 1, 0], [0, 1, 0, 1]], **given)
    assert repr(first) == "MILP(2 items, 2 helpers, 2 rows)"
    again = sets.MILP(**json.loads(json.dumps(first._parameters())))
    assert again._parameters() == first._parameters()
    assert again.column_lower.tolist() == [-np.inf, 0.25]
    assert again.column_upper.tolist() == [3.0, np.inf]
    assert again.labels == ("a", "b")
    assert again.contains([0, 1])


def test_a_helper_decides() -> None:
    """An even number of items: their sum is twice a whole number."""
    even = sets.MILP([[1, 1, 1, 1, -2]], 0, 0, n_items=4, integer=True)
    assert even.argmax([0.5, 0.9, 0.1, -0.2]).tolist() == [0, 1]
    assert [even.contains(range(size)) for size in range(5)] == [True, False, True, False, True]
    assert even.restrict(exclude=[3]).argmax([1.0] * 4).size == 2
    half = sets.MILP([[1, 1, 1, 1, -2]], 0, 0, n_items=4)
    assert half.argmax([1.0] * 3 + [-1.0]).tolist() == [0, 1, 2]  # 1.5 is as good a value
    free = sets.MILP([[1, 1, -1]], 0, None, n_items=2, column_lower=-np.inf)  # without any bound
    assert free.argmax([1.0, 1.0]).tolist() == [0, 1]


def test_nothing_is_ever_printed(capfd: pytest.CaptureFixture[str]) -> None:
    for seed in range(3):
        feasible = sets.MILP(**random_program(seed, 40), max_nodes=50)
        feasible.argmax(generator(seed).normal(size=40))
    with pytest.raises(errors.EmptyFeasibleSet):
        sets.MILP(PICK_ONE, 2, 2).restrict(exclude=[0, 1])
    sets.MILP([[1e-12, 1.0, 1e12]], upper=1.0).argmax([1.0, 1.0, 1.0])
    assert capfd.readouterr() == ("", "")


def test_answers_do_not_depend_on_what_was_asked_before() -> None:
    given = random_program(3, 30)
    one = sets.MILP(**given)
    asked = [generator(seed).integers(-1, 2, 30).astype(float) for seed in range(12)]  # many ties
    fresh = [sets.MILP(**given).argmax(w).tolist() for w in asked]
    assert [one.argmax(w).tolist() for w in asked] == fresh
    one.restrict(include=[1]).argmax(asked[0])
    one.uncovered()
    assert [one.argmax(w).tolist() for w in asked[::-1]] == fresh[::-1]


def test_copies_and_threads() -> None:
    feasible = sets.MILP(**random_program(4, 20))
    asked = [generator(seed).normal(size=20) for seed in range(24)]
    answers = [feasible.argmax(w).tolist() for w in asked]
    for other in (copy.copy(feasible), copy.deepcopy(feasible), pickle.loads(pickle.dumps(feasible))):
        assert [other.argmax(w).tolist() for w in asked[:3]] == answers[:3]
    with ThreadPoolExecutor(4) as pool:
        assert [items.tolist() for items in pool.map(feasible.argmax, asked)] == answers


def test_the_users_own_models_are_left_alone() -> None:
    """HiGHS refuses a number of threads other than that of the models before, in the same thread."""

    def own() -> Any:
        model = highspy.Highs()
        model.silent()
        model.setOptionValue("threads", 2)
        model.addVariable(lb=0.0, ub=1.0)
        return model.run()

    feasible = sets.MILP(PICK_ONE, 1, 1)
    assert own() == highspy.HighsStatus.kOk
    assert feasible.argmax([0.0, 1.0, 0.5]).tolist() == [1]
    assert own() == highspy.HighsStatus.kOk


def test_nothing_feasible() -> None:
    with pytest.raises(errors.EmptyFeasibleSet, match="no values of the columns satisfy all rows"):
        sets.MILP(PICK_ONE, 4)
    with pytest.raises(errors.EmptyFeasibleSet, match="no values"):
        sets.MILP([[2, 2, 2]], 1, 1)  # an odd number of twos
    one = sets.MILP(PICK_ONE, 1, 1)
    with pytest.raises(errors.EmptyFeasibleSet, match=r"MILP\(3 items, 1 row\) has no solution with items \[0, 1\]"):
        one.restrict(include=[0, 1])
    part = one.restrict(exclude=[0])
    assert repr(part) == "MILP(3 items, 1 row, restricted)"
    assert part.uncovered().tolist() == [0]
    assert part.argmax([9.0, 1.0, 2.0]).tolist() == [2]
    assert not part.contains([0])
    assert one.contains([0])


def test_small_differences() -> None:
    """Nearly tied solutions, and weights of very different sizes."""
    feasible = sets.MILP([[1, 1, 1, 1]], 2, 2)
    assert feasible.argmax([1.0, 1.0 + 1e-12, 1.0, 1.0 + 2e-12]).tolist() == [1, 3]
    assert feasible.argmax([1e9, 1e-3, 2e-3, 1e-12]).tolist() == [0, 2]
    assert feasible.argmax([5e-324, 0.0, 1e-323, 0.0]).tolist() == [0, 2]


def test_rows_of_any_scale() -> None:
    for scale in (1e-8, 1.0, 1e12, 1e30):
        rows = np.array([[3.0, 4.0, 2.0]]) * scale
        assert sets.MILP(rows, upper=6.0 * scale).argmax([0.5, 0.6, 0.2]).tolist() == [1, 2]
        assert not sets.MILP(rows, upper=6.0 * scale).contains([0, 1])


def test_rows_hold_to_rounding() -> None:
    assert 1.1 + 2.2 > 3.3
    assert sets.MILP([[1.1, 2.2]], upper=3.3).argmax([1.0, 1.0]).tolist() == [0, 1]
    assert sets.MILP([[1.1, 2.2]], lower=3.3000000000000007).contains([0, 1])
    for too_much in (1e-2, 1e-5, 1e-8):
        feasible = sets.MILP([[1.0, too_much]], upper=1.0)
        assert feasible.argmax([1.0, 0.1]).tolist() == [0]
        assert not feasible.contains([0, 1])


@pytest.mark.parametrize("parts", [3, 7, 10, 100])
def test_equations_in_fractions(parts: int) -> None:
    """Which no double holds exactly."""
    numbers = generator(parts)
    everything = np.array(list(itertools.product([0, 1], repeat=6)))
    for _ in range(25):
        rows = numbers.integers(-9, 10, (2, 6)) / parts
        middle = rows @ numbers.integers(0, 2, 6)
        feasible = sets.MILP(rows, [middle[0], None], middle)
        activity = everything @ rows.T
        right = everything[(np.abs(activity[:, 0] - middle[0]) < 1e-9) & (activity[:, 1] < middle[1] + 1e-9)]
        w = numbers.normal(size=6)
        assert w[feasible.argmax(w)].sum() == pytest.approx((right @ w).max(), abs=1e-12)
        assert feasible.uncovered().tolist() == np.flatnonzero(~right.any(axis=0)).tolist()


def test_a_program_that_names_a_column_twice() -> None:
    program = Program(2)
    program.add_row([0, 0, 1], 1.0, -np.inf, 2.0)
    found = highs.Search(program).best(np.array([1.0, 1.5]), np.ones(2, dtype=np.int8), lambda items, x: True)
    assert found.items.tolist() == [1]
    assert found.bound == pytest.approx(1.5)
    assert not program.rows_hold([1.0, 1.0])


class Choosy(sets.MILP):
    """Takes only what is not on its list."""

    refused: tuple[list[int], ...] = ()

    def _accepts(self, items: Items, x: Weights) -> bool:
        return items.tolist() not in self.refused and super()._accepts(items, x)


def test_wrong_answers_are_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    feasible = Choosy([[1, 1, 1, 1]], 2, 2)
    w = [0.4, 0.3, 0.2, 0.1]
    feasible.refused = ([0, 1], [0, 2])
    assert feasible.argmax(w).tolist() in ([0, 3], [1, 2])
    feasible.refused = ()
    assert feasible.argmax(w).tolist() == [0, 1]  # and forgotten
    feasible.refused = ([0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3])
    with pytest.raises(errors.EmptyFeasibleSet):
        feasible.argmax(w)
    monkeypatch.setattr(highs, "ATTEMPTS", 3)
    with pytest.raises(errors.OracleFailed, match=r"3 answers that are not feasible, the last \["):
        feasible.argmax(w)


def test_what_else_can_happen_to_a_search() -> None:
    feasible = sets.MILP(**random_program(5, 40))
    feasible._search._model.setOptionValue("time_limit", 0.0)
    with pytest.raises(errors.OracleFailed, match="HiGHS ended with the status 'Time limit reached'"):
        feasible.argmax(np.ones(40))
    with pytest.raises(errors.OracleFailed, match="does not accept this program"):
        sets.MILP(PICK_ONE, n_items=1, column_lower=1e300, column_upper=1e300)


def test_a_ratio_is_kept() -> None:
    numbers = generator(7)
    rows = numbers.integers(1, 1000, (3, 40))
    exact = sets.MILP(rows, upper=6000)
    sooner = 0
    for ratio in (0.5, 0.9, 0.99):
        rough = sets.MILP(rows, upper=6000, ratio=ratio)
        assert rough.ratio == ratio
        for _ in range(5):
            w = numbers.random(40)
            got, best = w[rough.argmax(w)].sum(), w[exact.argmax(w)].sum()
            assert ratio <= rough.proven <= got / best + 1e-9
            sooner += rough.proven < 1.0
    assert sooner > 5
    assert rough._parameters()["ratio"] == 0.99
    # Costs: at most the best divided by the ratio.
    exact, rough = sets.MILP(rows, 6000), sets.MILP(rows, 6000, ratio=0.8)
    for _ in range(5):
        w = -numbers.random(40)
        got, best = w[rough.argmax(w)].sum(), w[exact.argmax(w)].sum()
        assert got >= best / 0.8
        assert 0.8 <= rough.proven <= best / got + 1e-9


def test_little_effort_with_a_proof() -> None:
    numbers = generator(8)
    rows = numbers.integers(1, 1000, (5, 40))
    exact, quick = sets.MILP(rows, upper=5000), sets.MILP(rows, upper=5000, max_nodes=1)
    assert quick.ratio == quick.proven == 1.0
    known = digest(quick)
    assert quick.max_size >= exact.max_size
    least = 1.0
    for _ in range(6):
        w = numbers.random(40)
        got, best = w[quick.argmax(w)].sum(), w[exact.argmax(w)].sum()
        assert quick.proven <= got / best + 1e-9
        least = min(least, quick.proven)
        assert quick.ratio == least
    assert 0.5 < least < 1.0
    assert quick._parameters()["max_nodes"] == 1
    assert digest(quick) == known
    assert pickle.loads(pickle.dumps(quick)).ratio == 1.0
    with pytest.raises(errors.Unsupported, match="gaps need an exact oracle"):
        _ = Problem(quick, environments.Bernoulli(np.linspace(0.1, 0.9, 40))).item_gaps
    np.testing.assert_array_equal(quick.uncovered(), exact.uncovered())


def test_too_little_effort_for_any_answer() -> None:
    """Three equations of which the first solution is far down the tree (Cornuéjols and Dawande 1998)."""
    rows = generator(9).integers(0, 100, (3, 20))
    hard: dict[str, Any] = {"matrix": rows, "lower": rows.sum(axis=1) // 2, "upper": rows.sum(axis=1) // 2}
    with pytest.raises(errors.OracleFailed, match=r"no feasible solution within max_nodes=1: allow for more"):
        sets.MILP(**hard, max_nodes=1)


def test_what_is_proven() -> None:
    assert proven(3.0, 4.0) == 0.75
    assert proven(-4.0, -3.0) == 0.75
    assert proven(4.0, 4.0) == proven(4.0, 3.0) == proven(0.0, 0.0) == proven(-3.0, -3.0) == 1.0
    assert proven(1e6, 1e6 + 1e-4) == 1.0
    assert proven(0.0, 1.0) == proven(-1.0, 1.0) == proven(-1.0, 0.0) == highs.NO_RATIO


def test_max_size_and_items_in_no_solution() -> None:
    feasible = sets.MILP([[1, 1, 1, 1, 0], [0, 0, 0, 5, 1]], [0, None], [2, 1])
    assert feasible.max_size == 3
    assert feasible.uncovered().tolist() == [3]
    assert feasible.restrict(include=[0, 1]).uncovered().tolist() == [2, 3]
    assert sets.MILP(PICK_ONE, upper=0).max_size == 0


def test_without_highs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(errors.Unsupported, match=r"pip install \"\.\[milp\]\""):
        sets.MILP(PICK_ONE, 1, 1)


def test_the_package_does_not_import_highs_by_itself() -> None:
    code = "import sys, semibandits; assert not {'highspy', 'scipy.sparse'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"matrix": [[1, 2], [3]]}, "rows of equal length"),
        ({"matrix": [["a"]]}, "must be numbers"),
        ({"matrix": None}, "must be numbers"),
        ({"matrix": np.zeros((2, 2, 2))}, "must be numbers in rows|two dimensions"),
        ({"matrix": {"shape": [1, 1], "rows": [3], "columns": [0], "values": [1]}}, "must be numbers"),
        ({"matrix": {"rows": [0]}}, "must be numbers"),
        ({"matrix": [[np.nan, 1]]}, "entries of the matrix must be finite"),
        ({"matrix": [[np.inf, 1]]}, "entries of the matrix must be finite"),
        ({"matrix": np.zeros((1, 0))}, "n_items must be an integer >= 1, got 0"),
        ({"lower": [1, 2]}, "lower must be one number or 1, one for each, got 2"),
        ({"upper": np.nan}, "upper must be numbers"),
        ({"upper": "high"}, "upper must be a number or a list of numbers"),
        ({"lower": 3, "upper": 2}, r"no number is between the bounds of row 0, lower 3\.0 and upper 2\.0"),
        ({"lower": np.inf}, "between the bounds of row 0, lower inf and upper inf"),
        ({"n_items": 0}, "n_items must be an integer >= 1"),
        ({"n_items": 4}, "n_items is 4, but the matrix has only 3 columns"),
        (
            {"n_items": 1, "column_lower": [1]},
            "column_lower, of the helpers, must be one number or 2, .* got 1",
        ),
        ({"n_items": 1, "column_lower": 5, "column_upper": 4}, "between the bounds of helper 0"),
        ({"n_items": 1, "column_upper": [1, np.nan]}, "column_upper, of the helpers, must be numbers"),
        ({"n_items": 1, "integer": [True]}, "integer must be True or False, or 2 of them"),
        ({"n_items": 1, "integer": 1}, "integer must be True or False"),
        ({"ratio": 0.0}, r"ratio must be in \(0, 1\], got 0\.0"),
        ({"ratio": 1.5}, "ratio must be in"),
        ({"ratio": True}, "ratio must be in"),
        ({"ratio": "all"}, "ratio must be in"),
        ({"max_nodes": 0}, "max_nodes must be an integer >= 1"),
        ({"max_nodes": 2.5}, "max_nodes must be an integer >= 1"),
        ({"labels": ["a", "b"]}, "labels must be 3 printable strings"),
        ({"labels": "abc"}, "labels must be 3 printable strings"),
        ({"labels": ["a", "b", "\n"]}, "labels must be 3 printable strings"),
        ({"labels": ["a", "b", "a"]}, "labels must be distinct"),
    ],
)
def test_bad_input(given: dict[str, Any], message: str) -> None:
    with pytest.raises(errors.InvalidSet, match=message):
        sets.MILP(**{"matrix": PICK_ONE, **given})


def test_whole_numbers_of_any_length() -> None:
    assert sets.MILP([[10**20, 1]], upper=1).argmax([1.0, 1.0]).tolist() == [1]
    with pytest.raises(errors.InvalidSet, match="numbers in rows"):
        sets.MILP([[10**20, "1"]], upper=1)
