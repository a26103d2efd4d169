"""Reports each HTTP request to the metrics."""

import asyncio
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Middleware

from bot.metrics.service_metrics import ServiceMetrics

RouteHandler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_UNKNOWN_ROUTE: Final = "unknown"
_CLIENT_LEFT: Final = 499  # as nginx calls it


def build_request_metrics(metrics: ServiceMetrics) -> Middleware:
    """Install it as the first middleware, so that it sees what the others refuse."""

    @web.middleware
    async def measure_request(request: web.Request, handler: RouteHandler) -> web.StreamResponse:
        started_s, status = perf_counter(), 500
        try:
            response = await handler(request)
            status = response.status
            return response
        except web.HTTPException as exc:
            status = exc.status
            raise
        except asyncio.CancelledError:
            status = _CLIENT_LEFT
            raise
        finally:
            metrics.record_request(route=_route_of(request), status=status, seconds=perf_counter() - started_s)

    return measure_request


def _route_of(request: web.Request) -> str:
    """The pattern of the path, such as `/download/{signed}`: it names nothing, and there are few."""
    resource = request.match_info.route.resource
    return _UNKNOWN_ROUTE if resource is None else resource.canonical
