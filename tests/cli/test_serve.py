"""`parley serve` as a process: what operators look at, the port, the end."""

import asyncio
import socket
from pathlib import Path

from aiohttp import ClientSession

from tests.adapters.web.serving import serving
from tests.cli.conftest import run


async def test_it_says_that_it_lives_is_ready_and_what_it_did_until_it_is_told_to_end(home: Path) -> None:
    async with serving(home) as address, ClientSession() as session:
        for path, said in (("/healthz", "alive"), ("/readyz", "ready")):
            async with session.get(address + path) as answer:
                assert (answer.status, said in await answer.text()) == (200, True)
        async with session.post(
            f"{address}/?c=a-conversation-key", data={"text": "List all receipts"}, headers={"Origin": address}
        ) as answer:
            assert answer.status == 200
        assert 'parley_turns_total{outcome="overload",surface="web"} 1.0' in await measured(session, address)
        async with session.get(f"{address}/download/forged") as answer:
            assert answer.status == 403


async def measured(session: ClientSession, address: str) -> str:
    """The metrics, once a turn has ended."""
    async with session.get(f"{address}/chat/events?c=a-conversation-key") as events:
        async with asyncio.timeout(30):
            async for line in events.content:
                if b"Export all as CSV" in line:
                    break
    async with asyncio.timeout(30):
        while "parley_turns_total{" not in (text := await read(session, f"{address}/metrics")):  # noqa: ASYNC110
            await asyncio.sleep(0.05)  # the turn is noted right after it was said
    return text


async def read(session: ClientSession, address: str) -> str:
    async with session.get(address) as answer:
        return await answer.text()


def test_a_port_that_is_taken_is_said_in_a_sentence(home: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        ended = run(home, "serve", "--port", str(port))

    assert (ended.status, ended.out) == (1, "")
    assert f"port {port} on 127.0.0.1 is taken" in ended.err
