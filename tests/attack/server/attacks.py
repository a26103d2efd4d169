"""The attacks on the server. Each tells what it tried, what was answered, and what became of deliveries beside it."""

import asyncio
import random
import time
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlencode

from tests.attack.server.deliveries_beside import DeliveryRecord, deliver_beside
from tests.attack.server.odd_requests import OddRequestMaker, encode_request
from tests.attack.server.raw_client import send_raw
from tests.attack.server.target import SLACK_PATH, AttackTarget

BOMBS, BOMB_BYTES = 20, 300_000_000
IDLE_CONNECTIONS: Final = 1_100
SLOW_CONNECTIONS: Final = 1_100
WRONG_TOKENS: Final = 500
UNSIGNED_REQUESTS: Final = 3_000
OPENED_CONNECTIONS: Final = 5_000
PIPELINED_REQUESTS: Final = 5_000
_HOLD_S: Final = 6.0
_PARALLEL: Final = 4
_FORM: Final = "application/x-www-form-urlencoded"


@dataclass
class AttackReport:
    """`answers`: how often each status came; `none` for a connection that ended, `late` for one without an answer.

    `peak_mb` and `cpu_s` are those of the process that listens. `beside`: signed deliveries during the attack.
    """

    name: str
    tried: int = 0
    answers: Counter[str] = field(default_factory=Counter[str])
    slowest_s: float = 0.0
    beside: DeliveryRecord = field(default_factory=DeliveryRecord)
    peak_mb: float = 0.0
    cpu_s: float = 0.0
    log_bytes: int = 0

    @property
    def errors(self) -> int:
        """Answers of 5xx."""
        return sum(count for answer, count in self.answers.items() if answer.startswith("5"))


Attack = Callable[[AttackTarget, AttackReport, int], Awaitable[None]]


async def run_attack(name: str, attack: Attack, target: AttackTarget, seed: int) -> AttackReport:
    """Runs one attack with deliveries beside it."""
    report = AttackReport(name)
    target.forget_peak()
    cpu_s, log_bytes = target.read_cpu_s(), target.read_log_bytes()
    async with deliver_beside(target) as report.beside:
        await attack(target, report, seed)
    report.peak_mb = target.read_peak_mb()
    report.cpu_s, report.log_bytes = target.read_cpu_s() - cpu_s, target.read_log_bytes() - log_bytes
    return report


async def send_compressed_bodies(target: AttackTarget, report: AttackReport, seed: int) -> None:
    """Twenty bodies at once, each 300 MB when it is unpacked."""
    body = await asyncio.to_thread(_compress_zeros, BOMB_BYTES)
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip", **target.signature_headers(body)}
    request = encode_request("POST", SLACK_PATH, headers, body)
    await _send_all(target, report, [request] * BOMBS, parallel=BOMBS, timeout_s=60)


async def hold_idle_connections(target: AttackTarget, report: AttackReport, seed: int) -> None:
    """Connections on which nothing is ever sent."""
    await _hold_connections(target, report, IDLE_CONNECTIONS, b"")


async def send_slow_headers(target: AttackTarget, report: AttackReport, seed: int) -> None:
    """Connections whose headers arrive a byte a second."""
    await _hold_connections(target, report, SLOW_CONNECTIONS, b"POST / HTTP/1.1\r\nX-A: ", dripped=b"a")


async def send_slow_bodies(target: AttackTarget, report: AttackReport, seed: int) -> None:
    """Connections whose body arrives a byte a second."""
    headers = {"Content-Type": "application/json", "Content-Length": "90000", **target.signature_headers(b"")}
    begin = encode_request("POST", SLACK_PATH, headers, b"")
    await _hold_connections(target, report, SLOW_CONNECTIONS, begin + b"{", dripped=b" ")


async def send_odd_deliveries(target: AttackTarget, report: AttackReport, seed: int) -> None:
    """Signed Slack deliveries with odd payloads."""
    maker = _request_maker_for(target, seed)
    await _send_all(target, report, [maker.make_slack_request() for _ in range(3_000)])


async def send_odd_forms(target: AttackTarget, report: AttackReport, seed: int) -> None:
    maker = _request_maker_for(target, seed)
    await _send_all(target, report, [maker.make_form_request() for _ in range(3_000)])


async def send_odd_reads(target: AttackTarget, report: AttackReport, seed: int) -> None:
    maker = _request_maker_for(target, seed)
    await _send_all(target, report, [maker.make_read_request() for _ in range(3_000)])


async def guess_tokens(target: AttackTarget, report: AttackReport, seed: int) -> None:
    """Guesses of the web chat's token, half of them as a cookie."""
    origin = {"Origin": target.origin, "Host": f"{target.host}:{target.port}"}
    requests: list[bytes] = []
    for number in range(WRONG_TOKENS // 2):
        form = urlencode({"token": f"guess-{number}"}).encode()
        requests.append(encode_request("POST", "/chat/token", {"Content-Type": _FORM, **origin}, form))
        requests.append(encode_request("GET", "/", {**origin, "Cookie": f"parley_web=guess-{number}"}, b""))
    await _send_all(target, report, requests)


async def read_foreign_pages(target: AttackTarget, report: AttackReport, seed: int) -> None:
    """The pages for operators, asked for as from another machine."""
    for path in ("/metrics", "/healthz", "/readyz"):
        for headers in ({"Host": "evil.example"}, {"X-Forwarded-For": "203.0.113.9"}, {"Forwarded": "for=203.0.113.9"}):
            status = await send_raw(target.host, target.port, encode_request("GET", path, headers, b""))
            report.tried += 1
            report.answers[f"{path} {status}"] += 1


async def send_unsigned_requests(target: AttackTarget, report: AttackReport, seed: int) -> None:
    """Requests without a valid signature, and lines that are no HTTP: what they write into the log."""
    kinds = (
        encode_request("POST", SLACK_PATH, {"Content-Type": "application/json"}, b"{}"),
        encode_request("POST", "/api/messages", {"Content-Type": "application/json"}, b"{}"),
        b"\x16\x03\x01 no HTTP\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: \xff\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
    )
    await _send_all(target, report, [*kinds] * (UNSIGNED_REQUESTS // len(kinds)))


async def open_and_close_connections(target: AttackTarget, report: AttackReport, seed: int) -> None:
    """Connections that end as soon as they are open, some in the middle of a header."""
    for number in range(OPENED_CONNECTIONS):
        report.tried += 1
        try:
            async with asyncio.timeout(10):
                _, writer = await asyncio.open_connection(target.host, target.port)
        except (OSError, TimeoutError):
            report.answers["not opened"] += 1
            continue
        if number % 2:
            writer.write(b"POST /slack/events HTTP/1.1\r\nHost: a\r\n")
        writer.transport.abort()
        report.answers["ended"] += 1


async def send_pipelined_requests(target: AttackTarget, report: AttackReport, seed: int) -> None:
    """Thousands of requests on each of some connections, all sent before the first answer is read."""
    request = b"GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n" * PIPELINED_REQUESTS
    await _send_all(target, report, [request] * 100, parallel=20)


ATTACKS: Final[dict[str, Attack]] = {
    "compressed": send_compressed_bodies,
    "idle": hold_idle_connections,
    "slow-headers": send_slow_headers,
    "slow-bodies": send_slow_bodies,
    "opened": open_and_close_connections,
    "pipelined": send_pipelined_requests,
    "odd-deliveries": send_odd_deliveries,
    "odd-forms": send_odd_forms,
    "odd-reads": send_odd_reads,
    "unsigned": send_unsigned_requests,
    "foreign": read_foreign_pages,
    "tokens": guess_tokens,
}


def _request_maker_for(target: AttackTarget, seed: int) -> OddRequestMaker:
    return OddRequestMaker(target.signature_headers, target.origin, random.Random(seed))


async def _send_all(
    target: AttackTarget,
    report: AttackReport,
    requests: Sequence[bytes],
    *,
    parallel: int = _PARALLEL,
    timeout_s: float = 15.0,
) -> None:
    waiting = iter(requests)
    report.tried += len(requests)

    async def send_waiting() -> None:
        for request in waiting:
            started_s = time.monotonic()
            try:
                status = await send_raw(target.host, target.port, request, timeout_s=timeout_s)
                report.answers[str(status or "none")] += 1
            except TimeoutError:
                report.answers["late"] += 1
            except OSError:
                report.answers["none"] += 1
            report.slowest_s = max(report.slowest_s, time.monotonic() - started_s)

    async with asyncio.TaskGroup() as group:
        for _ in range(parallel):
            group.create_task(send_waiting())


async def _hold_connections(
    target: AttackTarget, report: AttackReport, count: int, begin: bytes, *, dripped: bytes = b""
) -> None:
    """Opens connections, sends `begin` on each, then `dripped` every second, and holds them for some seconds."""
    writers: list[asyncio.StreamWriter] = []
    readers: list[asyncio.StreamReader] = []
    report.tried += count
    for _ in range(count):
        try:
            async with asyncio.timeout(1):
                reader, writer = await asyncio.open_connection(target.host, target.port)
        except (OSError, TimeoutError):
            report.answers["not opened"] += 1
            continue
        readers.append(reader)
        writers.append(writer)
        writer.write(begin)
    end_s = time.monotonic() + _HOLD_S
    while time.monotonic() < end_s:
        await asyncio.sleep(1)
        for reader, writer in zip(readers, writers, strict=True):
            if not (reader.at_eof() or reader.exception() or writer.is_closing()):
                writer.write(dripped)
    report.answers["ended by the server"] = sum(reader.at_eof() or reader.exception() is not None for reader in readers)
    report.answers["held"] = len(readers) - report.answers["ended by the server"]
    for writer in writers:
        writer.close()


def _compress_zeros(size: int) -> bytes:
    compressor, zeros, parts = zlib.compressobj(9, zlib.DEFLATED, 31), bytes(1_000_000), list[bytes]()
    for _ in range(size // len(zeros)):
        parts.append(compressor.compress(zeros))
    return b"".join(parts) + compressor.flush()
