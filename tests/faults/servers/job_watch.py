"""Work for the background jobs during a storm, kills within them, and what has to hold at the end.

Saved searches watch tickets, which come and go. Old turns, old notes and expired pages appear again and again, and have
to be deleted with all that hangs on them, and nothing else.
"""

import asyncio
import contextlib
import json
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from sqlalchemy.exc import SQLAlchemyError

from bot.admin.source_kinds.confluence_kind import ConfluenceKind
from bot.admin.source_kinds.rest_kind import RestKind
from bot.admin.source_kinds.sql_kind import QueryKind
from bot.admin.source_kinds.store_kind import StoreKind
from bot.metrics.job_runs import JobName
from storage.opensearch.index import OpenSearchIndex
from storage.search.bucket_parts import with_parts
from storage.search.documents import Document, Passage
from storage.search.errors import SearchError
from storage.search.ids import BucketId, DocId, FieldName
from storage.sql.backup import list_stored_tables
from tests.faults.servers.hurried_serving import KILLS_FOLDER, SYNC_KINDS, USAGE_POST, WEB_SEARCH
from tests.faults.servers.jobs.bucket_rebuilds import BucketRebuilds
from tests.faults.servers.jobs.changing_source import LIBRARY, ChangingPlace, ChangingSource, ChangingSources
from tests.faults.servers.jobs.command_series import run_commands
from tests.faults.servers.jobs.expiring_files import ExpiringFiles
from tests.faults.servers.jobs.sql_statements import execute_statements
from tests.faults.servers.kinds import ServerFault
from tests.faults.servers.search_reports import PostedSearches
from tests.faults.servers.storm_checks import FinishedRow, StormCheck

TICKETS, NOTES = BucketId("tickets"), BucketId("notes")
RETENTION_DAYS: Final = 30
JOB_SETTINGS: Final = {
    "PARLEY_RETENTION_DAYS": str(RETENTION_DAYS),
    "PARLEY_DOCUMENT_RETENTION": f"{NOTES}:date:{RETENTION_DAYS}",
}
JOB_NAMES: Final = {
    ServerFault.KILLED_SEARCH_START: JobName.START_SAVED_SEARCHES,
    ServerFault.KILLED_SEARCH_RUN: JobName.REPORT_SAVED_SEARCH,
    ServerFault.KILLED_TURN_EXPIRY: JobName.EXPIRE_TURNS,
    ServerFault.KILLED_DOCUMENT_EXPIRY: JobName.EXPIRE_DOCUMENTS,
    ServerFault.KILLED_PAGE_EXPIRY: JobName.EXPIRE_WEB_PAGES,
    ServerFault.KILLED_SYNC: JobName.SYNC_SOURCES,
    ServerFault.KILLED_SQL_SYNC: SYNC_KINDS[QueryKind],
    ServerFault.KILLED_REST_SYNC: SYNC_KINDS[RestKind],
    ServerFault.KILLED_CONFLUENCE_SYNC: SYNC_KINDS[ConfluenceKind],
    ServerFault.KILLED_STORE_SYNC: SYNC_KINDS[StoreKind],
    ServerFault.KILLED_USAGE_POST: USAGE_POST,
    ServerFault.KILLED_WEB_SEARCH: WEB_SEARCH,
    ServerFault.KILLED_EXPORT_EXPIRY: JobName.EXPIRE_EXPORTED_FILES,
    ServerFault.KILLED_ATTACHED_EXPIRY: JobName.EXPIRE_ATTACHED_FILES,
    ServerFault.KILLED_OFFER_EXPIRY: JobName.EXPIRE_FILE_OFFERS,
}
_LONG_JOBS: Final = frozenset(
    {
        ServerFault.KILLED_SYNC,
        ServerFault.KILLED_SQL_SYNC,
        ServerFault.KILLED_REST_SYNC,
        ServerFault.KILLED_CONFLUENCE_SYNC,
        ServerFault.KILLED_STORE_SYNC,
        ServerFault.KILLED_WEB_SEARCH,
        ServerFault.KILLED_USAGE_POST,
    }
)
SAVING_TEXTS: Final = (
    "Tell me when a new ticket arrives",
    "Every Monday at 9:00: list all tickets",
    "Tell me when a new ticket arrives",
    "Every month on the 1st at 9:00: list all tickets",
)
_BASE_TICKETS, _BASE_NOTES = 40, 300
_BASE_SOURCE_DOCUMENTS: Final = 60  # of each source
_MAX_OLD_NOTES: Final = 40  # at a time: more than a fifth of the bucket would be kept
_OLD_TURNS, _PAGES = 15, 5  # at a time
_PREFIX: Final = "aged-"  # of the ids of old turns
_PAUSE_S: Final = (0.5, 2.0)
_LONGEST_DELAYS_S: Final = (0.005, 0.03, 0.2)  # a job that finds nothing to do ends soon
_LONGEST_DELAYS_OF_LONG_JOBS_S: Final = (0.03, 0.3, 1.5)
_REPLAN_S, _KILL_TIMEOUT_S = 4.0, 120.0
_SETTLING_S: Final = 600.0  # on a busy machine; what has ended earlier is not waited for
_QUIET_LOOKS, _LOOK_INTERVAL_S = 4, 2.5  # longer than a saved search waits before it looks again


def build_dated_document(doc_id: str, title: str, day: datetime) -> Document:
    text_ = f"{title}, of {day:%d %B %Y}."
    return Document(
        doc_id=DocId(doc_id),
        title=title,
        text=text_,
        source="storm",
        values={FieldName("date"): day.date().isoformat(), FieldName("kind"): "storm"},
        passages=(Passage(start=0, end=len(text_)),),
        digest=doc_id,
    )


@dataclass
class JobWatch:
    """Makes work for the jobs, and knows what must be left at the end. `database_url`: for SQLAlchemy."""

    home: Path
    database_url: str
    settings: Mapping[str, str]
    rng: random.Random
    places: Sequence[ChangingPlace]
    tickets: set[str] = field(default_factory=set[str])
    young_notes: set[str] = field(default_factory=set[str])
    old_note_count: int = 0
    old_turn_count: int = 0
    fresh_pages: set[str] = field(default_factory=set[str])
    expired_page_count: int = 0
    due_times: list[tuple[int, datetime]] = field(default_factory=list[tuple[int, datetime]])
    late: list[str] = field(default_factory=list[str])
    _is_ending: bool = False

    def __post_init__(self) -> None:
        self._sources = ChangingSources([ChangingSource(place, self.rng) for place in self.places], self._execute)
        self._rebuilds = BucketRebuilds(TICKETS, self.home, self.settings, self.rng)
        self._files = ExpiringFiles(self.home / "exports", self._execute)

    async def load_buckets(self) -> None:
        await asyncio.to_thread(self._load_documents)
        await self._sources.add_sources(self.home, self.settings, _BASE_SOURCE_DOCUMENTS)
        (self.home / KILLS_FOLDER).mkdir()

    def _load_documents(self) -> None:
        today, commands = datetime.now(UTC), list[tuple[str, ...]]()
        for bucket, title, count in ((TICKETS, "Ticket", _BASE_TICKETS), (NOTES, "Note", _BASE_NOTES)):
            ids = [f"{bucket}-base-{number}" for number in range(count)]
            (self.tickets if bucket == TICKETS else self.young_notes).update(ids)
            records = [
                {
                    "doc_id": doc_id,
                    "title": f"{title} {doc_id}",
                    "text": f"{title} {doc_id}.",
                    "metadata": {"date": (today - timedelta(days=number % 7)).date().isoformat(), "kind": "storm"},
                }
                for number, doc_id in enumerate(ids)
            ]
            source = self.home / f"{bucket}.jsonl"
            source.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
            commands += [("ingest", str(source), "--bucket", bucket), ("grant", bucket, "everyone")]
        run_commands(self.home, commands, self.settings)

    # -- work

    async def make_work(self, index: OpenSearchIndex) -> None:
        """Goes on until `finish_work` is called."""
        while not self._is_ending:
            await self._change_tickets(index)
            await self._add_old_notes(index)
            with contextlib.suppress(OSError, SQLAlchemyError, TimeoutError):  # the database is down
                await self._add_old_turns()
                await self._add_pages()
                await self._make_searches_due()
                await self._sources.change_documents()
                await self._files.add_files()
            await asyncio.sleep(self.rng.uniform(*_PAUSE_S))

    async def _change_tickets(self, index: OpenSearchIndex) -> None:
        """Adds and deletes until it is acknowledged, so that it is known what there is."""
        new = [f"t-{uuid4().hex[:10]}" for _ in range(self.rng.randint(1, 3))]
        today = datetime.now(UTC)
        self.tickets.update(new)
        await _repeat_write(
            lambda: index.put(TICKETS, [build_dated_document(doc_id, f"Ticket {doc_id}", today) for doc_id in new])
        )
        if self.rng.random() < 0.3:
            gone = self.rng.choice(sorted(self.tickets))
            self.tickets.discard(gone)
            await _repeat_write(lambda: index.delete([DocId(gone)]))

    async def _add_old_notes(self, index: OpenSearchIndex) -> None:
        with contextlib.suppress(SearchError):
            notes = await load_doc_ids(index, NOTES)
            if len(notes - self.young_notes) > _MAX_OLD_NOTES // 2:
                return
        day = datetime.now(UTC) - timedelta(days=RETENTION_DAYS + 60)
        old = [f"old-{uuid4().hex[:10]}" for _ in range(self.rng.randint(1, _MAX_OLD_NOTES // 4))]
        with contextlib.suppress(SearchError):
            await index.put(NOTES, [build_dated_document(doc_id, f"Note {doc_id}", day) for doc_id in old])
            self.old_note_count += len(old)

    async def _add_old_turns(self) -> None:
        """Copies of finished turns with their searches and calls, as if they had been asked long ago."""
        statements = (_OLD_TURNS_STATEMENT, _OLD_ATTEMPTS_STATEMENT, _OLD_STATES_STATEMENT)
        added, *_ = await self._execute_all(statements, run=uuid4().hex[:8])
        self.old_turn_count += len(added)

    async def _add_pages(self) -> None:
        now = datetime.now(UTC)
        expired = [uuid4().hex for _ in range(_PAGES)]
        for page in (*expired, fresh := uuid4().hex):
            expires = now + timedelta(days=1) if page == fresh else now - timedelta(days=1)
            await self._execute(_PAGE_STATEMENT, page=page, now=now, expires=expires)
        self.fresh_pages.add(fresh)
        self.expired_page_count += len(expired)

    async def _make_searches_due(self) -> None:
        """As `parley saved run` does, once the last run has ended: a busy machine runs fewer than would be due."""
        self.due_times += [(row.position, row.was_due_at) for row in await self._execute(_DUE_STATEMENT)]

    # -- kills

    def plans_kill_in(self, kind: ServerFault) -> bool:
        """Whether a kill in this job is planned already, so that another would be the same."""
        return self._plan_of(kind).exists()

    async def kill_in_job(self, kind: ServerFault) -> bool:
        """Plans a kill, and other delays for it, until a process has carried it out; False if none does in time."""
        plan, deadline = self._plan_of(kind), time.monotonic() + _KILL_TIMEOUT_S
        while time.monotonic() < deadline:
            longest_delay_s = self.rng.choice(
                _LONGEST_DELAYS_OF_LONG_JOBS_S if kind in _LONG_JOBS else _LONGEST_DELAYS_S
            )
            plan.write_text(f"{self.rng.uniform(0.0, longest_delay_s):.5f}", encoding="ascii")
            until = time.monotonic() + _REPLAN_S
            while time.monotonic() < until:
                await asyncio.sleep(0.2)
                if not plan.exists():
                    return True
        plan.unlink(missing_ok=True)
        return False

    def _plan_of(self, kind: ServerFault) -> Path:
        return self.home / KILLS_FOLDER / JOB_NAMES[kind]

    async def kill_rebuild(self) -> bool:
        """False if none could be killed in time."""
        return await self._rebuilds.kill_rebuild()

    # -- the end

    async def finish_work(self, working: asyncio.Task[None]) -> None:
        """Lets the current round of changes end, so that it is known what there is."""
        self._is_ending = True
        await working

    async def finish_jobs(self, index: OpenSearchIndex, read_searches: Callable[[], PostedSearches]) -> None:
        """Waits until the jobs have done what was left; notes what is not done in time."""
        for name in JOB_NAMES.values():
            (self.home / KILLS_FOLDER / name).unlink(missing_ok=True)
        if not await self._rebuilds.finish_rebuild():
            self.late.append("the last rebuild failed")
        await self._make_searches_due()
        await self._sources.make_due()
        deadline, quiet_looks = time.monotonic() + _SETTLING_S, 0
        while quiet_looks < _QUIET_LOOKS:
            open_work = await self._list_open_work(index, read_searches())
            if open_work and time.monotonic() > deadline:
                self.late = open_work
                return
            quiet_looks = 0 if open_work else quiet_looks + 1
            await asyncio.sleep(_LOOK_INTERVAL_S)

    async def _list_open_work(self, index: OpenSearchIndex, posted: PostedSearches) -> list[str]:
        found = [
            f"{count:,} rows of {name}"
            for name, statement in _LEFT_STATEMENTS.items()
            if (count := (await self._execute(statement))[0].number)
        ]
        if left := await load_doc_ids(index, NOTES) - self.young_notes:
            found.append(f"{len(left)} old notes")
        runs = {row.message_id for row in await self._execute(_RUNS_STATEMENT)}
        found += [f"{event} has not run" for event in self._due_events() if event not in runs]
        found += list(posted.find_wrong_sums(len(self.tickets)))
        found += await self._files.find_left()
        differences = await self._sources.find_differences(await load_titles(index, LIBRARY))
        if any(differences.values()):
            await self._sources.make_due()
            found += [problem for problems in differences.values() for problem in problems]
            found += await self._sources.describe_last_syncs()
        return found

    def _due_events(self) -> list[str]:
        return [f"saved-search:{number}:{due_at.isoformat()}" for number, due_at in self.due_times]

    async def check_jobs(
        self, index: OpenSearchIndex, posted: PostedSearches, runs: Sequence[FinishedRow]
    ) -> list[StormCheck]:
        notes, tickets = await load_doc_ids(index, NOTES), await load_doc_ids(index, TICKETS)
        pages = {row.page for row in await self._execute("SELECT page FROM web_pages")}
        left = {name: (await self._execute(statement))[0].number for name, statement in _LEFT_STATEMENTS.items()}
        events = [row.key[1] for row in runs]
        return [
            StormCheck(name="background jobs end", checked=len(JOB_NAMES) + 1, problems=tuple(self.late)),
            StormCheck(
                name="reports of saved searches add up: nothing twice, nothing lost",
                checked=posted.report_count,
                problems=(
                    *posted.find_wrong_sums(len(self.tickets)),
                    *posted.find_repeated_titles(),
                    *([] if len(posted.readings) >= len(SAVING_TEXTS) else ["a saved search has posted nothing"]),
                ),
            ),
            StormCheck(
                name="a due saved search runs once",
                checked=len(runs),
                problems=(
                    *(f"{event} ran {events.count(event)} times" for event in set(events) if events.count(event) > 1),
                    *(f"{event} has not run" for event in self._due_events() if event not in events),
                    *(f"{row.key[1]} has not ended" for row in runs if row.finished_at is None),
                ),
            ),
            StormCheck(
                name="old turns are deleted, with all that hangs on them",
                checked=self.old_turn_count,
                problems=(
                    *(f"{count} rows of {name}" for name, count in left.items() if count),
                    *_require_work(self.old_turn_count),
                ),
            ),
            StormCheck(
                name="old documents are deleted, and no others",
                checked=self.old_note_count,
                problems=(
                    *(f"{doc_id} is still there" for doc_id in sorted(notes - self.young_notes)),
                    *(f"{doc_id} is gone" for doc_id in sorted(self.young_notes - notes)),
                    *_require_work(self.old_note_count),
                ),
            ),
            StormCheck(
                name="expired web pages are deleted, and no others",
                checked=self.expired_page_count,
                problems=(
                    *(f"{page} is gone" for page in sorted(self.fresh_pages - pages)),
                    *_require_work(self.expired_page_count),
                ),
            ),
            *await self._check_sources(index),
            StormCheck(
                name="expired files are deleted, and no others",
                checked=self._files.expired_count,
                problems=(
                    *await self._files.find_left(),
                    *await self._files.find_lost(),
                    *_require_work(self._files.expired_count),
                ),
            ),
            StormCheck(
                name="a bucket whose rebuilds were killed has its documents",
                checked=len(self.tickets),
                problems=tuple(sorted(tickets ^ self.tickets)),
            ),
        ]

    async def _check_sources(self, index: OpenSearchIndex) -> list[StormCheck]:
        titles = await load_titles(index, LIBRARY)
        differences, strange = (
            await self._sources.find_differences(titles),
            self._sources.find_strange_documents(titles),
        )
        return [
            *(
                StormCheck(
                    name=f"the source of each {source.place.name} has what there is, once, and nothing else",
                    checked=source.change_count,
                    problems=(*differences[source.place.name], *_require_work(source.deletion_count)),
                )
                for source in self._sources.sources
            ),
            StormCheck(name="no document is of no source", checked=len(titles), problems=tuple(strange)),
        ]

    async def _execute(self, statement: str, **values: Any) -> list[Any]:
        return (await self._execute_all([statement], **values))[0]

    async def _execute_all(self, statements: Sequence[str], **values: Any) -> list[list[Any]]:
        return await execute_statements(self.database_url, statements, **values)


def _require_work(count: int) -> list[str]:
    return [] if count else ["there was nothing to delete"]


async def load_doc_ids(index: OpenSearchIndex, bucket: BucketId) -> set[str]:
    return set(await load_titles(index, bucket))


async def load_titles(index: OpenSearchIndex, bucket: BucketId) -> dict[str, str]:
    """By document, also of the parts of the bucket. Raises `AssertionError` for a document that is there twice."""
    buckets = with_parts({bucket}, await index.load_bucket_sizes())
    records = [record for part in sorted(buckets) async for batch in index.scan_records(part) for record in batch]
    titles = {str(record.doc_id): record.title for record in records}
    if len(titles) != len(records):
        raise AssertionError(f"{len(records):,} records of {len(titles):,} documents in {bucket}")
    return titles


async def _repeat_write(write: Callable[[], Awaitable[object]]) -> None:
    while True:
        with contextlib.suppress(SearchError):
            await write()
            return
        await asyncio.sleep(0.5)


def _copy_statement(table: str, replaced: Mapping[str, str], condition: str) -> str:
    """Inserts copies of rows of a table, with other values in some columns."""
    columns = [column.name for stored in list_stored_tables() if stored.name == table for column in stored.columns]
    names = [name for name in columns if (table, name) != ("turns", "position")]
    values = ", ".join(replaced.get(name, name) for name in names)
    return f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM {table} WHERE {condition}"


_AGED: Final = f"'{_PREFIX}' || CAST(:run AS text) || "
_OLD_TURNS_STATEMENT: Final = _copy_statement(
    "turns",
    {
        "id": f"{_AGED} id",
        "event_id": f"{_AGED} event_id",
        "message_id": f"{_AGED} message_id",
        "conversation": f"'{_PREFIX}' || conversation",
        "received_at": f"received_at - INTERVAL '{RETENTION_DAYS + 10} days'",
    },
    f"finished_at IS NOT NULL AND id NOT LIKE '{_PREFIX}%' AND lane IS NULL"
    f" ORDER BY random() LIMIT {_OLD_TURNS} RETURNING id",
)
_OLD_ATTEMPTS_STATEMENT: Final = _copy_statement(
    "attempts", {"turn": f"{_AGED} turn"}, f"{_AGED} turn IN (SELECT id FROM turns)"
)
_OLD_STATES_STATEMENT: Final = _copy_statement(
    "conversations",
    {"conversation": f"'{_PREFIX}' || conversation"},
    f"'{_PREFIX}' || conversation IN (SELECT conversation FROM turns WHERE id LIKE {_AGED} '%') ON CONFLICT DO NOTHING",
)
_PAGE_STATEMENT: Final = (
    "INSERT INTO web_pages (page, url, kind, outline, content, fetched_at, expires_at)"
    " VALUES (:page, '{}', '.html', '{}', '', :now, :expires)"
)
_DUE_STATEMENT: Final = (
    "UPDATE saved_searches SET due_at = now() WHERE schedule <> 'on change' AND status = 'active'"
    " AND due_at > now() + INTERVAL '1 hour' AND NOT EXISTS (SELECT 1 FROM turns WHERE finished_at IS NULL"
    " AND message_id LIKE 'saved-search:' || saved_searches.position || ':%') RETURNING position, due_at AS was_due_at"
)
_RUNS_STATEMENT: Final = "SELECT message_id FROM turns WHERE message_id LIKE 'saved-search:%'"
_LEFT_STATEMENTS: Final = {
    "turns": f"SELECT count(*) AS number FROM turns WHERE id LIKE '{_PREFIX}%'",
    "attempts": f"SELECT count(*) AS number FROM attempts WHERE turn LIKE '{_PREFIX}%'",
    "conversations": f"SELECT count(*) AS number FROM conversations WHERE conversation LIKE '{_PREFIX}%'",
    "web_pages": "SELECT count(*) AS number FROM web_pages WHERE expires_at < now()",
    "runs": "SELECT count(*) AS number FROM turns WHERE message_id LIKE 'saved-search:%' AND finished_at IS NULL",
}
