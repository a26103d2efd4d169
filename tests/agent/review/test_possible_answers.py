"""What a reply offers where no text answers: lists and numbers that may be meant, and the documents that come near."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer, resume
from agent.outcome import Answer, Choice, Clarify, OutcomeKind
from storage.search.ids import BucketId, FieldName
from storage.search.refinement import UseForm, apply_to_plan
from storage.search.schema import FieldType, Schema, SchemaField
from tests.agent.review.small_index import build_document, open_small_index

_MORE_FIELDS = tuple(SchemaField(name=FieldName(name), type=FieldType.CATEGORY) for name in ("site", "checked_by"))
_STOCK_SCHEMA = Schema(
    bucket=BucketId("stock"),
    synonyms=("stock",),
    fields=(
        SchemaField(name=FieldName("cost_each"), type=FieldType.MONEY, currency="GBP"),
        SchemaField(name=FieldName("remark"), type=FieldType.TEXT),
        *_MORE_FIELDS,
    ),
)
_CLAIMS_SCHEMA = Schema(
    bucket=BucketId("claims"),
    synonyms=("claim", "claims"),
    fields=(
        SchemaField(name=FieldName("problem"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("credit"), type=FieldType.MONEY, currency="GBP"),
        *_MORE_FIELDS,
    ),
)
_TEAM_SCHEMA = Schema(
    bucket=BucketId("team"),
    synonyms=("person", "people"),
    fields=(
        SchemaField(name=FieldName("full_name"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("start_date"), type=FieldType.DATE),
        *_MORE_FIELDS,
    ),
)
_RULES_SCHEMA = Schema(bucket=BucketId("rules"), synonyms=("rule", "rules"), fields=())
_RULES = (
    ("Records", "Notes: kept for 7 years\nScans and pictures: kept for 5 years\nThe key is with Ann."),
    ("Parking", "The yard is closed at night. Bicycles stand in the shed. The gate opens at six."),
)


@pytest_asyncio.fixture
async def context(tmp_path: Path) -> AsyncIterator[AgentContext]:
    stock = [
        build_document(name, f"name: {name}\ncost_each: {cost}\nremark: {remark}", cost_each=cost, remark=remark)
        for name, cost, remark in (("Vetrafen", 12.5, "cool"), ("Lidorin", 81.0, "locked"), ("Sorbal", 3.0, "shelf"))
    ]
    claims = [
        build_document(f"C{number}", f"problem: {problem}\ncredit: {credit}", problem=problem, credit=credit)
        for number, (problem, credit) in enumerate((("corked", 20.0), ("corked", 30.5), ("broken", 7.0)))
    ]
    team = [
        build_document(name, f"full_name: {name}\nstart_date: {day}", full_name=name, start_date=day)
        for name, day in (("Ida Berg", "2012-03-01"), ("Nils Roth", "2004-09-15"), ("Eva Lund", "2020-01-07"))
    ]
    rules = [build_document(title, text) for title, text in _RULES]
    buckets = [(_STOCK_SCHEMA, stock), (_CLAIMS_SCHEMA, claims), (_TEAM_SCHEMA, team), (_RULES_SCHEMA, rules)]
    async with open_small_index(tmp_path, buckets) as opened:
        yield opened


async def _ask(context: AgentContext, question: str) -> Clarify:
    outcome = await answer(question, context)
    assert isinstance(outcome, Clarify)
    return outcome


async def _click(context: AgentContext, outcome: Clarify, choice: Choice) -> Answer:
    assert isinstance(choice.effect, UseForm)
    clicked = await resume(apply_to_plan(choice.effect, outcome.plan, choice.leg), context)
    assert isinstance(clicked, Answer)
    return clicked


@pytest.mark.asyncio
async def test_a_superlative_about_an_unknown_thing_offers_the_first_of_each_bucket_it_fits(
    context: AgentContext,
) -> None:
    outcome = await _ask(context, "what's the most expensive medicine we keep")

    choices = {choice.label: choice for choice in outcome.choices}
    assert {
        label: choices[label].count for label in ("Stock: the highest cost each", "Claims: the highest credit")
    } == {
        "Stock: the highest cost each": 1,
        "Claims: the highest credit": 1,
    }
    clicked = await _click(context, outcome, choices["Stock: the highest cost each"])
    assert clicked.legs[0].doc_ids == ("lidorin",)


@pytest.mark.asyncio
async def test_who_has_been_with_the_company_longest_is_the_person_with_the_earliest_start(
    context: AgentContext,
) -> None:
    outcome = await answer("who's been with the company longest", context)

    assert isinstance(outcome, Answer)
    assert "**Nils Roth** has the earliest start date of the **3 people**: 2004-09-15." in outcome.legs[0].text


@pytest.mark.asyncio
async def test_the_set_that_was_understood_is_offered_where_a_word_is_not(context: AgentContext) -> None:
    outcome = await _ask(context, "who sent back corked bottles")

    choice = next(choice for choice in outcome.choices if choice.label == "In claims: problem: corked")
    assert choice.count == 2
    assert set((await _click(context, outcome, choice)).legs[0].doc_ids) == {"c0", "c1"}


@pytest.mark.asyncio
async def test_a_chosen_document_shows_what_comes_closest_to_the_question(context: AgentContext) -> None:
    outcome = await _ask(context, "how long do we have to hang on to xrays")

    choice = next(choice for choice in outcome.choices if choice.label == "Records")
    clicked = await _click(context, outcome, choice)
    assert "Closest to your question:" in clicked.text
    assert "Scans and pictures: kept for 5 years" in clicked.text
    assert all(citation.doc_id == "records" for citation in clicked.citations)


@pytest.mark.asyncio
async def test_a_row_that_words_and_meaning_find_is_offered(context: AgentContext) -> None:
    outcome = await _ask(context, "is lidorin dangerous for anybody")

    assert ("Lidorin", 1) in [(choice.label, choice.count) for choice in outcome.choices]


@pytest.mark.asyncio
async def test_the_next_best_sentences_are_quoted_with_the_closest(context: AgentContext) -> None:
    outcome = await _ask(context, "how many years are old letters kept here")

    assert outcome.kind is OutcomeKind.NO_RESULTS
    assert [citation.text for citation in outcome.citations] == [
        "Notes: kept for 7 years",
        "Scans and pictures: kept for 5 years",
    ]
