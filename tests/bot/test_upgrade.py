"""A database of the first schema is upgraded while messages come in: by its old process, and by new ones that start.

The tables are those of the first migration. The JSON in their rows is of today, since its first form is not kept.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from alembic.command import upgrade
from alembic.config import Config
from sqlalchemy import Connection, MetaData, Table, create_engine, func, select
from sqlalchemy.ext.asyncio import create_async_engine

import storage.sql.migrations
from bot.application import Application
from bot.bootstrap import open_application
from bot.settings import Settings
from bot.surface.inbound import TextMessage
from bot.surface.json_codec import inbound_to_row
from storage.embedded.index import EmbeddedIndex
from storage.sql.database import SqlDatabase
from storage.sql.database_url import parse_database_url
from storage.sql.stores.turns import turns
from tests.bot.conftest import ConversationDriver, running_workers, wait_until
from tests.bot.fakes import NO_REASONER, Clock, FakeChat, ListingAgent
from tests.contracts.sql.databases import database_url as database_url
from tests.contracts.sql.databases import sqlite_database as sqlite_database

T = TypeVar("T")
QUESTIONS = 12  # of each process


async def run_on(url: str, work: Callable[[Connection], T]) -> T:
    """Run `work` in a transaction of a process of its own, so to speak: with another engine than Parley's."""
    parsed_url = parse_database_url(url)
    if parsed_url.drivername != "sqlite":
        engine = create_async_engine(parsed_url)
        try:
            async with engine.begin() as connection:
                return await connection.run_sync(work)
        finally:
            await engine.dispose()

    def run_in_thread() -> T:
        file_engine = create_engine(parsed_url, connect_args={"timeout": 60})
        try:
            with file_engine.begin() as connection:
                return work(connection)
        finally:
            file_engine.dispose()

    return await asyncio.to_thread(run_in_thread)


def create_first_tables(connection: Connection) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(storage.sql.migrations.__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    upgrade(config, "0001")


async def create_first_database(url: str) -> Table:
    """Create the tables of the first migration; returns that of the turns."""
    parsed_url = parse_database_url(url)
    if parsed_url.drivername == "sqlite":
        await asyncio.to_thread(Path(parsed_url.database or "").parent.mkdir, parents=True, exist_ok=True)
    await run_on(url, create_first_tables)
    return await run_on(url, lambda connection: Table("turns", MetaData(), autoload_with=connection))


def first_row_of(number: int, clock: Clock) -> dict[str, Any]:
    """The row of a question, with the columns of the first tables alone."""
    talk = ConversationDriver(cast(Application, None), conversation=f"old{number}")
    row = inbound_to_row(talk.build_inbound(TextMessage("List every receipt"), event=f"old{number}"))
    names = (
        *("surface", "event_id", "conversation", "message_id", "person", "audience", "body", "locale", "time_zone"),
        "received_at",
    )
    values = {name: getattr(row, name) for name in names}
    return values | {"id": f"t{number}", "lane": row.conversation, "attempt": 0, "fence": 0, "due_at": clock()}


async def test_messages_before_during_and_after_the_upgrade_are_answered_once(
    settings: Settings, clock: Clock, index: EmbeddedIndex, database_url: str
) -> None:
    first_turns = await create_first_database(database_url)
    assert "is_question" not in first_turns.c
    old_rows = [first_row_of(number, clock) for number in range(QUESTIONS)]
    chat, databases = FakeChat(), list[SqlDatabase]()

    async def store_by_old_process() -> None:
        for row in old_rows:
            await run_on(database_url, lambda connection, row=row: connection.execute(first_turns.insert(), row))

    async def start_new_process(name: str) -> None:
        database = await SqlDatabase.open(database_url, clock=clock)
        databases.append(database)
        async with open_application(
            settings,
            clock=clock,
            database=database,
            index=index,
            agent=ListingAgent(),
            reasoner=NO_REASONER,
            outboxes={"slack": chat},
        ) as bot:
            for number in range(QUESTIONS):
                talk = ConversationDriver(bot, conversation=f"{name}{number}")
                assert await bot.accept_inbound(talk.build_inbound(TextMessage("List every receipt"))) is not None

    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        group.create_task(store_by_old_process())
        for name in ("new", "other"):
            group.create_task(start_new_process(name))

    async with open_application(
        settings,
        clock=clock,
        database=databases[0],
        index=index,
        agent=ListingAgent(),
        reasoner=NO_REASONER,
        outboxes={"slack": chat},
    ) as bot:
        async with running_workers(bot):
            await wait_until(lambda: len(chat.messages) == 3 * QUESTIONS)
        open_turns = select(func.count()).where(turns.c.finished_at.is_(None))
        left = await databases[0].run_read(lambda connection: connection.execute(open_turns).scalar_one())

    for database in databases:
        await database.close()
    conversations = [message.conversation for message in chat.messages.values()]
    assert left == 0
    assert len(set(conversations)) == len(conversations) == 3 * QUESTIONS
    assert {message.reply.turn for message in chat.messages.values()} >= {row["id"] for row in old_rows}


async def test_what_the_first_tables_held_is_still_there(database_url: str, clock: Clock) -> None:
    first_turns = await create_first_database(database_url)
    row = first_row_of(1, clock) | {"lane": None, "outcome": {"text": "There are 3."}, "finished_at": clock()}
    await run_on(database_url, lambda connection: connection.execute(first_turns.insert(), row))

    database = await SqlDatabase.open(database_url, clock=clock)
    query = select(turns.c.id, turns.c.outcome, turns.c.person).where(turns.c.finished_at.is_not(None))
    stored = await database.run_read(lambda connection: connection.execute(query).one())
    await database.close()

    assert (stored.id, stored.outcome, stored.person) == ("t1", {"text": "There are 3."}, "operator")
