"""Slack as people see it: `parley serve` in a process of its own, the strict stand-in beside it, signed HTTP between.

How fast a message is acknowledged while others are answered, how soon something is seen, and what a click costs. Who
writes and the stand-in share this process: `bare` has what that costs, with as many requests that do nothing.
"""

import asyncio
import contextlib
import gc
import itertools
import json
import os
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import aiohttp

from adapters.slack.receiving import PATH
from bench.figures import Figure, percentile
from tests.adapters.web.serving import a_free_port
from tests.cli.conftest import RECEIPTS, environ, run
from tests.servers.missing import ServerMissing
from tests.servers.postgres import fresh_database, postgres_server
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, SlackServer
from tests.stand_ins.slack.workspace import Message, User

_A_SECOND, _A_SECOND_ON_A_SERVER, _SECONDS, _ASKED = 50, 200, 4, 20
_PEOPLE: Final = 400
_STATUS: Final = "assistant.threads.setStatus"
_TICKS: Final = os.sysconf("SC_CLK_TCK")


async def slack(folder: Path, runs: int) -> list[Figure]:
    home = await asyncio.to_thread(_made, folder / "slack")
    async with SlackServer() as stand_in, _serving(home, stand_in) as pid:
        office = _Office(stand_in, pid)
        await office.ask(_ASKED)  # what a process reads and makes once
        seen = [await office.seen() for _ in range(runs * 4)]
        asked, clicked = zip(*[await office.clicked() for _ in range(runs)], strict=True)
        acknowledged = await office.acknowledged(runs, _A_SECOND)
    bare = [one for _, run in acknowledged for one in run]
    return [
        Figure(
            name="Slack: from a message to the first sign of it",
            unit="ms",
            runs=tuple(seen),
            aim=300,
            bare=percentile(bare, 50),
            note="one at a time; bare: a request that does nothing",
        ),
        Figure(
            name="Slack: CPU of a click, to the finished reply",
            unit="ms",
            runs=clicked,
            aim=150,
            bare=percentile(asked, 50),
            note=f"{_ASKED} clicks a run; bare: CPU of a question",
        ),
        *_acknowledged(acknowledged, f"on SQLite, {_A_SECOND} a second"),
        *await _on_a_server(folder / "slack-server", runs),
    ]


async def _on_a_server(folder: Path, runs: int) -> list[Figure]:
    """On PostgreSQL, faster than can be answered on two cores: what waits grows meanwhile."""
    try:
        with contextlib.ExitStack() as stack:
            server = postgres_server(durable=True)  # it waits in a loop of its own
            async with fresh_database(await asyncio.to_thread(stack.enter_context, server)) as url:
                settings = {"PARLEY_DATABASE_URL": url, "PARLEY_SECRET_KEY": "bench" * 8}
                home = await asyncio.to_thread(_made, folder, **settings)
                async with SlackServer() as stand_in, _serving(home, stand_in, **settings) as pid:
                    office = _Office(stand_in, pid)
                    await office.ask(_ASKED)
                    found = await office.acknowledged(runs, _A_SECOND_ON_A_SERVER, until_answered=False)
    except ServerMissing as exc:
        return [Figure(name="Slack: acknowledged on PostgreSQL", unit="", runs=(0.0,), note=f"not here: {exc}")]
    return _acknowledged(found, f"on PostgreSQL, {_A_SECOND_ON_A_SERVER} a second")


def _acknowledged(found: Sequence[tuple[list[float], list[float]]], where: str) -> list[Figure]:
    return [
        Figure(
            name=f"Slack: acknowledged while answering, {where}, p{percent}",
            unit="ms",
            runs=tuple(percentile(mine, percent) for mine, _ in found),
            aim=50 if percent == 99 else None,
            bare=percentile([percentile(bare, percent) for _, bare in found], 50),
            note=f"{len(found[0][0])} signed messages a run; bare: as many requests that do nothing"
            if percent == 50
            else "",
        )
        for percent in (50, 99)
    ]


class _Office:
    """People who write directly, in turns: in one channel, messages leave a second apart."""

    def __init__(self, stand_in: SlackServer, pid: int) -> None:
        self._slack, self._pid = stand_in, pid
        people = [stand_in.workspace.add_user(User(id=f"U{n}BENCH", name=f"P{n}")) for n in range(_PEOPLE)]
        self._people = itertools.cycle(people)

    async def ask(self, many: int) -> list[Message]:
        """The finished answers, one after the other, each with buttons."""
        answers: list[Message] = []
        for _ in range(many):
            said = await self._say("List all receipts")
            answers.append(await self._finished(said))
        return answers

    async def seen(self) -> float:
        """Milliseconds until the chat shows that something is being done."""
        before = len(self._slack.called(_STATUS)) + len(self._slack.workspace.answers())
        began = time.perf_counter()
        said = await self._say("List all receipts")
        await self._slack.until(
            lambda: len(self._slack.called(_STATUS)) + len(self._slack.workspace.answers()) > before
        )
        took = (time.perf_counter() - began) * 1000
        await self._finished(said)
        return took

    async def clicked(self) -> tuple[float, float]:
        """Milliseconds of the server's processor time for a question, and for a click on one of its buttons."""
        answers: list[Message] = []
        asked = await self._cpu(lambda: self._fill(answers))
        return asked / _ASKED, await self._cpu(lambda: self._click_all(answers)) / _ASKED

    async def _fill(self, answers: list[Message]) -> None:
        answers += await self.ask(_ASKED)

    async def _click_all(self, answers: list[Message]) -> None:
        for answer in answers:
            button = next(one for one in answer.buttons() if "2023" in one["text"]["text"])
            before = len(self._replies(answer.thread_ts or ""))
            await self._slack.deliver_action(self._reader(answer), answer, button)
            await self._slack.until(lambda before=before, at=answer: self._is_answered(at, before + 1), 30)

    async def acknowledged(
        self, runs: int, a_second: int, *, until_answered: bool = True
    ) -> list[tuple[list[float], list[float]]]:
        """Milliseconds of each delivery, and of as many requests to the same server that do nothing; so many runs.

        `until_answered`: else the next run begins while answers to this one are still to be said.
        """
        found: list[tuple[list[float], list[float]]] = []
        for _ in range(runs):
            gc.collect()
            gc.freeze()  # what was measured before in this process is not to stop who writes
            before = len(self._ended())
            mine = await _paced(self._deliver, a_second)
            if until_answered:
                expected = before + len(mine)
                await self._slack.until(lambda expected=expected: len(self._ended()) >= expected, 120)
            found.append((mine, await self._bare(a_second)))
        return found

    async def _bare(self, a_second: int) -> list[float]:
        async with aiohttp.ClientSession() as session:

            async def nothing() -> None:
                async with session.get(self._slack.app_url.replace(PATH, "/healthz")) as answer:
                    await answer.read()

            return await _paced(nothing, a_second)

    async def _deliver(self) -> None:
        await self._say("How many receipts from Kestrel?")

    async def _say(self, text: str) -> Message:
        person = next(self._people)
        said, _ = await self._slack.say(person, self._slack.workspace.direct(person.id), text)
        return said

    def _reader(self, message: Message) -> User:
        place = self._slack.workspace.channels[message.channel]
        return self._slack.workspace.users[place.members[0]]

    async def _finished(self, said: Message) -> Message:
        await self._slack.until(lambda: self._is_answered(said, 1), 30)
        return self._replies(said.ts)[-1]

    def _is_answered(self, at: Message, many: int) -> bool:
        replies = self._replies(at.thread_ts or at.ts)
        return len(replies) >= many and all(map(_is_final, replies))

    def _replies(self, thread: str) -> list[Message]:
        return [one for one in self._slack.workspace.answers() if one.thread_ts == thread]

    def _ended(self) -> list[Message]:
        return [one for one in self._slack.workspace.answers() if _is_final(one)]

    async def _cpu(self, work: Callable[[], Awaitable[None]]) -> float:
        before = _cpu_ms(self._pid)
        await work()
        return _cpu_ms(self._pid) - before


def _is_final(message: Message) -> bool:
    """Progress ends in an ellipsis."""
    return not message.text.rstrip().endswith("…")


def _cpu_ms(pid: int) -> float:
    """User and system, of the process and of those that answer for it, in steps of the system's clock."""
    beside = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return _own_cpu_ms(pid) + sum(_own_cpu_ms(int(one)) for one in beside)


def _own_cpu_ms(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / _TICKS


async def _paced(work: Callable[[], Awaitable[None]], a_second: int) -> list[float]:
    """Calls begin by the clock, whether or not those before them have ended."""

    async def timed() -> float:
        began = time.perf_counter()
        await work()
        return (time.perf_counter() - began) * 1000

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        tasks: list[asyncio.Task[float]] = []
        for number in range(a_second * _SECONDS):
            await asyncio.sleep(max(0.0, began + number / a_second - time.perf_counter()))
            tasks.append(group.create_task(timed()))
    return [task.result() for task in tasks]


def _made(folder: Path, **settings: str) -> Path:
    """A home with a few documents that everyone may see."""
    folder.mkdir()
    source = folder / "receipts.jsonl"
    source.write_text("\n".join(map(json.dumps, RECEIPTS)), encoding="utf-8")
    for words in (("ingest", str(source), "--bucket", "receipts"), ("grant", "receipts", "everyone")):
        if run(folder, *words, **settings).status:
            raise RuntimeError(f"parley {words[0]} failed")
    return folder


@asynccontextmanager
async def _serving(home: Path, stand_in: SlackServer, **settings: str) -> AsyncGenerator[int]:
    """The id of the process."""
    port = a_free_port()
    stand_in.app_url = f"http://127.0.0.1:{port}{PATH}"
    slack_settings = {
        "SLACK_BOT_TOKEN": TOKEN,
        "SLACK_SIGNING_SECRET": SIGNING_SECRET,
        "SLACK_API_URL": stand_in.api_url,
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot.cli", "serve", "--port", str(port)),
        env=environ(home, PARLEY_PORT=str(port), **slack_settings, **settings),
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        if process.stderr is None or b"listening" not in await process.stderr.readline():
            raise RuntimeError("parley serve did not start")
        yield process.pid
    finally:
        process.terminate()
        await process.wait()
