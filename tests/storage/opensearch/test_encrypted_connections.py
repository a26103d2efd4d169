"""A cluster behind TLS, and one of several addresses: real handshakes in front of a real node."""

import asyncio
import re
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from storage.opensearch.connection import ClusterConnection, NoConnection, may_recover
from storage.opensearch.index import OpenSearchIndex
from storage.search.errors import IndexUnavailable
from storage.search.index import CountRequest
from storage.text.snowball_analyser import analyser_for
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema, a_scope, a_search
from tests.servers.dovecot import write_certificates
from tests.servers.process import free_port
from tests.storage.opensearch.conftest import IndexOpener

_CHUNK_BYTES = 2**16


@asynccontextmanager
async def open_tls_relay(server_url: str, certificates: Path, *, host: str = "127.0.0.1") -> AsyncGenerator[str]:
    """Runs a server that passes on what it decrypts; gives its address. At the end every connection is broken."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "server.pem", certificates / "server.key")
    target, writers = urlsplit(server_url), set[asyncio.StreamWriter]()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while chunk := await reader.read(_CHUNK_BYTES):
                writer.write(chunk)
                await writer.drain()
        except (OSError, ssl.SSLError):
            pass
        finally:
            writer.close()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_connection(target.hostname, target.port)
        writers.update((writer, server_writer))
        await asyncio.gather(pass_on(reader, server_writer), pass_on(server_reader, writer))

    server = await asyncio.start_server(relay, host, 0, ssl=context)
    try:
        yield f"https://{host}:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for writer in writers:
            writer.transport.abort()
        await server.wait_closed()


async def find_refusal(url: str, ca_file: Path | None) -> str:
    """Returns why a request over TLS fails."""
    connection = ClusterConnection([url], ca_file=None if ca_file is None else str(ca_file))
    with pytest.raises(IndexUnavailable) as error:
        await connection.send_request("GET", "/")
    await connection.close()
    assert not may_recover(error.value)
    return error.value.reason


@asynccontextmanager
async def open_secured_index(
    urls: list[str], installation: str, ca_file: Path | None = None
) -> AsyncGenerator[OpenSearchIndex]:
    index = await OpenSearchIndex.open(
        urls,
        tenant=TENANT,
        analysers=analyser_for,
        embedder=None,
        installation=installation,
        ca_file=None if ca_file is None else str(ca_file),
    )
    try:
        yield index
    finally:
        await index.close()


async def count_receipts(index: OpenSearchIndex) -> int:
    request = CountRequest(a_search())
    return (await index.within_scope(a_scope()).answer_requests(request))[request]


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    """The folder of an authority and of a certificate for this machine that it signed."""
    write_certificates(tmp_path)
    return tmp_path


@pytest.mark.servers
async def test_a_cluster_is_written_and_searched_over_tls_with_its_authority(
    opensearch_url: str, installation: str, certificates: Path, open_index: IndexOpener
) -> None:
    async with (
        open_tls_relay(opensearch_url, certificates) as url,
        open_secured_index([url], installation, certificates / "authority.pem") as index,
    ):
        await index.set_schema(a_receipt_schema())
        await index.put(RECEIPTS, [a_document(f"d{number}") for number in range(300)])

        assert await count_receipts(index) == 300
    assert await count_receipts(await open_index()) == 300


@pytest.mark.servers
async def test_an_unknown_authority_or_another_name_is_one_sentence_about_the_certificate(
    opensearch_url: str, certificates: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    write_certificates(other)
    async with (
        open_tls_relay(opensearch_url, certificates) as url,
        open_tls_relay(opensearch_url, certificates, host="127.0.0.2") as other_url,
    ):
        reasons = {
            await find_refusal(url, None),
            await find_refusal(url, other / "authority.pem"),
            await find_refusal(other_url, certificates / "authority.pem"),
        }

    sentence = r"its certificate is not trusted \(.+\); PARLEY_INDEX_CA names the file of the authority that signed it"
    assert len(reasons) == 3
    assert all(re.fullmatch(sentence, reason) for reason in reasons), reasons
    assert any("127.0.0.2" in reason for reason in reasons)


@pytest.mark.servers
async def test_two_addresses_of_which_nobody_answers_at_the_first_are_one_cluster(
    opensearch_url: str, installation: str, open_index: IndexOpener
) -> None:
    await open_index()
    dead_url = f"http://127.0.0.1:{free_port()}"
    for urls in ([dead_url, opensearch_url], [opensearch_url, dead_url]):
        async with open_secured_index(urls, installation) as index:
            await index.set_schema(a_receipt_schema())
            put_result = await index.put(RECEIPTS, [a_document(f"d{number}") for number in range(300)])
            assert len(put_result.added) + len(put_result.replaced) + len(put_result.skipped) == 300
            for _ in range(4):
                assert await count_receipts(index) == 300


@pytest.mark.servers
async def test_requests_go_on_at_the_other_address_when_one_breaks(
    opensearch_url: str, installation: str, certificates: Path, open_index: IndexOpener
) -> None:
    await open_index()
    async with open_tls_relay(opensearch_url, certificates) as url:
        broken = open_tls_relay(opensearch_url, certificates)
        broken_url = await broken.__aenter__()
        async with open_secured_index([broken_url, url], installation, certificates / "authority.pem") as index:
            await index.set_schema(a_receipt_schema())
            await index.put(RECEIPTS, [a_document("a"), a_document("b")])
            await broken.__aexit__(None, None, None)

            assert await count_receipts(index) == 2
            assert (await index.put(RECEIPTS, [a_document("c")])).added == ("c",)
            assert (await index.delete([a_document("a").doc_id])) == 1
            for _ in range(4):
                assert await count_receipts(index) == 2


async def test_addresses_at_which_nobody_answers_are_all_named() -> None:
    urls = [f"http://127.0.0.1:{free_port()}" for _ in range(2)]
    connection = ClusterConnection(urls)

    with pytest.raises(NoConnection) as error:
        await connection.send_request("GET", "/")
    await connection.close()

    assert all(url in str(error.value) for url in urls)
