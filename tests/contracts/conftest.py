"""Fixtures for the contract tests: every implementation of `SearchIndex`, empty at the start of each test."""

import asyncio
import os
import urllib.request
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import pytest
import pytest_asyncio

from storage.embedder import Embedder, WordLlamaEmbedder
from storage.search.ids import BucketId
from storage.search.index import SearchIndex
from storage.text.snowball_analyser import analyser_for
from tests.builders import TENANT
from tests.contracts.reindexed import ReindexedIndex
from tests.contracts.split import SplitIndex

IndexOpener: TypeAlias = Callable[[], Awaitable[SearchIndex]]
_OPENERS = ["embedded", "joined", pytest.param("opensearch", marks=pytest.mark.servers)]
# On a test: an index in three shards is held to it as well, and a bucket in a shared index.
also_in_three_shards = pytest.mark.parametrize(
    "opener",
    [
        *_OPENERS,
        pytest.param("opensearch_in_three_shards", marks=pytest.mark.servers),
        pytest.param("opensearch_in_shared_index", marks=pytest.mark.servers),
    ],
    indirect=True,
)


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return WordLlamaEmbedder()


@pytest_asyncio.fixture
async def embedded(tmp_path: Path, embedder: Embedder) -> AsyncIterator[IndexOpener]:
    from storage.embedded.index import EmbeddedIndex

    async with AsyncExitStack() as stack:

        async def open_index() -> SearchIndex:
            index = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=embedder)
            stack.push_async_callback(index.close)
            return index

        yield open_index


@pytest_asyncio.fixture
async def opensearch(opensearch_url: str, embedder: Embedder) -> AsyncIterator[IndexOpener]:
    shard_count = int(os.environ.get("PARLEY_TEST_INDEX_SHARDS", "1"))
    shared_from = 0 if os.environ.get("PARLEY_TEST_INDEX_SHARED") == "1" else None
    async with _opensearch_opener(opensearch_url, embedder, shard_count, shared_from) as open_index:
        yield open_index


@pytest_asyncio.fixture
async def opensearch_in_shared_index(opensearch_url: str, embedder: Embedder) -> AsyncIterator[IndexOpener]:
    async with _opensearch_opener(opensearch_url, embedder, 1, 0) as open_index:
        yield open_index


@pytest_asyncio.fixture
async def opensearch_in_three_shards(opensearch_url: str, embedder: Embedder) -> AsyncIterator[IndexOpener]:
    async with _opensearch_opener(opensearch_url, embedder, 3) as open_index:
        yield open_index


@asynccontextmanager
async def _opensearch_opener(
    opensearch_url: str, embedder: Embedder, shard_count: int, shared_from: int | None = None
) -> AsyncGenerator[IndexOpener]:
    from storage.opensearch.index import OpenSearchIndex

    installation = f"contract-{uuid.uuid4().hex[:12]}"  # the server may be shared
    async with AsyncExitStack() as stack:

        async def open_index() -> SearchIndex:
            index = await OpenSearchIndex.open(
                [opensearch_url],
                tenant=TENANT,
                analysers=analyser_for,
                embedder=embedder,
                installation=installation,
                shard_count=shard_count,
                shared_from=shared_from,
            )
            stack.push_async_callback(index.close)
            return index

        yield open_index
    # Also the registry: hundreds of indexes that are left over slow down the server for the tests that follow.
    request = urllib.request.Request(f"{opensearch_url}/{installation}-*", method="DELETE")
    await asyncio.to_thread(lambda: urllib.request.urlopen(request).close())


@pytest_asyncio.fixture
async def joined(embedded: IndexOpener, tmp_path: Path, embedder: Embedder) -> AsyncIterator[IndexOpener]:
    """Opens a `SplitIndex`: buckets that tests search together with another are in the secondary index."""
    from storage.embedded.index import EmbeddedIndex

    secondary_buckets, shared_buckets = frozenset(map(BucketId, ("others", "closed", "none", "gone"))), set[BucketId]()
    async with AsyncExitStack() as stack:

        async def open_index() -> SearchIndex:
            secondary = await EmbeddedIndex.open(
                tmp_path / "beside", tenant=TENANT, analysers=analyser_for, embedder=embedder
            )
            stack.push_async_callback(secondary.close)
            return SplitIndex(
                await embedded(), secondary, secondary_buckets=secondary_buckets, shared_buckets=shared_buckets
            )

        yield open_index


@pytest.fixture(params=_OPENERS)
def opener(request: pytest.FixtureRequest) -> IndexOpener:
    """Returns a function that opens the index of the test once more, as another process does."""
    open_index: IndexOpener = request.getfixturevalue(request.param)
    if os.environ.get("PARLEY_TEST_REINDEX") != "1":
        return open_index

    async def open_reindexed() -> SearchIndex:
        return ReindexedIndex(await open_index())

    return open_reindexed


@pytest_asyncio.fixture
async def index(opener: IndexOpener) -> SearchIndex:
    return await opener()
