"""The feedback buttons under an answer. A rating is stored for the admins and shown to no one else."""

from collections.abc import Mapping
from typing import Any, Final

from structlog.typing import FilteringBoundLogger

from adapters.slack.actions.interactions import ButtonPress, PressReader
from adapters.slack.events.messages import DeliveryReader
from adapters.slack.events.questions import AckInteraction
from adapters.slack.home.blocks import input_block, modal_view, plain_text_object
from adapters.slack.payloads.deliveries import read_payload
from adapters.slack.payloads.interactions import FieldState
from adapters.slack.posting.render import RATE_ACTION, Json
from bot.errors import BotError
from bot.ids import TurnId
from bot.turns.feedback import MAX_REASON_CHARS, FeedbackVerdict
from bot.turns.turn_actions import TurnActionHandler

REASON_VIEW: Final = "reason"  # id of the modal, of its block and of its field


class RatingListener:
    """Fulfils `adapters.slack.events.dispatch.DeliveryListener`."""

    events = ()

    def __init__(self, turn_actions: TurnActionHandler, reader: DeliveryReader, log: FilteringBoundLogger) -> None:
        self._turn_actions, self._presses, self._log = turn_actions, PressReader(reader, log), log

    def register_bolt_handlers(self, app: Any) -> None:
        app.action(RATE_ACTION)(self._on_rating_pressed)
        app.view(REASON_VIEW)(self._on_reason_submitted)

    async def _on_rating_pressed(self, body: dict[str, Any], ack: AckInteraction) -> None:
        await ack()
        press = await self._presses.read_button_press(body)
        if press is not None:
            await self._presses.finish_before_deadline(press, self._rate_turn(press))

    async def _rate_turn(self, press: ButtonPress) -> None:
        """Store the rating. A bad rating counts at once, because the person may never give a reason."""
        verdict_text, _, turn = press.location.about.partition(":")
        verdict = FeedbackVerdict.GOOD if verdict_text == FeedbackVerdict.GOOD else FeedbackVerdict.BAD
        await self._turn_actions.rate_turn(TurnId(turn), press.actor, verdict)
        if verdict is FeedbackVerdict.BAD:
            location = press.location.model_copy(update={"about": turn})
            await press.open_modal(rating_reason_view(location.model_dump_json()))

    async def _on_reason_submitted(self, body: dict[str, Any], ack: AckInteraction) -> None:
        submission = await self._presses.read_modal_submission(body)
        if submission is not None:
            press, values = submission
            reason = read_payload(FieldState, values.get(REASON_VIEW, {}).get(REASON_VIEW, {})).value or ""
            try:
                await self._turn_actions.rate_turn(
                    TurnId(press.location.about), press.actor, FeedbackVerdict.BAD, reason
                )
            except BotError as exc:
                self._log.info("slack feedback reason not stored", error=type(exc).__name__)
        await ack()


def rating_reason_view(metadata: str) -> Mapping[str, Json]:
    text_input: dict[str, Json] = {
        "type": "plain_text_input",
        "action_id": REASON_VIEW,
        "multiline": True,
        "max_length": MAX_REASON_CHARS,
        "focus_on_load": True,
        "placeholder": plain_text_object("Wrong, incomplete, not what was asked …"),
    }
    reason_input = input_block(
        REASON_VIEW, "What was wrong with it?", text_input, hint="Parley's admins read it, with your question."
    )
    return modal_view(REASON_VIEW, "Not a good answer", [reason_input], submit="Send", metadata=metadata)
