"""Serves the routes of a bot and of one surface on a free port of this machine."""

import socket
from contextlib import AsyncExitStack
from dataclasses import dataclass

from aiohttp import web

from bot.application import Application
from bot.http_server import build_web_app
from bot.metrics.service_metrics import ServiceMetrics
from bot.surface.surface import Surface


@dataclass(frozen=True, kw_only=True)
class ServedPort:
    """A port that is open before its bot is, because the bot's links name the port."""

    address: str
    listening: socket.socket

    async def serve_surface(self, bot: Application, surface: Surface, stack: AsyncExitStack) -> None:
        """Serves and starts the surface until the stack ends."""
        bot.register_surface(surface)
        runner = web.AppRunner(build_web_app(bot, [surface], ServiceMetrics()), access_log=None)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        await web.SockSite(runner, self.listening).start()
        await surface.start()
        stack.push_async_callback(surface.close)


def open_port(stack: AsyncExitStack) -> ServedPort:
    listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    return ServedPort(address=f"http://127.0.0.1:{listening.getsockname()[1]}", listening=listening)
