"""Fixtures of the real servers, and the summary line that names the missing ones."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio

from tests.servers.dovecot import MailServer, dovecot_server
from tests.servers.file_stores import ObjectStoreServer, SftpServer, object_store_server, sftp_server
from tests.servers.missing import ServerMissing, skip_or_fail
from tests.servers.opensearch import opensearch_server
from tests.servers.postgres import fresh_database, postgres_server
from tests.servers.samba import ShareServer, share_server
from tests.servers.searxng import SearxngServer, searxng_server


@pytest.fixture(scope="session")
def opensearch_url() -> Iterator[str]:
    """The address of an OpenSearch 3 with the k-NN plugin. Other sessions may use the same server."""
    try:
        with opensearch_server() as url:
            yield url
    except ServerMissing as exc:
        skip_or_fail(exc)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The maintenance database of a PostgreSQL server on which tests may create databases."""
    try:
        with postgres_server() as url:
            yield url
    except ServerMissing as exc:
        skip_or_fail(exc)


@pytest.fixture(scope="session")
def dovecot() -> Iterator[MailServer]:
    """A mail server with TLS."""
    try:
        with dovecot_server() as server:
            yield server
    except ServerMissing as exc:
        skip_or_fail(exc)


@pytest.fixture(scope="session")
def plain_dovecot() -> Iterator[MailServer]:
    """A mail server without TLS."""
    try:
        with dovecot_server(has_tls=False) as server:
            yield server
    except ServerMissing as exc:
        skip_or_fail(exc)


@pytest_asyncio.fixture
async def second_postgres_database(postgres_url: str) -> AsyncIterator[str]:
    """Another new empty database for the same test."""
    async with fresh_database(postgres_url) as url:
        yield url


@pytest_asyncio.fixture
async def postgres_database(postgres_url: str) -> AsyncIterator[str]:
    """A new empty database for one test, `postgresql+asyncpg://…`; dropped afterwards."""
    async with fresh_database(postgres_url) as url:
        yield url


@pytest.fixture(scope="session")
def object_store() -> Iterator[ObjectStoreServer]:
    """A server with the interface of S3, without buckets."""
    with object_store_server() as server:
        yield server


@pytest.fixture(scope="session")
def sftp() -> Iterator[SftpServer]:
    """OpenSSH, for the files that its user can read."""
    try:
        with sftp_server() as server:
            yield server
    except ServerMissing as exc:
        skip_or_fail(exc)


@pytest.fixture(scope="session")
def samba() -> Iterator[ShareServer]:
    """Samba, with a share that tests fill."""
    try:
        with share_server() as server:
            yield server
    except ServerMissing as exc:
        skip_or_fail(exc)


@pytest.fixture(scope="session")
def real_searxng() -> Iterator[SearxngServer]:
    """A SearXNG whose only engine finds the pages that tests list."""
    try:
        with searxng_server() as server:
            yield server
    except ServerMissing as exc:
        skip_or_fail(exc)


@pytest.fixture(scope="session")
def real_searxng_without_json() -> Iterator[SearxngServer]:
    """A SearXNG that allows only HTML, as it does without a setting."""
    try:
        with searxng_server(formats=["html"]) as server:
            yield server
    except ServerMissing as exc:
        skip_or_fail(exc)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reasons = {str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", [])}
    for reason in sorted(reason for reason in reasons if " server for tests: " in reason):
        terminalreporter.write_line(reason)
