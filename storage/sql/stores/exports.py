"""Exports: queued, run under a lease one at a time per person, resumed where they stopped, and expired. And offers of
their files to people, each of which is answered once.

Like a turn, a running export whose lease has run out is handed out again, with the cursor that was recorded last. So is
the upload of an accepted offer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Executable,
    Index,
    Update,
    and_,
    delete,
    exists,
    insert,
    null,
    or_,
    select,
    update,
)
from sqlalchemy.engine import Row
from sqlmodel import AutoString, Field

from storage.sql import tables
from storage.sql.database import JsonMapping, SqlDatabase
from storage.sql.errors import ConstraintBroken

_MAX_VALUES: Final = 500  # in one statement; databases limit them


class ExportStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    EXPIRED = "expired"


@dataclass(frozen=True, kw_only=True)
class NewExport:
    """`request` says what to write: a plan or a search, as JSON."""

    conversation: str
    turn: str
    person: str
    audience: tables.JsonColumn
    request: tables.JsonColumn
    expires_at: tables.UtcColumn


@dataclass(frozen=True, kw_only=True)
class StoredExport(NewExport):
    id: tables.UniqueText
    status: Annotated[ExportStatus, Field(sa_type=AutoString)]
    rows: int  # written so far
    path: tables.OptionalPeopleText
    cursor: tables.OptionalJsonColumn  # where to continue
    failure: tables.OptionalPeopleText
    created_at: tables.UtcColumn


class ExportRow(tables.TableRow, StoredExport, frozen=True, table=True):
    __tablename__ = "exports"  # pyright: ignore[reportAssignmentType]

    __table_args__ = (
        Index("uq_exports_running", "person", unique=True, **tables.partial_index("status = 'running'")),
        Index("ix_exports_open", "position", **tables.partial_index("status IN ('queued', 'running')")),
        {"sqlite_autoincrement": True},
    )

    position: tables.RowNumber
    worker: str | None
    fence: int
    due_at: tables.UtcColumn


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedExport:
    export: StoredExport
    fence: int


exports: Final = ExportRow.__table__


class ExportStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def queue_export(self, new: NewExport) -> StoredExport:
        now = self._database.utc_now()
        export_id = self._database.new_id()
        values = tables.column_values_of(new) | {
            "id": export_id,
            "status": ExportStatus.QUEUED.value,
            "rows": 0,
            "fence": 0,
            "due_at": now,
            "created_at": now,
        }
        statement = insert(exports).values(values).returning(exports)
        row = await self._database.run_write(lambda connection: connection.execute(statement).one())
        return _export_from_row(row)

    async def claim_due_export(
        self, worker: str, lease: timedelta, *, export_id: str | None = None
    ) -> ClaimedExport | None:
        """Claim the oldest export that may run now, or this one if it may.

        An export may run if it is queued, or if its worker has lost the lease. A person has one running export at a
        time, which a unique index of the database enforces.
        """
        is_claimable = (
            _is_claimable_at(self._database.utc_now())
            if export_id is None
            else _is_claimable_at(self._database.utc_now()) & (exports.c.id == export_id)
        )
        picked = select(exports.c.position).where(is_claimable).order_by(exports.c.position).limit(1)
        picked = (
            picked.with_for_update(skip_locked=True).cte("picked").prefix_with("MATERIALIZED", dialect="postgresql")
        )
        claim_statement = (
            update(exports)
            .where(exports.c.position.in_(select(picked.c.position)))
            .values(
                status=ExportStatus.RUNNING.value,
                worker=worker,
                fence=exports.c.fence + 1,
                due_at=self._database.utc_now() + lease,
            )
            .returning(exports)
        )
        try:
            row = await self._database.run_write(
                lambda connection: self._claim_next_export(connection, claim_statement)
            )
        except ConstraintBroken:  # another worker claimed another export of this person at the same time
            return None
        return None if row is None else ClaimedExport(export=_export_from_row(row), fence=row.fence)

    def _claim_next_export(self, connection: Connection, statement: Executable) -> Row[Any] | None:
        connection.execute(self._requeue_abandoned_statement())
        return connection.execute(statement).one_or_none()

    def _requeue_abandoned_statement(self) -> Update:
        """Returns an update that queues abandoned exports again, so that they no longer block their person."""
        is_abandoned = and_(
            exports.c.status == ExportStatus.RUNNING.value, exports.c.due_at <= self._database.utc_now()
        )
        return update(exports).where(is_abandoned).values(status=ExportStatus.QUEUED.value, worker=None)

    async def record_export_progress(
        self, claimed: ClaimedExport, *, rows: int, cursor: JsonMapping, lease: timedelta
    ) -> bool:
        """Record that `rows` rows are on the disk; a later claim continues at `cursor`. False if the lease was lost."""
        due_at = self._database.utc_now() + lease
        return await self._update_single_row(
            _update_while_leased(claimed).values(rows=rows, cursor=cursor, due_at=due_at)
        )

    async def finish_export(self, claimed: ClaimedExport, *, rows: int, path: str) -> bool:
        return await self._update_single_row(
            _update_while_leased(claimed).values(status=ExportStatus.DONE.value, rows=rows, path=path, worker=None)
        )

    async def fail_export(self, claimed: ClaimedExport, reason: str) -> bool:
        return await self._update_single_row(
            _update_while_leased(claimed).values(status=ExportStatus.FAILED.value, failure=reason, worker=None)
        )

    async def withdraw_export(self, export_id: str, reason: str) -> bool:
        """Mark a queued export as failed; False if a worker has begun it."""
        is_queued = (exports.c.id == export_id) & (exports.c.status == ExportStatus.QUEUED.value)
        statement = update(exports).where(is_queued).values(status=ExportStatus.FAILED.value, failure=reason)
        return await self._update_single_row(statement)

    async def find_export(self, export_id: str) -> StoredExport | None:
        query = select(exports).where(exports.c.id == export_id)
        row = await self._database.run_read(lambda connection: connection.execute(query).one_or_none())
        return None if row is None else _export_from_row(row)

    async def find_newest_of_turn(self, turn: str) -> StoredExport | None:
        """Returns the newest export that the turn queued; a retried turn continues with it."""
        query = select(exports).where(exports.c.turn == turn).order_by(exports.c.position.desc()).limit(1)
        row = await self._database.run_read(lambda connection: connection.execute(query).one_or_none())
        return None if row is None else _export_from_row(row)

    async def list_of_person(self, person: str, limit: int) -> list[StoredExport]:
        """Returns the person's exports, newest first."""
        query = select(exports).where(exports.c.person == person).order_by(exports.c.position.desc()).limit(limit)
        rows = await self._database.run_read(lambda connection: connection.execute(query).all())
        return [_export_from_row(row) for row in rows]

    async def expire_due_exports(self) -> list[StoredExport]:
        """Expire due exports that no worker is writing; returns each of them once."""
        now = self._database.utc_now()
        is_not_running = or_(exports.c.status != ExportStatus.RUNNING.value, exports.c.due_at <= now)
        statement = (
            update(exports)
            .where(exports.c.expires_at <= now, exports.c.status != ExportStatus.EXPIRED.value, is_not_running)
            .values(status=ExportStatus.EXPIRED.value, worker=None, fence=exports.c.fence + 1)
            .returning(exports)
        )
        rows = await self._database.run_write(lambda connection: connection.execute(statement).all())
        return [_export_from_row(row) for row in sorted(rows, key=lambda row: row.position)]

    async def expire_of_turns(self, turn_ids: Sequence[str]) -> list[StoredExport]:
        """Expire the exports of these turns now, even if a worker is writing them; returns the expired exports."""
        statement = (
            update(exports)
            .where(exports.c.turn.in_(turn_ids), exports.c.status != ExportStatus.EXPIRED.value)
            .values(status=ExportStatus.EXPIRED.value, worker=None, fence=exports.c.fence + 1)
            .returning(exports)
        )
        rows = await self._database.run_write(lambda connection: connection.execute(statement).all())
        return [_export_from_row(row) for row in rows]

    async def find_discarded(self, export_ids: Sequence[str]) -> list[str]:
        """Returns those of the exports that have expired or were deleted, whichever process has done that."""
        current = set[str]()
        for start in range(0, len(export_ids), _MAX_VALUES):
            query = select(exports.c.id).where(
                exports.c.id.in_(export_ids[start : start + _MAX_VALUES]),
                exports.c.status != ExportStatus.EXPIRED.value,
            )
            current.update(
                await self._database.run_read(lambda connection, query=query: connection.execute(query).scalars().all())
            )
        return [export_id for export_id in export_ids if export_id not in current]

    async def _update_single_row(self, statement: Update) -> bool:
        return await self._database.run_write(lambda connection: connection.execute(statement).rowcount == 1)


_other = exports.alias("other")


def _is_claimable_at(now: datetime) -> ColumnElement[bool]:
    has_running_export = exists().where(
        _other.c.person == exports.c.person, _other.c.status == ExportStatus.RUNNING.value
    )
    return and_(exports.c.expires_at > now, exports.c.status == ExportStatus.QUEUED.value, ~has_running_export)


def _update_while_leased(claimed: ClaimedExport) -> Update:
    """Returns an update that matches no row once the lease is lost."""
    return update(exports).where(
        exports.c.id == claimed.export.id,
        exports.c.fence == claimed.fence,
        exports.c.status == ExportStatus.RUNNING.value,
    )


def _export_from_row(row: Row[Any]) -> StoredExport:
    return replace(tables.value_from_row(StoredExport, row), status=ExportStatus(row.status))


# Offers


_OFFER_RETENTION: Final = timedelta(days=7)  # beyond the expiry: until then, a late answer is told why it is refused


class FileOfferStatus(StrEnum):
    OPEN = "open"
    ACCEPTED = "accepted"  # being uploaded
    DELIVERED = "delivered"
    DECLINED = "declined"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class NewFileOffer:
    """`file` names the file, once in a conversation. `language`: of the messages about it, ISO 639-1."""

    file: str
    turn: str
    person: str
    conversation: str
    language: str
    content: tables.OptionalPeopleText  # of a text; None for a file on the disk, and once the offer is over
    expires_at: tables.UtcColumn


@dataclass(frozen=True, kw_only=True)
class StoredFileOffer(NewFileOffer):
    id: tables.UniqueText
    status: Annotated[FileOfferStatus, Field(sa_type=AutoString)]
    message: str | None  # of the offer in the chat; None while it is unknown whether it was posted
    upload: tables.OptionalPeopleText  # where the accepted file goes, as the caller has sealed it; None once it is over


class FileOfferRow(tables.TableRow, StoredFileOffer, frozen=True, table=True):
    __tablename__ = "file_offers"  # pyright: ignore[reportAssignmentType]
    __table_args__ = (
        Index("uq_file_offers_file", "file", "conversation", unique=True),
        Index("ix_file_offers_accepted", "due_at", **tables.partial_index("status = 'accepted'")),
        {"sqlite_autoincrement": True},
    )

    position: tables.RowNumber
    worker: str | None
    fence: int
    due_at: tables.UtcColumn
    created_at: tables.UtcColumn


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedFileOffer:
    offer: StoredFileOffer
    fence: int


file_offers: Final = FileOfferRow.__table__


class FileOfferStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def put_offer(self, new: NewFileOffer) -> StoredFileOffer:
        """Store an offer; returns the existing one where the file was offered in the conversation before."""
        now = self._database.utc_now()
        values = tables.column_values_of(new) | {
            "id": self._database.new_id(),
            "status": FileOfferStatus.OPEN.value,
            "message": None,
            "upload": None,
            "worker": None,
            "fence": 0,
            "due_at": now,
            "created_at": now,
        }
        statement = self._database.insert_into(file_offers).on_conflict_do_nothing()
        query = select(file_offers).where(
            file_offers.c.file == new.file, file_offers.c.conversation == new.conversation
        )

        def put_and_read(connection: Connection) -> Row[Any]:
            connection.execute(statement, values)
            return connection.execute(query).one()

        return _offer_from_row(await self._database.run_write(put_and_read))

    async def find_offer(self, offer_id: str) -> StoredFileOffer | None:
        query = select(file_offers).where(file_offers.c.id == offer_id)
        row = await self._database.run_read(lambda connection: connection.execute(query).one_or_none())
        return None if row is None else _offer_from_row(row)

    async def find_newest_offer_of_turn(self, turn: str, conversation: str) -> StoredFileOffer | None:
        query = select(file_offers).where(file_offers.c.turn == turn, file_offers.c.conversation == conversation)
        newest = query.order_by(file_offers.c.position.desc()).limit(1)
        row = await self._database.run_read(lambda connection: connection.execute(newest).one_or_none())
        return None if row is None else _offer_from_row(row)

    async def note_message(self, offer_id: str, message: str) -> None:
        """Record the message that shows the offer."""
        statement = update(file_offers).where(file_offers.c.id == offer_id).values(message=message)
        await self._database.run_write(lambda connection: connection.execute(statement))

    async def accept_offer(
        self, offer_id: str, *, upload: str, message: str, worker: str, lease: timedelta
    ) -> ClaimedFileOffer | None:
        """Accept an open offer and claim its upload; None if it was answered before."""
        statement = _answer_open_offer(offer_id).values(
            status=FileOfferStatus.ACCEPTED.value,
            upload=upload,
            message=message,
            worker=worker,
            fence=file_offers.c.fence + 1,
            due_at=self._database.utc_now() + lease,
        )
        return await self._claim_row(statement.returning(file_offers))

    async def decline_offer(self, offer_id: str) -> bool:
        """Decline an open offer; False if it was answered before."""
        return await self._update_offer(
            _answer_open_offer(offer_id).values(status=FileOfferStatus.DECLINED.value, content=None)
        )

    async def claim_abandoned_upload(self, worker: str, lease: timedelta) -> ClaimedFileOffer | None:
        """Claim the upload whose worker lost its lease first, if there is one."""
        now = self._database.utc_now()
        is_abandoned = (file_offers.c.status == FileOfferStatus.ACCEPTED.value) & (file_offers.c.due_at <= now)
        picked = select(file_offers.c.position).where(is_abandoned).order_by(file_offers.c.due_at).limit(1)
        picked = (
            picked.with_for_update(skip_locked=True).cte("picked").prefix_with("MATERIALIZED", dialect="postgresql")
        )
        statement = (
            update(file_offers)
            .where(file_offers.c.position.in_(select(picked.c.position)))
            .values(worker=worker, fence=file_offers.c.fence + 1, due_at=now + lease)
            .returning(file_offers)
        )
        return await self._claim_row(statement)

    async def renew_upload(self, claimed: ClaimedFileOffer, lease: timedelta) -> StoredFileOffer | None:
        """Returns the offer as it is now; None if the lease was lost. A lease of no length gives the upload back."""
        due_at = self._database.utc_now() + lease
        renewed = await self._claim_row(_update_claimed_offer(claimed).values(due_at=due_at).returning(file_offers))
        return None if renewed is None else renewed.offer

    async def note_upload(self, claimed: ClaimedFileOffer, upload: str, lease: timedelta) -> bool:
        """Replace what is stored about where the file goes, and renew the lease; False if it was lost."""
        due_at = self._database.utc_now() + lease
        return await self._update_offer(_update_claimed_offer(claimed).values(upload=upload, due_at=due_at))

    async def finish_upload(self, claimed: ClaimedFileOffer, *, is_delivered: bool) -> bool:
        """End the upload and forget where the file went; False if the lease was lost."""
        status = FileOfferStatus.DELIVERED if is_delivered else FileOfferStatus.FAILED
        return await self._update_offer(
            _update_claimed_offer(claimed).values(status=status.value, upload=None, content=None, worker=None)
        )

    async def expire_offers_of_turns(self, turn_ids: Sequence[str]) -> None:
        """Expire the offers of these turns now, even while a file is uploaded, and forget their texts."""
        now = self._database.utc_now()
        statement = (
            update(file_offers)
            .where(file_offers.c.turn.in_(turn_ids), file_offers.c.expires_at > now)
            .values(expires_at=now, content=None)
        )
        await self._database.run_write(lambda connection: connection.execute(statement))

    async def clear_expired_offers(self) -> None:
        """Forget the texts of expired offers, and delete the offers that have expired long ago."""
        now = self._database.utc_now()
        has_text = (file_offers.c.expires_at <= now) & file_offers.c.content.is_not(null())
        clear_texts = update(file_offers).where(has_text).values(content=None)
        delete_old = delete(file_offers).where(file_offers.c.expires_at <= now - _OFFER_RETENTION)

        def clear_and_delete(connection: Connection) -> None:
            connection.execute(clear_texts)
            connection.execute(delete_old)

        await self._database.run_write(clear_and_delete)

    async def _claim_row(self, statement: Executable) -> ClaimedFileOffer | None:
        row = await self._database.run_write(lambda connection: connection.execute(statement).one_or_none())
        return None if row is None else ClaimedFileOffer(offer=_offer_from_row(row), fence=row.fence)

    async def _update_offer(self, statement: Update) -> bool:
        return await self._database.run_write(lambda connection: connection.execute(statement).rowcount == 1)


def _answer_open_offer(offer_id: str) -> Update:
    """Returns an update that matches no row once the offer was answered."""
    is_open = (file_offers.c.id == offer_id) & (file_offers.c.status == FileOfferStatus.OPEN.value)
    return update(file_offers).where(is_open)


def _update_claimed_offer(claimed: ClaimedFileOffer) -> Update:
    """Returns an update that matches no row once the lease is lost."""
    return update(file_offers).where(
        file_offers.c.id == claimed.offer.id,
        file_offers.c.fence == claimed.fence,
        file_offers.c.status == FileOfferStatus.ACCEPTED.value,
    )


def _offer_from_row(row: Row[Any]) -> StoredFileOffer:
    return replace(tables.value_from_row(StoredFileOffer, row), status=FileOfferStatus(row.status))
