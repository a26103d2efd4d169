"""A store of files as a source: object stores such as S3, and servers for SFTP, SMB and WebDAV.

A changed file is detected by the tag, time and size that the listing gives, then confirmed by its digest.
"""

import asyncio
import hashlib
import random
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Final, TypeVar

from storage.ingest.load import SourceFile, has_known_format
from storage.ingest.sources.access_list import digest_of_readers
from storage.ingest.sources.listing import SourceListing
from storage.ingest.sources.principals import PrincipalMapping
from storage.ingest.sources.source import (
    ClosedItem,
    FetchedItem,
    FetchFailure,
    FetchResult,
    SourceItem,
    UnchangedItem,
    UnsupportedItem,
    VanishedItem,
)
from storage.ingest.sources.stores.file_store import (
    RemoteFileStore,
    StoreEntry,
    StoreProblem,
    StoreProblemKind,
    too_large_problem,
)
from storage.ingest.sources.stores.store_access import OPEN_ACCESS, PathAccess, StoreAccess

_MAX_FILE_BYTES: Final = 200 * 1024 * 1024
_MAX_FOLDERS: Final = 50_000
_MAX_DEPTH: Final = 64  # folders within one another
_MAX_TRIES: Final = 4
_MAX_EXHAUSTED: Final = 3  # requests in a row that failed in spite of all tries; then the store is left alone
_FIRST_PAUSE_S: Final = 1.0  # doubles with every try
_SETTLED_AFTER: Final = timedelta(minutes=5)
_CONCURRENT_ACCESS: Final = 50  # access lists that wait for one another; the store allows fewer at once
T = TypeVar("T")


class StoreSource:
    """The files below the root of the store. `url` is that of the root. The id of an item is its path below the root;
    its cursor is its SHA-256 digest.

    With `principals`, the readers of a file are those of its access list. Changing it changes no file, so each sync
    asks for all access lists; version and cursor contain the readers.

    Skips hidden files and folders, links and `.schema.yaml` files. A time without a tag identifies the content only
    after some minutes, since many stores count whole seconds.
    """

    def __init__(
        self,
        store: RemoteFileStore,
        url: str,
        *,
        clock: Callable[[], datetime],
        principals: PrincipalMapping | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._store, self._url, self._clock, self._sleep = store, url.rstrip("/"), clock, sleep
        self._slots = asyncio.Semaphore(store.max_calls)
        self._access = None if principals is None else StoreAccess(store, principals, self._call_with_retries)
        self._entries: dict[str, StoreEntry] = {}
        self._access_by_item: dict[str, PathAccess] = {}
        self._exhausted_count = 0

    # -- listing the files

    async def list_items(self) -> AsyncIterator[SourceItem]:
        """Yields the files folder by folder. Raises `ListingFailed` after the files of the folders that were listed."""
        listing = SourceListing("files")
        root_access = OPEN_ACCESS if self._access is None else await self._access.load_root_access()
        waiting, folder_count = deque([_WaitingFolder(path=self._store.root, depth=0, access=root_access)]), 1
        while waiting:
            folder = waiting.popleft()
            try:
                entries = await self._list_folder(folder.path)
            except StoreProblem as exc:
                listing.add_problem(f"{self._shown_path(folder.path)}: {exc.reason}")
                continue
            access_by_path = await self._load_access(entries, folder.access)
            inner = [
                _WaitingFolder(path=entry.path, depth=folder.depth + 1, access=access_by_path[entry.path])
                for entry in entries
                if entry.is_folder and self._item_id_of(entry.path)
            ]
            folder_count += len(inner)
            if inner and (folder.depth >= _MAX_DEPTH or folder_count > _MAX_FOLDERS):
                listing.add_problem(f"its folders are more than {_MAX_FOLDERS:,}, or nested deeper than {_MAX_DEPTH}")
                inner = []
            waiting += inner
            for entry in entries:
                item = self._item_for(entry, access_by_path[entry.path])
                if item is None or not listing.add_item(item.id):
                    continue
                self._entries[item.id], self._access_by_item[item.id] = entry, access_by_path[entry.path]
                yield item
        listing.end_listing()

    async def _list_folder(self, path: str) -> list[StoreEntry]:
        """Lists a folder without itself, which object stores may have as an object. Raises `StoreProblem`."""
        entries = await self._call_with_retries(lambda: self._store.list_folder(path))
        own = [entry for entry in entries if entry.path.strip("/") == path.strip("/")]
        if any(entry.size and not entry.is_folder for entry in own):
            raise StoreProblem("it is a file; a source is a folder", StoreProblemKind.FINAL)
        return [entry for entry in entries if entry not in own]

    async def _load_access(self, entries: Sequence[StoreEntry], folder: PathAccess) -> dict[str, PathAccess]:
        """Returns the access of each entry of the folder, by path. What is not read needs none."""
        access_by_path = {entry.path: OPEN_ACCESS for entry in entries}
        if self._access is None:
            return access_by_path
        named = [(entry, self._item_id_of(entry.path)) for entry in entries]
        read = [entry for entry, item_id in named if item_id and (entry.is_folder or _has_known_format(item_id))]
        for start in range(0, len(read), _CONCURRENT_ACCESS):
            batch = read[start : start + _CONCURRENT_ACCESS]
            loaded = await asyncio.gather(*(self._access.load_access(entry, folder) for entry in batch))
            access_by_path |= {entry.path: access for entry, access in zip(batch, loaded, strict=True)}
        return access_by_path

    def _item_for(self, entry: StoreEntry, access: PathAccess) -> SourceItem | None:
        item_id = self._item_id_of(entry.path)
        if entry.is_folder or entry.size is None or not item_id or item_id.endswith(".schema.yaml"):
            return None
        version = self._version_of(entry)
        if access.problem is not None:
            version = ""
        elif version and access.readers:
            version = f"{version}|{digest_of_readers(access.readers)}"
        return SourceItem(id=item_id, version=version, location=f"{self._url}/{item_id}")

    def _item_id_of(self, path: str) -> str:
        """Returns the path below the root; empty if it lies elsewhere, if it is the root, or if it is hidden."""
        root = self._store.root.strip("/")
        inner = path.strip("/")
        if root:
            if not inner.startswith(f"{root}/"):
                return ""
            inner = inner[len(root) + 1 :]
        is_usable = inner.isprintable() and not any(part.startswith(".") or not part for part in inner.split("/"))
        return inner.encode("utf-8", "replace").decode() if is_usable else ""

    def _version_of(self, entry: StoreEntry) -> str:
        """Returns an empty version, so that only the digest decides, for a file that may change in the same second."""
        is_settled = entry.modified is not None and entry.modified + _SETTLED_AFTER < self._clock()
        if not (entry.tag or is_settled):
            return ""
        modified = entry.modified.isoformat() if entry.modified is not None else ""
        return f"{entry.tag}|{modified}|{entry.size}"

    def _shown_path(self, path: str) -> str:
        inner = self._item_id_of(path)
        return f"{self._url}/{inner}" if inner else self._url

    # -- fetching the content

    async def fetch_item(self, item: SourceItem, cursor: str, folder: Path) -> FetchResult:
        if not _has_known_format(item.id):
            return UnsupportedItem(reason="its format is not known", version=item.version, cursor="")
        access = self._access_by_item[item.id]
        match access.problem:
            case None:
                pass
            case StoreProblem(kind=StoreProblemKind.MISSING):
                return VanishedItem()
            case StoreProblem(kind=StoreProblemKind.TRANSIENT, reason=reason):
                return FetchFailure(reason=f"who may read it cannot be asked now: {reason}")
            case StoreProblem(reason=reason):
                return ClosedItem(reason=f"who may read it cannot be found out, so nobody reads it: {reason}")
        digest, _, readers_digest = cursor.partition(" ")
        if readers_digest == digest_of_readers(access.readers):
            return await self._fetch_file(item, digest, folder, access)
        match await self._fetch_file(item, "", folder, access):
            case FetchFailure(reason=reason):
                return ClosedItem(reason=reason)
            case FetchedItem() as fetched:
                return replace(fetched, has_other_readers=True)
            case other:
                return other

    async def _fetch_file(self, item: SourceItem, known_digest: str, folder: Path, access: PathAccess) -> FetchResult:
        entry = self._entries[item.id]
        path = folder / hashlib.sha256(item.id.encode()).hexdigest()[:32] / _file_name_for(item.id)
        if entry.size is not None and entry.size > _MAX_FILE_BYTES:
            return FetchFailure(reason=too_large_problem(_MAX_FILE_BYTES).reason)
        try:
            digest = await self._call_with_retries(lambda: self._download_file(entry.path, path))
        except StoreProblem as exc:
            return VanishedItem() if exc.kind is StoreProblemKind.MISSING else FetchFailure(reason=exc.reason)
        cursor = f"{digest} {digest_of_readers(access.readers)}".strip()
        if digest == known_digest:
            return UnchangedItem(version=item.version, cursor=cursor)
        return FetchedItem(
            path=path,
            link=item.location,
            version=item.version,
            cursor=cursor,
            readers=access.readers,
            remarks=tuple(
                f"{principal} may read files there and is nobody here; --principal {principal}=SUBJECT says who it is"
                for principal in access.unknown_principals
            ),
        )

    def _download_file(self, source_path: str, path: Path) -> str:
        path.parent.mkdir(exist_ok=True)
        with path.open("w+b") as file:
            self._store.read_file(source_path, file, max_bytes=_MAX_FILE_BYTES)
            file.seek(0)
            return hashlib.file_digest(file, "sha256").hexdigest()

    async def _call_with_retries(self, call: Callable[[], T]) -> T:
        """Calls in a thread, again after growing pauses while the store is busy. Raises `StoreProblem`."""
        async with self._slots:
            for remaining_tries in range(_MAX_TRIES - 1, -1, -1):
                if self._exhausted_count >= _MAX_EXHAUSTED:
                    raise StoreProblem("the store is too busy, or cannot be reached", StoreProblemKind.TRANSIENT)
                try:
                    result = await asyncio.to_thread(call)
                except StoreProblem as exc:
                    if exc.kind is not StoreProblemKind.TRANSIENT:
                        self._exhausted_count = 0
                        raise
                    if not remaining_tries:
                        self._exhausted_count += 1
                        raise
                else:
                    self._exhausted_count = 0
                    return result
                pause_s = _FIRST_PAUSE_S * 2 ** (_MAX_TRIES - 1 - remaining_tries)
                await self._sleep(pause_s * random.uniform(0.5, 1.5))  # noqa: S311 - jitter
        raise AssertionError("the last try returns or raises")


@dataclass(frozen=True, slots=True, kw_only=True)
class _WaitingFolder:
    path: str
    depth: int
    access: PathAccess


def _has_known_format(item_id: str) -> bool:
    return has_known_format(SourceFile(path=Path(_file_name_for(item_id)), name=item_id))


def _file_name_for(item_id: str) -> str:
    """Returns a file name with the same suffixes, from which a document without a title gets its title."""
    name = PurePosixPath(item_id).name
    path = PurePosixPath(name)
    suffix = "".join(path.suffixes[-2:]) if path.suffix.lower() == ".gz" else path.suffix
    return f"{name[: len(name) - len(suffix)][:40].strip() or 'file'}{suffix[:20]}"
