"""What a change of a schema would change in last month's answers, before it is saved; nothing else happens."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.admin.admin_page.comparison_wording import describe_comparison
from bot.admin.admin_page.question_comparison import MAX_REPEATED_QUESTIONS, AnswerComparison
from bot.admin.admin_page.schema_edits import EditableEntry
from bot.application import Application
from bot.bootstrap import open_application
from bot.errors import BucketClosed, SchemaEditRefused
from bot.ids import OPERATOR, BucketId, PersonId, Subject
from bot.settings import Settings
from bot.surface.inbound import PrivateAudience
from storage.embedded.index import EmbeddedIndex
from storage.search.ids import FieldName
from storage.search.schema import FieldType, Schema, SchemaField
from storage.sql.database import SqlDatabase
from tests.bot.conftest import ConversationDriver
from tests.bot.fakes import Clock
from tests.builders import a_document

VEHICLES = BucketId("vehicles")
ANN, BOB = PersonId("local:ann"), PersonId("local:bob")
KINDS = ("truck", "van", "trailer")


@pytest.fixture
async def fleet(
    settings: Settings, clock: Clock, database: SqlDatabase, index: EmbeddedIndex
) -> AsyncIterator[Application]:
    """The real rules over 60 vehicles; one truck has a reader of its own."""
    fields = (
        SchemaField(name=FieldName("kind"), type=FieldType.CATEGORY, facet=True, values={"truck": ("lorry",)}),
        SchemaField(name=FieldName("load"), type=FieldType.NUMBER, unit="kg", synonyms=("weight",)),
    )
    await index.set_schema(Schema(bucket=VEHICLES, fields=fields, synonyms=("vehicle",)))
    documents = [a_document(f"v{n:02}", f"Vehicle {n}", kind=KINDS[n % 3], load=n) for n in range(60)]
    await index.put(VEHICLES, documents)
    async with open_application(settings, clock=clock, database=database, index=index) as bot:
        await bot.administration.grant_bucket(VEHICLES, Subject(f"user:{ANN}"), by=OPERATOR)
        await bot.administration.add_admin(ANN, by=OPERATOR)
        await bot.administration.add_admin(BOB, by=OPERATOR)
        yield bot


async def ask(bot: Application, *questions: str) -> None:
    for question in questions:
        driver = ConversationDriver(
            bot,
            audience=PrivateAudience(person=ANN),
            person=ANN,
            conversation=f"c-{question}",
            buckets=(VEHICLES,),
        )
        await driver.ask_question(question)


async def entry_with(bot: Application, field: str, **changes: object) -> EditableEntry:
    entry = (await bot.schema_edits.load_schema(VEHICLES, ANN)).find_entry(field)
    assert entry is not None
    return replace(entry, **changes)


async def test_a_synonym_lets_a_question_find_something_and_nothing_is_stored(fleet: Application) -> None:
    await ask(fleet, "list the lorries", "list the juggernauts", "how many vans are there?")
    preview = await fleet.admin_reports.preview_synonym(VEHICLES, "kind", "juggernauts", "truck", ANN)

    compared = await fleet.admin_reports.compare_synonym(preview, ANN)

    assert compared == AnswerComparison(asked=3, total=3, finds_something=1, examples=("list the juggernauts",))
    assert (await fleet.index.load_bucket_states())[VEHICLES].schema.by_name[FieldName("kind")].values == {
        "truck": ("lorry",)
    }
    report = await fleet.admin_reports.load_report(30, ANN)
    assert report.counts.asked == 3


async def test_another_meaning_of_a_bare_number_finds_more(fleet: Application) -> None:
    await ask(fleet, "how many vehicles have a weight of 30 kg?", "how many vans are there?")

    compared = await fleet.schema_edits.compare_answers(VEHICLES, await entry_with(fleet, "load", bare="at_least"), ANN)

    assert (compared.finds_more, compared.changed_count, compared.asked) == (1, 1, 2)
    assert compared.examples == ()


async def test_a_synonym_that_goes_lets_a_question_find_nothing(fleet: Application) -> None:
    await ask(fleet, "list the conveyances")
    await fleet.schema_edits.save_edit(
        VEHICLES,
        await entry_with(fleet, "", synonyms=("vehicle", "conveyance")),
        (await fleet.schema_edits.load_schema(VEHICLES, ANN)).version,
        ANN,
    )

    compared = await fleet.schema_edits.compare_answers(
        VEHICLES, await entry_with(fleet, "", synonyms=("vehicle",)), ANN
    )

    assert (compared.finds_nothing, compared.changed_count) == (1, 1)
    assert describe_comparison(compared) == [
        "Asked again, 1 of 1 question of the last 30 days would be answered differently: 1 would find nothing any more."
    ]


async def test_the_newest_questions_are_asked_once_and_those_about_the_change_first(fleet: Application) -> None:
    await ask(fleet, "list the juggernauts", "List the juggernauts", *[f"how many vans {n}" for n in range(45)])
    preview = await fleet.admin_reports.preview_synonym(VEHICLES, "kind", "juggernauts", "truck", ANN)

    compared = await fleet.admin_reports.compare_synonym(preview, ANN)

    assert compared.total == 46
    assert compared.asked <= MAX_REPEATED_QUESTIONS
    assert compared.finds_something == 1


async def test_older_questions_are_not_asked(fleet: Application, clock: Clock) -> None:
    await ask(fleet, "list the juggernauts")
    clock.advance(timedelta(days=31))
    preview = await fleet.admin_reports.preview_synonym(VEHICLES, "kind", "juggernauts", "truck", ANN)

    compared = await fleet.admin_reports.compare_synonym(preview, ANN)

    assert compared == AnswerComparison(asked=0, total=0)


async def test_an_admin_without_a_grant_compares_nothing(fleet: Application) -> None:
    entry = await entry_with(fleet, "kind", title="Sort")

    with pytest.raises(BucketClosed):
        await fleet.schema_edits.compare_answers(VEHICLES, entry, BOB)
    with pytest.raises(SchemaEditRefused):
        await fleet.schema_edits.compare_answers(VEHICLES, replace(entry, title="x" * 200), ANN)
