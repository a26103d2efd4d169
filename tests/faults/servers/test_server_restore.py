"""PostgreSQL is backed up while people ask, and restored into another database while they go on asking.

The index is a file of the lost machine, which the new one rebuilds, or in an OpenSearch that both machines use.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

import pytest

from tests.cli.conftest import ProcessResult, run_parley
from tests.shown.test_restore import (
    FOLLOW_UP,
    LIST_QUESTION,
    QUESTION,
    RIGHT,
    SlackTraffic,
    run_machine,
    write_receipts,
)
from tests.stand_ins.slack.server import SlackServer


class ParleyHome:
    """A machine's home, with a database on the server."""

    def __init__(self, home: Path, database_url: str, index_settings: Mapping[str, str]) -> None:
        self.home = home
        self.settings = {"PARLEY_DATABASE_URL": database_url, "PARLEY_SECRET_KEY": "k" * 40, **index_settings}

    async def run(self, *words: str) -> ProcessResult:
        return await asyncio.to_thread(run_parley, self.home, *words, **self.settings)


@pytest.fixture(params=["embedded", "opensearch"])
def index_settings(request: pytest.FixtureRequest) -> Mapping[str, str]:
    if request.param == "embedded":
        return {}
    url: str = request.getfixturevalue("opensearch_url")
    return {"PARLEY_INDEX_URL": url, "PARLEY_TENANT": f"restored-{uuid4().hex}"}


@pytest.mark.servers
@pytest.mark.timeout(900)  # on a busy machine
async def test_nothing_that_was_accepted_before_the_backup_is_lost_or_answered_twice(
    tmp_path: Path, postgres_database: str, second_postgres_database: str, index_settings: Mapping[str, str]
) -> None:
    """The workers pause during the backup, so that it has questions which the lost machine answers after it."""
    write_receipts(tmp_path)
    file = str(tmp_path / "parley.backup")
    old = ParleyHome(tmp_path / "old", postgres_database, index_settings)
    new = ParleyHome(tmp_path / "new", second_postgres_database, index_settings)
    assert (await old.run("ingest", str(tmp_path / "receipts.jsonl"), "--bucket", "receipts")).status == 0
    assert (await old.run("grant", "receipts", "everyone")).status == 0
    assert (await new.run("upgrade")).status == 0
    async with SlackServer() as slack:
        traffic = SlackTraffic(slack, pause_s=2.0)
        async with run_machine(old.home, traffic, **old.settings) as first:
            listed = await traffic.ask_question(LIST_QUESTION)
            await traffic.read_reply(listed)
            asking = asyncio.create_task(traffic.ask_until_cancelled())
            await traffic.read_reply(await traffic.ask_question(QUESTION))
            paused_count = first.pause_workers()
            unanswered = [await traffic.ask_question(QUESTION) for _ in range(3)]
            accepted = traffic.questions_at(first.address)
            backed_up = await old.run("backup", file)
            answers_meanwhile = list(map(traffic.replies_to, unanswered))
            first.resume_workers()
            await traffic.wait_for(lambda: all(map(traffic.replies_to, accepted)))
            asking.cancel()
            await asyncio.wait([asking])
        async with run_machine(new.home, traffic, **new.settings) as idle:
            await idle.wait_until_ready()
            refused = await new.run("restore", file)
        asking = asyncio.create_task(traffic.ask_until_cancelled())  # Slack delivers again until a machine accepts
        restored, rebuilt = await new.run("restore", file), await new.run("index", "rebuild", "--yes")
        async with run_machine(new.home, traffic, **new.settings) as second:
            early = await traffic.read_reply(await traffic.ask_question(QUESTION))
            refused_again = await new.run("restore", file)
            narrowed = await traffic.read_reply(await traffic.ask_question(FOLLOW_UP, listed), 2)
            asking.cancel()
            await asyncio.wait([asking])
            later = [question for question in traffic.questions_at(second.address) if question.thread != listed.thread]
            await traffic.wait_for(lambda: all(map(traffic.replies_to, later)))
            replies = [traffic.replies_to(question) for question in (*accepted, *later) if question is not listed]

    assert paused_count >= 1
    assert answers_meanwhile == [[], [], []]
    assert [ended.status for ended in (backed_up, refused, restored, rebuilt, refused_again)] == [0, 1, 0, 0, 1]
    assert f"{file}: other processes of Parley have postgresql" in refused.stderr
    assert "stop parley serve and all commands that use it, then restore again" in refused_again.stderr
    assert RIGHT in early
    assert "10 receipts" in narrowed
    assert len(later) >= 3
    assert [texts for texts in replies if len(texts) != 1 or RIGHT not in texts[0]] == []
