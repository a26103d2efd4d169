"""Splitting a message into its questions."""

import pytest

from agent.rules.words.question_splitting import split_questions


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        (
            "What is the toll of the old bridge and why does it differ in winter?",
            ("What is the toll of the old bridge", "why does it differ in winter?"),
        ),
        (
            "Who paints the gates and how does the paint dry?",
            ("Who paints the gates", "how does the paint dry?"),
        ),
        (
            "Count the late parcels, then list the heavy ones.",
            ("Count the late parcels", "list the heavy ones."),
        ),
        ("Who decides what is repaired and how it is paid?", ("Who decides what is repaired and how it is paid?",)),
        ("How did the toll change in May and why?", ("How did the toll change in May and why?",)),
        (
            "How many parcels came in 2024, and in 2023?",
            ("How many parcels came in 2024", "in 2023?"),
        ),
        (
            "For 2024: how many parcels are late, and what is their total?",
            ("For 2024: how many parcels are late", "what is their total?"),
        ),
        (
            "How many NPN transistors are there and how many contracts end in 2026?",
            ("How many NPN transistors are there", "how many contracts end in 2026?"),
        ),
        (
            "What is the total of 2024, and what is the total of 2025?",
            ("What is the total of 2024", "what is the total of 2025?"),
        ),
        (
            "How many parcels are late? List all that are heavy.",
            ("How many parcels are late?", "List all that are heavy."),
        ),
        (
            "What is the notice period and how long is it valid?",
            ("What is the notice period", "how long is it valid?"),
        ),
        (
            "How many parcels are late and which arrived in May?",
            ("How many parcels are late", "which arrived in May?"),
        ),
        (
            "List the parcels from Oslo. Also, what did they weigh in total?",
            ("List the parcels from Oslo.", "what did they weigh in total?"),
        ),
        (
            "1. How many are red? 2) Which are heavy? 3. Who sent the last one?",
            ("How many are red?", "Which are heavy?", "Who sent the last one?"),
        ),
        (
            "What is late?\nWhat is lost?\nWhat is new?\nWhat is old?\nWhat is due?",
            ("What is late?", "What is lost?", "What is new?", "What is old? What is due?"),
        ),
        (
            "Oak House: who runs the place, and which day are the bins emptied?",
            ("who runs the place (Oak House)?", "which day are the bins emptied (Oak House)?"),
        ),
        ("Oak House: who runs it, and when was it built?", ("who runs Oak House", "when was Oak House built?")),
        (
            "which parcels weigh under 2 kg, and which more than 20?",
            ("which parcels weigh under 2 kg", "which more than 20?"),
        ),
        (
            "which depots are in Oslo, and who manages them?",
            ("which depots are in Oslo", "who manages them?"),
        ),
        ("List parcels which are late and which are heavy", ("List parcels which are late and which are heavy",)),
        ("List the parcels and how many there are", ("List the parcels and how many there are",)),
        ("Parcels with wool and what is written on the box", ("Parcels with wool and what is written on the box",)),
        (", and how many are red?", (", and how many are red?",)),
        ("Which contracts are with ACME and end in 2026?", ("Which contracts are with ACME and end in 2026?",)),
    ],
)
def test_a_message_is_split_into_parts_that_are_questions_themselves(text: str, questions: tuple[str, ...]) -> None:
    assert split_questions(text) == questions


def test_what_stands_before_a_colon_belongs_to_each_question() -> None:
    questions = split_questions("Fir Hall: who runs it and when did it open?")

    assert [question.rstrip("?") for question in questions] == ["who runs Fir Hall", "when did Fir Hall open"]


def test_a_clause_before_a_question_is_no_question_of_its_own() -> None:
    assert split_questions("When the river is high, who closes the gate?") == (
        "When the river is high, who closes the gate?",
    )
    assert split_questions("When was the gate built, and who closes it?") == (
        "When was the gate built",
        "who closes it?",
    )
