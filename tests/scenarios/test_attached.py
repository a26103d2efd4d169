"""Files attached to questions: searched together with the buckets, but only in their conversation."""

import asyncio
import csv
import io
import re
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import text

from agent import loop
from agent.context import AgentContext
from agent.outcome import Outcome
from bot.conversation.download import LinkSigner
from bot.errors import AnswerNoLongerVisible, FileGone
from bot.ids import EVERYONE, BucketId, ExportId, Subject, TurnId
from bot.surface.inbound import Audience, ChannelAudience, OutsiderPresence, PrivateAudience
from bot.turns.turn_actions import TurnActor
from storage.search.errors import IndexUnavailable
from storage.search.plan import Plan
from storage.sql.stores.attachments import AttachedFileStore
from storage.sql.stores.inbox import TurnInbox
from tests.bot.fakes import Clock
from tests.scenarios.attaching import (
    CSV,
    DOCX,
    MAIL,
    PDF,
    SALES_COUNT,
    FileDesk,
    a_csv,
    a_docx,
    a_mail,
    a_pdf,
    open_desk,
    sales_rows,
)
from tests.scenarios.surfaces.abilities import SurfaceAbility
from tests.scenarios.surfaces.office import (
    BotSetup,
    ChatPlace,
    ChatProduct,
    DownloadFailure,
    OfficePerson,
    ReceivedFile,
    ShownAnswer,
)
from tests.scenarios.surfaces.selection import needs

pytestmark = needs(SurfaceAbility.ATTACHMENTS)

RECEIPTS: Final = 24
EXPORT: Final = "Export all as CSV"


@pytest.fixture
async def desk(product: ChatProduct, tmp_path: Path) -> AsyncIterator[FileDesk]:
    async with open_desk(product, tmp_path / "home") as desk:
        yield desk


def rows_of(file: ReceivedFile) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file.content.decode("utf-8-sig"))))


# -- read


async def test_a_mail_is_read_with_its_head_and_the_text_of_its_attachments(desk: FileDesk) -> None:
    lease = ("lease.pdf", a_pdf("The notice period of the boathouse is nine weeks."))
    text = "The Heron will be repainted in blue at Whitsun."
    mail = a_mail(sender="Mara Quill <mara@mills.example>", subject="Boathouse", text=text, attached=lease)
    offer = await desk.upload("offer.eml", mail, MAIL)

    repainted = await desk.ask("Which colour will the Heron be repainted in?", offer)
    notice = await desk.ask("What is the notice period of the boathouse?", in_thread_of=repainted)

    assert "repainted in blue at Whitsun" in repainted.text
    assert "nine weeks" in notice.text


async def test_a_pdf_is_quoted_with_its_name_its_page_and_its_link(desk: FileDesk) -> None:
    lease = await desk.upload_lease()

    answer = await desk.ask("What is the notice period?", lease)

    assert "notice period of eleven months" in answer.text
    assert "Harbour lease.pdf, page 2" in answer.text
    assert lease.link in {link.partition("#")[0] for link in answer.links}  # a link may name the page


async def test_a_later_question_in_the_conversation_still_has_the_file(desk: FileDesk) -> None:
    first_answer = await desk.ask("What is the notice period?", await desk.upload_lease())

    download_count = desk.office.driver.count_downloads()

    second_answer = await desk.ask("What deposit does the tenant pay?", in_thread_of=first_answer)

    assert "7,300 euros" in second_answer.text
    assert "page 3" in second_answer.text
    assert desk.office.driver.count_downloads() == download_count > 0


@pytest.mark.parametrize(
    ("name", "content", "media_type"),
    [
        ("memo.docx", a_docx("Memo", "The picnic takes place on the roof terrace."), DOCX),
        ("memo.txt", b"The picnic takes place on the roof terrace.", "text/plain"),
        pytest.param(
            "memo",
            b"The picnic takes place on the roof terrace.",
            "text/plain",
            marks=needs(SurfaceAbility.MEDIA_TYPES),
        ),
        ("memo.md", b"# Memo\n\nThe picnic takes place on the roof terrace.", "text/markdown"),
        ("memo.html", b"<h1>Memo</h1><p>The picnic takes place on the roof terrace.</p>", "text/html"),
    ],
)
async def test_documents_of_other_kinds_are_read(desk: FileDesk, name: str, content: bytes, media_type: str) -> None:
    answer = await desk.ask("Where does the picnic take place?", await desk.upload(name, content, media_type))

    assert "roof terrace" in answer.text
    assert f"] {name}" in answer.text


@pytest.mark.parametrize(
    "name",
    [
        "<!channel> <at>Bob</at> *q3* `x` | #|.txt",
        "../../etc/passwd.txt",
        "\u202etxt.exe.txt",
        "n" * 251 + ".txt",
        ".txt",
        "  .txt",
        "%00.txt",
    ],
)
async def test_a_file_with_a_hostile_name_is_read_and_its_name_is_escaped(desk: FileDesk, name: str) -> None:
    hostile = await desk.upload(name, b"The picnic takes place on the roof terrace.")

    answer = await desk.ask("Where does the picnic take place?", hostile)

    assert "roof terrace" in answer.text
    assert "not read" not in answer.text


async def test_this_document_means_the_file_attached_to_the_question(desk: FileDesk) -> None:
    answer = await desk.ask("Summarize this document", await desk.upload_lease())

    assert "Harbour lease.pdf" in answer.text
    assert "Receipt" not in answer.text


async def test_a_file_without_a_question_is_read_for_later_questions(desk: FileDesk) -> None:
    private = desk.office.private_place_of(desk.office.ada)

    received = await desk.ask("", await desk.upload_lease(), place=private)
    answer = await desk.ask("What deposit does the tenant pay?", in_thread_of=received)

    assert received.text == "I have read Harbour lease.pdf. What would you like to know about it?"
    assert "7,300 euros" in answer.text


# -- counted


async def test_rows_of_a_table_are_counted_and_summed_alone_and_with_the_buckets(desk: FileDesk) -> None:
    together = await desk.ask("How many documents are there?", await desk.upload_table())
    alone = await desk.ask("How many rows are in the attached file?", in_thread_of=together)
    total = await desk.ask("What is the total of units?", in_thread_of=together)
    north = await desk.ask("How many rows have region North?", in_thread_of=together)
    receipts = await desk.ask("How many receipts are there?", in_thread_of=together)

    assert f"{SALES_COUNT} attached rows" in alone.text
    assert f"{sum(range(1, SALES_COUNT + 1))}" in total.text
    assert f"{SALES_COUNT // 3} attached rows" in north.text
    assert f"{RECEIPTS} receipts" in receipts.text
    assert f"{SALES_COUNT + RECEIPTS} documents" in together.text


async def test_a_file_name_selects_the_rows_of_one_of_two_tables(desk: FileDesk) -> None:
    tables = [await desk.upload_table(), await desk.upload_table("returns.csv", 7)]
    sales_answer = await desk.ask("How many rows are in sales.csv?", *tables)
    returns_answer = await desk.ask("How many rows are in returns.csv?", in_thread_of=sales_answer)
    total_answer = await desk.ask("How many attached rows are there?", in_thread_of=sales_answer)

    assert f"{SALES_COUNT} attached rows" in sales_answer.text
    assert "7 attached rows" in returns_answer.text
    assert f"{SALES_COUNT + 7} attached rows" in total_answer.text


async def test_the_same_file_twice_counts_once(desk: FileDesk) -> None:
    first_answer = await desk.ask("How many rows are in the attached file?", await desk.upload_table())

    second_answer = await desk.ask(
        "How many attached rows are there?", await desk.upload_table("copy.csv"), in_thread_of=first_answer
    )

    assert f"{SALES_COUNT} attached rows" in second_answer.text


async def test_a_clarification_counts_attached_rows_and_its_click_finds_them(desk: FileDesk) -> None:
    offer = await desk.ask("List everything", await desk.upload_table())
    count_by_label = offer.count_by_label
    export_count = count_by_label.pop(EXPORT)

    assert export_count == SALES_COUNT + RECEIPTS
    assert count_by_label == {"Attached files": SALES_COUNT, "Receipts": RECEIPTS}

    narrowed = await desk.office.click(offer, "Attached files", by=desk.colleague)
    clicked_offer = await desk.office.reload(offer)

    assert narrowed.count_by_label[EXPORT] == SALES_COUNT
    assert clicked_offer is not None
    assert f"Attached files — chosen by {desk.colleague.name}" in clicked_offer.text
    assert "was" not in narrowed.text


async def test_an_export_has_the_attached_rows(desk: FileDesk) -> None:
    offer = await desk.ask("List everything", await desk.upload_table())

    exported = await desk.office.click(offer, EXPORT)

    [file] = await desk.office.list_files()
    rows = rows_of(file)
    assert f"{SALES_COUNT + RECEIPTS} rows" in exported.text
    assert sorted(row["Order"] for row in rows if row["Order"]) == [row["order"] for row in sales_rows()]
    assert len(rows) == SALES_COUNT + RECEIPTS


@needs(SurfaceAbility.PEOPLE)
async def test_a_person_without_grants_gets_answers_only_from_the_file(desk: FileDesk) -> None:
    bob = desk.office.bob
    private, table = desk.office.private_place_of(bob), await desk.upload_table(by=bob)

    answer = await desk.ask("How many documents are there?", table, by=bob, place=private)

    assert f"{SALES_COUNT} " in answer.text


@needs(SurfaceAbility.CHANNEL_ATTACHMENTS)
async def test_a_channel_without_grants_gets_answers_only_from_the_file(desk: FileDesk) -> None:
    quoted = await desk.ask("What is the notice period?", await desk.upload_lease(), place=desk.office.lobby)

    assert "eleven months" in quoted.text


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

Reader = Callable[[FileDesk], tuple[OfficePerson, ChatPlace]]
READERS: Final[dict[str, Reader]] = {
    "another thread of the channel": lambda desk: (desk.office.ada, desk.place),
    "the channel": lambda desk: (desk.office.ada, desk.office.general),
    "another channel": lambda desk: (desk.office.ada, desk.office.lobby),
    "the asker's private chat": lambda desk: (desk.office.ada, desk.office.private_place_of(desk.office.ada)),
    "another person's private chat": lambda desk: (desk.office.bob, desk.office.private_place_of(desk.office.bob)),
}


@pytest.mark.parametrize(
    "reader",
    [
        pytest.param("another thread of the channel", marks=needs(SurfaceAbility.CHANNEL_ATTACHMENTS)),
        pytest.param("the channel", marks=needs(SurfaceAbility.CHANNELS)),
        pytest.param("another channel", marks=needs(SurfaceAbility.CHANNELS)),
        pytest.param("the asker's private chat", marks=needs(SurfaceAbility.CHANNEL_ATTACHMENTS)),
        pytest.param("another person's private chat", marks=needs(SurfaceAbility.PEOPLE)),
    ],
)
async def test_no_other_conversation_sees_anything_of_the_file(desk: FileDesk, reader: str) -> None:
    await desk.office.bot.grants.grant_bucket_access(BucketId("receipts"), EVERYONE, by="operator")
    await desk.office.grant(BucketId("receipts"), desk.office.general)
    files = [await desk.upload_table(), await desk.upload_lease()]
    first_answer = await desk.ask("How many documents are there?", *files)
    assert f"{SALES_COUNT + RECEIPTS + 1} documents" in first_answer.text
    person, place = READERS[reader](desk)

    answers = {leak: await desk.ask(question, by=person, place=place) for leak, question in LEAKS.items()}

    quoted = {leak: re.sub(r"“[^”]*”", "", answer.text) for leak, answer in answers.items()}  # without the question
    shown_texts = {leak: [*answer.count_by_label, quoted[leak]] for leak, answer in answers.items()}
    leaked = {leak: [text for text in words if SECRETS.search(text)] for leak, words in shown_texts.items()}
    assert {leak: words for leak, words in leaked.items() if words} == {}
    assert f"{RECEIPTS} " in answers["count"].text


@needs(SurfaceAbility.CHANNELS)
async def test_files_of_a_private_chat_are_not_searched_in_channels(desk: FileDesk) -> None:
    private = desk.office.private_place_of(desk.office.ada)
    private_answer = await desk.ask("What is the notice period?", await desk.upload_lease(), place=private)
    assert "eleven months" in private_answer.text

    channel_answer = await desk.ask("What is the notice period?", place=desk.office.general)

    assert "eleven" not in channel_answer.text


@needs(SurfaceAbility.PRIVATE_THREADS)
async def test_files_of_a_private_thread_are_not_searched_in_other_threads(desk: FileDesk) -> None:
    private = desk.office.private_place_of(desk.office.ada)
    private_answer = await desk.ask("What is the notice period?", await desk.upload_lease(), place=private)
    assert "eleven months" in private_answer.text

    other_thread_answer = await desk.ask("What is the notice period?", place=private)

    assert "eleven" not in other_thread_answer.text


async def test_the_file_is_not_listed_as_a_bucket_or_in_the_persons_overview(desk: FileDesk) -> None:
    offer = await desk.ask("List everything", await desk.upload_table())
    await desk.office.click(offer, EXPORT)

    audience = PrivateAudience(person=desk.office.ada.id)
    overview = await desk.office.bot.personal_history.load_overview(audience, max_buckets=10)

    assert [*await desk.office.bot.index.load_bucket_states()] == [BucketId("receipts")]
    assert {bucket.title for bucket in overview.buckets} <= {"Receipts"}
    assert [(export.name, export.rows, export.url) for export in overview.exports] == [(None, None, None)]


@needs(SurfaceAbility.PEOPLE)
async def test_another_audience_may_not_read_the_file(desk: FileDesk) -> None:
    private = desk.office.private_place_of(desk.office.ada)
    answer = await desk.ask("What is the notice period?", await desk.upload_lease(), place=private)
    ada, bob = (PrivateAudience(person=person.id) for person in (desk.office.ada, desk.office.bob))

    attachments = desk.office.bot.attachments
    assert len(await attachments.readable_file_ids(answer.conversation, ada)) == 1
    assert await attachments.readable_file_ids(answer.conversation, bob) == frozenset()


@needs(SurfaceAbility.DEACTIVATION)
async def test_a_deactivated_person_may_not_read_the_file(product: ChatProduct, tmp_path: Path) -> None:
    """At the latest when the product's directory is asked again: not every product tells of a deactivation."""
    clock = Clock(datetime(2031, 5, 9, 12, tzinfo=UTC))
    async with open_desk(product, tmp_path / "home", BotSetup(clock=clock)) as desk:
        ada = desk.office.ada
        private, audience = desk.office.private_place_of(ada), PrivateAudience(person=ada.id)
        answer = await desk.ask("What is the notice period?", await desk.upload_lease(), place=private)
        assert await desk.office.bot.attachments.readable_file_ids(answer.conversation, audience)

        await desk.office.driver.deactivate_person(ada)
        clock.now += timedelta(hours=1)

        assert await desk.office.bot.attachments.readable_file_ids(answer.conversation, audience) == frozenset()


@needs(SurfaceAbility.CHANNEL_ATTACHMENTS, SurfaceAbility.PRIVATE_CONTINUATION)
async def test_continuing_in_private_keeps_the_files(desk: FileDesk) -> None:
    private = desk.office.private_place_of(desk.office.ada)
    await desk.office.grant(BucketId("receipts"), private)
    offer = await desk.ask("How many documents are there?", await desk.upload_table(), place=desk.office.lobby)
    assert f"{SALES_COUNT} " in offer.text

    await desk.office.driver.click_choice(desk.office.ada, offer, offer.find_choice("Continue in private"))
    answer = await desk.office.wait_for_answer_with(f"{SALES_COUNT + RECEIPTS} documents")

    assert answer.place == private


# -- not read


BROKEN: Final = {
    "broken.pdf": (b"%PDF-1.4 nonsense", PDF, "it is broken"),
    "empty.txt": (b" ", "text/plain", "it is empty"),
    "scan.pdf": (a_pdf(""), PDF, "it has no text"),
    "broken.docx": (b"PK nonsense", DOCX, "it is"),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_an_unreadable_file_is_named_with_the_reason_and_the_other_file_is_used(
    desk: FileDesk, name: str
) -> None:
    content, media_type, reason = BROKEN[name]
    broken = await desk.upload(name, content, media_type)

    answer = await desk.ask("What is the notice period?", broken, await desk.upload_lease())
    later = await desk.ask("What deposit does the tenant pay?", in_thread_of=answer)

    assert f"The attached {name} was not read: {reason}" in answer.text
    assert "eleven months" in answer.text
    assert "not read" not in later.text
    assert "7,300" in later.text


async def test_unreadable_rows_are_reported_with_the_answer(desk: FileDesk) -> None:
    content = a_csv(sales_rows(30)) + b"SO-1,North,5,Seller 1,more,than,columns\n"

    answer = await desk.ask("How many rows are in the attached file?", await desk.upload("sales.csv", content, CSV))

    assert "30 attached rows" in answer.text
    assert "1 of its rows could not be read (line 32: it has 7 values for 4 columns)" in answer.text


async def test_unsupported_files_are_not_fetched(desk: FileDesk) -> None:
    answer = await desk.ask("How many receipts are there?", await desk.upload("all.zip", b"PK", "application/zip"))

    assert "The attached all.zip was not read: I read PDF, Word" in answer.text
    assert f"{RECEIPTS} receipts" in answer.text
    assert desk.office.driver.count_downloads() == 0


async def test_a_file_that_is_too_large_is_not_read(desk: FileDesk) -> None:
    large = await desk.upload("large.txt", b"x" * (20 * 1024 * 1024 + 1))

    answer = await desk.ask("How many receipts are there?", large)

    assert re.search(r"large\.txt was not read: (it has over 20 MB|I read PDF, .* of 20 MB at most)", answer.text)
    assert f"{RECEIPTS} receipts" in answer.text


async def test_of_eleven_files_ten_are_read_and_the_last_is_reported(desk: FileDesk) -> None:
    tables = [await desk.upload_table(f"{number}.csv", number + 1) for number in range(11)]

    answer = await desk.ask("How many attached rows are there?", *tables)
    later_answer = await desk.ask(
        "How many attached rows are there?", await desk.upload_table("more.csv", 50), in_thread_of=answer
    )

    assert "The attached 10.csv was not read" in answer.text
    assert f"{sum(range(1, 11))} attached rows" in answer.text
    assert "more.csv was not read: there are 10 files in this conversation already" in later_answer.text
    assert f"{sum(range(1, 11))} attached rows" in later_answer.text


# -- faults


@pytest.mark.parametrize(
    "failures",
    [
        [DownloadFailure()],
        [DownloadFailure(status=503)],
        [DownloadFailure(status=429, retry_after_s=2)],
        [DownloadFailure(status=500), DownloadFailure()],
    ],
    ids=["cut", "unavailable", "busy", "twice"],
)
async def test_a_failed_download_is_retried(desk: FileDesk, failures: list[DownloadFailure]) -> None:
    desk.office.driver.fail_downloads(*failures)

    answer = await desk.ask("What is the notice period?", await desk.upload_lease())

    assert "eleven months" in answer.text


async def test_a_lasting_failure_is_reported_with_the_answer(desk: FileDesk) -> None:
    desk.office.driver.fail_downloads(*[DownloadFailure(status=503)] * 3)

    answer = await desk.ask("How many receipts are there?", await desk.upload_lease())

    assert re.search(r"Harbour lease\.pdf was not read: (\w+ did not hand it over|it was not handed over)", answer.text)
    assert f"{RECEIPTS} receipts" in answer.text


class FailingAgent:
    """The agent with errors or delays in its first answers."""

    def __init__(self, *troubles: Exception) -> None:
        self.errors, self.is_waiting = list(troubles), asyncio.Event()
        self.is_slow, self.inner = False, loop
        self.desk: FileDesk | None = None
        self.download_counts: list[int] = []  # when each answer was begun; the files are read by then

    async def answer(self, question: str, context: AgentContext) -> Outcome:
        if self.desk is not None:
            self.download_counts.append(self.desk.office.driver.count_downloads())
        if self.errors:
            raise self.errors.pop(0)
        if self.is_slow:
            self.is_waiting.set()
            await asyncio.Event().wait()
        return await self.inner.answer(question, context)

    async def resume(self, plan: Plan, context: AgentContext) -> Outcome:
        return await self.inner.resume(plan, context)

    apply_search_by_meaning = staticmethod(loop.apply_search_by_meaning)


async def test_another_worker_uses_the_file_of_a_worker_that_ended(product: ChatProduct, tmp_path: Path) -> None:
    slow = FailingAgent()
    slow.is_slow = True
    async with open_desk(product, tmp_path / "home", BotSetup(agent=slow, with_workers=False)) as desk:
        question = "What is the notice period?"
        await desk.office.send(question, await desk.upload_lease(), place=desk.place)
        bot = desk.office.bot
        [claimed] = await TurnInbox(bot.database).claim_due_turns("first", timedelta(seconds=30))
        turn = asyncio.create_task(bot.turn_processor.process_turn(claimed))
        await slow.is_waiting.wait()
        download_count = desk.office.driver.count_downloads()
        turn.cancel()
        await asyncio.wait([turn])

    async with open_desk(product, tmp_path / "home") as desk:
        await desk.office.wait_until_quiet()
        [answer] = await desk.office.list_answers()

        assert "eleven months" in answer.text
        assert desk.office.driver.count_downloads() == download_count > 0


async def test_a_retried_turn_does_not_fetch_its_files_again(product: ChatProduct, tmp_path: Path) -> None:
    agent = FailingAgent(IndexUnavailable("index", "down"))
    async with open_desk(product, tmp_path / "home", BotSetup(agent=agent)) as desk:
        agent.desk = desk
        broken = await desk.upload("broken.pdf", b"%PDF-1.4 nonsense", PDF)

        answer = await desk.ask("What is the notice period?", await desk.upload_lease(), broken)

        assert "eleven months" in answer.text
        assert "broken.pdf was not read: it is broken" in answer.text
        assert len(await desk.office.list_answers()) == 1
        [first_count, second_count] = agent.download_counts
        assert first_count == second_count > 0


async def test_after_a_restart_the_conversation_still_has_its_files(product: ChatProduct, tmp_path: Path) -> None:
    async with open_desk(product, tmp_path / "home") as desk:
        first_answer = await desk.ask("How many rows are in the attached file?", await desk.upload_table())
        download_count = desk.office.driver.count_downloads()

    assert [path for path in (tmp_path / "home" / "attached").iterdir() if path.is_dir()] == []
    async with open_desk(product, tmp_path / "home") as desk:
        second_answer = await desk.ask("What is the total of units?", in_thread_of=first_answer)

        assert f"{sum(range(1, SALES_COUNT + 1))}" in second_answer.text
        assert desk.office.driver.count_downloads() == download_count > 0


async def test_a_click_after_a_restart_has_the_count_of_its_button(product: ChatProduct, tmp_path: Path) -> None:
    async with open_desk(product, tmp_path / "home") as desk:
        offer = await desk.ask("List all attached rows", await desk.upload_table())
        label, count = next(iter(offer.count_by_label.items()))

    async with open_desk(product, tmp_path / "home") as desk:
        narrowed = await desk.office.click(offer, label)

    assert f"{count} attached rows" in narrowed.text


# -- removed files


@needs(SurfaceAbility.EDITS)
async def test_deleting_a_message_removes_its_files(desk: FileDesk) -> None:
    private, question = desk.office.private_place_of(desk.office.ada), "How many attached rows are there?"
    first_answer = await desk.ask("Hello?", place=private)
    message = await desk.office.send(question, await desk.upload_table(), in_thread_of=first_answer)
    second_answer = await desk.office.wait_for_answer_with(f"{SALES_COUNT} attached rows")
    await desk.office.wait_until_quiet()

    await desk.office.driver.delete_message(message)
    await desk.office.wait_until_quiet()
    third_answer = await desk.ask(question, in_thread_of=first_answer)

    assert await desk.office.reload(second_answer) is None
    assert str(SALES_COUNT) not in third_answer.text
    assert await stored_file_ids(desk, first_answer) == frozenset()


@needs(SurfaceAbility.EDITS)
async def test_an_edited_question_keeps_its_files(desk: FileDesk) -> None:
    private = desk.office.private_place_of(desk.office.ada)
    message = await desk.office.send("How many receipts are there?", await desk.upload_table(), place=private)
    await desk.office.wait_until_quiet()
    download_count = desk.office.driver.count_downloads()

    await desk.office.driver.edit_text(message, "What is the total of units?")
    await desk.office.wait_until_quiet()

    [answer] = await desk.office.list_answers()
    assert f"{sum(range(1, SALES_COUNT + 1))}" in answer.text
    assert desk.office.driver.count_downloads() == download_count > 0


@needs(SurfaceAbility.EDITS, SurfaceAbility.REMOVABLE_ATTACHMENTS)
async def test_a_file_removed_from_its_message_is_no_longer_searched(desk: FileDesk) -> None:
    private, table = desk.office.private_place_of(desk.office.ada), await desk.upload_table()
    question = "How many documents are there?"
    message = await desk.office.send(question, table, await desk.upload_lease(), place=private)
    answer = await desk.office.wait_for_answer_with(f"{SALES_COUNT + 1} attached documents")
    await desk.office.wait_until_quiet()

    await desk.office.driver.remove_file(message, table)
    await desk.office.wait_until_quiet()

    changed_answer = await desk.office.reload(answer)
    assert changed_answer is not None
    assert re.search(r"(?<!\d)1 attached document\b", changed_answer.text)
    assert len(await stored_file_ids(desk, answer)) == 1


@needs(SurfaceAbility.CHANGED_MESSAGES)
async def test_an_answer_and_its_export_are_hidden_after_their_file_is_removed(desk: FileDesk) -> None:
    bot = desk.office.bot
    answer = await desk.ask("List everything", await desk.upload_table())
    await desk.office.click(answer, EXPORT)
    second_answer = await desk.ask("List everything", in_thread_of=answer)
    signed, turn = await link_of(desk), await first_turn_of(desk)
    ada = desk.office.ada
    actor = TurnActor(
        conversation=answer.conversation, audience=audience_at(desk, answer.place), person=ada.id, name=ada.name
    )
    assert (await bot.turn_actions.load_steps(turn, actor)).steps
    assert (await bot.exports.find_download(signed)).name == f"documents-{SALES_COUNT + RECEIPTS}.csv"

    store = AttachedFileStore(bot.database)
    [file] = await store.list_of_conversation(actor.conversation)
    await store.remove_of_message(actor.conversation, file.message)

    with pytest.raises(AnswerNoLongerVisible):
        await bot.turn_actions.load_steps(turn, actor)
    with pytest.raises(FileGone):
        await bot.exports.find_download(signed)
    click_answer = await desk.office.click(second_answer, "Attached files")
    assert "may no longer be seen here" in click_answer.text


async def test_files_expire_a_week_after_their_last_use(product: ChatProduct, tmp_path: Path) -> None:
    clock = Clock(datetime(2031, 5, 9, 12, tzinfo=UTC))
    async with open_desk(product, tmp_path / "home", BotSetup(clock=clock)) as desk:
        first_answer = await desk.ask("How many rows are in the attached file?", await desk.upload_table())
        clock.now += timedelta(days=6)
        second_answer = await desk.ask("What is the total of units?", in_thread_of=first_answer)
        clock.now += timedelta(days=6)
        await desk.office.bot.attachments.expire_files()
        remaining_files = await stored_file_ids(desk, first_answer)
        clock.now += timedelta(days=2)
        expired_count = await desk.office.bot.attachments.expire_files()
        await desk.office.bot.attachments.discard_stale_indexes()
        third_answer = await desk.ask("How many documents are there?", in_thread_of=first_answer)

    assert f"{sum(range(1, SALES_COUNT + 1))}" in second_answer.text
    assert (len(remaining_files), expired_count) == (1, 1)
    assert f"{RECEIPTS} receipts" in third_answer.text


async def test_logs_have_no_names_contents_or_tokens(desk: FileDesk, tmp_path: Path) -> None:
    broken = await desk.upload("Harbour broken.pdf", b"%PDF-1.4 nonsense", PDF)
    lease, table = await desk.upload_lease(), await desk.upload_table()
    desk.office.driver.fail_downloads(*[DownloadFailure(status=503)] * 3)
    await desk.ask("What is the notice period?", lease, broken, table)

    log = (tmp_path / "home" / "logs" / "parley.log").read_text(encoding="utf-8")

    assert "attached file not fetched" in log
    assert "attached file not read" in log
    assert not re.search(r"Harbour|sales\.csv|eleven|North|xoxb|files-pri|tempauth|Bearer", log)


def audience_at(desk: FileDesk, place: ChatPlace) -> Audience:
    """The readers of the place, without outsiders."""
    if place.owner is not None:
        return PrivateAudience(person=place.owner.id)
    return ChannelAudience(channel=Subject(str(desk.office.driver.subject_of(place))), outsiders=OutsiderPresence.NONE)


async def first_turn_of(desk: FileDesk) -> TurnId:
    return TurnId(await load_value(desk, "SELECT id FROM turns ORDER BY position"))


async def stored_file_ids(desk: FileDesk, answer: ShownAnswer) -> frozenset[str]:
    stored_files = await AttachedFileStore(desk.office.bot.database).list_of_conversation(answer.conversation)
    return frozenset(file.id for file in stored_files if file.fault is None)


async def link_of(desk: FileDesk) -> str:
    """A signed link to the newest export."""
    export = await load_value(desk, "SELECT id FROM exports ORDER BY position DESC")
    bot = desk.office.bot
    signer = LinkSigner(bot.settings.secret_keys)
    return signer.sign_link(ExportId(export), bot.database.utc_now() + timedelta(minutes=5))


async def load_value(desk: FileDesk, query: str) -> str:
    """The first column of the first row."""

    def execute_query(connection: Any) -> str:
        return str(connection.execute(text(query)).scalars().first())

    return await desk.office.bot.database.run_read(execute_query)
