"""A number over values that were read from texts says how many were read, and how many of these readings are sure."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer
from agent.outcome import Answer
from agent.rules.reasoner import RuleReasoner
from storage.embedded.index import EmbeddedIndex
from storage.search.documents import Document, FieldAnnotation, Passage
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.schema import FieldType, Schema, SchemaField
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for

TENANT, TOLLS, FEE = TenantId("t"), BucketId("tolls"), FieldName("fee")
_FIELD = SchemaField(name=FEE, type=FieldType.MONEY, currency="EUR", labels=("Fee",))
_SCHEMA = Schema(bucket=TOLLS, synonyms=("toll", "tolls"), fields=(_FIELD,))


def a_toll(number: int, *, confidence: float | None) -> Document:
    text = f"Toll {number}. Fee: EUR {number}0.00"
    annotations = (
        () if confidence is None else (FieldAnnotation(field=FEE, value=number * 10.0, confidence=confidence),)
    )
    return Document(
        doc_id=DocId(f"T{number}"),
        title=f"T{number}",
        text=text,
        values={FEE: number * 10.0},
        passages=(Passage(start=0, end=len(text)),),
        annotations=annotations,
    )


@pytest_asyncio.fixture
async def index(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    index = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    await index.set_schema(_SCHEMA)
    yield index
    await index.close()


@pytest.mark.parametrize(
    ("confidences", "sentence"),
    [
        ((0.95, 0.9, 0.86), " I read 3 values in the texts, and am sure of all of them."),
        ((0.95, 0.6, 0.7), " I read 3 values in the texts, and am sure of 1 of them."),
        ((0.95, 0.6, None), " I read 2 values in the texts, and am sure of 1 of them."),
        ((None, None, None), ""),
    ],
)
async def test_a_sum_says_how_sure_its_values_are(
    index: EmbeddedIndex, confidences: tuple[float | None, ...], sentence: str
) -> None:
    await index.put(TOLLS, [a_toll(number, confidence=sure) for number, sure in enumerate(confidences, 1)])
    scope = Scope(tenant=TENANT, buckets=frozenset({TOLLS}), ignores_readers=True)
    now = datetime(2033, 5, 9, tzinfo=UTC)
    context = AgentContext(index=index.within_scope(scope), reasoner=RuleReasoner(), now=now)

    outcome = await answer("total fee of all tolls", context)

    assert isinstance(outcome, Answer)
    assert outcome.text == f"Sum of fee: **EUR 60.00** (3 tolls).{sentence}"
