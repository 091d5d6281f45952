"""A user's solver is never believed without a look."""

import numpy as np
import pytest

from semibandits import errors, sets
from semibandits.types import Items


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ([0, 0], r"distinct integers, got \[0, 0\]"),
        ([9], r"unknown item in \[9\]"),
        ([-1, 2], r"unknown item in \[-1, 2\]"),
        ([0, 1, 2], "3 items, more than max_size=2"),
        (["a"], "distinct integers, got"),
        ([0.5], "distinct integers, got"),
        ([True], "distinct integers, got"),
        (None, "got None"),
        (np.array([[0, 1]]), "distinct integers"),
        ([2, 3], r"\[2, 3\], which contains\(\) says is not feasible"),
    ],
)
def test_wrong_answers_are_named(answer: object, says: str) -> None:
    solver = sets.Oracle(lambda weights: answer, 5, 2, contains=lambda items: 0 in items)  # type: ignore[arg-type,return-value]
    with pytest.raises(errors.InfeasibleSolution, match=says):
        solver.argmax(np.ones(5))


def test_an_exception_inside_the_solver_is_the_cause() -> None:
    def solver(weights: object) -> list[int]:
        raise ZeroDivisionError("no licence")

    with pytest.raises(errors.OracleFailed, match="the solver raised ZeroDivisionError: no licence") as caught:
        sets.Oracle(solver, 3, 1).argmax([1.0, 2.0, 3.0])
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_answers_in_any_form_and_order() -> None:
    for answer in ([2, 0], (0, 2), {0, 2}, np.array([2, 0], dtype=np.uint8), iter([2, 0])):
        items = sets.Oracle(lambda weights, answer=answer: answer, 3, 2).argmax(np.ones(3))
        assert items.tolist() == [0, 2]
        assert items.dtype == np.int64


def test_a_solver_may_spoil_its_weights() -> None:
    def solver(weights: np.ndarray) -> list[int]:  # type: ignore[type-arg]
        best = int(weights.argmax())
        weights[:] = np.nan
        return [best]

    weights = np.array([1.0, 3.0, 2.0])
    feasible = sets.Oracle(solver, 3, 1)
    assert feasible.argmax(weights).tolist() == [1]
    assert weights.tolist() == [1.0, 3.0, 2.0]
    assert feasible.restrict(exclude=[1]).argmax(weights).tolist() == [2]


def test_restrictions_of_small_and_of_huge_weights() -> None:
    listed = sets.Enumerated([[0, 1], [0, 2], [3]])
    solver = sets.Oracle(listed.argmax, 4, 2)
    tiny = [1e-20, 1e-20, 5e-20, 1e-20]
    assert solver.restrict(include=[0]).argmax(tiny).tolist() == [0, 2]
    with pytest.raises(errors.BadWeights, match="too large"):
        solver.restrict(include=[0]).argmax([1e308, 1e308, 0.0, 0.0])


def shortest(weights: Items) -> list[int]:
    """Needs costs >= 0, as Dijkstra does."""
    assert (weights <= 0).all()
    return sets.GridPaths(1).argmax(weights).tolist()  # type: ignore[no-any-return]


def test_unsigned_solvers_can_leave_items_out_but_not_force_them_in() -> None:
    feasible = sets.Oracle(shortest, 4, 2, signed=False)
    assert feasible.argmax([-1.0, -2.0, -1.0, -2.0]).tolist() == [0, 2]
    assert feasible.restrict(exclude=[0]).argmax([-1.0, -2.0, -1.0, -2.0]).tolist() == [1, 3]
    with pytest.raises(errors.Unsupported, match="include"):
        feasible.restrict(include=[1])
    with pytest.raises(errors.Unsupported, match=r"1\.0 for item 1"):
        feasible.argmax([0.0, 1.0, 0.0, 0.0])
    with pytest.raises(errors.Unsupported, match="contains="):
        feasible.contains([0, 2])
    with pytest.raises(errors.EmptyFeasibleSet):
        feasible.restrict(exclude=[0, 1])
