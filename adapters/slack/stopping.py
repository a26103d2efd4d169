"""Work that takes too long: stopped by the button on the message, or by Slack's own beside it."""

from typing import Any

from pydantic import BaseModel
from structlog.typing import FilteringBoundLogger

from adapters.slack.asking import Ack
from adapters.slack.inbound import Reader, conversation_of
from adapters.slack.pressing import Press, Presses
from adapters.slack.render import STOP
from bot.afterwards import Afterwards, Onlooker
from bot.ids import TurnId


class _Session(BaseModel):
    channel: str
    thread_ts: str
    user: str


class _Event(BaseModel):
    event: _Session


class Stopping:
    """Fulfils `adapters.slack.dispatch.Listener`."""

    events = ("agent_session_stopped",)

    def __init__(self, afterwards: Afterwards, reader: Reader, log: FilteringBoundLogger) -> None:
        self._afterwards, self._reader, self._presses = afterwards, reader, Presses(reader, log)

    def listen(self, app: Any) -> None:
        app.action(STOP)(self._on_pressed)
        app.event("agent_session_stopped")(self._on_stopped)

    async def _on_pressed(self, body: dict[str, Any], ack: Ack) -> None:
        await ack()
        press = await self._presses.pressed(body)
        if press is not None:
            await self._presses.done(press, self._stop(press))

    async def _stop(self, press: Press) -> None:
        await self._afterwards.stop(TurnId(press.spot.about), press.onlooker)

    async def _on_stopped(self, body: dict[str, Any]) -> None:
        """Slack lets those stop a session who read it. The answer sets the session's state."""
        here = await self._reader.here(body)
        if here is None:
            return
        session = _Event.model_validate(body).event
        person = await here.directory.person_id(session.user, None)
        known = await here.directory.person(session.user)
        await self._afterwards.stop_all(
            Onlooker(
                conversation=conversation_of(here.team, session.channel, session.thread_ts),
                audience=here.audience(session.channel, person),
                person=person,
                name=known.name if known else session.user,
            )
        )
