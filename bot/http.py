"""The one HTTP port: what the surfaces serve, downloads, and what operators look at."""

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Final

from aiohttp import web

from bot.errors import BotError
from bot.metrics import CONTENT_TYPE, Metrics
from bot.turns import sentence_for
from storage.search.errors import SearchError
from storage.sql.errors import SqlError

if TYPE_CHECKING:
    from bot.bootstrap import Bot
    from bot.surfaces import Surface

_LARGEST_BODY: Final = 4 * 1024 * 1024  # an event or a form; no files come in here
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def application(bot: "Bot", surfaces: "Iterable[Surface]", metrics: Metrics) -> web.Application:
    """Everything that answers on the port. Opens and closes nothing."""
    app = web.Application(client_max_size=_LARGEST_BODY, middlewares=[_plain_failures])
    app.add_routes(_operations(bot, metrics))
    app.add_routes(bot.routes())
    for surface in surfaces:
        app.add_routes(surface.routes())
    return app


def _operations(bot: "Bot", metrics: Metrics) -> list[web.RouteDef]:
    async def alive(request: web.Request) -> web.Response:
        return web.Response(text="alive\n")

    async def ready(request: web.Request) -> web.Response:
        try:
            await bot.answers()
        except (SqlError, SearchError) as exc:
            # Names no host and no reason: whoever can reach the port may read this.
            which = "database" if isinstance(exc, SqlError) else "index"
            return web.Response(status=503, text=f"the {which} does not answer\n")
        return web.Response(text="ready\n")

    async def measured(request: web.Request) -> web.Response:
        return web.Response(body=metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    return [web.get("/healthz", alive), web.get("/readyz", ready), web.get("/metrics", measured)]


@web.middleware
async def _plain_failures(request: web.Request, handler: Handler) -> web.StreamResponse:
    """What could not be stored is not acknowledged: 503 and one sentence, which a chat product tries again."""
    try:
        return await handler(request)
    except (BotError, SqlError, SearchError) as exc:
        sentence = sentence_for(exc)
        if "application/json" in request.headers.get("Accept", ""):
            return web.json_response({"error": sentence}, status=503)
        return web.Response(status=503, text=f"{sentence}\n")
