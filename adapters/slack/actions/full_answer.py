"""The "Show all" button: shares an answer that is too long for a message as a text file in its thread.

Sharing is a turn of its own, so it has a visible outcome even if Slack or this process fails. The first press starts
the turn; later presses report its status, and only a failed turn is started again.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from structlog.typing import FilteringBoundLogger

from adapters.slack.actions.interactions import ButtonPress, PressReader
from adapters.slack.events.messages import DeliveryReader
from adapters.slack.events.questions import AcceptInbound, AckInteraction
from adapters.slack.posting.render import FULL_TEXT_ACTION
from bot.ids import TurnId
from bot.surface.inbound import FullTextRequest
from bot.turns.turn_actions import MAX_FULL_TEXT_TRIES, FullTextStatus, TurnActionHandler, full_text_id

_ALREADY_SHARED: Final = "All of it is in this thread already, as a file."
_BEING_SHARED: Final = "All of it is on its way to this thread, as a file."
_GIVEN_UP: Final = "All of it could not be sent as a file here. Please ask your question again."


class FullAnswerListener:
    """Fulfils `adapters.slack.events.dispatch.DeliveryListener`."""

    events = ()

    def __init__(
        self,
        turn_actions: TurnActionHandler,
        accept: AcceptInbound,
        reader: DeliveryReader,
        clock: Callable[[], datetime],
        log: FilteringBoundLogger,
    ) -> None:
        self._turn_actions, self._accept, self._clock = turn_actions, accept, clock
        self._presses = PressReader(reader, log)

    def register_bolt_handlers(self, app: Any) -> None:
        app.action(FULL_TEXT_ACTION)(self._on_full_answer_pressed)

    async def _on_full_answer_pressed(self, body: dict[str, Any], ack: AckInteraction) -> None:
        await ack()
        press = await self._presses.read_button_press(body)
        if press is not None:
            await self._presses.finish_before_deadline(press, self._share_full_answer(press))

    async def _share_full_answer(self, press: ButtonPress) -> None:
        """Share the file in the thread, once for all people. The thread has the same readers as the message."""
        turn = TurnId(press.location.about)
        await self._turn_actions.check_full_text(turn, press.actor)
        for attempt in range(1, MAX_FULL_TEXT_TRIES + 1):
            event_id = full_text_id(turn, attempt)
            inbound = press.build_inbound(
                FullTextRequest(turn), event_id=event_id, message_id=event_id, received_at=self._clock()
            )
            if await self._accept(inbound) is not None:
                return
            status = await self._turn_actions.full_text_status_of(inbound)
            if status is not FullTextStatus.FAILED:
                await press.whisper_to_actor(_BEING_SHARED if status is FullTextStatus.OPEN else _ALREADY_SHARED)
                return
        await press.whisper_to_actor(_GIVEN_UP)
