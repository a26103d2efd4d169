"""The content of items that a listing brings along: kept in a file until the sync asks for it."""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock
from typing import Any, Final

from storage.ingest.sources.source import FetchedItem, FetchResult, SourceItem, UnchangedItem
from storage.search.ids import Subject

_MAX_SPOOL_BYTES: Final = 4 * 1024 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedContent:
    """The content of an item. `suffix` is that of its format. `readers` are empty if everyone who sees the bucket may
    read it.
    """

    text: str
    suffix: str
    title: str
    link: str
    fields: Mapping[str, object] = field(default_factory=dict[str, object])
    readers: frozenset[Subject] = frozenset()

    @property
    def digest(self) -> str:
        """Another one for each change that people could see, and for other readers."""
        return digest_of_parts(self.text, self.suffix, self.title, self.link, self.fields, sorted(self.readers))


class SpoolFull(Exception):
    """The listing brings more than is kept."""

    reason = f"it has more than {_MAX_SPOOL_BYTES // 1024**3} GB of content"


class ContentSpool:
    """A temporary file with the contents of items, which a large listing does not keep in memory. Close it."""

    def __init__(self) -> None:
        self._file = TemporaryFile(prefix="parley-")  # noqa: SIM115 - closed by `close`
        self._lock = Lock()  # threads read side by side
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0

    def add_content(self, item: str, content: ListedContent) -> None:
        """Raises `SpoolFull`."""
        data = json.dumps(
            {
                "text": content.text,
                "suffix": content.suffix,
                "title": content.title,
                "link": content.link,
                "fields": content.fields,
                "readers": sorted(content.readers),
            }
        ).encode()
        if self._end + len(data) > _MAX_SPOOL_BYTES:
            raise SpoolFull
        with self._lock:
            self._file.seek(self._end)
            self._file.write(data)
        self._places[item] = (self._end, len(data))
        self._end += len(data)

    def read_content(self, item: str) -> ListedContent:
        offset, size = self._places[item]
        with self._lock:
            self._file.seek(offset)
            data = self._file.read(size)
        values: dict[str, Any] = json.loads(data)
        readers = frozenset(map(Subject, values.pop("readers")))
        return ListedContent(**values, readers=readers)

    def close(self) -> None:
        self._file.close()


async def fetch_listed_content(item: SourceItem, cursor: str, folder: Path, content: ListedContent) -> FetchResult:
    digest = content.digest
    if digest == cursor:
        return UnchangedItem(version=item.version, cursor=cursor)
    path = await asyncio.to_thread(write_content, folder, item.id, content.suffix, content.text.encode())
    return FetchedItem(
        path=path,
        link=content.link,
        version=item.version,
        cursor=digest,
        title=content.title,
        fields=content.fields,
        readers=content.readers,
        has_other_readers=bool(content.readers),  # the digest does not tell what has changed
    )


def write_content(folder: Path, item: str, suffix: str, data: bytes) -> Path:
    path = folder / hashlib.sha256(item.encode()).hexdigest()[:32] / f"document{suffix}"
    path.parent.mkdir()
    path.write_bytes(data)
    return path


def digest_of_parts(*parts: str | Mapping[str, object] | Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
