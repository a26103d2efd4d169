"""Fetching single pages: what is fetched, and that every page that may not or cannot be read is one reason."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from aiohttp import web as aiohttp_web

from storage.ingest.sources.addresses import is_any_address
from storage.ingest.sources.web_page import PageResult, ReadablePage, UnreadablePage, WebPageFetcher
from tests.stand_ins.site import PageResponse, WebSite, serve_web_site

HTML = "text/html; charset=utf-8"


@pytest.fixture
async def site() -> AsyncIterator[WebSite]:
    async with serve_web_site() as web_site:
        yield web_site


def is_loopback(address: str) -> bool:
    """Stands in for "public": the stand-in's own address."""
    return address == "127.0.0.1"


async def fetch_page(url: str, fetcher: WebPageFetcher | None = None) -> PageResult:
    [result] = await (fetcher or WebPageFetcher(is_allowed_address=is_loopback)).fetch_pages([url])
    return result


def reason_of(result: PageResult) -> str:
    assert isinstance(result, UnreadablePage)
    return result.reason


async def test_a_page_is_fetched_with_its_format(site: WebSite) -> None:
    site.pages["/a"] = PageResponse(text="<p>words", type=HTML)

    assert await fetch_page(f"{site.url}/a#part") == ReadablePage(
        url=f"{site.url}/a", final_url=f"{site.url}/a", suffix=".html", body=b"<p>words"
    )
    assert site.requested_paths == ["/robots.txt", "/a"]


async def test_results_keep_the_order_and_robots_txt_is_asked_for_once(site: WebSite) -> None:
    site.pages |= {f"/{n}": PageResponse(text=str(n), type=HTML) for n in range(3)}
    fetcher = WebPageFetcher(is_allowed_address=is_loopback)

    results = await fetcher.fetch_pages([f"{site.url}/{n}" for n in (2, 0, 1, 2)])

    assert [result.body for result in results if isinstance(result, ReadablePage)] == [b"2", b"0", b"1", b"2"]
    assert site.requested_paths == ["/robots.txt", "/2", "/0", "/1"]


async def test_a_page_that_robots_txt_disallows_is_not_requested(site: WebSite) -> None:
    site.fixed_responses["/robots.txt"] = PageResponse(text="User-agent: *\nDisallow: /private")
    site.pages["/private/a"] = PageResponse(text="<p>secret", type=HTML)
    site.pages["/moved"] = PageResponse(status=302, headers={"Location": "/private/a"})

    assert "robots.txt" in reason_of(await fetch_page(f"{site.url}/private/a"))
    assert "robots.txt" in reason_of(await fetch_page(f"{site.url}/moved"))
    assert "/private/a" not in site.requested_paths


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "http://localhost:1/", "http://[::1]:1/", "http://10.0.0.1/"])
async def test_private_addresses_are_refused_by_default(url: str) -> None:
    [result] = await WebPageFetcher().fetch_pages([url])

    assert "robots.txt does not allow it" in reason_of(result)  # it cannot be had, so nothing is allowed


async def test_a_redirect_to_a_private_address_is_not_followed(site: WebSite) -> None:
    async with serve_web_site() as inside:
        inside.pages["/admin"] = PageResponse(text="<p>secret", type=HTML)
        private_url = inside.url.replace("127.0.0.1", "127.0.0.2")
        site.pages["/out"] = PageResponse(status=302, headers={"Location": f"{private_url}/admin"})

        result = await fetch_page(f"{site.url}/out")

        assert isinstance(result, UnreadablePage)
        assert inside.requested_paths == []


async def test_a_large_page_is_given_up(site: WebSite) -> None:
    site.pages["/large"] = PageResponse(text=b"x" * 10_000_000, type=HTML)

    assert reason_of(await fetch_page(f"{site.url}/large")) == "it is larger than 3 MB"


@pytest.mark.parametrize("media_type", ["image/png", "application/zip", "application/octet-stream", "text/csv"])
async def test_only_pages_of_text_are_read(site: WebSite, media_type: str) -> None:
    site.pages["/a"] = PageResponse(text="words", type=media_type)

    assert reason_of(await fetch_page(f"{site.url}/a")) == "it is no page of text"


async def test_endless_redirects_and_missing_pages_have_a_reason(site: WebSite) -> None:
    site.pages["/loop"] = PageResponse(status=302, headers={"Location": "/loop"})

    assert "redirects" in reason_of(await fetch_page(f"{site.url}/loop"))
    assert reason_of(await fetch_page(f"{site.url}/missing")) == "the site answers 404"


async def test_a_page_that_never_ends_is_given_up() -> None:
    released = asyncio.Event()

    async def answer_slowly(request: aiohttp_web.Request) -> aiohttp_web.StreamResponse:
        if request.path == "/robots.txt":
            raise aiohttp_web.HTTPNotFound
        response = aiohttp_web.StreamResponse(headers={"Content-Type": HTML})
        await response.prepare(request)
        await response.write(b"<p>one word")
        await released.wait()
        return response

    app = aiohttp_web.Application()
    app.router.add_get("/{path:.*}", answer_slowly)
    runner = aiohttp_web.AppRunner(app, access_log=None)
    await runner.setup()
    await aiohttp_web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/slow"
        fetcher = WebPageFetcher(is_allowed_address=is_any_address, page_timeout=timedelta(milliseconds=300))
        assert reason_of(await fetch_page(url, fetcher)) == "it does not answer in time"
    finally:
        released.set()
        await runner.cleanup()
