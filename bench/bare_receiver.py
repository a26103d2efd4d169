"""`python -m bench.bare_receiver URL`: what the libraries alone do for a message of Slack, without Parley.

An HTTP server of aiohttp verifies the signature, Bolt dispatches the event, and its listener commits one row through
SQLAlchemy and asyncpg before the message is acknowledged. Writes its port to the standard output once it listens.
"""

import asyncio
import json
import logging
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.signature import SignatureVerifier
from sqlalchemy import Column, Integer, MetaData, Table, Text, insert
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from adapters.slack.events.http_endpoint import EVENTS_PATH
from tests.stand_ins.slack.server import SIGNING_SECRET

_MESSAGES = Table(
    "bare_message",
    MetaData(),
    Column("id", Integer, primary_key=True),
    Column("event_id", Text, unique=True),
    Column("channel", Text),
    Column("body", Text),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BareReceiver:
    """A receiver that runs. `pid`: of its process."""

    url: str
    pid: int


@asynccontextmanager
async def run_bare_receiver(database_url: str) -> AsyncGenerator[BareReceiver]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.bare_receiver", database_url), stdout=asyncio.subprocess.PIPE
    )
    try:
        if process.stdout is None or not (port := (await process.stdout.readline()).strip()):
            raise RuntimeError("the bare receiver did not start")
        yield BareReceiver(url=f"http://127.0.0.1:{port.decode()}{EVENTS_PATH}", pid=process.pid)
    finally:
        process.terminate()
        await process.wait()


def _build_bolt_app(engine: AsyncEngine) -> AsyncApp:
    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(enterprise_id=None, team_id=None)

    async def store_message(body: dict[str, Any]) -> None:
        row = {"event_id": body["event_id"], "channel": body["event"]["channel"], "body": json.dumps(body)}
        async with engine.begin() as connection:
            await connection.execute(insert(_MESSAGES).values(row))

    logger = logging.getLogger("bench.bolt")
    logger.setLevel(logging.CRITICAL)
    app = AsyncApp(
        logger=logger,
        authorize=authorize,
        signing_secret=SIGNING_SECRET,
        request_verification_enabled=False,
        process_before_response=True,
        ignoring_self_events_enabled=False,
        attaching_conversation_kwargs_enabled=False,
    )
    untyped: Any = app
    untyped.event("message")(store_message)
    return app


async def serve_messages(database_url: str) -> None:
    engine = create_async_engine(database_url, pool_size=10)
    async with engine.begin() as connection:
        await connection.run_sync(_MESSAGES.metadata.create_all)
    app, verifier = _build_bolt_app(engine), SignatureVerifier(SIGNING_SECRET)

    async def receive_message(request: web.Request) -> web.Response:
        body = await request.read()
        if not verifier.is_valid_request(body, dict(request.headers)):
            return web.Response(status=401)
        answer = await app.async_dispatch(AsyncBoltRequest(mode="socket_mode", body=json.loads(body)))
        return web.Response(status=answer.status)

    server = web.Application()
    server.router.add_post(EVENTS_PATH, receive_message)
    runner = web.AppRunner(server, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    sys.stdout.write(f"{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve_messages(sys.argv[1]))
