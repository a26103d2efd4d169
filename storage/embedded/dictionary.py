"""Strings as numbers: a dictionary that only grows, shared by all states of a field's columns in a process."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from storage.search.text import fold

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """The order of a dictionary's strings, by code; equal strings of two codes do not occur."""

    raw: Ints
    fold: Ints  # by code of the fold


class Dictionary:
    """Gives each string a code, and each fold of a string another. Safe to share between threads."""

    def __init__(self) -> None:
        self.raw = list[str]()
        self.folds = list[str]()
        self._codes = dict[str, int]()
        self._fold_codes = dict[str, int]()
        self._fold_of = list[int]()
        self._lock = threading.Lock()
        self._fold_array = np.zeros(0, dtype=np.int64)
        self._ranks: Ranks | None = None

    def codes(self, strings: Iterable[str | None]) -> Codes:
        """The code of each; -1 for None. New ones are added."""
        with self._lock:
            return np.array([-1 if one is None else self._code(one) for one in strings], dtype=np.int32)

    def code_of_fold(self, folded: str) -> int:
        """-1 for one that is not there."""
        return self._fold_codes.get(folded, -1)

    def fold_of(self, codes: Codes) -> Ints:
        """The code of each string's fold; -1 stays."""
        with self._lock:
            if len(self._fold_array) < len(self._fold_of):
                self._fold_array = np.array(self._fold_of, dtype=np.int64)
            table = self._fold_array
        return np.where(codes < 0, -1, table[codes]) if len(table) else np.full(len(codes), -1, dtype=np.int64)

    def folds_holding(self, folded: str) -> Ints:
        """Codes of the folds that hold `folded` within."""
        return np.array([at for at, one in enumerate(self.folds[:]) if folded in one], dtype=np.int64)

    def ranks(self) -> Ranks:
        with self._lock:
            if self._ranks is None or len(self._ranks.raw) < len(self.raw):
                self._ranks = Ranks(raw=_ranks(self.raw), fold=_ranks(self.folds))
            return self._ranks

    def _code(self, string: str) -> int:
        code = self._codes.get(string)
        if code is None:
            code = self._codes[string] = len(self.raw)
            self.raw.append(string)
            self._fold_of.append(self._fold_code(fold(string)))
        return code

    def _fold_code(self, folded: str) -> int:
        code = self._fold_codes.get(folded)
        if code is None:
            code = self._fold_codes[folded] = len(self.folds)
            self.folds.append(folded)
        return code


def _ranks(strings: Sequence[str]) -> Ints:
    ranks = np.empty(len(strings), dtype=np.int64)
    ranks[sorted(range(len(strings)), key=strings.__getitem__)] = np.arange(len(strings))
    return ranks
