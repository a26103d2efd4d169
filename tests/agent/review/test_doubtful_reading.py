"""An answer that is probably to another question is not stated: the reply says how it read the question, and asks."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer, resume
from agent.outcome import Answer, ChoiceKind, Clarify, OutcomeKind
from agent.rules.reasoner import RuleReasoner
from storage.embedded.index import EmbeddedIndex
from storage.search.documents import Document, Passage
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.refinement import UseReading, apply_to_plan
from storage.search.schema import FieldType, Schema, SchemaField
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for

UNMEASURED = "longest voyage of the Tern ever, when was that?"
TENANT, VOYAGES = TenantId("t"), BucketId("voyages")
_SCHEMA = Schema(
    bucket=VOYAGES,
    synonyms=("voyage", "voyages"),
    fields=(
        SchemaField(name=FieldName("vessel"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("sailed_on"), type=FieldType.DATE),
    ),
)
_TEXTS = {
    "V1": ("Tern", "2031-03-01", "Voyage V1. Two stowaways were found."),
    "V2": ("Tern", "2031-04-01", "Voyage V2."),
    "V3": ("Gull", "2032-03-01", "Voyage V3. The crew sang."),
}


@pytest_asyncio.fixture
async def context(tmp_path: Path) -> AsyncIterator[AgentContext]:
    index = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    await index.set_schema(_SCHEMA)
    await index.put(
        VOYAGES,
        [
            Document(
                doc_id=DocId(name),
                title=name,
                text=text,
                values={FieldName("vessel"): vessel, FieldName("sailed_on"): day},
                passages=(Passage(start=0, end=len(text)),),
            )
            for name, (vessel, day, text) in _TEXTS.items()
        ],
    )
    scope = Scope(tenant=TENANT, buckets=frozenset({VOYAGES}), ignores_readers=True)
    now = datetime(2033, 5, 9, tzinfo=UTC)
    yield AgentContext(index=index.within_scope(scope), reasoner=RuleReasoner(), now=now)
    await index.close()


async def test_a_question_of_which_every_word_counts_is_answered(context: AgentContext) -> None:
    outcome = await answer("how many voyages were there on the Tern in 2031?", context)

    assert isinstance(outcome, Answer)
    assert outcome.legs[0].count == 2


async def test_a_plan_that_leaves_out_what_is_asked_is_described_instead_of_answered(context: AgentContext) -> None:
    outcome = await answer(UNMEASURED, context)

    assert isinstance(outcome, Clarify)
    assert outcome.text.startswith("I read this as: voyages with vessel Tern. I could not use “longest”.")


async def test_every_choice_is_counted_and_leads_somewhere(context: AgentContext) -> None:
    outcome = await answer(UNMEASURED, context)

    assert isinstance(outcome, Clarify)
    assert {choice.label: choice.count for choice in outcome.choices} == {
        "Yes, that is what I mean": 2,
        "No, look in the texts": 2,
    }


async def test_a_click_on_the_reading_gives_its_answer_without_asking_again(context: AgentContext) -> None:
    asked = await answer(UNMEASURED, context)
    assert isinstance(asked, Clarify)
    reading = asked.choices[0]
    assert reading.kind is ChoiceKind.READING
    assert isinstance(reading.effect, UseReading)

    plan = apply_to_plan(reading.effect, asked.plan, reading.leg)
    clicked = await resume(plan, replace(context, clarifications_in_a_row=1))

    assert isinstance(clicked, Answer)
    assert set(clicked.legs[0].doc_ids) == {"V1", "V2"}


async def test_who_wants_just_an_answer_is_not_asked(context: AgentContext) -> None:
    outcome = await answer(UNMEASURED, replace(context, just_answer=True))

    assert isinstance(outcome, Answer)


async def test_a_look_up_that_leaves_out_much_of_the_question_says_whose_value_it_would_give(
    context: AgentContext,
) -> None:
    outcome = await answer("vessel of V1 with its stowaways and contraband", context)

    assert isinstance(outcome, Clarify)
    assert outcome.text.startswith("I read this as: vessel of V1. I could not use “stowaways” and “contraband”.")
    assert outcome.assumptions == ()  # a remark would say the same again


async def test_an_empty_set_of_a_doubtful_reading_is_not_claimed_to_be_absence(context: AgentContext) -> None:
    outcome = await answer("voyages of the Tern in 2032 that the admiral and the bishop cheered", context)

    assert isinstance(outcome, Clarify)
    assert outcome.kind is OutcomeKind.NO_RESULTS
    assert outcome.text.startswith("I read this as: voyages")
    assert "I found nothing like that" in outcome.text
    assert "I found no voyages" not in outcome.text
    assert all(choice.count for choice in outcome.choices if choice.count is not None)


async def test_an_empty_set_of_a_sure_reading_is_said_plainly(context: AgentContext) -> None:
    outcome = await answer("how many voyages of the Tern in 2032?", context)

    assert isinstance(outcome, Clarify)
    assert outcome.kind is OutcomeKind.NO_RESULTS
    assert "I read this as" not in outcome.text
