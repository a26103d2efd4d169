"""Answers submissions that no other listener reads: a menu with nothing chosen, and buttons of older cards."""

from adapters.teams.events.received_activity import ReceivedActivity
from adapters.teams.events.reply_sending import ReplySending
from adapters.teams.payloads.json_values import JsonObject
from adapters.teams.payloads.submissions import PICK_KIND, submission_kind_of
from bot.conversation.notices import DEAD_BUTTON_NOTICE, NOTHING_CHOSEN_NOTICE
from bot.translation import translate_message


class UnknownSubmissionListener:
    """Fulfils `adapters.teams.events.listeners.ActivityListener`; the last of the listeners for submissions."""

    def __init__(self, replies: ReplySending) -> None:
        self._replies = replies

    async def handle_activity(self, received: ReceivedActivity) -> bool:
        kind = submission_kind_of(received.activity.value)
        if kind is None:
            return False

        async def make_notice() -> JsonObject:
            has_no_choice = kind == PICK_KIND  # apps on phones send a required menu empty
            sentence = translate_message(NOTHING_CHOSEN_NOTICE if has_no_choice else DEAD_BUTTON_NOTICE)
            return {"type": "message", "text": sentence, "textFormat": "plain"}

        await self._replies.answer_once(received, make_notice)
        return True
