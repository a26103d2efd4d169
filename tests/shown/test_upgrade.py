"""The database of the first version is upgraded by the start of the new one, while people ask."""

import asyncio
import shutil
from pathlib import Path

from storage.sql.database_url import sqlite_url_for
from tests.bot.upgrades.earlier_databases import create_earlier_database
from tests.bot.upgrades.record_rows import LISTED
from tests.shown.test_restore import (
    FOLLOW_UP,
    QUESTION,
    RIGHT,
    SlackTraffic,
    count_repeated,
    run_machine,
    write_receipts,
)
from tests.shown.transcripts import RecordedShell, RecordedTranscript
from tests.stand_ins.slack.server import SlackServer

_EARLY_QUESTIONS = 3  # that people ask before the new version runs


async def test_people_ask_while_the_first_version_is_replaced(tmp_path: Path) -> None:
    write_receipts(tmp_path)
    transcript = RecordedTranscript("upgrade", {str(tmp_path): "/srv"})
    shell = RecordedShell(tmp_path, transcript)
    await asyncio.to_thread(shell.run_unshown, "parley ingest receipts.jsonl --bucket receipts", home="loaded")
    await create_earlier_database(sqlite_url_for(tmp_path / "home" / "parley.db"), "0001")
    await asyncio.to_thread(shutil.copytree, tmp_path / "loaded" / "index", tmp_path / "home" / "index")
    transcript.add_lines("# the database is as the first version left it")
    await asyncio.to_thread(
        shell.run, "parley db check | grep -v pending || true", shown="parley db check | grep -v pending"
    )
    async with SlackServer() as slack:
        traffic = SlackTraffic(slack, address="http://127.0.0.1:9")  # nobody listens there
        transcript.add_lines(f"# people ask on and on: {QUESTION}", "# parley serve of the new version is started", "")
        asking = asyncio.create_task(traffic.ask_until_cancelled())
        early = [asyncio.create_task(traffic.ask_question(QUESTION)) for _ in range(_EARLY_QUESTIONS)]
        async with run_machine(tmp_path / "home", traffic) as machine:
            first_reply = await traffic.read_reply(await early[0])
            transcript.add_lines(f"Parley: {first_reply}", "")
            for task in early:
                await traffic.read_reply(await task)
            transcript.add_lines("# a conversation that began with the first version goes on")
            followed = await asyncio.to_thread(shell.run, f"parley ask --conversation {LISTED} '{FOLLOW_UP}'")
            await asyncio.to_thread(shell.run, "parley db check")
            asking.cancel()
            await asyncio.wait([asking])
            asked = traffic.questions_at(machine.address)
            await traffic.wait_for(lambda: all(map(traffic.replies_to, asked)))
            replies = [traffic.replies_to(question) for question in asked]

    wrong = [reply for texts in replies for reply in texts if RIGHT not in reply]
    transcript.add_lines(f"# questions that were answered twice: {count_repeated(replies)}")
    transcript.add_lines(f"# answers with another number than 40: {len(wrong)}")
    assert RIGHT in first_reply
    assert len(asked) >= _EARLY_QUESTIONS
    assert (count_repeated(replies), wrong) == (0, [])
    assert "10 receipts" in followed
    transcript.check_page()
