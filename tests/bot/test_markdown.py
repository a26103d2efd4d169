"""The reading of the small Markdown of replies."""

from hypothesis import given
from hypothesis import strategies as st

from bot.markdown import Bullets, Marker, Paragraph, Run, blocks, line_of, plain
from bot.replies import escaped


def test_paragraphs_keep_their_lines_and_lists_their_items() -> None:
    assert blocks("One\ntwo\n\nthree\n- a\n- b") == (
        Paragraph(((Run(text="One"),), (Run(text="two"),))),
        Paragraph(((Run(text="three"),),)),
        Bullets(((Run(text="a"),), (Run(text="b"),))),
    )


def test_styles_and_markers_are_told_apart() -> None:
    assert line_of("**1,042** _of_ `x*y` [1]") == (
        Run(text="1,042", bold=True),
        Run(text=" "),
        Run(text="of", italic=True),
        Run(text=" "),
        Run(text="x*y", code=True),
        Run(text=" "),
        Marker("1"),
    )


def test_a_delimiter_without_its_partner_is_text() -> None:
    assert line_of("2 ** 3") == (Run(text="2 ** 3"),)


def test_an_underscore_within_a_word_is_a_letter() -> None:
    assert line_of("max_power_w") == (Run(text="max_power_w"),)


@given(st.text())
def test_escaped_data_is_shown_as_it_is(text: str) -> None:
    data = escaped(text)

    assert line_of(data) == ((Run(text=" ".join(text.split())),) if text.split() else ())


@given(st.text(alphabet=st.sampled_from("ab*_`[]1\\- \n")))
def test_no_input_is_refused(text: str) -> None:
    plain(text)
