"""Two replicas of `parley serve`, asked over Slack, while documents change, and OpenSearch and PostgreSQL fail."""

import asyncio
import contextlib
import itertools
import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import aiohttp
from sqlalchemy.exc import SQLAlchemyError

from adapters.slack.events.http_endpoint import EVENTS_PATH
from storage.opensearch.index import OpenSearchIndex
from storage.search.ids import FieldName, TenantId
from storage.text.snowball_analyser import analyser_for
from tests.faults.servers import hurried_serving
from tests.faults.servers.cluster_faults import ServerFaults
from tests.faults.servers.document_writers import BUCKET, VENDORS, DocumentWriting
from tests.faults.servers.index_proxy import IndexProxy
from tests.faults.servers.job_watch import JOB_NAMES, JOB_SETTINGS, SAVING_TEXTS, JobWatch
from tests.faults.servers.jobs.command_series import run_commands
from tests.faults.servers.jobs.source_places import open_source_places
from tests.faults.servers.jobs.sql_statements import execute_statements
from tests.faults.servers.jobs.usage_posts import POSTING_TEXT, UsagePosts, read_usage_posts
from tests.faults.servers.jobs.web_questions import open_web_questions
from tests.faults.servers.kinds import KILLS, PROXY_FAULTS, WEIGHTS, ServerFault
from tests.faults.servers.replicas import ServedReplica
from tests.faults.servers.search_reports import PostedSearches, read_posted_searches
from tests.faults.servers.storm_checks import AskedText, FinishedRow, StormCheck, StormReport, check_kills, check_storm
from tests.faults.servers.write_ledger import WriteLedger
from tests.faults.slack_storm import SlackStorm
from tests.faults.storm import AskedQuestion
from tests.servers.opensearch_cluster import ClusterNode, opensearch_cluster
from tests.servers.postgres import RestartableServer, restartable_postgres_server
from tests.stand_ins.slack.server import SlackServer

REPLICA_COUNT, WORKERS_PER_REPLICA, WRITER_COUNT = 2, 2, 3
MAX_OPEN_QUESTIONS, MAX_PLANNED_FAULTS = 20, 10
_SAVING_TRIES = 3
_WEB_SHARE: Final = 0.2  # of the questions
_SETTLING_S = 240.0
_POINT_SETTLING_S: Final = 3 * hurried_serving.POINT_KEEP_ALIVE.total_seconds()
_TURN_COLUMNS: Final = "position, id, conversation, message_id, placeholder, outcome, attempt, received_at, finished_at"


@dataclass(frozen=True, kw_only=True)
class StormSize:
    """`max_delay_s`: of a slow answer. `longest_stop_s`: of a paused node."""

    fault_target: int
    node_count: int = 1
    base_documents: int = 2_400  # an export of all has three pages
    max_delay_s: float = 5.0
    longest_stop_s: float = 12.0


def run_server_storm(home: Path, seed: int, size: StormSize) -> StormReport:
    """Raises `ServerMissing` where the servers cannot be had."""
    with restartable_postgres_server() as database, opensearch_cluster(size.node_count) as nodes:
        storm = ServerStorm(home=home, seed=seed, size=size, database=database)
        return asyncio.run(storm.run(nodes))


@dataclass
class ServerStorm:
    home: Path
    seed: int
    size: StormSize
    database: RestartableServer
    fault_counts: Counter[ServerFault] = field(default_factory=Counter[ServerFault])
    planned_kills: Counter[ServerFault] = field(default_factory=Counter[ServerFault])
    questions: list[AskedQuestion] = field(default_factory=list[AskedQuestion])
    texts: dict[tuple[str, str], AskedText] = field(default_factory=dict[tuple[str, str], AskedText])
    ledger: WriteLedger = field(default_factory=WriteLedger)
    phase_seconds: dict[str, float] = field(default_factory=dict[str, float])

    def __post_init__(self) -> None:
        self._rng = random.Random(self.seed)
        self._unmended: list[str] = []
        self._finished_keys: set[tuple[str, str]] = set()
        self._database_url = self.database.url.replace("postgresql:", "postgresql+asyncpg:")

    async def run(self, nodes: Sequence[ClusterNode]) -> StormReport:
        self._faults = ServerFaults(nodes, self.database, self._database_url, self._rng)
        async with (
            SlackServer() as slack,
            IndexProxy(nodes, self._rng, max_delay_s=self.size.max_delay_s) as self._proxy,
            open_web_questions(random.Random(self.seed + 2)) as self._web,
            open_source_places(self.home / "pages", self.database.url, self._execute) as places,
        ):
            self._slack = SlackStorm(slack)
            settings = {
                **self._slack.connect_app(""),
                "PARLEY_DATABASE_URL": self._database_url,
                "PARLEY_INDEX_URL": self._proxy.url,
                "PARLEY_SECRET_KEY": "storm" * 8,
                "PARLEY_WORKERS": str(WORKERS_PER_REPLICA),
                "PARLEY_ADMINS": ",".join(self._slack.person_ids),
                **JOB_SETTINGS,
                **self._web.settings,
            }
            self._jobs = JobWatch(self.home, self._database_url, settings, random.Random(self.seed + 1), places)
            with self._measure_phase("start"):
                await self._faults.wait_for_cluster()
                await asyncio.to_thread(self._load_base_documents, settings)
                await self._jobs.load_buckets()
            module = hurried_serving.__name__
            self._replicas = [ServedReplica(self.home, settings, module) for _ in range(REPLICA_COUNT)]
            self._replica_addresses = itertools.cycle(f"{replica.address}{EVENTS_PATH}" for replica in self._replicas)
            started = time.monotonic()
            async with asyncio.TaskGroup() as group:
                supervisors = [group.create_task(replica.keep_running()) for replica in self._replicas]
                try:
                    with self._measure_phase("start of replicas"):
                        await asyncio.gather(*(replica.wait_until_ready() for replica in self._replicas))
                    await self._rage(group)
                    return await self._collect_report(started)
                finally:
                    for supervisor in supervisors:
                        supervisor.cancel()

    def _load_base_documents(self, settings: Mapping[str, str]) -> None:
        source = self.home / "receipts.jsonl"
        records = [
            {
                "doc_id": f"base-{number:05}",
                "title": f"Receipt {number}",
                "text": f"Receipt {number}. Tires from {VENDORS[number % 3]}.",
                "metadata": {
                    "vendor": VENDORS[number % 3],
                    "date": f"202{number % 4}-03-{number % 27 + 1:02}",
                    "kind": "tires",
                },
            }
            for number in range(self.size.base_documents)
        ]
        source.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
        run_commands(self.home, [("ingest", str(source), "--bucket", BUCKET), ("grant", BUCKET, "everyone")], settings)
        for vendor in VENDORS:
            of_vendor = [str(record["doc_id"]) for record in records if vendor in str(record["text"])]
            self.ledger.note_end(self.ledger.note_start(of_vendor, vendor, 0))

    @contextlib.contextmanager
    def _measure_phase(self, name: str) -> Generator[None]:
        started = time.monotonic()
        yield
        self.phase_seconds[name] = time.monotonic() - started

    # -- the storm

    async def _rage(self, group: asyncio.TaskGroup) -> None:
        """Asks and writes until all faults have happened, and then until every question is answered."""
        index = await self._open_index()
        self._writers = [
            DocumentWriting(f"w{number}", index, self.ledger, random.Random(self.seed * 100 + number))
            for number in range(WRITER_COUNT)
        ]
        background = [group.create_task(self._watch_answers())]
        with self._measure_phase("saving of searches"):
            await self._save_searches()
        working = group.create_task(self._jobs.make_work(index))
        background += [group.create_task(writer.write_until_cancelled()) for writer in self._writers]
        asking = group.create_task(self._ask_questions(group))
        try:
            async with asyncio.TaskGroup() as fault_group:
                with self._measure_phase("faults"):
                    await self._inject_faults(fault_group)
                mending = time.monotonic()
            self.phase_seconds["faults that were still waiting for their moment"] = time.monotonic() - mending
            self._proxy.planned.clear()
            asking.cancel()
            with self._measure_phase("open questions"), contextlib.suppress(TimeoutError):  # the report names them
                async with asyncio.timeout(_SETTLING_S):
                    while self._open_question_count():  # noqa: ASYNC110 - another process
                        await asyncio.sleep(0.5)
            with self._measure_phase("background jobs"):
                await self._jobs.finish_work(working)
                await self._jobs.finish_jobs(index, self._read_searches)
        finally:
            asking.cancel()
            working.cancel()
            for task in background:
                task.cancel()
            await asyncio.wait(background)
            await index.close()

    async def _inject_faults(self, group: asyncio.TaskGroup) -> None:
        first_kinds = list(ServerFault)  # each happens at least once
        self._rng.shuffle(first_kinds)
        while (count := self._count_faults()) < self.size.fault_target:
            is_late = count >= self.size.fault_target * 0.9
            kinds = [kind for kind in WEIGHTS if kind in PROXY_FAULTS or not is_late]
            if len(self._proxy.planned) < MAX_PLANNED_FAULTS:
                kind = first_kinds.pop() if first_kinds else self._rng.choices(kinds, [WEIGHTS[k] for k in kinds])[0]
                if kind in PROXY_FAULTS:
                    self._proxy.plan_fault(kind)
                elif kind in JOB_NAMES:
                    group.create_task(self._kill_in_job(kind))
                else:
                    group.create_task(self._make_and_mend_fault(kind))
            await asyncio.sleep(self._rng.uniform(0.0, 0.3))

    def _count_faults(self) -> int:
        return sum(self.fault_counts.values()) + sum(self._proxy.fault_counts.values())

    async def _make_and_mend_fault(self, kind: ServerFault) -> None:
        self.planned_kills[kind] += kind in KILLS
        try:
            if kind is ServerFault.KILLED_REBUILD:
                self.fault_counts[kind] += await self._jobs.kill_rebuild()
            else:
                await self._make_fault(kind)
        except TimeoutError:
            self._unmended.append(kind)

    async def _make_fault(self, kind: ServerFault) -> None:
        self.fault_counts[kind] += 1
        match kind:
            case ServerFault.FULL_DISK:
                await self._faults.fill_disk()
            case ServerFault.LOST_ALIAS:
                await self._faults.lose_alias()
            case ServerFault.STOPPED_NODE:
                await self._faults.stop_node(self.size.longest_stop_s)
            case ServerFault.KILLED_NODE:
                await self._faults.kill_node()
            case ServerFault.KILLED_DATABASE:
                await self._faults.kill_database()
            case ServerFault.KILLED_WORKER:
                await self._kill_some(lambda replica: replica.kill_worker(self._rng))
            case ServerFault.KILLED_REPLICA:
                await self._kill_some(lambda replica: replica.kill())
            case _:
                raise AssertionError(f"the proxy or a job makes {kind}")

    async def _kill_in_job(self, kind: ServerFault) -> None:
        """Counts once a process has been killed."""
        if not self._jobs.plans_kill_in(kind):
            self.planned_kills[kind] += 1
            self.fault_counts[kind] += await self._jobs.kill_in_job(kind)

    async def _kill_some(self, kill: Callable[[ServedReplica], bool]) -> None:
        """Kills something of a replica, as soon as there is something to kill."""
        while not kill(self._rng.choice(self._replicas)):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.2)

    # -- questions

    async def _save_searches(self) -> None:
        """People save searches, and read what these find now. On a busy machine a first try may be too slow."""
        for count, saving_text in enumerate(SAVING_TEXTS, 1):
            await self._save_search(saving_text, lambda count=count: len(self._read_searches().readings) >= count)
        await self._save_search(POSTING_TEXT, lambda: bool(self._read_usage_posts().numbers))

    async def _save_search(self, saving_text: str, is_saved: Callable[[], bool]) -> None:
        for _ in range(_SAVING_TRIES):
            question = self._slack.post_question(self._rng, saving_text, None)
            self.texts[question.key] = AskedText(text=saving_text, vendor=None, asked_at=time.time())
            self.questions.append(question)
            await self._deliver_until_accepted(question)
            while self._open_question_count():  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.2)
            if is_saved():
                break

    def _read_usage_posts(self) -> UsagePosts:
        return read_usage_posts(self._slack.slack.workspace.bot_messages())

    def _read_searches(self) -> PostedSearches:
        return read_posted_searches(self._slack.slack.workspace.bot_messages())

    async def _ask_questions(self, group: asyncio.TaskGroup) -> None:
        while True:
            if self._open_question_count() < MAX_OPEN_QUESTIONS:
                group.create_task(self._ask_in_one_conversation(self._rng.choice((1, 1, 2, 3))))
            await asyncio.sleep(self._rng.uniform(0.1, 0.5))

    async def _ask_in_one_conversation(self, count: int) -> None:
        """Several questions of a thread reach different replicas one after the other."""
        first: AskedQuestion | None = None
        for _ in range(count):
            asked = self._choose_text()
            question = self._slack.post_question(self._rng, asked.text, first)
            self.texts[question.key] = asked
            self.questions.append(question)
            first = first or question
            await self._deliver_until_accepted(question)

    def _choose_text(self) -> AskedText:
        if self._rng.random() < _WEB_SHARE:
            web_text, wanted = self._web.make_question()
            return AskedText(text=web_text, vendor=None, asked_at=time.time(), wanted=wanted)
        vendor = self._rng.choice(VENDORS)
        texts = {
            f"How many receipts from {vendor}?": vendor,
            f"Receipts from {vendor}": vendor,
            "How many receipts are there?": None,
            "Export all receipts as CSV": None,
            f"Export all receipts from {vendor} as CSV": vendor,
        }
        text = self._rng.choices(list(texts), (6, 2, 3, 2, 1))[0]
        return AskedText(text=text, vendor=texts[text], asked_at=time.time())

    async def _deliver_until_accepted(self, question: AskedQuestion) -> None:
        for attempt in itertools.count(1):
            self._slack.slack.app_url = next(self._replica_addresses)
            with contextlib.suppress(aiohttp.ClientError, OSError):
                if await self._slack.deliver_question(question, 0):
                    return
            await asyncio.sleep(min(0.1 * attempt, 1.0))

    def _open_question_count(self) -> int:
        return sum(question.key not in self._finished_keys for question in self.questions)

    async def _watch_answers(self) -> None:
        while True:
            with contextlib.suppress(OSError, SQLAlchemyError, TimeoutError):
                rows = await self._faults.load_rows(
                    "SELECT conversation, message_id FROM turns WHERE finished_at IS NOT NULL"
                )
                self._finished_keys = {self._slack.key_of(row.conversation, row.message_id) for row in rows}
            await asyncio.sleep(0.4)

    # -- the report

    async def _collect_report(self, started: float) -> StormReport:
        rows = await self._faults.load_rows(f"SELECT {_TURN_COLUMNS} FROM turns ORDER BY position")
        finished = [
            FinishedRow(
                position=row.position,
                key=self._slack.key_of(row.conversation, row.message_id),
                turn=row.id,
                conversation=row.conversation,
                outcome=row.outcome if isinstance(row.outcome, str) or row.outcome is None else json.dumps(row.outcome),
                placeholder=row.placeholder,
                attempt=row.attempt,
                received_at=row.received_at.timestamp(),
                finished_at=row.finished_at.timestamp() if row.finished_at else None,
            )
            for row in rows
        ]
        asked = [row for row in finished if not row.is_search_run]
        checks = await self._check_everything(finished)
        return StormReport(
            faults=dict(self.fault_counts + self._proxy.fault_counts),
            planned_kills=dict(self.planned_kills),
            seconds=time.monotonic() - started,
            phase_seconds=dict(self.phase_seconds),
            load=os.getloadavg()[0],
            seed=self.seed,
            write_failures=Counter(
                failure.partition(":")[0] for writer in self._writers for failure in writer.failures
            ),
            replica_starts=sum(replica.start_count for replica in self._replicas),
            acknowledged_writes=self.ledger.acknowledged_count,
            unknown_writes=self.ledger.unknown_count,
            answer_count=sum(row.result.get("outcome") not in (None, "failed") for row in asked),
            apology_count=sum(row.result.get("outcome") == "failed" for row in asked),
            search_report_count=self._read_searches().report_count,
            checks=[
                StormCheck(
                    name="servers come back", checked=sum(self.fault_counts.values()), problems=tuple(self._unmended)
                ),
                check_kills(self.planned_kills, self.fault_counts),
                *checks,
            ],
        )

    async def _check_everything(self, finished: Sequence[FinishedRow]) -> list[StormCheck]:
        index = await self._open_index()
        try:
            found_documents = {
                str(record.doc_id): str(record.values[FieldName("vendor")])
                async for records in index.scan_records(BUCKET)
                for record in records
            }
            runs = [row for row in finished if row.is_search_run]
            job_checks = await self._jobs.check_jobs(index, self._read_searches(), runs)
        finally:
            await index.close()
        with self._measure_phase("points in time"):
            open_points = await self._wait_for_closed_points()
        checks = check_storm(
            slack=self._slack,
            questions=self.questions,
            texts=self.texts,
            rows=finished,
            ledger=self.ledger,
            found_documents=found_documents,
            open_points=open_points,
        )
        web_check, post_check = (
            self._web.check_answers(finished, self.texts),
            self._read_usage_posts().check_posts(runs),
        )
        return [*checks, *job_checks, web_check, post_check]

    async def _execute(self, statement: str, **values: Any) -> list[Any]:
        return (await execute_statements(self._database_url, [statement], **values))[0]

    async def _open_index(self) -> OpenSearchIndex:
        return await OpenSearchIndex.open(
            [self._proxy.url], tenant=TenantId("default"), analysers=analyser_for, embedder=None
        )

    async def _wait_for_closed_points(self) -> list[str]:
        """The points in time that are still open when the cluster has deleted those of killed workers."""
        deadline = time.monotonic() + _POINT_SETTLING_S
        while True:
            points = await self._faults.list_open_points()
            if not points or time.monotonic() > deadline:
                return points
            await asyncio.sleep(2.0)
