"""What each conversation of the web chat shows: a file of lines per conversation in the home, of which the last line
for a message counts. The file alone is the truth, so that a reload, a restart and a second process show the same.
"""

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any as Json

from bot.codec import reply_from_json, reply_to_json
from bot.replies import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One message as it stands. A `str` is what the person wrote. `revision`: the number of its latest line, from 1."""

    id: str
    at: datetime  # when it was first said; UTC
    content: str | Reply
    revision: int


@dataclass(slots=True)
class _Read:
    offset: int = 0
    revision: int = 0
    entries: dict[str, Entry] = field(default_factory=dict[str, Entry])


class Transcript:
    """Conversations by key; a key is checked by whoever makes it and is a file name here."""

    _kept = 200  # conversations held in memory
    _look_again_s = 1.0

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, _Read] = {}
        self._changed: dict[str, asyncio.Event] = {}
        self._lock = asyncio.Lock()

    async def append(self, key: str, id_: str, at: datetime, content: str | Reply) -> None:
        """A new message, or what the message `id_` says from now on."""
        said: dict[str, Json] = {"said": content} if isinstance(content, str) else {"reply": reply_to_json(content)}
        line = json.dumps({"id": id_, "at": at.isoformat(), **said}, ensure_ascii=True)
        await asyncio.to_thread(_append, self._folder, self._path(key), line)
        if (changed := self._changed.pop(key, None)) is not None:
            changed.set()

    async def entries(self, key: str, after: int = 0) -> list[Entry]:
        """Every message with a line later than `after`, in the order they were first said."""
        async with self._lock:
            read = self._read.pop(key, None) or _Read()
            await asyncio.to_thread(_catch_up, self._path(key), read)
            self._read[key] = read  # last: the most recently used
            while len(self._read) > self._kept:
                del self._read[next(iter(self._read))]
            return [entry for entry in read.entries.values() if entry.revision > after]

    async def holds(self, key: str, id_: str) -> bool:
        return any(entry.id == id_ for entry in await self.entries(key))

    async def follow(self, key: str, after: int = 0) -> AsyncGenerator[list[Entry]]:
        """Messages with a line later than `after`, then whatever is said next, without end.

        Gives an empty list when nothing was said for a moment. What another process says is seen then at the latest.
        """
        while True:
            changed = self._changed.setdefault(key, asyncio.Event())  # before reading: nothing falls between
            fresh = await self.entries(key, after)
            after = max((entry.revision for entry in fresh), default=after)
            yield fresh
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._look_again_s):
                    await changed.wait()

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.jsonl"


def _append(folder: Path, path: Path, line: str) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        # One write, so that lines of two processes do not mix; a break first, in case a crash cut the last line short.
        os.write(handle, f"\n{line}\n".encode())
    finally:
        os.close(handle)


def _catch_up(path: Path, read: _Read) -> None:
    try:
        with path.open("rb") as file:
            file.seek(read.offset)
            fresh = file.read()
    except FileNotFoundError:
        return
    complete = fresh[: fresh.rfind(b"\n") + 1]
    read.offset += len(complete)
    for line in filter(None, complete.splitlines()):
        with contextlib.suppress(json.JSONDecodeError):  # what a crash left of a line
            data = json.loads(line)
            read.revision += 1
            _take(read, data)


def _take(read: _Read, data: dict[str, Json]) -> None:
    content = data["said"] if "said" in data else reply_from_json(data["reply"])
    known = read.entries.get(data["id"])
    at = datetime.fromisoformat(data["at"]) if known is None else known.at
    read.entries[data["id"]] = Entry(id=data["id"], at=at, content=content, revision=read.revision)
