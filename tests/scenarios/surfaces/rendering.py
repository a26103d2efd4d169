"""Renders an outcome as the message of each surface, and finds out whether the product would show it as it is meant."""

import io
import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from rich.console import Console

from adapters.slack.posting.render import full_text_of as slack_full_text_of
from adapters.slack.posting.render import slack_message_for
from adapters.teams.posting.render import MessagePlace, full_text_messages_for, teams_message_for
from adapters.teams.posting.render import full_text_of as teams_full_text_of
from adapters.terminal.render import renderables_for
from adapters.web.render import reply_html
from agent.outcome import Answer, Choice, Clarify, Outcome
from bot.conversation.reply_builder import StoredOffer, reply_for
from bot.ids import ChoiceId, ClarificationId, TurnId
from bot.surface.replies import Reply
from tests.scenarios.surfaces.web_page import find_live_markup
from tests.stand_ins.slack.checker import PayloadRefused, check_message, live_mentions
from tests.stand_ins.teams.activity_checker import check_activity, check_shape
from tests.stand_ins.teams.refusals import ConnectorRefused

EXPIRES: Final = datetime(2026, 11, 21, 12, tzinfo=UTC)
NOW: Final = datetime(2026, 11, 21, 11, tzinfo=UTC)
_DIRECTION_SIGNS: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def reply_of(outcome: Outcome) -> Reply:
    """The reply that a turn with this outcome posts."""
    choices = outcome.choices if isinstance(outcome, Answer | Clarify) else ()
    return reply_for(TurnId("t"), outcome, _offer_of(choices))


def slack_payload_of(reply: Reply) -> dict[str, Any]:
    """The message for Slack. Raises `PayloadRefused` if Slack would refuse it, with tables or text instead."""
    slack_full_text_of(reply).encode("utf-8")
    payload: dict[str, Any] = {}
    for allow_data_tables in (False, True):
        message = slack_message_for(reply, allow_data_tables=allow_data_tables)
        payload = json.loads(json.dumps({"text": message.text, "blocks": message.blocks}))
        check_message(payload)
        if mentions := live_mentions(payload):
            raise PayloadRefused("live", str(mentions))
    return payload


def teams_activity_of(reply: Reply, *, is_personal: bool) -> dict[str, Any]:
    """The message for Teams. Raises `ConnectorRefused` if Teams would refuse it."""
    activity = json.loads(json.dumps(teams_message_for(reply, MessagePlace(is_personal=is_personal))))
    _check_teams_activity(activity, is_personal=is_personal)
    return activity


def find_slack_fault(reply: Reply) -> str | None:
    try:
        slack_payload_of(reply)
    except PayloadRefused as exc:
        return str(exc)
    return None


def find_teams_fault(reply: Reply) -> str | None:
    try:
        for is_personal in (True, False):
            teams_activity_of(reply, is_personal=is_personal)
        for message in full_text_messages_for(teams_full_text_of(reply)):
            _check_teams_activity(json.loads(json.dumps(message)), is_personal=False)
    except ConnectorRefused as exc:
        return f"{exc.code}: {exc.detail}"
    return None


def find_web_fault(reply: Reply) -> str | None:
    markup = reply_html(reply, id_="r-1", posted_at=NOW, now=NOW, steps_address="/chat/steps")
    return find_live_markup(markup)


def find_terminal_fault(reply: Reply) -> str | None:
    output = io.StringIO()
    console = Console(file=output, width=120, force_terminal=False, highlight=False, emoji=False, markup=False)
    for part in reply.parts:
        for renderable in renderables_for(part):
            console.print(renderable)
    signs = {sign for sign in output.getvalue() if _moves_cursor(sign)}
    return f"control characters {sorted(signs)}" if signs else None


RENDERINGS: Final[Mapping[str, Callable[[Reply], str | None]]] = {
    "slack": find_slack_fault,
    "teams": find_teams_fault,
    "web": find_web_fault,
    "terminal": find_terminal_fault,
}


def rendering_fault_of(outcome: Outcome) -> str | None:
    """Why a product would refuse the message of the outcome; None if all would show it."""
    reply = reply_of(outcome)
    faults = [f"{name}: {fault}" for name, find_fault in RENDERINGS.items() if (fault := find_fault(reply)) is not None]
    return "; ".join(faults) or None


def _check_teams_activity(activity: Mapping[str, Any], *, is_personal: bool) -> None:
    check_shape(activity)
    check_activity(activity, is_personal=is_personal, supports_files=True)


def _moves_cursor(sign: str) -> bool:
    return sign in _DIRECTION_SIGNS or (unicodedata.category(sign) == "Cc" and sign != "\n")


def _offer_of(choices: Sequence[Choice]) -> StoredOffer | None:
    numbered = tuple((ChoiceId(f"{number:032x}"), choice) for number, choice in enumerate(choices))
    return StoredOffer(clarification=ClarificationId("c"), expires_at=EXPIRES, choices=numbered) if numbered else None
