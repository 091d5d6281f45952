"""Machine code takes values of modules, globals and closures as they are when it is made: they are in its key."""

import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from semibandits import Problem, environments, sets, simulate
from semibandits.errors import Unsupported
from semibandits.kernel import as_word, foreign, outsized, word
from semibandits.kernel.compiler import _Compiler
from semibandits.kernel.watching import outgrows
from semibandits.types import Arrays, Clock, Params, Scalar, Solver, Stats
from support.tasks import policy
from support.worlds import PROBLEMS, Window

config: Any = ModuleType("config")
package: Any = ModuleType("package")
package.config = config
FACTOR = 0.5
TABLE = np.array([1.0, 2.0, 3.0])
PAIR: Any = (1.0, TABLE)
LISTED = [1.0, 2.0]
HUGE = 2**63
BIG = np.uint64(5)


class Constants:
    value = 0.5


THING = Constants()


@pytest.fixture(autouse=True)
def _settings() -> Iterator[None]:
    config.BONUS, config.TABLE, config.HUGE = 0.0, np.array([1.0, 2.0]), 2**64
    yield
    for name, value in {"FACTOR": 0.5, "HUGE": 2**63}.items():
        setattr(sys.modules[__name__], name, value)
    TABLE[:] = [1.0, 2.0, 3.0]


def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
    return s[1] / (s[0] + 1.0) + config.BONUS * (s[0] < 20.0)


def token(function: Callable[..., Any]) -> str:
    return _Compiler(function, {}, True, frozenset()).token


def set_factor() -> None:
    sys.modules[__name__].FACTOR = 0.25  # type: ignore[attr-defined]


def set_bonus() -> None:
    config.BONUS = 3.0


def set_in_place() -> None:
    TABLE[1] = 7.0


def set_in_module() -> None:
    config.TABLE[1] = 7.0


CHANGES: dict[str, tuple[Callable[..., Any], Callable[[], None]]] = {
    "a module's number": (lambda x: x * config.BONUS, set_bonus),
    "a number of a module in a package": (lambda x: x * package.config.BONUS, set_bonus),
    "in a function inside": (lambda x: (lambda y: y * config.BONUS)(x), set_bonus),
    "in a list": (lambda x: max([config.BONUS + k for k in range(2)]) * x, set_bonus),
    "a global": (lambda x: x * FACTOR, set_factor),
    "a global in a function inside": (lambda x: (lambda y: y * FACTOR)(x), set_factor),
    "a global in a list": (lambda x: max([FACTOR + k for k in range(2)]) * x, set_factor),
    "an array, in place": (lambda x: x * TABLE[1], set_in_place),
    "an array in a tuple": (lambda x: x * PAIR[1][1], set_in_place),
    "an array of a module": (lambda x: x * config.TABLE[1], set_in_module),
    "of a function that is called": (lambda x: score((x, x), (), 0, 0, ()), set_bonus),
}


@pytest.mark.parametrize("name", CHANGES)
def test_values_are_part_of_the_key(name: str) -> None:
    function, change = CHANGES[name]
    before = token(function)
    assert token(function) == before
    change()
    assert token(function) != before


@pytest.mark.parametrize(
    "function", [lambda x: x * LISTED[0], lambda x: x * THING.value, lambda x: x * config.listed[0]]
)
def test_what_may_change_unseen_is_not_compiled(function: Any) -> None:
    config.listed = [1.0]
    with pytest.raises(TypeError, match="which may change and cannot be compiled"):
        token(function)


def defaulted(x: float, n: int = 2**40) -> float:
    return x * n


def enclosing(n: Any) -> Callable[..., Any]:
    return lambda x: x * n


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda x: x * 6364136223846793005, "uses 6364136223846793005, a whole number of 2"),
        (lambda x: x * -(2**40), "uses -1099511627776, a whole number"),
        (lambda x: x + (1 << 70), "uses 1180591620717411303424, a whole number"),
        (lambda x: x in (1, 2**62), "a whole number"),
        (lambda x: x * HUGE, "uses HUGE, a whole number"),
        (lambda x: x * config.HUGE, "uses config.HUGE, a whole number"),
        (lambda x: (lambda y: y * config.HUGE)(x), "uses config.HUGE, a whole number"),
        (lambda x: [np.exp(y) for y in (x, x)], "uses numpy.exp, which is not"),
        (defaulted, "uses the default 1099511627776, a whole number"),
        (enclosing(2**63), "a whole number"),
        (enclosing((1.0, 2**63)), "a whole number"),
        (enclosing((1.0, [2.0])), "which is not in semibandits.kernel"),
        (lambda x: 1 << x, "a shift to the left"),
        (lambda x: x * BIG, "of uint64, which goes with"),
        (enclosing(np.float32(0.5)), "of float32, which goes with"),
        (enclosing(np.zeros(2, dtype=np.int32)), "of int32, which goes with"),
        (lambda x: x * LISTED[0], "uses LISTED, which is not"),
        (lambda x: x * THING.value, "uses THING, which is not"),
        (lambda x: x * Constants.value, "uses Constants, which is not"),
        (lambda x: x * package.config.BONUS, "uses package.config, which is not"),
    ],
)
def test_what_would_come_out_otherwise_is_refused(function: Any, says: str) -> None:
    assert says in foreign(function)


def test_words_may_be_large() -> None:
    assert foreign(lambda key: as_word(key) * word(0x9E3779B97F4A7C15)) == ""
    assert foreign(lambda key: as_word(key) * word(HUGE)) == ""
    assert foreign(lambda key: as_word(key) * word(config.HUGE)) == ""
    assert foreign(lambda x: x * 1000 + config.BONUS) == ""


def outsized_inside(x: Any) -> Any:
    return x + config.HUGE


@pytest.mark.parametrize(
    "function",
    [
        lambda w, out: 2**63,
        lambda w, out: w < -(2**63) - 1,
        lambda w, out: HUGE,
        lambda w, out: config.HUGE,
        lambda w, out, most=2**64: most,
        lambda w, out: outsized_inside(w),
        enclosing(2**63),
    ],
)
def test_a_solver_may_use_what_fits_into_a_word(function: Any) -> None:
    assert "bits, and the machine's have 64" in outsized(function)


class Heavy(Window):
    """An oracle with a number that wraps around in machine code alone."""

    @staticmethod
    def best_window(w: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
        out[0] = 0 if w[0] < 2**63 else 1
        return 1

    def solver(self) -> Solver:
        return Solver(self.best_window, (), numbers=1, integers=1)


def test_an_oracle_with_a_number_that_does_not_fit_is_not_compiled() -> None:
    problem = Problem(Heavy(4, 1), environments.Bernoulli([0.5] * 4))
    with pytest.raises(Unsupported, match="uses a whole number of 64 bits"):
        simulate(problem, policy(), horizon=50, runs=1, seed=0, engine="compiled")
    assert outsized(Window(4, 1).best_window) == ""


def test_whole_numbers_that_outgrow_a_word_are_found() -> None:
    assert outgrows(lambda round: round * round * round, 3_000_000)
    assert not outgrows(lambda round: round * round * round, 2_000_000)
    assert outgrows(lambda round: 1 << round, 64)
    assert outgrows(lambda round: 2**round - 1, 64)
    assert outgrows(lambda round: -round * (3 * round) * round, 3_000_000)
    assert not outgrows(lambda round: float(round) * round * round, 3_000_000)
    assert not outgrows(lambda round: np.sqrt(round * np.ones(3)), 3_000_000)
    assert not outgrows(lambda round: missing(round), 3)  # type: ignore[name-defined] # noqa: F821


def cubic(round: int, key: int, p: Params) -> Clock:
    return (1.0 * (round * round * round),)


def test_a_clock_that_outgrows_a_word_is_played_plainly() -> None:
    options: Any = {"runs": 1, "seed": 0, "checkpoints": [3], "engine": "compiled"}
    from semibandits.errors import Unsupported

    with pytest.raises(Unsupported, match=r"cubic\(\) works out whole numbers of 2\^63 or more by round 3,000,000"):
        simulate(PROBLEMS["small top-k"], policy(clock=cubic), horizon=3_000_000, **options)


@pytest.mark.long
def test_a_changed_number_of_a_module_changes_compiled_runs() -> None:
    world = Problem(sets.TopK(6, 2), environments.Bernoulli([0.2, 0.3, 0.4, 0.5, 0.6, 0.9]))
    seen = []
    for bonus in (0.0, 3.0, -2.0):
        config.BONUS = bonus
        both = [
            simulate(world, policy(score=score), horizon=2000, runs=3, seed=1, engine=engine)  # type: ignore[arg-type]
            for engine in ("compiled", "plain")
        ]
        assert both[0].engine == "compiled"
        np.testing.assert_array_equal(both[0].regret, both[1].regret)
        seen.append(both[0].regret[0, :, -1].tolist())
    assert len({tuple(one) for one in seen}) == 3
