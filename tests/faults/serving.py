"""`parley serve` for Slack alone, in which a turn that is not answered at once has its work streamed.

Real patience would leave hardly a stream to break: the storm's questions are answered in milliseconds.
"""

import asyncio
import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from aiohttp import web

from adapters.slack.api import SlackApi
from adapters.slack.app import SlackSurface
from adapters.slack.streams import Pace
from adapters.slack.workspaces import OneWorkspace, workspace_with
from bot.bootstrap import Bot, build_bot
from bot.http import application
from bot.metrics import Metrics
from bot.settings import load_settings

AT_ONCE: Final = Pace(patience_s=0, a_minute=600, at_once=60)


async def serve(home: Path) -> None:
    async with AsyncExitStack() as stack:
        bot = await stack.enter_async_context(build_bot(load_settings(home, os.environ).settings))
        surface = impatient(bot)
        bot.register(surface)
        await surface.start()
        stack.push_async_callback(surface.close)
        runner = web.AppRunner(application(bot, [surface], Metrics()), access_log=None)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, bot.settings.host, bot.settings.port).start()
        await bot.work(asyncio.Event(), prepare=True)


def impatient(bot: Bot) -> SlackSurface:
    token, secret = bot.settings.slack_bot_token, bot.settings.slack_signing_secret
    api = SlackApi(token=token.get_secret_value() if token else None, base_url=bot.settings.slack_api_url)
    return SlackSurface(
        accept=bot.accept,
        administration=bot.administration,
        personal=bot.personal,
        afterwards=bot.afterwards,
        clarifications=bot.clarifications,
        workspaces=OneWorkspace(
            workspace_with(api, bot.clock, bot.log, pace=Pace(patience_s=0, a_minute=600, at_once=60))
        ),
        signing_secret=secret.get_secret_value() if secret else None,
        clock=bot.clock,
        log=bot.log,
    )


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
