"""What a turn has asked of the index is not asked again, as long as the index does not change."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.context import AgentContext
from agent.retrieval.fusion import fuse_hits, rerank_passages
from agent.retrieval.relevance import QueryTerm
from agent.retrieval.session import RetrievalSession
from agent.rules.reasoner import RuleReasoner
from storage.embedded.index import EmbeddedIndex
from storage.search.documents import Document
from storage.search.ids import BucketId, ChunkId, DocId, TenantId
from storage.search.index import CountRequest, PassageHit, RecordPageRequest
from storage.search.plan import Clause, Search
from storage.search.schema import Schema
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for

NOTES = BucketId("notes")
COUNT = CountRequest(Search(clauses=(Clause(bucket=NOTES),)))
PAGE = RecordPageRequest(COUNT.search)


@pytest.fixture
async def notes(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    index = await EmbeddedIndex.open(tmp_path, tenant=TenantId("t"), analysers=analyser_for, embedder=None)
    await index.set_schema(Schema(bucket=NOTES))
    await _put_note(index, "first")
    yield index
    await index.close()


async def _put_note(index: EmbeddedIndex, name: str) -> None:
    await index.put(NOTES, [Document(doc_id=DocId(name), title=name, text=name, digest=name)])


def a_session(index: EmbeddedIndex) -> RetrievalSession:
    scope = Scope(tenant=TenantId("t"), buckets=frozenset({NOTES}), ignores_readers=True)
    now = datetime(2031, 5, 9, tzinfo=UTC)
    return RetrievalSession(
        AgentContext(index=index.within_scope(scope), reasoner=RuleReasoner(), now=now), reasoner_name="rule"
    )


def a_hit(text: str, score: float) -> PassageHit:
    return PassageHit(
        doc_id=DocId(text),
        bucket=NOTES,
        chunk_id=ChunkId(f"{text}#0"),
        title="",
        source="",
        page=None,
        start=0,
        end=len(text),
        text=text,
        score=score,
    )


async def test_a_request_is_made_once_in_a_turn(notes: EmbeddedIndex) -> None:
    session = a_session(notes)

    first = await session.ask_index((COUNT,))
    second = await session.ask_index((COUNT, COUNT), record=(COUNT,))

    assert first[COUNT] == second[COUNT] == 1
    assert session.round_trips == 1
    assert len(session.attempts) == 1


async def test_only_new_requests_are_sent(notes: EmbeddedIndex) -> None:
    session = a_session(notes)
    await session.ask_index((COUNT,))

    answers = await session.ask_index((COUNT, PAGE))

    assert (answers[COUNT], len(answers[PAGE].records)) == (1, 1)
    assert session.round_trips == 2


async def test_a_change_of_the_index_asks_everything_again(notes: EmbeddedIndex) -> None:
    session = a_session(notes)
    await session.ask_index((COUNT,))
    await _put_note(notes, "second")

    answers = await session.ask_index((COUNT, PAGE))

    assert (answers[COUNT], len(answers[PAGE].records)) == (2, 2)
    assert (await session.ask_index((COUNT,)))[COUNT] == 2
    assert session.round_trips == 3


async def test_likely_requests_are_sent_along_with_the_next_ones(notes: EmbeddedIndex) -> None:
    session = a_session(notes)
    session.ask_with_next((PAGE,))
    await session.ask_index((COUNT,))

    answers = await session.ask_index((PAGE,))

    assert len(answers[PAGE].records) == 1
    assert session.round_trips == 1


async def test_likely_requests_alone_make_no_round_trip(notes: EmbeddedIndex) -> None:
    session = a_session(notes)
    await session.ask_index((COUNT,))
    session.ask_with_next((PAGE,))

    await session.ask_index((COUNT,))

    assert session.round_trips == 1


async def test_a_known_ranking_is_not_that_of_other_passages_terms_or_reranker_scores(notes: EmbeddedIndex) -> None:
    session = a_session(notes)
    passages = fuse_hits({"text": [a_hit("first", 2.0), a_hit("second", 1.5)]})
    first, second = (
        QueryTerm(word=word, stem=word, weight=weight, is_known=True)
        for word, weight in (("first", 1.0), ("second", 0.5))
    )
    analysers = {NOTES: analyser_for("en")}
    inputs = [
        (passages, [first], None),
        (passages, [second], None),
        (passages, [first, second], None),
        (passages[:1], [first], None),
        (passages, [first], [0.0, 1.0]),
    ]

    for _ in range(2):  # the second time they are known
        for ranked, terms, scores in inputs:
            known = session.rank_passages(ranked, terms, analysers, scores)
            assert known == rerank_passages(ranked, terms, analysers, scores)
            known.clear()  # a list of the caller's own
    assert len(session.known_rankings) == len(inputs)
