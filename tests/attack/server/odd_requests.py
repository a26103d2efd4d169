"""Odd requests for each address of the server, as the bytes that go over the connection."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final
from urllib.parse import urlencode

from tests.attack.server.admin_samples import ADMIN_FORMS
from tests.attack.server.mcp_samples import MCP_PATH, headers_for, list_mcp_messages, list_sound_calls
from tests.attack.server.odd_values import ODD_CONTENT_TYPES, ODD_HEADERS, ODD_HOSTS, OddValueMaker
from tests.attack.server.slack_samples import COMMAND_FIELDS, EVENT_PAYLOADS, INTERACTION_PAYLOADS

SignBody = Callable[[bytes], Mapping[str, str]]
_FORM: Final = "application/x-www-form-urlencoded"
_JSON: Final = "application/json"
_KEY: Final = "a-conversation-key"
WRONG_TOKEN_SHARE: Final = 0.05  # of the requests of programs
_READ_PATHS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("/", ("c",)),
    ("/chat/events", ("c", "after")),
    ("/chat/steps", ("c", "turn")),
    ("/chat/picture", ("c", "message", "part", "look")),
    ("/chat/new", ()),
    ("/chat/chat.css", ()),
    ("/chat/%2e%2e", ()),
    ("/admin", ("done",)),
    ("/admin/bucket", ("b", "done")),
    ("/admin/documents", ("b", "q", "after")),
    ("/admin/document", ("b", "id", "part")),
    ("/admin/review", ("b",)),
    ("/admin/schema", ("b",)),
    ("/admin/schema/entry", ("b", "f", "title", "synonyms", "facet", "bare")),
    ("/admin/report", ("days",)),
    ("/admin/picture", ("days", "name", "look")),
    ("/admin/synonym", ("b", "field", "word", "value")),
    ("/admin/synonym/choose", ("b", "field", "word")),
    ("/admin/grants", ("done",)),
    ("/admin/admins", ("done",)),
    ("/admin/limits", ("done",)),
    ("/admin/retention", ("b", "field", "days", "done")),
    ("/admin/sources", ()),
    ("/admin/enter/a.b", ()),
    ("/admin/%2e%2e", ()),
    ("/download/a.1.b", ()),
    ("/slack/install", ()),
    ("/slack/oauth_redirect", ("state", "code", "error")),
    ("/healthz", ()),
    ("/readyz", ()),
    ("/metrics", ()),
)


@dataclass
class OddRequestMaker:
    """`sign_body`: the headers that prove a Slack delivery. `origin`: of the web chat. `bearer`: a valid token of the
    Bot Connector, `activities` sound ones; both are needed for `make_teams_request` alone. `program_tokens`: valid
    tokens of programs, needed for `make_mcp_request` alone. `admin_cookie` and `form_key`: of an admin's session,
    needed for `make_admin_request` alone.
    """

    sign_body: SignBody
    origin: str
    random: Random
    bearer: str = ""
    activities: Sequence[Mapping[str, Any]] = ()
    program_tokens: Sequence[str] = ()
    admin_cookie: str = ""
    form_key: str = ""
    values: OddValueMaker = field(init=False)

    def __post_init__(self) -> None:
        self.values = OddValueMaker(self.random)

    @property
    def host(self) -> str:
        return self.origin.partition("//")[2]

    def make_slack_request(self) -> bytes:
        """A delivery that Slack would have signed, with an odd body."""
        match self.random.randrange(4):
            case 0:
                payload = self.random.choice(INTERACTION_PAYLOADS)
                body, kind = b"payload=" + _escape_bytes(self.values.make_json_body(payload)), _FORM
            case 1:
                body, kind = self.values.make_form_body(COMMAND_FIELDS), _FORM
            case _:
                body, kind = self.values.make_json_body(self.random.choice(EVENT_PAYLOADS)), _JSON
        return self._make_post("/slack/events", body, kind, self.sign_body(body))

    def make_sound_requests(self) -> list[bytes]:
        """One of Slack, one for each kind of activity, and one for each call of a program."""
        return [
            self.sign_slack_payload(EVENT_PAYLOADS[0]),
            *map(self.sign_teams_payload, self.activities),
            *map(self.sign_mcp_message, list_sound_calls()),
        ]

    def make_sound_admin_forms(self) -> list[tuple[str, bytes]]:
        """Each form of the admin page, with its path, as an admin sends it."""
        proof = {"Content-Type": _FORM, **self._admin_proof()}
        return [
            (path, encode_request("POST", path, proof, urlencode({"form_key": self.form_key, **fields}).encode()))
            for path, fields in ADMIN_FORMS
        ]

    def sign_slack_payload(self, payload: Mapping[str, Any]) -> bytes:
        body = json.dumps(payload).encode()
        return encode_request("POST", "/slack/events", {"Content-Type": _JSON, **self.sign_body(body)}, body)

    def sign_teams_payload(self, activity: Mapping[str, Any]) -> bytes:
        headers = {"Content-Type": _JSON, "Authorization": f"Bearer {self.bearer}"}
        return encode_request("POST", "/api/messages", headers, json.dumps(activity).encode())

    def sign_mcp_message(self, message: Mapping[str, Any]) -> bytes:
        headers = {"Content-Type": _JSON, "Authorization": f"Bearer {self.random.choice(self.program_tokens)}"}
        return encode_request("POST", MCP_PATH, headers | headers_for(message), json.dumps(message).encode())

    def make_form_request(self) -> bytes:
        """A form of the web chat or of its token."""
        fields = self.random.choice(
            (
                {"text": "List all receipts", "time_zone": "Europe/Berlin", "event": "a-form-of-this-page"},
                {"choice": "c1", "event": "a-form-of-this-page", "time_zone": "UTC"},
                {"token": "secret"},
            )
        )
        key = self.random.choice((f"{_KEY}-{self.random.randrange(50)}", self._odd_query_value()))
        path = "/chat/token" if "token" in fields else f"/?c={key}"
        if self.random.random() < 0.3:
            body, kind = self.values.make_multipart_body(fields), "multipart/form-data; boundary=x"
        else:
            body, kind = self.values.make_form_body(fields), _FORM
        return self._make_post(path, body, kind, {"Origin": self.origin, "Host": self.host})

    def make_admin_request(self) -> bytes:
        """A form of the admin page with odd fields, as an admin who is logged in sends it. Seldom with a wrong key."""
        path, fields = self.random.choice(ADMIN_FORMS)
        if self.random.random() < 0.1:
            body, kind = self.values.make_multipart_body(dict(fields)), "multipart/form-data; boundary=x"
        else:
            key = self._damage_token(self.form_key, chance=WRONG_TOKEN_SHARE)
            body = urlencode({"form_key": key}).encode() + b"&" + self.values.make_form_body(dict(fields))
            kind = _FORM
        return self._make_post(path, body, kind, self._admin_proof())

    def _admin_proof(self) -> dict[str, str]:
        return {"Origin": self.origin, "Host": self.host, "Cookie": self.admin_cookie}

    def make_teams_request(self) -> bytes:
        body = self.values.make_json_body(dict(self.random.choice(self.activities)))
        proof = {"Authorization": f"Bearer {self._damage_token(self.bearer, chance=0.2)}"}
        return self._make_post("/api/messages", body, _JSON, proof)

    def make_mcp_request(self) -> bytes:
        """A call of a program with odd arguments, an odd message, odd headers of the protocol, or an odd token."""
        message = self.random.choice(list_mcp_messages())
        headers = headers_for(message)
        if "arguments" in message.get("params", {}) and self.random.random() < 0.6:
            changed = self.values.change_json(message["params"]["arguments"])
            body = json.dumps(message | {"params": message["params"] | {"arguments": changed}}).encode()
        else:
            body = self.values.make_json_body(message)
        if self.random.random() < 0.15:
            headers[self.random.choice(sorted(headers))] = self._odd_header_value()
        headers["Authorization"] = (
            f"Bearer {self._damage_token(self.random.choice(self.program_tokens), chance=WRONG_TOKEN_SHARE)}"
        )
        return self._make_post(MCP_PATH, body, _JSON, headers)

    def make_read_request(self) -> bytes:
        """A GET with an odd query, odd headers, or both."""
        path, names = self.random.choice(_READ_PATHS)
        key = f"c={_KEY}&" if "c" in names and self.random.random() < 0.6 else ""
        query = self.values.make_query(names)
        headers = self._change_headers({}, chance=0.5)
        return encode_request(
            self.random.choice(("GET", "GET", "GET", "HEAD", "OPTIONS")), f"{path}?{key}{query}", headers, b""
        )

    def _make_post(self, path: str, body: bytes, content_type: str, proof: Mapping[str, str]) -> bytes:
        if self.random.random() < 0.1:
            content_type = self.random.choice(ODD_CONTENT_TYPES)
        return encode_request(
            "POST", path, self._change_headers({"Content-Type": content_type, **proof}, chance=0.1), body
        )

    def _change_headers(self, headers: Mapping[str, str], *, chance: float) -> dict[str, str]:
        changed = dict(headers)
        if self.random.random() < chance:
            changed |= dict(self.random.sample(ODD_HEADERS, self.random.randrange(1, 4)))
        if self.random.random() < chance / 4:
            changed["Host"] = self.random.choice(ODD_HOSTS)
        return changed

    def _damage_token(self, token: str, *, chance: float) -> str:
        if self.random.random() >= chance:
            return token
        damaged = self.values.damage_bytes(token.encode()).decode("latin-1")
        return "".join(character for character in damaged if character.isprintable())

    def _odd_header_value(self) -> str:
        text = self.values.make_text_bytes()[:2_000].decode("latin-1")
        return "".join(character for character in text if character.isprintable())

    def _odd_query_value(self) -> str:
        return self.values.make_query(("c",))[:200]


def encode_request(method: str, target: str, headers: Mapping[str, str], body: bytes) -> bytes:
    """The request as bytes; `headers` may replace those that every request has. Odd characters become Latin-1."""
    fields = {"Host": "127.0.0.1", "Connection": "close", **({"Content-Length": str(len(body))} if body else {})}
    fields |= headers
    head = f"{method} {target} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return head.encode("latin-1", "replace") + b"\r\n" + body


def _escape_bytes(text: bytes) -> bytes:
    return urlencode({"": text})[1:].encode()
