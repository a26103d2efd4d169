"""Renders replies for a terminal."""

import io
import unicodedata
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from adapters.terminal.app import TerminalOutbox
from adapters.terminal.render import renderables_for
from bot.ids import ChoiceId, ClarificationId, ConversationId, TurnId
from bot.surface.replies import (
    ChoiceButton,
    ChoicesPart,
    ChosenPart,
    FilePart,
    NoticePart,
    ProgressPart,
    Reply,
    ReplyPart,
    ShownCitation,
    TablePart,
    TextPart,
    escape_markdown,
)

NOW = datetime(2031, 5, 4, tzinfo=UTC)


def printed_output_of(*parts: ReplyPart) -> str:
    console = Console(file=io.StringIO(), width=100, force_terminal=False, highlight=False, emoji=False, markup=False)
    for part in parts:
        for renderable in renderables_for(part):
            console.print(renderable)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_choices_are_numbered_and_counted() -> None:
    buttons = (
        ChoiceButton(id=ChoiceId("a"), label="Northline", count=1312, kind="filter"),
        ChoiceButton(id=ChoiceId("b"), label="Just answer", count=None, kind="anyway"),
    )

    lines = printed_output_of(
        ChoicesPart(clarification=ClarificationId("c"), buttons=buttons, expires=NOW)
    ).splitlines()

    assert lines[0].split() == ["1", "Northline", "1,312"]
    assert lines[1].split() == ["2", "Just", "answer"]


def test_a_cited_answer_names_title_and_page() -> None:
    source = ShownCitation(marker="1", title="B-120 manual", page=5, url=None, quote="")

    output = printed_output_of(TextPart(markdown="Every **3 months** [1].\n- a\n- b", sources=(source,)))

    assert "Every 3 months [1]." in output
    assert "• a" in output
    assert "[1] B-120 manual (page 5)" in output


def test_a_file_shows_its_path() -> None:
    file = FilePart(name="r.csv", title="r.csv", rows=1042, path="/home/x/r.csv", url="http://h/d", expires=NOW)

    assert printed_output_of(file).splitlines() == ["r.csv · 1,042 rows", "/home/x/r.csv"]


@given(st.text() | st.sampled_from(["\x1b[2J\x1b[H", "\x9b31m", "\x07", "[red]x[/red]", ":smile:", "\u202ereversed"]))
def test_no_text_can_move_the_cursor_or_reverse_the_line(text: str) -> None:
    hostile: list[ReplyPart] = [
        TextPart(
            markdown=escape_markdown(text),
            sources=(ShownCitation(marker="1", title=text, page=1, url=text, quote=text),),
        ),
        TextPart(markdown=text),
        TablePart(caption=text, columns=(text,), rows=((text,),)),
        ChoicesPart(
            clarification=ClarificationId("c"),
            buttons=(ChoiceButton(id=ChoiceId("a"), label=text, count=1, kind="filter"),),
            expires=NOW,
        ),
        ChosenPart(label=text, by=text),
        FilePart(name=text, title=text, rows=1, path=text, url=text, expires=NOW),
        ProgressPart(text=text),
        NoticePart(text=text),
    ]

    output = printed_output_of(*hostile)

    assert not [character for character in output if unicodedata.category(character) == "Cc" and character != "\n"]
    assert "\u202e" not in output


def test_the_markup_of_rich_is_printed_as_text() -> None:
    assert "[red]x[/red] :smile:" in printed_output_of(NoticePart(text="[red]x[/red] :smile:"))


async def test_the_same_reply_is_printed_once() -> None:
    console = Console(file=io.StringIO(), width=100)
    outbox = TerminalOutbox(console)
    reply = Reply(turn=TurnId("t"), parts=(NoticePart(text="Only once"),))
    conversation = ConversationId("terminal:c")

    message = await outbox.thread_for(conversation, {}).post_message(
        Reply(turn=TurnId("t"), parts=(ProgressPart(text="Looking"),))
    )
    await outbox.thread_for(conversation, {}).update_message(message, reply)
    await outbox.thread_for(conversation, {}).update_message(message, reply)

    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().count("Only once") == 1
    assert await outbox.thread_for(conversation, {}).find_message(TurnId("t")) == message


async def test_no_line_written_to_a_file_ends_in_blanks() -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=False, highlight=False, emoji=False, markup=False)
    buttons = (
        ChoiceButton(id=ChoiceId("a"), label="Northline", count=1312, kind="filter"),
        ChoiceButton(id=ChoiceId("b"), label="Just answer", count=None, kind="anyway"),
    )
    parts = (
        TextPart(markdown="Two of **them**:\n- one\n- the other"),
        TablePart(caption="2 of 9", columns=("Boat", "Harbour"), rows=(("Tern", "Hull"), ("Gannet", ""))),
        ChoicesPart(clarification=ClarificationId("c"), buttons=buttons, expires=NOW),
    )

    await TerminalOutbox(console).thread_for(ConversationId("c"), {}).post_message(Reply(turn=TurnId("t"), parts=parts))

    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().split("\n")
    assert [line for line in lines if line != line.rstrip()] == []
    assert [line.split() for line in lines if "Northline" in line or "Gannet" in line] == [
        ["Gannet"],
        ["1", "Northline", "1,312"],
    ]
