"""What a question asks of OpenSearch, counted: round trips and searches cost, whatever they find."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer
from agent.rules.reasoner import RuleReasoner
from bot.demo.corpus import DemoCorpus, generate_corpus, write_corpus
from storage.embedder import WordLlamaEmbedder
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.ingest.pipeline import ingest_files
from storage.search.index import ScopedIndex
from storage.search.scope import Scope
from tests.builders import TENANT
from tests.scenarios.questions_by_kind import QUESTIONS_BY_KIND
from tests.stand_ins.recorded_cluster import RecordedConnection, RecordedIndex, open_recorded_index

_MAX_RECORDS = 900  # of each bucket: enough for every kind of question, and quickly loaded


@dataclass(frozen=True, slots=True)
class QuestionCost:
    round_trips: int
    searches: int


# The highest of the questions of a kind. One round trip is for the vocabulary, and each has a search for the state.
_MAX_COSTS = {
    "look-up of a value": QuestionCost(3, 12),
    "look-up in text": QuestionCost(2, 10),
    "text of all buckets": QuestionCost(3, 9),  # 2 and 6 with an answer; else the nearest documents are loaded, too
    "steps": QuestionCost(3, 12),
    "searched again": QuestionCost(4, 21),
    "list": QuestionCost(3, 7),
    "list, too long": QuestionCost(3, 7),
    "nothing found": QuestionCost(4, 12),
    "two readings": QuestionCost(3, 12),
    "number": QuestionCost(2, 6),
    "groups": QuestionCost(2, 6),
}


def a_small_corpus() -> DemoCorpus:
    corpus = generate_corpus()
    buckets = {name: replace(bucket, records=bucket.records[:_MAX_RECORDS]) for name, bucket in corpus.buckets.items()}
    return replace(corpus, buckets=buckets)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def recorded(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[RecordedIndex]:
    folder, corpus = tmp_path_factory.mktemp("corpus"), a_small_corpus()
    async with open_recorded_index(
        opensearch_url, tenant=TENANT, installation=f"test-{uuid4().hex}", embedder=WordLlamaEmbedder()
    ) as opened:
        for path, bucket in zip(write_corpus(corpus, folder), corpus.buckets.values(), strict=True):
            await ingest_files(opened.index, [path], extractor=RuleExtractor(), schema=bucket.schema)
        yield opened


async def _measure_question(text: str, scoped: ScopedIndex, connection: RecordedConnection) -> QuestionCost:
    await scoped.load_vocabulary()
    connection.take_requests()
    await answer(text, AgentContext(index=scoped, reasoner=RuleReasoner(), now=datetime(2026, 1, 2, tzinfo=UTC)))
    requests = connection.take_requests()
    return QuestionCost(len(requests), sum(request.searches for request in requests))


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("kind", QUESTIONS_BY_KIND)
async def test_a_question_costs_no_more_searches_than_its_kind_needs(kind: str, recorded: RecordedIndex) -> None:
    buckets = frozenset(await recorded.index.load_bucket_sizes())
    scoped = recorded.index.within_scope(Scope(tenant=TENANT, buckets=buckets, ignores_readers=True))

    costs = {text: await _measure_question(text, scoped, recorded.connection) for text in QUESTIONS_BY_KIND[kind]}

    assert max(cost.round_trips for cost in costs.values()) <= _MAX_COSTS[kind].round_trips, costs
    assert max(cost.searches for cost in costs.values()) <= _MAX_COSTS[kind].searches, costs
