"""Blocks decided together."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from semibandits import Learner, Problem, environments, errors, policies, sets, simulate
from semibandits.kernel import compiled
from semibandits.sets.base import BuiltIn, Solved
from semibandits.sets.programs.program import Program
from semibandits.simulation.engines.lanes_engine import LanesEngine
from semibandits.types import Arrays, FeasibleSet, Items, Solver
from support import strategies
from support.families import FAMILIES
from support.families.combined import Listed
from support.tasks import long, policy, task

TRIPLE = sets.Product(sets.TopK(3, 1), sets.Enumerated([[0, 1], []]), sets.GridPaths(1))


def test_numbering() -> None:
    assert TRIPLE.offsets == (0, 3, 5)
    assert (TRIPLE.n_items, TRIPLE.max_size) == (9, 5)
    assert TRIPLE.argmax([0, 2, 1, -1, 2, 0, 0, 0, 1]).tolist() == [1, 3, 4, 6, 8]
    assert TRIPLE.argmax([0, 2, 1, -1, -2, 0, 0, 1, 0]).tolist() == [1, 5, 7]
    assert [part.tolist() for part in TRIPLE.split([8, 1, 3, 4, 6])] == [[1], [0, 1], [1, 3]]
    assert [part.tolist() for part in TRIPLE.split([])] == [[], [], []]
    assert repr(TRIPLE) == "Product(TopK(3, 1), Enumerated(2 solutions, n_items=2), GridPaths(1))"
    assert repr(sets.Product([sets.TopK(2, 1)] * 9)) == "Product(TopK(2, 1), TopK(2, 1), TopK(2, 1), ... 9 blocks)"
    with pytest.raises(errors.UnknownItem, match="item 9"):
        TRIPLE.split([9])


def test_blocks_in_any_form() -> None:
    block = sets.TopK(2, 1)
    for made in (sets.Product(block, block), sets.Product([block, block]), sets.Product(block for _ in range(2))):
        assert made.blocks == (block, block)
        assert made.argmax([0.0, 1.0, 1.0, 0.0]).tolist() == [1, 2]
    assert sets.Product(block).argmax([0.0, 1.0]).tolist() == [1]
    nested = sets.Product(sets.Product(block, block), block)
    assert nested.offsets == (0, 4)
    assert nested.argmax([0, 1, 1, 0, 0, 1]).tolist() == [1, 2, 5]


@pytest.mark.parametrize(
    ("blocks", "says"),
    [
        ((), "at least one block, got none"),
        (([],), "at least one block"),
        ((5,), "one list of sets, got 5"),
        (("ab",), "block 0 must be a FeasibleSet, got 'a'"),
        ((sets.TopK(2, 1), [[0]]), r"block 1 must be a FeasibleSet, got \[\[0\]\]"),
        (([sets.TopK(2, 1), None],), "block 1 must be a FeasibleSet, got None"),
    ],
)
def test_bad_blocks(blocks: Any, says: str) -> None:
    with pytest.raises(errors.InvalidSet, match=says):
        sets.Product(*blocks)


def test_bad_weights_are_named_by_their_own_number() -> None:
    with pytest.raises(errors.BadWeights, match="nan for item 5"):
        TRIPLE.argmax([0.0] * 5 + [np.nan] * 4)
    with pytest.raises(errors.BadWeights, match=r"expected 9 weights, .* shape \(3,\)"):
        TRIPLE.argmax([0.0] * 3)


def test_labels() -> None:
    named = sets.DagPaths([("a", "b"), ("a", "b")], "a", "b")
    assert sets.Product(named, named).labels == ("0:a->b", "0:a->b #2", "1:a->b", "1:a->b #2")
    assert sets.Product(named, sets.TopK(2, 1)).labels == ()
    learner = Learner(sets.Product(named, named), policies.CombUCB1())
    assert learner.ask().labels == ("0:a->b", "1:a->b")


def test_restrictions() -> None:
    part = TRIPLE.restrict(include=[4], exclude=[1])
    assert part.blocks[2] is TRIPLE.blocks[2]
    assert part.argmax([0, 2, 1, -9, -9, 0, 0, 0, 0]).tolist() == [2, 3, 4, 5, 7]
    assert TRIPLE.argmax([0, 2, 1, -9, -9, 0, 0, 0, 0]).tolist() == [1, 5, 7]
    with pytest.raises(
        errors.EmptyFeasibleSet, match=r"no solution with items \[3\] and without items \[4\]: block 1:"
    ):
        TRIPLE.restrict(include=[3], exclude=[4])
    assert sets.Product(sets.TopK(3, 2), Listed([(0,), (1, 2)], 3)).restrict(exclude=[4]).max_size == 3


# Users' blocks


class Wrong(Listed):
    """Answers what is not in its list."""

    def argmax(self, weights: Any) -> Items:
        return np.array([0, 1])


class Raising(Listed):
    def argmax(self, weights: Any) -> Items:
        raise KeyError("no licence")


def test_the_answers_of_users_blocks_are_checked() -> None:
    for block, error, says in (
        (
            Wrong([(0,), (1,)], 2),
            errors.InfeasibleSolution,
            r"block 1: the oracle returned 2 items, more than max_size",
        ),
        (Wrong([(0,), (1, 2)], 3), errors.InfeasibleSolution, r"block 1: the oracle returned \[0, 1\], which the set"),
        (Raising([(0,)], 1), errors.OracleFailed, "block 1: the oracle raised KeyError: 'no licence'"),
    ):
        product = sets.Product(sets.TopK(2, 1), block)
        assert product.verified  # who asks need not check once more
        with pytest.raises(error, match=says):
            product.argmax([0.0] * product.n_items)
        with pytest.raises(error, match=says):
            Learner(product, policies.CombUCB1()).ask()


def test_live_and_simulated_with_users_blocks() -> None:
    product = sets.Product(
        Listed([(0, 1), (2,)], 3), sets.TopK(3, 1), sets.Oracle(sets.TopK(3, 2).argmax, n_items=3, max_size=2)
    )
    assert product.solver() is None
    learner = Learner(product, policies.CombUCB1(), seed=1)
    for _ in range(30):
        decision = learner.ask()
        assert product.contains(decision.items)
        learner.tell(decision.id, decision.items / 10.0)
    assert set(learner.best().tolist()) >= {2, 5, 7, 8}
    problem = Problem(product, environments.Bernoulli(np.arange(1, 10) ** 2 / 100.0))
    assert problem.optimum.tolist() == [2, 5, 7, 8]
    assert problem.min_gap == pytest.approx(0.04)  # of 0.09 against 0.01 + 0.04
    result = simulate(problem, policies.CombUCB1(), horizon=50, runs=2, seed=0)
    assert (result.regret[..., -1] > 0.0).all()


def test_a_block_for_costs_only() -> None:
    costs = sets.Oracle(sets.Enumerated([[0], [1]]).argmax, 2, 1, signed=False)
    product = sets.Product(sets.TopK(2, 1), costs)
    assert not product.signed
    assert product.argmax([5.0, 1.0, -2.0, -1.0]).tolist() == [0, 3]  # only the block itself insists
    with pytest.raises(errors.Unsupported, match=r"block 1: .*weights <= 0.* got 3\.0 for item 0"):
        product.argmax([0.0, 0.0, 3.0, 0.0])
    with pytest.raises(errors.Unsupported, match=r"block 1: .* cannot be made to include"):
        product.restrict(include=[2])
    with pytest.raises(errors.BadArgument, match="needs weights <= 0"):
        Learner(product, policies.CombUCB1())
    learner = Learner(product, policies.CombUCB1(), sense="min")
    for _ in range(20):
        decision = learner.ask()
        learner.tell(decision.id, [0.9 if item in (0, 3) else 0.2 for item in decision.items])
    assert learner.best().tolist() == [1, 2]


def test_ratio_is_the_least() -> None:
    rough = sets.Oracle(lambda w: [0], 2, 1, ratio=0.5)
    product = sets.Product(sets.TopK(2, 1), rough, sets.Oracle(lambda w: [0], 1, 1, ratio=0.75))
    assert product.ratio == 0.5
    problem = Problem(product, environments.Bernoulli([0.5] * 5))
    with pytest.raises(errors.Unsupported, match=r"ratio=0\.5"):
        _ = problem.item_gaps


def test_the_promise_of_approximate_blocks() -> None:
    rough = sets.GreedyKnapsack([3, 2, 2], 4)
    product = sets.Product(rough, sets.TopK(2, 1), rough.restrict(exclude=[1]))
    assert product.ratio == rough.ratio < 1.0
    generator = np.random.default_rng(4)
    for _ in range(50):
        w = generator.integers(0, 9, size=8).astype(np.float64)
        got, best = (sum(w[feasible.argmax(w)]) for feasible in (product, product.exact()))
        assert product.ratio * best <= got <= best
    problem = Problem(product, environments.Bernoulli([0.9, 0.6, 0.7, 0.2, 0.4, 0.9, 0.6, 0.7]))
    assert problem.target == pytest.approx(product.ratio * (1.3 + 0.4 + 0.9))
    with pytest.raises(errors.Unsupported, match=r"the best solution of Oracle.* is not known"):
        sets.Product(sets.TopK(2, 1), sets.Oracle(list, 2, 1, ratio=0.5)).exact()


class Tiring(Listed):
    ratio = 1.0


def test_a_ratio_that_falls_later() -> None:
    block = Tiring([(0,), (1,)], 2)
    product = sets.Product(sets.TopK(2, 1), block)
    assert product.ratio == 1.0
    block.ratio = 0.9
    assert product.ratio == product.restrict(exclude=[0]).ratio == 0.9


# Machine code


def answer(solver: Solver, weights: Any, max_size: int, work: Arrays | None = None) -> list[int]:
    numbers, integers = work or (np.zeros(solver.numbers), np.zeros(solver.integers, dtype=np.int64))
    out = np.full(max_size, -1)
    size = compiled(solver.function)(np.asarray(weights, dtype=np.float64), out, solver.data, numbers, integers)
    return out[:size].tolist()


SLOW = {"GraphicMatroid", "LaminarMatroid", "PartitionMatroid", "Assignment", "BMatching", "DagPaths"}
"""To compile; test_engine and the longer campaigns play them."""


@pytest.mark.parametrize(
    "family", [long(family) if family in SLOW else family for family in FAMILIES if "Product" not in family]
)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_every_family_as_a_block(family: str, data: st.DataObject) -> None:
    """Several, asked more than once in the same work space."""
    one, other = data.draw(FAMILIES[family])[0], data.draw(FAMILIES[family])[0]
    product = sets.Product(one, other, one)
    solver = product.solver()
    if solver is None:
        assert not isinstance(one, Solved) or not isinstance(other, Solved)
        return
    work = np.zeros(solver.numbers), np.zeros(solver.integers, dtype=np.int64)
    for _ in range(3):
        weights = data.draw(strategies.weights(product))
        assert answer(solver, weights, product.max_size, work) == product.argmax(weights).tolist()


def test_machine_code_depends_on_the_kinds_only() -> None:
    block, path = sets.Enumerated([[0, 2], [1]]), sets.DagPaths([(0, 1), (0, 1)], 0, 1)
    two, fifty = sets.Product([block] * 2).solver(), sets.Product([block] * 50).solver()
    mixed, more = sets.Product(block, path).solver(), sets.Product(block, block, path, block, path).solver()
    assert two is not None and fifty is not None and mixed is not None and more is not None  # noqa: PT018
    assert two.function is fifty.function
    assert mixed.function is more.function
    assert mixed.function is not two.function
    assert [array.dtype for array in two.data] == [array.dtype for array in fifty.data]


class Mine(sets.TopK):
    """A user's own oracle over one of ours: the compiled one is not his."""

    def argmax(self, weights: Any) -> Items:
        return np.arange(self.k)


def test_where_there_is_no_compiled_oracle() -> None:
    block = sets.TopK(3, 1)
    assert sets.Product(block, Listed([(0,)], 1)).solver() is None
    assert sets.Product(block, sets.Oracle(list, 2, 1)).solver() is None
    assert sets.Product(block, Mine(3, 1)).solver() is None
    assert sets.Product(block, sets.Product(block, Mine(3, 1))).solver() is None
    patched = sets.TopK(3, 1)
    patched.argmax = lambda weights: np.array([0])  # type: ignore[method-assign]
    assert sets.Product(patched).solver() is None
    assert sets.Product(block, sets.TopK(3, 1)).solver() is not None


class Counting(BuiltIn):
    """The answer is how often this block was asked, in its own work space, modulo 4."""

    n_items, max_size, own = 4, 1, True

    def argmax(self, weights: Any) -> Items:
        raise NotImplementedError

    def contains(self, items: Iterable[int]) -> bool:
        return True

    def restrict(self, include: Iterable[int] = (), exclude: Iterable[int] = ()) -> FeasibleSet:
        return self

    def single(self) -> Solver:
        return Solver(count, (np.array([3.0]), np.array([4])), numbers=2, integers=3, own_work=self.own)


class Careless(Counting):
    own = False


def count(weights: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
    integers[2] += 1
    numbers[1] += data[0][0]
    out[0] = integers[2] % data[1][0]
    return 1 if len(weights) == 4 and numbers[1] == 3.0 * integers[2] and len(integers) == 3 else 0


def test_work_space_of_ones_own_and_of_all() -> None:
    product = sets.Product(Counting(), Careless(), Counting(), Careless())
    solver = product.solver()
    assert solver is not None
    assert (solver.numbers, solver.integers, solver.own_work) == (6, 9, True)
    work = np.zeros(6), np.zeros(9, dtype=np.int64)
    for calls in range(1, 4):
        shared = 2 * calls - 1
        expected = [calls % 4, 4 + shared % 4, 8 + calls % 4, 12 + (shared + 1) % 4]
        assert answer(solver, np.zeros(16), 4, work) == expected
    shared_only = sets.Product(Careless(), Careless()).solver()
    assert shared_only is not None
    assert (shared_only.numbers, shared_only.integers, shared_only.own_work) == (2, 3, False)


@pytest.mark.long
@pytest.mark.usefixtures("compiled_anew")
def test_nothing_is_allocated_in_machine_code() -> None:
    blocks = [sets.Enumerated([[0, 2], [], [1]]), sets.GridPaths(2)]
    problem = Problem(sets.Product(blocks * 2), environments.Bernoulli([0.5] * 30))
    engine = LanesEngine(task(problem, policy()))
    engine.prepare()
    (llvm,) = engine._code.inspect_llvm().values()  # type: ignore[attr-defined]
    assert not re.search(r"NRT_(MemInfo_alloc|Allocate|Reallocate)", llvm)


# As a mixed integer program


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_program(data: st.DataObject) -> None:
    product, solutions = data.draw(FAMILIES["Product"])
    excluded = data.draw(st.sets(st.integers(0, product.n_items - 1), max_size=1))
    left = [one for one in solutions if not excluded & set(one)]
    if left:
        product, solutions = product.restrict(exclude=excluded), left
    weights = data.draw(strategies.weights(product, st.integers(-3, 3).map(float)))
    program = Program.of(product)
    shape = (len(program.row_lower), len(program.lower))
    rows = csr_array((program.values, program.columns, program.starts), shape=shape)
    found = milp(
        np.append(-np.array(weights), np.zeros(len(program.lower) - product.n_items)),
        integrality=program.integer,
        bounds=Bounds(program.lower, program.upper),
        constraints=LinearConstraint(rows, program.row_lower, program.row_upper),
    )
    items = np.flatnonzero(found.x[: product.n_items] > 0.5)
    assert tuple(items.tolist()) in solutions
    assert sum(weights[item] for item in items) == max(sum(weights[item] for item in one) for one in solutions)


def test_restrictions_in_a_program() -> None:
    product = sets.Product(sets.TopK(3, 1), sets.TopK(3, 2).restrict(include=[2], exclude=[0]))
    program = Program.of(product.restrict(exclude=[1]))
    assert program.lower == [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    assert program.upper == [1.0, 0.0, 1.0, 0.0, 1.0, 1.0]
    with pytest.raises(errors.Unsupported, match="cannot be written as a mixed integer program"):
        sets.Product(sets.Oracle(list, 2, 1)).program()
