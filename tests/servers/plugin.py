"""Fixtures of the real servers, and the one line that says which of them could not be had."""

import asyncio
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from storage.analysis import analyser_for
from storage.embedder import Embedder
from storage.search.index import SearchIndex
from tests.builders import TENANT
from tests.servers.missing import ServerMissing, skip_or_fail
from tests.servers.opensearch import opensearch_server
from tests.servers.postgres import fresh_database, postgres_server


@pytest.fixture(scope="session")
def opensearch_url() -> Iterator[str]:
    """The address of an OpenSearch 3 with the k-NN plugin. Its indexes may be shared with other sessions."""
    try:
        with opensearch_server() as url:
            yield url
    except ServerMissing as exc:
        skip_or_fail(exc)


@pytest_asyncio.fixture
async def opensearch(opensearch_url: str, embedder: Embedder) -> AsyncIterator[Callable[[], Awaitable[SearchIndex]]]:
    """Opens handles on one index of the test's own, as several processes would; closed and deleted at the end."""
    from storage.opensearch.index import OpenSearchIndex

    installation = f"test-{uuid4().hex}"
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
    remove = urllib.request.Request(f"{opensearch_url}/{installation}-*", method="DELETE")
    await asyncio.to_thread(lambda: urllib.request.urlopen(remove).close())


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The maintenance database of a PostgreSQL that may create databases."""
    try:
        with postgres_server() as url:
            yield url
    except ServerMissing as exc:
        skip_or_fail(exc)


@pytest_asyncio.fixture
async def postgres_database(postgres_url: str) -> AsyncIterator[str]:
    """A database of the test's own, `postgresql+asyncpg://…`, empty and dropped afterwards."""
    async with fresh_database(postgres_url) as url:
        yield url


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reasons = {str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", [])}
    for reason in sorted(reason for reason in reasons if " server for tests: " in reason):
        terminalreporter.write_line(reason)
