"""Wishes about the form of a reply. Words in capitals have a meaning for the documents."""

import pytest

from agent.rules.words.output_wishes import blank_output_wishes


def read_wishes(text: str) -> str:
    def has_meaning(start: int, end: int) -> bool:
        return any(word.isupper() and len(word) > 1 for word in text[start:end].split())

    blanked = blank_output_wishes(text, has_meaning)
    return " ".join(blanked.split())


@pytest.mark.parametrize(
    ("text", "remaining"),
    [
        ("KITES of 2020 as a table", "KITES of 2020"),
        ("KITES of 2020 in a small table, please", "KITES of 2020 , please"),
        ("KITES of 2020 as a table with citations", "KITES of 2020"),
        ("KITES of 2020 shown as bullet points", "KITES of 2020"),
        ("list the KITES and show them in tabular form.", "list the KITES ."),
        ("how is RUBY rigged? Please answer in bullets.", "how is RUBY rigged? ."),
        ("Briefly: how is RUBY rigged?", "how is RUBY rigged?"),
        ("in one sentence, how is RUBY rigged?", "how is RUBY rigged?"),
        ("how many KITES? short answer please", "how many KITES? please"),
        ("how is RUBY rigged, and cite your sources", "how is RUBY rigged,"),
        ("how is RUBY rigged? Give the page numbers.", "how is RUBY rigged? ."),
        ("which KITES are torn? just the tags please", "which KITES are torn?"),
        ("which KITES are torn? kite numbers only", "which KITES are torn?"),
    ],
)
def test_a_wish_about_the_form_of_the_reply_is_blanked(text: str, remaining: str) -> None:
    assert read_wishes(text) == remaining


@pytest.mark.parametrize(
    "text",
    [
        "KITES in a table of winners",
        "which KITES are torn? What are their numbers?",
        "KITES as a TABLE",
        "what is said in a nutshell about RUBY",
        "which KITES cite sources",
        "KITES with sources of wind",
        "please",
    ],
)
def test_words_that_say_more_stay(text: str) -> None:
    assert read_wishes(text) == text


@pytest.mark.parametrize("text", ["as a table", "As bullet points, please!", "show them in a table", "briefly"])
def test_a_wish_alone_asks_for_the_last_results_again(text: str) -> None:
    assert read_wishes(text) == "show them"
