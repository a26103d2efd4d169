"""Words that are written as one or as two, and names of streets in short: "webshop" for "web shop", "Harbour St"."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

from agent.english.abbreviations import OTHER_WORD_OF_STREET
from agent.english.function_words import STOP_WORDS
from agent.rules.words.tokens import QuestionToken
from storage.search.analyser import Analyser

_Phrase: TypeAlias = tuple[str, ...]

_GAP = re.compile(r"[\s\-‐–/]+")
_MIN_JOINED_LETTERS = 5
_MAX_JOINED_WORDS = 3
_MAX_WORDS_OF_STREET = 3  # before "street"
_MAX_NAMES = 50_000  # more names have too many words that are joined by chance


class JoinedSpellings:
    """The names and values of a bucket by what they are when written as one word."""

    def __init__(self, names: Sequence[str], analyser: Analyser) -> None:
        self._analyser = analyser
        divided = list(_divided_names(names)) if len(names) <= _MAX_NAMES else []
        joined = analyser.joined_terms_of([_GAP.sub("", name) for name in divided])
        phrases = analyser.joined_terms_of(divided)
        self._phrase_by_joined = {
            term: tuple(phrase.split()) for term, phrase in zip(joined, phrases, strict=True) if " " in phrase
        }

    def find_spellings(self, tokens: Sequence[QuestionToken]) -> Iterator[tuple[int, int, _Phrase]]:
        """Yields first and last token, and the phrase that they may be another spelling of. It may mean nothing."""
        for index, token in enumerate(tokens):
            phrase = None if token.is_quoted else self._phrase_by_joined.get(token.stem)
            if phrase is not None:
                yield index, index + 1, phrase
        words = tuple(token.word for token in tokens)
        yield from ((index, index + 2, (term,)) for index, term in _join_pairs(words, self._analyser))
        yield from _spell_streets(words, self._analyser)


@lru_cache(maxsize=256)
def _join_pairs(words: tuple[str, ...], analyser: Analyser) -> Sequence[tuple[int, str]]:
    """Returns the place of each two words in a row, and what they are as one: the same in all buckets of a language."""
    pairs = [
        (index, before + after)
        for index, (before, after) in enumerate(pairwise(words))
        if before not in STOP_WORDS and after not in STOP_WORDS
    ]
    joined = [(index, text) for index, text in pairs if len(text) >= _MIN_JOINED_LETTERS and text.isalpha()]
    terms = analyser.joined_terms_of([text for _, text in joined])
    return [(index, term) for (index, _), term in zip(joined, terms, strict=True)]


@lru_cache(maxsize=256)
def _spell_streets(words: tuple[str, ...], analyser: Analyser) -> Sequence[tuple[int, int, _Phrase]]:
    """ "Harbour St": returns names of streets with their last word in full, or in short where it is in full."""
    names = [
        (first, last + 1, " ".join((*words[first:last], OTHER_WORD_OF_STREET[word])))
        for last, word in enumerate(words)
        if word in OTHER_WORD_OF_STREET
        for first in range(max(last - _MAX_WORDS_OF_STREET, 0), last)
        if words[first] not in STOP_WORDS
    ]
    phrases = analyser.joined_terms_of([name for _, _, name in names])
    return [(first, last, tuple(phrase.split())) for (first, last, _), phrase in zip(names, phrases, strict=True)]


def _divided_names(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        words = _GAP.split(name.strip())
        if 1 < len(words) <= _MAX_JOINED_WORDS and sum(map(len, words)) >= _MIN_JOINED_LETTERS:
            yield name
