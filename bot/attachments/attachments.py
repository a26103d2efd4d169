"""Files that people attach to questions. They are fetched once, stored with their conversation, and searched only
there.

Everyone who reads the conversation may read its files, with or without grants. Nobody else learns that they exist.
"""

import asyncio
import hashlib
import zlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from structlog.typing import FilteringBoundLogger

from agent.translation.message_catalogues import mark_message
from bot.access.audience_scope import AccessResolver
from bot.attachments.attachment_indexes import AttachmentIndexes
from bot.ids import ConversationId, MessageId
from bot.progress import ProgressCallback, ignore_progress
from bot.surface.attachments import (
    FILE_KINDS,
    MAX_FILE_BYTES,
    MAX_FILES,
    MAX_TOTAL_BYTES,
    AttachmentSource,
    DescribedFile,
    FileUnavailable,
    UnreadFile,
    origin_message_of,
    reason_for_large_file,
    reason_for_too_many_bytes,
    reason_for_too_many_files,
    reason_for_unsupported_kind,
)
from bot.surface.inbound import AttachedFile, Audience, Inbound, PrivateAudience, have_same_readers
from bot.surface.json_codec import audience_from_json, audience_to_json
from bot.surface.surface_registry import SurfaceRegistry
from bot.translation import translate_message
from storage.search.index import ScopedIndex, SearchIndex
from storage.search.scope import Scope
from storage.sql.stores.attachments import AttachedFileStore, NewAttachedFile, StoredAttachment

FILE_LIFETIME: Final = timedelta(days=7)  # after the last use in the conversation
_TOUCH_INTERVAL: Final = timedelta(hours=6)  # the expiry is updated at most once per interval
FETCH_TIMEOUT: Final = timedelta(seconds=60)  # of one file
_TOO_SLOW: Final = mark_message("it did not arrive within {seconds} seconds")
_NO_SOURCE: Final = mark_message("I cannot fetch files from here")
_DISK_FAILED: Final = mark_message("my disk does not take it")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchableContent:
    """The searchable content of a conversation at this moment: the granted buckets, and the files attached there."""

    index: ScopedIndex
    file_ids: frozenset[str] = frozenset()
    file_names: tuple[str, ...] = ()  # of the readable files that came with the given message
    unread_files: tuple[UnreadFile, ...] = ()  # the other files of that message
    remarks: tuple[tuple[str, str], ...] = ()  # name and remark, about files of that message

    @property
    def scope(self) -> Scope:
        """The scope of the granted buckets and the attached files."""
        return self.index.scope


class ConversationAttachments:
    def __init__(
        self,
        *,
        store: AttachedFileStore,
        index: SearchIndex,
        access: AccessResolver,
        indexes: AttachmentIndexes,
        surfaces: SurfaceRegistry,
        log: FilteringBoundLogger,
        fetch_timeout: timedelta = FETCH_TIMEOUT,
    ) -> None:
        """`fetch_timeout` bounds fetching one file."""
        self._fetch_timeout_s = fetch_timeout.total_seconds()
        self._store, self._index, self._access, self._indexes, self._log = store, index, access, indexes, log
        self._surfaces = surfaces

    # -- fetching

    async def fetch_files(self, inbound: Inbound, report_progress: ProgressCallback) -> tuple[UnreadFile, ...]:
        """Fetches and stores the message's files that are not stored yet. Returns those that could not be fetched.

        Raises what the database raises.
        """
        source, unread_files = self._surfaces.attachment_source_for(inbound.surface), list[UnreadFile]()
        for file in inbound.files:
            try:
                if source is None:
                    raise FileUnavailable(translate_message(_NO_SOURCE))
                await self._fetch_file(source, inbound, file, report_progress)
            except FileUnavailable as exc:
                unread_files.append(UnreadFile(name=exc.name or file.name, reason=exc.reason))
                self._log.info("attached file not fetched", surface=inbound.surface, kind=file.kind)
        return tuple(unread_files)

    async def forget_removed_files(self, inbound: Inbound) -> None:
        """Deletes the stored files that the message no longer has; all of them if the message was deleted."""
        remaining_ids = [file.id for file in inbound.files]
        await self._store.remove_of_message(inbound.conversation, origin_message_of(inbound), exclude=remaining_ids)

    async def _fetch_file(
        self, source: AttachmentSource, inbound: Inbound, file: AttachedFile, report_progress: ProgressCallback
    ) -> None:
        """Raises `FileUnavailable`."""
        stored_files = await self._store.list_of_conversation(inbound.conversation)
        if any((stored.message, stored.file) == (origin_message_of(inbound), file.id) for stored in stored_files):
            return
        readable_files = [stored for stored in stored_files if stored.fault is None]
        if len(readable_files) >= MAX_FILES:
            raise FileUnavailable(reason_for_too_many_files())
        try:
            async with asyncio.timeout(self._fetch_timeout_s):
                described = await source.describe_file(inbound, file)
                _check_file_limits(described.file, readable_files)
                report_progress(translate_message("Fetching {file} …", file=described.file.name))
                content = await self._download_content(source, inbound, described)
        except TimeoutError as exc:
            seconds = f"{self._fetch_timeout_s:.0f}"
            raise FileUnavailable(translate_message(_TOO_SLOW, seconds=seconds)) from exc
        except OSError as exc:
            raise FileUnavailable(translate_message(_DISK_FAILED)) from exc
        _check_file_limits(described.file, readable_files, len(content))
        await self._store.store_attached_file(await asyncio.to_thread(self._new_file, inbound, described.file, content))

    async def _download_content(self, source: AttachmentSource, inbound: Inbound, file: DescribedFile) -> bytes:
        """Downloads to disk first, because the content may be larger than described. Raises `FileUnavailable`,
        `OSError`.
        """
        async with self._indexes.open_scratch_folder() as folder:
            path = folder / "content"
            await source.fetch_file(inbound, file, path, max_bytes=MAX_FILE_BYTES)
            return await asyncio.to_thread(path.read_bytes)

    def _new_file(self, inbound: Inbound, file: AttachedFile, content: bytes) -> NewAttachedFile:
        return NewAttachedFile(
            conversation=inbound.conversation,
            message=origin_message_of(inbound),
            file=file.id,
            person=inbound.person,
            audience=audience_to_json(inbound.audience),
            name=file.name,
            kind=file.kind,
            link=file.link,
            size=len(content),
            digest=hashlib.sha256(file.kind.encode() + b"\0" + content).hexdigest(),
            content=zlib.compress(content),
            expires_at=self._store.utc_now() + FILE_LIFETIME,
        )

    # -- searching

    @asynccontextmanager
    async def open_searchable_content(
        self,
        scope: Scope,
        conversation: ConversationId,
        audience: Audience,
        *,
        message: MessageId | None = None,
        report_progress: ProgressCallback = ignore_progress,
    ) -> AsyncGenerator[SearchableContent]:
        """The content that the audience with the scope `scope` may search in the conversation. `message`: the message
        whose files the result lists.

        Raises `IndexIncomplete` if a bucket of the scope has lost documents, and what the index and the database raise.
        """
        await self._access.require_complete_buckets(scope)
        granted_index, files = self._index.within_scope(scope), await self._files_for(conversation, audience)
        from storage.federated.index import federate_indexes

        async with AsyncExitStack() as stack:
            if not any(file.fault is None for file in files):
                yield _searchable_content_of(granted_index, files, message)
                return
            distinct_files = _distinct_files(files)
            attachment_index = await stack.enter_async_context(
                self._indexes.open_index(conversation, distinct_files, report_progress)
            )
            read_ids = frozenset(attachment_index.file_ids)
            if len(read_ids) < len(distinct_files):  # some files could not be read
                files = await self._files_for(conversation, audience)
            await self._extend_expiry(conversation, files)
            index = federate_indexes(granted_index, attachment_index.scoped_index()) if read_ids else granted_index
            yield _searchable_content_of(index, files, message, read_ids, attachment_index.remarks)

    async def readable_file_ids(self, conversation: ConversationId, audience: Audience) -> frozenset[str]:
        """The ids of the files that the audience may read there now."""
        return frozenset(file.id for file in await self._files_for(conversation, audience) if file.fault is None)

    async def list_transferable_files(
        self, conversation: ConversationId, audience: Audience
    ) -> tuple[AttachedFile, ...]:
        """The same files, to be fetched into another conversation."""
        return tuple(
            AttachedFile(id=file.file, name=file.name, kind=file.kind, size=file.size, link=file.link)
            for file in _distinct_files(await self._files_for(conversation, audience))
        )

    async def _files_for(self, conversation: ConversationId, audience: Audience) -> list[StoredAttachment]:
        files = await self._store.list_of_conversation(conversation)
        readable = [file for file in files if have_same_readers(audience_from_json(file.audience), audience)]
        is_deactivated = (
            bool(readable)
            and isinstance(audience, PrivateAudience)
            and await self._access.is_deactivated(audience.person)
        )
        return [] if is_deactivated else readable

    async def _extend_expiry(self, conversation: ConversationId, files: Sequence[StoredAttachment]) -> None:
        until = self._store.utc_now() + FILE_LIFETIME
        if any(file.expires_at < until - _TOUCH_INTERVAL for file in files):
            await self._store.set_expiry_of_conversation(conversation, until)

    # -- expiry

    async def discard_stale_indexes(self) -> None:
        """Removes files from this process that the database no longer has."""
        await self._indexes.discard_stale_indexes()

    async def expire_files(self) -> int:
        """Deletes expired files. Returns how many."""
        return await self._store.delete_expired_files()


def _check_file_limits(
    file: AttachedFile, existing_files: Sequence[StoredAttachment], size_bytes: int | None = None
) -> None:
    """Raises `FileUnavailable`. `size_bytes`: the measured size, where it is known."""
    effective_size = size_bytes if size_bytes is not None else file.size or 0
    if file.kind not in FILE_KINDS:
        raise FileUnavailable(reason_for_unsupported_kind(), name=file.name)
    if effective_size > MAX_FILE_BYTES:
        raise FileUnavailable(reason_for_large_file(), name=file.name)
    if sum(stored.size for stored in existing_files) + effective_size > MAX_TOTAL_BYTES:
        raise FileUnavailable(reason_for_too_many_bytes(), name=file.name)


def _distinct_files(files: Sequence[StoredAttachment]) -> list[StoredAttachment]:
    """The readable files, each content only once."""
    first_by_digest = {file.digest: file for file in reversed(files) if file.fault is None}
    return [file for file in files if first_by_digest.get(file.digest) is file]


def _searchable_content_of(
    index: ScopedIndex,
    files: Sequence[StoredAttachment],
    message: MessageId | None,
    file_ids: frozenset[str] = frozenset(),
    remarks: dict[str, tuple[str, ...]] | None = None,
) -> SearchableContent:
    message_files = [file for file in files if file.message == message]
    return SearchableContent(
        index=index,
        file_ids=file_ids,
        file_names=tuple(file.name for file in message_files if file.fault is None),
        unread_files=tuple(
            UnreadFile(name=file.name, reason=file.fault) for file in message_files if file.fault is not None
        ),
        remarks=tuple((file.name, remark) for file in message_files for remark in (remarks or {}).get(file.id, ())),
    )
