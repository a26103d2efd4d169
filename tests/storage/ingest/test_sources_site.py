"""A site as a source: what is asked of it, what is not, and what may not be reached."""

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

from storage.ingest.errors import ListingFailed, Unparsable
from storage.ingest.sources.addresses import is_any, is_public
from storage.ingest.sources.client import TRANSLATED, USER_AGENT, Client, Unreachable, web_client
from storage.ingest.sources.site import Site, normal
from storage.ingest.sources.sitemap import Page, parsed
from storage.ingest.sources.source import Fetch, Fetched, Gone, Item, PassedOver, Unchanged, Unfetched
from tests.stand_ins.site import Served, WebSite, a_site

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
SETTLED = "2026-11-01"


class Pauses(list[float]):
    """Waits that were asked for, and not waited."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
async def web() -> AsyncIterator[WebSite]:
    async with a_site() as site:
        yield site


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
async def client(pauses: Pauses) -> AsyncIterator[Client]:
    async with web_client(reaches=is_any, clock=lambda: NOW, sleep=pauses) as opened:
        yield opened


@pytest.fixture
def site(web: WebSite, client: Client) -> Site:
    return Site(web.url, client, clock=lambda: NOW)


async def listed(site: Site) -> list[str]:
    return [item.id async for item in site.items()]


async def fetched(site: Site, web: WebSite, path: str, folder: Path, cursor: str = "") -> Fetch:
    await asyncio.to_thread(folder.mkdir, exist_ok=True)
    return await site.fetch(Item(id=path, version="", where=web.url + path), cursor, folder)


def page(text: str = "words", **rest: str) -> Served:
    return replace(Served(text=text), **rest)


# -- which pages


async def test_the_sitemaps_of_the_robots_file_are_read_packed_and_nested(web: WebSite, site: Site) -> None:
    web.pages |= {"/a.txt": page(), "/b.txt": page()}
    web.pack_sitemap("/packed.xml.gz")
    web.pages = {"/c.txt": page()}
    web.fixed["/robots.txt"] = page(f"User-agent: *\nDisallow:\nSitemap: {web.url}/index.xml\n")
    web.fixed["/index.xml"] = Served(text=web.index("/packed.xml.gz", "/lines.txt", "/index.xml"))
    web.fixed["/lines.txt"] = page(f"{web.url}/c.txt\n{web.url}/a.txt#part\n")

    assert await listed(site) == ["/a.txt", "/b.txt", "/c.txt"]
    assert web.asked.count("/index.xml") == 1


async def test_a_site_without_a_sitemap_says_what_to_do(web: WebSite, site: Site) -> None:
    web.fixed["/sitemap.xml"] = Served(status=404)

    with pytest.raises(ListingFailed, match="404; give the address of its sitemap"):
        await listed(site)


async def test_a_sitemap_that_cannot_be_read_fails_the_listing_after_the_others(web: WebSite, site: Site) -> None:
    web.pages["/a.txt"] = page()
    web.fixed["/robots.txt"] = page(f"Sitemap: {web.url}/broken.xml\nSitemap: {web.url}/sitemap.xml")
    web.fixed["/broken.xml"] = page("<urlset><url>")
    found: list[str] = []

    async def collect() -> None:
        async for item in site.items():
            found.append(item.id)

    with pytest.raises(ListingFailed, match=r"broken\.xml: it is no XML"):
        await collect()
    assert found == ["/a.txt"]


async def test_what_the_robots_file_disallows_is_neither_listed_nor_fetched(
    web: WebSite, site: Site, tmp_path: Path
) -> None:
    web.pages |= {"/open.txt": page(), "/private/a.txt": page(), "/ours.txt": page()}
    web.fixed["/robots.txt"] = page("User-agent: *\nDisallow: /private/\n\nUser-agent: Parley\nDisallow: /ours\n")
    web.fixed["/moved.txt"] = Served(status=302, headers={"Location": "/ours.txt"})

    assert await listed(site) == ["/open.txt", "/private/a.txt"]
    refused = [await fetched(site, web, path, tmp_path) for path in ("/ours.txt", "/moved.txt")]
    assert refused == [Unfetched(reason="the site's robots.txt does not allow it")] * 2
    assert "/ours.txt" not in web.asked


@pytest.mark.parametrize(("status", "is_listed"), [(404, True), (403, True), (500, False)])
async def test_no_robots_file_allows_all_and_no_answer_nothing(
    web: WebSite, site: Site, status: int, is_listed: bool
) -> None:
    web.pages["/a.txt"] = page()
    web.fixed["/robots.txt"] = Served(status=status)

    if is_listed:
        assert await listed(site) == ["/a.txt"]
    else:
        with pytest.raises(ListingFailed, match=r"robots\.txt"):
            await listed(site)
        assert "/sitemap.xml" not in web.asked


async def test_pages_of_other_hosts_and_above_the_address_given_are_not_listed(web: WebSite, client: Client) -> None:
    web.pages |= {"/docs/a.txt": page(), "/docs": page(), "/docsy.txt": page(), "/": page(), "/docs/b?page=2": page()}
    web.fixed["/sitemap.xml"] = Served(
        text=web.sitemap().replace(b"</urlset>", b"<url><loc>http://example.com/docs/x</loc></url></urlset>")
    )

    assert await listed(Site(f"{web.url}/docs", client, clock=lambda: NOW)) == [
        "/docs/a.txt",
        "/docs",
        "/docs/b?page=2",
    ]


async def test_the_host_of_a_sitemap_that_the_robots_file_names_is_one_of_ours(web: WebSite, site: Site) -> None:
    async with a_site() as other:
        other.pages["/a.txt"] = page()
        web.fixed["/robots.txt"] = page(f"Sitemap: {other.url}/sitemap.xml")

        host = other.url.removeprefix("http:")
        assert await listed(site) == [f"{host}/a.txt"]
        assert "/robots.txt" in other.asked


async def test_a_sitemap_does_not_lead_to_another_host(web: WebSite, site: Site) -> None:
    async with a_site() as other:
        web.fixed["/sitemap.xml"] = Served(text=other.index("/sitemap.xml"))

        with pytest.raises(ListingFailed, match="another host"):
            await listed(site)
        assert other.asked == []


async def test_an_address_of_a_sitemap_needs_no_robots_file_to_find_it(web: WebSite, client: Client) -> None:
    web.pages["/a.txt"] = page()
    web.fixed["/maps/all.xml"] = Served(text=web.sitemap())

    assert await listed(Site(f"{web.url}/maps/all.xml", client, clock=lambda: NOW)) == ["/a.txt"]


async def test_a_lastmod_counts_once_nothing_more_can_happen_that_day(web: WebSite, site: Site) -> None:
    web.pages |= dict.fromkeys(("/a", "/b", "/c", "/d"), page())
    web.changed |= {"/a": SETTLED, "/b": "2026-11-20", "/c": "some day", "/d": "2026-11-01T10:00:00+02:00"}

    assert [item.version async for item in site.items()] == [SETTLED, "", "", "2026-11-01T10:00:00+02:00"]


# -- their content


async def test_an_unchanged_page_answers_304_and_is_not_sent_again(web: WebSite, site: Site, tmp_path: Path) -> None:
    web.pages["/a.txt"] = page("words", etag='"1"')
    first = await fetched(site, web, "/a.txt", tmp_path / "1")
    assert isinstance(first, Fetched)

    again = await fetched(site, web, "/a.txt", tmp_path / "2", first.cursor)

    assert again == Unchanged(version="", cursor=first.cursor)
    assert [status for path, status in web.answered if path == "/a.txt"] == [200, 304]


async def test_the_same_content_is_unchanged_where_a_site_knows_no_conditions(
    web: WebSite, site: Site, tmp_path: Path
) -> None:
    web.pages["/a.txt"] = page()
    first = await fetched(site, web, "/a.txt", tmp_path / "1")
    assert isinstance(first, Fetched)

    assert isinstance(await fetched(site, web, "/a.txt", tmp_path / "2", first.cursor), Unchanged)


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
async def test_the_type_decides_what_is_read(
    web: WebSite, site: Site, tmp_path: Path, path: str, kind: str, name: str | None
) -> None:
    web.pages[path] = page(type=kind)

    one = await fetched(site, web, path, tmp_path)

    if name is None:
        assert isinstance(one, PassedOver)
    else:
        assert isinstance(one, Fetched)
        assert one.path.name.startswith(name)
        assert (one.link, one.path.read_text()) == (web.url + path, "words")


@pytest.mark.parametrize(("status", "came"), [(404, Gone), (410, Gone), (403, Unfetched), (500, Unfetched)])
async def test_a_page_that_is_gone_is_told_from_one_that_cannot_be_had(
    web: WebSite, site: Site, tmp_path: Path, status: int, came: type
) -> None:
    web.pages["/a.txt"] = Served(status=status)

    assert isinstance(await fetched(site, web, "/a.txt", tmp_path), came)


async def test_a_redirect_is_followed_on_the_site_and_not_to_another_host(
    web: WebSite, site: Site, tmp_path: Path
) -> None:
    web.pages["/new.txt"] = page("moved words")
    web.fixed["/old.txt"] = Served(status=301, headers={"Location": "/new.txt"})
    web.fixed["/away.txt"] = Served(status=302, headers={"Location": "http://example.com/x"})
    web.fixed["/round.txt"] = Served(status=302, headers={"Location": "/round.txt"})

    old = await fetched(site, web, "/old.txt", tmp_path)

    assert isinstance(old, Fetched)
    assert old.path.read_text() == "moved words"
    assert await fetched(site, web, "/away.txt", tmp_path) == Unfetched(reason="it leads to another host, example.com")
    assert await fetched(site, web, "/round.txt", tmp_path) == Unfetched(
        reason="it leads through more than 5 redirects"
    )


async def test_a_header_that_is_no_text_breaks_nothing(client: Client, tmp_path: Path) -> None:
    asked: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).split(b" ")[1])
        to = b"302 Found\r\nLocation: /\xff\xfe" if asked[-1] == b"/a" else b'200 OK\r\nETag: "\xff"'
        writer.write(b"HTTP/1.1 " + to + b"\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        one = await Site(url, client, clock=lambda: NOW).fetch(
            Item(id="/a", version="", where=f"{url}/a"), "", tmp_path
        )

    assert isinstance(one, Fetched)
    json.dumps(one.cursor).encode()
    assert asked == [b"/robots.txt", b"/a", b"/%EF%BF%BD%EF%BF%BD"]


async def test_we_say_who_we_are_and_keep_no_cookies(web: WebSite, site: Site, tmp_path: Path) -> None:
    web.pages["/a.txt"] = Served(text="words", headers={"Set-Cookie": "a=b"})
    await fetched(site, web, "/a.txt", tmp_path)
    web.pages["/b.txt"] = page()
    await fetched(site, web, "/b.txt", tmp_path)

    assert {headers["User-Agent"] for headers in web.headers} == {USER_AGENT}
    assert not any("Cookie" in headers for headers in web.headers)


# -- patience


async def test_a_crawl_delay_is_kept_between_requests(web: WebSite, site: Site, tmp_path: Path, pauses: Pauses) -> None:
    web.fixed["/robots.txt"] = page("User-agent: *\nCrawl-delay: 7\n")
    web.pages |= {"/a.txt": page(), "/b.txt": page()}

    items = [item async for item in site.items()]
    for item in items:
        await site.fetch(item, "", tmp_path)

    assert pauses == [7.0, 7.0]  # after the sitemap, and after the first page


async def test_a_busy_site_is_asked_again_after_the_pause_it_asks_for(
    web: WebSite, site: Site, tmp_path: Path, pauses: Pauses
) -> None:
    web.pages["/a.txt"] = page("words")
    web.busy = [Served(status=503, headers={"Retry-After": "9"}), Served(status=429)]

    assert isinstance(await fetched(site, web, "/a.txt", tmp_path), Fetched)
    assert pauses[0] == 9.0
    assert len(pauses) == 2


async def test_a_site_that_asks_for_a_long_rest_is_left_alone(
    web: WebSite, site: Site, tmp_path: Path, pauses: Pauses
) -> None:
    web.fixed["/robots.txt"] = page("")
    await listed(site)
    web.pages["/a.txt"] = Served(status=429, headers={"Retry-After": "Fri, 20 Nov 2026 10:30:00 GMT"})
    web.pages["/b.txt"] = page()

    first, second = [await fetched(site, web, path, tmp_path) for path in ("/a.txt", "/b.txt")]

    assert first == second == Unfetched(reason="the site answers 429 and asks for 3600 seconds of rest")
    assert ("/b.txt" in web.asked, pauses) == (False, [])


async def test_an_answer_that_is_too_large_is_not_read_to_its_end(web: WebSite, client: Client) -> None:
    web.pages["/a.txt"] = page("x" * 3000)
    sink = BytesIO()

    with pytest.raises(Unreachable, match="larger"):
        await client.get(f"{web.url}/a.txt", lambda: sink, largest=2000, allowed=anything, headers={})
    assert len(sink.getvalue()) <= 2000


async def anything(url: str) -> str | None:
    return None


# -- what may not be reached


async def test_a_private_address_is_refused_where_the_socket_is_made(web: WebSite) -> None:
    port = web.url.rpartition(":")[2]
    async with web_client(clock=lambda: NOW) as client:
        for host in ("127.0.0.1", "localhost"):
            with pytest.raises(Unreachable, match="private network"):
                await client.get(f"http://{host}:{port}/a", BytesIO, largest=9, allowed=anything, headers={})
    assert web.asked == []


async def test_a_redirect_to_a_private_address_is_refused(web: WebSite) -> None:
    port = web.url.rpartition(":")[2]
    web.fixed["/a"] = Served(status=302, headers={"Location": f"http://127.0.0.2:{port}/secret"})

    async with web_client(reaches=lambda address: address == "127.0.0.1", clock=lambda: NOW) as client:
        with pytest.raises(Unreachable, match="private network"):
            await client.get(f"{web.url}/a", BytesIO, largest=9, allowed=anything, headers={})
    assert web.asked == ["/a"]


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"),
        *("224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1%eth0", "fc00::1", "fec0::1", "ff02::1"),
        *("::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "::127.0.0.1", "no address", ""),
    ],
)
def test_addresses_of_ones_own_network_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "8.8.8.8", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::808:808"])
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("url", ["ftp://example.com/a", "http://[x/", "http://", "file:///etc/passwd", "http://a..b/"])
async def test_an_address_that_is_none_of_the_web_is_unreachable(client: Client, url: str) -> None:
    with pytest.raises(Unreachable):
        await client.get(url, BytesIO, largest=9, allowed=anything, headers={})


def test_every_exception_of_aiohttp_s_client_is_translated() -> None:
    raised = [
        one
        for one in vars(aiohttp.client_exceptions).values()
        if isinstance(one, type) and issubclass(one, Exception) and not one.__name__.startswith("WS")  # web sockets
    ]

    assert len(raised) > 20
    assert [one for one in raised if not issubclass(one, TRANSLATED)] == []


# -- sitemaps, addresses


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
def test_what_is_no_sitemap_is_not_taken_for_an_empty_one(data: bytes) -> None:
    with pytest.raises(Unparsable):
        parsed(data)


def test_a_packed_sitemap_that_unpacks_to_far_more_is_refused() -> None:
    with pytest.raises(Unparsable, match="50 MB"):
        parsed(gzip.compress(b"<urlset>" + b" " * (51 * 1024 * 1024)))


def test_of_an_entry_only_its_own_address_is_read() -> None:
    image = (
        b'<i:image xmlns:i="http://www.google.com/schemas/sitemap-image/1.1"><i:loc>http://h/i.png</i:loc></i:image>'
    )

    sitemap = parsed(b"<urlset><url>" + image + b"<loc> http://h/a?x=1&amp;y=2 </loc></url><url/></urlset>")

    assert sitemap.pages == (Page(url="http://h/a?x=1&y=2", changed=""),)


@pytest.mark.parametrize(
    ("given", "spelled"),
    [
        (" HTTPS://WWW.Example.com:443#top ", "https://www.example.com/"),
        ("http://h:8080/a?b=1#c", "http://h:8080/a?b=1"),
        ("http://u:p@h/a", "http://h/a"),
        ("http://[::1]:80/", "http://[::1]/"),
        ("http://[x", "http://[x"),
    ],
)
def test_an_address_has_one_spelling(given: str, spelled: str) -> None:
    assert normal(given) == spelled
