"""A folder of results: only what was written there is replaced or removed, and no link is followed."""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from semibandits.cli import main
from semibandits.errors import BadState, StoreFailed
from semibandits.experiments import running
from semibandits.experiments.paper import reproduce
from semibandits.experiments.running import run
from support.experiment_files import GRID, of

SWEPT = f"{GRID}[sweep]\nproblem.m = [1, 2]\n"
OTHERS = (
    *("figures/my_own.png", "figures/my_own.svg", "figures/.hidden", "figures/.my.svg.0123abcd"),
    *("results/my_own.parquet", "results/7.parquet", "results/.notes", "data/my_own.csv", "data/.my.csv.0123abcd"),
    *("runs/my_own.txt", "notes.txt", ".my_own.0123abcd", "index.html"),
)


class Drawn(NamedTuple):
    name: str

    def file(self, form: str) -> bytes:
        return form.encode()


@pytest.fixture(autouse=True)
def _quick_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing takes a while, and is tested elsewhere."""

    def page(title: str, points: Any, *, gallery: Any, **about: Any) -> str:
        gallery.pictures += [Drawn(f"point-{number}") for number in range(len(points))]
        return title

    monkeypatch.setattr(running, "report_page", page)


def put(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"mine: {name}", encoding="utf-8")


def kept(folder: Path, *names: str) -> bool:
    return all((folder / name).read_text(encoding="utf-8") == f"mine: {name}" for name in names)


def listed(folder: Path) -> list[str]:
    names: list[str] = json.loads((folder / "experiment.json").read_text(encoding="utf-8"))["written"]
    return names


def there(folder: Path) -> set[str]:
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return {name for name in found if not name.startswith((".", "runs/", "experiment."))}


def test_files_of_the_users_own_survive_the_next_run(tmp_path: Path) -> None:
    out = run(of(tmp_path, SWEPT), tmp_path / "out", report=True).folder
    before = there(out)
    assert before == set(listed(out))
    put(out, *OTHERS)
    for text, report in ((SWEPT.replace("[1, 2]", "[1]"), True), (SWEPT, False), (SWEPT, True)):
        run(of(tmp_path, text), out, report=report)
        assert kept(out, *OTHERS)
    assert there(out) - before == {name for name in OTHERS if not name.startswith((".", "runs/"))}


def test_a_report_belongs_to_the_numbers_beside_it(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(of(tmp_path, SWEPT), out, report=True)
    assert len(list(out.glob("figures/*"))) == 2 * 3
    one = SWEPT.replace("[1, 2]", "[2]")
    run(of(tmp_path, one), out, report=True)
    assert sorted(path.name for path in out.glob("figures/*")) == ["point-0.pdf", "point-0.png", "point-0.svg"]
    assert [path.name for path in out.glob("results/*")] == ["0.parquet"]
    assert (out / "report.html").read_text() == "Grid"
    run(of(tmp_path, one), out)
    assert not [*out.glob("report.html"), *out.glob("figures/*")]


def test_a_file_in_the_way_is_not_overwritten(tmp_path: Path) -> None:
    out = run(of(tmp_path, GRID), tmp_path / "out").folder
    put(out, "report.html", "figures/point-0.png")
    with pytest.raises(BadState, match=r"holds files that were not written here.*: report\.html\. Move them elsewhere"):
        run(of(tmp_path, GRID), out, report=True)
    (out / "report.html").unlink()
    with pytest.raises(BadState, match=r"where results are to be written: figures/point-0\.png"):
        run(of(tmp_path, GRID), out, report=True)
    assert kept(out, "figures/point-0.png")
    assert sorted(path.name for path in (out / "figures").iterdir()) == ["point-0.png"]
    (out / "figures" / "point-0.png").unlink()
    run(of(tmp_path, GRID), out, report=True)
    (out / "data" / "summary.csv").write_text("edited: it is listed, and so it is ours")
    run(of(tmp_path, GRID), out)
    assert (out / "data" / "summary.csv").read_text().startswith("point,")


@pytest.mark.parametrize("name", ["figures", "data", "results", "runs"])
def test_links_in_the_folder_are_not_followed(tmp_path: Path, name: str) -> None:
    out = run(of(tmp_path, GRID), tmp_path / "out", report=True).folder
    elsewhere = tmp_path / "elsewhere"
    (out / name).rename(elsewhere)
    put(elsewhere, "my_own.png", ".summary.csv.0123abcd")
    before = {path.name: path.read_bytes() for path in elsewhere.iterdir() if path.is_file()}
    (out / name).symlink_to(elsewhere)
    for report in (True, False):
        with pytest.raises(BadState, match=f"{name} is a link, and nothing is written or removed behind a link"):
            run(of(tmp_path, GRID), out, report=report)
    assert {path.name: path.read_bytes() for path in elsewhere.iterdir() if path.is_file()} == before


def test_a_link_in_the_place_of_a_file_is_replaced_and_the_file_behind_it_is_not(tmp_path: Path) -> None:
    out = run(of(tmp_path, SWEPT), tmp_path / "out").folder
    put(tmp_path, "mine.csv")
    for name in ("data/summary.csv", "results/1.parquet"):
        (out / name).unlink()
        (out / name).symlink_to(tmp_path / "mine.csv")
    run(of(tmp_path, SWEPT.replace("[1, 2]", "[1]")), out)
    assert kept(tmp_path, "mine.csv")
    assert not (out / "data" / "summary.csv").is_symlink()
    assert not os.path.lexists(out / "results" / "1.parquet")
    (out / "results" / "1.parquet").symlink_to(tmp_path / "mine.csv")
    with pytest.raises(BadState, match=r"where results are to be written: results/1\.parquet"):
        run(of(tmp_path, SWEPT), out)
    assert kept(tmp_path, "mine.csv")


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "large disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "large disk")
    run(of(tmp_path, GRID), tmp_path / "out")
    assert (tmp_path / "large disk" / "data" / "summary.csv").exists()


def test_a_folder_of_a_version_without_a_list_loses_nothing(tmp_path: Path) -> None:
    out = run(of(tmp_path, GRID), tmp_path / "out", report=True).folder
    manifest = json.loads((out / "experiment.json").read_text(encoding="utf-8"))
    del manifest["written"]
    (out / "experiment.json").write_text(json.dumps(manifest), encoding="utf-8")
    before = {name: (out / name).read_bytes() for name in there(out)}
    with pytest.raises(BadState, match=r"by a version that kept no list of them, where results are to be .*: data/"):
        run(of(tmp_path, GRID), out)
    assert {name: (out / name).read_bytes() for name in there(out)} == before
    for name in ("data", "results", "figures", "report.html"):
        (out / name).rename(tmp_path / name)
    assert "data/summary.csv" in there(run(of(tmp_path, GRID), out).folder)


def test_a_list_that_somebody_changed_names_nothing_outside(tmp_path: Path) -> None:
    out = run(of(tmp_path, GRID), tmp_path / "out").folder
    put(tmp_path, "outside.csv")
    put(out, "notes.txt", ".hidden")
    manifest = json.loads((out / "experiment.json").read_text(encoding="utf-8"))
    bad = [
        "../outside.csv",
        "data/../../outside.csv",
        str(tmp_path / "outside.csv"),
        "notes.txt",
        ".hidden",
        7,
        None,
        "",
    ]
    for written in ([*manifest["written"], *bad], [*manifest["written"], "data/gone.csv"]):
        (out / "experiment.json").write_text(json.dumps({**manifest, "written": written}), encoding="utf-8")
        run(of(tmp_path, GRID), out)
    assert kept(tmp_path, "outside.csv")
    assert kept(out, "notes.txt", ".hidden")
    assert listed(out) == manifest["written"]


def test_only_half_files_of_our_own_are_removed(tmp_path: Path) -> None:
    out = run(of(tmp_path, GRID), tmp_path / "out").folder
    (store,) = (out / "runs").iterdir()
    half = [".experiment.json.0123abcd", "data/.summary.csv.0123abcd", "results/.0.parquet.0123abcd"]
    half += [f"runs/{store.name}/.{'0' * 16}-32.npz.0123abcd", f"runs/{store.name}/.experiment.json.0123abcd"]
    others = [".gitignore", "data/.gitignore", "data/.mine.csv.0123abcd", "figures/.regret.svg.0123abcd"]
    others += [".notes.0123abcd", f"runs/{store.name}/.mine.npz.0123abcd", ".report.html.0123abcd"]
    put(out, *half, *others)
    (out / "data" / ".hidden").mkdir()
    (out / "data" / ".regret.csv.0123abcd").symlink_to(out / "data" / ".gitignore")
    run(of(tmp_path, GRID), out)
    assert kept(out, *others)
    assert not any((out / name).exists() for name in half)
    assert (out / "data" / ".hidden").is_dir()
    assert (out / "data" / ".regret.csv.0123abcd").is_symlink()


def test_what_was_being_written_when_it_was_killed_is_known_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*arguments: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(running, "save", stopped)
        with pytest.raises(KeyboardInterrupt):
            run(of(tmp_path, GRID), tmp_path / "out", report=True)
    put(tmp_path / "out", "figures/point-0.svg")  # as if it had come so far
    out = run(of(tmp_path, GRID), tmp_path / "out", report=True).folder
    assert (out / "figures" / "point-0.svg").read_bytes() == b"svg"


def test_a_lock_that_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    os.mkfifo(tmp_path / "out" / ".lock")
    with pytest.raises(BadState, match=r"\.lock is no file"):
        run(of(tmp_path, GRID), tmp_path / "out")


def test_a_comparison_keeps_files_of_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    command = ["compare", "k_path:n_items=4,k=2,gap=0.5", "-p", "CTS", "--horizon", "20", "--runs", "2"]
    for _ in range(2):
        with pytest.raises(SystemExit) as ended:
            main([*command, "--out", str(out)])
        assert ended.value.code == 0
        put(out, *OTHERS)
    assert kept(out, *OTHERS)


def test_a_reproduction_keeps_files_of_others(tmp_path: Path) -> None:
    out = tmp_path / "out"
    reproduce(out=out, only="fig1b", progress=False)
    put(out, "figures/mine.svg", "data/.hidden", "notes.txt", "figures/fig1a.svg")
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with pytest.raises(BadState, match=r"where results are to be written: figures/fig1a\.svg"):
        reproduce(out=out, only="fig1a", progress=False)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    (out / "figures" / "fig1a.svg").unlink()
    (out / "figures").rename(tmp_path / "elsewhere")
    (out / "figures").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadState, match="figures is a link"):
        reproduce(out=out, only="fig1a", progress=False)
    assert (tmp_path / "elsewhere" / "fig1b.svg").exists()
    assert kept(out, "data/.hidden", "notes.txt")


def test_a_folder_that_became_a_file_is_not_written_into(tmp_path: Path) -> None:
    out = run(of(tmp_path, GRID), tmp_path / "out").folder
    for path in (out / "results").iterdir():
        path.unlink()
    (out / "results").rmdir()
    put(out, "results")
    with pytest.raises(StoreFailed, match="could not be written"):
        run(of(tmp_path, GRID), out)
    assert kept(out, "results")


def test_a_refused_run_leaves_the_report_as_it_was(tmp_path: Path) -> None:
    out = run(of(tmp_path, SWEPT.replace("[1, 2]", "[1]")), tmp_path / "out", report=True).folder
    put(out, "figures/point-1.png")
    before = {name: (out / name).read_bytes() for name in there(out)}
    with pytest.raises(BadState, match=r"figures/point-1\.png"):
        run(of(tmp_path, SWEPT), out, report=True)
    assert {name: (out / name).read_bytes() for name in there(out)} == before


def test_a_link_in_place_of_a_result_is_replaced_itself(tmp_path: Path) -> None:
    out = run(of(tmp_path, GRID), tmp_path / "out").folder
    (tmp_path / "precious").write_text("mine")
    (out / "results" / "0.parquet").unlink()
    (out / "results" / "0.parquet").symlink_to(tmp_path / "precious")
    run(of(tmp_path, GRID), out)
    assert (tmp_path / "precious").read_text() == "mine"
    assert not (out / "results" / "0.parquet").is_symlink()
