"""Upkeep of the database by an operator, without the rest of the application."""

from collections.abc import Sequence
from datetime import UTC, datetime

from bot.settings import Settings
from storage.sql.database import SqlDatabase
from storage.sql.inspection import DatabaseInspection, inspect_database
from storage.sql.migrations.upgrade import PendingRevision, list_pending_revisions


def utc_clock() -> datetime:
    return datetime.now(UTC)


async def check_database(settings: Settings) -> DatabaseInspection:
    """Inspect the database of the settings. Changes nothing; a database that cannot be reached is a finding."""
    process_count = 1 + settings.workers
    return await inspect_database(settings.effective_database_url, clock=utc_clock, process_count=process_count)


async def upgrade_database(settings: Settings) -> tuple[Sequence[PendingRevision], str]:
    """Create or upgrade the tables; returns what was pending before, and the database's address. Raises `SqlError`."""
    before = await check_database(settings)
    database = await SqlDatabase.open(settings.effective_database_url, clock=utc_clock)
    await database.close()
    return list_pending_revisions(before.revision), database.location
