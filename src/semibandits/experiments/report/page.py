"""The frame of a page: one HTML document that needs nothing but itself."""

import re
from collections.abc import Iterable
from importlib.resources import files
from typing import NamedTuple

from semibandits._util.html import Html, escape


class Section(NamedTuple):
    """A part of a page."""

    title: str
    body: str
    """HTML."""


def page(title: str, sections: Iterable[Section], lead: str = "", about: str = "") -> str:
    """The whole document: a heading, what it all comes to (`lead`), what it is about, links to the sections, these.

    Light or dark as the reader prefers, and light on paper, where all that is folded is open. It holds no script and
    asks for nothing from elsewhere. `lead` is text, or `Html`; `about` is HTML.
    """
    listed = list(sections)
    named = dict(zip(unique(slug(section.title) for section in listed), listed, strict=True))
    links = "".join(f'<li><a href="#{id}">{escape(section.title)}</a></li>' for id, section in named.items())
    nav = f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n' if len(named) > 1 else ""
    said = f'<p class="lead">{escape(lead)}</p>\n' if lead else ""
    style = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    body = "".join(
        f'<section aria-labelledby="{id}">\n<h2 id="{id}">{escape(section.title)}</h2>\n{section.body}</section>\n'
        for id, section in named.items()
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<title>{escape(title)}</title>\n<link rel="icon" href="data:,">\n<style>\n{style}</style>\n</head>\n<body>\n'
        f"<header>\n<h1>{escape(title)}</h1>\n{said}{about}{nav}</header>\n"
        f"<main>\n{body}</main>\n</body>\n</html>\n"
    )


def nested(sections: Iterable[Section]) -> Html:
    """Sections inside a section."""
    return Html("".join(f"<h3>{escape(section.title)}</h3>\n{section.body}" for section in sections))


def slug(title: str) -> str:
    """A title as a name for links and files."""
    return re.sub("[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "section"


def unique(names: Iterable[str]) -> list[str]:
    """Each with a number where it was there before.

    >>> unique(["a", "b", "a", "a"])
    ['a', 'b', 'a-2', 'a-3']
    """
    taken: dict[str, None] = {}
    for name in names:
        one, number = name, 2
        while one in taken:
            one, number = f"{name}-{number}", number + 1
        taken[one] = None
    return list(taken)
