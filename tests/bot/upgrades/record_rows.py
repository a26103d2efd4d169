"""Records the rows that an earlier Parley writes, in `rows/REVISION.jsonl`. Each file was made with its own version:

    git worktree add ../earlier COMMIT   # the last one of the revision; install it into an environment of its own
    python -m tests.bot.upgrades.record_rows ../earlier-environment/bin/python

With that version's command line it loads receipts, grants and groups, asks, clicks, exports, and accepts questions that
it does not answer; with its operations, it decides on a value and sets how long documents are kept, as admins do on a
page. What the version does not have yet is left out. The format is that of a backup, uncompressed.
"""

import asyncio
import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, MetaData, create_engine, select

from storage.sql.backup_format import BackupHeader, BackupWriter
from storage.sql.database_url import parse_database_url, sqlite_url_for
from storage.sql.migrations.upgrade import read_current_revision
from storage.sql.tables import restored_type_of
from tests.cli.conftest import RECEIPTS
from tests.stand_ins.searxng import serve_searxng

ROWS: Final = Path(__file__).parent / "rows"
COUNTED, LISTED, CLICKED, OPEN, STOPPED = (
    f"terminal:{name}" for name in ("counted", "listed", "clicked", "open", "stopped")
)
OPEN_COUNT: Final = 3
_HOME_NAME: Final = "/srv/parley"  # in the place of the folder in which the version ran

# Accepts the question and ends, as if the process had been killed before it answered.
_ACCEPT_ONLY: Final = """
import os
from bot.cli import main
try:
    from bot.application import Application as application
except ImportError:
    from bot.bootstrap import Bot as application

async def end_at_once(self, turn, **options):
    os._exit(0)

setattr(application, "run_turn" if hasattr(application, "run_turn") else "run", end_at_once)
main()
"""
_RUN: Final = "from bot.cli import main; main()"

# What admins do on their page, and no command does.
CORRECTED, KIND, KEPT_DAYS = "r-001", "winter tires", 3650
_ADMINISTER: Final = f"""
import asyncio
import os
from pathlib import Path
from bot.admin.admin_page.value_decisions import ValueDecisions
from bot.bootstrap import open_application
from bot.ids import OPERATOR
from bot.settings import load_settings
from storage.ingest.extract.value_corrections import reading_version_of

async def administer():
    settings = load_settings(Path(os.environ["PARLEY_HOME"]), dict(os.environ)).settings
    async with open_application(settings) as bot:
        contents = bot.granted_contents
        decisions = ValueDecisions(contents=contents, index=bot.index, database=bot.database, sources=bot.sources)
        document, _ = await contents.find_document("receipts", {CORRECTED!r}, OPERATOR)
        version = reading_version_of(document, "kind")
        await decisions.correct_value("receipts", {CORRECTED!r}, "kind", {KIND!r}, version, OPERATOR)
        if hasattr(bot, "retention_edits"):
            await bot.retention_edits.set_rule("receipts", "@loaded", "{KEPT_DAYS}", "", OPERATOR)

asyncio.run(administer())
"""

# What happens in Slack alone, for the versions of revisions 0003 to 0007, which have these names. It ends with an error
# where the version has no more of it: an administrator, a limit, a bad rating, a question that somebody stops, an
# installation, an edit of that question, a file.
STOPPED_BY: Final = "Ann"
_KEEP_ROWS: Final = f"""
import asyncio
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from sqlalchemy import text
from storage.sql.database import Database
from storage.sql.inbox import Inbox, NewTurn
from storage.sql.admins import Admins
from storage.sql.feedback import FeedbackStore
from storage.sql.limits import Limit, Limits

async def keep_rows():
    file = Path(os.environ["PARLEY_HOME"]) / "parley.db"
    database = await Database.open(f"sqlite:///{{file}}", clock=lambda: datetime.now(UTC))
    inbox = Inbox(database)
    find_turn = text("SELECT id FROM turns WHERE conversation = :conversation")
    find = lambda conversation: database.read(
        lambda connection: connection.execute(find_turn, {{"conversation": conversation}}).scalars().first()
    )
    await Admins(database).add("slack:T1:U1", by="operator")
    await Limits(database).change({{}}, {{Limit.PERSON_DAY: 500}}, by="operator")
    await FeedbackStore(database).put(await find({COUNTED!r}), "slack:T1:U2", "bad", "too few")
    stopped = await find({STOPPED!r})
    await inbox.ask_to_stop(stopped, {STOPPED_BY!r})

    from storage.sql.installations import Installations, NewInstallation
    await Installations(database).put(NewInstallation(
        account="slack:T1", team="T1", enterprise=None, name="Office", bot_user="B1", scopes=["chat:write"],
        tokens="sealed", expires_at=None, installed_by="slack:T1:U1",
    ))

    turn = await inbox.find(stopped)
    fields = {{name: getattr(turn, name) for name in NewTurn.__dataclass_fields__ if hasattr(turn, name)}}
    edited = NewTurn(**fields | {{"event_id": "edited", "message_id": "edited"}})
    await inbox.accept(replace(edited, revises=turn.message_id))

    from storage.sql.attached import AttachedFiles, NewFile
    await AttachedFiles(database).keep(NewFile(
        conversation=turn.conversation, message=turn.message_id, file="F1", person=turn.person, audience=turn.audience,
        name="list.txt", kind="txt", link=None, size=4, digest="00", content=b"\\x00",
        expires_at=datetime.now(UTC) + timedelta(days=30),
    ))

asyncio.run(keep_rows())
"""


class EarlierParley:
    """The command line of the version that is installed for this interpreter."""

    def __init__(self, python: Path, home: Path, searxng_url: str) -> None:
        self._python, self._home = python, home
        self._environment = {"PATH": os.environ["PATH"], "PARLEY_HOME": str(home), "PARLEY_SECRET_KEY": "k" * 32}
        self._environment |= {"PARLEY_WEB": "auto", "PARLEY_SEARXNG_URL": searxng_url}

    def run_command(self, *words: str, program: str = _RUN, is_required: bool = True) -> str:
        completed = subprocess.run(
            [self._python, "-c", program, *words],
            cwd=self._home,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if is_required and completed.returncode:
            raise SystemExit(f"parley {' '.join(words)}: {completed.stderr}")
        return completed.stdout

    def ask(self, question: str, conversation: str) -> dict[str, list[dict[str, str]]]:
        return json.loads(self.run_command("ask", question, "--conversation", conversation, "--json"))


def fill_home(parley: EarlierParley, home: Path) -> None:
    (home / "receipts.jsonl").write_text("\n".join(map(json.dumps, RECEIPTS)), encoding="utf-8")
    parley.run_command("ingest", "receipts.jsonl", "--bucket", "receipts")
    (home / "letters").mkdir()
    (home / "letters" / "letter.txt").write_text("A letter about the receipts.", encoding="utf-8")
    words = ("source", "add", "folder", str(home / "letters"), "--bucket", "letters")
    parley.run_command(*words, is_required=False)
    parley.run_command("source", "sync", is_required=False)
    parley.run_command("grant", "receipts", "everyone")
    parley.run_command("group", "create", "buyers")
    parley.run_command("group", "add", "buyers", "slack:T1:U2")
    parley.run_command("grant", "receipts", "group:buyers")
    parley.run_command("group", "link", "slack:T1:U2", "slack:T2:U7", is_required=False)
    parley.ask("How many receipts from Kestrel?", COUNTED)
    parley.ask("Receipts from Kestrel", LISTED)
    choices = parley.ask("How many receipts from Harbor?", CLICKED)["choices"]
    for choice in choices[:2]:
        parley.run_command("ask", "--conversation", CLICKED, "--choose", choice["id"], is_required=False)
    parley.run_command("saved", "add", "Receipts from Kestrel", "--every", "day", is_required=False)
    parley.run_command("ask", "Post the usage report here every Monday at 9:00", "--conversation", "terminal:posts")
    parley.run_command("source", "pause", "letters", is_required=False)
    parley.run_command("ask", "What is the boiling point of acetone?", "--conversation", "terminal:web")
    parley.run_command(program=_ADMINISTER, is_required=False)
    for number in range(OPEN_COUNT):
        words = ("ask", "How many receipts from Harbor?", "--conversation", f"{OPEN}{number}")
        parley.run_command(*words, program=_ACCEPT_ONLY)
    parley.run_command("ask", "How many receipts from Kestrel?", "--conversation", STOPPED, program=_ACCEPT_ONLY)
    parley.run_command(program=_KEEP_ROWS, is_required=False)


def write_rows(connection: Connection, path: Path) -> BackupHeader:
    metadata = MetaData()
    metadata.reflect(connection, only=lambda name, _: name not in ("alembic_version", "write_checks"))
    for table in metadata.tables.values():
        for column in table.columns:
            column.type = restored_type_of(column.type)
    revision = read_current_revision(connection)
    header = BackupHeader(revision=str(revision), engine="sqlite", created_at="", files={})
    with gzip.GzipFile(path, "wb") as file:
        writer = BackupWriter(file)
        writer.write_header(header)
        for table in metadata.sorted_tables:
            writer.start_table(table)
            for row in connection.execute(select(table).order_by(*table.primary_key)):
                writer.write_row(tuple(row))
        writer.write_end()
    return header


async def record_rows(python: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        home, packed = Path(name) / "home", Path(name) / "rows"
        home.mkdir()
        async with serve_searxng() as searxng:
            parley = EarlierParley(python, home, searxng.url)
            await asyncio.to_thread(fill_home, parley, home)
        engine = create_engine(parse_database_url(sqlite_url_for(home / "parley.db")))
        with engine.begin() as connection:
            header = write_rows(connection, packed)
        engine.dispose()
        text = gzip.decompress(packed.read_bytes()).decode().replace(str(home), _HOME_NAME)
        (ROWS / f"{header.revision}.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(record_rows(Path(sys.argv[1]).absolute()))
