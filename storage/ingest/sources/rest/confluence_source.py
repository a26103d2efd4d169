"""Confluence Cloud as a source: the pages of its spaces, with who may read each page.

Pages come from the REST API v2 (`/wiki/api/v2`), and read restrictions from v1, which v2 has no equivalent of
(https://developer.atlassian.com/cloud/confluence/rest/).
"""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import urlencode

from pydantic import BaseModel, ValidationError

from storage.ingest.errors import ListingFailed
from storage.ingest.sources.listing import SourceListing
from storage.ingest.sources.principals import PrincipalMapping, intersect_readers
from storage.ingest.sources.rest.confluence_answers import (
    AnswerLinks,
    PageAncestorList,
    ReadRestriction,
    RestrictionLists,
    WikiPage,
    WikiPageList,
    WikiSpace,
    WikiSpaceList,
)
from storage.ingest.sources.rest.json_client import HeaderCredential, JsonClient, open_json_client
from storage.ingest.sources.rest.listed_content import (
    ContentSpool,
    ListedContent,
    SpoolFull,
    fetch_listed_content,
)
from storage.ingest.sources.site_client import UnreachableUrl
from storage.ingest.sources.source import FetchResult, SourceItem
from storage.search.ids import Subject
from storage.search.subjects import NOBODY

_MAX_DEPTH: Final = 200  # of pages below one another
_LIST_LIMIT: Final = 100  # of 250, since the pages come with their bodies
_RESTRICTION_LIMIT: Final = 200
_CONCURRENT_RESTRICTIONS: Final = 50  # the client sends two at once
_HIDDEN_STATUSES: Final = frozenset({401, 403, 404, 410})
_CLOSED: Final = frozenset({NOBODY})
_CDATA: Final = re.compile(r"(<ac:plain-text-body>\s*)?<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_MACRO_PARAMETER: Final = re.compile(r"<ac:parameter\b[^>]*>[^<]*</ac:parameter>")
_NUMBER: Final = re.compile(r"\d{1,40}")


Answer = TypeVar("Answer", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ListedPage:
    """What is kept of a page until all are listed. Its content waits in the spool."""

    id: str
    version: int
    link: str
    parent_page: str | None  # its id, if the parent is a page
    has_other_parent: bool  # a folder, for example


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfluenceSite:
    """`url` ends with `/wiki`. `spaces` are keys; none: all spaces that the user sees."""

    url: str
    spaces: tuple[str, ...] = ()
    principals: PrincipalMapping


@asynccontextmanager
async def open_confluence(
    site: ConfluenceSite,
    credential: HeaderCredential,
    *,
    allow_private: bool = False,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> "AsyncGenerator[ConfluenceSource]":
    """Opens the site with its own connections, which are closed at the end of the block."""
    async with open_json_client(site.url, credential, allow_private=allow_private, clock=clock) as client:
        source = ConfluenceSource(site, client)
        try:
            yield source
        finally:
            source.close()


class ConfluenceSource:
    """The current pages of the spaces. The id of an item is the id of the page.

    A page may be read by those whom its own read restriction and those of all pages above it name. Changing a
    restriction does not change the version of a page, so each sync asks for the restriction of each page, and the
    version of an item contains its readers. A restriction that the site hides admits nobody. Where it cannot be had
    now, the page is left out of a listing that is incomplete, so its documents stay as they are.
    """

    def __init__(self, site: ConfluenceSite, client: JsonClient) -> None:
        self._site, self._client, self._spool = site, client, ContentSpool()
        self._readers_by_page: dict[str, frozenset[Subject]] = {}

    def close(self) -> None:
        self._spool.close()

    # -- listing the pages

    async def list_items(self) -> AsyncIterator[SourceItem]:
        """Yields the pages. Raises `ListingFailed` after those that could be listed."""
        pages: dict[str, _ListedPage] = {}
        listing = SourceListing("pages")
        try:
            await self._list_spaces(pages, listing)
        except (UnreachableUrl, SpoolFull, ListingFailed) as exc:
            listing.add_problem(exc.reason)
        restriction_by_page, unknown_count = await self._load_restrictions(list(pages)), 0
        for page in pages.values():
            try:
                readers = await self._effective_readers(page, pages, restriction_by_page)
            except (UnreachableUrl, ListingFailed, KeyError):  # the documents that there are stay as they are
                unknown_count += 1
                continue
            self._readers_by_page[page.id] = readers
            version = f"{page.version} {' '.join(sorted(readers))}".strip()
            yield SourceItem(id=page.id, version=version, location=page.link)
        if unknown_count:
            listing.add_problem(f"who may read {unknown_count:,} of its pages could not be found out")
        listing.end_listing()

    async def _list_spaces(self, pages: dict[str, _ListedPage], listing: SourceListing) -> None:
        """Adds the pages of all spaces. Raises `UnreachableUrl`, `SpoolFull`, `ListingFailed`."""
        for space in [space async for space in self._load_spaces()]:
            url = self._url_of(
                f"/api/v2/spaces/{_checked_id(space.id)}/pages",
                {"limit": str(_LIST_LIMIT), "status": "current", "body-format": "storage"},
            )
            async for answer in self._load_answers(url, WikiPageList):
                for page in answer.results:
                    listing.add_item(_checked_id(page.id))
                    pages[page.id] = self._keep_page(page, space)

    async def _load_spaces(self) -> AsyncIterator[WikiSpace]:
        queries = [{"keys": key, "limit": "250"} for key in self._site.spaces] or [{"limit": "250"}]
        for query in queries:
            count = 0
            async for answer in self._load_answers(self._url_of("/api/v2/spaces", query), WikiSpaceList):
                for space in answer.results:
                    count += 1
                    yield space
            if not count:
                missing = f"no space {query['keys']}" if "keys" in query else "no space"
                raise ListingFailed(f"there is {missing} that the user may see")

    def _keep_page(self, page: WikiPage, space: WikiSpace) -> _ListedPage:
        link = f"{self._site.url}{page.links.webui}" if page.links.webui.startswith("/") else self._site.url
        fields = {"space": space.key, "updated": page.version.created_at[:10]}
        self._spool.add_content(
            page.id,
            ListedContent(
                text=_html_of(page),
                suffix=".html",
                title=page.title[:300],
                link=link,
                fields={name: value for name, value in fields.items() if value},
            ),
        )
        return _ListedPage(
            id=page.id,
            version=page.version.number,
            link=link,
            parent_page=page.parent_id if page.parent_type == "page" else None,
            has_other_parent=page.parent_id is not None and page.parent_type != "page",
        )

    # -- who may read a page

    async def _load_restrictions(self, page_ids: Sequence[str]) -> dict[str, frozenset[Subject]]:
        """Returns the readers that the restriction of each page itself names; empty if it has none.

        A page whose restriction cannot be had now is left out.
        """
        readers: dict[str, frozenset[Subject]] = {}

        async def load_restriction(page: str) -> None:
            with suppress(UnreachableUrl):
                readers[page] = await self._load_restriction(page)

        for start in range(0, len(page_ids), _CONCURRENT_RESTRICTIONS):
            await asyncio.gather(*map(load_restriction, page_ids[start : start + _CONCURRENT_RESTRICTIONS]))
        return readers

    async def _load_restriction(self, content_id: str) -> frozenset[Subject]:
        """Raises `UnreachableUrl` if the site may answer later; a restriction that it hides admits nobody."""
        query = {"expand": "restrictions.user,restrictions.group", "limit": str(_RESTRICTION_LIMIT)}
        url = self._url_of(f"/rest/api/content/{content_id}/restriction/byOperation/read", query)
        try:
            restrictions = (await self._load_answer(url, ReadRestriction))[0].restrictions
        except UnreachableUrl as exc:
            if exc.status not in _HIDDEN_STATUSES:
                raise
            return _CLOSED
        if not restrictions.user.results and not restrictions.group.results:
            return frozenset()
        return self._site.principals.readers_of(_principals_of(restrictions))

    async def _effective_readers(
        self,
        page: _ListedPage,
        pages: Mapping[str, _ListedPage],
        restriction_by_page: dict[str, frozenset[Subject]],
    ) -> frozenset[Subject]:
        """Returns who may read the page: whom its restriction and those of everything above it name."""
        readers, current = restriction_by_page[page.id], page
        for _ in range(_MAX_DEPTH):
            parent = pages.get(current.parent_page or "")
            if parent is None:
                break
            readers = intersect_readers(readers, restriction_by_page[parent.id])
            current = parent
        else:
            return _CLOSED  # in a circle
        if current.parent_page is None and not current.has_other_parent:
            return readers
        for ancestor in await self._load_ancestors(current.id):
            if ancestor not in restriction_by_page:
                restriction_by_page[ancestor] = await self._load_restriction(ancestor)
            readers = intersect_readers(readers, restriction_by_page[ancestor])
        return readers

    async def _load_ancestors(self, page_id: str) -> list[str]:
        """Returns the ids of what lies above a page whose parent is not listed, such as folders.

        Raises `UnreachableUrl`, `ListingFailed`.
        """
        url = self._url_of(f"/api/v2/pages/{page_id}/ancestors", {"limit": "250"})
        return [
            _checked_id(ancestor.id)
            async for answer in self._load_answers(url, PageAncestorList)
            for ancestor in answer.results
        ]

    # -- requests

    async def _load_answers(self, url: str, answer_type: type[Answer]) -> AsyncIterator[Answer]:
        """Yields the answers of a list, one for each of its pages. Raises `UnreachableUrl`, `ListingFailed`."""
        requested = set[str]()
        while url:
            if url in requested:
                raise ListingFailed("its lists lead in a circle")
            requested.add(url)
            answer, final_url = await self._load_answer(url, answer_type)
            yield answer
            links: AnswerLinks = getattr(answer, "links", AnswerLinks())
            url = self._client.resolve_url(final_url, links.next) if links.next else ""

    async def _load_answer(self, url: str, answer_type: type[Answer]) -> tuple[Answer, str]:
        answer = await self._client.load_json(url)
        try:
            return answer_type.model_validate(answer.value), answer.url
        except ValidationError as exc:
            raise UnreachableUrl("an answer is not that of Confluence") from exc

    def _url_of(self, path: str, query: Mapping[str, str]) -> str:
        return f"{self._site.url}{path}?{urlencode(query)}"

    async def fetch_item(self, item: SourceItem, cursor: str, folder: Path) -> FetchResult:
        content = await asyncio.to_thread(self._spool.read_content, item.id)
        readers = self._readers_by_page[item.id]
        return await fetch_listed_content(item, cursor, folder, replace(content, readers=readers))


def _principals_of(restrictions: RestrictionLists) -> list[str]:
    users = [name for user in restrictions.user.results for name in (f"user:{user.account_id}", user.email or "")]
    groups = [name for group in restrictions.group.results for name in (f"group:{group.name}", f"group:{group.id}")]
    return [name for name in (*users, *groups) if name]


def _checked_id(content_id: str) -> str:
    """Returns the id, which becomes a part of URLs. Raises `ListingFailed` if it is no number."""
    if not _NUMBER.fullmatch(content_id):
        raise ListingFailed("an answer is not that of Confluence")
    return content_id


def _preformat_text(found: re.Match[str]) -> str:
    """Returns the text of a macro as code, and other texts, such as those of links, as they are."""
    text = escape(found[2])
    return f"<pre><code>{text}</code></pre>" if found[1] else f"<pre>{text}</pre>"


def _html_of(page: WikiPage) -> str:
    """Returns the page as HTML: storage format is XHTML with elements for macros, whose texts may stand in CDATA."""
    body = _MACRO_PARAMETER.sub("", page.body.storage.value)
    body = _CDATA.sub(_preformat_text, body)
    title = escape(page.title)
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1>{body}</body></html>"
