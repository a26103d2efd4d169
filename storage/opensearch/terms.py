"""Terms for OpenSearch: strings encoded so that no term exceeds the limit of 32,766 bytes and equality is kept.

The term of a longer string ends in control characters. Neither analysed terms nor folded strings contain control
characters, so such a suffix never matches a person's search.
"""

import hashlib
from collections.abc import Iterator, Sequence

from storage.search.analyser import Analyser, fold_text

_MAX_TERM_LENGTH = 8_000  # code points, of up to 4 bytes each
_PREFIX_LENGTH = 4_000  # kept of a longer string; enough to sort by
_WINDOW_LENGTH = 7_000
MAX_WILDCARD_LENGTH = 100  # code points; a longer pattern can be too complex for an automaton
_MAX_TOKEN_LENGTH = 120  # code points; the whitespace tokenizer cuts at 255 UTF-16 units


def keyword_term_of(text: str) -> str:
    """Returns the term of a whole string (a fold, an id). It sorts like the string's first 4,000 characters."""
    return text if len(text) <= _MAX_TERM_LENGTH else text[:_PREFIX_LENGTH] + _hash_suffix(text)


def label_term_of(text: str) -> str:
    """Returns the term of a string as written. A truncated term ends in the same hash as the term of its fold."""
    folded = fold_text(text)
    return text if max(len(text), len(folded)) <= _MAX_TERM_LENGTH else text[:_PREFIX_LENGTH] + _hash_suffix(folded)


def fold_identity_of(term: str, *, is_key: bool) -> str:
    """Returns the identity of a fold, which is the same for its keyword term and for the label terms of its spellings.

    `is_key`: `term` is a keyword term, otherwise a label term.
    """
    if _is_truncated(term):
        return term[-64:]
    return term if is_key else fold_text(term)


def display_label_of(term: str) -> str:
    """Returns a label term for display; a truncated one ends in an ellipsis."""
    return f"{term[:-64]}…" if _is_truncated(term) else term


def _is_truncated(term: str) -> bool:
    return len(term) > 64 and all(ord(character) < 32 for character in term[-64:])


def overlapping_windows_of(texts: Sequence[str]) -> list[str]:
    """Returns the strings that are too long for one term, in overlapping windows (for their format see `compile`)."""
    return [
        _sortable_number(number) + _sortable_number(window) + _window_term(text, window * _WINDOW_LENGTH)
        for number, text in enumerate(texts)
        if len(text) > _MAX_TERM_LENGTH
        for window in range(-(-len(text) // _WINDOW_LENGTH))
    ]


def _window_term(text: str, start: int) -> str:
    overlap = text[max(start - MAX_WILDCARD_LENGTH, 0) : start]
    return _sortable_number(len(overlap.encode("utf-16-le")) // 2) + overlap + text[start : start + _WINDOW_LENGTH]


def indexed_token_of(term: str) -> str:
    """Returns an analysed term as the index stores it; a hash replaces a long one."""
    return term if len(term) <= _MAX_TOKEN_LENGTH else "\x01" + hashlib.sha256(term.encode()).hexdigest()


def indexed_tokens_of(text: str, analyser: Analyser) -> list[str]:
    return [indexed_token_of(term.text) for term in analyser.extract_terms(text)]


def indexed_terms_of(joined_terms: str) -> str:
    """Returns analysed terms, joined by blanks, as the index stores them."""
    terms = joined_terms.split(" ")
    if max(map(len, terms)) <= _MAX_TOKEN_LENGTH:
        return joined_terms
    return " ".join(map(indexed_token_of, terms))


def _sortable_number(number: int) -> str:
    """Returns five characters that sort like the numbers."""
    return "".join(chr(1 + (number >> shift & 7)) for shift in (12, 9, 6, 3, 0))


def _hash_suffix(text: str) -> str:
    """Returns a hash of 64 hexadecimal digits, written as 64 control characters."""
    return "".join(map(chr, _control_digits(hashlib.sha256(text.encode()).hexdigest())))


def _control_digits(digits: str) -> Iterator[int]:
    for digit in digits:
        yield 1 + int(digit, 16) if int(digit, 16) < 8 else 14 + int(digit, 16) - 8
