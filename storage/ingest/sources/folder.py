"""A folder as a source: its files, told by time and size, and where these changed by digest."""

import asyncio
import hashlib
import os
import stat
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

from storage.ingest.errors import ListingFailed
from storage.ingest.load import SourceFile, is_known
from storage.ingest.sources.source import Fetch, Fetched, Gone, Item, PassedOver, Unchanged, Unfetched

_AT_ONCE: Final = 4


class Folder:
    """The files below `path`. An item's id is its path from there, with `/`; its cursor is the digest of its content.

    Passed over, as by the loader: hidden files and folders, links to folders, `.schema.yaml` files.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._reading = path, asyncio.Semaphore(_AT_ONCE)

    async def items(self) -> AsyncIterator[Item]:
        """By path. Raises `ListingFailed` where the folder or one within it cannot be read."""
        problems: list[str] = []
        for item in await asyncio.to_thread(lambda: list(self._listed(problems))):
            yield item
        if problems:
            raise ListingFailed("; ".join(problems[:3]))

    def _listed(self, problems: list[str]) -> Iterator[Item]:
        def failed(exc: OSError) -> None:
            problems.append(f"{exc.filename} cannot be listed: {exc.strerror or exc}")

        for parent, folders, names in os.walk(self._path, onerror=failed):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                if not name.startswith(".") and not name.endswith(".schema.yaml"):
                    yield self._item(Path(parent, name))

    def _item(self, file: Path) -> Item:
        name = os.fsencode(file.relative_to(self._path).as_posix()).decode("utf-8", "replace")
        try:
            state = file.stat()
        except OSError:  # fetching it tells why
            return Item(id=name, version="", where=str(file))
        return Item(id=name, version=f"{state.st_mtime_ns}-{state.st_size}", where=str(file))

    async def fetch(self, item: Item, cursor: str, folder: Path) -> Fetch:
        """The file itself: nothing is copied."""
        async with self._reading:
            return await asyncio.to_thread(_fetched, item, cursor)


def _fetched(item: Item, cursor: str) -> Fetch:
    path = Path(item.where)
    if not is_known(SourceFile(path=path, name=item.id)):
        return PassedOver(reason="its format is not known", version=item.version, cursor="")
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would keep us waiting
            return PassedOver(reason="it is no ordinary file", version=item.version, cursor="")
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return Unfetched(reason="it is a link to nothing") if path.is_symlink() else Gone()
    except OSError as exc:
        return Unfetched(reason=f"it cannot be read: {exc.strerror or exc}")
    if digest == cursor:
        return Unchanged(version=item.version, cursor=cursor)
    return Fetched(path=path, link=item.id, version=item.version, cursor=digest)
