"""Sources: where documents come from, when each source is due, which worker syncs it, and how its last run ended.

The worker with the lease syncs a source. As with turns, a source whose lease has run out is handed out again, and the
worker that lost the lease learns so at its next write. A source's ledger records its items and the documents of each
item.
"""

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Annotated, Any, Final, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Index,
    Update,
    and_,
    case,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.engine import Row
from sqlmodel import AutoString, Field

from storage.search.ids import BucketId
from storage.sql import tables
from storage.sql.database import JsonMapping, SqlDatabase
from storage.sql.errors import ConstraintBroken
from storage.sql.stores.audit import write_audit_entry

_MAX_VALUES: Final = 500  # in one statement; databases limit them
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class SourceDefinition:
    """`options` depend on the kind. `credential` is sealed: the password, key or token of the source."""

    id: tables.UniqueText
    kind: str
    location: tables.PeopleText
    bucket: Annotated[BucketId, Field(sa_type=AutoString)]
    options: tables.JsonColumn
    credential: str | None = None


@dataclass(frozen=True, kw_only=True)
class NewSource(SourceDefinition):
    every: timedelta | None  # None for a source that is only synced by hand


@dataclass(frozen=True, kw_only=True)
class StoredSourceColumns(SourceDefinition):
    """A source as stored, without its interval."""

    created_at: tables.UtcColumn
    due_at: tables.OptionalUtcColumn  # the next scheduled run
    synced_at: tables.OptionalUtcColumn  # the end of the last run
    outcome: str | None  # of the last run
    counts: tables.OptionalJsonColumn
    failure: tables.OptionalPeopleText
    leased_until: tables.OptionalUtcColumn = None  # while it is synced
    paused_at: tables.OptionalUtcColumn = None  # since when it is synced by hand alone
    succeeded_at: tables.OptionalUtcColumn = None  # the end of the last run that did not fail as a whole


class SourceRow(tables.TableRow, StoredSourceColumns, frozen=True, table=True):
    __tablename__ = "sources"  # pyright: ignore[reportAssignmentType]

    __table_args__ = (
        Index("ix_sources_due", "due_at", **tables.partial_index("due_at IS NOT NULL")),
        {"sqlite_autoincrement": True},
    )

    position: tables.RowNumber
    every_s: int | None
    fence: int  # the number of the last run
    worker: str | None


class SourceItemRow(tables.TableRow, frozen=True, table=True):
    __tablename__ = "source_items"  # pyright: ignore[reportAssignmentType]

    source: str = Field(primary_key=True, foreign_key="sources.id", ondelete="CASCADE")
    item: tables.KeyText
    version: tables.PeopleText
    cursor: tables.PeopleText


class SourceDocumentRow(tables.TableRow, frozen=True, table=True):
    __tablename__ = "source_documents"  # pyright: ignore[reportAssignmentType]
    __table_args__ = (Index("ix_source_documents_item", "source", "item"),)

    source: str = Field(primary_key=True, foreign_key="sources.id", ondelete="CASCADE")
    doc_id: tables.KeyText
    item: str
    run: int  # the last run that produced the document
    stale: bool  # a later run did not find it in its item any more


sources: Final = SourceRow.__table__
source_items: Final = SourceItemRow.__table__
source_documents: Final = SourceDocumentRow.__table__


@dataclass(frozen=True, kw_only=True)
class StoredSource(NewSource, StoredSourceColumns):
    documents: int  # how many documents the source has


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedSource:
    source: StoredSource
    fence: int


class SourceStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def add_source(self, new: NewSource) -> bool:
        """Add a source; False if the id exists. A scheduled source is due at once."""
        now = self._database.utc_now()
        values = tables.column_values_of(new) | {
            "every_s": int(new.every.total_seconds()) if new.every else None,
            "due_at": now if new.every else None,
            "created_at": now,
            "fence": 0,
        }
        del values["every"]
        try:
            await self._database.run_write(
                lambda connection: connection.execute(insert(sources).values(values)).rowcount
            )
        except ConstraintBroken:
            return False
        return True

    async def list_sources(self) -> list[StoredSource]:
        """Returns the sources in the order in which they were added."""
        rows = await self._database.run_read(lambda connection: connection.execute(_SELECT_SOURCES).all())
        return [_source_from_row(row) for row in rows]

    async def find_source(self, source_id: str) -> StoredSource | None:
        query = _SELECT_SOURCES.where(sources.c.id == source_id)
        row = await self._database.run_read(lambda connection: connection.execute(query).one_or_none())
        return None if row is None else _source_from_row(row)

    async def claim_due_source(
        self, worker: str, lease: timedelta, *, source_id: str | None = None
    ) -> ClaimedSource | None:
        """Claim this source, due or not, or the source that has been due longest.

        None if there is no such source, or if another worker has it.
        """
        now = self._database.utc_now()
        is_wanted = sources.c.due_at <= now if source_id is None else sources.c.id == source_id
        is_free = or_(sources.c.leased_until.is_(None), sources.c.leased_until <= now)
        picked = (
            select(sources.c.position).where(is_wanted, is_free).order_by(sources.c.due_at, sources.c.position).limit(1)
        )
        picked = (
            picked.with_for_update(skip_locked=True).cte("picked").prefix_with("MATERIALIZED", dialect="postgresql")
        )
        claim_statement = (
            update(sources)
            .where(sources.c.position.in_(select(picked.c.position)))
            .values(worker=worker, fence=sources.c.fence + 1, leased_until=now + lease)
            .returning(sources.c.id, sources.c.fence)
        )

        def claim_and_load(connection: Connection) -> ClaimedSource | None:
            row = connection.execute(claim_statement).one_or_none()
            if row is None:
                return None
            source_row = connection.execute(_SELECT_SOURCES.where(sources.c.id == row.id)).one()
            return ClaimedSource(source=_source_from_row(source_row), fence=row.fence)

        return await self._database.run_write(claim_and_load)

    async def finish_source_run(
        self, claimed: ClaimedSource, outcome: str, counts: JsonMapping, *, failure: str | None = None
    ) -> bool:
        """End a run, which failed as a whole if its outcome is `failed`, and schedule the next one. False if the lease
        was lost.
        """
        now, every = self._database.utc_now(), claimed.source.every
        values = {"synced_at": now, "outcome": outcome, "counts": counts, "failure": failure}
        values |= {} if outcome == "failed" else {"succeeded_at": now}
        next_run = case((sources.c.paused_at.is_(None), literal(now + every, tables.UtcTime()))) if every else None
        statement = _update_while_leased(claimed).values(values | _RELEASED_VALUES | {"due_at": next_run})
        return await self._update_single_row(statement)

    async def request_sync(self, source_id: str, *, by: str) -> bool:
        """Make the source due at once, also one that is paused or has no schedule. False if there is no such source."""
        values = {"due_at": self._database.utc_now()}
        return await self._change_schedule(source_id, "source.sync", true(), values, by)

    async def pause_source(self, source_id: str, *, by: str) -> bool:
        """End the schedule of a source until it is resumed; a run that has begun goes on. False if there is no such
        source, or if it is paused already.
        """
        values = {"paused_at": self._database.utc_now(), "due_at": None}
        return await self._change_schedule(source_id, "source.pause", sources.c.paused_at.is_(None), values, by)

    async def resume_source(self, source_id: str, *, by: str) -> bool:
        """Continue the schedule of a paused source, which is due at once. False if it is not paused."""
        now = self._database.utc_now()
        next_run = case((sources.c.every_s.is_not(None), literal(now, tables.UtcTime())))
        values = {"paused_at": None, "due_at": next_run}
        return await self._change_schedule(source_id, "source.resume", sources.c.paused_at.is_not(None), values, by)

    async def _change_schedule(
        self, source_id: str, action: str, condition: ColumnElement[bool], values: Mapping[str, object], by: str
    ) -> bool:
        statement = update(sources).where(sources.c.id == source_id, condition).values(values)

        def change_and_audit(connection: Connection) -> bool:
            if connection.execute(statement).rowcount != 1:
                return False
            write_audit_entry(self._database, connection, action, source_id, by=by)
            return True

        return await self._database.run_write(change_and_audit)

    async def replace_credential(self, claimed: ClaimedSource, credential: str) -> bool:
        """Store another sealed credential, and return the source. False if the lease was lost."""
        statement = _update_while_leased(claimed).values(_RELEASED_VALUES | {"credential": credential})
        return await self._update_single_row(statement)

    async def release_source(self, claimed: ClaimedSource) -> bool:
        """Return a source unfinished; its due time does not change. False if the lease was lost."""
        return await self._update_single_row(_update_while_leased(claimed).values(_RELEASED_VALUES))

    async def remove_source(self, claimed: ClaimedSource, *, by: str) -> bool:
        """Remove a source with its ledger, and write an audit entry. False if the lease was lost."""
        statement, source = delete(sources).where(_is_lease_held(claimed)), claimed.source

        def delete_and_audit(connection: Connection) -> bool:
            if connection.execute(statement).rowcount != 1:
                return False
            write_audit_entry(
                self._database, connection, "source.remove", source.id, by=by, before=_audit_values_of(source)
            )
            return True

        return await self._database.run_write(delete_and_audit)

    async def force_full_reload(self, bucket: BucketId) -> list[str]:
        """Make the next run of each source of the bucket load every item again; returns the ids of these sources."""
        source_ids = select(sources.c.id).where(sources.c.bucket == bucket)
        clear_statement = (
            update(source_items).where(source_items.c.source.in_(source_ids)).values(version="", cursor="")
        )

        def clear_item_versions(connection: Connection) -> list[str]:
            connection.execute(clear_statement)
            return list(connection.execute(source_ids.order_by(sources.c.position)).scalars())

        return await self._database.run_write(clear_item_versions)

    def ledger_for(self, claimed: ClaimedSource, lease: timedelta) -> "SourceLedger":
        """Returns the ledger of a claimed source. Each write to it renews the lease."""
        return SourceLedger(self._database, claimed, lease)

    async def _update_single_row(self, statement: Update) -> bool:
        return await self._database.run_write(lambda connection: connection.execute(statement).rowcount == 1)


class SourceLedger:
    """The ledger of one run: known items and documents.

    Each write is one transaction; it returns False, with nothing written, once the lease is lost. An item's version and
    cursor are opaque values of its source.
    """

    def __init__(self, database: SqlDatabase, claimed: ClaimedSource, lease: timedelta) -> None:
        self._database, self._claimed, self._lease = database, claimed, lease
        self._source = claimed.source.id

    async def known_items(self) -> dict[str, tuple[str, str]]:
        """Returns the version and cursor of each known item; both are empty if the index may not match that version."""
        query = select(source_items).where(source_items.c.source == self._source)
        rows = await self._database.run_read(lambda connection: connection.execute(query).all())
        return {row.item: (row.version, row.cursor) for row in rows}

    async def count_documents(self) -> int:
        """Returns how many documents the source has."""
        query = select(func.count()).where(source_documents.c.source == self._source)
        return await self._database.run_read(lambda connection: connection.execute(query).scalar_one())

    async def count_bucket_documents(self) -> int:
        """Returns how many documents all sources of the same bucket have."""
        bucket_sources = select(sources.c.id).where(sources.c.bucket == self._claimed.source.bucket)
        query = select(func.count()).where(source_documents.c.source.in_(bucket_sources))
        return await self._database.run_read(lambda connection: connection.execute(query).scalar_one())

    async def find_lost_items(self, present_documents: Container[str]) -> set[str]:
        """Returns the items that have a document which is not in `present_documents`."""
        columns = source_documents.c.doc_id, source_documents.c.item
        query = select(*columns).where(source_documents.c.source == self._source)
        rows = await self._database.run_read(lambda connection: connection.execute(query).all())
        return {row.item for row in rows if row.doc_id not in present_documents}

    async def renew_lease(self) -> bool:
        """Renew the lease; False if it was lost."""
        return await self._write_under_lease(lambda connection: None)

    async def claim_documents(self, item_by_document: Mapping[str, str]) -> bool:
        """Record documents before they are put into the index, so that the ledger knows every indexed document.

        The versions of their items are cleared until `record_items`.
        """
        cleared_items = [
            {"source": self._source, "item": item, "version": "", "cursor": ""} for item in {*item_by_document.values()}
        ]
        rows = [
            {"source": self._source, "doc_id": doc_id, "item": item, "run": self._claimed.fence, "stale": False}
            for doc_id, item in item_by_document.items()
        ]

        def upsert_claimed_documents(connection: Connection) -> None:
            self._upsert_items(connection, cleared_items)
            insert_statement = self._database.insert_into(source_documents)
            updated_columns = {name: insert_statement.excluded[name] for name in ("item", "run", "stale")}
            connection.execute(
                insert_statement.on_conflict_do_update(index_elements=["source", "doc_id"], set_=updated_columns), rows
            )

        return await self._write_under_lease(upsert_claimed_documents if rows else lambda connection: None)

    async def disclaim_documents(self, doc_ids: Collection[str]) -> bool:
        """Remove documents from the ledger, because they do not belong to this source."""
        return await self._write_under_lease(lambda connection: self._delete_documents(connection, doc_ids))

    async def record_items(self, items: Mapping[str, tuple[str, str]], *, is_loaded: bool) -> bool:
        """Record the version and cursor of items that the index now has.

        `is_loaded`: the items were loaded, so their documents that this run did not claim are stale.
        """
        rows = [
            {"source": self._source, "item": item, "version": version, "cursor": cursor}
            for item, (version, cursor) in items.items()
        ]

        def upsert_noted_items(connection: Connection) -> None:
            self._upsert_items(connection, rows)
            for batch in _batches_of_values(items) if is_loaded else ():
                is_unclaimed = and_(source_documents.c.item.in_(batch), source_documents.c.run < self._claimed.fence)
                statement = update(source_documents).where(source_documents.c.source == self._source, is_unclaimed)
                connection.execute(statement.values(stale=true()))

        return await self._write_under_lease(upsert_noted_items)

    async def find_stale_documents(self, vanished_items: Collection[str]) -> list[str]:
        """Returns the stale documents and the documents of vanished items, in order of id."""
        conditions = [
            source_documents.c.stale,
            *(source_documents.c.item.in_(batch) for batch in _batches_of_values(vanished_items)),
        ]
        query = select(source_documents.c.doc_id).where(source_documents.c.source == self._source)

        def select_doomed_documents(connection: Connection) -> set[str]:
            return {
                doc_id for condition in conditions for doc_id in connection.execute(query.where(condition)).scalars()
            }

        return sorted(await self._database.run_read(select_doomed_documents))

    async def find_item_documents(self, items: Collection[str]) -> list[str]:
        """Returns the documents of the items, in order of id."""
        query = select(source_documents.c.doc_id).where(source_documents.c.source == self._source)

        def select_item_documents(connection: Connection) -> list[str]:
            return [
                doc_id
                for batch in _batches_of_values(items)
                for doc_id in connection.execute(query.where(source_documents.c.item.in_(batch))).scalars()
            ]

        return sorted(await self._database.run_read(select_item_documents))

    async def list_document_ids(self) -> list[str]:
        """Returns the ids of the source's documents, in order."""
        query = select(source_documents.c.doc_id).where(source_documents.c.source == self._source)
        return sorted(await self._database.run_read(lambda connection: connection.execute(query).scalars().all()))

    async def forget_documents(self, doc_ids: Collection[str], items: Collection[str] = ()) -> bool:
        """Remove documents and items that were deleted from the index."""

        def delete_documents_and_items(connection: Connection) -> None:
            self._delete_documents(connection, doc_ids)
            for batch in _batches_of_values(items):
                is_in_batch = source_items.c.item.in_(batch)
                connection.execute(delete(source_items).where(source_items.c.source == self._source, is_in_batch))

        return await self._write_under_lease(delete_documents_and_items)

    def _upsert_items(self, connection: Connection, rows: Sequence[Mapping[str, str]]) -> None:
        if rows:
            insert_statement = self._database.insert_into(source_items)
            updated_columns = {name: insert_statement.excluded[name] for name in ("version", "cursor")}
            connection.execute(
                insert_statement.on_conflict_do_update(index_elements=["source", "item"], set_=updated_columns), rows
            )

    def _delete_documents(self, connection: Connection, doc_ids: Collection[str]) -> None:
        for batch in _batches_of_values(doc_ids):
            is_in_batch = source_documents.c.doc_id.in_(batch)
            connection.execute(delete(source_documents).where(source_documents.c.source == self._source, is_in_batch))

    async def _write_under_lease(self, work: Callable[[Connection], None]) -> bool:
        """Run `work` in the transaction that renews the lease; False, with nothing written, if the lease was lost."""
        renewal = _update_while_leased(self._claimed).values(leased_until=self._database.utc_now() + self._lease)

        def write_if_held(connection: Connection) -> bool:
            if connection.execute(renewal).rowcount == 0:
                return False
            work(connection)
            return True

        return await self._database.run_write(write_if_held)


_RELEASED_VALUES: Final[dict[str, object]] = {"worker": None, "leased_until": None}
_DOCUMENT_COUNT = (
    select(func.count()).where(source_documents.c.source == sources.c.id).correlate(sources).scalar_subquery()
).label("documents")
_SELECT_SOURCES = select(sources, _DOCUMENT_COUNT).order_by(sources.c.position)


def _is_lease_held(claimed: ClaimedSource) -> ColumnElement[bool]:
    """Matches no row once the lease is lost."""
    return and_(
        sources.c.id == claimed.source.id, sources.c.fence == claimed.fence, sources.c.leased_until.is_not(None)
    )


def _update_while_leased(claimed: ClaimedSource) -> Update:
    return update(sources).where(_is_lease_held(claimed))


def _batches_of_values(values: Iterable[T]) -> Iterator[list[T]]:
    remaining = iter(values)
    while batch := list(islice(remaining, _MAX_VALUES)):
        yield batch


def _audit_values_of(source: StoredSource) -> JsonMapping:
    every_s = int(source.every.total_seconds()) if source.every else None
    return {"kind": source.kind, "location": source.location, "bucket": source.bucket, "every_s": every_s}


def _source_from_row(row: Row[Any]) -> StoredSource:
    every = timedelta(seconds=row.every_s) if row.every_s is not None else None
    return StoredSource(
        **tables.column_values_of(tables.value_from_row(StoredSourceColumns, row)), every=every, documents=row.documents
    )
