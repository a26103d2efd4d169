"""Parley's own analyser: both engines index its terms, so their sets and phrases agree by construction."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Protocol, cast

import snowballstemmer  # pyright: ignore[reportMissingTypeStubs]

from storage.search.text import Term, fold

_STEMMERS = {"en": "english", "de": "german", "fr": "french", "es": "spanish"}
# Scripts written without blanks: each character is a term. Ranges of Unicode blocks (Unicode 15, Blocks.txt).
_SINGLES = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # CJK radicals
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3400, 0x4DBF),  # CJK extension A
    (0x4E00, 0x9FFF),  # CJK
    (0xF900, 0xFAFF),  # CJK compatibility
    (0x20000, 0x3FFFF),  # CJK extensions B and on
)
_ASCII_RUN = re.compile(r"[0-9A-Za-z]+")
_LONGEST_TERM = 255  # code points; the rest of a longer run is cut off, in documents and questions alike


class SnowballAnalyser:
    """NFKD without marks, casefold, runs of letters and digits, a Snowball stemmer of the language.

    The languages are English, German, French and Spanish; any other is left unstemmed.
    """

    def __init__(self, language: str = "en") -> None:
        self.language = language if language in _STEMMERS else ""
        self.version = f"1:{self.language}"

    def terms(self, text: str) -> Sequence[Term]:
        stem = _stemmed(self.language)
        return [Term(stem(word.text), word.start, word.end) for word in _words(text)]

    def words(self, text: str) -> Sequence[Term]:
        return list(_words(text))


@lru_cache(maxsize=16)
def analyser_for(language: str) -> SnowballAnalyser:
    """The analyser of a bucket's language; safe to share."""
    return SnowballAnalyser(language)


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - the library's name


@lru_cache(maxsize=16)
def _stemmed(language: str) -> Callable[[str], str]:
    if not language:
        return _unchanged
    stem = cast(_Stemmer, snowballstemmer.stemmer(_STEMMERS[language])).stemWord  # pyright: ignore[reportUnknownMemberType]

    @lru_cache(maxsize=200_000)
    def cached(word: str) -> str:
        return stem(word) or word

    return cached


def _unchanged(word: str) -> str:
    return word


def _words(text: str) -> Iterator[Term]:
    if text.isascii():
        for match in _ASCII_RUN.finditer(text):
            yield Term(match[0].lower()[:_LONGEST_TERM], match.start(), match.end())
        return
    start = -1
    for at, character in enumerate(text):
        if character.isalnum():
            if _stands_alone(character):
                if start >= 0:
                    yield from _folded(text, start, at)
                    start = -1
                yield from _folded(text, at, at + 1)
            elif start < 0:
                start = at
        elif start >= 0 and not unicodedata.combining(character):
            yield from _folded(text, start, at)
            start = -1
    if start >= 0:
        yield from _folded(text, start, len(text))


def _folded(text: str, start: int, end: int) -> Iterator[Term]:
    # A single character can fold to several words ("½" to 1⁄2): each keeps the place of the run.
    for word in "".join(c if c.isalnum() else " " for c in fold(text[start:end])).split():
        yield Term(word[:_LONGEST_TERM], start, end)


@lru_cache(maxsize=65_536)
def _stands_alone(character: str) -> bool:
    code = ord(character)
    return code >= 0x0E00 and any(low <= code <= high for low, high in _SINGLES)
