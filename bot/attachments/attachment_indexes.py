"""The indexes of attached files: one for each conversation, which can be rebuilt from the database.

They are in a folder of the home that belongs to one process, and only a few are open at a time. Files are ingested one
after another in the order in which they were stored, so that every process builds the same index.
"""

import asyncio
import re
import secrets
import shutil
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from structlog.typing import FilteringBoundLogger

from agent.translation.message_catalogues import mark_message
from bot.ids import ConversationId
from bot.progress import ProgressCallback, ignore_progress
from bot.surface.attachments import ATTACHMENTS_BUCKET
from bot.translation import translate_message
from storage.ingest.extract.candidates import Extractor
from storage.search.errors import IndexUnavailable
from storage.search.index import ScopedIndex, SearchIndex
from storage.search.scope import Scope
from storage.sql.stores.attachments import AttachedFileStore, StoredAttachment

if TYPE_CHECKING:
    from storage.ingest.attached_file import AttachedFileResult

MAX_OPEN_INDEXES: Final = 8  # conversations
READ_TIMEOUT: Final = timedelta(minutes=4)  # of one file
_MAX_TABLE_ROWS: Final = 50_000  # of one table
_TOO_SLOW: Final = mark_message("it took over {seconds} seconds to read")
_UNSAFE_CHARACTERS: Final = re.compile(r"[^\w .()-]+")
_MAX_STEM_CHARS: Final = 60  # each of four bytes at most
_LOCK_NAME: Final = "lock"

IndexOpener = Callable[[Path], Awaitable[SearchIndex]]


@dataclass(slots=True, kw_only=True)
class AttachmentIndex:
    """The index of one conversation's files. `remarks`: by file id, remarks about a file that was read."""

    index: SearchIndex
    folder: Path
    file_ids: list[str] = field(default_factory=list[str])  # in the order of ingestion
    remarks: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    user_count: int = 0
    is_discarded: bool = False

    def scoped_index(self) -> ScopedIndex:
        """The whole index: everyone who reads the conversation may read its files."""
        scope = Scope(tenant=self.index.tenant, buckets=frozenset({ATTACHMENTS_BUCKET}), ignores_readers=True)
        return self.index.within_scope(scope)


class AttachmentIndexes:
    """`opener` opens an index in a folder. Call `close` once, when no index is in use any more."""

    def __init__(
        self,
        folder: Path,
        opener: IndexOpener,
        store: AttachedFileStore,
        log: FilteringBoundLogger,
        *,
        extractor: Extractor,
        max_open: int = MAX_OPEN_INDEXES,
        read_timeout: timedelta = READ_TIMEOUT,
    ) -> None:
        """`max_open` conversations stay open at once, besides those in use. `read_timeout` bounds reading one file."""
        self._folder, self._opener, self._store, self._log = folder, opener, store, log
        self._extractor = extractor
        self._max_open, self._read_timeout_s = max_open, read_timeout.total_seconds()
        self._open_indexes: dict[ConversationId, AttachmentIndex] = {}  # the latest used is last
        self._locks: WeakValueDictionary[ConversationId, asyncio.Lock] = WeakValueDictionary()
        self._process_folder: tuple[Path, IO[str]] | None = None

    @asynccontextmanager
    async def open_index(
        self,
        conversation: ConversationId,
        files: Sequence[StoredAttachment],
        report_progress: ProgressCallback = ignore_progress,
    ) -> AsyncGenerator[AttachmentIndex]:
        """The conversation's index of these files, in this order, without those that cannot be read: their reason is
        stored. Raises what the index and the database raise.
        """
        lock = self._locks.setdefault(conversation, asyncio.Lock())
        async with lock:
            attachment_index = await self._fill_index(conversation, files, report_progress)
            attachment_index.user_count += 1
        try:
            yield attachment_index
        finally:
            attachment_index.user_count -= 1
            await asyncio.shield(
                self._discard_index(attachment_index) if attachment_index.is_discarded else self._close_idle_indexes()
            )

    @asynccontextmanager
    async def open_scratch_folder(self) -> AsyncGenerator[Path]:
        """A temporary folder of this process for incoming files. Raises `OSError`."""
        folder = await asyncio.to_thread(self._new_folder)
        try:
            yield folder
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def discard_stale_indexes(self) -> None:
        """Discards indexes with files that the database no longer has."""
        for conversation, attachment_index in [*self._open_indexes.items()]:
            stored_ids = {file.id for file in await self._store.list_of_conversation(conversation)}
            if (
                not stored_ids.issuperset(attachment_index.file_ids)
                and self._open_indexes.get(conversation) is attachment_index
            ):
                await self._discard_index(self._open_indexes.pop(conversation))

    async def close(self) -> None:
        while self._open_indexes:
            _, attachment_index = self._open_indexes.popitem()
            await self._discard_index(attachment_index)
        if self._process_folder is not None:
            folder, lock = self._process_folder
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
            lock.close()

    # -- one index

    async def _fill_index(
        self, conversation: ConversationId, files: Sequence[StoredAttachment], report_progress: ProgressCallback
    ) -> AttachmentIndex:
        readable_files = [file for file in files if file.fault is None]
        while True:
            attachment_index = await self._reuse_or_create_index(conversation, readable_files)
            try:
                partial_file = await self._read_remaining_files(attachment_index, readable_files, report_progress)
            except BaseException:
                await asyncio.shield(self._discard_index(attachment_index))
                raise
            if partial_file is None:
                self._open_indexes[conversation] = attachment_index
                return attachment_index
            readable_files.remove(partial_file)
            await self._discard_index(attachment_index)

    async def _reuse_or_create_index(
        self, conversation: ConversationId, files: Sequence[StoredAttachment]
    ) -> AttachmentIndex:
        """The open index, if it contains only wanted files in this order; else a new one."""
        attachment_index = self._open_indexes.pop(conversation, None)
        if attachment_index is not None and attachment_index.file_ids == [
            file.id for file in files[: len(attachment_index.file_ids)]
        ]:
            return attachment_index
        if attachment_index is not None:
            await self._discard_index(attachment_index)
        try:
            folder = await asyncio.to_thread(self._new_folder)
        except OSError as exc:
            raise IndexUnavailable(str(self._folder), exc.strerror or str(exc)) from exc
        return AttachmentIndex(index=await self._opener(folder), folder=folder)

    async def _read_remaining_files(
        self, attachment_index: AttachmentIndex, files: list[StoredAttachment], report_progress: ProgressCallback
    ) -> StoredAttachment | None:
        """Ingests the files that the index lacks, and removes unreadable files from the list. Returns a file that
        failed after some of its documents were stored: the index is then unusable. None otherwise.
        """
        for file in files[len(attachment_index.file_ids) :]:
            report_progress(translate_message("Reading {file} …", file=file.name))
            result = await self._read_file(attachment_index, file)
            if result is None:  # deleted just now
                files.remove(file)
            elif result.failure_reason is None:
                attachment_index.file_ids.append(file.id)
                attachment_index.remarks[file.id] = result.remarks
            else:
                await self._store.mark_unreadable(file.id, result.failure_reason)
                self._log.info("attached file not read", kind=file.kind, bytes=file.size)
                if result.documents:
                    return file
                files.remove(file)
        return None

    async def _read_file(
        self, attachment_index: AttachmentIndex, file: StoredAttachment
    ) -> "AttachedFileResult | None":
        """Raises what the index raises."""
        from storage.ingest.attached_file import AttachedFileResult, ingest_attached_file

        compressed = await self._store.load_file_content(file.id)
        if compressed is None:
            return None
        path = attachment_index.folder / f"{_safe_stem(file.name)}.{file.kind}"
        try:
            await asyncio.to_thread(_unpack_file, compressed, path)
            async with asyncio.timeout(self._read_timeout_s):
                return await ingest_attached_file(
                    attachment_index.index,
                    path,
                    extractor=self._extractor,
                    bucket=ATTACHMENTS_BUCKET,
                    doc_id_prefix=f"{file.id}/{path.name}",
                    file_name=file.name,
                    link=file.link,
                    max_rows=_MAX_TABLE_ROWS,
                )
        except TimeoutError:
            reason = translate_message(_TOO_SLOW, seconds=f"{self._read_timeout_s:.0f}")
            return AttachedFileResult(documents=1, failure_reason=reason)
        except OSError as exc:
            raise IndexUnavailable(str(self._folder), exc.strerror or str(exc)) from exc
        finally:
            with suppress(OSError):
                await asyncio.to_thread(path.unlink)

    # -- closing

    async def _close_idle_indexes(self) -> None:
        """Closes the least recently used indexes while too many are open."""
        idle = [
            conversation
            for conversation, attachment_index in self._open_indexes.items()
            if not attachment_index.user_count
        ]
        for conversation in idle[: max(0, len(self._open_indexes) - self._max_open)]:
            await self._discard_index(self._open_indexes.pop(conversation))

    async def _discard_index(self, attachment_index: AttachmentIndex) -> None:
        """Closes and deletes the index. If it is in use, its last user closes it."""
        attachment_index.is_discarded = True
        if not attachment_index.user_count:
            await attachment_index.index.close()
            await asyncio.to_thread(shutil.rmtree, attachment_index.folder, ignore_errors=True)

    # -- the disk, in threads

    def _new_folder(self) -> Path:
        """A folder that only its owner can read. Raises `OSError`."""
        if self._process_folder is None:
            self._process_folder = _claim_folder(self._folder)
        folder = self._process_folder[0] / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        return folder


def _claim_folder(root: Path) -> tuple[Path, IO[str]]:
    """A folder for this process, and the lock file that marks it as used while open. Removes the folders of processes
    that have ended.
    """
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (root / _LOCK_NAME).open("w") as root_lock:
        _lock_file(root_lock, wait=True)
        for folder in root.iterdir():
            if folder.is_dir() and _is_abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)
        process_folder = root / secrets.token_hex(8)
        process_folder.mkdir(mode=0o700)
        process_lock = (process_folder / _LOCK_NAME).open("w")
        _lock_file(process_lock, wait=False)
    return process_folder, process_lock


def _is_abandoned(folder: Path) -> bool:
    """Whether the folder's process has ended."""
    try:
        with (folder / _LOCK_NAME).open("w") as lock_file:
            return _lock_file(lock_file, wait=False)
    except OSError:
        return False


def _lock_file(file: IO[str], *, wait: bool) -> bool:
    """Whether this process holds the lock now, for as long as the file is open."""
    try:
        import fcntl  # not on Windows: there a folder never counts as abandoned
    except ImportError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def _unpack_file(packed: bytes, path: Path) -> None:
    path.touch(mode=0o600, exist_ok=False)
    path.write_bytes(zlib.decompress(packed))


def _safe_stem(name: str) -> str:
    """The name without its extension, in characters that every file system accepts."""
    return _UNSAFE_CHARACTERS.sub("_", Path(name).stem)[:_MAX_STEM_CHARS].strip(" .") or "file"
