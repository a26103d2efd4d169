"""Exported files offered to a person: answered once by that person, under the rights of the moment."""

from datetime import timedelta

import pytest
from pydantic import SecretStr
from sqlalchemy import delete

from bot.application import Application
from bot.bootstrap import open_application
from bot.conversation.file_offers import (
    TEXT_LIFETIME,
    UPLOAD_LEASE,
    FileAnswerer,
    FileOffer,
    FileUpload,
    UploadLost,
)
from bot.errors import (
    DocumentsUnreachable,
    FileOfferAnswered,
    FileOfferEnded,
    ForeignFileOffer,
    UnknownFileOffer,
)
from bot.ids import ConversationId, MessageId, PersonId, Subject, TurnId
from bot.surface.inbound import FullTextRequest
from bot.translation import use_language
from storage.embedded.index import EmbeddedIndex
from storage.sql.stores.exports import exports
from tests.bot.conftest import ConversationDriver, private_audience_of
from tests.bot.conversation.test_exports import an_export_request, path_of
from tests.bot.fakes import Clock
from tests.builders import RECEIPTS

TURN, CONVERSATION = TurnId("t1"), ConversationId("c1")
ANN = FileAnswerer(person=PersonId("slack:T1:U1"), conversation=CONVERSATION)
ANN_SUBJECT = Subject("user:slack:T1:U1")


async def offer_export(bot: Application) -> FileOffer:
    await bot.grants.grant_bucket_access(RECEIPTS, ANN_SUBJECT, by="test")
    await bot.exports.write_file(an_export_request(TURN, private_audience_of("U1"), ANN.person))
    offer = await bot.file_offers.offer_export(TURN, CONVERSATION)
    assert offer is not None
    return offer


async def offer_text(bot: Application) -> tuple[TurnId, FileOffer]:
    """Returns the turn of the text as well."""
    await bot.grants.grant_bucket_access(RECEIPTS, ANN_SUBJECT, by="test")
    talk = ConversationDriver(bot, person=ANN.person, audience=private_audience_of("U1"))
    turn = (await talk.ask_question("List every receipt")).turn
    offer = await bot.file_offers.offer_text(turn, CONVERSATION, name="answer.txt", text="Ärger")
    assert offer is not None
    return turn, offer


async def accept_file(bot: Application, offer: FileOffer, answerer: FileAnswerer = ANN) -> FileUpload:
    return await bot.file_offers.accept_offer(
        offer.id, answerer, destination="https://files.example/1", message=MessageId("m1")
    )


async def test_an_offer_names_the_file_and_its_size_and_is_made_once(bot: Application) -> None:
    offer = await offer_export(bot)
    await bot.file_offers.note_message(offer, MessageId("m1"))

    again = await bot.file_offers.offer_export(TURN, CONVERSATION)

    file = await bot.exports.write_file(an_export_request(TURN))
    assert (offer.name, offer.size) == ("receipts-42.csv", path_of(file.path).stat().st_size)
    assert again is not None
    assert (offer.message, again.id, again.message) == (None, offer.id, "m1")


async def test_a_turn_without_a_visible_file_offers_nothing(bot: Application) -> None:
    assert await bot.file_offers.offer_export(TurnId("t9"), CONVERSATION) is None
    await offer_export(bot)
    await bot.grants.revoke_grant(RECEIPTS, ANN_SUBJECT, by="test")

    assert await bot.file_offers.offer_export(TURN, CONVERSATION) is None


async def test_an_accepted_offer_leads_to_the_file(bot: Application) -> None:
    upload = await accept_file(bot, await offer_export(bot))

    size = await bot.file_offers.measure_upload(upload)
    pieces = [await bot.file_offers.read_piece(upload, start, 100) for start in range(0, size, 100)]

    exported = await bot.exports.write_file(an_export_request(TURN))
    assert (upload.name, upload.destination, upload.message) == ("receipts-42.csv", "https://files.example/1", "m1")
    assert b"".join(pieces) == path_of(exported.path).read_bytes()
    await bot.file_offers.finish_upload(upload, is_delivered=True)
    with pytest.raises(UploadLost):
        await bot.file_offers.read_piece(upload, 0, 100)


async def test_the_destination_is_not_readable_in_the_database(bot: Application) -> None:
    upload = await accept_file(bot, await offer_export(bot))

    assert upload.claimed.offer.upload
    assert "files.example" not in upload.claimed.offer.upload


async def test_an_offer_is_answered_only_once(bot: Application) -> None:
    offer = await offer_export(bot)
    await accept_file(bot, offer)

    with pytest.raises(FileOfferAnswered):
        await accept_file(bot, offer)
    with pytest.raises(FileOfferAnswered):
        await bot.file_offers.decline_offer(offer.id, ANN)


async def test_a_declined_offer_cannot_be_accepted(bot: Application) -> None:
    with use_language("de"):
        offer = await offer_export(bot)

    assert (await bot.file_offers.decline_offer(offer.id, ANN)).startswith("Du hast diese Datei nicht genommen.")

    with pytest.raises(FileOfferAnswered, match="Dieses Angebot wurde schon beantwortet"):
        await accept_file(bot, offer)


async def test_another_person_and_another_conversation_are_refused(bot: Application) -> None:
    offer = await offer_export(bot)
    bob, elsewhere = PersonId("slack:T1:U2"), ConversationId("c2")

    with pytest.raises(ForeignFileOffer):
        await accept_file(bot, offer, FileAnswerer(person=bob, conversation=CONVERSATION))
    with pytest.raises(UnknownFileOffer):
        await accept_file(bot, offer, FileAnswerer(person=ANN.person, conversation=elsewhere))
    assert (await accept_file(bot, offer)).name == "receipts-42.csv"


@pytest.mark.parametrize("forged", ["", "x", "é", "a\0b", "\udcff", "x" * 5000, "../../etc/passwd"])
async def test_a_forged_offer_is_refused(bot: Application, forged: str) -> None:
    await offer_export(bot)

    with pytest.raises(UnknownFileOffer):
        await bot.file_offers.decline_offer(forged, ANN)


async def test_an_expired_offer_is_refused(bot: Application, clock: Clock) -> None:
    offer = await offer_export(bot)
    clock.advance(timedelta(hours=24))

    with pytest.raises(FileOfferEnded):
        await accept_file(bot, offer)


async def test_the_rights_are_checked_when_the_offer_is_accepted_and_before_each_piece(bot: Application) -> None:
    offer = await offer_export(bot)
    await bot.grants.revoke_grant(RECEIPTS, ANN_SUBJECT, by="test")
    with pytest.raises(FileOfferEnded):
        await accept_file(bot, offer)

    await bot.grants.grant_bucket_access(RECEIPTS, ANN_SUBJECT, by="test")
    upload = await accept_file(bot, offer)
    await bot.file_offers.read_piece(upload, 0, 1)
    await bot.grants.revoke_grant(RECEIPTS, ANN_SUBJECT, by="test")

    with pytest.raises(FileOfferEnded):
        await bot.file_offers.read_piece(upload, 0, 1)
    with pytest.raises(FileOfferEnded):
        await bot.file_offers.make_link(upload)


async def test_the_rights_to_a_text_are_checked_when_it_is_accepted_and_before_each_piece(bot: Application) -> None:
    _, offer = await offer_text(bot)
    await bot.grants.revoke_grant(RECEIPTS, ANN_SUBJECT, by="test")
    with pytest.raises(FileOfferEnded):
        await accept_file(bot, offer)

    await bot.grants.grant_bucket_access(RECEIPTS, ANN_SUBJECT, by="test")
    upload = await accept_file(bot, offer)
    await bot.file_offers.read_piece(upload, 0, 1)
    await bot.grants.revoke_grant(RECEIPTS, ANN_SUBJECT, by="test")

    with pytest.raises(FileOfferEnded):
        await bot.file_offers.read_piece(upload, 1, 1)
    with pytest.raises(FileOfferEnded):
        await bot.file_offers.measure_upload(upload)


async def test_the_rights_to_the_full_text_of_another_turn_are_those_to_that_turn(bot: Application) -> None:
    turn, _ = await offer_text(bot)
    talk = ConversationDriver(bot, person=ANN.person, audience=private_audience_of("U1"))
    showing = (await bot.run_turn(await talk.accept_body(FullTextRequest(turn)))).turn
    offer = await bot.file_offers.offer_text(showing, CONVERSATION, name="all.txt", text="all of it")
    assert offer is not None
    upload = await accept_file(bot, offer)
    assert await bot.file_offers.read_piece(upload, 0, 3) == b"all"
    await bot.grants.revoke_grant(RECEIPTS, ANN_SUBJECT, by="test")

    with pytest.raises(FileOfferEnded):
        await bot.file_offers.read_piece(upload, 3, 3)


async def test_a_text_is_not_read_while_the_rights_to_it_cannot_be_checked(
    bot: Application, index: EmbeddedIndex
) -> None:
    upload = await accept_file(bot, (await offer_text(bot))[1])
    await index.close()

    with pytest.raises(DocumentsUnreachable):
        await bot.file_offers.read_piece(upload, 0, 1)


async def test_the_text_of_an_expired_offer_is_not_read(bot: Application, clock: Clock) -> None:
    upload = await accept_file(bot, (await offer_text(bot))[1])
    clock.advance(TEXT_LIFETIME)
    taken_over = await bot.file_offers.claim_abandoned_upload()

    assert taken_over is not None
    assert (taken_over.name, taken_over.message) == (upload.name, "m1")
    with pytest.raises(FileOfferEnded):
        await bot.file_offers.measure_upload(taken_over)
    with pytest.raises(FileOfferEnded):
        await bot.file_offers.read_piece(taken_over, 0, 1)


async def test_an_export_that_is_unknown_by_now_does_not_stop_the_take_over(bot: Application) -> None:
    await bot.file_offers.give_back_upload(await accept_file(bot, await offer_export(bot)))
    await bot.database.run_write(lambda connection: connection.execute(delete(exports)))

    upload = await bot.file_offers.claim_abandoned_upload()

    assert upload is not None
    with pytest.raises(FileOfferEnded):
        await bot.file_offers.measure_upload(upload)


async def test_an_upload_of_a_dead_process_is_taken_over(bot: Application, clock: Clock) -> None:
    lost_upload = await accept_file(bot, await offer_export(bot))
    assert await bot.file_offers.claim_abandoned_upload() is None
    clock.advance(UPLOAD_LEASE)

    upload = await bot.file_offers.claim_abandoned_upload()

    assert upload is not None
    assert (upload.name, upload.destination, upload.message) == ("receipts-42.csv", "https://files.example/1", "m1")
    with pytest.raises(UploadLost):
        await bot.file_offers.read_piece(lost_upload, 0, 1)
    await bot.file_offers.read_piece(upload, 0, 1)


async def test_an_upload_that_is_given_back_is_taken_over_at_once(bot: Application) -> None:
    upload = await accept_file(bot, await offer_export(bot))

    await bot.file_offers.give_back_upload(upload)

    assert await bot.file_offers.claim_abandoned_upload() is not None


async def test_a_changed_destination_is_handed_to_the_process_that_takes_over(bot: Application) -> None:
    lost_upload = await accept_file(bot, await offer_export(bot))
    await bot.file_offers.note_destination(lost_upload, "https://files.example/2")
    await bot.file_offers.give_back_upload(lost_upload)

    upload = await bot.file_offers.claim_abandoned_upload()

    assert upload is not None
    assert upload.destination == "https://files.example/2"
    assert "files.example" not in (upload.claimed.offer.upload or "")
    with pytest.raises(UploadLost):
        await bot.file_offers.note_destination(lost_upload, "https://files.example/3")


async def test_an_upload_whose_destination_was_sealed_with_a_lost_key_is_given_up(bot: Application) -> None:
    await bot.file_offers.give_back_upload(await accept_file(bot, await offer_export(bot)))
    other_key = bot.settings.model_copy(update={"secret_key": SecretStr("another")})

    async with open_application(other_key, clock=bot.clock, database=bot.database, index=bot.index) as other:
        assert await other.file_offers.claim_abandoned_upload() is None

    assert await bot.file_offers.claim_abandoned_upload() is None


async def test_a_text_of_a_turn_is_offered_as_a_file(bot: Application) -> None:
    turn, offer = await offer_text(bot)

    assert (offer.name, offer.size) == ("answer.txt", 6)
    assert await bot.file_offers.find_text_turn(offer.id, ANN) == turn
    upload = await accept_file(bot, offer)
    assert (upload.name, await bot.file_offers.measure_upload(upload)) == ("answer.txt", 6)
    assert await bot.file_offers.read_piece(upload, 0, 100) == "Ärger".encode()
    assert await bot.file_offers.make_link(upload) is None


async def test_the_text_of_an_unknown_turn_is_not_offered(bot: Application) -> None:
    assert await bot.file_offers.offer_text(TurnId("t9"), CONVERSATION, name="answer.txt", text="x") is None


async def test_the_offer_of_an_export_is_not_one_of_a_text(bot: Application) -> None:
    assert await bot.file_offers.find_text_turn((await offer_export(bot)).id, ANN) is None
