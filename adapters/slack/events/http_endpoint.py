"""Receives Slack's deliveries over signed HTTP: one route, which verifies the signature before it parses."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, cast
from urllib.parse import parse_qsl

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncBoltRequest

from adapters.slack.events.dispatch import DeliveryDispatcher
from adapters.slack.events.signature import is_signed
from bot.http.connections import protect_connection
from bot.http.request_body import read_body

EVENTS_PATH: Final = "/slack/events"
MAX_BODY_BYTES: Final = 1024 * 1024  # a text of 40,000 characters in blocks, with escapes


class HttpEndpoint:
    """Receives events, interactions and commands at one address."""

    def __init__(self, dispatch: DeliveryDispatcher, *, signing_secret: str, clock: Callable[[], datetime]) -> None:
        self._dispatch, self._signing_secret, self._clock = dispatch, signing_secret, clock

    async def receive_delivery(self, request: web.Request) -> web.Response:
        """Answer 401 for a wrong or old signature, 400 for an unreadable body, and 503 to request a redelivery."""
        body = await read_body(request, MAX_BODY_BYTES)
        if not is_signed(self._signing_secret, body, request.headers, self._clock()):
            return web.Response(status=401, text="The signature is missing, wrong or too old.")
        protect_connection(request)
        try:
            text, payload = _parse_request_body(body, request.content_type)
        except ValueError:
            return web.Response(status=400, text="This is not a delivery of Slack's.")
        headers: Any = request.headers
        delivery = AsyncBoltRequest(body=text, query=request.query_string, headers=headers)
        return await to_aiohttp_response(await self._dispatch.dispatch_delivery(delivery, payload))


def _parse_request_body(body: bytes, content_type: str) -> tuple[str, dict[str, Any]]:
    """Returns the body as text for Bolt and as a parsed payload: JSON for events, a form for all else.

    Raises `ValueError` for an unreadable body.
    """
    text = body.decode("utf-8")
    payload = (
        _parse_form_fields(text) if content_type == "application/x-www-form-urlencoded" else _parse_json_object(text)
    )
    return text, payload


def _parse_form_fields(text: str) -> dict[str, Any]:
    """Parse a form: interactions carry JSON in `payload`; commands and `ssl_check` are flat fields."""
    fields = dict(parse_qsl(text))
    if not fields:
        raise ValueError("an empty form")
    return _parse_json_object(fields["payload"]) if "payload" in fields else fields


def _parse_json_object(text: str) -> dict[str, Any]:
    try:
        payload = cast(object, json.loads(text))
    except RecursionError as exc:
        raise ValueError("nested too deeply") from exc
    if not isinstance(payload, dict):
        raise ValueError("no object")
    return cast(dict[str, Any], payload)
