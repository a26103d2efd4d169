"""Processes beside this one that work on turns, so that what is received never waits for what is answered.

They are started again when they die, and end when this process does, however it does: each hears its pipe close.
"""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final

from structlog.typing import FilteringBoundLogger

from bot.ids import TurnId
from bot.pipes import Accepted, Changed, End, Ended, Forgotten, Ready, Reported, Stop, Told, line, reported
from bot.surfaces import News
from bot.tasks import lone_error
from bot.turns import Observer

_READY_S: Final = 5.0  # what takes longer is not waited for: turns wait, as they would
_FORGET_S: Final = 2.0  # of the three seconds that a chat product waits
_SETTLED_S: Final = 60.0  # whoever lived so long did not die of its start
_PAUSE_S, _LONGEST_PAUSE_S = 0.25, 30.0  # doubled with each death
_BACKLOG: Final = 4_096  # bytes that are not read yet: whoever reads them finds the newer turns, too


class Answerers:
    """Open for the length of `answering`."""

    def __init__(self, each: "Sequence[_Answerer]") -> None:
        self._each = each

    def wake(self) -> None:
        """A turn was stored."""
        for one in self._each:
            one.wake()

    def stop(self, turn: TurnId) -> None:
        """Somebody asked to stop it."""
        for one in self._each:
            one.send(Stop(turn=turn))

    async def tell(self, surface: str, news: News) -> None:
        """Returns when all have forgotten what is no longer true. Raises `TimeoutError` where one does not say so."""
        async with asyncio.timeout(_FORGET_S):
            with lone_error():
                async with asyncio.TaskGroup() as group:
                    for one in self._each:
                        group.create_task(one.forgot(surface, news))


@asynccontextmanager
async def answering(
    command: Sequence[str],
    environ: Mapping[str, str],
    *,
    count: int,
    stop: asyncio.Event,
    log: FilteringBoundLogger,
    ended: Observer,
    ready: Callable[[int], None],
) -> AsyncGenerator[Answerers]:
    """`count` processes that are ready, if they can be soon. `ended` is told of their turns, `ready` how many live.

    They end after `stop`, or the block: what they have begun is finished first.
    """
    alive: set[_Answerer] = set()

    def changed(one: _Answerer, is_ready: bool) -> None:
        (alive.add if is_ready else alive.discard)(one)
        ready(len(alive))

    each = [_Answerer(command, environ, log=log, ended=ended, changed=changed) for _ in range(count)]
    ready(0)
    with lone_error():
        async with asyncio.TaskGroup() as group:
            for one in each:
                group.create_task(one.keep())
            ending = group.create_task(_end(each, stop))
            try:
                await _ready(each)
                yield Answerers(each)
            finally:
                stop.set()
                await ending


async def _end(each: "Sequence[_Answerer]", stop: asyncio.Event) -> None:
    await stop.wait()
    for one in each:
        one.end()


async def _ready(each: "Sequence[_Answerer]") -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_READY_S):
            for one in each:
                await one.began.wait()


class _Answerer:
    """One place among them: a process, and the next one where that dies."""

    def __init__(
        self,
        command: Sequence[str],
        environ: Mapping[str, str],
        *,
        log: FilteringBoundLogger,
        ended: Observer,
        changed: "Callable[[_Answerer, bool], None]",
    ) -> None:
        self._command, self._environ, self._log = command, environ, log
        self._ended, self._changed = ended, changed
        self.began = asyncio.Event()  # the first one is ready, or has died
        self._over = asyncio.Event()
        self._pipe: asyncio.StreamWriter | None = None
        self._is_ready = False
        self._numbers = itertools.count(1)
        self._asked: dict[int, asyncio.Event] = {}  # by number, to be forgotten

    # -- told

    def send(self, message: Told) -> None:
        """A process that is not there has nothing to hear."""
        if self._pipe is not None and not self._pipe.is_closing():
            self._pipe.write(line(message))

    def wake(self) -> None:
        if self._pipe is not None and self._pipe.transport.get_write_buffer_size() < _BACKLOG:
            self.send(Accepted())

    async def forgot(self, surface: str, news: News) -> None:
        """One that is starting hears it before its first turn, and one that died remembers nothing."""
        number = next(self._numbers)
        forgotten = asyncio.Event()
        self._asked[number] = forgotten
        try:
            self.send(Changed(number=number, surface=surface, news=dict(news)))
            if self._is_ready:
                await forgotten.wait()
        finally:
            del self._asked[number]

    def end(self) -> None:
        self._over.set()
        self.send(End())

    # -- kept

    async def keep(self) -> None:
        """Until its end; a next one after a pause that grows with each that dies young."""
        clock, deaths = asyncio.get_running_loop().time, 0
        while not self._over.is_set():
            born = clock()
            status = await self._lived()
            self.began.set()
            if self._over.is_set():
                return
            deaths = 1 if clock() - born > _SETTLED_S else deaths + 1
            pause_s = min(_PAUSE_S * 2**deaths, _LONGEST_PAUSE_S)
            self._log.error("answering process ended", status=status, again_in_s=pause_s)
            await self._rest(pause_s)

    async def _lived(self) -> int:
        """One process, from its start to its end: its exit status."""
        process = await asyncio.create_subprocess_exec(
            *self._command,
            env=self._environ,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is this process's to answer
        )
        self._pipe = process.stdin
        self._log.info("answering process started", pid=process.pid)
        if self._over.is_set():
            self.send(End())
        try:
            if process.stdout is not None:
                async for report in reported(process.stdout):
                    self._heard(report)
            return await process.wait()
        finally:
            self._died()
            if process.returncode is None:
                process.kill()
                await process.wait()

    def _heard(self, report: Reported) -> None:
        match report:
            case Ready():
                self._is_ready = True
                self.began.set()
                self._changed(self, True)
            case Ended(surface=surface, outcome=outcome, seconds=seconds):
                self._ended(surface, outcome, seconds)
            case Forgotten(number=number):
                if number in self._asked:
                    self._asked[number].set()

    def _died(self) -> None:
        self._pipe, self._is_ready = None, False
        self._changed(self, False)
        for forgotten in self._asked.values():
            forgotten.set()

    async def _rest(self, pause_s: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause_s):
                await self._over.wait()
