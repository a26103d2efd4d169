"""The full-text fallback: what is quoted if a set is empty, and which hits a clarification has."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer
from agent.outcome import Answer, Clarify, Outcome, OutcomeKind
from agent.rules.reasoner import RuleReasoner
from storage.embedded.index import EmbeddedIndex
from storage.search.documents import Document, Passage
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.schema import FieldType, Schema, SchemaField
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for

TENANT = TenantId("t")
SLIPS, PEOPLE = BucketId("slips"), BucketId("people")
CATEGORY, TOTAL = FieldName("category"), FieldName("total")
SCHEMAS = [
    Schema(
        bucket=SLIPS,
        fields=(SchemaField(name=CATEGORY, type=FieldType.CATEGORY), SchemaField(name=TOTAL, type=FieldType.NUMBER)),
    ),
    Schema(bucket=PEOPLE),
]
ANSWERING_TEXT = "Oda Brink served in office from 1991 to 1993, two years in total."


def _build_document(doc_id: str, text: str, **values: str | float) -> Document:
    return Document(
        doc_id=DocId(doc_id),
        title=doc_id,
        text=text,
        values={FieldName(name): value for name, value in values.items()},
        passages=(Passage(start=0, end=len(text)),),
    )


SLIP_DOCUMENTS = [
    _build_document(f"slip-{n}", f"Bought {what} for {n} in cash.", category=category, total=float(n))
    for n, (what, category) in enumerate([("paper", "office"), ("soup", "food"), ("ink", "office"), ("tea", "food")], 4)
]
PEOPLE_DOCUMENTS = [
    _build_document("life-1", ANSWERING_TEXT),
    _build_document("life-2", "Ada Lund wrote letters all her life."),
]


@pytest_asyncio.fixture
async def index(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    opened = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    for schema, documents in zip(SCHEMAS, (SLIP_DOCUMENTS, PEOPLE_DOCUMENTS), strict=True):
        await opened.set_schema(schema)
        await opened.put(schema.bucket, documents)
    yield opened
    await opened.close()


async def ask_question(index: EmbeddedIndex, question: str) -> Outcome:
    scope = Scope(tenant=TENANT, buckets=frozenset({SLIPS, PEOPLE}), subjects=frozenset(), ignores_readers=True)
    now = datetime(2025, 3, 4, tzinfo=UTC)
    return await answer(question, AgentContext(index=index.within_scope(scope), reasoner=RuleReasoner(), now=now))


async def test_a_question_with_an_empty_set_is_answered_by_a_passage_with_its_words(
    index: EmbeddedIndex,
) -> None:
    outcome = await ask_question(index, "What is the total of years Brink served in office?")

    assert isinstance(outcome, Answer)
    assert [citation.text for citation in outcome.citations] == [ANSWERING_TEXT]
    assert any("so I searched all texts" in assumption for assumption in outcome.assumptions)


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("Show office with a total over 900 that mention Brink served", id="an order to list"),
        pytest.param("What is the total of slips Brink served in office?", id="a kind of document is named"),
        pytest.param("What is the total of years Xyzzy served in office?", id="a word that is nowhere"),
    ],
)
async def test_without_such_a_passage_nothing_is_quoted_but_the_nearest_passages_are_hits(
    index: EmbeddedIndex, question: str
) -> None:
    outcome = await ask_question(index, question)

    assert isinstance(outcome, Clarify)
    assert outcome.kind is OutcomeKind.NO_RESULTS
    assert ANSWERING_TEXT not in outcome.text
    assert outcome.hits[0].hit.doc_id == "life-1"
