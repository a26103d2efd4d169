"""Exports of a result set to a CSV file, written page by page. A killed export resumes at its last recorded page.

The file has the whole set in one state of the documents, in the order of the list: each document once. An export whose
state is lost begins again. Rights are checked at the start, at every page and at download.
"""

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO, Final, Literal

from agent.compose.phrases.values import format_number
from bot.access.audience_scope import AccessResolver
from bot.attachments.attachments import ConversationAttachments, SearchableContent
from bot.conversation.download import LinkSigner, ServedFile
from bot.conversation.spreadsheet import ExportSheet, sheet_for_schemas
from bot.errors import (
    ExportBusy,
    ExportOvertaken,
    ExportRefused,
    ExportStopped,
    ExportWriteFailed,
    FileGone,
    ReaderStatusUnknown,
)
from bot.ids import ConversationId, ExportId, PersonId, Subject, TurnId
from bot.metrics.operation_measurements import ExportMeasurement, OperationObserver, ignore_operation
from bot.progress import ProgressCallback, ignore_progress
from bot.surface.attachments import ATTACHMENTS_BUCKET
from bot.surface.inbound import Audience, PrivateAudience
from bot.surface.json_codec import audience_from_json, audience_to_json
from bot.surface.replies import FilePart
from bot.translation import translate_message
from storage.search.codec import plan_from_json, plan_to_json
from storage.search.errors import SearchError, SnapshotGone
from storage.search.index import CountRequest, IndexSnapshot, RecordPage, RecordPageRequest, ScopedIndex
from storage.search.plan import Leg, Plan, Search
from storage.search.record_pages import load_pages_ahead
from storage.search.schema import SchemaOrder
from storage.search.scope import Scope
from storage.sql.database import SqlDatabase
from storage.sql.stores.exports import ClaimedExport, ExportStatus, NewExport, StoredExport
from storage.sql.stores.exports import ExportStore as ExportStore

LINK_LIFETIME: Final = timedelta(minutes=15)
_FILE_LIFETIME: Final = timedelta(hours=24)  # a new request for the file gives a new link to it
_LEASE: Final = timedelta(seconds=15)  # shorter than a turn's lease, so a retried turn can claim its export
_PAGE_ROWS: Final = 2_000  # two pages at most are in memory
_MAX_STATES: Final = 3  # of the documents, until the export gives up
_FILES_KEY: Final = "files"  # key in the stored request: the attached files from which the export is written
_SUBJECTS_KEY: Final = "subjects"  # key in the stored request: the subjects whose rights the export used
_SPOOL_SUFFIX: Final = ".csv"
_EXPORT_ID_PATTERN = re.compile(r"[\w-]{22}")  # as databases make ids
_UNSAFE_CHARACTERS = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFileRequest:
    """The person, the turn and the leg whose set becomes a file, in the order of the leg's list."""

    turn: TurnId
    conversation: ConversationId
    person: PersonId
    audience: Audience
    leg: Leg


@dataclass(frozen=True, slots=True, kw_only=True)
class PastExport:
    """A file that a person asked for. `name` and `rows` are set while it is visible, `url` while it exists."""

    status: ExportStatus
    asked_at: datetime
    name: str | None = None
    rows: int | None = None
    url: str | None = None
    expires_at: datetime | None = None  # of the link


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOfTurn:
    """A finished export. `expires_at`: when its file is deleted."""

    id: ExportId
    person: PersonId
    expires_at: datetime


class ExportFiles:
    """Writes export files below `folder` and checks who may download them."""

    def __init__(
        self,
        *,
        database: SqlDatabase,
        attachments: ConversationAttachments,
        access: AccessResolver,
        signer: LinkSigner,
        folder: Path,
        link_base: str,
        worker: str,
        page_rows: int = _PAGE_ROWS,
        observer: OperationObserver = ignore_operation,
    ) -> None:
        self._observer = observer
        self._store, self._now = ExportStore(database), database.utc_now
        self._attachments, self._access, self._signer = attachments, access, signer
        self._folder, self._link_base, self._worker, self._page_rows = folder, link_base, worker, page_rows

    async def write_file(
        self, request: ExportFileRequest, report_progress: ProgressCallback = ignore_progress
    ) -> FilePart:
        """Write the file of a turn, or resume it if an earlier attempt began it.

        Raises `ExportRefused`, and what the index raises; after the latter the turn may try again.
        """
        export = await self._store.find_newest_of_turn(request.turn)
        if export is None or export.status in (ExportStatus.FAILED, ExportStatus.EXPIRED):
            # the rights are checked before the request is stored
            async with self._open_searchable_content(
                request.conversation, request.audience, request.person, request.leg.search
            ) as content:
                new_export = self._new_export(request, content)
            await self.expire_files()
            export = await self._store.queue_export(new_export)
        if export.status is not ExportStatus.DONE:
            export = await self._run_export(export, report_progress)
        return self._file_part_of(export)

    async def find_download(self, signed: str) -> ServedFile:
        """The file behind a link, if its audience may still see all of it and the asker still belongs to the audience.

        Raises `LinkRefused`.
        """
        return await self.find_file(self._signer.verify_link(signed, self._now()))

    async def find_file(self, export_id: ExportId) -> ServedFile:
        """The file of an export, if its audience may still see all of it and the asker still belongs to the audience.

        Raises `LinkRefused`.
        """
        export = await self._store.find_export(export_id)
        if export is None or export.status is not ExportStatus.DONE or export.path is None:
            raise FileGone()
        path = self._folder / export.path
        if not path.is_file() or not await self._is_visible(export):
            raise FileGone()
        is_reader = await self._is_reader(export)
        if is_reader is None:
            raise ReaderStatusUnknown()
        if not is_reader:
            raise FileGone()
        return ServedFile(path=path, name=_download_name(_search_and_order(export)[0], export.rows))

    async def find_export_of_turn(self, turn: TurnId) -> ExportOfTurn | None:
        """The finished export of a turn, if there is one."""
        export = await self._store.find_newest_of_turn(turn)
        if export is None or export.status is not ExportStatus.DONE:
            return None
        return ExportOfTurn(id=ExportId(export.id), person=PersonId(export.person), expires_at=export.expires_at)

    async def make_link(self, export_id: ExportId) -> FilePart:
        """The file with a new link. Raises `FileGone` for an unknown export."""
        return self._file_part_of(await self._load_export(export_id))

    async def list_exports_of(self, person: PersonId, scope: Scope, limit: int) -> list[PastExport]:
        """The person's exports of all conversations, newest first. `scope` is what the person alone may see.

        A channel's file has no link here, because a person who has left the channel may not fetch it.
        """
        return [await self._past_export_of(export, scope) for export in await self._store.list_of_person(person, limit)]

    async def _past_export_of(self, export: StoredExport, scope: Scope) -> PastExport:
        search, _ = _search_and_order(export)
        is_visible = scope.buckets.issuperset(search.read_buckets) and await self._is_visible(export)
        if not is_visible or not await self._is_reader(export):
            return PastExport(status=export.status, asked_at=export.created_at)
        rows = export.rows if export.status is ExportStatus.DONE else None
        past_export = PastExport(
            status=export.status, asked_at=export.created_at, name=_download_name(search, export.rows), rows=rows
        )
        is_private = isinstance(audience_from_json(export.audience), PrivateAudience)
        if not is_private or rows is None or not (self._folder / _spool_name(export)).is_file():
            return past_export
        file = self._file_part_of(export)
        return replace(past_export, url=file.url, expires_at=file.expires)

    async def expire_files(self) -> int:
        """Expire due exports and return their number. Delete the files of all exports in this folder that have expired
        or were deleted, also by another process: it may have been killed before it deleted them, or have another
        folder.
        """
        expired = await self._store.expire_due_exports()
        export_ids = await asyncio.to_thread(_list_spooled_exports, self._folder)
        for export_id in await self._store.find_discarded(export_ids):
            self._delete_file(export_id)
        return len(expired)

    async def withdraw_files(self, turns: Sequence[TurnId]) -> None:
        """Delete the files of these turns; their links stop working."""
        for export in await self._store.expire_of_turns(turns):
            self._delete_file(export.id)

    def _delete_file(self, export_id: str) -> None:
        delete_export_file(self._folder, export_id)

    def _new_export(self, request: ExportFileRequest, content: SearchableContent) -> NewExport:
        plan = plan_to_json(Plan(question=request.leg.question, legs=(request.leg,)))
        return NewExport(
            conversation=request.conversation,
            turn=request.turn,
            person=request.person,
            audience=audience_to_json(request.audience),
            request={
                **plan,
                _SUBJECTS_KEY: sorted(content.scope.subjects),
                **({_FILES_KEY: sorted(content.file_ids)} if ATTACHMENTS_BUCKET in request.leg.search.buckets else {}),
            },
            expires_at=self._now() + _FILE_LIFETIME,
        )

    async def _run_export(self, export: StoredExport, report_progress: ProgressCallback) -> StoredExport:
        claimed = await self._store.claim_due_export(self._worker, _LEASE, export_id=export.id)
        if claimed is None:
            await self._store.withdraw_export(export.id, str(ExportBusy()))
            raise ExportBusy()
        started_s = perf_counter()
        try:
            rows = await self._write_pages(claimed, report_progress)
        except asyncio.CancelledError:
            self._report_end("interrupted", started_s)
            await asyncio.shield(self._release_export(claimed))
            raise
        except SearchError:
            self._report_end("interrupted", started_s)
            await self._release_export(claimed)
            raise
        except (ExportStopped, ExportOvertaken) as exc:
            self._report_end("failed", started_s)
            await self._fail_export(claimed, exc)
            raise
        except OSError as exc:
            self._report_end("failed", started_s)
            await self._fail_export(claimed, write_error := ExportWriteFailed())
            raise write_error from exc
        self._report_end("done", started_s, rows=rows)
        if not await self._store.finish_export(claimed, rows=rows, path=_spool_name(export)):
            raise ExportBusy()
        return await self._load_export(export.id)

    def _report_end(
        self, outcome: Literal["done", "failed", "interrupted"], started_s: float, *, rows: int = 0
    ) -> None:
        self._observer(ExportMeasurement(outcome=outcome, rows=rows, seconds=perf_counter() - started_s))

    async def _fail_export(self, claimed: ClaimedExport, reason: ExportRefused) -> None:
        await self._store.fail_export(claimed, str(reason))
        self._delete_file(claimed.export.id)

    async def _release_export(self, claimed: ClaimedExport) -> None:
        """End the lease now, so that the turn's next attempt can resume at once."""
        export = await self._load_export(claimed.export.id)
        await self._store.record_export_progress(
            claimed, rows=export.rows, cursor=export.cursor or _SpoolProgress().to_json(), lease=timedelta()
        )

    async def _write_pages(self, claimed: ClaimedExport, report_progress: ProgressCallback) -> int:
        """Write all pages and return the number of rows.

        Each page is on disk before the database records it. A later claim truncates what is not recorded. All pages are
        of one state of the documents. If that state is lost, the file begins again; raises `ExportOvertaken` if it is
        lost several times.
        """
        progress = _SpoolProgress.of_export(claimed.export)
        if progress.is_finished:
            return progress.row_count
        async with _open_spool(self._folder / _spool_name(claimed.export)) as file:
            for _ in range(_MAX_STATES):
                try:
                    return await self._write_pages_of_one_state(claimed, file, progress, report_progress)
                except SnapshotGone:
                    progress = _SpoolProgress()
                    report_progress(translate_message("The documents have changed; I begin the file again …"))
        raise ExportOvertaken()

    async def _write_pages_of_one_state(
        self, claimed: ClaimedExport, file: "_SpoolFile", progress: "_SpoolProgress", report_progress: ProgressCallback
    ) -> int:
        """Continue the file in the state of its first page. Raises `SnapshotGone`."""
        search, order = _search_and_order(claimed.export)
        async with self._open_snapshot_of_export(claimed.export, progress.state_token) as snapshot:
            await file.discard_after(progress)
            sheet, count = await _load_sheet(snapshot, search), CountRequest(search)
            total_rows = (await snapshot.answer_requests(count))[count]
            first_request = RecordPageRequest(search, order=order, cursor=progress.cursor, limit=self._page_rows)
            async with aclosing(load_pages_ahead(snapshot, first_request)) as pages:
                async for page in pages:
                    if not await self._is_visible(claimed.export):
                        raise ExportStopped()
                    progress = await file.append_page(sheet, page, replace(progress, state_token=snapshot.token))
                    if not await self._store.record_export_progress(
                        claimed, rows=progress.row_count, cursor=progress.to_json(), lease=_LEASE
                    ):
                        raise ExportBusy()
                    report_progress(
                        translate_message(
                            "Writing the file: {count} of {total} rows",
                            count=format_number(progress.row_count),
                            total=format_number(total_rows),
                        )
                    )
        return progress.row_count

    @asynccontextmanager
    async def _open_snapshot_of_export(
        self, export: StoredExport, state_token: str | None
    ) -> AsyncGenerator[IndexSnapshot]:
        """The state to export from, for the subjects for which the export was asked.

        Raises `SnapshotGone`, and `ExportStopped` also when an attached file of the export is gone.
        """
        if not await self._is_visible(export):
            raise ExportStopped()
        audience, search = audience_from_json(export.audience), _search_and_order(export)[0]
        async with self._open_searchable_content(
            ConversationId(export.conversation), audience, PersonId(export.person), search, _subjects_of(export)
        ) as content:
            if not content.file_ids.issuperset(export.request.get(_FILES_KEY, ())):
                raise ExportStopped()
            async with content.index.open_snapshot(frozenset(search.read_buckets), state_token) as snapshot:
                yield snapshot

    @asynccontextmanager
    async def _open_searchable_content(
        self,
        conversation: ConversationId,
        audience: Audience,
        person: PersonId,
        search: Search,
        subjects: frozenset[Subject] | None = None,
    ) -> AsyncGenerator[SearchableContent]:
        """The content under the current rights; with `subjects`, what these of the audience's subjects may see.

        Raises `ExportStopped` when a bucket is not granted or the asker is deactivated.
        """
        scope = await self._access.scope_for_audience(audience)
        if subjects is not None:
            scope = replace(scope, subjects=scope.subjects & subjects)
        async with self._attachments.open_searchable_content(scope, conversation, audience) as content:
            if await self._access.is_deactivated(person) or not content.scope.buckets.issuperset(search.read_buckets):
                raise ExportStopped()
            yield content

    async def _is_visible(self, export: StoredExport) -> bool:
        """Whether the buckets and subjects are still granted to the audience and the asker is not deactivated.

        The asker is checked because a deactivated person may still have the link.
        """
        if await self._access.is_deactivated(PersonId(export.person)):
            return False
        audience, files = audience_from_json(export.audience), frozenset(export.request.get(_FILES_KEY, ()))
        scope, buckets = await self._access.scope_for_audience(audience), {*_search_and_order(export)[0].read_buckets}
        if files and files <= await self._attachments.readable_file_ids(ConversationId(export.conversation), audience):
            buckets -= {ATTACHMENTS_BUCKET}
        subjects_unchanged = scope.ignores_readers or scope.subjects.issuperset(export.request.get(_SUBJECTS_KEY, ()))
        return subjects_unchanged and scope.buckets.issuperset(buckets)

    async def _is_reader(self, export: StoredExport) -> bool | None:
        return await self._access.is_audience_member(PersonId(export.person), audience_from_json(export.audience))

    async def _load_export(self, export: str) -> StoredExport:
        stored_export = await self._store.find_export(export)
        if stored_export is None:
            raise FileGone()
        return stored_export

    def _file_part_of(self, export: StoredExport) -> FilePart:
        expires = self._now() + LINK_LIFETIME
        signed = self._signer.sign_link(ExportId(export.id), expires)
        name = _download_name(_search_and_order(export)[0], export.rows)
        return FilePart(
            name=name,
            title=name,
            rows=export.rows,
            path=str(self._folder / _spool_name(export)),
            url=f"{self._link_base}/download/{signed}",
            expires=expires,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _SpoolProgress:
    """How much is on disk: bytes, rows, and the cursor of the next page."""

    byte_count: int = 0
    row_count: int = 0
    cursor: str | None = None
    is_finished: bool = False
    state_token: str | None = None  # of the documents' state that the rows are of; None: there are no rows

    def to_json(self) -> dict[str, Any]:
        return {
            "bytes": self.byte_count,
            "after": self.cursor,
            "over": self.is_finished,
            "state": self.state_token,
        }

    @classmethod
    def of_export(cls, export: StoredExport) -> "_SpoolProgress":
        """The recorded progress of the last claim. No progress if an earlier version of Parley recorded no state."""
        cursor = export.cursor or {}
        if cursor.get("state") is None:
            return cls()
        return cls(
            byte_count=cursor["bytes"],
            row_count=export.rows,
            cursor=cursor["after"],
            is_finished=cursor["over"],
            state_token=cursor["state"],
        )


class _SpoolFile:
    """An export file on disk. Each blocking step runs in a thread."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    async def discard_after(self, progress: _SpoolProgress) -> None:
        """Truncate what is on disk beyond the progress."""
        await asyncio.to_thread(self._file.truncate, progress.byte_count)

    async def append_page(self, sheet: ExportSheet, page: RecordPage, progress: _SpoolProgress) -> _SpoolProgress:
        return await asyncio.to_thread(self._write_page, sheet, page, progress)

    def _write_page(self, sheet: ExportSheet, page: RecordPage, progress: _SpoolProgress) -> _SpoolProgress:
        header = sheet.header_line() if progress.byte_count == 0 else ""
        data = (header + sheet.record_lines(page.records)).encode(errors="replace")
        self._file.seek(progress.byte_count)
        self._file.write(data)
        self._file.flush()
        os.fsync(self._file.fileno())
        return _SpoolProgress(
            byte_count=progress.byte_count + len(data),
            row_count=progress.row_count + len(page.records),
            cursor=page.cursor,
            is_finished=page.cursor is None,
            state_token=progress.state_token,
        )


@asynccontextmanager
async def _open_spool(path: Path) -> AsyncGenerator[_SpoolFile]:
    """Open the file, or create it with permissions for its owner alone."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = await asyncio.to_thread(os.open, path, os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(handle, "r+b") as file:
        yield _SpoolFile(file)


async def _load_sheet(index: ScopedIndex, search: Search) -> ExportSheet:
    schemas = await index.load_schemas()
    return sheet_for_schemas({bucket: schemas[bucket] for bucket in search.buckets if bucket in schemas})


def _search_and_order(export: StoredExport) -> tuple[Search, SchemaOrder | None]:
    """The search of the export and the order of its list."""
    leg = next(iter(plan_from_json(dict(export.request)).legs))
    return leg.search, leg.answer_form.list_order


def _subjects_of(export: StoredExport) -> frozenset[Subject] | None:
    """The subjects whose rights the export uses; None if an earlier version of Parley stored it without them."""
    subjects = export.request.get(_SUBJECTS_KEY)
    return None if subjects is None else frozenset(map(Subject, subjects))


def _spool_name(export: StoredExport) -> str:
    return f"{export.id}{_SPOOL_SUFFIX}"


def _list_spooled_exports(folder: Path) -> list[str]:
    """Returns the ids of the exports that have a file in the folder, complete or not. Other files are not Parley's."""
    stems = sorted(path.stem for path in folder.glob(f"*{_SPOOL_SUFFIX}"))
    return [stem for stem in stems if _EXPORT_ID_PATTERN.fullmatch(stem)]


def delete_export_file(folder: Path, export_id: str) -> bool:
    """Whether there was a file. One that cannot be deleted does not stop the others."""
    with suppress(OSError):
        (folder / f"{export_id}{_SPOOL_SUFFIX}").unlink()
        return True
    return False


def _download_name(search: Search, rows: int) -> str:
    buckets = search.buckets
    stem = _UNSAFE_CHARACTERS.sub("-", buckets[0]).strip("-.") if len(buckets) == 1 else ""
    return f"{stem or 'documents'}-{rows}.csv"
