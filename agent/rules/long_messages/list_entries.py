"""Finds a list that a person pasted into a message: many identifiers, or many names on lines or between commas."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

MIN_LIST_ENTRIES: Final = 12  # shorter lists are read as other words are
MAX_LIST_ENTRIES: Final = 5_000
_MAX_ENTRY_CHARS, _MAX_ENTRY_WORDS = 80, 8
_MIN_CODE_LENGTH = 3
_PIECE_PATTERN = re.compile(r"[^\s,;|]+")
_CODE_PATTERN = re.compile(r"\w[\w\-/._:#@+]*")
_NUMERAL_PATTERN = re.compile(
    r"\d{1,2}[./-]\d{1,2}(?:[./-]\d{2,4})?|\d+[.,]\d+|\d{4}-\d\d-\d\d|\d{1,2}"
)  # a day, a decimal
_CONNECTIVES = frozenset({"and", "or", "und", "oder", "et", "ou", "y", "o", "&"})
_SEPARATORS = ("\n", ";", ",")
_WRAPPING_MARKS = " \t\r\"'“”„‘’`()[]{}<>•*-–—."


@dataclass(frozen=True, slots=True)
class ListEntry:
    """An entry without the marks around it; it is at `message[start:end]` with them."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PastedList:
    """Entries in their order, which may repeat. `is_of_codes`: each has a digit, such as an order number."""

    entries: tuple[ListEntry, ...]
    is_of_codes: bool
    is_of_lines: bool = False  # each entry has a line of its own


def find_pasted_list(message: str) -> PastedList | None:
    """Returns the longest list of the message; None if none has `MIN_LIST_ENTRIES` distinct entries.

    The first and the last entry of a list of names may hold other words of the sentence too.
    """
    found = [*_find_code_runs(message), *_find_name_runs(message)]
    return max(found, key=lambda pasted: len(pasted.entries), default=None)


def _find_code_runs(message: str) -> Iterator[PastedList]:
    """Yields runs of identifiers, whatever appears between them: "C0001, C0002 and C0003"."""
    run: list[re.Match[str]] = []
    for piece in _PIECE_PATTERN.finditer(message):
        if _is_code(piece[0].strip(_WRAPPING_MARKS)):
            run.append(piece)
        elif piece[0].casefold() not in _CONNECTIVES:
            yield from _list_of(message, [(piece.start(), piece.end()) for piece in run], is_of_codes=True)
            run = []
    yield from _list_of(message, [(piece.start(), piece.end()) for piece in run], is_of_codes=True)


def _is_code(word: str) -> bool:
    """Whether the word may name something by letters and digits, and is not a day or decimal number."""
    if len(word) < _MIN_CODE_LENGTH or not any(character.isdigit() for character in word):
        return False
    return _CODE_PATTERN.fullmatch(word) is not None and _NUMERAL_PATTERN.fullmatch(word) is None


def _find_name_runs(message: str) -> Iterator[PastedList]:
    """Yields runs of short texts between equal separators."""
    for separator in _SEPARATORS:
        if message.count(separator) + 1 < MIN_LIST_ENTRIES:
            continue
        run: list[tuple[int, int]] = []
        start = 0
        for part in message.split(separator):
            span = (start, start + len(part))
            start += len(part) + len(separator)
            if _is_short(part):
                run.append(span)
                continue
            yield from _list_of(message, run, is_of_codes=False, is_of_lines=separator == "\n")
            run = []
        yield from _list_of(message, run, is_of_codes=False, is_of_lines=separator == "\n")


def _is_short(part: str) -> bool:
    text = part.strip(_WRAPPING_MARKS)
    return 0 < len(text) <= _MAX_ENTRY_CHARS and len(text.split()) <= _MAX_ENTRY_WORDS and "?" not in text


def _list_of(
    message: str, spans: Sequence[tuple[int, int]], *, is_of_codes: bool, is_of_lines: bool = False
) -> Iterator[PastedList]:
    entries = tuple(
        ListEntry(message[first:last].strip(_WRAPPING_MARKS), first, last) for first, last in spans[:MAX_LIST_ENTRIES]
    )
    if len({entry.text for entry in entries}) >= MIN_LIST_ENTRIES:
        yield PastedList(entries, is_of_codes=is_of_codes, is_of_lines=is_of_lines)
