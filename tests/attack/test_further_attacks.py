"""Attacks that nobody had listed: by folders that others may write into, by names, by numbers, and by long talks."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.terminal.render import printable_text_of
from bot.application import Application
from bot.bootstrap import open_application
from bot.cli.terminal_text import escape_controls
from bot.conversation.download import ServedFile, download_route_for
from bot.conversation.plan_history import (
    MAX_HISTORY_CHARACTERS,
    MAX_PLAN_CHARACTERS,
    PlanHistory,
    without_large_plan,
)
from bot.http.connections import ConnectionLimits
from bot.ids import ConversationId, TurnId
from bot.settings import load_settings
from storage.embedded.index import EmbeddedIndex
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.ingest.files import OUTSIDE_LINK_REASON
from storage.ingest.pipeline import ingest_files
from storage.ingest.sources.folder import FolderSource
from storage.ingest.sources.source import FetchResult, UnsupportedItem
from storage.quantities.numbers import is_storable_number, parse_number
from storage.quantities.units import convert_unit
from storage.search.ids import BucketId, LegId, TenantId
from storage.search.plan import Leg, ListDocuments, Plan, unfiltered_search_of
from storage.sql.stores.conversations import ConversationState
from storage.text.snowball_analyser import analyser_for
from tests.bot.conftest import ConversationDriver
from tests.bot.http.bounded_server import open_raw, serve_bounded
from tests.cli.conftest import run_parley

ORDERS = "order_id,customer,total,weight\nA1,Ada Ltd,100.50,5 kg\nA2,Bob Ltd,200,7 kg\nA3,Cyd Ltd,300,9 kg\n"
HUGE_NUMBERS = ("9" * 310, "1" + "0" * 400, "9" * 4_500, "1" + ",000" * 200, "12." + "9" * 4_500)


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    index = await EmbeddedIndex.open(tmp_path / "index", tenant=TenantId("t"), analysers=analyser_for, embedder=None)
    yield index
    await index.close()


@pytest.fixture
async def bot(tmp_path: Path, index: EmbeddedIndex) -> AsyncIterator[Application]:
    """Parley with its own reasoner over three orders."""
    orders = tmp_path / "orders.csv"
    orders.write_text(ORDERS, encoding="utf-8")
    await ingest_files(index, [orders], extractor=RuleExtractor(), bucket=BucketId("orders"))
    settings = load_settings(tmp_path / "home", {"PARLEY_TENANT": "t", "PARLEY_EMBEDDER": "none"}).settings
    async with open_application(settings, index=index) as bot:
        yield bot


# -- a folder into which others may write


@pytest.fixture
def shared_folder(tmp_path: Path) -> Path:
    """A folder with a text, and links to a secret beside the folder, by themselves and by way of a folder."""
    folder = tmp_path / "shared"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("The key is xoxb-1.", encoding="utf-8")
    (folder / "lunch.txt").write_text("Lunch is at noon.", encoding="utf-8")
    (folder / "absolute.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "relative.txt").symlink_to("../secret.txt")
    (folder / "inside.txt").symlink_to("lunch.txt")
    (folder / "up").symlink_to(tmp_path)
    return folder


async def test_a_link_out_of_a_folder_is_not_read(index: EmbeddedIndex, shared_folder: Path) -> None:
    for path in (shared_folder, shared_folder / "*" / "secret.txt"):
        report = await ingest_files(index, [path], extractor=RuleExtractor(), bucket=BucketId("b"))
        assert {failure.reason for failure in report.failures} == {OUTSIDE_LINK_REASON}

    states = await index.load_bucket_states()
    assert states[BucketId("b")].document_count == 2  # the text, and the link to it


async def test_a_source_skips_links_out_of_its_folder(tmp_path: Path, shared_folder: Path) -> None:
    source = FolderSource(shared_folder)
    results: dict[str, FetchResult] = {
        item.id: await source.fetch_item(item, "", tmp_path) async for item in source.list_items()
    }

    refused = {name for name, result in results.items() if isinstance(result, UnsupportedItem)}
    assert refused == {"absolute.txt", "relative.txt"}


async def test_a_shared_file_replaces_no_document_of_another_bucket(index: EmbeddedIndex, tmp_path: Path) -> None:
    payroll, shared = tmp_path / "payroll.jsonl", tmp_path / "wiki.jsonl"
    payroll.write_text('{"doc_id": "ada", "text": "Ada earns 90,000."}', encoding="utf-8")
    shared.write_text(
        '{"doc_id": "ada", "text": "Ada earns 1."}\n{"doc_id": "bob", "text": "Bob earns 1.", "bucket": "payroll"}',
        encoding="utf-8",
    )
    await ingest_files(index, [payroll], extractor=RuleExtractor(), bucket=BucketId("payroll"))

    report = await ingest_files(index, [shared], extractor=RuleExtractor(), bucket=BucketId("wiki"))

    states = await index.load_bucket_states()
    assert {name: state.document_count for name, state in states.items()} == {"payroll": 1, "wiki": 1}
    assert [failure.reason.partition(";")[0] for failure in report.failures] == [
        "the id 'ada' belongs to a document elsewhere"
    ]


# -- names that steer a terminal


HOSTILE_NAMES = ("\x1b]0;title\x07", "\x1b[2J\x1b[1;1Hroot#", "\x9b31m", "report\u202efdp.exe", "a\rb", "\x08\x08")


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_no_printed_line_holds_a_control_character(name: str) -> None:
    assert escape_controls(name).isprintable()
    assert printable_text_of(name).isprintable()


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_escaped_json_is_the_same_json(name: str) -> None:
    value = {name: [name, "é\n"]}
    assert json.loads(escape_controls(json.dumps(value, ensure_ascii=False))) == value


def test_the_report_of_an_ingestion_names_a_hostile_file_without_its_control_characters(tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "b\x1b]0;owned\x07.pdf").write_text("no PDF", encoding="utf-8")

    result = run_parley(tmp_path / "home", "ingest", str(folder), "--bucket", "b")

    assert "b\\u001b]0;owned\\u0007.pdf" in result.stderr
    assert "\x1b" not in result.stdout + result.stderr


# -- numbers that no computer number holds


@pytest.mark.parametrize("digits", HUGE_NUMBERS[:4])
def test_a_number_that_is_too_large_is_a_text(digits: str) -> None:
    number = parse_number(digits)
    assert number is None or is_storable_number(number)
    assert parse_number("-" + "9" * 101) is None
    assert parse_number("9" * 100) is not None


def test_a_number_without_a_near_double_has_no_other_unit() -> None:
    number = parse_number("9" * 100)
    assert number is not None
    assert convert_unit(number**4, "kg", "kg") is None
    assert convert_unit(number**4, "t", "kg") is None


@pytest.mark.parametrize("digits", HUGE_NUMBERS)
@pytest.mark.parametrize(
    "question", ["orders with a total over {}", "weight over {} kg", "orders over EUR {}", "total between 5 and {}"]
)
async def test_a_question_with_a_huge_number_is_answered(bot: Application, question: str, digits: str) -> None:
    turn = await ConversationDriver(bot).ask_question(question.format(digits))

    assert turn.error is None


async def test_a_cell_with_a_huge_number_does_not_end_an_ingestion(index: EmbeddedIndex, tmp_path: Path) -> None:
    for number, digits in enumerate(("1e400", "-1e999", "9" * 400, "9" * 5_000)):
        path = tmp_path / f"orders{number}.csv"
        path.write_text(f"{ORDERS}A4,Dee Ltd,{digits},{digits} kg\n", encoding="utf-8")
        report = await ingest_files(index, [path], extractor=RuleExtractor(), bucket=BucketId(f"b{number}"))
        assert (report.added, report.failures) == (4, ())


# -- a conversation that grows with each turn


async def test_a_conversation_that_gathers_too_much_begins_anew_and_says_so(bot: Application) -> None:
    driver = ConversationDriver(bot)
    replies: list[str] = []
    for turn_number in range(10):
        listed = ", ".join(f"C{place + turn_number * 1_000:04d}" for place in range(1_600))
        excluded = " ".join(f"w{place}x{turn_number}" for place in range(1_400))
        messages = (
            f"which of these orders are paid? {listed}",
            f"only those without {excluded}",
            "and by Ada Ltd or " * 550,
        )
        turn = await driver.ask_question(messages[turn_number % 3][:9_990])
        assert turn.error is None
        replies.append(str(turn.reply))

    assert ["more conditions here than I can keep" in reply for reply in replies].count(True) >= 1
    assert "more conditions here" not in replies[0]


def test_a_plan_that_is_too_large_is_not_kept_and_others_are() -> None:
    for length, is_kept in ((100, True), (MAX_PLAN_CHARACTERS, False)):
        history = PlanHistory().with_plan(plan_about("x" * length), TurnId("t1"))
        state = ConversationState(
            conversation=ConversationId("c"), scope_key="s", last_plan=history.to_json(), clarifications_in_a_row=1
        )
        assert (without_large_plan(state) is state) == is_kept
        assert (without_large_plan(state).last_plan is not None) == is_kept


def test_the_history_of_plans_is_bounded_and_keeps_the_latest() -> None:
    history = PlanHistory()
    for number in range(6):
        history = history.with_plan(plan_about(f"{number}" * (MAX_PLAN_CHARACTERS - 1_000)), TurnId(f"t{number}"))

    assert len(json.dumps(history.to_json())) <= MAX_HISTORY_CHARACTERS
    assert history.last_plan == plan_about("5" * (MAX_PLAN_CHARACTERS - 1_000))
    assert len(history.earlier_plans) == 2


def plan_about(question: str) -> Plan:
    leg = Leg(id=LegId("l"), question="", search=unfiltered_search_of(BucketId("orders")), answer_form=ListDocuments())
    return Plan(question=question, legs=(leg,))


# -- downloads that are never read


async def test_downloads_that_nobody_reads_hang_no_other_connection(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,b\n" * 4_000_000)

    async def find_file(signed: str) -> ServedFile:
        return ServedFile(path=path, name="rows.csv")

    limits = ConnectionLimits(total=20, per_caller=20, unproven=5)
    async with serve_bounded([download_route_for(find_file)], limits) as port, contextlib.AsyncExitStack() as readers:
        for _ in range(40):
            connection = await readers.enter_async_context(open_raw(port))
            connection.send_bytes(b"GET /download/x HTTP/1.1\r\nHost: a\r\n\r\n")
            await asyncio.sleep(0.01)  # so that it is closed for another while its file is being sent
        async with asyncio.timeout(20), open_raw(port) as latest:
            latest.send_bytes(b"HEAD /download/x HTTP/1.1\r\nHost: a\r\n\r\n")
            assert await latest.read_status() == 200
