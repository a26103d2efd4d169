"""A web site as a source: which URLs are requested, which are not, and which addresses are refused."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import aiohttp
import pytest

from storage.ingest.errors import ListingFailed, UnparsableFile
from storage.ingest.sources.addresses import is_any_address, is_public_address
from storage.ingest.sources.site import SiteSource
from storage.ingest.sources.site_client import (
    TRANSLATED_ERRORS,
    USER_AGENT,
    SiteClient,
    UnreachableUrl,
    open_site_client,
)
from storage.ingest.sources.sitemap import SitemapPage, parse_sitemap
from storage.ingest.sources.source import (
    FetchedItem,
    FetchFailure,
    FetchResult,
    SourceItem,
    UnchangedItem,
    UnsupportedItem,
    VanishedItem,
)
from storage.ingest.sources.urls import normalize_url
from tests.stand_ins.site import PageResponse, WebSite, serve_web_site

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
SETTLED = "2026-11-01"


class RequestedPauses(list[float]):
    """A fake sleep function that records the requested pauses and does not wait."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
async def web() -> AsyncIterator[WebSite]:
    async with serve_web_site() as site:
        yield site


@pytest.fixture
def pauses() -> RequestedPauses:
    return RequestedPauses()


@pytest.fixture
async def client(pauses: RequestedPauses) -> AsyncIterator[SiteClient]:
    async with open_site_client(is_allowed_address=is_any_address, clock=lambda: NOW, sleep=pauses) as site_client:
        yield site_client


@pytest.fixture
def site(web: WebSite, client: SiteClient) -> SiteSource:
    return SiteSource(web.url, client, clock=lambda: NOW)


async def list_item_ids(site: SiteSource) -> list[str]:
    return [item.id async for item in site.list_items()]


async def fetch_path(site: SiteSource, web: WebSite, path: str, folder: Path, cursor: str = "") -> FetchResult:
    await asyncio.to_thread(folder.mkdir, exist_ok=True)
    return await site.fetch_item(SourceItem(id=path, version="", location=web.url + path), cursor, folder)


def a_page(text: str = "words", **rest: str) -> PageResponse:
    return replace(PageResponse(text=text), **rest)


# -- listing the pages


async def test_compressed_and_nested_sitemaps_of_robots_txt_are_read(web: WebSite, site: SiteSource) -> None:
    web.pages |= {"/a.txt": a_page(), "/b.txt": a_page()}
    web.pack_sitemap("/packed.xml.gz")
    web.pages = {"/c.txt": a_page()}
    web.fixed_responses["/robots.txt"] = a_page(f"User-agent: *\nDisallow:\nSitemap: {web.url}/index.xml\n")
    web.fixed_responses["/index.xml"] = PageResponse(
        text=web.sitemap_index_xml("/packed.xml.gz", "/lines.txt", "/index.xml")
    )
    web.fixed_responses["/lines.txt"] = a_page(f"{web.url}/c.txt\n{web.url}/a.txt#part\n")

    assert await list_item_ids(site) == ["/a.txt", "/b.txt", "/c.txt"]
    assert web.requested_paths.count("/index.xml") == 1


async def test_a_site_without_a_sitemap_is_reported_with_advice(web: WebSite, site: SiteSource) -> None:
    web.fixed_responses["/sitemap.xml"] = PageResponse(status=404)

    with pytest.raises(ListingFailed, match="404; give the address of its sitemap"):
        await list_item_ids(site)


async def test_a_sitemap_that_cannot_be_read_fails_the_listing_after_the_others(web: WebSite, site: SiteSource) -> None:
    web.pages["/a.txt"] = a_page()
    web.fixed_responses["/robots.txt"] = a_page(f"Sitemap: {web.url}/broken.xml\nSitemap: {web.url}/sitemap.xml")
    web.fixed_responses["/broken.xml"] = a_page("<urlset><url>")
    item_ids: list[str] = []

    async def collect() -> None:
        async for item in site.list_items():
            item_ids.append(item.id)

    with pytest.raises(ListingFailed, match=r"broken\.xml: it is no XML"):
        await collect()
    assert item_ids == ["/a.txt"]


async def test_pages_that_robots_txt_disallows_are_neither_listed_nor_fetched(
    web: WebSite, site: SiteSource, tmp_path: Path
) -> None:
    web.pages |= {"/open.txt": a_page(), "/private/a.txt": a_page(), "/ours.txt": a_page()}
    web.fixed_responses["/robots.txt"] = a_page(
        "User-agent: *\nDisallow: /private/\n\nUser-agent: Parley\nDisallow: /ours\n"
    )
    web.fixed_responses["/moved.txt"] = PageResponse(status=302, headers={"Location": "/ours.txt"})

    assert await list_item_ids(site) == ["/open.txt", "/private/a.txt"]
    results = [await fetch_path(site, web, path, tmp_path) for path in ("/ours.txt", "/moved.txt")]
    assert results == [FetchFailure(reason="the site's robots.txt does not allow it")] * 2
    assert "/ours.txt" not in web.requested_paths


@pytest.mark.parametrize(("status", "is_listed"), [(404, True), (403, True), (500, False)])
async def test_a_missing_robots_txt_allows_all_and_an_unreachable_one_nothing(
    web: WebSite, site: SiteSource, status: int, is_listed: bool
) -> None:
    web.pages["/a.txt"] = a_page()
    web.fixed_responses["/robots.txt"] = PageResponse(status=status)

    if is_listed:
        assert await list_item_ids(site) == ["/a.txt"]
    else:
        with pytest.raises(ListingFailed, match=r"robots\.txt"):
            await list_item_ids(site)
        assert "/sitemap.xml" not in web.requested_paths


async def test_pages_of_other_hosts_and_outside_the_given_path_are_not_listed(web: WebSite, client: SiteClient) -> None:
    web.pages |= {
        "/docs/a.txt": a_page(),
        "/docs": a_page(),
        "/docsy.txt": a_page(),
        "/": a_page(),
        "/docs/b?page=2": a_page(),
    }
    web.fixed_responses["/sitemap.xml"] = PageResponse(
        text=web.sitemap_xml().replace(b"</urlset>", b"<url><loc>http://example.com/docs/x</loc></url></urlset>")
    )

    assert await list_item_ids(SiteSource(f"{web.url}/docs", client, clock=lambda: NOW)) == [
        "/docs/a.txt",
        "/docs",
        "/docs/b?page=2",
    ]


async def test_the_host_of_a_sitemap_in_robots_txt_is_allowed(web: WebSite, site: SiteSource) -> None:
    async with serve_web_site() as other:
        other.pages["/a.txt"] = a_page()
        web.fixed_responses["/robots.txt"] = a_page(f"Sitemap: {other.url}/sitemap.xml")

        host = other.url.removeprefix("http:")
        assert await list_item_ids(site) == [f"{host}/a.txt"]
        assert "/robots.txt" in other.requested_paths


async def test_a_sitemap_does_not_lead_to_another_host(web: WebSite, site: SiteSource) -> None:
    async with serve_web_site() as other:
        web.fixed_responses["/sitemap.xml"] = PageResponse(text=other.sitemap_index_xml("/sitemap.xml"))

        with pytest.raises(ListingFailed, match="another host"):
            await list_item_ids(site)
        assert other.requested_paths == []


async def test_the_url_of_a_sitemap_can_be_given_directly(web: WebSite, client: SiteClient) -> None:
    web.pages["/a.txt"] = a_page()
    web.fixed_responses["/maps/all.xml"] = PageResponse(text=web.sitemap_xml())

    assert await list_item_ids(SiteSource(f"{web.url}/maps/all.xml", client, clock=lambda: NOW)) == ["/a.txt"]


async def test_a_lastmod_is_a_version_only_after_two_days(web: WebSite, site: SiteSource) -> None:
    web.pages |= dict.fromkeys(("/a", "/b", "/c", "/d"), a_page())
    web.last_modified |= {"/a": SETTLED, "/b": "2026-11-20", "/c": "some day", "/d": "2026-11-01T10:00:00+02:00"}

    assert [item.version async for item in site.list_items()] == [SETTLED, "", "", "2026-11-01T10:00:00+02:00"]


# -- fetching the content


async def test_an_unchanged_page_answers_304_and_is_not_sent_again(
    web: WebSite, site: SiteSource, tmp_path: Path
) -> None:
    web.pages["/a.txt"] = a_page("words", etag='"1"')
    first = await fetch_path(site, web, "/a.txt", tmp_path / "1")
    assert isinstance(first, FetchedItem)

    second = await fetch_path(site, web, "/a.txt", tmp_path / "2", first.cursor)

    assert second == UnchangedItem(version="", cursor=first.cursor)
    assert [status for path, status in web.answered_requests if path == "/a.txt"] == [200, 304]


async def test_the_same_content_is_unchanged_on_a_site_without_conditional_requests(
    web: WebSite, site: SiteSource, tmp_path: Path
) -> None:
    web.pages["/a.txt"] = a_page()
    first = await fetch_path(site, web, "/a.txt", tmp_path / "1")
    assert isinstance(first, FetchedItem)

    assert isinstance(await fetch_path(site, web, "/a.txt", tmp_path / "2", first.cursor), UnchangedItem)


@pytest.mark.parametrize(
    ("path", "kind", "name"),
    [
        ("/guide", "text/plain; charset=utf-8", "guide.txt"),
        ("/guide.md", "text/plain", "guide.md"),
        ("/rows.csv", "application/octet-stream", "rows.csv"),
        ("/paper?x=1", "application/pdf", "paper.pdf"),
        ("/", "text/plain", "127.0.0.1"),
        ("/picture", "image/png", None),
        ("/nothing.weights", "application/octet-stream", None),
    ],
)
async def test_the_media_type_decides_the_format(
    web: WebSite, site: SiteSource, tmp_path: Path, path: str, kind: str, name: str | None
) -> None:
    web.pages[path] = a_page(type=kind)

    result = await fetch_path(site, web, path, tmp_path)

    if name is None:
        assert isinstance(result, UnsupportedItem)
    else:
        assert isinstance(result, FetchedItem)
        assert result.path.name.startswith(name)
        assert (result.link, result.path.read_text()) == (web.url + path, "words")


@pytest.mark.parametrize(
    ("status", "expected_type"), [(404, VanishedItem), (410, VanishedItem), (403, FetchFailure), (500, FetchFailure)]
)
async def test_a_vanished_page_differs_from_a_failed_fetch(
    web: WebSite, site: SiteSource, tmp_path: Path, status: int, expected_type: type
) -> None:
    web.pages["/a.txt"] = PageResponse(status=status)

    assert isinstance(await fetch_path(site, web, "/a.txt", tmp_path), expected_type)


async def test_a_redirect_is_followed_within_the_site_only(web: WebSite, site: SiteSource, tmp_path: Path) -> None:
    web.pages["/new.txt"] = a_page("moved words")
    web.fixed_responses["/old.txt"] = PageResponse(status=301, headers={"Location": "/new.txt"})
    web.fixed_responses["/away.txt"] = PageResponse(status=302, headers={"Location": "http://example.com/x"})
    web.fixed_responses["/round.txt"] = PageResponse(status=302, headers={"Location": "/round.txt"})

    result = await fetch_path(site, web, "/old.txt", tmp_path)

    assert isinstance(result, FetchedItem)
    assert result.path.read_text() == "moved words"
    assert await fetch_path(site, web, "/away.txt", tmp_path) == FetchFailure(
        reason="it leads to another host, example.com"
    )
    assert await fetch_path(site, web, "/round.txt", tmp_path) == FetchFailure(
        reason="it leads through more than 5 redirects"
    )


async def test_headers_that_are_not_utf8_are_accepted(client: SiteClient, tmp_path: Path) -> None:
    requested_paths: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requested_paths.append((await reader.readuntil(b"\r\n\r\n")).split(b" ")[1])
        response_start = (
            b"302 Found\r\nLocation: /\xff\xfe" if requested_paths[-1] == b"/a" else b'200 OK\r\nETag: "\xff"'
        )
        writer.write(b"HTTP/1.1 " + response_start + b"\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        result = await SiteSource(url, client, clock=lambda: NOW).fetch_item(
            SourceItem(id="/a", version="", location=f"{url}/a"), "", tmp_path
        )

    assert isinstance(result, FetchedItem)
    json.dumps(result.cursor).encode()
    assert requested_paths == [b"/robots.txt", b"/a", b"/%EF%BF%BD%EF%BF%BD"]


async def test_requests_send_our_user_agent_and_no_cookies(web: WebSite, site: SiteSource, tmp_path: Path) -> None:
    web.pages["/a.txt"] = PageResponse(text="words", headers={"Set-Cookie": "a=b"})
    await fetch_path(site, web, "/a.txt", tmp_path)
    web.pages["/b.txt"] = a_page()
    await fetch_path(site, web, "/b.txt", tmp_path)

    assert {headers["User-Agent"] for headers in web.headers} == {USER_AGENT}
    assert not any("Cookie" in headers for headers in web.headers)


# -- delays and retries


async def test_the_crawl_delay_is_obeyed_between_requests(
    web: WebSite, site: SiteSource, tmp_path: Path, pauses: RequestedPauses
) -> None:
    web.fixed_responses["/robots.txt"] = a_page("User-agent: *\nCrawl-delay: 7\n")
    web.pages |= {"/a.txt": a_page(), "/b.txt": a_page()}

    items = [item async for item in site.list_items()]
    for item in items:
        await site.fetch_item(item, "", tmp_path)

    assert pauses == [7.0, 7.0]  # after the sitemap, and after the first page


async def test_a_busy_site_is_retried_after_its_retry_after_pause(
    web: WebSite, site: SiteSource, tmp_path: Path, pauses: RequestedPauses
) -> None:
    web.pages["/a.txt"] = a_page("words")
    web.next_responses = [PageResponse(status=503, headers={"Retry-After": "9"}), PageResponse(status=429)]

    assert isinstance(await fetch_path(site, web, "/a.txt", tmp_path), FetchedItem)
    assert pauses[0] == 9.0
    assert len(pauses) == 2


async def test_a_site_that_requests_a_long_pause_is_not_requested_again(
    web: WebSite, site: SiteSource, tmp_path: Path, pauses: RequestedPauses
) -> None:
    web.fixed_responses["/robots.txt"] = a_page("")
    await list_item_ids(site)
    web.pages["/a.txt"] = PageResponse(status=429, headers={"Retry-After": "Fri, 20 Nov 2026 10:30:00 GMT"})
    web.pages["/b.txt"] = a_page()

    first, second = [await fetch_path(site, web, path, tmp_path) for path in ("/a.txt", "/b.txt")]

    assert first == second == FetchFailure(reason="the site answers 429 and asks for 3600 seconds of rest")
    assert ("/b.txt" in web.requested_paths, pauses) == (False, [])


async def test_a_response_that_is_too_large_is_not_read_completely(web: WebSite, client: SiteClient) -> None:
    web.pages["/a.txt"] = a_page("x" * 3000)
    sink = BytesIO()

    with pytest.raises(UnreachableUrl, match="larger"):
        await client.fetch_url(f"{web.url}/a.txt", lambda: sink, max_bytes=2000, check_url=allow_any_url, headers={})
    assert len(sink.getvalue()) <= 2000


async def allow_any_url(url: str) -> str | None:
    return None


# -- refused addresses


async def test_a_private_address_is_refused_before_a_socket_is_made(web: WebSite) -> None:
    port = web.url.rpartition(":")[2]
    async with open_site_client(clock=lambda: NOW) as client:
        for host in ("127.0.0.1", "localhost"):
            with pytest.raises(UnreachableUrl, match="private network"):
                await client.fetch_url(
                    f"http://{host}:{port}/a", BytesIO, max_bytes=9, check_url=allow_any_url, headers={}
                )
    assert web.requested_paths == []


async def test_a_redirect_to_a_private_address_is_refused(web: WebSite) -> None:
    port = web.url.rpartition(":")[2]
    web.fixed_responses["/a"] = PageResponse(status=302, headers={"Location": f"http://127.0.0.2:{port}/secret"})

    async with open_site_client(is_allowed_address=lambda address: address == "127.0.0.1", clock=lambda: NOW) as client:
        with pytest.raises(UnreachableUrl, match="private network"):
            await client.fetch_url(f"{web.url}/a", BytesIO, max_bytes=9, check_url=allow_any_url, headers={})
    assert web.requested_paths == ["/a"]


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"),
        *("224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1%eth0", "fc00::1", "fec0::1", "ff02::1"),
        *("::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "::127.0.0.1", "no address", ""),
    ],
)
def test_private_and_special_addresses_are_not_public(address: str) -> None:
    assert not is_public_address(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "8.8.8.8", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::808:808"])
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public_address(address)


@pytest.mark.parametrize("url", ["ftp://example.com/a", "http://[x/", "http://", "file:///etc/passwd", "http://a..b/"])
async def test_a_url_that_is_invalid_or_not_http_is_unreachable(client: SiteClient, url: str) -> None:
    with pytest.raises(UnreachableUrl):
        await client.fetch_url(url, BytesIO, max_bytes=9, check_url=allow_any_url, headers={})


def test_every_exception_of_aiohttp_s_client_is_translated() -> None:
    client_errors = [
        error
        for error in vars(aiohttp.client_exceptions).values()
        if isinstance(error, type)
        and issubclass(error, Exception)
        and not error.__name__.startswith("WS")  # web sockets
    ]

    assert len(client_errors) > 20
    assert [error for error in client_errors if not issubclass(error, TRANSLATED_ERRORS)] == []


# -- sitemaps and URLs


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"words",
        b"<html/>",
        b"<urlset",
        b"\x1f\x8bbroken",
        gzip.compress(b"<urlset/>", mtime=0)[:-9],
        b'<!DOCTYPE x [<!ENTITY a "aaaa">]><urlset><url><loc>&a;</loc></url></urlset>',
    ],
)
def test_data_that_is_no_sitemap_raises_instead_of_being_empty(data: bytes) -> None:
    with pytest.raises(UnparsableFile):
        parse_sitemap(data)


def test_a_compressed_sitemap_that_unpacks_to_more_than_the_limit_is_refused() -> None:
    with pytest.raises(UnparsableFile, match="50 MB"):
        parse_sitemap(gzip.compress(b"<urlset>" + b" " * (51 * 1024 * 1024)))


def test_the_address_of_an_image_in_an_entry_is_ignored() -> None:
    image = (
        b'<i:image xmlns:i="http://www.google.com/schemas/sitemap-image/1.1"><i:loc>http://h/i.png</i:loc></i:image>'
    )

    sitemap = parse_sitemap(b"<urlset><url>" + image + b"<loc> http://h/a?x=1&amp;y=2 </loc></url><url/></urlset>")

    assert sitemap.pages == (SitemapPage(url="http://h/a?x=1&y=2", last_modified=""),)


@pytest.mark.parametrize(
    ("url", "normalized"),
    [
        (" HTTPS://WWW.Example.com:443#top ", "https://www.example.com/"),
        ("http://h:8080/a?b=1#c", "http://h:8080/a?b=1"),
        ("http://u:p@h/a", "http://h/a"),
        ("http://[::1]:80/", "http://[::1]/"),
        ("http://[x", "http://[x"),
    ],
)
def test_urls_are_normalized(url: str, normalized: str) -> None:
    assert normalize_url(url) == normalized
