"""Signed deliveries beside an attack: what Slack would see of the server, which waits three seconds for an answer."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Final

from tests.attack.server.target import SLACK_PATH, AttackTarget, encode_json

SLACK_TIMEOUT_S: Final = 3.0
_INTERVAL_S: Final = 0.1


@dataclass
class DeliveryRecord:
    """`latencies_s`: of the answered deliveries. `missed`: deliveries without an answer in time."""

    latencies_s: list[float] = field(default_factory=list[float])
    missed: int = 0

    @property
    def sent(self) -> int:
        return len(self.latencies_s) + self.missed

    @property
    def slowest_s(self) -> float:
        """The longest wait; at least three seconds where a delivery was not answered."""
        return max(0.0, SLACK_TIMEOUT_S if self.missed else 0.0, *self.latencies_s)


@contextlib.asynccontextmanager
async def deliver_beside(target: AttackTarget) -> AsyncGenerator[DeliveryRecord]:
    """Sends a signed delivery every tenth of a second, each over a new connection as Slack does."""
    record, stop = DeliveryRecord(), asyncio.Event()
    sender = asyncio.create_task(_deliver_until_stopped(target, record, stop))
    try:
        yield record
    finally:
        stop.set()
        await sender


async def _deliver_until_stopped(target: AttackTarget, record: DeliveryRecord, stop: asyncio.Event) -> None:
    async with asyncio.TaskGroup() as group:
        while not stop.is_set():
            group.create_task(_deliver_and_record(target, record))
            await asyncio.sleep(_INTERVAL_S)


async def _deliver_and_record(target: AttackTarget, record: DeliveryRecord) -> None:
    started_s = time.monotonic()
    try:
        async with asyncio.timeout(SLACK_TIMEOUT_S):
            is_answered = await _deliver_challenge(target)
    except (OSError, TimeoutError, asyncio.IncompleteReadError):
        is_answered = False
    if is_answered:
        record.latencies_s.append(time.monotonic() - started_s)
    else:
        record.missed += 1


async def _deliver_challenge(target: AttackTarget) -> bool:
    body = encode_json({"type": "url_verification", "challenge": "beside", "token": "unused"})
    headers = {"Host": "parley", "Content-Type": "application/json", "Content-Length": str(len(body))}
    headers |= {"Connection": "close", **target.signature_headers(body)}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    reader, writer = await asyncio.open_connection(target.host, target.port)
    try:
        writer.write(f"POST {SLACK_PATH} HTTP/1.1\r\n{lines}\r\n".encode() + body)
        return (await reader.readline()).startswith(b"HTTP/1.1 200")
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
