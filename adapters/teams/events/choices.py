"""Accepts clicks on choices. A click starts a turn of the clicker, in the conversation of the card."""

from dataclasses import replace

from adapters.teams.events.listeners import AcceptInbound
from adapters.teams.events.received_activity import ReceivedActivity
from adapters.teams.payloads.submissions import ChoiceSubmission, PickSubmission, parse_submission
from bot.ids import ChoiceId, MessageId
from bot.surface.inbound import ButtonClick, Inbound


class TeamsChoiceListener:
    """Fulfils `adapters.teams.events.listeners.ActivityListener`."""

    def __init__(self, accept: AcceptInbound) -> None:
        self._accept = accept

    async def handle_activity(self, received: ReceivedActivity) -> bool:
        """Whether the choice is still valid is decided when the turn runs."""
        match parse_submission(received.activity.value):
            case ChoiceSubmission(id=choice) | PickSubmission(choice=choice):
                if received.activity.id:
                    await self._accept(_inbound_for_choice(received, ChoiceId(choice)))
                return True
            case _:
                return False


def _inbound_for_choice(received: ReceivedActivity, choice: ChoiceId) -> Inbound:
    """The click has an id of its own, and comes again with the same one."""
    activity = received.activity
    click_id = f"{activity.reply_to_id}:{activity.id}:{activity.sender.id}"
    address = replace(received.address, clarification_card=activity.reply_to_id)
    return replace(received, address=address).make_inbound(
        event_id=f"click:{received.conversation}:{click_id}",
        message_id=MessageId(f"click:{click_id}"),
        body=ButtonClick(choice),
    )
