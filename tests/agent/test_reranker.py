"""A reranker has its say in the order of passages; without it, late or failing, the order stays as it was."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.context import Context, Limits
from agent.errors import RerankerUnavailable
from agent.loop import answer
from agent.outcome import Answer, FoundPassage, Stage
from agent.prune import RERANKED, reranked
from agent.rerank import Reranker, Weighted, relative
from agent.rules.reasoner import RuleReasoner
from storage.analysis import analyser_for
from storage.embedded.index import EmbeddedIndex
from storage.search.documents import Document, Passage
from storage.search.ids import BucketId, ChunkId, DocId, FieldName, TenantId
from storage.search.index import Hit
from storage.search.schema import Field, FieldType, Schema
from storage.search.scope import Scope
from tests.stand_ins.overlap import OverlapReranker

TENANT = TenantId("t")
HOUSES = BucketId("houses")
ENGLISH = analyser_for("english")
SCHEMA = Schema(bucket=HOUSES, fields=(Field(name=FieldName("street"), type=FieldType.CATEGORY),))
QUESTION = "How is the heating of the cellar kept going in a frost?"
COLD = "Heating of the cellar: the heating cellar is below the stairs, and the heating has a cellar of its own."
WARM = "In a hard frost the caretaker is who keeps it going: he feeds the boiler of the house at dawn and at dusk."
OTHER = "The roof of the house is made of slate, and slate it is that keeps out the rain."


class Opinion:
    """A reranker that likes the texts with one word best."""

    def __init__(self, word: str) -> None:
        self._word = word
        self.asked = 0

    async def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        self.asked += 1
        return [float(text.count(self._word)) for text in texts]


class OutOfOrder:
    """A reranker whose model is gone."""

    def __init__(self) -> None:
        self.asked = 0

    async def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        self.asked += 1
        raise RerankerUnavailable("the model is gone")


class Endless:
    """A reranker that never comes back."""

    async def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
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


async def asked(index: EmbeddedIndex, reranker: Reranker | None, question: str = QUESTION) -> Answer:
    context = Context(
        index=index.within(Scope(tenant=TENANT, buckets=frozenset({HOUSES}), all_readers=True)),
        reasoner=RuleReasoner(),
        now=datetime(2031, 5, 9, tzinfo=UTC),
        limits=Limits(reranking=timedelta(0)) if isinstance(reranker, Endless) else Limits(),
        reranker=reranker,
    )
    outcome = await answer(question, context)
    assert isinstance(outcome, Answer)
    return outcome


def documents(answered: Answer) -> list[str]:
    return [one.hit.doc_id for one in answered.hits]


def rerankings(answered: Answer) -> list[Stage]:
    return [one for one in answered.trace.stages if one.name == "rerank"]


async def test_a_reranker_changes_which_passage_is_first(houses: EmbeddedIndex) -> None:
    without = await asked(houses, None)
    judged = await asked(houses, Opinion("boiler"))

    assert documents(without)[0] == "cold"
    assert documents(judged)[0] == "warm"
    assert sorted(documents(judged)) == sorted(documents(without))
    assert rerankings(without) == []
    assert [one.fallback for one in rerankings(judged)] == [None]


async def test_it_reads_the_question_and_each_passage_under_its_title(houses: EmbeddedIndex) -> None:
    reranker = OverlapReranker()

    await asked(houses, reranker)

    ((question, texts),) = reranker.asked
    assert question == QUESTION
    assert {f"cold\n{COLD}", f"warm\n{WARM}"} <= set(texts)


@pytest.mark.parametrize(
    ("reranker", "said"),
    [(OutOfOrder(), "rule: the reranker is unavailable"), (Endless(), "rule: the reranker is late")],
)
async def test_one_that_fails_or_is_late_leaves_the_order_as_it_was(
    houses: EmbeddedIndex, reranker: Reranker, said: str
) -> None:
    without, fallen_back = await asked(houses, None), await asked(houses, reranker)

    assert (fallen_back.text, fallen_back.hits) == (without.text, without.hits)
    assert [one.fallback for one in rerankings(fallen_back)] == [said]


async def test_one_that_failed_is_not_asked_again_in_the_turn(houses: EmbeddedIndex) -> None:
    sound, broken = Opinion("boiler"), OutOfOrder()
    twofold = f"{QUESTION} And what is the roof of the house made of?"

    await asked(houses, sound, twofold)
    await asked(houses, broken, twofold)

    assert (sound.asked, broken.asked) == (2, 1)


def a_hit(number: int, text: str, score: float) -> FoundPassage:
    chunk, doc_id = ChunkId(f"d{number:02}#0"), DocId(f"d{number:02}")
    hit = Hit(
        doc_id=doc_id, bucket=HOUSES, chunk_id=chunk, title="", source="", page=None, start=0, end=len(text),
        text=text, score=score,
    )  # fmt: skip
    return FoundPassage(hit=hit, score=score, found_by=("text",))


ROOF = (Weighted(word="roof", stem=ENGLISH.terms("roof")[0].text, weight=1.0, known=True),)


def test_passages_beyond_those_judged_stay_behind() -> None:
    found = [a_hit(n, f"passage {n}", 2.0 - n / 100) for n in range(RERANKED + 2)]

    ranked = reranked(found, ROOF, {HOUSES: ENGLISH}, [float(n) for n in range(RERANKED)])

    assert [one.hit for one in ranked[RERANKED:]] == [one.hit for one in found[RERANKED:]]
    assert ranked[0].hit == found[RERANKED - 1].hit


def test_a_judgement_that_tells_nothing_apart_changes_nothing() -> None:
    found = [a_hit(n, f"passage {n} of the roof"[: 12 + 7 * n], 1.0) for n in range(3)]

    assert reranked(found, ROOF, {HOUSES: ENGLISH}, [7.5] * 3) == reranked(found, ROOF, {HOUSES: ENGLISH})


def test_scores_of_any_scale_count_from_the_least_to_the_best() -> None:
    assert relative([-11.0, -1.0, -6.0]) == [0.0, 1.0, 0.5]
    assert relative([3.0]) == [0.0]
    assert relative([]) == []
