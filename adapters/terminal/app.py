"""The terminal surface: prints replies and reads a typed conversation."""

import asyncio
import contextlib
import errno
import itertools
import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from rich.console import Console, RenderableType
from rich.status import Status

from adapters.terminal.render import printable_text_of, renderables_for
from bot.ids import ConversationId, MessageId, TurnId
from bot.surface.inbound import Inbound, InboundBody, TextMessage
from bot.surface.outbox import OutboxFailed
from bot.surface.replies import ChosenPart, ProgressPart, Reply, TurnActionsPart

if TYPE_CHECKING:
    from aiohttp import web

_PIPED_WIDTH = 120


class OutputConsole(Console):
    """Raises `BrokenPipeError` where rich would end the process in the middle of a turn."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


class TerminalOutbox:
    """Prints replies, and is its only thread. A printed message cannot be changed, so its update is printed below."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._latest_reply: dict[MessageId, Reply] = {}
        self._message_numbers = itertools.count(1)
        self._status: Status | None = None

    def thread_for(self, conversation: ConversationId, address: Mapping[str, str]) -> "TerminalOutbox":
        """The outbox itself: one person reads all of the output."""
        return self

    async def post_message(self, reply: Reply) -> MessageId:
        """Raises `OutboxFailed` where the reader has closed the output, as `head` does."""
        message = MessageId(str(next(self._message_numbers)))
        self._print_reply(message, reply)
        return message

    async def update_message(self, message: MessageId, reply: Reply) -> None:
        if self._latest_reply.get(message) != reply:
            self._print_reply(message, reply)

    async def attach_files(self, message: MessageId, reply: Reply) -> None:
        """Do nothing: the message names the files' paths on this machine."""

    async def find_message(
        self, turn: TurnId, *, other_messages: Collection[MessageId] | None = None
    ) -> MessageId | None:
        return next((message for message, reply in self._latest_reply.items() if reply.turn == turn), None)

    async def show_chosen(self, message: MessageId, reply: Reply, chosen: ChosenPart) -> None:
        """Do nothing: the person has just typed the choice."""

    def _print_reply(self, message: MessageId, reply: Reply) -> None:
        self._latest_reply = {message: reply}  # only the latest message can be repeated
        try:
            self._print_parts(reply)
            self._console.file.flush()
        except BrokenPipeError as exc:
            raise OutboxFailed("the output is closed", retry=False) from exc

    def _print_parts(self, reply: Reply) -> None:
        if any(isinstance(part, ProgressPart) for part in reply.parts):  # an answer is printed when it is whole
            self._show_progress(reply)
            return
        self.stop_progress_status()
        for part in (shown_part for shown_part in reply.parts if not isinstance(shown_part, TurnActionsPart)):
            for renderable in renderables_for(part):
                self._print_renderable(renderable)
            self._console.print()

    def _print_renderable(self, renderable: RenderableType) -> None:
        """Print, without the blanks at line ends that rich adds, unless the output is a terminal."""
        if self._console.is_terminal:
            self._console.print(renderable)
            return
        with self._console.capture() as captured:
            self._console.print(renderable, soft_wrap=True)
        self._console.file.write("\n".join(line.rstrip(" ") for line in captured.get().split("\n")))

    def _show_progress(self, reply: Reply) -> None:
        """Show a temporary status line on a terminal; nothing elsewhere."""
        if not self._console.is_terminal:
            return
        text = " ".join(printable_text_of(part.text) for part in reply.parts if isinstance(part, ProgressPart))
        if self._status is None:
            self._status = self._console.status("", spinner="dots")
            self._status.start()
        self._status.update(f"[dim]{text.replace('[', '(')}[/dim]")

    def stop_progress_status(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None


class TerminalBot(Protocol):
    """The parts of the bot that this surface needs."""

    async def accept_inbound(self, inbound: Inbound) -> TurnId | None: ...

    async def run_turn(self, turn: TurnId) -> object: ...


class TerminalSurface:
    """The surface for one person at one keyboard."""

    name = "terminal"

    def __init__(
        self, bot: TerminalBot, console: Console | None = None, read_input: Callable[[str], str] = input
    ) -> None:
        self._bot, self._read_input = bot, read_input
        width = None if sys.stdout.isatty() else _PIPED_WIDTH
        self._console = console or OutputConsole(highlight=False, emoji=False, markup=False, width=width)
        self._outbox = TerminalOutbox(self._console)

    @property
    def outbox(self) -> TerminalOutbox:
        return self._outbox

    @property
    def directory(self) -> None:
        """None: there is no directory for the users of this machine."""

    @property
    def threads(self) -> None:
        """None: every message belongs to a conversation already."""
        return None

    @property
    def files(self) -> None:
        """None: messages here have no attachments."""

    @property
    def worker_support(self) -> None:
        """None: the person reads the output of this process only."""

    def http_routes(self) -> "Sequence[web.RouteDef]":
        return ()

    async def start(self) -> None:
        """Do nothing: there is nothing to open."""

    async def close(self) -> None:
        self._outbox.stop_progress_status()

    async def run_conversation(self, make_inbound: Callable[[InboundBody], Inbound]) -> None:
        """Read and answer questions until the end of the input (Ctrl-D). An empty line is skipped."""
        with contextlib.suppress(ImportError):
            __import__("readline")  # adds line editing and history to `input`
        while (text := await self._read_typed_line()) is not None:
            if not text.strip():
                continue
            turn = await self._bot.accept_inbound(make_inbound(TextMessage(text.strip())))
            if turn is not None:
                await self._bot.run_turn(turn)

    async def _read_typed_line(self) -> str | None:
        """Read a line; None at the end of the input."""
        try:
            return await asyncio.to_thread(self._read_input, "› " if sys.stdin.isatty() else "")
        except EOFError:
            self._console.print()
            return None


def surface(bot: TerminalBot) -> TerminalSurface:
    return TerminalSurface(bot)
