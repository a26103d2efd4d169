"""The words of questions that no bucket knows: no name, no value, no synonym, and no text of a document."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agent.english import function_words as english
from agent.languages.known_words import means_nothing_special
from agent.languages.language_pack import load_pack
from storage.search.ids import BucketId, FieldName
from storage.search.index import CountRequest, IndexVocabulary, ScopedIndex, ValueCount
from storage.search.plan import Clause, Search
from storage.search.schema import FieldType, Schema
from storage.text.vocabulary import fold_letters

_WORD: Final = re.compile(r"[^\W\d_](?:[\w'’-]*[^\W_])?")
_MIN_LETTERS: Final = 3
_MAX_COUNTED_WORDS: Final = 200
_MAX_SORTING_VALUES: Final = 50  # of a field
_ENGLISH_WORDS: Final = frozenset[str]().union(
    english.STOP_WORDS,
    english.FILLER_WORDS,
    english.PRONOUNS,
    english.PRONOUNS_OF_PERSONS,
    english.LINKING_VERBS,
    english.MODAL_VERBS,
    english.REQUEST_VERBS,
    english.RELATING_VERBS,
    english.RELATIVE_PRONOUNS,
    english.QUANTIFIERS,
    english.NEGATIONS,
    english.CONTRACTED_NEGATIONS,
    english.COMPARATORS,
    english.PREPOSITIONS,
    english.DOCUMENT_NOUNS,
    english.DAY_ORDER_WORDS,
    english.SORT_WORDS,
    english.AMOUNT_SUPERLATIVES,
    english.PRESENT_WORDS,
    english.LACK_WORDS,
    english.HAVE_WORDS,
    english.GROUPING_WORDS,
    english.DAY_WORDS,
    english.PERIOD_WORDS,
    english.ORDINALS,
    english.SMALL_NUMBERS,
)


@dataclass(frozen=True)
class IndexWords:
    """The words of the documents, as far as the scope of `index` goes."""

    index: ScopedIndex
    schemas: Mapping[BucketId, Schema]
    vocabulary: IndexVocabulary

    @classmethod
    async def load(cls, index: ScopedIndex) -> "IndexWords":
        """Raises what the index raises."""
        vocabulary = await index.load_vocabulary()
        return cls(index, await index.load_schemas(), vocabulary)

    @property
    def languages(self) -> frozenset[str]:
        """The languages of the buckets."""
        return frozenset(schema.language for schema in self.schemas.values())

    def has_value(self, bucket: BucketId, field: FieldName, value: str) -> bool:
        """Whether a document of the bucket has the value."""
        return self.find_value(bucket, field, value) is not None

    def find_value(self, bucket: BucketId, field: FieldName, text: str) -> ValueCount | None:
        """The value of the field as documents write it, however `text` is capitalised; the most frequent one."""
        vocabulary = self.vocabulary.field_of(bucket, field)
        values = vocabulary.values if vocabulary is not None else ()
        alike = [value for value in values if str(value.value).casefold() == text.strip().casefold()]
        return max(alike, key=lambda value: (str(value.value) == text, value.count), default=None)

    def stems_of(self, bucket: BucketId, text: str) -> tuple[str, ...]:
        """The stems of the text's words as the bucket's analyser gives them."""
        return tuple(term.text for term in self.index.analyser_for(bucket).extract_terms(text))

    def list_sorting_values(self, buckets: Iterable[str]) -> list[tuple[BucketId, FieldName, str]]:
        """The values of the fields that sort the documents of the buckets, or of all, into few kinds."""
        names = [bucket for bucket in self.schemas if bucket in set(buckets)] or [*self.schemas]
        return [
            (bucket, vocabulary.field, str(value.value))
            for bucket in names
            for vocabulary in self.vocabulary.fields_of(bucket)
            if 0 < len(vocabulary.values) <= _MAX_SORTING_VALUES and _is_sorting(self.schemas[bucket], vocabulary.field)
            for value in vocabulary.values
        ]

    async def find_unknown_words(self, questions: Sequence[str]) -> list[tuple[str, ...]]:
        """Returns the unknown words of each question, folded, in order; at most 200 in all, the most frequent."""
        from agent.rules.lexicon.bucket_lexicon import build_lexicons

        analysers = {bucket: self.index.analyser_for(bucket) for bucket in self.schemas}
        lexicons = build_lexicons(self.schemas, self.vocabulary, analysers)
        grammatical = grammatical_words_of(self.languages)
        words_by_question = [
            [
                word
                for word in words_of(question)
                if fold_letters(word) not in grammatical and not means_nothing_special(word)
            ]
            for question in questions
        ]
        frequency: dict[str, int] = {}
        for word in (word for words in words_by_question for word in dict.fromkeys(words)):
            frequency[word] = frequency.get(word, 0) + 1
        foreign = [word for word in frequency if not any(lexicon.knows_word(word) for lexicon in lexicons.values())]
        frequent = sorted(foreign, key=lambda word: -frequency[word])[:_MAX_COUNTED_WORDS]
        unknown = await self._drop_mentioned(frequent)
        return [tuple(word for word in dict.fromkeys(words) if word in unknown) for words in words_by_question]

    async def _drop_mentioned(self, words: Sequence[str]) -> frozenset[str]:
        """The words that appear in no document."""
        if not self.schemas:
            return frozenset(words)
        requests = {word: CountRequest(search_for_word(word, self.schemas)) for word in words}
        answers = await self.index.answer_requests(*requests.values())
        return frozenset(word for word, request in requests.items() if answers[request] == 0)


def _is_sorting(schema: Schema, field: FieldName) -> bool:
    known = schema.by_name.get(field)
    return known is not None and known.type in (FieldType.CATEGORY, FieldType.LIST)


def words_of(question: str) -> list[str]:
    """The words of a question in lower case, without numbers and very short words, in order."""
    words = (match[0].casefold() for match in _WORD.finditer(question))
    return [word for word in words if len(word) >= _MIN_LETTERS]


def search_for_word(word: str, buckets: Iterable[BucketId]) -> Search:
    """The documents of the buckets that mention the word."""
    return Search(clauses=tuple(Clause(bucket=bucket, required_terms=(word,)) for bucket in sorted(buckets)))


def grammatical_words_of(languages: Iterable[str]) -> frozenset[str]:
    """The words, folded, that say nothing of what a question is about: those of English, and of the languages."""
    packs = [pack for language in sorted(languages) if (pack := load_pack(language)) is not None]
    return _ENGLISH_WORDS.union(*(pack.function_words for pack in packs))
