"""Bodies of nearly a megabyte that are made to cost much: wide lists, many keys, many chunks, and texts of one mark."""

from collections.abc import Mapping
from typing import Any

from tests.attack.server.odd_requests import OddRequestMaker, encode_request
from tests.attack.server.slack_samples import EVENT_PAYLOADS, INTERACTION_PAYLOADS

_JSON = "application/json"
_EVENT = EVENT_PAYLOADS[1]
_VIEW = next(payload for payload in INTERACTION_PAYLOADS if payload["type"] == "view_submission")


def make_costly_requests(maker: OddRequestMaker) -> dict[str, bytes]:
    """By what each has much of."""
    slack_payloads: dict[str, Mapping[str, Any]] = {
        "files": _event_with(files=[1] * 300_000),
        "lists": {**_EVENT, "unknown": [[]] * 240_000},
        "authorizations": {**_EVENT, "authorizations": [{}] * 240_000},
        "keys": _event_with(**{f"key{number}": 1 for number in range(70_000)}),
        "marks": _event_with(text="<" * 900_000),
        "entities": _event_with(text="<a|" * 300_000),
        "fields": _view_with({f"b{number}": {"a": {"value": "x"}} for number in range(15_000)}),
        "wrong fields": _view_with({f"b{number}": 1 for number in range(50_000)}),
    }
    activity = dict(maker.activities[0])
    teams_payloads: dict[str, Mapping[str, Any]] = {
        "wrong entities": activity | {"entities": [1] * 300_000},
        "mentions": activity | {"entities": [{"type": "mention", "text": "<at>P</at>"}] * 15_000},
        "tags": activity | {"text": "<at>" * 200_000},
        "ampersands": activity | {"text": "&" * 900_000},
        "members": activity | {"type": "conversationUpdate", "membersAdded": [{"id": "29:x"}] * 50_000},
    }
    return {
        **{f"slack: {name}": maker.sign_slack_payload(payload) for name, payload in slack_payloads.items()},
        **{f"teams: {name}": maker.sign_teams_payload(payload) for name, payload in teams_payloads.items()},
        "chunks": _chunked_request(b"1\r\n \r\n" * 500_000),
        "trailers": _chunked_request(b"0\r\n" + b"a: b\r\n" * 100_000),
        "requests": b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n" * 20_000,
        "form fields": encode_request(
            "POST",
            "/?c=a-conversation-key",
            {"Origin": maker.origin, "Host": maker.host, "Content-Type": "application/x-www-form-urlencoded"},
            b"a=1&" * 60_000,
        ),
    }


def _event_with(**fields: Any) -> Mapping[str, Any]:
    return {**_EVENT, "event": {**_EVENT["event"], **fields}}


def _view_with(values: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**_VIEW, "view": {**_VIEW["view"], "state": {"values": values}}}


def _chunked_request(chunks: bytes) -> bytes:
    headers = {"Content-Type": _JSON, "Transfer-Encoding": "chunked"}
    return encode_request("POST", "/slack/events", headers, b"")[:-2] + b"\r\n" + chunks
