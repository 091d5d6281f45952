"""The report of a reproduction."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from semibandits._util.html import Html, escape, facts, paragraph, scrolling
from semibandits.experiments.paper.claims import OURS, PARTS, Claim, Drawing, Part, summary
from semibandits.experiments.report.page import Section, page, slug
from semibandits.experiments.report.pictures import Picture, figure

TITLE = "The paper, reproduced"
PAPER = Html(
    "Kveton, Wen, Ashkan and Szepesvári, <i>Tight Regret Bounds for Stochastic Combinatorial Semi-Bandits</i> "
    "(AISTATS 2015)"
)


def report(parts: Sequence[Part], pictures: Mapping[str, Picture], document: Mapping[str, Any]) -> str:
    """The verdict in one line, ours beside the published, all verdicts, one section per part, how it was made."""
    claims = [claim for part in parts for claim in part.claims]
    word = "good" if all(claim.holds for claim in claims) else "bad"
    lead = Html(f'<span class="{word}">{escape(summary(claims))}</span>.')
    numbers = itertools.count(1)
    heroes = "".join(_shown(one, pictures, numbers) for part in parts for one in part.hero)
    about = heroes + paragraph(Html(f"All that {PAPER} plays and draws was played and drawn again."))
    sections = [
        Section("Verdicts", _verdicts(claims)),
        *(Section(part.title, "".join(_shown(one, pictures, numbers) for one in part.body)) for part in parts),
        Section("How this was made", _provenance(document)),
    ]
    return page(TITLE, sections, lead, about)


def _verdicts(claims: Sequence[Claim]) -> Html:
    """A table in groups, each under the name of its part, which leads there."""
    titles = ("claim", "verdict", "measured", "expected", "from")
    head = "".join(f'<th scope="col">{title}</th>' for title in titles)
    groups = ""
    for part, some in itertools.groupby(claims, key=lambda claim: claim.part):
        link = f'<a href="#{slug(PARTS[part])}">{escape(PARTS[part])}</a>'
        rows = "".join(
            f'<tr><th scope="row" style="min-width: 9.5rem">{escape(claim.statement)}</th>'
            f"<td>{_verdict(claim)}</td>{_wrapped(claim.measured, 9.5)}{_wrapped(claim.expected, 6.0)}"
            f'<td style="white-space: nowrap">{escape(claim.source)}</td></tr>\n'
            for claim in some
        )
        name = f'<tr><th scope="rowgroup" colspan="{len(titles)}" style="padding-top: 1.1rem; max-width: none">{link}'
        groups += f"<tbody>\n{name}</th></tr>\n{rows}</tbody>\n"
    return Html(
        f"<figure>\n<figcaption>From: where the paper says so, or {OURS}: what only this library says. ± is one "
        "standard error, of chance alone; bars and bands in figures are ± 3 of them.</figcaption>\n"
        f'<div class="scroll"{scrolling("Verdicts")}>'
        f"<table>\n<thead><tr>{head}</tr></thead>\n{groups}</table></div>\n</figure>\n"
    )


def _wrapped(text: str, width: float) -> str:
    """A cell that may take several lines, but keeps some width; signs stay with their numbers."""
    joined = re.sub("(?<=[≥≤±×]) | (?=[±%])", "\N{NO-BREAK SPACE}", text)
    return f'<td style="white-space: normal; min-width: {width}rem">{escape(joined)}</td>'


def _verdict(claim: Claim) -> Html:
    return Html('<span class="good">holds</span>' if claim.holds else '<span class="bad">does not hold</span>')


def _shown(one: str | Drawing, pictures: Mapping[str, Picture], numbers: Iterator[int]) -> str:
    """HTML as it is; a picture with its number."""
    if not isinstance(one, Drawing):
        return one
    return figure(pictures[one.name], Html(f"<b>Figure {next(numbers)}.</b> {one.caption}"))


def _provenance(document: Mapping[str, Any]) -> Html:
    settings, versions = document["settings"], document["versions"]
    again = f"semibandits reproduce --seed {settings['seed']} --runs {settings['runs']}"
    again += " --quick" if settings["quick"] else ""
    again += "".join(f" --only {name}" for name in document["parts"]) if len(document["parts"]) < len(PARTS) else ""
    return facts(
        [
            ("again", Html(f"<code>{again}</code>: the same seed gives the same numbers")),
            ("parts", ", ".join(document["parts"])),
            ("runs", f"{settings['runs']} of CombUCB1 on every grid, {settings['other_runs']} of all else"),
            ("made", f"{document['started']}, in {document['seconds']:.0f} s, on {document['machine']}"),
            ("versions", ", ".join(f"{name} {version}" for name, version in versions.items())),
        ]
    )
