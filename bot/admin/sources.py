"""The sources of documents: adding, syncing (by hand or when due) and removing them, and the outcome of a sync."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, assert_never

from pydantic import SecretStr
from structlog.typing import FilteringBoundLogger

from bot.admin.bucket_syncs import BucketSync, list_bucket_syncs
from bot.admin.source_kinds.source_kind import ALLOW_PRIVATE_OPTION, CheckedSource, SourceKind, SourceRequest
from bot.admin.source_kinds.store_kind import STORE_KINDS
from bot.errors import InvalidSource, SourceBusy, UnknownSource
from bot.metrics.operation_measurements import OperationObserver, SyncMeasurement, ignore_operation
from bot.surface.secret_sealing import SecretSeal
from bot.task_groups import lone_error
from storage.ingest.errors import IngestError, SourceUnavailable, SyncLost
from storage.ingest.extract.candidates import Extractor
from storage.ingest.limits import DEFAULT_PASSAGE_CHARACTERS
from storage.search.bucket_parts import whole_bucket_of
from storage.search.errors import SearchError
from storage.search.ids import BucketId
from storage.search.index import SearchIndex
from storage.sql.database import SqlDatabase
from storage.sql.errors import SqlError
from storage.sql.stores.sources import ClaimedSource, NewSource, SourceLedger, SourceStore, StoredSource

if TYPE_CHECKING:
    from storage.ingest.pipeline import PassageSituator
    from storage.ingest.sources.source import DocumentSource
    from storage.ingest.sources.sync import SyncProgress, SyncResult

_SYNC_LEASE: Final = timedelta(seconds=60)
_MAX_CONCURRENT_SYNCS: Final = 2  # due sources that one process syncs at the same time
_MIN_INTERVAL: Final = timedelta(minutes=1)
_MAX_INTERVAL: Final = timedelta(days=366)


class SourceOperations:
    """`seal` keeps the secrets of sources. `schemas` is the folder for the schemas that syncs infer.

    With `situator`, passages get a context to be ranked with. `passage_characters` is their size.
    """

    def __init__(
        self,
        *,
        database: SqlDatabase,
        index: SearchIndex,
        kinds: Iterable[SourceKind],
        seal: SecretSeal,
        extractor: Extractor,
        situator: "PassageSituator | None" = None,
        passage_characters: int = DEFAULT_PASSAGE_CHARACTERS,
        schemas: Path,
        worker: str,
        log: FilteringBoundLogger,
        lease: timedelta = _SYNC_LEASE,
        observer: OperationObserver = ignore_operation,
    ) -> None:
        self._observer = observer
        self._store, self._index, self._seal = SourceStore(database), index, seal
        self._now = database.utc_now
        self._kinds = {kind.name: kind for kind in kinds}
        self._extractor, self._situator, self._passage_characters = extractor, situator, passage_characters
        self._schemas, self._worker, self._log, self._lease = schemas, worker, log, lease

    async def add_source(self, request: SourceRequest) -> StoredSource:
        """The source is named by its kind, after its folder or host. Raises `InvalidSource`."""
        kind = self._kinds.get(request.kind)
        if kind is None:
            raise InvalidSource(_describe_kinds(request, list(self._kinds)))
        _validate_request(request)
        checked = await asyncio.to_thread(kind.check_request, request)
        if any(_is_same_source(source, request, checked) for source in await self.list_sources()):
            raise InvalidSource(f"{checked.location} is a source of {request.bucket} already")
        copy_number, identity = 1, checked.name
        while not await self._store.add_source(self._new_source_of(request, checked, identity)):
            copy_number += 1
            identity = f"{checked.name}-{copy_number}"
        return await self._load_source(identity)

    async def replace_secret(self, source: str, secret: SecretStr) -> None:
        """Seals another password, key or token for the source. Raises `UnknownSource`, `SourceBusy`, `SyncLost`."""
        claimed = await self._claim_source(source)
        if not await self._store.replace_credential(claimed, self._seal.seal_secret(secret.get_secret_value())):
            raise SyncLost(source)

    async def request_sync(self, source: str, *, by: str) -> None:
        """`parley serve` syncs the source within a minute. Raises `UnknownSource`."""
        if not await self._store.request_sync(source, by=by):
            await self._load_source(source)

    async def pause_source(self, source: str, *, by: str) -> bool:
        """Syncs it by hand alone until it is resumed. False if it is paused already. Raises `UnknownSource`."""
        await self._load_source(source)
        return await self._store.pause_source(source, by=by)

    async def resume_source(self, source: str, *, by: str) -> bool:
        """False if it is not paused. Raises `UnknownSource`."""
        await self._load_source(source)
        return await self._store.resume_source(source, by=by)

    async def list_sources(self) -> list[StoredSource]:
        """In the order in which they were added."""
        return await self._store.list_sources()

    async def list_bucket_syncs(self) -> Mapping[BucketId, BucketSync]:
        """How the syncs of each bucket that has a source stand now."""
        return list_bucket_syncs(await self.list_sources(), self._now())

    async def mark_for_reload(self, bucket: BucketId) -> list[str]:
        """Makes the next sync load unchanged items as well, for example for another schema. The ids of the sources of
        the bucket, or of the bucket that this is a part of.
        """
        return await self._store.force_full_reload(whole_bucket_of(bucket))

    async def sync_source(
        self,
        source: str,
        *,
        sweep_anyway: bool = False,
        progress: "Callable[[SyncProgress], None]" = lambda progress: None,
    ) -> "SyncResult":
        """Syncs the source now. Raises `UnknownSource`, `SourceBusy`, `SyncLost`, and what the index and the database
        raise.
        """
        return await self._run_sync(await self._claim_source(source), sweep_anyway=sweep_anyway, progress=progress)

    async def sync_due_sources(self) -> None:
        """Syncs every due source that no other process has claimed. A failure is logged, and the source is due again
        later.
        """
        async with asyncio.TaskGroup() as group:
            for _ in range(_MAX_CONCURRENT_SYNCS):
                group.create_task(self._sync_claimable_sources())

    async def remove_bucket_sources(self, bucket: BucketId, *, by: str) -> list[StoredSource]:
        """Removes and returns all sources of a bucket, before the bucket is removed. Raises `SourceBusy`."""
        bucket_sources = [source for source in await self.list_sources() if source.bucket == bucket]
        for source in bucket_sources:
            await self.remove_source(source.id, keep_documents=True, by=by)
        return bucket_sources

    async def remove_source(self, source: str, *, keep_documents: bool = False, by: str) -> int:
        """Removes the source, and its documents unless `keep_documents`. Returns how many it had. Raises
        `UnknownSource`, `SourceBusy`.
        """
        from storage.ingest.sources.sync import delete_documents

        claimed = await self._claim_source(source)
        async with self._hold_sync_lease(claimed) as ledger:
            doc_ids = await ledger.list_document_ids()
            if not keep_documents:
                await delete_documents(ledger, self._index, doc_ids, source=source)
            if not await self._store.remove_source(claimed, by=by):
                raise SyncLost(source)
        return len(doc_ids)

    def _new_source_of(self, request: SourceRequest, checked: CheckedSource, identity: str) -> NewSource:
        secret = request.secret
        return NewSource(
            id=identity,
            kind=request.kind,
            location=checked.location,
            bucket=BucketId(request.bucket),
            options=checked.options,
            credential=None if secret is None else self._seal.seal_secret(secret.get_secret_value()),
            every=request.sync_interval,
        )

    @asynccontextmanager
    async def _open_source(self, source: StoredSource) -> "AsyncGenerator[DocumentSource]":
        """Raises `SourceUnavailable`."""
        kind = self._kinds.get(source.kind)
        if kind is None:
            raise SourceUnavailable(f"sources of the kind {source.kind!r} are not read; install Parley again")
        secret = None if source.credential is None else self._seal.open_secret(source.credential)
        if source.credential is not None and secret is None:
            raise SourceUnavailable(
                "its password was sealed with a key that is not in PARLEY_SECRET_KEY; "
                f"give it again: parley source secret {source.id} --ask-secret"
            )
        async with kind.open_source(source, None if secret is None else SecretStr(secret)) as document_source:
            yield document_source

    async def _load_source(self, source: str) -> StoredSource:
        stored = await self._store.find_source(source)
        if stored is None:
            raise UnknownSource(source, [existing.id for existing in await self.list_sources()])
        return stored

    async def _claim_source(self, source: str) -> ClaimedSource:
        await self._load_source(source)
        claimed = await self._store.claim_due_source(self._worker, self._lease, source_id=source)
        if claimed is None:
            raise SourceBusy(source)
        return claimed

    async def _sync_claimable_sources(self) -> None:
        try:
            while (claimed := await self._store.claim_due_source(self._worker, self._lease)) is not None:
                await self._sync_and_log(claimed)
        except SqlError as exc:  # the leases expire, and the sources are claimed again
            self._log.warning("no sources synced", error=type(exc).__name__)

    async def _sync_and_log(self, claimed: ClaimedSource) -> None:
        source = claimed.source.id
        try:
            synced = await self._run_sync(claimed)
        except (SearchError, IngestError, OSError) as exc:
            self._log.warning("source not synced", source=source, error=type(exc).__name__, reason=str(exc))
            return
        problem, log = sync_problem_of(source, synced), self._log.info
        if problem is not None:
            log = self._log.warning
        log("source synced", source=source, **sync_counts_of(synced), problem=problem)

    async def _run_sync(
        self,
        claimed: ClaimedSource,
        *,
        sweep_anyway: bool = False,
        progress: "Callable[[SyncProgress], None]" = lambda progress: None,
    ) -> "SyncResult":
        from storage.ingest.sources.sync import sync_source

        source = claimed.source
        try:
            async with self._hold_sync_lease(claimed) as ledger, self._open_source(source) as document_source:
                synced = await sync_source(
                    document_source,
                    ledger,
                    self._index,
                    extractor=self._extractor,
                    situator=self._situator,
                    passage_characters=self._passage_characters,
                    name=source.id,
                    bucket=source.bucket,
                    force_sweep=sweep_anyway,
                    schema_folder=self._schemas,
                    progress=progress,
                )
        except (SearchError, IngestError, OSError) as exc:
            self._observer(SyncMeasurement(outcome="failed"))
            await self._store.finish_source_run(claimed, "failed", {}, failure=str(exc))
            raise
        self._observer(SyncMeasurement(outcome=sync_outcome_of(synced), documents=_document_counts_of(synced)))
        problem = sync_problem_of(source.id, synced)
        if not await self._store.finish_source_run(
            claimed, sync_outcome_of(synced), sync_counts_of(synced), failure=problem
        ):
            raise SyncLost(source.id)
        return synced

    @asynccontextmanager
    async def _hold_sync_lease(self, claimed: ClaimedSource) -> AsyncGenerator[SourceLedger]:
        """Renews the lease for the length of the block. If the lease is lost, the block is cancelled and raises
        `SyncLost`.
        """
        ledger = self._store.ledger_for(claimed, self._lease)
        try:
            with lone_error():
                async with asyncio.TaskGroup() as group:
                    renewal = group.create_task(self._renew_sync_lease(ledger, claimed.source.id))
                    yield ledger
                    renewal.cancel()
        except asyncio.CancelledError:  # on shutdown: another process may continue at once
            with suppress(SqlError):
                await self._store.release_source(claimed)
            raise

    async def _renew_sync_lease(self, ledger: SourceLedger, source: str) -> None:
        while True:
            await asyncio.sleep(self._lease.total_seconds() / 3)
            if not await ledger.renew_lease():
                raise SyncLost(source)


# -- the outcome of a sync


def sync_outcome_of(synced: "SyncResult") -> str:
    """`done`; `incomplete`: something could not be listed or loaded; `refused`: the sweep would delete too much."""
    from storage.ingest.sources.sync import SweepCompleted, SweepRefused, SweepSkipped

    match synced.sweep:
        case SweepRefused():
            return "refused"
        case SweepSkipped():
            return "incomplete"
        case SweepCompleted():
            return "incomplete" if synced.failed else "done"
        case _:
            assert_never(synced.sweep)


def sync_counts_of(synced: "SyncResult") -> dict[str, int]:
    """`items`, `unchanged` and `passed_over` count items, the others count documents."""
    from storage.ingest.sources.sync import SweepCompleted

    names = ("items", "unchanged", "passed_over", "added", "replaced", "skipped", "failed")
    deleted = synced.sweep.documents if isinstance(synced.sweep, SweepCompleted) else 0
    return {name: getattr(synced, name) for name in names} | {"deleted": deleted}


def _document_counts_of(synced: "SyncResult") -> dict[str, int]:
    counts = sync_counts_of(synced)
    return {name: counts[name] for name in ("added", "replaced", "skipped", "failed", "deleted")}


def sync_problem_of(source: str, synced: "SyncResult") -> str | None:
    """A sentence about a problem that a person should know, and may have to solve."""
    from storage.ingest.sources.sync import SweepCompleted, SweepRefused, SweepSkipped

    match synced.sweep:
        case SweepRefused(documents_to_delete=documents, documents_before=total):
            return (
                f"{source}: {documents:,} of its {total:,} documents are no longer there, which is more than a fifth, "
                f"so none was deleted; if that is right: parley source sync {source} --sweep-anyway"
            )
        case SweepSkipped(reason=reason):
            return f"{source}: not all that is there could be listed, so nothing was deleted: {reason}"
        case SweepCompleted():
            return f"{source}: {synced.failed:,} could not be loaded" if synced.failed else None
        case _:
            assert_never(synced.sweep)


# -- validation of a new source


def _validate_request(request: SourceRequest) -> None:
    """Raises `InvalidSource`."""
    from storage.ingest.pipeline import is_bucket_name

    if not is_bucket_name(request.bucket):
        raise InvalidSource(f"{request.bucket!r} cannot be the name of a bucket: no slashes, no dot at the start")
    if request.sync_interval is not None and not _MIN_INTERVAL <= request.sync_interval <= _MAX_INTERVAL:
        raise InvalidSource("a source is synced every minute at most, and every year at least")


def _describe_kinds(request: SourceRequest, kinds: Sequence[str]) -> str:
    """Says which kinds there are; to a URL first those of files."""
    stores = [f"{kind}+https://" if kind == "webdav" else f"{kind}://" for kind in STORE_KINDS if kind in kinds]
    if "://" not in request.location or not stores:
        return f"{request.kind!r} is not a kind of source; there are {', '.join(kinds)}"
    others = [kind for kind in kinds if kind not in STORE_KINDS]
    named = f"files are in {', '.join(stores)}" + (f"; the other kinds are {', '.join(others)}" if others else "")
    return f"{request.kind}:// is not a kind of source; {named}"


def _is_same_source(source: StoredSource, request: SourceRequest, checked: CheckedSource) -> bool:
    """Whether it reads the same, so that a bucket would get each document twice."""
    options, own_options = (
        {name: value for name, value in values.items() if name != ALLOW_PRIVATE_OPTION}
        for values in (source.options, checked.options)
    )
    own = (request.kind, checked.location, request.bucket, own_options)
    return (source.kind, source.location, source.bucket, options) == own
