"""Every scenario question is answered as the generator's own records say, on two seeds and under other names."""

import asyncio
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.context import Context
from agent.loop import answer
from agent.rules.reasoner import RuleReasoner
from bot.demo.corpus import DEFAULT_SEED, Corpus, generate, write
from bot.demo.naming import ORIGINAL, RENAMED, Naming
from storage.analysis import analyser_for
from storage.embedded.index import EmbeddedIndex
from storage.embedder import WordLlamaEmbedder
from storage.ingest import schema_file
from storage.ingest.pipeline import ingest
from storage.search.ids import TenantId
from storage.search.index import SearchIndex
from storage.search.scope import Scope
from tests.scenarios.checking import fault_in
from tests.scenarios.questions import Need, questions
from tests.scenarios.slack_messages import untaken

TENANT = TenantId("default")
NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
CORPORA: list[tuple[int, Naming]] = [
    (DEFAULT_SEED, ORIGINAL),
    (DEFAULT_SEED, RENAMED),
    (7, ORIGINAL),
    (7, RENAMED),
]


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A corpus, and the folder of the embedded index that holds it."""

    corpus: Corpus
    folder: Path
    reasoner: RuleReasoner


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(one, id=f"{one[0]}-{'renamed' if one[1] is RENAMED else 'original'}",
                     marks=pytest.mark.xdist_group(f"questions-{at}"))
        for at, one in enumerate(CORPORA)
    ],
)  # fmt: skip
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    seed, names = request.param
    corpus = generate(seed, names=names)
    folder = tmp_path_factory.mktemp("questions")
    asyncio.run(_load(corpus, folder))
    return Loaded(corpus=corpus, folder=folder / "index", reasoner=RuleReasoner())


async def _load(corpus: Corpus, folder: Path) -> None:
    index = await opened(folder / "index")
    try:
        await fill(index, corpus, folder)
    finally:
        await index.close()


async def fill(index: SearchIndex, corpus: Corpus, folder: Path) -> None:
    for path in write(corpus, folder):
        schema = schema_file.read(path.with_suffix(".schema.yaml"))
        report = await ingest(index, [path], schema=schema)
        assert report.failed == 0


async def opened(folder: Path) -> EmbeddedIndex:
    return await EmbeddedIndex.open(folder, tenant=TENANT, analysers=analyser_for, embedder=WordLlamaEmbedder())


async def _faults(index: SearchIndex, corpus: Corpus, reasoner: RuleReasoner) -> list[str]:
    scope = Scope(tenant=TENANT, buckets=frozenset(await index.buckets()), all_readers=True)
    found: list[str] = []
    for question in questions(corpus):
        context = Context(index=index.within(scope), reasoner=reasoner, now=NOW)
        outcome = await answer(question.text, context)
        fault = fault_in(outcome, question) or untaken(outcome)
        if fault is not None:
            found.append(f"{question.id}: {question.text}\n    {fault}")
    return found


async def test_every_question_is_answered_as_the_records_say(loaded: Loaded) -> None:
    index = await opened(loaded.folder)
    try:
        faults = await _faults(index, loaded.corpus, loaded.reasoner)
    finally:
        await index.close()
    assert not faults, "\n".join(faults)


@pytest.mark.servers
async def test_opensearch_answers_every_question_too(opensearch_url: str, tmp_path: Path) -> None:
    from storage.opensearch.index import OpenSearchIndex

    corpus, installation = generate(), f"questions-{uuid.uuid4().hex[:12]}"  # the server may be shared
    index = await OpenSearchIndex.open(
        [opensearch_url],
        tenant=TENANT,
        analysers=analyser_for,
        embedder=WordLlamaEmbedder(),
        installation=installation,
    )
    try:
        await fill(index, corpus, tmp_path)
        faults = await _faults(index, corpus, RuleReasoner())
        for bucket in await index.buckets():
            await index.drop_bucket(bucket)
    finally:
        await index.close()
    assert not faults, "\n".join(faults)


def test_at_least_twenty_questions_need_more_than_a_filter_of_their_words() -> None:
    asked = questions(generate())
    assert len(asked) >= 60
    assert sum(bool(one.needs) for one in asked) >= 20
    assert frozenset[Need]().union(*(one.needs for one in asked)) == frozenset(Need)
