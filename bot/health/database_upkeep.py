"""Upkeep of the database by an operator, without the rest of the application."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bot.settings import Settings
from storage.sql.backup import BackupSummary, restore_backup, write_backup
from storage.sql.database import SqlDatabase
from storage.sql.database_url import display_url, parse_database_url
from storage.sql.errors import BackupRefused
from storage.sql.inspection import DatabaseInspection, inspect_database
from storage.sql.migrations.upgrade import PendingRevision, list_pending_revisions

_SCHEMA_FOLDER: Final = "schemas"
_ENDING_POLLS, _ENDING_POLL_S = 12, 0.25  # a server may still list the connections of processes that have just ended


def utc_clock() -> datetime:
    return datetime.now(UTC)


async def check_database(settings: Settings) -> DatabaseInspection:
    """Inspect the database of the settings. Changes nothing; a database that cannot be reached is a finding."""
    process_count = 1 + settings.workers
    return await inspect_database(settings.effective_database_url, clock=utc_clock, process_count=process_count)


async def upgrade_database(settings: Settings) -> tuple[Sequence[PendingRevision], str]:
    """Create or upgrade the tables; returns what was pending before, and the database's address. Raises `SqlError`."""
    before = await check_database(settings)
    async with open_database(settings) as database:
        return list_pending_revisions(before.revision), database.location


async def back_up_database(settings: Settings, path: Path) -> BackupSummary:
    """Write the database, and the schemas that are files in the home, into a new file.

    Raises `BackupRefused`, `SqlError`, `OSError`.
    """
    async with open_database(settings) as database:
        files = await asyncio.to_thread(_read_schema_files, settings.home / _SCHEMA_FOLDER)
        return await write_backup(database, path, files)


async def restore_database(settings: Settings, path: Path) -> BackupSummary:
    """Restore a backup into an empty database, and the schemas that the home does not have.

    Raises `BackupRefused`, also while other processes use the database; `BackupDamaged`, `SqlError`, `OSError`.
    """
    await _require_unused_database(settings, path)
    async with open_database(settings) as database:
        summary = await restore_backup(database, path)
    await asyncio.to_thread(_write_schema_files, settings.home / _SCHEMA_FOLDER, summary.header.files)
    return summary


async def _require_unused_database(settings: Settings, path: Path) -> None:
    """What other processes have read would not be true any more, and what they accept meanwhile be refused."""
    url = settings.effective_database_url
    for _ in range(_ENDING_POLLS):
        if not await SqlDatabase.is_open_elsewhere(url, clock=utc_clock):
            return
        await asyncio.sleep(_ENDING_POLL_S)
    location = display_url(parse_database_url(url))
    raise BackupRefused(
        path,
        f"other processes of Parley have {location} open; stop parley serve and all commands that use it,"
        " then restore again. Nothing was restored",
    )


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncGenerator[SqlDatabase]:
    """The database of the settings, with its tables upgraded. Raises `SqlError`."""
    database = await SqlDatabase.open(settings.effective_database_url, clock=utc_clock)
    try:
        yield database
    finally:
        await database.close()


def _read_schema_files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*")) if path.is_file()}


def _write_schema_files(folder: Path, files: Mapping[str, str]) -> None:
    """Never outside the folder, and over no file."""
    for name, content in files.items():
        path = folder / Path(name).name
        if not path.exists():
            folder.mkdir(exist_ok=True)
            path.write_text(content, encoding="utf-8")
