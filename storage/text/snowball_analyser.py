"""Parley's text analyser. All engines index its terms, so that they agree on every set and phrase."""

import re
import threading
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Protocol, cast

import Stemmer  # pyright: ignore[reportMissingTypeStubs]

from storage.search.analyser import AnalysedTerm, IndexTerms, fold_text

_STEMMERS = {"en": "english", "de": "german", "fr": "french", "es": "spanish"}
# Scripts without blanks between words: each character is a term. Ranges of Unicode blocks (Unicode 15, Blocks.txt).
_SINGLE_CHARACTER_SCRIPTS = (
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
_RUN_PATTERN = re.compile(r"[^\W_]+")
_MAX_TERM_CHARS = 255  # code points; the rest of a longer run is ignored, in documents and in questions
_MAX_MARKS_IN_RUN = 1_000  # combining marks that are looked at to tell whether a position is inside a term
_FIRST_IRREGULAR = "\u0300"  # no character below is a combining mark or a term by itself
_MAX_CACHED_RUNS = 100_000  # runs; a full cache is cleared
_MAX_CACHED_RUN_CHARS = 64  # code points


class SnowballAnalyser:
    """Divides text into runs of letters and digits, folds them (NFKD without marks, casefold) and stems them.

    Has Snowball stemmers for English, German, French and Spanish; words of other languages are not stemmed.
    """

    def __init__(self, language: str = "en") -> None:
        self.language = language if language in _STEMMERS else ""
        self.version = f"1:{self.language}"
        stem = _stemming_for(self.language)
        self._stem_cache = _RunCache(lambda run: " ".join([stem(word) for word in _FOLD_CACHE[run].split()]))

    def extract_terms(self, text: str) -> Sequence[AnalysedTerm]:
        return _locate_terms(text, self._stem_cache)

    def extract_words(self, text: str) -> Sequence[AnalysedTerm]:
        return _locate_terms(text, _FOLD_CACHE)

    def index_terms_of(self, text: str) -> IndexTerms:
        runs = (
            _RUN_PATTERN.findall(text)
            if _is_regular_text(text)
            else [text[start:end] for start, end in _run_spans_of(text)]
        )
        words = " ".join(map(_FOLD_CACHE.__getitem__, set(runs))).split()
        return IndexTerms(
            joined_terms=" ".join(filter(None, map(self._stem_cache.__getitem__, runs))), words=set(words)
        )

    def joined_terms_of(self, texts: Sequence[str]) -> Sequence[str]:
        stem, runs = self._stem_cache.__getitem__, _RUN_PATTERN.findall
        return [
            " ".join(filter(None, map(stem, runs(text))))
            if _is_regular_text(text)
            else self.index_terms_of(text).joined_terms
            for text in texts
        ]

    def is_inside_term(self, text: str, position: int) -> bool:
        previous, first = position - 1, max(0, position - 1 - _MAX_MARKS_IN_RUN)
        if not 0 < position < len(text) or not (
            _can_extend_run(text[position]) or unicodedata.combining(text[position])
        ):
            return False
        while previous > first and not text[previous].isalnum() and unicodedata.combining(text[previous]):
            previous -= 1
        return _can_extend_run(text[previous]) or (first > 0 and previous == first)


@lru_cache(maxsize=16)
def analyser_for(language: str) -> SnowballAnalyser:
    """Returns the analyser for a bucket's language. It is safe to share between threads."""
    return SnowballAnalyser(language)


class _SnowballStemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - the library's name


@lru_cache(maxsize=16)
def _stemming_for(language: str) -> Callable[[str], str]:
    if not language:
        return _return_unchanged
    make_stemmer = cast(Callable[[str, int], _SnowballStemmer], Stemmer.Stemmer)  # pyright: ignore[reportUnknownMemberType]
    stem = make_stemmer(_STEMMERS[language], 0).stemWord  # 0: no cache of its own
    lock = threading.Lock()  # only one thread at a time may use a stemmer

    @lru_cache(maxsize=_MAX_CACHED_RUNS)
    def stem_cached(word: str) -> str:
        with lock:
            return stem(word) or word

    return stem_cached


def _return_unchanged(word: str) -> str:
    return word


class _RunCache(dict[str, str]):
    """Run of letters and digits -> its terms joined by blanks. Caches them, since a corpus repeats a few runs often."""

    def __init__(self, transform: Callable[[str], str]) -> None:
        super().__init__()
        self._transform = transform

    def __missing__(self, run: str) -> str:
        result = self._transform(run)
        if len(run) <= _MAX_CACHED_RUN_CHARS:
            if len(self) >= _MAX_CACHED_RUNS:
                self.clear()
            self[run] = result
        return result


def _fold_run(run: str) -> str:
    if run.isascii():
        return run.lower()[:_MAX_TERM_CHARS]
    # A single character can fold to several words ("½" folds to 1⁄2).
    words = "".join(character if character.isalnum() else " " for character in fold_text(run)).split()
    return " ".join([word[:_MAX_TERM_CHARS] for word in words])


_FOLD_CACHE = _RunCache(_fold_run)


def _locate_terms(text: str, run_cache: _RunCache) -> list[AnalysedTerm]:
    """Return the terms of the text. If a run folds to several words, each has the position of the run."""
    return [
        AnalysedTerm(word, start, end)
        for start, end in _run_spans_of(text)
        for word in run_cache[text[start:end]].split()
    ]


def _run_spans_of(text: str) -> Iterator[tuple[int, int]]:
    """Returns the start and end of each run."""
    if _is_regular_text(text):
        return (match.span() for match in _RUN_PATTERN.finditer(text))
    return _irregular_run_spans(text)


def _irregular_run_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the runs that `_RUN_PATTERN` finds, with combining marks inside them.

    Each character of a script without blanks is a run of its own.
    """
    start = -1
    for index, character in enumerate(text):
        if character.isalnum():
            if _stands_alone(character):
                if start >= 0:
                    yield start, index
                    start = -1
                yield index, index + 1
            elif start < 0:
                start = index
        elif start >= 0 and not unicodedata.combining(character):
            yield start, index
            start = -1
    if start >= 0:
        yield start, len(text)


def _is_regular_text(text: str) -> bool:
    return text.isascii() or not any(map(_is_irregular_character, set(text)))


@lru_cache(maxsize=65_536)
def _is_irregular_character(character: str) -> bool:
    return character >= _FIRST_IRREGULAR and (unicodedata.combining(character) != 0 or _stands_alone(character))


def _can_extend_run(character: str) -> bool:
    """Whether the character can be part of a longer run."""
    return character.isalnum() and not _stands_alone(character)


@lru_cache(maxsize=65_536)
def _stands_alone(character: str) -> bool:
    code_point = ord(character)
    return code_point >= 0x0E00 and any(low <= code_point <= high for low, high in _SINGLE_CHARACTER_SCRIPTS)
