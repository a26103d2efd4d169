"""Syncs a source by mark and sweep: lists its items, loads the changed ones, deletes documents of vanished ones.

The ledger always has at least the documents that the index has: documents are claimed before they are put, and
forgotten after they are deleted. So the next sync can continue after a sync that was killed at any point.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Protocol, TypeAlias, assert_never

from storage.ingest.errors import ListingFailed, SyncLost
from storage.ingest.extract.candidates import Extractor
from storage.ingest.limits import DEFAULT_PASSAGE_CHARACTERS
from storage.ingest.load import SourceFile
from storage.ingest.pipeline import PassageSituator, ingest_files
from storage.ingest.records import RejectedInput, SourceRecord
from storage.ingest.report import IngestFailure, IngestReport
from storage.ingest.sources.principals import intersect_readers
from storage.ingest.sources.source import (
    ClosedItem,
    DocumentSource,
    FetchedItem,
    FetchFailure,
    FetchResult,
    SourceItem,
    UnchangedItem,
    UnsupportedItem,
    VanishedItem,
)
from storage.search.bucket_parts import with_parts
from storage.search.ids import BucketId, DocId
from storage.search.index import PutResult, SearchIndex

_MAX_CONCURRENT_FETCHES: Final = 32  # a source may allow fewer
_BATCH_ITEMS: Final = 500
_BATCH_BYTES: Final = 256 * 1024 * 1024
_DELETE_BATCH: Final = 500
_MAX_DOC_ID_BYTES: Final = 480  # the limit for every document
_MAX_FAILURES: Final = 1000  # and as many remarks


class SyncLedger(Protocol):
    """The stored state of one source. Only the run that holds the lease writes; a write returns False without it.

    Items and documents are given by id. Versions and cursors are opaque: only the source interprets them.
    """

    async def known_items(self) -> Mapping[str, tuple[str, str]]:
        """Returns version and cursor by item; both are empty if the index may have other content of the item."""
        ...

    async def count_documents(self) -> int: ...

    async def count_bucket_documents(self) -> int:
        """Counts the documents of all sources of the same bucket."""
        ...

    async def find_lost_items(self, present_documents: Container[str]) -> Set[str]:
        """Returns the items that have a document which is not in `present_documents`."""
        ...

    async def renew_lease(self) -> bool: ...

    async def claim_documents(self, item_by_document: Mapping[str, str]) -> bool:
        """Records documents that are about to be put, and clears the versions and cursors of their items."""
        ...

    async def disclaim_documents(self, doc_ids: Collection[str]) -> bool:
        """Removes the claim: these documents belong to another bucket."""
        ...

    async def record_items(self, items: Mapping[str, tuple[str, str]], *, is_loaded: bool) -> bool:
        """Records the version and cursor of the content that the index has of each item.

        `is_loaded` means that this run loaded the items: their documents that it did not claim are stale.
        """
        ...

    async def find_stale_documents(self, vanished_items: Collection[str]) -> Sequence[str]:
        """Returns the stale documents and the documents of the vanished items."""
        ...

    async def find_item_documents(self, items: Collection[str]) -> Sequence[str]:
        """Returns the documents of the items."""
        ...

    async def forget_documents(self, doc_ids: Collection[str], items: Collection[str] = ()) -> bool:
        """Removes the documents, which the index no longer has, and the items."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepCompleted:
    """The sweep deleted `documents` documents."""

    documents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRefused:
    """The sweep deleted nothing, because it would have deleted more than a fifth of the documents."""

    documents_to_delete: int
    documents_before: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepSkipped:
    """The sweep deleted nothing, because the items of the source could not be listed completely."""

    reason: str


SweepResult: TypeAlias = SweepCompleted | SweepRefused | SweepSkipped


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncResult:
    """The result of a sync. Items are files or pages; the other numbers count documents as in an `IngestReport`."""

    items: int
    unchanged: int  # items that were not loaded
    passed_over: int  # items of an unsupported format
    added: int
    replaced: int
    skipped: int
    failed: int
    failures: tuple[IngestFailure, ...]  # the first thousand
    remarks: tuple[str, ...]
    sweep: SweepResult


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncProgress:
    items_done: int  # items that may have changed
    items_total: int
    documents: int  # documents put so far, the unchanged ones included


def doc_id_prefix_of(source: str) -> str:
    """Returns the prefix of the ids of all documents of the source."""
    return f"{source}:"


async def sync_source(
    source: DocumentSource,
    ledger: SyncLedger,
    index: SearchIndex,
    *,
    extractor: Extractor,
    situator: PassageSituator | None = None,
    passage_characters: int = DEFAULT_PASSAGE_CHARACTERS,
    name: str,
    bucket: BucketId,
    force_sweep: bool = False,
    schema_folder: Path | None = None,
    progress: Callable[[SyncProgress], None] = lambda progress: None,
) -> SyncResult:
    """Updates the bucket to the current state of the source.

    The id of a document is `NAME:ITEM`; of a row or record of an item it is `NAME:ITEM#ID`, of a
    row of a query `NAME:ID`. An item that exists but could not be loaded keeps its documents; the next sync tries it
    again. Raises `SyncLost`, and what the index and the ledger raise.
    """
    run = _SourceSync(
        source,
        ledger,
        index,
        extractor=extractor,
        situator=situator,
        passage_characters=passage_characters,
        name=name,
        bucket=bucket,
        schema_folder=schema_folder,
        progress=progress,
    )
    return await run.run_sync(force_sweep=force_sweep)


class _SourceSync:
    def __init__(
        self,
        source: DocumentSource,
        ledger: SyncLedger,
        index: SearchIndex,
        *,
        extractor: Extractor,
        situator: PassageSituator | None,
        passage_characters: int,
        name: str,
        bucket: BucketId,
        schema_folder: Path | None,
        progress: Callable[[SyncProgress], None],
    ) -> None:
        self._source, self._ledger, self._index = source, ledger, index
        self._extractor, self._situator, self._passage_characters = extractor, situator, passage_characters
        self._name, self._bucket, self._schema_folder, self._report_progress = name, bucket, schema_folder, progress
        self._known_items: Mapping[str, tuple[str, str]] = {}
        self._vanished_items: set[str] = set()
        self._unchanged = self._passed_over = self._due_count = 0
        self._totals = IngestReport()
        self._remarks: dict[str, None] = {}

    async def run_sync(self, *, force_sweep: bool) -> SyncResult:
        documents_before, stored_items = await self._ledger.count_documents(), await self._ledger.known_items()
        lost = await self._find_lost_items()
        self._known_items = {item: state for item, state in stored_items.items() if item not in lost}
        listed, problem = await self._list_items()
        due = [item for item in listed.values() if not self._is_unchanged(item)]
        self._unchanged = len(listed) - len(due)
        self._vanished_items = stored_items.keys() - listed.keys()
        await self._load_due_items(due)
        return self._make_result(
            len(listed), await self._sweep_documents(documents_before, problem, is_forced=force_sweep)
        )

    async def _list_items(self) -> tuple[dict[str, SourceItem], str | None]:
        """Returns the items by id, and the reason why the listing is incomplete, if it is."""
        listed: dict[str, SourceItem] = {}
        try:
            async for item in self._source.list_items():
                listed.setdefault(item.id, item)
        except ListingFailed as exc:
            return listed, exc.reason
        return listed, None

    async def _find_lost_items(self) -> Set[str]:
        """Returns the items with documents missing in the index, for example after the bucket was recreated."""
        sizes = await self._index.load_bucket_sizes()
        buckets = with_parts({self._bucket}, sizes) & sizes.keys()
        if buckets and sum(sizes[bucket].document_count for bucket in buckets) >= (
            await self._ledger.count_bucket_documents()
        ):
            return frozenset()
        return await self._ledger.find_lost_items(
            {doc_id for bucket in buckets for doc_id in await self._index.load_digests(bucket)}
        )

    def _is_unchanged(self, item: SourceItem) -> bool:
        version, _ = self._known_items.get(item.id, ("", ""))
        return bool(version) and version == item.version

    # -- loading changed items

    async def _load_due_items(self, due: Sequence[SourceItem]) -> None:
        waiting, self._due_count = deque(due), len(due)
        while waiting:
            with TemporaryDirectory(prefix="parley-") as folder:
                await self._load_batch(await self._fetch_batch(waiting, Path(folder)))
            self._notify_progress(waiting)

    async def _fetch_batch(self, rest: deque[SourceItem], folder: Path) -> dict[str, FetchedItem]:
        """Takes items from `rest` and fetches them until a batch is full; records items that need no loading."""
        batch: dict[str, FetchedItem] = {}
        size = 0
        while rest and len(batch) < _BATCH_ITEMS and size < _BATCH_BYTES:
            items = [rest.popleft() for _ in range(min(len(rest), _MAX_CONCURRENT_FETCHES))]
            results = await self._fetch_items(items, folder)
            batch |= {item.id: result for item, result in results if isinstance(result, FetchedItem)}
            size += sum(_file_size_bytes(result.path) for _, result in results if isinstance(result, FetchedItem))
            await self._record_results(results)
            self._notify_progress(rest)
        return batch

    def _notify_progress(self, rest: Collection[SourceItem]) -> None:
        documents = self._totals.added + self._totals.replaced + self._totals.skipped
        self._report_progress(
            SyncProgress(items_done=self._due_count - len(rest), items_total=self._due_count, documents=documents)
        )

    async def _fetch_items(self, items: Sequence[SourceItem], folder: Path) -> list[tuple[SourceItem, FetchResult]]:
        async def fetch_item(item: SourceItem) -> FetchResult:
            _, cursor = self._known_items.get(item.id, ("", ""))
            return await self._source.fetch_item(item, cursor, folder)

        return list(zip(items, await asyncio.gather(*map(fetch_item, items)), strict=True))

    async def _record_results(self, results: Sequence[tuple[SourceItem, FetchResult]]) -> None:
        unchanged: dict[str, tuple[str, str]] = {}
        unsupported: dict[str, tuple[str, str]] = {}
        closed: set[str] = set()
        for item, result in results:
            match result:
                case UnchangedItem(version=version, cursor=cursor):
                    unchanged[item.id] = (version, cursor)
                case UnsupportedItem(version=version, cursor=cursor):
                    unsupported[item.id] = (version, cursor)
                case VanishedItem():
                    self._vanished_items.add(item.id)
                case FetchFailure(reason=reason):
                    self._record_failure(item, reason)
                case ClosedItem(reason=reason):
                    closed.add(item.id)
                    self._record_failure(item, reason)
                case FetchedItem(remarks=remarks):
                    if len(self._remarks) < _MAX_FAILURES:
                        self._remarks |= dict.fromkeys(remarks)
                case _:
                    assert_never(result)
        self._unchanged += len(unchanged)
        self._passed_over += len(unsupported)
        if unchanged:
            self._require_lease(await self._ledger.record_items(unchanged, is_loaded=False))
        if unsupported:
            self._require_lease(await self._ledger.record_items(unsupported, is_loaded=True))
        if closed:
            await self._delete_unloaded_documents(closed, set())
            self._require_lease(await self._ledger.forget_documents((), closed))

    def _record_failure(self, item: SourceItem, reason: str) -> None:
        failure = IngestFailure(where=f"{doc_id_prefix_of(self._name)}{item.id}", reason=reason)
        failures = (*self._totals.failures, failure)[:_MAX_FAILURES]
        self._totals = replace(self._totals, failed=self._totals.failed + 1, failures=failures)

    async def _load_batch(self, batch: Mapping[str, FetchedItem]) -> None:
        """Loads the batch into the index, then records it in the ledger."""
        if not batch:
            return
        hooks = _LedgerHooks(self._ledger, self._name, batch)
        report = await ingest_files(
            self._index,
            hooks.source_files(),
            extractor=self._extractor,
            situator=self._situator,
            bucket=self._bucket,
            schema_folder=self._schema_folder,
            passage_characters=self._passage_characters,
            hooks=hooks,
        )
        self._totals = _sum_reports(self._totals, report)
        complete = {
            item: (fetched.version, fetched.cursor) for item, fetched in batch.items() if item not in hooks.broken_items
        }
        self._require_lease(await self._ledger.record_items(complete, is_loaded=True))
        await self._delete_unloaded_documents(
            {item for item, fetched in batch.items() if fetched.has_other_readers}, hooks.put_documents
        )

    async def _delete_unloaded_documents(self, items: Set[str], put_documents: Set[str]) -> None:
        """Deletes the documents of the items that were not put now, without the guard of the sweep: they have the
        readers that they had.
        """
        if items:
            documents = await self._ledger.find_item_documents(items)
            unloaded = [doc_id for doc_id in documents if doc_id not in put_documents]
            await delete_documents(self._ledger, self._index, unloaded, source=self._name)

    # -- deleting documents of vanished items

    async def _sweep_documents(
        self, documents_before: int, listing_problem: str | None, *, is_forced: bool
    ) -> SweepResult:
        if listing_problem is not None:
            return SweepSkipped(reason=listing_problem)
        stale = await self._ledger.find_stale_documents(self._vanished_items)
        if len(stale) * 5 > documents_before and not is_forced:
            return SweepRefused(documents_to_delete=len(stale), documents_before=documents_before)
        await delete_documents(self._ledger, self._index, stale, source=self._name)
        self._require_lease(await self._ledger.forget_documents((), self._vanished_items))
        return SweepCompleted(documents=len(stale))

    def _require_lease(self, has_lease: bool) -> None:
        _require_lease(has_lease, self._name)

    def _make_result(self, items: int, sweep: SweepResult) -> SyncResult:
        counts = {name: getattr(self._totals, name) for name in ("added", "replaced", "skipped", "failed")}
        return SyncResult(
            items=items,
            unchanged=self._unchanged,
            passed_over=self._passed_over,
            failures=self._totals.failures,
            remarks=tuple(dict.fromkeys((*self._totals.remarks, *self._remarks))),
            sweep=sweep,
            **counts,
        )


async def delete_documents(ledger: SyncLedger, index: SearchIndex, doc_ids: Iterable[str], *, source: str) -> None:
    """Deletes documents from the index, then from the ledger, batch by batch.

    Raises `SyncLost` when the lease is lost; then no further batch is deleted.
    """
    remaining = iter(doc_ids)
    while batch := [DocId(doc_id) for doc_id in islice(remaining, _DELETE_BATCH)]:
        _require_lease(await ledger.renew_lease(), source)
        await index.delete(batch)
        _require_lease(await ledger.forget_documents(batch), source)


def _require_lease(has_lease: bool, source: str) -> None:
    if not has_lease:
        raise SyncLost(source)


def _file_size_bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _sum_reports(report: IngestReport, other: IngestReport) -> IngestReport:
    return replace(
        report,
        added=report.added + other.added,
        replaced=report.replaced + other.replaced,
        skipped=report.skipped + other.skipped,
        failed=report.failed + other.failed,
        failures=(*report.failures, *other.failures)[:_MAX_FAILURES],
        remarks=(*report.remarks, *other.remarks),
    )


@dataclass(slots=True)
class _LedgerHooks:
    """Follows the loading of a batch: claims the documents of each item in the ledger before the index has them."""

    ledger: SyncLedger
    source: str
    batch: Mapping[str, FetchedItem]
    broken_items: set[str] = field(default_factory=set[str])  # items that were not loaded completely
    put_documents: set[str] = field(default_factory=set[str])
    _item_by_document: Mapping[str, str] = field(default_factory=dict[str, str])  # for the documents being put

    def source_files(self) -> list[SourceFile]:
        return [
            SourceFile(path=fetched.path, name=doc_id_prefix_of(self.source) + item)
            for item, fetched in self.batch.items()
        ]

    def adapt_record(self, file: SourceFile, record: SourceRecord) -> SourceRecord | RejectedInput:
        """Puts the name of the file before the id, so that two files or sources never share a document id."""
        record_id, fetched = record.doc_id, self.batch[self._item_id_of(file.name)]
        if fetched.has_rows:
            record_id = doc_id_prefix_of(self.source) + record_id
        is_complete = fetched.has_rows or record_id == file.name or record_id.startswith(f"{file.name}#")
        doc_id = record_id if is_complete else f"{file.name}#{record_id}"
        if len(doc_id.encode()) > _MAX_DOC_ID_BYTES:
            return RejectedInput(
                origin=record.origin, reason=f"its doc_id would be longer than {_MAX_DOC_ID_BYTES} bytes"
            )
        return replace(
            record,
            doc_id=doc_id,
            source=fetched.link if record.source == file.name else record.source,
            title=fetched.title or record.title,
            metadata={**record.metadata, **fetched.fields},
            readers=intersect_readers(fetched.readers, record.readers),
            is_row=record.is_row or fetched.has_rows,
        )

    def record_failure(self, file_name: str) -> None:
        self.broken_items.add(self._item_id_of(file_name))

    async def before_put(self, file_by_document: Mapping[DocId, str]) -> None:
        self._item_by_document = {str(doc_id): self._item_id_of(file) for doc_id, file in file_by_document.items()}
        _require_lease(await self.ledger.claim_documents(self._item_by_document), self.source)

    async def after_put(self, put_result: PutResult) -> None:
        not_put = (*put_result.taken, *put_result.refused)
        self.broken_items |= {self._item_by_document[doc_id] for doc_id in not_put}
        self.put_documents |= self._item_by_document.keys() - set(map(str, not_put))
        if absent := [doc_id for doc_id in not_put if doc_id not in put_result.kept]:
            _require_lease(await self.ledger.disclaim_documents(absent), self.source)

    def _item_id_of(self, file_name: str) -> str:
        return file_name.removeprefix(doc_id_prefix_of(self.source))
