"""The feedback form under an answer. A rating is stored for the admins and shown to no one else.

https://learn.microsoft.com/microsoftteams/platform/bots/how-to/bot-messages-ai-generated-content#feedback-buttons
"""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field, ValidationError
from structlog.typing import FilteringBoundLogger

from adapters.teams.events.listeners import InvokeAnswer
from adapters.teams.events.received_activity import ReceivedActivity
from bot.errors import BotError
from bot.ids import MessageId
from bot.turns.feedback import FeedbackVerdict
from bot.turns.turn_actions import TurnActionHandler

SUBMIT_INVOKE: Final = "message/submitAction"
_VERDICT_BY_REACTION: Final = {"like": FeedbackVerdict.GOOD, "dislike": FeedbackVerdict.BAD}


class _FeedbackForm(BaseModel):
    feedback_text: Annotated[str, Field(validation_alias="feedbackText")] = ""


class _FeedbackValue(BaseModel):
    reaction: Literal["like", "dislike"]
    feedback: str = "{}"  # the form's fields, as JSON


class _FeedbackSubmission(BaseModel):
    action_name: Annotated[Literal["feedback"], Field(validation_alias="actionName")]
    action_value: Annotated[_FeedbackValue, Field(validation_alias="actionValue")]


class FeedbackHandler:
    """Fulfils `adapters.teams.events.listeners.InvokeHandler`."""

    invoke_names = (SUBMIT_INVOKE,)

    def __init__(self, turn_actions: TurnActionHandler, log: FilteringBoundLogger) -> None:
        self._turn_actions, self._log = turn_actions, log

    async def answer_invoke(self, received: ReceivedActivity) -> InvokeAnswer:
        """Always an empty success: Teams thanks the person itself, and shows an error for anything else."""
        try:
            submission = _FeedbackSubmission.model_validate(received.activity.value)
        except ValidationError:
            self._log.info("teams feedback in another form")
            return InvokeAnswer()
        try:
            await self._record_rating(received, submission.action_value)
        except BotError as exc:
            self._log.info("teams feedback not stored", error=type(exc).__name__)
        return InvokeAnswer()

    async def _record_rating(self, received: ReceivedActivity, value: _FeedbackValue) -> None:
        message = MessageId(received.activity.reply_to_id)
        turn = await self._turn_actions.find_turn_of_reply(received.conversation, message)
        if turn is None:
            self._log.info("teams feedback not stored", error="UnknownMessage")
            return
        verdict = _VERDICT_BY_REACTION[value.reaction]
        await self._turn_actions.rate_turn(turn, received.actor, verdict, _reason_of(value))


def _reason_of(value: _FeedbackValue) -> str:
    try:
        return _FeedbackForm.model_validate_json(value.feedback).feedback_text
    except ValidationError:
        return ""
