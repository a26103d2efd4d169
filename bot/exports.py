"""A result set as a CSV file: written page by page under the scope of that moment, resumed where a kill left it.

The whole set, in the order that the list has. Rights are worked out anew at the start, at every page and at download.
"""

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO, Final

from bot.access import Access
from bot.attached import Attached, Sight
from bot.attachments import ATTACHED
from bot.codec import audience_from_json, audience_to_json
from bot.download import Download, LinkSigner
from bot.errors import ExportBusy, ExportRefused, ExportStopped, ExportUnwritten, FileGone, ReaderUnknown
from bot.ids import ConversationId, ExportId, PersonId, TurnId
from bot.inbound import Audience, Private
from bot.replies import File
from bot.spreadsheet import Sheet, sheet_for
from storage.search.codec import plan_from_json, plan_to_json
from storage.search.errors import SearchError
from storage.search.index import Count, Page, Records, ScopedIndex
from storage.search.plan import Leg, ListDocuments, Plan, Search
from storage.search.schema import SchemaOrder
from storage.search.scope import Scope
from storage.sql.database import Database
from storage.sql.exports import ClaimedExport, Export, ExportStatus, NewExport
from storage.sql.exports import Exports as ExportStore

LINK_LIFE: Final = timedelta(minutes=15)
_KEPT: Final = timedelta(hours=24)  # the file; a link to it can be asked for again by asking for the file
_LEASE: Final = timedelta(seconds=15)  # shorter than a turn's: who takes over the turn can take over its export
_PAGE_ROWS: Final = 1000
_FILES: Final = "files"  # there, too: the attached ones that it is written from
_SUBJECTS: Final = "subjects"  # beside the plan, in the request that is kept: whom the file was written for
_UNSAFE = re.compile(r"[^\w.-]+")

Told = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Whose file, for which turn, of which leg's set, in the order of its list."""

    turn: TurnId
    conversation: ConversationId
    person: PersonId
    audience: Audience
    leg: Leg


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """A file that a person asked for. `name` and `rows` only while its buckets may be seen; `url` while it is there."""

    status: ExportStatus
    asked_at: datetime
    name: str | None = None
    rows: int | None = None
    url: str | None = None
    expires: datetime | None = None  # of the link


class Exports:
    """Writes files below `folder`, and says who may fetch them."""

    def __init__(
        self,
        *,
        database: Database,
        attached: Attached,
        access: Access,
        signer: LinkSigner,
        folder: Path,
        link_base: str,
        worker: str,
        page_rows: int = _PAGE_ROWS,
    ) -> None:
        self._store, self._now = ExportStore(database), database.now
        self._attached, self._access, self._signer = attached, access, signer
        self._folder, self._link_base, self._worker, self._page_rows = folder, link_base, worker, page_rows

    async def write(self, wanted: Wanted, told: Told = lambda text: None) -> File:
        """The file of a turn, gone on with if the turn began it before. Raises `ExportRefused`, and what the index
        raises: the same turn may then try again.
        """
        export = await self._store.of_turn(wanted.turn)
        if export is None or export.status in (ExportStatus.FAILED, ExportStatus.EXPIRED):
            # before anything is kept of it
            async with self._seen(wanted.conversation, wanted.audience, wanted.person, wanted.leg.search) as sight:
                queued = self._queued(wanted, sight)
            await self.expire()
            export = await self._store.queue(queued)
        if export.status is not ExportStatus.DONE:
            export = await self._run(export, told)
        return self._file(export)

    async def find(self, signed: str) -> Download:
        """The file behind a link, if its audience may still see all of it, and who asked for it is still among them.

        Raises `LinkRefused`.
        """
        export = await self._store.find(self._signer.verified(signed, self._now()))
        if export is None or export.status is not ExportStatus.DONE or export.path is None:
            raise FileGone()
        path = self._folder / export.path
        if not path.is_file() or not await self._may_see(export):
            raise FileGone()
        is_reader = await self._is_reader(export)
        if is_reader is None:
            raise ReaderUnknown()
        if not is_reader:
            raise FileGone()
        return Download(path=path, name=_name(_set(export)[0], export.rows))

    async def of_person(self, person: PersonId, scope: Scope, limit: int) -> list[Past]:
        """What the person asked for anywhere, as they may see it alone, which is what `scope` says; the newest first.

        A file that was made for a channel has no link here: who left the channel has no claim on it.
        """
        return [await self._past(one, scope) for one in await self._store.of_person(person, limit)]

    async def _past(self, export: Export, scope: Scope) -> Past:
        search, _ = _set(export)
        is_seen = scope.buckets.issuperset(search.buckets) and await self._may_see(export)
        if not is_seen or not await self._is_reader(export):
            return Past(status=export.status, asked_at=export.created_at)
        rows = export.rows if export.status is ExportStatus.DONE else None
        past = Past(status=export.status, asked_at=export.created_at, name=_name(search, export.rows), rows=rows)
        is_private = isinstance(audience_from_json(export.audience), Private)
        if not is_private or rows is None or not (self._folder / _spool(export)).is_file():
            return past
        file = self._file(export)
        return replace(past, url=file.url, expires=file.expires)

    async def expire(self) -> int:
        """Deletes the files whose time is over. How many."""
        expired = await self._store.expire()
        for export in expired:
            self._drop(export)
        return len(expired)

    async def withdraw(self, turns: Sequence[TurnId]) -> None:
        """The files of these turns go, and their links with them."""
        for export in await self._store.end_of(turns):
            self._drop(export)

    def _drop(self, export: Export) -> None:
        with suppress(OSError):  # a disk that does not give it up is no reason to stop
            (self._folder / _spool(export)).unlink()

    def _queued(self, wanted: Wanted, sight: Sight) -> NewExport:
        plan = plan_to_json(Plan(question=wanted.leg.question, legs=(wanted.leg,)))
        return NewExport(
            conversation=wanted.conversation,
            turn=wanted.turn,
            person=wanted.person,
            audience=audience_to_json(wanted.audience),
            request={
                **plan,
                _SUBJECTS: sorted(sight.scope.subjects),
                **({_FILES: sorted(sight.files)} if ATTACHED in wanted.leg.search.buckets else {}),
            },
            expires_at=self._now() + _KEPT,
        )

    async def _run(self, export: Export, told: Told) -> Export:
        claimed = await self._store.claim(self._worker, _LEASE, export=export.id)
        if claimed is None:
            await self._store.withdraw(export.id, str(ExportBusy()))
            raise ExportBusy()
        try:
            rows = await self._spool(claimed, told)
        except asyncio.CancelledError:
            await asyncio.shield(self._pause(claimed))
            raise
        except SearchError:
            await self._pause(claimed)
            raise
        except ExportStopped as exc:
            await self._give_up(claimed, exc)
            raise
        except OSError as exc:
            await self._give_up(claimed, unwritten := ExportUnwritten())
            raise unwritten from exc
        if not await self._store.finish(claimed, rows=rows, path=_spool(export)):
            raise ExportBusy()
        return await self._found(export.id)

    async def _give_up(self, claimed: ClaimedExport, reason: ExportRefused) -> None:
        await self._store.fail(claimed, str(reason))
        self._drop(claimed.export)

    async def _pause(self, claimed: ClaimedExport) -> None:
        """Left as it is, for the turn's next attempt to go on with at once."""
        export = await self._found(claimed.export.id)
        await self._store.advance(
            claimed, rows=export.rows, cursor=export.cursor or _Progress().json(), lease=timedelta()
        )

    async def _spool(self, claimed: ClaimedExport, told: Told) -> int:
        """Every page on the disk before the database says so; a later claim cuts off what it does not know of."""
        search, order = _set(claimed.export)
        async with self._seen_for(claimed.export) as sight:
            sheet, count = await _sheet(sight.index, search), Count(search)
            of = (await sight.index.ask(count))[count]
        async with _file_at(self._folder / _spool(claimed.export)) as file:
            progress = await file.resumed(claimed.export)
            while not progress.is_over:
                request = Records(search, order=order, after=progress.after, limit=self._page_rows)
                async with self._seen_for(claimed.export) as sight:
                    page = (await sight.index.ask(request))[request]
                progress = await file.append(sheet, page, progress)
                if not await self._store.advance(claimed, rows=progress.rows, cursor=progress.json(), lease=_LEASE):
                    raise ExportBusy()
                told(f"Writing the file: {progress.rows:,} of {of:,} rows")
        return progress.rows

    @asynccontextmanager
    async def _seen_for(self, export: Export) -> AsyncGenerator[Sight]:
        """Raises `ExportStopped` also when a file is gone that it is written from."""
        audience, person = audience_from_json(export.audience), PersonId(export.person)
        async with self._seen(ConversationId(export.conversation), audience, person, _set(export)[0]) as sight:
            if not sight.files.issuperset(export.request.get(_FILES, ())):
                raise ExportStopped()
            yield sight

    @asynccontextmanager
    async def _seen(
        self, conversation: ConversationId, audience: Audience, person: PersonId, search: Search
    ) -> AsyncGenerator[Sight]:
        """Under the rights of this moment. Raises `ExportStopped` when they do not hold every bucket, or the person
        who asked is gone.
        """
        scope = await self._access.scope(audience)
        async with self._attached.seen(scope, conversation, audience) as sight:
            if await self._access.is_gone(person) or not sight.scope.buckets.issuperset(search.buckets):
                raise ExportStopped()
            yield sight

    async def _may_see(self, export: Export) -> bool:
        """Whether the buckets are still granted, its audience is still all that documents' readers were held to, and
        the person who asked is not gone: a link may be all that is left to them.
        """
        if await self._access.is_gone(PersonId(export.person)):
            return False
        audience, files = audience_from_json(export.audience), frozenset(export.request.get(_FILES, ()))
        scope, buckets = await self._access.scope(audience), {*_set(export)[0].buckets}
        if files and files <= await self._attached.kept(ConversationId(export.conversation), audience):
            buckets -= {ATTACHED}
        still = scope.all_readers or scope.subjects.issuperset(export.request.get(_SUBJECTS, ()))
        return still and scope.buckets.issuperset(buckets)

    async def _is_reader(self, export: Export) -> bool | None:
        return await self._access.reads(PersonId(export.person), audience_from_json(export.audience))

    async def _found(self, export: str) -> Export:
        found = await self._store.find(export)
        if found is None:
            raise FileGone()
        return found

    def _file(self, export: Export) -> File:
        expires = self._now() + LINK_LIFE
        signed = self._signer.signed(ExportId(export.id), expires)
        name = _name(_set(export)[0], export.rows)
        return File(
            name=name,
            title=name,
            rows=export.rows,
            path=str(self._folder / _spool(export)),
            url=f"{self._link_base}/download/{signed}",
            expires=expires,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Progress:
    """What is on the disk: `bytes` of it, `rows`, and the cursor after them."""

    bytes: int = 0
    rows: int = 0
    after: str | None = None
    is_over: bool = False

    def json(self) -> dict[str, Any]:
        return {"bytes": self.bytes, "after": self.after, "over": self.is_over}


class _SpoolFile:
    """Blocking file work, each step in a thread."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    async def resumed(self, export: Export) -> _Progress:
        """Where the last claim got to; what it wrote beyond that is cut off."""
        cursor = export.cursor or _Progress().json()
        progress = _Progress(bytes=cursor["bytes"], rows=export.rows, after=cursor["after"], is_over=cursor["over"])
        await asyncio.to_thread(self._file.truncate, progress.bytes)
        return progress

    async def append(self, sheet: Sheet, page: Page, progress: _Progress) -> _Progress:
        return await asyncio.to_thread(self._append, sheet, page, progress)

    def _append(self, sheet: Sheet, page: Page, progress: _Progress) -> _Progress:
        header = sheet.header() if progress.bytes == 0 else ""
        data = (header + sheet.lines(page.records)).encode(errors="replace")
        self._file.seek(progress.bytes)
        self._file.write(data)
        self._file.flush()
        os.fsync(self._file.fileno())
        return _Progress(
            bytes=progress.bytes + len(data),
            rows=progress.rows + len(page.records),
            after=page.cursor,
            is_over=page.cursor is None,
        )


@asynccontextmanager
async def _file_at(path: Path) -> AsyncGenerator[_SpoolFile]:
    """Readable by the owner alone."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = await asyncio.to_thread(os.open, path, os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(handle, "r+b") as file:
        yield _SpoolFile(file)


async def _sheet(handle: ScopedIndex, search: Search) -> Sheet:
    schemas = await handle.schemas()
    return sheet_for({bucket: schemas[bucket] for bucket in search.buckets if bucket in schemas})


def _set(export: Export) -> tuple[Search, SchemaOrder | None]:
    """The set and its order."""
    leg = next(iter(plan_from_json(dict(export.request)).legs))
    return leg.search, leg.wanted.order if isinstance(leg.wanted, ListDocuments) else None


def _spool(export: Export) -> str:
    return f"{export.id}.csv"


def _name(search: Search, rows: int) -> str:
    buckets = search.buckets
    stem = _UNSAFE.sub("-", buckets[0]).strip("-.") if len(buckets) == 1 else ""
    return f"{stem or 'documents'}-{rows}.csv"
