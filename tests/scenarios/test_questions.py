"""Every scenario question gets the result expected from the generator's records, for two seeds and two namings."""

import asyncio
import os
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.context import AgentContext
from agent.loop import answer, load_question_context
from agent.outcome import Clarify, Outcome
from agent.rules.reasoner import RuleReasoner
from bot.demo.corpus import DEFAULT_SEED, DemoCorpus, generate_corpus, write_corpus
from bot.demo.naming import ORIGINAL_NAMING, CorpusNaming
from storage.embedded.index import EmbeddedIndex
from storage.embedder import WordLlamaEmbedder
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.ingest.pipeline import ingest_files
from storage.ingest.schemas import schema_file
from storage.search.ids import TenantId
from storage.search.index import SearchIndex
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for
from tests.scenarios.alternative_naming import ALTERNATIVE_NAMING
from tests.scenarios.checking import fault_in
from tests.scenarios.questions import QuestionNeed, questions
from tests.scenarios.surfaces.rendering import rendering_fault_of

TENANT = TenantId("default")
GOLDEN_FORMS = Path(__file__).parents[1] / "golden" / "forms" / "recognised.txt"
NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
_MAX_ROUND_TRIPS = 3
CORPORA: list[tuple[int, CorpusNaming]] = [
    (DEFAULT_SEED, ORIGINAL_NAMING),
    (DEFAULT_SEED, ALTERNATIVE_NAMING),
    (7, ORIGINAL_NAMING),
    (7, ALTERNATIVE_NAMING),
]


@dataclass(frozen=True, kw_only=True)
class QuestionCorpus:
    """A corpus, and the folder of its embedded index."""

    corpus: DemoCorpus
    folder: Path
    reasoner: RuleReasoner


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(
            (seed, naming),
            id=f"{seed}-{'renamed' if naming is ALTERNATIVE_NAMING else 'original'}",
            marks=pytest.mark.xdist_group(f"questions-{number}"),
        )
        for number, (seed, naming) in enumerate(CORPORA)
    ],
)
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> QuestionCorpus:
    seed, names = request.param
    corpus = generate_corpus(seed, naming=names)
    folder = tmp_path_factory.mktemp("questions")
    asyncio.run(_load_corpus(corpus, folder))
    return QuestionCorpus(corpus=corpus, folder=folder / "index", reasoner=RuleReasoner())


async def _load_corpus(corpus: DemoCorpus, folder: Path) -> None:
    index = await open_index(folder / "index")
    try:
        await fill_index(index, corpus, folder)
    finally:
        await index.close()


async def fill_index(index: SearchIndex, corpus: DemoCorpus, folder: Path) -> None:
    for path in write_corpus(corpus, folder):
        schema = schema_file.read_schema_file(path.with_suffix(".schema.yaml"))
        report = await ingest_files(index, [path], extractor=RuleExtractor(), schema=schema)
        assert report.failed == 0


async def open_index(folder: Path) -> EmbeddedIndex:
    return await EmbeddedIndex.open(folder, tenant=TENANT, analysers=analyser_for, embedder=WordLlamaEmbedder())


async def _faults_of(index: SearchIndex, corpus: DemoCorpus, reasoner: RuleReasoner) -> list[str]:
    scope = Scope(tenant=TENANT, buckets=frozenset(await index.load_bucket_states()), ignores_readers=True)
    faults: list[str] = []
    for question in questions(corpus):
        context = AgentContext(index=index.within_scope(scope), reasoner=reasoner, now=NOW)
        outcome = await answer(question.text, context)
        fault = fault_in(outcome, question) or rendering_fault_of(outcome) or _round_trip_fault_of(outcome)
        if fault is not None:
            faults.append(f"{question.id}: {question.text}\n    {fault}")
    return faults


def _round_trip_fault_of(outcome: Outcome) -> str | None:
    """A clarification takes at most two round trips beyond its first search."""
    if not isinstance(outcome, Clarify) or outcome.trace.round_trips <= _MAX_ROUND_TRIPS:
        return None
    return f"{outcome.trace.round_trips} round trips"


async def test_every_question_gets_the_expected_result(loaded: QuestionCorpus) -> None:
    index = await open_index(loaded.folder)
    try:
        faults = await _faults_of(index, loaded.corpus, loaded.reasoner)
    finally:
        await index.close()
    assert not faults, "\n".join(faults)


async def test_each_question_is_recognised_as_the_golden_file_says(loaded: QuestionCorpus) -> None:
    """Winner and runner-up of the recognisers, with their forms; set `PARLEY_WRITE_GOLDEN` to write the file anew."""
    if loaded.corpus.seed != DEFAULT_SEED or loaded.corpus.naming is not ORIGINAL_NAMING:
        pytest.skip("the golden file is of the original corpus")
    index = await open_index(loaded.folder)
    try:
        lines = await _recognised_forms(index, loaded.corpus, loaded.reasoner)
    finally:
        await index.close()
    text = "\n".join(lines) + "\n"
    if "PARLEY_WRITE_GOLDEN" in os.environ:
        GOLDEN_FORMS.write_text(text, encoding="utf-8")
    print(text)  # noqa: T201 - to be read with `pytest -s`

    assert text == GOLDEN_FORMS.read_text(encoding="utf-8")


async def _recognised_forms(index: SearchIndex, corpus: DemoCorpus, reasoner: RuleReasoner) -> list[str]:
    """A line for each question: its text, the winner, and who would have known it too."""
    scope = Scope(tenant=TENANT, buckets=frozenset(await index.load_bucket_states()), ignores_readers=True)
    context = AgentContext(index=index.within_scope(scope), reasoner=reasoner, now=NOW)
    question_context = await load_question_context(context)
    lines: list[str] = []
    for question in questions(corpus):
        bucket, known = reasoner.recognise_forms(question.text, question_context)
        (winner, form), (runner_up, other_form) = known[0], known[1] if len(known) > 1 else ("nothing", None)
        second = f"{runner_up} ({other_form.tag})" if other_form is not None else runner_up
        lines.append(f"{question.text} -> {bucket}: {winner} ({form.tag}), before {second}")
    return lines


@pytest.mark.servers
async def test_every_question_gets_the_expected_result_on_opensearch(opensearch_url: str, tmp_path: Path) -> None:
    from storage.opensearch.index import OpenSearchIndex

    corpus, installation = generate_corpus(), f"questions-{uuid.uuid4().hex[:12]}"  # the server may be shared
    index = await OpenSearchIndex.open(
        [opensearch_url],
        tenant=TENANT,
        analysers=analyser_for,
        embedder=WordLlamaEmbedder(),
        installation=installation,
    )
    try:
        await fill_index(index, corpus, tmp_path)
        faults = await _faults_of(index, corpus, RuleReasoner())
        for bucket in await index.load_bucket_states():
            await index.drop_bucket(bucket)
    finally:
        await index.close()
    assert not faults, "\n".join(faults)


def test_at_least_twenty_questions_need_more_than_a_filter() -> None:
    all_questions = questions(generate_corpus())
    assert len(all_questions) >= 60
    assert sum(bool(question.needs) for question in all_questions) >= 20
    assert frozenset[QuestionNeed]().union(*(question.needs for question in all_questions)) == frozenset(QuestionNeed)
