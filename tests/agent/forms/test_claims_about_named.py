"""Yes or no about one named document in several forms: each is decided by its own values, with evidence."""

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
from storage.search.documents import Document, FieldValue, Passage
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.schema import FieldType, Schema, SchemaField
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for

TENANT, LEASES = TenantId("t"), BucketId("leases")
SCHEMA = Schema(
    bucket=LEASES,
    synonyms=("lease",),
    fields=(
        SchemaField(name=FieldName("house"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("kind"), type=FieldType.CATEGORY, values={"waiver": (), "sublease": ()}),
        SchemaField(name=FieldName("parties"), type=FieldType.LIST, synonyms=("party",)),
        SchemaField(
            name=FieldName("clauses"), type=FieldType.LIST, values={"Insurance": (), "Waiver": (), "Audit": ()}
        ),
        SchemaField(name=FieldName("rent"), type=FieldType.MONEY, currency_field=FieldName("currency")),
        SchemaField(name=FieldName("currency"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("furnished"), type=FieldType.FLAG),
        SchemaField(name=FieldName("state"), type=FieldType.CATEGORY, values={"furnished": (), "empty": ()}),
        SchemaField(name=FieldName("pages"), type=FieldType.NUMBER, synonyms=("length",)),
        SchemaField(name=FieldName("notice_days"), title="notice", type=FieldType.NUMBER, unit="day"),
        SchemaField(name=FieldName("deposit"), type=FieldType.MONEY, currency_field=FieldName("currency")),
    ),
)


def _build_lease(number: int, house: str, text: str, **values: FieldValue) -> Document:
    return Document(
        doc_id=DocId(f"lease-{number}"),
        title=f"Lease of {house}",
        text=text,
        values={FieldName("house"): house} | {FieldName(name): value for name, value in values.items()},
        passages=(Passage(start=0, end=len(text)),),
    )


@pytest_asyncio.fixture
async def context(tmp_path: Path) -> AsyncIterator[AgentContext]:
    index = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    await index.set_schema(SCHEMA)
    leases = [
        _build_lease(
            1,
            "Fir Hall",
            "Acme Ltd lets Fir Hall to Ida Berg. The rent is EUR 850.00 a month. The tenant insures the house.",
            kind="sublease",
            parties=("Acme Ltd", "Ida Berg"),
            clauses=("Insurance", "Audit"),
            rent=850.0,
            currency="EUR",
            furnished=True,
            state="empty",
            pages=60.0,
        ),
        _build_lease(
            2,
            "Oak Barn",
            "Birch Ltd lets Oak Barn. The rent is EUR 990.00 a month.",
            kind="waiver",
            parties=("Birch Ltd",),
            clauses=("Waiver",),
            rent=990.0,
            currency="EUR",
            furnished=False,
            state="furnished",
            pages=12.0,
            notice_days=120.0,
        ),
    ]
    await index.put(LEASES, leases)
    scope = Scope(tenant=TENANT, buckets=frozenset({LEASES}), ignores_readers=True)
    now = datetime(2031, 5, 9, tzinfo=UTC)
    yield AgentContext(index=index.within_scope(scope), reasoner=RuleReasoner(), now=now)
    await index.close()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "Is the lease of Fir Hall for over 900 euros?",
            "**No**: the rent of Lease of Fir Hall is EUR 850.00 — “The rent is",
        ),
        ("Is the lease of Oak Barn for over 900 euros?", "**Yes**: the rent of Lease of Oak Barn is EUR 990.00"),
        ("Is Acme Ltd a party to the Fir Hall lease?", "**Yes**: Acme Ltd is among the parties of Lease of Fir Hall"),
        (
            "Is Birch Ltd a party to the Fir Hall lease?",
            "**No**: Birch Ltd is not among the parties of Lease of Fir Hall [",
        ),
        (
            "Is there an insurance clause in the Fir Hall lease?",
            "**Yes**: Insurance is among the clauses of Lease of Fir",
        ),
        (
            "Is there an audit clause in the Oak Barn lease?",
            "**No**: Audit is not among the clauses of Lease of Oak Barn",
        ),
        ("Does the Fir Hall lease contain a waiver?", "**No**: Waiver is not among the clauses of Lease of Fir Hall"),
        ("Does the Oak Barn lease contain a waiver?", "**Yes**: Waiver is among the clauses of Lease of Oak Barn"),
        (
            "Does the Fir Hall lease have insurance and a waiver?",
            "**No**: Waiver is not among the clauses of Lease of Fir",
        ),
        ("Is the notice of Oak Barn longer than 90 days?", "**Yes**: the notice of Lease of Oak Barn is 120 day"),
        ("Is the Fir Hall lease furnished?", "**Yes**: Lease of Fir Hall is marked furnished"),
        ("Is the Oak Barn lease furnished?", "**No**: Lease of Oak Barn is not marked furnished"),
    ],
)
async def test_what_is_claimed_of_the_named_document_is_decided_by_its_values(
    context: AgentContext, question: str, expected: str
) -> None:
    outcome = await answer(question, context)

    assert isinstance(outcome, Answer)
    assert outcome.text.startswith(expected)
    assert [citation.doc_id for citation in outcome.citations] == [
        DocId("lease-1") if "Fir Hall" in question else DocId("lease-2")
    ]


@pytest.mark.parametrize(
    "question", ["Is the deposit of Fir Hall over 500 euros?", "Is the notice of Fir Hall longer than 90 days?"]
)
async def test_a_value_that_the_named_document_lacks_is_not_denied(context: AgentContext, question: str) -> None:
    outcome = await answer(question, context)

    assert isinstance(outcome, (Answer, Clarify))
    assert not outcome.text.startswith(("**Yes**", "**No**"))
