"""Every example of README and docs is run, in order, and prints what the page says."""

import contextlib
import io
import itertools
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "benchmarks" / "README.md"]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


@pages
def test_examples_run_and_print_what_they_say(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    module = ModuleType("page")  # classes defined on a page need a module to live in
    monkeypatch.setitem(sys.modules, "page", module)
    namespace = module.__dict__
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    for (language, text), following in itertools.pairwise([*blocks, ("", "")]):
        if language != "python":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            # "__main__" guards are for scripts that start processes: they run here too.
            exec(compile(text.replace('if __name__ == "__main__":', "if True:"), str(page), "exec"), namespace)
        if following[0] == "text":
            assert printed.getvalue() == following[1], f"{page.name}:\n{text}"


@pages
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pages
def test_commands_exist(page: Path) -> None:
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        for line in text.splitlines() if language == "sh" else ():
            program, *arguments = line.split("#")[0].split("|")[0].split()
            if program == "make":
                done = subprocess.run(["make", "-n", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
                assert done.returncode == 0, done.stderr
            else:
                assert program == "python", line
                assert (ROOT / arguments[0]).exists(), line


def test_pictures_show_the_actual_sets() -> None:
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        import pictures
    finally:
        sys.path.pop(0)
    for name, draw in pictures.PICTURES.items():
        assert (pictures.FOLDER / name).read_text(encoding="utf-8") == draw()
