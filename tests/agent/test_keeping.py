"""Which lexicons are made anew: only those of buckets in which something changed."""

from dataclasses import replace
from datetime import UTC, datetime

from agent.reasoner import Material
from agent.rules.keeping import KeptLexicons
from storage.analysis import analyser_for
from storage.search.ids import BucketId, FieldName, Generation
from storage.search.index import FieldVocabulary, ValueCount, Vocabulary
from storage.search.schema import Field, FieldType, Schema


def _held(bucket: str, value: str) -> FieldVocabulary:
    values = (ValueCount(value=value, count=1),)
    return FieldVocabulary(bucket=BucketId(bucket), field=FieldName("kind"), documents=1, values=values)


def _material(*held: FieldVocabulary, empty: Schema | None = None) -> Material:
    kind = Field(name=FieldName("kind"), type=FieldType.CATEGORY)
    schemas = {one.bucket: Schema(bucket=one.bucket, fields=(kind,)) for one in held}
    schemas |= {} if empty is None else {empty.bucket: empty}
    documents = {one.bucket: 1 for one in held}
    return Material(
        schemas=schemas,
        vocabulary=Vocabulary(generation=Generation(f"{len(held)}"), fields=held, documents=documents),
        analysers={bucket: analyser_for("en") for bucket in schemas},
        now=datetime(2026, 1, 1, tzinfo=UTC),
        locale="en",
        last=None,
    )


SHARED, PRIVATE = _held("shared", "crate"), _held("private", "letter")


def test_a_bucket_beside_the_others_leaves_theirs_as_they_are() -> None:
    kept = KeptLexicons()
    alone = kept.of(_material(SHARED))[SHARED.bucket]

    joined = kept.of(_material(SHARED, PRIVATE))

    assert joined[SHARED.bucket] is alone
    assert kept.of(_material(SHARED)) == {SHARED.bucket: alone}
    assert kept.of(_material(PRIVATE, SHARED))[PRIVATE.bucket] is joined[PRIVATE.bucket]


def test_what_holds_other_values_has_a_lexicon_of_its_own() -> None:
    kept = KeptLexicons()
    one = kept.of(_material(SHARED))[SHARED.bucket]

    other = kept.of(_material(_held("shared", "barrel")))[SHARED.bucket]

    assert other is not one
    assert one.fields != other.fields
    assert kept.of(_material(SHARED))[SHARED.bucket] is one


def test_a_changed_schema_is_seen_where_nothing_is_held() -> None:
    kept, empty = KeptLexicons(), Schema(bucket=BucketId("empty"), synonyms=("box",))
    kept.of(_material(empty=empty))

    changed = replace(empty, synonyms=("case",))

    assert kept.of(_material(empty=changed))[empty.bucket].schema == changed


def test_many_private_buckets_do_not_drive_out_what_everyone_asks() -> None:
    kept = KeptLexicons()
    first = kept.of(_material(SHARED))[SHARED.bucket]

    for number in range(50):
        kept.of(_material(SHARED, _held(f"private {number}", "letter")))

    assert kept.of(_material(SHARED))[SHARED.bucket] is first
