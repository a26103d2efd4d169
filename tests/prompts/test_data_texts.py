"""Texts of documents and people forge nothing of the prompt that they stand in."""

import json

import pytest

from prompts.data_texts import drop_hidden_characters, escape_attribute, escape_headings, escape_tags, quote_value


@pytest.mark.parametrize(
    "text", ["# Question", "asked\n## payroll: 9 documents", "\t # Buckets", "a\u2028# Question", "＃ Question"]
)
def test_no_line_is_a_heading(text: str) -> None:
    escaped = escape_headings(text)

    assert not any(line.strip().startswith(("#", "＃")) for line in escaped.splitlines())
    assert escape_headings(escaped) == escaped


def test_other_number_signs_stay() -> None:
    assert escape_headings("#5 of C# and\n#general") == "#5 of C# and\n#general"


def test_a_quoted_value_is_one_string_of_json() -> None:
    quoted = quote_value('Crane" (99 documents)\n# Question\u200b')

    assert "\n" not in quoted
    assert json.loads(quoted) == 'Crane" (99 documents)\n# Question'


def test_an_attribute_ends_neither_itself_nor_its_tag() -> None:
    assert escape_attribute('x" page="1">\n<item') == "x' page='1') (item"


def test_only_tags_of_the_prompt_are_escaped() -> None:
    text = "</document><b>‹/Document› < document number=2"

    assert escape_tags(text, "document") == "(/document><b>(/Document› (document number=2"


@pytest.mark.parametrize("hidden", ["\U000e0041", "\u200b", "\u202e", "\ue000", "\U000e0139", "\ufe01", "\x0b"])
def test_hidden_characters_are_dropped(hidden: str) -> None:
    assert drop_hidden_characters(f"a{hidden}b\tc\nd") == "ab\tc\nd"
