"""Stops a running turn: by the button on its message, or by Slack's own stop button."""

from typing import Any

from structlog.typing import FilteringBoundLogger

from adapters.slack.actions.interactions import ButtonPress, PressReader
from adapters.slack.events.messages import DeliveryReader, conversation_id_of
from adapters.slack.events.questions import AckInteraction
from adapters.slack.payloads.deliveries import read_payload
from adapters.slack.payloads.events import SessionStoppedDelivery
from adapters.slack.posting.render import STOP_ACTION
from bot.ids import TurnId
from bot.turns.turn_actions import TurnActionHandler, TurnActor


class StopListener:
    """Fulfils `adapters.slack.events.dispatch.DeliveryListener`."""

    events = ("agent_session_stopped",)

    def __init__(self, turn_actions: TurnActionHandler, reader: DeliveryReader, log: FilteringBoundLogger) -> None:
        self._turn_actions, self._reader, self._presses = turn_actions, reader, PressReader(reader, log)

    def register_bolt_handlers(self, app: Any) -> None:
        app.action(STOP_ACTION)(self._on_stop_pressed)
        app.event("agent_session_stopped")(self._on_session_stopped)

    async def _on_stop_pressed(self, body: dict[str, Any], ack: AckInteraction) -> None:
        await ack()
        press = await self._presses.read_button_press(body)
        if press is not None:
            await self._presses.finish_before_deadline(press, self._stop_turn(press))

    async def _stop_turn(self, press: ButtonPress) -> None:
        await self._turn_actions.stop_turn(TurnId(press.location.about), press.actor)

    async def _on_session_stopped(self, body: dict[str, Any]) -> None:
        """Stop the thread's turn. Slack offers the button to all readers; the answer sets the session's state."""
        context = await self._reader.delivery_context_for(body)
        if context is None:
            return
        session = read_payload(SessionStoppedDelivery, body).event
        person = await context.directory.person_id_of(session.user, None)
        profile = await context.directory.load_person(session.user)
        await self._turn_actions.stop_conversation(
            TurnActor(
                conversation=conversation_id_of(context.team_id, session.channel, session.thread_ts),
                audience=context.audience_for(session.channel, person),
                person=person,
                name=profile.name if profile else session.user,
            )
        )
