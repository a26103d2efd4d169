"""`parley serve` for one chat product alone, in which every turn that is not answered at once is streamed.

With the real pace there would be almost no streams to break, because the storm's questions are answered in
milliseconds.
"""

import asyncio
import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from aiohttp import web

from adapters.slack.app import SlackSurface
from adapters.slack.posting.api import SlackApi
from adapters.slack.posting.streams import StreamPace
from adapters.slack.settings import SlackSettings
from adapters.slack.workspaces.workspace_registry import SingleWorkspace, build_workspace
from adapters.teams.app import TeamsSurface
from adapters.teams.posting.streams import TeamsStreamPace
from adapters.teams.settings import TeamsSettings
from bot.application import Application
from bot.bootstrap import open_application
from bot.http_server import build_web_app
from bot.metrics.service_metrics import ServiceMetrics
from bot.settings import load_settings
from bot.surface.surface import Surface


async def serve_product(name: str, home: Path) -> None:
    async with AsyncExitStack() as stack:
        bot = await stack.enter_async_context(open_application(load_settings(home, os.environ).settings))
        surface = build_impatient_slack(bot) if name == "slack" else build_impatient_teams(bot)
        bot.register_surface(surface)
        await surface.start()
        stack.push_async_callback(surface.close)
        runner = web.AppRunner(build_web_app(bot, [surface], ServiceMetrics()), access_log=None)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, bot.settings.host, bot.settings.port).start()
        await bot.run_until_stopped(asyncio.Event(), warm_up=True)


def build_impatient_slack(bot: Application) -> Surface:
    slack = bot.settings.section(SlackSettings)
    token, secret = slack.bot_token, slack.signing_secret
    api = SlackApi(token=token.get_secret_value() if token else None, base_url=slack.api_url)
    return SlackSurface(
        accept=bot.accept_inbound,
        administration=bot.administration,
        personal_history=bot.personal_history,
        turn_actions=bot.turn_actions,
        clarifications=bot.clarifications,
        personal_searches=bot.personal_searches,
        reports=bot.admin_reports,
        schemas=bot.schema_edits,
        retention=bot.retention_edits,
        workspaces=SingleWorkspace(
            build_workspace(api, bot.clock, bot.log, pace=StreamPace(patience_s=0, per_minute=600, burst=60))
        ),
        signing_secret=secret.get_secret_value() if secret else None,
        clock=bot.clock,
        log=bot.log,
    )


def build_impatient_teams(bot: Application) -> Surface:
    settings = bot.settings.section(TeamsSettings)
    return TeamsSurface(bot, settings, settings.app_id or "", pace=TeamsStreamPace(patience_s=0.0))


if __name__ == "__main__":
    asyncio.run(serve_product(sys.argv[1], Path(sys.argv[2])))
