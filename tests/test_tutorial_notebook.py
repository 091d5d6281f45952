"""The tutorial as a notebook: made of the page, in order, and run by Jupyter it prints what the page says."""

import base64
import copy
import itertools
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
import notebooks
import pytest

from test_docs import blocks, commands

TEXT = notebooks.NOTEBOOKS[0].read_text(encoding="utf-8")
ESCAPES = re.compile(r"\x1b\[[?\d;]*[A-Za-z]")
"""Colours, and movements of the cursor."""


@pytest.fixture(scope="module")
def tutorial() -> Any:
    return nbformat.reads(TEXT, as_version=4)


def code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def printed(cell: Any, stream: str = "stdout") -> str:
    return "".join(output.text for output in cell.outputs if output.get("name") == stream)


@pytest.mark.parametrize("path", notebooks.NOTEBOOKS, ids=lambda path: path.parent.name)
def test_the_notebook_is_fresh(path: Path) -> None:
    fresh = notebooks.notebook(notebooks.PAGE) == path.read_text(encoding="utf-8")
    assert fresh, "the page says something else now: python docs/notebooks.py"


def test_it_is_as_jupyter_writes_it(tutorial: Any) -> None:
    nbformat.validate(tutorial)
    assert nbformat.writes(tutorial) + "\n" == TEXT
    assert len({cell.id for cell in tutorial.cells}) == len(tutorial.cells)
    assert tutorial.metadata.kernelspec.name == "python3"
    assert not re.search(r"/(home|tmp|root|work|Users)/", TEXT)


def test_its_cells_are_the_blocks_of_the_page(tutorial: Any) -> None:
    """All that tests/test_docs.py runs, in the same order, with what is printed there."""
    cells = iter(code(tutorial))
    for (language, text), following in itertools.pairwise([*blocks(notebooks.PAGE), ("", "")]):
        if language == "text":
            continue
        cell = next(cells)
        if language == "python":
            assert cell.source == text.rstrip()
        elif language == "toml":
            assert cell.source == f"%%writefile {text.split()[1]}\n{text.rstrip()}"
        else:
            assert cell.source.splitlines() == [f"!{line}" for line in commands(text)]
        assert printed(cell) == (following[1] if following[0] == "text" else "")
    assert next(cells, None) is None


def test_its_text_needs_no_other_file(tutorial: Any) -> None:
    texts = [cell.source for cell in tutorial.cells if cell.cell_type == "markdown"]
    assert sum(text.count("![") for text in texts) == 0
    assert all(link.startswith("https://") for text in texts for link in re.findall(r"\]\(([^)]*)\)", text))
    places = {place for text in texts for place in re.findall(r"\(`([^`\s]+\.md)`\)", text)}
    assert "docs/theory.md" in places
    assert all((notebooks.ROOT / place).exists() for place in places)
    assert "tutorial.ipynb" not in TEXT
    assert all(text.startswith("#") or "\n#" not in text for text in texts)  # a section begins a cell


PAGE = """# A page

See [the other](../README.md#live) and [that](https://example.org) or [below](#below).

The same as [a notebook](there/tutorial.ipynb).

![A "grid"](one.svg)

```python
print(1)
```

```text
1
```

![Drawn](one.svg)

Text, and a formula

    x = 1

```toml
unnamed = 1
```

```sh
pip install this
semibandits new
```

```text
not run
```

## Below

```sh
# what there is
semibandits new
```
"""


def test_pages_of_all_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text(PAGE, encoding="utf-8")
    svg = '<svg xmlns="http://www.w3.org/2000/svg">é</svg>'
    (page.parent / "one.svg").write_text(svg, encoding="utf-8")
    made = nbformat.reads(notebooks.notebook(page), as_version=4)
    nbformat.validate(made)
    head, cell, *texts, below, last = made.cells
    assert "See the other (`README.md`) and [that](https://example.org) or below.\n" in head.source
    assert "a notebook" not in head.source
    start, data = head.source.splitlines()[-1].split(",")
    assert start == '<img alt="A &quot;grid&quot;" src="data:image/svg+xml;base64'
    assert base64.b64decode(data.removesuffix('">')).decode() == svg
    assert (cell.source, printed(cell)) == ("print(1)", "1\n")
    assert cell.outputs[1].data == {"image/svg+xml": svg, "text/plain": "Drawn"}
    assert [text.cell_type for text in texts] == ["markdown"] * 4
    assert [text.source for text in texts] == [
        "Text, and a formula\n\n    x = 1",
        "```toml\nunnamed = 1\n```",
        "```sh\npip install this\nsemibandits new\n```",
        "```text\nnot run\n```",
    ]
    assert below.source == "## Below"
    assert last.source == "# what there is\n!semibandits new"


@pytest.mark.long
def test_jupyter_runs_it_and_it_prints_what_the_page_says(
    tutorial: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands of the shell print for a terminal of their own, with other tables: of these, the numbers."""
    from nbclient import NotebookClient

    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    ran = copy.deepcopy(tutorial)
    NotebookClient(ran, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    drawn = []
    for cell, said in zip(code(ran), code(tutorial), strict=True):
        text = ESCAPES.sub("", printed(cell))
        bars = printed(cell, "stderr").split("\n")
        assert all(line.startswith("\r") for line in bars if line), bars
        if cell.source.startswith("!"):
            for number in re.findall(r"-?\d+\.\d\d|^wrote .*$", printed(said), re.MULTILINE):
                assert number in text
        elif not cell.source.startswith("%%"):
            assert text == printed(said)
        if [output for output in cell.outputs if "image/png" in output.get("data", {})]:
            drawn.append(cell.source)
    assert drawn == [cell.source for cell in code(ran) if ".plot(" in cell.source]
    assert {"bounds.png", "both.png", "van.json", "walk-results", "own_solver.toml"} <= {
        path.name for path in tmp_path.iterdir()
    }
