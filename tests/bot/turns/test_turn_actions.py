"""The words for the searches of a turn."""

import pytest

from bot.turns.turn_actions import describe_search_arguments
from storage.search.codec import search_to_json
from storage.search.conditions import (
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    OrCondition,
    conjunction_of,
)
from storage.search.ids import BucketId, FieldName
from storage.search.plan import Clause, Search
from tests.builders import RECEIPTS, a_receipt_schema

WEIGHT = ComparisonCondition(field=FieldName("weight"), op=ComparisonOperator.GT, value=5)
VENDORS = tuple(
    ComparisonCondition(field=FieldName("vendor"), op=ComparisonOperator.EQ, value=name) for name in ("Acme", "Bolt")
)


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (conjunction_of(), "receipts: “rim”"),
        (WEIGHT, "receipts: weight > 5 kg “rim”"),
        (MissingCondition(field=FieldName("note")), "receipts: no note “rim”"),
        (
            conjunction_of(WEIGHT, OrCondition(VENDORS)),
            "receipts: weight > 5 kg and (vendor = Acme or vendor = Bolt) “rim”",
        ),
    ],
)
def test_a_search_is_described_in_the_words_of_answers(condition: Condition, words: str) -> None:
    search = Search(clauses=(Clause(bucket=RECEIPTS, condition=condition, required_terms=("rim",)),))

    arguments = {"filters": search_to_json(search)["clauses"]}
    assert describe_search_arguments(arguments, {RECEIPTS: a_receipt_schema()}) == words


def test_a_search_without_conditions_and_schema_is_for_everything() -> None:
    search = Search(clauses=(Clause(bucket=BucketId("attachments")),))

    arguments = {"filters": search_to_json(search)["clauses"], "query": "rim", "field": "total"}
    assert describe_search_arguments(arguments, {}) == "attachments: everything; “rim”; field total"


def test_buckets_with_the_same_criteria_are_named_together() -> None:
    clauses = (
        Clause(bucket=BucketId("manuals")),
        Clause(bucket=RECEIPTS, condition=WEIGHT),
        Clause(bucket=BucketId("parts")),
    )

    words = describe_search_arguments({"filters": search_to_json(Search(clauses=clauses))["clauses"]}, {})

    assert words == "manuals, parts: everything; receipts: weight > 5"
