"""A set that most texts leave open is no answer: the reply says what is known and asks whether the others count."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer, resume
from agent.outcome import Answer, Clarify
from agent.rules.reasoner import RuleReasoner
from storage.embedded.index import EmbeddedIndex
from storage.search.documents import Document, Passage
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.refinement import IncludeMissing, UseReading, apply_to_plan
from storage.search.schema import FieldType, Schema, SchemaField
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for

TENANT, MOORINGS, BERTHS = TenantId("t"), BucketId("moorings"), BucketId("berths")
_POWER = SchemaField(name=FieldName("power"), type=FieldType.CATEGORY)
_SCHEMAS = (
    Schema(
        bucket=MOORINGS,
        synonyms=("mooring", "moorings"),
        fields=(replace(_POWER, labels=("Power",)),),  # read from the texts
    ),
    Schema(bucket=BERTHS, synonyms=("berth", "berths"), fields=(_POWER,)),  # a table
)
_STATED = {"North": "solar", "South": "cable"}
_TEXTS = {
    **{name: f"Mooring {name}. Power: {power}" for name, power in _STATED.items()},
    "Quay": "Mooring Quay, which has a solar panel of its own.",
    "Pier": "Mooring Pier, at the old pier.",
    "Reed": "Mooring Reed, behind the reeds.",
}


def _document(bucket: BucketId, name: str, text: str) -> Document:
    values = {FieldName("power"): _STATED[name]} if name in _STATED else {}
    return Document(
        doc_id=DocId(f"{bucket}-{name}"),
        title=name,
        text=text,
        values=values,
        passages=(Passage(start=0, end=len(text)),),
    )


@pytest_asyncio.fixture
async def context(tmp_path: Path) -> AsyncIterator[AgentContext]:
    index = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    for schema in _SCHEMAS:
        await index.set_schema(schema)
        await index.put(schema.bucket, [_document(schema.bucket, name, text) for name, text in _TEXTS.items()])
    scope = Scope(tenant=TENANT, buckets=frozenset({MOORINGS, BERTHS}), ignores_readers=True)
    now = datetime(2031, 5, 9, tzinfo=UTC)
    yield AgentContext(index=index.within_scope(scope), reasoner=RuleReasoner(), now=now)
    await index.close()


@pytest.mark.parametrize("question", ["list the moorings with solar power", "how many moorings have solar power?"])
async def test_a_set_that_most_texts_leave_open_is_asked_about_with_counts(
    context: AgentContext, question: str
) -> None:
    outcome = await answer(question, context)

    assert isinstance(outcome, Clarify)
    assert "1 mooring" in outcome.text
    assert "I found no value for power in 3 of the other 4" in outcome.text
    assert [choice.count for choice in outcome.choices if choice.count is not None] == [1, 2, 4]


async def test_each_choice_leads_to_the_number_that_it_says_and_does_not_ask_again(context: AgentContext) -> None:
    asked = await answer("list the moorings with solar power", context)
    assert isinstance(asked, Clarify)

    for choice in asked.choices:
        assert isinstance(choice.effect, UseReading | IncludeMissing)
        plan = apply_to_plan(choice.effect, asked.plan, choice.leg)
        clicked = await resume(plan, replace(context, clarifications_in_a_row=1))
        assert isinstance(clicked, Answer)
        assert clicked.legs[0].count == choice.count


async def test_an_empty_cell_of_a_table_leaves_nothing_open(context: AgentContext) -> None:
    outcome = await answer("list the berths with solar power", context)

    assert isinstance(outcome, Answer)
    assert outcome.legs[0].count == 1
