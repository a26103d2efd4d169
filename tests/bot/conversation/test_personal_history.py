"""A person's overview shows only what is granted to that person now."""

from collections.abc import Mapping
from datetime import timedelta

from bot.application import Application
from bot.conversation.personal_history import PersonalHistory, PersonalOverview
from bot.ids import PersonId, Subject
from bot.surface.inbound import ChannelAudience, OperatorAudience, OutsiderPresence, PrivateAudience
from storage.embedded.index import EmbeddedIndex
from storage.search.errors import IndexUnavailable
from storage.search.forwarding_index import ForwardingScopedIndex
from storage.search.ids import BucketId
from storage.search.index import ScopedIndex
from storage.search.schema import Schema
from storage.search.scope import Scope
from tests.bot.conftest import ConversationDriver, private_audience_of
from tests.bot.fakes import Clock
from tests.builders import RECEIPTS, a_document
from tests.stand_ins.wrapped_index import WrappedIndex

BOB = PersonId("slack:T1:BOB")
ALONE = Subject(f"user:{BOB}")
CHANNEL = Subject("channel:slack:T1:C1")
IN_CHANNEL = ChannelAudience(channel=CHANNEL, outsiders=OutsiderPresence.NONE)


async def load_own_overview(
    bot: Application, *, guest: bool = False, offset: int = 0, max_buckets: int = 10
) -> PersonalOverview:
    return await bot.personal_history.load_overview(
        PrivateAudience(person=BOB, is_guest=guest), offset=offset, max_buckets=max_buckets
    )


async def test_without_a_grant_the_overview_is_empty(bot: Application) -> None:
    await bot.grants.grant_bucket_access(RECEIPTS, CHANNEL, by="test")

    assert await load_own_overview(bot) == PersonalOverview(buckets=(), bucket_count=0, questions=(), exports=())


async def test_a_granted_bucket_is_shown_with_the_number_of_readable_documents(bot: Application) -> None:
    await bot.index.put(RECEIPTS, [a_document("secret", "for ann", readers=(Subject("user:slack:T1:ANN"),))])
    await bot.grants.grant_bucket_access(RECEIPTS, ALONE, by="test")

    overview = await load_own_overview(bot)

    assert overview.bucket_count == 1
    assert [bucket.documents for bucket in overview.buckets] == [42]
    await bot.grants.revoke_grant(RECEIPTS, ALONE, by="test")
    assert (await load_own_overview(bot)).buckets == ()


async def test_many_buckets_come_in_pages_in_order_of_title(bot: Application) -> None:
    for number in range(5):
        bucket = BucketId(f"b{number}")
        await bot.index.set_schema(Schema(bucket=bucket, title=f"Title {9 - number}"))
        await bot.grants.grant_bucket_access(bucket, ALONE, by="test")

    page = await load_own_overview(bot, offset=2, max_buckets=2)

    assert (page.bucket_count, [visible_bucket.title for visible_bucket in page.buckets]) == (5, ["Title 7", "Title 8"])
    assert (await load_own_overview(bot, offset=90)).buckets == ()


async def test_the_example_question_uses_the_words_of_the_schema(bot: Application) -> None:
    await bot.grants.grant_bucket_access(RECEIPTS, ALONE, by="test")

    [bucket] = (await load_own_overview(bot)).buckets

    assert bucket.example == "How many receipts per vendor?"


async def test_examples_are_about_the_largest_buckets_that_the_audience_may_see(bot: Application) -> None:
    for name, count in (("tiny", 1), ("large", 50), ("empty", 0)):
        await bot.index.set_schema(Schema(bucket=BucketId(name), title=f"{name} notes"))
        await bot.index.put(BucketId(name), [a_document(f"{name}{number}", "text") for number in range(count)])
    await bot.grants.grant_bucket_access(RECEIPTS, ALONE, by="test")
    history = bot.personal_history

    assert await history.load_examples(PrivateAudience(person=BOB), 3) == ("How many receipts per vendor?",)
    assert await history.load_examples(IN_CHANNEL, 3) == ()
    assert await history.load_examples(OperatorAudience(), 2) == (
        "How many large notes are there?",
        "How many receipts per vendor?",
    )


class SchemalessView(ForwardingScopedIndex):
    async def load_schemas(self) -> Mapping[BucketId, Schema]:
        raise IndexUnavailable("down")


class SchemalessIndex(WrappedIndex):
    """Does not answer what is asked about schemas."""

    def within_scope(self, scope: Scope) -> ScopedIndex:
        return SchemalessView(self.wrapped.within_scope(scope))


async def test_while_the_index_does_not_answer_there_are_no_examples(bot: Application, index: EmbeddedIndex) -> None:
    history = PersonalHistory(
        access=bot.access, index=SchemalessIndex(index), exports=bot.exports, database=bot.database
    )

    assert await history.load_examples(OperatorAudience(), 3) == ()


async def test_only_the_persons_own_questions_are_shown(bot: Application) -> None:
    await ConversationDriver(bot, audience=private_audience_of("BOB"), person=BOB).ask_question("mine")
    await ConversationDriver(
        bot, audience=private_audience_of("ANN"), person="slack:T1:ANN", conversation="c2"
    ).ask_question("hers")

    assert [(question.text, question.ending) for question in (await load_own_overview(bot)).questions] == [
        ("mine", "refused")
    ]


async def test_an_export_has_a_link_while_its_bucket_is_granted_and_its_file_exists(
    bot: Application, clock: Clock
) -> None:
    await bot.grants.grant_bucket_access(RECEIPTS, ALONE, by="test")
    await ConversationDriver(bot, audience=private_audience_of("BOB"), person=BOB).ask_question("export")

    [export] = (await load_own_overview(bot)).exports
    assert (export.name, export.rows) == ("receipts-42.csv", 42)
    assert export.url is not None
    assert (await bot.exports.find_download(export.url.rpartition("/")[2])).name == "receipts-42.csv"
    await bot.grants.revoke_grant(RECEIPTS, ALONE, by="test")
    [hidden] = (await load_own_overview(bot)).exports
    assert (hidden.name, hidden.rows, hidden.url) == (None, None, None)
    await bot.grants.grant_bucket_access(RECEIPTS, ALONE, by="test")
    clock.advance(timedelta(days=2))
    await bot.exports.expire_files()
    [expired] = (await load_own_overview(bot)).exports
    assert (expired.status, expired.url) == ("expired", None)


async def test_a_channels_file_has_no_link_and_has_a_name_only_with_a_personal_grant(bot: Application) -> None:
    await bot.grants.grant_bucket_access(RECEIPTS, CHANNEL, by="test")
    await ConversationDriver(bot, audience=IN_CHANNEL, person=BOB).ask_question("export")

    [hidden] = (await load_own_overview(bot)).exports
    await bot.grants.grant_bucket_access(RECEIPTS, ALONE, by="test")
    [named] = (await load_own_overview(bot)).exports

    assert (hidden.name, hidden.url) == (None, None)
    assert (named.name, named.url) == ("receipts-42.csv", None)
