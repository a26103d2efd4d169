"""The report in the Home tab, and the way from a word that nobody knows to an answer, over real HTTP and real rules."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from adapters.slack.home import schema_modal
from adapters.slack.home.post_modal import CHANNEL_FIELD
from adapters.slack.home.report_blocks import SYNONYM_ACTION
from adapters.slack.home.schema_modal import SAVED_NOTE, SYNONYMS_FIELD, TITLE_FIELD
from adapters.slack.home.synonym_modal import BUCKET_ACTION, FIELD_ACTION, NO_TARGETS, VALUE_ACTION
from bot.admin.sentences import opaque_key_of
from bot.bootstrap import open_application
from bot.errors import ConcurrentChange
from bot.ids import OPERATOR, BucketId, PersonId, Subject
from bot.settings import load_settings
from storage.embedded.index import EmbeddedIndex
from storage.search.forwarding_index import ForwardingScopedIndex
from storage.search.ids import FieldName
from storage.search.index import IndexVocabulary, ScopedIndex, SearchIndex
from storage.search.schema import FieldType, Schema, SchemaField
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for
from tests.adapters.slack.story_office import StoryOffice, an_office, serve_slack
from tests.builders import TENANT, a_document
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, SlackServer
from tests.stand_ins.slack.workspace import TEAM, SlackMember
from tests.stand_ins.wrapped_index import WrappedIndex
from tests.stored_rows import list_audit_entries

VEHICLES = BucketId("vehicles")
KINDS = ("truck", "van", "trailer")


class PausableIndex(WrappedIndex):
    """An index that gives no vocabulary while it is paused."""

    def __init__(self, wrapped: SearchIndex) -> None:
        super().__init__(wrapped)
        self.running = asyncio.Event()
        self.running.set()

    def within_scope(self, scope: Scope) -> ScopedIndex:
        return PausableScopedIndex(super().within_scope(scope), self.running)


class PausableScopedIndex(ForwardingScopedIndex):
    def __init__(self, wrapped: ScopedIndex, running: asyncio.Event) -> None:
        super().__init__(wrapped)
        self.running = running

    async def load_vocabulary(self, limit: int = 200_000) -> IndexVocabulary:
        await self.running.wait()
        return await super().load_vocabulary(limit)


@dataclass(frozen=True)
class ReportingOffice:
    """Ada is an admin and may read the vehicles, of which 20 are trucks; the channel may too."""

    office: StoryOffice
    index: PausableIndex

    @property
    def slack(self) -> SlackServer:
        return self.office.slack

    @property
    def ada(self) -> SlackMember:
        return self.office.ada

    def shown_text(self, user: SlackMember | None = None) -> str:
        return self.slack.view_of(user or self.ada).visible_text()

    def shown_json(self) -> str:
        return str(self.slack.view_of(self.ada).content)

    async def wait_for_text(self, text: str) -> None:
        await self.slack.wait_until(lambda: text in self.shown_text())

    async def open_report(self) -> None:
        delivered = await self.slack.open_home(self.ada)
        assert delivered.statuses == [200]
        await self.wait_for_text("Words that no bucket knows")

    async def open_synonym(self, user: SlackMember | None = None) -> None:
        """Click the button of the first word in the report."""
        delivered = await self.slack.click_in_view(user or self.ada, "Add as synonym")
        assert delivered.statuses == [200]

    async def choose(self, action: str, text: str) -> None:
        delivered = await self.slack.click_in_view(self.ada, action, opaque_key_of(text))
        assert delivered.statuses == [200]


@pytest.fixture
async def reporting(slack: SlackServer, tmp_path: Path) -> AsyncIterator[ReportingOffice]:
    environ = {
        "PARLEY_TENANT": TENANT,
        "PARLEY_EMBEDDER": "none",
        "PARLEY_ADMINS": f"slack:{TEAM}:U1ADA",
        "SLACK_BOT_TOKEN": TOKEN,
        "SLACK_SIGNING_SECRET": SIGNING_SECRET,
        "SLACK_API_URL": slack.api_url,
    }
    settings = load_settings(tmp_path / "home", environ).settings
    async with AsyncExitStack() as stack:
        opened = await EmbeddedIndex.open(settings.index_path, tenant=TENANT, analysers=analyser_for, embedder=None)
        stack.push_async_callback(opened.close)
        index = PausableIndex(opened)
        fields = (
            SchemaField(name=FieldName("kind"), type=FieldType.CATEGORY, facet=True),
            SchemaField(name=FieldName("driver"), type=FieldType.CATEGORY, facet=True),
        )
        await index.set_schema(Schema(bucket=VEHICLES, fields=fields, synonyms=("vehicle",)))
        documents = [
            a_document(f"v{n:02}", f"Vehicle {n}", kind=KINDS[n % 3], driver=f"Driver {n:03}") for n in range(60)
        ]
        await index.put(VEHICLES, documents)
        bot = await stack.enter_async_context(open_application(settings, index=index))
        await serve_slack(bot, slack, stack)
        office = await an_office(slack, bot)
        await bot.administration.grant_bucket(VEHICLES, Subject(f"user:slack:{TEAM}:U1ADA"), by=OPERATOR)
        yield ReportingOffice(office, index)


async def test_a_question_fails_an_admin_clicks_and_the_question_answers(reporting: ReportingOffice) -> None:
    failed = await reporting.office.ask("list the lorries")
    await reporting.open_report()
    await reporting.open_synonym()
    await reporting.wait_for_text("“lorries” stands for")

    await reporting.choose(FIELD_ACTION, "kind")
    await reporting.slack.wait_until(lambda: VALUE_ACTION in reporting.shown_json())
    await reporting.choose(VALUE_ACTION, "truck")
    await reporting.wait_for_text("“lorries” as kind “truck” in vehicles would find 20 documents.")
    uncounted = await reporting.office.ask("please list the lorries")
    await reporting.slack.submit_modal(reporting.ada)
    await reporting.wait_for_text("“lorries” as kind “truck” in vehicles finds 20 documents now.")
    answered = await reporting.office.ask("list all lorries")

    assert "No document mentions “lorries”" in failed.visible_text()
    assert "No document mentions “lorries”" in uncounted.visible_text()
    assert "20 vehicles" in answered.visible_text()
    [entry] = [entry for entry in await list_audit_entries(reporting.office.bot.database) if "schema" in entry.action]
    assert entry.by == f"slack:{TEAM}:U1ADA"
    assert entry.after == {"field": "kind", "synonym": "lorries", "value": "truck"}


async def test_the_report_says_how_questions_ended_and_forgets_a_word_that_was_added(
    reporting: ReportingOffice,
) -> None:
    await reporting.office.ask("list the lorries")
    await reporting.office.ask("how many vans are there?")
    await reporting.open_report()
    text = reporting.shown_text()

    await reporting.open_synonym()
    await reporting.wait_for_text("“lorries” stands for")
    await reporting.choose(FIELD_ACTION, "kind")
    await reporting.slack.wait_until(lambda: VALUE_ACTION in reporting.shown_json())
    await reporting.choose(VALUE_ACTION, "truck")
    await reporting.wait_for_text("would find 20")
    await reporting.slack.submit_modal(reporting.ada)
    await reporting.wait_for_text("finds 20 documents now")
    await reporting.slack.close_modal(reporting.ada)
    await reporting.slack.wait_until(lambda: "Words that no bucket knows" not in reporting.shown_text())

    assert "2 questions of 1 person: 1 answered, 1 found nothing." in text
    assert "“list the lorries” · 1× · 1 person" in text
    assert "“lorries” · 1 question · 1 person · vehicles" in text


async def test_the_modal_is_open_before_anything_is_loaded(reporting: ReportingOffice) -> None:
    await reporting.office.ask("list the lorries")
    await reporting.open_report()

    reporting.index.running.clear()
    await reporting.open_synonym()
    text_while_loading = reporting.shown_text()
    reporting.index.running.set()

    assert "Looking up what it may stand for" in text_while_loading
    await reporting.wait_for_text("“lorries” stands for")


async def test_a_value_of_many_is_typed_and_counted_before_it_is_added(reporting: ReportingOffice) -> None:
    more = [a_document(f"w{n:03}", f"Van {n}", kind="van", driver=f"Driver {n:03}") for n in range(60, 160)]
    await reporting.index.put(VEHICLES, more)
    await reporting.office.ask("list the lorries")
    await reporting.open_report()
    await reporting.open_synonym()
    await reporting.wait_for_text("“lorries” stands for")
    await reporting.choose(FIELD_ACTION, "driver")
    await reporting.slack.wait_until(lambda: VALUE_ACTION in reporting.shown_json())

    await reporting.slack.submit_modal(reporting.ada, values={VALUE_ACTION: "nobody"})
    await reporting.wait_for_text("no document has 'nobody' in driver")
    await reporting.slack.submit_modal(reporting.ada, values={VALUE_ACTION: "driver 007"})
    await reporting.wait_for_text("“lorries” as driver “Driver 007” in vehicles would find 1 document.")
    await reporting.slack.submit_modal(reporting.ada, values={VALUE_ACTION: "driver 008"})
    await reporting.wait_for_text("“lorries” as driver “Driver 008” in vehicles would find 1 document.")

    assert (await reporting.index.load_bucket_states())[VEHICLES].schema.by_name[FieldName("driver")].values == {}


async def test_last_months_questions_are_asked_again_with_the_word_before_it_is_added(
    reporting: ReportingOffice,
) -> None:
    await reporting.office.ask("list the lorries")
    await reporting.open_report()
    await reporting.open_synonym()
    await reporting.wait_for_text("“lorries” stands for")
    await reporting.choose(FIELD_ACTION, "kind")
    await reporting.slack.wait_until(lambda: VALUE_ACTION in reporting.shown_json())
    await reporting.choose(VALUE_ACTION, "truck")
    await reporting.wait_for_text("would find 20")

    asked = await reporting.slack.click_in_view(reporting.ada, "Ask last month's questions again")
    await reporting.wait_for_text("Asked again, 1 of 1")
    text_after = reporting.shown_text()
    await reporting.slack.submit_modal(reporting.ada)
    await reporting.wait_for_text("The next question uses it.")

    assert asked.statuses == [200]
    assert "“list the lorries”" in text_after
    assert "would find 20" in text_after
    field = (await reporting.index.load_bucket_states())[VEHICLES].schema.by_name[FieldName("kind")]
    assert field.values == {"truck": ("lorries",)}


async def test_an_admin_without_a_grant_cannot_choose(reporting: ReportingOffice) -> None:
    subject = Subject(f"user:slack:{TEAM}:U1ADA")
    await reporting.office.ask("list the lorries")
    await reporting.office.bot.administration.revoke_grant(VEHICLES, subject, by=OPERATOR)
    await reporting.open_report()

    await reporting.open_synonym()

    await reporting.wait_for_text(NO_TARGETS)
    assert "truck" not in reporting.shown_json()


async def test_an_admin_who_loses_the_right_meanwhile_adds_nothing(
    reporting: ReportingOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    await reporting.office.ask("list the lorries")
    await reporting.open_report()
    await reporting.open_synonym()
    await reporting.wait_for_text("“lorries” stands for")
    await reporting.choose(FIELD_ACTION, "kind")
    await reporting.slack.wait_until(lambda: VALUE_ACTION in reporting.shown_json())
    await reporting.choose(VALUE_ACTION, "truck")
    await reporting.wait_for_text("would find 20")

    monkeypatch.setattr(reporting.office.bot.administration, "_settings_admins", frozenset[PersonId]())
    await reporting.slack.submit_modal(reporting.ada)
    await reporting.wait_for_text("Only admins of Parley can do this")

    assert (await reporting.index.load_bucket_states())[VEHICLES].schema.by_name[FieldName("kind")].values == {}


async def test_nobody_else_sees_the_report(reporting: ReportingOffice) -> None:
    await reporting.office.ask("list the lorries")

    await reporting.slack.open_home(reporting.office.bob)

    assert "report of the last" not in reporting.shown_text(reporting.office.bob)


# -- the weekly post


async def test_an_admin_has_the_report_posted_in_a_channel(reporting: ReportingOffice) -> None:
    office = reporting.office
    await reporting.slack.open_home(reporting.ada)
    await reporting.slack.wait_until(lambda: "Post it every week" in reporting.shown_json())
    await reporting.slack.click_in_view(reporting.ada, "Post it every week")

    answers = len(office.text_answers())
    await reporting.slack.submit_modal(reporting.ada, values={CHANNEL_FIELD: office.general.id})
    confirmed = await office.answer_after(answers + 1)  # after the message that begins the thread
    [search] = await office.bot.saved_search_administration.list_searches()
    await office.bot.saved_search_administration.start_run(search.position, silent_surfaces=())
    await office.bot.due_searches.start_due_runs()
    posted = await office.answer_after(answers + 2)

    assert "I will post the report here every Monday at 09:00" in confirmed.visible_text()
    assert "What people asked in the last 7 days" in posted.visible_text()
    assert posted.thread_ts == confirmed.thread_ts is not None


async def test_who_lost_the_right_meanwhile_has_nothing_posted(reporting: ReportingOffice) -> None:
    bob = reporting.office.bob
    answers = len(reporting.office.text_answers())
    await reporting.slack.open_home(reporting.ada)
    await reporting.slack.wait_until(lambda: "Post it every week" in reporting.shown_json())
    await reporting.office.bot.administration.add_admin(PersonId(f"slack:{TEAM}:{bob.id}"), by=OPERATOR)
    await reporting.slack.open_home(bob)
    await reporting.slack.wait_until(lambda: "Post it every week" in str(reporting.slack.view_of(bob).content))
    await reporting.slack.click_in_view(bob, "Post it every week")

    await reporting.office.bot.administration.remove_admin(PersonId(f"slack:{TEAM}:{bob.id}"), by=OPERATOR)
    await reporting.slack.submit_modal(bob, values={CHANNEL_FIELD: reporting.office.general.id})
    refused = await reporting.office.answer_after(answers + 1)

    assert "Only admins of Parley can have the report posted" in refused.visible_text()
    assert await reporting.office.bot.saved_search_administration.list_searches() == []


# -- the schema


async def open_schema_of_kind(reporting: ReportingOffice) -> None:
    await reporting.slack.open_home(reporting.ada)
    await reporting.slack.click_in_view(reporting.ada, "Change a schema")
    await reporting.slack.wait_until(lambda: schema_modal.BUCKET_ACTION in reporting.shown_json())
    await reporting.choose(schema_modal.BUCKET_ACTION, "vehicles")
    await reporting.slack.wait_until(lambda: schema_modal.PART_ACTION in reporting.shown_json())
    await reporting.choose(schema_modal.PART_ACTION, "kind")
    await reporting.slack.wait_until(lambda: SYNONYMS_FIELD in reporting.shown_json())


async def test_a_schema_is_changed_after_a_preview_of_last_months_answers(reporting: ReportingOffice) -> None:
    failed = await reporting.office.ask("how many vehicles of the sort van are there?")
    await open_schema_of_kind(reporting)

    await reporting.slack.submit_modal(reporting.ada, values={SYNONYMS_FIELD: "sort", TITLE_FIELD: "Sort of vehicle"})
    await reporting.wait_for_text("Asked again, ")
    text = reporting.shown_text()
    await reporting.slack.submit_modal(reporting.ada, values={SYNONYMS_FIELD: "sort", TITLE_FIELD: "Sort of vehicle"})
    await reporting.wait_for_text(SAVED_NOTE)

    field = (await reporting.index.load_bucket_states())[VEHICLES].schema.by_name[FieldName("kind")]
    assert (field.title, field.synonyms) == ("Sort of vehicle", ("sort",))
    assert "More synonyms: sort" in text
    assert "of 1 question of the last 30 days" in text
    assert failed is not None


async def test_what_was_typed_after_the_preview_is_previewed_before_it_is_saved(reporting: ReportingOffice) -> None:
    await open_schema_of_kind(reporting)
    await reporting.slack.submit_modal(reporting.ada, values={SYNONYMS_FIELD: "sort"})
    await reporting.wait_for_text("More synonyms: sort")

    await reporting.slack.submit_modal(reporting.ada, values={SYNONYMS_FIELD: "type"})
    await reporting.wait_for_text("More synonyms: type")
    await reporting.slack.submit_modal(reporting.ada, values={SYNONYMS_FIELD: "driver"})
    await reporting.wait_for_text("“driver” names driver already")

    field = (await reporting.index.load_bucket_states())[VEHICLES].schema.by_name[FieldName("kind")]
    assert field.synonyms == ()


async def test_a_schema_that_somebody_else_changed_is_not_overwritten(reporting: ReportingOffice) -> None:
    await open_schema_of_kind(reporting)
    await reporting.slack.submit_modal(reporting.ada, values={SYNONYMS_FIELD: "sort"})
    await reporting.wait_for_text("More synonyms: sort")
    schema = (await reporting.index.load_bucket_states())[VEHICLES].schema
    await reporting.index.set_schema(replace(schema, title="The fleet"))

    await reporting.slack.submit_modal(reporting.ada, values={SYNONYMS_FIELD: "sort"})
    await reporting.wait_for_text(str(ConcurrentChange()))

    schema = (await reporting.index.load_bucket_states())[VEHICLES].schema
    assert (schema.title, schema.by_name[FieldName("kind")].synonyms) == ("The fleet", ())


async def test_only_granted_schemas_can_be_changed_and_only_by_admins(reporting: ReportingOffice) -> None:
    await open_schema_of_kind(reporting)
    subject = Subject(f"user:slack:{TEAM}:U1ADA")
    await reporting.office.bot.administration.revoke_grant(VEHICLES, subject, by=OPERATOR)

    await reporting.slack.submit_modal(reporting.ada, values={SYNONYMS_FIELD: "sort"})

    assert "sort" not in reporting.shown_text()
    assert "Nothing was changed" in reporting.shown_text()


def test_the_actions_are_those_that_the_listener_takes() -> None:
    assert {action.partition(":")[0] for action in (SYNONYM_ACTION, BUCKET_ACTION, FIELD_ACTION, VALUE_ACTION)} == {
        "report"
    }
