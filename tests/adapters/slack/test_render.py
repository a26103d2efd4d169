"""Replies as Slack messages: what each holds, and what holds for every one. What they look like: `test_golden.py`."""

import json
from collections.abc import Iterable, Iterator
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.slack.lines import cleaned, lines_of
from adapters.slack.more import more_view
from adapters.slack.render import Message, message_for, parted, settled, whole_text
from adapters.slack.steps import steps_view
from bot.afterwards import Step, Steps
from bot.ids import ChoiceId, ClarificationId
from bot.replies import (
    Button,
    Choices,
    Chosen,
    File,
    Handle,
    Handles,
    Notice,
    Part,
    Progress,
    Source,
    Table,
    Text,
    Whole,
    escaped,
)
from tests.adapters.slack.gallery import NOON, PARTS, a_choices, a_reply, buttons
from tests.stand_ins.slack.checker import check_message, check_view, length, live_mentions
from tests.stand_ins.slack.refusing import objects


def written(message: Message) -> str:
    return json.dumps({"text": message.text, "blocks": message.blocks}, indent=2, ensure_ascii=False) + "\n"


def test_a_file_that_could_not_be_uploaded_is_a_link() -> None:
    message = message_for(a_reply(PARTS["file"]), frozenset({"/nowhere/receipts.csv"}))

    check(message)
    assert "https://example.org/download/x" in written(message)
    assert "12:00 UTC" in written(message)


def test_a_file_that_words_speak_of_is_not_named_twice() -> None:
    reply = a_reply(Text(markdown="Here is **receipts.csv** with 1,042 rows."), PARTS["file"])

    assert written(message_for(reply)).count("1,042") == 2  # in the block, and in the text that stands in for it
    assert "Download" in written(message_for(reply, frozenset({"/nowhere/receipts.csv"})))


def check(message: Message) -> None:
    payload = {"text": message.text, "blocks": message.blocks}
    check_message(payload)
    assert live_mentions(payload) == []
    json.dumps(payload, ensure_ascii=False).encode("utf-8")


def test_a_button_carries_its_opaque_id_and_its_count() -> None:
    [block] = message_for(a_reply(a_choices(*buttons(2)))).blocks
    assert json.loads(json.dumps(block))["elements"][1] == {
        "type": "button",
        "action_id": "clarify:2",
        "text": {"type": "plain_text", "text": "Vendor 2 · 2", "emoji": False},
        "value": "id2",
    }


def test_a_long_label_is_shortened_and_its_count_is_not() -> None:
    long = Button(id=ChoiceId("x"), label="Vendor " * 30, count=1042, kind="filter")

    [row, way] = message_for(a_reply(a_choices(long))).blocks
    text = json.loads(json.dumps(row))["elements"][0]["text"]["text"]

    assert length(text) <= 75
    assert text.endswith("… · 1,042")
    assert '"Show all"' in json.dumps(way)


def test_choices_that_do_not_fit_are_counted_on_a_button_of_their_own_before_the_ways_out() -> None:
    export = Button(id=ChoiceId("e"), label="Export all as CSV", count=1042, kind="export")
    anyway = Button(id=ChoiceId("j"), label="Just answer", count=None, kind="anyway")

    message = message_for(a_reply(a_choices(*buttons(60), export, anyway)))

    check(message)
    [row] = [json.loads(json.dumps(block)) for block in message.blocks]
    assert len(row["elements"]) == 25
    assert [element["text"]["text"] for element in row["elements"][-4:]] == [
        "Vendor 22 · 22",
        "38 more choices",
        "Export all as CSV · 1,042",
        "Just answer",
    ]
    assert row["elements"][-3]["value"] == "c1"


@pytest.mark.parametrize("count", [1, 100, 101, 1_000])
def test_the_menu_of_the_others_holds_them_all(count: int) -> None:
    view = more_view(buttons(count), "{}")

    check_view(view)
    [block] = json.loads(json.dumps(view))["blocks"]
    menu = block["element"]
    groups = menu.get("option_groups", [menu])
    values = [option["value"] for group in groups for option in group["options"]]
    assert values == [button.id for button in buttons(count)]


def test_a_menu_that_cannot_hold_all_says_so() -> None:
    view = more_view(buttons(3_000), "{}")

    check_view(view)
    assert "The first 1,000" in json.dumps(view)


def test_a_settled_reply_shows_the_choice_in_place_of_the_buttons() -> None:
    reply = settled(a_reply(Text(markdown="Which?"), a_choices(*buttons(3))), Chosen(label="Vendor 2 · 2", by="Ada"))

    message = message_for(reply)

    assert "clarify:" not in written(message)
    assert "✓ " in written(message)
    assert "— chosen by Ada" in written(message)


def test_long_text_is_shortened_and_says_so_but_keeps_the_buttons() -> None:
    message = message_for(a_reply(Text(markdown="word " * 4_000), a_choices(*buttons(25))))

    check(message)
    assert "Shortened" in written(message)
    assert written(message).count("clarify:") == 25


def test_a_table_too_long_says_how_many_rows_it_leaves_out() -> None:
    rows = tuple((str(n), "x" * 20) for n in range(300))

    message = message_for(a_reply(Table(caption="300 rows", columns=("n", "x"), rows=rows)))

    check(message)
    assert "100 more rows not shown." in written(message)
    assert '"Show all"' in written(message)


def test_what_fits_has_no_way_to_the_whole() -> None:
    assert "Show all" not in written(message_for(a_reply(*PARTS.values())))


def test_the_whole_holds_every_row_and_every_word() -> None:
    rows = tuple((str(n), "\u05d0\u05d1") for n in range(300))
    words = " ".join(f"word{n}" for n in range(4_000))

    whole = whole_text(a_reply(Text(markdown=words), Table(caption="300 rows", columns=("n", "x"), rows=rows)))

    assert words in whole
    assert all(f"{n} | \u05d0\u05d1" in whole.splitlines() for n in range(300))


def test_where_tables_are_not_taken_they_are_text() -> None:
    message = message_for(a_reply(PARTS["table"]), grids=False)

    check(message)
    assert "data_table" not in written(message)
    assert "Acme & Sons | 1,200.00 USD" in written(message)


def test_a_second_table_is_set_as_text() -> None:
    table = Table(caption="t", columns=("a",), rows=(("1",),))

    message = message_for(a_reply(table, table))

    check(message)
    assert "rich_text_preformatted" in written(message)


def test_a_link_that_is_no_web_address_stays_words() -> None:
    source = Source(marker="1", title="T", page=None, url="javascript:alert(1)", quote="")

    assert "javascript" not in written(message_for(a_reply(Text(markdown="x [1]", sources=(source,)))))


def test_a_reply_without_words_still_has_a_text() -> None:
    assert message_for(a_reply()).text == "…"


HOSTILE = st.one_of(
    st.text(max_size=200),
    st.sampled_from(
        ["<!channel>", "<@U1>", "</at>", "@here", "&amp;<", "*b* _i_ `c` ~s~", "<https://evil.example|x>", "",
         "\u202eabc\u200f\u05d0\u05d1", "a\x00\x07\x1b[31mb", "\ud800", "😀" * 50, "x" * 20_000, "<!here|@here>",
         "**_`" * 400, "- a\n- b\n\n\n-", "\\", "\u2028<!everyone>", "e\u0301\u0302\u0303" * 300, "../../a/b\\c.csv",
         "javascript:alert(1)", "\u2066\u05d0\u2069 <#C1|x> <!subteam^S1>", "👩‍👩‍👧‍👦" * 40]
    ),
)  # fmt: skip
MARKDOWN = st.lists(st.one_of(HOSTILE, HOSTILE.map(escaped)), max_size=6).map("\n\n".join)
SOURCES = st.builds(
    Source,
    marker=HOSTILE,
    title=HOSTILE,
    page=st.none() | st.integers(0, 10**6),
    url=st.none() | HOSTILE | st.just("https://example.org/" + "x" * 4_000) | st.just("https://example.org"),
    quote=HOSTILE,
)
BUTTONS = st.builds(
    Button,
    id=st.uuids().map(lambda uuid: ChoiceId(uuid.hex)),
    label=HOSTILE,
    count=st.none() | st.integers(1, 10**9),
    kind=st.just("filter"),
)
TABLES = st.integers(0, 25).flatmap(
    lambda columns: st.builds(
        Table,
        caption=HOSTILE,
        columns=st.tuples(*[HOSTILE] * columns),
        rows=st.lists(st.tuples(*[HOSTILE] * min(columns, 4)), max_size=4).flatmap(
            lambda rows: st.sampled_from([1, 80]).map(lambda times: tuple(rows * times))
        ),
    )
)
ANY_PART: st.SearchStrategy[Part] = st.one_of(
    st.builds(Text, markdown=MARKDOWN, sources=st.lists(SOURCES, max_size=12).map(tuple)),
    TABLES,
    st.builds(
        Choices,
        clarification=st.just(ClarificationId("c")),
        buttons=st.lists(BUTTONS, max_size=60).map(tuple),
        expires=st.just(NOON + timedelta(hours=1)),
    ),
    st.builds(Chosen, label=HOSTILE, by=HOSTILE),
    st.builds(
        File, name=HOSTILE, title=HOSTILE, rows=st.integers(0, 10**7), path=HOSTILE, url=HOSTILE, expires=st.just(NOON)
    ),
    st.builds(Whole, name=HOSTILE, said=st.just(a_reply())),
    st.builds(Progress, text=HOSTILE),
    st.builds(Notice, text=HOSTILE),
    st.builds(Handles, handles=st.lists(st.sampled_from(Handle), max_size=3).map(tuple)),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(ANY_PART, max_size=6))
def test_whatever_a_reply_holds_slack_takes_it_and_nobody_is_mentioned(parts: list[Part]) -> None:
    check(message_for(a_reply(*parts)))


@settings(max_examples=60, deadline=None)
@given(st.lists(ANY_PART, max_size=6))
def test_so_it_is_where_slack_takes_neither_tables_nor_files(parts: list[Part]) -> None:
    linked = frozenset(part.path for part in parts if isinstance(part, File))

    check(message_for(a_reply(*parts), linked, grids=False))


def told(parts: Iterable[Part]) -> Iterator[str]:
    """What a reply may not lose: each line, each cell, each label; of choices behind a button what is cut there too."""
    for part in parts:
        match part:
            case Text(markdown=markdown, sources=sources):
                yield from ("".join(span.text for span in line.spans) for line in lines_of(markdown))
                yield from (source.title for source in sources)
            case Table(caption=caption, columns=columns, rows=rows):
                yield caption
                yield from columns if rows else ()  # titles of nothing are nothing
                yield from (cell for row in rows for cell in row[: len(columns)])
            case Choices():
                shown, behind, ways = parted(part)
                yield from (button.label for button in (*shown, *ways))
                yield from (button.label for button in behind if len(" ".join(button.label.split())) > 75)
            case Notice(text=text):
                yield text
            case Chosen() | File() | Whole() | Progress() | Handles():
                pass


def squeezed(text: str) -> str:
    """Without what has no width: blanks of any kind, and what renderers put into live names."""
    return "".join(cleaned(text).replace("\u200b", "").split())


@settings(max_examples=100, deadline=None)
@given(st.lists(ANY_PART, max_size=4))
def test_whatever_is_left_out_of_a_message_is_in_the_whole_that_it_leads_to(parts: list[Part]) -> None:
    reply = a_reply(*parts)
    shown = [element["text"] for element in objects(message_for(reply).blocks) if isinstance(element.get("text"), str)]
    captions = [str(element["caption"]) for element in objects(message_for(reply).blocks) if "caption" in element]
    seen = squeezed("".join([*shown, *captions]))
    whole = squeezed(whole_text(reply))

    for piece in map(squeezed, told(parts)):
        assert piece in whole
        assert piece in seen or "Showall" in seen


@settings(max_examples=60, deadline=None)
@given(st.lists(ANY_PART, max_size=4))
def test_whatever_a_reply_holds_its_whole_can_be_written(parts: list[Part]) -> None:
    assert whole_text(a_reply(*parts)).encode("utf-8")


@settings(max_examples=60, deadline=None)
@given(st.lists(BUTTONS, min_size=1, max_size=120))
def test_whatever_choices_are_called_their_menu_is_taken(offered: list[Button]) -> None:
    check_view(more_view(offered, "{}"))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.builds(Step, tool=HOSTILE, looked_for=HOSTILE, documents=st.integers(0, 10**9), ms=st.just(1.5))))
def test_whatever_was_looked_for_its_steps_are_taken(steps: list[Step]) -> None:
    view = steps_view(Steps(route="structured", reasoner="rule", ms=12.0, steps=tuple(steps)))

    check_view(view)
    assert live_mentions(view) == []


@settings(max_examples=60, deadline=None)
@given(HOSTILE.filter(lambda text: text.isprintable() and bool(text.strip()) and len(text) < 2_000))
def test_escaped_data_is_shown_as_it_is(data: str) -> None:
    words = " ".join(data.split())

    message = message_for(a_reply(Text(markdown=escaped(data))))

    shown = "".join(element["text"] for element in json.loads(json.dumps(message.blocks))[0]["elements"][0]["elements"])
    assert shown == words


def test_sixty_parts_are_not_too_many() -> None:
    check(message_for(a_reply(*[Text(markdown="x" * 900)] * 30, *[Notice(text="y" * 900)] * 30)))
