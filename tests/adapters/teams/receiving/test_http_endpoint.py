"""What the route answers: by type, size and form of the body, and once the activity is stored."""

import gzip
import json
from typing import Any

import pytest

from adapters.teams.receiving.request_body import MAX_BODY_BYTES
from bot.surface.inbound import TextMessage
from tests.adapters.teams.receiving.test_tokens import JSON, a_message
from tests.adapters.teams.reception import TeamsReception
from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.tenancy import TenantPerson


async def post_signed(teams: TeamsServer, body: bytes, **headers: str) -> int | None:
    authorization = {"Authorization": f"Bearer {teams.sign_delivery()}"}
    status, _ = await teams.post_to_app(body, {**JSON, **authorization, **headers})
    return status


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"{}",
        b"\xff\xfe{}",
        b"\xef\xbb\xbf{}",
        b'{"type": "message", "type": NaN}',
        b'{"value": Infinity}',
        b'{"value": 1e999}',
        b'{"value": ' + b"9" * 5000 + b"}",
        b'{"a":' * 100_000,
        b"[" * 100_000,
        b'{"type": "message", "serviceUrl": "https://x", "from": [], "recipient": 1, "conversation": null}',
    ],
)
async def test_a_body_that_is_no_activity_is_refused(
    reception: TeamsReception, teams: TeamsServer, body: bytes
) -> None:
    assert await post_signed(teams, body) == 400
    assert reception.accepted == []


@pytest.mark.parametrize(
    "changes",
    [
        {"text": "\ud800"},
        {"value": {"deep": ["\udfff"]}},
        {"text": {"no": "text"}},
        {"from": {"id": ""}},
        {"from": {"id": "29:1", "aadObjectId": "nul \0"}},
        {"conversation": {"id": "a:" + "x" * 600, "conversationType": "personal"}},
        {"id": "é"},
        {"serviceUrl": "http://smba.example/emea/"},
        {"serviceUrl": "file:///etc/passwd"},
        {"serviceUrl": ""},
        {"serviceUrl": "https://"},
        {"serviceUrl": "https://[::1"},
        {"serviceUrl": "https://example.org:99999/"},
        {"serviceUrl": "https://user:word@example.org/"},
        {"serviceUrl": "https://exa mple.org/"},
        {"serviceUrl": "https://example.org/" + "x" * 600},
        {"serviceUrl": "http://127.0.0.1.example.org/"},
        {"type": None},
    ],
)
async def test_an_activity_with_a_wrong_field_is_refused(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson, changes: dict[str, Any]
) -> None:
    body = json.dumps(a_message(teams, ada, **changes)).encode()

    assert await post_signed(teams, body) == 400
    assert reception.accepted == []


async def test_a_pair_of_surrogate_escapes_is_one_character(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson
) -> None:
    assert await post_signed(teams, json.dumps(a_message(teams, ada, text="pumps 😀")).encode()) == 202
    assert reception.accepted[0].body == TextMessage("pumps 😀")


async def test_a_null_field_is_a_missing_one(reception: TeamsReception, teams: TeamsServer, ada: TenantPerson) -> None:
    body = json.dumps(a_message(teams, ada, value=None, replyToId=None, attachments=None)).encode()

    assert await post_signed(teams, body) == 202


async def test_an_entity_of_an_unknown_kind_is_skipped(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson
) -> None:
    entities = [{"type": "https://schema.org/Message", "text": {"any": "shape"}}, {"type": "x", "mentioned": 1}]

    assert await post_signed(teams, json.dumps(a_message(teams, ada, entities=entities)).encode()) == 202


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "", "application/x-www-form-urlencoded", "application/json; charset=utf-16", "json", ";;;"],
)
async def test_another_content_type_is_refused(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson, content_type: str
) -> None:
    body = json.dumps(a_message(teams, ada)).encode()

    assert await post_signed(teams, body, **{"Content-Type": content_type}) == 415


async def test_a_compressed_body_is_refused_also_when_it_is_damaged(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson
) -> None:
    body = gzip.compress(json.dumps(a_message(teams, ada)).encode())

    assert await post_signed(teams, body, **{"Content-Encoding": "gzip"}) == 415
    assert await post_signed(teams, b"no gzip", **{"Content-Encoding": "gzip"}) == 415


async def test_a_body_that_is_too_large_is_refused(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson
) -> None:
    assert await post_signed(teams, b" " * (MAX_BODY_BYTES + 1)) == 413


async def test_a_large_activity_is_accepted(reception: TeamsReception, teams: TeamsServer, ada: TenantPerson) -> None:
    assert await post_signed(teams, json.dumps(a_message(teams, ada, text="é" * 50_000)).encode()) == 202


async def test_a_message_that_cannot_be_stored_is_delivered_again(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson
) -> None:
    reception.failures = 1

    _, [delivery] = await teams.say(ada, None, "List receipts")

    assert delivery.statuses == [503, 202]
    assert len(reception.accepted) == 1


async def test_a_message_that_is_delivered_twice_is_accepted_once(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson
) -> None:
    _, deliveries = await teams.say(ada, None, "List receipts", deliveries=3)

    assert [delivery.statuses for delivery in deliveries] == [[202]] * 3
    assert len(reception.accepted) == 1


async def test_the_newest_service_url_of_a_conversation_is_kept(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson
) -> None:
    await teams.say(ada, None, "List receipts")
    await teams.say(ada, None, "List contracts")
    await reception.conversations.close()
    writes_before = reception.service_urls.writes
    teams.move_region("amer")

    await teams.say(ada, None, "List parts")
    await reception.conversations.close()

    assert list(reception.service_urls.urls.values()) == [teams.service_url]
    assert (writes_before, reception.service_urls.writes) == (1, 2)
