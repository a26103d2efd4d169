"""`python -m bench.request_sender`: sends requests at a steady rate, in a process of its own.

Reads a `SendingOrder` from the standard input, and writes a `SendingReport` to the standard output. What the process
does before it sends the first request is not measured.
"""

import asyncio
import gc
import sys
import time
from collections.abc import Mapping, Sequence

import aiohttp
from pydantic import BaseModel

_TIMEOUT = aiohttp.ClientTimeout(total=60)


class OrderedRequest(BaseModel):
    """A POST with this body; without one, a GET."""

    url: str
    headers: Mapping[str, str] = {}
    body: str | None = None


class SendingOrder(BaseModel):
    requests: Sequence[OrderedRequest]
    requests_per_second: float


class SendingReport(BaseModel):
    """Milliseconds of each request in order, and the processor time of all in this process.

    `refused`: how many were answered by something else than success.
    """

    request_ms: Sequence[float]
    cpu_ms: float
    refused: int


async def order_requests(order: SendingOrder) -> SendingReport:
    """Let another process send the requests."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.request_sender"), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    report, _ = await process.communicate(order.model_dump_json().encode())
    if process.returncode:
        raise RuntimeError(f"the process that sends requests ended with {process.returncode}")
    return SendingReport.model_validate_json(report)


async def send_requests(order: SendingOrder) -> SendingReport:
    """Requests start at fixed times, even if earlier ones are still running."""
    statuses = list[int]()
    async with aiohttp.ClientSession(timeout=_TIMEOUT) as session:  # a hundred connections at most

        async def time_request(request: OrderedRequest) -> float:
            began = time.perf_counter()
            method = "GET" if request.body is None else "POST"
            async with session.request(
                method, request.url, data=(request.body or "").encode() or None, headers=request.headers
            ) as response:
                await response.read()
            statuses.append(response.status)
            return (time.perf_counter() - began) * 1000

        gc.freeze()
        cpu_began, began = time.process_time(), time.perf_counter()
        async with asyncio.TaskGroup() as group:
            tasks = list[asyncio.Task[float]]()
            for number, request in enumerate(order.requests):
                await asyncio.sleep(max(0.0, began + number / order.requests_per_second - time.perf_counter()))
                tasks.append(group.create_task(time_request(request)))
    return SendingReport(
        request_ms=[task.result() for task in tasks],
        cpu_ms=(time.process_time() - cpu_began) * 1000,
        refused=sum(not 200 <= status < 300 for status in statuses),
    )


if __name__ == "__main__":
    sending = send_requests(SendingOrder.model_validate_json(sys.stdin.buffer.read()))
    sys.stdout.write(asyncio.run(sending).model_dump_json())
