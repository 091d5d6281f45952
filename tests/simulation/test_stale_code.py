"""A store notices when the code or the data that its runs come from have changed."""

from pathlib import Path

import pytest

import users_project
from semibandits.digest import Fingerprint, fingerprint


def made_of(folder: Path, solver: str, edit: tuple[str, str, str] | None = None) -> Fingerprint:
    users_project.write(folder, edit)
    with users_project.imported(folder) as plan:
        problem = plan.problem(plan.solvers()[solver])
        return fingerprint((problem.feasible, problem.environment))


@pytest.mark.parametrize("name", users_project.EDITS)
def test_edits_are_noticed(tmp_path: Path, name: str) -> None:
    solver = name.partition(" #")[0]
    before = made_of(tmp_path, solver)
    assert before.unseen == ()
    assert made_of(tmp_path, solver) == before
    after = made_of(tmp_path, solver, users_project.EDITS[name])
    assert after.digest != before.digest
    assert after.parts != before.parts or solver == "partial"


@pytest.mark.parametrize("name", users_project.NO_EDITS)
def test_what_changes_nothing_is_not_noticed(tmp_path: Path, name: str) -> None:
    for solver in ("imported_function", "in_function", "a_file", "a_file_in_a_folder", "instance", "partial"):
        before = made_of(tmp_path, solver)
        assert made_of(tmp_path, solver, users_project.NO_EDITS[name]).digest == before.digest
