"""The messages that answer a click. Fulfils `adapters.teams.events.turn_buttons.ReplyCards`."""

from adapters.teams.payloads.json_values import JsonObject
from adapters.teams.posting.cards import attach_card, layout_choices, more_choices_card_for, steps_card_for
from bot.surface.replies import ChoicesPart
from bot.turns.turn_actions import TurnSteps


class ClickReplyCards:
    def make_steps_activity(self, steps: TurnSteps) -> JsonObject:
        return _card_message(steps_card_for(steps), summary="Steps")

    def make_choices_activity(self, choices: ChoicesPart) -> JsonObject:
        """The choices that the card of the clarification could not hold; all of them if it could."""
        hidden = layout_choices(choices).hidden or choices.buttons
        return _card_message(more_choices_card_for(hidden, choices.clarification), summary="More choices")

    def make_notice_activity(self, sentence: str) -> JsonObject:
        return {"type": "message", "text": sentence, "textFormat": "plain"}


def _card_message(card: JsonObject, *, summary: str) -> JsonObject:
    """`summary`: for notifications."""
    return {"type": "message", "summary": summary, "attachments": [attach_card(card)]}
