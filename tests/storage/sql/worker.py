"""A worker in its own process, so that a test can kill it.

`python -m tests.storage.sql.worker URL CHAT LEASE_S [POINT]`

Its chat is an append-only file with a line for every post and every update. The worker stops at POINT of its second
turn, writes so to its output, and continues when it receives a line.
"""

import asyncio
import json
import os
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from storage.sql.database import SqlDatabase
from storage.sql.stores.inbox import ClaimedTurn, TurnInbox


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatLine:
    """One post or update; `text` is empty for a placeholder."""

    message: str
    turn: str
    text: str


class FileChat:
    """A chat in an append-only file: as in a real chat, a posted message stays."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def read_lines(self) -> list[ChatLine]:
        return [ChatLine(**json.loads(line)) for line in self._file.read_text().splitlines()]

    def post_placeholder(self, turn: str) -> str:
        message = f"message-{os.urandom(4).hex()}"
        self._append_line(message, turn, "")
        return message

    def update_message(self, message: str, turn: str, text: str) -> None:
        self._append_line(message, turn, text)

    def find_message(self, turn: str) -> str | None:
        """Returns the message of the turn."""
        return next((line.message for line in self.read_lines() if line.turn == turn), None)

    def _append_line(self, message: str, turn: str, text: str) -> None:
        with self._file.open("a") as file:
            file.write(json.dumps({"message": message, "turn": turn, "text": text}) + "\n")


class ChatWorker:
    """Posts a placeholder, works, and delivers by updating it; renews its lease before every effect."""

    def __init__(self, inbox: TurnInbox, chat: FileChat, lease: timedelta, stop_at: str) -> None:
        self._inbox, self._chat, self._lease, self._stop_at = inbox, chat, lease, stop_at
        self._turns = 0

    async def run_forever(self) -> None:
        while True:
            for claimed in await self._inbox.claim_due_turns(f"worker-{os.getpid()}", self._lease):
                self._turns += 1
                write_line("finished" if await self._process_turn(claimed) else "lost")
            await asyncio.sleep(0.01)

    async def _process_turn(self, claimed: ClaimedTurn) -> bool:
        turn = claimed.turn
        if not await self._inbox.renew_lease(claimed, self._lease):
            return False
        message = turn.placeholder or self._chat.find_message(turn.id)
        if message is None:
            message = self._chat.post_placeholder(turn.id)
        self._reach_point("posted")
        if not await self._inbox.note_placeholder(claimed, message):
            return False
        self._reach_point("noted")
        if turn.delivered_at is None and not await self._deliver_reply(claimed, message):
            return False
        return await self._inbox.finish_turn(claimed, {"by": os.getpid()})

    async def _deliver_reply(self, claimed: ClaimedTurn, message: str) -> bool:
        self._reach_point("worked")
        if not await self._inbox.renew_lease(claimed, self._lease):
            return False
        self._chat.update_message(message, claimed.turn.id, f"answer to {claimed.turn.body['said']}")
        self._reach_point("updated")
        if not await self._inbox.mark_delivered(claimed):
            return False
        self._reach_point("delivered")
        return True

    def _reach_point(self, point: str) -> None:
        if self._turns == 2 and point == self._stop_at:
            self._turns += 1  # only once
            write_line(f"at {point}")
            sys.stdin.readline()


def write_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def main(url: str, chat: str, lease_s: str, stop_at: str = "") -> None:
    database = await SqlDatabase.open(url, clock=lambda: datetime.now(UTC))
    try:
        await ChatWorker(
            TurnInbox(database), FileChat(Path(chat)), timedelta(seconds=float(lease_s)), stop_at
        ).run_forever()
    finally:
        await database.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
