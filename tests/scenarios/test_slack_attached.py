"""Files attached to questions in Slack: searched together with the buckets, but only in their conversation."""

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
from agent.context import AgentContext
from agent.outcome import Outcome
from bot.conversation.download import LinkSigner
from bot.errors import AnswerNoLongerVisible, FileGone
from bot.ids import EVERYONE, BucketId, ConversationId, ExportId, PersonId, Subject, TurnId
from bot.surface.inbound import ChannelAudience, OutsiderPresence, PrivateAudience
from bot.turns.turn_actions import TurnActor
from storage.search.errors import IndexUnavailable
from storage.search.plan import Plan
from storage.sql.stores.attachments import AttachedFileStore
from storage.sql.stores.inbox import TurnInbox
from tests.bot.conftest import running_workers
from tests.bot.fakes import Clock
from tests.scenarios.attaching import (
    CSV,
    DOCX,
    LEASE,
    PDF,
    SALES_COUNT,
    AttachmentDesk,
    a_csv,
    a_desk,
    a_docx,
    a_pdf,
    sales_rows,
)
from tests.stand_ins.slack.server import Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, SlackChannel, SlackMessage, StoredFile

RECEIPTS: Final = 24


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    async with SlackServer() as server:
        yield server


@pytest.fixture
async def desk(slack: SlackServer, tmp_path: Path) -> AsyncIterator[AttachmentDesk]:
    async with a_desk(slack, tmp_path / "home") as desk:
        yield desk


def counts_by_label(message: SlackMessage) -> dict[str, int]:
    """The counts on the buttons by label, for buttons with a count."""
    matches = (re.fullmatch(r"(.*) · ([\d,]+)", button["text"]["text"]) for button in message.block_buttons())
    return {match[1]: int(match[2].replace(",", "")) for match in matches if match}


def links_in(message: SlackMessage) -> list[str]:
    return re.findall(r'"url": "([^"]+)"', json.dumps(message.blocks))


def rows_of(file: StoredFile) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((file.content or b"").decode("utf-8-sig"))))


def exported_files(desk: AttachmentDesk) -> list[StoredFile]:
    return [file for file in desk.slack.workspace.files.values() if file.user is None]


# -- read


async def test_a_pdf_is_quoted_with_its_name_its_page_and_its_link(desk: AttachmentDesk) -> None:
    lease = desk.upload_lease()

    answer = await desk.ask("What is the notice period?", lease)

    assert "notice period of eleven months" in answer.visible_text()
    assert "Harbour lease.pdf, page 2" in answer.visible_text()
    assert links_in(answer) == [lease.describe_file()["permalink"]]


async def test_a_later_question_in_the_conversation_still_has_the_file(desk: AttachmentDesk) -> None:
    first_answer = await desk.ask("What is the notice period?", desk.upload_lease())

    second_answer = await desk.ask("What deposit does the tenant pay?", in_thread_of=first_answer)

    assert "7,300 euros" in second_answer.visible_text()
    assert "page 3" in second_answer.visible_text()
    assert len(desk.slack.calls_of("files.info")) == 1


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
async def test_documents_of_other_kinds_are_read(
    desk: AttachmentDesk, name: str, content: bytes, mimetype: str
) -> None:
    answer = await desk.ask(
        "Where does the picnic take place?", desk.slack.upload_file(desk.ada, name, content, mimetype)
    )

    assert "roof terrace" in answer.visible_text()
    assert f"] {name}" in answer.visible_text()


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
async def test_a_file_with_a_hostile_name_is_read_and_its_name_is_escaped(desk: AttachmentDesk, name: str) -> None:
    hostile = desk.slack.upload_file(desk.ada, "memo.txt", b"The picnic takes place on the roof terrace.")
    hostile.name = name

    answer = await desk.ask("Where does the picnic take place?", hostile)

    assert "roof terrace" in answer.visible_text()
    assert "not read" not in answer.visible_text()


async def test_this_document_means_the_file_attached_to_the_question(desk: AttachmentDesk) -> None:
    answer = await desk.ask("Summarize this document", desk.upload_lease())

    assert "Harbour lease.pdf" in answer.visible_text()
    assert "Receipt" not in answer.visible_text()


async def test_a_file_without_a_question_is_read_for_later_questions(desk: AttachmentDesk) -> None:
    private = desk.direct_channel_of(desk.ada)

    received = await desk.ask("", desk.upload_lease(), channel=private)
    answer = await desk.ask("What deposit does the tenant pay?", in_thread_of=received, channel=private)

    assert received.visible_text() == "I have read Harbour lease.pdf. What would you like to know about it?"
    assert "7,300 euros" in answer.visible_text()


# -- counted


async def test_rows_of_a_table_are_counted_and_summed_alone_and_with_the_buckets(desk: AttachmentDesk) -> None:
    alone = await desk.ask("How many rows are in the attached file?", desk.upload_table())
    total = await desk.ask("What is the total of units?", in_thread_of=alone)
    north = await desk.ask("How many rows have region North?", in_thread_of=alone)
    receipts = await desk.ask("How many receipts are there?", in_thread_of=alone)
    together = await desk.ask("How many documents are there?", desk.upload_table())

    assert f"{SALES_COUNT} attached rows" in alone.visible_text()
    assert f"{sum(range(1, SALES_COUNT + 1))}" in total.visible_text()
    assert f"{SALES_COUNT // 3} attached rows" in north.visible_text()
    assert f"{RECEIPTS} receipts" in receipts.visible_text()
    assert f"{SALES_COUNT + RECEIPTS} documents" in together.visible_text()


async def test_a_file_name_selects_the_rows_of_one_of_two_tables(desk: AttachmentDesk) -> None:
    sales_answer = await desk.ask(
        "How many rows are in sales.csv?", desk.upload_table(), desk.upload_table("returns.csv", 7)
    )
    returns_answer = await desk.ask("How many rows are in returns.csv?", in_thread_of=sales_answer)
    total_answer = await desk.ask("How many attached rows are there?", in_thread_of=sales_answer)

    assert f"{SALES_COUNT} attached rows" in sales_answer.visible_text()
    assert "7 attached rows" in returns_answer.visible_text()
    assert f"{SALES_COUNT + 7} attached rows" in total_answer.visible_text()


async def test_the_same_file_twice_counts_once(desk: AttachmentDesk) -> None:
    first_answer = await desk.ask("How many rows are in the attached file?", desk.upload_table())

    second_answer = await desk.ask(
        "How many attached rows are there?", desk.upload_table("copy.csv"), in_thread_of=first_answer
    )

    assert f"{SALES_COUNT} attached rows" in second_answer.visible_text()


async def test_a_clarification_counts_attached_rows_and_its_click_finds_them(
    desk: AttachmentDesk,
) -> None:
    offer = await desk.ask("List everything", desk.upload_table())
    count_by_label = counts_by_label(offer)
    export_count = count_by_label.pop("Export all as CSV")

    assert export_count == SALES_COUNT + RECEIPTS
    assert count_by_label == {"Attached files": SALES_COUNT, "Receipts": RECEIPTS}

    narrowed = await desk.click(offer, "Attached files", user=desk.bob)

    assert counts_by_label(narrowed)["Export all as CSV"] == SALES_COUNT
    assert "Attached files — chosen by Bob" in offer.visible_text()
    assert "was" not in narrowed.visible_text()


async def test_an_export_has_the_attached_rows(desk: AttachmentDesk) -> None:
    offer = await desk.ask("List everything", desk.upload_table())

    exported = await desk.click(offer, "Export all as CSV")

    [file] = exported_files(desk)
    rows = rows_of(file)
    assert f"{SALES_COUNT + RECEIPTS} rows" in exported.visible_text()
    assert sorted(row["Order"] for row in rows if row["Order"]) == [row["order"] for row in sales_rows()]
    assert len(rows) == SALES_COUNT + RECEIPTS


async def test_a_person_without_grants_gets_answers_only_from_the_file(desk: AttachmentDesk) -> None:
    private = desk.direct_channel_of(desk.bob)

    answer = await desk.ask("How many documents are there?", desk.upload_table(), user=desk.bob, channel=private)
    quoted = await desk.ask("What is the notice period?", desk.upload_lease(), channel=desk.lobby)

    assert f"{SALES_COUNT} " in answer.visible_text()
    assert "eleven months" in quoted.visible_text()


# -- access


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

Place = Callable[[AttachmentDesk, SlackMessage], tuple[str, SlackChannel, SlackMessage | None]]
PLACES: Final[dict[str, Place]] = {
    "another thread of the channel": lambda desk, _: ("ada", desk.general, None),
    "another channel": lambda desk, _: ("ada", desk.lobby, None),
    "the asker's direct messages": lambda desk, _: ("ada", desk.direct_channel_of(desk.ada), None),
    "another person's direct messages": lambda desk, _: ("bob", desk.direct_channel_of(desk.bob), None),
}


@pytest.mark.parametrize("place", PLACES)
async def test_no_other_conversation_sees_anything_of_the_file(desk: AttachmentDesk, place: str) -> None:
    await desk.bot.grants.grant_bucket_access(BucketId("receipts"), EVERYONE, by="operator")
    first_answer = await desk.ask("How many documents are there?", desk.upload_table(), desk.upload_lease())
    assert f"{SALES_COUNT + RECEIPTS + 1} documents" in first_answer.visible_text()
    name, channel, thread_answer = PLACES[place](desk, first_answer)
    user = desk.ada if name == "ada" else desk.bob

    answers = {
        leak: await desk.ask(question, in_thread_of=thread_answer, user=user, channel=channel)
        for leak, question in LEAKS.items()
    }

    quoted = {
        leak: re.sub(r"“[^”]*”", "", answer.visible_text()) for leak, answer in answers.items()
    }  # without quotations of the question
    shown_texts = {leak: [*counts_by_label(answer), quoted[leak]] for leak, answer in answers.items()}
    leaked = {leak: [text for text in words if SECRETS.search(text)] for leak, words in shown_texts.items()}
    assert {leak: words for leak, words in leaked.items() if words} == {}
    assert f"{RECEIPTS} " in answers["count"].visible_text()


async def test_files_of_direct_messages_are_not_searched_in_channels_or_other_threads(desk: AttachmentDesk) -> None:
    private = desk.direct_channel_of(desk.ada)
    private_answer = await desk.ask("What is the notice period?", desk.upload_lease(), channel=private)
    assert "eleven months" in private_answer.visible_text()

    other_thread_answer = await desk.ask("What is the notice period?", channel=private)
    channel_answer = await desk.ask("What is the notice period?")

    assert "eleven" not in other_thread_answer.visible_text() + channel_answer.visible_text()


async def test_the_file_is_not_listed_as_a_bucket_or_on_the_home_tab(desk: AttachmentDesk) -> None:
    offer = await desk.ask("List everything", desk.upload_table())
    await desk.click(offer, "Export all as CSV")
    person = PersonId(f"slack:{TEAM}:{desk.ada.id}")

    overview = await desk.bot.personal_history.load_overview(PrivateAudience(person=person), max_buckets=10)

    assert [*await desk.bot.index.load_bucket_states()] == [BucketId("receipts")]
    assert [bucket.title for bucket in overview.buckets] == []
    assert [(export.name, export.rows, export.url) for export in overview.exports] == [(None, None, None)]


async def test_another_audience_may_not_read_the_file(desk: AttachmentDesk) -> None:
    private = desk.direct_channel_of(desk.ada)
    answer = await desk.ask("What is the notice period?", desk.upload_lease(), channel=private)
    conversation = ConversationId(f"slack:{TEAM}:{private.id}:{answer.thread_ts}")
    ada, bob = (PrivateAudience(person=PersonId(f"slack:{TEAM}:{user.id}")) for user in (desk.ada, desk.bob))

    assert len(await desk.bot.attachments.readable_file_ids(conversation, ada)) == 1
    assert await desk.bot.attachments.readable_file_ids(conversation, bob) == frozenset()


async def test_a_deactivated_person_may_not_read_the_file(desk: AttachmentDesk) -> None:
    private = desk.direct_channel_of(desk.ada)
    answer = await desk.ask("What is the notice period?", desk.upload_lease(), channel=private)
    conversation = ConversationId(f"slack:{TEAM}:{private.id}:{answer.thread_ts}")

    await desk.slack.change_user_fields(desk.ada, deleted=True)

    person = PrivateAudience(person=PersonId(f"slack:{TEAM}:{desk.ada.id}"))
    assert await desk.bot.attachments.readable_file_ids(conversation, person) == frozenset()


async def test_continuing_in_private_keeps_the_files(desk: AttachmentDesk) -> None:
    await desk.bot.grants.grant_bucket_access(
        BucketId("receipts"), Subject(f"user:slack:{TEAM}:{desk.ada.id}"), by="operator"
    )
    offer = await desk.ask("How many documents are there?", desk.upload_table(), channel=desk.lobby)
    assert f"{SALES_COUNT} " in offer.visible_text()

    answer_count = len(desk.answers())
    await desk.slack.click_button(desk.ada, offer, "Continue in private")
    private = desk.direct_channel_of(desk.ada).id
    await desk.slack.wait_until(lambda: any(message.channel == private for message in desk.answers()[answer_count:]))
    index = next(
        index for index, message in enumerate(desk.answers()) if index >= answer_count and message.channel == private
    )
    answer = await desk.answer_after(index)

    assert f"{SALES_COUNT + RECEIPTS} documents" in answer.visible_text()


# -- not read


async def test_without_the_scope_the_answer_says_that_an_admin_must_allow_it(desk: AttachmentDesk) -> None:
    desk.slack.scopes -= {"files:read"}

    answer = await desk.ask("How many receipts are there?", desk.upload_lease())

    assert "Harbour lease.pdf was not read: an admin of this workspace has to allow me" in answer.visible_text()
    assert f"{RECEIPTS} receipts" in answer.visible_text()


BROKEN: Final = {
    "broken.pdf": (b"%PDF-1.4 nonsense", PDF, "it is broken"),
    "empty.txt": (b" ", "text/plain", "it is empty"),
    "scan.pdf": (a_pdf(""), PDF, "it has no text"),
    "broken.docx": (b"PK nonsense", DOCX, "it is"),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_an_unreadable_file_is_named_with_the_reason_and_the_other_file_is_used(
    desk: AttachmentDesk, name: str
) -> None:
    content, mimetype, reason = BROKEN[name]
    broken = desk.slack.upload_file(desk.ada, name, content, mimetype)

    answer = await desk.ask("What is the notice period?", broken, desk.upload_lease())
    later = await desk.ask("What deposit does the tenant pay?", in_thread_of=answer)

    assert f"The attached {name} was not read: {reason}" in answer.visible_text()
    assert "eleven months" in answer.visible_text()
    assert "not read" not in later.visible_text()
    assert "7,300" in later.visible_text()


async def test_unreadable_rows_are_reported_with_the_answer(desk: AttachmentDesk) -> None:
    content = a_csv(sales_rows(30)) + b"SO-1,North,5,Seller 1,more,than,columns\n"

    answer = await desk.ask(
        "How many rows are in the attached file?", desk.slack.upload_file(desk.ada, "sales.csv", content, CSV)
    )

    assert "30 attached rows" in answer.visible_text()
    assert "1 of its rows could not be read (line 32: it has 7 values for 4 columns)" in answer.visible_text()


async def test_unsupported_and_too_large_files_are_not_fetched(desk: AttachmentDesk) -> None:
    archive = desk.slack.upload_file(desk.ada, "all.zip", b"PK", "application/zip")
    large = desk.upload_lease()
    large.name, large.length = "large.pdf", 20 * 1024 * 1024 + 1

    answer = await desk.ask("How many receipts are there?", archive, large)

    assert "The attached all.zip and large.pdf were not read: I read PDF, Word" in answer.visible_text()
    assert f"{RECEIPTS} receipts" in answer.visible_text()
    assert desk.slack.calls_of("files.info") == []


async def test_of_eleven_files_ten_are_read_and_the_last_is_reported(desk: AttachmentDesk) -> None:
    tables = [desk.upload_table(f"{number}.csv", number + 1) for number in range(11)]

    answer = await desk.ask("How many attached rows are there?", *tables)
    later_answer = await desk.ask(
        "How many attached rows are there?", desk.upload_table("more.csv", 50), in_thread_of=answer
    )

    assert "The attached 10.csv was not read" in answer.visible_text()
    assert f"{sum(range(1, 11))} attached rows" in answer.visible_text()
    assert "more.csv was not read: there are 10 files in this conversation already" in later_answer.visible_text()
    assert f"{sum(range(1, 11))} attached rows" in later_answer.visible_text()


async def test_a_file_that_was_deleted_in_the_meantime_is_reported(slack: SlackServer, tmp_path: Path) -> None:
    async with a_desk(slack, tmp_path / "home", with_worker=False) as desk:
        lease, question = desk.upload_lease(), f"<@{BOT_USER}> How many receipts are there?"
        await slack.post_as_person(desk.ada, desk.general, question, files=[lease])
        lease.mode = "tombstone"
        async with running_workers(desk.bot):
            answer = await desk.answer_after(0)

    assert "Harbour lease.pdf was not read: it was deleted" in answer.visible_text()
    assert f"{RECEIPTS} receipts" in answer.visible_text()


async def test_a_file_in_a_shared_channel_is_looked_up_by_its_id(desk: AttachmentDesk) -> None:
    desk.general.is_ext_shared = True

    answer = await desk.ask("What is the notice period?", desk.upload_lease())
    archive = await desk.ask("Hello?", desk.slack.upload_file(desk.ada, "all.zip", b"PK", "application/zip"))

    assert "Harbour lease.pdf, page 2" in answer.visible_text()
    assert "all.zip was not read: I have no reader for files of its kind" in archive.visible_text()


# -- faults


@pytest.mark.parametrize(
    "faults",
    [[Fault()], [Fault(status=503)], [Fault(status=429, retry_after=2)], [Fault(status=500), Fault()]],
    ids=["cut", "unavailable", "busy", "twice"],
)
@pytest.mark.parametrize("method", ["download", "files.info"])
async def test_a_failed_slack_request_is_retried(desk: AttachmentDesk, method: str, faults: list[Fault]) -> None:
    desk.slack.plan_faults(method, *faults)

    answer = await desk.ask("What is the notice period?", desk.upload_lease())

    assert "eleven months" in answer.visible_text()


async def test_a_lasting_slack_failure_is_reported_with_the_answer(desk: AttachmentDesk) -> None:
    desk.slack.plan_faults("download", *[Fault(status=503)] * 3)

    answer = await desk.ask("How many receipts are there?", desk.upload_lease())

    assert "Harbour lease.pdf was not read: Slack did not hand it over" in answer.visible_text()
    assert f"{RECEIPTS} receipts" in answer.visible_text()


class FailingAgent:
    """The agent with errors or delays in its first answers."""

    def __init__(self, *troubles: Exception) -> None:
        self.errors, self.is_waiting = list(troubles), asyncio.Event()
        self.is_slow, self.inner = False, loop

    async def answer(self, question: str, context: AgentContext) -> Outcome:
        if self.errors:
            raise self.errors.pop(0)
        if self.is_slow:
            self.is_waiting.set()
            await asyncio.Event().wait()
        return await self.inner.answer(question, context)

    async def resume(self, plan: Plan, context: AgentContext) -> Outcome:
        return await self.inner.resume(plan, context)

    apply_search_by_meaning = staticmethod(loop.apply_search_by_meaning)


async def test_another_worker_uses_the_file_of_a_worker_that_ended(slack: SlackServer, tmp_path: Path) -> None:
    slow = FailingAgent()
    slow.is_slow = True
    async with a_desk(slack, tmp_path / "home", agent=slow, with_worker=False) as first_desk:
        question = f"<@{BOT_USER}> What is the notice period?"
        await slack.post_as_person(first_desk.ada, first_desk.general, question, files=[first_desk.upload_lease()])
        [claimed] = await TurnInbox(first_desk.bot.database).claim_due_turns("first", timedelta(seconds=30))
        turn = asyncio.create_task(first_desk.bot.turn_processor.process_turn(claimed))
        await slow.is_waiting.wait()
        turn.cancel()
        await asyncio.wait([turn])

    async with a_desk(slack, tmp_path / "home") as second_desk:
        answer = await second_desk.answer_after(0)

    assert "eleven months" in answer.visible_text()
    assert len(second_desk.answers()) == 1
    assert len(slack.calls_of("files.info")) == 1


async def test_a_retried_turn_does_not_fetch_its_files_again(slack: SlackServer, tmp_path: Path) -> None:
    agent = FailingAgent(IndexUnavailable("index", "down"))
    async with a_desk(slack, tmp_path / "home", agent=agent) as desk:
        broken = slack.upload_file(desk.ada, "broken.pdf", b"%PDF-1.4 nonsense", PDF)
        answer_count = len(desk.answers())
        await slack.post_as_person(
            desk.ada, desk.general, f"<@{BOT_USER}> What is the notice period?", files=[desk.upload_lease(), broken]
        )
        await slack.wait_until(
            lambda: any("eleven months" in message.visible_text() for message in desk.answers()), within_s=30
        )

    [answer] = desk.answers()[answer_count:]
    assert "broken.pdf was not read: it is broken" in answer.visible_text()
    assert len(slack.calls_of("files.info")) == 2


async def test_after_a_restart_the_conversation_still_has_its_files(slack: SlackServer, tmp_path: Path) -> None:
    async with a_desk(slack, tmp_path / "home") as desk:
        first_answer = await desk.ask("How many rows are in the attached file?", desk.upload_table())

    assert [path for path in (tmp_path / "home" / "attached").iterdir() if path.is_dir()] == []
    async with a_desk(slack, tmp_path / "home") as desk:
        second_answer = await desk.ask("What is the total of units?", in_thread_of=first_answer)

    assert f"{sum(range(1, SALES_COUNT + 1))}" in second_answer.visible_text()
    assert len(slack.calls_of("files.info")) == 1


async def test_a_click_after_a_restart_has_the_count_of_its_button(slack: SlackServer, tmp_path: Path) -> None:
    async with a_desk(slack, tmp_path / "home") as desk:
        offer = await desk.ask("List all attached rows", desk.upload_table())
        label, count = next(iter(counts_by_label(offer).items()))

    async with a_desk(slack, tmp_path / "home") as desk:
        narrowed = await desk.click(offer, label)

    assert f"{count} attached rows" in narrowed.visible_text()


# -- removed files


async def test_deleting_a_message_removes_its_files(desk: AttachmentDesk) -> None:
    private = desk.direct_channel_of(desk.ada)
    first_answer = await desk.ask("How many receipts are there?", channel=private)
    second_answer = await desk.ask(
        "How many attached rows are there?", desk.upload_table(), in_thread_of=first_answer, channel=private
    )
    [message] = [posted for posted in desk.slack.workspace.messages if posted.files]

    await desk.slack.delete_message(message)
    await desk.slack.wait_until(lambda: second_answer not in desk.answers())
    third_answer = await desk.ask("How many attached rows are there?", in_thread_of=first_answer, channel=private)

    assert f"{SALES_COUNT} attached rows" in second_answer.visible_text()
    assert str(SALES_COUNT) not in third_answer.visible_text()
    assert await stored_file_ids(desk, private, first_answer) == frozenset()


async def test_an_edited_question_keeps_its_files(desk: AttachmentDesk) -> None:
    private = desk.direct_channel_of(desk.ada)
    await desk.ask("How many receipts are there?", desk.upload_table(), channel=private)
    [message] = [posted for posted in desk.slack.workspace.messages if posted.files]

    await desk.slack.edit_message(message, "What is the total of units?")
    await desk.slack.wait_until(lambda: f"{sum(range(1, SALES_COUNT + 1))}" in desk.answers()[-1].visible_text())

    assert len(desk.answers()) == 1
    assert len(desk.slack.calls_of("files.info")) == 1


async def test_a_file_removed_from_its_message_is_no_longer_searched(desk: AttachmentDesk) -> None:
    private = desk.direct_channel_of(desk.ada)
    answer = await desk.ask("How many documents are there?", desk.upload_table(), desk.upload_lease(), channel=private)
    assert f"{SALES_COUNT + 1} " in answer.visible_text()
    [message] = [posted for posted in desk.slack.workspace.messages if posted.files]

    await desk.slack.remove_file(message, message.files[0])
    await desk.slack.wait_until(lambda: f"{SALES_COUNT + 1} " not in desk.answers()[-1].visible_text())
    await desk.slack.wait_until(lambda: "1 attached document" in desk.answers()[-1].visible_text())

    assert len(await stored_file_ids(desk, private, answer)) == 1


async def test_an_answer_and_its_export_are_hidden_after_their_file_is_removed(desk: AttachmentDesk) -> None:
    answer = await desk.ask("List everything", desk.upload_table())
    await desk.click(answer, "Export all as CSV")
    second_answer = await desk.ask("List everything", in_thread_of=answer)
    signed = await link_of(desk)
    actor = TurnActor(
        conversation=ConversationId(f"slack:{TEAM}:{desk.general.id}:{answer.thread_ts}"),
        audience=ChannelAudience(
            channel=Subject(f"channel:slack:{TEAM}:{desk.general.id}"), outsiders=OutsiderPresence.NONE
        ),
        person=PersonId(f"slack:{TEAM}:{desk.ada.id}"),
        name="Ada",
    )
    turn = TurnId((answer.metadata or {})["event_payload"]["turn"])
    assert (await desk.bot.turn_actions.load_steps(turn, actor)).steps
    assert (await desk.bot.exports.find_download(signed)).name == f"documents-{SALES_COUNT + RECEIPTS}.csv"

    store = AttachedFileStore(desk.bot.database)
    [file] = await store.list_of_conversation(actor.conversation)
    await store.remove_of_message(actor.conversation, file.message)

    with pytest.raises(AnswerNoLongerVisible):
        await desk.bot.turn_actions.load_steps(turn, actor)
    with pytest.raises(FileGone):
        await desk.bot.exports.find_download(signed)
    click_answer = await desk.click(second_answer, "Attached files")
    assert "may no longer be seen here" in click_answer.visible_text()


async def test_files_expire_a_week_after_their_last_use(slack: SlackServer, tmp_path: Path) -> None:
    clock = Clock(datetime(2031, 5, 9, 12, tzinfo=UTC))
    slack.clock = lambda: clock.now.timestamp()
    async with a_desk(slack, tmp_path / "home", clock=clock) as desk:
        first_answer = await desk.ask("How many rows are in the attached file?", desk.upload_table())
        clock.now += timedelta(days=6)
        second_answer = await desk.ask("What is the total of units?", in_thread_of=first_answer)
        clock.now += timedelta(days=6)
        await desk.bot.attachments.expire_files()
        remaining_files = await stored_file_ids(desk, desk.general, first_answer)
        clock.now += timedelta(days=2)
        expired_count = await desk.bot.attachments.expire_files()
        await desk.bot.attachments.discard_stale_indexes()
        third_answer = await desk.ask("How many documents are there?", in_thread_of=first_answer)

    assert f"{sum(range(1, SALES_COUNT + 1))}" in second_answer.visible_text()
    assert (len(remaining_files), expired_count) == (1, 1)
    assert f"{RECEIPTS} receipts" in third_answer.visible_text()


# -- secrets


async def test_the_token_is_sent_only_to_slacks_own_hosts(desk: AttachmentDesk) -> None:
    lease = desk.upload_lease()
    tokens: list[str | None] = []

    async def elsewhere(request: web.Request) -> web.Response:
        tokens.append(request.headers.get("Authorization"))
        return web.Response(body=LEASE, content_type=PDF)

    async with serve_handler(elsewhere) as origin:
        lease.url = f"{origin}/lease.pdf"
        answer = await desk.ask("What is the notice period?", lease)

    assert tokens == []
    assert "Harbour lease.pdf was not read" in answer.visible_text()


async def test_a_redirect_to_another_host_is_not_followed(desk: AttachmentDesk) -> None:
    lease = desk.upload_lease()
    tokens: list[str | None] = []

    async def elsewhere(request: web.Request) -> web.Response:
        tokens.append(request.headers.get("Authorization"))
        return web.Response(body=LEASE, content_type=PDF)

    async with serve_handler(elsewhere) as origin:
        lease.redirect_url = f"{origin}/lease.pdf"
        answer = await desk.ask("What is the notice period?", lease)

    assert tokens == []
    assert "Harbour lease.pdf was not read" in answer.visible_text()


async def test_a_file_larger_than_announced_is_not_read(desk: AttachmentDesk) -> None:
    large = desk.slack.upload_file(desk.ada, "large.txt", b"x" * (20 * 1024 * 1024 + 1))
    large.length = 100

    answer = await desk.ask("How many receipts are there?", large)

    assert "large.txt was not read: it has over 20 MB" in answer.visible_text()
    assert f"{RECEIPTS} receipts" in answer.visible_text()


async def test_logs_have_no_names_contents_or_tokens(desk: AttachmentDesk, tmp_path: Path) -> None:
    broken = desk.slack.upload_file(desk.ada, "Harbour broken.pdf", b"%PDF-1.4 nonsense", PDF)
    desk.slack.plan_faults("download", *[Fault(status=503)] * 3)
    await desk.ask("What is the notice period?", desk.upload_lease(), broken, desk.upload_table())

    log = (tmp_path / "home" / "logs" / "parley.log").read_text(encoding="utf-8")

    assert "attached file not fetched" in log
    assert "attached file not read" in log
    assert not re.search(r"Harbour|sales\.csv|eleven|North|xoxb|files-pri", log)


async def stored_file_ids(desk: AttachmentDesk, channel: SlackChannel, answer: SlackMessage) -> frozenset[str]:
    conversation = ConversationId(f"slack:{TEAM}:{channel.id}:{answer.thread_ts}")
    return frozenset(
        file.id
        for file in await AttachedFileStore(desk.bot.database).list_of_conversation(conversation)
        if file.fault is None
    )


async def link_of(desk: AttachmentDesk) -> str:
    """A signed link to the newest export."""
    newest = text("SELECT id FROM exports ORDER BY position DESC")
    export = await desk.bot.database.run_read(lambda connection: connection.execute(newest).scalar())
    signer = LinkSigner(desk.bot.settings.secret_keys)
    return signer.sign_link(ExportId(str(export)), desk.bot.database.utc_now() + timedelta(minutes=5))


@asynccontextmanager
async def serve_handler(handler: Callable[[web.Request], Awaitable[web.Response]]) -> AsyncGenerator[str]:
    app = web.Application()
    app.router.add_get("/{rest:.*}", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
