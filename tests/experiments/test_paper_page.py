"""docs/paper.md names what is there: files, folders, tests, and objects of the library."""

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
CODE = sorted(set(re.findall("`([^`\n]+)`", PAGE)))
FILES = [code for code in CODE if re.fullmatch(r"[\w/]+(\.py|/)", code) and code not in ("figures/", "data/")]
OBJECTS = [
    code
    for code in CODE
    if re.fullmatch(r"(theory|policies|sets|problems|experiments)(\.\w+)+", code) and code not in FILES
]


def test_the_page_names_some() -> None:
    assert len(FILES) > 10
    assert len(OBJECTS) > 20


@pytest.mark.parametrize("name", FILES)
def test_files_are_there(name: str) -> None:
    assert any((base / name).exists() for base in (ROOT, ROOT / "src" / "semibandits"))


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_are_there(name: str) -> None:
    first, *rest = name.split(".")
    found: Any = importlib.import_module(f"semibandits.{first}")
    for part in rest:
        found = getattr(found, part, None) or importlib.import_module(f"{found.__name__}.{part}")


def test_links_lead_somewhere() -> None:
    for name in re.findall(r"\]\(([\w.]+)\)", PAGE):
        assert (ROOT / "docs" / name).exists(), name


def test_tests_are_there() -> None:
    for file, name in re.findall(r"`(tests/[\w/]+\.py)`: `(\w+)`", PAGE):
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")
