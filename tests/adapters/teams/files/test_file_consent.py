"""Exports in personal chats: offered on a card, accepted or declined, uploaded in pieces, and shown as a file."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import adapters.teams.files.upload_session as upload_session
from adapters.teams.errors import TeamsRefusal
from adapters.teams.files.upload_session import PIECE_UNIT_BYTES
from bot.conversation.file_offers import TEXT_LIFETIME, UPLOAD_LEASE
from bot.ids import MessageId, Subject, TurnId
from bot.surface.inbound import PrivateAudience
from bot.translation import use_language
from storage.embedded.index import EmbeddedIndex
from tests.adapters.teams.files.conftest import TURN, ConsentDesk, kinds_of
from tests.bot.conftest import ConversationDriver
from tests.bot.fakes import Clock
from tests.builders import RECEIPTS
from tests.stand_ins.teams.faults import TeamsFault
from tests.stand_ins.teams.tenancy import ADAPTIVE_CARD, FILE_CARD, TenantMessage, TenantPerson

NOT_AVAILABLE = "This file is not available any more; please ask for it again."

pytestmark = pytest.mark.usefixtures("bot")


def read_file(path: str) -> bytes:
    return Path(path).read_bytes()


def write_file(path: str, content: bytes) -> None:
    Path(path).write_bytes(content)


async def enlarge_export(desk: ConsentDesk, pieces: float) -> tuple[TenantMessage, bytes]:
    """Offers a file of so many times 320 KiB. Returns the offer and the content."""
    file = await desk.write_export()
    content = bytes(range(256)) * int(PIECE_UNIT_BYTES * pieces / 256)
    write_file(file.path, content)
    return await desk.offer_export(), content


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of the least size."""
    monkeypatch.setattr(upload_session, "PIECE_BYTES", PIECE_UNIT_BYTES)


async def test_the_offer_names_the_file_and_carries_an_opaque_id_alone(desk: ConsentDesk) -> None:
    file = await desk.write_export()

    offer = await desk.offer_export()

    [card] = offer.attachments
    context = card["content"].pop("acceptContext")
    assert card["name"] == "receipts-42.csv"
    assert card["content"] == {
        "description": "42 rows",
        "sizeInBytes": len(read_file(file.path)),
        "declineContext": context,
    }
    assert context.keys() == {"file"}
    assert not any(text in context["file"] for text in (desk.person_id, TURN, "receipts", "/"))
    assert desk.teams.refusals == []


async def test_an_accepted_file_goes_into_the_persons_files_and_its_card_replaces_the_offer(desk: ConsentDesk) -> None:
    file = await desk.write_export()
    offer = await desk.offer_export()

    delivery = await desk.teams.accept(desk.person, offer)
    await desk.wait_for_end()

    [message] = desk.messages()
    assert delivery.is_accepted
    assert desk.teams.files.uploaded_files() == {"receipts-42.csv": read_file(file.path)}
    assert (message.id, kinds_of(message)) == (offer.id, [FILE_CARD])
    assert message.attachments[0]["name"] == "receipts-42.csv"
    assert desk.teams.refusals == []


async def test_the_message_shows_the_progress(desk: ConsentDesk) -> None:
    offer = await desk.offer_export()

    await desk.teams.accept(desk.person, offer)
    await desk.wait_for_end()

    shown = [version.get("text") for version in offer.versions]
    assert shown == [None, "Saving receipts-42.csv among your files: 0 %"]


async def test_a_file_is_offered_once_for_a_turn(desk: ConsentDesk) -> None:
    file = await desk.write_export()

    await desk.offer_export()
    await desk.consents.offer_file(desk.address, TURN, MessageId("m1"), file)

    assert len(desk.messages()) == 1


async def test_a_declined_file_is_not_uploaded_and_the_offer_says_so(desk: ConsentDesk) -> None:
    with use_language("de"):
        offer = await desk.offer_export()

    delivery = await desk.teams.decline(desk.person, offer)

    [message] = desk.messages()
    assert delivery.is_accepted
    assert message.text == "Du hast diese Datei nicht genommen. Fordere sie noch einmal an, wenn du sie brauchst."
    assert desk.teams.files.uploads == {}


async def test_a_file_that_is_accepted_twice_is_uploaded_once(desk: ConsentDesk) -> None:
    offer = await desk.offer_export()
    card = TenantMessage(
        id=offer.id, conversation=offer.conversation, sender=offer.sender, activity=dict(offer.activity)
    )

    await desk.teams.accept(desk.person, card)
    await desk.teams.accept(desk.person, card)
    await desk.wait_for_end()

    messages = desk.messages()
    assert len(desk.teams.files.uploaded_files()) == 1
    assert [session.pieces for session in desk.teams.files.uploads.values()] == [1, 0]
    assert kinds_of(messages[0]) == [FILE_CARD]
    assert [message.text for message in messages[1:]] == [
        "This offer was answered already; please ask for the file again."
    ]


async def test_an_expired_offer_is_refused(desk: ConsentDesk, clock: Clock) -> None:
    offer = await desk.offer_export()
    clock.advance(timedelta(hours=24))

    await desk.teams.accept(desk.person, offer)
    await desk.wait_for_end()

    [message] = desk.messages()
    assert message.text == NOT_AVAILABLE
    assert desk.teams.files.uploaded_files() == {}


async def test_an_offer_is_refused_after_its_rights_are_gone(desk: ConsentDesk) -> None:
    offer = await desk.offer_export()
    await desk.revoke_access()

    await desk.teams.accept(desk.person, offer)
    await desk.wait_for_end()

    assert [message.text for message in desk.messages()] == [NOT_AVAILABLE]
    assert desk.teams.files.uploaded_files() == {}


@pytest.mark.usefixtures("small_pieces")
async def test_an_upload_stops_when_the_rights_are_revoked_between_two_pieces(desk: ConsentDesk) -> None:
    offer, _ = await enlarge_export(desk, 3)
    fault = TeamsFault(status=503)
    desk.teams.plan_faults("upload", TeamsFault(status=503, takes_effect=True), fault)
    desk.hosts.wait_before_retry = _revoke_on_retry(desk)

    await desk.teams.accept(desk.person, offer)
    await desk.wait_for_end()

    [session] = desk.teams.files.uploads.values()
    assert [message.text for message in desk.messages()] == [NOT_AVAILABLE]
    assert (session.is_cancelled, session.is_complete, session.pieces) == (True, False, 1)


@pytest.mark.usefixtures("small_pieces")
async def test_pieces_are_multiples_of_320_kib_and_a_cut_upload_is_resumed(desk: ConsentDesk) -> None:
    offer, content = await enlarge_export(desk, 2.5)
    lost_answer, busy, cut = TeamsFault(takes_effect=True), TeamsFault(status=429, retry_after=3), TeamsFault()
    desk.teams.plan_faults("upload", lost_answer, busy, cut)

    await desk.teams.accept(desk.person, offer)
    await desk.wait_for_end()

    [session] = desk.teams.files.uploads.values()
    assert session.content == content
    assert session.pieces == 3
    assert 3.0 in desk.pauses
    assert [kinds_of(message) for message in desk.messages()] == [[FILE_CARD]]


async def test_an_upload_that_fails_ends_in_a_link(desk: ConsentDesk) -> None:
    offer = await desk.offer_export()
    desk.teams.plan_faults("upload", TeamsFault(status=403))

    await desk.teams.accept(desk.person, offer)
    await desk.wait_for_end()

    [message] = desk.messages()
    [card] = message.cards
    [link] = message.card_actions()
    assert "receipts-42.csv could not be saved among your files" in card["fallbackText"]
    assert (await desk.bot.exports.find_download(link["url"].rpartition("/")[2])).name == "receipts-42.csv"
    assert desk.teams.refusals == []


async def test_an_upload_whose_address_has_expired_ends_in_a_link(desk: ConsentDesk) -> None:
    offer = await desk.offer_export()

    await desk.teams.accept(desk.person, offer, valid_s=-1)
    await desk.wait_for_end()

    assert [kinds_of(message) for message in desk.messages()] == [[ADAPTIVE_CARD]]


async def test_another_person_cannot_take_the_file(desk: ConsentDesk, bob: TenantPerson) -> None:
    [card] = (await desk.offer_export()).attachments
    bobs_chat = desk.teams.tenant.personal_chat_of(bob)
    forged = TenantMessage(
        id="1790000000099", conversation=bobs_chat.id, sender=desk.teams.tenant.bot_id, activity={"attachments": [card]}
    )

    await desk.teams.accept(bob, forged)
    await desk.wait_for_end()

    assert [message.text for message in desk.teams.tenant.bot_messages(bobs_chat)] == [
        "I do not know this file; please ask for it again."
    ]
    assert desk.teams.files.uploaded_files() == {}


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"action": "accept"},
        {"action": "delete", "context": {"file": "x"}},
        {"action": "accept", "context": {"file": "x" * 5000}},
        {"action": "accept", "context": "x", "uploadInfo": {}},
        {"action": "accept", "context": {"file": ["x"]}},
        {"action": "decline", "context": {"file": "a b"}},
        {"action": "decline", "context": {"export": "1"}},
    ],
)
async def test_a_forged_answer_is_acknowledged_and_hands_nothing_over(desk: ConsentDesk, value: Any) -> None:
    offer = await desk.offer_export()

    delivery = await desk.teams.send_invoke(desk.person, offer, "fileConsent/invoke", value)
    await desk.wait_for_end()

    assert delivery.is_accepted
    assert desk.offers() == [offer]
    assert [message.text for message in desk.messages()[1:]] in (
        [],
        ["I do not know this file; please ask for it again."],
    )


@pytest.mark.parametrize(
    "address",
    [
        "http://files.example/upload",
        "https://user:secret@files.example/upload",
        "ftp://files.example/upload",
        "file:///etc/passwd",
        "",
    ],
)
async def test_a_file_goes_nowhere_but_to_an_https_address(desk: ConsentDesk, address: str) -> None:
    offer = await desk.offer_export()

    await desk.teams.send_invoke(desk.person, offer, "fileConsent/invoke", _acceptance_of(offer, uploadUrl=address))
    await desk.wait_for_end()

    assert desk.offers() == [offer]
    assert [message.text for message in desk.messages()[1:]] == ["I do not know this file; please ask for it again."]


async def test_an_address_in_the_private_network_is_not_called(desk: ConsentDesk) -> None:
    offer = await desk.offer_export()
    acceptance = _acceptance_of(offer, uploadUrl="https://10.0.0.1/upload")

    await desk.teams.send_invoke(desk.person, offer, "fileConsent/invoke", acceptance)
    await desk.wait_for_end()

    assert [kinds_of(message) for message in desk.messages()] == [[ADAPTIVE_CARD]]
    assert desk.pauses == []


@pytest.mark.usefixtures("small_pieces")
async def test_an_upload_of_a_dead_process_is_taken_over_where_it_stopped(desk: ConsentDesk, clock: Clock) -> None:
    offer, content = await enlarge_export(desk, 2.5)
    await cut_first_upload(desk, offer)
    clock.advance(UPLOAD_LEASE)
    assert await desk.uploads.take_over_next()
    await desk.wait_for_end()

    [session] = desk.teams.files.uploads.values()
    assert (session.content, session.pieces) == (content, 3)
    assert [kinds_of(message) for message in desk.messages()] == [[FILE_CARD]]
    assert not await desk.uploads.take_over_next()


async def test_a_card_that_cannot_be_changed_is_replaced_by_a_new_message(desk: ConsentDesk) -> None:
    offer = await desk.offer_export()
    desk.teams.plan_faults("update", TeamsFault(status=403), TeamsFault(status=403))

    await desk.teams.accept(desk.person, offer)
    await desk.wait_for_end()

    assert [kinds_of(message) for message in desk.messages() if not message.is_deleted] == [[FILE_CARD]]
    assert offer.is_deleted


async def test_a_file_is_offered_at_the_newest_service_url(desk: ConsentDesk) -> None:
    file, earlier_address = await desk.write_export(), desk.address
    turn = await ask_in_chat(desk, "List every receipt")
    desk.move_region()

    await desk.consents.offer_file(earlier_address, TURN, MessageId("m1"), file)
    await desk.consents.offer_text(earlier_address, turn, MessageId("m1"), name="answer.txt", text="Ärger im Lager")

    assert len(desk.offers()) == 2
    assert desk.teams.refusals == []


async def test_an_upload_ends_at_the_newest_service_url(desk: ConsentDesk) -> None:
    offer, may_go_on = await desk.offer_export(), asyncio.Event()
    desk.teams.plan_faults("upload", TeamsFault(released_by=may_go_on))
    await desk.teams.accept(desk.person, offer)
    await desk.teams.wait_until(lambda: "0 %" in offer.text)

    desk.move_region()
    may_go_on.set()
    await desk.wait_for_end()

    assert [(message.id, kinds_of(message)) for message in desk.messages()] == [(offer.id, [FILE_CARD])]
    assert desk.teams.refusals == []


@pytest.mark.usefixtures("small_pieces")
async def test_an_upload_that_is_taken_over_ends_at_the_newest_service_url(desk: ConsentDesk) -> None:
    offer, _ = await enlarge_export(desk, 2.5)
    await cut_first_upload(desk, offer)
    desk.move_region()

    assert await desk.uploads.take_over_next()
    await desk.wait_for_end()

    assert [(message.id, kinds_of(message)) for message in desk.messages()] == [(offer.id, [FILE_CARD])]
    assert desk.teams.refusals == []


async def test_a_refused_offer_is_an_error_so_that_the_answer_shows_a_link(desk: ConsentDesk) -> None:
    file = await desk.write_export()
    desk.teams.supports_files = False

    with pytest.raises(TeamsRefusal):
        await desk.consents.offer_file(desk.address, TURN, MessageId("m1"), file)


async def test_a_file_that_may_no_longer_be_seen_is_not_offered(desk: ConsentDesk) -> None:
    file = await desk.write_export()
    await desk.revoke_access()

    with pytest.raises(FileNotFoundError):
        await desk.consents.offer_file(desk.address, TURN, MessageId("m1"), file)

    assert desk.messages() == []


def _acceptance_of(offer: TenantMessage, **changes: str) -> Mapping[str, Any]:
    info = {
        "contentUrl": "https://files.example/receipts.csv",
        "uploadUrl": "https://files.example/upload",
        "uniqueId": "1",
        "fileType": "csv",
        "name": "receipts-42.csv",
    }
    context = offer.attachments[0]["content"]["acceptContext"]
    return {"type": "fileUpload", "action": "accept", "context": context, "uploadInfo": {**info, **changes}}


def _revoke_on_retry(desk: ConsentDesk) -> Any:
    async def revoke(attempt: int, error: Exception) -> None:
        await desk.revoke_access()

    return revoke


async def cut_first_upload(desk: ConsentDesk, offer: TenantMessage) -> None:
    """Accepts the offer; this process ends after the first piece."""
    desk.teams.plan_faults("upload", TeamsFault(takes_effect=True), TeamsFault(hang=True))
    await desk.teams.accept(desk.person, offer)
    await desk.teams.wait_until(lambda: any(session.pieces for session in desk.teams.files.uploads.values()))
    await desk.uploads.close()
    desk.teams.faults.pending.clear()


async def offer_long_text(desk: ConsentDesk) -> TenantMessage:
    """Offers a text of three pieces."""
    turn = await ask_in_chat(desk, "List every receipt")
    text = "x" * (PIECE_UNIT_BYTES * 5 // 2)
    await desk.consents.offer_text(desk.address, turn, MessageId("m1"), name="answer.txt", text=text)
    [offer] = desk.offers()
    return offer


async def ask_in_chat(desk: ConsentDesk, text: str) -> TurnId:
    """Asks as a person whom no directory knows."""
    await desk.bot.grants.grant_bucket_access(RECEIPTS, Subject(f"user:{desk.person_id}"), by="test")
    talk = ConversationDriver(
        desk.bot,
        person=desk.person_id,
        audience=PrivateAudience(person=desk.person_id, is_guest=True),
        conversation=f"teams:{desk.teams.tenant.id}:{desk.address.conversation}",
    )
    return (await talk.ask_question(text)).turn


async def test_a_long_answer_is_handed_over_as_a_text_file(desk: ConsentDesk) -> None:
    turn = await ask_in_chat(desk, "List every receipt")
    for _ in range(2):
        await desk.consents.offer_text(desk.address, turn, MessageId("m1"), name="answer.txt", text="Ärger im Lager")

    [offer] = desk.offers()
    await desk.teams.accept(desk.person, offer)
    await desk.wait_for_end()

    assert desk.teams.files.uploaded_files() == {"answer.txt": "Ärger im Lager".encode()}
    assert [kinds_of(message) for message in desk.messages()] == [[FILE_CARD]]
    assert desk.teams.refusals == []


async def test_a_long_answer_is_not_handed_over_after_its_rights_are_gone(desk: ConsentDesk) -> None:
    turn = await ask_in_chat(desk, "List every receipt")
    await desk.consents.offer_text(desk.address, turn, MessageId("m1"), name="answer.txt", text="Ärger im Lager")
    await desk.revoke_access()

    [offer] = desk.offers()
    await desk.teams.accept(desk.person, offer)
    await desk.wait_for_end()

    assert desk.teams.files.uploads.popitem()[1].pieces == 0
    assert [message.text for message in desk.messages()] == [
        "Some of what this rests on may no longer be seen here, so I cannot show it."
    ]


@pytest.mark.usefixtures("small_pieces")
async def test_an_upload_of_a_text_stops_when_the_rights_are_revoked_between_two_pieces(desk: ConsentDesk) -> None:
    offer = await offer_long_text(desk)
    desk.teams.plan_faults("upload", TeamsFault(status=503, takes_effect=True))
    desk.hosts.wait_before_retry = _revoke_on_retry(desk)

    await desk.teams.accept(desk.person, offer)
    await desk.wait_for_end()

    [session] = desk.teams.files.uploads.values()
    assert [message.text for message in desk.messages()] == [NOT_AVAILABLE]
    assert (session.is_cancelled, session.is_complete, session.pieces) == (True, False, 1)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("ending", ["revoked", "expired"])
async def test_an_upload_of_a_text_that_is_taken_over_too_late_ends_as_a_file_that_is_not_available(
    desk: ConsentDesk, clock: Clock, ending: str
) -> None:
    offer = await offer_long_text(desk)
    await cut_first_upload(desk, offer)
    if ending == "revoked":
        await desk.revoke_access()
    clock.advance(UPLOAD_LEASE if ending == "revoked" else TEXT_LIFETIME)

    assert await desk.uploads.take_over_next()
    await desk.wait_for_end()

    [session] = desk.teams.files.uploads.values()
    assert [message.text for message in desk.messages()] == [NOT_AVAILABLE]
    assert (session.is_complete, session.pieces) == (False, 1)
    assert not await desk.uploads.take_over_next()


@pytest.mark.usefixtures("small_pieces")
async def test_an_upload_of_a_text_stops_while_the_rights_cannot_be_checked(
    desk: ConsentDesk, index: EmbeddedIndex
) -> None:
    offer = await offer_long_text(desk)
    desk.teams.plan_faults("upload", TeamsFault(status=503, takes_effect=True))

    async def close_index(attempt: int, error: Exception) -> None:
        await index.close()

    desk.hosts.wait_before_retry = close_index

    await desk.teams.accept(desk.person, offer)
    await desk.wait_for_end()

    [session] = desk.teams.files.uploads.values()
    assert [message.text for message in desk.messages()] == [
        "The documents cannot be reached right now. Please try again a little later."
    ]
    assert (session.is_cancelled, session.pieces) == (True, 1)


async def test_a_text_can_be_accepted_later_while_the_rights_cannot_be_checked(
    desk: ConsentDesk, index: EmbeddedIndex
) -> None:
    turn = await ask_in_chat(desk, "List every receipt")
    await desk.consents.offer_text(desk.address, turn, MessageId("m1"), name="answer.txt", text="Ärger im Lager")
    [offer] = desk.offers()
    await index.close()

    await desk.teams.accept(desk.person, offer)

    assert desk.offers() == [offer]
    assert [message.text for message in desk.messages()[1:]] == [
        "The documents cannot be reached right now. Please try again a little later."
    ]


async def test_a_text_that_cannot_be_saved_ends_in_a_sentence(desk: ConsentDesk) -> None:
    turn = await ask_in_chat(desk, "List every receipt")
    await desk.consents.offer_text(desk.address, turn, MessageId("m1"), name="answer.txt", text="Ärger im Lager")
    desk.teams.plan_faults("upload", TeamsFault(status=403))

    [offer] = desk.offers()
    await desk.teams.accept(desk.person, offer)
    await desk.wait_for_end()

    assert [message.text for message in desk.messages()] == [
        "answer.txt could not be saved among your files. Please ask for it again."
    ]


async def test_the_text_of_an_unknown_turn_is_not_offered(desk: ConsentDesk) -> None:
    with pytest.raises(FileNotFoundError):
        await desk.consents.offer_text(desk.address, TURN, MessageId("m1"), name="answer.txt", text="x")
