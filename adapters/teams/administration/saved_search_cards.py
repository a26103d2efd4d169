"""The cards of a person's saved searches: the list, and the question before one ends."""

from collections.abc import Sequence
from datetime import tzinfo
from typing import Final

from adapters.teams.administration.card_parts import (
    action_row,
    admin_action,
    card_activity,
    data_line,
    first_on_page,
    fixed_line,
    heading_part,
    page_actions,
    page_note,
)
from adapters.teams.administration.grant_cards import CardNotice, notice_parts
from adapters.teams.payloads.json_values import JsonObject
from bot.admin.sentences import NO_SAVED_SEARCHES, STOP_SEARCH_WARNING, describe_saved_search
from bot.saved_searches.personal_searches import OwnSearch

SEARCHES_PER_PAGE: Final = 8
_HEADING: Final = "Your saved searches"


def saved_searches_card(
    searches: Sequence[OwnSearch], first: int, zone: tzinfo, notice: CardNotice | None = None
) -> JsonObject:
    first = first_on_page(first, SEARCHES_PER_PAGE, len(searches))
    page, pager = searches[first : first + SEARCHES_PER_PAGE], (first, SEARCHES_PER_PAGE, len(searches))
    body = [
        *notice_parts(notice),
        heading_part(_HEADING),
        *([part for search in page for part in _search_parts(search, first, zone)] or [fixed_line(NO_SAVED_SEARCHES)]),
        *page_note(*pager),
    ]
    actions = [*page_actions("saved", *pager), admin_action("Overview", "help")]
    return card_activity(body, summary=_HEADING, actions=actions)


def confirm_stop_card(search: OwnSearch, first: int, zone: tzinfo) -> JsonObject:
    body = [
        heading_part("Stop this saved search?"),
        data_line(describe_saved_search(search, zone), title=search.question),
        fixed_line(STOP_SEARCH_WARNING),
    ]
    stop = admin_action("Stop", "stop_saved_confirmed", number=search.number, first=first)
    actions = [{**stop, "style": "destructive"}, admin_action("Cancel", "saved", first=first)]
    return card_activity(body, summary="Stop this saved search?", actions=actions)


def _search_parts(search: OwnSearch, first: int, zone: tzinfo) -> list[JsonObject]:
    """The question with its state. One that has paused can go on or end, any other one can end."""
    stop = admin_action("Stop", "stop_saved", number=search.number, first=first)
    resume = admin_action("Resume", "resume_saved", number=search.number, first=first)
    buttons = [stop] if search.due_at is not None else [resume, stop]
    return [data_line(describe_saved_search(search, zone), title=search.question), action_row(*buttons)]
