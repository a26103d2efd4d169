"""The terminal as a surface: replies are printed, and a conversation can be typed."""

import asyncio
import contextlib
import itertools
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.status import Status

from adapters.terminal.render import renderables_for, shown
from bot.ids import ConversationId, MessageId, PersonId, TurnId
from bot.inbound import Body, Inbound, Said
from bot.outbox import Opened, Opening, opened_at_once
from bot.replies import Chosen, Handles, Progress, Reply

if TYPE_CHECKING:
    from aiohttp import web

    from bot.bootstrap import Bot

_PIPED_WIDTH = 120


class TerminalOutbox:
    """Prints. A message that was printed cannot be changed: what it says anew is printed below."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._said: dict[MessageId, Reply] = {}
        self._numbers = itertools.count(1)
        self._status: Status | None = None

    async def post(self, conversation: ConversationId, address: Mapping[str, str], reply: Reply) -> MessageId:
        message = MessageId(str(next(self._numbers)))
        self._say(message, reply)
        return message

    async def open(
        self, conversation: ConversationId, address: Mapping[str, str], person: PersonId, opening: Opening
    ) -> Opened | None:
        return await opened_at_once(self, conversation, address, opening)

    async def update(
        self, conversation: ConversationId, address: Mapping[str, str], message: MessageId, reply: Reply
    ) -> None:
        if self._said.get(message) != reply:
            self._say(message, reply)

    async def hand_over(
        self, conversation: ConversationId, address: Mapping[str, str], message: MessageId, reply: Reply
    ) -> None:
        """They are on this machine, where the message says."""

    async def whisper(
        self, conversation: ConversationId, address: Mapping[str, str], person: PersonId, reply: Reply
    ) -> None:
        await self.post(conversation, address, reply)

    async def attend(self, conversation: ConversationId, address: Mapping[str, str]) -> None:
        """What is being done is a line of its own."""

    async def find(
        self,
        conversation: ConversationId,
        address: Mapping[str, str],
        turn: TurnId,
        *,
        others: Collection[MessageId] | None = None,
    ) -> MessageId | None:
        return next((message for message, reply in self._said.items() if reply.turn == turn), None)

    async def settle(
        self, conversation: ConversationId, address: Mapping[str, str], message: MessageId, reply: Reply, chosen: Chosen
    ) -> None:
        """Whoever chose has just typed it."""

    def _say(self, message: MessageId, reply: Reply) -> None:
        self._said = {message: reply}  # only the latest can be said again
        if all(isinstance(part, (Progress, Handles)) for part in reply.parts):
            self._wait(reply)
            return
        self.rest()
        for part in (one for one in reply.parts if not isinstance(one, Handles)):
            for renderable in renderables_for(part):
                self._print(renderable)
            self._console.print()

    def _print(self, renderable: RenderableType) -> None:
        """In a file or a pipe no line ends in blanks, which rich fills cells with."""
        if self._console.is_terminal:
            self._console.print(renderable)
            return
        with self._console.capture() as captured:
            self._console.print(renderable, soft_wrap=True)
        self._console.file.write("\n".join(line.rstrip(" ") for line in captured.get().split("\n")))

    def _wait(self, reply: Reply) -> None:
        """On a terminal, a line that goes again; elsewhere nothing."""
        if not self._console.is_terminal:
            return
        text = " ".join(shown(part.text) for part in reply.parts if isinstance(part, Progress))
        if self._status is None:
            self._status = self._console.status("", spinner="dots")
            self._status.start()
        self._status.update(f"[dim]{text.replace('[', '(')}[/dim]")

    def rest(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None


class Terminal:
    """The surface of one person at one keyboard."""

    name = "terminal"

    def __init__(self, bot: "Bot", console: Console | None = None, read: Callable[[str], str] = input) -> None:
        self._bot, self._read = bot, read
        width = None if sys.stdout.isatty() else _PIPED_WIDTH
        self._console = console or Console(highlight=False, emoji=False, markup=False, width=width)
        self._outbox = TerminalOutbox(self._console)

    @property
    def outbox(self) -> TerminalOutbox:
        return self._outbox

    @property
    def directory(self) -> None:
        """People here are the machine's own: nobody else knows them."""

    @property
    def threads(self) -> None:
        """Every message stands in a conversation."""
        return None

    @property
    def files(self) -> None:
        """Nothing is attached to messages here."""

    @property
    def apart(self) -> None:
        """Whoever sits there reads this process's output."""

    def routes(self) -> "Sequence[web.RouteDef]":
        return ()

    async def start(self) -> None:
        """Nothing to open."""

    async def close(self) -> None:
        self._outbox.rest()

    async def converse(self, inbound_of: Callable[[Body], Inbound]) -> None:
        """Question and answer until the person ends it (an empty line asks nothing; Ctrl-D ends)."""
        with contextlib.suppress(ImportError):
            __import__("readline")  # line editing and history in `input`
        while (text := await self._typed()) is not None:
            if not text.strip():
                continue
            turn = await self._bot.accept(inbound_of(Said(text.strip())))
            if turn is not None:
                await self._bot.run(turn)

    async def _typed(self) -> str | None:
        """A line; None at the end of the input."""
        try:
            return await asyncio.to_thread(self._read, "› " if sys.stdin.isatty() else "")
        except EOFError:
            self._console.print()
            return None


def surface(bot: "Bot") -> Terminal:
    return Terminal(bot)
