"""Exports to CSV: one at a time per person, written page by page under current rights, resumed after a kill."""

import asyncio
import csv
import io
import itertools
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

from bot.application import Application
from bot.bootstrap import open_application
from bot.conversation.download import LinkSigner
from bot.conversation.exports import ExportFileRequest, ExportFiles
from bot.conversation.spreadsheet import BYTE_ORDER_MARK
from bot.errors import (
    ExportBusy,
    ExportOvertaken,
    ExportStopped,
    ExportWriteFailed,
    FileGone,
    LinkExpired,
    LinkForged,
    ReaderStatusUnknown,
)
from bot.ids import ConversationId, ExportId, PersonId, Subject, TurnId
from bot.settings import Settings
from bot.surface.directory import PersonProfile
from bot.surface.inbound import (
    Audience,
    ChannelAudience,
    OperatorAudience,
    OutsiderPresence,
    PrivateAudience,
    TextMessage,
)
from bot.surface.json_codec import audience_to_json
from bot.surface.replies import FilePart
from storage.embedded.index import EmbeddedIndex
from storage.search.codec import plan_to_json
from storage.search.errors import IndexUnavailable
from storage.search.ids import LegId
from storage.search.plan import Leg, ListDocuments, Plan, unfiltered_search_of
from storage.search.schema import SchemaOrder
from storage.sql.stores.exports import ExportStatus, NewExport
from storage.sql.stores.exports import ExportStore as ExportStore
from storage.text.snowball_analyser import analyser_for
from tests.bot.conftest import ConversationDriver, private_audience_of
from tests.bot.fakes import NO_REASONER, Clock, FakeChat, PartialSurface
from tests.builders import RECEIPTS, TENANT, a_document, ordered_by

LEG = Leg(
    id=LegId("1"),
    question="List every receipt",
    search=unfiltered_search_of(RECEIPTS),
    answer_form=ListDocuments(order=ordered_by("vendor")),
)


def an_export_request(
    turn: str = "t1", audience: Audience | None = None, person: str = "operator"
) -> ExportFileRequest:
    return ExportFileRequest(
        turn=TurnId(turn),
        conversation=ConversationId("c1"),
        person=PersonId(person),
        audience=audience or OperatorAudience(),
        leg=LEG,
    )


def rows_of(file: FilePart) -> list[dict[str, str]]:
    text = path_of(file.path).read_text(encoding="utf-8")
    assert text.startswith(BYTE_ORDER_MARK)
    return list(csv.DictReader(io.StringIO(text.removeprefix(BYTE_ORDER_MARK), newline="")))


def exports_with_pages(bot: Application, rows: int) -> ExportFiles:
    return ExportFiles(
        database=bot.database,
        attachments=bot.attachments,
        access=bot.access,
        signer=LinkSigner(bot.settings.secret_keys),
        folder=bot.settings.exports_path,
        link_base=bot.settings.link_base,
        worker="test",
        page_rows=rows,
    )


def path_of(path: str) -> Path:
    return Path(path)


def signed_part_of(file: FilePart) -> str:
    return file.url.rsplit("/", 1)[1]


async def test_the_file_has_the_whole_set_in_the_order_of_the_list(bot: Application) -> None:
    file = await exports_with_pages(bot, 5).write_file(an_export_request())

    rows = rows_of(file)
    assert file.name == "receipts-42.csv"
    assert file.rows == len(rows) == 42
    assert [row["doc_id"] for row in rows] == [f"r{n:03}" for n in (*range(37, 42), *range(37))]
    assert rows[0]["vendor"] == "Bolt"
    assert path_of(file.path).stat().st_mode & 0o077 == 0


async def test_the_export_button_sends_the_file(bot: Application) -> None:
    talk = ConversationDriver(bot)
    click_turn = await talk.click_choice(await talk.ask_question("List every receipt"), "Export all")

    [file] = click_turn.result["files"]
    assert click_turn.result["outcome"] == "answer"
    assert click_turn.result["count"] == file["rows"] == 42
    assert click_turn.result["text"] == "Here is **receipts-42.csv** with 42 rows."
    assert path_of(file["path"]).is_file()
    assert isinstance(click_turn.reply.parts[-1], FilePart)


async def test_an_export_requested_by_message_uses_the_last_plan(bot: Application) -> None:
    talk = ConversationDriver(bot)
    await talk.click_choice(await talk.ask_question("List every receipt"), "Bolt")

    assert (await talk.ask_question("export")).result["files"][0]["rows"] == 5


async def test_a_file_with_another_row_count_than_its_button_has_a_note(bot: Application, index: EmbeddedIndex) -> None:
    talk = ConversationDriver(bot)
    question_turn = await talk.ask_question("List every receipt")
    await index.delete([next(iter(await index.load_digests(RECEIPTS)))])

    assert (await talk.click_choice(question_turn, "Export all")).result["text"].startswith("_now 41, was 42_")


async def test_a_retried_turn_gets_the_same_file(bot: Application) -> None:
    first_file, second = (
        await bot.exports.write_file(an_export_request()),
        await bot.exports.write_file(an_export_request()),
    )

    assert first_file.path == second.path


async def test_an_export_stops_when_its_grant_is_revoked_between_two_pages(bot: Application) -> None:
    await bot.grants.grant_bucket_access(RECEIPTS, Subject("user:slack:T1:U1"), by="test")
    pages: list[str] = []

    def revoke(message: str) -> None:
        pages.append(message)
        with closing(sqlite3.connect(bot.settings.home / "parley.db", isolation_level=None)) as other_process:
            other_process.execute("DELETE FROM grants")

    with pytest.raises(ExportStopped):
        await exports_with_pages(bot, 5).write_file(
            an_export_request(audience=private_audience_of("U1"), person="slack:T1:U1"), revoke
        )

    assert len(pages) == 1
    assert not list(bot.settings.exports_path.iterdir())


async def test_a_killed_export_resumes_at_its_last_page(bot: Application, clock: Clock) -> None:
    exports = exports_with_pages(bot, 5)
    killing_progress = FailingProgress()
    with pytest.raises(SimulatedKill):
        await exports.write_file(an_export_request(), killing_progress)
    [spool] = bot.settings.exports_path.iterdir()
    spool.write_bytes(spool.read_bytes() + b"half a li")
    clock.advance(timedelta(seconds=30))

    file = await exports.write_file(an_export_request())
    assert [row["doc_id"] for row in rows_of(file)] == [f"r{n:03}" for n in (*range(37, 42), *range(37))]
    assert killing_progress.calls == 3


@pytest.mark.parametrize("order", [ordered_by("vendor"), ordered_by("weight", descending=False), None])
async def test_a_file_has_each_document_once_while_all_documents_are_replaced(
    bot: Application, index: EmbeddedIndex, order: SchemaOrder | None
) -> None:
    request = replace(an_export_request(), leg=replace(LEG, answer_form=ListDocuments(order=order)))
    messages, versions = list[str](), itertools.count(1)

    async def replace_documents() -> None:
        while not any(message.startswith("Writing the file: 42 of") for message in messages):
            await replace_receipts(index, next(versions))

    file, _ = await asyncio.gather(exports_with_pages(bot, 3).write_file(request, messages.append), replace_documents())

    assert sorted(row["doc_id"] for row in rows_of(file)) == [f"r{n:03}" for n in range(42)]
    assert file.rows == 42
    assert next(versions) > 2
    assert {message.rpartition(" of ")[2] for message in messages} == {"42 rows"}


async def test_a_killed_export_begins_again_if_the_documents_have_changed(
    bot: Application, index: EmbeddedIndex, clock: Clock
) -> None:
    exports, messages = exports_with_pages(bot, 5), list[str]()
    with pytest.raises(SimulatedKill):
        await exports.write_file(an_export_request(), FailingProgress())
    await replace_receipts(index, 7)
    clock.advance(timedelta(seconds=30))

    rows = rows_of(await exports.write_file(an_export_request(), messages.append))

    assert messages[:2] == [
        "The documents have changed; I begin the file again …",
        "Writing the file: 5 of 42 rows",
    ]
    assert sorted(row["doc_id"] for row in rows) == [f"r{n:03}" for n in range(42)]
    assert {row["total"] for row in rows} == {"7"}


async def test_an_export_that_loses_its_state_again_and_again_says_so(
    bot: Application, settings: Settings, index: EmbeddedIndex
) -> None:
    short_lived = await EmbeddedIndex.open(
        settings.index_path, tenant=TENANT, analysers=analyser_for, embedder=None, snapshot_lifetime=timedelta(0)
    )
    async with open_application(
        settings, clock=bot.clock, database=bot.database, index=short_lived, reasoner=NO_REASONER
    ) as other_bot:
        with pytest.raises(ExportOvertaken, match="changed again and again"):
            await exports_with_pages(other_bot, 5).write_file(an_export_request())
        await short_lived.close()

    assert not list(settings.exports_path.iterdir())
    assert (await bot.exports.write_file(an_export_request("t2"))).rows == 42


async def test_an_export_keeps_the_rights_with_which_it_was_asked_for(
    bot: Application, index: EmbeddedIndex, clock: Clock
) -> None:
    await index.put(RECEIPTS, [a_document("kept", vendor="Acme", readers=["group:staff"])])
    await bot.grants.grant_bucket_access(RECEIPTS, Subject("user:slack:T1:U1"), by="test")
    request = an_export_request(audience=private_audience_of("U1"), person="slack:T1:U1")
    with pytest.raises(SimulatedKill):
        await exports_with_pages(bot, 5).write_file(request, FailingProgress())
    await bot.groups.create_group("staff", "Staff", by="test")
    await bot.groups.add_group_member("staff", "slack:T1:U1", by="test")
    clock.advance(timedelta(minutes=10))

    resumed = await exports_with_pages(bot, 5).write_file(request)
    later = await exports_with_pages(bot, 5).write_file(replace(request, turn=TurnId("t2")))

    assert (resumed.rows, later.rows) == (42, 43)


async def test_a_person_has_one_export_at_a_time(bot: Application, clock: Clock) -> None:
    store = ExportStore(bot.database)
    running = await store.queue_export(
        NewExport(
            conversation="c1",
            turn="t0",
            person="operator",
            audience=audience_to_json(OperatorAudience()),
            request=plan_to_json(Plan(question="", legs=(LEG,))),
            expires_at=clock() + timedelta(hours=1),
        )
    )
    assert await store.claim_due_export("another", timedelta(seconds=15), export_id=running.id)
    with pytest.raises(ExportBusy):
        await bot.exports.write_file(an_export_request())

    clock.advance(timedelta(seconds=30))
    assert (await bot.exports.write_file(an_export_request())).rows == 42


async def test_an_export_refused_as_busy_does_not_stay_in_the_queue(bot: Application, clock: Clock) -> None:
    store = ExportStore(bot.database)
    with pytest.raises(SimulatedKill):
        await exports_with_pages(bot, 5).write_file(an_export_request("t1"), FailingProgress())
    with pytest.raises(ExportBusy):
        await bot.exports.write_file(an_export_request("t2"))

    refused = await store.find_newest_of_turn("t2")
    assert refused is not None
    assert (refused.status, refused.failure) == (ExportStatus.FAILED, str(ExportBusy()))


async def test_progress_reports_the_number_of_rows_written(bot: Application) -> None:
    messages: list[str] = []
    await exports_with_pages(bot, 20).write_file(an_export_request(), messages.append)

    assert messages == [f"Writing the file: {rows} of 42 rows" for rows in (20, 40, 42)]


async def test_a_deactivated_person_gets_no_file_and_no_link(bot: Application, chat: FakeChat) -> None:
    people = ChangingDirectory()
    bot.register_surface(PartialSurface(outbox=chat, directory=people))
    channel = Subject("channel:slack:T1:C1")
    await bot.grants.grant_bucket_access(RECEIPTS, channel, by="test")
    audience = ChannelAudience(channel=channel, outsiders=OutsiderPresence.NONE)
    file = await bot.exports.write_file(an_export_request("t1", audience, "slack:T1:U1"))
    people.deactivated.add("slack:T1:U1")

    with pytest.raises(FileGone):
        await bot.exports.find_download(signed_part_of(file))
    with pytest.raises(ExportStopped):
        await bot.exports.write_file(an_export_request("t2", audience, "slack:T1:U1"))


async def test_a_failed_write_is_reported_and_does_not_block_the_next_export(bot: Application) -> None:
    bot.settings.exports_path.write_text("no folder", encoding="utf-8")
    with pytest.raises(ExportWriteFailed):
        await bot.exports.write_file(an_export_request("t1"))
    bot.settings.exports_path.unlink()

    assert (await bot.exports.write_file(an_export_request("t2"))).rows == 42


async def test_a_turn_resumes_its_file_after_its_process_was_killed(bot: Application, clock: Clock) -> None:
    turn, conversation = await kill_export_process(bot)
    [spool] = bot.settings.exports_path.iterdir()
    file_stat = spool.stat()
    clock.advance(timedelta(seconds=40))

    turn_done = await bot.run_turn(turn)

    [part] = [part for part in turn_done.reply.parts if isinstance(part, FilePart)]
    assert len(rows_of(part)) == part.rows == 42
    assert (path_of(part.path).stat().st_ino, turn_done.conversation) == (file_stat.st_ino, conversation)
    assert file_stat.st_size > 0


async def test_an_export_resumes_after_a_failed_index(bot: Application) -> None:
    failing_progress = FailingProgress(IndexUnavailable("index:9200"))
    with pytest.raises(IndexUnavailable):
        await exports_with_pages(bot, 5).write_file(an_export_request(), failing_progress)

    assert (await exports_with_pages(bot, 5).write_file(an_export_request())).rows == 42


async def test_old_files_are_deleted(bot: Application, clock: Clock) -> None:
    file = await bot.exports.write_file(an_export_request())
    clock.advance(timedelta(hours=25))

    assert await bot.exports.expire_files() == 1
    assert not path_of(file.path).exists()


async def test_the_file_of_an_export_that_another_process_expired_is_deleted(bot: Application, clock: Clock) -> None:
    """The other process was killed before it deleted the file, or has another folder."""
    file = await bot.exports.write_file(an_export_request())
    unrelated = bot.settings.exports_path / "notes.csv"
    unrelated.write_text("mine", encoding="utf-8")
    clock.advance(timedelta(hours=25))
    assert len(await ExportStore(bot.database).expire_due_exports()) == 1

    assert await bot.exports.expire_files() == 0

    assert not path_of(file.path).exists()
    assert unrelated.exists()


async def test_a_link_works_for_a_quarter_of_an_hour(bot: Application, clock: Clock) -> None:
    file = await bot.exports.write_file(an_export_request())
    assert (await bot.exports.find_download(signed_part_of(file))).name == "receipts-42.csv"

    clock.advance(timedelta(minutes=15))
    with pytest.raises(LinkExpired):
        await bot.exports.find_download(signed_part_of(file))


async def test_a_link_is_checked_against_the_current_rights(bot: Application) -> None:
    await bot.grants.grant_bucket_access(RECEIPTS, Subject("user:slack:T1:U1"), by="test")
    file = await bot.exports.write_file(an_export_request(audience=private_audience_of("U1"), person="slack:T1:U1"))
    await bot.grants.revoke_grant(RECEIPTS, Subject("user:slack:T1:U1"), by="test")

    with pytest.raises(FileGone):
        await bot.exports.find_download(signed_part_of(file))


async def test_a_person_who_left_the_channel_may_not_download_its_file(bot: Application, chat: FakeChat) -> None:
    people, channel = ChangingDirectory(), Subject("channel:slack:T1:C1")
    bot.register_surface(PartialSurface(outbox=chat, directory=people))
    await bot.grants.grant_bucket_access(RECEIPTS, channel, by="test")
    file = await bot.exports.write_file(
        an_export_request(
            audience=ChannelAudience(channel=channel, outsiders=OutsiderPresence.NONE), person="slack:T1:U1"
        )
    )
    assert (await bot.exports.find_download(signed_part_of(file))).name == "receipts-42.csv"

    people.is_silent = True
    with pytest.raises(ReaderStatusUnknown) as unknown:
        await bot.exports.find_download(signed_part_of(file))
    people.is_silent, people.departed = False, {"slack:T1:U1"}
    with pytest.raises(FileGone):
        await bot.exports.find_download(signed_part_of(file))

    assert (unknown.value.status, "try again" in str(unknown.value)) == (503, True)


@pytest.mark.parametrize("forged", ["", "x", "a.b.c", "..", "é.1.é", "\udcff.1.\udcff", "x" * 5000])
async def test_a_forged_link_is_refused(bot: Application, forged: str) -> None:
    with pytest.raises(LinkForged):
        await bot.exports.find_download(forged)


def test_a_link_names_neither_another_export_nor_a_later_end(clock: Clock) -> None:
    signer, expires = LinkSigner([b"key"]), clock() + timedelta(minutes=15)
    signed = signer.sign_link(ExportId("e1"), expires)
    end = str(int(expires.timestamp()))

    assert signer.verify_link(signed, clock()) == "e1"
    for forged in (signed.replace("e1", "e2"), signed.replace(end, f"{end}0"), signed.replace(end, f"{end}.{end}")):
        with pytest.raises(LinkForged):
            signer.verify_link(forged, clock())


def test_every_key_of_the_ring_verifies_and_the_first_key_signs(clock: Clock) -> None:
    old_signer, ring_signer = LinkSigner([b"old"]), LinkSigner([b"new", b"old"])
    expires = clock() + timedelta(minutes=15)

    assert ring_signer.verify_link(old_signer.sign_link(ExportId("e1"), expires), clock()) == "e1"
    with pytest.raises(LinkForged):
        old_signer.verify_link(ring_signer.sign_link(ExportId("e1"), expires), clock())


@pytest.fixture
async def address(bot: Application) -> AsyncIterator[str]:
    app = web.Application()
    app.add_routes(bot.http_routes())
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def test_the_link_serves_the_file_over_http(bot: Application, address: str, clock: Clock) -> None:
    file = await bot.exports.write_file(an_export_request())
    link = f"{address}/download/{signed_part_of(file)}"
    async with ClientSession() as session:
        async with session.get(link) as response:
            assert response.status == 200
            assert await response.read() == path_of(file.path).read_bytes()
            assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
            assert response.headers["Content-Disposition"] == "attachment; filename*=UTF-8''receipts-42.csv"
            assert response.headers["Cache-Control"] == "no-store"
        async with session.get(f"{link}x") as forged_response:
            assert forged_response.status == 403
            assert await forged_response.text() == "This link is not valid; please ask for the file again.\n"
        path_of(file.path).unlink()
        async with session.get(link) as missing_response:
            assert missing_response.status == 404
        clock.advance(timedelta(minutes=20))
        async with session.get(link) as expired_response:
            assert expired_response.status == 410


async def kill_export_process(bot: Application) -> tuple[TurnId, ConversationId]:
    """An export turn whose process was killed after it had written some rows."""
    talk = ConversationDriver(bot)
    await talk.ask_question("List every receipt")
    turn = await talk.accept_body(TextMessage("export"))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.bot.exporting", bot.settings.home, turn, bot.clock().isoformat()),
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    async with asyncio.timeout(60):
        first_line = await process.stdout.readline()
    process.kill()
    assert await process.wait() == -signal.SIGKILL
    assert first_line == b"Writing the file: 10 of 42 rows\n"
    return turn, talk.conversation


async def replace_receipts(index: EmbeddedIndex, version: int) -> None:
    """Replaces the 42 receipts, each with another vendor and weight."""
    documents = [
        a_document(
            f"r{n:03}",
            f"receipt {n}",
            vendor=f"v{(n + version) % 5}",
            weight=float((n * 5 + version * 17) % 42),
            total=float(version),
        )
        for n in range(42)
    ]
    for start in range(0, len(documents), 14):
        await index.put(RECEIPTS, documents[start : start + 14])


class ChangingDirectory:
    """A directory in which some people are deactivated (`gone`) and some have left their channels (`left`)."""

    def __init__(self) -> None:
        self.deactivated: set[str] = set()
        self.departed: set[str] = set()
        self.is_silent = False

    async def load_person_profile(self, person: PersonId) -> PersonProfile | None:
        return None

    async def refresh_private_audience(self, audience: PrivateAudience) -> PrivateAudience:
        return replace(audience, is_deactivated=audience.person in self.deactivated)

    async def refresh_channel_audience(self, audience: ChannelAudience) -> ChannelAudience:
        return audience

    async def is_channel_reader(self, person: PersonId, channel: Subject) -> bool | None:
        return None if self.is_silent else person not in self.departed | self.deactivated


class SimulatedKill(BaseException):
    """Simulates a process that is killed."""


class FailingProgress:
    """A progress callback that raises an exception at the third page."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.calls, self._error = 0, error or SimulatedKill()

    def __call__(self, text: str) -> None:
        self.calls += 1
        if self.calls == 3:
            raise self._error
