"""The report for admins, and the way from a word that nobody knows to a synonym that answers."""

import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from datetime import timedelta

import pytest

from bot.admin.schema_synonyms import SchemaSynonyms
from bot.admin.usage.usage_report import UsageReport, UsageReports
from bot.application import Application
from bot.bootstrap import open_application
from bot.errors import SynonymRefused
from bot.ids import OPERATOR, BucketId, PersonId, Subject
from bot.settings import Settings
from bot.surface.inbound import PrivateAudience
from bot.turns.feedback import FeedbackVerdict
from bot.turns.turn_processor import FinishedTurn
from storage.embedded.index import EmbeddedIndex
from storage.embedder import WordLlamaEmbedder
from storage.search.ids import FieldName
from storage.search.schema import FieldType, Schema, SchemaField
from storage.sql.database import SqlDatabase
from storage.sql.stores.inbox import TurnInbox
from storage.sql.stores.model_calls import ModelCallStore, NewModelCall
from storage.sql.stores.turns import StoredWebSearch
from tests.bot.conftest import ConversationDriver
from tests.bot.fakes import Clock
from tests.builders import a_document
from tests.contracts.sql.test_inbox import a_turn, accept_new_turn

VEHICLES, PLANTS = BucketId("vehicles"), BucketId("plants")
ANN, BOB = PersonId("local:ann"), PersonId("local:bob")
KINDS = ("truck", "van", "trailer")


@pytest.fixture
async def fleet(
    settings: Settings, clock: Clock, database: SqlDatabase, index: EmbeddedIndex
) -> AsyncIterator[Application]:
    """The real rules over 60 vehicles, 42 receipts, and a bucket that nobody asks about."""
    fields = (
        SchemaField(name=FieldName("kind"), type=FieldType.CATEGORY, facet=True),
        SchemaField(name=FieldName("driver"), type=FieldType.CATEGORY, facet=True),
    )
    await index.set_schema(Schema(bucket=VEHICLES, fields=fields, synonyms=("vehicle",)))
    drivers = ("Ada", "Ben", "Cleo", "Dan")
    await index.put(
        VEHICLES, [a_document(f"v{n:02}", f"Vehicle {n}", kind=KINDS[n % 3], driver=drivers[n % 4]) for n in range(60)]
    )
    soil = SchemaField(name=FieldName("soil"), type=FieldType.CATEGORY)
    await index.set_schema(Schema(bucket=PLANTS, fields=(soil,)))
    await index.put(PLANTS, [a_document("p1", "A fern", soil="loam")])
    async with open_application(settings, clock=clock, database=database, index=index) as bot:
        for person in (ANN, BOB):
            for bucket in (VEHICLES, PLANTS):
                await bot.administration.grant_bucket(bucket, Subject(f"user:{person}"), by=OPERATOR)
        yield bot


async def ask(bot: Application, question: str, person: PersonId = ANN) -> FinishedTurn:
    driver = ConversationDriver(
        bot,
        audience=PrivateAudience(person=person),
        person=person,
        conversation=f"c-{person}-{question}",
        buckets=(VEHICLES,),
    )
    return await driver.ask_question(question)


async def load_report(bot: Application, *, days: int = 30) -> UsageReport:
    return await UsageReports(database=bot.database, index=bot.index, access=bot.access).load_report(
        days=days, limit=10
    )


async def test_a_word_that_failed_is_reported_added_with_its_count_and_then_answers(fleet: Application) -> None:
    synonyms = SchemaSynonyms(fleet.index, fleet.access)
    failed = await ask(fleet, "list the lorries")
    before = await load_report(fleet)

    preview = await synonyms.preview_synonym(VEHICLES, "kind", "lorries", "Truck")
    still_failing = await ask(fleet, "please list the lorries")
    await synonyms.add_synonym(preview)
    answered, counted = await ask(fleet, "list all lorries"), await ask(fleet, "how many lorries are driven by Ada?")
    after = await load_report(fleet)

    assert (failed.result["outcome"], still_failing.result["outcome"]) == ("no_results", "no_results")
    assert [(word.word, word.questions, word.buckets) for word in before.unknown_words] == [
        ("lorries", 1, ("vehicles",))
    ]
    assert (preview.value, preview.document_count, preview.mention_count) == ("truck", 20, 0)
    assert (answered.result["count"], counted.result["count"]) == (20, 5)
    assert after.unknown_words == ()


async def test_a_value_that_people_click_after_an_unknown_word_is_suggested(fleet: Application) -> None:
    asked = await ask(fleet, "how many lorries does Ada drive")
    label = next(choice["label"] for choice in asked.result["choices"] if choice["label"].endswith("truck"))
    driver = ConversationDriver(
        fleet,
        audience=PrivateAudience(person=ANN),
        person=ANN,
        conversation=f"c-{ANN}-how many lorries does Ada drive",
        buckets=(VEHICLES,),
    )
    await driver.click_choice(asked, label)

    word = next(word for word in (await load_report(fleet)).unknown_words if word.word == "lorries")

    assert asked.result["outcome"] == "ambiguous"
    assert [(hint.bucket, hint.field, hint.value, hint.clicks) for hint in word.suggestions] == [
        ("vehicles", "kind", "truck", 1)
    ]


async def test_questions_are_counted_by_ending_and_grouped_by_what_was_not_found(fleet: Application) -> None:
    for person in (ANN, BOB):
        await ask(fleet, "list the lorries", person)
    await ask(fleet, "show all lorries")
    await ask(fleet, "list the submarines")
    answered = await ask(fleet, "how many vans are there?")

    report = await load_report(fleet)

    assert answered.result["outcome"] == "answer"
    assert (report.counts.asked, report.counts.answered, report.counts.nothing_found) == (5, 1, 4)
    assert [(group.count, group.people, group.words) for group in report.nothing_found] == [
        (3, 2, ("lorries",)),
        (1, 1, ("submarines",)),
    ]
    assert report.nothing_found[0].questions == ("list the lorries", "show all lorries")
    assert (report.buckets, report.unasked_buckets) == ({"vehicles": 1}, ("plants", "receipts"))


async def test_questions_that_found_nothing_are_grouped_by_what_they_mean(fleet: Application) -> None:
    await ask(fleet, "list the physicians")
    await ask(fleet, "show me all doctors", BOB)
    await ask(fleet, "list the lorries")
    by_meaning = UsageReports(
        database=fleet.database, index=fleet.index, access=fleet.access, embedder=WordLlamaEmbedder()
    )

    report, by_words = await by_meaning.load_report(days=30, limit=10), await load_report(fleet)

    assert [(sorted(group.questions), group.people) for group in report.nothing_found] == [
        (["list the physicians", "show me all doctors"], 2),
        (["list the lorries"], 1),
    ]
    assert sorted(group.count for group in by_words.nothing_found) == [1, 1, 1]


async def test_no_person_and_no_text_of_an_answered_question_is_in_the_report(fleet: Application) -> None:
    await ask(fleet, "how many vans are there?")
    await ask(fleet, "list the lorries", BOB)

    text = json.dumps(asdict(await load_report(fleet)), default=str)

    assert "list the lorries" in text
    assert [sought in text for sought in ("vans", ANN, BOB, "local:")] == [False] * 4


async def test_bad_ratings_come_with_reasons_and_slow_questions_with_their_longest_stage(fleet: Application) -> None:
    asked = await ask(fleet, "how many vans are there?")
    await fleet.feedback.record_verdict(asked.turn, ANN, FeedbackVerdict.BAD, "I meant minibuses")

    report = await load_report(fleet)

    assert [(rating.question, rating.reason) for rating in report.rated_badly] == [
        ("how many vans are there?", "I meant minibuses")
    ]
    assert [(slow.turn, slow.ending, slow.slowest_stage != "") for slow in report.slowest] == [
        (asked.turn, "answer", True)
    ]


async def test_costs_are_summed_by_model_and_group(fleet: Application) -> None:
    await fleet.groups.create_group("buyers", "Buyers", by=OPERATOR)
    await fleet.groups.add_group_member("buyers", ANN, by=OPERATOR)
    turns = {person: (await ask(fleet, "how many vans are there?", person)).turn for person in (ANN, BOB)}
    calls = [
        NewModelCall(
            tenant="default",
            turn=turns[person],
            conversation="c",
            prompt="plan@1",
            model="openai/small",
            input_tokens=100,
            output_tokens=10,
            cost_usd=cost,
            ms=5.0,
        )
        for person, cost in ((ANN, 0.25), (ANN, None), (BOB, 0.5))
    ]
    await ModelCallStore(fleet.database).insert_calls(calls)

    costs = (await load_report(fleet)).costs

    assert [(cost.group, cost.calls, cost.input_tokens, cost.cost_usd, cost.unpriced_calls) for cost in costs] == [
        ("no group", 1, 100, 0.5, 0),
        ("buyers", 2, 200, 0.25, 1),
    ]


async def test_web_searches_are_summed_by_group(fleet: Application) -> None:
    await fleet.groups.create_group("buyers", "Buyers", by=OPERATOR)
    await fleet.groups.add_group_member("buyers", ANN, by=OPERATOR)
    inbox = TurnInbox(fleet.database)
    for number, (person, requests) in enumerate(((ANN, 2), (ANN, 1), (BOB, 5))):
        turn = await accept_new_turn(
            inbox, a_turn(number, f"web-{number}", person=person, received_at=fleet.database.utc_now())
        )
        [claimed] = await inbox.claim_due_turns("w", timedelta(minutes=1), up_to_turn=turn)
        cost = StoredWebSearch(requests=requests, pages=1, bytes_read=3_000_000_000)
        await inbox.add_web_search(claimed.turn.id, cost)
        assert await inbox.finish_turn(claimed, {}, ending="answer")

    costs = (await load_report(fleet)).web_costs

    assert [(cost.group, cost.searches, cost.requests, cost.pages, cost.bytes_read) for cost in costs] == [
        ("no group", 1, 5, 1, 3_000_000_000),
        ("buyers", 2, 3, 2, 6_000_000_000),
    ]


async def test_only_the_days_that_were_asked_for_count(fleet: Application, clock: Clock) -> None:
    await ask(fleet, "list the lorries")
    clock.advance(timedelta(days=8))

    week, month = await load_report(fleet, days=7), await load_report(fleet)

    assert (week.counts.asked, week.unknown_words, month.counts.asked) == (0, (), 1)


@pytest.mark.parametrize(
    ("field", "word", "value", "reason"),
    [
        ("colour", "red", "truck", "vehicles has no field 'colour'"),
        ("kind", "lorry", "tractor", "no document has 'tractor' in kind; there are"),
        ("kind", "vans", "truck", "'vans' is the value 'van' of kind"),
        ("kind", " ", "truck", "a synonym has 1 to 100 characters"),
        ("kind", "x" * 101, "truck", "a synonym has 1 to 100 characters"),
        ("kind", "drivers", None, "'drivers' names driver already"),
    ],
)
async def test_a_synonym_that_would_confuse_is_refused(
    fleet: Application, field: str, word: str, value: str | None, reason: str
) -> None:
    with pytest.raises(SynonymRefused, match=reason):
        await SchemaSynonyms(fleet.index, fleet.access).preview_synonym(VEHICLES, field, word, value)


async def test_a_word_may_name_the_field_itself(fleet: Application) -> None:
    synonyms = SchemaSynonyms(fleet.index, fleet.access)

    preview = await synonyms.preview_synonym(VEHICLES, "driver", "teamster", None)
    await synonyms.add_synonym(preview)
    grouped = await ask(fleet, "how many vehicles by teamster?")

    assert (preview.document_count, preview.value) == (60, None)
    assert [group["label"] for group in grouped.result["groups"]] == ["Ada", "Ben", "Cleo", "Dan"]
