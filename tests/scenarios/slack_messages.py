"""An outcome as the message that Slack is sent, held against what Slack takes."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from adapters.slack.render import message_for, whole_text
from agent.outcome import Answer, Choice, Clarify, Outcome
from bot.answers import Offer, reply_to
from bot.ids import ChoiceId, ClarificationId, TurnId
from tests.stand_ins.slack.checker import Refused, check_message, live_mentions

EXPIRES: Final = datetime(2026, 11, 21, 12, tzinfo=UTC)


def posted(outcome: Outcome) -> dict[str, Any]:
    """What Slack is sent. Raises `Refused` where it does not take it, be it with tables or with text in their place."""
    reply = reply_to(TurnId("t"), outcome, _offer(outcome.choices if isinstance(outcome, Answer | Clarify) else ()))
    whole_text(reply).encode("utf-8")
    for grids in (False, True):
        message = message_for(reply, grids=grids)
        payload = json.loads(json.dumps({"text": message.text, "blocks": message.blocks}))
        check_message(payload)
        if found := live_mentions(payload):
            raise Refused("live", str(found))
    return payload


def untaken(outcome: Outcome) -> str | None:
    """Why Slack does not take it; None where it does."""
    try:
        posted(outcome)
    except Refused as exc:
        return f"Slack: {exc}"
    return None


def _offer(choices: Sequence[Choice]) -> Offer | None:
    numbered = tuple((ChoiceId(f"{at:032x}"), choice) for at, choice in enumerate(choices))
    return Offer(clarification=ClarificationId("c"), expires=EXPIRES, choices=numbered) if numbered else None
