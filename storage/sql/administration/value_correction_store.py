"""Values of documents that a person has accepted or corrected, one for each field of a document.

Every decision writes its audit entry in the same transaction. The audit names the document by a digest of its id, since
admins without a grant read it too.
"""

import hashlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Final

from sqlalchemy import Connection, delete, select, update
from sqlmodel import Field

from storage.sql import tables
from storage.sql.database import JsonMapping, SqlDatabase
from storage.sql.stores.audit import write_audit_entry

KEPT_AFTER_DELETION: Final = timedelta(days=30)  # the document may come back: a share that was away, a file moved
_MAX_VALUES: Final = 500  # of one statement


@dataclass(frozen=True, kw_only=True)
class StoredCorrection:
    """`content` is the value that holds, `reading` what was read from the text instead; both are opaque here."""

    doc_id: tables.KeyText
    field: tables.KeyText
    bucket: str
    decision: str
    content: tables.JsonColumn
    reading: tables.JsonColumn
    text_digest: str  # of the text that the person saw
    decided_by: str
    decided_at: tables.UtcColumn
    deleted_at: tables.OptionalUtcColumn = None  # the document, with which the correction goes after a while


class ValueCorrectionRow(tables.TableRow, StoredCorrection, frozen=True, table=True):
    __tablename__ = "value_corrections"  # pyright: ignore[reportAssignmentType]

    bucket: str = Field(index=True)


value_corrections: Final = ValueCorrectionRow.__table__


class ValueCorrectionStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database, self.utc_now = database, database.utc_now

    async def list_for_documents(self, doc_ids: Collection[str]) -> list[StoredCorrection]:
        """Returns the corrections of these documents, in order of document and field."""

        def select_corrections(connection: Connection) -> list[StoredCorrection]:
            if not _has_corrections(connection):  # the usual case
                return []
            return [
                tables.value_from_row(StoredCorrection, row)
                for batch in _batches_of(doc_ids)
                for row in connection.execute(
                    select(value_corrections).where(value_corrections.c.doc_id.in_(batch))
                ).all()
            ]

        found = await self._database.run_read(select_corrections)
        return sorted(found, key=lambda correction: (correction.doc_id, correction.field))

    async def list_newest(self, bucket: str, limit: int) -> list[StoredCorrection]:
        """Returns at most `limit` corrections of the bucket, the newest first."""
        query = (
            select(value_corrections)
            .where(value_corrections.c.bucket == bucket)
            .order_by(value_corrections.c.decided_at.desc(), value_corrections.c.doc_id, value_corrections.c.field)
            .limit(limit)
        )
        rows = await self._database.run_read(lambda connection: connection.execute(query).all())
        return [tables.value_from_row(StoredCorrection, row) for row in rows]

    async def save_correction(self, correction: StoredCorrection) -> None:
        """Store the correction in the place of an earlier one, whose `reading` stays."""

        def upsert_correction(connection: Connection) -> None:
            statement = self._database.insert_into(value_corrections)
            values = tables.column_values_of(correction)
            connection.execute(
                statement.on_conflict_do_update(
                    index_elements=["doc_id", "field"],
                    set_={name: statement.excluded[name] for name in values.keys() - {"doc_id", "field", "reading"}},
                ),
                [values],
            )
            self._write_entry(connection, f"value.{correction.decision}", correction, correction.decided_by)

        await self._database.run_write(upsert_correction)

    async def withdraw_correction(self, doc_id: str, field: str, *, by: str) -> StoredCorrection | None:
        """Remove a correction, and return it; None if there is none."""
        is_wanted = (value_corrections.c.doc_id == doc_id) & (value_corrections.c.field == field)

        def delete_correction(connection: Connection) -> StoredCorrection | None:
            row = connection.execute(select(value_corrections).where(is_wanted)).one_or_none()
            if row is None:
                return None
            correction = tables.value_from_row(StoredCorrection, row)
            connection.execute(delete(value_corrections).where(is_wanted))
            self._write_entry(connection, "value.withdrawn", correction, by)
            return correction

        return await self._database.run_write(delete_correction)

    async def note_deleted(self, doc_ids: Collection[str]) -> None:
        """Note that the documents were deleted, and remove the corrections of those that did not come back."""
        now = self._database.utc_now()
        is_over = value_corrections.c.deleted_at < now - KEPT_AFTER_DELETION
        await self._write_for(
            doc_ids,
            lambda connection, batch: connection.execute(
                update(value_corrections)
                .where(value_corrections.c.doc_id.in_(batch), value_corrections.c.deleted_at.is_(None))
                .values(deleted_at=now)
            ),
            last=lambda connection: connection.execute(delete(value_corrections).where(is_over)),
        )

    async def note_returned(self, doc_ids: Collection[str]) -> None:
        """Note that the documents are there again."""
        await self._write_for(
            doc_ids,
            lambda connection, batch: connection.execute(
                update(value_corrections).where(value_corrections.c.doc_id.in_(batch)).values(deleted_at=None)
            ),
        )

    async def remove_bucket(self, bucket: str) -> None:
        """Remove all corrections of a bucket, which is removed."""
        is_wanted = value_corrections.c.bucket == bucket
        await self._database.run_write(
            lambda connection: connection.execute(delete(value_corrections).where(is_wanted)).rowcount
        )

    async def _write_for(
        self,
        doc_ids: Collection[str],
        write_batch: Callable[[Connection, list[str]], object],
        *,
        last: Callable[[Connection], object] = lambda connection: None,
    ) -> None:
        def write_batches(connection: Connection) -> None:
            for batch in _batches_of(doc_ids):
                write_batch(connection, batch)
            last(connection)

        if await self._database.run_read(_has_corrections):
            await self._database.run_write(write_batches)

    def _write_entry(self, connection: Connection, action: str, correction: StoredCorrection, by: str) -> None:
        document = hashlib.sha256(correction.doc_id.encode()).hexdigest()[:12]
        after: JsonMapping = {"field": correction.field, "document": document}
        write_audit_entry(self._database, connection, action, correction.bucket, by=by, after=after)


def _has_corrections(connection: Connection) -> bool:
    return connection.execute(select(value_corrections.c.doc_id).limit(1)).first() is not None


def _batches_of(doc_ids: Collection[str]) -> Iterator[list[str]]:
    remaining = iter(doc_ids)
    while batch := list(islice(remaining, _MAX_VALUES)):
        yield batch
