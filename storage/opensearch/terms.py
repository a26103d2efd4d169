"""Strings as OpenSearch's terms: none over its limit of 32,766 bytes, and equal where the strings are.

A term that stands for a longer string ends in control characters, which neither analysed terms nor folded strings
hold, so that it is never part of what a person asks for.
"""

import hashlib
from collections.abc import Iterator, Sequence

from storage.search.text import Analyser, fold

_LONGEST_KEY = 8_000  # code points, of up to 4 bytes each
_HEAD = 4_000  # of a longer string: enough to sort by
_WINDOW = 7_000
LONGEST_WILDCARD = 100  # code points; a longer one can be too complex to make an automaton of
_LONGEST_TOKEN = 120  # code points; the whitespace tokenizer cuts at 255 UTF-16 units


def key(text: str) -> str:
    """The term of a whole string (a fold, an id). Sorts as the string does, up to its first 4,000 characters."""
    return text if len(text) <= _LONGEST_KEY else text[:_HEAD] + _seal(text)


def label(text: str) -> str:
    """The term of a string as written. Ends, where it is cut, as the `key` of its fold does."""
    folded = fold(text)
    return text if max(len(text), len(folded)) <= _LONGEST_KEY else text[:_HEAD] + _seal(folded)


def same_fold(term: str, *, is_key: bool) -> str:
    """What a `key` of a fold has in common with the `label` of each string that folds so."""
    if _is_cut(term):
        return term[-64:]
    return term if is_key else fold(term)


def shown(term: str) -> str:
    """A `label` for people; one that was cut says so."""
    return f"{term[:-64]}…" if _is_cut(term) else term


def _is_cut(term: str) -> bool:
    return len(term) > 64 and all(ord(character) < 32 for character in term[-64:])


def windows(texts: Sequence[str]) -> list[str]:
    """The strings too long for one term, in overlapping pieces (their form is told in `compile`)."""
    return [
        _place(number) + _place(at) + _piece(text, at * _WINDOW)
        for number, text in enumerate(texts)
        if len(text) > _LONGEST_KEY
        for at in range(-(-len(text) // _WINDOW))
    ]


def _piece(text: str, start: int) -> str:
    again = text[max(start - LONGEST_WILDCARD, 0) : start]
    return _place(len(again.encode("utf-16-le")) // 2) + again + text[start : start + _WINDOW]


def token(term: str) -> str:
    """An analysed term as the index has it."""
    return term if len(term) <= _LONGEST_TOKEN else "\x01" + hashlib.sha256(term.encode()).hexdigest()


def tokens(text: str, analyser: Analyser) -> list[str]:
    return [token(term.text) for term in analyser.terms(text)]


def _place(number: int) -> str:
    """Five characters that sort as the numbers do."""
    return "".join(chr(1 + (number >> shift & 7)) for shift in (12, 9, 6, 3, 0))


def _seal(text: str) -> str:
    """64 hexadecimal digits of a hash as 64 control characters."""
    return "".join(map(chr, _control_digits(hashlib.sha256(text.encode()).hexdigest())))


def _control_digits(digits: str) -> Iterator[int]:
    for digit in digits:
        yield 1 + int(digit, 16) if int(digit, 16) < 8 else 14 + int(digit, 16) - 8
