"""Stores the messages of the web chat: one JSON Lines file per conversation, in Parley's home folder.

The last line for a message counts. The file is the only source, so a reload, a restart and a second process show the
same messages.
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
from typing import Final

from cachetools import FIFOCache

from bot.surface.json_codec import reply_from_json, reply_to_json
from bot.surface.replies import Reply

_MAX_CACHED: Final = 200  # conversations held in memory


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptEntry:
    """The current state of one message. A `str` is a person's text. `revision`: number of its latest line, from 1."""

    id: str
    posted_at: datetime  # of its first line; UTC
    content: str | Reply
    revision: int


@dataclass(slots=True)
class _TranscriptState:
    offset: int = 0
    revision: int = 0
    entries: dict[str, TranscriptEntry] = field(default_factory=dict[str, TranscriptEntry])


class WebTranscript:
    """The conversations by key. A key is a file name here, so the caller must validate it."""

    # A worker process writes the reply to a question; its first words should not wait for a second.
    _poll_interval_s, _busy_poll_interval_s = 1.0, 0.1
    _busy_for_s = 60.0  # after a change

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._states: FIFOCache[str, _TranscriptState] = FIFOCache(_MAX_CACHED)
        self._change_events: dict[str, asyncio.Event] = {}
        self._lock = asyncio.Lock()

    async def append_message(self, key: str, id_: str, posted_at: datetime, content: str | Reply) -> None:
        """Add a message, or a new version of the message `id_`."""
        content_field: dict[str, Json] = (
            {"said": content} if isinstance(content, str) else {"reply": reply_to_json(content)}
        )
        line = json.dumps({"id": id_, "at": posted_at.isoformat(), **content_field}, ensure_ascii=True)
        await asyncio.to_thread(_append_line, self._folder, self._path_for(key), line)
        if (changed := self._change_events.pop(key, None)) is not None:
            changed.set()

    async def load_entries(self, key: str, after_revision: int = 0) -> list[TranscriptEntry]:
        """Returns the messages with a line after `after_revision`, in the order of their first lines."""
        async with self._lock:
            state = self._states.pop(key, None) or _TranscriptState()
            await asyncio.to_thread(_read_new_lines, self._path_for(key), state)
            self._states[key] = state  # the last one is the most recently used
            return [entry for entry in state.entries.values() if entry.revision > after_revision]

    async def has_entry(self, key: str, id_: str) -> bool:
        return any(entry.id == id_ for entry in await self.load_entries(key))

    async def follow_entries(self, key: str, after_revision: int = 0) -> AsyncGenerator[list[TranscriptEntry]]:
        """Yield the messages with a line after `after_revision`, then all later changes, without end.

        Yields an empty list when nothing changed during the poll interval. Changes by another process are seen within
        that interval; in the minute after a change, within a tenth of it.
        """
        now_s = asyncio.get_running_loop().time
        changed_at_s = -self._busy_for_s
        while True:
            # Set up the event before reading, so that no change is missed.
            changed = self._change_events.setdefault(key, asyncio.Event())
            entries = await self.load_entries(key, after_revision)
            after_revision = max((entry.revision for entry in entries), default=after_revision)
            changed_at_s = now_s() if entries else changed_at_s
            yield entries
            next_yield_s = now_s() + self._poll_interval_s
            while not changed.is_set() and (rest_s := next_yield_s - now_s()) > 0:
                is_busy = now_s() - changed_at_s < self._busy_for_s
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(min(rest_s, self._busy_poll_interval_s) if is_busy else rest_s):
                        await changed.wait()
                if is_busy and await asyncio.to_thread(self._has_grown, key):
                    break

    def _has_grown(self, key: str) -> bool:
        state = self._states.get(key)
        with contextlib.suppress(OSError):
            return self._path_for(key).stat().st_size > (0 if state is None else state.offset)
        return False

    def _path_for(self, key: str) -> Path:
        return self._folder / f"{key}.jsonl"


def _append_line(folder: Path, path: Path, line: str) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        # A single write keeps the lines of two processes apart. The leading line break ends a line cut off by a crash.
        os.write(handle, f"\n{line}\n".encode())
    finally:
        os.close(handle)


def _read_new_lines(path: Path, state: _TranscriptState) -> None:
    try:
        with path.open("rb") as file:
            file.seek(state.offset)
            new_bytes = file.read()
    except FileNotFoundError:
        return
    complete = new_bytes[: new_bytes.rfind(b"\n") + 1]
    state.offset += len(complete)
    for line in filter(None, complete.splitlines()):
        with contextlib.suppress(json.JSONDecodeError):  # a line that a crash cut off
            data = json.loads(line)
            state.revision += 1
            _apply_line(state, data)


def _apply_line(state: _TranscriptState, data: dict[str, Json]) -> None:
    content = data["said"] if "said" in data else reply_from_json(data["reply"])
    previous = state.entries.get(data["id"])
    posted_at = datetime.fromisoformat(data["at"]) if previous is None else previous.posted_at
    state.entries[data["id"]] = TranscriptEntry(
        id=data["id"], posted_at=posted_at, content=content, revision=state.revision
    )
