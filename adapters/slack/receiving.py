"""Slack over signed HTTP: one route, verified before anything is parsed."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, cast
from urllib.parse import parse_qsl

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncBoltRequest

from adapters.slack.dispatch import Dispatch
from adapters.slack.signature import is_signed

PATH: Final = "/slack/events"


class Receiving:
    """Events, interactions and commands, all at one address."""

    def __init__(self, dispatch: Dispatch, *, signing_secret: str, clock: Callable[[], datetime]) -> None:
        self._dispatch, self._secret, self._clock = dispatch, signing_secret, clock

    async def receive(self, request: web.Request) -> web.Response:
        """401 for what Slack did not sign or signed long ago, 400 for what it would not send, 503 to be asked again."""
        body = await request.read()
        if not is_signed(self._secret, body, request.headers, self._clock()):
            return web.Response(status=401, text="The signature is missing, wrong or too old.")
        try:
            text, told = _read(body, request.content_type)
        except ValueError:
            return web.Response(status=400, text="This is not a delivery of Slack's.")
        headers: Any = request.headers
        delivery = AsyncBoltRequest(body=text, query=request.query_string, headers=headers)
        return await to_aiohttp_response(await self._dispatch.deliver(delivery, told))


def _read(body: bytes, content_type: str) -> tuple[str, dict[str, Any]]:
    """The text of a body that Bolt can read, and what it says: JSON for events, a form for all else.

    Raises `ValueError` for anything else.
    """
    text = body.decode("utf-8")
    told = _form(text) if content_type == "application/x-www-form-urlencoded" else _json(text)
    return text, told


def _form(text: str) -> dict[str, Any]:
    """Interactions are JSON in `payload`; commands and `ssl_check` are flat."""
    fields = dict(parse_qsl(text))
    if not fields:
        raise ValueError("an empty form")
    return _json(fields["payload"]) if "payload" in fields else fields


def _json(text: str) -> dict[str, Any]:
    try:
        told = cast(object, json.loads(text))
    except RecursionError as exc:
        raise ValueError("nested too deeply") from exc
    if not isinstance(told, dict):
        raise ValueError("no object")
    return cast(dict[str, Any], told)
