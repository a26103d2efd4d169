"""Measures Slack end to end: `parley serve` in its own process, and the Slack stand-in, connected by signed HTTP.

It measures how fast a message is acknowledged while others are answered, the time to the first visible sign, and the
CPU time of a click. The stand-in is in this process; another one sends the messages whose acknowledgement is timed. The
baseline measures its cost with the same number of requests that do nothing.
"""

import asyncio
import contextlib
import gc
import itertools
import json
import os
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

import aiohttp

from adapters.slack.events.http_endpoint import EVENTS_PATH
from bench.bare_receiver import BareReceiver, run_bare_receiver
from bench.figures import BenchmarkFigure, percentile_of
from bench.request_sender import OrderedRequest, SendingOrder, order_requests
from tests.adapters.web.serving import find_free_port
from tests.attack.question_shapes import QUESTION_SHAPES, make_question
from tests.cli.conftest import RECEIPTS, environment_for, run_parley
from tests.servers.missing import ServerMissing
from tests.servers.postgres import fresh_database, restartable_postgres_server
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, SlackServer
from tests.stand_ins.slack.workspace import SlackMember, SlackMessage

_EVENTS_PER_SECOND, _EVENTS_PER_SECOND_ON_POSTGRES, _RUN_S, _QUESTIONS_PER_RUN = 50, 200, 4, 20
_PEOPLE_COUNT: Final = 400
_FLOOD_SHAPES: Final = ("people", "comparisons", "names with commas", "identifiers")
_FLOOD_CHARS: Final = 9_990
_FLOOD_QUESTIONS, _QUESTIONS_BESIDE_FLOOD = 40, 20
_PROCESS_TITLES: Final = {
    "answering": "the processes that answer",
    "database": "the server of the database",
    "sending": "the process that sends",
    "stand_in": "the stand-in of Slack",
}
_STATUS_METHOD: Final = "assistant.threads.setStatus"
_CLOCK_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, kw_only=True)
class AcknowledgementRun:
    """Milliseconds of each delivery and of each request that does nothing, and CPU time a message while they come.

    `bare_cpu_ms`: of the receiving process, for one request that does nothing. `library_ms` and `library_cpu_ms`: the
    same messages received by the libraries alone; empty and 0 where that is not measured.
    """

    delivery_ms: Sequence[float]
    bare_ms: Sequence[float]
    cpu_ms: "ProcessTimes"
    bare_cpu_ms: float
    library_ms: Sequence[float] = ()
    library_cpu_ms: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ProcessTimes:
    """Milliseconds of CPU time by process. `answering` of all processes that answer, whatever they do meanwhile."""

    receiving: float
    answering: float
    database: float
    sending: float
    stand_in: float

    def since(self, earlier: "ProcessTimes", message_count: int) -> "ProcessTimes":
        """Returns the times of one message."""
        return ProcessTimes(
            **{
                part.name: (getattr(self, part.name) - getattr(earlier, part.name)) / message_count
                for part in fields(ProcessTimes)
            }
        )


class HeldDeliveries(SlackServer):
    """Keeps deliveries back while `held` is a list, so that another process can send them."""

    held: list[OrderedRequest] | None = None

    async def _send_with_timeout(self, body: bytes, headers: Mapping[str, str]) -> tuple[int, str, Mapping[str, str]]:
        if self.held is None:
            return await super()._send_with_timeout(body, headers)
        self.held.append(OrderedRequest(url=self.app_url, headers=headers, body=body.decode()))
        return 200, "", {}


async def measure_slack(folder: Path, runs: int) -> list[BenchmarkFigure]:
    home = await asyncio.to_thread(_create_home, folder / "slack")
    async with HeldDeliveries() as stand_in, _serve_parley(home, stand_in) as pid:
        load_generator = _SlackLoadGenerator(stand_in, pid)
        await load_generator.ask_questions(_QUESTIONS_PER_RUN)  # warms up what the process loads once
        first_sign_ms = [await load_generator.time_first_sign() for _ in range(runs * 4)]
        question_cpu_ms, click_cpu_ms = zip(
            *[await load_generator.measure_click_cpu() for _ in range(runs)], strict=True
        )
        flood_runs = [await load_generator.time_beside_flood() for _ in range(runs)]
        acknowledgement_runs = await load_generator.time_acknowledgements(runs, _EVENTS_PER_SECOND)
    bare_ms = [duration_ms for run in acknowledgement_runs for duration_ms in run.bare_ms]
    return [
        BenchmarkFigure(
            name="Slack: from a message to the first sign of it",
            unit="ms",
            run_values=tuple(first_sign_ms),
            target=300,
            baseline=percentile_of(bare_ms, 50),
            note="one at a time; bare: a request that does nothing",
        ),
        BenchmarkFigure(
            name="Slack: CPU of a click, to the finished reply",
            unit="ms",
            run_values=click_cpu_ms,
            target=150,
            baseline=percentile_of(question_cpu_ms, 50),
            note=f"{_QUESTIONS_PER_RUN} clicks a run; bare: CPU of a question",
        ),
        BenchmarkFigure(
            name="Slack: others' answers while one person sends long questions, p95",
            unit="ms",
            run_values=tuple(percentile_of(beside_ms, 95) for _, beside_ms in flood_runs),
            baseline=percentile_of([percentile_of(quiet_ms, 95) for quiet_ms, _ in flood_runs], 50),
            note=f"{_FLOOD_QUESTIONS} of {_FLOOD_CHARS:,} characters at once; bare: nobody else asks; aim: twice that",
        ),
        *_acknowledgement_figures_of(acknowledgement_runs, f"on SQLite, {_EVENTS_PER_SECOND} a second"),
        *await measure_acknowledgements_on_postgres(folder / "slack-server", runs),
    ]


async def measure_acknowledgements_on_postgres(folder: Path, runs: int) -> list[BenchmarkFigure]:
    """Measure on PostgreSQL, at a rate above what two cores can answer, so that the queue grows."""
    try:
        with contextlib.ExitStack() as stack:
            starting = restartable_postgres_server(durable=True)  # it runs its own event loop while it waits
            server = await asyncio.to_thread(stack.enter_context, starting)
            async with fresh_database(server.url) as url:
                settings = {"PARLEY_DATABASE_URL": url, "PARLEY_SECRET_KEY": "bench" * 8}
                home = await asyncio.to_thread(_create_home, folder, **settings)
                async with HeldDeliveries() as stand_in, _serve_parley(home, stand_in, **settings) as pid:
                    load_generator = _SlackLoadGenerator(stand_in, pid, server.process_id)
                    await load_generator.ask_questions(_QUESTIONS_PER_RUN)
                    async with run_bare_receiver(url) as bare_receiver:
                        acknowledgement_runs = await load_generator.time_acknowledgements(
                            runs, _EVENTS_PER_SECOND_ON_POSTGRES, until_answered=False, bare_receiver=bare_receiver
                        )
    except ServerMissing as exc:
        return [
            BenchmarkFigure(
                name="Slack: acknowledged on PostgreSQL", unit="", run_values=(0.0,), note=f"not here: {exc}"
            )
        ]
    return _acknowledgement_figures_of(
        acknowledgement_runs, f"on PostgreSQL, {_EVENTS_PER_SECOND_ON_POSTGRES} a second"
    )


def _acknowledgement_figures_of(runs: Sequence[AcknowledgementRun], conditions: str) -> list[BenchmarkFigure]:
    cpu_figures = [
        BenchmarkFigure(
            name=f"Slack: CPU of a message until it is acknowledged, {conditions}",
            unit="ms",
            run_values=tuple(run.cpu_ms.receiving for run in runs),
            baseline=percentile_of([run.bare_cpu_ms for run in runs], 50),
            note="of the process that receives; bare: of a request that does nothing",
        ),
        *(
            BenchmarkFigure(
                name=f"Slack: CPU a message meanwhile, {conditions}: {title}",
                unit="ms",
                run_values=tuple(getattr(run.cpu_ms, name) for run in runs),
            )
            for name, title in _PROCESS_TITLES.items()
        ),
    ]
    return [
        BenchmarkFigure(
            name=f"Slack: acknowledged while answering, {conditions}, p{percent}",
            unit="ms",
            run_values=tuple(percentile_of(run.delivery_ms, percent) for run in runs),
            target=50 if percent == 99 else None,
            baseline=percentile_of([percentile_of(run.bare_ms, percent) for run in runs], 50),
            note=f"{len(runs[0].delivery_ms)} signed messages a run; bare: as many requests that do nothing"
            if percent == 50
            else "",
        )
        for percent in (50, 99)
    ] + [*cpu_figures, *_library_figures_of(runs, conditions)]


def _library_figures_of(runs: Sequence[AcknowledgementRun], conditions: str) -> list[BenchmarkFigure]:
    """How Parley compares with the libraries alone, run by run."""
    if not runs[0].library_ms:
        return []
    return [
        BenchmarkFigure(
            name=f"Slack: the libraries alone, {conditions}, p{percent}",
            unit="ms",
            run_values=tuple(percentile_of(run.library_ms, percent) for run in runs),
        )
        for percent in (50, 99)
    ] + [
        BenchmarkFigure(
            name=f"Slack: CPU of a message by the libraries alone, {conditions}",
            unit="ms",
            run_values=tuple(run.library_cpu_ms for run in runs),
        ),
        BenchmarkFigure(
            name=f"Slack: CPU of a message against the libraries alone, {conditions}",
            unit="",
            run_values=tuple(run.cpu_ms.receiving / run.library_cpu_ms for run in runs),
            note="of the process that receives, both in the same run",
        ),
    ]


class _SlackLoadGenerator:
    """Many people who write direct messages in turn, because Parley posts at most one message a second per channel."""

    def __init__(self, stand_in: HeldDeliveries, pid: int, database_pid: int | None = None) -> None:
        self._stand_in, self._pid, self._database_pid = stand_in, pid, database_pid
        people = [stand_in.workspace.add_user(SlackMember(id=f"U{n}BENCH", name=f"P{n}")) for n in range(_PEOPLE_COUNT)]
        self._people = itertools.cycle(people)

    async def ask_questions(self, count: int) -> list[SlackMessage]:
        """Ask questions one after the other and return the finished answers; each has buttons."""
        answers: list[SlackMessage] = []
        for _ in range(count):
            question = await self._send_message("List all receipts")
            answers.append(await self._wait_for_answer(question))
        return answers

    async def time_first_sign(self) -> float:
        """Milliseconds until the chat shows the first sign of work."""
        count_before = len(self._stand_in.calls_of(_STATUS_METHOD)) + len(self._stand_in.workspace.bot_messages())
        began = time.perf_counter()
        question = await self._send_message("List all receipts")
        await self._stand_in.wait_until(
            lambda: (
                len(self._stand_in.calls_of(_STATUS_METHOD)) + len(self._stand_in.workspace.bot_messages())
                > count_before
            )
        )
        elapsed_ms = (time.perf_counter() - began) * 1000
        await self._wait_for_answer(question)
        return elapsed_ms

    async def measure_click_cpu(self) -> tuple[float, float]:
        """Milliseconds of the server's CPU time for a question, and for a click on one of its buttons."""
        answers: list[SlackMessage] = []
        question_cpu_ms = await self._measure_cpu_ms(lambda: self._collect_answers(answers))
        return question_cpu_ms / _QUESTIONS_PER_RUN, await self._measure_cpu_ms(
            lambda: self._click_buttons(answers)
        ) / _QUESTIONS_PER_RUN

    async def _collect_answers(self, answers: list[SlackMessage]) -> None:
        answers += await self.ask_questions(_QUESTIONS_PER_RUN)

    async def _click_buttons(self, answers: list[SlackMessage]) -> None:
        for answer in answers:
            button = next(element for element in answer.block_buttons() if "2023" in element["text"]["text"])
            count_before = len(self._replies_in(answer.thread_ts or ""))
            await self._stand_in.deliver_action(self._reader_of(answer), answer, button)
            await self._stand_in.wait_until(
                lambda count_before=count_before, message=answer: self._is_answered(message, count_before + 1), 30
            )

    async def time_beside_flood(self) -> tuple[list[float], list[float]]:
        """Milliseconds of each answer to several people in turn: alone, and while one person sends many long questions
        at once, each in a conversation of its own.
        """
        quiet_ms = [await self._time_answer() for _ in range(_QUESTIONS_BESIDE_FLOOD)]
        flooder = next(self._people)
        channel = self._stand_in.workspace.direct_channel_of(flooder.id)
        shapes = itertools.cycle(make_question(QUESTION_SHAPES[shape], _FLOOD_CHARS) for shape in _FLOOD_SHAPES)
        flood = [
            (await self._stand_in.post_as_person(flooder, channel, text))[0]
            for text in itertools.islice(shapes, _FLOOD_QUESTIONS)
        ]
        beside_ms = [await self._time_answer() for _ in range(_QUESTIONS_BESIDE_FLOOD)]
        await self._stand_in.wait_until(lambda: all(self._is_answered(message, 1) for message in flood), 300)
        return quiet_ms, beside_ms

    async def _time_answer(self) -> float:
        began = time.perf_counter()
        await self._wait_for_answer(await self._send_message("How many receipts from Kestrel?"))
        return (time.perf_counter() - began) * 1000

    async def time_acknowledgements(
        self,
        runs: int,
        events_per_second: int,
        *,
        until_answered: bool = True,
        bare_receiver: BareReceiver | None = None,
    ) -> list[AcknowledgementRun]:
        """Each run is followed by the same messages to the bare receiver, and by as many requests that do nothing.

        Without `until_answered`, the next run begins before this run's messages are answered.
        """
        timed_runs: list[AcknowledgementRun] = []
        for _ in range(runs):
            gc.collect()
            gc.freeze()  # earlier objects of this process must not slow down the load generator
            count_before = len(self._final_answers())
            deliveries = await self._prepare_deliveries(events_per_second)
            times_before = self._read_process_times(0)
            report = await order_requests(deliveries)
            cpu_ms = self._read_process_times(report.cpu_ms).since(times_before, len(deliveries.requests))
            if report.refused:
                raise RuntimeError(f"{report.refused} messages were not acknowledged")
            if until_answered:
                expected_count = count_before + len(deliveries.requests)
                await self._stand_in.wait_until(
                    lambda expected_count=expected_count: len(self._final_answers()) >= expected_count, 120
                )
            library_ms, library_cpu_ms = await _time_libraries(deliveries, bare_receiver)
            cpu_before_ms = _own_cpu_ms(self._pid)
            bare = OrderedRequest(url=self._stand_in.app_url.replace(EVENTS_PATH, "/healthz"))
            bare_report = await order_requests(
                SendingOrder(requests=[bare] * len(deliveries.requests), requests_per_second=events_per_second)
            )
            bare_cpu_ms = _own_cpu_ms(self._pid) - cpu_before_ms
            timed_runs.append(
                AcknowledgementRun(
                    delivery_ms=report.request_ms,
                    bare_ms=bare_report.request_ms,
                    cpu_ms=cpu_ms,
                    bare_cpu_ms=bare_cpu_ms / len(deliveries.requests),
                    library_ms=library_ms,
                    library_cpu_ms=library_cpu_ms,
                )
            )
        return timed_runs

    async def _prepare_deliveries(self, events_per_second: int) -> SendingOrder:
        """Post a run's messages without sending them. Their signatures are good for five minutes."""
        self._stand_in.held = held = list[OrderedRequest]()
        for _ in range(events_per_second * _RUN_S):
            await self._send_message("How many receipts from Kestrel?")
        self._stand_in.held = None
        return SendingOrder(requests=held, requests_per_second=events_per_second)

    def _read_process_times(self, sending_ms: float) -> ProcessTimes:
        receiving_ms = _own_cpu_ms(self._pid)
        return ProcessTimes(
            receiving=receiving_ms,
            answering=_process_cpu_ms(self._pid) - receiving_ms,
            database=0.0 if self._database_pid is None else _process_cpu_ms(self._database_pid),
            sending=sending_ms,
            stand_in=time.process_time() * 1000,
        )

    async def _send_message(self, text: str) -> SlackMessage:
        person = next(self._people)
        message, _ = await self._stand_in.post_as_person(
            person, self._stand_in.workspace.direct_channel_of(person.id), text
        )
        return message

    def _reader_of(self, message: SlackMessage) -> SlackMember:
        channel = self._stand_in.workspace.channels[message.channel]
        return self._stand_in.workspace.users[channel.members[0]]

    async def _wait_for_answer(self, message: SlackMessage) -> SlackMessage:
        await self._stand_in.wait_until(lambda: self._is_answered(message, 1), 30)
        return self._replies_in(message.ts)[-1]

    def _is_answered(self, message: SlackMessage, reply_count: int) -> bool:
        replies = self._replies_in(message.thread_ts or message.ts)
        return len(replies) >= reply_count and all(map(_is_final_answer, replies))

    def _replies_in(self, thread: str) -> list[SlackMessage]:
        return [message for message in self._stand_in.workspace.bot_messages() if message.thread_ts == thread]

    def _final_answers(self) -> list[SlackMessage]:
        return [message for message in self._stand_in.workspace.bot_messages() if _is_final_answer(message)]

    async def _measure_cpu_ms(self, work: Callable[[], Awaitable[None]]) -> float:
        cpu_before_ms = _process_cpu_ms(self._pid)
        await work()
        return _process_cpu_ms(self._pid) - cpu_before_ms


async def _time_libraries(
    deliveries: SendingOrder, bare_receiver: BareReceiver | None
) -> tuple[Sequence[float], float]:
    """Returns the milliseconds of each message, and the receiver's CPU milliseconds for one."""
    if bare_receiver is None:
        return (), 0.0
    requests = [request.model_copy(update={"url": bare_receiver.url}) for request in deliveries.requests]
    cpu_before_ms = _own_cpu_ms(bare_receiver.pid)
    report = await order_requests(deliveries.model_copy(update={"requests": requests}))
    if report.refused:
        raise RuntimeError(f"{report.refused} messages were not acknowledged")
    return report.request_ms, (_own_cpu_ms(bare_receiver.pid) - cpu_before_ms) / len(requests)


def _is_final_answer(message: SlackMessage) -> bool:
    """Whether the message is an answer. A progress message ends in an ellipsis."""
    return not message.text.rstrip().endswith("…")


def _process_cpu_ms(pid: int) -> float:
    """User and system CPU time of the process and its child processes, in steps of the system's clock tick."""
    child_pids = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return _own_cpu_ms(pid) + sum(_own_cpu_ms(int(child_pid)) for child_pid in child_pids)


def _own_cpu_ms(pid: int) -> float:
    figures = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(figures[11]) + int(figures[12])) * 1000 / _CLOCK_TICKS_PER_S


def _create_home(folder: Path, **settings: str) -> Path:
    """Create a home with a few documents that everyone may see."""
    folder.mkdir()
    source = folder / "receipts.jsonl"
    source.write_text("\n".join(map(json.dumps, RECEIPTS)), encoding="utf-8")
    for words in (("ingest", str(source), "--bucket", "receipts"), ("grant", "receipts", "everyone")):
        if run_parley(folder, *words, **settings).status:
            raise RuntimeError(f"parley {words[0]} failed")
    return folder


async def _wait_for_background_process(metrics_url: str) -> None:
    """Wait for the last of the processes, whose start would count as work on the messages."""
    async with asyncio.timeout(60), aiohttp.ClientSession() as session:
        while True:
            async with session.get(metrics_url) as answer:
                if 'parley_worker_processes{state="background"} 1.0' in await answer.text():
                    return
            await asyncio.sleep(0.1)


@asynccontextmanager
async def _serve_parley(home: Path, stand_in: SlackServer, **settings: str) -> AsyncGenerator[int]:
    """Run `parley serve` and yield its process id."""
    port = find_free_port()
    stand_in.app_url = f"http://127.0.0.1:{port}{EVENTS_PATH}"
    slack_settings = {
        "SLACK_BOT_TOKEN": TOKEN,
        "SLACK_SIGNING_SECRET": SIGNING_SECRET,
        "SLACK_API_URL": stand_in.api_url,
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot.cli", "serve", "--port", str(port)),
        env=environment_for(home, PARLEY_PORT=str(port), **slack_settings, **settings),
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        if process.stderr is None or b"listening" not in await process.stderr.readline():
            raise RuntimeError("parley serve did not start")
        await _wait_for_background_process(f"http://127.0.0.1:{port}/metrics")
        yield process.pid
    finally:
        process.terminate()
        await process.wait()
