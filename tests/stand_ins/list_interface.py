"""A strict list interface (REST, JSON): it refuses what real ones refuse, and records the requests it receives."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from aiohttp import web

LIST_TOKEN: Final = "list-token-5309"
_MAX_LIMIT: Final = 250


@dataclass(kw_only=True)
class RecordedInterface(ABC):
    """Answers with `next_responses` first, and records each request with the status of its answer."""

    url: str = ""
    page_size: int = 2
    next_responses: list[tuple[int, Mapping[str, str]]] = field(default_factory=list[tuple[int, Mapping[str, str]]])
    answered_requests: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])

    async def answer_request(self, request: web.Request) -> web.Response:
        if self.next_responses:
            status, headers = self.next_responses.pop(0)
            response = web.Response(status=status, headers=headers)
        else:
            response = self.response_to(request)
        self.answered_requests.append((request.path_qs, response.status))
        return response

    @abstractmethod
    def response_to(self, request: web.Request) -> web.Response: ...


InterfaceT = TypeVar("InterfaceT", bound=RecordedInterface)


@asynccontextmanager
async def _serve_interface(interface: InterfaceT, path: str = "") -> AsyncGenerator[InterfaceT]:
    """Serves every path; the interface's own address ends with `path`."""
    app = web.Application()
    app.router.add_get("/{path:.*}", interface.answer_request)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        interface.url = f"http://127.0.0.1:{runner.addresses[0][1]}{path}"
        yield interface
    finally:
        await runner.cleanup()


@dataclass(kw_only=True)
class ListInterface(RecordedInterface):
    """Serves `items` at `/items`, by links, cursors or offsets, and `contents` at `/contents/ID` with their ETag."""

    items: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    contents: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])  # media type and text
    broken_after: int | None = None  # offset from which the list fails
    broken_contents: set[str] = field(default_factory=set[str])

    def response_to(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {LIST_TOKEN}":
            return web.json_response({"message": "unauthorized"}, status=401)
        if request.path == "/items":
            return self._list_response(request)
        if request.path.startswith("/contents/"):
            return self._content_response(request, request.path.removeprefix("/contents/"))
        if request.path == "/moved":
            return web.Response(status=302, headers={"Location": "http://localhost:9/items"})
        if request.path == "/error":
            return web.json_response({"error": "the database is away"})
        return web.Response(status=404)

    def _list_response(self, request: web.Request) -> web.Response:
        query = request.query
        limit = int(query.get("limit", self.page_size))
        cursor = query.get("cursor", "c0")
        if limit > _MAX_LIMIT or not (cursor.startswith("c") and cursor[1:].isdigit()):
            return web.json_response({"message": "bad request"}, status=400)
        offset = int(query["offset"]) if "offset" in query else int(cursor[1:])
        if self.broken_after is not None and offset >= self.broken_after:
            return web.json_response({"message": "not found"}, status=404)
        ids = sorted(self.items)
        results, has_more = ids[offset : offset + limit], offset + limit < len(ids)
        answer: dict[str, object] = {"results": [{"id": item, **self.items[item]} for item in results]}
        headers: dict[str, str] = {}
        if has_more:
            cursor = f"c{offset + limit}"
            answer |= {"cursor": cursor, "next": f"/items?cursor={cursor}&limit={limit}"}
            headers = {"Link": f'<{self.url}/items?cursor={cursor}>; rel="next"'}
        return web.json_response(answer, headers=headers)

    def _content_response(self, request: web.Request, item: str) -> web.Response:
        if item in self.broken_contents:
            return web.Response(status=403)
        if item not in self.contents:
            return web.Response(status=404)
        media_type, text = self.contents[item]
        etag = f'"{abs(hash(text))}"'
        if request.headers.get("If-None-Match") == etag:
            return web.Response(status=304)
        return web.Response(text=text, content_type=media_type, headers={"ETag": etag})


@asynccontextmanager
async def serve_list_interface() -> AsyncGenerator[ListInterface]:
    async with _serve_interface(ListInterface()) as interface:
        yield interface


# -- Confluence

CONFLUENCE_USER: Final = "mara@mills.example"
CONFLUENCE_TOKEN: Final = "wiki-token-5309"


@dataclass(kw_only=True)
class ConfluencePage:
    title: str
    body: str = "<p>words</p>"
    version: int = 1
    parent: str | None = None
    parent_type: str = "page"
    users: tuple[tuple[str, str], ...] = ()  # account id and mail address of those who may read it
    groups: tuple[str, ...] = ()


@dataclass(kw_only=True)
class ConfluenceStandIn(RecordedInterface):
    """The parts of Confluence Cloud's REST API that are read, as its reference describes them."""

    spaces: dict[str, str] = field(default_factory=lambda: {"HR": "101", "IT": "102"})
    pages: dict[str, dict[str, ConfluencePage]] = field(default_factory=lambda: {"HR": {}, "IT": {}})
    folders: dict[str, ConfluencePage] = field(default_factory=dict[str, ConfluencePage])  # not listed as pages
    broken_restrictions: dict[str, int] = field(default_factory=dict[str, int])  # status by page

    def response_to(self, request: web.Request) -> web.Response:
        from aiohttp import encode_basic_auth

        if request.headers.get("Authorization") != encode_basic_auth(CONFLUENCE_USER, CONFLUENCE_TOKEN):
            return web.json_response({"code": 401, "message": "Unauthorized"}, status=401)
        if int(request.query.get("limit", "25")) > _MAX_LIMIT:
            return web.json_response({"errors": [{"status": 400, "code": "INVALID_REQUEST_PARAMETER"}]}, status=400)
        match request.path.removeprefix("/wiki").strip("/").split("/"):
            case ["api", "v2", "spaces"]:
                keys = request.query["keys"].split(",") if "keys" in request.query else [*self.spaces]
                spaces = [{"id": self.spaces[key], "key": key} for key in keys if key in self.spaces]
                return web.json_response({"results": spaces, "_links": {}})
            case ["api", "v2", "spaces", space, "pages"]:
                return self._page_list(request, space)
            case ["api", "v2", "pages", page, "ancestors"]:
                ids = self._ancestor_ids(page)
                return web.json_response({"results": [{"id": i, "type": "page"} for i in ids], "_links": {}})
            case ["rest", "api", "content", page, "restriction", "byOperation", "read"]:
                return self._restriction_of(page)
            case _:
                return web.Response(status=404)

    def _page_list(self, request: web.Request, space: str) -> web.Response:
        key = next((key for key, number in self.spaces.items() if number == space), None)
        cursor = request.query.get("cursor", "p0")
        if key is None:
            return web.Response(status=404)
        if not (cursor.startswith("p") and cursor[1:].isdigit()) or request.query.get("body-format") != "storage":
            return web.json_response({"errors": [{"status": 400, "code": "INVALID_REQUEST_PARAMETER"}]}, status=400)
        offset, ids = int(cursor[1:]), sorted(self.pages[key])
        results = [self._page_json(page, key) for page in ids[offset : offset + self.page_size]]
        links = {"base": f"{self.url}"}
        if offset + self.page_size < len(ids):
            links["next"] = (
                f"/wiki/api/v2/spaces/{space}/pages?body-format=storage&limit=100&cursor=p{offset + self.page_size}"
            )
        return web.json_response({"results": results, "_links": links})

    def _page_json(self, page_id: str, space: str) -> dict[str, object]:
        page = self.pages[space][page_id]
        return {
            "id": page_id,
            "status": "current",
            "title": page.title,
            "spaceId": self.spaces[space],
            "parentId": page.parent,
            "parentType": None if page.parent is None else page.parent_type,
            "version": {"number": page.version, "createdAt": "2026-11-02T09:30:00.000Z"},
            "body": {"storage": {"value": page.body, "representation": "storage"}},
            "_links": {"webui": f"/spaces/{space}/pages/{page_id}"},
        }

    def _find_content(self, content_id: str) -> ConfluencePage | None:
        every_page = {**self.folders, **{key: page for pages in self.pages.values() for key, page in pages.items()}}
        return every_page.get(content_id)

    def _ancestor_ids(self, page_id: str) -> list[str]:
        ids: list[str] = []
        page = self._find_content(page_id)
        while page is not None and page.parent is not None:
            ids.insert(0, page.parent)
            page = self._find_content(page.parent)
        return ids

    def _restriction_of(self, page_id: str) -> web.Response:
        page = self._find_content(page_id)
        if page_id in self.broken_restrictions or page is None:
            return web.Response(status=self.broken_restrictions.get(page_id, 404))
        users = [{"type": "known", "accountId": account, "email": email} for account, email in page.users]
        groups = [{"type": "group", "name": name, "id": f"id-of-{name}"} for name in page.groups]
        lists = {name: {"results": rows, "size": len(rows)} for name, rows in (("user", users), ("group", groups))}
        return web.json_response({"operation": "read", "restrictions": lists, "_links": {}})


@asynccontextmanager
async def serve_confluence() -> AsyncGenerator[ConfluenceStandIn]:
    async with _serve_interface(ConfluenceStandIn(), "/wiki") as confluence:
        yield confluence
