"""A name that leads elsewhere when it is looked up again: no source connects to an address that was not checked."""

import asyncio
import base64
import socket
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from storage.ingest.errors import ListingFailed, SourceUnavailable
from storage.ingest.sources import addresses
from storage.ingest.sources.databases.query_reader import DatabaseLocation, QueryFailed, QueryReader
from storage.ingest.sources.mail.mail_connection import MailAddress, MailConnection, MailLost, MailRefused
from storage.ingest.sources.site import open_site
from storage.ingest.sources.stores.file_store import StoreProblem
from storage.ingest.sources.stores.open_store import StoreLocation, open_file_store
from tests.servers.dovecot import write_certificates

NAME = "documents.example"
CHECKED, OTHER = "127.0.0.1", "127.0.0.2"
KEY = base64.b64encode(b"a key of thirty two characters..").decode()
REFUSALS = (QueryFailed, MailRefused, MailLost, StoreProblem, SourceUnavailable, ListingFailed)


class ChangingResolver:
    """Looks `NAME` up as `CHECKED` the first time and as `OTHER` from then on. Other names are looked up as before."""

    def __init__(self, *, stays: bool = False) -> None:
        self.lookups, self._stays, self._look_up = 0, stays, socket.getaddrinfo

    def __call__(self, host: Any, *arguments: Any, **options: Any) -> Any:
        if host not in (NAME, NAME.encode()):
            return self._look_up(host, *arguments, **options)
        self.lookups += 1
        return self._look_up(CHECKED if self._stays or self.lookups == 1 else OTHER, *arguments, **options)


class SilentServers:
    """Two servers on one port, which close each connection: at the address that is allowed, and at the other."""

    def __init__(self) -> None:
        self.port = 0
        self.addresses: list[str] = []  # of the connections

    async def accept_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.addresses.append(writer.get_extra_info("sockname")[0])
        writer.close()


@pytest.fixture
async def silent_servers() -> AsyncGenerator[SilentServers]:
    servers = SilentServers()
    async with AsyncExitStack() as stack:
        for address in (CHECKED, OTHER):
            server = await asyncio.start_server(servers.accept_connection, address, servers.port)
            await stack.enter_async_context(server)
            servers.port = server.sockets[0].getsockname()[1]
        yield servers


@pytest.fixture(autouse=True)
def checked_address_is_public(monkeypatch: pytest.MonkeyPatch) -> None:
    def is_checked_address(address: str) -> bool:
        return address == CHECKED

    for module in ("addresses", "mail.mail_connection", "site"):
        monkeypatch.setattr(f"storage.ingest.sources.{module}.is_public_address", is_checked_address)


async def read_database(port: int) -> None:
    location = DatabaseLocation(host=NAME, port=port, database="d", user="u", password="hush")
    async for _ in QueryReader(location).read_rows("SELECT 1"):
        pass


async def read_mails(port: int) -> None:
    address = MailAddress(host=NAME, port=port, uses_tls=False, user="u", folder="INBOX")
    await asyncio.to_thread(MailConnection.open_folder, address, SecretStr("hush"), allow_private=False)


async def read_site(port: int) -> None:
    async with open_site(f"http://{NAME}:{port}/") as site:
        async for _ in site.list_items():
            pass


def reader_of_store(location: Callable[[int], StoreLocation]) -> Callable[[int], Awaitable[None]]:
    def list_store(port: int) -> None:
        with open_file_store(location(port)) as store:
            store.list_folder(store.root)

    return lambda port: asyncio.to_thread(list_store, port)


def location_at(url: str, endpoint: str = "", **options: Any) -> Callable[[int], StoreLocation]:
    def make_location(port: int) -> StoreLocation:
        return StoreLocation(
            url=url.format(port=port), user="u", secret=KEY, endpoint=endpoint.format(port=port), **options
        )

    return make_location


READERS: dict[str, Callable[[int], Awaitable[None]]] = {
    "postgresql": read_database,
    "imap": read_mails,
    "site": read_site,
    "sftp": reader_of_store(location_at(f"sftp://{NAME}:{{port}}/in")),
    "smb": reader_of_store(location_at(f"smb://{NAME}:{{port}}/docs/in")),
    "webdav": reader_of_store(location_at(f"webdav+http://{NAME}:{{port}}/in")),
    "s3": reader_of_store(location_at("s3://docs/in", f"http://{NAME}:{{port}}", region="us-east-1")),
    "gs": reader_of_store(
        lambda port: StoreLocation(url="gs://docs/in", endpoint=f"http://{NAME}:{port}", is_anonymous=True)
    ),
    "abfs": reader_of_store(location_at("abfs://docs/in", f"http://{NAME}:{{port}}/u")),
}


@pytest.mark.parametrize("kind", READERS)
async def test_a_name_that_changes_its_address_leads_to_no_other_one(
    kind: str, silent_servers: SilentServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolver = ChangingResolver()
    monkeypatch.setattr(socket, "getaddrinfo", resolver)

    with pytest.raises(REFUSALS):
        await READERS[kind](silent_servers.port)

    assert resolver.lookups > 0
    assert OTHER not in silent_servers.addresses


@pytest.mark.parametrize("kind", ["webdav", "s3", "gs", "abfs"])
async def test_the_refusal_of_a_later_connection_says_what_allows_it(
    kind: str, silent_servers: SilentServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", ChangingResolver())

    with pytest.raises(StoreProblem, match="--allow-private"):
        await READERS[kind](silent_servers.port)

    assert silent_servers.addresses == []


# -- the name that a certificate is for


class NameRecorder:
    """A server with TLS, as PostgreSQL begins it or from the start, that records which name is asked for."""

    def __init__(self, folder: Path) -> None:
        self.names: list[str] = []
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(folder / "server.pem", folder / "server.key")
        self._context.sni_callback = self._record_name

    def _record_name(self, connection: ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> None:
        self.names.append(name or "")

    async def accept_database(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(8)  # the request for TLS
        writer.write(b"S")
        await self.accept_connection(reader, writer)

    async def accept_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ssl.SSLError, OSError):  # the client does not know who signed the certificate
            await writer.start_tls(self._context)
        writer.transport.abort()


@pytest.mark.parametrize("kind", ["postgresql", "webdav"])
async def test_a_checked_connection_asks_for_the_certificate_of_the_name(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_certificates(tmp_path)
    recorder = NameRecorder(tmp_path)
    monkeypatch.setattr(socket, "getaddrinfo", ChangingResolver(stays=True))
    accept = recorder.accept_database if kind == "postgresql" else recorder.accept_connection
    list_folder = reader_of_store(location_at(f"webdav+https://{NAME}:{{port}}/in"))

    async with await asyncio.start_server(accept, CHECKED, 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(REFUSALS):
            await (read_database(port) if kind == "postgresql" else list_folder(port))

    assert recorder.names[0] == NAME


def test_a_refusal_is_found_behind_the_errors_that_wrap_it() -> None:
    refused, wrapped = addresses.AddressRefused(), ValueError("wrapped")
    wrapped.__cause__ = refused

    assert addresses.find_refused_address(wrapped) is refused
    assert addresses.find_refused_address(ValueError("another")) is None
