"""Reads the body of a request: a JSON object of limited size, and the activity in it."""

import asyncio
import json
import math
import re
from typing import Any, Final, NoReturn, cast

from aiohttp import web
from pydantic import ValidationError

from adapters.teams.payloads.activities import InboundActivity
from adapters.teams.receiving.errors import OversizedBody, SlowBody, UnreadableActivity, UnsupportedBody
from bot.public_network import is_secure_url

MAX_BODY_BYTES: Final = 1024 * 1024  # Teams allows 100 KB of text, in UTF-16, and adds a description of attachments
_READ_TIMEOUT_S: Final = 10.0
_READ_CHUNK_BYTES: Final = 64 * 1024
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def check_body_headers(request: web.Request) -> None:
    """Raises `UnsupportedBody` and `OversizedBody`. Reads no byte of the body."""
    if request.content_type != "application/json" or (request.charset or "utf-8").lower() not in ("utf-8", "utf8"):
        raise UnsupportedBody("no JSON in UTF-8")
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise UnsupportedBody("a compressed body")
    if (request.content_length or 0) > MAX_BODY_BYTES:
        raise OversizedBody("by its length")


async def read_body(request: web.Request) -> bytes:
    """Raises `OversizedBody`, `SlowBody`, `UnreadableActivity`."""
    body = bytearray()
    try:
        async with asyncio.timeout(_READ_TIMEOUT_S):
            async for chunk in request.content.iter_chunked(_READ_CHUNK_BYTES):
                body += chunk
                if len(body) > MAX_BODY_BYTES:
                    raise OversizedBody("by what was read")
    except TimeoutError as exc:
        raise SlowBody("no end") from exc
    except web.RequestPayloadError as exc:
        raise UnreadableActivity("a broken transfer") from exc
    return bytes(body)


def parse_activity(body: bytes) -> InboundActivity:
    """Raises `UnreadableActivity` for anything but a complete activity. Its error says where, never what."""
    try:
        activity = InboundActivity.model_validate(_parse_json_object(body))
    except ValidationError as exc:
        fields = sorted({".".join(str(part) for part in error["loc"][:2]) for error in exc.errors(include_input=False)})
        raise UnreadableActivity("fields: " + ", ".join(fields[:5])) from None
    if not is_secure_url(activity.service_url, allows_loopback=True):
        raise UnreadableActivity("a service URL that is not https")
    return activity


def _parse_json_object(body: bytes) -> dict[str, Any]:
    try:
        text = body.decode("utf-8")
        payload = cast(object, json.loads(text, parse_constant=_refuse_constant, parse_float=_parse_finite_float))
        if _SURROGATE_ESCAPE.search(text):
            json.dumps(payload, ensure_ascii=False).encode()
    except UnicodeError:
        raise UnreadableActivity("no valid Unicode") from None
    except (ValueError, RecursionError):
        raise UnreadableActivity("no JSON") from None
    if not isinstance(payload, dict):
        raise UnreadableActivity("no JSON object")
    return cast(dict[str, Any], payload)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _parse_finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number that is too large")
    return number
