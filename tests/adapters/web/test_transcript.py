"""The transcript: what a page shows after a reload, a restart, or a word from another process."""

from datetime import UTC, datetime
from pathlib import Path

from adapters.web.transcript import Transcript
from bot.ids import TurnId
from bot.replies import Notice, Progress, Reply

NOW = datetime(2031, 5, 4, 9, 30, tzinfo=UTC)


def a_reply(text: str) -> Reply:
    return Reply(turn=TurnId("t"), parts=(Notice(text=text),))


async def test_the_last_word_of_a_message_counts_and_its_place_stays(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    await transcript.append("c", "r", NOW, Reply(turn=TurnId("t"), parts=(Progress(text="Reading"),)))
    await transcript.append("c", "q", NOW, "second")
    await transcript.append("c", "r", NOW, a_reply("first"))

    entries = await transcript.entries("c")

    assert [(entry.id, entry.content) for entry in entries] == [("r", a_reply("first")), ("q", "second")]
    assert [entry.id for entry in await transcript.entries("c", after=2)] == ["r"]


async def test_a_conversation_outlives_the_process_and_reaches_others(tmp_path: Path) -> None:
    one, other = Transcript(tmp_path), Transcript(tmp_path)
    await one.append("c", "a", NOW, "said here")
    assert [entry.content for entry in await other.entries("c")] == ["said here"]

    await one.append("c", "b", NOW, "said later\u2028\n\ud800")

    assert [entry.content for entry in await other.entries("c")] == ["said here", "said later\u2028\n\ud800"]


async def test_who_follows_hears_what_is_said_next(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    await transcript.append("c", "a", NOW, "before")
    following = transcript.follow("c", after=0)

    assert [entry.id for entry in await anext(following)] == ["a"]
    await transcript.append("c", "b", NOW, "after")
    assert [entry.id for entry in await anext(following)] == ["b"]
    await following.aclose()


async def test_conversations_are_kept_apart(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    await transcript.append("c", "a", NOW, "mine")

    assert await transcript.entries("d") == []


async def test_a_line_cut_short_by_a_crash_is_not_read(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    await transcript.append("c", "a", NOW, "whole")
    with (tmp_path / "c.jsonl").open("a") as file:
        file.write('{"id": "b", "at"')
    await transcript.append("c", "c", NOW, "next")

    assert [entry.id for entry in await transcript.entries("c")] == ["a", "c"]
