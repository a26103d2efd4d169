"""The one HTTP port: the routes of the surfaces, downloads, health checks and metrics."""

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Final

from aiohttp import web

from bot.errors import BotError
from bot.turns.metrics import CONTENT_TYPE, TurnMetrics
from bot.turns.turn_processor import sentence_for
from storage.search.errors import SearchError
from storage.sql.errors import SqlError

if TYPE_CHECKING:
    from bot.application import Application
    from bot.surface.surface import Surface

_MAX_BODY_BYTES: Final = 4 * 1024 * 1024  # an event or a form; files are not uploaded here
RouteHandler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def build_web_app(bot: "Application", surfaces: "Iterable[Surface]", metrics: TurnMetrics) -> web.Application:
    """The web application with all routes of the port. Opens and closes nothing."""
    app = web.Application(client_max_size=_MAX_BODY_BYTES, middlewares=[_translate_failures])
    app.add_routes(_operation_routes(bot, metrics))
    app.add_routes(bot.http_routes())
    for surface in surfaces:
        app.add_routes(surface.http_routes())
    return app


def _operation_routes(bot: "Application", metrics: TurnMetrics) -> list[web.RouteDef]:
    async def report_alive(request: web.Request) -> web.Response:
        return web.Response(text="alive\n")

    async def report_ready(request: web.Request) -> web.Response:
        try:
            await bot.ping_backends()
        except (SqlError, SearchError) as exc:
            # Names no host and no reason: everyone who can reach the port may read this.
            backend = "database" if isinstance(exc, SqlError) else "index"
            return web.Response(status=503, text=f"the {backend} does not answer\n")
        return web.Response(text="ready\n")

    async def report_metrics(request: web.Request) -> web.Response:
        return web.Response(body=metrics.render_text(), headers={"Content-Type": CONTENT_TYPE})

    return [web.get("/healthz", report_alive), web.get("/readyz", report_ready), web.get("/metrics", report_metrics)]


@web.middleware
async def _translate_failures(request: web.Request, handler: RouteHandler) -> web.StreamResponse:
    """An event that could not be stored is not acknowledged: 503 and one sentence, so that the chat product sends it
    again.
    """
    try:
        return await handler(request)
    except (BotError, SqlError, SearchError) as exc:
        sentence = sentence_for(exc)
        if "application/json" in request.headers.get("Accept", ""):
            return web.json_response({"error": sentence}, status=503)
        return web.Response(status=503, text=f"{sentence}\n")
