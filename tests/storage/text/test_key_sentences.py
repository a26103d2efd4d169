"""Sentence splitting."""

import pytest

from storage.text.key_sentences import find_sentence_spans


def split_sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in find_sentence_spans(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Orlo Pumps Pvt. Ltd. Pune pays the rent.",
        "It was made with Halden Inc. Northport on the first of May.",
        "Nach § 4 Abs. 2 Nr. 3 Satz 1 zahlt Dr. Strand.",
        "Elle est due à la Cie. Torvald par Mme. Lumo.",
        "La paga la Sra. Miko según el art. Primero.",
        "Mr. J. Torvald signed for the tenant.",
        "Die Pacht ist am 9. Dezember fällig.",
    ],
)
def test_an_abbreviation_does_not_end_a_sentence(text: str) -> None:
    assert split_sentences(text) == [text]


def test_a_sentence_that_ends_in_an_abbreviation_ends_before_the_next_one() -> None:
    assert split_sentences("It is owed by Halden Inc. The rest is owed by Orlo Ltd.\n\nNorthport pays nothing.") == [
        "It is owed by Halden Inc.",
        "The rest is owed by Orlo Ltd.",
        "Northport pays nothing.",
    ]


def test_words_that_only_end_like_an_abbreviation_end_a_sentence() -> None:
    assert split_sentences("They bought a disco. Pumps were sold.") == ["They bought a disco.", "Pumps were sold."]
