"""Renders replies as Teams messages: examples, and properties of every reply."""

import html
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.teams.payloads.json_values import JsonObject
from adapters.teams.posting.cards import (
    MAX_ACTIONS,
    layout_choices,
    more_choices_card_for,
    show_on_one_line,
    steps_card_for,
)
from adapters.teams.posting.markdown import escape_line, teams_lines_of
from adapters.teams.posting.render import (
    MessagePlace,
    full_text_messages_for,
    full_text_of,
    progress_text_of,
    teams_message_for,
    with_choices_settled,
    written_text_of,
)
from bot.ids import ChoiceId, ClarificationId
from bot.surface.markdown import strip_control_characters, strip_markup
from bot.surface.replies import (
    ChoiceButton,
    ChoicesPart,
    ChosenPart,
    FilePart,
    FullTextPart,
    NoticePart,
    PicturePart,
    ProgressPart,
    Reply,
    ReplyPart,
    ShownCitation,
    TablePart,
    TextPart,
    TurnActionsPart,
    escape_markdown,
)
from bot.turns.turn_actions import SearchStep, TurnSteps
from tests.adapters.reply_strategies import ANY_PART, BUTTONS, HOSTILE
from tests.adapters.slack.gallery import EVERY_CHOICE, PARTS, choices_part_of, numbered_buttons, reply_with_parts
from tests.adapters.teams.gallery import LONG_TABLE, MANY_SOURCES, PERSONAL, SHARED, linked_place, message_of
from tests.stand_ins.teams.activity_checker import check_activity
from tests.stand_ins.teams.json_parts import objects_in, texts_in

LONGEST_MESSAGE_BYTES = 80 * 1024  # in UTF-16, as Microsoft advises
LONGEST_CARD_BYTES = 28 * 1024
# A link of Markdown whose brackets are not escaped, an address that Teams would turn into a link, a mention.
MARKDOWN_LINK = re.compile(r"(?<!\\)\]\((?P<address>[^)]*)\)")
BARE_ADDRESS = re.compile(r"[a-z]://|\bwww\.|\bmailto:\w|\btel:\w", re.IGNORECASE)
PLACES = st.sampled_from([PERSONAL, SHARED])


def as_payload(message: JsonObject) -> dict[str, Any]:
    return json.loads(json.dumps(message))


def cards_in(message: JsonObject) -> list[dict[str, Any]]:
    return [attachment["content"] for attachment in as_payload(message).get("attachments", [])]


def actions_in(message: JsonObject) -> list[dict[str, Any]]:
    parts = [part for card in cards_in(message) for part in objects_in(card)]
    return [part for part in parts if str(part.get("type", "")).startswith("Action.")]


def titles_in(message: JsonObject) -> list[str]:
    return [action["title"] for action in actions_in(message)]


def visible_text_of(message: JsonObject) -> str:
    return "\n".join([str(message.get("text", "")), *(text for card in cards_in(message) for text in texts_in(card))])


def check_rendered_message(message: JsonObject, *, is_personal: bool = True) -> None:
    """The message is one that Teams takes, within the advised sizes, and without live mentions and foreign links."""
    payload = as_payload(message)
    check_activity(payload, is_personal=is_personal, supports_files=True)
    assert len(json.dumps(payload, ensure_ascii=False).encode("utf-16-le")) <= LONGEST_MESSAGE_BYTES
    for card in cards_in(message):
        assert len(json.dumps(card, ensure_ascii=False).encode("utf-8")) <= LONGEST_CARD_BYTES
        actions = [part for part in objects_in(card) if str(part.get("type", "")).startswith("Action.")]
        assert len(actions) <= MAX_ACTIONS
    check_text(str(message.get("text", "")))


def check_text(text: str) -> None:
    assert "<" not in text
    assert ">" not in text
    assert all(re.fullmatch(r"https?://[!-~]+", found["address"]) for found in MARKDOWN_LINK.finditer(text))
    assert BARE_ADDRESS.search(MARKDOWN_LINK.sub("]", text)) is None


# Text and citations


def test_citations_stand_behind_their_markers() -> None:
    message = as_payload(message_of(PARTS["text"]))

    [entity] = message["entities"]
    assert entity["additionalType"] == ["AIGeneratedContent"]
    assert entity["citation"][0] == {
        "@type": "Claim",
        "position": 1,
        "appearance": {
            "@type": "DigitalDocument",
            "name": "Receipt <7> & more, page 3",
            "abstract": "tires",
            "url": "https://example.org/r/7",
        },
    }
    assert "[1]" in message["text"]


def test_sources_past_the_twentieth_are_lines_of_the_text() -> None:
    message = as_payload(message_of(MANY_SOURCES))

    check_rendered_message(message)
    assert [claim["position"] for claim in message["entities"][0]["citation"]] == list(range(1, 21))
    assert all(len(claim["appearance"]["name"]) <= 80 for claim in message["entities"][0]["citation"])
    assert all(claim["appearance"]["name"].endswith(f"page {claim['position']}")
               for claim in message["entities"][0]["citation"])  # fmt: skip
    assert re.findall(r"^\[(\d+)\] \[Report", message["text"], re.MULTILINE) == ["21", "22", "23"]


def test_a_link_to_another_scheme_than_http_is_no_link() -> None:
    source = ShownCitation(marker="1", title="T", page=None, url="javascript:alert(1)", quote="")

    assert "javascript" not in json.dumps(message_of(TextPart(markdown="x [1]", sources=(source,))))


def test_two_sources_of_one_number_are_both_shown() -> None:
    first = ShownCitation(marker="1", title="First", page=None, url=None, quote="")
    second = replace(first, title="Second")

    message = message_of(TextPart(markdown="x [1]", sources=(first,)), TextPart(markdown="y [1]", sources=(second,)))

    check_rendered_message(message)
    assert "[1] Second" in str(message["text"])


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("<at>Bob</at>", "&lt;at&gt;Bob&lt;/at&gt;"),
        ("<!channel>", "&lt;!channel&gt;"),
        ("[pay](https://evil.example)", "\\[\u200bpay\\](https:\u200b//evil.example)"),
        ("see https://evil.example", "see https:\u200b//evil.example"),
        ("see WWW.evil.example", "see WWW\u200b.evil.example"),
        ("as stated [7]", "as stated \\[\u200b7\\]"),
        ("**b** _i_ `c` ~s~", "\\*\\*b\\*\\* \\_i\\_ \\`c\\` \\~s\\~"),
        ("# heading", "\\# heading"),
        ("1. first", "1\\. first"),
        ("- item", "\\- item"),
        ("===", "\\==="),
        ("a & b", "a &amp; b"),
        ("-5 °C. 2024. B-120 #7", "-5 °C. 2024. B-120 #7"),
        ("a\x00\x1b[31mb\u202ec", "a\\[31mbc"),
    ],
)
def test_data_is_escaped(data: str, text: str) -> None:
    assert message_of(NoticePart(text=data))["text"] == text
    check_text(text)


def test_the_markdown_of_replies_becomes_that_of_teams() -> None:
    markdown = "**Bold _both_** and `code`.\nSecond line.\n\n- one\n- two \\*x\\*\n\nEnd `a<b`"

    assert teams_lines_of(markdown) == [
        "**Bold** **_both_** and `code`.  ",
        "Second line.",
        "",
        "- one",
        "- two \\*x\\*",
        "",
        "End a&lt;b",
    ]


def test_a_marker_before_a_bracket_is_no_link() -> None:
    text = str(message_of(TextPart(markdown="x [1]" + escape_markdown("(https://evil.example)")))["text"])

    assert MARKDOWN_LINK.search(text) is None


def test_a_long_text_is_shortened_with_a_note_and_a_button() -> None:
    message = message_of(TextPart(markdown="word " * 10_000), choices_part_of(*numbered_buttons(6)))

    check_rendered_message(message)
    assert str(message["text"]).count("Shortened") == 1
    assert len(str(message["text"])) > 5_000
    assert titles_in(message)[-1] == "Show all"
    assert actions_in(message)[-1]["data"] == {"parley": "full", "turn": "t1"}
    assert len(titles_in(message)) == 7


def test_a_message_that_fits_has_no_show_all_button() -> None:
    assert "Show all" not in titles_in(message_of(*PARTS.values()))


def test_a_reply_is_marked_as_made_by_ai_only_where_it_is_an_answer() -> None:
    assert "entities" in message_of(TextPart(markdown="42"))
    assert "entities" in message_of(PARTS["table"])
    assert "entities" not in message_of(PARTS["notice"])
    assert "entities" not in message_of(TextPart(markdown="So far"), PARTS["progress"])


def test_feedback_is_asked_for_where_the_reply_says_so() -> None:
    assert message_of(TextPart(markdown="42"), PARTS["about"])["channelData"] == {"feedbackLoop": {"type": "default"}}
    assert "channelData" not in message_of(TextPart(markdown="42"), PARTS["stop"])


def test_an_empty_reply_still_has_a_text() -> None:
    assert message_of()["text"] == "…"


# Tables


def test_a_table_has_a_fallback_as_text() -> None:
    [card] = cards_in(message_of(PARTS["table"]))

    [table] = [part for part in card["body"] if part["type"] == "Table"]
    assert "Acme & Sons | 1,200.00 USD" in json.dumps(table["fallback"])
    assert "Acme & Sons | 1,200.00 USD" in card["fallbackText"]
    assert card["version"] == "1.5"


def test_a_long_table_says_how_many_rows_it_omits() -> None:
    message = message_of(LONG_TABLE)

    check_rendered_message(message)
    [table] = [part for card in cards_in(message) for part in objects_in(card) if part.get("type") == "Table"]
    shown = len(table["rows"]) - 1
    assert shown >= 50
    assert f"{300 - shown} more rows not shown." in visible_text_of(message)
    assert "Show all" in titles_in(message)


def test_a_wide_table_says_how_many_columns_it_omits() -> None:
    columns = tuple(f"c{n}" for n in range(15))

    message = message_of(TablePart(caption="wide", columns=columns, rows=(columns,)))

    check_rendered_message(message)
    assert "3 more columns not shown." in visible_text_of(message)


def test_empty_cells_are_dashes() -> None:
    assert visible_text_of(message_of(TablePart(caption="t", columns=("a", "b"), rows=(("", "x"),)))).count("–") == 1


def test_a_text_leaves_room_for_its_table() -> None:
    message = message_of(TextPart(markdown="word " * 10_000), LONG_TABLE)

    check_rendered_message(message)
    assert sum(part.get("type") == "TableRow" for card in cards_in(message) for part in objects_in(card)) > 10


# Choices


def test_a_button_carries_its_opaque_id_and_shows_its_count() -> None:
    assert actions_in(message_of(choices_part_of(*numbered_buttons(2))))[1] == {
        "type": "Action.Submit",
        "title": "Vendor 2 · 2",
        "associatedInputs": "none",
        "data": {"parley": "choice", "id": "id2"},
    }


def test_more_than_six_choices_share_six_actions_with_a_menu() -> None:
    message = message_of(EVERY_CHOICE)

    check_rendered_message(message)
    assert titles_in(message) == [
        "Acme · 512",
        "any category · 1,042",
        "Choose",
        "Export all as CSV · 1,042",
        "Search the web",
        "Just answer",
    ]
    assert actions_in(message)[2]["data"] == {"parley": "pick"}
    [menu] = [part for card in cards_in(message) for part in objects_in(card) if part.get("type") == "Input.ChoiceSet"]
    assert menu["id"] == "choice"
    assert len(menu["choices"]) + 5 == len(EVERY_CHOICE.buttons)


def test_choices_beyond_the_menu_are_counted_on_an_opener() -> None:
    message = message_of(choices_part_of(*numbered_buttons(500)))

    check_rendered_message(message)
    assert titles_in(message)[-1] == "436 more choices"
    assert actions_in(message)[-1]["data"] == {"parley": "more", "clarification": "c1"}


@pytest.mark.parametrize("count", range(1, 30))
def test_every_choice_can_be_reached(count: int) -> None:
    choices = choices_part_of(*numbered_buttons(count), *EVERY_CHOICE.buttons[-3:])
    layout = layout_choices(choices)

    reachable = [*layout.buttons, *layout.menu, *layout.hidden, *layout.actions]
    assert sorted(button.id for button in reachable) == sorted(button.id for button in choices.buttons)


def test_a_long_label_is_shortened_and_its_count_is_not() -> None:
    button = ChoiceButton(id=ChoiceId("x"), label="Vendor " * 30, count=1042, kind="filter")

    message = message_of(choices_part_of(button))

    assert titles_in(message)[0].endswith("… · 1,042")
    assert len(titles_in(message)[0]) <= 75
    assert "Show all" in titles_in(message)


def test_a_settled_reply_shows_the_choice_and_by_whom_instead_of_the_buttons() -> None:
    reply = with_choices_settled(
        reply_with_parts(TextPart(markdown="Which?"), choices_part_of(*numbered_buttons(3))),
        ChosenPart(label="Vendor 2 · 2", by="Ada <at>all</at>"),
    )

    message = teams_message_for(reply, SHARED)

    assert cards_in(message) == []
    assert message["text"] == "Which?\n\n✓ **Vendor 2 · 2** — chosen by Ada &lt;at&gt;all&lt;/at&gt;"


# Files and the whole text


def test_a_file_is_a_link_outside_personal_chats_and_where_it_could_not_be_offered() -> None:
    reply = reply_with_parts(TextPart(markdown="Here is **receipts.csv**."), PARTS["file"])

    for place in (SHARED, linked_place(reply)):
        [action] = actions_in(teams_message_for(reply, place))
        assert (action["type"], action["url"]) == ("Action.OpenUrl", "https://example.org/download/x")
    assert actions_in(teams_message_for(reply, PERSONAL)) == []


def test_the_full_text_holds_every_row_and_every_word() -> None:
    long_text = " ".join(f"word{n}" for n in range(4_000))

    full_text = full_text_of(reply_with_parts(TextPart(markdown=long_text), LONG_TABLE))

    assert long_text in full_text
    assert all(f"Receipt {n} | {n}.00" in full_text.splitlines() for n in range(1, 301))


def test_a_full_text_without_a_file_is_split_into_messages() -> None:
    words = [f"word{n}" for n in range(20_000)]

    messages = full_text_messages_for("\n".join([" ".join(words), "<at>x</at>"]))

    assert len(messages) > 3
    for message in messages:
        check_rendered_message(message)
    assert "".join(str(message["text"]) for message in messages).count("word") == 20_000


def test_what_is_written_so_far_grows_by_its_end() -> None:
    texts = ["There are **42**", "There are **42** receipts [1].\nOf", "There are **42** receipts [1].\nOf 7.\n\n- a"]
    written = [written_text_of(reply_with_parts(TextPart(markdown=text), PARTS["progress"])) for text in texts]

    assert written[1].startswith(written[0])
    assert written[2].startswith(written[1])


def test_progress_is_plain_text_for_a_stream() -> None:
    progress = reply_with_parts(ProgressPart(text="Reading\n<at>a</at> …"))

    assert progress_text_of(progress) == "Reading <\u200bat>a<\u200b/at> …"


# Every reply


@settings(max_examples=150, deadline=None)
@given(st.lists(ANY_PART, max_size=6), PLACES)
def test_every_reply_is_valid_for_teams(parts: list[ReplyPart], place: MessagePlace) -> None:
    check_rendered_message(teams_message_for(reply_with_parts(*parts), place))


@settings(max_examples=60, deadline=None)
@given(st.lists(ANY_PART, max_size=4))
def test_every_full_text_is_valid_for_teams(parts: list[ReplyPart]) -> None:
    for message in full_text_messages_for(full_text_of(reply_with_parts(*parts))):
        check_rendered_message(message)


def shown_characters_of(text: str) -> str:
    """The characters that a person sees, without white space and what renderers insert."""
    without_escapes = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", html.unescape(text))
    return "".join(strip_control_characters(without_escapes).replace("\u200b", "").split())


def plain_characters_of(text: str) -> str:
    return "".join(strip_control_characters(text).replace("\u200b", "").split())


def required_texts_of(parts: Iterable[ReplyPart]) -> Iterator[str]:
    """Yields the texts that a reply may not lose: lines, cells and labels, as plain text."""
    for part in parts:
        match part:
            case TextPart(markdown=markdown, sources=sources):
                yield from strip_markup(strip_control_characters(markdown)).splitlines()
                yield from (source.title for source in sources)
            case TablePart(caption=caption, columns=columns, rows=rows):
                yield caption
                yield from columns if rows else ()
                yield from (cell for row in rows for cell in row[: len(columns)])
            case ChoicesPart():
                yield from (button.label for button in part.buttons)
            case NoticePart(text=text):
                yield text
            case PicturePart() | ChosenPart() | FilePart() | FullTextPart() | ProgressPart() | TurnActionsPart():
                pass  # a table of the reply holds what a picture shows


@settings(max_examples=100, deadline=None)
@given(st.lists(ANY_PART, max_size=4))
def test_every_text_of_a_reply_is_in_its_full_text(parts: list[ReplyPart]) -> None:
    full_text = plain_characters_of(full_text_of(reply_with_parts(*parts)))

    for text in map(plain_characters_of, required_texts_of(parts)):
        assert text in full_text


@settings(max_examples=100, deadline=None)
@given(st.lists(ANY_PART.filter(lambda part: not isinstance(part, TextPart)), max_size=4))
def test_every_text_omitted_from_a_message_is_handed_over(parts: list[ReplyPart]) -> None:
    message = teams_message_for(reply_with_parts(*parts), PERSONAL)
    visible = plain_characters_of(visible_text_of(message)) + shown_characters_of(str(message["text"]))
    hidden = {
        plain_characters_of(button.label)
        for part in parts
        if isinstance(part, ChoicesPart)
        for button in layout_choices(part).hidden  # behind the opener
    }

    for text in map(plain_characters_of, required_texts_of(parts)):
        assert text in visible or text in hidden or "Show all" in titles_in(message)


@settings(max_examples=100, deadline=None)
@given(HOSTILE.filter(lambda text: text.isprintable() and bool(text.strip()) and len(text) < 2_000))
def test_escaped_data_is_shown_verbatim(data: str) -> None:
    message = message_of(TextPart(markdown=escape_markdown(data)))

    assert shown_characters_of(str(message["text"])) == plain_characters_of(data)


@settings(max_examples=60, deadline=None)
@given(HOSTILE)
def test_an_escaped_line_begins_no_block(data: str) -> None:
    assert re.match(r"(?:#{1,6}|[+*-]|\d+[.)])(?:\s|$)|[=-]+\s*$|>|~~~|```", escape_line(data)) is None


@settings(max_examples=60, deadline=None)
@given(st.lists(BUTTONS, min_size=1, max_size=120))
def test_every_card_of_further_choices_is_valid(offered: list[ChoiceButton]) -> None:
    check_rendered_message(message_with_card_of(more_choices_card_for(offered, ClarificationId("c1"))))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.builds(SearchStep, tool=HOSTILE, criteria=HOSTILE, documents=st.integers(0, 10**9), elapsed_ms=st.just(1.5)),
        max_size=60,
    ),
    st.lists(HOSTILE, max_size=60),
)
def test_every_card_of_steps_is_valid(steps: list[SearchStep], lines: list[str]) -> None:
    turn_steps = TurnSteps(
        route="structured", reasoner="rule", elapsed_ms=12.0, steps=tuple(steps), reasoning_lines=tuple(lines)
    )

    check_rendered_message(message_with_card_of(steps_card_for(turn_steps)))


def message_with_card_of(card: JsonObject) -> JsonObject:
    return {
        "type": "message",
        "attachments": [{"contentType": "application/vnd.microsoft.card.adaptive", "content": card}],
    }


def test_a_date_macro_in_data_is_shown_as_text() -> None:
    assert show_on_one_line("{{DATE(2031-01-01T00:00:00Z)}}") == "{\u200b{DATE(2031-01-01T00:00:00Z)}}"


@pytest.mark.parametrize("place", [PERSONAL, SHARED], ids=["personal", "shared"])
def test_the_hostile_giant_still_fits(place: MessagePlace) -> None:
    giant = '"\\' * 10_000
    table = TablePart(caption=giant, columns=(giant,) * 20, rows=((giant,) * 20,) * 300)
    sources = tuple(
        ShownCitation(marker=str(n), title=giant, page=n, url=f"https://example.org/{'x' * 900}", quote=giant)
        for n in range(1, 60)
    )
    buttons = tuple(
        ChoiceButton(id=ChoiceId(f"{n:032x}"), label=giant, count=10**9, kind="filter") for n in range(1, 100)
    )
    text = TextPart(markdown=" ".join(f"[{n}]" for n in range(1, 60)) + "\n" + giant, sources=sources)
    reply = Reply(turn=reply_with_parts().turn, parts=(text, table, choices_part_of(*buttons), PARTS["file"]))

    check_rendered_message(teams_message_for(reply, place))
