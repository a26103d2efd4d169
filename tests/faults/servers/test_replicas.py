"""Replicas of `parley serve`: two on one PostgreSQL, and one that starts without its OpenSearch."""

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiohttp
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from adapters.slack.events.http_endpoint import EVENTS_PATH
from storage.sql.migrations import HEAD
from tests.cli.conftest import RECEIPTS, run_parley
from tests.faults.home import build_home
from tests.faults.servers.index_proxy import IndexProxy
from tests.faults.servers.replicas import ServedReplica
from tests.faults.slack_storm import SlackStorm
from tests.faults.storm import AskedQuestion
from tests.stand_ins.slack.server import SlackServer
from tests.stand_ins.slack.workspace import SlackMessage

pytestmark = pytest.mark.servers
QUESTIONS = (
    "How many receipts from Kestrel?",
    "How many receipts from Harbor?",
    "How many receipts from Northline?",
) * 2


@asynccontextmanager
async def serve_replicas(folder: Path, settings: Mapping[str, str]) -> AsyncGenerator[list[ServedReplica]]:
    """Start both at once on a database without tables. Each has an index of its own with the same documents."""
    homes = [folder / "first", folder / "second"]
    for home in homes:
        home.mkdir()
        await asyncio.to_thread(build_home, home)
    replicas = [ServedReplica(home, settings) for home in homes]
    async with asyncio.TaskGroup() as group:
        running = [group.create_task(replica.keep_running()) for replica in replicas]
        try:
            await asyncio.gather(*(replica.wait_until_ready() for replica in replicas))
            yield replicas
        finally:
            for task in running:
                task.cancel()


async def load_rows(database_url: str, query: str) -> list[Any]:
    engine = create_async_engine(database_url, poolclass=NullPool)
    try:
        async with engine.begin() as connection:
            rows = await connection.execute(text(query))
            return list(rows.all()) if rows.returns_rows else []
    finally:
        await engine.dispose()


def words_of_message(message: SlackMessage) -> str:
    """Also of a message that was streamed, which has blocks alone."""
    return f"{message.text} {json.dumps(message.blocks)}"


def list_answers(server: SlackServer) -> list[str]:
    return [words_of_message(message) for message in server.workspace.bot_messages()]


async def deliver_question(slack: SlackStorm, replica: ServedReplica, question: AskedQuestion) -> None:
    while True:
        slack.slack.app_url = f"{replica.address}{EVENTS_PATH}"
        with contextlib.suppress(aiohttp.ClientError, OSError):
            if await slack.deliver_question(question, 0):
                return
        await asyncio.sleep(0.1)


@dataclass(frozen=True)
class SharedNode:
    """The OpenSearch of the session, for the proxy."""

    url: str
    is_running: bool = True


async def test_a_replica_that_starts_while_opensearch_is_down_accepts_and_answers_later(
    tmp_path: Path, opensearch_url: str
) -> None:
    nodes = [SharedNode(opensearch_url)]
    async with IndexProxy(nodes, random.Random(1)) as proxy, SlackServer() as server:
        slack = SlackStorm(server)
        settings = {**slack.connect_app(""), "PARLEY_INDEX_URL": proxy.url, "PARLEY_TENANT": f"storm-{uuid4().hex}"}
        source = tmp_path / "receipts.jsonl"
        source.write_text("\n".join(map(json.dumps, RECEIPTS)), encoding="utf-8")
        for words in (("ingest", str(source), "--bucket", "receipts"), ("grant", "receipts", "everyone")):
            assert (await asyncio.to_thread(run_parley, tmp_path, *words, **settings)).status == 0
        nodes.clear()
        replica = ServedReplica(tmp_path, settings)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(replica.keep_running())
            try:
                question = slack.post_question(random.Random(1), QUESTIONS[0], None)
                async with asyncio.timeout(120):
                    await deliver_question(slack, replica, question)
                nodes.append(SharedNode(opensearch_url))
                await server.wait_until(lambda: any("40 receipts" in words for words in list_answers(server)), 120)
            finally:
                running.cancel()

    assert replica.start_count == 1
    assert len(server.workspace.bot_messages()) == 1


async def test_a_conversation_is_answered_in_its_order_by_two_replicas_on_postgres(
    tmp_path: Path, postgres_database: str
) -> None:
    async with SlackServer() as server:
        slack = SlackStorm(server)
        settings = {
            **slack.connect_app(""),
            "PARLEY_DATABASE_URL": postgres_database,
            "PARLEY_SECRET_KEY": "replicas" * 4,
            "PARLEY_WORKERS": "1",
        }
        async with serve_replicas(tmp_path, settings) as replicas:
            assert await load_rows(postgres_database, "SELECT version_num FROM alembic_version") == [(HEAD,)]
            assert [replica.start_count for replica in replicas] == [1, 1]
            granting = await asyncio.to_thread(
                run_parley, tmp_path / "first", "grant", "receipts", "everyone", **settings
            )
            assert granting.status == 0
            rng, first, questions = random.Random(1), None, list[AskedQuestion]()
            for number, question_text in enumerate(QUESTIONS):
                question = slack.post_question(rng, question_text, first)
                first = first or question
                questions.append(question)
                await deliver_question(slack, replicas[number % 2], question)
                if number == 2:
                    replicas[0].kill()
            async with asyncio.timeout(120):
                while len(await load_rows(postgres_database, "SELECT 1 FROM turns WHERE finished_at IS NULL")):  # noqa: ASYNC110 - another process
                    await asyncio.sleep(0.2)
            turns = await load_rows(postgres_database, "SELECT id, finished_at FROM turns ORDER BY position")

    messages = {
        message.metadata["event_payload"]["turn"]: message
        for message in server.workspace.bot_messages()
        if message.metadata is not None
    }
    assert [turn.finished_at for turn in turns] == sorted(turn.finished_at for turn in turns)
    shown = [words_of_message(messages[turn.id]) for turn in turns]
    assert len(server.workspace.bot_messages()) == len(QUESTIONS)
    for question_text, answer in zip(QUESTIONS, shown, strict=True):
        assert question_text.removeprefix("How many receipts from ").rstrip("?") in answer
        assert "40" in answer
