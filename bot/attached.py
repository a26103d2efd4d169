"""Files that people attach to questions: fetched once, kept with their conversation, and searched in it alone.

Whoever reads the conversation reads its files, granted or not; nobody else learns that they are there.
"""

import asyncio
import hashlib
import zlib
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from structlog.typing import FilteringBoundLogger

from bot.access import Access
from bot.attachments import (
    KINDS,
    MOST_BYTES,
    MOST_FILES,
    MOST_TOGETHER,
    NO_READER,
    TOO_LARGE,
    TOO_MANY,
    TOO_MUCH,
    Described,
    Files,
    FileUnread,
    Missed,
    brought_by,
)
from bot.clarifications import same_readers
from bot.codec import audience_from_json, audience_to_json
from bot.ids import ConversationId, MessageId
from bot.inbound import AttachedFile, Audience, Inbound, Private
from bot.shelves import Shelves
from storage.search.index import ScopedIndex, SearchIndex
from storage.search.joined import joined
from storage.search.scope import Scope
from storage.sql.attached import AttachedFiles, KeptFile, NewFile

LIFE: Final = timedelta(days=7)  # after the conversation used them last
_TOUCHED: Final = timedelta(hours=6)  # as exactly as that is noted
FETCHING: Final = timedelta(seconds=60)  # of one file
_TOO_SLOW: Final = "it did not arrive within {:.0f} seconds"
_NOWHERE: Final = "I cannot fetch files from here"
_NO_DISK: Final = "my disk does not take it"

Told = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What may be searched in a conversation at this moment: what is granted, and the files that are attached there."""

    index: ScopedIndex
    files: frozenset[str] = frozenset()  # ids
    names: tuple[str, ...] = ()  # of those that the message in question brought
    missed: tuple[Missed, ...] = ()  # the others that it brought
    remarks: tuple[tuple[str, str], ...] = ()  # about what it brought: name and what there is to say

    @property
    def scope(self) -> Scope:
        """Granted, and attached."""
        return self.index.scope


class Attached:
    def __init__(
        self,
        *,
        store: AttachedFiles,
        index: SearchIndex,
        access: Access,
        shelves: Shelves,
        log: FilteringBoundLogger,
        patience: timedelta = FETCHING,
    ) -> None:
        """A file may take as long as `patience` to arrive."""
        self._patience_s = patience.total_seconds()
        self._store, self._index, self._access, self._shelves, self._log = store, index, access, shelves, log
        self._products: dict[str, Files] = {}

    def fetch_through(self, surface: str, files: Files) -> None:
        self._products[surface] = files

    # -- fetched

    async def take(self, inbound: Inbound, told: Told) -> tuple[Missed, ...]:
        """Keeps what came with the message and is not kept yet. Those that were not had.

        Raises what the database raises.
        """
        product, missed = self._products.get(inbound.surface), list[Missed]()
        for file in inbound.files:
            try:
                if product is None:
                    raise FileUnread(_NOWHERE)
                await self._take(product, inbound, file, told)
            except FileUnread as exc:
                missed.append(Missed(name=exc.name or file.name, reason=exc.reason))
                self._log.info("attached file not fetched", surface=inbound.surface, kind=file.kind)
        return tuple(missed)

    async def leave(self, inbound: Inbound) -> None:
        """What the message brought and has no longer is kept no longer; of one that was deleted, all of it."""
        still = [one.id for one in inbound.files]
        await self._store.remove(inbound.conversation, brought_by(inbound), but=still)

    async def _take(self, product: Files, inbound: Inbound, file: AttachedFile, told: Told) -> None:
        """Raises `FileUnread`."""
        kept = await self._store.of(inbound.conversation)
        if any((one.message, one.file) == (brought_by(inbound), file.id) for one in kept):
            return
        living = [one for one in kept if one.fault is None]
        if len(living) >= MOST_FILES:
            raise FileUnread(TOO_MANY)
        try:
            async with asyncio.timeout(self._patience_s):
                described = await product.described(inbound, file)
                _check(described.file, living)
                told(f"Fetching {described.file.name} …")
                content = await self._fetched(product, inbound, described)
        except TimeoutError as exc:
            raise FileUnread(_TOO_SLOW.format(self._patience_s)) from exc
        except OSError as exc:
            raise FileUnread(_NO_DISK) from exc
        _check(described.file, living, len(content))
        await self._store.keep(await asyncio.to_thread(self._new, inbound, described.file, content))

    async def _fetched(self, product: Files, inbound: Inbound, file: Described) -> bytes:
        """By way of the disk: what arrives may be more than it says. Raises `FileUnread`, `OSError`."""
        async with self._shelves.scratch() as folder:
            path = folder / "content"
            await product.fetch(inbound, file, path, most=MOST_BYTES)
            return await asyncio.to_thread(path.read_bytes)

    def _new(self, inbound: Inbound, file: AttachedFile, content: bytes) -> NewFile:
        return NewFile(
            conversation=inbound.conversation,
            message=brought_by(inbound),
            file=file.id,
            person=inbound.person,
            audience=audience_to_json(inbound.audience),
            name=file.name,
            kind=file.kind,
            link=file.link,
            size=len(content),
            digest=hashlib.sha256(file.kind.encode() + b"\0" + content).hexdigest(),
            content=zlib.compress(content),
            expires_at=self._store.now() + LIFE,
        )

    # -- searched

    @asynccontextmanager
    async def seen(
        self,
        scope: Scope,
        conversation: ConversationId,
        audience: Audience,
        *,
        message: MessageId | None = None,
        told: Told = lambda text: None,
    ) -> AsyncGenerator[Sight]:
        """What the audience, granted `scope`, may search in the conversation. `message`: whose files are told of.

        Raises what the index and the database raise.
        """
        granted, files = self._index.within(scope), await self._of(conversation, audience)
        async with AsyncExitStack() as stack:
            if not any(one.fault is None for one in files):
                yield _sight(granted, files, message)
                return
            wanted = _once(files)
            shelf = await stack.enter_async_context(self._shelves.opened(conversation, wanted, told))
            read = frozenset(shelf.read)
            if len(read) < len(wanted):  # some proved unreadable
                files = await self._of(conversation, audience)
            await self._used(conversation, files)
            index = joined(granted, shelf.within()) if read else granted
            yield _sight(index, files, message, read, shelf.remarks)

    async def kept(self, conversation: ConversationId, audience: Audience) -> frozenset[str]:
        """The ids of the files that the audience has there now."""
        return frozenset(one.id for one in await self._of(conversation, audience) if one.fault is None)

    async def carried(self, conversation: ConversationId, audience: Audience) -> tuple[AttachedFile, ...]:
        """The same files, for another conversation to fetch."""
        return tuple(
            AttachedFile(id=one.file, name=one.name, kind=one.kind, size=one.size, link=one.link)
            for one in _once(await self._of(conversation, audience))
        )

    async def _of(self, conversation: ConversationId, audience: Audience) -> list[KeptFile]:
        files = await self._store.of(conversation)
        mine = [one for one in files if same_readers(audience_from_json(one.audience), audience)]
        gone = bool(mine) and isinstance(audience, Private) and await self._access.is_gone(audience.person)
        return [] if gone else mine

    async def _used(self, conversation: ConversationId, files: Sequence[KeptFile]) -> None:
        until = self._store.now() + LIFE
        if any(one.expires_at < until - _TOUCHED for one in files):
            await self._store.use(conversation, until)

    # -- gone

    async def tidy(self) -> None:
        """What is gone from the database goes from this process as well."""
        await self._shelves.tidy()

    async def expire(self) -> int:
        """Files whose time is over. How many."""
        return await self._store.expire()


def _check(file: AttachedFile, beside: Sequence[KeptFile], size: int | None = None) -> None:
    """Raises `FileUnread`. `size`: where it is known for certain."""
    known = size if size is not None else file.size or 0
    if file.kind not in KINDS:
        raise FileUnread(NO_READER, name=file.name)
    if known > MOST_BYTES:
        raise FileUnread(TOO_LARGE, name=file.name)
    if sum(one.size for one in beside) + known > MOST_TOGETHER:
        raise FileUnread(TOO_MUCH, name=file.name)


def _once(files: Sequence[KeptFile]) -> list[KeptFile]:
    """Those that can be read, the same content once."""
    first = {one.digest: one for one in reversed(files) if one.fault is None}
    return [one for one in files if first.get(one.digest) is one]


def _sight(
    index: ScopedIndex,
    files: Sequence[KeptFile],
    message: MessageId | None,
    read: frozenset[str] = frozenset(),
    remarks: dict[str, tuple[str, ...]] | None = None,
) -> Sight:
    brought = [one for one in files if one.message == message]
    return Sight(
        index=index,
        files=read,
        names=tuple(one.name for one in brought if one.fault is None),
        missed=tuple(Missed(name=one.name, reason=one.fault) for one in brought if one.fault is not None),
        remarks=tuple((one.name, said) for one in brought for said in (remarks or {}).get(one.id, ())),
    )
