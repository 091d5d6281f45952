"""Compiling a plain function without writing it twice."""

import gc
import math
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from semibandits._util.identity_cache import RecentCache
from semibandits.kernel import (
    LANES,
    betaincinv,
    bound,
    compiled,
    compiler,
    internals,
    lane_loops,
    ln,
    log,
    lowest_bit,
    maths,
    ndtri_exp,
    placeholder,
    sqrt,
    where,
    word,
    xlogy,
)
from semibandits.simulation.engines.lanes_engine import LanesEngine
from semibandits.simulation.engines.single_engine import SingleEngine
from semibandits.types import Scalar

OFFSET = 3.0


def helper(x: Scalar) -> Scalar:
    return sqrt(x) + OFFSET


def formula(x: Scalar, y: Scalar) -> Scalar:
    return where(x > y, helper(x), x * y)


def clock(t: int) -> float:
    return log(t)


def wrap(z: Scalar) -> Scalar:
    return (z * word(0x9E3779B97F4A7C15)) >> word(3)


def test_one_text_three_uses() -> None:
    x, y = np.linspace(0.1, 5.0, 50), np.linspace(5.0, 0.1, 50)
    machine = compiled(formula)
    whole = formula(x, y)
    assert [machine(a, b) for a, b in zip(x, y, strict=True)] == whole.tolist()
    assert [float(formula(a, b)) for a, b in zip(x, y, strict=True)] == whole.tolist()
    assert compiled(clock)(7) == math.log(7)


def test_words_wrap_around() -> None:
    z = np.arange(1, 100, dtype=np.uint64)
    assert [compiled(wrap)(one) for one in z] == wrap(z).tolist()


def test_the_plain_function_stays_plain() -> None:
    compiled(formula)
    assert formula(4.0, 1.0) == 5.0
    assert helper.__module__ == __name__


def test_only_plain_functions() -> None:
    with pytest.raises(TypeError, match="plain Python function"):
        compiled(math.sqrt)


def test_words_have_a_lowest_bit() -> None:
    machine = compiled(position)
    for bit in range(64):
        word_ = np.uint64((1 << bit) | (1 << 63))
        assert machine(word_) == position(int(word_)) == bit


def position(z: Scalar) -> Scalar:
    return lowest_bit(z)


def closure(offset: float, inner: Callable[..., Scalar]) -> Callable[..., Scalar]:
    def function(x: Scalar, y: float = 2.0) -> Scalar:
        return inner(x) + offset * y

    return function


def test_closures_constants_and_defaults_count() -> None:
    one, two = closure(1.0, helper), closure(2.0, helper)
    assert compiled(one)(4.0) == one(4.0) == 7.0
    assert compiled(two)(4.0) == two(4.0) == 9.0
    assert compiled(closure(1.0, helper)) is compiled(one)  # made of the same
    assert compiled(closure(1.0, formula_of_one)) is not compiled(one)


def formula_of_one(x: Scalar) -> Scalar:
    return x * 3.0


def test_a_changed_constant_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiled(helper)(4.0) == 5.0
    monkeypatch.setitem(globals(), "OFFSET", 10.0)
    assert compiled(helper)(4.0) == helper(4.0) == 12.0


missing = placeholder("missing")


@lane_loops
def lane_sum(rows: Any, which: Any, out: Any) -> None:
    for row in range(rows.shape[0]):
        for lane in range(LANES):
            out[which[lane], lane] += missing(rows[row, lane])


@lane_loops
def lane_roots(which: Any, out: Any) -> None:
    for _ in range(10):
        for lane in range(LANES):
            x = out[which[lane], lane] + 1.0
            out[which[lane], lane] = x / sqrt(x + 2.0)


def twice(x: Scalar) -> Scalar:
    return x + x


def test_lane_loops_with_and_without_the_pipeline() -> None:
    generator = np.random.default_rng(0)
    rows, which = generator.random((50, 8)), generator.integers(0, 3, 8).astype(np.uint32)
    expected = np.zeros((3, 8))
    for row in rows:
        for lane in range(8):
            expected[which[lane], lane] += 2.0 * row[lane]
    assert internals.pipeline(True, True) is not None  # with the numba of this installation
    for lanes in (True, False):
        out = np.zeros((3, 8))
        bound(lane_sum, {missing: twice, LANES: 8}, lanes=lanes)(rows, which, out)
        np.testing.assert_array_equal(out, expected)
    with pytest.raises(RuntimeError, match="missing must be bound"):
        missing(1.0)


@pytest.mark.usefixtures("compiled_anew")
def test_lane_loops_become_vectors() -> None:
    """The promise is worth making: indices known only at run time become gathers and scatters."""
    from llvmlite import binding

    if not binding.get_host_cpu_features().get("avx512f"):
        pytest.skip("this processor has no scatters")
    llvm = []
    for lanes in (True, False):
        machine: Any = bound(lane_roots, {LANES: 32}, lanes=lanes)
        machine(np.zeros(32, dtype=np.uint32), np.zeros((3, 32)))
        llvm.append(next(iter(machine.inspect_llvm().values())))
    assert "llvm.masked.scatter" in llvm[0]
    assert "llvm.masked.scatter" not in llvm[1]


def test_without_numbas_internals_everything_still_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*arguments: bool) -> Any:
        raise AttributeError("numba has changed")

    internals.pipeline.cache_clear()
    monkeypatch.setattr(internals, "_pipeline", gone)
    monkeypatch.setattr(internals, "_keyed_cache", gone)
    try:
        assert internals.pipeline(True, True) is None
        out = np.zeros((3, 8))
        bound(lane_sum, {missing: twice, LANES: 8})(np.ones((1, 8)), np.zeros(8, dtype=np.uint32), out)
        assert out[0].tolist() == [2.0] * 8
    finally:
        internals.pipeline.cache_clear()


@pytest.mark.parametrize(("name", "arguments"), [("betaincinv", 3), ("ndtri_exp", 1), ("xlogy", 2)])
def test_special_functions_are_scipys_own(name: str, arguments: int) -> None:
    plain = getattr(maths, name)
    generator = np.random.default_rng(3)
    values = generator.random((arguments, 500)) * (-5.0 if name == "ndtri_exp" else 1.0)
    machine = compiled({"betaincinv": quantile, "ndtri_exp": normal, "xlogy": entropy}[name])
    assert [machine(*column) for column in values.T] == plain(*values).tolist()


def quantile(a: Scalar, b: Scalar, u: Scalar) -> Scalar:
    return betaincinv(a, b, u)


def normal(y: Scalar) -> Scalar:
    return ndtri_exp(y)


def entropy(x: Scalar, y: Scalar) -> Scalar:
    return xlogy(x, y)


f, g, h = helper, formula_of_one, helper


def three(x: Scalar) -> Scalar:
    return f(x) + 10.0 * g(x) + 100.0 * h(x)


def test_which_helper_is_called_where_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    first = compiled(three)(4.0)
    monkeypatch.setitem(globals(), "h", formula_of_one)
    assert compiled(three)(4.0) == three(4.0) != first


def calls_itself(x: Scalar) -> Scalar:
    return calls_itself(x - 1.0)


def test_functions_that_call_themselves() -> None:
    with pytest.raises(TypeError, match="calls itself"):
        compiled(calls_itself)


# What is kept


def times(factor: float) -> Callable[..., Any]:
    def product(x: Scalar) -> Scalar:
        return x * factor

    return product


@pytest.fixture
def five(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nothing had been compiled yet, and but five pieces of machine code were kept."""
    monkeypatch.setattr(compiler, "_ALIVE", weakref.WeakValueDictionary())
    monkeypatch.setattr(compiler, "_KEPT", RecentCache(5))
    monkeypatch.setattr(compiler, "_MADE", set())


@pytest.mark.usefixtures("five")
def test_few_kernels_are_kept() -> None:
    """Those asked for last; what somebody holds is never made twice."""
    held = compiled(times(0.5))
    made = [weakref.ref(compiled(times(float(factor)))) for factor in range(1, 13)]
    gc.collect()
    assert [code() is not None for code in made] == [False] * 7 + [True] * 5
    assert (len(compiler._KEPT), len(compiler._ALIVE)) == (5, 6)
    assert compiled(times(8.0)) is made[7]()
    assert compiled(times(0.5)) is held
    for factor in (20.0, 21.0, 22.0):
        compiled(times(factor))
    gc.collect()
    assert [code() is not None for code in made] == [False] * 7 + [True] + [False] * 4


def test_an_experiment_of_sixty_policies_compiles_nothing_twice() -> None:
    """In blocks of two widths."""
    assert compiler._KEPT._most >= 120
    for engine in (LanesEngine, SingleEngine):
        assert isinstance(engine.compared._known, weakref.WeakKeyDictionary)


@pytest.mark.usefixtures("five")
def test_what_is_made_again_has_another_name_and_does_the_same() -> None:
    """What came from the disk never leaves the linker."""
    first = compiled(ln)
    answer, name, gone = first(2.5), first.__name__, weakref.ref(first)
    del first
    for factor in range(1, 6):
        compiled(times(float(factor)))
    gc.collect()
    assert gone() is None
    again = compiled(ln)
    assert again.__name__ != name
    assert again(2.5) == answer == ln(2.5)


@pytest.mark.usefixtures("five")
def test_threads_are_given_the_same_machine_code() -> None:
    barrier, got = threading.Barrier(4), []

    def ask() -> None:
        barrier.wait(60)
        got.extend(compiled(times(float(factor))) for factor in range(5))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(got)) == 5
    assert len(got) == 20


def test_what_the_compiler_works_with_is_freed() -> None:
    """llvmlite had it wrong, and lost most of the memory of every kernel."""
    internals.load_numba()
    from llvmlite.binding import ffi, newpassmanagers

    for kind in (newpassmanagers.ModulePassManager, newpassmanagers.FunctionPassManager):
        assert kind._dispose is not ffi.ObjectRef._dispose


def test_what_is_not_wholly_seen_is_compiled_as_it_is_now() -> None:
    """A module under another name may have changed in the same process."""
    config = types.ModuleType("config")

    def under_another_name(x: float) -> float:
        c = config
        return x * c.BONUS

    def asked_for(x: float) -> float:
        return x * getattr(config, "BONUS")  # noqa: B009

    for bonus in (2.0, 3.0):
        config.BONUS = bonus  # type: ignore[attr-defined]
        assert compiled(under_another_name)(2.0) == under_another_name(2.0) == 2.0 * bonus
    with pytest.raises(TypeError, match=r"getattr\(\) may find what changes"):
        compiled(asked_for)
    ask = getattr
    with pytest.raises(TypeError, match="is getattr, which may find what changes"):
        compiled(lambda x: x * ask(config, "BONUS"))
