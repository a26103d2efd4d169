"""Reads rows that the product writes and shows to nobody, for the assertions of tests."""

from sqlalchemy import select

from storage.sql import tables
from storage.sql.database import SqlDatabase
from storage.sql.stores.audit import AuditEntry, AuditLog
from storage.sql.stores.exports import file_offers
from storage.sql.stores.feedback import StoredFeedback, feedback
from storage.sql.stores.model_calls import NewModelCall, model_calls
from storage.sql.stores.model_spending import spending


async def list_audit_entries(database: SqlDatabase) -> list[AuditEntry]:
    """Returns the entries, newest first."""
    return await AuditLog(database).list_newest_entries(1_000)


async def list_feedback_of_turn(database: SqlDatabase, turn: str) -> list[StoredFeedback]:
    """Returns the verdicts on a turn, oldest first."""
    query = feedback.select().where(feedback.c.turn == turn).order_by(feedback.c.given_at, feedback.c.person)
    rows = await database.run_read(lambda connection: connection.execute(query).all())
    return [tables.value_from_row(StoredFeedback, row) for row in rows]


async def list_offered_texts(database: SqlDatabase) -> list[str | None]:
    """Returns the texts of all offers of files, oldest first; None for those without one."""
    query = select(file_offers.c.content).order_by(file_offers.c.position)
    rows = await database.run_read(lambda connection: connection.execute(query).scalars().all())
    return list(rows)


async def list_model_calls(database: SqlDatabase) -> list[NewModelCall]:
    """Returns all calls, oldest first."""
    query = select(model_calls).order_by(model_calls.c.position)
    rows = await database.run_read(lambda connection: connection.execute(query).all())
    return [tables.value_from_row(NewModelCall, row) for row in rows]


async def read_spending(database: SqlDatabase) -> dict[tuple[str, str], int]:
    """Returns the billionths of a US dollar by tenant and month."""
    rows = await database.run_read(lambda connection: connection.execute(select(spending)).all())
    return {(row.tenant, row.month): row.spent_nano_usd for row in rows}
