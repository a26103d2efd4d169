"""The cards and some messages of Teams, of a Parley that has been used."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC
from typing import Any, Final

from adapters.teams.administration.card_pages import AdminCards
from adapters.teams.administration.overview_cards import page_link_card
from adapters.teams.administration.saved_search_cards import confirm_stop_card
from adapters.teams.administration.viewers import CardViewer
from adapters.teams.files.file_cards import consent_activity_for
from adapters.teams.posting.cards import attach_card, more_choices_card_for, steps_card_for
from adapters.teams.posting.render import MessagePlace, teams_message_for
from bot.application import Application
from bot.errors import TurnActionRefused
from bot.ids import PersonId
from bot.surface.directory import PersonProfile
from bot.surface.replies import ChoicesPart
from tests.pictures.example_home import ADA, BEN, PERSON_NAMES, TENANT, ExampleTurn

_VIEWER: Final = CardViewer(person=ADA, tenant=TENANT, time_zone=UTC)
_PLACE: Final = MessagePlace(is_personal=True)


class NamedColleagues:
    """Fulfils `bot.admin.person_names.ProfileSource`."""

    async def load_person_profile(self, person: PersonId) -> PersonProfile | None:
        name = PERSON_NAMES.get(person)
        return None if name is None else PersonProfile(name=name)


async def load_admin_cards(bot: Application) -> dict[str, Mapping[str, Any]]:
    cards = AdminCards(
        bot.administration, bot.personal_history, bot.personal_searches, bot.admin_reports, NamedColleagues()
    )
    buckets = await bot.administration.list_buckets(ADA)
    granted = max(buckets, key=lambda bucket: len(bucket.grants))
    admin = next(entry for entry in await bot.administration.list_admins(ADA) if not entry.is_from_settings)
    search = (await bot.personal_searches.list_searches(ADA))[0]
    return {
        "help": await cards.load_help_card(CardViewer(person=BEN, tenant=TENANT, time_zone=UTC)),
        "overview": await cards.load_help_card(_VIEWER),
        "own-buckets": await cards.load_own_buckets_card(_VIEWER),
        "saved-searches": await cards.load_saved_searches_card(_VIEWER),
        "stop-search": confirm_stop_card(search, 0, UTC),
        "buckets": await cards.load_bucket_list_card(_VIEWER),
        "grants": await cards.load_grants_card(_VIEWER, granted),
        "revoke": await cards.load_confirm_revoke_card(_VIEWER, granted, granted.grants[0].subject, 0),
        "admins": await cards.load_admins_card(_VIEWER),
        "remove-admin": await cards.load_confirm_removal_card(admin, 0),
        "limits": await cards.load_limits_card(_VIEWER),
        "questions": await cards.load_questions_card(_VIEWER),
        "changes": await cards.load_changes_card(_VIEWER),
        "report": await cards.load_report_card(_VIEWER),
        "page-link": page_link_card("https://parley.example/admin/enter/abc"),
        "file": consent_activity_for(offer_id="1", name="receipts-25.csv", size=2_048, description="25 rows"),
    }


async def load_messages(bot: Application, turns: Mapping[str, ExampleTurn]) -> dict[str, Mapping[str, Any]]:
    """Messages, and the cards that their buttons open."""
    messages: dict[str, Mapping[str, Any]] = {}
    for name, turn in turns.items():
        messages[name] = teams_message_for(turn.reply, _PLACE)
        with suppress(TurnActionRefused):  # of an answer without documents
            steps = await bot.turn_actions.load_steps(turn.id, turn.actor)
            messages[f"steps-{name}"] = {"attachments": [attach_card(steps_card_for(steps))]}
        for part in turn.reply.parts:
            if isinstance(part, ChoicesPart):
                card = more_choices_card_for(part.buttons, part.clarification)
                messages[f"more-{name}"] = {"attachments": [attach_card(card)]}
    return messages
