"""The language in which sentences are composed."""

import asyncio

import pytest

from agent.compose.phrases.values import format_number
from agent.translation.languages import get_reply_language, list_languages, use_language
from agent.translation.local_formats import language_name_of, localize_day
from agent.translation.message_catalogues import translate_in_context, translate_message, translate_plural


@pytest.mark.parametrize(
    ("language", "used"), [("de", "de"), ("de-AT", "de"), ("DE_ch", "de"), ("en", "en"), ("fr", "en"), ("", "en")]
)
def test_a_language_without_a_catalogue_is_composed_in_english(language: str, used: str) -> None:
    with use_language(language):
        assert get_reply_language() == used
    assert get_reply_language() == "en"


def test_english_and_german_are_available() -> None:
    assert list_languages() == ("en", "de")


def test_messages_are_translated_only_within_the_block() -> None:
    with use_language("de"):
        assert translate_message("Which do you mean?") == "Was ist gemeint?"
        with use_language("en"):
            assert translate_message("Which do you mean?") == "Which do you mean?"
        assert translate_message("{label} = {value}", label="a{b}", value="{c}") == "a{b} = {c}"
    assert translate_message("Which do you mean?") == "Which do you mean?"


@pytest.mark.parametrize(("number", "english", "german"), [(1, "day", "Tag"), (2, "days", "Tage"), (0, "days", "Tage")])
def test_plurals_follow_the_number(number: int, english: str, german: str) -> None:
    assert translate_plural("day", "days", number) == english
    with use_language("de"):
        assert translate_plural("day", "days", number) == german


def test_the_context_tells_equal_messages_apart() -> None:
    message = "{label} > {value}"
    with use_language("de"):
        assert translate_message(message, label="Frist", value="5") == "Frist mehr als 5"
        assert translate_in_context("day", message, label="Frist", value="9. Mai") == "Frist nach dem 9. Mai"


async def test_each_task_has_a_language_of_its_own() -> None:
    async def format_in(language: str) -> str:
        with use_language(language):
            await asyncio.sleep(0)
            return format_number(1234.5)

    assert await asyncio.gather(format_in("de"), format_in("en"), format_in("de")) == ["1.234,5", "1,234.5", "1.234,5"]


def test_days_are_written_out_and_other_texts_stay() -> None:
    with use_language("de"):
        assert localize_day("2031-05-09") == "9. Mai 2031"
        assert [localize_day(text) for text in ("2031-02-30", "2031", "May 9")] == ["2031-02-30", "2031", "May 9"]
    assert localize_day("2031-05-09") == "2031-05-09"


def test_languages_are_named_in_the_language_of_the_reply() -> None:
    assert (language_name_of("de"), language_name_of("xx")) == ("German", "xx")
    with use_language("de"):
        assert language_name_of("fr") == "Französisch"
