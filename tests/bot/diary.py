"""An outbox that outlives its process: each effect is a line in a file. It can kill the process right
after an effect.
"""

import json
import os
import signal
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any as Json

from bot.ids import ConversationId, MessageId, TurnId
from bot.surface.json_codec import reply_to_json
from bot.surface.replies import ChosenPart, Reply


class Diary:
    """`killed_at`: the kind of effect (`post`, `update`) right after which the process is killed, once per file."""

    def __init__(self, file: Path, *, killed_at: str = "") -> None:
        self._file, self._killed_at = file, killed_at

    def thread_for(self, conversation: ConversationId, address: Mapping[str, str]) -> "Diary":
        """The diary itself: it keeps one conversation."""
        return self

    async def post_message(self, reply: Reply) -> MessageId:
        message = MessageId(f"m{sum(line['did'] == 'post' for line in self.read_lines()) + 1}")
        self._write_line({"did": "post", "message": message, "reply": reply_to_json(reply)})
        return message

    async def update_message(self, message: MessageId, reply: Reply) -> None:
        self._write_line({"did": "update", "message": message, "reply": reply_to_json(reply)})

    async def attach_files(self, message: MessageId, reply: Reply) -> None:
        """A diary records no files."""

    async def find_message(
        self, turn: TurnId, *, other_messages: Collection[MessageId] | None = None
    ) -> MessageId | None:
        posted = (line for line in self.read_lines() if line["did"] == "post")
        return next((MessageId(line["message"]) for line in posted if line["reply"]["turn"] == turn), None)

    async def show_chosen(self, message: MessageId, reply: Reply, chosen: ChosenPart) -> None:
        self._write_line({"did": "settle", "message": message, "label": chosen.label})

    def read_lines(self) -> list[dict[str, Json]]:
        if not self._file.exists():
            return []
        return [json.loads(line) for line in self._file.read_text(encoding="utf-8").splitlines()]

    def latest_replies(self) -> dict[str, Json]:
        """The content that each message shows now."""
        return {line["message"]: line["reply"] for line in self.read_lines() if "reply" in line}

    def _write_line(self, line: dict[str, Json]) -> None:
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())
        is_final = not any(part["part"] == "Progress" for part in line.get("reply", {"parts": ()})["parts"])
        if line["did"] == self._killed_at and (is_final or line["did"] == "post"):
            os.kill(os.getpid(), signal.SIGKILL)
