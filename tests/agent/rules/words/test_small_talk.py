"""Small talk around a question. The words with a meaning are those in capitals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.rules.words.small_talk import HasMeaning, blank_small_talk


def meaning_of_capitals(text: str) -> HasMeaning:
    def has_meaning(start: int, end: int) -> bool:
        return any(word.isupper() and len(word) > 1 for word in text[start:end].split())

    return has_meaning


def remaining_text(text: str) -> str:
    return " ".join(blank_small_talk(text, meaning_of_capitals(text)).split())


@pytest.mark.parametrize(
    ("text", "remaining"),
    [
        ("Hi there, which KITES are late?", "which KITES are late?"),
        ("evening folks! list the KITES", "list the KITES"),
        ("hello all could someone list KITES", "could someone list KITES"),
        ("just curious, how many KITES are there? ta", "how many KITES are there?"),
        ("list the KITES, thx", "list the KITES"),
        ("the KITES of May asap please", "the KITES of May"),
        ("list KITES because the landlord keeps nagging", "list KITES"),
        ("list KITES since we want to plan ahead", "list KITES"),
        ("KITES from Oslo, as I have to write to them", "KITES from Oslo"),
        ("which KITES are blue so that I can order string", "which KITES are blue"),
        ("which KITES are blue? It's for our picnic on Sunday", "which KITES are blue?"),
        ("which KITES are blue, my cousin wants one", "which KITES are blue"),
        ("KITES over 3 m for my talk", "KITES over 3 m"),
        ("for the club evening: KITES over 3 m", "KITES over 3 m"),
        ("if possible, list the KITES", "list the KITES"),
        ("Not sure where to begin, but how many KITES are red", "how many KITES are red"),
        ("the KITES (the jury needs these) of 2020", "the KITES of 2020"),
        ("@helper which KITES are red", "which KITES are red"),
        ("list the KITES. Kind regards, Marta", "list the KITES."),
        ("pretty please the KITES", "the KITES"),
        ("the KITES of May when you have a minute", "the KITES of May"),
        ("Hi Kim - hope all is fine - which KITES are red?", "which KITES are red?"),
        ("for background I am writing a column: how many KITES are red", "how many KITES are red"),
        ("list the red KITES, before the briefing", "list the red KITES"),
        ("Thanks for your patience yesterday! Which KITES are red", "Which KITES are red"),
        ("which KITES are red? a rough list is fine", "which KITES are red?"),
        ("which KITES are red, names will do", "which KITES are red"),
        ("how many KITES flew in 2020? each flight counts as one", "how many KITES flew in 2020?"),
        ("KITES over 3 m, I do not care which COLOUR", "KITES over 3 m"),
        ("KITES over 3 m no matter when they flew", "KITES over 3 m"),
        ("how many KITES are red? does not have to be exact", "how many KITES are red?"),
        ("all red KITES, every last one of them", "all red KITES"),
        ("which KITES are red (the landlord is in a bad mood)", "which KITES are red"),
        ("the KITES with the most tears per metre I mean", "the KITES with the most tears per metre"),
    ],
)
def test_clauses_that_say_nothing_about_the_documents_are_blanked(text: str, remaining: str) -> None:
    assert remaining_text(text) == remaining


@pytest.mark.parametrize(
    "text",
    [
        "KITES since 2020",
        "KITES since March",
        "KITES since we opened the MUSEUM",
        "KITES rejected because of the wind",
        "which KITES were cancelled because the owner had repaired them",
        "KITES for my MUSEUM",
        "KITES, lanterns",
        "we paid for KITES, how many?",
        "the morning KITES",
        "how are you",
        "thanks",
        "what is the most common cause of KITES breaking",
        "KITES with a tail, not under 3 m",
    ],
)
def test_clauses_that_may_describe_documents_stay(text: str) -> None:
    assert remaining_text(text) == text


@pytest.mark.parametrize(
    ("text", "remaining"),
    [
        ("I've been away for nine days, do I need a letter", "I've been away for nine days, do I need a letter"),
        ("I've been away for 9 days, do I need a letter?", "I've been away for 9 days, do I need a letter?"),
        ("I've been away all week, do I need a letter?", "do I need a letter?"),
        ("I've been away for nine days, which KITES are red?", "which KITES are red?"),
    ],
)
def test_an_amount_on_which_a_rule_may_depend_stays_before_a_yes_or_no_question(text: str, remaining: str) -> None:
    assert remaining_text(text) == remaining


@given(
    st.lists(
        st.sampled_from(
            [
                "hi",
                "all",
                "KITES",
                "OSLO",
                "thx",
                "because",
                "since",
                "we",
                "are",
                "late",
                "red",
                "it",
                ",",
                ".",
                "2020",
            ]
        ),
        max_size=12,
    )
)
def test_offsets_and_meaningful_words_are_kept_and_something_always_remains(words: list[str]) -> None:
    text = " ".join(words)
    blanked = blank_small_talk(text, meaning_of_capitals(text))
    assert len(blanked) == len(text)
    assert all(after in (before, " ") for before, after in zip(text, blanked, strict=True))
    assert any(map(str.isalnum, blanked)) == any(map(str.isalnum, text))
