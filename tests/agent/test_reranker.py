"""A reranker changes the order of passages; if it is missing, late or failing, the order stays the same."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.context import AgentContext
from agent.errors import RerankerUnavailable
from agent.limits import AnswerLimits
from agent.loop import answer
from agent.outcome import Answer, FoundPassage, TraceStage
from agent.retrieval.fusion import RERANKED_PASSAGES, rerank_passages
from agent.retrieval.relevance import QueryTerm, Reranker, normalize_scores
from agent.rules.reasoner import RuleReasoner
from storage.embedded.index import EmbeddedIndex
from storage.search.documents import Document, Passage
from storage.search.ids import BucketId, ChunkId, DocId, FieldName, TenantId
from storage.search.index import PassageHit
from storage.search.schema import FieldType, Schema, SchemaField
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for
from tests.stand_ins.overlap import OverlapReranker

TENANT = TenantId("t")
HOUSES = BucketId("houses")
ENGLISH = analyser_for("english")
SCHEMA = Schema(bucket=HOUSES, fields=(SchemaField(name=FieldName("street"), type=FieldType.CATEGORY),))
QUESTION = "How is the heating of the cellar kept going in a frost?"
COLD = "Heating of the cellar: below the stairs, and the heating has a cellar of its own, going down to the yard."
WARM = "In a hard frost the caretaker keeps the heating going: he feeds the boiler of the house at dawn and at dusk."
OTHER = "The roof of the house is made of slate, and slate it is that keeps out the rain."


class WordCountReranker:
    """A reranker whose score is the number of times a word is in the text."""

    def __init__(self, word: str) -> None:
        self._word = word
        self.call_count = 0

    async def score_passages(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        self.call_count += 1
        return [float(text.count(self._word)) for text in texts]


class FailingReranker:
    """A reranker that always fails."""

    def __init__(self) -> None:
        self.call_count = 0

    async def score_passages(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        self.call_count += 1
        raise RerankerUnavailable("the model is gone")


class EndlessReranker:
    """A reranker that never returns."""

    async def score_passages(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        await asyncio.Event().wait()
        return []


def a_house(doc_id: str, text: str) -> Document:
    passage = Passage(start=0, end=len(text), page=1)
    return Document(
        doc_id=DocId(doc_id), title=doc_id, text=text, source="", values={}, passages=(passage,), digest=doc_id
    )


@pytest.fixture
async def houses(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    index = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    await index.set_schema(SCHEMA)
    await index.put(HOUSES, [a_house("cold", COLD), a_house("warm", WARM), a_house("other", OTHER)])
    yield index
    await index.close()


async def ask_question(index: EmbeddedIndex, reranker: Reranker | None, question: str = QUESTION) -> Answer:
    context = AgentContext(
        index=index.within_scope(Scope(tenant=TENANT, buckets=frozenset({HOUSES}), ignores_readers=True)),
        reasoner=RuleReasoner(),
        now=datetime(2031, 5, 9, tzinfo=UTC),
        limits=AnswerLimits(reranking_timeout=timedelta(0))
        if isinstance(reranker, EndlessReranker)
        else AnswerLimits(),
        reranker=reranker,
    )
    outcome = await answer(question, context)
    assert isinstance(outcome, Answer)
    return outcome


def document_ids_of(result: Answer) -> list[str]:
    return [hit.hit.doc_id for hit in result.hits]


def rerank_stages_of(result: Answer) -> list[TraceStage]:
    return [stage for stage in result.trace.stages if stage.name == "rerank"]


async def test_a_reranker_changes_which_passage_is_first(houses: EmbeddedIndex) -> None:
    without_reranker = await ask_question(houses, None)
    with_reranker = await ask_question(houses, WordCountReranker("boiler"))

    assert document_ids_of(without_reranker)[0] == "cold"
    assert document_ids_of(with_reranker)[0] == "warm"
    assert sorted(document_ids_of(with_reranker)) == sorted(document_ids_of(without_reranker))
    assert rerank_stages_of(without_reranker) == []
    assert [stage.fallback for stage in rerank_stages_of(with_reranker)] == [None]


async def test_a_reranker_gets_the_question_and_each_passage_with_its_title(houses: EmbeddedIndex) -> None:
    reranker = OverlapReranker()

    await ask_question(houses, reranker)

    ((question, texts),) = reranker.calls
    assert question == QUESTION
    assert {f"cold\n{COLD}", f"warm\n{WARM}"} <= set(texts)


@pytest.mark.parametrize(
    ("reranker", "fallback"),
    [(FailingReranker(), "rule: the reranker is unavailable"), (EndlessReranker(), "rule: the reranker is late")],
)
async def test_a_reranker_that_fails_or_is_late_does_not_change_the_order(
    houses: EmbeddedIndex, reranker: Reranker, fallback: str
) -> None:
    without_reranker, with_fallback = await ask_question(houses, None), await ask_question(houses, reranker)

    assert (with_fallback.text, with_fallback.hits) == (without_reranker.text, without_reranker.hits)
    assert [stage.fallback for stage in rerank_stages_of(with_fallback)] == [fallback]


async def test_a_reranker_that_failed_is_not_called_again_in_the_turn(houses: EmbeddedIndex) -> None:
    working, failing = WordCountReranker("boiler"), FailingReranker()
    two_questions = f"{QUESTION} And what is the roof of the house made of?"

    await ask_question(houses, working, two_questions)
    await ask_question(houses, failing, two_questions)

    assert (working.call_count, failing.call_count) == (2, 1)


def a_hit(number: int, text: str, score: float) -> FoundPassage:
    chunk, doc_id = ChunkId(f"d{number:02}#0"), DocId(f"d{number:02}")
    hit = PassageHit(
        doc_id=doc_id, bucket=HOUSES, chunk_id=chunk, title="", source="", page=None, start=0, end=len(text),
        text=text, score=score,
    )  # fmt: skip
    return FoundPassage(hit=hit, score=score, found_by=("text",))


ROOF = (QueryTerm(word="roof", stem=ENGLISH.extract_terms("roof")[0].text, weight=1.0, is_known=True),)


def test_passages_without_a_reranker_score_rank_behind() -> None:
    passages = [a_hit(n, f"passage {n}", 2.0 - n / 100) for n in range(RERANKED_PASSAGES + 2)]

    ranked = rerank_passages(passages, ROOF, {HOUSES: ENGLISH}, [float(n) for n in range(RERANKED_PASSAGES)])

    assert [passage.hit for passage in ranked[RERANKED_PASSAGES:]] == [
        passage.hit for passage in passages[RERANKED_PASSAGES:]
    ]
    assert ranked[0].hit == passages[RERANKED_PASSAGES - 1].hit


def test_equal_reranker_scores_change_nothing() -> None:
    passages = [a_hit(n, f"passage {n} of the roof"[: 12 + 7 * n], 1.0) for n in range(3)]

    assert rerank_passages(passages, ROOF, {HOUSES: ENGLISH}, [7.5] * 3) == rerank_passages(
        passages, ROOF, {HOUSES: ENGLISH}
    )


def test_scores_of_any_scale_are_normalized_to_0_to_1() -> None:
    assert normalize_scores([-11.0, -1.0, -6.0]) == [0.0, 1.0, 0.5]
    assert normalize_scores([3.0]) == [0.0]
    assert normalize_scores([]) == []
