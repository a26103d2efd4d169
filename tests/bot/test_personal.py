"""What people find of their own: nothing of what is not granted to them alone, at this moment."""

from datetime import timedelta

from bot.bootstrap import Bot
from bot.ids import PersonId, Subject
from bot.inbound import Outsiders, Private, Shared
from bot.personal import Own
from storage.search.ids import BucketId
from storage.search.schema import Schema
from tests.bot.conftest import Talk, somebody
from tests.bot.fakes import Clock
from tests.builders import RECEIPTS, a_document

BOB = PersonId("slack:T1:BOB")
ALONE = Subject(f"user:{BOB}")
CHANNEL = Subject("channel:slack:T1:C1")
IN_CHANNEL = Shared(channel=CHANNEL, outsiders=Outsiders.NONE)


async def own(bot: Bot, *, guest: bool = False, first: int = 0, most: int = 10) -> Own:
    return await bot.personal.own(Private(person=BOB, guest=guest), first=first, most=most)


async def test_without_a_grant_there_is_nothing_to_ask(bot: Bot) -> None:
    await bot.grants.grant(RECEIPTS, CHANNEL, by="test")

    assert await own(bot) == Own(buckets=(), bucket_count=0, questions=(), exports=())


async def test_what_is_granted_is_shown_with_the_documents_that_may_be_read(bot: Bot) -> None:
    await bot.index.put(RECEIPTS, [a_document("secret", "for ann", readers=(Subject("user:slack:T1:ANN"),))])
    await bot.grants.grant(RECEIPTS, ALONE, by="test")

    found = await own(bot)

    assert found.bucket_count == 1
    assert [one.documents for one in found.buckets] == [42]
    await bot.grants.revoke(RECEIPTS, ALONE, by="test")
    assert (await own(bot)).buckets == ()


async def test_many_buckets_come_in_pages_in_order_of_title(bot: Bot) -> None:
    for number in range(5):
        bucket = BucketId(f"b{number}")
        await bot.index.set_schema(Schema(bucket=bucket, title=f"Title {9 - number}"))
        await bot.grants.grant(bucket, ALONE, by="test")

    page = await own(bot, first=2, most=2)

    assert (page.bucket_count, [one.title for one in page.buckets]) == (5, ["Title 7", "Title 8"])
    assert (await own(bot, first=90)).buckets == ()


async def test_an_example_is_in_the_words_of_the_schema(bot: Bot) -> None:
    await bot.grants.grant(RECEIPTS, ALONE, by="test")

    [bucket] = (await own(bot)).buckets

    assert bucket.example == "How many receipts per vendor?"


async def test_ones_own_questions_are_there_and_nobody_elses(bot: Bot) -> None:
    await Talk(bot, audience=somebody("BOB"), person=BOB).say("mine")
    await Talk(bot, audience=somebody("ANN"), person="slack:T1:ANN", conversation="c2").say("hers")

    assert [(one.text, one.ending) for one in (await own(bot)).questions] == [("mine", "refused")]


async def test_an_export_has_a_link_until_its_bucket_or_its_file_is_gone(bot: Bot, clock: Clock) -> None:
    await bot.grants.grant(RECEIPTS, ALONE, by="test")
    await Talk(bot, audience=somebody("BOB"), person=BOB).say("export")

    [there] = (await own(bot)).exports
    assert (there.name, there.rows) == ("receipts-42.csv", 42)
    assert there.url is not None
    assert (await bot.exports.find(there.url.rpartition("/")[2])).name == "receipts-42.csv"
    await bot.grants.revoke(RECEIPTS, ALONE, by="test")
    [hidden] = (await own(bot)).exports
    assert (hidden.name, hidden.rows, hidden.url) == (None, None, None)
    await bot.grants.grant(RECEIPTS, ALONE, by="test")
    clock.advance(timedelta(days=2))
    await bot.exports.expire()
    [expired] = (await own(bot)).exports
    assert (expired.status, expired.url) == ("expired", None)


async def test_a_file_made_for_a_channel_has_no_link_and_no_name_without_a_grant_of_ones_own(bot: Bot) -> None:
    await bot.grants.grant(RECEIPTS, CHANNEL, by="test")
    await Talk(bot, audience=IN_CHANNEL, person=BOB).say("export")

    [hidden] = (await own(bot)).exports
    await bot.grants.grant(RECEIPTS, ALONE, by="test")
    [named] = (await own(bot)).exports

    assert (hidden.name, hidden.url) == (None, None)
    assert (named.name, named.url) == ("receipts-42.csv", None)
