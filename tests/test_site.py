"""The documentation site is built without a warning, is whole, asks nobody else for anything, and is found and read."""

import importlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote

import pytest

import semibandits
from support.browser import Browser, open_browser

ROOT = Path(__file__).parent.parent
MODULES = ["sets", "environments", "policies", "problems", "testing", "errors", "rng", "draws", "theory"]
SOURCES = ["kveton2015", "tight", "matroid", "chen2013", "escb", "graves_lai"]

SEARCHED = {
    "faq": "FAQ, context, offline evaluation, deploy, HTTP, server, GPU, timeout, vehicle routing, position bias, PDF, "
    "LaTeX, export, monitor, outlier, unbounded, web server, OR-tools, time limit, logs, metrics, cite",
    "glossary": "glossary, super arm, base arm, CMAB, pseudo-regret, posterior sampling, cold start, warm start, "
    "context, off-policy evaluation, inverse propensity, semi-bandit feedback, horizon, anytime, matroid, oracle, UCB",
    "index": "install",
}
"""What people look for, and the page that the search has to show among its first two."""

READ = ["index", "choosing", "faq", "glossary", "sets", "suite", "reference/learner", "search"]
"""Pages that are looked at in a browser: each kind of thing is on one of them."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for needed in ("sphinx", "furo", "myst_parser"):
        pytest.importorskip(needed, reason=f"building the site needs {needed}: pip install '.[docs]'")
    return built(tmp_path_factory.mktemp("site"))


@pytest.mark.long
def test_the_site(site: Path) -> None:
    pages = {path.relative_to(site).as_posix(): Page(path) for path in sorted(site.rglob("*.html"))}
    check_links(pages, site)
    check_nothing_is_loaded_from_elsewhere(pages, site)
    check_pages_are_in_the_menu(pages)
    check_public_names_are_explained(site)
    check_words_are_in_the_index_of_the_search(site)
    assert "reference/learner.html#semibandits.Learner" in pages["tutorial.html"].links  # of `Learner` in its text
    reference = (site / "reference" / "learner.html").read_text(encoding="utf-8")
    assert "names, where the learner has labels." in reference  # the string after an attribute


@pytest.mark.long
def test_the_site_in_a_browser(site: Path) -> None:
    with open_browser() as window:
        for page in READ:
            for theme in ("light", "dark"):
                for width in (1280, 360):
                    visit = window.visit(site / f"{page}.html", theme=theme, width=width)
                    assert visit.messages == []
                    assert all(address.startswith(site.as_uri()) for address in visit.requests)
                    assert window.violations() == [], f"{page}, {theme}, {width}"
        for path in site.rglob("*.html"):
            assert window.visit(path, width=360).width == 360, f"{path} scrolls to the side"
        check_pictures_follow_the_theme(window, site)
        check_wide_boxes_say_that_there_is_more(window, site)
        check_code_is_copied(window, site)
        check_the_search(window, site)


@pytest.mark.parametrize("page", ["faq", "glossary"])
def test_words_that_are_searched_for_are_entries_of_the_index(page: str) -> None:
    """As comments and the terms of definitions make them, told without building the site."""
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    terms = re.findall(r"^<!-- index: (.+) -->$|^(.+)\n: ", text, re.MULTILINE)
    entries = {name.strip("*").lower() for found in terms for name in "".join(found).split(", ")}
    assert {word.lower() for word in SEARCHED[page].split(", ")} <= entries


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


def check_words_are_in_the_index_of_the_search(site: Path) -> None:
    """Every word, as the search stems it, stands on the page, and the whole is a main entry of its index."""
    from sphinx.search.en import SearchEnglish

    language = SearchEnglish({})
    index = search_index(site)
    for page, words in SEARCHED.items():
        number = index["docnames"].index(page)
        for searched in words.split(", "):
            main = [place for place, _, is_main in index["indexentries"][searched.lower()] if is_main]
            assert number in main, searched
            for word in language.split(searched.lower()):
                stem = language.stem(word)
                places = [index[where].get(stem, []) for where in ("terms", "titleterms")]
                there = {place for found in places for place in (found if isinstance(found, list) else [found])}
                assert number in there or not language.word_filter(stem), f"{searched}: {word}"


def search_index(site: Path) -> Any:
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    return json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))


def check_the_search(window: Browser, site: Path) -> None:
    """By its own script, as a reader asks it."""
    window.visit(f"{(site / 'search.html').as_uri()}?q=FAQ")
    window.wait_until("document.querySelectorAll('#search-results li').length > 0")
    assert "FAQ" in window.run("return document.querySelector('#search-results li a').textContent")
    for page, words in SEARCHED.items():
        for searched in words.split(", "):
            ask = f"return Search._performSearch(...Search._parseQuery({json.dumps(searched)})).map(hit => hit[0])"
            assert page in window.run(ask)[-2:], searched  # the best is the last
    for searched, title in (("GPU", "FAQ > Does it run on a GPU?"), ("super arm", "Glossary > solution")):
        ask = f"return Search._performSearch(...Search._parseQuery('{searched}')).pop()[1]"
        assert window.run(ask) == title


def check_pictures_follow_the_theme(window: Browser, site: Path) -> None:
    """Whether it is the reader's own or was chosen with the button of the page."""
    turned = "return getComputedStyle(document.querySelector('article img')).filter"
    for theme, chosen, expected in (
        ("light", "auto", "none"),
        ("dark", "auto", "invert(0.92) hue-rotate(180deg)"),
        ("light", "dark", "invert(0.92) hue-rotate(180deg)"),
        ("dark", "light", "none"),
    ):
        window.visit(site / "index.html", theme=theme)
        window.run(f"document.body.dataset.theme = '{chosen}'")
        assert window.run(turned) == expected, (theme, chosen)


def check_wide_boxes_say_that_there_is_more(window: Browser, site: Path) -> None:
    """The edge is coloured, and keys scroll as well as fingers do; what fits is left alone."""
    window.visit(site / "suite.html", width=360)
    boxes = window.run(
        "return [...document.querySelectorAll('article .table-wrapper, article pre')].map(box =>"
        " [box.scrollWidth > box.clientWidth, box.tabIndex === 0, getComputedStyle(box).backgroundImage])"
    )
    assert {wide for wide, _, _ in boxes} == {True, False}
    for wide, focusable, edges in boxes:
        assert wide == focusable
        assert edges.count("linear-gradient") == 4


def check_code_is_copied(window: Browser, site: Path) -> None:
    """What is typed and nothing that is printed, from a file as from a server."""
    window.visit(site / "reference" / "sets.html")
    assert window.run("return typed('>>> a = 1\\n>>> if a:\\n...     a\\n1\\n')") == "a = 1\nif a:\n    a\n"
    assert window.run("return typed('$ make docs\\ndone\\n')") == "make docs\n"
    assert window.run("return typed('f(\\n...\\n)\\n')") == "f(\n...\n)\n"
    for has_clipboard in (True, False):  # a page from plain HTTP has none
        window.visit(site / "index.html")
        assert window.run("return document.querySelectorAll('.highlight-text .copy').length") == 0
        if not has_clipboard:
            window.run("delete Navigator.prototype.clipboard")
            window.run("document.addEventListener('copy', () => { window.copied = String(document.getSelection()) })")
        window.click(".highlight-python .copy")
        window.wait_until("document.querySelector('article [role=status]').textContent === 'Copied'")
        if not has_clipboard:
            code = window.run("return document.querySelector('.highlight-python pre').textContent")
            assert window.run("return window.copied") == code.rstrip("\n") + "\n"


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
