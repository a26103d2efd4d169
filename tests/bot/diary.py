"""A chat that outlives its process: every effect is a line of a file. It can kill the process right after one."""

import json
import os
import signal
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any as Json

from bot.codec import reply_to_json
from bot.ids import ConversationId, MessageId, PersonId, TurnId
from bot.outbox import Opened, Opening, opened_at_once
from bot.replies import Chosen, Reply


class Diary:
    """`killed_at`: the kind of effect (`post`, `update`) right after which the process is gone; once a file."""

    def __init__(self, file: Path, *, killed_at: str = "") -> None:
        self._file, self._killed_at = file, killed_at

    async def post(self, conversation: ConversationId, address: Mapping[str, str], reply: Reply) -> MessageId:
        message = MessageId(f"m{sum(line['did'] == 'post' for line in self.lines()) + 1}")
        self._write({"did": "post", "message": message, "reply": reply_to_json(reply)})
        return message

    async def open(
        self, conversation: ConversationId, address: Mapping[str, str], person: PersonId, opening: Opening
    ) -> Opened | None:
        return await opened_at_once(self, conversation, address, opening)

    async def update(
        self, conversation: ConversationId, address: Mapping[str, str], message: MessageId, reply: Reply
    ) -> None:
        self._write({"did": "update", "message": message, "reply": reply_to_json(reply)})

    async def hand_over(
        self, conversation: ConversationId, address: Mapping[str, str], message: MessageId, reply: Reply
    ) -> None:
        """A diary holds words."""

    async def whisper(
        self, conversation: ConversationId, address: Mapping[str, str], person: PersonId, reply: Reply
    ) -> None:
        await self.post(conversation, address, reply)

    async def attend(self, conversation: ConversationId, address: Mapping[str, str]) -> None:
        """Nothing is seen of it."""

    async def find(
        self,
        conversation: ConversationId,
        address: Mapping[str, str],
        turn: TurnId,
        *,
        others: Collection[MessageId] | None = None,
    ) -> MessageId | None:
        posted = (line for line in self.lines() if line["did"] == "post")
        return next((MessageId(line["message"]) for line in posted if line["reply"]["turn"] == turn), None)

    async def settle(
        self, conversation: ConversationId, address: Mapping[str, str], message: MessageId, reply: Reply, chosen: Chosen
    ) -> None:
        self._write({"did": "settle", "message": message, "label": chosen.label})

    def lines(self) -> list[dict[str, Json]]:
        if not self._file.exists():
            return []
        return [json.loads(line) for line in self._file.read_text(encoding="utf-8").splitlines()]

    def shown(self) -> dict[str, Json]:
        """What each message says now."""
        return {line["message"]: line["reply"] for line in self.lines() if "reply" in line}

    def _write(self, line: dict[str, Json]) -> None:
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())
        final = not any(part["part"] == "Progress" for part in line.get("reply", {"parts": ()})["parts"])
        if line["did"] == self._killed_at and (final or line["did"] == "post"):
            os.kill(os.getpid(), signal.SIGKILL)
