"""Request frames. Words in capitals have a meaning; "KITES" names the documents."""

import pytest

from agent.rules.words.request_frames import blank_holder_nouns, blank_request_frames


def read_request(text: str) -> str:
    def names_set(start: int, end: int) -> bool:
        return "KITES" in text[start:end]

    def has_meaning(start: int, end: int) -> bool:
        return any(word.isupper() and len(word) > 1 for word in text[start:end].split())

    framed = blank_request_frames(text, names_set, has_meaning)
    assert len(framed) == len(text)
    blanked = blank_holder_nouns(framed, names_set, has_meaning)
    assert len(blanked) == len(text)
    return " ".join(blanked.split())


@pytest.mark.parametrize(
    ("text", "remaining"),
    [
        ("could anyone tell me how many KITES are red?", "how many KITES are red?"),
        ("I'd like to know which KITES are red", "which KITES are red"),
        ("do you happen to know the length of RUBY", "the length of RUBY"),
        ("our treasurer wants to know what KITES cost", "what KITES cost"),
        ("would you mind telling us where RUBY is", "where RUBY is"),
        ("I was wondering whether RUBY is sold", "is RUBY sold"),
        ("can you check if KITES are insured", "are KITES insured"),
        ("could you scrape together all KITES of 2020?", "list all KITES of 2020?"),
        ("conjure up the KITES of 2020", "list the KITES of 2020"),
        ("fish me the KITES of 2020", "list the KITES of 2020"),
        ("we need to tabulate every KITES of 2020", "list every KITES of 2020"),
        ("is it possible to see the KITES", "see the KITES"),
        ("it would be great if you could count the KITES", "count the KITES"),
        ("I am after the red KITES", "the red KITES"),
        ("Gwen wants the length of RUBY", "the length of RUBY"),
        ("Teresa wants to chase PEOPLE. Which KITES are red?", "Which KITES are red?"),
        ("Priya here. Which KITES are red?", "Which KITES are red?"),
        ("which KITES are red? I'm going to ring ROUND this afternoon", "which KITES are red?"),
        ("which KITES are red, I need to write to THEM", "which KITES are red"),
        ("how many KITES are red? It's for the annual REPORT", "how many KITES are red?"),
        ("how many KITES as things stand today", "how many KITES now"),
        ("sketch out a dossier with all KITES", "list all KITES"),
        ("give me a rundown of the KITES", "give me the KITES"),
        ("RUBY's owner is off today and the chair wants to know: how many KITES are red?", "how many KITES are red?"),
        ("bo asks: which KITES are red?", "which KITES are red?"),
    ],
)
def test_what_stands_before_the_question_is_the_request(text: str, remaining: str) -> None:
    assert read_request(text) == remaining


@pytest.mark.parametrize(
    "text",
    [
        "lapsed KITES of 2020",
        "considering the KITES of May, which is the longest?",
        "before the KITES of May",
        "can I fly RUBY in the rain?",
        "compare the KITES of May",
        "give me the number of KITES",
        "can we cancel the RUBY",
        "show a photo of RUBY",
    ],
)
def test_other_beginnings_stay(text: str) -> None:
    assert read_request(text).endswith(text.removeprefix("can you "))
