"""Many strings in little memory: their UTF-8 bytes one after the other, and hashes to find them by.

A Python string in a dictionary takes some 200 bytes beside its characters; here it takes 8, and 20 where it is sought.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

_ERRORS = "surrogatepass"
_MIN_RECENT = 8_192  # strings that are added before their hashes are merged


class PackedStrings(Sequence[str]):
    """A sequence of strings that can grow. A thread may read it while another one adds strings."""

    def __init__(self, strings: Iterable[str] = ()) -> None:
        self._bytes, self._ends = bytearray(), array("q")
        self.add_strings(strings)

    def add_strings(self, strings: Iterable[str]) -> None:
        for string in strings:
            self._bytes += string.encode("utf-8", _ERRORS)
            self._ends.append(len(self._bytes))

    def join_strings(self, later: "PackedStrings") -> "PackedStrings":
        """Returns the strings of both in a new sequence."""
        joined, shift = PackedStrings(), len(self._bytes)
        joined._bytes = self._bytes + later._bytes
        joined._ends = self._ends + array("q", [shift + end for end in later._ends])
        return joined

    def indexes_containing(self, part: str) -> Iterator[int]:
        """Yields the indexes of the strings that contain `part`, ascending."""
        sought, count = part.encode("utf-8", _ERRORS), len(self._ends)
        ends = np.array(self._ends[:count], dtype=np.int64)
        if not sought:
            yield from range(count)
            return
        position = self._bytes.find(sought)
        while position >= 0:
            index = int(np.searchsorted(ends, position, side="right"))
            if index >= count:
                return
            is_within = position + len(sought) <= ends[index]
            if is_within:
                yield index
            position = self._bytes.find(sought, int(ends[index]) if is_within else position + 1)

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self._string_at(position) for position in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return self._string_at(index % len(self))

    def _string_at(self, index: int) -> str:
        start = self._ends[index - 1] if index else 0
        return self._bytes[start : self._ends[index]].decode("utf-8", _ERRORS)

    def rank_strings(self) -> NDArray[np.int32]:
        """Returns for each string its place in the order by code point. No two strings may be equal."""
        ranks = np.empty(len(self), dtype=np.int32)
        ranks[sorted(range(len(ranks)), key=self._string_at)] = np.arange(len(ranks), dtype=np.int32)
        return ranks


class StringTable(PackedStrings):
    """Distinct strings, found by value. One thread at a time may add strings."""

    def __init__(self) -> None:
        super().__init__()
        self._lookup = _HashLookup(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32))
        self._recent = dict[str, int]()

    def index_of(self, string: str) -> int:
        """Returns the index of the string; -1 if it is not there."""
        index = self._recent.get(string, -1)
        if index < 0:
            (index,) = self._find_merged([string])
        return index

    def add_missing(self, strings: Sequence[str]) -> list[int]:
        """Returns the indexes of the distinct strings. Adds those that are not there."""
        indexes, count, added = self._find_merged(strings), len(self), list[str]()
        for place, string in enumerate(strings):
            if indexes[place] < 0 and (known := self._recent.get(string, -1)) >= 0:
                indexes[place] = known
            elif indexes[place] < 0:
                indexes[place] = count + len(added)
                added.append(string)
        self.add_strings(added)
        self._recent.update(zip(added, range(count, len(self)), strict=True))
        if len(self._recent) > max(_MIN_RECENT, len(self) // 16):
            self._lookup = self._lookup.merge_strings(self._recent)  # before they are no longer among the recent ones
            self._recent = {}
        return indexes

    def _find_merged(self, strings: Sequence[str]) -> list[int]:
        indexes = [-1] * len(strings)
        for place, candidates in self._lookup.find_candidates(strings):
            string = strings[place]
            indexes[place] = next((index for index in candidates if self._string_at(index) == string), -1)
        return indexes


class _HashLookup:
    """The hashes of strings, ascending, and the indexes of the strings. Never changes."""

    def __init__(self, hashes: NDArray[np.int64], indexes: NDArray[np.int32]) -> None:
        self._hashes, self._indexes = hashes, indexes

    def find_candidates(self, strings: Sequence[str]) -> Iterator[tuple[int, Sequence[int]]]:
        """Yields the places of the strings with a known hash, each with the indexes of the strings with this hash."""
        hashes = _hashes_of(strings)
        first = np.searchsorted(self._hashes, hashes)
        counts = np.searchsorted(self._hashes, hashes, side="right") - first
        places = np.flatnonzero(counts)
        singles = self._indexes[first[places]].tolist()
        for place, single in zip(places.tolist(), singles, strict=True):
            start, count = int(first[place]), int(counts[place])
            yield place, (single,) if count == 1 else self._indexes[start : start + count].tolist()

    def merge_strings(self, indexes: "dict[str, int]") -> "_HashLookup":
        hashes = _hashes_of(list(indexes))
        order = np.argsort(hashes)
        places = np.searchsorted(self._hashes, hashes[order])
        return _HashLookup(
            np.insert(self._hashes, places, hashes[order]),
            np.insert(self._indexes, places, np.fromiter(indexes.values(), dtype=np.int32, count=len(indexes))[order]),
        )


def _hashes_of(strings: Sequence[str]) -> NDArray[np.int64]:
    return np.fromiter(map(hash, strings), dtype=np.int64, count=len(strings))
