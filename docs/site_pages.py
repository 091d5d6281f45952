"""What the site makes of plain Markdown pages: links from names to the reference, indices, links to other folders.

The pages are written to be read as they are. So `Learner.ask` in backticks becomes a link, K^{4/3} and Δ_e get a raised
and a lowered part, and links to files that stand outside this folder lead to the pages that include them. The index, by
which the search goes, too, has the terms of the glossary and what comments name: `<!-- index: HTTP, web server -->`.
"""

import re
from collections import Counter
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.util.nodes import make_refnode

OUTSIDE = {"benchmarks/README.md": "benchmarks.md", "CHANGELOG.md": "changelog.md", "README.md": "index.md"}
CALL = re.compile(r"([A-Za-z_][\w.]*)(\(.*\))?", re.DOTALL)
LOWERED = r"_(?:\{[^{}]+\}|(?:max|min|[^\W_])(?!\w)\*?)"
RAISED = r"\^(?:\{[^{}]+\}|\([^()]+\)|-?\w+)"
SYMBOL = r"(?:(?<!\w)(?:max|min|[^\W\d_][\u0300-\u036f]?)|Σ|(?<=√)\w)"  # one letter, not the end of a name
FORMULA = re.compile(rf"{SYMBOL}(?:{LOWERED})(?:{RAISED})?|(?<=[\w)\]|])(?:{RAISED})")
INDEX = re.compile(rf"{LOWERED}|{RAISED}")
ENTRIES = re.compile(r"<!-- index: (.+) -->")
AS_IT_IS = (nodes.literal, nodes.FixedTextElement, nodes.title, nodes.raw, addnodes.desc_signature)


def lead_inside(app: Any, docname: str, source: list[str]) -> None:
    up = "../" * (docname.count("/") + 1)
    for file, page in OUTSIDE.items():
        if page == f"{docname}.md":  # where we are
            source[0] = re.sub(rf"\[([^]]*)\]\({up}{file}\)", r"\1", source[0])
        source[0] = source[0].replace(f"]({up}{file}", f"]({up[3:]}{page}")


class Enter(SphinxTransform):
    """Makes entries of the index of comments and of terms in definition lists, where commas part one name from another.

    All are main entries, which the search shows first.
    """

    default_priority = 400

    def apply(self, **_: Any) -> None:
        for comment in list(self.document.findall(nodes.raw)):
            if named := ENTRIES.fullmatch(comment.astext().strip()):
                comment.parent.replace(comment, entries(named[1], comment.parent["ids"][0]))
        for term in self.document.findall(nodes.term):
            address = nodes.make_id(f"term-{term.astext().partition(',')[0]}")
            term["ids"].append(address)
            term += entries(term.astext(), address)


def entries(names: str, address: str) -> addnodes.index:
    return addnodes.index(entries=[("single", name, address, "main", None) for name in names.split(", ")])


def raise_and_lower(app: Any, doctree: nodes.document) -> None:
    for text in list(doctree.findall(nodes.Text)):
        if FORMULA.search(text) and not _within(text, AS_IT_IS):
            text.parent.replace(text, _indexed(text))


def _indexed(text: str) -> list[nodes.Node]:
    parts: list[nodes.Node] = []
    end = 0
    for formula in FORMULA.finditer(text):
        for index in INDEX.finditer(text, *formula.span()):
            kind = nodes.subscript if index[0][0] == "_" else nodes.superscript
            inside = re.sub(r"^[_^][{(]?|[})]$", "", index[0])
            parts += [nodes.Text(text[end : index.start()]), kind("", "", *_indexed(inside))]
            end = index.end()
    return [*parts, nodes.Text(text[end:])]


def link_names(app: Any, doctree: nodes.document, docname: str) -> None:
    names = _names(app.env.domains.python_domain.objects)
    for literal in list(doctree.findall(nodes.literal)):
        found = CALL.fullmatch(literal.astext())
        target = names.get(found[1]) if found else None
        if target is not None and not _within(literal, (nodes.reference, nodes.title, addnodes.desc_signature)):
            literal.parent.replace(literal, _link(app.builder, docname, target, literal))


def _link(builder: Any, docname: str, target: Any, literal: nodes.literal) -> nodes.reference:
    return make_refnode(builder, docname, target.docname, target.node_id, literal.deepcopy())


def _names(objects: dict[str, Any]) -> dict[str, Any]:
    """The names that users write, if they mean one thing only: `sb.sets.TopK`, `sets.TopK`, `TopK`, `TopK.argmax`."""
    names: dict[str, Any] = {}
    times: Counter[str] = Counter()
    for full, target in objects.items():
        if target.aliased:
            continue
        parts = full.split(".")
        known = {full, ".".join(["sb", *parts[1:]]), ".".join(parts[1:]), ".".join(parts[1:][-2:])}
        first = next((at for at, part in enumerate(parts) if part[0].isupper()), None)
        known |= {".".join(parts[first:])} if first else set()
        names |= dict.fromkeys(known, target)
        times.update(known)
    return {name: target for name, target in names.items() if name and times[name] == 1}


def _within(node: nodes.Node, kinds: tuple[type, ...]) -> bool:
    parent = node.parent
    while parent is not None:
        if isinstance(parent, kinds):
            return True
        parent = parent.parent
    return False


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", lead_inside)
    app.add_transform(Enter)
    app.connect("doctree-read", raise_and_lower)
    app.connect("doctree-resolved", link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
