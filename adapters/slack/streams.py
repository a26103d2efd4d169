"""Messages that grow while they are read: what is being done for a long turn, then its answer in the same message.

Answers are checked before they are shown, so that only the work streams: each piece of news is a task, and the blocks
of the answer come with the end of the stream (https://docs.slack.dev/reference/methods/chat.startStream). One begins
only where Slack's own button can stop the work, and in a thread that may be read: it carries no turn before its end,
and must be found again there.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel
from structlog.typing import FilteringBoundLogger

from adapters.slack.api import SlackApi
from adapters.slack.budget import Budget
from adapters.slack.errors import SlackBusy, SlackFailed, SlackRefused
from adapters.slack.lines import cleaned
from bot.ids import PersonId

GROWING: Final = 8  # at a time; with those begun in a minute fewer than the twenty ends that Slack takes in it
GROWN_A_MINUTE, GROWN_AT_ONCE = 60, 20
NOT_GROWING: Final = "message_not_in_streaming_state"  # it ended by itself, or was ended already
STILL_GROWING: Final = "streaming_state_conflict"
IDLE_S: Final = 300.0  # after which Slack has ended it, if nobody else has
REFUSED_S: Final = 3_600.0  # for which a refusal is remembered
_TITLE, _TASKS, _REMEMBERED = 250, 30, 1_000
_NUMBER = re.compile(r"\d[\d.,]*")
_OF_THE_PLACE: Final = {  # refusals that say nothing about other channels, or other people
    "channel_not_found",
    "channel_type_not_supported",
    "is_archived",
    "missing_recipient_team_id",
    "missing_recipient_user_id",
    "not_in_channel",
    "not_in_thread",
    "restricted_action",
    "thread_not_found",
    "user_not_in_channel",
    "user_not_found",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """What is answered within the patience needs no stream; so many begin in a minute, of which some together."""

    patience_s: float = 2.0
    a_minute: int = 6
    at_once: int = 4


class _Begun(BaseModel):
    ts: str


class _Done(BaseModel):
    ok: bool


class _Tasks:
    """What a stream was told of. `all_known`: no other process has told it of any."""

    def __init__(self, now: float, *, all_known: bool = True) -> None:
        self.touched, self.all_known = now, all_known
        self._title, self._ids = "", set[str]()
        self._open: dict[str, str] = {}  # titles of those that may seem to be in progress, by id

    def complete(self) -> list[dict[str, str]]:
        return [_chunk(id_, title, "complete") for id_, title in self._open.items()]

    def next(self, text: str) -> list[dict[str, str]]:
        """The chunks that tell of it: none where that is no news, or too much. News that differ in their numbers alone
        are one task. Whether they arrived is not known before `arrived`.
        """
        title: str = " ".join(cleaned(text).replace("<", "‹").replace(">", "›").split())[:_TITLE] or "…"
        id_ = _NUMBER.sub("#", title)
        if title == self._title or (id_ not in self._ids and len(self._ids) >= _TASKS):
            return []
        self._ids.add(id_)
        before = [_chunk(other, told, "complete") for other, told in self._open.items() if other != id_]
        self._open[id_] = title
        return [*before, _chunk(id_, title, "in_progress")]

    def arrived(self, now: float, chunks: Sequence[Mapping[str, str]]) -> None:
        last = chunks[-1]
        self.touched, self._title, self._open = now, last["title"], {last["id"]: last["title"]}


class Streams:
    """Of one workspace, as far as this process has begun or taken them over."""

    def __init__(self, api: SlackApi, log: FilteringBoundLogger, pace: Pace) -> None:
        self.patience_s = pace.patience_s
        self._api, self._log = api, log
        self._growing: dict[tuple[str, str], _Tasks] = {}
        self._begun = Budget(a_minute=pace.a_minute, at_once=pace.at_once, clock=api.clock)
        self._grown = Budget(a_minute=GROWN_A_MINUTE, at_once=GROWN_AT_ONCE, clock=api.clock)
        self._refused_until: dict[str, float] = {}  # by channel; everywhere under an empty one
        self._readable: dict[str, bool] = {}

    def may_begin(self, address: Mapping[str, str], person: PersonId) -> bool:
        """As far as is known here, without asking Slack."""
        now, channel = self._api.clock(), address["channel"]
        is_refused = any(self._refused_until.get(place, now) > now for place in ("", channel))
        has_room = sum(one.touched > now - IDLE_S for one in self._growing.values()) < GROWING
        return has_room and not is_refused and self._readable.get(channel, True) and _named(address, person) is not None

    async def is_readable(self, address: Mapping[str, str]) -> bool:
        """Whether what stands in the thread can be looked up. Slack is asked once a channel."""
        channel = address["channel"]
        if channel not in self._readable:
            request = {"channel": channel, "ts": address["thread_ts"], "limit": 1}
            try:
                await self._api.call(_Done, "conversations.replies", request, attempts=1)
            except SlackRefused:
                self._note_readable(channel, is_so=False)
            except SlackFailed:
                return False
            else:
                self._note_readable(channel, is_so=True)
        return self._readable[channel]

    async def begin(self, address: Mapping[str, str], person: PersonId, text: str) -> str | None:
        """The new message, which tells of the first task; None where there is none to be had.

        Raises `SlackUnreachable` where that is not known.
        """
        if not self._begun.spend():
            return None
        tasks = _Tasks(self._api.clock())
        chunks = tasks.next(text)
        arguments = {
            "channel": address["channel"],
            "thread_ts": address["thread_ts"],
            "task_display_mode": "timeline",
            "chunks": chunks,
            **(_named(address, person) or {}),
        }
        try:
            begun = await self._api.call(_Begun, "chat.startStream", arguments, repeat=False, attempts=1)
        except SlackBusy:
            return None
        except SlackRefused as exc:
            self._note_refused(address["channel"], exc.error)
            return None
        tasks.arrived(self._api.clock(), chunks)
        self._hold(address["channel"], begun.ts, tasks)
        return begun.ts

    def holds(self, channel: str, message: str) -> bool:
        return (channel, message) in self._growing

    def take(self, channel: str, message: str) -> None:
        """One that another process began, or this one without knowing it."""
        self._hold(channel, message, _Tasks(self._api.clock(), all_known=False))

    def drop(self, channel: str, message: str) -> None:
        self._growing.pop((channel, message), None)

    async def grow(self, channel: str, message: str, text: str) -> None:
        """Tells of the next task. Raises `SlackFailed`."""
        tasks = self._growing[(channel, message)]
        chunks = tasks.next(text)
        if not chunks:
            return
        if not self._grown.spend():
            raise SlackBusy(1.0)
        arguments = {"channel": channel, "ts": message, "chunks": chunks}
        await self._api.call(_Done, "chat.appendStream", arguments, repeat=False, attempts=1)
        tasks.arrived(self._api.clock(), chunks)

    async def end(self, channel: str, message: str, blocks: Sequence[Any], metadata: Mapping[str, Any]) -> bool:
        """With the blocks below its tasks, and held no more. False where some tasks may still seem to be in progress.

        Raises `SlackFailed`.
        """
        tasks = self._growing[(channel, message)]
        chunks = tasks.complete()
        arguments: dict[str, Any] = {"channel": channel, "ts": message, "blocks": list(blocks), "metadata": metadata}
        await self._api.call(_Done, "chat.stopStream", arguments | ({"chunks": chunks} if chunks else {}))
        self.drop(channel, message)
        return tasks.all_known

    def _hold(self, channel: str, message: str, tasks: _Tasks) -> None:
        self._growing[(channel, message)] = tasks
        while len(self._growing) > _REMEMBERED:
            del self._growing[next(iter(self._growing))]

    def _note_refused(self, channel: str, error: str) -> None:
        self._log.warning("slack stream refused", reason=error)
        place = channel if error in _OF_THE_PLACE else ""
        self._refused_until[place] = self._api.clock() + REFUSED_S
        while len(self._refused_until) > _REMEMBERED:
            del self._refused_until[next(iter(self._refused_until))]

    def _note_readable(self, channel: str, *, is_so: bool) -> None:
        self._readable[channel] = is_so
        while len(self._readable) > _REMEMBERED:
            del self._readable[next(iter(self._readable))]


def _named(address: Mapping[str, str], person: PersonId) -> dict[str, str] | None:
    """Whom a stream is for, which Slack wants to know where several read. None where it is not known."""
    if address["channel"].startswith("D"):
        return {}
    _, team, user = ("", *person.rsplit(":", 2)[-2:]) if person.count(":") >= 2 else ("", "", "")
    team = team if team.startswith("T") else address.get("team", "")
    return {"recipient_user_id": user, "recipient_team_id": team} if user and team else None


def _chunk(id_: str, title: str, status: str) -> dict[str, str]:
    return {"type": "task_update", "id": id_, "title": title, "status": status}
