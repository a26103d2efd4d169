"""A proxy between Parley and OpenSearch that makes the planned faults of the network."""

import asyncio
import contextlib
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import aiohttp
from aiohttp import web

from tests.faults.servers.kinds import ServerFault

BULK_PATH, POINT_PATH = "/_bulk", "/point_in_time"
_PATHS: Final = ("/_msearch", "/_msearch", BULK_PATH, "/_mget", "/_refresh", POINT_PATH, "")
_MAX_BODY_BYTES: Final = 64 * 2**20
_JSON: Final = {"Content-Type": "application/json"}
_REFUSAL: Final = {"type": "rejected_execution_exception", "reason": "planned by a test"}


@dataclass(frozen=True, kw_only=True)
class PlannedServerFault:
    """A fault of the next request whose path contains `path`. `method`: empty for every method."""

    kind: ServerFault
    path: str
    method: str = ""


class ProxiedNode(Protocol):
    @property
    def url(self) -> str: ...

    @property
    def is_running(self) -> bool:
        """A node that is not running gets no requests."""
        ...


@dataclass
class IndexProxy:
    """Used as `async with IndexProxy(nodes, rng) as proxy:`. `max_delay_s` is the delay of the slowest answer."""

    nodes: Sequence[ProxiedNode]
    rng: random.Random
    max_delay_s: float = 5.0
    url: str = ""
    fault_counts: Counter[ServerFault] = field(default_factory=Counter[ServerFault])
    planned: list[PlannedServerFault] = field(default_factory=list[PlannedServerFault])

    async def __aenter__(self) -> "IndexProxy":
        app = web.Application(client_max_size=_MAX_BODY_BYTES)
        app.router.add_route("*", "/{path:.*}", self._handle_request)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()
        await self._runner.cleanup()

    def plan_fault(self, kind: ServerFault) -> None:
        match kind:
            case ServerFault.SPLIT_BULK | ServerFault.PARTLY_REFUSED:
                self.planned.append(PlannedServerFault(kind=kind, path=BULK_PATH))
            case ServerFault.LOST_POINT:
                self.planned.append(PlannedServerFault(kind=kind, path=POINT_PATH, method="POST"))
            case _:
                self.planned.append(PlannedServerFault(kind=kind, path=self.rng.choice(_PATHS)))

    # -- requests

    async def _handle_request(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        fault = self._take_fault(request)
        match fault:
            case ServerFault.BUSY:
                error = {"error": {**_REFUSAL, "root_cause": [_REFUSAL]}, "status": 429}
                return web.json_response(error, status=429)
            case ServerFault.UNAVAILABLE:
                return web.Response(status=503, text="<html>upstream</html>", content_type="text/html")
            case ServerFault.CUT:
                return _reset_connection(request)
            case ServerFault.LOST:
                await self._forward_request(request, body)
                return _reset_connection(request)
            case ServerFault.SPLIT_BULK:
                await self._send_half(request, body)
                return _reset_connection(request)
            case ServerFault.PARTLY_REFUSED:
                return await self._refuse_some_writes(request, body)
            case ServerFault.SLOW:
                await asyncio.sleep(self.rng.uniform(0.5, self.max_delay_s))
            case ServerFault.LOST_POINT:
                return await self._delete_opened_point(request, body)
            case _:
                pass
        return await self._forward_request(request, body) or _reset_connection(request)

    def _take_fault(self, request: web.Request) -> ServerFault | None:
        for planned in self.planned:
            if planned.path in request.path and planned.method in ("", request.method):
                self.planned.remove(planned)
                self.fault_counts[planned.kind] += 1
                return planned.kind
        return None

    def _choose_node_url(self) -> str | None:
        urls = [node.url for node in self.nodes if node.is_running]
        return self.rng.choice(urls) if urls else None

    async def _forward_request(self, request: web.Request, body: bytes) -> web.Response | None:
        """The response of a node; None if no node answers."""
        node_url = self._choose_node_url()
        if node_url is None:
            return None
        headers = {"Content-Type": request.headers["Content-Type"]} if "Content-Type" in request.headers else {}
        try:
            async with self._session.request(
                request.method, f"{node_url}{request.path_qs}", data=body, headers=headers
            ) as response:
                content_type = response.headers.get("Content-Type", "application/json")
                return web.Response(
                    status=response.status, body=await response.read(), headers={"Content-Type": content_type}
                )
        except (aiohttp.ClientError, OSError):
            return None

    async def _send_half(self, request: web.Request, body: bytes) -> None:
        """Send the first half of a request to a node, and break the connection."""
        node_url = self._choose_node_url()
        if node_url is None:
            return
        parts = urlsplit(node_url)
        head = f"POST {request.path_qs} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: application/x-ndjson\r\n"
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[: len(body) // 2])
            await writer.drain()
            writer.close()

    async def _refuse_some_writes(self, request: web.Request, body: bytes) -> web.StreamResponse:
        """Forward some of the writes of a bulk, and answer 429 for the others, as a node with a full queue does."""
        actions = list(_split_actions(body.decode()))
        is_refused = [self.rng.random() < 0.5 for _ in actions]
        forwarded = [lines for (_, lines), refused in zip(actions, is_refused, strict=True) if not refused]
        answered: Iterator[dict[str, Any]] = iter(())
        if forwarded:
            response = await self._forward_request(request, "".join(forwarded).encode())
            if response is None or response.status != 200 or not isinstance(response.body, bytes):
                return response or _reset_connection(request)
            answered = iter(json.loads(response.body)["items"])
        items = [
            {verb: {"status": 429, "error": _REFUSAL}} if refused else next(answered)
            for (verb, _), refused in zip(actions, is_refused, strict=True)
        ]
        return web.json_response({"took": 1, "errors": True, "items": items})

    async def _delete_opened_point(self, request: web.Request, body: bytes) -> web.StreamResponse:
        """Open a point in time, and delete it at once or a little later."""
        response = await self._forward_request(request, body)
        if response is None or response.status != 200 or not isinstance(response.body, bytes):
            return response or _reset_connection(request)
        if (delay_s := self.rng.choice((0.0, 0.03))) == 0.0:
            await self._delete_point(json.loads(response.body)["pit_id"])
        else:
            asyncio.get_running_loop().call_later(delay_s, self._start_deletion, json.loads(response.body)["pit_id"])
        return response

    def _start_deletion(self, point_id: str) -> None:
        self._deletion = asyncio.ensure_future(self._delete_point(point_id))

    async def _delete_point(self, point_id: str) -> None:
        if (node_url := self._choose_node_url()) is None:
            return
        with contextlib.suppress(aiohttp.ClientError, OSError):
            data = json.dumps({"pit_id": [point_id]})
            await self._session.delete(f"{node_url}/_search/point_in_time", data=data, headers=_JSON)


def _reset_connection(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


def _split_actions(body: str) -> Iterator[tuple[str, str]]:
    """The verb and the lines of each write of a bulk."""
    lines = iter(body.splitlines(keepends=True))
    for line in lines:
        verb = next(iter(json.loads(line)))
        yield verb, line if verb == "delete" else line + next(lines)
