"""Ten thousand bodies and headers that no test thought of: never a 5xx, and nothing let in without a valid token."""

import asyncio
import base64
import json
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, cast
from unittest.mock import Mock

import pytest
from aiohttp import StreamReader, web
from aiohttp.base_protocol import BaseProtocol
from aiohttp.test_utils import make_mocked_request

from adapters.teams.receiving.connector_keys import ConnectorKeys
from adapters.teams.receiving.http_endpoint import MESSAGES_PATH, MessagesEndpoint
from tests.adapters.teams.reception import TeamsReception
from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.tenancy import OTHER_TENANT, TENANT

REQUESTS, SEED = 10_000, 20_261_123
SAMPLES: Final[tuple[Any, ...]] = (
    None,
    True,
    0,
    -1,
    1e300,
    "",
    "msteams",
    "message",
    "invoke",
    "personal",
    "channel",
    "\0",
    "\ud800",
    "😀",
    "<at>Parley</at>",
    "x" * 5000,
    "29:x",
    "28:bot",
    TENANT,
    OTHER_TENANT,
    [],
    {},
    [[]],
    {"id": "29:x"},
    {"parley": "choice", "id": "c1"},
    {"parley": "stop", "turn": ""},
)
NAMES: Final = (
    "type",
    "id",
    "channelId",
    "serviceUrl",
    "from",
    "recipient",
    "conversation",
    "channelData",
    "text",
    "value",
    "name",
    "entities",
    "attachments",
    "replyToId",
    "timestamp",
    "locale",
)
BROKEN_BODIES: Final = (b"", b"{", b"[1]", b"nul", b"\xff", b"\x00", b'{"a":NaN}', b"[" * 50_000, b'{"a":' * 50_000)
TYPES: Final = ("application/json", "application/json; charset=latin-1", "text/plain", "*/*", "\u00e9", "a;b=c;;", "")


@dataclass
class RequestFuzzer:
    """Makes requests out of a sound one. The same seed makes the same requests."""

    activity: dict[str, Any]
    valid_token: str
    forged_tokens: list[str]
    random: Random = field(default_factory=lambda: Random(SEED))

    def make_authorization(self) -> tuple[str | None, bool]:
        """The header, and whether it holds the valid token."""
        match self.random.randrange(6):
            case 0:
                return None, False
            case 1:
                return self._garble(f"Bearer {self.valid_token}"), False
            case 2:
                segments = [self._make_segment() for _ in range(self.random.randrange(5))]
                return "Bearer " + ".".join(segments), False
            case 3:
                return f"Bearer {self.random.choice(self.forged_tokens)}", False
            case _:
                return f"Bearer {self.valid_token}", True

    def make_body(self) -> tuple[bytes, bool]:
        """The body, and whether it is the sound activity."""
        match self.random.randrange(6):
            case 0:
                return self._encode(self.activity), True
            case 1:
                return self.random.choice(BROKEN_BODIES), False
            case 2:
                body = bytearray(self._encode(self.activity))
                for _ in range(self.random.randrange(1, 5)):
                    body[self.random.randrange(len(body))] = self.random.randrange(256)
                return bytes(body), False
            case 3:
                return self.random.randbytes(self.random.randrange(200)), False
            case _:
                return self._encode(self._change(self.activity)), False

    def _change(self, value: Any) -> Any:
        """A copy with one to four values replaced, added or left out, at any depth."""
        changed = json.loads(json.dumps(value))
        for _ in range(self.random.randrange(1, 5)):
            place = changed
            while self.random.random() < 0.6:
                inner: list[Any] = [part for part in self._parts_of(place) if isinstance(part, (dict, list)) and part]
                if not inner:
                    break
                place = self.random.choice(inner)
            self._change_place(place)
        return changed

    def _change_place(self, place: Any) -> None:
        sample = json.loads(json.dumps(self.random.choice(SAMPLES)))
        if not isinstance(place, dict):
            place.append(sample)
            return
        fields = cast(dict[str, Any], place)
        name = self.random.choice([*fields, *NAMES])
        if self.random.random() < 0.2:
            fields.pop(name, None)
        else:
            fields[name] = sample

    def _parts_of(self, place: Any) -> list[Any]:
        keys: list[Any] = [*place] if isinstance(place, dict) else [*range(len(place))]
        return [place[key] for key in keys]

    def _garble(self, text: str) -> str:
        """Another text, or none. The last character stays: some of its bits are not part of the signature."""
        characters = list(text)
        for _ in range(self.random.randrange(1, 4)):
            characters[self.random.randrange(len(characters) - 1)] = self.random.choice(" .-_aZ9=é\0,")
        garbled = "".join(characters)
        return garbled if garbled != text else ""

    def _make_segment(self) -> str:
        header: dict[str, Any] = {
            "alg": self.random.choice(["RS256", "none", "HS256", None, 1]),
            "kid": self.random.choice(SAMPLES),
        }
        texts = [json.dumps(header), "[" * 900, "{}", "null", '"x"', "\xff"]
        return base64.urlsafe_b64encode(self.random.choice(texts).encode("latin-1")).decode().rstrip("=")

    def _encode(self, value: Any) -> bytes:
        return json.dumps(value).encode()


@pytest.fixture
async def teams() -> AsyncIterator[TeamsServer]:
    async with TeamsServer() as server:
        yield server


@pytest.fixture
async def reception(teams: TeamsServer) -> TeamsReception:
    reception = TeamsReception()
    teams.clock = reception.clock.read_seconds
    return reception


@pytest.fixture
async def keys(teams: TeamsServer, reception: TeamsReception) -> AsyncIterator[ConnectorKeys]:
    keys = reception.build_keys(teams.openid_url)
    await keys.start()
    yield keys
    await keys.close()


async def send_request(
    endpoint: MessagesEndpoint, body: bytes, content_type: str, authorization: str | None, connection: Mock
) -> web.Response:
    """`connection`: what an in-process request has in place of a connection; one is enough, and fast."""
    stream = StreamReader(BaseProtocol(asyncio.get_running_loop()), 2**20)
    stream.feed_data(body)
    stream.feed_eof()
    headers = {"Content-Type": content_type} | ({} if authorization is None else {"Authorization": authorization})
    request = make_mocked_request(
        "POST",
        MESSAGES_PATH,
        headers,
        payload=stream,
        app=connection,
        writer=connection,
        protocol=connection,
        transport=connection,
    )
    return await endpoint.receive_activity(request)


async def test_no_body_and_no_header_causes_an_error_or_is_let_in(
    teams: TeamsServer, reception: TeamsReception, keys: ConnectorKeys
) -> None:
    ada = teams.tenant.add_person("Ada")
    chat = teams.tenant.personal_chat_of(ada)
    activity = teams.base_activity("message", ada, chat, chat.id, "1")
    activity |= teams.text_fields(ada, chat, "List receipts", mention=False)
    forged_tokens = [
        teams.sign_delivery(key=teams.keys.create_key(), kid=teams.keys.current.kid),
        teams.sign_delivery(key=teams.keys.create_key()),
        teams.sign_delivery(age_s=9000),
        teams.sign_delivery(aud="other"),
        teams.sign_delivery(algorithm="none"),
        teams.sign_delivery(algorithm="HS256"),
    ]
    fuzzer = RequestFuzzer(activity, teams.sign_delivery(), forged_tokens)
    endpoint, statuses, connection = reception.build_endpoint(keys), Counter[int](), Mock()
    for number in range(REQUESTS):
        reception.accepted.clear()
        authorization, is_valid = fuzzer.make_authorization()
        body, is_sound = fuzzer.make_body()
        content_type = "application/json" if fuzzer.random.random() < 0.9 else fuzzer.random.choice(TYPES)

        response = await send_request(endpoint, body, content_type, authorization, connection)

        statuses[response.status] += 1
        assert response.status < 500, f"request {number}"
        assert is_valid or not (reception.accepted or response.status < 400), f"request {number}"
        if is_valid and is_sound and content_type == "application/json":
            assert (response.status, len(reception.accepted)) == (202, 1), f"request {number}"

    assert set(statuses) >= {202, 400, 401, 403, 415}
    assert all(line["level"] == "info" for line in reception.log_lines)


async def test_a_real_server_answers_broken_transfers_with_a_refusal(
    teams: TeamsServer, reception: TeamsReception, keys: ConnectorKeys
) -> None:
    app = web.Application()
    app.router.add_post(MESSAGES_PATH, reception.build_endpoint(keys).receive_activity)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    head = f"POST {MESSAGES_PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n"
    signed = f"{head}Authorization: Bearer {teams.sign_delivery()}\r\n"
    requests = [
        f"{signed}Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        f"{signed}Transfer-Encoding: chunked\r\n\r\n1\r\n",
        f"{signed}Content-Length: 20\r\n\r\n{{}}",
        f"{signed}Content-Length: -1\r\n\r\n",
        f"{signed}Content-Length: 99999999999\r\n\r\n",
        f"{signed}Content-Encoding: deflate\r\nContent-Length: 2\r\n\r\n{{}}",
        f"{signed}Content-Encoding: br\r\nContent-Length: 2\r\n\r\n{{}}",
        f"{head}Authorization: Bearer {'a' * 20_000}\r\nContent-Length: 2\r\n\r\n{{}}",
        f"{head}Authorization: Bearer \xff\xfe.\xff.\xff\r\nContent-Length: 2\r\n\r\n{{}}",
        f"{head}Authorization: \x00\r\nContent-Length: 2\r\n\r\n{{}}",
        f"{signed}{signed}Content-Length: 2\r\n\r\n{{}}",
    ]

    answers = [await _send_raw(runner.addresses[0][1], request.encode("latin-1")) for request in requests]

    await runner.cleanup()
    assert [answer[:12] for answer in answers if answer and not answer.startswith(b"HTTP/1.1 4")] == []
    assert reception.accepted == []


async def _send_raw(port: int, request: bytes) -> bytes:
    """The answer; empty where the connection ended without one."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    writer.write_eof()
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer
