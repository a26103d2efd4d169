"""A folder as a source. A changed file is detected by its time and size, then confirmed by its digest."""

import asyncio
import hashlib
import os
import stat
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

from storage.ingest.files import OUTSIDE_LINK_REASON, leads_out_of_folder, walk_files
from storage.ingest.load import SourceFile, has_known_format
from storage.ingest.sources.listing import SourceListing
from storage.ingest.sources.source import (
    FetchedItem,
    FetchFailure,
    FetchResult,
    SourceItem,
    UnchangedItem,
    UnsupportedItem,
    VanishedItem,
)

_MAX_CONCURRENT_READS: Final = 4


class FolderSource:
    """The files below `path`. The id of an item is its relative path, with `/`; its cursor is its SHA-256 digest.

    Skips what the loader skips: hidden files and folders, links to folders and out of the folder, and `.schema.yaml`
    files.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._read_slots = path, asyncio.Semaphore(_MAX_CONCURRENT_READS)

    async def list_items(self) -> AsyncIterator[SourceItem]:
        """Yields the files by path. Raises `ListingFailed` if the folder or a folder within it cannot be read."""
        listing = SourceListing("files")
        for item in await asyncio.to_thread(lambda: list(self._walk_files(listing))):
            yield item
        listing.end_listing()

    def _walk_files(self, listing: SourceListing) -> Iterator[SourceItem]:
        def record_problem(exc: OSError) -> None:
            listing.add_problem(f"{exc.filename} cannot be listed: {exc.strerror or exc}")

        yield from map(self._item_for, walk_files(self._path, record_problem))

    def _item_for(self, file: Path) -> SourceItem:
        name = os.fsencode(file.relative_to(self._path).as_posix()).decode("utf-8", "replace")
        try:
            state = file.stat()
        except OSError:  # fetching the file reports the reason
            return SourceItem(id=name, version="", location=str(file))
        return SourceItem(id=name, version=f"{state.st_mtime_ns}-{state.st_size}", location=str(file))

    async def fetch_item(self, item: SourceItem, cursor: str, folder: Path) -> FetchResult:
        """Returns the file itself; copies nothing."""
        async with self._read_slots:
            return await asyncio.to_thread(_fetch_file, item, cursor, self._path)


def _fetch_file(item: SourceItem, cursor: str, base: Path) -> FetchResult:
    path = Path(item.location)
    if leads_out_of_folder(path, base):
        return UnsupportedItem(reason=OUTSIDE_LINK_REASON, version=item.version, cursor="")
    if not has_known_format(SourceFile(path=path, name=item.id)):
        return UnsupportedItem(reason="its format is not known", version=item.version, cursor="")
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # reading a pipe could block forever
            return UnsupportedItem(reason="it is no ordinary file", version=item.version, cursor="")
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return FetchFailure(reason="it is a link to nothing") if path.is_symlink() else VanishedItem()
    except OSError as exc:
        return FetchFailure(reason=f"it cannot be read: {exc.strerror or exc}")
    if digest == cursor:
        return UnchangedItem(version=item.version, cursor=cursor)
    return FetchedItem(path=path, link=item.id, version=item.version, cursor=digest)
