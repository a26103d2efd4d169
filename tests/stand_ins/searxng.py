"""A stand-in for a SearXNG server over HTTP. It refuses what the real one refuses.

Like SearXNG's `webapp.search`: a format that the settings do not list is 403, a missing query and an invalid parameter
are 400, and the limiter answers 429. Real servers list only `html` until an admin adds `json`.
"""

import re
from collections.abc import AsyncGenerator, Collection, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

_LANGUAGE = re.compile(r"^(all|auto|[a-z]{2,3}(-[a-zA-Z]{2,4})?)$")

_COMMAND = re.compile(r"^(:[a-z]{2}|<\d+|!general)$")  # a language, a timeout, a category


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPage:
    """A page that the server finds for queries with all words of `for_words` (any query if there are none)."""

    url: str
    title: str
    content: str
    for_words: tuple[str, ...] = ()


def find_listed_pages(pages: Iterable[ListedPage], query: str) -> list[ListedPage]:
    words = set(re.findall(r"\w+", query.casefold()))
    return [page for page in pages if all(word.casefold() in words for word in page.for_words)]


@dataclass(kw_only=True)
class SearxngStandIn:
    """`formats` are those of its settings.yml; `raw_answer` replaces the JSON; `max_requests` is its limiter."""

    url: str = ""
    pages: list[ListedPage] = field(default_factory=list[ListedPage])
    formats: Collection[str] = ("html", "json")
    max_requests: int | None = None
    status: int | None = None
    raw_answer: bytes | None = None
    location: str | None = None
    queries: list[str] = field(default_factory=list[str])
    languages: list[str] = field(default_factory=list[str])
    request_count: int = 0

    async def answer_search(self, request: web.Request) -> web.StreamResponse:
        self.request_count += 1
        if self.max_requests is not None and self.request_count > self.max_requests:
            return web.Response(status=429, text="Too Many Requests")
        output_format = request.query.get("format", "html")
        output_format = output_format if output_format in ("html", "csv", "json", "rss") else "html"
        if output_format not in self.formats:
            return web.Response(status=403, text="<h1>Forbidden</h1>", content_type="text/html")
        if not request.query.get("q"):
            return web.json_response({"error": "No query"}, status=400)
        language = request.query.get("language", "all")
        if not _LANGUAGE.match(language) or request.query.get("safesearch", "0") not in ("0", "1", "2"):
            return web.json_response({"error": "Invalid value for parameter"}, status=400)
        parts = request.query["q"].split()
        if any(part.startswith("!!") for part in parts):  # redirects to another search engine
            return web.Response(status=302, headers={"Location": "https://elsewhere.example/"})
        query = " ".join(part for part in parts if not _COMMAND.match(part))
        self.queries.append(query)
        self.languages.append(language)
        return self._answer_query(query)

    def _answer_query(self, query: str) -> web.Response:
        if self.location is not None:
            return web.Response(status=302, headers={"Location": self.location})
        if self.status is not None:
            return web.Response(status=self.status, text="Internal Server Error")
        if self.raw_answer is not None:
            return web.Response(body=self.raw_answer, content_type="application/json")
        results = [
            {"url": page.url, "title": page.title, "content": page.content, "engine": "stand-in", "score": 1.0}
            for page in find_listed_pages(self.pages, query)
        ]
        return web.json_response(
            {
                "query": query,
                "number_of_results": 0,
                "results": results,
                "answers": [],
                "corrections": [],
                "infoboxes": [],
                "suggestions": [],
                "unresponsive_engines": [],
            }
        )


@asynccontextmanager
async def serve_searxng() -> AsyncGenerator[SearxngStandIn]:
    server = SearxngStandIn()
    app = web.Application()
    app.router.add_get("/search", server.answer_search)
    app.router.add_post("/search", server.answer_search)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield server
    finally:
        await runner.cleanup()
