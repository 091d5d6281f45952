"""Sets to JSON and back."""

import contextlib
import hashlib
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semibandits import errors, sets
from semibandits.sets import from_spec
from semibandits.sets.base import BuiltIn
from semibandits.sets.specification import to_spec
from semibandits.types import FeasibleSet
from support import strategies
from support.families import FAMILIES

CODE = {"Oracle", "Matroid", "Product with users' blocks"}
"""Families that hold a user's functions."""


def again(feasible: FeasibleSet) -> FeasibleSet:
    assert isinstance(feasible, BuiltIn)
    spec = feasible.to_spec()
    assert spec == json.loads(json.dumps(spec, allow_nan=False))
    return from_spec(json.loads(json.dumps(spec)))


def document(name: str, **parameters: Any) -> dict[str, Any]:
    return {"format": "semibandits.set", "version": 1, "set": name, "parameters": parameters}


@pytest.mark.parametrize("family", [family for family in FAMILIES if family not in CODE])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_every_family_comes_back(family: str, data: st.DataObject) -> None:
    feasible, _ = data.draw(FAMILIES[family])
    items = st.sets(st.integers(0, feasible.n_items - 1), max_size=2)
    with contextlib.suppress(errors.EmptyFeasibleSet):
        feasible = feasible.restrict(include=data.draw(items), exclude=data.draw(items))
    same = again(feasible)
    assert type(same) is type(feasible)
    assert repr(same) == repr(feasible)
    assert same.to_spec() == feasible.to_spec()  # type: ignore[attr-defined]
    assert (same.n_items, same.max_size, same.signed, same.ratio) == (
        feasible.n_items,
        feasible.max_size,
        feasible.signed,
        feasible.ratio,
    )
    assert same.labels == feasible.labels
    for _ in range(2):
        weights = data.draw(strategies.weights(feasible))
        assert same.argmax(weights).tolist() == feasible.argmax(weights).tolist()


@pytest.mark.parametrize("family", sorted(CODE & FAMILIES.keys()))
@settings(max_examples=5)
@given(data=st.data())
def test_code_cannot_be_written_down(family: str, data: st.DataObject) -> None:
    feasible, _ = data.draw(FAMILIES[family])
    if family in ("Oracle", "Matroid"):
        with pytest.raises(errors.Unsupported, match="made of Python code"):
            feasible.to_spec()  # type: ignore[attr-defined]
    with pytest.raises(errors.BadSpecification, match="no set is called 'Oracle'"):
        from_spec(document("Oracle", function="abs", n_items=2, max_size=1))


def test_users_own_sets_are_named() -> None:
    class Mine(sets.TopK):
        pass

    with pytest.raises(errors.Unsupported, match="not a set of this package"):
        Mine(3, 1).to_spec()
    with pytest.raises(errors.Unsupported, match="not a set of this package"):
        to_spec([[0]])  # type: ignore[arg-type]
    with pytest.raises(errors.Unsupported, match="made of Python code"):
        sets.Product(sets.TopK(3, 1), sets.Oracle(list, 2, 1)).to_spec()


def test_the_document() -> None:
    listed, grid = document("Enumerated", solutions=[[0, 1], [2]], n_items=3), document("GridPaths", m=1)
    assert sets.Enumerated([[1, 0], [2]]).to_spec() == listed
    assert sets.Product(sets.Enumerated([[0, 1], [2]]), sets.GridPaths(1)).to_spec() == document(
        "Product", blocks=[listed, grid]
    )
    free = sets.TopK(5, 2)
    assert free.restrict(include=[4], exclude=[1, 2]).to_spec() == free.to_spec() | {"include": [4], "exclude": [1, 2]}


def test_equal_sets_give_equal_documents() -> None:
    listed = sets.DagPaths([(0, 1), (1, 2)], 0, 2)
    array = sets.DagPaths(np.array([[0, 1], [1, 2]]), np.int64(0), np.int32(2))
    assert listed.to_spec() == array.to_spec()
    once = sets.TopK(5, 2).restrict(include=[3], exclude=[0, 1])
    twice = sets.TopK(5, 2).restrict(exclude=[1]).restrict(include=[3], exclude=[0])
    assert once.to_spec() == twice.to_spec()


NODES = ["a", "", "inf", 7, -1.5, True, None, (), (1, "b", (None, 2.5)), ("x",), math.inf, -math.inf, 10**30, "\ud800"]


@pytest.mark.parametrize("node", NODES, ids=repr)
def test_nodes(node: Any) -> None:
    for edges, source, target in (([(node, "t"), (node, "m"), ("m", "t")], node, "t"), ([("s", node)], "s", node)):
        paths = sets.DagPaths(edges, source, target)
        same = again(paths)
        assert isinstance(same, sets.DagPaths)
        assert same.edges == paths.edges
        assert (same.source, same.target) == (paths.source, paths.target)
        assert [type(end) for edge in same.edges for end in edge] == [type(end) for edge in edges for end in edge]


@pytest.mark.parametrize("node", [object(), frozenset([1]), b"a", 1j, (1, object())], ids=lambda node: str(type(node)))
def test_nodes_that_json_cannot_say(node: Any) -> None:
    with pytest.raises(errors.Unsupported, match="nodes and names must be strings, numbers") as caught:
        sets.DagPaths([("s", node), (node, "t")], "s", "t").to_spec()
    assert repr(node[1] if isinstance(node, tuple) else node) in str(caught.value)


# Files


LONG = [[f"n{i}", f"n{i + 1}"] for i in range(700)]


def test_long_lists_in_files(tmp_path: Path) -> None:
    paths = sets.DagPaths(LONG, "n0", "n700")
    spec = paths.to_spec(tmp_path)
    named = spec["parameters"]["edges"]
    assert set(named) == {"file", "sha256"}
    data = (tmp_path / named["file"]).read_bytes()
    assert hashlib.sha256(data).hexdigest() == named["sha256"]
    assert named["sha256"] in named["file"]
    assert json.loads(data) == LONG
    assert [path.name for path in tmp_path.iterdir()] == [named["file"]]
    assert from_spec(json.loads(json.dumps(spec)), str(tmp_path)).to_spec() == paths.to_spec()  # type: ignore[attr-defined]
    before = (tmp_path / named["file"]).stat().st_mtime_ns
    assert paths.to_spec(str(tmp_path)) == spec
    assert (tmp_path / named["file"]).stat().st_mtime_ns == before
    (tmp_path / named["file"]).write_bytes(b"[]")  # what is wrong is put right
    paths.to_spec(tmp_path)
    assert (tmp_path / named["file"]).read_bytes() == data


def test_which_lists_are_long(tmp_path: Path) -> None:
    few, many = sets.Enumerated([[i] for i in range(1000)]), sets.Enumerated([[i] for i in range(1001)])
    assert few.to_spec(tmp_path) == few.to_spec()
    assert "file" in many.to_spec(tmp_path)["parameters"]["solutions"]
    wide = sets.Enumerated([range(501), range(501, 1001), [0]])
    assert "file" in wide.to_spec(tmp_path)["parameters"]["solutions"]
    restricted = sets.TopK(3000, 5).restrict(exclude=range(1500))
    spec = sets.Product([restricted] * 2).to_spec(tmp_path)
    assert "file" in spec["parameters"]["blocks"][0]["exclude"]
    assert spec["parameters"]["blocks"][0] == spec["parameters"]["blocks"][1]
    assert repr(from_spec(spec, tmp_path)) == repr(sets.Product([restricted] * 2))
    with pytest.raises(FileNotFoundError, match="no such folder"):
        many.to_spec(tmp_path / "nowhere")


def in_file(folder: Path, content: bytes, **changes: Any) -> dict[str, Any]:
    (folder / "list.json").write_bytes(content)
    named = {"file": "list.json", "sha256": hashlib.sha256(content).hexdigest(), **changes}
    return document("Enumerated", solutions=named, n_items=3)


def test_a_file_by_any_plain_name(tmp_path: Path) -> None:
    assert repr(from_spec(in_file(tmp_path, b"[[0, 2], [1]]"), tmp_path)) == "Enumerated(2 solutions, n_items=3)"


@pytest.mark.parametrize(
    ("content", "changes", "says"),
    [
        (b"[[0]]", {"sha256": "0" * 64}, "damaged or edited"),
        (b"[[0]]", {"sha256": None}, "damaged or edited"),
        (b"[[0]]", {"file": "none.json"}, "cannot be read.*none.json"),
        (b"[[0]]", {"file": "../list.json"}, "'../list.json' is not the plain name of a file"),
        (b"[[0]]", {"file": "/etc/passwd"}, "is not the plain name"),
        (b"[[0]]", {"file": "a\\b"}, "is not the plain name"),
        (b"[[0]]", {"file": ".."}, "is not the plain name"),
        (b"[[0]]", {"file": ""}, "is not the plain name"),
        (b"[[0]]", {"file": "a\0b"}, "is not the plain name"),
        (b"[[0]]", {"file": "C:x"}, "is not the plain name"),
        (b"[[0]]", {"file": ["list.json"]}, "is not the plain name"),
        (b"[[0]", {}, "is not JSON"),
        (b"\xff\xfe", {}, "is not JSON"),
        (b"[" * 100_000, {}, "without end"),
        (b"5", {}, "got 5"),
        (b'[{"file": "list.json", "sha256": ""}]', {}, "pass folder="),
    ],
)
def test_bad_files(tmp_path: Path, content: bytes, changes: dict[str, Any], says: str) -> None:
    with pytest.raises(errors.BadArgument, match=says):
        from_spec(in_file(tmp_path, content, **changes), tmp_path)


def test_a_file_needs_its_folder(tmp_path: Path) -> None:
    spec = in_file(tmp_path, b"[[0]]")
    with pytest.raises(
        errors.BadSpecification, match=r"solutions of Enumerated is in the file 'list\.json': pass folder="
    ):
        from_spec(spec)
    with pytest.raises(errors.BadSpecification, match="cannot be read"):
        from_spec(spec, tmp_path / "nowhere")
    (tmp_path / "list.json").unlink()
    (tmp_path / "list.json").mkdir()
    with pytest.raises(errors.BadSpecification, match="cannot be read"):
        from_spec(spec, tmp_path)


# Documents that are none

TOP = document("TopK", n_items=5, k=2)


def nested(depth: int) -> dict[str, Any]:
    spec = TOP
    for _ in range(depth):
        spec = document("Product", blocks=[spec])
    return spec


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (None, "must be a dict, as JSON has it, got None"),
        (json.dumps(TOP), "must be a dict"),
        ([TOP], "must be a dict"),
        ({}, "expected a document of format 'semibandits.set', got None"),
        ({**TOP, "format": "semibandits.learner"}, "got 'semibandits.learner'"),
        ({**TOP, "version": 2}, "version 2; this release reads version 1"),
        ({**TOP, "version": "1"}, "version '1'"),
        ({**TOP, "version": True}, "version True"),
        ({**TOP, "version": 1.0}, "version 1.0"),
        ({**TOP, "set": "Topk"}, "no set is called 'Topk': did you mean 'TopK'?"),
        ({**TOP, "set": "Nothing at all"}, "there are .*TopK"),
        ({**TOP, "set": "FeasibleSet"}, "no set is called"),
        ({**TOP, "set": "from_spec"}, "no set is called"),
        ({**TOP, "set": "__doc__"}, "no set is called"),
        ({**TOP, "set": ["TopK"]}, "no set is called"),
        ({**TOP, "colour": 1}, "the document has no 'colour'"),
        ({**TOP, "exlude": [1]}, "no 'exlude': did you mean 'exclude'?"),
        ({key: value for key, value in TOP.items() if key != "set"}, "the document needs 'set'"),
        ({**TOP, "parameters": [5, 2]}, r"parameters of TopK must be a dict, got \[5, 2\]"),
        (document("TopK", n_items=5), r"a TopK needs 'k', got \['n_items'\]"),
        (document("TopK", n_items=5, k=2, K=3), "a TopK has no 'K'"),
        (document("TopK", n_item=5, k=2), "did you mean 'n_items'?"),
        (document("TopK", n_items="5", k=2), "got '5'"),
        (document("TopK", n_items=5, k=object()), "k of TopK cannot be <object"),
        (document("TopK", n_items=5, k={"float": "nan"}), "k of TopK cannot be"),
        (document("TopK", n_items=10**18, k=1), "TopK would have more than 2,000,000 items: .*1000000000000000000"),
        (document("Assignment", rows=10**9, columns=0), "Assignment would have more than"),
        (
            document("Product", blocks=[document("TopK", n_items=900_000, k=1)] * 3),
            "entry 2: TopK would have more than",
        ),
        (document("GridPaths", m=10**5), "GridPaths would have more"),
        (document("KPaths", n_items=10**12, k=10**6), "KPaths would have more"),
        (document("Enumerated", solutions=[[0]], n_items=10**15), "would have more"),
        (document("Enumerated", solutions=[[10**18]], n_items=None), "n_items must be at most 2,147,483,647"),
        (document("Enumerated", solutions=[[10**30]], n_items=5), "solution 0"),
        (document("Enumerated", solutions=3, n_items=5), "got 3"),
        (document("DagPaths", edges=5, source=0, target=1), "got 5"),
        (document("DagPaths", edges=[[0, 1]], source={}, target=1), "unhashable|hashable"),
        (document("Product", blocks=5), "blocks of Product must be a list, got 5"),
        (document("Product", blocks=[]), "at least one block"),
        (document("Product", blocks=[TOP, 5]), "block 1 must be a FeasibleSet, got 5"),
        (document("Product", blocks=[TOP, {**TOP, "version": 3}]), "blocks of Product, entry 1: .* version 3"),
        ({**TOP, "include": "ab"}, "include must be a list of items, got 'ab'"),
        ({**TOP, "include": [1.0]}, r"include must be a list of items, got \[1.0\]"),
        ({**TOP, "exclude": [True]}, "exclude must be a list"),
        ({**TOP, "exclude": None}, "exclude must be a list"),
        (nested(100_000), "without end"),
    ],
)
def test_bad_documents(spec: Any, says: str) -> None:
    with pytest.raises(errors.BadArgument, match=says):
        from_spec(spec)


def test_items_that_are_none_or_leave_nothing() -> None:
    with pytest.raises(errors.UnknownItem, match="item 7"):
        from_spec({**TOP, "include": [7]})
    with pytest.raises(errors.EmptyFeasibleSet):
        from_spec({**TOP, "exclude": [0, 1, 2, 3]})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=500, deadline=None)
@given(data=st.data())
def test_whatever_a_document_says_an_error_has_a_name(data: st.DataObject) -> None:
    """Real documents with a parameter of any kind in the place of one, or another set's name."""
    feasible, _ = data.draw(data.draw(st.sampled_from([FAMILIES[name] for name in FAMILIES if name not in CODE])))
    spec = feasible.to_spec()  # type: ignore[attr-defined]
    change = data.draw(st.sampled_from([*spec["parameters"], "set", "include", "exclude"]))
    if change in spec["parameters"]:
        spec["parameters"][change] = data.draw(JSON)
    else:
        spec[change] = data.draw(JSON | st.sampled_from(sets.__all__))
    with contextlib.suppress(errors.SemiBanditError):
        assert isinstance(from_spec(spec), FeasibleSet)


def test_everything_is_light() -> None:
    code = (
        "import sys, semibandits as sb\n"
        "spec = sb.sets.Product(sb.sets.TopK(3, 1), sb.sets.GridPaths(2)).to_spec()\n"
        "sb.sets.from_spec(spec).argmax([0.0] * 15)\n"
        "print(*({'scipy', 'matplotlib', 'numba', 'networkx', 'highspy'} & sys.modules.keys()))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == ""
