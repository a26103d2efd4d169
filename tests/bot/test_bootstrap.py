"""The application on a fresh home, with the real agent and index; and a worker that is killed."""

import asyncio
import os
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from bot.admin.source_kinds.source_kind import SourceRequest
from bot.application import Application
from bot.bootstrap import open_application, run_index_checkup
from bot.http_server import build_web_app
from bot.metrics.service_metrics import ServiceMetrics
from bot.settings import Settings, load_settings
from bot.surface.inbound import TextMessage
from bot.surface.json_codec import reply_to_json
from bot.turns.delivery import TURN_LEASE
from storage.search.errors import IndexUnavailable
from tests.bot.conftest import ConversationDriver, private_audience_of, running_workers, wait_until_finished
from tests.bot.diary import Diary
from tests.bot.fakes import Clock
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema
from tests.stand_ins.labels import LabelExtractor

# What answers, and what surfaces without settings need.
SLOW_MODULES = frozenset(
    "agent.loop agent.rules.reasoner agent.new_topic agent.compose.help bot.dialogue.conversation_dialogue"
    " adapters.slack.app adapters.teams.app matplotlib litellm botbuilder pint wordllama openpyxl".split()
)


@pytest.fixture
def home(tmp_path: Path) -> Settings:
    return load_settings(tmp_path / "home", {"PARLEY_TENANT": TENANT, "PARLEY_EMBEDDER": "none"}).settings


async def fill_index(bot: Application) -> None:
    await bot.index.set_schema(a_receipt_schema())
    documents = [
        a_document(f"r{n:03}", f"tire receipt {n}", vendor=vendor, date=f"2031-0{1 + n % 9}-05")
        for n, vendor in enumerate(["Acme"] * 120 + ["Bolt"] * 30)
    ]
    await bot.index.put(RECEIPTS, documents)


RECEIVING_SCRIPT = """
import asyncio, sys
from pathlib import Path
from bot.bootstrap import open_application, run_index_checkup
from bot.cli.runtime import build_surfaces
from bot.settings import load_settings

async def receive():
    settings = load_settings(Path(sys.argv[1]), {"PARLEY_EMBEDDER": "none"}).settings
    async with open_application(settings, defers_dialogue=True) as bot:
        build_surfaces(bot, exclude="terminal")
    print(*sys.modules)

asyncio.run(receive())
"""


async def test_a_process_that_only_receives_imports_nothing_that_answers_and_no_surface_without_settings(
    tmp_path: Path,
) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", RECEIVING_SCRIPT, str(tmp_path)), stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()

    imported = set(output.decode().split())
    assert "adapters.web.app" in imported
    assert imported.isdisjoint(SLOW_MODULES)


async def test_a_process_that_only_receives_can_answer(home: Settings) -> None:
    async with open_application(home, defers_dialogue=True) as bot:
        await fill_index(bot)

        overload = await ConversationDriver(bot, surface="terminal").ask_question("List every receipt about tires")

    assert overload.result["count"] == 150


async def test_it_is_not_ready_while_no_process_can_answer(home: Settings) -> None:
    can_answer = iter([False, True])
    async with open_application(home, defers_dialogue=True) as bot:
        app = build_web_app(bot, [], ServiceMetrics(), can_answer=lambda: next(can_answer))
        async with TestClient(TestServer(app)) as client:
            answers = [await client.get("/readyz") for _ in range(2)]
            texts = [(answer.status, await answer.text()) for answer in answers]

    assert texts == [(503, "no process is ready to answer\n"), (200, "ready\n")]


async def test_a_given_extractor_reads_what_a_source_brings(home: Settings, tmp_path: Path) -> None:
    folder, extractor = tmp_path / "slips", LabelExtractor()
    folder.mkdir()
    (folder / "slip.txt").write_text("Vendor: Acme")

    async with open_application(home, extractor=extractor) as bot:
        await bot.index.set_schema(a_receipt_schema())
        source = await bot.sources.add_source(SourceRequest(kind="folder", location=str(folder), bucket=RECEIPTS))
        synced = await bot.sources.sync_source(source.id)

    assert (synced.added, len(extractor.titles)) == (1, 1)
    assert bot.extractor is extractor


async def test_a_question_is_asked_narrowed_in_words_and_exported(home: Settings) -> None:
    async with open_application(home) as bot:
        await fill_index(bot)
        talk = ConversationDriver(bot, surface="terminal")
        overload = await talk.ask_question("List every receipt about tires")
        assert (overload.result["outcome"], overload.result["count"]) == ("overload", 150)
        assert (
            sum(
                choice["count"]
                for choice in overload.result["choices"]
                if choice["kind"] in ("filter", "more", "missing")
            )
            == 150
        )

        first_choice = overload.result["choices"][0]
        narrowed = await talk.ask_question(first_choice["label"])
        assert narrowed.result["count"] == first_choice["count"]

        exported = await talk.ask_question("export")
        assert exported.result["files"][0]["rows"] == first_choice["count"]
        assert await bot.readiness.find_problems() == []


async def test_a_person_without_grants_learns_nothing(home: Settings) -> None:
    async with open_application(home) as bot:
        await fill_index(bot)
        refused = await ConversationDriver(bot, audience=private_audience_of("U1"), person="slack:T1:U1").ask_question(
            "List every receipt about tires"
        )

    assert refused.result["outcome"] == "refused"
    assert not any(refused.result[key] for key in ("count", "doc_ids", "choices", "hits", "groups", "files"))


async def test_a_reopened_home_still_has_its_finished_turns(home: Settings) -> None:
    async with open_application(home) as bot:
        await fill_index(bot)
        overload = await ConversationDriver(bot).ask_question("List every receipt about tires")
    async with open_application(home) as bot:
        assert await bot.load_finished_turn(overload.turn) == overload
        filtered = await ConversationDriver(bot).click_choice(overload, overload.result["choices"][0]["label"])

    assert filtered.result["count"] == overload.result["choices"][0]["count"]


async def test_the_error_names_an_index_that_cannot_be_reached(tmp_path: Path) -> None:
    environ = {"PARLEY_INDEX_URL": "http://127.0.0.1:9", "PARLEY_EMBEDDER": "none"}
    settings = load_settings(tmp_path, environ).settings
    with pytest.raises(IndexUnavailable, match=r"127\.0\.0\.1:9"):
        async with open_application(settings):
            pass


_WORKER = """
import asyncio, sys
from pathlib import Path
from bot.bootstrap import open_application, run_index_checkup
from bot.settings import load_settings
from tests.bot.diary import Diary

async def main():
    settings = load_settings(Path(sys.argv[1]), {"PARLEY_TENANT": "test", "PARLEY_EMBEDDER": "none"}).settings
    diary = Diary(settings.home / "chat.jsonl", killed_at=sys.argv[2])
    async with open_application(settings, outboxes={"slack": diary}) as bot:
        await bot.run_until_stopped(asyncio.Event())

asyncio.run(main())
"""


@pytest.mark.parametrize("point", ["post", "update"])
async def test_a_worker_killed_right_after_an_effect_loses_no_reply_and_posts_none_twice(
    home: Settings, point: str
) -> None:
    async with open_application(home) as bot:
        await fill_index(bot)
        turn = await ConversationDriver(bot).accept_body(TextMessage("List every receipt about tires"))
        environ = os.environ | {"PYTHONPATH": str(Path.cwd())}
        worker = await asyncio.create_subprocess_exec(sys.executable, "-c", _WORKER, str(home.home), point, env=environ)
        assert await worker.wait() == -signal.SIGKILL

    diary = Diary(home.home / "chat.jsonl")
    clock = Clock(datetime.now(UTC) + TURN_LEASE)
    async with open_application(home, clock=clock, outboxes={"slack": diary}) as bot, running_workers(bot):
        finished_turn = await wait_until_finished(bot, turn)

    assert finished_turn.result["count"] == 150
    assert diary.latest_replies() == {"m1": reply_to_json(finished_turn.reply)}


@pytest.mark.parametrize(
    "hostile",
    ["receipts \x00 of Acme", "receipts \ud800 of Acme", "\u202e stpiecer", '"' * 50, "((((" * 99, "*?~", "🛞"],
)
async def test_a_hostile_question_gets_an_answer_like_any_other(home: Settings, hostile: str) -> None:
    async with open_application(home) as bot:
        await fill_index(bot)
        finished_turn = await ConversationDriver(bot, name="A\x00\ud800nn").ask_question(hostile)

    assert finished_turn.error is None, finished_turn.cause


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"PARLEY_INDEX_USER": "ann", "PARLEY_INDEX_PASSWORD": "open"}, "Basic YW5uOm9wZW4="),
        ({"PARLEY_INDEX_API_KEY": "os_key"}, "ApiKey os_key"),
        ({"PARLEY_INDEX_AWS_REGION": "eu-central-1"}, "AWS4-HMAC-SHA256"),
        ({}, ""),
    ],
)
async def test_the_settings_say_as_whom_the_index_is_asked(
    variables: dict[str, str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    headers = list[str]()

    async def refuse(request: web.Request) -> web.Response:
        headers.append(request.headers.get("authorization", ""))
        return web.json_response({}, status=401)

    app = web.Application()
    app.router.add_get("/", refuse)
    async with TestServer(app) as server:
        url = str(server.make_url("")).rstrip("/")
        settings = load_settings(tmp_path / "home", {"PARLEY_INDEX_URL": url, **variables}).settings
        [finding] = await run_index_checkup(settings)

    assert "it refuses this user, password or key" in str(finding.fault)
    assert [header.removesuffix(header[len(expected) :]) for header in headers] == [expected]
