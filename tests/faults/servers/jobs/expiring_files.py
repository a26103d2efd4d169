"""Files that have expired, and files that have not: of exports on the disk, attached ones, and texts that are offered.

The jobs have to delete the first, each with what is left of it elsewhere, and to leave the others alone.
"""

import asyncio
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from uuid import uuid4

from tests.faults.servers.jobs.sql_statements import ExecuteStatement

_LATER, _LONG_AGO = timedelta(days=1), timedelta(days=30)  # an offer is kept for a week after its end
_PREFIX: Final = "filed-"  # of the ids of attached files and offers


@dataclass
class ExpiringFiles:
    """`folder`: of the exports. Only what is acknowledged by the database counts."""

    folder: Path
    execute: ExecuteStatement
    kept_exports: set[str] = field(default_factory=set[str])
    expired_exports: set[str] = field(default_factory=set[str])
    kept_rows: set[str] = field(default_factory=set[str])  # of attached files and offers
    expired_row_count: int = 0

    @property
    def expired_count(self) -> int:
        return len(self.expired_exports) + self.expired_row_count

    async def add_files(self) -> None:
        """Raises `OSError` and `SQLAlchemyError` while the database is down."""
        for is_kept in (False, False, True):
            await self._add_export(is_kept=is_kept)
            await self._add_attached_file(is_kept=is_kept)
            await self._add_offer(is_kept=is_kept)

    async def _add_export(self, *, is_kept: bool) -> None:
        """The row comes first: a file without a row is nobody's, and is deleted."""
        export, now = uuid4().hex[:22], datetime.now(UTC)
        path = f"{export}.csv"
        await self.execute(_EXPORT_STATEMENT, id=export, path=json.dumps(path), now=now, expires=now + _LATER)
        await asyncio.to_thread(self._write_file, path)
        if is_kept:
            self.kept_exports.add(export)
            return
        await self.execute("UPDATE exports SET expires_at = :past WHERE id = :id", id=export, past=now - _LATER)
        self.expired_exports.add(export)

    def _write_file(self, name: str) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        (self.folder / name).write_text("doc_id\nstorm\n", encoding="utf-8")

    async def _add_attached_file(self, *, is_kept: bool) -> None:
        await self._add_row(_ATTACHED_STATEMENT, is_kept=is_kept)

    async def _add_offer(self, *, is_kept: bool) -> None:
        await self._add_row(_OFFER_STATEMENT, is_kept=is_kept)

    async def _add_row(self, statement: str, *, is_kept: bool) -> None:
        row, now = f"{_PREFIX}{uuid4().hex}", datetime.now(UTC)
        expires = now + _LATER if is_kept else now - _LONG_AGO
        await self.execute(statement, id=row, text=json.dumps("storm"), now=now, expires=expires)
        if is_kept:
            self.kept_rows.add(row)
        else:
            self.expired_row_count += 1

    async def find_left(self) -> list[str]:
        """What should have been deleted."""
        statuses = {row.id: row.status for row in await self.execute(_EXPORTS_STATEMENT)}
        rows = await self.execute(_EXPIRED_ROWS_STATEMENT)
        return [
            *(f"export {export} has not expired" for export in self.expired_exports if statuses.get(export) == "done"),
            *(f"the file of export {export} is left" for export in self.expired_exports if self._has_file(export)),
            *(f"{row.id} is left" for row in rows),
        ]

    async def find_lost(self) -> list[str]:
        """What should not have been deleted."""
        statuses = {row.id: row.status for row in await self.execute(_EXPORTS_STATEMENT)}
        rows = {row.id for row in await self.execute(_KEPT_ROWS_STATEMENT)}
        return [
            *(f"export {export} has expired" for export in self.kept_exports if statuses.get(export) != "done"),
            *(f"the file of export {export} is gone" for export in self.kept_exports if not self._has_file(export)),
            *(f"{row} is gone" for row in self.kept_rows - rows),
        ]

    def _has_file(self, export: str) -> bool:
        return (self.folder / f"{export}.csv").exists()


_EXPORT_STATEMENT: Final = (
    "INSERT INTO exports (id, conversation, turn, person, audience, request, expires_at, status, rows, path, cursor,"
    " failure, created_at, worker, fence, due_at) VALUES (:id, 'storm', :id, 'local:storm', '{}', '{}', :expires,"
    " 'done', 1, :path, NULL, NULL, :now, NULL, 1, :now)"
)
_ATTACHED_STATEMENT: Final = (
    "INSERT INTO attached_files (id, conversation, message, file, person, audience, name, kind, link, size, digest,"
    " expires_at, content, fault, created_at) VALUES (:id, :id, 'storm', :id, 'local:storm', '{}', :text, 'txt',"
    " NULL, 1, :id, :expires, '', NULL, :now)"
)
_OFFER_STATEMENT: Final = (
    "INSERT INTO file_offers (id, file, turn, person, conversation, language, content, expires_at, status, message,"
    " upload, worker, fence, due_at, created_at) VALUES (:id, :id, 'storm', 'local:storm', :id, 'en', :text,"
    " :expires, 'declined', NULL, NULL, NULL, 0, :now, :now)"
)
_EXPORTS_STATEMENT: Final = "SELECT id, status FROM exports WHERE conversation = 'storm'"
_EXPIRED_ROWS_STATEMENT: Final = (
    f"SELECT id FROM attached_files WHERE id LIKE '{_PREFIX}%' AND expires_at < now()"
    f" UNION SELECT id FROM file_offers WHERE id LIKE '{_PREFIX}%' AND expires_at < now()"
)
_KEPT_ROWS_STATEMENT: Final = (
    f"SELECT id FROM attached_files WHERE id LIKE '{_PREFIX}%'"
    f" UNION SELECT id FROM file_offers WHERE id LIKE '{_PREFIX}%' AND content IS NOT NULL"
)
