"""The pages of one web search: fetched or taken from the database, and indexed in a bucket of their own."""

import asyncio
import hashlib
import re
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from agent.web_search.web_usage import WebUsage
from bot.ids import BucketId
from bot.web_search.page_outline import PageOutline, read_outline
from storage.ingest.sources.urls import normalize_url
from storage.search.ids import DocId
from storage.search.index import PutResult, ScopedIndex, SearchIndex
from storage.search.schema import Schema
from storage.search.scope import Scope
from storage.sql.web_page_store import StoredWebPage, WebPageStore

if TYPE_CHECKING:
    from storage.ingest.extract.candidates import Extractor
    from storage.ingest.files import SourceFile
    from storage.ingest.records import RejectedInput, SourceRecord
    from storage.ingest.sources.web_page import WebPageFetcher

WEB_BUCKET: Final = BucketId("web/pages")  # reserved: no other bucket may have this name
_WEB_DOC_ID: Final = re.compile(r"web/pages#[0-9a-f]{32}")
_BUCKET_TITLE: Final = "Web pages"
_MAX_CPU_S: Final = 5.0  # for reading one page
_MAX_PAGE_BYTES: Final = 8 * 1024 * 1024  # uncompressed, of a stored page

IndexOpener = Callable[[Path], Awaitable[SearchIndex]]


def web_doc_id_of(url: str) -> DocId:
    """The id of the page's document: equal for URLs that are equal when normalised."""
    return DocId(f"{WEB_BUCKET}#{hashlib.sha256(normalize_url(url).encode()).hexdigest()[:32]}")


def is_web_doc_id(doc_id: str) -> bool:
    return _WEB_DOC_ID.fullmatch(doc_id) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPage:
    """A page that was read, with its provenance."""

    doc_id: DocId
    url: str
    outline: PageOutline
    fetched_at: datetime

    @property
    def title(self) -> str:
        """A title of at least one character."""
        return self.outline.title or self.host

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or self.url


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedUrl:
    """What became of a URL: its page, or why it has none. `is_fetched`: over the network, not from the database.

    `byte_count`: of a page that was fetched, uncompressed.
    """

    url: str
    page: WebPage | None = None
    reason: str = ""
    is_fetched: bool = True
    byte_count: int = 0


@dataclass(slots=True)
class WebPageIndex:
    """The index of one web search's pages. Only this search reads it."""

    index: SearchIndex
    folder: Path
    store: WebPageStore
    fetcher: "WebPageFetcher"
    extractor: "Extractor"
    lifetime: timedelta
    language: str
    usage: WebUsage = field(default_factory=WebUsage)
    pages: dict[DocId, WebPage] = field(default_factory=dict[DocId, WebPage])

    def scoped_index(self) -> ScopedIndex:
        """All of its pages: they are public."""
        scope = Scope(tenant=self.index.tenant, buckets=frozenset({WEB_BUCKET}), ignores_readers=True)
        return self.index.within_scope(scope)

    async def add_pages(self, urls: Sequence[str], time_limit: timedelta) -> list[LoadedUrl]:
        """Reads the pages and indexes those that are not indexed yet. Returns a result for each URL, in order.

        Pages that the network does not deliver within `time_limit` are left out, as is a page under a second address.

        Raises what the index and the database raise, and `OSError`.
        """
        doc_ids = {url: web_doc_id_of(url) for url in urls}
        stored = {page.page: page for page in await self.store.load_pages(list(doc_ids.values()))}
        new_urls = [url for url, doc_id in doc_ids.items() if doc_id not in stored]
        failures, sizes = await self._fetch_and_store(new_urls, stored, time_limit)
        page_by_url = {page.url: page for page in reversed(stored.values())}
        known_urls = {page.url for page in self.pages.values()}
        self.pages |= await self._index_pages([page for url, page in page_by_url.items() if url not in known_urls])
        return [
            LoadedUrl(
                url=url,
                page=self.pages.get(doc_id),
                reason=failures.get(url, "" if doc_id in self.pages else "there is no text in it"),
                is_fetched=url in new_urls,
                byte_count=sizes.get(url, 0),
            )
            for url, doc_id in doc_ids.items()
        ]

    async def _fetch_and_store(
        self, urls: Sequence[str], stored: dict[str, StoredWebPage], time_limit: timedelta
    ) -> tuple[dict[str, str], dict[str, int]]:
        """Fetches pages, stores them and adds them to `stored`.

        Returns by URL the reasons of those that failed, and the sizes of the others.
        """
        from storage.ingest.sources.web_page import UnreadablePage

        failures, sizes = dict[str, str](), dict[str, int]()
        self.usage.pages += len(urls)
        for url, result in zip(urls, await self.fetcher.fetch_pages(urls, time_limit), strict=True):
            if isinstance(result, UnreadablePage):
                failures[url] = result.reason
                continue
            sizes[url] = len(result.body)
            self.usage.bytes_read += len(result.body)
            outline = await asyncio.to_thread(read_outline, result.body, result.suffix)
            page = StoredWebPage(
                page=web_doc_id_of(url),
                url=result.final_url,
                kind=result.suffix,
                outline=outline.to_json(),
                content=await asyncio.to_thread(zlib.compress, result.body),
                fetched_at=self.store.utc_now(),
                expires_at=self.store.utc_now() + self.lifetime,
            )
            await self.store.store_page(page)
            stored[page.page] = page
        return failures, sizes

    async def _index_pages(self, stored: Sequence[StoredWebPage]) -> dict[DocId, WebPage]:
        """Indexes the pages; returns those that have text."""
        from storage.ingest.limits import ParserLimits
        from storage.ingest.pipeline import ingest_files

        if not stored:
            return {}
        pages = {
            DocId(page.page): WebPage(
                doc_id=DocId(page.page),
                url=page.url,
                outline=PageOutline.from_json(page.outline),
                fetched_at=page.fetched_at,
            )
            for page in stored
        }
        hooks = _WebPageHooks(pages)
        await ingest_files(
            self.index,
            await asyncio.to_thread(self._write_files, stored),
            extractor=self.extractor,
            schema=Schema(bucket=WEB_BUCKET, title=_BUCKET_TITLE, language=self.language),
            limits=ParserLimits(cpu_s=_MAX_CPU_S, file_timeout_s=4 * _MAX_CPU_S, page_timeout_s=4 * _MAX_CPU_S),
            hooks=hooks,
            allow_any_bucket_name=True,
        )
        return {doc_id: pages[doc_id] for doc_id in hooks.indexed_ids}

    def _write_files(self, stored: Sequence[StoredWebPage]) -> "list[SourceFile]":
        from storage.ingest.files import SourceFile

        files: list[SourceFile] = []
        for page in stored:
            path = self.folder / f"{page.page.partition('#')[2]}{page.kind}"
            path.write_bytes(zlib.decompressobj().decompress(page.content, _MAX_PAGE_BYTES))
            files.append(SourceFile(path=path, name=page.page))
        return files


@asynccontextmanager
async def open_web_page_index(
    opener: IndexOpener,
    folder: Path,
    *,
    store: WebPageStore,
    fetcher: "WebPageFetcher",
    extractor: "Extractor",
    lifetime: timedelta,
    language: str,
    usage: WebUsage,
) -> AsyncGenerator[WebPageIndex]:
    """Opens an empty index in `folder`, which exists and belongs to this search."""
    (folder / "index").mkdir()
    index = await opener(folder / "index")
    try:
        yield WebPageIndex(
            index=index,
            folder=folder,
            store=store,
            fetcher=fetcher,
            extractor=extractor,
            lifetime=lifetime,
            language=language,
            usage=usage,
        )
    finally:
        await index.close()


class _WebPageHooks:
    """Gives each page its document id, title and URL. Nothing that the page says becomes a field or a reader."""

    def __init__(self, pages: Mapping[DocId, WebPage]) -> None:
        self._pages = pages
        self.indexed_ids: list[DocId] = []

    def adapt_record(self, file: "SourceFile", record: "SourceRecord") -> "SourceRecord | RejectedInput":
        page = self._pages[DocId(file.name)]
        return replace(
            record,
            doc_id=page.doc_id,
            title=page.outline.title or record.title or page.title,
            source=page.url,
            metadata={},
            bucket=None,
            readers=frozenset(),
        )

    def record_failure(self, file_name: str) -> None:
        """Does nothing: a page without a document is reported as such."""

    async def before_put(self, file_by_document: Mapping[DocId, str]) -> None:
        """Does nothing: pages have no ledger."""

    async def after_put(self, put_result: PutResult) -> None:
        self.indexed_ids += [*put_result.added, *put_result.replaced, *put_result.skipped]
