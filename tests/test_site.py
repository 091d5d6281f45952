"""The documentation site is built without a warning, is whole, and asks nobody else for anything."""

import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import pytest

import semibandits

ROOT = Path(__file__).parent.parent
MODULES = ["sets", "environments", "policies", "problems", "testing", "errors", "rng", "draws", "theory"]
SOURCES = ["kveton2015", "tight", "matroid", "chen2013", "escb", "graves_lai"]


@pytest.mark.long
def test_the_site(tmp_path: Path) -> None:
    """One test, as building takes ten seconds."""
    for needed in ("sphinx", "furo", "myst_parser"):
        pytest.importorskip(needed, reason=f"building the site needs {needed}: pip install '.[docs]'")
    site = built(tmp_path)
    pages = {path.relative_to(site).as_posix(): Page(path) for path in sorted(site.rglob("*.html"))}
    check_links(pages, site)
    check_nothing_is_loaded_from_elsewhere(pages, site)
    check_pages_are_in_the_menu(pages)
    check_public_names_are_explained(site)
    assert "reference/learner.html#semibandits.Learner" in pages["tutorial.html"].links  # of `Learner` in its text
    reference = (site / "reference" / "learner.html").read_text(encoding="utf-8")
    assert "names, where the learner has labels." in reference  # the string after an attribute


def built(folder: Path) -> Path:
    """Built from a copy, as the reference is written beside the pages."""
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("reference", "__pycache__"))
    for file in ("CHANGELOG.md", "benchmarks/README.md"):
        (folder / file).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / file, folder / file)
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", "site"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stderr
    return folder / "site"


class Page(HTMLParser):
    """The names of places in a page, where its links lead, and what a browser loads with it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a":
            self.links.append(given.get("href", ""))
        else:
            self.loaded += [given[name] for name in ("src", "href", "srcset", "data") if name in given]


def is_elsewhere(address: str) -> bool:
    return re.match(r"(?:\w+:)?//", address) is not None


def check_links(pages: dict[str, Page], site: Path) -> None:
    for name, page in pages.items():
        for link in page.links:
            target, _, anchor = unquote(link).partition("#")
            if is_elsewhere(target):
                continue
            path = (site / name).parent / target if target else site / name
            assert path.exists(), f"{name}: {link}"
            if anchor and path.suffix == ".html":
                there = pages[Path(os.path.normpath(path)).relative_to(site).as_posix()]
                assert anchor in there.anchors, f"{name}: {link}"


def check_nothing_is_loaded_from_elsewhere(pages: dict[str, Page], site: Path) -> None:
    for name, page in pages.items():
        assert not [address for address in page.loaded if is_elsewhere(address)], name
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", sheet.read_text(encoding="utf-8")), sheet


def check_pages_are_in_the_menu(pages: dict[str, Page]) -> None:
    made_by_sphinx = {"genindex.html", "py-modindex.html", "search.html", "index.html"}
    assert set(pages) - made_by_sphinx <= set(pages["index.html"].links)
    for folder in ("docs", "docs/howto"):
        sources = {page.relative_to(ROOT / "docs") for page in (ROOT / folder).glob("*.md")}
        assert {page.with_suffix(".html").as_posix() for page in sources} <= set(pages)


def check_public_names_are_explained(site: Path) -> None:
    from sphinx.util.inventory import InventoryFile

    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    explained = {name for kind, names in inventory.data.items() if kind.startswith("py:") for name in names}
    assert public_names() - explained == set()


def public_names() -> set[str]:
    """Everything a user can import from a public module, and what can be called and read of the classes there."""
    names = set()
    paths = [*(f"semibandits.{name}" for name in MODULES), *(f"semibandits.theory.{name}" for name in SOURCES)]
    for module in map(importlib.import_module, ["semibandits", *paths]):
        for name in getattr(module, "__all__", None) or own_names(module):
            one = getattr(module, name)
            if isinstance(one, ModuleType):
                continue
            names.add(f"{module.__name__}.{name}")
            if one in (semibandits.Learner, semibandits.Problem, semibandits.SimulationResult, semibandits.FeasibleSet):
                names |= {f"{module.__name__}.{name}.{member}" for member in vars(one) if member[0] != "_"}
    return names


def own_names(module: ModuleType) -> set[str]:
    def is_own(one: object) -> bool:
        return (inspect.isfunction(one) or inspect.isclass(one)) and one.__module__ == module.__name__

    return {name for name, one in vars(module).items() if name[0] != "_" and is_own(one)}
