"""Several questions in one message."""

import pytest

from agent.rules.split import questions_of


@pytest.mark.parametrize(
    ("text", "questions"),
    [
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
            ("What is the notice period and how long is it valid?",),
        ),
        ("List the parcels and how many there are", ("List the parcels and how many there are",)),
        ("Parcels with wool and what is written on the box", ("Parcels with wool and what is written on the box",)),
        (", and how many are red?", (", and how many are red?",)),
        ("Which contracts are with ACME and end in 2026?", ("Which contracts are with ACME and end in 2026?",)),
    ],
)
def test_a_message_is_split_where_each_part_asks_by_itself(text: str, questions: tuple[str, ...]) -> None:
    assert questions_of(text) == questions
