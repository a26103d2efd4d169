"""Corrects misspelt words of the language: months, days of the week, and words that give a question its form."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from rapidfuzz.distance import OSA

from agent.english.function_words import (
    AGGREGATE_WORDS,
    ASKING_WORDS,
    COMPARATORS,
    DAY_WORDS,
    DIMENSION_UNITS,
    DISTINCT_WORDS,
    FILLER_WORDS,
    LIST_VERBS,
    MEASURE_NOUNS,
    NEGATIONS,
    PERIOD_WORDS,
    QUESTION_WORDS,
    STOP_WORDS,
    SUMMARY_WORDS,
)
from agent.rules.words.informal_spelling import KnowsWord
from storage.quantities.calendar_arithmetic import MONTHS, WEEKDAYS

_CALENDAR_WORDS = frozenset({*MONTHS, *WEEKDAYS})
# "Sending" and "though" are not misspellings of the words left out.
_FORM_WORDS = (
    QUESTION_WORDS | AGGREGATE_WORDS | PERIOD_WORDS.keys() | COMPARATORS | NEGATIONS | LIST_VERBS | SUMMARY_WORDS
    | DISTINCT_WORDS | DAY_WORDS
) - {"spending", "spend"}  # fmt: skip
_KNOWN_WORDS = _FORM_WORDS | _CALENDAR_WORDS | STOP_WORDS | FILLER_WORDS | ASKING_WORDS | MEASURE_NOUNS.keys() | (
    DIMENSION_UNITS.keys()
)  # fmt: skip
_MIN_LETTERS, _MIN_LETTERS_FOR_OTHER_EDITS = 5, 6  # letters from which swapped ones, and other slips, are corrected
_MIN_LETTERS_OF_FORM_WORDS = 7  # the same for words that are not months or days
_VOWELS = frozenset("aeiou")
_WORD = re.compile(r"(?<![\w'’@./-])[A-Za-z]{4,}(?![\w'’@/-])")


def correct_function_words(question: str, knows_word: KnowsWord) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Returns the corrected question, and its corrections as pairs: the word as written, the word as meant.

    A word that `knows_word` accepts is kept.
    """
    corrections: list[tuple[str, str]] = []

    def correct_word(match: re.Match[str]) -> str:
        written = match[0]
        meant = _meant_word(written.lower()) if written[1:].islower() else None
        if meant is None or (written[0].isupper() and meant not in _CALENDAR_WORDS) or knows_word(written.lower()):
            return written
        corrections.append((written, meant))
        return meant

    return _WORD.sub(correct_word, question), tuple(corrections)


@lru_cache(maxsize=4096)
def _meant_word(word: str) -> str | None:
    """Returns the only word of the language that `word` misspells; None for a word that is known or too far off."""
    if word in _KNOWN_WORDS:
        return None
    candidates = {
        candidate
        for size in (-1, 0, 1)
        for candidate in _words_by_initial_and_length().get((word[0], len(word) + size), ())
        if _is_slip_of(word, candidate)
    }
    return candidates.pop() if len(candidates) == 1 else None


@cache
def _words_by_initial_and_length() -> Mapping[tuple[str, int], Sequence[str]]:
    words: dict[tuple[str, int], list[str]] = defaultdict(list)
    for word in sorted(_FORM_WORDS | _CALENDAR_WORDS):
        if len(word) >= _MIN_LETTERS:
            words[word[0], len(word)].append(word)
    return words


def _is_slip_of(word: str, meant: str) -> bool:
    """Whether one slip of the keys makes `word` of `meant`: two letters swapped, one left out, doubled or wrong."""
    if OSA.distance(word, meant, score_cutoff=1) > 1 or word[:-1] == meant[:-1]:
        return False
    if sorted(word) == sorted(meant):
        return True
    if word.startswith(meant) or meant.startswith(word):
        return False  # an inflection
    if meant in _CALENDAR_WORDS:
        return len(meant) >= _MIN_LETTERS_FOR_OTHER_EDITS
    return len(meant) >= _MIN_LETTERS_OF_FORM_WORDS and (len(word) != len(meant) or _differs_in_vowel(word, meant))


def _differs_in_vowel(word: str, meant: str) -> bool:
    return all(first == second or {first, second} <= _VOWELS for first, second in zip(word, meant, strict=True))
