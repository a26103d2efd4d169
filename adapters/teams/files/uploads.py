"""Uploads accepted files in the background, and shows in place of the offer how far that is and what became of it.

If a process dies, another one takes over what it had accepted.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final, Protocol

from pydantic import ValidationError
from structlog.typing import FilteringBoundLogger

from adapters.teams.connector.calls import ConnectorCalls
from adapters.teams.conversations import find_newest_url
from adapters.teams.errors import TeamsError, TeamsRefusal
from adapters.teams.files.errors import FileHostError, FileHostUnreachable, UploadUnconfirmed
from adapters.teams.files.file_cards import file_activity_for, link_activity_for, text_activity_for
from adapters.teams.files.file_hosts import FileHosts
from adapters.teams.files.upload_record import FileDestination, UploadRecord
from adapters.teams.files.upload_session import ResumableUpload
from adapters.teams.payloads.json_values import JsonObject
from adapters.teams.posting.protocols import ServiceUrlSource
from bot.conversation.file_offers import (
    FileOffers,
    FileUpload,
    UploadLost,
    describe_failed_upload,
    describe_unconfirmed_upload,
    describe_upload_progress,
)
from bot.errors import FileOfferRefused, TurnActionRefused
from bot.translation import use_language

UPLOAD_TIMEOUT_S: Final = 600.0  # of a whole file
MAX_CONCURRENT: Final = 4
_SWEEP_INTERVAL_S: Final = 60.0
_PROGRESS_INTERVAL_S: Final = 2.0  # between two updates of a message
_CLOSE_TIMEOUT_S: Final = 5.0


FindServiceUrl = Callable[[], Awaitable[str]]  # does not raise


class DescribeFailure(Protocol):
    """The sentence about a file that did not arrive, or may not have."""

    def __call__(self, name: str, *, has_link: bool) -> str: ...


class OfferMessage:
    """The message of an offer, which shows one thing after the other."""

    def __init__(
        self, connector: ConnectorCalls, find_service_url: FindServiceUrl, conversation: str, message: str
    ) -> None:
        """`message` is empty where it is not known; a new message is then sent."""
        self._connector, self._find_service_url, self._conversation = connector, find_service_url, conversation
        self._message = message

    async def show_activity(self, activity: JsonObject) -> None:
        """Sends a new message in place of one that takes no change. Raises `TeamsError`."""
        place, earlier_message = (await self._find_service_url(), self._conversation), self._message
        if earlier_message:
            try:
                await self._connector.update_activity(*place, earlier_message, activity)
            except TeamsRefusal:
                self._message = ""
            else:
                return
        self._message = await self._connector.send_activity(*place, activity)
        if earlier_message:
            with suppress(TeamsError):
                await self._connector.delete_activity(*place, earlier_message)


class FileUploads:
    """`start` and `close` it once each. Only a process that receives takes over what others have accepted."""

    def __init__(
        self,
        *,
        connector: ConnectorCalls,
        service_urls: ServiceUrlSource | None,
        offers: FileOffers,
        hosts: FileHosts,
        log: FilteringBoundLogger,
        now: Callable[[], datetime],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._service_urls, self._now = service_urls, now
        self._connector, self._offers, self._hosts, self._log, self._clock = connector, offers, hosts, log, clock
        self._slots = asyncio.Semaphore(MAX_CONCURRENT)
        self._tasks = set[asyncio.Task[None]]()
        self._sweep_task: asyncio.Task[None] | None = None

    @property
    def running_count(self) -> int:
        """Uploads in progress or waiting."""
        return len(self._tasks - {self._sweep_task})

    async def start(self) -> None:
        self._sweep_task = self._spawn(self._take_over_uploads())

    async def close(self) -> None:
        """Gives back what is unfinished."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_CLOSE_TIMEOUT_S)

    def begin_upload(self, upload: FileUpload, *, is_resumed: bool = False) -> None:
        """Uploads in the background. `is_resumed`: another process may have sent a part of it."""
        self._spawn(self._run_upload(upload, is_resumed))

    async def take_over_next(self) -> bool:
        """Begins an upload whose process has died. False where there is none, or too much to do already."""
        if self._slots.locked():
            return False
        upload = await self._offers.claim_abandoned_upload()
        if upload is not None:
            self.begin_upload(upload, is_resumed=True)
        return upload is not None

    async def _take_over_uploads(self) -> None:
        while True:
            has_begun = await self.take_over_next()
            await asyncio.sleep(0 if has_begun else _SWEEP_INTERVAL_S)

    async def _run_upload(self, upload: FileUpload, is_resumed: bool) -> None:
        try:
            destination = FileDestination.model_validate_json(upload.destination)
        except ValidationError:
            await self._offers.finish_upload(upload, is_delivered=False)
            return
        find_service_url = partial(
            find_newest_url,
            self._service_urls,
            tenant=destination.tenant,
            conversation=destination.conversation,
            known_url=destination.service_url,
        )
        message = OfferMessage(self._connector, find_service_url, destination.conversation, upload.message)
        record = UploadRecord(self._offers, upload, destination, self._now)
        try:
            async with self._slots:
                with use_language(upload.language):
                    final = await self._upload_file(record, message, is_resumed)
                    await self._show_final(message, final)
                    await self._offers.finish_upload(upload, is_delivered=final.is_delivered)
        except UploadLost:
            self._log.info("file upload lost to another process", offer=upload.claimed.offer.id)
        except asyncio.CancelledError:
            await asyncio.shield(self._offers.give_back_upload(upload))
            raise

    async def _upload_file(self, record: UploadRecord, message: OfferMessage, is_resumed: bool) -> "UploadOutcome":
        """Raises `UploadLost`."""
        upload, info = record.upload, record.destination.upload
        session = ResumableUpload(self._hosts, info.upload_url, may_be_complete=record.may_be_complete)
        try:
            async with asyncio.timeout(UPLOAD_TIMEOUT_S):
                if not await self._is_uploaded(record, session):
                    await self._send_pieces(record, session, message, is_resumed)
        except (FileOfferRefused, TurnActionRefused) as exc:
            await record.note_discarded()
            await session.cancel_session()
            return UploadOutcome(text_activity_for(str(exc)), is_delivered=False)
        except (FileHostError, OSError, TimeoutError) as exc:
            self._log.warning("file not uploaded", offer=upload.claimed.offer.id, reason=_reason_of(exc))
            is_unconfirmed = isinstance(exc, UploadUnconfirmed | TimeoutError) and session.may_be_complete
            describe = describe_unconfirmed_upload if is_unconfirmed else describe_failed_upload
            return UploadOutcome(await self._failure_activity_for(upload, describe), is_delivered=False)
        return UploadOutcome(file_activity_for(upload.name, info), is_delivered=True)

    async def _is_uploaded(self, record: UploadRecord, session: ResumableUpload) -> bool:
        """Whether an earlier process has sent the whole file, which is then the person's, whatever their rights.

        Raises `FileHostError`.
        """
        if record.destination.is_sent:
            return True
        if not record.may_be_complete:
            return False
        try:
            is_open = await session.is_open()
        except FileHostUnreachable as exc:
            raise UploadUnconfirmed(str(exc)) from exc
        if not is_open and not record.is_recent:
            raise UploadUnconfirmed("the session is gone, and may have expired")
        return not is_open

    async def _send_pieces(
        self, record: UploadRecord, session: ResumableUpload, message: OfferMessage, is_resumed: bool
    ) -> None:
        """Raises `UploadLost`, `FileOfferRefused`, `TurnActionRefused`, `FileHostError`, `OSError`."""
        upload = record.upload
        size = await self._offers.measure_upload(upload)
        progress = _UploadProgress(message, upload.name, size, self._clock)
        await progress.report_bytes(0)

        async def read_piece(start: int, byte_count: int) -> bytes:
            piece = await self._offers.read_piece(upload, start, byte_count)
            if start + byte_count == size:
                await record.note_last_piece()
            return piece

        await session.upload_pieces(size, read_piece, progress.report_bytes, is_resumed=is_resumed)
        await record.note_sent()

    async def _failure_activity_for(self, upload: FileUpload, describe: DescribeFailure) -> JsonObject:
        """The sentence with a new link, where there is one."""
        try:
            link = await self._offers.make_link(upload)
        except FileOfferRefused as exc:
            return text_activity_for(str(exc))
        if link is None:
            return text_activity_for(describe(upload.name, has_link=False))
        return link_activity_for(describe(upload.name, has_link=True), upload.name, link.url)

    async def _show_final(self, message: OfferMessage, outcome: "UploadOutcome") -> None:
        try:
            await message.show_activity(outcome.activity)
        except TeamsError as exc:
            self._log.warning("end of a file upload not shown", reason=str(exc))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finish_task)
        return task

    def _finish_task(self, task: asyncio.Task[None]) -> None:
        """An upload that has failed is taken over once its lease has run out."""
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.error("file upload failed", error=type(error).__name__)


@dataclass(frozen=True, slots=True)
class UploadOutcome:
    """What the message of the offer shows at the end."""

    activity: JsonObject
    is_delivered: bool


class _UploadProgress:
    """Shows the progress, not too often. A failure to is not a failure of the upload."""

    def __init__(self, message: OfferMessage, name: str, size: int, clock: Callable[[], float]) -> None:
        self._message, self._name, self._size, self._clock = message, name, size, clock
        self._shown_at_s: float | None = None

    async def report_bytes(self, sent_bytes: int) -> None:
        now = self._clock()
        is_early = self._shown_at_s is not None and now - self._shown_at_s < _PROGRESS_INTERVAL_S
        if is_early or sent_bytes == self._size:  # the end is shown by what follows
            return
        self._shown_at_s = now
        percent = 100 * sent_bytes // self._size
        with suppress(TeamsError):
            await self._message.show_activity(text_activity_for(describe_upload_progress(self._name, percent)))


def _reason_of(error: Exception) -> str:
    return str(error) if isinstance(error, FileHostError) else type(error).__name__
