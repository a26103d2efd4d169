"""The "Save this search" button under an answer: starts a turn of the person that offers when to ask it again."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from structlog.typing import FilteringBoundLogger

from adapters.slack.actions.interactions import ButtonPress, PressReader
from adapters.slack.events.messages import SURFACE, DeliveryReader
from adapters.slack.events.questions import AcceptInbound, AckInteraction
from adapters.slack.posting.render import SAVE_ACTION
from adapters.slack.workspaces.workspace_registry import address_fields_of
from bot.ids import MessageId, TurnId
from bot.surface.inbound import Inbound, SearchSaveRequest


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
            await self._accept(self._inbound_for(press))
        await ack()

    def _inbound_for(self, press: ButtonPress) -> Inbound:
        location, actor = press.location, press.actor
        return Inbound(
            surface=SURFACE,
            event_id=f"save:{location.channel}:{press.own_id}",
            conversation=actor.conversation,
            message_id=MessageId(f"save:{press.own_id}"),
            person=actor.person,
            person_name=press.user,
            audience=actor.audience,
            body=SearchSaveRequest(TurnId(location.about)),
            received_at=self._clock(),
            address={
                **address_fields_of(press.context.installation_key),
                "channel": location.channel,
                "thread_ts": location.thread,
                "ts": location.message,
            },
        )
