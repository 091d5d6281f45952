"""The report of a reproduction."""

from collections.abc import Mapping, Sequence
from typing import Any

from semibandits.experiments.paper.parts import PARTS, Claim, Drawing, Part
from semibandits.experiments.report.page import Section, page
from semibandits.experiments.report.pictures import Picture, figure
from semibandits.markup import Html, escape, facts, table

TITLE = "The paper, reproduced"
PAPER = Html(
    "Kveton, Wen, Ashkan and Szepesvári, <i>Tight Regret Bounds for Stochastic Combinatorial Semi-Bandits</i> "
    "(AISTATS 2015)"
)


def report(parts: Sequence[Part], pictures: Mapping[str, Picture], document: Mapping[str, Any]) -> str:
    """The verdicts, one section per part, and how it was made."""
    claims = [claim for part in parts for claim in part.claims]
    holding = sum(claim.holds for claim in claims)
    word = "good" if holding == len(claims) else "bad"
    lead = Html(
        f"All that {PAPER} plays and draws, played and drawn again: "
        f'<span class="{word}">{holding} of {len(claims)} claims hold</span>.'
    )
    sections = [
        Section("Verdicts", _verdicts(claims)),
        *(Section(part.title, "".join(_shown(one, pictures) for one in part.body)) for part in parts),
        Section("How this was made", _provenance(document)),
    ]
    return page(TITLE, sections, lead)


def _verdicts(claims: Sequence[Claim]) -> Html:
    rows = [(_wide(claim.statement), _verdict(claim), claim.measured, claim.expected) for claim in claims]
    return table(["claim", "verdict", "measured", "expected"], rows)


def _wide(text: str) -> Html:
    """In a column that keeps some width beside others."""
    return Html(f'<span style="display: block; min-width: min(12.5rem, 40vw)">{escape(text)}</span>')


def _verdict(claim: Claim) -> Html:
    return Html('<span class="good">holds</span>' if claim.holds else '<span class="bad">does not hold</span>')


def _shown(one: str | Drawing, pictures: Mapping[str, Picture]) -> str:
    return figure(pictures[one.name], Html(one.caption)) if isinstance(one, Drawing) else one


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
