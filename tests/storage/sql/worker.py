"""A worker in a process of its own, so that a test can kill it.

`python -m tests.storage.sql.worker URL CHAT LEASE_S [POINT]`

Its chat is a file that is only appended to: a line for every post and every update. It stops at POINT of its second
turn, says so, and goes on when it is sent a line.
"""

import asyncio
import json
import os
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from storage.sql.database import Database
from storage.sql.inbox import ClaimedTurn, Inbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """`text` is empty in a placeholder."""

    message: str
    turn: str
    text: str


class Chat:
    """What it was told stays, as in a real chat: a message is never taken back."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def lines(self) -> list[Line]:
        return [Line(**json.loads(line)) for line in self._file.read_text().splitlines()]

    def post(self, turn: str) -> str:
        message = f"message-{os.urandom(4).hex()}"
        self._append(message, turn, "")
        return message

    def update(self, message: str, turn: str, text: str) -> None:
        self._append(message, turn, text)

    def find(self, turn: str) -> str | None:
        """The message that carries the turn's id."""
        return next((line.message for line in self.lines() if line.turn == turn), None)

    def _append(self, message: str, turn: str, text: str) -> None:
        with self._file.open("a") as file:
            file.write(json.dumps({"message": message, "turn": turn, "text": text}) + "\n")


class Worker:
    """Posts one placeholder, works, delivers by updating it; asks for its lease before every effect."""

    def __init__(self, inbox: Inbox, chat: Chat, lease: timedelta, stop_at: str) -> None:
        self._inbox, self._chat, self._lease, self._stop_at = inbox, chat, lease, stop_at
        self._turns = 0

    async def run(self) -> None:
        while True:
            for claimed in await self._inbox.claim(f"worker-{os.getpid()}", self._lease):
                self._turns += 1
                say("finished" if await self._carry(claimed) else "lost")
            await asyncio.sleep(0.01)

    async def _carry(self, claimed: ClaimedTurn) -> bool:
        turn = claimed.turn
        if not await self._inbox.renew(claimed, self._lease):
            return False
        message = turn.placeholder or self._chat.find(turn.id)
        if message is None:
            message = self._chat.post(turn.id)
        self._reach("posted")
        if not await self._inbox.note_placeholder(claimed, message):
            return False
        self._reach("noted")
        if turn.delivered_at is None and not await self._deliver(claimed, message):
            return False
        return await self._inbox.finish(claimed, {"by": os.getpid()})

    async def _deliver(self, claimed: ClaimedTurn, message: str) -> bool:
        self._reach("worked")
        if not await self._inbox.renew(claimed, self._lease):
            return False
        self._chat.update(message, claimed.turn.id, f"answer to {claimed.turn.body['said']}")
        self._reach("updated")
        if not await self._inbox.mark_delivered(claimed):
            return False
        self._reach("delivered")
        return True

    def _reach(self, point: str) -> None:
        if self._turns == 2 and point == self._stop_at:
            self._turns += 1  # only once
            say(f"at {point}")
            sys.stdin.readline()


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


async def main(url: str, chat: str, lease_s: str, stop_at: str = "") -> None:
    database = await Database.open(url, clock=lambda: datetime.now(UTC))
    try:
        await Worker(Inbox(database), Chat(Path(chat)), timedelta(seconds=float(lease_s)), stop_at).run()
    finally:
        await database.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
