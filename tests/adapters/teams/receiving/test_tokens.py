"""Only activities with a valid token of the Bot Connector are let in."""

import json
from typing import Any

import pytest

from tests.adapters.teams.reception import TeamsReception
from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.signing import StandInKey, sign_claims
from tests.stand_ins.teams.tenancy import APP_ID, OTHER_TENANT, TenantPerson

MINUTE = 60.0
JSON = {"Content-Type": "application/json; charset=utf-8"}


def a_message(teams: TeamsServer, person: TenantPerson, **changes: Any) -> dict[str, Any]:
    chat = teams.tenant.personal_chat_of(person)
    activity = teams.base_activity("message", person, chat, chat.id, teams.tenant.next_activity_id())
    return {**activity, **teams.text_fields(person, chat, "List receipts", mention=False), **changes}


async def deliver_with(teams: TeamsServer, person: TenantPerson, authorization: str | None) -> int | None:
    headers = JSON if authorization is None else {**JSON, "Authorization": authorization}
    status, _ = await teams.post_to_app(json.dumps(a_message(teams, person)).encode(), headers)
    return status


async def test_a_signed_message_is_accepted(reception: TeamsReception, teams: TeamsServer, ada: TenantPerson) -> None:
    _, [delivery] = await teams.say(ada, None, "List receipts")

    assert delivery.statuses == [202]
    assert len(reception.accepted) == 1


async def test_forged_tokens_are_refused(reception: TeamsReception, teams: TeamsServer, ada: TenantPerson) -> None:
    unpublished = teams.keys.create_key()
    tokens = {
        "another key under a known id": teams.sign_delivery(key=unpublished, kid=teams.keys.current.kid),
        "an unpublished key": teams.sign_delivery(key=unpublished),
        "no algorithm": teams.sign_delivery(algorithm="none"),
        "a shared secret": teams.sign_delivery(algorithm="HS256"),
        "another RSA algorithm": teams.sign_delivery(algorithm="RS512"),
        "expired": teams.sign_delivery(age_s=3600 + 6 * MINUTE),
        "of the future": teams.sign_delivery(age_s=-6 * MINUTE),
        "another issuer": teams.sign_delivery(iss="https://sts.windows.net/"),
        "another audience": teams.sign_delivery(aud="00000000-0000-4000-8000-000000000000"),
        "several audiences": teams.sign_delivery(aud=[APP_ID, "other"]),
        "another service URL": teams.sign_delivery("https://smba.example/emea/"),
        "a service URL without its slash": teams.sign_delivery(teams.service_url.rstrip("/")),
        "an expiry that is no number": teams.sign_delivery(exp="never"),
        "an endless expiry": teams.sign_delivery(exp=float("inf")),
        **{f"no {name}": teams.sign_delivery(without={name}) for name in ("iss", "aud", "exp", "serviceurl")},
    }
    message = a_message(teams, ada)

    statuses = {name: (await teams.deliver_activity(message, token=token)).statuses for name, token in tokens.items()}

    assert statuses == {name: [401] for name in tokens}
    assert reception.accepted == []


@pytest.mark.parametrize("age_s", [3600 + 4 * MINUTE, -4 * MINUTE])
async def test_clocks_may_differ_by_five_minutes(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson, age_s: float
) -> None:
    delivery = await teams.deliver_activity(a_message(teams, ada), token=teams.sign_delivery(age_s=age_s))

    assert delivery.statuses == [202]


async def test_a_key_of_another_channel_is_refused(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson
) -> None:
    web_chat_key = teams.keys.create_key(endorsements=("webchat",))
    plain_key = teams.keys.create_key(endorsements=None)
    teams.keys.published = [web_chat_key, plain_key, *teams.keys.published]
    reception.clock.now_s += 2 * MINUTE

    delivered = [
        await teams.deliver_activity(a_message(teams, ada), token=teams.sign_delivery(key=key))
        for key in (web_chat_key, plain_key)
    ]

    assert [delivery.statuses for delivery in delivered] == [[401], [401]]
    assert reception.accepted == []


async def test_another_channel_is_refused_even_if_its_key_is_endorsed(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson
) -> None:
    """Web Chat is on in every bot, and lets anyone write the tenant and the person into an activity."""
    key = teams.keys.create_key(endorsements=("webchat", "msteams"))
    teams.keys.published = [key]
    reception.clock.now_s += 2 * MINUTE

    delivery = await teams.deliver_activity(a_message(teams, ada, channelId="webchat"))

    assert delivery.statuses == [403]
    assert reception.accepted == []


@pytest.mark.parametrize(
    "place",
    [
        {"channelData": {"tenant": {"id": OTHER_TENANT}}},
        {"channelData": {}, "conversation": {"id": "a:1", "conversationType": "personal"}},
        {"conversation": {"id": "a:1", "conversationType": "personal", "tenantId": OTHER_TENANT}},
    ],
    ids=["another", "none", "two"],
)
async def test_a_tenant_that_is_not_accepted_is_refused(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson, place: dict[str, Any]
) -> None:
    delivery = await teams.deliver_activity(a_message(teams, ada, **place))

    assert delivery.statuses == [403]
    assert reception.accepted == []


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer a.b",
        "Bearer a.b.c.d",
        "Bearer ..",
        "Basic dXNlcjpwYXNz",
        "Bearer " + "[" * 4000 + ".e30.c2ln",
        # a header of a thousand nested lists
        "Bearer W1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tb.e30.c2ln",
        "Bearer eyJhbGciOiJSUzI1NiJ9.e30.c2ln",
        "Bearer eyJhbGciOiJSUzI1NiIsImtpZCI6MX0.e30.c2ln",
    ],
)
async def test_a_request_without_a_readable_token_is_refused(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson, authorization: str | None
) -> None:
    assert await deliver_with(teams, ada, authorization) == 401
    assert reception.accepted == []


async def test_the_scheme_is_read_in_any_case(reception: TeamsReception, teams: TeamsServer, ada: TenantPerson) -> None:
    assert await deliver_with(teams, ada, f"bearer {teams.sign_delivery()}") == 202


async def test_claims_that_are_no_object_are_refused(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson
) -> None:
    signed = sign_claims({"iss": "x", "aud": {}, "exp": None, "serviceurl": 1}, teams.keys.current)

    assert (await teams.deliver_activity(a_message(teams, ada), token=signed)).statuses == [401]


async def test_a_refusal_names_no_reason_to_the_client_and_logs_nothing_secret(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson
) -> None:
    token = teams.sign_delivery(iss="https://elsewhere.example")

    delivery = await teams.deliver_activity(a_message(teams, ada, text="a secret question"), token=token)

    [refusal] = [line for line in reception.log_lines if line["event"] == "teams request refused"]
    assert delivery.body == ""
    assert refusal == {
        "level": "info",
        "event": "teams request refused",
        "status": 401,
        "reason": "another issuer or audience",
    }


def test_the_stand_in_makes_keys_of_the_length_that_microsoft_uses() -> None:
    assert StandInKey(number=0).private.key_size == 2048
