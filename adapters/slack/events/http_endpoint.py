"""Receives Slack's deliveries over signed HTTP: one route, which verifies the signature before it parses."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response

from adapters.slack.events.dispatch import DeliveryDispatcher
from adapters.slack.events.signature import is_signed
from bot.http.connections import protect_connection
from bot.http.request_body import FORM_TYPE, decode_text, parse_form, parse_json_object, read_body

EVENTS_PATH: Final = "/slack/events"
MAX_BODY_BYTES: Final = 1024 * 1024  # a text of 40,000 characters in blocks, with escapes


class HttpEndpoint:
    """Receives events, interactions and commands at one address."""

    def __init__(self, dispatch: DeliveryDispatcher, *, signing_secret: str, clock: Callable[[], datetime]) -> None:
        self._dispatch, self._signing_secret, self._clock = dispatch, signing_secret, clock

    async def receive_delivery(self, request: web.Request) -> web.Response:
        """Answer 401 for a wrong or old signature, 400 for what is not a delivery, and 503 to request a redelivery.

        Raises an `HttpRefusal` for a body that cannot be read.
        """
        body = await read_body(request, MAX_BODY_BYTES)
        if not is_signed(self._signing_secret, body, request.headers, self._clock()):
            return web.Response(status=401, text="The signature is missing, wrong or too old.")
        protect_connection(request)
        response = await self._dispatch.dispatch_delivery(_parse_request_body(decode_text(body), request.content_type))
        return await to_aiohttp_response(response)


def _parse_request_body(text: str, content_type: str) -> dict[str, Any]:
    """Events are JSON. Interactions are a form that carries JSON in `payload`; commands and `ssl_check` are flat forms.

    Raises `UnreadableRequest`.
    """
    if content_type != FORM_TYPE:
        return parse_json_object(text)
    fields = parse_form(text)
    return parse_json_object(fields["payload"]) if "payload" in fields else dict(fields)
