"""Handles on one index of the test's own in the session's OpenSearch."""

import asyncio
import urllib.request
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TypeAlias
from uuid import uuid4

import pytest_asyncio

from storage.analysis import analyser_for
from storage.opensearch.index import OpenSearchIndex
from tests.builders import TENANT

Opener: TypeAlias = Callable[..., Awaitable[OpenSearchIndex]]


@pytest_asyncio.fixture
async def opened(opensearch_url: str) -> AsyncGenerator[Opener]:
    """Opens one more handle, as another process would; `url` is another way to the same server."""
    installation = f"test-{uuid4().hex}"
    async with AsyncExitStack() as stack:

        async def open_one(url: str = opensearch_url) -> OpenSearchIndex:
            index = await OpenSearchIndex.open(
                [url], tenant=TENANT, analysers=analyser_for, embedder=None, installation=installation
            )
            stack.push_async_callback(index.close)
            return index

        yield open_one
    remove = urllib.request.Request(f"{opensearch_url}/{installation}-*", method="DELETE")
    await asyncio.to_thread(lambda: urllib.request.urlopen(remove).close())
