"""Offers of files, on every database: answered once, uploaded under a lease, and removed long after their end."""

from dataclasses import replace
from datetime import timedelta

import pytest

from storage.sql.database import SqlDatabase
from storage.sql.stores.exports import ClaimedFileOffer, FileOfferStatus, FileOfferStore, NewFileOffer, StoredFileOffer
from tests.contracts.sql.databases import SetClock

LEASE = timedelta(seconds=30)


def a_file_offer(clock: SetClock, file: str = "x1") -> NewFileOffer:
    return NewFileOffer(
        file=file,
        turn="t1",
        person="teams:T:ann",
        conversation="teams:T:a1",
        language="de",
        content="the text",
        expires_at=clock.now + timedelta(hours=1),
    )


@pytest.fixture
def offers(database: SqlDatabase) -> FileOfferStore:
    return FileOfferStore(database)


async def accept_stored(offers: FileOfferStore, offer: StoredFileOffer) -> ClaimedFileOffer:
    claimed = await offers.accept_offer(offer.id, upload="sealed", message="m1", worker="w1", lease=LEASE)
    assert claimed is not None
    return claimed


async def test_a_file_is_offered_once_in_a_conversation(offers: FileOfferStore, clock: SetClock) -> None:
    first = await offers.put_offer(a_file_offer(clock))
    await offers.note_message(first.id, "m1")

    again = await offers.put_offer(a_file_offer(clock))

    assert again == replace(first, message="m1")
    assert (first.status, first.message, first.upload) == (FileOfferStatus.OPEN, None, None)
    assert (await offers.put_offer(a_file_offer(clock, "x2"))).id != first.id
    assert await offers.find_offer("no such offer") is None


async def test_the_newest_offer_of_a_turn_is_found_in_its_conversation(offers: FileOfferStore, clock: SetClock) -> None:
    for file in ("x1", "x2"):
        newest = await offers.put_offer(a_file_offer(clock, file))

    assert await offers.find_newest_offer_of_turn("t1", "teams:T:a1") == newest
    assert await offers.find_newest_offer_of_turn("t1", "teams:T:a2") is None
    assert await offers.find_newest_offer_of_turn("t2", "teams:T:a1") is None


async def test_an_offer_is_answered_once(offers: FileOfferStore, clock: SetClock) -> None:
    accepted, declined = await offers.put_offer(a_file_offer(clock)), await offers.put_offer(a_file_offer(clock, "x2"))

    claimed = await accept_stored(offers, accepted)
    assert await offers.decline_offer(declined.id)

    assert claimed.offer == replace(accepted, status=FileOfferStatus.ACCEPTED, message="m1", upload="sealed")
    for offer in (accepted, declined):
        assert await offers.accept_offer(offer.id, upload="u", message="m", worker="w2", lease=LEASE) is None
        assert await offers.decline_offer(offer.id) is False


async def test_an_abandoned_upload_is_claimed_again_and_its_first_worker_is_fenced_out(
    offers: FileOfferStore, clock: SetClock
) -> None:
    lost_claim = await accept_stored(offers, await offers.put_offer(a_file_offer(clock)))
    assert await offers.claim_abandoned_upload("w2", LEASE) is None
    clock.forward(seconds=20)
    assert await offers.renew_upload(lost_claim, LEASE) == lost_claim.offer
    clock.forward(seconds=29)
    assert await offers.claim_abandoned_upload("w2", LEASE) is None
    clock.forward(seconds=1)

    taken_over = await offers.claim_abandoned_upload("w2", LEASE)

    assert taken_over is not None
    assert taken_over.offer == lost_claim.offer
    assert await offers.renew_upload(lost_claim, LEASE) is None
    assert await offers.finish_upload(lost_claim, is_delivered=True) is False
    assert await offers.finish_upload(taken_over, is_delivered=True)
    assert await offers.find_offer(taken_over.offer.id) == replace(
        taken_over.offer, status=FileOfferStatus.DELIVERED, upload=None, content=None
    )


async def test_an_upload_that_is_given_back_is_claimed_at_once(offers: FileOfferStore, clock: SetClock) -> None:
    claimed = await accept_stored(offers, await offers.put_offer(a_file_offer(clock)))

    assert await offers.renew_upload(claimed, timedelta())

    taken_over = await offers.claim_abandoned_upload("w2", LEASE)
    assert taken_over is not None
    assert await offers.finish_upload(taken_over, is_delivered=False)
    clock.forward(minutes=1)
    assert await offers.claim_abandoned_upload("w3", LEASE) is None


async def test_where_the_file_goes_is_replaced_under_the_lease_alone(offers: FileOfferStore, clock: SetClock) -> None:
    lost_claim = await accept_stored(offers, await offers.put_offer(a_file_offer(clock)))
    clock.forward(seconds=20)
    assert await offers.note_upload(lost_claim, "sealed again", LEASE)
    clock.forward(seconds=29)
    assert await offers.claim_abandoned_upload("w2", LEASE) is None
    clock.forward(seconds=1)

    taken_over = await offers.claim_abandoned_upload("w2", LEASE)

    assert taken_over is not None
    assert taken_over.offer.upload == "sealed again"
    assert await offers.note_upload(lost_claim, "too late", LEASE) is False


async def test_an_offer_is_kept_for_a_week_beyond_its_end_without_its_text(
    offers: FileOfferStore, clock: SetClock
) -> None:
    offer = await offers.put_offer(a_file_offer(clock))
    clock.forward(minutes=59)
    await offers.clear_expired_offers()
    assert await offers.find_offer(offer.id) == offer

    clock.forward(minutes=1)
    await offers.clear_expired_offers()
    assert await offers.find_offer(offer.id) == replace(offer, content=None)

    clock.forward(days=7)
    await offers.clear_expired_offers()
    assert await offers.find_offer(offer.id) is None


async def test_the_offers_of_a_turn_are_expired_even_while_a_file_is_uploaded(
    offers: FileOfferStore, clock: SetClock
) -> None:
    open_offer = await offers.put_offer(a_file_offer(clock))
    claimed = await accept_stored(offers, await offers.put_offer(a_file_offer(clock, "x2")))
    kept = await offers.put_offer(replace(a_file_offer(clock, "x3"), turn="t2"))
    clock.forward(seconds=1)

    await offers.expire_offers_of_turns(["t1", "t9"])
    await offers.expire_offers_of_turns([])

    assert await offers.find_offer(open_offer.id) == replace(open_offer, content=None, expires_at=clock.now)
    assert await offers.renew_upload(claimed, LEASE) == replace(claimed.offer, content=None, expires_at=clock.now)
    assert await offers.find_offer(kept.id) == kept
