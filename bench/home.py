"""The demo corpus in an embedded index of its own."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.bootstrap import Bot, build_bot
from bot.demo.corpus import Corpus, write
from bot.settings import Settings, load_settings
from storage.analysis import analyser_for
from storage.embedded.index import EmbeddedIndex
from storage.embedder import WordLlamaEmbedder
from storage.ingest.pipeline import ingest
from storage.search.ids import TenantId
from storage.search.index import SearchIndex
from storage.search.scope import Scope


def settings_in(folder: Path) -> Settings:
    return load_settings(folder / "home", {}).settings


@asynccontextmanager
async def loaded_index(settings: Settings, corpus: Corpus, folder: Path) -> AsyncGenerator[EmbeddedIndex]:
    """Holds every bucket of the corpus. `folder` takes its files."""
    index = await EmbeddedIndex.open(
        settings.index_path, tenant=TenantId(settings.tenant), analysers=analyser_for, embedder=WordLlamaEmbedder()
    )
    try:
        for path, bucket in zip(write(corpus, folder), corpus.buckets.values(), strict=True):
            await ingest(index, [path], schema=bucket.schema)
        yield index
    finally:
        await index.close()


async def everything(index: SearchIndex, settings: Settings) -> Scope:
    """What the operator sees."""
    return Scope(tenant=TenantId(settings.tenant), buckets=frozenset(await index.buckets()), all_readers=True)


@asynccontextmanager
async def bot_over(index: SearchIndex, settings: Settings) -> AsyncGenerator[Bot]:
    async with build_bot(settings, index=index) as bot:
        yield bot
