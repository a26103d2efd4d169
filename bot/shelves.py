"""The files of conversations, read: an index of its own for each conversation, which the database can give again.

They are below the home, for one process alone, and no more than a few at a time. Files are read one after another, in
the order in which they were kept: so every process makes the same of them.
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

from bot.attachments import ATTACHED
from bot.ids import ConversationId
from storage.search.errors import IndexUnavailable
from storage.search.index import ScopedIndex, SearchIndex
from storage.search.scope import Scope
from storage.sql.attached import AttachedFiles, KeptFile

if TYPE_CHECKING:
    from storage.ingest.attached import Read

MOST_OPEN: Final = 8  # conversations
READING: Final = timedelta(minutes=4)  # of one file
_ROWS: Final = 50_000  # of one table
_TOO_SLOW: Final = "it took over {:.0f} seconds to read"
_UNSAFE: Final = re.compile(r"[^\w .()-]+")
_STEM: Final = 60  # characters, each of four bytes at most
_LOCK: Final = "lock"

Opener = Callable[[Path], Awaitable[SearchIndex]]
Told = Callable[[str], None]


@dataclass(slots=True, kw_only=True)
class Shelf:
    """One conversation's files. `remarks`: by file, what there is to say beside what was read."""

    index: SearchIndex
    folder: Path
    read: list[str] = field(default_factory=list[str])  # ids, in order
    remarks: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    users: int = 0
    is_left: bool = False

    def within(self) -> ScopedIndex:
        """All of it: whoever reads the conversation reads its files."""
        scope = Scope(tenant=self.index.tenant, buckets=frozenset({ATTACHED}), all_readers=True)
        return self.index.within(scope)


class Shelves:
    """`opener` opens an index in a folder. `close` once, when nothing is in use any more."""

    def __init__(
        self,
        folder: Path,
        opener: Opener,
        store: AttachedFiles,
        log: FilteringBoundLogger,
        *,
        most: int = MOST_OPEN,
        patience: timedelta = READING,
    ) -> None:
        """`most` conversations are open at once, beside those in use; reading a file may take as long as `patience`."""
        self._folder, self._opener, self._store, self._log = folder, opener, store, log
        self._most, self._patience_s = most, patience.total_seconds()
        self._open: dict[ConversationId, Shelf] = {}  # that used last is the last
        self._locks: WeakValueDictionary[ConversationId, asyncio.Lock] = WeakValueDictionary()
        self._own: tuple[Path, IO[str]] | None = None

    @asynccontextmanager
    async def opened(
        self, conversation: ConversationId, files: Sequence[KeptFile], told: Told = lambda text: None
    ) -> AsyncGenerator[Shelf]:
        """The conversation's shelf with these on it, in this order, but for those that prove to be unreadable: their
        fault is kept. Raises what the index and the database raise.
        """
        lock = self._locks.setdefault(conversation, asyncio.Lock())
        async with lock:
            shelf = await self._filled(conversation, files, told)
            shelf.users += 1
        try:
            yield shelf
        finally:
            shelf.users -= 1
            await asyncio.shield(self._leave(shelf) if shelf.is_left else self._settle())

    @asynccontextmanager
    async def scratch(self) -> AsyncGenerator[Path]:
        """A folder for what is just arriving, of this process alone as well. Raises `OSError`."""
        folder = await asyncio.to_thread(self._new_folder)
        try:
            yield folder
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def tidy(self) -> None:
        """What is no longer kept is not read any more either."""
        for conversation, shelf in [*self._open.items()]:
            kept = {one.id for one in await self._store.of(conversation)}
            if not kept.issuperset(shelf.read) and self._open.get(conversation) is shelf:
                await self._leave(self._open.pop(conversation))

    async def close(self) -> None:
        while self._open:
            _, shelf = self._open.popitem()
            await self._leave(shelf)
        if self._own is not None:
            folder, lock = self._own
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
            lock.close()

    # -- one shelf

    async def _filled(self, conversation: ConversationId, files: Sequence[KeptFile], told: Told) -> Shelf:
        wanted = [one for one in files if one.fault is None]
        while True:
            shelf = await self._begun(conversation, wanted)
            try:
                half_read = await self._read_on(shelf, wanted, told)
            except BaseException:
                await asyncio.shield(self._leave(shelf))
                raise
            if half_read is None:
                self._open[conversation] = shelf
                return shelf
            wanted.remove(half_read)
            await self._leave(shelf)

    async def _begun(self, conversation: ConversationId, wanted: Sequence[KeptFile]) -> Shelf:
        """The one that is open, if nothing stands on it that is not wanted; else a new one."""
        shelf = self._open.pop(conversation, None)
        if shelf is not None and shelf.read == [one.id for one in wanted[: len(shelf.read)]]:
            return shelf
        if shelf is not None:
            await self._leave(shelf)
        try:
            folder = await asyncio.to_thread(self._new_folder)
        except OSError as exc:
            raise IndexUnavailable(str(self._folder), exc.strerror or str(exc)) from exc
        return Shelf(index=await self._opener(folder), folder=folder)

    async def _read_on(self, shelf: Shelf, wanted: list[KeptFile], told: Told) -> KeptFile | None:
        """Reads what is not on the shelf yet; what cannot be read is taken off the list. One that left something of it
        behind ends this: then the shelf is of no use.
        """
        for file in wanted[len(shelf.read) :]:
            told(f"Reading {file.name} …")
            read = await self._read(shelf, file)
            if read is None:  # it went in this moment
                wanted.remove(file)
            elif read.fault is None:
                shelf.read.append(file.id)
                shelf.remarks[file.id] = read.remarks
            else:
                await self._store.spoil(file.id, read.fault)
                self._log.info("attached file not read", kind=file.kind, bytes=file.size)
                if read.documents:
                    return file
                wanted.remove(file)
        return None

    async def _read(self, shelf: Shelf, file: KeptFile) -> "Read | None":
        """Raises what the index raises."""
        from storage.ingest.attached import Read, read_attached

        packed = await self._store.content(file.id)
        if packed is None:
            return None
        path = shelf.folder / f"{_safe(file.name)}.{file.kind}"
        try:
            await asyncio.to_thread(_unpack, packed, path)
            async with asyncio.timeout(self._patience_s):
                return await read_attached(
                    shelf.index,
                    path,
                    bucket=ATTACHED,
                    called=f"{file.id}/{path.name}",
                    name=file.name,
                    link=file.link,
                    rows=_ROWS,
                )
        except TimeoutError:
            return Read(documents=1, fault=_TOO_SLOW.format(self._patience_s))
        except OSError as exc:
            raise IndexUnavailable(str(self._folder), exc.strerror or str(exc)) from exc
        finally:
            with suppress(OSError):
                await asyncio.to_thread(path.unlink)

    # -- away with them

    async def _settle(self) -> None:
        """Closes what was used longest ago, where too many are open."""
        idle = [conversation for conversation, shelf in self._open.items() if not shelf.users]
        for conversation in idle[: max(0, len(self._open) - self._most)]:
            await self._leave(self._open.pop(conversation))

    async def _leave(self, shelf: Shelf) -> None:
        """For good; while it is in use, whoever uses it last closes it."""
        shelf.is_left = True
        if not shelf.users:
            await shelf.index.close()
            await asyncio.to_thread(shutil.rmtree, shelf.folder, ignore_errors=True)

    # -- the disk, in threads

    def _new_folder(self) -> Path:
        """For its owner alone. Raises `OSError`."""
        if self._own is None:
            self._own = _claimed(self._folder)
        folder = self._own[0] / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        return folder


def _claimed(root: Path) -> tuple[Path, IO[str]]:
    """A folder for this process, and the lock that says so for as long as it is open. Others whose process is gone are
    removed.
    """
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (root / _LOCK).open("w") as door:
        _lock(door, wait=True)
        for other in root.iterdir():
            if other.is_dir() and _is_left(other):
                shutil.rmtree(other, ignore_errors=True)
        own = root / secrets.token_hex(8)
        own.mkdir(mode=0o700)
        held = (own / _LOCK).open("w")
        _lock(held, wait=False)
    return own, held


def _is_left(folder: Path) -> bool:
    """Whether its process is gone."""
    try:
        with (folder / _LOCK).open("w") as held:
            return _lock(held, wait=False)
    except OSError:
        return False


def _lock(file: IO[str], *, wait: bool) -> bool:
    """Whether it is ours now, for as long as it is open."""
    try:
        import fcntl  # not on Windows, where nobody knows whether a process is gone
    except ImportError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def _unpack(packed: bytes, path: Path) -> None:
    path.touch(mode=0o600, exist_ok=False)
    path.write_bytes(zlib.decompress(packed))


def _safe(name: str) -> str:
    """The name without its ending, as every disk can hold it."""
    return _UNSAFE.sub("_", Path(name).stem)[:_STEM].strip(" .") or "file"
