"""Reads what comes in: a body of limited size within a deadline, as JSON or as a form."""

import asyncio
import json
import math
import re
from collections.abc import Mapping
from typing import Any, Final, NoReturn, cast
from urllib.parse import parse_qsl

from aiohttp import web

from bot.http.connections import reserve_body_bytes
from bot.http.errors import OversizedRequest, ServerBusy, SlowRequest, UnreadableRequest, UnsupportedRequest

BODY_TIMEOUT_S: Final = 10.0
FORM_TYPE: Final = "application/x-www-form-urlencoded"
MAX_DEPTH: Final = 60  # of JSON; the deepest message of a chat product has some 20 levels
MAX_VALUES: Final = 20_000  # of JSON; checking each against a model takes some ten microseconds
MAX_INTEGER_DIGITS: Final = 40
_MAX_FORM_FIELDS: Final = 100
_READ_CHUNK_BYTES: Final = 64 * 1024
_NO_TEXT: Final = re.compile(r"[\x00\ud800-\udfff]")  # no database stores these characters
_NO_TEXT_ESCAPE: Final = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_JSON_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)


async def read_body(request: web.Request, max_bytes: int, timeout_s: float = BODY_TIMEOUT_S) -> bytes:
    """Raises `OversizedRequest`, `SlowRequest`, `ServerBusy`, and `UnreadableRequest` for a broken transfer."""
    if (request.content_length or 0) > max_bytes:
        raise OversizedRequest("the body is too large")
    body = bytearray()
    try:
        async with asyncio.timeout(timeout_s):
            async for chunk in request.content.iter_chunked(_READ_CHUNK_BYTES):
                body += chunk
                if len(body) > max_bytes:
                    raise OversizedRequest("the body is too large")
                if not reserve_body_bytes(request, len(chunk)):
                    raise ServerBusy("too many bodies at once")
    except TimeoutError as exc:
        raise SlowRequest("the body did not arrive in time") from exc
    except (web.RequestPayloadError, ConnectionError) as exc:
        raise UnreadableRequest("a broken transfer") from exc
    return bytes(body)


def decode_text(body: bytes) -> str:
    """Raises `UnreadableRequest` for what is not UTF-8."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        raise UnreadableRequest("no UTF-8") from None


def parse_json_object(text: str) -> dict[str, Any]:
    """Parses a JSON object. Raises `UnreadableRequest` also for one that is nested too deeply or has too many values,
    and for strings and numbers that no later step can take.
    """
    if _least_value_count(text) > MAX_VALUES and _least_value_count(_JSON_STRING.sub("", text)) > MAX_VALUES:
        raise UnreadableRequest("too many values")  # not parsed: a megabyte of empty lists takes a second
    try:
        value = cast(
            object,
            json.loads(
                text, parse_constant=_refuse_constant, parse_float=_parse_finite_float, parse_int=_parse_short_integer
            ),
        )
    except (ValueError, RecursionError):
        raise UnreadableRequest("no JSON") from None
    if not isinstance(value, dict):
        raise UnreadableRequest("no JSON object")
    payload = cast(dict[str, Any], value)
    _check_shape(payload)
    if (_NO_TEXT_ESCAPE.search(text) or _NO_TEXT.search(text)) and _holds_no_text(payload):
        raise UnreadableRequest("characters that are not text")
    return payload


def parse_form(text: str) -> dict[str, str]:
    """Parses a URL-encoded form; of a repeated field, the last value counts. Raises `UnreadableRequest`."""
    try:
        fields = dict(parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MAX_FORM_FIELDS))
    except ValueError:
        raise UnreadableRequest("no form") from None
    if any(map(holds_no_text, (*fields, *fields.values()))):
        raise UnreadableRequest("characters that are not text")
    return fields


async def read_form(request: web.Request, max_bytes: int) -> Mapping[str, str]:
    """The fields of a form. Raises what `read_body` raises, and `UnsupportedRequest` for a form of another encoding."""
    if request.content_type != FORM_TYPE:
        raise UnsupportedRequest(f"a form is sent as {FORM_TYPE}")
    return parse_form(decode_text(await read_body(request, max_bytes)))


def holds_no_text(text: str) -> bool:
    """Whether it has characters that no text has: NUL, and halves of a pair of surrogates."""
    return _NO_TEXT.search(text) is not None


def _least_value_count(text: str) -> int:
    """The fewest values that JSON with these commas and brackets has, where no string holds any."""
    return max(text.count(",") + 1, text.count("[") + text.count("{"))


def _check_shape(value: object) -> None:
    """Raises `UnreadableRequest` for too many levels or values."""
    level, value_count, depth = [value], 1, 0
    while level:
        level = [inner for outer in level for inner in _inner_values_of(outer)]
        value_count, depth = value_count + len(level), depth + 1
        if depth > MAX_DEPTH or value_count > MAX_VALUES:
            raise UnreadableRequest("nested too deeply" if depth > MAX_DEPTH else "too many values")


def _inner_values_of(value: object) -> list[object]:
    if isinstance(value, dict):
        return [*cast(dict[str, object], value).values()]
    return [*cast(list[object], value)] if isinstance(value, list) else []


def _holds_no_text(value: object) -> bool:
    waiting: list[object] = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, str) and holds_no_text(inner):
            return True
        waiting += _inner_values_of(inner)
        if isinstance(inner, dict):
            waiting += cast(dict[str, object], inner).keys()
    return False


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _parse_finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number that is too large")
    return number


def _parse_short_integer(text: str) -> int:
    if len(text) > MAX_INTEGER_DIGITS:
        raise ValueError("a number that is too large")
    return int(text)
