"""Every implementation of `SearchIndex`, opened for one test and empty."""

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypeAlias

import pytest
import pytest_asyncio

from storage.analysis import analyser_for
from storage.embedder import Embedder, WordLlamaEmbedder
from storage.search.ids import BucketId
from storage.search.index import SearchIndex
from tests.builders import TENANT
from tests.contracts.split import SplitIndex

Opener: TypeAlias = Callable[[], Awaitable[SearchIndex]]


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return WordLlamaEmbedder()


@pytest_asyncio.fixture
async def embedded(tmp_path: Path, embedder: Embedder) -> AsyncIterator[Opener]:
    from storage.embedded.index import EmbeddedIndex

    async with AsyncExitStack() as stack:

        async def opened() -> SearchIndex:
            index = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=embedder)
            stack.push_async_callback(index.close)
            return index

        yield opened


@pytest_asyncio.fixture
async def opensearch(opensearch_url: str, embedder: Embedder) -> AsyncIterator[Opener]:
    from storage.opensearch.index import OpenSearchIndex

    installation = f"contract-{uuid.uuid4().hex[:12]}"  # the server may be shared
    async with AsyncExitStack() as stack:

        async def opened() -> SearchIndex:
            index = await OpenSearchIndex.open(
                [opensearch_url],
                tenant=TENANT,
                analysers=analyser_for,
                embedder=embedder,
                installation=installation,
            )
            stack.push_async_callback(index.close)
            return index

        yield opened
        last = await opened()
        for bucket in await last.buckets():
            await last.drop_bucket(bucket)


@pytest_asyncio.fixture
async def joined(embedded: Opener, tmp_path: Path, embedder: Embedder) -> AsyncIterator[Opener]:
    """The buckets that tests search together with another lie in an index beside."""
    from storage.embedded.index import EmbeddedIndex

    apart, shared = frozenset(map(BucketId, ("others", "closed", "none", "gone"))), set[BucketId]()
    async with AsyncExitStack() as stack:

        async def opened() -> SearchIndex:
            beside = await EmbeddedIndex.open(
                tmp_path / "beside", tenant=TENANT, analysers=analyser_for, embedder=embedder
            )
            stack.push_async_callback(beside.close)
            return SplitIndex(await embedded(), beside, apart=apart, shared=shared)

        yield opened


@pytest.fixture(params=["embedded", "joined", pytest.param("opensearch", marks=pytest.mark.servers)])
def opener(request: pytest.FixtureRequest) -> Opener:
    """Opens one more handle on the one index of the test, as another process would."""
    return request.getfixturevalue(request.param)


@pytest_asyncio.fixture
async def index(opener: Opener) -> SearchIndex:
    return await opener()
