"""Writes the tutorial as a notebook, here and where `semibandits new` finds it: `python docs/notebooks.py`.

A `python` block is a cell, and what it prints, with a picture right after it, is the cell's output. A `toml` block
whose first line is its name is written by its cell, `semibandits` commands are run by theirs. All else is text: it
holds its pictures, and says where in the repository other pages are instead of linking to them.
"""

import base64
import json
import posixpath
import re
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "tutorial.md"
STARTERS = ROOT / "src" / "semibandits" / "experiments" / "files" / "starters"
NOTEBOOKS = [folder / "tutorial.ipynb" for folder in (PAGE.parent, STARTERS)]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$\n?", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"!\[([^]]*)\]\(([^)]+\.svg)\)")
LINK = re.compile(r"(?<!!)\[([^]]*)\]\((?!https?:)([^)#]*)(?:#[^)]*)?\)")
SECTION = re.compile(r"^(?=#+ )", re.MULTILINE)
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}

Cell = dict[str, Any]


def notebook(page: Path) -> str:
    """The page as a notebook, as Jupyter saves it."""
    whole = {"cells": cells(page), "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def cells(page: Path) -> list[Cell]:
    made: list[Cell] = []
    for language, text in parts(page.read_text(encoding="utf-8")):
        last = made[-1] if made else {}
        answers = last.get("cell_type") == "code"
        source = as_code(language, text)
        if source:
            made.append({"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source})
        elif language == "text" and answers and not last["outputs"]:
            last["outputs"].append({"name": "stdout", "output_type": "stream", "text": lines(text)})
        elif answers and not language and (shown := PICTURE.fullmatch(text)):
            last["outputs"].append(displayed(page.parent / shown[2], shown[1]))
        else:
            prose = f"```{language}\n{text}```" if language else as_text(text, page)
            made += [{"cell_type": "markdown", "metadata": {}, "source": prose}] if prose else []
    for number, cell in enumerate(made):
        cell |= {"id": f"{page.stem}-{number}", "source": lines(cell["source"])}
    return made


def parts(text: str) -> list[tuple[str, str]]:
    """Blocks with their language, and what stands between them: sections, and pictures that follow a block at once."""
    found: list[tuple[str, str]] = []
    end = 0
    for block in [*BLOCK.finditer(text), None]:
        between = text[end : block.start() if block else None].strip("\n")
        if picture := PICTURE.match(between):
            found.append(("", picture[0]))
            between = between[picture.end() :].strip("\n")
        found += [("", section.strip("\n")) for section in SECTION.split(between) if section.strip()]
        if block:
            found.append((block[1], block[2]))
            end = block.end()
    return found


def as_code(language: str, text: str) -> str:
    """What a cell runs for a block; empty: it is not to be run."""
    if language == "python":
        return text.rstrip("\n")
    if language == "toml" and (named := re.match(r"# (\w[\w.-]*\.toml)\n", text)):
        return f"%%writefile {named[1]}\n{text}".rstrip("\n")
    if language == "sh" and all(line.startswith(("semibandits ", "#")) for line in text.splitlines()):
        return re.sub("^(?=semibandits )", "!", text.rstrip("\n"), flags=re.MULTILINE)
    return ""


def as_text(text: str, page: Path) -> str:
    """Without the paragraph that leads to the notebook; with pictures inside, and the places of other pages."""

    def embedded(picture: re.Match[str]) -> str:
        data = base64.b64encode((page.parent / picture[2]).read_bytes()).decode()
        return f'<img alt="{escape(picture[1])}" src="data:image/svg+xml;base64,{data}">'

    def place(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(page.parent.relative_to(ROOT).as_posix(), link[2]))
        return f"{link[1]} (`{path}`)" if link[2] else link[1]

    kept = [paragraph for paragraph in text.split("\n\n") if NOTEBOOKS[0].name not in paragraph]
    return LINK.sub(place, PICTURE.sub(embedded, "\n\n".join(kept)))


def displayed(picture: Path, about: str) -> dict[str, Any]:
    data = {"image/svg+xml": lines(picture.read_text(encoding="utf-8")), "text/plain": [about]}
    return {"data": data, "metadata": {}, "output_type": "display_data"}


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


if __name__ == "__main__":
    for path in NOTEBOOKS:
        path.write_text(notebook(PAGE), encoding="utf-8")
