"""Mark and sweep: what a source has now is listed, what changed is loaded, and what is gone goes from the index.

What the ledger knows is always at least what the index has: documents are claimed before they are put, and forgotten
after they are deleted. So a sync that is killed anywhere is gone on with by the next.
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
from storage.ingest.load import SourceFile
from storage.ingest.pipeline import ingest
from storage.ingest.records import Broken, Record
from storage.ingest.report import Failure, Report
from storage.ingest.sources.source import Fetch, Fetched, Gone, Item, PassedOver, Source, Unchanged, Unfetched
from storage.search.ids import BucketId, DocId
from storage.search.index import Put, SearchIndex

_FETCHED_AT_ONCE: Final = 32  # items asked for; a source is politer if it must be
_BATCH_ITEMS: Final = 500
_BATCH_BYTES: Final = 256 * 1024 * 1024
_DELETED_AT_ONCE: Final = 500
_LONGEST_ID: Final = 480  # bytes, as for every document
_NAMED: Final = 1000  # failures


class Ledger(Protocol):
    """What is known of one source, and noted by the one run that may: each write is False once that is another one.

    Items and documents by id; versions and cursors are the source's words.
    """

    async def items(self) -> Mapping[str, tuple[str, str]]:
        """Version and cursor of each known item; both empty where the index may hold something else of it."""
        ...

    async def documents(self) -> int: ...

    async def documents_of_bucket(self) -> int:
        """Those of all sources of the same bucket."""
        ...

    async def lost(self, present: Container[str]) -> Set[str]:
        """The items that have a document which is not among those present."""
        ...

    async def renew(self) -> bool: ...

    async def claim(self, documents: Mapping[str, str]) -> bool:
        """These, by id the item of each, are about to be in the index; their items' cursors hold no longer."""
        ...

    async def disclaim(self, doc_ids: Collection[str]) -> bool:
        """These are not this source's."""
        ...

    async def note(self, items: Mapping[str, tuple[str, str]], *, loaded: bool) -> bool:
        """The index has them so. `loaded`: documents of theirs that this run did not claim are stale."""
        ...

    async def doomed(self, vanished: Collection[str]) -> Sequence[str]:
        """The documents that are stale or of items that are gone."""
        ...

    async def forget(self, doc_ids: Collection[str], items: Collection[str] = ()) -> bool:
        """They are gone from the index."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """So many documents were deleted."""

    documents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRefused:
    """So many of so many documents would have been deleted, which is more than a fifth: none was."""

    documents: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NotSwept:
    """Nothing was deleted, since not all that is there could be listed."""

    reason: str


Sweep: TypeAlias = Swept | SweepRefused | NotSwept


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """What came of a sync. Items are files or pages, the rest counts documents as a `Report` does."""

    items: int
    unchanged: int  # items that were not loaded
    passed_over: int  # items of no format that is read
    added: int
    replaced: int
    skipped: int
    failed: int
    failures: tuple[Failure, ...]  # the first thousand
    remarks: tuple[str, ...]
    sweep: Sweep


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncProgress:
    fetched: int  # items that may have changed
    of: int
    documents: int  # in the index


def prefix_of(source: str) -> str:
    """What the ids of a source's documents begin with."""
    return f"{source}:"


async def sync(
    source: Source,
    ledger: Ledger,
    index: SearchIndex,
    *,
    name: str,
    bucket: BucketId,
    sweep_anyway: bool = False,
    schema_folder: Path | None = None,
    progress: Callable[[SyncProgress], None] = lambda progress: None,
) -> Synced:
    """Bring the bucket to what the source has. Its documents' ids are `NAME:ITEM`, of rows and records `NAME:ITEM#ID`.

    An item that is there but could not be loaded keeps the documents it had, and is tried again by the next sync.
    Raises `SyncLost`, and what the index and the ledger raise.
    """
    run = _Sync(source, ledger, index, name, bucket, schema_folder, progress)
    return await run.run(sweep_anyway=sweep_anyway)


class _Sync:
    def __init__(
        self,
        source: Source,
        ledger: Ledger,
        index: SearchIndex,
        name: str,
        bucket: BucketId,
        schema_folder: Path | None,
        progress: Callable[[SyncProgress], None],
    ) -> None:
        self._source, self._ledger, self._index = source, ledger, index
        self._name, self._bucket, self._schemas, self._progress = name, bucket, schema_folder, progress
        self._known: Mapping[str, tuple[str, str]] = {}
        self._vanished: set[str] = set()
        self._unchanged = self._passed_over = self._due = 0
        self._total = Report()

    async def run(self, *, sweep_anyway: bool) -> Synced:
        before, known = await self._ledger.documents(), await self._ledger.items()
        lost = await self._lost()
        self._known = {item: words for item, words in known.items() if item not in lost}
        listed, trouble = await self._listed()
        due = [item for item in listed.values() if not self._is_known(item)]
        self._unchanged = len(listed) - len(due)
        self._vanished = known.keys() - listed.keys()
        await self._bring(due)
        return self._synced(len(listed), await self._sweep(before, trouble, anyway=sweep_anyway))

    async def _listed(self) -> tuple[dict[str, Item], str | None]:
        """What is there, and what was wrong with the listing."""
        listed: dict[str, Item] = {}
        try:
            async for item in self._source.items():
                listed.setdefault(item.id, item)
        except ListingFailed as exc:
            return listed, exc.reason
        return listed, None

    async def _lost(self) -> Set[str]:
        """Items of which the index has lost something, as when the bucket was deleted and made anew."""
        state = (await self._index.buckets()).get(self._bucket)
        if state is None:
            return await self._ledger.lost(())
        if state.documents >= await self._ledger.documents_of_bucket():
            return frozenset()
        return await self._ledger.lost(await self._index.digests(self._bucket))

    def _is_known(self, item: Item) -> bool:
        version, _ = self._known.get(item.id, ("", ""))
        return bool(version) and version == item.version

    # -- what changed

    async def _bring(self, due: Sequence[Item]) -> None:
        rest, self._due = deque(due), len(due)
        while rest:
            with TemporaryDirectory(prefix="parley-") as folder:
                await self._load(await self._fetched(rest, Path(folder)))
            self._tell(rest)

    async def _fetched(self, rest: deque[Item], folder: Path) -> dict[str, Fetched]:
        """As many of the items as make a batch, taken from `rest`; what needs no loading is noted."""
        batch: dict[str, Fetched] = {}
        size = 0
        while rest and len(batch) < _BATCH_ITEMS and size < _BATCH_BYTES:
            some = [rest.popleft() for _ in range(min(len(rest), _FETCHED_AT_ONCE))]
            fetched = await self._fetch(some, folder)
            batch |= {item.id: one for item, one in fetched if isinstance(one, Fetched)}
            size += sum(_size(one.path) for _, one in fetched if isinstance(one, Fetched))
            await self._note(fetched)
            self._tell(rest)
        return batch

    def _tell(self, rest: Collection[Item]) -> None:
        documents = self._total.added + self._total.replaced + self._total.skipped
        self._progress(SyncProgress(fetched=self._due - len(rest), of=self._due, documents=documents))

    async def _fetch(self, items: Sequence[Item], folder: Path) -> list[tuple[Item, Fetch]]:
        async def one(item: Item) -> Fetch:
            _, cursor = self._known.get(item.id, ("", ""))
            return await self._source.fetch(item, cursor, folder)

        return list(zip(items, await asyncio.gather(*map(one, items)), strict=True))

    async def _note(self, fetched: Sequence[tuple[Item, Fetch]]) -> None:
        unchanged: dict[str, tuple[str, str]] = {}
        empty: dict[str, tuple[str, str]] = {}
        for item, one in fetched:
            match one:
                case Unchanged(version=version, cursor=cursor):
                    unchanged[item.id] = (version, cursor)
                case PassedOver(version=version, cursor=cursor):
                    empty[item.id] = (version, cursor)
                case Gone():
                    self._vanished.add(item.id)
                case Unfetched(reason=reason):
                    self._fail(item, reason)
                case Fetched():
                    pass
                case _:
                    assert_never(one)
        self._unchanged += len(unchanged)
        self._passed_over += len(empty)
        if unchanged:
            self._hold(await self._ledger.note(unchanged, loaded=False))
        if empty:
            self._hold(await self._ledger.note(empty, loaded=True))

    def _fail(self, item: Item, reason: str) -> None:
        failure = Failure(where=f"{prefix_of(self._name)}{item.id}", reason=reason)
        failures = (*self._total.failures, failure)[:_NAMED]
        self._total = replace(self._total, failed=self._total.failed + 1, failures=failures)

    async def _load(self, batch: Mapping[str, Fetched]) -> None:
        """Into the index, and then into the ledger."""
        if not batch:
            return
        books = _Books(self._ledger, self._name, batch)
        report = await ingest(
            self._index, books.files(), bucket=self._bucket, schema_folder=self._schemas, follower=books
        )
        self._total = _sum(self._total, report)
        whole = {item: (one.version, one.cursor) for item, one in batch.items() if item not in books.broken}
        self._hold(await self._ledger.note(whole, loaded=True))

    # -- what is gone

    async def _sweep(self, before: int, trouble: str | None, *, anyway: bool) -> Sweep:
        if trouble is not None:
            return NotSwept(reason=trouble)
        doomed = await self._ledger.doomed(self._vanished)
        if len(doomed) * 5 > before and not anyway:
            return SweepRefused(documents=len(doomed), of=before)
        await delete(self._ledger, self._index, doomed, source=self._name)
        self._hold(await self._ledger.forget((), self._vanished))
        return Swept(documents=len(doomed))

    def _hold(self, held: bool) -> None:
        _held(held, self._name)

    def _synced(self, items: int, sweep: Sweep) -> Synced:
        counts = {name: getattr(self._total, name) for name in ("added", "replaced", "skipped", "failed")}
        return Synced(
            items=items,
            unchanged=self._unchanged,
            passed_over=self._passed_over,
            failures=self._total.failures,
            remarks=tuple(dict.fromkeys(self._total.remarks)),
            sweep=sweep,
            **counts,
        )


async def delete(ledger: Ledger, index: SearchIndex, doc_ids: Iterable[str], *, source: str) -> None:
    """From the index, and then from the ledger. Raises `SyncLost`, before anything more is deleted."""
    rest = iter(doc_ids)
    while some := [DocId(doc_id) for doc_id in islice(rest, _DELETED_AT_ONCE)]:
        _held(await ledger.renew(), source)
        await index.delete(some)
        _held(await ledger.forget(some), source)


def _held(held: bool, source: str) -> None:
    if not held:
        raise SyncLost(source)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _sum(one: Report, other: Report) -> Report:
    return replace(
        one,
        added=one.added + other.added,
        replaced=one.replaced + other.replaced,
        skipped=one.skipped + other.skipped,
        failed=one.failed + other.failed,
        failures=(*one.failures, *other.failures)[:_NAMED],
        remarks=(*one.remarks, *other.remarks),
    )


@dataclass(slots=True)
class _Books:
    """Follows the loading of a batch: what each item gave, in the ledger before it is in the index."""

    ledger: Ledger
    source: str
    batch: Mapping[str, Fetched]
    broken: set[str] = field(default_factory=set[str])  # items that were not loaded, or not all of them
    _items: Mapping[str, str] = field(default_factory=dict[str, str])  # of the documents on their way

    def files(self) -> list[SourceFile]:
        return [SourceFile(path=one.path, name=prefix_of(self.source) + item) for item, one in self.batch.items()]

    def adopted(self, file: SourceFile, record: Record) -> Record | Broken:
        """Called after its file, so that documents of two sources or files are two documents."""
        own = record.doc_id
        doc_id = own if own == file.name or own.startswith(f"{file.name}#") else f"{file.name}#{own}"
        if len(doc_id.encode()) > _LONGEST_ID:
            return Broken(origin=record.origin, reason=f"its doc_id would be longer than {_LONGEST_ID} bytes")
        link = self.batch[self._item(file.name)].link if record.source == file.name else record.source
        return replace(record, doc_id=doc_id, source=link)

    def failed(self, file: str) -> None:
        self.broken.add(self._item(file))

    async def storing(self, documents: Mapping[DocId, str]) -> None:
        self._items = {str(doc_id): self._item(file) for doc_id, file in documents.items()}
        _held(await self.ledger.claim(self._items), self.source)

    async def stored(self, put: Put) -> None:
        if put.taken:
            self.broken |= {self._items[doc_id] for doc_id in put.taken}
            _held(await self.ledger.disclaim(put.taken), self.source)

    def _item(self, file: str) -> str:
        return file.removeprefix(prefix_of(self.source))
