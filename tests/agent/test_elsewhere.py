"""Where a set is empty: what is quoted from any text, what is not, and that the nearest passages are at hand."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from agent.context import Context
from agent.loop import answer
from agent.outcome import Answer, Clarify, Outcome, OutcomeKind
from agent.rules.reasoner import RuleReasoner
from storage.analysis import analyser_for
from storage.embedded.index import EmbeddedIndex
from storage.search.documents import Document, Passage
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.schema import Field, FieldType, Schema
from storage.search.scope import Scope

TENANT = TenantId("t")
SLIPS, PEOPLE = BucketId("slips"), BucketId("people")
CATEGORY, TOTAL = FieldName("category"), FieldName("total")
SCHEMAS = [
    Schema(
        bucket=SLIPS,
        fields=(Field(name=CATEGORY, type=FieldType.CATEGORY), Field(name=TOTAL, type=FieldType.NUMBER)),
    ),
    Schema(bucket=PEOPLE),
]
SERVED = "Oda Brink served in office from 1991 to 1993, two years in total."


def _document(doc_id: str, text: str, **values: str | float) -> Document:
    return Document(
        doc_id=DocId(doc_id),
        title=doc_id,
        text=text,
        values={FieldName(name): value for name, value in values.items()},
        passages=(Passage(start=0, end=len(text)),),
    )


BOUGHT = [
    _document(f"slip-{n}", f"Bought {what} for {n} in cash.", category=category, total=float(n))
    for n, (what, category) in enumerate([("paper", "office"), ("soup", "food"), ("ink", "office"), ("tea", "food")], 4)
]
LIVES = [_document("life-1", SERVED), _document("life-2", "Ada Lund wrote letters all her life.")]


@pytest_asyncio.fixture
async def index(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    opened = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    for schema, documents in zip(SCHEMAS, (BOUGHT, LIVES), strict=True):
        await opened.set_schema(schema)
        await opened.put(schema.bucket, documents)
    yield opened
    await opened.close()


async def asked(index: EmbeddedIndex, question: str) -> Outcome:
    scope = Scope(tenant=TENANT, buckets=frozenset({SLIPS, PEOPLE}), subjects=frozenset(), all_readers=True)
    now = datetime(2025, 3, 4, tzinfo=UTC)
    return await answer(question, Context(index=index.within(scope), reasoner=RuleReasoner(), now=now))


async def test_a_question_whose_set_is_empty_is_answered_by_the_passage_that_holds_its_words(
    index: EmbeddedIndex,
) -> None:
    outcome = await asked(index, "What is the total of years Brink served in office?")

    assert isinstance(outcome, Answer)
    assert [one.text for one in outcome.citations] == [SERVED]
    assert any("so any text was searched" in said for said in outcome.assumptions)


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("Show office with a total over 900 that mention Brink served", id="an order to list"),
        pytest.param("What is the total of slips Brink served in office?", id="a kind of document is named"),
        pytest.param("What is the total of years Xyzzy served in office?", id="a word that is nowhere"),
    ],
)
async def test_otherwise_nothing_is_quoted_but_the_nearest_passages_are_there(
    index: EmbeddedIndex, question: str
) -> None:
    outcome = await asked(index, question)

    assert isinstance(outcome, Clarify)
    assert outcome.kind is OutcomeKind.NO_RESULTS
    assert SERVED not in outcome.text
    assert outcome.hits[0].hit.doc_id == "life-1"
