"""Sources as people know them: added, synced by hand or when they are due, removed, and what came of it."""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, assert_never
from urllib.parse import urlsplit

from structlog.typing import FilteringBoundLogger

from bot.errors import InvalidSource, SourceBusy, UnknownSource
from bot.tasks import lone_error
from storage.ingest.errors import IngestError, SyncLost
from storage.search.errors import SearchError
from storage.search.ids import BucketId
from storage.search.index import SearchIndex
from storage.sql.database import Database
from storage.sql.errors import SqlError
from storage.sql.sources import ClaimedSource, NewSource, Source, SourceLedger
from storage.sql.sources import Sources as SourceStore

if TYPE_CHECKING:
    from storage.ingest.sources.source import Source as Place
    from storage.ingest.sources.sync import Synced, SyncProgress

FOLDER: Final = "folder"
SITE: Final = "site"
ALLOW_PRIVATE: Final = "allow_private"
"""The option of a site that may lie on a private network."""
_LEASE: Final = timedelta(seconds=60)
_AT_ONCE: Final = 2  # sources that one process syncs at the same time by itself
_SHORTEST: Final = timedelta(minutes=1)
_LONGEST: Final = timedelta(days=366)
_UNNAMED = re.compile(r"[^\w.]+")

Opener = Callable[[Source], AbstractAsyncContextManager["Place"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A source to add; `location` is a path or a URL, `every` None means by hand alone."""

    kind: str
    location: str
    bucket: str
    every: timedelta | None = None
    allow_private: bool = False


class Sources:
    """`opener` opens the place that a source names; `schemas` is where schemas that a sync makes are written."""

    def __init__(
        self,
        *,
        database: Database,
        index: SearchIndex,
        opener: Opener,
        schemas: Path,
        worker: str,
        log: FilteringBoundLogger,
        lease: timedelta = _LEASE,
    ) -> None:
        self._store, self._index, self._opener = SourceStore(database), index, opener
        self._schemas, self._worker, self._log, self._lease = schemas, worker, log, lease

    async def add(self, wanted: Wanted) -> Source:
        """Named after its folder or host. Raises `InvalidSource`."""
        location = await asyncio.to_thread(_checked, wanted)
        name = _name(wanted.kind, location)
        there = await self.all()
        if any((one.location, one.bucket) == (location, wanted.bucket) for one in there):
            raise InvalidSource(f"{location} is a source of {wanted.bucket} already")
        copy, identity = 1, name
        while not await self._store.add(_new(wanted, identity, location)):
            copy += 1
            identity = f"{name}-{copy}"
        return await self._found(identity)

    async def all(self) -> list[Source]:
        """In the order in which they were added."""
        return await self._store.all()

    async def last_synced(self) -> Mapping[BucketId, datetime]:
        """When each bucket that has sources was last synced by one, whatever came of it."""
        ended = [(one.bucket, one.synced_at) for one in await self.all() if one.synced_at is not None]
        return {bucket: max(at for other, at in ended if other == bucket) for bucket, _ in ended}

    async def load_again(self, bucket: BucketId) -> list[str]:
        """Let the next sync load what is unchanged as well, as for another schema; the bucket's sources by id."""
        return await self._store.doubt(bucket)

    async def sync(
        self,
        source: str,
        *,
        sweep_anyway: bool = False,
        progress: "Callable[[SyncProgress], None]" = lambda progress: None,
    ) -> "Synced":
        """Here and now. Raises `UnknownSource`, `SourceBusy`, `SyncLost`, and what the index and the database raise."""
        return await self._run(await self._claimed(source), sweep_anyway=sweep_anyway, progress=progress)

    async def sync_due(self) -> None:
        """Every source whose time has come and that no other process has. What fails is logged, and due again later."""
        async with asyncio.TaskGroup() as group:
            for _ in range(_AT_ONCE):
                group.create_task(self._work_off())

    async def remove_of(self, bucket: BucketId, *, by: str) -> list[Source]:
        """Every source of the bucket, before the bucket goes; which these were. Raises `SourceBusy`."""
        own = [one for one in await self.all() if one.bucket == bucket]
        for one in own:
            await self.remove(one.id, keep_documents=True, by=by)
        return own

    async def remove(self, source: str, *, keep_documents: bool = False, by: str) -> int:
        """With its documents, unless they are kept. How many it had. Raises `UnknownSource`, `SourceBusy`."""
        from storage.ingest.sources.sync import delete

        claimed = await self._claimed(source)
        async with self._renewed(claimed) as ledger:
            doc_ids = await ledger.all_documents()
            if not keep_documents:
                await delete(ledger, self._index, doc_ids, source=source)
            if not await self._store.remove(claimed, by=by):
                raise SyncLost(source)
        return len(doc_ids)

    async def _found(self, source: str) -> Source:
        found = await self._store.find(source)
        if found is None:
            raise UnknownSource(source, [one.id for one in await self.all()])
        return found

    async def _claimed(self, source: str) -> ClaimedSource:
        await self._found(source)
        claimed = await self._store.claim(self._worker, self._lease, source=source)
        if claimed is None:
            raise SourceBusy(source)
        return claimed

    async def _work_off(self) -> None:
        try:
            while (claimed := await self._store.claim(self._worker, self._lease)) is not None:
                await self._logged(claimed)
        except SqlError as exc:  # the leases run out, and the sources are claimed again
            self._log.warning("no sources synced", error=type(exc).__name__)

    async def _logged(self, claimed: ClaimedSource) -> None:
        source = claimed.source.id
        try:
            synced = await self._run(claimed)
        except (SearchError, IngestError, OSError) as exc:
            self._log.warning("source not synced", source=source, error=type(exc).__name__, reason=str(exc))
            return
        problem, log = problem_of(source, synced), self._log.info
        if problem is not None:
            log = self._log.warning
        log("source synced", source=source, **counts_of(synced), problem=problem)

    async def _run(
        self,
        claimed: ClaimedSource,
        *,
        sweep_anyway: bool = False,
        progress: "Callable[[SyncProgress], None]" = lambda progress: None,
    ) -> "Synced":
        from storage.ingest.sources.sync import sync

        source = claimed.source
        try:
            async with self._renewed(claimed) as ledger, self._opener(source) as place:
                synced = await sync(
                    place,
                    ledger,
                    self._index,
                    name=source.id,
                    bucket=source.bucket,
                    sweep_anyway=sweep_anyway,
                    schema_folder=self._schemas,
                    progress=progress,
                )
        except (SearchError, IngestError, OSError) as exc:
            await self._store.finish(claimed, "failed", {}, failure=str(exc))
            raise
        problem = problem_of(source.id, synced)
        if not await self._store.finish(claimed, outcome_of(synced), counts_of(synced), failure=problem):
            raise SyncLost(source.id)
        return synced

    @asynccontextmanager
    async def _renewed(self, claimed: ClaimedSource) -> AsyncGenerator[SourceLedger]:
        """Keeps the lease for the length of the block, which is cancelled when it is lost, and ends as `SyncLost`."""
        ledger = self._store.ledger(claimed, self._lease)
        try:
            with lone_error():
                async with asyncio.TaskGroup() as group:
                    beating = group.create_task(self._beat(ledger, claimed.source.id))
                    yield ledger
                    beating.cancel()
        except asyncio.CancelledError:  # told to end: another may go on at once
            with suppress(SqlError):
                await self._store.release(claimed)
            raise

    async def _beat(self, ledger: SourceLedger, source: str) -> None:
        while True:
            await asyncio.sleep(self._lease.total_seconds() / 3)
            if not await ledger.renew():
                raise SyncLost(source)


# -- what came of a sync


def outcome_of(synced: "Synced") -> str:
    """`done`; `incomplete`: something there could not be listed or loaded; `refused`: the sweep would delete much."""
    from storage.ingest.sources.sync import NotSwept, SweepRefused, Swept

    match synced.sweep:
        case SweepRefused():
            return "refused"
        case NotSwept():
            return "incomplete"
        case Swept():
            return "incomplete" if synced.failed else "done"
        case _:
            assert_never(synced.sweep)


def counts_of(synced: "Synced") -> dict[str, int]:
    """`items`, `unchanged` and `passed_over` are of items, the others of documents."""
    from storage.ingest.sources.sync import Swept

    names = ("items", "unchanged", "passed_over", "added", "replaced", "skipped", "failed")
    deleted = synced.sweep.documents if isinstance(synced.sweep, Swept) else 0
    return {name: getattr(synced, name) for name in names} | {"deleted": deleted}


def problem_of(source: str, synced: "Synced") -> str | None:
    """What a person should know and perhaps do, in a sentence."""
    from storage.ingest.sources.sync import NotSwept, SweepRefused, Swept

    match synced.sweep:
        case SweepRefused(documents=documents, of=of):
            return (
                f"{source}: {documents:,} of its {of:,} documents are no longer there, which is more than a fifth, "
                f"so none was deleted; if that is right: parley source sync {source} --sweep-anyway"
            )
        case NotSwept(reason=reason):
            return f"{source}: not all that is there could be listed, so nothing was deleted: {reason}"
        case Swept():
            return f"{source}: {synced.failed:,} could not be loaded" if synced.failed else None
        case _:
            assert_never(synced.sweep)


# -- what can be a source


def _new(wanted: Wanted, identity: str, location: str) -> NewSource:
    return NewSource(
        id=identity,
        kind=wanted.kind,
        location=location,
        bucket=BucketId(wanted.bucket),
        options={ALLOW_PRIVATE: True} if wanted.allow_private else {},
        every=wanted.every,
    )


def _checked(wanted: Wanted) -> str:
    """The location, written in full. Raises `InvalidSource`."""
    from storage.ingest.pipeline import is_bucket_name

    if not is_bucket_name(wanted.bucket):
        raise InvalidSource(f"{wanted.bucket!r} cannot be the name of a bucket: no slashes, no dot at the start")
    if wanted.every is not None and not _SHORTEST <= wanted.every <= _LONGEST:
        raise InvalidSource("a source is synced every minute at most, and every year at least")
    return _checked_url(wanted.location) if wanted.kind == SITE else _checked_folder(wanted.location)


def _checked_folder(location: str) -> str:
    try:
        path = Path(location).expanduser().resolve()
        if path.is_dir():
            return str(path)
    except (OSError, RuntimeError, ValueError) as exc:
        raise InvalidSource(f"{location!r} cannot be a folder: {exc}") from exc
    raise InvalidSource(f"{location} is no folder" if path.exists() else f"there is no folder {location}")


def _checked_url(location: str) -> str:
    from storage.ingest.sources.site import normal

    try:
        parts = urlsplit(location.strip())
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        parts, is_address = None, False
    if parts is None or not is_address:
        raise InvalidSource(f"{location!r} is no address of a site, such as https://www.example.com/")
    if parts.username is not None or parts.password is not None:
        raise InvalidSource("an address with a user or a password in it is not taken: it would be shown")
    return normal(location)


def _name(kind: str, location: str) -> str:
    """Small, and without what has a meaning in ids and shells."""
    given = (urlsplit(location).hostname or "").removeprefix("www.") if kind == SITE else Path(location).name
    return _UNNAMED.sub("-", given.casefold()).strip("-.")[:40] or kind
