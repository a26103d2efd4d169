"""The app is removed while a question waits: the turn ends undelivered and the log records it."""

import json
from pathlib import Path
from typing import Any

import aiohttp
from sqlalchemy import text

from adapters.slack.app import surface as slack_surface
from adapters.slack.workspaces.oauth import REDIRECT_PATH
from bot.application import Application
from bot.bootstrap import open_application
from bot.ids import TurnId
from bot.settings import load_settings
from tests.adapters.slack.conftest import serve_surface
from tests.adapters.slack.workspaces.test_oauth import PUBLIC_URL, InstallingBrowser
from tests.bot.conftest import running_workers, wait_until_finished
from tests.stand_ins.slack.server import SIGNING_SECRET, SlackServer
from tests.stand_ins.slack.workspace import TEAM, SlackMember


async def test_a_question_from_a_workspace_that_removed_the_app_stays_undelivered(tmp_path: Path) -> None:
    async with SlackServer() as slack, aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http:
        slack.installations.clear()
        slack.redirect_urls = frozenset({f"{PUBLIC_URL}{REDIRECT_PATH}"})
        ada = slack.workspace.add_user(SlackMember(id="U1ADA", name="Ada"))
        async with open_application(load_settings(tmp_path, environment_for(slack)).settings) as bot:
            unserved_surface = slack_surface(bot)
            assert unserved_surface is not None
            async with serve_surface(unserved_surface, slack) as surface:
                await InstallingBrowser(slack=slack, http=http).install_app(ada)
                await slack.post_as_person(
                    ada, slack.workspace.direct_channel_of(ada.id), "How many receipts are there?"
                )
                await slack.deliver_event({"type": "app_uninstalled"})
                bot.register_surface(surface)
                async with running_workers(bot):
                    finished_turn = await wait_until_finished(bot, await load_turn_id(bot))

    assert finished_turn.error == "The answer could not be delivered."
    assert slack.workspace.bot_messages() == []
    assert finished_turn.turn in {
        line.get("turn") for line in log_lines(tmp_path, "turn failed") if line["error"] == "OutboxFailed"
    }
    assert [line["team"] for line in log_lines(tmp_path, "slack app removed")] == [TEAM]


def log_lines(home: Path, event: str) -> list[dict[str, Any]]:
    lines = (home / "logs" / "parley.log").read_text(encoding="utf-8").splitlines()
    return [line for line in map(json.loads, lines) if line["event"] == event]


async def load_turn_id(bot: Application) -> TurnId:
    query = text("SELECT id FROM turns")
    return TurnId(await bot.database.run_read(lambda connection: connection.execute(query).scalar_one()))


def environment_for(slack: SlackServer) -> dict[str, str]:
    return {
        "PARLEY_EMBEDDER": "none",
        "PARLEY_PUBLIC_URL": PUBLIC_URL,
        "PARLEY_ACCOUNTS": f"slack:{TEAM}",
        "SLACK_API_URL": slack.api_url,
        "SLACK_CLIENT_ID": slack.client_id,
        "SLACK_CLIENT_SECRET": slack.client_secret,
        "SLACK_SIGNING_SECRET": SIGNING_SECRET,
    }
