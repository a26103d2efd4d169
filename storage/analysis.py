"""Parley's own analyser: both engines index its terms, so their sets and phrases agree by construction."""

import re
import threading
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Protocol, cast

import Stemmer  # pyright: ignore[reportMissingTypeStubs]

from storage.search.text import Term, Unplaced, fold

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
_RUN = re.compile(r"[^\W_]+")
_LONGEST_TERM = 255  # code points; the rest of a longer run is cut off, in documents and questions alike
_FIRST_ODD = "\u0300"  # below it no character is a mark that joins its neighbours, or a term by itself
_REMEMBERED = 100_000  # runs; beyond that they are learnt anew
_LONGEST_REMEMBERED = 64  # code points


class SnowballAnalyser:
    """NFKD without marks, casefold, runs of letters and digits, a Snowball stemmer of the language.

    The languages are English, German, French and Spanish; any other is left unstemmed.
    """

    def __init__(self, language: str = "en") -> None:
        self.language = language if language in _STEMMERS else ""
        self.version = f"1:{self.language}"
        stem = _stemmed(self.language)
        self._stems = _ByRun(lambda run: " ".join([stem(word) for word in _FOLDS[run].split()]))

    def terms(self, text: str) -> Sequence[Term]:
        return _placed(text, self._stems)

    def words(self, text: str) -> Sequence[Term]:
        return _placed(text, _FOLDS)

    def unplaced(self, text: str) -> Unplaced:
        runs = _RUN.findall(text) if _is_plain(text) else [text[start:end] for start, end in _spans(text)]
        words = " ".join(map(_FOLDS.__getitem__, set(runs))).split()
        return Unplaced(terms=" ".join(filter(None, map(self._stems.__getitem__, runs))), words=set(words))

    def each(self, texts: Sequence[str]) -> Sequence[str]:
        stem, runs = self._stems.__getitem__, _RUN.findall
        return [
            " ".join(filter(None, map(stem, runs(text)))) if _is_plain(text) else self.unplaced(text).terms
            for text in texts
        ]

    def is_split(self, text: str, at: int) -> bool:
        before = at - 1
        if not 0 < at < len(text) or not (_is_part(text[at]) or unicodedata.combining(text[at])):
            return False
        while before > 0 and not text[before].isalnum() and unicodedata.combining(text[before]):
            before -= 1
        return _is_part(text[before])


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
    made = cast(Callable[[str, int], _Stemmer], Stemmer.Stemmer)  # pyright: ignore[reportUnknownMemberType]
    stem = made(_STEMMERS[language], 0).stemWord  # 0: no cache of its own
    lock = threading.Lock()  # a stemmer is one thread's at a time

    @lru_cache(maxsize=_REMEMBERED)
    def cached(word: str) -> str:
        with lock:
            return stem(word) or word

    return cached


def _unchanged(word: str) -> str:
    return word


class _ByRun(dict[str, str]):
    """What a run of letters and digits becomes, joined by blanks, remembered: a corpus has few runs, but often."""

    def __init__(self, become: Callable[[str], str]) -> None:
        super().__init__()
        self._become = become

    def __missing__(self, run: str) -> str:
        result = self._become(run)
        if len(run) <= _LONGEST_REMEMBERED:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[run] = result
        return result


def _folded(run: str) -> str:
    if run.isascii():
        return run.lower()[:_LONGEST_TERM]
    # A single character can fold to several words ("½" to 1⁄2).
    words = "".join(c if c.isalnum() else " " for c in fold(run)).split()
    return " ".join([word[:_LONGEST_TERM] for word in words])


_FOLDS = _ByRun(_folded)


def _placed(text: str, become: _ByRun) -> list[Term]:
    """The words of a run that folds to several each keep the place of the run."""
    return [Term(word, start, end) for start, end in _spans(text) for word in become[text[start:end]].split()]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the runs are."""
    if _is_plain(text):
        return (match.span() for match in _RUN.finditer(text))
    return _odd_spans(text)


def _odd_spans(text: str) -> Iterator[tuple[int, int]]:
    """As `_RUN` finds them, but with the marks within, and each character of a script without blanks by itself."""
    start = -1
    for at, character in enumerate(text):
        if character.isalnum():
            if _stands_alone(character):
                if start >= 0:
                    yield start, at
                    start = -1
                yield at, at + 1
            elif start < 0:
                start = at
        elif start >= 0 and not unicodedata.combining(character):
            yield start, at
            start = -1
    if start >= 0:
        yield start, len(text)


def _is_plain(text: str) -> bool:
    return text.isascii() or not any(map(_is_odd, set(text)))


@lru_cache(maxsize=65_536)
def _is_odd(character: str) -> bool:
    return character >= _FIRST_ODD and (unicodedata.combining(character) != 0 or _stands_alone(character))


def _is_part(character: str) -> bool:
    """Whether it is of a run that may go on on either side of it."""
    return character.isalnum() and not _stands_alone(character)


@lru_cache(maxsize=65_536)
def _stands_alone(character: str) -> bool:
    code = ord(character)
    return code >= 0x0E00 and any(low <= code <= high for low, high in _SINGLES)
