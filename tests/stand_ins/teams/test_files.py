"""Files: consent, uploads in pieces, and what people attach."""

from typing import Any

import aiohttp
import pytest

from tests.stand_ins.teams.conftest import ConnectorClient, TeamsRecordingApp
from tests.stand_ins.teams.files import PIECE
from tests.stand_ins.teams.server import TeamsActionNotPossible, TeamsFault, TeamsServer
from tests.stand_ins.teams.tenancy import CONSENT_CARD, FILE_CARD, TenantConversation, TenantMessage, TenantPerson


@pytest.fixture
async def offer(teams: TeamsServer, client: ConnectorClient, chat: TenantConversation) -> TenantMessage:
    content = {"sizeInBytes": 10, "acceptContext": {"export": "e1"}, "declineContext": {"export": "e1"}}
    await client.send(chat.id, attachments=[{"contentType": CONSENT_CARD, "name": "pumps.csv", "content": content}])
    return teams.tenant.bot_messages(chat)[0]


async def accept_file(
    teams: TeamsServer, app: TeamsRecordingApp, ada: TenantPerson, offer: TenantMessage, **options: Any
) -> dict[str, Any]:
    app.answers.append({})
    delivery = await teams.accept(ada, offer, **options)
    assert delivery.is_accepted
    return app.received[-1]["value"]["uploadInfo"]


async def put(
    http: aiohttp.ClientSession, url: str, content: bytes, span: str, **headers: str
) -> tuple[int, dict[str, Any]]:
    async with http.put(url, data=content, headers={"Content-Range": f"bytes {span}", **headers}) as response:
        return response.status, await response.json()


async def test_an_accepted_file_is_uploaded_and_shown(
    teams: TeamsServer, app: TeamsRecordingApp, client: ConnectorClient, ada: TenantPerson, chat: TenantConversation,
    offer: TenantMessage,
) -> None:  # fmt: skip
    upload = await accept_file(teams, app, ada, offer)
    status, item = await put(client.http, upload["uploadUrl"], b"a;b\n1;2\n", "0-7/8")
    card = {"contentType": FILE_CARD, "name": upload["name"], "contentUrl": upload["contentUrl"]}
    content = {"uniqueId": upload["uniqueId"], "fileType": upload["fileType"]}
    shown = await client.update(chat.id, offer.id, attachments=[{**card, "content": content}])

    invoke = app.received[-1]
    assert (invoke["name"], invoke["value"]["context"], invoke["replyToId"]) == (
        "fileConsent/invoke",
        {"export": "e1"},
        offer.id,
    )
    assert (status, item["size"], shown.status) == (201, 8, 200)
    assert teams.files.uploaded_files() == {"pumps.csv": b"a;b\n1;2\n"}


async def test_a_file_comes_in_pieces_and_goes_on_where_it_stopped(
    teams: TeamsServer, app: TeamsRecordingApp, ada: TenantPerson, offer: TenantMessage, http: aiohttp.ClientSession
) -> None:
    url = (await accept_file(teams, app, ada, offer))["uploadUrl"]
    size = PIECE + 5
    teams.plan_faults("upload", TeamsFault(status=503), TeamsFault(status=504, takes_effect=True))
    lost = await http.put(url, data=b"x" * PIECE, headers={"Content-Range": f"bytes 0-{PIECE - 1}/{size}"})
    unclear = await http.put(url, data=b"x" * PIECE, headers={"Content-Range": f"bytes 0-{PIECE - 1}/{size}"})
    repeated, _ = await put(http, url, b"x" * PIECE, f"0-{PIECE - 1}/{size}")
    async with http.get(url) as response:
        expected = (await response.json())["nextExpectedRanges"]
    last, _ = await put(http, url, b"y" * 5, f"{PIECE}-{size - 1}/{size}")

    assert (lost.status, unclear.status, repeated, expected, last) == (503, 504, 416, [f"{PIECE}-"], 201)
    assert teams.files.uploaded_files()["pumps.csv"] == b"x" * PIECE + b"y" * 5


@pytest.mark.parametrize(
    ("content", "span", "status"),
    [
        (b"ab", "1-2/3", 416),
        (b"ab", "0-2/3", 400),
        (b"ab", "0-1/1", 400),
        (b"ab", "0-1/3", 400),
        (b"ab", "0-1/*", 400),
    ],
)
async def test_a_piece_with_a_wrong_range_is_refused(
    teams: TeamsServer, app: TeamsRecordingApp, ada: TenantPerson, offer: TenantMessage, http: aiohttp.ClientSession,
    content: bytes, span: str, status: int,
) -> None:  # fmt: skip
    url = (await accept_file(teams, app, ada, offer))["uploadUrl"]

    assert (await put(http, url, content, span))[0] == status
    assert teams.files.uploaded_files() == {}


async def test_an_upload_takes_no_token_expires_and_can_be_cancelled(
    teams: TeamsServer, app: TeamsRecordingApp, ada: TenantPerson, offer: TenantMessage, http: aiohttp.ClientSession
) -> None:
    url = (await accept_file(teams, app, ada, offer))["uploadUrl"]
    with_token, _ = await put(http, url, b"a", "0-0/1", Authorization="Bearer x")
    async with http.delete(url) as response:
        cancelled = response.status
    after, _ = await put(http, url, b"a", "0-0/1")
    expired_url = (await accept_file(teams, app, ada, offer, valid_s=-1))["uploadUrl"]
    expired, _ = await put(http, expired_url, b"a", "0-0/1")

    assert (with_token, cancelled, after, expired) == (401, 204, 404, 404)


async def test_a_file_is_declined(
    teams: TeamsServer, app: TeamsRecordingApp, ada: TenantPerson, bob: TenantPerson, offer: TenantMessage
) -> None:
    await teams.decline(ada, offer)

    assert app.received[0]["value"] == {"type": "fileUpload", "action": "decline", "context": {"export": "e1"}}
    with pytest.raises(TeamsActionNotPossible):
        await teams.accept(bob, offer)


async def test_a_person_attaches_a_file_that_is_read_without_a_token(
    teams: TeamsServer,
    app: TeamsRecordingApp,
    ada: TenantPerson,
    group: TenantConversation,
    http: aiohttp.ClientSession,
) -> None:
    attachment = teams.upload_attachment("a.txt", b"hello", "text/plain")
    await teams.say(ada, None, "read this", attachments=[attachment])
    await teams.say(ada, group, "read this", attachments=[attachment])
    url = app.received[0]["attachments"][0]["content"]["downloadUrl"]

    async with http.get(url) as response:
        assert await response.read() == b"hello"
    async with http.get(url, headers={"Authorization": "Bearer x"}) as response:
        assert response.status == 401
    old = teams.upload_attachment("b.txt", b"hello", valid_s=-1)
    async with http.get(old["content"]["downloadUrl"]) as response:
        assert response.status == 403
    assert [part["contentType"] for part in app.received[1]["attachments"]] == ["text/html"]


async def test_a_pasted_image_is_read_with_the_apps_token(
    teams: TeamsServer, app: TeamsRecordingApp, client: ConnectorClient, ada: TenantPerson
) -> None:
    await teams.say(ada, None, "look", attachments=[teams.paste_image(b"png")])
    path = app.received[0]["attachments"][0]["contentUrl"].removeprefix(teams.service_url)

    assert (await client.call("GET", path)).body == "png"
    client.token = "other"
    assert (await client.call("GET", path)).status == 401
