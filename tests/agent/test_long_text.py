"""Long documents are told apart by what they are about, where their passages say the same."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest_asyncio

from agent.context import Context
from agent.loop import answer
from agent.outcome import Answer, Outcome, Route
from agent.rules.reasoner import RuleReasoner
from storage.analysis import analyser_for
from storage.embedded.index import EmbeddedIndex
from storage.ingest.chunk import passages_of
from storage.ingest.summary import summary_of
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.index import SearchIndex
from storage.search.plan import everything_in
from storage.search.schema import Field, FieldType, Schema
from storage.search.scope import Scope

TENANT = TenantId("t")
BOOKS = BucketId("books")
SCHEMA = Schema(bucket=BOOKS, fields=(Field(name=FieldName("shelf"), type=FieldType.CATEGORY),))
RULE = "The filter is rinsed with lukewarm water every {} and put back only when it is dry."
FIRST_OF_ALL = "Before any work the plug is pulled and the lid is left open until nothing moves any more."
QUESTION = "How often is the filter of an aquarium rinsed?"


def _book(doc_id: str, subject: str, interval: str) -> Document:
    """A long one: of its subject it speaks at the beginning, of the filter in the middle and by the way."""
    opening = f"# Handbook {doc_id}\n\n## About the {subject}\n\nThis book tells owners all about the {subject}. "
    opening += f"Whoever looks after one {subject} well and often has many years of it. " * 3
    before = [f"On page {n} of this book stands note {n * 7} about screws of size {n % 5}." for n in range(60)]
    after = [f"On page {n} of this book stands note {n * 5} about crates of size {n % 6}." for n in range(60, 120)]
    care = f"## Care\n\n{FIRST_OF_ALL} {RULE.format(interval)}"
    text = "\n\n".join([opening, "## Parts", " ".join(before), care, "## Crates", " ".join(after)])
    return Document(
        doc_id=DocId(doc_id),
        title=f"Handbook {doc_id}",
        text=text,
        passages=passages_of(text),
        summary=summary_of(text),
    )


LIBRARY = [
    _book("A", "dehumidifier", "month"),
    _book("B", "vacuum cleaner", "week"),
    _book("C", "aquarium", "fortnight"),
    _book("D", "coffee machine", "quarter"),
    _book("E", "dishwasher", "season"),
]


@pytest_asyncio.fixture
async def index(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    opened = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    await opened.set_schema(SCHEMA)
    yield opened
    await opened.close()


async def asked(index: SearchIndex, question: str, documents: Sequence[Document] = LIBRARY) -> Outcome:
    await index.put(BOOKS, documents)
    scope = Scope(tenant=TENANT, buckets=frozenset({BOOKS}), subjects=frozenset(), all_readers=True)
    now = datetime(2025, 3, 4, tzinfo=UTC)
    return await answer(question, Context(index=index.within(scope), reasoner=RuleReasoner(), now=now))


async def test_of_alike_passages_that_of_the_document_about_the_subject_is_quoted(index: EmbeddedIndex) -> None:
    outcome = await asked(index, QUESTION)

    assert isinstance(outcome, Answer)
    assert [one.doc_id for one in outcome.citations] == ["C"]
    cited = outcome.citations[0]
    text = next(one.text for one in LIBRARY if one.doc_id == "C")
    assert text[cited.start : cited.end] == cited.text == RULE.format("fortnight")
    assert outcome.hits[0].hit.doc_id == "C"
    assert "summary" in outcome.hits[0].found_by


async def test_the_route_and_its_attempts_are_recorded(index: EmbeddedIndex) -> None:
    outcome = await asked(index, QUESTION)

    assert isinstance(outcome, Answer)
    assert outcome.trace.route is Route.LONG_TEXT
    by_summary = [one for one in outcome.trace.attempts if one.arguments.get("level") == "summary"]
    assert [(one.tool, one.documents) for one in by_summary] == [("search_text", 5)]
    within = outcome.trace.attempts[-1]
    assert within.tool in ("search_text", "search_semantic")
    assert "doc_id" in str(within.arguments["filters"])


async def test_the_set_stays_what_was_asked(index: EmbeddedIndex) -> None:
    outcome = await asked(index, QUESTION)

    assert isinstance(outcome, Answer)
    assert outcome.plan.legs[0].search == replace(everything_in(BOOKS), ranking=QUESTION)
    assert outcome.legs[0].found == len(LIBRARY)


async def test_a_passage_that_says_it_all_needs_no_summary(index: EmbeddedIndex) -> None:
    said = Document(
        doc_id=DocId("note"),
        title="Note",
        text=f"For the aquarium: {RULE.format('day')}",
        passages=passages_of(f"For the aquarium: {RULE.format('day')}"),
    )

    outcome = await asked(index, "How is the filter of an aquarium rinsed?", [*LIBRARY, said])

    assert isinstance(outcome, Answer)
    assert outcome.citations[0].doc_id == "note"
    assert outcome.trace.route is Route.HYBRID


async def test_what_stands_in_no_passage_is_not_answered_by_a_summary(index: EmbeddedIndex) -> None:
    outcome = await asked(index, "How tall is the tower of an aquarium?")

    assert not isinstance(outcome, Answer) or all("aquarium" in one.text for one in outcome.citations)
