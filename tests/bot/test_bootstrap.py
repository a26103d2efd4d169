"""The bot as it is built on a fresh home, with the real agent and index; and a worker that is killed."""

import asyncio
import os
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.bootstrap import Bot, build_bot
from bot.codec import reply_to_json
from bot.delivery import LEASE
from bot.inbound import Said
from bot.settings import Settings, load_settings
from storage.search.errors import IndexUnavailable
from tests.bot.conftest import Talk, finished, somebody, working
from tests.bot.diary import Diary
from tests.bot.fakes import Clock
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema


@pytest.fixture
def home(tmp_path: Path) -> Settings:
    return load_settings(tmp_path / "home", {"PARLEY_TENANT": TENANT, "PARLEY_EMBEDDER": "none"}).settings


async def filled(bot: Bot) -> None:
    await bot.index.set_schema(a_receipt_schema())
    documents = [
        a_document(f"r{n:03}", f"tire receipt {n}", vendor=vendor, date=f"2031-0{1 + n % 9}-05")
        for n, vendor in enumerate(["Acme"] * 120 + ["Bolt"] * 30)
    ]
    await bot.index.put(RECEIPTS, documents)


async def test_ask_be_asked_back_reply_in_words_and_export(home: Settings) -> None:
    async with build_bot(home) as bot:
        await filled(bot)
        talk = Talk(bot, surface="terminal")
        asked = await talk.say("List every tire receipt")
        assert (asked.result["outcome"], asked.result["count"]) == ("overload", 150)
        assert sum(c["count"] for c in asked.result["choices"] if c["kind"] in ("filter", "more", "missing")) == 150

        first = asked.result["choices"][0]
        narrowed = await talk.say(first["label"])
        assert narrowed.result["count"] == first["count"]

        exported = await talk.say("export")
        assert exported.result["files"][0]["rows"] == first["count"]
        await bot.answers()


async def test_who_is_granted_nothing_is_told_nothing(home: Settings) -> None:
    async with build_bot(home) as bot:
        await filled(bot)
        refused = await Talk(bot, audience=somebody("U1"), person="slack:T1:U1").say("List every tire receipt")

    assert refused.result["outcome"] == "refused"
    assert not any(refused.result[key] for key in ("count", "doc_ids", "choices", "hits", "groups", "files"))


async def test_a_home_is_opened_again_with_all_that_was_said(home: Settings) -> None:
    async with build_bot(home) as bot:
        await filled(bot)
        asked = await Talk(bot).say("List every tire receipt")
    async with build_bot(home) as bot:
        assert await bot.done(asked.turn) == asked
        done = await Talk(bot).click(asked, asked.result["choices"][0]["label"])

    assert done.result["count"] == asked.result["choices"][0]["count"]


async def test_an_index_that_cannot_be_reached_is_named(tmp_path: Path) -> None:
    environ = {"PARLEY_INDEX_URL": "http://127.0.0.1:9", "PARLEY_EMBEDDER": "none"}
    settings = load_settings(tmp_path, environ).settings
    with pytest.raises(IndexUnavailable, match=r"127\.0\.0\.1:9"):
        async with build_bot(settings):
            pass


_WORKER = """
import asyncio, sys
from pathlib import Path
from bot.bootstrap import build_bot
from bot.settings import load_settings
from tests.bot.diary import Diary

async def main():
    settings = load_settings(Path(sys.argv[1]), {"PARLEY_TENANT": "test", "PARLEY_EMBEDDER": "none"}).settings
    diary = Diary(settings.home / "chat.jsonl", killed_at=sys.argv[2])
    async with build_bot(settings, outboxes={"slack": diary}) as bot:
        await bot.work(asyncio.Event())

asyncio.run(main())
"""


@pytest.mark.parametrize("point", ["post", "update"])
async def test_a_worker_killed_right_after_an_effect_loses_nothing_and_says_nothing_twice(
    home: Settings, point: str
) -> None:
    async with build_bot(home) as bot:
        await filled(bot)
        turn = await Talk(bot).accepted(Said("List every tire receipt"))
        environ = os.environ | {"PYTHONPATH": str(Path.cwd())}
        worker = await asyncio.create_subprocess_exec(sys.executable, "-c", _WORKER, str(home.home), point, env=environ)
        assert await worker.wait() == -signal.SIGKILL

    diary = Diary(home.home / "chat.jsonl")
    late = Clock(datetime.now(UTC) + LEASE)
    async with build_bot(home, clock=late, outboxes={"slack": diary}) as bot, working(bot):
        done = await finished(bot, turn)

    assert done.result["count"] == 150
    assert diary.shown() == {"m1": reply_to_json(done.reply)}


@pytest.mark.parametrize(
    "hostile",
    ["receipts \x00 of Acme", "receipts \ud800 of Acme", "\u202e stpiecer", '"' * 50, "((((" * 99, "*?~", "🛞"],
)
async def test_a_hostile_question_gets_an_answer_like_any_other(home: Settings, hostile: str) -> None:
    async with build_bot(home) as bot:
        await filled(bot)
        done = await Talk(bot, name="A\x00\ud800nn").say(hostile)

    assert done.error is None, done.cause
