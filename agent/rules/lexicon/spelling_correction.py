"""Corrects the spelling of words by the names and values of a bucket."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from agent.english.function_words import (
    AGGREGATE_WORDS,
    COMPARATORS,
    FILLER_WORDS,
    GENERIC_NOUNS,
    HAVING_VERBS,
    PEOPLE_NOUNS,
    STOP_WORDS,
)
from agent.rules.words.tokens import QuestionToken
from storage.search.analyser import Analyser
from storage.search.schema import Schema

_MIN_CORRECTABLE_LETTERS = 5  # letters of a word that is corrected; shorter words resemble too many others
_MIN_LETTERS_FOR_TWO_EDITS = 8  # letters of a word from which two edits are allowed
_UNINFORMATIVE_WORDS = STOP_WORDS | FILLER_WORDS | AGGREGATE_WORDS | COMPARATORS
_CORRECT_WORDS = _UNINFORMATIVE_WORDS | GENERIC_NOUNS | PEOPLE_NOUNS | HAVING_VERBS


class KnownWords:
    """The words of the names and values of one bucket, by which misspelt words are corrected."""

    def __init__(self, schema: Schema, values: Iterable[Sequence[str]], analyser: Analyser) -> None:
        """`values` are the spellings of the values, in parts."""
        self._schema, self._values, self._analyser = schema, values, analyser

    def correct_spelling(self, token: QuestionToken) -> tuple[str, str] | None:
        """Returns the known word that `token` misspells, and its stem; None for a word that is known, too short or
        not close to a known word.
        """
        word = token.word
        if (
            len(word) < _MIN_CORRECTABLE_LETTERS
            or not word.isalpha()
            or word in _CORRECT_WORDS
            or token.stem in self._known_stems
        ):
            return None
        max_edits = 1 if len(word) < _MIN_LETTERS_FOR_TWO_EDITS else 2
        candidates = [
            candidate
            for size in range(-max_edits, max_edits + 1)
            for candidate in self._words_by_initial_and_length.get((word[0], len(word) + size), ())
        ]
        matches = extract(word, candidates, scorer=OSA.distance, score_cutoff=max_edits, limit=4)
        corrections = sorted((distance, candidate) for candidate, distance, _ in matches)
        return (corrections[0][1], self._stem_by_known_word[corrections[0][1]]) if corrections else None

    @cached_property
    def _stem_by_known_word(self) -> Mapping[str, str]:
        """Maps every word of names and values to its stem."""
        texts = [*self._values, list(schema_names_of(self._schema))]
        words = sorted(set[str]().union(*(self._analyser.index_terms_of("\n".join(part)).words for part in texts)))
        return dict(zip(words, self._analyser.joined_terms_of(words), strict=True))

    @cached_property
    def _known_stems(self) -> frozenset[str]:
        return frozenset(self._stem_by_known_word.values())

    @cached_property
    def _words_by_initial_and_length(self) -> Mapping[tuple[str, int], Sequence[str]]:
        """The known words by first letter and length; a misspelling is rarely in the first letter."""
        words: dict[tuple[str, int], list[str]] = defaultdict(list)
        for word in self._stem_by_known_word:
            words[word[:1], len(word)].append(word)
        return dict(words)


def schema_names_of(schema: Schema) -> Iterator[str]:
    """Yields the names of the bucket, its fields and the schema's values."""
    yield from (schema.title, *schema.synonyms)
    for field in schema.fields:
        yield from (
            field.label,
            *field.plain_synonyms,
            *field.values,
            *(synonym for synonyms in field.values.values() for synonym in synonyms),
        )
