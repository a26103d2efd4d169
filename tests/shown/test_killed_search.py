"""Saved searches of `parley serve` as a process that is killed, while the documents and the clocks change."""

import asyncio
import re
import shlex
import sqlite3
import sys
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

import aiohttp
import pytest

from tests.cli.conftest import environment_for
from tests.faults.servers.replicas import ServedReplica
from tests.faults.slack_storm import SlackStorm
from tests.shown.shifted_parley import AHEAD_VARIABLE, MODULE
from tests.shown.transcripts import RecordedTranscript
from tests.stand_ins.slack.server import SlackServer
from tests.stand_ins.slack.workspace import SlackMember

BERLIN: Final = ZoneInfo("Europe/Berlin")
CITIES: Final = ("Bergen", "Turku", "Aarhus")
ON_CHANGE, DAILY = "Tell me when a new order arrives", "Every day at 2:30: list all orders"
_TIMEOUT_S: Final = 120.0


@dataclass
class KilledService:
    """`parley serve` on one home, which is killed and started again at other times. Ann, in Berlin, reads Slack."""

    folder: Path
    slack: SlackServer
    transcript: RecordedTranscript
    shown_count: int = 0

    def __post_init__(self) -> None:
        self.ann = self.slack.workspace.add_user(SlackMember(id="U1", name="Ann", time_zone=str(BERLIN)))
        self.settings, self.home = SlackStorm(self.slack).connect_app(""), self.folder / "home"
        self.home.mkdir()

    @asynccontextmanager
    async def run_from(self, moment: datetime) -> AsyncGenerator["KilledService"]:
        """Runs it as if it were that moment; at the end it is killed."""
        ahead_s = moment.timestamp() - time.time()
        self.slack.clock = lambda: time.time() + ahead_s
        replica = ServedReplica(self.home, self.settings | {AHEAD_VARIABLE: str(ahead_s)}, MODULE)
        self.slack.app_url = f"{replica.address}/slack/events"
        self.transcript.add_lines(f"# {moment.astimezone(BERLIN):%a %d %b %Y %H:%M %Z}: parley serve is started")
        serving = asyncio.create_task(replica.keep_running())
        self._address = replica.address
        try:
            await replica.wait_until_ready(_TIMEOUT_S)
            yield self
            assert replica.start_count == 1
        finally:
            serving.cancel()
            await asyncio.wait([serving])
        self.transcript.add_lines("# kill -9", "")

    async def ask_question(self, text: str, answer: str) -> None:
        self.transcript.add_lines(f"Ann: {text}")
        await self.slack.post_as_person(self.ann, self.slack.workspace.direct_channel_of(self.ann.id), text)
        await self.wait_for_reports(answer)

    async def wait_for_reports(self, *wanted: str) -> list[str]:
        """Waits until each is in a new message, and two rounds longer; returns the new messages."""
        await self.slack.wait_until(
            lambda: all(any(part in text for text in self._list_new_texts()) for part in wanted), _TIMEOUT_S
        )
        await self._wait_for_rounds(2)
        texts = self._list_new_texts()
        self.shown_count += len(texts)
        self.transcript.add_lines(*(f"Parley: {' '.join(text.split())}" for text in sorted(texts)))
        return texts

    def _list_new_texts(self) -> list[str]:
        """Without what is still growing: a finished stream has only blocks."""
        messages = [message for message in self.slack.workspace.bot_messages() if message.stream is None]
        return [(message.text or message.visible_text()).replace("*", "") for message in messages][self.shown_count :]

    async def _wait_for_rounds(self, count: int) -> None:
        """Until due searches were looked for so often, and nothing is left to be answered."""
        first = None
        async with asyncio.timeout(_TIMEOUT_S), aiohttp.ClientSession() as session:
            while True:
                async with session.get(f"{self._address}/metrics") as answer:
                    metrics = await answer.text()
                looks = _sample_of(metrics, 'parley_job_runs_total{name="start_saved_searches",outcome="ok"}')
                open_turns = _sample_of(metrics, 'parley_queue_turns{state="waiting"}') + _sample_of(
                    metrics, 'parley_queue_turns{state="running"}'
                )
                first = looks if first is None else first
                if looks >= first + count and not open_turns:
                    return
                await asyncio.sleep(0.2)

    async def run_command(self, *words: str) -> None:
        environment = environment_for(self.home, **{AHEAD_VARIABLE: str(self.slack.clock() - time.time())})
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", MODULE, *words), env=environment, stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate()
        assert process.returncode == 0, output.decode()
        self.transcript.add_lines(f"$ {shlex.join(('parley', *words))}", output.decode())


def _sample_of(metrics: str, name: str) -> float:
    found = re.search(rf"^{re.escape(name)} (\S+)$", metrics, re.MULTILINE)
    return float(found[1]) if found else 0.0


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "shop.db", isolation_level=None)) as database:
        database.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, city TEXT, price INTEGER)")
        rows = [(number, CITIES[number % len(CITIES)], 10 * number) for number in range(1, 31)]
        database.executemany("INSERT INTO orders VALUES (?, ?, ?)", rows)
        yield database


def berlin_time(day: int, hour: int, minute: int, *, month: int = 10, year: int = 2031, fold: int = 0) -> datetime:
    return datetime(year, month, day, hour, minute, tzinfo=BERLIN, fold=fold).astimezone(UTC)


@pytest.mark.timeout(900)  # six starts of a process, on a busy machine
async def test_a_killed_process_reports_once_what_has_changed_also_where_the_clocks_change(
    tmp_path: Path, shop: sqlite3.Connection
) -> None:
    transcript = RecordedTranscript("killed search", {str(tmp_path): "/srv"})
    async with SlackServer() as slack:
        service = KilledService(tmp_path, slack, transcript)
        query = ("--query", "SELECT * FROM orders", "--key", "id", "--name", "orders", "--bucket", "orders")
        await service.run_command("source", "add", "sql", f"sqlite:///{tmp_path}/shop.db", *query)
        await service.run_command("source", "sync")
        await service.run_command("grant", "orders", "everyone")
        async with service.run_from(berlin_time(25, 12, 0)):
            await service.ask_question(ON_CHANGE, "saved this as search 1")
            await service.ask_question(DAILY, "saved this as search 2")
        shop.execute("DELETE FROM orders WHERE id = 3")
        shop.execute("UPDATE orders SET price = 1 WHERE id = 4")
        shop.execute("INSERT INTO orders VALUES (31, 'Turku', 7), (32, 'Bergen', 8)")
        await service.run_command("source", "sync")
        async with service.run_from(berlin_time(25, 12, 10)):
            on_change = await service.wait_for_reports("Saved search 1")
        # Half past two comes twice in this night: first in summer time.
        async with service.run_from(berlin_time(26, 2, 31)):
            daily = await service.wait_for_reports("Saved search 2")
        async with service.run_from(berlin_time(26, 2, 31, fold=1)):
            second_time = await service.wait_for_reports()
        async with service.run_from(berlin_time(27, 2, 31)):
            next_day = await service.wait_for_reports("Saved search 2")
        async with service.run_from(berlin_time(28, 1, 30, month=3, year=2032)):
            missed = await service.wait_for_reports("Saved search 2")
        # There is no half past two in this night.
        async with service.run_from(berlin_time(28, 3, 1, month=3, year=2032)):
            spring = await service.wait_for_reports("Saved search 2")

    assert [len(reports) for reports in (on_change, daily, second_time, next_day, missed, spring)] == [1, 1, 0, 1, 1, 1]
    for report in (*on_change, *daily):
        assert "2 new, 1 changed, 1 gone since the last time; 31 documents now" in report
    for report in (*next_day, *missed, *spring):
        assert "Nothing has changed since the last time: 31 documents" in report
    assert "missed 152 times" in missed[0]
    transcript.check_page()
