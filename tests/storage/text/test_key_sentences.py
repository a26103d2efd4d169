"""Sentence splitting."""

import pytest

from storage.text.key_sentences import find_sentence_spans


def split_sentences(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in find_sentence_spans(text)]


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


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_the_fences_of_code_are_in_no_sentence_and_each_line_of_code_is_taken_by_itself(fence: str) -> None:
    text = f"Restart it so, Mr.\n{fence}sh\ncd /srv/pumps  \n\n  ./restart. Now 5\n{fence}\nthe pumps start. They run."

    assert split_sentences(text) == [
        "Restart it so, Mr.",
        "cd /srv/pumps",
        "./restart. Now 5",
        "the pumps start.",
        "They run.",
    ]


def test_a_fence_within_another_block_or_in_a_list_is_left_out_too() -> None:
    text = "~~~md\nsome\n```\ncode\n```\n~~~\n- Then:\n      ```\n      pumps stop\n      ```"

    assert split_sentences(text) == ["some", "code", "- Then:", "pumps stop"]


def test_of_code_whose_beginning_is_elsewhere_no_fence_is_left() -> None:
    assert split_sentences("return pumps\n```\nThe pumps stop. All is well.")[0] == "return pumps"
    assert not any("`" in sentence for sentence in split_sentences("return pumps\n```\nThe pumps stop."))


def test_code_within_a_line_ends_no_sentence() -> None:
    assert split_sentences("Call ```stop``` with\n```pumps``` as its value.") == [
        "Call ```stop``` with",
        "```pumps``` as its value.",
    ]
