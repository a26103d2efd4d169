"""Retrieval in long documents with similar passages: the title and summary decide."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer
from agent.outcome import Answer, Outcome, SearchRoute
from agent.rules.reasoner import RuleReasoner
from storage.embedded.index import EmbeddedIndex
from storage.ingest.documents.chunk import passages_of
from storage.ingest.documents.summary import summary_of
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.index import SearchIndex
from storage.search.plan import unfiltered_search_of
from storage.search.schema import FieldType, Schema, SchemaField
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for

TENANT = TenantId("t")
BOOKS = BucketId("books")
SCHEMA = Schema(bucket=BOOKS, fields=(SchemaField(name=FieldName("shelf"), type=FieldType.CATEGORY),))
RULE = "The filter is rinsed with lukewarm water every {} and put back only when it is dry."
SAFETY_RULE = "Before any work the plug is pulled and the lid is left open until nothing moves any more."
QUESTION = "How often is the filter of an aquarium rinsed?"


def _build_book(doc_id: str, subject: str, interval: str) -> Document:
    """Returns a long document that names its subject at the beginning and mentions the filter in the middle."""
    opening = f"# Handbook {doc_id}\n\n## About the {subject}\n\nThis book tells owners all about the {subject}. "
    opening += f"Whoever looks after one {subject} well and often has many years of it. " * 3
    before = [f"On page {n} of this book stands note {n * 7} about screws of size {n % 5}." for n in range(60)]
    after = [f"On page {n} of this book stands note {n * 5} about crates of size {n % 6}." for n in range(60, 120)]
    care = f"## Care\n\n{SAFETY_RULE} {RULE.format(interval)}"
    text = "\n\n".join([opening, "## Parts", " ".join(before), care, "## Crates", " ".join(after)])
    return Document(
        doc_id=DocId(doc_id),
        title=f"Handbook {doc_id}",
        text=text,
        passages=passages_of(text),
        summary=summary_of(text),
    )


LIBRARY = [
    _build_book("A", "dehumidifier", "month"),
    _build_book("B", "vacuum cleaner", "week"),
    _build_book("C", "aquarium", "fortnight"),
    _build_book("D", "coffee machine", "quarter"),
    _build_book("E", "dishwasher", "season"),
]


@pytest_asyncio.fixture
async def index(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    opened = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    await opened.set_schema(SCHEMA)
    yield opened
    await opened.close()


async def ask_question(index: SearchIndex, question: str, documents: Sequence[Document] = LIBRARY) -> Outcome:
    await index.put(BOOKS, documents)
    scope = Scope(tenant=TENANT, buckets=frozenset({BOOKS}), subjects=frozenset(), ignores_readers=True)
    now = datetime(2025, 3, 4, tzinfo=UTC)
    return await answer(question, AgentContext(index=index.within_scope(scope), reasoner=RuleReasoner(), now=now))


async def test_of_similar_passages_the_one_in_the_document_about_the_subject_is_quoted(index: EmbeddedIndex) -> None:
    outcome = await ask_question(index, QUESTION)

    assert isinstance(outcome, Answer)
    assert [citation.doc_id for citation in outcome.citations] == ["C"]
    cited = outcome.citations[0]
    text = next(document.text for document in LIBRARY if document.doc_id == "C")
    assert text[cited.start : cited.end] == cited.text == RULE.format("fortnight")
    assert outcome.hits[0].hit.doc_id == "C"
    assert "summary" in outcome.hits[0].found_by


async def test_the_route_and_its_attempts_are_recorded(index: EmbeddedIndex) -> None:
    outcome = await ask_question(index, QUESTION)

    assert isinstance(outcome, Answer)
    assert outcome.trace.route is SearchRoute.LONG_TEXT
    summary_attempts = [attempt for attempt in outcome.trace.attempts if attempt.arguments.get("level") == "summary"]
    assert [(attempt.tool, attempt.documents) for attempt in summary_attempts] == [("search_text", 5)]
    last_attempt = outcome.trace.attempts[-1]
    assert last_attempt.tool in ("search_text", "search_semantic")
    assert "doc_id" in str(last_attempt.arguments["filters"])


async def test_the_search_of_the_leg_does_not_change(index: EmbeddedIndex) -> None:
    outcome = await ask_question(index, QUESTION)

    assert isinstance(outcome, Answer)
    assert outcome.plan.legs[0].search == replace(unfiltered_search_of(BOOKS), ranking_text=QUESTION)
    assert outcome.legs[0].document_count == len(LIBRARY)


async def test_a_passage_that_covers_the_question_needs_no_summary(index: EmbeddedIndex) -> None:
    note = Document(
        doc_id=DocId("note"),
        title="Note",
        text=f"For the aquarium: {RULE.format('day')}",
        passages=passages_of(f"For the aquarium: {RULE.format('day')}"),
    )

    outcome = await ask_question(index, "How is the filter of an aquarium rinsed?", [*LIBRARY, note])

    assert isinstance(outcome, Answer)
    assert outcome.citations[0].doc_id == "note"
    assert outcome.trace.route is SearchRoute.HYBRID


async def test_a_summary_alone_does_not_answer_a_question(index: EmbeddedIndex) -> None:
    outcome = await ask_question(index, "How tall is the tower of an aquarium?")

    assert not isinstance(outcome, Answer) or all("aquarium" in citation.text for citation in outcome.citations)
