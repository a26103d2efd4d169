"""Whether a named document, or a part of it, is still valid: the date until which it holds decides."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer
from agent.outcome import Answer, Clarify
from agent.rules.reasoner import RuleReasoner
from storage.embedded.index import EmbeddedIndex
from storage.search.documents import Document, Passage
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.schema import FieldType, Schema, SchemaField
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for

TENANT, TOOLS = TenantId("t"), BucketId("tools")
NAME, GUARANTEE, INSPECTION = FieldName("name"), FieldName("guarantee_until"), FieldName("inspection_valid_until")
SCHEMA = Schema(
    bucket=TOOLS,
    synonyms=("tool",),
    fields=(
        SchemaField(name=NAME, type=FieldType.CATEGORY),
        SchemaField(name=FieldName("maker"), type=FieldType.CATEGORY),
        SchemaField(name=GUARANTEE, type=FieldType.DATE),
        SchemaField(name=INSPECTION, type=FieldType.DATE),
    ),
)
ROWS = (("Ash saw", "Borg", "2032-01-01", "2026-01-01"), ("Elm lathe", "Sand", "2024-07-08", "2033-02-03"))


@pytest_asyncio.fixture
async def context(tmp_path: Path) -> AsyncIterator[AgentContext]:
    index = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    await index.set_schema(SCHEMA)
    await index.put(
        TOOLS,
        [
            Document(
                doc_id=DocId(name),
                title=name,
                text=f"{name}.",
                values={NAME: name, FieldName("maker"): maker, GUARANTEE: guarantee, INSPECTION: inspection},
                passages=(Passage(start=0, end=len(name) + 1),),
            )
            for name, maker, guarantee, inspection in ROWS
        ],
    )
    scope = Scope(tenant=TENANT, buckets=frozenset({TOOLS}), ignores_readers=True)
    now = datetime(2031, 5, 9, tzinfo=UTC)
    yield AgentContext(index=index.within_scope(scope), reasoner=RuleReasoner(), now=now)
    await index.close()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Is the guarantee of the Ash saw still valid?", "**Yes**: “Guarantee until” of Ash saw is 2032-01-01"),
        ("Is the guarantee of the Elm lathe still valid?", "**No**: “Guarantee until” of Elm lathe is 2024-07-08"),
        ("Is the inspection of the Ash saw valid?", "**No**: “Inspection valid until” of Ash saw is 2026-01-01"),
        ("Does the Elm lathe still have a valid inspection?", "**Yes**: “Inspection valid until” of Elm lathe"),
    ],
)
async def test_the_term_of_the_named_part_decides(context: AgentContext, question: str, expected: str) -> None:
    outcome = await answer(question, context)

    assert isinstance(outcome, Answer)
    assert outcome.text.startswith(expected)


@pytest.mark.parametrize("question", ["Is the Ash saw still valid?", "Is the maker of the Ash saw still valid?"])
async def test_no_term_decides_where_several_may_be_meant(context: AgentContext, question: str) -> None:
    outcome = await answer(question, context)

    assert isinstance(outcome, (Answer, Clarify))
    assert not outcome.text.startswith(("**Yes**", "**No**"))
