"""Short names of policies: with no more parameters than tell them apart."""

import re
from collections.abc import Iterable
from typing import NamedTuple

_CALL = re.compile(r"(?P<called>[^(]*)(?:\((?P<given>.*)\))?(?P<number> #\d+)?", re.DOTALL)
_CLOSES = {")": "(", "]": "[", "}": "{", ">": "<"}


class _Name(NamedTuple):
    """A policy's name taken apart; the number tells those that print alike."""

    called: str
    given: tuple[str, ...]
    number: str


def short_names(names: Iterable[str]) -> list[str]:
    """Of policies of one class without the parameters that all of them share; the names as they are where that tells
    too little.

    >>> short_names(["CTS()", "KLUCB(c=2.0, init='all')", "KLUCB(c=3.0, init='all')", "KLUCB(c=3.0, init='all') #2"])
    ['CTS', 'KLUCB(c=2)', 'KLUCB(c=3)', 'KLUCB(c=3) #2']
    """
    full = list(names)
    alike: dict[str, list[str]] = {}
    for name in dict.fromkeys(full):
        alike.setdefault(_taken_apart(name).called, []).append(name)
    short: dict[str, str] = {}
    for group in alike.values():
        found = _of_one_class([_taken_apart(name) for name in group])
        short.update(zip(group, found if len(set(found)) == len(group) else group, strict=True))
    return [short[name] for name in full] if len(set(short.values())) == len(short) else full


def _taken_apart(name: str) -> _Name:
    found = _CALL.fullmatch(name)
    if found is None:
        return _Name(name, (), "")
    return _Name(found["called"], tuple(_arguments(found["given"] or "")), found["number"] or "")


def _arguments(given: str) -> list[str]:
    """Split at the commas that are in no brackets and no quotes."""
    parts, opened, quote = [""], [""], ""
    for at, letter in enumerate(given):
        if quote:
            quote = "" if letter == quote and given[at - 1] != "\\" else quote
        elif letter in "'\"":
            quote = letter
        elif letter in _CLOSES.values():
            opened.append(letter)
        elif opened[-1] and opened[-1] == _CLOSES.get(letter):
            opened.pop()
        elif letter == "," and len(opened) == 1:
            parts.append("")
            continue
        parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _of_one_class(names: list[_Name]) -> list[str]:
    common = set.intersection(*(set(name.given) for name in names))
    by_place = any(not re.match(r"\w+=|<", part) for name in names for part in name.given)
    if by_place and len({name.given for name in names}) > 1:
        common = set()  # what stands second says nothing without what stands first
    short = []
    for called, given, number in names:
        some = ", ".join(re.sub(r"(?<==)(-?\d+)\.0$", r"\1", part) for part in given if part not in common)
        short.append(f"{called}({some}){number}" if some else f"{called}{number}")
    return short
