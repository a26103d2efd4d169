"""Accepts clicks on choices and on "Save this search". A click starts a turn of the clicker, in the conversation of the
card.
"""

from dataclasses import replace

from adapters.teams.addresses import MoreChoicesCard, TeamsAddress
from adapters.teams.events.listeners import AcceptInbound
from adapters.teams.events.received_activity import ReceivedActivity
from adapters.teams.payloads.submissions import ChoiceSubmission, PickSubmission, SaveSubmission, parse_submission
from bot.ids import ChoiceId, MessageId, TurnId
from bot.surface.inbound import ButtonClick, Inbound, SearchSaveRequest


class TeamsChoiceListener:
    """Fulfils `adapters.teams.events.listeners.ActivityListener`."""

    def __init__(self, accept: AcceptInbound) -> None:
        self._accept = accept

    async def handle_activity(self, received: ReceivedActivity) -> bool:
        """Whether the choice is still valid is decided when the turn runs."""
        submission = parse_submission(received.activity.value)
        if not isinstance(submission, ChoiceSubmission | PickSubmission | SaveSubmission):
            return False
        if received.activity.id:
            await self._accept(_inbound_for_submission(received, submission))
        return True


def _inbound_for_submission(
    received: ReceivedActivity, submission: ChoiceSubmission | PickSubmission | SaveSubmission
) -> Inbound:
    return (
        _inbound_for_save(received, TurnId(submission.turn))
        if isinstance(submission, SaveSubmission)
        else _inbound_for_choice(received, submission)
    )


def _inbound_for_save(received: ReceivedActivity, turn: TurnId) -> Inbound:
    activity = received.activity
    press_id = f"{activity.reply_to_id}:{activity.id}:{activity.sender.id}"
    return received.make_inbound(
        event_id=f"save:{received.conversation}:{press_id}",
        message_id=MessageId(f"save:{press_id}"),
        body=SearchSaveRequest(turn),
    )


def _inbound_for_choice(received: ReceivedActivity, submission: ChoiceSubmission | PickSubmission) -> Inbound:
    """The click has an id of its own, and comes again with the same one."""
    activity = received.activity
    click_id = f"{activity.reply_to_id}:{activity.id}:{activity.sender.id}"
    choice = submission.id if isinstance(submission, ChoiceSubmission) else submission.choice
    return replace(received, address=_address_of_click(received, submission)).make_inbound(
        event_id=f"click:{received.conversation}:{click_id}",
        message_id=MessageId(f"click:{click_id}"),
        body=ButtonClick(ChoiceId(choice)),
    )


def _address_of_click(received: ReceivedActivity, submission: ChoiceSubmission | PickSubmission) -> TeamsAddress:
    clicked = received.activity.reply_to_id
    if isinstance(submission, PickSubmission) and submission.clarification is not None and clicked:
        card = MoreChoicesCard(message=clicked, clarification=submission.clarification)
        return replace(received.address, more_cards=(card,))
    return replace(received.address, clarification_card=clicked)
