"""Questions that ask for several things, and questions that only look so."""

import pytest

from agent.evidence.question_parts import refers_to_earlier_part, split_question_parts


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "the boat leaks. which extension do I call and until when?",
            ("the boat leaks. which extension do I call", "until when?"),
        ),
        (
            "how big is the barn, and since when has Ada lived there?",
            ("how big is the barn", "since when has Ada lived there?"),
        ),
        ("who mends nets for us nowadays, and since when?", ("who mends nets for us nowadays", "since when?")),
        ("Is there a deadline? How much may we charge?", ("Is there a deadline?", "How much may we charge?")),
    ],
)
def test_each_part_asks_for_something(question: str, parts: tuple[str, ...]) -> None:
    assert split_question_parts(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "when does the ferry leave?",
        "When the tide is low, how long does the ferry wait?",
        "the man who wrote about the drums and the noise",
        "who keeps the keys of the barn, where the tractor is?",
        "from when to when is the barn open",
    ],
)
def test_a_story_or_a_relative_clause_is_no_part(question: str) -> None:
    assert split_question_parts(question) == (question,)


@pytest.mark.parametrize(
    ("part", "refers"),
    [
        ("when does that lease end?", True),
        ("until when does their licence run?", True),
        ("what is done with it?", True),
        ("how quickly?", True),
        ("and until when?", True),
        ("when does the lease of the barn end?", False),
        ("is it true that goats are allowed?", True),
        ("how do I know that the barn is open?", False),
    ],
)
def test_a_part_refers_to_a_thing_by_a_pronoun(part: str, refers: bool) -> None:
    assert refers_to_earlier_part(part) is refers
