"""The one HTTP port: the routes of the surfaces, downloads, health checks and metrics."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from aiohttp import web

from bot.errors import BotError
from bot.health.readiness import ReadinessProblem
from bot.http.callers import caller_address_of, is_local_request
from bot.http.quiet_log import quiet_log_for
from bot.http.request_checks import build_request_checks
from bot.http.secret_check import SecretCheck
from bot.metrics.request_metrics import build_request_metrics
from bot.metrics.service_metrics import CONTENT_TYPE, ServiceMetrics
from bot.turns.turn_processor import sentence_for
from storage.search.errors import SearchError
from storage.sql.errors import SqlError
from storage.sql.service_state import ServiceState, ServiceStateStore

if TYPE_CHECKING:
    from bot.application import Application
    from bot.programs.endpoint import ProgramEndpoint
    from bot.surface.surface import Surface

_MAX_BODY_BYTES: Final = 1024 * 1024  # of an event, an activity or a form; files are not uploaded here
_STATE_TIMEOUT_S: Final = 2.0  # Prometheus gives up after ten seconds, by default
_READINESS_TTL_S: Final = 5.0
_METRICS_SENTENCE: Final = (
    "The metrics are open to this machine only; set PARLEY_METRICS_TOKEN and send it as a bearer token.\n"
)
RouteHandler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def build_web_app(
    bot: "Application",
    surfaces: "Iterable[Surface | ProgramEndpoint]",
    metrics: ServiceMetrics,
    *,
    can_answer: Callable[[], bool] = lambda: True,
    is_ending: Callable[[], bool] = lambda: False,
) -> web.Application:
    """The web application with all routes of the port. Opens and closes nothing.

    `can_answer`: whether a process is ready to answer; without one, `/readyz` says so. `is_ending`: whether this
    process was told to end; `/readyz` then says so, and everything else still works.
    """
    checks = build_request_checks(quiet_log_for(bot.log))
    middlewares = [build_request_metrics(metrics), checks, _translate_failures]
    app = web.Application(client_max_size=_MAX_BODY_BYTES, middlewares=middlewares)
    app.add_routes(_operation_routes(bot, metrics, can_answer, is_ending))
    app.add_routes(bot.http_routes())
    for surface in surfaces:
        app.add_routes(surface.http_routes())
    return app


def _operation_routes(
    bot: "Application", metrics: ServiceMetrics, can_answer: Callable[[], bool], is_ending: Callable[[], bool]
) -> list[web.RouteDef]:
    readiness, token = _CachedReadiness(bot.readiness.find_problems), bot.settings.metrics_token
    token_check = None if token is None else SecretCheck(token.get_secret_value(), bot.clock)

    async def report_alive(request: web.Request) -> web.Response:
        return web.Response(text="alive\n")

    async def find_problem() -> str | None:
        # Names no host and no reason: everyone who can reach the port may read this.
        problem = "the process is ending" if is_ending() else await readiness.find_problem()
        return "no process is ready to answer" if problem is None and not can_answer() else problem

    async def report_ready(request: web.Request) -> web.Response:
        problem = await find_problem()
        if problem is not None:
            return web.Response(status=503, text=f"{problem}\n")
        return web.Response(text="ready\n")

    async def report_metrics(request: web.Request) -> web.Response:
        if not _may_read_metrics(request, token_check):
            return web.Response(status=403, text=_METRICS_SENTENCE)
        is_ready = await find_problem() is None
        metrics.set_service_state(await _measure_state(bot), is_ready=is_ready)
        return web.Response(body=metrics.render_text(), headers={"Content-Type": CONTENT_TYPE})

    return [web.get("/healthz", report_alive), web.get("/readyz", report_ready), web.get("/metrics", report_metrics)]


async def _measure_state(bot: "Application") -> ServiceState | None:
    """None if the database does not answer soon; `/readyz` then says so."""
    try:
        async with asyncio.timeout(_STATE_TIMEOUT_S):
            return await ServiceStateStore(bot.database).measure_state()
    except (SqlError, TimeoutError):
        return None


class _CachedReadiness:
    """Checks at most once in a few seconds, however many ask. One check runs at a time."""

    def __init__(self, find_problems: Callable[[], Awaitable[Sequence[ReadinessProblem]]]) -> None:
        self._find_problems = find_problems
        self._lock, self._checked_at_s, self._problem = asyncio.Lock(), -_READINESS_TTL_S, ""

    async def find_problem(self) -> str | None:
        """What does not work, in a few words; None if everything does."""
        async with self._lock:
            if time.monotonic() - self._checked_at_s >= _READINESS_TTL_S:
                problems = await self._find_problems()
                self._problem = problems[0].summary if problems else ""
                self._checked_at_s = time.monotonic()
        return self._problem or None


def _may_read_metrics(request: web.Request, token_check: SecretCheck | None) -> bool:
    """This machine may, by a loopback name and without a proxy; everyone with the token may, if one is set.

    Raises `TooManyAttempts`.
    """
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if token_check is not None and scheme.lower() == "bearer":
        return token_check.is_right(token.strip(), caller_address_of(request))
    return is_local_request(request)


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
