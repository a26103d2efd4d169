"""A database of the first version is upgraded while messages come in: by its old process, and by new ones that start.

The rows are those that the first version wrote (`record_rows.py`).
"""

import asyncio
from collections.abc import Mapping, Sequence

from sqlalchemy import func, select

from bot.bootstrap import open_application
from bot.settings import Settings
from bot.surface.inbound import TextMessage
from storage.embedded.index import EmbeddedIndex
from storage.sql.backup_format import RowValues
from storage.sql.database import SqlDatabase
from storage.sql.stores.turns import turns
from tests.bot.conftest import ConversationDriver, running_workers, wait_until
from tests.bot.fakes import NO_REASONER, Clock, FakeChat, ListingAgent
from tests.bot.upgrades.earlier_databases import create_earlier_database, reflect_tables, run_on
from tests.contracts.sql.databases import database_url as database_url
from tests.contracts.sql.databases import sqlite_database as sqlite_database

QUESTIONS = 12  # of each process


def question_rows(rows: Mapping[str, Sequence[RowValues]], clock: Clock) -> list[RowValues]:
    """Rows of questions as the first version wrote those that it had not answered, in conversations of their own."""
    template = {name: value for name, value in rows["turns"][-1].items() if value is not None and name != "position"}
    template |= {"surface": "slack", "received_at": clock(), "due_at": clock()}
    return [
        template
        | dict.fromkeys(("conversation", "lane"), f"old{number}")
        | {"id": f"t{number}", "event_id": f"old-event{number}", "message_id": f"old-message{number}"}
        for number in range(QUESTIONS)
    ]


async def test_messages_before_during_and_after_the_upgrade_are_answered_once(
    settings: Settings, clock: Clock, index: EmbeddedIndex, database_url: str
) -> None:
    rows = await create_earlier_database(database_url, "0001")
    first_turns = await run_on(database_url, lambda connection: reflect_tables(connection)["turns"])
    assert "is_question" not in first_turns.c
    old_rows = question_rows(rows, clock)
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
        open_turns = select(func.count()).where(turns.c.finished_at.is_(None), turns.c.surface == "slack")
        left = await databases[0].run_read(lambda connection: connection.execute(open_turns).scalar_one())

    for database in databases:
        await database.close()
    conversations = [message.conversation for message in chat.messages.values()]
    assert left == 0
    assert len(set(conversations)) == len(conversations) == 3 * QUESTIONS
    assert {message.reply.turn for message in chat.messages.values()} >= {row["id"] for row in old_rows}
