"""Searches for several topics: their rankings, answers, and the queries that found each passage."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from agent.context import AgentContext
from agent.limits import AnswerLimits
from agent.loop import answer
from agent.outcome import Answer, Clarify, FoundPassage
from agent.retrieval.sub_queries.validation import validate_passages
from agent.rules.reasoner import RuleReasoner
from storage.embedded.index import EmbeddedIndex
from storage.search.documents import Document, Passage
from storage.search.ids import BucketId, ChunkId, DocId, TenantId
from storage.search.index import PassageHit
from storage.search.schema import Schema
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for

NOTES = BucketId("notes")
TEXTS = {
    "winch": "The winch is greased with graphite paste each spring.",
    "mast": "Masts are painted with linseed varnish before launching.",
    "sails": "Sails dry on the long line behind the shed.",
}
TWO_TOPICS = "greasing the winch with paste and painting masts with varnish"


@pytest.fixture
async def notes(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    index = await EmbeddedIndex.open(tmp_path, tenant=TenantId("t"), analysers=analyser_for, embedder=None)
    await index.set_schema(Schema(bucket=NOTES))
    documents = [
        Document(
            doc_id=DocId(name),
            title=f"Sheet {number}",
            text=text,
            passages=(Passage(start=0, end=len(text)),),
            digest=name,
        )
        for number, (name, text) in enumerate(TEXTS.items())
    ]
    await index.put(NOTES, documents)
    yield index
    await index.close()


async def ask_question(index: EmbeddedIndex, question: str, limits: AnswerLimits | None = None) -> Answer | Clarify:
    scope = Scope(tenant=TenantId("t"), buckets=frozenset({NOTES}), ignores_readers=True)
    outcome = await answer(
        question,
        AgentContext(
            index=index.within_scope(scope),
            reasoner=RuleReasoner(),
            now=datetime(2031, 5, 9, tzinfo=UTC),
            limits=limits or AnswerLimits(),
        ),
    )
    assert isinstance(outcome, Answer | Clarify)
    return outcome


async def test_a_search_for_two_topics_is_answered_with_a_sentence_about_each(notes: EmbeddedIndex) -> None:
    outcome = await ask_question(notes, TWO_TOPICS)

    assert isinstance(outcome, Answer)
    assert "graphite paste" in outcome.text
    assert "linseed varnish" in outcome.text
    assert {citation.doc_id for citation in outcome.citations} == {"winch", "mast"}


async def test_the_queries_that_found_a_passage_are_known(notes: EmbeddedIndex) -> None:
    outcome = await ask_question(notes, TWO_TOPICS)

    topics = ("greasing the winch with paste", "painting masts with varnish")
    assert outcome.trace.sub_queries == (TWO_TOPICS, *topics)
    assert {passage.hit.doc_id: passage.found_for for passage in outcome.hits} == {
        "winch": (TWO_TOPICS, topics[0]),
        "mast": (TWO_TOPICS, topics[1]),
    }
    assert outcome.trace.candidate_count == 2


@pytest.mark.parametrize(
    "question",
    [
        "graphite paste in spring and greasing the winch",  # one passage holds both: one topic
        "drying sails on the line and rowing boats to the lighthouse",  # nothing about the second topic
        "greasing the winch",
    ],
)
async def test_a_search_for_one_topic_is_not_decomposed(notes: EmbeddedIndex, question: str) -> None:
    assert (await ask_question(notes, question)).trace.sub_queries == ()


async def test_without_decomposition_the_whole_question_is_searched_alone(notes: EmbeddedIndex) -> None:
    outcome = await ask_question(notes, TWO_TOPICS, AnswerLimits(decompose_searches=False))

    assert outcome.trace.sub_queries == ()
    assert {
        attempt.arguments.get("query") for attempt in outcome.trace.attempts if attempt.tool == "search_semantic"
    } == {TWO_TOPICS}


async def test_two_questions_are_two_sub_queries_beside_the_whole(notes: EmbeddedIndex) -> None:
    question = "What is the winch greased with and where do the sails dry?"

    outcome = await ask_question(notes, question)

    assert outcome.trace.sub_queries == (question, "What is the winch greased with", "where do the sails dry?")


class LetterEmbedder:
    """Embeds a text by its letters a, b and c, so that texts of different letters are orthogonal."""

    async def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        counts = np.array([[text.count(letter) for letter in "abc"] for text in texts], dtype=np.float32)
        return counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)


def a_passage(chunk_id: str, text: str) -> FoundPassage:
    hit = PassageHit(
        chunk_id=ChunkId(chunk_id),
        doc_id=DocId(chunk_id),
        bucket=NOTES,
        title="",
        source="",
        page=None,
        start=0,
        end=len(text),
        text=text,
        score=1.0,
    )
    return FoundPassage(hit=hit, score=1.0, found_by=("semantic",))


async def test_passages_far_from_the_whole_question_are_left_out() -> None:
    passages = [a_passage("near", "aaa"), a_passage("far", "ccc"), a_passage("shares words", "ccc aab")]

    validated = await validate_passages("aab", passages, LetterEmbedder(), {NOTES: analyser_for("en")}, {})

    assert [passage.hit.doc_id for passage in validated] == ["near", "shares words"]
    assert validated[0].validation_score == pytest.approx(0.894, abs=0.001)


async def test_cosines_of_the_index_are_not_computed_again() -> None:
    passages = [a_passage("near", "ccc")]

    validated = await validate_passages(
        "aab", passages, LetterEmbedder(), {NOTES: analyser_for("en")}, {ChunkId("near"): 0.5}
    )

    assert [passage.validation_score for passage in validated] == [0.5]


async def test_without_an_embedder_nothing_is_left_out() -> None:
    passages = (a_passage("far", "ccc"),)

    assert await validate_passages("aab", passages, None, {NOTES: analyser_for("en")}, {}) == passages
