"""What earlier versions have written is upgraded and goes on: open questions, conversations, buttons, grants.

`rows/` has what each version wrote with its own program (`record_rows.py`).
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from sqlalchemy import Connection, select

from bot.bootstrap import open_application
from bot.ids import OPERATOR, ChoiceId
from bot.settings import load_settings
from bot.surface.inbound import ButtonClick
from bot.surface.replies import ProgressPart
from storage.ingest.pipeline import ingest_files
from storage.search.ids import BucketId, FieldName
from storage.sql.backup_format import RowValues
from storage.sql.database import SqlDatabase
from storage.sql.migrations import HEAD
from storage.sql.migrations.upgrade import read_current_revision
from tests.bot.conftest import ConversationDriver, running_workers, wait_until
from tests.bot.fakes import FakeChat
from tests.bot.upgrades.earlier_databases import (
    create_earlier_database,
    list_recorded_revisions,
    read_recorded_values,
    reflect_tables,
)
from tests.bot.upgrades.record_rows import (
    CORRECTED,
    COUNTED,
    KEPT_DAYS,
    KIND,
    LISTED,
    OPEN,
    OPEN_COUNT,
    STOPPED,
    STOPPED_BY,
)
from tests.cli.conftest import RECEIPTS
from tests.contracts.sql.databases import SetClock
from tests.contracts.sql.databases import database_url as database_url
from tests.contracts.sql.databases import sqlite_database as sqlite_database


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradedDatabase:
    """`rows`: what the earlier version had written, by table. `clock`: stands a minute after its last message."""

    database: SqlDatabase
    rows: Mapping[str, Sequence[RowValues]]
    clock: SetClock

    def find_choice(self, conversation: str, label: str) -> ChoiceId:
        """The id of a button that the earlier version has offered there."""
        offers = {row["id"] for row in self.rows["clarifications"] if row["conversation"] == conversation}
        [choice] = [row for row in self.rows["choices"] if row["clarification"] in offers and row["label"] == label]
        return ChoiceId(choice["id"])


@pytest_asyncio.fixture(params=list_recorded_revisions())
async def upgraded(request: pytest.FixtureRequest, database_url: str) -> AsyncIterator[UpgradedDatabase]:
    rows, clock = await create_earlier_database(database_url, request.param), SetClock()
    clock.now = max(row["received_at"] for row in rows["turns"]) + timedelta(minutes=1)
    database = await SqlDatabase.open(database_url, clock=clock)
    yield UpgradedDatabase(database=database, rows=rows, clock=clock)
    await database.close()


def read_all_rows(connection: Connection) -> dict[str, list[RowValues]]:
    return {
        name: [dict(row) for row in connection.execute(select(table)).mappings()]
        for name, table in reflect_tables(connection).items()
    }


NEW_ROWS = [  # what was new in a revision, as its rows show it
    ("0002", "sources", "kind"),
    ("0003", "admins", "person"),
    ("0003", "limits", "questions"),
    ("0003", "feedback", "verdict"),
    ("0004", "turns", "stopped_by"),
    ("0005", "installations", "tokens"),
    ("0006", "turns", "revises"),
    ("0007", "attached_files", "content"),
    ("0012", "person_links", "key"),
    ("0015", "recorded_buckets", "generation"),
    ("0016", "recorded_buckets", "field_schema"),
    ("0016", "document_loads", "request"),
    ("0017", "turns", "is_long"),
    ("0021", "saved_searches", "schedule"),
    ("0025", "value_corrections", "content"),
    ("0025", "sources", "paused_at"),
    ("0026", "saved_searches", "kind"),
    ("0027", "web_searches", "requests"),
    ("0028", "conversations", "rights"),
    ("0029", "document_rules", "days"),
    ("0030", "sources", "succeeded_at"),
]
WITHOUT_NEW_ROWS = {
    "0001": "all of its rows are new",
    "0008": "adds an index of turns alone",
    "0009": "calls of a language model, which the recording has not",
    "0013": "further messages of a long reply, which the recording has not",
    "0014": "adds an index of open turns alone",
    "0018": "choices that are about to expire, which the recording has not",
    "0019": "pages of the web, which the recording has not",
    "0020": "tokens of programs, which the recording has not",
    "0022": "passwords of sources, which the recording has not",
    "0023": "searches saved by a button, which the recording has not",
}
WITHOUT_VERSION = {"0010", "0011", "0024"}  # no version had one of these for itself


def test_each_revision_before_the_present_one_was_recorded() -> None:
    recorded = {*list_recorded_revisions()}

    assert {f"{number:04}" for number in range(1, int(HEAD))} - recorded == WITHOUT_VERSION
    assert {revision for revision, *_ in NEW_ROWS} | WITHOUT_NEW_ROWS.keys() == recorded


@pytest.mark.parametrize(("revision", "table", "column"), NEW_ROWS)
def test_a_version_has_written_what_was_new_in_it(revision: str, table: str, column: str) -> None:
    recorded = read_recorded_values(revision)

    assert any(row[column] is not None for row in recorded[table])
    earlier = max(number for number in list_recorded_revisions() if number < revision)
    assert all(column not in row for row in read_recorded_values(earlier).get(table, []))


async def test_no_row_is_lost_and_no_column_of_a_row_is_changed(upgraded: UpgradedDatabase) -> None:
    present = await upgraded.database.run_read(read_all_rows)

    assert await upgraded.database.run_read(read_current_revision) == HEAD
    assert len(upgraded.rows["turns"]) > OPEN_COUNT
    for table, rows in upgraded.rows.items():
        kept = [{name: row[name] for name in rows[0].keys() & row.keys()} for row in present[table]] if rows else []
        for row in rows:
            assert {name: row[name] for name in row.keys() & present[table][0].keys()} in kept, table


def replied_in(chat: FakeChat) -> set[str]:
    """The conversations with a reply that is no longer progress."""
    return {
        message.conversation
        for message in chat.messages.values()
        if not any(isinstance(part, ProgressPart) for part in message.reply.parts)
    }


async def test_open_questions_are_answered_and_conversations_go_on(upgraded: UpgradedDatabase, tmp_path: Path) -> None:
    home, chat = tmp_path / "new-home", FakeChat()
    variables = {"PARLEY_EMBEDDER": "none", "PARLEY_SECRET_KEY": "k" * 32}
    receipts, letter = tmp_path / "receipts.jsonl", tmp_path / "letter.txt"
    receipts.write_text("\n".join(map(json.dumps, RECEIPTS)), encoding="utf-8")
    letter.write_text("A letter about the receipts.", encoding="utf-8")
    kept = upgraded.rows.get
    open_turns = [row for row in upgraded.rows["turns"] if row["finished_at"] is None]
    expected_replies = {row["conversation"] for row in open_turns}
    async with open_application(
        load_settings(home, variables).settings,
        clock=upgraded.clock,
        database=upgraded.database,
        outboxes={"terminal": chat},
    ) as bot:
        await ingest_files(bot.index, [receipts], extractor=bot.extractor, bucket=BucketId("receipts"))
        if upgraded.rows.get("sources"):  # the first version had none
            await ingest_files(bot.index, [letter], extractor=bot.extractor, bucket=BucketId("letters"))
        async with running_workers(bot):
            await wait_until(lambda: replied_in(chat) == expected_replies)
        listed = ConversationDriver(bot, surface="terminal", conversation=LISTED)
        clicked = await bot.run_turn(await listed.accept_body(ButtonClick(upgraded.find_choice(LISTED, "2021"))))
        counted = ConversationDriver(bot, surface="terminal", conversation=COUNTED)
        followed = await counted.ask_question("only those from 2021")
        subjects = {grant.subject for grant in await bot.grants.list_grants()}
        corrected = await bot.granted_contents.find_document("receipts", CORRECTED, OPERATOR)
        rules = await bot.document_retention.load_rules()
        searches = await bot.saved_search_administration.list_searches()
        sources = await bot.sources.list_sources()

    answered = [message for message in chat.messages.values() if message.conversation.startswith(OPEN)]
    assert sorted(message.conversation for message in answered) == [f"{OPEN}{number}" for number in range(OPEN_COUNT)]
    assert all("40 receipts" in str(message.reply.parts) for message in answered)
    assert (clicked.result["outcome"], clicked.result["count"]) == ("answer", 10)
    assert (followed.result["outcome"], followed.result["count"]) == ("answer", 10)
    # An edited question is answered in the place of the reply to the first.
    of_stopped = [message for message in chat.messages.values() if message.conversation == STOPPED]
    stopped = [str(reply.parts) for message in of_stopped for reply in message.replies]
    is_stopped = any(row.get("stopped_by") for row in open_turns)
    assert is_stopped == any(f"Stopped by {STOPPED_BY}" in reply for reply in stopped)
    assert {"everyone", "group:buyers"} <= subjects
    assert corrected is not None
    assert corrected[0].values[FieldName("kind")] == (KIND if kept("value_corrections") else "tires")
    assert [(rule.field, rule.days) for rule in rules] == ([("@loaded", KEPT_DAYS)] if kept("document_rules") else [])
    assert len(searches) == len(kept("saved_searches", []))
    assert [source.paused_at is not None for source in sources] == [
        bool(row.get("paused_at")) for row in kept("sources", [])
    ]
