"""The language in which sentences are composed."""

import asyncio
from dataclasses import replace
from datetime import date

import pytest

from agent.compose.phrases.values import format_number
from agent.compose.phrases.words import join_alternatives, join_words
from agent.translation.languages import get_reply_language, list_languages, use_asker_locale, use_language
from agent.translation.local_formats import (
    language_name_of,
    localize_count,
    localize_day,
    localize_money,
    localize_month,
)
from agent.translation.message_catalogues import translate_in_context, translate_message, translate_plural
from bot.ids import ChoiceId
from bot.surface.replies import ChoiceButton


@pytest.mark.parametrize(
    ("language", "used"),
    [("de", "de"), ("de-AT", "de"), ("DE_ch", "de"), ("en", "en"), ("fr-CA", "fr"), ("it", "en"), ("", "en")],
)
def test_a_language_without_a_catalogue_is_composed_in_english(language: str, used: str) -> None:
    with use_language(language):
        assert get_reply_language() == used
    assert get_reply_language() == "en"


def test_four_languages_are_available() -> None:
    assert list_languages() == ("en", "de", "es", "fr")


def test_messages_are_translated_only_within_the_block() -> None:
    with use_language("de"):
        assert translate_message("Which do you mean?") == "Was ist gemeint?"
        with use_language("en"):
            assert translate_message("Which do you mean?") == "Which do you mean?"
        assert (
            translate_message("{label} of {title}: {value}", label="a", title="a{b}", value="{c}") == "a von a{b}: {c}"
        )
    assert translate_message("Which do you mean?") == "Which do you mean?"


@pytest.mark.parametrize(("number", "english", "german"), [(1, "day", "Tag"), (2, "days", "Tage"), (0, "days", "Tage")])
def test_plurals_follow_the_number(number: int, english: str, german: str) -> None:
    assert translate_plural("day", "days", number) == english
    with use_language("de"):
        assert translate_plural("day", "days", number) == german


def test_the_context_tells_equal_messages_apart() -> None:
    with use_language("de"):
        words = [translate_in_context(context, "of {period}", period="Mai 2031") for context in ("month", "quarter")]
        assert words == ["vom Mai 2031", "aus dem Mai 2031"]


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


@pytest.mark.parametrize(
    ("language", "locale", "written"),
    [
        ("de", "", "1.234,50\u00a0€, 1. Mai 2031, Mai 2031"),
        ("de", "de-CH", "EUR\u00a01’234.50, 1. Mai 2031, Mai 2031"),
        ("de", "en-US", "1.234,50\u00a0€, 1. Mai 2031, Mai 2031"),
        ("de", "de-XX", "1.234,50\u00a0€, 1. Mai 2031, Mai 2031"),
        ("fr", "", "1\u202f234,50\u00a0€, 1er mai 2031, mai 2031"),
        ("es", "", "1.234,50\u00a0€, 1 de mayo de 2031, mayo de 2031"),
        ("es", "es-MX", "EUR\u00a01,234.50, 1 de mayo de 2031, mayo de 2031"),
        ("en", "de-DE", "EUR 1,234.50, 2031-05-01, May 2031"),
    ],
)
def test_figures_are_written_as_in_the_country_of_the_asker(language: str, locale: str, written: str) -> None:
    """A locale of another language than the reply counts for nothing: `1.234` is no thousand in an English sentence."""
    with use_asker_locale(locale), use_language(language):
        figures = (localize_money("1,234.50", "EUR"), localize_day("2031-05-01"), localize_month(date(2031, 5, 1)))
        assert ", ".join(figures) == written


@pytest.mark.parametrize(
    ("language", "message", "value", "words"),
    [
        ("fr", "I found no {documents}.", "options", "Je n’ai pas trouvé d’options."),
        ("fr", "I found no {documents}.", "factures", "Je n’ai pas trouvé de factures."),
        ("fr", "I found no {documents}.", "hangars", "Je n’ai pas trouvé de hangars."),
        ("fr", "I found no {documents}.", "hôtels", "Je n’ai pas trouvé d’hôtels."),
        ("de", "I found no {documents}.", "Optionen", "Ich finde keine Optionen."),
    ],
)
def test_words_before_a_value_change_with_it(language: str, message: str, value: str, words: str) -> None:
    with use_language(language):
        assert translate_message(message, documents=value) == words


def test_spanish_conjunctions_change_before_their_own_sound() -> None:
    with use_language("es"):
        assert join_words(["Ada", "Inés"]) == "Ada e Inés"
        assert join_words(["cobre", "hierro"]) == "cobre y hierro"
        assert join_alternatives(["plata", "oro"]) == "plata u oro"


def test_languages_are_named_in_the_language_of_the_reply() -> None:
    assert (language_name_of("de"), language_name_of("xx")) == ("German", "xx")
    with use_language("de"):
        assert language_name_of("fr") == "Französisch"


def test_a_count_on_a_button_is_written_as_in_the_reply() -> None:
    assert localize_count(1042) == ""  # a product writes it as English does
    with use_language("de"):
        assert (localize_count(1042), localize_count(None)) == ("1.042", "")
    button = ChoiceButton(id=ChoiceId("a"), label="Acme", count=1042, kind="filter")
    assert [button.count_text, replace(button, local_count="1.042").count_text] == ["1,042", "1.042"]
