"""Dictionary encoding of strings. A dictionary only grows; all states of a field's columns in a process share it."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from storage.search.analyser import fold_text

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class StringRanks:
    """The sort positions of a dictionary's strings and of their folds. No two codes have the same string."""

    string_ranks: Ints  # by code of the string
    fold_ranks: Ints  # by code of the fold


class StringDictionary:
    """Gives each string a code, and each fold of a string a code of a second kind. Safe to share between threads."""

    def __init__(self) -> None:
        self.strings = list[str]()
        self.folds = list[str]()
        self._string_codes = dict[str, int]()
        self._fold_codes = dict[str, int]()
        self._fold_code_list = list[int]()
        self._lock = threading.Lock()
        self._fold_array = np.zeros(0, dtype=np.int64)
        self._ranks: StringRanks | None = None

    def encode_strings(self, strings: Iterable[str | None]) -> Codes:
        """Return the code of each string, -1 for None. Adds new strings to the dictionary."""
        with self._lock:
            return np.array([-1 if string is None else self._code_for(string) for string in strings], dtype=np.int32)

    def code_of_fold(self, folded: str) -> int:
        """Returns the code of the fold, or -1 if it is not in the dictionary."""
        return self._fold_codes.get(folded, -1)

    def fold_codes_of(self, codes: Codes) -> Ints:
        """Returns the code of each string's fold; -1 remains -1."""
        with self._lock:
            if len(self._fold_array) < len(self._fold_code_list):
                self._fold_array = np.array(self._fold_code_list, dtype=np.int64)
            table = self._fold_array
        return np.where(codes < 0, -1, table[codes]) if len(table) else np.full(len(codes), -1, dtype=np.int64)

    def fold_codes_containing(self, folded: str) -> Ints:
        """Returns the codes of the folds that contain `folded`."""
        return np.array([code for code, fold in enumerate(self.folds[:]) if folded in fold], dtype=np.int64)

    def compute_ranks(self) -> StringRanks:
        with self._lock:
            if self._ranks is None or len(self._ranks.string_ranks) < len(self.strings):
                self._ranks = StringRanks(
                    string_ranks=_rank_strings(self.strings), fold_ranks=_rank_strings(self.folds)
                )
            return self._ranks

    def _code_for(self, string: str) -> int:
        code = self._string_codes.get(string)
        if code is None:
            code = self._string_codes[string] = len(self.strings)
            self.strings.append(string)
            self._fold_code_list.append(self._fold_code_for(fold_text(string)))
        return code

    def _fold_code_for(self, folded: str) -> int:
        code = self._fold_codes.get(folded)
        if code is None:
            code = self._fold_codes[folded] = len(self.folds)
            self.folds.append(folded)
        return code


def _rank_strings(strings: Sequence[str]) -> Ints:
    ranks = np.empty(len(strings), dtype=np.int64)
    ranks[sorted(range(len(strings)), key=strings.__getitem__)] = np.arange(len(strings))
    return ranks
