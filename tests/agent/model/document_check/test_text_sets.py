"""Which sets words in texts define, and what of their conditions the index decides."""

from dataclasses import replace

import pytest

from agent.assumptions import WordsDecide
from agent.model.document_check.text_sets import find_deciding_words, find_text_set
from storage.search.conditions import (
    AndCondition,
    Condition,
    MissingCondition,
    NotCondition,
    OrCondition,
    SemiJoinCondition,
    text_condition_for,
)
from storage.search.ids import BucketId, DocId, FieldName, LegId
from storage.search.plan import (
    AggregateFunction,
    AnswerForm,
    CheckClaims,
    ClaimQuantifier,
    Clause,
    ComputeNumbers,
    FindPassages,
    Leg,
    ListDocuments,
    ReadFields,
    Search,
    SummariseDocuments,
)
from tests.builders import RECEIPTS, a_search, where

BLUE, RUST = text_condition_for("blue"), text_condition_for("rust")
ACME = where("vendor", "eq", "Acme")
NO_TOTAL = AndCondition((MissingCondition(field=FieldName("total")), OrCondition((BLUE, RUST))))
CHEAP = OrCondition((where("total", "lt", 5.0), NO_TOTAL))
VENDORS = ((RECEIPTS, FieldName("vendor")),)


def a_leg(condition: Condition, *required: str, form: AnswerForm | None = None) -> Leg:
    search = a_search(condition, required=required)
    return Leg(id=LegId("a"), question="rusty receipts", search=search, answer_form=form or ListDocuments())


@pytest.mark.parametrize(
    ("condition", "required", "mentions"),
    [
        (ACME, ("rust",), ("rust",)),
        (AndCondition((ACME, RUST)), (), ("rust",)),
        (AndCondition((ACME, NotCondition(RUST))), ("blue",), ("blue", "rust")),
        (AndCondition((ACME, CHEAP)), (), ("blue", "rust")),
    ],
)
def test_conditions_without_mentions_are_decided_by_the_index(
    condition: Condition, required: tuple[str, ...], mentions: tuple[str, ...]
) -> None:
    text_set = find_text_set(a_leg(condition, *required))

    assert text_set is not None
    assert (text_set.known, text_set.mentions) == ((ACME,), mentions)
    assert text_set.candidates.clauses == (Clause(bucket=RECEIPTS, condition=ACME),)
    assert text_set.search_of([DocId("r1")], "rusty").clauses == (
        Clause(bucket=RECEIPTS, condition=AndCondition((ACME, where("doc_id", "in", ("r1",))))),
    )


def test_words_that_other_documents_must_mention_are_not_looked_for_in_these() -> None:
    leg = a_leg(
        SemiJoinCondition(field=FieldName("vendor"), bucket=BucketId("vendors"), key=FieldName("name"), condition=RUST)
    )

    assert find_text_set(leg) is None
    assert find_deciding_words(leg) == WordsDecide(words=("rust",))


@pytest.mark.parametrize(
    ("form", "is_found"),
    [
        (ListDocuments(limit=3), True),
        (ComputeNumbers(functions=(AggregateFunction.COUNT,)), True),
        (ComputeNumbers(functions=(AggregateFunction.SHARE,), share_base=a_search(ACME)), True),
        (ComputeNumbers(functions=(AggregateFunction.SHARE,), share_base=a_search(BLUE)), False),
        (CheckClaims(quantifier=ClaimQuantifier.ANY), True),
        (CheckClaims(quantifier=ClaimQuantifier.ALL, scope=a_search(ACME)), False),
        (CheckClaims(), False),
        (ReadFields(fields=VENDORS, of_each=True), True),
        (ReadFields(fields=VENDORS), False),
        (SummariseDocuments(), False),
        (FindPassages(), False),
    ],
    ids=lambda value: getattr(value, "tag", str(value)),
)
def test_only_sets_that_the_answer_is_about_are_read(form: AnswerForm, is_found: bool) -> None:
    assert (find_text_set(a_leg(RUST, form=form)) is not None) is is_found


def test_sets_of_several_buckets_are_not_read() -> None:
    leg = a_leg(RUST)
    search = Search(clauses=(*leg.search.clauses, Clause(bucket=BucketId("bills"), condition=RUST)))

    assert find_text_set(replace(leg, search=search)) is None


def test_sets_without_mentions_go_by_no_words() -> None:
    assert find_text_set(a_leg(ACME)) is None
    assert find_deciding_words(a_leg(ACME)) is None
    assert find_deciding_words(a_leg(ACME, "rust")) is None  # required words are told as such
    assert find_deciding_words(a_leg(RUST, form=FindPassages())) is None
