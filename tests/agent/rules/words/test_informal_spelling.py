"""Words as people type them in a chat."""

import pytest

from agent.rules.words.informal_spelling import expand_informal_spelling
from agent.rules.words.misspelt_function_words import correct_function_words


def knows_nothing(_: str) -> bool:
    return False


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("Whats the longest kite", "What's the longest kite"),
        ("kites that dont fly", "kites that do not fly"),
        ("Isn't the red kite sold?", "Is the red kite sold?"),
        ("can't Ada fly it?", "can Ada fly it?"),
        ("aren't sold", "are not sold"),
        ("Don't count the kites", "Do not count the kites"),
        ("kites that won't fly and can't land", "kites that will not fly and can not land"),
        ("kites w/ tail w/o string", "kites with tail without string"),
        ("can u tell me", "can you tell me"),
        ("which kites r red", "which kites are red"),
        ("kite no. 12", "kite number 12"),
        ("avg length per dept", "average length per department"),
        ("lets see the kites", "let's see the kites"),
        ("youve got kites", "you've got kites"),
    ],
)
def test_chat_spellings_are_read_as_what_they_stand_for(text: str, expanded: str) -> None:
    assert expand_informal_spelling(text, knows_nothing) == expanded


@pytest.mark.parametrize(
    "text", ["its string", "R & D kites", "the NR kite", "Amendment No. 3", "kites at 20 °C", "Kite™"]
)
def test_words_with_a_meaning_of_their_own_stay(text: str) -> None:
    assert expand_informal_spelling(text, knows_nothing) == text


def test_a_short_form_that_the_documents_use_stays() -> None:
    assert expand_informal_spelling("the dept kites", lambda word: word == "dept") == "the dept kites"


def test_emojis_become_spaces_of_the_same_length() -> None:
    text = "red kites \N{KITE} :) please"
    assert expand_informal_spelling(text, knows_nothing) == "red kites      please"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Ocotber", "october"),
        ("novmber", "november"),
        ("agust", "august"),
        ("betwene", "between"),
        ("shorrtest", "shortest"),
        ("hihgest", "highest"),
        ("witout", "without"),
        ("avarage", "average"),
    ],
)
def test_a_slip_in_a_word_of_the_language_is_corrected_and_reported(written: str, meant: str) -> None:
    corrected, corrections = correct_function_words(f"kites {written} 2020", knows_nothing)
    assert corrected == f"kites {meant} 2020"
    assert corrections == ((written, meant),)


@pytest.mark.parametrize(
    "word", ["sending", "court", "media", "world", "extensive", "excluded", "numbers", "Augusto", "mach"]
)
def test_another_word_is_no_slip(word: str) -> None:
    assert correct_function_words(f"kites {word}", knows_nothing) == (f"kites {word}", ())


def test_a_word_that_the_documents_know_is_never_corrected() -> None:
    assert correct_function_words("kites novmber", lambda word: word == "novmber") == ("kites novmber", ())
