"""A web site as a source: the pages that its sitemaps list and its robots.txt allows."""

import asyncio
import hashlib
import io
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import unquote, urlsplit

from storage.ingest.errors import UnparsableFile
from storage.ingest.load import SourceFile, has_known_format
from storage.ingest.sources.addresses import is_any_address, is_public_address
from storage.ingest.sources.content_cursor import ContentCursor, result_of_unreachable
from storage.ingest.sources.listing import SourceListing
from storage.ingest.sources.robots import RobotsRules, rewind_body
from storage.ingest.sources.site_client import ROBOT_NAME, SiteClient, UnreachableUrl, WebResponse, open_site_client
from storage.ingest.sources.sitemap import SitemapContent, SitemapPage, parse_sitemap
from storage.ingest.sources.source import (
    FetchedItem,
    FetchResult,
    SourceItem,
    UnchangedItem,
    UnsupportedItem,
)
from storage.ingest.sources.urls import host_of, normalize_url, origin_of

_MAX_SITEMAP_BYTES: Final = 50 * 1024 * 1024
_MAX_PAGE_BYTES: Final = 200 * 1024 * 1024
_MAX_SITEMAP_DEPTH: Final = 3  # levels of sitemaps that list sitemaps
_MAX_SITEMAPS: Final = 1000
_SETTLED_AFTER: Final = timedelta(days=2)
_SUFFIX_BY_TYPE: Final = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "text/markdown": ".md",
    "text/x-markdown": ".md",
    "text/csv": ".csv",
}
_SUFFIX_BY_VAGUE_TYPE: Final = {
    "": "",
    "application/octet-stream": "",
    "text/plain": ".txt",
}  # types for which the suffix of the URL may be more specific


@asynccontextmanager
async def open_site(
    url: str, *, allow_private: bool = False, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> "AsyncGenerator[SiteSource]":
    """Opens the site with its own connections, which are closed at the end of the block."""
    async with open_site_client(
        is_allowed_address=is_any_address if allow_private else is_public_address, clock=clock
    ) as client:
        yield SiteSource(url, client, clock=clock)


class SiteSource:
    """The pages below `url`, listed by the sitemaps of its robots.txt, else by `/sitemap.xml`.

    `url` may also be the URL of a sitemap. The id of an item is its path and query; on another host than that of `url`
    it begins with `//HOST`. Another host is allowed only if a sitemap that robots.txt lists lies on it. The version of
    a page is its `lastmod` once that is two days old: until then the page may change again on the same day of some
    time zone. The cursor holds the data for a conditional request, and a digest for sites that ignore such requests.
    """

    def __init__(self, url: str, client: SiteClient, *, clock: Callable[[], datetime]) -> None:
        self._url, self._client, self._clock = normalize_url(url), client, clock
        self._hosts = {host_of(self._url)}
        self._robots = RobotsRules(client)

    # -- listing the pages

    async def list_items(self) -> AsyncIterator[SourceItem]:
        """Yields the pages in the order of the sitemaps.

        Raises `ListingFailed` if a sitemap cannot be read, after the pages of the other sitemaps.
        """
        listing = SourceListing("pages")
        async for page in self._list_pages(listing):
            item = await self._item_for(page, listing)
            if item is not None and listing.add_item(item.id):
                yield item
        listing.end_listing()

    async def _list_pages(self, listing: SourceListing) -> AsyncIterator[SitemapPage]:
        waiting = deque((url, 1) for url in await self._root_sitemaps(listing))
        queued = {url for url, _ in waiting}
        while waiting:
            url, depth = waiting.popleft()
            sitemap = await self._fetch_sitemap(url, listing, is_root=depth == 1)
            for page in sitemap.pages:
                yield page
            nested = [nested_url for nested_url in map(normalize_url, sitemap.sitemaps) if nested_url not in queued]
            if nested and (depth > _MAX_SITEMAP_DEPTH or len(queued) + len(nested) > _MAX_SITEMAPS):
                listing.add_problem(
                    f"its sitemaps are more than {_MAX_SITEMAPS:,}, or nested deeper than {_MAX_SITEMAP_DEPTH}"
                )
                continue
            queued |= {*nested}
            waiting += [(nested_url, depth + 1) for nested_url in nested]

    async def _root_sitemaps(self, listing: SourceListing) -> list[str]:
        if _is_sitemap_url(self._url):
            return [self._url]
        robots = await self._robots.load_rules(self._url)
        if isinstance(robots, UnreachableUrl):
            listing.add_problem(f"its robots.txt cannot be had: {robots.reason}")
            return []
        sitemap_urls = [normalize_url(url) for url in robots.sitemaps]
        return list(dict.fromkeys(sitemap_urls)) or [f"{origin_of(self._url)}/sitemap.xml"]

    async def _fetch_sitemap(self, url: str, listing: SourceListing, *, is_root: bool) -> SitemapContent:
        async def check_host(target_url: str) -> str | None:
            return None if is_root or host_of(target_url) in self._hosts else "it is on another host"

        body = io.BytesIO()
        try:
            response = await self._client.fetch_url(
                url, lambda: rewind_body(body), max_bytes=_MAX_SITEMAP_BYTES, check_url=check_host, headers={}
            )
            if is_root:
                self._hosts |= {host_of(url), host_of(response.url)}
            return parse_sitemap(body.getvalue())
        except (UnreachableUrl, UnparsableFile) as exc:
            advice = "; give the address of its sitemap instead" if url.endswith("/sitemap.xml") and is_root else ""
            listing.add_problem(f"{url}: {exc.reason}{advice}")
            return SitemapContent()

    async def _item_for(self, page: SitemapPage, listing: SourceListing) -> SourceItem | None:
        """Returns the item of a page; None if the page lies outside the site or robots.txt forbids it."""
        url = normalize_url(page.url)
        if host_of(url) not in self._hosts or not self._is_below_root(url):
            return None
        robots = await self._robots.load_rules(url)
        if isinstance(robots, UnreachableUrl):
            listing.add_problem(f"the robots.txt of {host_of(url)} cannot be had: {robots.reason}")
            return None
        if not robots.can_fetch(url, ROBOT_NAME):
            return None
        return SourceItem(id=self._item_id_for(url), version=self._settled_version(page.last_modified), location=url)

    def _is_below_root(self, url: str) -> bool:
        if _is_sitemap_url(self._url) or host_of(url) != host_of(self._url):
            return True
        base, path = urlsplit(self._url).path, urlsplit(url).path
        return path == base or path.startswith(base.rstrip("/") + "/")

    def _item_id_for(self, url: str) -> str:
        parts = urlsplit(url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        return path if host_of(url) == host_of(self._url) else f"//{host_of(url)}{path}"

    def _settled_version(self, last_modified: str) -> str:
        """Returns the `lastmod` if it is more than two days old; empty otherwise."""
        try:
            modified = datetime.fromisoformat(last_modified)
        except ValueError:
            return ""
        modified = modified if modified.tzinfo is not None else modified.replace(tzinfo=UTC)
        return last_modified if modified + _SETTLED_AFTER < self._clock() else ""

    async def _refusal_reason(self, url: str) -> str | None:
        """Returns why a page, or the target of a redirect, may not be requested; None if it may."""
        url = normalize_url(url)
        if host_of(url) not in self._hosts:
            return f"it leads to another host, {host_of(url)}"
        return await self._robots.find_refusal(url)

    # -- fetching the content

    async def fetch_item(self, item: SourceItem, cursor: str, folder: Path) -> FetchResult:
        """Fetches the page with a conditional request."""
        known_cursor = ContentCursor.from_json(cursor)
        path = folder / hashlib.sha256(item.id.encode()).hexdigest()[:32] / "body"
        path.parent.mkdir()
        try:
            with path.open("wb") as file:
                response = await self._client.fetch_url(
                    item.location,
                    lambda: rewind_body(file),
                    max_bytes=_MAX_PAGE_BYTES,
                    check_url=self._refusal_reason,
                    headers=known_cursor.request_headers,
                )
        except UnreachableUrl as exc:
            return result_of_unreachable(exc)
        if response.status == 304:
            return known_cursor.confirm_unchanged(item)
        return await asyncio.to_thread(_result_of_response, item, response, path, known_cursor)


def _result_of_response(
    item: SourceItem, response: WebResponse, path: Path, known_cursor: ContentCursor
) -> FetchResult:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    etag, modified = response.headers.get("etag", ""), response.headers.get("last-modified", "")
    cursor = ContentCursor(etag=etag, modified=modified, digest=digest).to_json()
    if digest == known_cursor.digest:
        return UnchangedItem(version=item.version, cursor=cursor)
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    named_path = path.with_name(_file_name_for(item.location, suffix_for(media_type, item.location)))
    if not has_known_format(SourceFile(path=named_path, name=item.id)):
        reason = f"its type {media_type!r} is not read" if media_type else "it does not say its type"
        return UnsupportedItem(reason=reason, version=item.version, cursor=cursor)
    return FetchedItem(path=path.rename(named_path), link=item.location, version=item.version, cursor=cursor)


def suffix_for(media_type: str, url: str) -> str:
    """Returns the file suffix for a media type; for a vague type the suffix of the URL, if its format is known."""
    if media_type not in _SUFFIX_BY_VAGUE_TYPE:
        return _SUFFIX_BY_TYPE.get(media_type, "")
    url_suffix = "".join(PurePosixPath(urlsplit(url).path).suffixes[-1:]).lower()
    is_known = has_known_format(SourceFile(path=Path(f"x{url_suffix}"), name=""))
    return url_suffix if is_known else _SUFFIX_BY_VAGUE_TYPE[media_type]


def _file_name_for(url: str, suffix: str) -> str:
    """Returns a file name for the page, from which a document without a title gets its title."""
    stem = PurePosixPath(unquote(urlsplit(url).path)).stem
    safe = "".join(c for c in stem if c.isprintable() and c not in "/\\\0").strip(". ")
    return f"{safe[:40] or host_of(url)}{suffix}"


def _is_sitemap_url(url: str) -> bool:
    return urlsplit(url).path.lower().endswith((".xml", ".xml.gz"))
