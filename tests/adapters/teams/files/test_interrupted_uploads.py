"""Uploads whose process ends after the last byte, or whose host does not answer then: the message tells the truth."""

import asyncio
from datetime import timedelta

import pytest

from adapters.teams.files.upload_record import SESSION_LIFETIME
from bot.ids import MessageId
from tests.adapters.teams.files.conftest import ConsentDesk, kinds_of
from tests.adapters.teams.files.test_file_consent import NOT_AVAILABLE, ask_in_chat
from tests.bot.conftest import wait_until
from tests.bot.fakes import Clock
from tests.stand_ins.teams.faults import TeamsFault
from tests.stand_ins.teams.tenancy import ADAPTIVE_CARD, FILE_CARD, TenantMessage

UNKNOWN = "Whether {} was saved among your files is not known."

pytestmark = pytest.mark.usefixtures("bot")


async def end_process(desk: ConsentDesk) -> None:
    """What it was doing is lost, and so are the faults that were planned for it."""
    await desk.uploads.close()
    desk.teams.faults.pending.clear()


async def end_process_after_last_byte(desk: ConsentDesk, offer: TenantMessage) -> None:
    desk.teams.plan_faults("upload", TeamsFault(takes_effect=True, hang=True))
    await desk.teams.accept(desk.person, offer)
    await desk.teams.wait_until(lambda: bool(desk.teams.files.uploaded_files()))
    await end_process(desk)


async def take_over(desk: ConsentDesk) -> None:
    assert await desk.uploads.take_over_next()
    await desk.wait_for_end()
    assert not await desk.uploads.take_over_next()
    assert desk.teams.refusals == []


@pytest.mark.parametrize("lost_answer", [TeamsFault(takes_effect=True), TeamsFault(status=503, takes_effect=True)])
async def test_a_file_whose_last_piece_has_no_answer_is_saved(desk: ConsentDesk, lost_answer: TeamsFault) -> None:
    offer = await desk.offer_export()
    desk.teams.plan_faults("upload", lost_answer)

    await desk.teams.accept(desk.person, offer)
    await desk.wait_for_end()

    [session] = desk.teams.files.uploads.values()
    assert (session.is_complete, session.pieces) == (True, 1)
    assert [kinds_of(message) for message in desk.messages()] == [[FILE_CARD]]


async def test_a_host_that_takes_no_last_piece_has_not_saved_the_file(desk: ConsentDesk) -> None:
    offer = await desk.offer_export()
    desk.teams.plan_faults("upload", *[TeamsFault(status=503)] * 3)

    await desk.teams.accept(desk.person, offer)
    await desk.wait_for_end()

    [message] = desk.messages()
    assert "receipts-42.csv could not be saved among your files" in message.cards[0]["fallbackText"]


async def test_a_host_that_says_nothing_after_the_last_piece_leaves_the_end_open(desk: ConsentDesk) -> None:
    offer = await desk.offer_export()
    desk.teams.plan_faults("upload", TeamsFault(takes_effect=True))
    desk.teams.faults.outages.add("upload_state")

    await desk.teams.accept(desk.person, offer)
    await desk.wait_for_end()

    [message] = desk.messages()
    [link] = message.card_actions()
    assert UNKNOWN.format("receipts-42.csv") in message.cards[0]["fallbackText"]
    assert (await desk.bot.exports.find_download(link["url"].rpartition("/")[2])).name == "receipts-42.csv"


async def test_a_file_of_a_process_that_died_after_the_last_byte_is_saved(desk: ConsentDesk) -> None:
    offer = await desk.offer_export()
    await end_process_after_last_byte(desk, offer)

    await take_over(desk)

    assert [(message.id, kinds_of(message)) for message in desk.messages()] == [(offer.id, [FILE_CARD])]


async def test_a_file_that_has_arrived_is_shown_although_the_rights_to_it_are_gone(desk: ConsentDesk) -> None:
    await end_process_after_last_byte(desk, await desk.offer_export())
    await desk.revoke_access()

    await take_over(desk)

    assert [kinds_of(message) for message in desk.messages()] == [[FILE_CARD]]


async def test_a_file_of_a_process_that_died_before_the_last_byte_is_sent_again(desk: ConsentDesk) -> None:
    offer = await desk.offer_export()
    desk.teams.plan_faults("upload", TeamsFault(hang=True))
    await desk.teams.accept(desk.person, offer)
    await wait_until(lambda: not desk.teams.faults.pending["upload"])
    await end_process(desk)

    await take_over(desk)

    assert len(desk.teams.files.uploaded_files()) == 1
    assert [kinds_of(message) for message in desk.messages()] == [[FILE_CARD]]


async def test_a_file_of_a_process_that_died_before_it_showed_the_end_is_shown_without_the_host(
    desk: ConsentDesk,
) -> None:
    offer, may_go_on = await desk.offer_export(), asyncio.Event()
    desk.teams.plan_faults("upload", TeamsFault(released_by=may_go_on))
    await desk.teams.accept(desk.person, offer)
    await desk.teams.wait_until(lambda: "0 %" in offer.text)
    desk.teams.plan_faults("update", TeamsFault(hang=True))
    may_go_on.set()
    await wait_until(lambda: not desk.teams.faults.pending["update"])
    await end_process(desk)
    desk.teams.faults.outages.add("upload_state")

    await take_over(desk)

    assert [kinds_of(message) for message in desk.messages()] == [[FILE_CARD]]


@pytest.mark.parametrize("is_late", [True, False])
async def test_what_has_become_of_the_last_piece_may_not_be_known(
    desk: ConsentDesk, clock: Clock, is_late: bool
) -> None:
    await end_process_after_last_byte(desk, await desk.offer_export())
    if is_late:  # the session may have expired
        clock.advance(SESSION_LIFETIME)
    else:
        desk.teams.faults.outages.add("upload_state")

    await take_over(desk)

    [message] = desk.messages()
    assert kinds_of(message) == [ADAPTIVE_CARD]
    assert UNKNOWN.format("receipts-42.csv") in message.cards[0]["fallbackText"]


async def test_a_text_of_which_the_end_is_not_known_has_no_link(desk: ConsentDesk, clock: Clock) -> None:
    turn = await ask_in_chat(desk, "List every receipt")
    await desk.consents.offer_text(desk.address, turn, MessageId("m1"), name="answer.txt", text="Ärger im Lager")
    [offer] = desk.offers()
    await end_process_after_last_byte(desk, offer)
    clock.advance(timedelta(hours=1))

    await take_over(desk)

    assert [message.text for message in desk.messages()] == [
        f"{UNKNOWN.format('answer.txt')} Please look there, and ask for it again if it is missing."
    ]


async def test_a_discarded_upload_is_not_taken_for_a_complete_one(desk: ConsentDesk) -> None:
    offer = await desk.offer_export()
    desk.teams.plan_faults("upload", TeamsFault(status=503))
    desk.teams.plan_faults("upload_cancel", TeamsFault(hang=True))

    async def revoke_access(attempt: int, error: Exception) -> None:
        await desk.revoke_access()

    desk.hosts.wait_before_retry = revoke_access
    await desk.teams.accept(desk.person, offer)
    await desk.teams.wait_until(lambda: any(session.is_cancelled for session in desk.teams.files.uploads.values()))
    await end_process(desk)

    await take_over(desk)

    assert [message.text for message in desk.messages()] == [NOT_AVAILABLE]
