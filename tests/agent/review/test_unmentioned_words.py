"""A reply says that no document mentions a word only if no text says it in other words."""

import asyncio

import pytest

from agent.evidence.word_meanings import WordMeanings
from agent.review.unmentioned_words import words_without_likeness
from storage.embedder import WordLlamaEmbedder
from storage.text.snowball_analyser import analyser_for

_TEXT = "Call our hotline to ask about the delivery. The treasurer keeps the receipts."


@pytest.mark.parametrize(
    ("word", "is_unmentioned"),
    [("zeppelin", True), ("deliveries", False), ("treasury", False), ("phone", False), ("glacier", True)],
)
def test_a_word_is_unmentioned_if_no_word_begins_like_it_or_means_nearly_the_same(
    word: str, *, is_unmentioned: bool
) -> None:
    meanings = WordMeanings(WordLlamaEmbedder())

    kept = asyncio.run(words_without_likeness((word,), [_TEXT], analyser_for("en"), meanings))

    assert (kept == (word,)) is is_unmentioned
