"""A small local web site that records the requests it receives."""

import gzip
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html import escape

from aiohttp import web


@dataclass(kw_only=True)
class PageResponse:
    """The response of a path. With `etag`, a request with the same tag gets status 304."""

    text: str | bytes = ""
    type: str = "text/plain"
    status: int = 200
    etag: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def body(self) -> bytes:
        return self.text.encode() if isinstance(self.text, str) else self.text


@dataclass(kw_only=True)
class WebSite:
    """Serves `pages` by path, and lists them in `/sitemap.xml` with their `last_modified`.

    `fixed_responses` take precedence over both.
    """

    url: str = ""
    pages: dict[str, PageResponse] = field(default_factory=dict[str, PageResponse])
    last_modified: dict[str, str] = field(default_factory=dict[str, str])
    fixed_responses: dict[str, PageResponse] = field(default_factory=dict[str, PageResponse])
    requested_paths: list[str] = field(default_factory=list[str])
    headers: list[Mapping[str, str]] = field(default_factory=list[Mapping[str, str]])
    next_responses: list[PageResponse] = field(
        default_factory=list[PageResponse]
    )  # responses to the next requests, for any path
    answered_requests: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])

    def sitemap_xml(self) -> bytes:
        entries = "".join(self._sitemap_entry(path) for path in self.pages)
        return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'.encode()

    def _sitemap_entry(self, path: str) -> str:
        changed = f"<lastmod>{self.last_modified[path]}</lastmod>" if path in self.last_modified else ""
        return f"<url><loc>{escape(self.url + path)}</loc>{changed}</url>"

    def sitemap_index_xml(self, *paths: str) -> bytes:
        """Returns a sitemap index."""
        entries = "".join(f"<sitemap><loc>{self.url}{path}</loc></sitemap>" for path in paths)
        return f"<sitemapindex>{entries}</sitemapindex>".encode()

    def pack_sitemap(self, path: str) -> None:
        """Serve the current sitemap, compressed, at a path."""
        self.fixed_responses[path] = PageResponse(text=gzip.compress(self.sitemap_xml()), type="application/gzip")

    async def answer_request(self, request: web.Request) -> web.Response:
        self.requested_paths.append(request.path_qs)
        self.headers.append(dict(request.headers))
        served = (
            self.next_responses.pop(0)
            if self.next_responses and request.path != "/robots.txt"
            else self._response_for(request.path_qs)
        )
        is_unchanged = served.etag and request.headers.get("If-None-Match") == served.etag
        status = 304 if is_unchanged else served.status
        self.answered_requests.append((request.path_qs, status))
        headers = {"Content-Type": served.type} | ({"ETag": served.etag} if served.etag else {}) | {**served.headers}
        return web.Response(body=b"" if is_unchanged else served.body, status=status, headers=headers)

    def _response_for(self, path: str) -> PageResponse:
        page = self.fixed_responses.get(path) or self.pages.get(path)
        if page is not None:
            return page
        return (
            PageResponse(text=self.sitemap_xml(), type="text/xml")
            if path == "/sitemap.xml"
            else PageResponse(status=404)
        )


@asynccontextmanager
async def serve_web_site() -> AsyncGenerator[WebSite]:
    site = WebSite()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", site.answer_request)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        site.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield site
    finally:
        await runner.cleanup()
