"""The "Save this search" button under an answer: starts a turn of the person that offers when to ask it again."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from structlog.typing import FilteringBoundLogger

from adapters.slack.actions.interactions import PressReader
from adapters.slack.events.messages import DeliveryReader
from adapters.slack.events.questions import AcceptInbound, AckInteraction
from adapters.slack.posting.render import SAVE_ACTION
from bot.ids import TurnId
from bot.surface.inbound import SearchSaveRequest


class SaveSearchListener:
    """Fulfils `adapters.slack.events.dispatch.DeliveryListener`."""

    events = ()

    def __init__(
        self,
        accept: AcceptInbound,
        reader: DeliveryReader,
        clock: Callable[[], datetime],
        log: FilteringBoundLogger,
    ) -> None:
        self._accept, self._clock, self._presses = accept, clock, PressReader(reader, log)

    def register_bolt_handlers(self, app: Any) -> None:
        app.action(SAVE_ACTION)(self._on_save_pressed)

    async def _on_save_pressed(self, body: dict[str, Any], ack: AckInteraction) -> None:
        """Store the press before it is acknowledged."""
        press = await self._presses.read_button_press(body)
        if press is not None:
            inbound = press.build_inbound(
                SearchSaveRequest(TurnId(press.location.about)),
                event_id=f"save:{press.location.channel}:{press.own_id}",
                message_id=f"save:{press.own_id}",
                received_at=self._clock(),
            )
            await self._accept(inbound)
        await ack()
