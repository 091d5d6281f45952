"""Code and files that a store's fingerprint reaches in roundabout ways."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semibandits._util.fingerprint import fingerprint


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("1.0")
    return tmp_path


def imports_late(w: Any) -> Any:
    import late_config  # type: ignore[import-not-found]

    return late_config.BONUS


def test_a_module_that_a_function_imports_counts_as_it_is(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its text, and by what of it is not as the text says."""
    file = project / "late_config.py"
    file.write_text("BONUS = 0.5\n\n\ndef twice(x):\n    return 2 * x\n")
    monkeypatch.delitem(sys.modules, "late_config", raising=False)
    unread = fingerprint(imports_late)
    imports_late(None)
    assert fingerprint(imports_late) == unread
    late_config = sys.modules["late_config"]
    monkeypatch.setattr(late_config, "BONUS", 1.5)
    assert fingerprint(imports_late).digest != unread.digest
    monkeypatch.setattr(late_config, "BONUS", 0.5)
    assert fingerprint(imports_late) == unread
    file.write_text("BONUS = 0.5\n\n\ndef twice(x):\n    return 3 * x\n")
    not_loaded_again = fingerprint(imports_late)
    monkeypatch.delitem(sys.modules, "late_config")
    assert len({unread.digest, not_loaded_again.digest, fingerprint(imports_late).digest}) == 3


def opens_another(w: Any, number: int = 1) -> Any:
    return np.loadtxt("a.csv") + np.loadtxt(f"{number}.csv")


def opens_by_format(w: Any, number: int = 1) -> Any:
    return np.loadtxt("a.csv") + np.loadtxt("{}.csv".format(number))  # noqa: UP032


def opens_what_a_file_says(w: Any) -> Any:
    with open("a.csv") as file:
        name = file.read()
    return np.loadtxt(name)


def opens_two(w: Any) -> Any:
    with open("log.txt", "a") as log:
        log.write("asked")
    return np.loadtxt("a.csv") + np.loadtxt("b.csv")


@pytest.mark.parametrize("solver", [opens_another, opens_by_format, opens_what_a_file_says])
def test_a_file_that_is_found_does_not_stand_for_another(project: Path, solver: Any) -> None:
    assert "opens a file whose name is not seen" in "; ".join(fingerprint(solver).unseen)


def test_all_files_that_are_opened_are_found(project: Path) -> None:
    before = fingerprint(opens_two)
    assert before.unseen == ()
    (project / "b.csv").write_text("2.0")
    assert fingerprint(opens_two).digest != before.digest


def draws_anywhere(w: Any) -> Any:
    return np.random.RandomState().random()


def draws_by_chance(w: Any) -> Any:
    return np.random.Generator(np.random.PCG64()).random()


@pytest.mark.parametrize("solver", [draws_anywhere, draws_by_chance])
def test_generators_without_a_seed(solver: Any) -> None:
    assert "without a seed" in "; ".join(fingerprint(solver).unseen)


def test_functions_that_numpy_hides() -> None:
    hidden = np.frompyfunc(lambda x: x + 1, 1, 1)
    assert "holds a numpy.ufunc" in fingerprint(hidden).unseen[0]
    assert fingerprint(np.sqrt).unseen == ()


def test_options_of_compiled_functions_count() -> None:
    import numba

    def plain(x: Any) -> Any:
        return x + 0.1

    made = [numba.njit(plain), numba.njit(plain), numba.njit(fastmath=True)(plain)]
    assert len({fingerprint(one).digest for one in made}) == 2


def test_shared_tuples_are_gone_through_once() -> None:
    deep: Any = ()
    for _ in range(60):
        deep = (deep, deep)
    assert fingerprint(deep).digest != fingerprint((deep, deep)).digest
