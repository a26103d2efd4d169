"""What a set is called in a sentence."""

import pytest

from agent.compose import set_words
from agent.wording import listed, lowered
from storage.search.conditions import DOC_ID, EVERYTHING, TEXT, All, Compare, Condition, Missing, Not, Op
from storage.search.ids import BucketId, FieldName
from storage.search.plan import Clause, Search
from storage.search.schema import Field, FieldType, Schema

DEEDS, WILLS = BucketId("deeds"), BucketId("wills")
TOWN, SIGNED = FieldName("town"), FieldName("signed")
FIELDS = (
    Field(name=TOWN, type=FieldType.CATEGORY, title="Town of record"),
    Field(name=SIGNED, type=FieldType.DATE, title="Signed"),
)
SCHEMAS = {bucket: Schema(bucket=bucket, fields=FIELDS) for bucket in (DEEDS, WILLS)}
IN_OSLO = Compare(field=TOWN, op=Op.EQ, value="Oslo")


def words(condition: Condition = EVERYTHING, *required: str, buckets: tuple[BucketId, ...] = (DEEDS,)) -> str:
    clauses = tuple(Clause(bucket=one, condition=condition, required=required) for one in buckets)
    return set_words(Search(clauses=clauses), SCHEMAS)


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        (EVERYTHING, "deeds"),
        (IN_OSLO, "deeds where town of record = Oslo"),
        (Missing(field=SIGNED), "deeds with no signed"),
        (All((IN_OSLO, Missing(field=SIGNED))), "deeds with no signed where town of record = Oslo"),
        (Not(Missing(field=SIGNED)), "deeds where signed is known"),
        (Compare(field=DOC_ID, op=Op.EQ, value="a"), "deeds of these"),
    ],
)
def test_conditions_read_as_part_of_a_sentence(condition: Condition, said: str) -> None:
    assert words(condition) == said


def test_words_that_the_text_must_hold_are_said_once_for_all() -> None:
    assert words(EVERYTHING, "barn", "well") == "deeds that mention “barn” and “well”"
    assert words(IN_OSLO, "barn") == "deeds where town of record = Oslo, that mention “barn”"
    assert words(Compare(field=TEXT, op=Op.CONTAINS, value="barn"), "barn", "well") == (
        "deeds that mention “barn” and “well”"
    )


def test_what_is_said_of_every_bucket_alike_is_said_once() -> None:
    assert words(EVERYTHING, "barn", buckets=(DEEDS, WILLS)) == "documents that mention “barn”"


def test_labels_are_small_within_a_sentence_unless_they_hold_capitals() -> None:
    assert lowered("Notice period") == "notice period"
    assert lowered("CAS number") == "CAS number"


@pytest.mark.parametrize(
    ("parts", "said"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_lists_end_in_and(parts: list[str], said: str) -> None:
    assert listed(parts) == said
