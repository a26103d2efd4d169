"""Index handles for tests: each test has its own index in the session's OpenSearch."""

import asyncio
import os
import urllib.request
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TypeAlias
from uuid import uuid4

import pytest
import pytest_asyncio

from storage.embedder import Embedder
from storage.opensearch.index import OpenSearchIndex
from storage.text.snowball_analyser import analyser_for
from tests.builders import TENANT

IndexOpener: TypeAlias = Callable[..., Awaitable[OpenSearchIndex]]

_SHARED_FROM = 0 if os.environ.get("PARLEY_TEST_INDEX_SHARED") == "1" else None  # unless a test says it


@pytest.fixture
def installation() -> str:
    """The prefix of the names of the test's indexes, which no other test has."""
    return f"test-{uuid4().hex}"


@pytest_asyncio.fixture
async def open_index(opensearch_url: str, installation: str) -> AsyncGenerator[IndexOpener]:
    """Opens further handles on the test's index, as other processes would.

    `url` may be a proxy to the server. `shard_count`: of new buckets. `suffix`: of the installation, for another
    index. `shared_from`: with so many other buckets, a small one shares an index.
    """
    async with AsyncExitStack() as stack:

        async def open_handle(
            url: str = opensearch_url,
            *,
            shard_count: int = 1,
            max_scanned_passages: int = 1_000_000,
            suffix: str = "",
            embedder: Embedder | None = None,
            shared_from: int | None = _SHARED_FROM,
        ) -> OpenSearchIndex:
            index = await OpenSearchIndex.open(
                [url],
                tenant=TENANT,
                analysers=analyser_for,
                embedder=embedder,
                installation=f"{installation}{suffix}",
                shard_count=shard_count,
                max_scanned_passages=max_scanned_passages,
                shared_from=shared_from,
            )
            stack.push_async_callback(index.close)
            return index

        yield open_handle
    request = urllib.request.Request(f"{opensearch_url}/{installation}*", method="DELETE")
    await asyncio.to_thread(lambda: urllib.request.urlopen(request).close())
