"""A list interface (REST, JSON) as a source: each item of the list is a document."""

import asyncio
import hashlib
import io
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from storage.ingest.errors import ListingFailed
from storage.ingest.sources.content_cursor import ContentCursor, result_of_unreachable
from storage.ingest.sources.listing import SourceListing
from storage.ingest.sources.principals import PrincipalMapping
from storage.ingest.sources.rest.item_paths import ItemPaths, ListPath, ValuePath
from storage.ingest.sources.rest.json_client import HeaderCredential, JsonClient, open_json_client, parse_json
from storage.ingest.sources.rest.listed_content import (
    ContentSpool,
    ListedContent,
    SpoolFull,
    fetch_listed_content,
    write_content,
)
from storage.ingest.sources.rest.paging import MissingCursorParameter, Paging, find_next_reference
from storage.ingest.sources.robots import rewind_body
from storage.ingest.sources.site import suffix_for
from storage.ingest.sources.site_client import UnreachableUrl, WebResponse
from storage.ingest.sources.source import (
    ClosedItem,
    FetchedItem,
    FetchFailure,
    FetchResult,
    SourceItem,
    UnchangedItem,
    UnsupportedItem,
)
from storage.search.ids import Subject

_MAX_LIST_PAGES: Final = 20_000
_MAX_ID_CHARACTERS: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class RestList:
    """What is known of a list interface. `suffix` is that of the format of its texts: `.txt`, `.html` or `.md`."""

    url: str
    items: ListPath
    paths: ItemPaths
    suffix: str
    paging: Paging
    principals: PrincipalMapping


@asynccontextmanager
async def open_rest_list(
    rest_list: RestList,
    credential: HeaderCredential | None,
    *,
    allow_private: bool = False,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> "AsyncGenerator[RestSource]":
    """Opens the list with its own connections, which are closed at the end of the block."""
    async with open_json_client(rest_list.url, credential, allow_private=allow_private, clock=clock) as client:
        source = RestSource(rest_list, client)
        try:
            yield source
        finally:
            source.close()


class RestSource:
    """The items of a list, by their own ids.

    The list brings the content of its items, and the version of an item is its digest. Or the list says where the
    content is: then the version is what the list says of the last change, and the cursor holds the data for a
    conditional request. Both contain who may read the item.
    """

    def __init__(self, rest_list: RestList, client: JsonClient) -> None:
        self._list, self._paths, self._client = rest_list, rest_list.paths, client
        self._spool = ContentSpool()

    def close(self) -> None:
        self._spool.close()

    # -- listing

    async def list_items(self) -> AsyncIterator[SourceItem]:
        """Yields the items in the order of the list. Raises `ListingFailed` after those that could be listed."""
        listing = SourceListing("items")
        try:
            async for url, items in self._load_pages():
                for value in items:
                    item = self._item_for(url, value)
                    if listing.add_item(item.id):
                        yield item
        except (UnreachableUrl, SpoolFull, MissingCursorParameter) as exc:
            listing.add_problem(exc.reason)
        listing.end_listing()

    async def _load_pages(self) -> AsyncIterator[tuple[str, list[object]]]:
        """Yields the URL and items of each page. Raises `UnreachableUrl`, `ListingFailed`, `MissingCursorParameter`."""
        url, requested, item_count = self._list.url, set[str](), 0
        while True:
            requested.add(url)
            answer = await self._client.load_json(url)
            items = self._list.items.find_items(answer.value)
            if items is None:
                raise ListingFailed(f"an answer has no list at {self._list.items.text}")
            item_count += len(items)
            yield answer.url, items
            reference = find_next_reference(
                self._list.paging, url, answer.headers, answer.value, item_count=item_count, page_items=len(items)
            )
            if reference is None:
                return
            url = self._client.resolve_url(answer.url, reference)
            if url in requested or len(requested) >= _MAX_LIST_PAGES:
                raise ListingFailed(f"its pages lead in a circle, or are more than {_MAX_LIST_PAGES:,}")

    def _item_for(self, url: str, value: object) -> SourceItem:
        """Raises `ListingFailed` for an item without an id: it could not be told from a deleted one."""
        item_id = self._paths.id.find_text(value)
        if not item_id or len(item_id) > _MAX_ID_CHARACTERS:
            raise ListingFailed(f"an item has no id at {self._paths.id.text}, or one that is too long")
        content = self._listed_content_for(url, item_id, value)
        self._spool.add_content(item_id, content)
        location = self._content_url_for(url, value) or content.link
        return SourceItem(id=item_id, version=self._version_of(value, content), location=location)

    def _listed_content_for(self, url: str, item_id: str, value: object) -> ListedContent:
        paths = self._paths
        link = "" if paths.link is None else paths.link.find_text(value)
        updated = _text_at(paths.updated, value)
        return ListedContent(
            text="" if paths.content_url is not None else "\n\n".join(paths.text.find_texts(value)),
            suffix=self._list.suffix,
            title=_text_at(paths.title, value)[:300] or item_id,
            link=self._client.resolve_url(url, link) if link else f"{self._list.url}#{item_id}",
            fields={"updated": updated} if updated else {},
            readers=self._readers_of(value),
        )

    def _readers_of(self, value: object) -> frozenset[Subject]:
        """Returns an empty set only if the list says nothing of readers at all."""
        if self._paths.readers is None:
            return frozenset()
        return self._list.principals.readers_of(self._paths.readers.find_texts(value))

    def _content_url_for(self, url: str, value: object) -> str:
        reference = _text_at(self._paths.content_url, value)
        return self._client.resolve_url(url, reference) if reference else ""

    def _version_of(self, value: object, content: ListedContent) -> str:
        """Returns an empty version if only fetching the content shows whether it changed."""
        if self._paths.content_url is None:
            return content.digest
        updated = _text_at(self._paths.updated, value)
        return f"{updated} {content.digest}" if updated else ""

    # -- fetching

    async def fetch_item(self, item: SourceItem, cursor: str, folder: Path) -> FetchResult:
        content = await asyncio.to_thread(self._spool.read_content, item.id)
        if self._paths.content_url is None:
            if not content.text.strip():
                return UnsupportedItem(reason="it has no text", version=item.version, cursor="")
            return await fetch_listed_content(item, cursor, folder, content)
        known = ContentCursor.from_json(cursor)
        result = await self._fetch_separate_content(item, known, folder, content)
        if not content.readers or list(known.readers) == sorted(content.readers):
            return result
        match result:
            case FetchFailure(reason=reason):
                return ClosedItem(reason=reason)  # its documents have their former readers
            case FetchedItem() as fetched:
                return replace(fetched, has_other_readers=True)
            case other:
                return other

    async def _fetch_separate_content(
        self, item: SourceItem, known: ContentCursor, folder: Path, content: ListedContent
    ) -> FetchResult:
        body = io.BytesIO()
        is_listed_alike = known.listed == content.digest
        headers = known.request_headers if is_listed_alike else dict[str, str]()
        if not item.location:
            return UnsupportedItem(reason="the list does not say where its content is", version=item.version, cursor="")
        try:
            response = await self._client.fetch_content(item.location, lambda: rewind_body(body), headers=headers)
            if response.status == 304:
                return known.confirm_unchanged(item)
            suffix, data = self._read_body(response, item, body.getvalue())
        except UnreachableUrl as exc:
            return result_of_unreachable(exc)
        digest = hashlib.sha256(data).hexdigest()
        cursor = ContentCursor(
            etag=response.headers.get("etag", ""),
            digest=digest,
            listed=content.digest,
            readers=sorted(content.readers),
        ).to_json()
        if is_listed_alike and digest == known.digest:
            return UnchangedItem(version=item.version, cursor=cursor)
        if not suffix or not data.strip():
            return UnsupportedItem(reason="it has no text of a known format", version=item.version, cursor=cursor)
        return FetchedItem(
            path=await asyncio.to_thread(write_content, folder, item.id, suffix, data),
            link=content.link,
            version=item.version,
            cursor=cursor,
            title=content.title,
            fields=content.fields,
            readers=content.readers,
        )

    def _read_body(self, response: WebResponse, item: SourceItem, data: bytes) -> tuple[str, bytes]:
        """Returns the suffix and the content: of JSON what stands at the path of the text, else the file itself."""
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type == "application/json" or media_type.endswith("+json"):
            texts = self._paths.text.find_texts(parse_json(data))
            return self._list.suffix, "\n\n".join(texts).encode("utf-8", "replace")
        return suffix_for(media_type, item.location), data


def _text_at(path: ValuePath | None, value: object) -> str:
    return "" if path is None else path.find_text(value)
