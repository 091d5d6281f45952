"""Writes the API reference, one page for each room of the package, from its own docstrings: a Sphinx extension.

Docstrings here are Markdown: single backticks are code, indented lines formulas, `>>>` examples. So are the pages. They
go to the folder `reference`, which git does not keep, whenever the site is built.
"""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from site_source import PACKAGE, Definition, annotation, bases, find, members, public, signature, tree

FOLDER = "reference"


class Page(NamedTuple):
    """What stands on a page: names of modules, or all that a module has for users."""

    file: str
    title: str
    modules: dict[str, tuple[str, ...]]


CONTRACT = ("FeasibleSet", "Environment", "IndexPolicy", "Policy")
WORDS = ("Items", "Weights", "Bounds", "Sense", "Init", "FeedbackKind", "Scalar", "Params", "Game", "Solver", "Quotas")
MATHS = ("where", "sqrt", "log", "ln", "exp", "turn", "xlogy", "betaincinv", "ndtri_exp", "as_index", "word", "as_word")
FILES = {
    "experiments": ("read", "Experiment", "run", "Point", "write_report", "write_table"),
    "experiments.files.document": ("Plan",),
    "experiments.running": ("Finished",),
    "experiments.report.experiment": ("report",),
}
STUDIES = {
    "experiments.paper.tightness": ("run", "draw", "Instance", "Tightness", "Cell", "Fit"),
    "experiments.paper.constants": ("table", "draw", "Table", "Row"),
    "experiments.paper.lemma_1": (),
}
PAGES = (
    Page("learner", "Live use", {"": ("Learner", "Decision"), "live": ("Event",)}),
    Page("problems", "Problems", {"": ("Problem",), "problems": ()}),
    Page("simulation", "Simulation", {"": ("simulate", "SimulationResult"), "simulation": ()}),
    Page("sets", "Feasible sets", {"sets": (), "sets.base": ("BuiltIn",)}),
    Page("environments", "Environments", {"environments": ()}),
    Page("policies", "Policies", {"policies": ()}),
    Page("theory", "Bounds of regret", {"theory": ()}),
    Page("kveton2015", "Bounds: Kveton et al. 2015", {"theory.kveton2015": ()}),
    Page("tight", "Bounds: tighter ones", {"theory.tight": ()}),
    Page("matroid", "Bounds: matroids", {"theory.matroid": ()}),
    Page("chen2013", "Bounds: Chen et al. 2013", {"theory.chen2013": ()}),
    Page("escb", "Bounds: ESCB", {"theory.escb": ()}),
    Page("graves_lai", "Bounds: Graves and Lai", {"theory.graves_lai": ()}),
    Page(
        "types",
        "The contract",
        {
            "": CONTRACT,
            "types": (*WORDS, "TradeOffs", "total"),
            "policies.solution": ("CompiledPolicy", "PolicyKernels", "best_of", "score_items"),
        },
    ),
    Page("testing", "Checks of your own parts", {"testing": ()}),
    Page("rng", "Random numbers", {"rng": ()}),
    Page("draws", "Random numbers of other distributions", {"draws": ()}),
    Page("kernel", "Maths for policies and environments", {"kernel": MATHS}),
    Page("errors", "Errors", {"": ("SemiBanditError",), "errors": ()}),
    Page("experiments", "Experiment files and reports", FILES),
    Page(
        "paper",
        "The paper's experiments",
        {"experiments.paper": (), "experiments.paper.published": ("run_cell", "Cell")},
    ),
    Page("suite", "The suite", {"experiments.suite": ()}),
    Page("studies", "Studies", STUDIES),
)


def shown_on(page: Page) -> Iterator[tuple[str, Definition]]:
    """The names by which users know what stands on a page, and what these are."""
    for part, names in page.modules.items():
        module = f"{PACKAGE}.{part}".rstrip(".")
        for name in names or public(module):
            one = find(module, name)
            assert one is not None, f"{module} has no {name}"
            yield f"{module}.{name}", one


@functools.cache
def shown() -> dict[tuple[str, str], str]:
    """What the reference shows: from where it is defined to the name on its page. Nothing is shown twice."""
    names: dict[tuple[str, str], str] = {}
    for page in PAGES:
        for name, one in shown_on(page):
            names.setdefault((one.module, one.name), name)
    return names


def is_shown(one: Definition) -> bool:
    return (one.module, one.name) in shown()


def qualified(text: str, module: str) -> str:
    """A signature or type, in which names of the reference are given in full, so that they become links."""

    def full(found: re.Match[str]) -> str:
        one = find(module, found[0])
        return found[0] if one is None else shown().get((one.module, one.name), found[0])

    return re.sub(r"(?<![\w.'])[A-Z]\w*", full, text)


def markdown(doc: str) -> str:
    """A docstring, with a fence around examples."""
    return re.sub(r"^>>> .*?(?=\n\n|\Z)", r"```pycon\n\g<0>\n```", doc, flags=re.DOTALL | re.MULTILINE)


def directive(kind: str, title: str, options: dict[str, str], body: str, fence: str) -> str:
    lines = [f"{fence}{{py:{kind}}} {title}", *(f":{key}: {value}".rstrip() for key, value in options.items())]
    return "\n".join([*lines, "", body, fence, ""])


def entry(full: str, one: Definition) -> str:
    name = full.rpartition(".")[2]
    options = {} if full == f"{one.module}.{one.name}" else {"canonical": f"{one.module}.{one.name}"}
    body = markdown(one.doc)
    if one.is_class:
        above = [shown()[base.module, base.name] for base in bases(one) if is_shown(base)]
        body += f"\n\nIs a `{above[0]}`." if above else ""
        body += "\n\n" + "\n".join(member(found) for found in members_of(one))
        kind = "exception" if any(family.name == "SemiBanditError" for family in (one, *bases(one))) else "class"
        return directive(kind, name + qualified(signature(one), one.module), options, body, "::::")
    if one.is_function:
        return directive("function", name + qualified(signature(one), one.module), options, body, "::::")
    return directive("data", name, options | facts(one), body, "::::")


def members_of(one: Definition) -> Iterator[Definition]:
    """What a class has, and takes from classes without an entry; but not what it only does in a way of its own.

    Without a docstring, a method is not for users, and a policy's parameter is in the signature already.
    """
    elsewhere = {name for base in bases(one) if is_shown(base) for name in members(base)}
    is_policy = not {"IndexPolicy", "Policy"}.isdisjoint(base.name for base in bases(one))
    seen: set[str] = set()
    for family in (one, *(base for base in bases(one) if not is_shown(base))):
        for name, found in members(family).items():
            plain = not (found.is_method or is_policy or name in elsewhere)
            if name not in seen and (found.doc or plain):
                yield found
            seen.add(name)


def member(one: Definition) -> str:
    body = markdown(one.doc)
    if not one.is_function:
        return directive("attribute", one.name, facts(one), body, ":::")
    marks = ("abstractmethod", "classmethod", "staticmethod")
    options: dict[str, str] = {mark: "" for mark in marks if mark in one.marks}
    if one.is_property:
        kind = qualified(annotation(one.node.returns), one.module)
        return directive("property", one.name, options | {"type": kind}, body, ":::")
    return directive("method", one.name + qualified(signature(one, method=True), one.module), options, body, ":::")


def facts(one: Definition) -> dict[str, str]:
    """The type and the value of an attribute or a constant."""
    kind = annotation(getattr(one.node, "annotation", None))
    value = one.node.value
    plain = isinstance(value, ast.Constant | ast.UnaryOp) or "Alias" in kind
    found = {"type": qualified(kind, one.module), "value": ast.unparse(value) if value is not None and plain else ""}
    return {key: fact for key, fact in found.items() if fact}


def text(page: Page) -> str:
    here = [(name, one) for name, one in shown_on(page) if shown()[one.module, one.name] == name]
    lines = [f"# {page.title}", ""]
    if len(here) > 1:
        lines += ["| name | what it is |", "|---|---|"]
        lines += [f"| `{name.removeprefix(PACKAGE + '.')}` | {first_sentence(one.doc)} |" for name, one in here]
    module = ""
    for name, one in here:
        if module != (module := name.rpartition(".")[0]):
            kind = "currentmodule" if module == PACKAGE else "module"
            lines += ["", f"## {module}", "", f":::{{py:{kind}}} {module}\n:::", ""]
            lines += [] if module == PACKAGE else [markdown(ast.get_docstring(tree(module)) or ""), ""]
        lines += [entry(name, one)]
    return "\n".join(lines)


def first_sentence(doc: str) -> str:
    return re.split(r"(?<=[.:;])\s", doc.partition("\n\n")[0].replace("\n", " "))[0].rstrip(":;").replace("|", "\\|")


def index() -> str:
    lines = [
        "# API reference",
        "",
        "What is there for users, from the package's own docstrings. The {ref}`genindex` has",
    ]
    lines += ["all names in one list.", ""]
    lines += ["| page | modules |", "|---|---|"]
    for page in PAGES:
        modules = ", ".join(f"`{PACKAGE}.{part}`" if part else f"`{PACKAGE}`" for part in page.modules)
        lines += [f"| [{page.title}]({page.file}.md) | {modules} |"]
    return "\n".join([*lines, "", ":::{toctree}", ":hidden:", "", *(page.file for page in PAGES), ":::", ""])


def write(folder: Path) -> None:
    """Writes what has changed, so that the rest need not be built again."""
    folder.mkdir(exist_ok=True)
    pages = {".gitignore": "*\n", "index.md": index(), **{f"{page.file}.md": text(page) for page in PAGES}}
    for old in folder.iterdir():
        if old.name not in pages:
            old.unlink()
    for name, content in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != content:
            path.write_text(content, encoding="utf-8")


def mend_signatures(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Parameters stand in lines of their own, not in a list of definitions without terms, which is not valid."""

    def lines(found: re.Match[str]) -> str:
        inside = re.sub(r"<(/?)dd>", lambda tag: "</span>" if tag[1] else '<span class="sig-line">', found[1])
        return f"<span>{inside}</span>"

    if "body" in context:
        context["body"] = re.sub(r"<dl>\n(<dd>.*?)</dl>", lines, context["body"], flags=re.DOTALL)


def setup(app: Any) -> dict[str, bool]:
    app.connect("config-inited", lambda app, config: write(Path(app.srcdir) / FOLDER))
    app.connect("html-page-context", mend_signatures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
