"""How many numbers a Parquet file says it holds, before any of them is unpacked: a few bytes can unpack to any number.

pyarrow tells it, too, but ends the whole process for some damaged files, and believes what single pages say. The file's
own descriptions are in Thrift's compact protocol; the numbers of their fields are from the format's definition,
https://github.com/apache/parquet-format (parquet.thrift).
"""

import struct
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

MAGIC = b"PAR1"
MOST_FOOTER = 2**24
"""Bytes of the description of all columns."""
DEEPEST = 20
NUMBERS = (1, 2, 5)
"""The physical types INT32, INT64 and DOUBLE."""


class Sizes(NamedTuple):
    """What the named columns hold."""

    rows: int
    values: dict[str, int]
    unpacked: int
    """Bytes of all their pages."""


def sizes(data: bytes, names: Collection[str]) -> Sizes:
    """Of these columns of numbers, or of lists of numbers; `ValueError` where the bytes are no such file."""
    try:
        return _sizes(data, names)
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"the description of its columns is damaged: {error!s:.100}") from error


def _sizes(data: bytes, names: Collection[str]) -> Sizes:
    length = int.from_bytes(data[-8:-4], "little")
    if data[-4:] != MAGIC or not 0 < length <= min(MOST_FOOTER, len(data) - 12):
        raise ValueError("there is no description of its columns, or too long a one")
    footer = _Reader(data, len(data) - 8 - length, len(data) - 8).structure()
    values, unpacked = dict.fromkeys(names, 0), 0
    for group in footer[4]:
        for chunk in group[1]:
            about = chunk[3]
            name = about[3][0].decode()
            if name not in values:
                continue
            if about[1] not in NUMBERS:
                raise ValueError(f"{name} must be numbers")
            start = about.get(11) or about[9]  # of a dictionary, where there is one
            here, size = _pages(data, start, start + about[7])
            values[name] += here
            unpacked += size
    return Sizes(footer[3], values, unpacked)


def _pages(data: bytes, at: int, end: int) -> tuple[int, int]:
    """The values, and the bytes, that the pages from here to there unpack to."""
    if not 0 < at <= end <= len(data):
        raise ValueError("a column is beyond the end of the file")
    values = unpacked = 0
    while at < end:
        reader = _Reader(data, at, end)
        header = reader.structure()
        page = header.get(5) or header.get(8) or {1: 0}  # else a dictionary, or an index
        if min(header[2], header[3], page[1]) < 0:
            raise ValueError("a page has less than nothing")
        values, unpacked = values + page[1], unpacked + header[2]
        at = reader.at + header[3]
    if at != end:
        raise ValueError("a page is longer than its column")
    return values, unpacked


class _Reader:
    """Thrift's compact protocol: a structure is the values of its fields, by their numbers."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self._data = data
        self._end = end
        self._depth = 0
        self.at = at
        self._kinds: dict[int, Callable[[], Any]] = {
            3: lambda: self._take(1)[0],
            **dict.fromkeys((4, 5, 6), self._integer),
            7: lambda: struct.unpack("<d", self._take(8))[0],
            8: lambda: self._take(self._count()),
            **dict.fromkeys((9, 10), self._list),
            11: self._map,
            12: self.structure,
        }

    def structure(self) -> dict[int, Any]:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ValueError("structures in structures without end")
        fields: dict[int, Any] = {}
        number = 0
        while (head := self._take(1)[0]) != 0:
            number = number + (head >> 4) if head >> 4 else self._integer()
            kind = head & 15
            fields[number] = kind == 1 if kind in (1, 2) else self._kinds[kind]()
        self._depth -= 1
        return fields

    def _list(self) -> list[Any]:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ValueError("lists in lists without end")
        head = self._take(1)[0]
        count = head >> 4 if head >> 4 < 15 else self._count()
        if count > self._end - self.at:
            raise ValueError("a list is longer than the file")
        kind = head & 15
        read = self._kinds[3 if kind in (1, 2) else kind]
        found = [read() for _ in range(count)]
        self._depth -= 1
        return found

    def _map(self) -> None:
        raise ValueError("the format has no maps")

    def _integer(self) -> int:
        number = self._count()
        return (number >> 1) ^ -(number & 1)

    def _count(self) -> int:
        number = shift = 0
        while True:
            byte = self._take(1)[0]
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
            if shift > 63:
                raise ValueError("a number is too long")

    def _take(self, count: int) -> bytes:
        if count > self._end - self.at:
            raise ValueError("it ends too early")
        self.at += count
        return self._data[self.at - count : self.at]
