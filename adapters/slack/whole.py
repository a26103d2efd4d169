"""All of an answer that a message has no room for: as a text file in its thread, when somebody asks for it.

A turn of its own, so that it ends visibly whatever happens to Slack or to this process. One press makes it; those after
it are told what became of it, and only one that failed is begun anew.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from structlog.typing import FilteringBoundLogger

from adapters.slack.asking import Accept, Ack
from adapters.slack.inbound import SURFACE, Reader
from adapters.slack.pressing import Press, Presses
from adapters.slack.render import WHOLE
from adapters.slack.workspaces import addressed
from bot.afterwards import TRIES, Afterwards, Fate, whole_id
from bot.ids import MessageId, TurnId
from bot.inbound import AllOf, Inbound

_THERE: Final = "All of it is in this thread already, as a file."
_COMING: Final = "All of it is on its way to this thread, as a file."
_GIVEN_UP: Final = "All of it could not be sent as a file here. Please ask your question again."


class ShowingAll:
    """Fulfils `adapters.slack.dispatch.Listener`."""

    events = ()

    def __init__(
        self,
        afterwards: Afterwards,
        accept: Accept,
        reader: Reader,
        clock: Callable[[], datetime],
        log: FilteringBoundLogger,
    ) -> None:
        self._afterwards, self._accept, self._clock = afterwards, accept, clock
        self._presses = Presses(reader, log)

    def listen(self, app: Any) -> None:
        app.action(WHOLE)(self._on_pressed)

    async def _on_pressed(self, body: dict[str, Any], ack: Ack) -> None:
        await ack()
        press = await self._presses.pressed(body)
        if press is not None:
            await self._presses.done(press, self._show(press))

    async def _show(self, press: Press) -> None:
        """Into the thread, whose readers are those of the message: once, whoever presses."""
        turn = TurnId(press.spot.about)
        await self._afterwards.may_see_all(turn, press.onlooker)
        for number in range(1, TRIES + 1):
            wanted = self._wanted(press, turn, number)
            if await self._accept(wanted) is not None:
                return
            fate = await self._afterwards.fate_of(wanted)
            if fate is not Fate.FAILED:
                await press.whisper(_COMING if fate is Fate.OPEN else _THERE)
                return
        await press.whisper(_GIVEN_UP)

    def _wanted(self, press: Press, turn: TurnId, number: int) -> Inbound:
        spot, looker, own_id = press.spot, press.onlooker, whole_id(turn, number)
        return Inbound(
            surface=SURFACE,
            event_id=own_id,
            conversation=looker.conversation,
            message_id=MessageId(own_id),
            person=looker.person,
            name=press.user,
            audience=looker.audience,
            body=AllOf(turn),
            received=self._clock(),
            address={
                **addressed(press.here.place),
                "channel": spot.channel,
                "thread_ts": spot.thread,
                "ts": spot.message,
            },
        )
