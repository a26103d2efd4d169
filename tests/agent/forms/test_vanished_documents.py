"""Documents that are deleted between two round trips of one question."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer
from agent.outcome import Answer, Clarify, OutcomeKind
from agent.rules.reasoner import RuleReasoner
from storage.embedded.index import EmbeddedIndex
from storage.search.documents import Document, Passage
from storage.search.forwarding_index import ForwardingScopedIndex
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.index import DocumentRequest, IndexAnswers, IndexRequest
from storage.search.plan import LegCombination
from storage.search.schema import FieldType, Schema, SchemaField
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for

TENANT, PARCELS = TenantId("t"), BucketId("parcels")
CARRIER, WEIGHT = FieldName("carrier"), FieldName("weight")
SCHEMA = Schema(
    bucket=PARCELS,
    synonyms=("parcel",),
    fields=(
        SchemaField(name=CARRIER, type=FieldType.CATEGORY, facet=True),
        SchemaField(name=WEIGHT, type=FieldType.NUMBER, unit="kg"),
    ),
)
WEIGHTS = {"Blue Van": 4.0, "Redline Post": 7.0}


def _build_document(number: int, carrier: str, weight: float) -> Document:
    text = f"A parcel of {weight:g} kg went with {carrier}."
    return Document(
        doc_id=DocId(f"parcel-{number}"),
        title=f"Parcel {number}",
        text=text,
        values={CARRIER: carrier, WEIGHT: weight},
        passages=(Passage(start=0, end=len(text)),),
    )


class VanishingScopedIndex(ForwardingScopedIndex):
    """An index within a scope that loses each document when its text is requested."""

    def __init__(self, index: EmbeddedIndex, scope: Scope) -> None:
        super().__init__(index.within_scope(scope))
        self._index = index

    async def answer_requests(self, *requests: IndexRequest[object]) -> IndexAnswers:
        for request in requests:
            if isinstance(request, DocumentRequest):
                await self._index.delete(request.doc_ids)
        return await self.wrapped.answer_requests(*requests)


@pytest_asyncio.fixture
async def index(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    opened = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    await opened.set_schema(SCHEMA)
    documents = [_build_document(number, *parcel) for number, parcel in enumerate(WEIGHTS.items())]
    await opened.put(PARCELS, documents)
    yield opened
    await opened.close()


@pytest.fixture
def context(index: EmbeddedIndex) -> AgentContext:
    scope = Scope(tenant=TENANT, buckets=frozenset({PARCELS}), subjects=frozenset(), ignores_readers=True)
    return AgentContext(
        index=VanishingScopedIndex(index, scope), reasoner=RuleReasoner(), now=datetime(2025, 3, 4, tzinfo=UTC)
    )


async def test_a_side_whose_only_document_vanishes_shows_the_figures_of_the_first_round_trip(
    context: AgentContext,
) -> None:
    outcome = await answer("Compare the average weight of parcels by Blue Van and Redline Post", context)

    assert isinstance(outcome, Answer)
    assert outcome.plan.combination is LegCombination.COMPARE
    assert [leg.figures[0].value for leg in outcome.legs] == [*WEIGHTS.values()]


async def test_fields_of_a_document_that_vanishes_are_not_found(context: AgentContext) -> None:
    outcome = await answer("What is the weight of the parcel by Blue Van?", context)

    assert isinstance(outcome, Clarify)
    assert outcome.plan.legs[0].answer_form.reads_values
    assert outcome.kind is OutcomeKind.NO_RESULTS


async def test_sides_whose_fields_are_of_documents_that_vanish_are_not_found(context: AgentContext) -> None:
    outcome = await answer("Compare the weight of the parcel by Blue Van and the parcel by Redline Post", context)

    assert isinstance(outcome, Clarify)
    assert outcome.plan.combination is LegCombination.COMPARE
    assert all(leg.answer_form.reads_values for leg in outcome.plan.legs)
    assert outcome.kind is OutcomeKind.NO_RESULTS
