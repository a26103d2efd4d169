"""Builds the queries that rank passages: the words that say what is asked, with the schema's words for the same.

Words that name the documents (a party, a title, a day) select the documents, but they do not tell where in a document
the answer stands. The documents may use other words for a field or value than the question does. The schema's titles,
synonyms and descriptions are added for this reason.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from agent.decomposition import QuestionContext
from agent.english.function_words import FILLER_WORDS, STOP_WORDS, SUMMARY_WORDS
from storage.search.analyser import Analyser, fold_text
from storage.search.conditions import (
    AndCondition,
    ComparisonCondition,
    Condition,
    FieldComparisonCondition,
    MissingCondition,
    NotCondition,
    OrCondition,
    RowCondition,
    SemiJoinCondition,
    conjuncts_of,
)
from storage.search.ids import BucketId
from storage.search.index import KeywordPassageRequest, SemanticPassageRequest
from storage.search.plan import Leg, Search
from storage.search.schema import FieldType, Schema, SchemaField

_COMPARISON_WORDS = frozenset({"vs", "versus"})
FORM_WORDS = STOP_WORDS | FILLER_WORDS | SUMMARY_WORDS | _COMPARISON_WORDS
_MAX_CONTENT_WORDS = 24  # content words of a question that get a weight
_MAX_SCHEMA_WORDS = 48  # words of the schema that are added to them
_MIN_DOCUMENTS_PER_VALUE = 3  # documents per value from which a list field classifies documents instead of naming each


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingTerms:
    """The words by which the passages of a leg are ranked."""

    asked_stems: Mapping[str, str]  # content words that say what is asked, each with its stem
    content_stems: Mapping[str, str]  # all content words, including those that name documents
    asked_words: tuple[str, ...] = ()  # the words that say what is asked, as often as they occur, without a limit
    content_words: tuple[str, ...] = ()  # all content words, as often as they occur, without a limit
    schema_phrases: tuple[str, ...] = ()  # the schema's words for what is asked: titles, synonyms, descriptions

    @property
    def text_query(self) -> str:
        """The query for ranking by terms; beside words of the schema, the words of the question count twice."""
        words = " ".join(self.asked_words)
        return f"{words} {words} {' '.join(self.schema_phrases)}" if self.schema_phrases else words

    @property
    def semantic_query(self) -> str:
        return (
            "; ".join((" ".join(self.asked_stems), *self.schema_phrases))
            if self.schema_phrases
            else " ".join(self.asked_stems)
        )


def ranking_terms_for(leg: Leg, question_context: QuestionContext) -> RankingTerms:
    """Returns the ranking terms of the leg's question. Words in the conditions of its search name the documents."""
    bucket = leg.search.buckets[0]
    schema = question_context.schemas[bucket]
    claims = tuple(
        claim
        for clause in leg.search.clauses
        for claim in claims_in_condition(clause.condition, schema, question_context)
    )
    content = _content_words_of(leg.question, bucket, question_context)
    naming = _naming_stems_of(leg.search, claims, bucket, question_context)
    asked = [(word, stem) for word, stem in content if stem not in naming] or content
    content_stems = _first_stems_of(content)
    return RankingTerms(
        asked_stems={word: stem for word, stem in content_stems.items() if stem not in naming} or content_stems,
        content_stems=content_stems,
        asked_words=tuple(word for word, _ in asked),
        content_words=tuple(word for word, _ in content),
        schema_phrases=tuple(_schema_phrases_for(leg, schema, claims)),
    )


def build_passage_requests(
    search: Search, ranking_terms: RankingTerms, question: str, limit: int
) -> dict[str, KeywordPassageRequest | SemanticPassageRequest]:
    """Returns the requests by terms and by meaning. A question without content words is ranked by all its words."""
    text, meaning = (
        ranking_terms.text_query or question,
        ranking_terms.semantic_query if ranking_terms.schema_phrases else question,
    )
    return {
        "text": KeywordPassageRequest(search, text, limit),
        "semantic": SemanticPassageRequest(search, meaning, limit),
    }


def content_words_of(text: str, analyser: Analyser) -> tuple[str, ...]:
    """Returns the words of the text that say what it is about, in order, repeated ones too."""
    return tuple(word.text for word in analyser.extract_words(text) if word.text not in FORM_WORDS)


def claims_in_condition(
    condition: Condition, schema: Schema, question_context: QuestionContext
) -> tuple[ComparisonCondition, ...]:
    """Returns the conditions on categories and flags: they claim something *about* a document and do not name it."""
    plain = [
        comparison
        for comparison in conjuncts_of(condition)
        if isinstance(comparison, ComparisonCondition) and comparison.field in schema.by_name
    ]
    return tuple(
        comparison
        for comparison in plain
        if _is_category_field(schema.by_name[comparison.field], schema.bucket, question_context)
    )


def _is_category_field(field: SchemaField, bucket: BucketId, question_context: QuestionContext) -> bool:
    if field.type is FieldType.FLAG:
        return True
    if field.type is not FieldType.LIST:
        return False
    known = question_context.vocabulary.field_of(bucket, field.name)
    return bool(field.values) or (
        known is not None and len(known.values) <= known.document_count / _MIN_DOCUMENTS_PER_VALUE
    )


def _content_words_of(question: str, bucket: BucketId, question_context: QuestionContext) -> list[tuple[str, str]]:
    """Returns the content words of the question in order, repeated ones too, each with its stem."""
    analyser = question_context.analysers[bucket]
    pairs = zip(analyser.extract_words(question), analyser.extract_terms(question), strict=True)
    return [(word.text, term.text) for word, term in pairs if word.text not in FORM_WORDS]


def _first_stems_of(words_and_stems: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Returns each word once, with its stem: the first ones of a long text, which name its subject."""
    return dict(islice(dict(words_and_stems).items(), _MAX_CONTENT_WORDS))


def _naming_stems_of(
    search: Search, claims: Iterable[ComparisonCondition], bucket: BucketId, question_context: QuestionContext
) -> set[str]:
    """Returns the stems that name documents: from the conditions, and the bucket's nouns for its documents."""
    analyser, schema, claimed = question_context.analysers[bucket], question_context.schemas[bucket], set(claims)
    naming_words = [
        words
        for clause in search.clauses
        for comparison in _comparisons_in(clause.condition)
        if comparison not in claimed
        for words in (comparison.words, comparison.value if isinstance(comparison.value, str) else "")
    ]
    if not any(naming_words):
        return set()
    nouns = (schema.bucket.replace("_", " "), *schema.synonyms)
    return {term.text for words in (*naming_words, *nouns) for term in analyser.extract_terms(words)}


def _comparisons_in(condition: Condition) -> Iterator[ComparisonCondition]:
    match condition:
        case ComparisonCondition():
            yield condition
        case AndCondition(members) | OrCondition(members):
            for member in members:
                yield from _comparisons_in(member)
        case NotCondition(inner) | RowCondition(condition=inner):
            yield from _comparisons_in(inner)
        case MissingCondition() | FieldComparisonCondition() | SemiJoinCondition():
            return


def _schema_phrases_for(leg: Leg, schema: Schema, claims: Iterable[ComparisonCondition]) -> Iterator[str]:
    """Yields the schema's phrases for the requested fields and claimed values, up to `_MAX_SCHEMA_WORDS` words."""
    names = [name for bucket, name in leg.answer_form.requested_fields if bucket == schema.bucket]
    phrases = [phrase for name in names for phrase in _phrases_of_field(schema.by_name[name])]
    phrases += [phrase for claim in claims for phrase in _phrases_of_claim(schema.by_name[claim.field], claim)]
    room = _MAX_SCHEMA_WORDS
    for phrase in dict.fromkeys(phrases):
        words = [word for word in phrase.split() if word.casefold() not in STOP_WORDS]
        room -= len(words)
        if words and room >= 0:
            yield " ".join(words)


def _phrases_of_field(field: SchemaField) -> tuple[str, ...]:
    return (field.label, *field.plain_synonyms, field.description)


def _phrases_of_claim(field: SchemaField, claim: ComparisonCondition) -> tuple[str, ...]:
    if not isinstance(claim.value, str):
        return _phrases_of_field(field)
    synonyms = next(
        (synonyms for value, synonyms in field.values.items() if fold_text(value) == fold_text(claim.value)), ()
    )
    return (claim.value, *synonyms)
