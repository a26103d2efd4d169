"""A home with buckets that refer to one another, for questions within questions."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from agent.context import AgentContext
from agent.decomposition import PlannedQuestion, QuestionContext
from agent.loop import answer
from agent.outcome import Answer, Clarify
from agent.rules.reasoner import RuleReasoner
from storage.embedded.index import EmbeddedIndex
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.ingest.pipeline import ingest_files
from storage.search.bucket_parts import with_parts
from storage.search.ids import BucketId
from storage.search.index import RecordPageRequest, ScopedIndex
from storage.search.plan import Leg
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for
from tests.builders import TENANT

TABLES = {
    "regions": (
        "name,seat,bordering,area_km2\n"
        "Ostmark,Velm,Tarland; Hollin,5200\nTarland,Dree,Ostmark,800\nHollin,Sarn,Ostmark; Quent; Falk,3100\n"
        "Quent,Mola,Hollin; Falk,1400\nFalk,Onte,Hollin; Quent,950\n"
    ),
    "mines": (
        "mine,region,foreman,opened,depth_m\n"
        "Deepwell,Ostmark,Edda Krone,1911-04-01,410\nRedpit,Ostmark,Jon Albers,1987-09-15,120\n"
        "Coldvein,Tarland,Mira Stenz,1954-02-20,655\nSilverhope,Hollin,Otto Brand,2003-06-30,90\n"
    ),
    "workers": (
        "name,mine,trade,hired,wage_eur\n"
        "Edda Krone,Deepwell,fitter,2001-05-01,4100\nJon Albers,Redpit,blaster,2010-03-01,3900\n"
        "Mira Stenz,Coldvein,fitter,1999-08-01,4400\nOtto Brand,Silverhope,driver,2015-01-01,3600\n"
        "Kai Vogt,Deepwell,driver,2019-11-01,3100\nLena Pohl,Coldvein,blaster,2021-02-01,3300\n"
        "Pia Ross,Redpit,driver,2008-07-01,3500\nRolf Meck,Silverhope,fitter,2012-10-01,3700\n"
    ),
    "loads": (
        "load,mine,shipped,tonnes\n"
        "L-1,Deepwell,2026-01-10,40\nL-2,Redpit,2026-02-11,25\nL-3,Coldvein,2026-03-12,60\nL-4,Silverhope,2026-04-13,15\n"
        "L-5,Deepwell,2026-05-14,35\nL-6,Coldvein,2026-06-15,20\nL-7,Redpit,2026-07-16,30\nL-8,Silverhope,2026-08-17,45\n"
    ),
}


@dataclass(frozen=True, slots=True)
class MiningHome:
    index: ScopedIndex
    context: QuestionContext

    async def plan_question(self, question: str) -> PlannedQuestion:
        return cast(PlannedQuestion, await RuleReasoner().decompose_question(question, self.context))

    async def find_titles(self, leg: Leg) -> set[str]:
        """Returns the first cell of each row that the leg finds."""
        request = RecordPageRequest(leg.search)
        records = (await self.index.answer_requests(request))[request].records
        return {str(next(iter(record.values.values()))) for record in records}


@asynccontextmanager
async def open_mining_home(folder: Path, buckets: frozenset[str] = frozenset(TABLES)) -> AsyncGenerator[MiningHome]:
    """Opens a home with all the tables, within a scope that grants `buckets`."""
    async with open_home_of(folder, {f"{name}.csv": text for name, text in TABLES.items()}, buckets) as home:
        yield home


@asynccontextmanager
async def open_home_of(folder: Path, files: Mapping[str, str], buckets: frozenset[str]) -> AsyncGenerator[MiningHome]:
    """Opens a home with a bucket of each file, or folder of files, within a scope that grants `buckets`."""
    index = await EmbeddedIndex.open(folder / "index", tenant=TENANT, analysers=analyser_for, embedder=None)
    try:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        for path in sorted({folder / Path(name).parts[0] for name in files}):
            await ingest_files(index, [path], extractor=RuleExtractor(), bucket=BucketId(path.stem))
        granted = with_parts(set(map(BucketId, buckets)), await index.load_bucket_sizes())
        scope = Scope(tenant=TENANT, buckets=granted, ignores_readers=True)
        scoped = index.within_scope(scope)
        schemas = await scoped.load_schemas()
        context = QuestionContext(
            schemas=schemas,
            vocabulary=await scoped.load_vocabulary(),
            analysers={bucket: scoped.analyser_for(bucket) for bucket in schemas},
            now=datetime(2026, 11, 22, tzinfo=UTC),
            locale="en",
            last_plan=None,
        )
        yield MiningHome(scoped, context)
    finally:
        await index.close()


async def answer_in(home: MiningHome, question: str) -> Answer | Clarify:
    """Answers a question by the rules; anything else than an answer or a clarification fails."""
    outcome = await answer(question, AgentContext(index=home.index, reasoner=RuleReasoner(), now=home.context.now))
    assert isinstance(outcome, Answer | Clarify)
    return outcome
