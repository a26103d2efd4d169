"""A small index of rows and texts, and a context for questions to it."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from agent.context import AgentContext
from agent.rules.reasoner import RuleReasoner
from storage.embedded.index import EmbeddedIndex
from storage.embedder import WordLlamaEmbedder
from storage.search.documents import Document, Passage
from storage.search.ids import DocId, FieldName, TenantId
from storage.search.schema import Schema
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for

_TENANT = TenantId("t")


def build_document(title: str, text: str, **values: str | float) -> Document:
    """Returns a document of one passage; its id is the title in lower case, with hyphens."""
    return Document(
        doc_id=DocId(title.casefold().replace(" ", "-")),
        title=title,
        text=text,
        values={FieldName(name): value for name, value in values.items()},
        passages=(Passage(start=0, end=len(text)),),
    )


@asynccontextmanager
async def open_small_index(
    folder: Path, buckets: Sequence[tuple[Schema, Sequence[Document]]]
) -> AsyncGenerator[AgentContext]:
    """Loads the buckets with word vectors, and yields a context in which the rules answer on 9 May 2031."""
    embedder = WordLlamaEmbedder()
    index = await EmbeddedIndex.open(folder, tenant=_TENANT, analysers=analyser_for, embedder=embedder)
    for schema, documents in buckets:
        await index.set_schema(schema)
        await index.put(schema.bucket, documents)
    scope = Scope(tenant=_TENANT, buckets=frozenset(schema.bucket for schema, _ in buckets), ignores_readers=True)
    now = datetime(2031, 5, 9, tzinfo=UTC)
    yield AgentContext(index=index.within_scope(scope), reasoner=RuleReasoner(embedder), embedder=embedder, now=now)
    await index.close()
