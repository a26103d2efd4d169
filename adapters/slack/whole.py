"""All of an answer that a message has no room for: as a text file in its thread, when somebody asks for it."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any, Final

from structlog.typing import FilteringBoundLogger

from adapters.slack.asking import Ack
from adapters.slack.files import share
from adapters.slack.inbound import Reader
from adapters.slack.pressing import Press, Presses
from adapters.slack.render import WHOLE, whole_text
from bot.afterwards import Afterwards
from bot.ids import TurnId

NAME: Final = "answer.txt"
_THERE: Final = "All of it is in this thread already, as a file."
_REMEMBERED: Final = 1_000  # answers


class ShowingAll:
    """Fulfils `adapters.slack.dispatch.Listener`."""

    events = ()

    def __init__(self, afterwards: Afterwards, reader: Reader, log: FilteringBoundLogger) -> None:
        self._afterwards, self._presses = afterwards, Presses(reader, log)
        self._shown: dict[str, None] = {}  # by turn

    def listen(self, app: Any) -> None:
        app.action(WHOLE)(self._on_pressed)

    async def _on_pressed(self, body: dict[str, Any], ack: Ack) -> None:
        await ack()
        press = await self._presses.pressed(body)
        if press is not None:
            await self._presses.done(press, self._show(press))

    async def _show(self, press: Press) -> None:
        """Into the thread, whose readers are those of the message: once, as far as this process knows."""
        turn = press.spot.about
        reply = await self._afterwards.whole(TurnId(turn), press.onlooker)
        if turn in self._shown:
            await press.whisper(_THERE)
            return
        self._shown[turn] = None
        while len(self._shown) > _REMEMBERED:
            del self._shown[next(iter(self._shown))]
        is_there = False
        try:
            await _share(press, whole_text(reply))
            is_there = True
        finally:
            if not is_there:
                self._shown.pop(turn, None)


async def _share(press: Press, text: str) -> None:
    address = {"channel": press.spot.channel, "thread_ts": press.spot.thread}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / NAME
        await asyncio.to_thread(path.write_text, text, encoding="utf-8")
        await share(press.here.api, address, path, name=NAME, title="The whole answer")
