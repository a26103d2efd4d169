"""Opens the demo corpus in a separate embedded index."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.application import Application
from bot.bootstrap import open_application
from bot.demo.corpus import DemoCorpus, write_corpus
from bot.settings import Settings, load_settings
from storage.embedded.index import EmbeddedIndex
from storage.embedder import WordLlamaEmbedder
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.ingest.pipeline import ingest_files
from storage.search.ids import TenantId
from storage.search.index import SearchIndex
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for


def settings_in(folder: Path) -> Settings:
    return load_settings(folder / "home", {}).settings


@asynccontextmanager
async def open_demo_index(settings: Settings, corpus: DemoCorpus, folder: Path) -> AsyncGenerator[EmbeddedIndex]:
    """An index with every bucket of the corpus. The corpus files are written to `folder`."""
    index = await EmbeddedIndex.open(
        settings.index_path, tenant=TenantId(settings.tenant), analysers=analyser_for, embedder=WordLlamaEmbedder()
    )
    try:
        await ingest_corpus(index, corpus, folder)
        yield index
    finally:
        await index.close()


async def ingest_corpus(index: SearchIndex, corpus: DemoCorpus, folder: Path) -> None:
    """Puts every bucket of the corpus into the index. The corpus files are written to `folder`."""
    for path, bucket in zip(write_corpus(corpus, folder), corpus.buckets.values(), strict=True):
        await ingest_files(index, [path], extractor=RuleExtractor(), schema=bucket.schema)


async def operator_scope_of(index: SearchIndex, settings: Settings) -> Scope:
    """The scope of the operator: all buckets, without regard to readers."""
    return Scope(
        tenant=TenantId(settings.tenant), buckets=frozenset(await index.load_bucket_states()), ignores_readers=True
    )


@asynccontextmanager
async def open_bot_over(index: SearchIndex, settings: Settings) -> AsyncGenerator[Application]:
    async with open_application(settings, index=index) as bot:
        yield bot
