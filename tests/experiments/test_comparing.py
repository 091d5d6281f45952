"""Comparisons as the text of a file."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semibandits.errors import BadArgument
from semibandits.experiments import comparing
from semibandits.experiments.files import registry
from semibandits.experiments.files.document import parse

values = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def test_documents_are_written_as_toml() -> None:
    written = {
        "title": 'a "title" with \\, σ, 🎲, \x7f and \x1b',
        "runs": 5,
        "problem": {
            "set": {"kind": "Paths", "graph": [["a", "b"], ["b", "c d"]], "source": "a", "odd 🎲 key!": {}, "": -1},
            "sense": "min",
            "big": 1e300,
            "yes": True,
        },
        "policies": [{"name": "CombUCB1", "alpha": 0.1}, {"name": "CTS"}],
    }
    assert tomllib.loads(comparing.as_toml(written)) == written


@given(st.dictionaries(st.text(), values, max_size=3))
@settings(max_examples=60, deadline=None)
def test_what_is_written_is_read_back(table: dict[str, Any]) -> None:
    assert tomllib.loads(comparing.as_toml({"problem": table, "policies": [table]})) == {
        "problem": table,
        "policies": [table],
    }


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([1, None], "a value was expected, got None"),
        ({0: 1}, "keys must be words, got 0"),
        ("a\udcff", r"expected text, got 'a\\udcff'"),
    ],
)
def test_what_no_file_can_hold(value: Any, said: str) -> None:
    with pytest.raises(BadArgument, match=said):
        comparing.as_toml({"problem": {"x": value}})


def test_calls_as_tables() -> None:
    assert comparing.table_of("policy", "HYBRID(gamma=None)", registry.POLICIES) == {"name": "HYBRID"}
    assert comparing.table_of("problem", "k_path:n_items=8,k=2", registry.PROBLEMS) == {
        "name": "k_path",
        "n_items": 8,
        "k": 2,
    }
    with pytest.raises(BadArgument, match="no policy is called 'HYBRYD': did you mean 'HYBRID'"):
        comparing.table_of("policy", "HYBRYD", registry.POLICIES)


def test_errors_in_no_file_tell_no_line() -> None:
    text = comparing.as_toml(
        {"horizon": 9, "runs": 2, "problem": {"name": "grid_path", "m": 0}, "policies": [{"name": "CTS"}]}
    )
    with pytest.raises(BadArgument, match=r"^problem grid_path needs 'sigma'$"):
        parse(text, "", Path())
    with pytest.raises(BadArgument, match=r"^x\.toml, line 4: problem grid_path needs 'sigma'$"):
        parse(text, "x.toml", Path())
