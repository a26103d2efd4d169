"""The parser of the small Markdown of replies."""

from hypothesis import given
from hypothesis import strategies as st

from bot.surface.markdown import (
    BulletList,
    CitationMarker,
    MarkdownRun,
    ParagraphBlock,
    parse_blocks,
    parse_line,
    strip_markup,
)
from bot.surface.replies import escape_markdown


def test_paragraphs_keep_their_lines_and_lists_their_items() -> None:
    assert parse_blocks("One\ntwo\n\nthree\n- a\n- b") == (
        ParagraphBlock(((MarkdownRun(text="One"),), (MarkdownRun(text="two"),))),
        ParagraphBlock(((MarkdownRun(text="three"),),)),
        BulletList(((MarkdownRun(text="a"),), (MarkdownRun(text="b"),))),
    )


def test_styles_and_markers_are_recognised() -> None:
    assert parse_line("**1,042** _of_ `x*y` [1]") == (
        MarkdownRun(text="1,042", bold=True),
        MarkdownRun(text=" "),
        MarkdownRun(text="of", italic=True),
        MarkdownRun(text=" "),
        MarkdownRun(text="x*y", code=True),
        MarkdownRun(text=" "),
        CitationMarker("1"),
    )


def test_a_delimiter_without_its_partner_is_text() -> None:
    assert parse_line("2 ** 3") == (MarkdownRun(text="2 ** 3"),)


def test_an_underscore_within_a_word_is_a_letter() -> None:
    assert parse_line("max_power_w") == (MarkdownRun(text="max_power_w"),)


@given(st.text(alphabet=st.characters(exclude_characters="\u00a0\u202f")))
def test_escaped_data_is_shown_unchanged(text: str) -> None:
    escaped = escape_markdown(text)

    assert parse_line(escaped) == ((MarkdownRun(text=" ".join(text.split())),) if text.split() else ())


def test_a_number_and_its_unit_stay_on_one_line() -> None:
    assert escape_markdown("1\u202f234,50\u00a0€ \n ab") == "1\u202f234,50\u00a0€ ab"


@given(st.text(alphabet=st.sampled_from("ab*_`[]1\\- \n")))
def test_any_input_can_be_parsed(text: str) -> None:
    strip_markup(text)
