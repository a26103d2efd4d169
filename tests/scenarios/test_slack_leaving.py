"""The app is removed while a question waits: its turn ends undelivered, and the log says so."""

import json
from pathlib import Path
from typing import Any

import aiohttp
from sqlalchemy import text

from adapters.slack.app import surface as slack_surface
from adapters.slack.install import REDIRECT
from bot.bootstrap import Bot, build_bot
from bot.ids import TurnId
from bot.settings import load_settings
from tests.adapters.slack.conftest import served
from tests.adapters.slack.test_install import BASE, Browser
from tests.bot.conftest import finished, working
from tests.stand_ins.slack.server import SIGNING_SECRET, SlackServer
from tests.stand_ins.slack.workspace import TEAM, User


async def test_a_question_of_where_the_app_was_removed_ends_undelivered(tmp_path: Path) -> None:
    async with SlackServer() as slack, aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http:
        slack.installations.clear()
        slack.redirect_urls = frozenset({f"{BASE}{REDIRECT}"})
        ada = slack.workspace.add_user(User(id="U1ADA", name="Ada"))
        async with build_bot(load_settings(tmp_path, environ(slack)).settings) as bot:
            built = slack_surface(bot)
            assert built is not None
            async with served(built, slack) as surface:
                await Browser(slack=slack, http=http).install(ada)
                await slack.say(ada, slack.workspace.direct(ada.id), "How many receipts are there?")
                await slack.deliver_event({"type": "app_uninstalled"})
                bot.register(surface)
                async with working(bot):
                    done = await finished(bot, await the_turn(bot))

    assert done.error == "The answer could not be delivered."
    assert slack.workspace.answers() == []
    assert done.turn in {
        line.get("turn") for line in logged(tmp_path, "turn failed") if line["error"] == "OutboxFailed"
    }
    assert [line["team"] for line in logged(tmp_path, "slack app removed")] == [TEAM]


def logged(home: Path, event: str) -> list[dict[str, Any]]:
    lines = (home / "logs" / "parley.log").read_text(encoding="utf-8").splitlines()
    return [line for line in map(json.loads, lines) if line["event"] == event]


async def the_turn(bot: Bot) -> TurnId:
    asked = text("SELECT id FROM turns")
    return TurnId(await bot.database.read(lambda connection: connection.execute(asked).scalar_one()))


def environ(slack: SlackServer) -> dict[str, str]:
    return {
        "PARLEY_EMBEDDER": "none",
        "PARLEY_PUBLIC_URL": BASE,
        "PARLEY_ACCOUNTS": f"slack:{TEAM}",
        "SLACK_API_URL": slack.api_url,
        "SLACK_CLIENT_ID": slack.client_id,
        "SLACK_CLIENT_SECRET": slack.client_secret,
        "SLACK_SIGNING_SECRET": SIGNING_SECRET,
    }
