"""Reads the body of a request as an activity."""

from typing import Final

from aiohttp import web
from pydantic import ValidationError

from adapters.teams.payloads.activities import InboundActivity
from bot.http.errors import OversizedRequest, UnreadableRequest, UnsupportedRequest
from bot.http.request_body import decode_text, parse_json_object
from bot.public_network import is_secure_url

MAX_BODY_BYTES: Final = 1024 * 1024  # Teams allows 100 KB of text, in UTF-16, and adds a description of attachments


def check_body_headers(request: web.Request) -> None:
    """Raises `UnsupportedRequest` and `OversizedRequest`. Reads no byte of the body."""
    if request.content_type != "application/json" or (request.charset or "utf-8").lower() not in ("utf-8", "utf8"):
        raise UnsupportedRequest("no JSON in UTF-8")
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise UnsupportedRequest("a compressed body")
    if (request.content_length or 0) > MAX_BODY_BYTES:
        raise OversizedRequest("the body is too large")


def parse_activity(body: bytes) -> InboundActivity:
    """Raises `UnreadableRequest` for anything but a complete activity. Its error says where, never what."""
    try:
        activity = InboundActivity.model_validate(parse_json_object(decode_text(body)))
    except ValidationError as exc:
        fields = sorted({".".join(str(part) for part in error["loc"][:2]) for error in exc.errors(include_input=False)})
        raise UnreadableRequest("fields: " + ", ".join(fields[:5])) from None
    if not is_secure_url(activity.service_url, allows_loopback=True):
        raise UnreadableRequest("a service URL that is not https")
    return activity
