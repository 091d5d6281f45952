"""Every example and every command of README and docs is run, in order, and prints what the page says."""

import contextlib
import io
import itertools
import re
import shlex
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import click
import cloudpickle
import pytest
from click.testing import CliRunner

from semibandits.cli import main
from semibandits.errors import to_install

ROOT = Path(__file__).parent.parent
FOLDERS = [ROOT / "docs", ROOT / "docs" / "howto"]
PAGES = [ROOT / "README.md", *(page for folder in FOLDERS for page in sorted(folder.glob("*.md")))]
PAGES += [ROOT / "benchmarks" / "README.md", ROOT / "CHANGELOG.md"]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
LANGUAGES = {"python", "text", "sh", "console", "toml", "json"}
LONG = {"reproduce", "bench"}
"""Commands that are not run from pages, as other tests run them: what a page says is read by the command line, no more.

The same holds for `console` blocks.
"""

DASHBOARD = 8787
"""The port that Dask's dashboard takes unless it is told otherwise."""

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pages
def test_examples_run_and_print_what_they_say(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    module = ModuleType("page")  # classes defined on a page need a module to live in
    monkeypatch.setitem(sys.modules, "page", module)
    with taken(DASHBOARD), sent_along(module):
        run_page(page, module, tmp_path)


@contextlib.contextmanager
def sent_along(module: ModuleType) -> Iterator[None]:
    """As a script's functions are, to processes that a slow machine needs for what another does in one."""
    cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(module)


@contextlib.contextmanager
def taken(port: int) -> Iterator[None]:
    """Somebody has this port, as it happens: no example may want one that is fixed."""
    with socket.socket() as somebody:
        with contextlib.suppress(OSError):  # somebody else
            somebody.bind(("", port))
            somebody.listen()
        yield


def run_page(page: Path, module: ModuleType, folder: Path) -> None:
    for (language, text), following in itertools.pairwise([*blocks(page), ("", "")]):
        assert language in LANGUAGES, text
        printed = None
        if language == "python":
            printed = run_python(text, page, module)
        elif language == "sh":
            printed = "".join(run_command(line) for line in commands(text))
        elif language == "console":
            for line in text.splitlines():
                if line.startswith("$ "):
                    check_command(shlex.split(line[2:]))
        elif language == "toml":
            save_document(text, folder)
        if following[0] == "text" and printed is not None:
            assert printed == following[1], f"{page.name}:\n{text}"


def run_python(text: str, page: Path, module: ModuleType) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        # "__main__" guards are for scripts that start processes: they run here too.
        exec(compile(text.replace('if __name__ == "__main__":', "if True:"), str(page), "exec"), module.__dict__)
    return printed.getvalue()


def save_document(text: str, folder: Path) -> None:
    """A document whose first line is its name, `# grid.toml`, is there for the commands that follow."""
    tomllib.loads(text)
    if named := re.match(r"# (\w[\w.-]*\.toml)\n", text):
        (folder / named[1]).write_text(text, encoding="utf-8")


def commands(text: str) -> list[str]:
    return [line for line in text.replace("\\\n", " ").splitlines() if line and not line.startswith("#")]


def run_command(line: str) -> str:
    """What a line prints; nothing, where it is not run, or read by another program."""
    program, *arguments = shlex.split(line.partition("|")[0], comments=True)
    check_command([program, *arguments])
    if program != "semibandits" or arguments[0] in LONG:
        return ""
    done = CliRunner().invoke(main, arguments, prog_name="semibandits")
    assert done.exit_code == 0, f"{line}\n{done.output}{done.exception!r}"
    return "" if "|" in line else done.stdout


def check_command(words: list[str]) -> None:
    program, *arguments = words
    if program == "semibandits":
        if not arguments[0].startswith("-"):
            parse(arguments)
    elif program == "make":
        done = subprocess.run(["make", "-n", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    elif program == "pip":
        assert arguments[0] == "install", words
        assert {extra for word in arguments[1:] for extra in extras(word)} <= known_extras(), words
    else:
        assert program == "python", f"the tests do not know what {program} is"
        assert (ROOT / arguments[0]).exists(), words


def parse(arguments: list[str]) -> None:
    """Lets the command line read these words, without running anything."""
    context = click.Context(main, info_name="semibandits", **main.context_settings)
    command = main.get_command(context, arguments[0])
    assert command is not None, f"there is no command {arguments[0]}"
    with contextlib.suppress(click.exceptions.Exit):  # --help
        command.make_context(arguments[0], arguments[1:], parent=context)


def extras(requirement: str) -> list[str]:
    """Of `.[plot,frames]`, in a clone: the package is in no index yet."""
    found = re.fullmatch(r"\.(?:\[([\w,]+)\])?", requirement)
    assert found or requirement.startswith("-"), requirement
    return found[1].split(",") if found and found[1] else []


def known_extras() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return set(project["optional-dependencies"])


@pages
def test_links_lead_somewhere(page: Path) -> None:
    for target, section in LINK.findall(page.read_text(encoding="utf-8")):
        path = page.parent / target if target else page
        assert path.exists(), target
        if section:
            assert section in anchors(path), f"{target}#{section}"


def anchors(page: Path) -> set[str]:
    """The sections of a page, by the names that GitHub gives them."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text)}


@pages
def test_extras_named_in_the_text_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"pip install [\"']?\.\[([\w,]+)\]", text)
    assert {extra for names in named for extra in names.split(",")} <= known_extras()
    assert not re.search(r"pip install [\"']?semibandits", text)


def test_extras_named_in_errors_exist() -> None:
    code = {path: path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")}
    named = {extra for text in code.values() for extra in re.findall(r"to_install\([\"'](\w+)[\"']\)", text)}
    assert named == {"plot", "frames", "milp", "cluster"}
    assert named <= known_extras()
    assert not [path for path, text in code.items() if "semibandits[" in text or "pip install semibandits" in text]
    assert to_install("plot") == 'pip install ".[plot]" in a clone of semibandits'


def test_extras_are_for_what_is_there() -> None:
    """What an extra installs is imported somewhere, by name; `docs` and `dev` are for ourselves."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {name: listed for name, listed in project["optional-dependencies"].items() if name not in ("docs", "dev")}
    assert sorted(extras(wanted.pop("all")[0].replace("semibandits", "."))) == sorted(wanted)
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    for requirement in itertools.chain(*wanted.values()):
        package = re.split(r"[\[<>=]", requirement)[0].replace("-", "_")
        assert re.search(rf"import_module\([\"']{package}|(import|from) {package}\b", code), requirement


def test_pictures_show_the_actual_sets() -> None:
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        import pictures
    finally:
        sys.path.pop(0)
    for name, draw in pictures.PICTURES.items():
        assert (pictures.FOLDER / name).read_text(encoding="utf-8") == draw()
