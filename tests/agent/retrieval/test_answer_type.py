"""What kind of answer a question over texts asks for."""

import pytest

from agent.retrieval.answer_type import asks_for_documents, asks_for_several, counted_noun_of


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which letters mention the flood?", True),
        ("in which of the auditors' reports is the roof mentioned", True),
        ("what e-mails do we have from Bo Lind", True),
        ("number of site reports by the surveyor", True),
        ("How many of our contracts name a guarantor?", True),
        ("Which letter mentions the flood?", False),
        ("what does the report say about the roof", False),
        ("how many days does the tenant have", False),
        ("how many hours per week may interns work", False),
        ("who writes the minutes", False),
    ],
)
def test_a_question_for_all_documents_of_a_kind_is_told_from_one_for_a_sentence(question: str, expected: bool) -> None:
    assert asks_for_documents(question) is expected


@pytest.mark.parametrize(
    ("question", "noun"),
    [
        ("how many litres fit", "litres"),
        ("number of guests", "guests"),
        ("how many of the windows broke", "windows"),
        ("how long is it", None),
    ],
)
def test_the_counted_noun_follows_the_words_that_count(question: str, noun: str | None) -> None:
    assert counted_noun_of(question) == noun


@pytest.mark.parametrize(
    "question",
    [
        "bells one can still hear",
        "which keys are lost",
        "show me the ladders",
        "what old organs still play",
        "any ladders here",
    ],
)
def test_a_plural_of_things_at_the_start_asks_for_a_list(question: str) -> None:
    assert asks_for_several(question)


@pytest.mark.parametrize(
    "question",
    [
        "what days is it open",
        "which key is lost",
        "whats the fee",
        "who rings the bells",
        "what colour robes do they wear",
    ],
)
def test_one_value_may_answer_other_questions(question: str) -> None:
    assert not asks_for_several(question)
