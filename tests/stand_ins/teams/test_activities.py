"""The connector refuses activities that Teams would refuse, or whose data is not escaped."""

import json
from typing import Any

import pytest

from tests.stand_ins.teams.activity_checker import CARD_BYTES, MESSAGE_BYTES
from tests.stand_ins.teams.conftest import ConnectorClient
from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.tenancy import ADAPTIVE_CARD, CONSENT_CARD, FILE_CARD, TenantConversation

ROOT: dict[str, Any] = {"type": "https://schema.org/Message", "@type": "Message", "@context": "https://schema.org"}
PERSON = {"id": "29:1", "name": "Ada"}


def a_claim(position: int = 1, **appearance: Any) -> dict[str, Any]:
    fields = {"@type": "DigitalDocument", "name": "Manual, page 4", **appearance}
    return {"@type": "Claim", "position": position, "appearance": fields}


def a_card_attachment(text: str = "hello", **fields: Any) -> dict[str, Any]:
    card = {"type": "AdaptiveCard", "version": "1.5", "body": [{"type": "TextBlock", "text": text}], **fields}
    return {"contentType": ADAPTIVE_CARD, "content": card}


def a_consent(**fields: Any) -> dict[str, Any]:
    content = {"description": "3 rows", "sizeInBytes": 30, "acceptContext": {"id": "e1"}, "declineContext": {}}
    return {"contentType": CONSENT_CARD, "name": "pumps.csv", "content": {**content, **fields}}


@pytest.mark.parametrize(
    "activity",
    [
        {"text": "see [1]", "entities": [{**ROOT, "additionalType": ["AIGeneratedContent"], "citation": [a_claim()]}]},
        {"text": "a", "channelData": {"feedbackLoop": {"type": "default"}}},
        {"text": "<at>Ada</at> look", "entities": [{"type": "mention", "mentioned": PERSON, "text": "<at>Ada</at>"}]},
        {"attachments": [a_card_attachment()], "summary": "a card"},
        {"text": "a &lt;at&gt;", "textFormat": "markdown"},
        {"attachments": [a_consent()]},
        {"text": "x" * (MESSAGE_BYTES // 2 - 200)},
        {"text": "see [1]", "entities": [{**ROOT, "citation": [a_claim(keywords=["pump"], abstract="x" * 160, url="https://example.org", image={"@type": "ImageObject", "name": "PDF"})]}]},
    ],
)  # fmt: skip
async def test_a_sound_activity_is_accepted(
    client: ConnectorClient, chat: TenantConversation, activity: dict[str, Any]
) -> None:
    sent = await client.send(chat.id, **activity)

    assert sent.status == 201, sent.body


# Each with a part of the refusal's text.
MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({}, "without text and attachments"),
    ({"text": "  "}, "without text and attachments"),
    ({"text": 5}, "text is no text"),
    ({"text": "a", "type": "event"}, "type 'event'"),
    ({"text": "a", "textFormat": "html"}, "textFormat"),
    ({"text": "a", "attachmentLayout": "grid"}, "attachmentLayout"),
    ({"text": "a", "entities": {"type": "mention"}}, "entities: no list"),
    ({"text": "a", "entities": ["mention"]}, "entities: no object"),
    ({"text": "a", "entities": [{"type": "clientInfo"}]}, "Error parsing message entity"),
    ({"text": "a", "entities": [{"type": "https://schema.org/Message"}]}, "Error parsing message entity"),
    ({"text": "a", "entities": [{"type": "mention"}]}, "Error parsing message entity"),
    ({"text": "a", "entities": [ROOT, ROOT]}, "Multiple root message entities"),
    ({"text": "a", "entities": [{**ROOT, "additionalType": ["Human"]}]}, "additionalType"),
    ({"text": "a", "entities": [{**ROOT, "label": "AI"}]}, "unknown"),
    ({"text": "<at>Ada</at>"}, "a mention without its entity"),
    ({"text": "a</at>"}, "a mention without its entity"),
    ({"text": "a", "entities": [{"type": "mention", "mentioned": PERSON, "text": "<at>Ada</at>"}]}, "not in the text"),
    ({"text": "a", "entities": [{"type": "mention", "mentioned": {"name": "Ada"}, "text": "a"}]}, "id is no text"),
    ({"text": "a", "entities": [{**ROOT, "citation": [a_claim()]}]}, "ID: 1: not in the text"),
    ({"text": "[1]", "entities": [{**ROOT, "citation": [a_claim(), a_claim()]}]}, "two citations of one position"),
    ({"text": "[1]", "entities": [{**ROOT, "citation": [a_claim(name="x" * 81)]}]}, "name is over 80"),
    ({"text": "[1]", "entities": [{**ROOT, "citation": [a_claim(name="")]}]}, "name is no text"),
    ({"text": "[1]", "entities": [{**ROOT, "citation": [a_claim(abstract="x" * 161)]}]}, "abstract is over 160"),
    ({"text": "[1]", "entities": [{**ROOT, "citation": [a_claim(url="file:///a")]}]}, "no URL"),
    ({"text": "[1]", "entities": [{**ROOT, "citation": [a_claim(keywords=["a"] * 4)]}]}, "over 3 keywords"),
    ({"text": "[1]", "entities": [{**ROOT, "citation": [a_claim(keywords=["a" * 29])]}]}, "keyword over 28"),
    ({"text": "[1]", "entities": [{**ROOT, "citation": [a_claim(image={"@type": "ImageObject", "name": "Parley"})]}]}, "image"),
    ({"text": "[1]", "entities": [{**ROOT, "citation": [a_claim(page=4)]}]}, "unknown"),
    ({"text": "[0]", "entities": [{**ROOT, "citation": [a_claim(0)]}]}, "position"),
    ({"text": "[1]", "entities": [{**ROOT, "citation": [{"@type": "Claim", "position": 1, "appearance": {}}]}]}, "appearance object is empty"),
    ({"text": "".join(f"[{n}]" for n in range(1, 22)), "entities": [{**ROOT, "citation": [a_claim(n) for n in range(1, 22)]}]}, "more than 20 citations"),
    ({"text": "a", "channelData": {"feedbackLoop": {"type": "thumbs"}}}, "feedbackLoop"),
    ({"text": "a", "channelData": "x"}, "channelData: no object"),
    ({"attachments": [{"content": {}}]}, "contentType is no text"),
    ({"attachments": [{"contentType": "application/pdf", "contentUrl": "https://example.org"}]}, "attachment of the type"),
    ({"attachments": [{**a_card_attachment(), "text": "x"}]}, "attachment: unknown"),
    ({"attachments": [a_card_attachment(version="1.6")]}, "version 1.6"),
    ({"attachments": [a_consent(sizeInBytes=0)]}, "sizeInBytes"),
    ({"attachments": [a_consent(acceptContext="e1")]}, "acceptContext: no object"),
    ({"attachments": [a_consent(rows=3)]}, "unknown"),
    ({"attachments": [a_consent(), a_card_attachment()]}, "file consent: alone"),
    ({"text": "a", "from": {"id": "28:other"}}, "from is another account"),
]  # fmt: skip


@pytest.mark.parametrize(("activity", "problem"), MISTAKES)
async def test_an_activity_with_a_mistake_is_refused(
    teams: TeamsServer, client: ConnectorClient, chat: TenantConversation, activity: dict[str, Any], problem: str
) -> None:
    sent = await client.send(chat.id, **activity)

    assert sent.status == 400
    assert problem in sent.body["error"]["message"]
    assert teams.tenant.bot_messages() == []
    assert [call.status for call in teams.refusals] == [400]


async def test_what_is_too_large_is_refused(client: ConnectorClient, chat: TenantConversation) -> None:
    long_text, long_card = "x" * (MESSAGE_BYTES // 2), a_card_attachment("x" * CARD_BYTES)
    many = [a_card_attachment("ü" * 9000)] * 6

    for activity in ({"text": long_text}, {"attachments": [long_card]}, {"attachments": many}):
        refusal = await client.send(chat.id, **activity)
        assert (refusal.status, refusal.error) == (413, "MessageSizeTooBig")


async def test_file_consent_is_for_personal_chats_of_apps_that_support_files(
    teams: TeamsServer, client: ConnectorClient, chat: TenantConversation, group: TenantConversation
) -> None:
    assert (await client.send(group.id, attachments=[a_consent()])).status == 400
    teams.supports_files = False
    assert (await client.send(chat.id, attachments=[a_consent()])).status == 400


async def test_a_file_card_needs_a_file_that_was_uploaded(client: ConnectorClient, chat: TenantConversation) -> None:
    card = {"contentType": FILE_CARD, "name": "a.csv", "contentUrl": "https://x.example/a.csv"}
    refusal = await client.send(chat.id, attachments=[{**card, "content": {"uniqueId": "u1", "fileType": "csv"}}])

    assert "not uploaded" in refusal.body["error"]["message"]


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [(b"{}", "text/plain", 415), (b"{", "application/json", 400), (b"[]", "application/json", 400)],
)
async def test_a_body_that_is_no_json_object_is_refused(
    teams: TeamsServer, client: ConnectorClient, chat: TenantConversation, body: bytes, content_type: str, status: int
) -> None:
    token = (await client.fetch_token()).body["access_token"]
    headers = {"Authorization": f"Bearer {token}", "Content-Type": content_type}
    url = f"{teams.service_url}v3/conversations/{chat.id}/activities"
    async with client.http.post(url, data=body, headers=headers) as response:
        assert (response.status, "code" in json.loads(await response.text())["error"]) == (status, True)


@pytest.mark.parametrize(
    "activity",
    [
        {"text": "a", "attachments": [a_card_attachment("b")]},
        {"attachments": [a_card_attachment("a"), a_card_attachment("b")]},
    ],
)
async def test_several_parts_become_messages_of_their_own_and_get_no_id(
    teams: TeamsServer, client: ConnectorClient, chat: TenantConversation, activity: dict[str, Any]
) -> None:
    sent = await client.send(chat.id, **activity)

    assert (sent.status, sent.body) == (202, "")
    assert [message.visible_text() for message in teams.tenant.bot_messages()] == ["a", "b"]


async def test_a_carousel_is_one_message(client: ConnectorClient, chat: TenantConversation) -> None:
    cards = [a_card_attachment("a"), a_card_attachment("b")]

    assert (await client.send(chat.id, attachments=cards, attachmentLayout="carousel")).status == 201
