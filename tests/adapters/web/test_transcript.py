"""The transcript: a page shows the same messages after a reload, a restart, or a change by another process."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from adapters.web.transcript import WebTranscript
from bot.ids import TurnId
from bot.surface.replies import NoticePart, ProgressPart, Reply

NOW = datetime(2031, 5, 4, 9, 30, tzinfo=UTC)


def notice_reply(text: str) -> Reply:
    return Reply(turn=TurnId("t"), parts=(NoticePart(text=text),))


async def test_a_message_keeps_its_position_and_shows_its_latest_version(tmp_path: Path) -> None:
    transcript = WebTranscript(tmp_path)
    await transcript.append_message("c", "r", NOW, Reply(turn=TurnId("t"), parts=(ProgressPart(text="Reading"),)))
    await transcript.append_message("c", "q", NOW, "second")
    await transcript.append_message("c", "r", NOW, notice_reply("first"))

    entries = await transcript.load_entries("c")

    assert [(entry.id, entry.content) for entry in entries] == [("r", notice_reply("first")), ("q", "second")]
    assert [entry.id for entry in await transcript.load_entries("c", after_revision=2)] == ["r"]


async def test_another_process_reads_the_messages_of_a_conversation(tmp_path: Path) -> None:
    writer, reader = WebTranscript(tmp_path), WebTranscript(tmp_path)
    await writer.append_message("c", "a", NOW, "said here")
    assert [entry.content for entry in await reader.load_entries("c")] == ["said here"]

    await writer.append_message("c", "b", NOW, "said later\u2028\n\ud800")

    assert [entry.content for entry in await reader.load_entries("c")] == ["said here", "said later\u2028\n\ud800"]


async def test_a_follower_receives_later_messages(tmp_path: Path) -> None:
    transcript = WebTranscript(tmp_path)
    await transcript.append_message("c", "a", NOW, "before")
    followed = transcript.follow_entries("c", after_revision=0)

    assert [entry.id for entry in await anext(followed)] == ["a"]
    await transcript.append_message("c", "b", NOW, "after")
    assert [entry.id for entry in await anext(followed)] == ["b"]
    await followed.aclose()


async def test_a_follower_receives_the_messages_of_another_process(tmp_path: Path) -> None:
    here, elsewhere = WebTranscript(tmp_path), WebTranscript(tmp_path)
    await here.append_message("c", "a", NOW, "a question")
    followed = here.follow_entries("c")
    assert [entry.id for entry in await anext(followed)] == ["a"]

    await elsewhere.append_message("c", "b", NOW, notice_reply("the answer"))

    async with asyncio.timeout(30):
        while not (entries := await anext(followed)):
            pass
    assert [entry.id for entry in entries] == ["b"]
    await followed.aclose()


async def test_conversations_are_separate(tmp_path: Path) -> None:
    transcript = WebTranscript(tmp_path)
    await transcript.append_message("c", "a", NOW, "mine")

    assert await transcript.load_entries("d") == []


async def test_a_line_cut_short_by_a_crash_is_not_read(tmp_path: Path) -> None:
    transcript = WebTranscript(tmp_path)
    await transcript.append_message("c", "a", NOW, "whole")
    with (tmp_path / "c.jsonl").open("a") as file:
        file.write('{"id": "b", "at"')
    await transcript.append_message("c", "c", NOW, "next")

    assert [entry.id for entry in await transcript.load_entries("c")] == ["a", "c"]
