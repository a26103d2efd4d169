"""Sources: where documents come from, when each is due, who syncs it now, and what its last run came to.

A source is synced by whoever holds its lease; as with turns, one whose lease ran out is handed out again, and whoever
lost it finds out at the next write. Its ledger says which items there were and which documents came of each.
"""

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final, TypeVar

from sqlalchemy import ColumnElement, Connection, Update, and_, delete, func, insert, or_, select, true, update
from sqlalchemy.engine import Row

from storage.search.ids import BucketId
from storage.sql.audit import record
from storage.sql.database import Database, Object
from storage.sql.errors import ConstraintBroken
from storage.sql.tables import source_documents, source_items, sources

_AT_ONCE: Final = 500  # values in one statement; databases have limits
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSource:
    """`options` are the kind's own. `every` None: synced by hand alone."""

    id: str
    kind: str
    location: str
    bucket: BucketId
    options: Object
    every: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source(NewSource):
    created_at: datetime
    due_at: datetime | None  # the next run by itself
    synced_at: datetime | None  # the end of the last run
    outcome: str | None  # of the last run
    counts: Object | None
    failure: str | None
    documents: int  # that came of it


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedSource:
    source: Source
    fence: int


class Sources:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, new: NewSource) -> bool:
        """False when there is one of this id. A scheduled one is due at once."""
        now = self._database.now()
        values = {name: getattr(new, name) for name in ("id", "kind", "location", "bucket", "options")} | {
            "every_s": int(new.every.total_seconds()) if new.every else None,
            "due_at": now if new.every else None,
            "created_at": now,
            "fence": 0,
        }
        try:
            await self._database.write(lambda connection: connection.execute(insert(sources).values(values)).rowcount)
        except ConstraintBroken:
            return False
        return True

    async def all(self) -> list[Source]:
        """In the order in which they were added."""
        rows = await self._database.read(lambda connection: connection.execute(_LISTED).all())
        return [_source(row) for row in rows]

    async def find(self, source: str) -> Source | None:
        asked = _LISTED.where(sources.c.id == source)
        row = await self._database.read(lambda connection: connection.execute(asked).one_or_none())
        return None if row is None else _source(row)

    async def claim(self, worker: str, lease: timedelta, *, source: str | None = None) -> ClaimedSource | None:
        """This one, due or not, or the one that is due longest; None where that is none, or others hold it."""
        now = self._database.now()
        wanted = sources.c.due_at <= now if source is None else sources.c.id == source
        free = or_(sources.c.leased_until.is_(None), sources.c.leased_until <= now)
        picked = select(sources.c.position).where(wanted, free).order_by(sources.c.due_at, sources.c.position).limit(1)
        picked = (
            picked.with_for_update(skip_locked=True).cte("picked").prefix_with("MATERIALIZED", dialect="postgresql")
        )
        claiming = (
            update(sources)
            .where(sources.c.position.in_(select(picked.c.position)))
            .values(worker=worker, fence=sources.c.fence + 1, leased_until=now + lease)
            .returning(sources.c.id, sources.c.fence)
        )

        def claimed(connection: Connection) -> ClaimedSource | None:
            row = connection.execute(claiming).one_or_none()
            if row is None:
                return None
            found = connection.execute(_LISTED.where(sources.c.id == row.id)).one()
            return ClaimedSource(source=_source(found), fence=row.fence)

        return await self._database.write(claimed)

    async def finish(self, claimed: ClaimedSource, outcome: str, counts: Object, *, failure: str | None = None) -> bool:
        """The run is over, however it went, and the next one is due in the source's own time. False: lease lost."""
        now, every = self._database.now(), claimed.source.every
        values = {"synced_at": now, "outcome": outcome, "counts": counts, "failure": failure}
        finishing = _of(claimed).values(values | _FREE | {"due_at": now + every if every else None})
        return await self._write(finishing)

    async def release(self, claimed: ClaimedSource) -> bool:
        """Given back unfinished: it stays as due as it was. False: lease lost."""
        return await self._write(_of(claimed).values(_FREE))

    async def remove(self, claimed: ClaimedSource, *, by: str) -> bool:
        """With all that is known of it, and an audit entry. False: lease lost."""
        removing, source = delete(sources).where(_is_held(claimed)), claimed.source

        def removed(connection: Connection) -> bool:
            if connection.execute(removing).rowcount != 1:
                return False
            record(self._database, connection, "source.remove", source.id, by=by, before=_auditable(source))
            return True

        return await self._database.write(removed)

    async def doubt(self, bucket: BucketId) -> list[str]:
        """Let the next run of each of the bucket's sources load every item again; which sources these are."""
        own = select(sources.c.id).where(sources.c.bucket == bucket)
        doubting = update(source_items).where(source_items.c.source.in_(own)).values(version="", cursor="")

        def doubted(connection: Connection) -> list[str]:
            connection.execute(doubting)
            return list(connection.execute(own.order_by(sources.c.position)).scalars())

        return await self._database.write(doubted)

    def ledger(self, claimed: ClaimedSource, lease: timedelta) -> "SourceLedger":
        """Each write to it renews the lease."""
        return SourceLedger(self._database, claimed, lease)

    async def _write(self, statement: Update) -> bool:
        return await self._database.write(lambda connection: connection.execute(statement).rowcount == 1)


class SourceLedger:
    """What one run knows and notes. Each write is one transaction, and False, with nothing written, once the lease
    is lost; an item's version and cursor are its source's own words.
    """

    def __init__(self, database: Database, claimed: ClaimedSource, lease: timedelta) -> None:
        self._database, self._claimed, self._lease = database, claimed, lease
        self._source = claimed.source.id

    async def items(self) -> dict[str, tuple[str, str]]:
        """Version and cursor of each item that is known; both empty where the index may hold something else of it."""
        asked = select(source_items).where(source_items.c.source == self._source)
        rows = await self._database.read(lambda connection: connection.execute(asked).all())
        return {row.item: (row.version, row.cursor) for row in rows}

    async def documents(self) -> int:
        """How many the source has."""
        asked = select(func.count()).where(source_documents.c.source == self._source)
        return await self._database.read(lambda connection: connection.execute(asked).scalar_one())

    async def documents_of_bucket(self) -> int:
        """How many all sources of the same bucket have."""
        beside = select(sources.c.id).where(sources.c.bucket == self._claimed.source.bucket)
        asked = select(func.count()).where(source_documents.c.source.in_(beside))
        return await self._database.read(lambda connection: connection.execute(asked).scalar_one())

    async def lost(self, present: Container[str]) -> set[str]:
        """The items that have a document which is not among those present."""
        columns = source_documents.c.doc_id, source_documents.c.item
        asked = select(*columns).where(source_documents.c.source == self._source)
        rows = await self._database.read(lambda connection: connection.execute(asked).all())
        return {row.item for row in rows if row.doc_id not in present}

    async def renew(self) -> bool:
        """Keep the lease."""
        return await self._held(lambda connection: None)

    async def claim(self, documents: Mapping[str, str]) -> bool:
        """These, by id the item of each, are about to be in the index: nothing there is unknown here.

        What was known of their items holds no longer, until it is noted again.
        """
        fresh = [{"source": self._source, "item": item, "version": "", "cursor": ""} for item in {*documents.values()}]
        rows = [
            {"source": self._source, "doc_id": doc_id, "item": item, "run": self._claimed.fence, "stale": False}
            for doc_id, item in documents.items()
        ]

        def claim(connection: Connection) -> None:
            self._put_items(connection, fresh)
            claiming = self._database.insert(source_documents)
            changing = {name: claiming.excluded[name] for name in ("item", "run", "stale")}
            connection.execute(claiming.on_conflict_do_update(index_elements=["source", "doc_id"], set_=changing), rows)

        return await self._held(claim if rows else lambda connection: None)

    async def disclaim(self, doc_ids: Collection[str]) -> bool:
        """These are not this source's."""
        return await self._held(lambda connection: self._drop_documents(connection, doc_ids))

    async def note(self, items: Mapping[str, tuple[str, str]], *, loaded: bool) -> bool:
        """Version and cursor, now that the index has it. `loaded`: what this run did not claim of them is stale."""
        rows = [
            {"source": self._source, "item": item, "version": version, "cursor": cursor}
            for item, (version, cursor) in items.items()
        ]

        def note(connection: Connection) -> None:
            self._put_items(connection, rows)
            for some in _parts(items) if loaded else ():
                is_left = and_(source_documents.c.item.in_(some), source_documents.c.run < self._claimed.fence)
                leaving = update(source_documents).where(source_documents.c.source == self._source, is_left)
                connection.execute(leaving.values(stale=true()))

        return await self._held(note)

    async def doomed(self, vanished: Collection[str]) -> list[str]:
        """The documents that are stale, or of items that are no longer there; in order of id."""
        conditions = [source_documents.c.stale, *(source_documents.c.item.in_(some) for some in _parts(vanished))]
        mine = select(source_documents.c.doc_id).where(source_documents.c.source == self._source)

        def doomed(connection: Connection) -> set[str]:
            return {doc_id for one in conditions for doc_id in connection.execute(mine.where(one)).scalars()}

        return sorted(await self._database.read(doomed))

    async def all_documents(self) -> list[str]:
        """In order of id."""
        asked = select(source_documents.c.doc_id).where(source_documents.c.source == self._source)
        return sorted(await self._database.read(lambda connection: connection.execute(asked).scalars().all()))

    async def forget(self, doc_ids: Collection[str], items: Collection[str] = ()) -> bool:
        """They are gone from the index."""

        def forget(connection: Connection) -> None:
            self._drop_documents(connection, doc_ids)
            for some in _parts(items):
                is_one = source_items.c.item.in_(some)
                connection.execute(delete(source_items).where(source_items.c.source == self._source, is_one))

        return await self._held(forget)

    def _put_items(self, connection: Connection, rows: Sequence[Mapping[str, str]]) -> None:
        if rows:
            putting = self._database.insert(source_items)
            changing = {name: putting.excluded[name] for name in ("version", "cursor")}
            connection.execute(putting.on_conflict_do_update(index_elements=["source", "item"], set_=changing), rows)

    def _drop_documents(self, connection: Connection, doc_ids: Collection[str]) -> None:
        for some in _parts(doc_ids):
            is_one = source_documents.c.doc_id.in_(some)
            connection.execute(delete(source_documents).where(source_documents.c.source == self._source, is_one))

    async def _held(self, work: Callable[[Connection], None]) -> bool:
        """Does the work in the same transaction that renews the lease."""
        renewing = _of(self._claimed).values(leased_until=self._database.now() + self._lease)

        def held(connection: Connection) -> bool:
            if connection.execute(renewing).rowcount == 0:
                return False
            work(connection)
            return True

        return await self._database.write(held)


_FREE: Final[dict[str, object]] = {"worker": None, "leased_until": None}
_COUNTED = (
    select(func.count()).where(source_documents.c.source == sources.c.id).correlate(sources).scalar_subquery()
).label("documents")
_LISTED = select(sources, _COUNTED).order_by(sources.c.position)


def _is_held(claimed: ClaimedSource) -> ColumnElement[bool]:
    """Meets no row once the lease is lost."""
    return and_(
        sources.c.id == claimed.source.id, sources.c.fence == claimed.fence, sources.c.leased_until.is_not(None)
    )


def _of(claimed: ClaimedSource) -> Update:
    return update(sources).where(_is_held(claimed))


def _parts(values: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(values)
    while part := list(islice(rest, _AT_ONCE)):
        yield part


def _auditable(source: Source) -> Object:
    every_s = int(source.every.total_seconds()) if source.every else None
    return {"kind": source.kind, "location": source.location, "bucket": source.bucket, "every_s": every_s}


def _source(row: Row[Any]) -> Source:
    names = ("id", "kind", "location", "options", "created_at", "due_at", "synced_at")
    values = {name: getattr(row, name) for name in (*names, "outcome", "counts", "failure", "documents")}
    every = timedelta(seconds=row.every_s) if row.every_s is not None else None
    return Source(**values, bucket=BucketId(row.bucket), every=every)
