"""The form of a question: values, superlatives, thresholds, sums, tables of two groups, comparisons of two fields."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer, resume
from agent.outcome import Answer, ChoiceKind, Clarify
from agent.rules.reasoner import RuleReasoner
from storage.embedded.index import EmbeddedIndex
from storage.search.codec import choice_from_json, choice_to_json
from storage.search.documents import Document, FieldValue, Passage
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.refinement import UseForm, apply_to_plan
from storage.search.schema import FieldType, Schema, SchemaField
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for

TENANT, BARGES = TenantId("t"), BucketId("barges")


def _field(name: str, kind: FieldType, unit: str = "", currency: str = "") -> SchemaField:
    return SchemaField(name=FieldName(name), type=kind, title=name.replace("_", " "), unit=unit, currency=currency)


SCHEMA = Schema(
    bucket=BARGES,
    synonyms=("barge", "barges"),
    fields=(
        _field("name", FieldType.CATEGORY),
        _field("harbour", FieldType.CATEGORY),
        _field("skipper", FieldType.CATEGORY),
        _field("surveyed_by", FieldType.CATEGORY),
        _field("cargo", FieldType.CATEGORY),
        _field("hull_wear", FieldType.CATEGORY),
        _field("length", FieldType.NUMBER, unit="m"),
        _field("cabins", FieldType.NUMBER),
        _field("rating", FieldType.NUMBER),
        _field("launched", FieldType.DATE),
        _field("due_date", FieldType.DATE),
        _field("berthed", FieldType.DATE),
        _field("estimate", FieldType.MONEY, currency="EUR"),
        _field("outlay", FieldType.MONEY, currency="EUR"),
    ),
)
_COLUMNS = [field.name for field in SCHEMA.fields]
_ROWS: tuple[tuple[FieldValue, ...], ...] = (
    ("Wagtail", "Oxmouth", "Ada Finch", "Bo Lark", "grain", "low",
     40.0, 3.0, 4.5, "1950-02-01", "2030-05-01", "2030-05-03", 100.0, 140.0),
    ("Moorhen", "Oxmouth", "Bo Lark", "Ada Finch", "sand", "high",
     55.0, 2.0, 3.0, "1931-07-09", "2030-05-02", "2030-05-02", 300.0, 250.0),
    ("Dipper", "Tarwick", "Cy Crane", "Ada Finch", "grain", "medium",
     30.0, 6.0, 2.0, "1972-01-20", "2030-06-01", "2030-07-15", 200.0, 210.0),
    ("Smew", "Tarwick", "Ada Finch", "Cy Crane", "sand", "high",
     48.0, 4.0, 4.9, "1965-11-30", "2030-06-09", "2030-06-01", 150.0, 150.0),
)  # fmt: skip


def _build_barge(row: tuple[FieldValue, ...]) -> Document:
    text = f"The barge {row[0]} lies at {row[1]}."
    return Document(
        doc_id=DocId(str(row[0]).lower()),
        title=str(row[0]),
        text=text,
        values=dict(zip(_COLUMNS, row, strict=True)),
        passages=(Passage(start=0, end=len(text)),),
    )


@pytest_asyncio.fixture
async def context(tmp_path: Path) -> AsyncIterator[AgentContext]:
    index = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    await index.set_schema(SCHEMA)
    await index.put(BARGES, [_build_barge(row) for row in _ROWS])
    scope = Scope(tenant=TENANT, buckets=frozenset({BARGES}), ignores_readers=True)
    now = datetime(2031, 5, 9, tzinfo=UTC)
    yield AgentContext(index=index.within_scope(scope), reasoner=RuleReasoner(), now=now)
    await index.close()


async def ask(context: AgentContext, question: str) -> Answer | Clarify:
    outcome = await answer(question, context)
    assert isinstance(outcome, (Answer, Clarify))
    return outcome


async def click(context: AgentContext, outcome: Answer | Clarify, label: str) -> Answer | Clarify:
    """Clicks the choice, as it comes back from storage."""
    choice = next(choice for choice in outcome.choices if choice.label == label)
    effect = choice_from_json(choice_to_json(choice.effect))
    assert isinstance(effect, UseForm)
    assert choice.kind is ChoiceKind.READING
    refined = apply_to_plan(effect, outcome.plan, choice.leg)
    clicked = await resume(refined, context)
    assert isinstance(clicked, (Answer, Clarify))
    return clicked


def labels_of(outcome: Answer | Clarify) -> dict[str, int | None]:
    return {choice.label: choice.count for choice in outcome.choices if choice.count is not None}


def ids_of(outcome: Answer | Clarify) -> list[str]:
    return list(outcome.legs[0].doc_ids)


# -- values


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who surveyed the Dipper?", "**Ada Finch**"),
        ("when was Smew launched", "**1965-11-30**"),
        ("where is Moorhen", "**Oxmouth**"),
        ("how long is the Wagtail", "**40 m**"),
        ("how many cabins does Smew have", "**4**"),
        ("what was the estimate for Moorhen", "**EUR 300.00**"),
    ],
)
async def test_a_question_for_a_value_is_answered_with_it(context: AgentContext, question: str, expected: str) -> None:
    outcome = await ask(context, question)

    assert isinstance(outcome, Answer)
    assert expected in outcome.text


async def test_fields_that_are_as_likely_are_offered_and_a_click_reads_the_one(context: AgentContext) -> None:
    outcome = await ask(context, "who mended the Dipper")

    assert isinstance(outcome, Clarify)
    assert labels_of(outcome) == {"Skipper": 1, "Surveyed by": 1}
    assert "**Cy Crane**" in (await click(context, outcome, "Skipper")).text


async def test_a_few_documents_are_answered_with_the_value_of_each(context: AgentContext) -> None:
    outcome = await ask(context, "who surveyed the grain barges")

    assert isinstance(outcome, Answer)
    assert sorted(ids_of(outcome)) == ["dipper", "wagtail"]
    assert "**Ada Finch**" in outcome.text
    assert "**Bo Lark**" in outcome.text


# -- superlatives


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("the longest barge", ["moorhen"]),
        ("which barge has the most cabins", ["dipper"]),
        ("the two barges with the fewest cabins", ["moorhen", "wagtail"]),
        ("best barge", ["smew"]),
        ("oldest barge", ["moorhen"]),
        ("second longest barge", ["smew"]),
    ],
)
async def test_a_superlative_gives_the_document(context: AgentContext, question: str, expected: list[str]) -> None:
    assert ids_of(await ask(context, question)) == expected


async def test_the_ranked_document_is_named_with_its_value(context: AgentContext) -> None:
    assert (
        "**Moorhen** has the greatest length of the **4 barges**: 55 m"
        in (await ask(context, "the longest barge")).text
    )
    assert "**Smew**, 48 m" in (await ask(context, "second longest barge")).text


async def test_a_size_of_several_measures_is_asked_about(context: AgentContext) -> None:
    outcome = await ask(context, "the biggest barge")

    assert isinstance(outcome, Clarify)
    assert labels_of(outcome) == {"Length": 1, "Cabins": 1}
    assert ids_of(await click(context, outcome, "Cabins")) == ["dipper"]
    assert all(isinstance(choice.effect, UseForm) for choice in outcome.choices if choice.count is not None)


async def test_without_asking_back_the_field_that_was_taken_is_said(context: AgentContext) -> None:
    clarified = await ask(context, "the biggest barge")
    outcome = await resume(clarified.plan, replace(context, just_answer=True))

    assert isinstance(outcome, Answer)
    assert any("I went by the length, not by “Cabins”" in assumption for assumption in outcome.assumptions)


async def test_a_vague_adjective_asks_from_where_on(context: AgentContext) -> None:
    outcome = await ask(context, "which barges are good")

    assert isinstance(outcome, Clarify)
    counts = [count for label, count in labels_of(outcome).items() if label.startswith("rating ≥")]
    assert counts == sorted(set(filter(None, counts)))


async def test_degrees_pick_the_value_of_their_own_field(context: AgentContext) -> None:
    assert ids_of(await ask(context, "barges with low hull wear")) == ["wagtail"]
    assert sorted(ids_of(await ask(context, "heavily worn barges"))) != ["wagtail"]


# -- numbers


@pytest.mark.parametrize("question", ["average barge", "average speed of the barges"])
async def test_a_field_that_nobody_named_is_not_taken(context: AgentContext, question: str) -> None:
    outcome = await ask(context, question)

    assert not outcome.legs[0].figures


async def test_two_groups_make_a_table(context: AgentContext) -> None:
    outcome = await ask(context, "how many barges per harbour and cargo")

    assert outcome.tables[0].columns == ("Harbour", "grain", "sand")
    assert sorted(outcome.tables[0].rows) == [("Oxmouth", "1", "1"), ("Tarwick", "1", "1")]


async def test_sums_by_two_groups_are_divided_by_period(context: AgentContext) -> None:
    outcome = await ask(context, "total outlay per harbour and cargo")

    cells = {line.label: line.value for line in outcome.legs[0].groups}
    assert cells == {
        "Oxmouth · grain": 140.0, "Oxmouth · sand": 250.0, "Tarwick · grain": 210.0, "Tarwick · sand": 150.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("barges with an outlay above the estimate", ["dipper", "wagtail"]),
        ("barges berthed after the due date", ["dipper", "wagtail"]),
        ("barges that berthed late", ["dipper", "wagtail"]),
        ("barges berthed more than 30 days after the due date", ["dipper"]),
        ("barges with an outlay below the estimate", ["moorhen"]),
        ("barges berthed before the due date", ["smew"]),
    ],
)
async def test_two_fields_of_a_document_are_compared(context: AgentContext, question: str, expected: list[str]) -> None:
    assert sorted(ids_of(await ask(context, question))) == expected


async def test_a_claim_that_compares_two_fields_is_checked(context: AgentContext) -> None:
    assert (await ask(context, "was Dipper berthed after the due date")).text.startswith("**Yes**")
    assert (await ask(context, "was Smew berthed after the due date")).text.startswith("**No**")


# -- persons


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("barges surveyed by Ada Finch", ["dipper", "moorhen"]),
        ("barges Ada Finch surveyed", ["dipper", "moorhen"]),
        ("barges with Ada Finch as skipper", ["smew", "wagtail"]),
    ],
)
async def test_the_word_beside_a_name_decides_its_role(
    context: AgentContext, question: str, expected: list[str]
) -> None:
    assert sorted(ids_of(await ask(context, question))) == expected


async def test_a_group_with_the_most_is_named_with_its_number(context: AgentContext) -> None:
    assert "**Oxmouth**, EUR 390.00" in (await ask(context, "which harbour has the highest outlay")).text


async def test_two_roles_of_a_name_are_asked_about(context: AgentContext) -> None:
    outcome = await ask(context, "barges of Ada Finch")

    assert isinstance(outcome, Clarify)
    assert labels_of(outcome) == {"With skipper Ada Finch": 2, "Surveyed by Ada Finch": 2}
