"""Replies on a terminal."""

import io
import unicodedata
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from adapters.terminal.app import TerminalOutbox
from adapters.terminal.render import renderables_for
from bot.ids import ChoiceId, ClarificationId, ConversationId, TurnId
from bot.replies import Button, Choices, Chosen, File, Notice, Part, Progress, Reply, Source, Table, Text, escaped

NOW = datetime(2031, 5, 4, tzinfo=UTC)


def printed(*parts: Part) -> str:
    console = Console(file=io.StringIO(), width=100, force_terminal=False, highlight=False, emoji=False, markup=False)
    for part in parts:
        for renderable in renderables_for(part):
            console.print(renderable)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_choices_are_numbered_and_counted() -> None:
    buttons = (
        Button(id=ChoiceId("a"), label="Northline", count=1312, kind="filter"),
        Button(id=ChoiceId("b"), label="Just answer", count=None, kind="anyway"),
    )

    lines = printed(Choices(clarification=ClarificationId("c"), buttons=buttons, expires=NOW)).splitlines()

    assert lines[0].split() == ["1", "Northline", "1,312"]
    assert lines[1].split() == ["2", "Just", "answer"]


def test_a_cited_answer_names_title_and_page() -> None:
    source = Source(marker="1", title="B-120 manual", page=5, url=None, quote="")

    said = printed(Text(markdown="Every **3 months** [1].\n- a\n- b", sources=(source,)))

    assert "Every 3 months [1]." in said
    assert "• a" in said
    assert "[1] B-120 manual (page 5)" in said


def test_a_file_says_where_it_is() -> None:
    file = File(name="r.csv", title="r.csv", rows=1042, path="/home/x/r.csv", url="http://h/d", expires=NOW)

    assert printed(file).splitlines() == ["r.csv · 1,042 rows", "/home/x/r.csv"]


@given(st.text() | st.sampled_from(["\x1b[2J\x1b[H", "\x9b31m", "\x07", "[red]x[/red]", ":smile:", "\u202ereversed"]))
def test_no_text_can_move_the_cursor_or_turn_the_line(text: str) -> None:
    hostile: list[Part] = [
        Text(markdown=escaped(text), sources=(Source(marker="1", title=text, page=1, url=text, quote=text),)),
        Text(markdown=text),
        Table(caption=text, columns=(text,), rows=((text,),)),
        Choices(
            clarification=ClarificationId("c"),
            buttons=(Button(id=ChoiceId("a"), label=text, count=1, kind="filter"),),
            expires=NOW,
        ),
        Chosen(label=text, by=text),
        File(name=text, title=text, rows=1, path=text, url=text, expires=NOW),
        Progress(text=text),
        Notice(text=text),
    ]

    said = printed(*hostile)

    assert not [c for c in said if unicodedata.category(c) == "Cc" and c != "\n"]
    assert "\u202e" not in said


def test_markup_of_the_library_is_text() -> None:
    assert "[red]x[/red] :smile:" in printed(Notice(text="[red]x[/red] :smile:"))


async def test_the_same_reply_is_printed_once() -> None:
    console = Console(file=io.StringIO(), width=100)
    outbox = TerminalOutbox(console)
    reply = Reply(turn=TurnId("t"), parts=(Notice(text="Only once"),))
    conversation = ConversationId("terminal:c")

    message = await outbox.post(conversation, {}, Reply(turn=TurnId("t"), parts=(Progress(text="Looking"),)))
    await outbox.update(conversation, {}, message, reply)
    await outbox.update(conversation, {}, message, reply)

    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().count("Only once") == 1
    assert await outbox.find(conversation, {}, TurnId("t")) == message


async def test_no_line_in_a_file_ends_in_blanks() -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=False, highlight=False, emoji=False, markup=False)
    buttons = (
        Button(id=ChoiceId("a"), label="Northline", count=1312, kind="filter"),
        Button(id=ChoiceId("b"), label="Just answer", count=None, kind="anyway"),
    )
    parts = (
        Text(markdown="Two of **them**:\n- one\n- the other"),
        Table(caption="2 of 9", columns=("Boat", "Harbour"), rows=(("Tern", "Hull"), ("Gannet", ""))),
        Choices(clarification=ClarificationId("c"), buttons=buttons, expires=NOW),
    )

    await TerminalOutbox(console).post(ConversationId("c"), {}, Reply(turn=TurnId("t"), parts=parts))

    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().split("\n")
    assert [line for line in lines if line != line.rstrip()] == []
    assert [line.split() for line in lines if "Northline" in line or "Gannet" in line] == [
        ["Gannet"],
        ["1", "Northline", "1,312"],
    ]
