"""The other buttons on Parley's messages: stop, steps, the full text of an answer, and more choices.

Teams can show a message to one person of a group only in a preview, so an answer to a click is a message there.
"""

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Protocol, TypeAlias

from adapters.teams.events.listeners import AcceptInbound
from adapters.teams.events.received_activity import ReceivedActivity
from adapters.teams.events.reply_sending import NotedReply, ReplySending
from adapters.teams.payloads.json_values import JsonObject
from adapters.teams.payloads.submissions import (
    FullTextSubmission,
    MoreSubmission,
    StepsSubmission,
    StopSubmission,
    parse_submission,
)
from bot.conversation.clarifications import ClarificationOffers
from bot.conversation.file_offers import FileOffers, OfferedTextStatus
from bot.conversation.notices import FULL_TEXT_COMING_NOTICE, FULL_TEXT_FAILED_NOTICE, FULL_TEXT_SENT_NOTICE
from bot.errors import BotError
from bot.ids import ClarificationId, ConversationId, MessageId, TurnId
from bot.surface.inbound import FullTextRequest, Inbound
from bot.surface.replies import ChoicesPart
from bot.translation import translate_message
from bot.turns.turn_actions import (
    MAX_FULL_TEXT_TRIES,
    FullTextStatus,
    TurnActionHandler,
    TurnSteps,
    full_text_id,
)

# Is told the message that shows further choices of the clarification
NoteMoreCard: TypeAlias = Callable[[ConversationId, ClarificationId, str], None]


class ReplyCards(Protocol):
    """The messages that answer a click, as activities."""

    def make_steps_activity(self, steps: TurnSteps) -> JsonObject:
        """How an answer was found."""
        ...

    def make_choices_activity(self, choices: ChoicesPart) -> JsonObject:
        """A menu of the choices that did not fit on the card of the clarification; it submits `pick`."""
        ...

    def make_notice_activity(self, sentence: str) -> JsonObject:
        """One sentence, which is raw text."""
        ...


class TurnButtonListener:
    """Fulfils `adapters.teams.events.listeners.ActivityListener`."""

    def __init__(
        self,
        *,
        turn_actions: TurnActionHandler,
        offers: FileOffers,
        clarifications: ClarificationOffers,
        accept: AcceptInbound,
        cards: ReplyCards,
        replies: ReplySending,
        note_more_card: NoteMoreCard,
    ) -> None:
        self._turn_actions, self._clarifications, self._accept = turn_actions, clarifications, accept
        self._offers = offers
        self._cards, self._replies, self._note_more_card = cards, replies, note_more_card

    async def handle_activity(self, received: ReceivedActivity) -> bool:
        submission = parse_submission(received.activity.value)
        if not isinstance(submission, (StopSubmission, StepsSubmission, FullTextSubmission, MoreSubmission)):
            return False
        await self._replies.answer_once(received, partial(self._answer_submission, received, submission))
        return True

    async def _answer_submission(
        self,
        received: ReceivedActivity,
        submission: StopSubmission | StepsSubmission | FullTextSubmission | MoreSubmission,
    ) -> JsonObject | NotedReply | None:
        """Returns the message that answers the click; None where the turn's own message shows the effect."""
        try:
            match submission:
                case StopSubmission(turn=turn):
                    await self._turn_actions.stop_turn(TurnId(turn), received.actor)
                    return None
                case StepsSubmission(turn=turn):
                    steps = await self._turn_actions.load_steps(TurnId(turn), received.actor)
                    return self._cards.make_steps_activity(steps)
                case FullTextSubmission(turn=turn):
                    sentence = await self._send_full_text(received, TurnId(turn))
                    return None if sentence is None else self._cards.make_notice_activity(sentence)
                case MoreSubmission(clarification=clarification):
                    return await self._show_more_choices(received, ClarificationId(clarification))
        except BotError as exc:
            return self._cards.make_notice_activity(str(exc))

    async def _show_more_choices(self, received: ReceivedActivity, clarification: ClarificationId) -> NotedReply:
        """Raises `ChoiceRefused`."""
        conversation = received.conversation
        choices = await self._clarifications.load_offered_choices(clarification, conversation, received.audience)
        return NotedReply(
            activity=self._cards.make_choices_activity(choices),
            note_message=partial(self._note_more_card, conversation, clarification),
        )

    async def _send_full_text(self, received: ReceivedActivity, turn: TurnId) -> str | None:
        """Starts a turn that sends the full text, once for all readers. Returns what to say where there is one.

        In a personal chat the text is offered, and is offered again once the person has not taken it.
        """
        await self._turn_actions.check_full_text(turn, received.actor)
        failure_count = 0
        for attempt in count(1):
            inbound = _inbound_for_full_text(received, turn, attempt)
            if await self._accept(inbound) is not None:
                return None
            match await self._turn_actions.full_text_status_of(inbound):
                case FullTextStatus.OPEN:
                    return translate_message(FULL_TEXT_COMING_NOTICE)
                case FullTextStatus.FAILED:
                    failure_count += 1
                case FullTextStatus.SHOWN:
                    if (sentence := await self._sentence_for_shown_text(received, inbound)) is not None:
                        return sentence
            if failure_count == MAX_FULL_TEXT_TRIES:
                break
        return translate_message(FULL_TEXT_FAILED_NOTICE)

    async def _sentence_for_shown_text(self, received: ReceivedActivity, inbound: Inbound) -> str | None:
        """None where the text was offered, and the offer is over."""
        if not received.address.is_personal:
            return translate_message(FULL_TEXT_SENT_NOTICE)
        match await self._offers.find_text_status(inbound.conversation, inbound.message_id):
            case OfferedTextStatus.OPEN | OfferedTextStatus.SAVED:
                return translate_message(FULL_TEXT_SENT_NOTICE)
            case OfferedTextStatus.COMING:
                return translate_message(FULL_TEXT_COMING_NOTICE)
            case OfferedTextStatus.OVER:
                return None


def _inbound_for_full_text(received: ReceivedActivity, turn: TurnId, attempt: int) -> Inbound:
    event_id = full_text_id(turn, attempt)
    return received.make_inbound(event_id=event_id, message_id=MessageId(event_id), body=FullTextRequest(turn))
