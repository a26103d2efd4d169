"""The lexicon cache builds only the lexicons of buckets that changed."""

from dataclasses import replace
from datetime import UTC, datetime

from agent.decomposition import QuestionContext
from agent.rules.lexicon.lexicon_cache import LexiconCache
from storage.search.ids import BucketId, FieldName, Generation
from storage.search.index import FieldVocabulary, IndexVocabulary, ValueCount
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.snowball_analyser import analyser_for


def _vocabulary_with_value(bucket: str, value: str) -> FieldVocabulary:
    values = (ValueCount(value=value, count=1),)
    return FieldVocabulary(bucket=BucketId(bucket), field=FieldName("kind"), document_count=1, values=values)


def _question_context_for(*vocabularies: FieldVocabulary, empty_schema: Schema | None = None) -> QuestionContext:
    kind = SchemaField(name=FieldName("kind"), type=FieldType.CATEGORY)
    schemas = {vocabulary.bucket: Schema(bucket=vocabulary.bucket, fields=(kind,)) for vocabulary in vocabularies}
    schemas |= {} if empty_schema is None else {empty_schema.bucket: empty_schema}
    documents = {vocabulary.bucket: 1 for vocabulary in vocabularies}
    return QuestionContext(
        schemas=schemas,
        vocabulary=IndexVocabulary(
            generation=Generation(f"{len(vocabularies)}"), fields=vocabularies, document_counts=documents
        ),
        analysers={bucket: analyser_for("en") for bucket in schemas},
        now=datetime(2026, 1, 1, tzinfo=UTC),
        locale="en",
        last_plan=None,
    )


SHARED, PRIVATE = _vocabulary_with_value("shared", "crate"), _vocabulary_with_value("private", "letter")


def test_another_bucket_does_not_change_the_cached_lexicons() -> None:
    cache = LexiconCache()
    lexicon = cache.lexicons_for(_question_context_for(SHARED))[SHARED.bucket]

    lexicons = cache.lexicons_for(_question_context_for(SHARED, PRIVATE))

    assert lexicons[SHARED.bucket] is lexicon
    assert cache.lexicons_for(_question_context_for(SHARED)) == {SHARED.bucket: lexicon}
    assert cache.lexicons_for(_question_context_for(PRIVATE, SHARED))[PRIVATE.bucket] is lexicons[PRIVATE.bucket]


def test_other_values_in_a_bucket_give_another_lexicon() -> None:
    cache = LexiconCache()
    lexicon = cache.lexicons_for(_question_context_for(SHARED))[SHARED.bucket]

    other = cache.lexicons_for(_question_context_for(_vocabulary_with_value("shared", "barrel")))[SHARED.bucket]

    assert other is not lexicon
    assert lexicon.vocabularies != other.vocabularies
    assert cache.lexicons_for(_question_context_for(SHARED))[SHARED.bucket] is lexicon


def test_a_changed_schema_rebuilds_the_lexicon_of_an_empty_bucket() -> None:
    cache, empty = LexiconCache(), Schema(bucket=BucketId("empty"), synonyms=("box",))
    cache.lexicons_for(_question_context_for(empty_schema=empty))

    changed = replace(empty, synonyms=("case",))

    assert cache.lexicons_for(_question_context_for(empty_schema=changed))[empty.bucket].schema == changed


def test_many_private_buckets_do_not_evict_a_shared_bucket() -> None:
    cache = LexiconCache()
    first = cache.lexicons_for(_question_context_for(SHARED))[SHARED.bucket]

    for number in range(50):
        cache.lexicons_for(_question_context_for(SHARED, _vocabulary_with_value(f"private {number}", "letter")))

    assert cache.lexicons_for(_question_context_for(SHARED))[SHARED.bucket] is first
