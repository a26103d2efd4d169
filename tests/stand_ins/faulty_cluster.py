"""A proxy to a real OpenSearch that refuses bulks and single writes, and breaks connections."""

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestServer

_MAX_BODY_BYTES = 64 * 1024**2
_ERROR_TYPES = {400: "mapper_parsing_exception", 429: "rejected_execution_exception"}


@dataclass(frozen=True, slots=True)
class BulkItem:
    """A write of a bulk: the line that names it, and the entry."""

    meta_line: str
    source_line: str = ""

    @property
    def verb(self) -> str:
        return next(iter(json.loads(self.meta_line)))

    @property
    def entry_id(self) -> str:
        return json.loads(self.meta_line)[self.verb]["_id"]


def _pass_all_on(item: BulkItem, position: int) -> int | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkFault:
    """What happens to a bulk. By default it is passed on."""

    request_status: int | None = None  # with which the whole request is refused
    item_status: Callable[[BulkItem, int], int | None] = _pass_all_on  # with which a write is refused, by its position
    loses_answer: bool = False  # the connection breaks after the writes were passed on


FaultPlan: TypeAlias = Callable[[Sequence[BulkItem]], BulkFault]


@asynccontextmanager
async def open_faulty_cluster(server_url: str, plan: FaultPlan, *, refused_path: str = "") -> AsyncGenerator[str]:
    """Run the proxy; gives its address. `plan` decides about each bulk, given its writes.

    Requests whose paths end in `refused_path` are refused.
    """

    async def pass_request_on(request: web.Request) -> web.StreamResponse:
        body = await request.read()
        if refused_path and request.path.endswith(refused_path):
            return web.json_response({"error": _error_of(400)}, status=400)
        if request.path != "/_bulk":
            return await _forward(server_url, request, body)
        items = _parse_bulk(body.decode())
        fault = plan(items)
        if fault.request_status is not None:
            return web.json_response({"error": _error_of(fault.request_status)}, status=fault.request_status)
        response = await _forward_items(server_url, request, items, fault)
        if fault.loses_answer and request.transport is not None:
            request.transport.abort()
        return response

    app = web.Application(client_max_size=_MAX_BODY_BYTES)
    app.router.add_route("*", "/{path:.*}", pass_request_on)
    async with TestServer(app) as proxy:
        yield str(proxy.make_url("")).rstrip("/")


async def _forward(server_url: str, request: web.Request, body: bytes) -> web.Response:
    headers = {"content-type": request.content_type}
    async with aiohttp.request(
        request.method, f"{server_url}{request.path_qs}", data=body, headers=headers
    ) as response:
        return web.Response(status=response.status, body=await response.read(), content_type="application/json")


async def _forward_items(
    server_url: str, request: web.Request, items: Sequence[BulkItem], fault: BulkFault
) -> web.Response:
    statuses = [fault.item_status(item, position) for position, item in enumerate(items)]
    passed_on = [item for item, status in zip(items, statuses, strict=True) if status is None]
    answers = list[Any]()
    if passed_on:
        body = "".join(f"{item.meta_line}\n{item.source_line}" for item in passed_on).encode()
        response = await _forward(server_url, request, body)
        assert isinstance(response.body, bytes)
        answers = json.loads(response.body)["items"]
    remaining = iter(answers)
    return web.json_response(
        {
            "items": [
                next(remaining) if status is None else {item.verb: {"status": status, "error": _error_of(status)}}
                for item, status in zip(items, statuses, strict=True)
            ]
        }
    )


def _error_of(status: int) -> dict[str, str]:
    return {"type": _ERROR_TYPES.get(status, "unavailable"), "reason": f"a fault of the test ({status})"}


def _parse_bulk(body: str) -> list[BulkItem]:
    lines, items = iter(body.split("\n")), list[BulkItem]()
    for line in lines:
        if line:
            items.append(BulkItem(line, "" if "delete" in json.loads(line) else f"{next(lines)}\n"))
    return items
