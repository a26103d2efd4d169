"""The Home tab, the modals and some messages of Slack, of a Parley that has been used."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC
from typing import Any, Final

from adapters.slack.actions.feedback import rating_reason_view
from adapters.slack.actions.overflow_menu import more_choices_view
from adapters.slack.actions.steps import turn_steps_view
from adapters.slack.home.home_tab import QUESTIONS_SHOWN, HomePages, home_tab_view
from adapters.slack.home.modals import (
    CHANGES_IN_VIEW,
    QUESTIONS_PER_LIST,
    ModalState,
    UsergroupChoice,
    admins_view,
    bucket_grants_view,
    changes_view,
    limits_view,
    page_link_view,
    past_questions_view,
)
from adapters.slack.home.post_modal import post_view
from adapters.slack.home.report_blocks import REPORT_DAYS_SHOWN
from adapters.slack.home.schema_modal import SchemaState, part_key_of, schema_view
from adapters.slack.home.synonym_modal import ChosenTarget, SynonymState, first_state, synonym_added_view, synonym_view
from adapters.slack.posting.render import slack_message_for
from bot.admin.admin_page.comparison_wording import describe_comparison
from bot.admin.sentences import opaque_key_of
from bot.application import Application
from bot.errors import TurnActionRefused
from bot.surface.inbound import PrivateAudience
from bot.surface.replies import ChoicesPart
from tests.pictures.example_home import ADA, BEN, ExampleTurn

ACCOUNTS: Final = frozenset({"T1"})
_MEANT: Final = ("repairs", "Boat", "Tern")  # by a word that nobody has explained by a click
_USERGROUPS: Final = (UsergroupChoice(id="S1BUY", name="Buyers"), UsergroupChoice(id="S2YARD", name="Boatyard"))


async def load_home_view(bot: Application) -> Mapping[str, Any]:
    audience = PrivateAudience(person=ADA, is_guest=True)
    history = await bot.personal_history.load_overview(audience, max_buckets=10)
    overview = await bot.administration.load_overview(ADA, max_questions=QUESTIONS_SHOWN)
    report = await bot.admin_reports.load_report(REPORT_DAYS_SHOWN, ADA)
    return home_tab_view(history, overview, HomePages(), UTC, ACCOUNTS, report=report)


async def load_newcomer_view(bot: Application) -> Mapping[str, Any]:
    history = await bot.personal_history.load_overview(PrivateAudience(person=BEN, is_guest=True), max_buckets=10)
    return home_tab_view(replace(history, questions=(), exports=()), None, HomePages(), UTC, ACCOUNTS)


async def load_modals(bot: Application) -> dict[str, Mapping[str, Any]]:
    administration = bot.administration
    buckets = await administration.list_buckets(ADA)
    groups = await administration.list_groups(ADA)
    most_granted = max(buckets, key=lambda bucket: len(bucket.grants))
    unanswered = await administration.list_unanswered_questions(ADA, QUESTIONS_PER_LIST)
    badly_rated = await administration.list_badly_rated_questions(ADA, QUESTIONS_PER_LIST)
    changes = await administration.list_changes(ADA, CHANGES_IN_VIEW)
    return {
        "grants": bucket_grants_view(
            most_granted, ModalState(), usergroups=_USERGROUPS, groups=groups, zone=UTC, account_ids=ACCOUNTS
        ),
        "admins": admins_view(await administration.list_admins(ADA), ModalState(), account_ids=ACCOUNTS),
        "limits": limits_view(await administration.list_limits(ADA), ModalState()),
        "questions": past_questions_view(unanswered, badly_rated),
        "changes": changes_view(changes, UTC, account_ids=ACCOUNTS),
        "page-link": page_link_view("https://parley.example/admin/enter/abc"),
        "post": post_view(),
        "reason": rating_reason_view("{}"),
        **await _load_synonym_modals(bot),
        **await _load_schema_modals(bot),
    }


async def _load_synonym_modals(bot: Application) -> dict[str, Mapping[str, Any]]:
    report = await bot.admin_reports.load_report(REPORT_DAYS_SHOWN, ADA, is_fresh=False)
    targets = await bot.admin_reports.list_synonym_targets(ADA)
    unknown = max(report.unknown_words, key=lambda word: len(word.suggestions))
    state = first_state(unknown.word, unknown.buckets, unknown.suggestions, targets)
    chosen = ChosenTarget(targets, state)
    if not chosen.is_complete:
        bucket, field, value = map(opaque_key_of, _MEANT)
        state = SynonymState(word=unknown.word, bucket=bucket, field=field, value=value)
        chosen = ChosenTarget(targets, state)
    preview = await bot.admin_reports.preview_synonym(chosen.bucket, chosen.field, unknown.word, chosen.value, ADA)
    comparison = describe_comparison(await bot.admin_reports.compare_synonym(preview, ADA))
    return {
        "synonym": synonym_view(state, targets, suggestions=unknown.suggestions, preview=preview),
        "synonym-compared": synonym_view(state, targets, preview=preview, comparison=comparison),
        "synonym-added": synonym_added_view(preview),
    }


async def _load_schema_modals(bot: Application) -> dict[str, Mapping[str, Any]]:
    labels = await bot.schema_edits.list_buckets(ADA)
    schema = await bot.schema_edits.load_schema("repairs", ADA)
    entry = schema.find_entry("Total")
    assert entry is not None
    state = SchemaState(
        bucket=opaque_key_of("repairs"), part=part_key_of(entry), schema_version=opaque_key_of(schema.version)
    )
    typed = replace(entry, synonyms=(*entry.synonyms, "bill", "invoice sum"))
    preview = await bot.schema_edits.preview_edit("repairs", typed, ADA)
    comparison = describe_comparison(await bot.schema_edits.compare_answers("repairs", typed, ADA))
    return {
        "schema": schema_view(state, labels, schema, entry),
        "schema-preview": schema_view(state, labels, schema, typed, preview=preview, comparison=comparison),
    }


def messages_of(turns: Mapping[str, ExampleTurn]) -> dict[str, Mapping[str, Any]]:
    return {name: {"blocks": slack_message_for(turn.reply).blocks} for name, turn in turns.items()}


async def load_turn_modals(bot: Application, turns: Mapping[str, ExampleTurn]) -> dict[str, Mapping[str, Any]]:
    """The modals that the buttons of the messages open."""
    modals: dict[str, Mapping[str, Any]] = {}
    for name, turn in turns.items():
        with suppress(TurnActionRefused):  # of an answer without documents
            modals[f"steps-{name}"] = turn_steps_view(await bot.turn_actions.load_steps(turn.id, turn.actor))
        for part in turn.reply.parts:
            if isinstance(part, ChoicesPart):
                modals[f"more-{name}"] = more_choices_view(part.buttons, "{}")
    return modals
