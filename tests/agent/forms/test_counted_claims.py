"""Yes or no about sets of documents, about what is still there, and fields of a document that an id names."""

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
from storage.search.documents import Document, FieldValue, Passage
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.schema import FieldType, Schema, SchemaField
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for

TENANT, GUIDES, COACHES = TenantId("t"), BucketId("guides"), BucketId("coaches")
GUIDE_SCHEMA = Schema(
    bucket=GUIDES,
    synonyms=("guide",),
    fields=(
        SchemaField(name=FieldName("name"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("home"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("task"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("trained"), type=FieldType.FLAG),
        SchemaField(name=FieldName("left_on"), type=FieldType.DATE),
    ),
)
COACH_SCHEMA = Schema(
    bucket=COACHES,
    synonyms=("coach",),
    fields=(
        SchemaField(name=FieldName("origin"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("destination"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("distance_km"), type=FieldType.NUMBER, unit="km"),
        SchemaField(name=FieldName("driver"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("bicycles"), type=FieldType.FLAG),
    ),
)


def _build_document(doc_id: str, title: str, **values: FieldValue) -> Document:
    text = f"{title}."
    return Document(
        doc_id=DocId(doc_id),
        title=title,
        text=text,
        values={FieldName(name): value for name, value in values.items()},
        passages=(Passage(start=0, end=len(text)),),
    )


@pytest_asyncio.fixture
async def context(tmp_path: Path) -> AsyncIterator[AgentContext]:
    index = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    await index.set_schema(GUIDE_SCHEMA)
    await index.set_schema(COACH_SCHEMA)
    people = [
        ("Ida Berg", "Arvo", "museum", True, "2029-03-01"),
        ("Nils Ekman", "Arvo", "castle", False, None),
        ("Siri Holm", "Belk", "castle", True, None),
        ("Tor Lund", "Belk", "castle", True, None),
    ]
    guides = [
        _build_document(
            f"g{number}",
            name,
            **{"name": name, "home": home, "task": task, "trained": trained} | ({"left_on": left} if left else {}),
        )
        for number, (name, home, task, trained, left) in enumerate(people)
    ]
    trips = [
        ("Arvo", "Belk", 31.0, "Olga Ritter", True),
        ("Belk", "Arvo", 33.0, "Paul Stern", False),
        ("Arvo", "Corm", 12.0, "Olga Ritter", False),
        ("Corm", "Belk", 14.0, "Paul Stern", True),
    ]
    coaches = [
        _build_document(
            f"RUN-20{number}",
            f"Trip {number}",
            origin=origin,
            destination=to,
            distance_km=far,
            driver=who,
            bicycles=bikes,
        )
        for number, (origin, to, far, who, bikes) in enumerate(trips)
    ]
    await index.put(GUIDES, guides)
    await index.put(COACHES, coaches)
    scope = Scope(tenant=TENANT, buckets=frozenset({GUIDES, COACHES}), ignores_readers=True)
    now = datetime(2031, 5, 9, tzinfo=UTC)
    yield AgentContext(index=index.within_scope(scope), reasoner=RuleReasoner(), now=now)
    await index.close()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Is everybody trained?", "**No**: that is true of **3** of the **4** guides (marked as trained)"),
        ("Are all guides trained?", "**No**: that is true of **3** of the **4** guides (marked as trained)"),
        (
            "Are all guides in Belk trained?",
            "**Yes**: that is true of **2** of the **2** guides with home Belk (marked as trained)",
        ),
        ("Does anybody in Belk work at the castle?", "**Yes**: **2 guides**"),
        ("Is there a guide in Belk at the museum?", "**No**: I found no guides"),
        ("Is Ida Berg still with us?", "**No**: Ida Berg left on 2029-03-01"),
        ("Is Siri Holm still on the team?", "**Yes**: Siri Holm has no left on"),
    ],
)
async def test_counts_decide_a_question_about_a_set(context: AgentContext, question: str, expected: str) -> None:
    outcome = await answer(question, context)

    assert isinstance(outcome, Answer)
    assert outcome.text.startswith(expected)


async def test_a_word_that_is_not_understood_leaves_the_claim_open(context: AgentContext) -> None:
    outcome = await answer("Are all guides in Belk vaccinated?", context)

    assert isinstance(outcome, (Answer, Clarify))
    assert not outcome.text.startswith(("**Yes**", "**No**"))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How far is it from Arvo to Belk?", "31 km"),
        ("Who drives the Belk to Arvo coach?", "Paul Stern"),
        ("Who was the driver of RUN-202?", "Olga Ritter"),
    ],
)
async def test_two_places_or_an_id_name_one_document(context: AgentContext, question: str, expected: str) -> None:
    outcome = await answer(question, context)

    assert isinstance(outcome, Answer)
    assert expected in outcome.text


async def test_a_missing_value_is_said_to_be_unknown(context: AgentContext) -> None:
    outcome = await answer("When did Siri Holm leave?", context)

    assert isinstance(outcome, Clarify)
    assert outcome.kind is OutcomeKind.NO_RESULTS
