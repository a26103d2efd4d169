"""A small web site on this machine, which remembers what it was asked for."""

import gzip
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html import escape

from aiohttp import web


@dataclass(kw_only=True)
class Served:
    """What a path answers. With `etag`, a request that has it gets a 304."""

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
    """`pages` by path, all named by `/sitemap.xml`, with their `lastmod` in `changed`; `fixed` wins over both."""

    url: str = ""
    pages: dict[str, Served] = field(default_factory=dict[str, Served])
    changed: dict[str, str] = field(default_factory=dict[str, str])
    fixed: dict[str, Served] = field(default_factory=dict[str, Served])
    asked: list[str] = field(default_factory=list[str])
    headers: list[Mapping[str, str]] = field(default_factory=list[Mapping[str, str]])
    busy: list[Served] = field(default_factory=list[Served])  # what the next requests get, whatever they ask for
    answered: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])

    def sitemap(self) -> bytes:
        entries = "".join(self._entry(path) for path in self.pages)
        return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'.encode()

    def _entry(self, path: str) -> str:
        changed = f"<lastmod>{self.changed[path]}</lastmod>" if path in self.changed else ""
        return f"<url><loc>{escape(self.url + path)}</loc>{changed}</url>"

    def index(self, *paths: str) -> bytes:
        """A sitemap of sitemaps."""
        entries = "".join(f"<sitemap><loc>{self.url}{path}</loc></sitemap>" for path in paths)
        return f"<sitemapindex>{entries}</sitemapindex>".encode()

    def pack_sitemap(self, path: str) -> None:
        """The sitemap of now, packed, at a path."""
        self.fixed[path] = Served(text=gzip.compress(self.sitemap()), type="application/gzip")

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(request.path_qs)
        self.headers.append(dict(request.headers))
        served = self.busy.pop(0) if self.busy and request.path != "/robots.txt" else self._served(request.path_qs)
        known = served.etag and request.headers.get("If-None-Match") == served.etag
        status = 304 if known else served.status
        self.answered.append((request.path_qs, status))
        headers = {"Content-Type": served.type} | ({"ETag": served.etag} if served.etag else {}) | {**served.headers}
        return web.Response(body=b"" if known else served.body, status=status, headers=headers)

    def _served(self, path: str) -> Served:
        given = self.fixed.get(path) or self.pages.get(path)
        if given is not None:
            return given
        return Served(text=self.sitemap(), type="text/xml") if path == "/sitemap.xml" else Served(status=404)


@asynccontextmanager
async def a_site() -> AsyncGenerator[WebSite]:
    site = WebSite()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", site.answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        site.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield site
    finally:
        await runner.cleanup()
