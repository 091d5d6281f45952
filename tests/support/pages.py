"""Reading the HTML that we write, and what must hold of all of it."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from semibandits.experiments.report import pictures

VOID = {"meta", "link", "br", "hr", "img", "input", "wbr"}


class Page(HTMLParser):
    """Tags that match, ids that are there once, texts, tables; anything wrong is an assertion."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: set[str] = set()
        self.references: set[str] = set()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.tables: list[list[list[str]]] = []
        self.texts: list[str] = []
        self._cell: list[str] | None = None
        self.feed(html)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    @property
    def text(self) -> str:
        """All that is to be read, in order."""
        return " ".join(" ".join(self.texts).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"an attribute twice in {tag}: {names}"
        for name, value in attrs:
            self.attributes.append((name, value or ""))
            if name == "id":
                assert value not in self.ids, f"the id {value} is there twice"
                self.ids.add(value or "")
            if name in ("href", "xlink:href", "src", "srcset", "action", "poster", "data"):
                self.links.append(value or "")
            self.references |= set(re.findall(r"url\(#([^)]+)\)", value or ""))
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self._cell = []

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1] == tag, f"</{tag}> inside of {self.open[-3:]}"
        self.open.pop()
        if tag in ("td", "th") and self._cell is not None:
            self.tables[-1][-1].append("".join(self._cell))
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)
        if not {"style", "script"} & set(self.open):
            self.texts.append(data)


def skip_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures are prepared but not drawn, which takes most of the time of a report."""
    empty = b'<svg xmlns="http://www.w3.org/2000/svg" width="9pt" viewBox="0 0 9 9"/>'
    monkeypatch.setattr(pictures, "_render", lambda *_, **__: empty)


def read(html: str) -> Page:
    """A fragment or a page, after checking that it is in order and needs nothing from elsewhere."""
    page = Page(html)
    assert not {"script", "iframe", "object", "embed", "img"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    for link in page.links:
        assert link.startswith(("#", "data:")), link
        if link.startswith("#"):
            page.references.add(link[1:])
    assert page.references <= page.ids, page.references - page.ids
    assert "@import" not in html
    return page


def show(thing: Any) -> Page:
    """What a notebook shows."""
    html = thing._repr_html_()
    assert "background:#" not in html  # it must read on light and on dark
    assert not html.startswith("<pre>")  # which is what remains where something went wrong
    return read(html)


def read_document(html: str) -> Page:
    """A whole page."""
    assert html.startswith("<!DOCTYPE html>\n")
    page = read(html)
    assert page.tags[:2] == ["html", "head"]
    for tag in ("title", "header", "h1", "main", "section", "h2"):
        assert tag in page.tags, tag
    assert [page.tags.count(tag) for tag in ("html", "head", "body", "title", "h1", "main")] == [1] * 6
    for attribute in (("lang", "en"), ("name", "viewport"), ("name", "color-scheme"), ("charset", "utf-8")):
        assert attribute in page.attributes
    return page
