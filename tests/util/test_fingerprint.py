"""Classes of this package count by their room and their name, in whichever file they are."""

import importlib
import pkgutil
import sys
from collections import defaultdict
from collections.abc import Iterator

import pytest

import semibandits
from semibandits import environments, policies, sets
from semibandits._util.fingerprint import digest, fingerprint
from semibandits._util.fingerprint.former_names import SAME_NUMBERS, Former
from semibandits._util.fingerprint.objects import kind_of

MET = ("environments", "policies", "sets", "types")
"""Rooms whose classes an experiment is made of."""
NEVER_HELD = {"semibandits.sets.graphs.simple_paths.Search", "semibandits.sets.oracles.augmenting.Search"}
"""Made for a call, and in no set."""


def classes(room: str) -> Iterator[type]:
    top = importlib.import_module(f"semibandits.{room}")
    for module in pkgutil.walk_packages(top.__path__, f"{top.__name__}."):
        importlib.import_module(module.name)
    for name, module in list(sys.modules.items()):
        if name.startswith(top.__name__):
            yield from (one for one in vars(module).values() if isinstance(one, type) and one.__module__ == name)


@pytest.mark.parametrize("room", MET)
def test_no_two_classes_share_a_name(room: str) -> None:
    named: dict[str, set[str]] = defaultdict(set)
    for one in classes(room):
        named[kind_of(one)].add(f"{one.__module__}.{one.__qualname__}")
    shared = {name: where - NEVER_HELD for name, where in named.items() if len(where - NEVER_HELD) > 1}
    assert not shared
    assert len(named) > 5


def test_a_class_may_move_within_its_room(monkeypatch: pytest.MonkeyPatch) -> None:
    one = (sets.TopK(4, 2), policies.CombUCB1())
    before = digest(one)
    monkeypatch.setattr(sets.TopK, "__module__", "semibandits.sets.elsewhere.top_k")
    monkeypatch.setattr(policies.CombUCB1, "__module__", "semibandits.policies.combucb1")
    assert digest(one) == before
    monkeypatch.setattr(policies.CombUCB1, "__module__", "semibandits.sets.combucb1")
    assert digest(one) != before


def test_what_is_the_users_counts_by_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mine(policies.CombUCB1):
        pass

    before = digest(Mine())
    monkeypatch.setattr(Mine, "__module__", "a.b.c")
    elsewhere = digest(Mine())
    monkeypatch.setattr(Mine, "__module__", "a.b.d")
    assert len({before, elsewhere, digest(Mine())}) == 3


@pytest.mark.parametrize("edition", SAME_NUMBERS)
def test_earlier_editions_called_every_class_something(edition: str) -> None:
    """Of those that an experiment can hold."""
    former = SAME_NUMBERS[edition].names
    public = [getattr(room, name) for room in (environments, policies, sets) for name in room.__all__]
    kinds = [one for one in public if isinstance(one, type) and one.__module__.split(".")[1] in MET[:3]]
    later = {f"semibandits.{name}" for name in ("policies.PooledCTS", "environments.Requests", "environments.Scaled")}
    assert {kind_of(one) for one in kinds} - later <= former.keys()
    assert len(kinds) > 40
    assert len(set(former.values())) == len(former)
    assert edition.partition(" ")[0] <= semibandits.__version__


def test_a_former_name_counts_instead_of_todays() -> None:
    one, now = policies.CombUCB1(), kind_of(policies.CombUCB1)
    as_then = fingerprint(one, Former({now: "semibandits.policies.combucb1.CombUCB1"}, {})).digest
    assert as_then != digest(one) == fingerprint(one, Former({now: now}, {})).digest
