"""Renders an outcome as a Slack message and checks it against Slack's rules."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from adapters.slack.posting.render import full_text_of, slack_message_for
from agent.outcome import Answer, Choice, Clarify, Outcome
from bot.conversation.reply_builder import StoredOffer, reply_for
from bot.ids import ChoiceId, ClarificationId, TurnId
from tests.stand_ins.slack.checker import PayloadRefused, check_message, live_mentions

EXPIRES: Final = datetime(2026, 11, 21, 12, tzinfo=UTC)


def slack_payload_of(outcome: Outcome) -> dict[str, Any]:
    """The message for Slack. Raises `PayloadRefused` if Slack would refuse it, with tables or text instead."""
    reply = reply_for(TurnId("t"), outcome, _offer_of(outcome.choices if isinstance(outcome, Answer | Clarify) else ()))
    full_text_of(reply).encode("utf-8")
    for allow_data_tables in (False, True):
        message = slack_message_for(reply, allow_data_tables=allow_data_tables)
        payload = json.loads(json.dumps({"text": message.text, "blocks": message.blocks}))
        check_message(payload)
        if mentions := live_mentions(payload):
            raise PayloadRefused("live", str(mentions))
    return payload


def slack_fault_of(outcome: Outcome) -> str | None:
    """Why Slack would refuse the message; None if it would accept it."""
    try:
        slack_payload_of(outcome)
    except PayloadRefused as exc:
        return f"Slack: {exc}"
    return None


def _offer_of(choices: Sequence[Choice]) -> StoredOffer | None:
    numbered = tuple((ChoiceId(f"{number:032x}"), choice) for number, choice in enumerate(choices))
    return StoredOffer(clarification=ClarificationId("c"), expires_at=EXPIRES, choices=numbered) if numbered else None
