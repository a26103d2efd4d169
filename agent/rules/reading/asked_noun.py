"""Finds the buckets whose noun a question asks for: "how many *visits* …", "list the *towns* …"."""

from collections.abc import Sequence
from dataclasses import replace

from agent.english.function_words import (
    AGGREGATE_WORDS,
    FILLER_WORDS,
    LIST_VERBS,
    QUANTIFIERS,
    QUESTION_WORDS,
    STOP_WORDS,
)
from agent.rules.linking.lexicon import BucketNoun
from agent.rules.reading.bucket_reading import BucketReading
from storage.search.ids import BucketId

_ASKED_NOUN_BONUS = 4.5  # score added to a reading whose bucket the question asks for
_MIN_NOUN_WEIGHT = 1.0  # of a noun that is one of the bucket's own names
_WORDS_BEFORE_NOUN = STOP_WORDS | FILLER_WORDS | LIST_VERBS | QUANTIFIERS | QUESTION_WORDS | AGGREGATE_WORDS
_OBLIQUE_WORDS = frozenset("of for from by with".split())  # the noun after these is not what is asked for


def find_asked_buckets(readings: Sequence[BucketReading]) -> frozenset[BucketId]:
    """Returns the buckets with the first noun of the question, if only words that ask stand before it; else nothing."""
    noun_starts = {
        reading.bucket: min(link.first for link in reading.links if _is_own_noun(link.meaning, link.weight))
        for reading in readings
        if any(_is_own_noun(link.meaning, link.weight) for link in reading.links)
    }
    if not noun_starts:
        return frozenset()
    first = min(noun_starts.values())
    asked = frozenset(bucket for bucket, start in noun_starts.items() if start == first)
    reading = next(reading for reading in readings if reading.bucket in asked)
    words_before = [
        token.word for index, token in enumerate(reading.tokens[:first]) if index not in reading.literal_tokens
    ]
    only_asks = all(word in _WORDS_BEFORE_NOUN or word.isdigit() for word in words_before)
    return asked if only_asks and not set(words_before) & _OBLIQUE_WORDS else frozenset()


def _is_own_noun(meaning: object, weight: float) -> bool:
    return isinstance(meaning, BucketNoun) and weight >= _MIN_NOUN_WEIGHT


def prefer_asked_buckets(readings: Sequence[BucketReading]) -> list[BucketReading]:
    """Returns the readings with a higher score for those whose noun the question asks for."""
    asked = find_asked_buckets(readings)
    return [
        replace(reading, score=reading.score + _ASKED_NOUN_BONUS) if reading.bucket in asked else reading
        for reading in readings
    ]
