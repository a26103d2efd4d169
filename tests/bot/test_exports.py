"""CSV of a whole set: streamed, one at a time a person, under the rights of each moment, resumed after a kill."""

import asyncio
import csv
import io
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from aiohttp import ClientSession, web

from bot.bootstrap import Bot
from bot.codec import audience_to_json
from bot.directory import Profile
from bot.download import LinkSigner
from bot.errors import ExportBusy, ExportStopped, ExportUnwritten, FileGone, LinkExpired, LinkForged, ReaderUnknown
from bot.exports import Exports, Wanted
from bot.ids import ConversationId, ExportId, PersonId, Subject, TurnId
from bot.inbound import Audience, Operator, Outsiders, Private, Said, Shared
from bot.replies import File
from bot.spreadsheet import BOM
from storage.embedded.index import EmbeddedIndex
from storage.search.codec import plan_to_json
from storage.search.errors import IndexUnavailable
from storage.search.ids import LegId
from storage.search.plan import Leg, ListDocuments, Plan, everything_in
from storage.sql.exports import Exports as ExportStore
from storage.sql.exports import ExportStatus, NewExport
from tests.bot.conftest import Talk, somebody
from tests.bot.fakes import Clock
from tests.builders import RECEIPTS, ordered_by

LEG = Leg(
    id=LegId("1"),
    question="List every receipt",
    search=everything_in(RECEIPTS),
    wanted=ListDocuments(order=ordered_by("vendor")),
)


def wanted(turn: str = "t1", audience: Audience | None = None, person: str = "operator") -> Wanted:
    return Wanted(
        turn=TurnId(turn),
        conversation=ConversationId("c1"),
        person=PersonId(person),
        audience=audience or Operator(),
        leg=LEG,
    )


def rows_of(file: File) -> list[dict[str, str]]:
    text = place(file.path).read_text(encoding="utf-8")
    assert text.startswith(BOM)
    return list(csv.DictReader(io.StringIO(text.removeprefix(BOM), newline="")))


def paged(bot: Bot, rows: int) -> Exports:
    return Exports(
        database=bot.database,
        attached=bot.attached,
        access=bot.access,
        signer=LinkSigner(bot.settings.secret_keys),
        folder=bot.settings.exports_path,
        link_base=bot.settings.link_base,
        worker="test",
        page_rows=rows,
    )


def place(path: str) -> Path:
    return Path(path)


def signed(file: File) -> str:
    return file.url.rsplit("/", 1)[1]


async def test_the_file_holds_the_whole_set_in_the_order_of_the_list(bot: Bot) -> None:
    file = await paged(bot, 5).write(wanted())

    rows = rows_of(file)
    assert file.name == "receipts-42.csv"
    assert file.rows == len(rows) == 42
    assert [row["doc_id"] for row in rows] == [f"r{n:03}" for n in (*range(37, 42), *range(37))]
    assert rows[0]["vendor"] == "Bolt"
    assert place(file.path).stat().st_mode & 0o077 == 0


async def test_the_export_button_sends_the_file(bot: Bot) -> None:
    talk = Talk(bot)
    done = await talk.click(await talk.say("List every receipt"), "Export all")

    [file] = done.result["files"]
    assert done.result["outcome"] == "answer"
    assert done.result["count"] == file["rows"] == 42
    assert done.result["text"] == "Here is **receipts-42.csv** with 42 rows."
    assert place(file["path"]).is_file()
    assert isinstance(done.reply.parts[-1], File)


async def test_an_export_asked_for_in_words_is_of_the_last_plan(bot: Bot) -> None:
    talk = Talk(bot)
    await talk.click(await talk.say("List every receipt"), "Bolt")

    assert (await talk.say("export")).result["files"][0]["rows"] == 5


async def test_a_file_that_has_other_rows_than_the_button_said_says_so(bot: Bot, index: EmbeddedIndex) -> None:
    talk = Talk(bot)
    asked = await talk.say("List every receipt")
    await index.delete([next(iter(await index.digests(RECEIPTS)))])

    assert (await talk.click(asked, "Export all")).result["text"].startswith("_now 41, was 42_")


async def test_the_same_turn_again_has_the_same_file(bot: Bot) -> None:
    first, again = await bot.exports.write(wanted()), await bot.exports.write(wanted())

    assert first.path == again.path


async def test_an_export_stops_when_its_grant_is_revoked_between_two_pages(bot: Bot) -> None:
    await bot.grants.grant(RECEIPTS, Subject("user:slack:T1:U1"), by="test")
    pages: list[str] = []

    def revoke(told: str) -> None:
        pages.append(told)
        with closing(sqlite3.connect(bot.settings.home / "parley.db", isolation_level=None)) as other_process:
            other_process.execute("DELETE FROM grants")

    with pytest.raises(ExportStopped):
        await paged(bot, 5).write(wanted(audience=somebody("U1"), person="slack:T1:U1"), revoke)

    assert len(pages) == 1
    assert not list(bot.settings.exports_path.iterdir())


async def test_an_export_goes_on_where_a_kill_left_it(bot: Bot, clock: Clock) -> None:
    exports = paged(bot, 5)
    breaking = Breaking()
    with pytest.raises(KilledHere):
        await exports.write(wanted(), breaking)
    [spool] = bot.settings.exports_path.iterdir()
    spool.write_bytes(spool.read_bytes() + b"half a li")
    clock.advance(timedelta(seconds=30))

    file = await exports.write(wanted())
    assert [row["doc_id"] for row in rows_of(file)] == [f"r{n:03}" for n in (*range(37, 42), *range(37))]
    assert breaking.calls == 3


async def test_a_person_has_one_export_at_a_time(bot: Bot, clock: Clock) -> None:
    store = ExportStore(bot.database)
    running = await store.queue(
        NewExport(
            conversation="c1",
            turn="t0",
            person="operator",
            audience=audience_to_json(Operator()),
            request=plan_to_json(Plan(question="", legs=(LEG,))),
            expires_at=clock() + timedelta(hours=1),
        )
    )
    assert await store.claim("another", timedelta(seconds=15), export=running.id)
    with pytest.raises(ExportBusy):
        await bot.exports.write(wanted())

    clock.advance(timedelta(seconds=30))
    assert (await bot.exports.write(wanted())).rows == 42


async def test_an_export_that_had_to_wait_is_not_left_in_the_queue(bot: Bot, clock: Clock) -> None:
    store = ExportStore(bot.database)
    with pytest.raises(KilledHere):
        await paged(bot, 5).write(wanted("t1"), Breaking())
    with pytest.raises(ExportBusy):
        await bot.exports.write(wanted("t2"))

    refused = await store.of_turn("t2")
    assert refused is not None
    assert (refused.status, refused.failure) == (ExportStatus.FAILED, str(ExportBusy()))


async def test_progress_says_how_much_of_it_is_there(bot: Bot) -> None:
    told: list[str] = []
    await paged(bot, 20).write(wanted(), told.append)

    assert told == [f"Writing the file: {rows} of 42 rows" for rows in (20, 40, 42)]


async def test_who_is_deactivated_meanwhile_gets_no_file_and_no_link(bot: Bot) -> None:
    people = People()
    bot.directories.ask("slack", people)
    channel = Subject("channel:slack:T1:C1")
    await bot.grants.grant(RECEIPTS, channel, by="test")
    here = Shared(channel=channel, outsiders=Outsiders.NONE)
    file = await bot.exports.write(wanted("t1", here, "slack:T1:U1"))
    people.gone.add("slack:T1:U1")

    with pytest.raises(FileGone):
        await bot.exports.find(signed(file))
    with pytest.raises(ExportStopped):
        await bot.exports.write(wanted("t2", here, "slack:T1:U1"))


async def test_a_disk_that_takes_nothing_is_said_and_blocks_nobody(bot: Bot) -> None:
    bot.settings.exports_path.write_text("no folder", encoding="utf-8")
    with pytest.raises(ExportUnwritten):
        await bot.exports.write(wanted("t1"))
    bot.settings.exports_path.unlink()

    assert (await bot.exports.write(wanted("t2"))).rows == 42


async def test_a_file_is_gone_on_with_after_its_process_was_killed(bot: Bot, clock: Clock) -> None:
    turn, conversation = await accepted_and_killed(bot)
    [spool] = bot.settings.exports_path.iterdir()
    before = spool.stat()
    clock.advance(timedelta(seconds=40))

    done = await bot.run(turn)

    [part] = [part for part in done.reply.parts if isinstance(part, File)]
    assert len(rows_of(part)) == part.rows == 42
    assert (place(part.path).stat().st_ino, done.conversation) == (before.st_ino, conversation)
    assert before.st_size > 0


async def test_an_index_that_fails_leaves_the_export_to_the_next_attempt(bot: Bot) -> None:
    failing = Breaking(IndexUnavailable("index:9200"))
    with pytest.raises(IndexUnavailable):
        await paged(bot, 5).write(wanted(), failing)

    assert (await paged(bot, 5).write(wanted())).rows == 42


async def test_old_files_are_deleted(bot: Bot, clock: Clock) -> None:
    file = await bot.exports.write(wanted())
    clock.advance(timedelta(hours=25))

    assert await bot.exports.expire() == 1
    assert not place(file.path).exists()


async def test_a_link_works_for_a_quarter_of_an_hour(bot: Bot, clock: Clock) -> None:
    file = await bot.exports.write(wanted())
    assert (await bot.exports.find(signed(file))).name == "receipts-42.csv"

    clock.advance(timedelta(minutes=15))
    with pytest.raises(LinkExpired):
        await bot.exports.find(signed(file))


async def test_a_link_is_checked_against_the_rights_of_the_moment(bot: Bot) -> None:
    await bot.grants.grant(RECEIPTS, Subject("user:slack:T1:U1"), by="test")
    file = await bot.exports.write(wanted(audience=somebody("U1"), person="slack:T1:U1"))
    await bot.grants.revoke(RECEIPTS, Subject("user:slack:T1:U1"), by="test")

    with pytest.raises(FileGone):
        await bot.exports.find(signed(file))


async def test_who_left_the_channel_has_no_claim_on_the_file_made_for_it(bot: Bot) -> None:
    people, channel = People(), Subject("channel:slack:T1:C1")
    bot.directories.ask("slack", people)
    await bot.grants.grant(RECEIPTS, channel, by="test")
    file = await bot.exports.write(
        wanted(audience=Shared(channel=channel, outsiders=Outsiders.NONE), person="slack:T1:U1")
    )
    assert (await bot.exports.find(signed(file))).name == "receipts-42.csv"

    people.is_silent = True
    with pytest.raises(ReaderUnknown) as unknown:
        await bot.exports.find(signed(file))
    people.is_silent, people.left = False, {"slack:T1:U1"}
    with pytest.raises(FileGone):
        await bot.exports.find(signed(file))

    assert (unknown.value.status, "try again" in str(unknown.value)) == (503, True)


@pytest.mark.parametrize("forged", ["", "x", "a.b.c", "..", "é.1.é", "x" * 5000])
async def test_a_forged_link_is_refused(bot: Bot, forged: str) -> None:
    with pytest.raises(LinkForged):
        await bot.exports.find(forged)


def test_every_key_of_the_ring_verifies_and_the_first_signs(clock: Clock) -> None:
    old, ring = LinkSigner([b"old"]), LinkSigner([b"new", b"old"])
    expires = clock() + timedelta(minutes=15)

    assert ring.verified(old.signed(ExportId("e1"), expires), clock()) == "e1"
    with pytest.raises(LinkForged):
        old.verified(ring.signed(ExportId("e1"), expires), clock())


@pytest.fixture
async def address(bot: Bot) -> AsyncIterator[str]:
    app = web.Application()
    app.add_routes(bot.routes())
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def test_the_link_hands_the_file_over_by_http(bot: Bot, address: str, clock: Clock) -> None:
    file = await bot.exports.write(wanted())
    link = f"{address}/download/{signed(file)}"
    async with ClientSession() as session:
        async with session.get(link) as got:
            assert got.status == 200
            assert await got.read() == place(file.path).read_bytes()
            assert got.headers["Content-Type"] == "text/csv; charset=utf-8"
            assert got.headers["Content-Disposition"] == "attachment; filename*=UTF-8''receipts-42.csv"
            assert got.headers["Cache-Control"] == "no-store"
        async with session.get(f"{link}x") as forged:
            assert forged.status == 403
            assert await forged.text() == "This link is not valid; please ask for the file again.\n"
        place(file.path).unlink()
        async with session.get(link) as gone:
            assert gone.status == 404
        clock.advance(timedelta(minutes=20))
        async with session.get(link) as expired:
            assert expired.status == 410


async def accepted_and_killed(bot: Bot) -> tuple[TurnId, ConversationId]:
    """An export in words that another process had begun when it was killed, with some rows in the file."""
    talk = Talk(bot)
    await talk.say("List every receipt")
    turn = await talk.accepted(Said("export"))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.bot.exporting", bot.settings.home, turn, bot.clock().isoformat()),
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    async with asyncio.timeout(60):
        told = await process.stdout.readline()
    process.kill()
    assert await process.wait() == -signal.SIGKILL
    assert told == b"Writing the file: 10 of 42 rows\n"
    return turn, talk.conversation


class People:
    """A directory of people of whom some are gone, and some have left their channels."""

    def __init__(self) -> None:
        self.gone: set[str] = set()
        self.left: set[str] = set()
        self.is_silent = False

    async def profile(self, person: PersonId) -> Profile | None:
        return None

    async def private(self, audience: Private) -> Private:
        return replace(audience, gone=audience.person in self.gone)

    async def shared(self, audience: Shared) -> Shared:
        return audience

    async def reads(self, person: PersonId, channel: Subject) -> bool | None:
        return None if self.is_silent else person not in self.left


class KilledHere(BaseException):
    """What ends a process in the middle."""


class Breaking:
    """Progress that ends the export at its third page."""

    def __init__(self, how: BaseException | None = None) -> None:
        self.calls, self._how = 0, how or KilledHere()

    def __call__(self, text: str) -> None:
        self.calls += 1
        if self.calls == 3:
            raise self._how
