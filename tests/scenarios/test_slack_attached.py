"""Files that are attached to questions in Slack: read beside the buckets, in their conversation alone."""

import asyncio
import csv
import io
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from aiohttp import web
from sqlalchemy import text

from agent import loop
from agent.context import Context
from agent.outcome import Outcome
from bot.afterwards import Onlooker
from bot.download import LinkSigner
from bot.errors import FileGone, NoLongerSeen
from bot.ids import EVERYONE, BucketId, ConversationId, ExportId, PersonId, Subject, TurnId
from bot.inbound import Outsiders, Private, Shared
from storage.search.errors import IndexUnavailable
from storage.search.plan import Plan
from storage.sql.attached import AttachedFiles
from storage.sql.inbox import Inbox
from tests.bot.conftest import working
from tests.bot.fakes import Clock
from tests.scenarios.attaching import (
    CSV,
    DOCX,
    LEASE,
    PDF,
    SALES,
    Desk,
    a_csv,
    a_desk,
    a_docx,
    a_pdf,
    sales,
)
from tests.stand_ins.slack.server import Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, Channel, Message, StoredFile

RECEIPTS: Final = 24


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    async with SlackServer() as server:
        yield server


@pytest.fixture
async def desk(slack: SlackServer, tmp_path: Path) -> AsyncIterator[Desk]:
    async with a_desk(slack, tmp_path / "home") as desk:
        yield desk


def counts(message: Message) -> dict[str, int]:
    """By label, of the buttons that carry a number."""
    found = (re.fullmatch(r"(.*) · ([\d,]+)", button["text"]["text"]) for button in message.buttons())
    return {match[1]: int(match[2].replace(",", "")) for match in found if match}


def links(message: Message) -> list[str]:
    return re.findall(r'"url": "([^"]+)"', json.dumps(message.blocks))


def rows_of(file: StoredFile) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((file.content or b"").decode("utf-8-sig"))))


def exports(desk: Desk) -> list[StoredFile]:
    return [one for one in desk.slack.workspace.files.values() if one.user is None]


# -- read


async def test_a_pdf_is_quoted_with_its_name_its_page_and_its_link(desk: Desk) -> None:
    lease = desk.lease()

    answer = await desk.ask("What is the notice period?", lease)

    assert "notice period of eleven months" in answer.words()
    assert "Harbour lease.pdf, page 2" in answer.words()
    assert links(answer) == [lease.told()["permalink"]]


async def test_the_conversation_goes_on_about_it_without_attaching_it_again(desk: Desk) -> None:
    first = await desk.ask("What is the notice period?", desk.lease())

    second = await desk.ask("What deposit does the tenant pay?", of=first)

    assert "7,300 euros" in second.words()
    assert "page 3" in second.words()
    assert len(desk.slack.called("files.info")) == 1


@pytest.mark.parametrize(
    ("name", "content", "mimetype"),
    [
        ("memo.docx", a_docx("Memo", "The picnic takes place on the roof terrace."), DOCX),
        ("memo.txt", b"The picnic takes place on the roof terrace.", "text/plain"),
        ("memo", b"The picnic takes place on the roof terrace.", "text/plain"),
        ("memo.md", b"# Memo\n\nThe picnic takes place on the roof terrace.", "text/markdown"),
        ("memo.html", b"<h1>Memo</h1><p>The picnic takes place on the roof terrace.</p>", "text/html"),
    ],
)
async def test_documents_of_other_kinds_are_read(desk: Desk, name: str, content: bytes, mimetype: str) -> None:
    answer = await desk.ask("Where does the picnic take place?", desk.slack.upload(desk.ada, name, content, mimetype))

    assert "roof terrace" in answer.words()
    assert f"] {name}" in answer.words()


@pytest.mark.parametrize(
    "name",
    [
        "<!channel> *q3* `x` | #|.txt",
        "../../etc/passwd.txt",
        "\u202etxt.exe.txt",
        "n" * 255,
        ".txt",
        "  .txt",
        "%00.txt",
    ],
)
async def test_whatever_a_file_is_called_it_is_read_and_its_name_is_data(desk: Desk, name: str) -> None:
    hostile = desk.slack.upload(desk.ada, "memo.txt", b"The picnic takes place on the roof terrace.")
    hostile.name = name

    answer = await desk.ask("Where does the picnic take place?", hostile)

    assert "roof terrace" in answer.words()
    assert "not read" not in answer.words()


async def test_this_document_is_the_one_that_came_with_the_question(desk: Desk) -> None:
    answer = await desk.ask("Summarize this document", desk.lease())

    assert "Harbour lease.pdf" in answer.words()
    assert "Receipt" not in answer.words()


async def test_a_file_without_a_question_is_read_and_asked_about_later(desk: Desk) -> None:
    private = desk.direct(desk.ada)

    received = await desk.ask("", desk.lease(), channel=private)
    answer = await desk.ask("What deposit does the tenant pay?", of=received, channel=private)

    assert received.words() == "I have read Harbour lease.pdf. What would you like to know about it?"
    assert "7,300 euros" in answer.words()


# -- counted


async def test_rows_of_a_table_are_counted_and_added_up_alone_and_with_the_buckets(desk: Desk) -> None:
    alone = await desk.ask("How many rows are in the attached file?", desk.table())
    total = await desk.ask("What is the total of units?", of=alone)
    north = await desk.ask("How many rows have region North?", of=alone)
    receipts = await desk.ask("How many receipts are there?", of=alone)
    together = await desk.ask("How many documents are there?", desk.table())

    assert f"{SALES} attached rows" in alone.words()
    assert f"{sum(range(1, SALES + 1))}" in total.words()
    assert f"{SALES // 3} attached rows" in north.words()
    assert f"{RECEIPTS} receipts" in receipts.words()
    assert f"{SALES + RECEIPTS} documents" in together.words()


async def test_rows_of_two_tables_are_told_apart_by_the_names_of_their_files(desk: Desk) -> None:
    first = await desk.ask("How many rows are in sales.csv?", desk.table(), desk.table("returns.csv", 7))
    second = await desk.ask("How many rows are in returns.csv?", of=first)
    both = await desk.ask("How many attached rows are there?", of=first)

    assert f"{SALES} attached rows" in first.words()
    assert "7 attached rows" in second.words()
    assert f"{SALES + 7} attached rows" in both.words()


async def test_the_same_file_twice_counts_once(desk: Desk) -> None:
    first = await desk.ask("How many rows are in the attached file?", desk.table())

    again = await desk.ask("How many attached rows are there?", desk.table("copy.csv"), of=first)

    assert f"{SALES} attached rows" in again.words()


async def test_an_overload_is_asked_back_with_attached_rows_counted_in_and_the_click_keeps_its_promise(
    desk: Desk,
) -> None:
    asked = await desk.ask("List everything", desk.table())
    offered = counts(asked)
    all_of_it = offered.pop("Export all as CSV")

    assert all_of_it == SALES + RECEIPTS
    assert offered == {"Attached files": SALES, "Receipts": RECEIPTS}

    narrowed = await desk.click(asked, "Attached files", user=desk.bob)

    assert counts(narrowed)["Export all as CSV"] == SALES
    assert "Attached files — chosen by Bob" in asked.words()
    assert "was" not in narrowed.words()


async def test_an_export_has_the_attached_rows(desk: Desk) -> None:
    asked = await desk.ask("List everything", desk.table())

    exported = await desk.click(asked, "Export all as CSV")

    [file] = exports(desk)
    rows = rows_of(file)
    assert f"{SALES + RECEIPTS} rows" in exported.words()
    assert sorted(row["Order"] for row in rows if row["Order"]) == [row["order"] for row in sales()]
    assert len(rows) == SALES + RECEIPTS


async def test_who_is_granted_nothing_is_answered_from_the_file_alone(desk: Desk) -> None:
    private = desk.direct(desk.bob)

    answer = await desk.ask("How many documents are there?", desk.table(), user=desk.bob, channel=private)
    quoted = await desk.ask("What is the notice period?", desk.lease(), channel=desk.lobby)

    assert f"{SALES} " in answer.words()
    assert "eleven months" in quoted.words()


# -- nobody else


LEAKS: Final = {
    "text": "What is the notice period?",
    "count": "How many documents are there?",
    "facet": "How many documents per region?",
    "value": "List all documents from region North",
    "sum": "What is the total of units?",
    "spelling": "Which documents mention the harbuor warehose?",
    "name": "How many rows are in sales.csv?",
    "citation": "Summarise Harbour lease.pdf",
}
SECRETS: Final = re.compile(
    r"eleven|month|north|south|west|seller|units|sales\.csv,|sales\.csv =|lease\.pdf,|warehouse|attached", re.IGNORECASE
)

Place = Callable[[Desk, Message], tuple[str, Channel, Message | None]]
PLACES: Final[dict[str, Place]] = {
    "another thread of the channel": lambda desk, _: ("ada", desk.general, None),
    "another channel": lambda desk, _: ("ada", desk.lobby, None),
    "the asker's direct messages": lambda desk, _: ("ada", desk.direct(desk.ada), None),
    "another person's direct messages": lambda desk, _: ("bob", desk.direct(desk.bob), None),
}


@pytest.mark.parametrize("place", PLACES)
async def test_no_other_conversation_learns_anything_of_it(desk: Desk, place: str) -> None:
    await desk.bot.grants.grant(BucketId("receipts"), EVERYONE, by="operator")
    told = await desk.ask("How many documents are there?", desk.table(), desk.lease())
    assert f"{SALES + RECEIPTS + 1} documents" in told.words()
    name, channel, of = PLACES[place](desk, told)
    user = desk.ada if name == "ada" else desk.bob

    answers = {leak: await desk.ask(asked, of=of, user=user, channel=channel) for leak, asked in LEAKS.items()}

    quoted = {leak: re.sub(r"“[^”]*”", "", answer.words()) for leak, answer in answers.items()}  # of the question
    shown = {leak: [*counts(answer), quoted[leak]] for leak, answer in answers.items()}
    found = {leak: [one for one in words if SECRETS.search(one)] for leak, words in shown.items()}
    assert {leak: words for leak, words in found.items() if words} == {}
    assert f"{RECEIPTS} " in answers["count"].words()


async def test_files_of_direct_messages_are_seen_in_no_channel_and_in_no_other_thread(desk: Desk) -> None:
    private = desk.direct(desk.ada)
    told = await desk.ask("What is the notice period?", desk.lease(), channel=private)
    assert "eleven months" in told.words()

    elsewhere = await desk.ask("What is the notice period?", channel=private)
    shared = await desk.ask("What is the notice period?")

    assert "eleven" not in elsewhere.words() + shared.words()


async def test_it_is_in_no_list_of_buckets_and_not_on_the_home_tab(desk: Desk) -> None:
    asked = await desk.ask("List everything", desk.table())
    await desk.click(asked, "Export all as CSV")
    person = PersonId(f"slack:{TEAM}:{desk.ada.id}")

    own = await desk.bot.personal.own(Private(person=person), most=10)

    assert [*await desk.bot.index.buckets()] == [BucketId("receipts")]
    assert [bucket.title for bucket in own.buckets] == []
    assert [(one.name, one.rows, one.url) for one in own.exports] == [(None, None, None)]


async def test_the_conversation_of_another_audience_has_no_claim_on_it(desk: Desk) -> None:
    private = desk.direct(desk.ada)
    told = await desk.ask("What is the notice period?", desk.lease(), channel=private)
    conversation = ConversationId(f"slack:{TEAM}:{private.id}:{told.thread_ts}")
    ada, bob = (Private(person=PersonId(f"slack:{TEAM}:{one.id}")) for one in (desk.ada, desk.bob))

    assert len(await desk.bot.attached.kept(conversation, ada)) == 1
    assert await desk.bot.attached.kept(conversation, bob) == frozenset()


async def test_who_is_deactivated_has_no_claim_on_it_either(desk: Desk) -> None:
    private = desk.direct(desk.ada)
    told = await desk.ask("What is the notice period?", desk.lease(), channel=private)
    conversation = ConversationId(f"slack:{TEAM}:{private.id}:{told.thread_ts}")

    await desk.slack.change_user(desk.ada, deleted=True)

    person = Private(person=PersonId(f"slack:{TEAM}:{desk.ada.id}"))
    assert await desk.bot.attached.kept(conversation, person) == frozenset()


async def test_going_on_in_private_takes_the_files_along(desk: Desk) -> None:
    await desk.bot.grants.grant(BucketId("receipts"), Subject(f"user:slack:{TEAM}:{desk.ada.id}"), by="operator")
    asked = await desk.ask("How many documents are there?", desk.table(), channel=desk.lobby)
    assert f"{SALES} " in asked.words()

    before = len(desk.answers())
    await desk.slack.click(desk.ada, asked, "Continue in private")
    private = desk.direct(desk.ada).id
    await desk.slack.until(lambda: any(one.channel == private for one in desk.answers()[before:]))
    at = next(at for at, one in enumerate(desk.answers()) if at >= before and one.channel == private)
    answer = await desk.answer_after(at)

    assert f"{SALES + RECEIPTS} documents" in answer.words()


# -- not read


async def test_without_the_scope_the_answer_says_who_has_to_allow_it(desk: Desk) -> None:
    desk.slack.scopes -= {"files:read"}

    answer = await desk.ask("How many receipts are there?", desk.lease())

    assert "Harbour lease.pdf was not read: an admin of this workspace has to allow me" in answer.words()
    assert f"{RECEIPTS} receipts" in answer.words()


BROKEN: Final = {
    "broken.pdf": (b"%PDF-1.4 nonsense", PDF, "it is broken"),
    "empty.txt": (b" ", "text/plain", "it is empty"),
    "scan.pdf": (a_pdf(""), PDF, "it has no text"),
    "broken.docx": (b"PK nonsense", DOCX, "it is"),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_what_cannot_be_read_is_named_with_the_reason_and_the_rest_is_answered(desk: Desk, name: str) -> None:
    content, mimetype, reason = BROKEN[name]
    broken = desk.slack.upload(desk.ada, name, content, mimetype)

    answer = await desk.ask("What is the notice period?", broken, desk.lease())
    later = await desk.ask("What deposit does the tenant pay?", of=answer)

    assert f"The attached {name} was not read: {reason}" in answer.words()
    assert "eleven months" in answer.words()
    assert "not read" not in later.words()
    assert "7,300" in later.words()


async def test_rows_that_cannot_be_read_are_told_beside_the_answer(desk: Desk) -> None:
    content = a_csv(sales(30)) + b"SO-1,North,5,Seller 1,more,than,columns\n"

    answer = await desk.ask(
        "How many rows are in the attached file?", desk.slack.upload(desk.ada, "sales.csv", content, CSV)
    )

    assert "30 attached rows" in answer.words()
    assert "1 of its rows could not be read (line 32: it has 7 values for 4 columns)" in answer.words()


async def test_other_kinds_and_larger_files_are_not_even_fetched(desk: Desk) -> None:
    archive = desk.slack.upload(desk.ada, "all.zip", b"PK", "application/zip")
    large = desk.lease()
    large.name, large.length = "large.pdf", 20 * 1024 * 1024 + 1

    answer = await desk.ask("How many receipts are there?", archive, large)

    assert "The attached all.zip and large.pdf were not read: I read PDF, Word" in answer.words()
    assert f"{RECEIPTS} receipts" in answer.words()
    assert desk.slack.called("files.info") == []


async def test_of_eleven_files_ten_are_read_and_one_is_named(desk: Desk) -> None:
    tables = [desk.table(f"{number}.csv", number + 1) for number in range(11)]

    answer = await desk.ask("How many attached rows are there?", *tables)
    more = await desk.ask("How many attached rows are there?", desk.table("more.csv", 50), of=answer)

    assert "The attached 10.csv was not read" in answer.words()
    assert f"{sum(range(1, 11))} attached rows" in answer.words()
    assert "more.csv was not read: there are 10 files in this conversation already" in more.words()
    assert f"{sum(range(1, 11))} attached rows" in more.words()


async def test_a_file_that_was_deleted_meanwhile_is_named(slack: SlackServer, tmp_path: Path) -> None:
    async with a_desk(slack, tmp_path / "home", works=False) as desk:
        lease, question = desk.lease(), f"<@{BOT_USER}> How many receipts are there?"
        await slack.say(desk.ada, desk.general, question, files=[lease])
        lease.mode = "tombstone"
        async with working(desk.bot):
            answer = await desk.answer_after(0)

    assert "Harbour lease.pdf was not read: it was deleted" in answer.words()
    assert f"{RECEIPTS} receipts" in answer.words()


async def test_a_file_in_a_channel_shared_with_others_is_asked_about_by_its_id(desk: Desk) -> None:
    desk.general.is_ext_shared = True

    answer = await desk.ask("What is the notice period?", desk.lease())
    archive = await desk.ask("Hello?", desk.slack.upload(desk.ada, "all.zip", b"PK", "application/zip"))

    assert "Harbour lease.pdf, page 2" in answer.words()
    assert "all.zip was not read: I have no reader for files of its kind" in archive.words()


# -- faults


@pytest.mark.parametrize(
    "faults",
    [[Fault()], [Fault(status=503)], [Fault(status=429, retry_after=2)], [Fault(status=500), Fault()]],
    ids=["cut", "unavailable", "busy", "twice"],
)
@pytest.mark.parametrize("method", ["download", "files.info"])
async def test_a_slack_that_stumbles_is_asked_again(desk: Desk, method: str, faults: list[Fault]) -> None:
    desk.slack.fail(method, *faults)

    answer = await desk.ask("What is the notice period?", desk.lease())

    assert "eleven months" in answer.words()


async def test_a_slack_that_does_not_recover_is_named_and_the_question_answered(desk: Desk) -> None:
    desk.slack.fail("download", *[Fault(status=503)] * 3)

    answer = await desk.ask("How many receipts are there?", desk.lease())

    assert "Harbour lease.pdf was not read: Slack did not hand it over" in answer.words()
    assert f"{RECEIPTS} receipts" in answer.words()


class Stumbling:
    """The agent, but for its first answers."""

    def __init__(self, *troubles: Exception) -> None:
        self.troubles, self.waits = list(troubles), asyncio.Event()
        self.is_slow, self.inner = False, loop

    async def answer(self, question: str, context: Context) -> Outcome:
        if self.troubles:
            raise self.troubles.pop(0)
        if self.is_slow:
            self.waits.set()
            await asyncio.Event().wait()
        return await self.inner.answer(question, context)

    async def resume(self, plan: Plan, context: Context) -> Outcome:
        return await self.inner.resume(plan, context)

    by_meaning = staticmethod(loop.by_meaning)


async def test_a_worker_that_ends_after_fetching_leaves_the_file_to_another(slack: SlackServer, tmp_path: Path) -> None:
    slow = Stumbling()
    slow.is_slow = True
    async with a_desk(slack, tmp_path / "home", agent=slow, works=False) as first:
        question = f"<@{BOT_USER}> What is the notice period?"
        await slack.say(first.ada, first.general, question, files=[first.lease()])
        [claimed] = await Inbox(first.bot.database).claim("first", timedelta(seconds=30))
        turn = asyncio.create_task(first.bot.turns.held(claimed))
        await slow.waits.wait()
        turn.cancel()
        await asyncio.wait([turn])

    async with a_desk(slack, tmp_path / "home") as second:
        answer = await second.answer_after(0)

    assert "eleven months" in answer.words()
    assert len(second.answers()) == 1
    assert len(slack.called("files.info")) == 1


async def test_a_turn_that_is_tried_again_fetches_nothing_again(slack: SlackServer, tmp_path: Path) -> None:
    agent = Stumbling(IndexUnavailable("index", "down"))
    async with a_desk(slack, tmp_path / "home", agent=agent) as desk:
        broken = slack.upload(desk.ada, "broken.pdf", b"%PDF-1.4 nonsense", PDF)
        before = len(desk.answers())
        await slack.say(
            desk.ada, desk.general, f"<@{BOT_USER}> What is the notice period?", files=[desk.lease(), broken]
        )
        await slack.until(lambda: any("eleven months" in one.words() for one in desk.answers()), within_s=30)

    [answer] = desk.answers()[before:]
    assert "broken.pdf was not read: it is broken" in answer.words()
    assert len(slack.called("files.info")) == 2


async def test_after_a_restart_the_conversation_still_has_its_files(slack: SlackServer, tmp_path: Path) -> None:
    async with a_desk(slack, tmp_path / "home") as desk:
        first = await desk.ask("How many rows are in the attached file?", desk.table())

    assert [one for one in (tmp_path / "home" / "attached").iterdir() if one.is_dir()] == []
    async with a_desk(slack, tmp_path / "home") as desk:
        second = await desk.ask("What is the total of units?", of=first)

    assert f"{sum(range(1, SALES + 1))}" in second.words()
    assert len(slack.called("files.info")) == 1


async def test_a_click_after_a_restart_leads_where_it_said(slack: SlackServer, tmp_path: Path) -> None:
    async with a_desk(slack, tmp_path / "home") as desk:
        asked = await desk.ask("List all attached rows", desk.table())
        label, count = next(iter(counts(asked).items()))

    async with a_desk(slack, tmp_path / "home") as desk:
        narrowed = await desk.click(asked, label)

    assert f"{count} attached rows" in narrowed.words()


# -- gone


async def test_a_deleted_message_takes_its_files_along(desk: Desk) -> None:
    private = desk.direct(desk.ada)
    first = await desk.ask("How many receipts are there?", channel=private)
    other = await desk.ask("How many attached rows are there?", desk.table(), of=first, channel=private)
    [message] = [one for one in desk.slack.workspace.messages if one.files]

    await desk.slack.delete(message)
    await desk.slack.until(lambda: other not in desk.answers())
    later = await desk.ask("How many attached rows are there?", of=first, channel=private)

    assert f"{SALES} attached rows" in other.words()
    assert str(SALES) not in later.words()
    assert await kept_in(desk, private, first) == frozenset()


async def test_an_edited_question_keeps_its_files(desk: Desk) -> None:
    private = desk.direct(desk.ada)
    await desk.ask("How many receipts are there?", desk.table(), channel=private)
    [message] = [one for one in desk.slack.workspace.messages if one.files]

    await desk.slack.edit(message, "What is the total of units?")
    await desk.slack.until(lambda: f"{sum(range(1, SALES + 1))}" in desk.answers()[-1].words())

    assert len(desk.answers()) == 1
    assert len(desk.slack.called("files.info")) == 1


async def test_a_file_that_is_taken_out_of_its_message_is_searched_no_more(desk: Desk) -> None:
    private = desk.direct(desk.ada)
    answer = await desk.ask("How many documents are there?", desk.table(), desk.lease(), channel=private)
    assert f"{SALES + 1} " in answer.words()
    [message] = [one for one in desk.slack.workspace.messages if one.files]

    await desk.slack.take_out(message, message.files[0])
    await desk.slack.until(lambda: f"{SALES + 1} " not in desk.answers()[-1].words())
    await desk.slack.until(lambda: "1 attached document" in desk.answers()[-1].words())

    assert len(await kept_in(desk, private, answer)) == 1


async def test_what_rests_on_a_file_that_is_gone_is_not_shown_again_and_its_export_neither(desk: Desk) -> None:
    asked = await desk.ask("List everything", desk.table())
    await desk.click(asked, "Export all as CSV")
    offered = await desk.ask("List everything", of=asked)
    signed = await link_of(desk)
    onlooker = Onlooker(
        conversation=ConversationId(f"slack:{TEAM}:{desk.general.id}:{asked.thread_ts}"),
        audience=Shared(channel=Subject(f"channel:slack:{TEAM}:{desk.general.id}"), outsiders=Outsiders.NONE),
        person=PersonId(f"slack:{TEAM}:{desk.ada.id}"),
        name="Ada",
    )
    turn = TurnId((asked.metadata or {})["event_payload"]["turn"])
    assert (await desk.bot.afterwards.steps(turn, onlooker)).steps
    assert (await desk.bot.exports.find(signed)).name == f"documents-{SALES + RECEIPTS}.csv"

    await AttachedFiles(desk.bot.database).remove_of([PersonId(f"slack:{TEAM}:{desk.ada.id}")])

    with pytest.raises(NoLongerSeen):
        await desk.bot.afterwards.steps(turn, onlooker)
    with pytest.raises(FileGone):
        await desk.bot.exports.find(signed)
    told = await desk.click(offered, "Attached files")
    assert "may no longer be seen here" in told.words()


async def test_files_are_gone_a_week_after_they_were_used(slack: SlackServer, tmp_path: Path) -> None:
    clock = Clock(datetime(2031, 5, 9, 12, tzinfo=UTC))
    slack.clock = lambda: clock.now.timestamp()
    async with a_desk(slack, tmp_path / "home", clock=clock) as desk:
        first = await desk.ask("How many rows are in the attached file?", desk.table())
        clock.now += timedelta(days=6)
        used = await desk.ask("What is the total of units?", of=first)
        clock.now += timedelta(days=6)
        await desk.bot.attached.expire()
        still = await kept_in(desk, desk.general, first)
        clock.now += timedelta(days=2)
        gone = await desk.bot.attached.expire()
        await desk.bot.attached.tidy()
        later = await desk.ask("How many documents are there?", of=first)

    assert f"{sum(range(1, SALES + 1))}" in used.words()
    assert (len(still), gone) == (1, 1)
    assert f"{RECEIPTS} receipts" in later.words()


# -- secrets


async def test_the_token_goes_to_slacks_own_hosts_alone(desk: Desk) -> None:
    lease = desk.lease()
    heard: list[str | None] = []

    async def elsewhere(request: web.Request) -> web.Response:
        heard.append(request.headers.get("Authorization"))
        return web.Response(body=LEASE, content_type=PDF)

    async with listening(elsewhere) as origin:
        lease.url = f"{origin}/lease.pdf"
        answer = await desk.ask("What is the notice period?", lease)

    assert heard == []
    assert "Harbour lease.pdf was not read" in answer.words()


async def test_a_file_that_moves_elsewhere_is_not_followed_there(desk: Desk) -> None:
    lease = desk.lease()
    heard: list[str | None] = []

    async def elsewhere(request: web.Request) -> web.Response:
        heard.append(request.headers.get("Authorization"))
        return web.Response(body=LEASE, content_type=PDF)

    async with listening(elsewhere) as origin:
        lease.moved = f"{origin}/lease.pdf"
        answer = await desk.ask("What is the notice period?", lease)

    assert heard == []
    assert "Harbour lease.pdf was not read" in answer.words()


async def test_more_bytes_than_slack_said_are_not_taken(desk: Desk) -> None:
    large = desk.slack.upload(desk.ada, "large.txt", b"x" * (20 * 1024 * 1024 + 1))
    large.length = 100

    answer = await desk.ask("How many receipts are there?", large)

    assert "large.txt was not read: it has over 20 MB" in answer.words()
    assert f"{RECEIPTS} receipts" in answer.words()


async def test_logs_hold_neither_names_nor_contents_nor_tokens(desk: Desk, tmp_path: Path) -> None:
    broken = desk.slack.upload(desk.ada, "Harbour broken.pdf", b"%PDF-1.4 nonsense", PDF)
    desk.slack.fail("download", *[Fault(status=503)] * 3)
    await desk.ask("What is the notice period?", desk.lease(), broken, desk.table())

    log = (tmp_path / "home" / "logs" / "parley.log").read_text(encoding="utf-8")

    assert "attached file not fetched" in log
    assert "attached file not read" in log
    assert not re.search(r"Harbour|sales\.csv|eleven|North|xoxb|files-pri", log)


async def kept_in(desk: Desk, channel: Channel, answer: Message) -> frozenset[str]:
    conversation = ConversationId(f"slack:{TEAM}:{channel.id}:{answer.thread_ts}")
    return frozenset(one.id for one in await AttachedFiles(desk.bot.database).of(conversation) if one.fault is None)


async def link_of(desk: Desk) -> str:
    """A link to the newest export, as people would be given it."""
    newest = text("SELECT id FROM exports ORDER BY position DESC")
    export = await desk.bot.database.read(lambda connection: connection.execute(newest).scalar())
    signer = LinkSigner(desk.bot.settings.secret_keys)
    return signer.signed(ExportId(str(export)), desk.bot.database.now() + timedelta(minutes=5))


@asynccontextmanager
async def listening(handler: Callable[[web.Request], Awaitable[web.Response]]) -> AsyncGenerator[str]:
    app = web.Application()
    app.router.add_get("/{rest:.*}", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
