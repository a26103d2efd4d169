"""Renders replies as Slack messages: examples, and properties of every reply. `test_golden.py` has the full JSON."""

import json
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.slack.actions.overflow_menu import more_choices_view
from adapters.slack.actions.steps import turn_steps_view
from adapters.slack.posting.render import (
    RenderedMessage,
    full_text_of,
    slack_message_for,
    split_choices_to_fit,
    with_choices_settled,
)
from adapters.slack.posting.styled_lines import styled_lines_of
from bot.ids import ChoiceId
from bot.surface.markdown import strip_control_characters
from bot.surface.replies import (
    ChoiceButton,
    ChoicesPart,
    ChosenPart,
    FilePart,
    FullTextPart,
    NoticePart,
    PicturePart,
    ProgressPart,
    ReplyPart,
    ShownCitation,
    TablePart,
    TextPart,
    TurnActionsPart,
    escape_markdown,
)
from bot.turns.turn_actions import SearchStep, TurnSteps
from tests.adapters.reply_strategies import ANY_PART, BUTTONS, HOSTILE
from tests.adapters.slack.gallery import PARTS, choices_part_of, numbered_buttons, reply_with_parts
from tests.stand_ins.slack.checker import check_message, check_view, live_mentions, utf16_length
from tests.stand_ins.slack.refusing import objects_in


def message_as_json(message: RenderedMessage) -> str:
    return json.dumps({"text": message.text, "blocks": message.blocks}, indent=2, ensure_ascii=False) + "\n"


def test_a_file_that_could_not_be_uploaded_is_a_link() -> None:
    message = slack_message_for(reply_with_parts(PARTS["file"]), frozenset({"/nowhere/receipts.csv"}))

    check_rendered_message(message)
    assert "https://example.org/download/x" in message_as_json(message)
    assert "12:00 UTC" in message_as_json(message)


def test_a_file_that_the_text_mentions_is_not_named_twice() -> None:
    reply = reply_with_parts(TextPart(markdown="Here is **receipts.csv** with 1,042 rows."), PARTS["file"])

    assert message_as_json(slack_message_for(reply)).count("1,042") == 2  # in the block and in the fallback text
    assert "Download" in message_as_json(slack_message_for(reply, frozenset({"/nowhere/receipts.csv"})))


def check_rendered_message(message: RenderedMessage) -> None:
    payload = {"text": message.text, "blocks": message.blocks}
    check_message(payload)
    assert live_mentions(payload) == []
    json.dumps(payload, ensure_ascii=False).encode("utf-8")


def test_a_button_carries_its_opaque_id_and_its_count() -> None:
    [block] = slack_message_for(reply_with_parts(choices_part_of(*numbered_buttons(2)))).blocks
    assert json.loads(json.dumps(block))["elements"][1] == {
        "type": "button",
        "action_id": "clarify:2",
        "text": {"type": "plain_text", "text": "Vendor 2 · 2", "emoji": False},
        "value": "id2",
    }


def test_a_long_label_is_shortened_and_its_count_is_not() -> None:
    button = ChoiceButton(id=ChoiceId("x"), label="Vendor " * 30, count=1042, kind="filter")

    [row, actions] = slack_message_for(reply_with_parts(choices_part_of(button))).blocks
    text = json.loads(json.dumps(row))["elements"][0]["text"]["text"]

    assert utf16_length(text) <= 75
    assert text.endswith("… · 1,042")
    assert '"Show all"' in json.dumps(actions)


def test_choices_that_do_not_fit_are_counted_on_a_button_before_the_actions() -> None:
    export = ChoiceButton(id=ChoiceId("e"), label="Export all as CSV", count=1042, kind="export")
    anyway = ChoiceButton(id=ChoiceId("j"), label="Just answer", count=None, kind="anyway")

    message = slack_message_for(reply_with_parts(choices_part_of(*numbered_buttons(60), export, anyway)))

    check_rendered_message(message)
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
def test_the_menu_holds_all_remaining_choices(count: int) -> None:
    view = more_choices_view(numbered_buttons(count), "{}")

    check_view(view)
    [block] = json.loads(json.dumps(view))["blocks"]
    menu = block["element"]
    groups = menu.get("option_groups", [menu])
    values = [option["value"] for group in groups for option in group["options"]]
    assert values == [button.id for button in numbered_buttons(count)]


def test_a_menu_with_too_many_choices_says_so() -> None:
    view = more_choices_view(numbered_buttons(3_000), "{}")

    check_view(view)
    assert "The first 1,000" in json.dumps(view)


def test_a_settled_reply_shows_the_choice_instead_of_the_buttons() -> None:
    reply = with_choices_settled(
        reply_with_parts(TextPart(markdown="Which?"), choices_part_of(*numbered_buttons(3))),
        ChosenPart(label="Vendor 2 · 2", by="Ada"),
    )

    message = slack_message_for(reply)

    assert "clarify:" not in message_as_json(message)
    assert "✓ " in message_as_json(message)
    assert "— chosen by Ada" in message_as_json(message)


def test_a_long_text_is_shortened_with_a_note_and_keeps_the_buttons() -> None:
    message = slack_message_for(
        reply_with_parts(TextPart(markdown="word " * 4_000), choices_part_of(*numbered_buttons(25)))
    )

    check_rendered_message(message)
    assert "Shortened" in message_as_json(message)
    assert message_as_json(message).count("clarify:") == 25


def test_a_long_table_says_how_many_rows_it_omits() -> None:
    rows = tuple((str(n), "x" * 20) for n in range(300))

    message = slack_message_for(reply_with_parts(TablePart(caption="300 rows", columns=("n", "x"), rows=rows)))

    check_rendered_message(message)
    assert "100 more rows not shown." in message_as_json(message)
    assert '"Show all"' in message_as_json(message)


def test_a_message_that_fits_has_no_show_all_button() -> None:
    assert "Show all" not in message_as_json(slack_message_for(reply_with_parts(*PARTS.values())))


def test_the_full_text_holds_every_row_and_every_word() -> None:
    rows = tuple((str(n), "\u05d0\u05d1") for n in range(300))
    long_text = " ".join(f"word{n}" for n in range(4_000))

    full_text = full_text_of(
        reply_with_parts(TextPart(markdown=long_text), TablePart(caption="300 rows", columns=("n", "x"), rows=rows))
    )

    assert long_text in full_text
    assert all(f"{n} | \u05d0\u05d1" in full_text.splitlines() for n in range(300))


def test_without_data_tables_a_table_is_text() -> None:
    message = slack_message_for(reply_with_parts(PARTS["table"]), allow_data_tables=False)

    check_rendered_message(message)
    assert "data_table" not in message_as_json(message)
    assert "Acme & Sons | 1,200.00 USD" in message_as_json(message)


def test_a_second_table_is_text() -> None:
    table = TablePart(caption="t", columns=("a",), rows=(("1",),))

    message = slack_message_for(reply_with_parts(table, table))

    check_rendered_message(message)
    assert "rich_text_preformatted" in message_as_json(message)


def test_a_link_to_another_scheme_than_http_is_plain_text() -> None:
    source = ShownCitation(marker="1", title="T", page=None, url="javascript:alert(1)", quote="")

    assert "javascript" not in message_as_json(
        slack_message_for(reply_with_parts(TextPart(markdown="x [1]", sources=(source,))))
    )


def test_an_empty_reply_still_has_a_fallback_text() -> None:
    assert slack_message_for(reply_with_parts()).text == "…"


@settings(max_examples=150, deadline=None)
@given(st.lists(ANY_PART, max_size=6))
def test_every_reply_is_valid_for_slack_and_mentions_nobody(parts: list[ReplyPart]) -> None:
    check_rendered_message(slack_message_for(reply_with_parts(*parts)))


@settings(max_examples=60, deadline=None)
@given(st.lists(ANY_PART, max_size=6))
def test_every_reply_is_valid_without_tables_and_files(parts: list[ReplyPart]) -> None:
    linked = frozenset(part.path for part in parts if isinstance(part, FilePart))

    check_rendered_message(slack_message_for(reply_with_parts(*parts), linked, allow_data_tables=False))


def required_texts_of(parts: Iterable[ReplyPart]) -> Iterator[str]:
    """Yield the texts that a reply may not lose: lines, cells and labels.

    A choice behind the "more choices" button counts only if its label is shortened there.
    """
    for part in parts:
        match part:
            case TextPart(markdown=markdown, sources=sources):
                yield from ("".join(span.text for span in line.spans) for line in styled_lines_of(markdown))
                yield from (source.title for source in sources)
            case TablePart(caption=caption, columns=columns, rows=rows):
                yield caption
                yield from columns if rows else ()  # the titles of an empty table may be dropped
                yield from (cell for row in rows for cell in row[: len(columns)])
            case ChoicesPart():
                shown_buttons, hidden_buttons, actions = split_choices_to_fit(part)
                yield from (button.label for button in (*shown_buttons, *actions))
                yield from (button.label for button in hidden_buttons if len(" ".join(button.label.split())) > 75)
            case NoticePart(text=text):
                yield text
            case PicturePart() | ChosenPart() | FilePart() | FullTextPart() | ProgressPart() | TurnActionsPart():
                pass  # a table of the reply holds what a picture shows


def without_whitespace(text: str) -> str:
    """Remove all whitespace and the zero-width spaces that renderers insert."""
    return "".join(strip_control_characters(text).replace("\u200b", "").split())


@settings(max_examples=100, deadline=None)
@given(st.lists(ANY_PART, max_size=4))
def test_every_text_omitted_from_a_message_is_in_its_full_text(parts: list[ReplyPart]) -> None:
    reply = reply_with_parts(*parts)
    shown_texts = [
        element["text"]
        for element in objects_in(slack_message_for(reply).blocks)
        if isinstance(element.get("text"), str)
    ]
    captions = [
        str(element["caption"]) for element in objects_in(slack_message_for(reply).blocks) if "caption" in element
    ]
    visible = without_whitespace("".join([*shown_texts, *captions]))
    full_text = without_whitespace(full_text_of(reply))

    for text in map(without_whitespace, required_texts_of(parts)):
        assert text in full_text
        assert text in visible or "Showall" in visible


@settings(max_examples=60, deadline=None)
@given(st.lists(ANY_PART, max_size=4))
def test_every_full_text_can_be_encoded(parts: list[ReplyPart]) -> None:
    assert full_text_of(reply_with_parts(*parts)).encode("utf-8")


@settings(max_examples=60, deadline=None)
@given(st.lists(BUTTONS, min_size=1, max_size=120))
def test_every_menu_of_choices_is_valid_for_slack(offered: list[ChoiceButton]) -> None:
    check_view(more_choices_view(offered, "{}"))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.builds(SearchStep, tool=HOSTILE, criteria=HOSTILE, documents=st.integers(0, 10**9), elapsed_ms=st.just(1.5))
    ),
    st.lists(HOSTILE),
)
def test_every_view_of_steps_is_valid_for_slack(steps: list[SearchStep], lines: list[str]) -> None:
    turn_steps = TurnSteps(
        route="structured", reasoner="rule", elapsed_ms=12.0, steps=tuple(steps), reasoning_lines=tuple(lines)
    )
    view = turn_steps_view(turn_steps)

    check_view(view)
    assert live_mentions(view) == []


@settings(max_examples=60, deadline=None)
@given(HOSTILE.filter(lambda text: text.isprintable() and bool(text.strip()) and len(text) < 2_000))
def test_escaped_data_is_shown_verbatim(data: str) -> None:
    expected = " ".join(data.split())

    message = slack_message_for(reply_with_parts(TextPart(markdown=escape_markdown(data))))

    shown_text = "".join(
        element["text"] for element in json.loads(json.dumps(message.blocks))[0]["elements"][0]["elements"]
    )
    assert shown_text == expected


def test_sixty_parts_fit_in_a_message() -> None:
    check_rendered_message(
        slack_message_for(reply_with_parts(*[TextPart(markdown="x" * 900)] * 30, *[NoticePart(text="y" * 900)] * 30))
    )
