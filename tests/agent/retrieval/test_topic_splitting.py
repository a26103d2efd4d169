"""Splitting a search into its topics."""

import time

import pytest

from agent.retrieval.ranking_terms import content_words_of
from agent.retrieval.sub_queries.topic_splitting import MAX_SUB_QUERIES, split_topics
from storage.text.snowball_analyser import analyser_for

ENGLISH = analyser_for("en")


def topics_of(question: str) -> tuple[str, ...]:
    return split_topics(question, lambda text: content_words_of(text, ENGLISH))


@pytest.mark.parametrize(
    ("question", "topics"),
    [
        ("greasing the winch and painting the mast", ("greasing the winch", "painting the mast")),
        ("greasing the winch and then painting the mast", ("greasing the winch", "painting the mast")),
        ("greasing the winch, after that painting the mast", ("greasing the winch", "painting the mast")),
        ("steel winches vs wooden masts", ("steel winches", "wooden masts")),
        ("steel winches and ropes compared to wooden masts", ("steel winches and ropes", "wooden masts")),
        (
            "greasing the winch, painting the mast or drying the sails",
            ("greasing the winch", "painting the mast", "drying the sails"),
        ),
        ("the care of winch and mast and painting the hull", ("the care of winch and mast", "painting the hull")),
    ],
)
def test_the_question_comes_first_and_then_its_topics(question: str, topics: tuple[str, ...]) -> None:
    assert topics_of(question) == (question, *topics)


@pytest.mark.parametrize(
    "question", ["winch and mast", "how is the winch greased in winter", "the steel winch of the old harbour ferry", ""]
)
def test_a_question_without_two_topics_of_two_content_words_stays_whole(question: str) -> None:
    assert topics_of(question) == (question,)


def test_there_are_at_most_four_sub_queries() -> None:
    question = ", ".join(f"painting mast{number} blue{number}" for number in range(9))

    assert len(topics_of(question)) == MAX_SUB_QUERIES


def test_splitting_is_fast_for_long_runs_of_blanks_and_commas() -> None:
    started = time.perf_counter()

    topics_of("steel winch" + " ," * 5_000 + " " * 5_000 + "wooden mast")

    assert time.perf_counter() - started < 2
