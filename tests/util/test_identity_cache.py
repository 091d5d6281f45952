"""What is known of objects by their identity: one value each, for as long as they live."""

import sys
from typing import Any

from semibandits._util.identity_cache import IdentityCache, RecentCache


class Thing:
    """Equal to every other, and without a hash."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Thing)

    __hash__ = None  # type: ignore[assignment]


def test_equal_things_have_values_of_their_own() -> None:
    cache: IdentityCache[str] = IdentityCache()
    one, other = Thing(), Thing()
    cache[one] = "one"
    assert one in cache
    assert other not in cache
    assert cache.get(other, "none") == "none"
    cache[other] = "other"
    cache[one] = "one again"
    assert (cache[one], cache[other], len(cache)) == ("one again", "other", 2)


def test_values_end_with_their_things() -> None:
    cache: IdentityCache[int] = IdentityCache()
    for number in range(100):
        thing = Thing()
        assert thing not in cache  # though one of the same identity was
        cache[thing] = number
        assert len(cache) == 1
        del thing
    assert len(cache) == 0


def test_where_a_thing_ends_no_signal_is_lost() -> None:
    """What a handler raises in a weak reference's callback is printed and forgotten: so that runs no Python code."""
    cache: IdentityCache[int] = IdentityCache()
    thing, entered = Thing(), list[str]()
    cache[thing] = 1

    def profile(frame: Any, event: str, _: object) -> None:
        if event == "call":
            entered.append(frame.f_code.co_qualname)

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        del thing
    finally:
        sys.setprofile(before)
    assert (entered, len(cache)) == ([], 0)


def test_the_values_used_last_are_kept() -> None:
    cache: RecentCache[str, int] = RecentCache(2)
    cache["a"], cache["b"] = 1, 2
    assert cache.get("a", None) == 1
    cache["c"] = 3
    assert ("a" in cache, "b" in cache, "c" in cache, len(cache)) == (True, False, True, 2)
    assert cache.get("b", None) is None
