"""The process behind `parley serve` that works on turns, and hears of them through a pipe."""

import asyncio
import os
import stat
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Final, assert_never

from bot.cli.failures import Failed
from bot.cli.options import Debug, Home
from bot.cli.running import Signals, keep_for_good, surfaces, with_bot
from bot.cli.speaker import SURFACE

if TYPE_CHECKING:
    from bot.bootstrap import Bot
    from bot.pipes import Changed, Reported
    from bot.surfaces import Apart
    from bot.turns import Observer

_BEHIND: Final = 10  # whoever receives goes first: a message that nobody acknowledges is delivered again
FAREWELL_S: Final = 20.0  # when nobody receives any more, for turns that have begun; then they are given back


def answer(home: Home = None, debug: Debug = False) -> None:
    """Work on turns for `parley serve`, which starts this and ends it."""
    os.nice(_BEHIND)
    with_bot(_answer, home=home, debug=debug)


async def _answer(bot: "Bot") -> None:
    from bot.pipes import Ready

    stop = asyncio.Event()
    async with AsyncExitStack() as stack:
        told, out = await stack.enter_async_context(_pipes())
        apart = await _registered(bot, stack)
        bot.turns.observe(_ended_to(out))
        stack.enter_context(Signals(stop))
        keep_for_good()
        _say(out, Ready())
        async with asyncio.TaskGroup() as group:
            working = group.create_task(bot.work(stop, prepare=True))
            hearing = group.create_task(_Hearing(bot, apart, out, stop, working, group).hear(told))
            working.add_done_callback(lambda _: hearing.cancel())


async def _registered(bot: "Bot", stack: AsyncExitStack) -> "dict[str, Apart]":
    """The surfaces that can be replied to from here; the others are left to whoever hears."""
    found: dict[str, Apart] = {}
    for surface in surfaces(bot, but=SURFACE):
        if surface.apart is None:
            bot.leave(surface)
            continue
        await surface.apart.start()
        stack.push_async_callback(surface.close)
        bot.register(surface)
        found[surface.name] = surface.apart
    return found


class _Hearing:
    """What `parley serve` tells, until it has ended."""

    def __init__(
        self,
        bot: "Bot",
        apart: "dict[str, Apart]",
        out: asyncio.WriteTransport,
        stop: asyncio.Event,
        working: asyncio.Task[None],
        group: asyncio.TaskGroup,
    ) -> None:
        self._bot, self._apart, self._out, self._stop = bot, apart, out, stop
        self._working, self._group = working, group

    async def hear(self, pipe: asyncio.StreamReader) -> None:
        """Whoever died said no farewell: what was begun here has a while, and is given back then."""
        from bot.ids import TurnId
        from bot.pipes import Accepted, Changed, End, Stop, told

        async for one in told(pipe):
            match one:
                case Accepted():
                    self._bot.workers.look()
                case Stop(turn=turn):
                    self._bot.stops.look(TurnId(turn))
                case Changed():
                    self._group.create_task(self._forget(one))
                case End():
                    self._stop.set()
                case _:
                    assert_never(one)
        if not self._stop.is_set():
            self._bot.log.warning("receiving process is gone")
        self._stop.set()
        await asyncio.wait((self._working,), timeout=FAREWELL_S)
        self._working.cancel()

    async def _forget(self, changed: "Changed") -> None:
        """Without an answer where it could not be: whoever heard it says so to the chat product, which repeats it."""
        from bot.pipes import Forgotten
        from storage.sql.errors import SqlError

        try:
            if changed.surface in self._apart:
                await self._apart[changed.surface].heard(changed.news)
        except SqlError as exc:
            self._bot.log.warning("news not heard", surface=changed.surface, error=type(exc).__name__)
        else:
            _say(self._out, Forgotten(number=changed.number))


@asynccontextmanager
async def _pipes() -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.WriteTransport]]:
    """To hear from and to report to: the standard input and output of this process, which nothing else uses then."""
    if not _is_pipe(0) or not _is_pipe(1):
        raise Failed("this command is started by `parley serve`; use that", status=2)
    loop, told = asyncio.get_running_loop(), asyncio.StreamReader()
    reports = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what a library prints is no report
    heard, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(told), sys.stdin)
    out, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, reports)
    try:
        yield told, out
    finally:
        heard.close()
        out.close()


def _is_pipe(handle: int) -> bool:
    mode = os.fstat(handle).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _say(out: asyncio.WriteTransport, message: "Reported") -> None:
    from bot.pipes import line

    out.write(line(message))


def _ended_to(out: asyncio.WriteTransport) -> "Observer":
    from bot.pipes import Ended

    return lambda surface, outcome, seconds: _say(out, Ended(surface=surface, outcome=outcome, seconds=seconds))
