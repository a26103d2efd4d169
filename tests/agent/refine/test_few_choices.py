"""An empty result offers a few choices of several kinds, and other collections where they mean the same."""

from collections.abc import Sequence

from agent.decomposition import LegAlternatives
from agent.refine.candidates import OfferedChoice
from agent.refine.choice_labels import (
    AlsoMissingLabel,
    ChoiceLabel,
    OtherBucketLabel,
    SpellingLabel,
    WithoutWordLabel,
)
from agent.refine.relaxations import limit_relaxations, other_bucket_candidates
from storage.search.conditions import Condition, conjunction_of
from storage.search.ids import BucketId, FieldName, LegId
from storage.search.plan import Clause, Leg, ListDocuments, Search
from storage.search.refinement import JustAnswer
from storage.search.schema import FieldType, Schema, SchemaField
from tests.builders import where

KAYAKS, TENTS = BucketId("kayaks"), BucketId("tents")
SCHEMAS = {
    KAYAKS: Schema(
        bucket=KAYAKS,
        fields=(
            SchemaField(name=FieldName("bought"), type=FieldType.DATE, synonyms=("purchase date",)),
            SchemaField(name=FieldName("length"), type=FieldType.NUMBER, unit="m"),
            SchemaField(name=FieldName("colour"), type=FieldType.CATEGORY),
        ),
    ),
    TENTS: Schema(
        bucket=TENTS,
        fields=(
            SchemaField(name=FieldName("purchased"), type=FieldType.DATE, synonyms=("purchase date",)),
            SchemaField(name=FieldName("weight"), type=FieldType.NUMBER, unit="kg"),
            SchemaField(name=FieldName("shade"), type=FieldType.CATEGORY),
        ),
    ),
}


def buckets_offered(
    own: Sequence[Condition], other: Sequence[Condition], words: tuple[str, ...] = ()
) -> list[BucketId]:
    search = Search(clauses=(Clause(bucket=KAYAKS, condition=conjunction_of(*own), required_terms=words),))
    leg = Leg(id=LegId("a"), question="which", search=search, answer_form=ListDocuments())
    alternatives = LegAlternatives(
        leg=leg.id, other_bucket_clauses=(Clause(bucket=TENTS, condition=conjunction_of(*other)),)
    )
    candidates = other_bucket_candidates(leg, alternatives, SCHEMAS)
    return [candidate.label.clause.bucket for candidate in candidates if isinstance(candidate.label, OtherBucketLabel)]


def test_another_collection_is_offered_where_its_field_means_the_same() -> None:
    assert buckets_offered([where("bought", "gte", "2031-01-01")], [where("purchased", "gte", "2031-01-01")]) == [TENTS]


def test_another_collection_is_offered_where_it_has_the_same_value_or_the_word_as_a_value() -> None:
    assert buckets_offered([where("colour", "eq", "Red")], [where("shade", "eq", "red")]) == [TENTS]
    assert buckets_offered([], [where("shade", "eq", "red")], ("red",)) == [TENTS]


def test_another_collection_is_not_offered_for_a_number_of_something_else() -> None:
    assert buckets_offered([where("length", "gte", 10)], [where("weight", "gte", 10)]) == []


def test_another_collection_is_not_offered_for_a_part_of_the_question() -> None:
    both = [where("bought", "gte", "2031-01-01"), where("length", "gte", 10)]

    assert buckets_offered(both, [where("purchased", "gte", "2031-01-01")]) == []
    assert buckets_offered([], []) == []


def test_five_choices_remain_and_at_most_two_or_three_of_one_kind() -> None:
    missing = [AlsoMissingLabel(field=field) for field in SCHEMAS[KAYAKS].fields]
    words = [WithoutWordLabel(word=word) for word in ("a", "b", "c", "d")]
    spelling = SpellingLabel(old="kajak", new="kayak")

    kept = [choice.label for choice in limit_relaxations(list(map(offer, [*words, *missing, spelling])))]

    assert kept == [*words[:3], *missing[:2]]
    assert len(limit_relaxations(list(map(offer, [*words, *missing])), taken=3)) == 2


def offer(label: ChoiceLabel) -> OfferedChoice:
    return OfferedChoice(label=label, count=1, leg=LegId("a"), effect=JustAnswer())
