"""The names of machine code on disk: nothing that it is made of can change without another name."""

from collections import namedtuple
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

import llvmlite
import numba
import numpy as np
import pytest

from semibandits._util.fingerprint import digest
from semibandits.kernel import LANES, compiler, internals, lane_loops, placeholder, sqrt

gain, BONUS = placeholder("gain"), placeholder("BONUS")
SCALE, TABLE = 2.0, np.arange(3.0)
Pair = namedtuple("Pair", "low, high")


def once(x: Any) -> Any:
    return x + SCALE


def twice(x: Any) -> Any:
    return once(x) + once(x)


def looked_up(x: Any, most: int = 3) -> Any:
    return gain(sqrt(x)) * BONUS + TABLE[most - 1] + Pair(x, x).low


def token(function: Any = looked_up, lanes: bool = True, checked: Any = (), strict: Any = (), **other: Any) -> str:
    bindings = {gain: other.get("gain", twice), BONUS: other.get("BONUS", 1.0), LANES: other.get("LANES", 32)}
    return compiler._Compiler(function, bindings, lanes, checked, strict).token


def edited(function: Any, before: str, after: str, **names: Any) -> Any:
    """The function with one constant or name in place of another."""
    code = function.__code__
    consts = tuple(type(one)(after) if str(one) == before else one for one in code.co_consts)
    known = tuple(after if one == before else one for one in code.co_names)
    copy = FunctionType(code.replace(co_consts=consts, co_names=known), {**globals(), **names}, function.__name__)
    copy.__defaults__ = function.__defaults__
    return copy


def with_default(most: int) -> Any:
    return FunctionType(looked_up.__code__, globals(), "looked_up", (most,))


def closure(number: float) -> Any:
    return lambda x: x + number


def test_what_it_is_made_of() -> None:
    kinds = {
        "as it is": token(),
        "a number in the text": token(edited(looked_up, "1", "2")),
        "a default": token(with_default(2)),
        "a number of the module": token(edited(looked_up, "", "", TABLE=np.arange(1.0, 4.0))),
        "another type of it": token(edited(looked_up, "", "", TABLE=np.arange(3.0, dtype=np.float32))),
        "the fields of a tuple": token(edited(looked_up, "", "", Pair=namedtuple("Pair", "high, low"))),
        "another primitive": token(edited(looked_up, "sqrt", "sin", sin=compiler.maths.log)),
        "a binding": token(gain=once),
        "what a binding calls": token(gain=edited(twice, "", "", once=edited(once, "SCALE", "BONUS", BONUS=3.0))),
        "a number of what it calls": token(gain=edited(twice, "", "", once=edited(once, "", "", SCALE=2.5))),
        "a constant that is bound": token(BONUS=2.0),
        "a whole number for it": token(BONUS=1),
        "a truth for it": token(BONUS=True),
        "a closure": token(gain=closure(1.0)),
        "another closure": token(gain=closure(2.0)),
        "a lane loop": token(lane_loops(edited(looked_up, "", ""))),
        "plain njit": token(lanes=False),
        "checks": token(checked=(twice,)),
        "other checks": token(checked=(once,)),
        "divisions by zero": token(strict=(twice,)),
    }
    same = {other: [name for name, key in kinds.items() if key == other] for other in kinds.values()}
    assert [names for names in same.values() if len(names) > 1] == []
    assert token(edited(looked_up, "", "")) == kinds["as it is"]  # the same text in another module


def test_the_text_of_the_compiler_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [path.read_bytes() for path in sorted(Path(compiler.__file__).parent.glob("*.py"))]
    assert compiler._kernel() == digest(texts)
    before = token()
    monkeypatch.setattr(compiler, "_kernel", lambda: digest([*texts[:-1], texts[-1] + b"#"]))
    assert token() != before


def name(token: str = "token", arguments: Any = ((1.0, 2),), features: Any = ("x86", "cpu", "+avx")) -> str:
    codegen = SimpleNamespace(magic_tuple=lambda: features)
    signature = tuple(numba.typeof(one) for one in arguments)
    cache: Any = internals._keyed_cache()("nowhere", token)
    return str(cache._name(signature, codegen))


def test_signature_and_processor_count() -> None:
    frozen = np.zeros(2)
    frozen.flags.writeable = False
    names = [
        name(),
        name("other"),
        name(features=("x86", "cpu", "+avx512")),
        name(arguments=((1, 2.0),)),
        name(arguments=(Pair(1.0, 2),)),
        name(arguments=(namedtuple("Pair", "high, low")(1.0, 2),)),
        name(arguments=((Pair(1.0, 2), 3),)),
        name(arguments=((namedtuple("Pair", "high, low")(1.0, 2), 3),)),
        name(arguments=(np.zeros(2),)),
        name(arguments=(frozen,)),
        name(arguments=(np.zeros((2, 2))[:, 0],)),
    ]
    assert len(set(names)) == len(names)
    assert name() == names[0]


@pytest.mark.parametrize("package", [numba, llvmlite, np])
def test_versions_count(package: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = name()
    internals._keyed_cache.cache_clear()
    monkeypatch.setattr(package, "__version__", "9.9")
    try:
        assert name() != before
    finally:
        internals._keyed_cache.cache_clear()


def test_a_profiler_changes_nothing() -> None:
    """numba changes the flags of the code that it calls then."""
    import cProfile

    def plain(x: Any) -> Any:
        return x + 1.0

    before = plain.__code__.co_flags, token(plain)
    with cProfile.Profile():
        assert compiler.compiled(plain)(1.0) == 2.0
    assert (plain.__code__.co_flags, token(plain)) == before
