"""Dictionary encoding of strings. A dictionary only grows; all states of a field's columns in a process share it."""

import threading
from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from storage.embedded.packed_strings import StringTable
from storage.search.analyser import fold_text

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class StringRanks:
    """The sort positions of a dictionary's strings and of their folds. No two codes have the same string."""

    string_ranks: Codes  # by code of the string
    fold_ranks: Codes  # by code of the fold


class StringDictionary:
    """Gives each string a code, and each fold of a string a code of a second kind. Safe to share between threads."""

    def __init__(self) -> None:
        self.strings, self.folds = StringTable(), StringTable()
        self._fold_codes = array("i")  # of the strings
        self._lock = threading.Lock()
        self._fold_array = np.zeros(0, dtype=np.int32)
        self._ranks: StringRanks | None = None

    def encode_strings(self, strings: Iterable[str | None]) -> Codes:
        """Return the code of each string, -1 for None. Adds new strings to the dictionary."""
        values = list(strings)
        distinct = list(dict.fromkeys(value for value in values if value is not None))
        with self._lock:
            codes: dict[str | None, int] = dict(zip(distinct, self._codes_for(distinct), strict=True))
        codes[None] = -1
        return np.fromiter((codes[value] for value in values), dtype=np.int32, count=len(values))

    def code_of_fold(self, folded: str) -> int:
        """Returns the code of the fold, or -1 if it is not in the dictionary."""
        with self._lock:
            return self.folds.index_of(folded)

    def fold_codes_of(self, codes: Codes) -> Ints:
        """Returns the code of each string's fold; -1 remains -1."""
        with self._lock:
            if len(self._fold_array) < len(self._fold_codes):
                self._fold_array = np.array(self._fold_codes, dtype=np.int32)
            table = self._fold_array
        if not len(table):
            return np.full(len(codes), -1, dtype=np.int64)
        return np.where(codes < 0, -1, table[codes]).astype(np.int64)

    def fold_codes_containing(self, folded: str) -> Ints:
        """Returns the codes of the folds that contain `folded`."""
        with self._lock:
            return np.fromiter(self.folds.indexes_containing(folded), dtype=np.int64)

    def compute_ranks(self) -> StringRanks:
        with self._lock:
            if self._ranks is None or len(self._ranks.string_ranks) < len(self.strings):
                self._ranks = StringRanks(
                    string_ranks=self.strings.rank_strings(), fold_ranks=self.folds.rank_strings()
                )
            return self._ranks

    def _codes_for(self, distinct: list[str]) -> list[int]:
        known_count = len(self.strings)
        codes = self.strings.add_missing(distinct)
        added = [string for string, code in zip(distinct, codes, strict=True) if code >= known_count]  # by code
        folds = [fold_text(string) for string in added]
        new_folds = list(dict.fromkeys(folds))
        fold_codes = dict(zip(new_folds, self.folds.add_missing(new_folds), strict=True))
        self._fold_codes.extend(fold_codes[fold] for fold in folds)
        return codes
