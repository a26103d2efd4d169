"""What the matrix reads of Parley's database: whether turns are open, and what they offer."""

import asyncio

from sqlalchemy import func, select

from bot.application import Application
from storage.sql.stores.clarifications import clarifications
from storage.sql.stores.turns import turns


async def wait_until_no_turn_is_open(bot: Application) -> None:
    open_turns = select(func.count()).select_from(turns).where(turns.c.finished_at.is_(None))
    while await bot.database.run_read(lambda connection: connection.execute(open_turns).scalar_one()):  # noqa: ASYNC110 - no event
        await asyncio.sleep(0.02)


async def load_clarification_of(bot: Application, turn: str) -> str:
    """The id of the clarification that a turn offers."""
    query = select(clarifications.c.id).where(clarifications.c.turn == turn)
    return await bot.database.run_read(lambda connection: connection.execute(query).scalar_one())
