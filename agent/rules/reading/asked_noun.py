"""Finds the buckets whose noun a question asks for: "how many *visits* …", "list the *towns* …"."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent.english.function_words import (
    AGGREGATE_WORDS,
    FILLER_WORDS,
    LIST_VERBS,
    QUANTIFIERS,
    QUESTION_WORDS,
    STOP_WORDS,
)
from agent.rules.linking.lexicon import BucketNoun, SpanLink
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.word_roles import WordRole
from agent.rules.words.tokens import QuestionToken
from storage.search.ids import BucketId

_ASKED_NOUN_BONUS = 4.5  # score added to a reading whose bucket the question asks for
_MIN_NOUN_WEIGHT = 1.0  # of a noun that is one of the bucket's own names
_WORDS_BEFORE_NOUN = STOP_WORDS | FILLER_WORDS | LIST_VERBS | QUANTIFIERS | QUESTION_WORDS | AGGREGATE_WORDS
_OBLIQUE_WORDS = frozenset("of for from by with".split())  # the noun after these is not what is asked for


def find_asked_buckets(readings: Sequence[BucketReading]) -> frozenset[BucketId]:
    """Returns the buckets with the first noun of the question, if only words that ask stand before it; else nothing."""
    starts = {reading.bucket: {link.first for link in _own_nouns_of(reading)} for reading in readings}
    if not any(starts.values()):
        return frozenset()
    first = _head_start(min(frozenset[int]().union(*starts.values())), readings)
    asked = frozenset(bucket for bucket, bucket_starts in starts.items() if first in bucket_starts)
    reading = next(reading for reading in readings if reading.bucket in asked)
    noun_tokens = {
        index for other in readings for link in _own_nouns_of(other) for index in range(link.first, link.last)
    }
    words_before = [
        token.word
        for index, token in enumerate(reading.tokens[:first])
        if index not in reading.literal_tokens | noun_tokens
    ]
    only_asks = all(word in _WORDS_BEFORE_NOUN or word.isdigit() for word in words_before)
    return asked if only_asks and not set(words_before) & _OBLIQUE_WORDS else frozenset()


def _head_start(first: int, readings: Sequence[BucketReading]) -> int:
    """ "Ferry *companies*": returns the first token of the last of the nouns that stand side by side."""
    ends = {link.last for reading in readings for link in _own_nouns_of(reading) if link.first == first}
    starts = {link.first for reading in readings for link in _own_nouns_of(reading)}
    return max(ends & starts, default=first)


def explain_nouns_of_others(readings: Sequence[BucketReading]) -> list[BucketReading]:
    """ "*Ferry* companies": returns the readings with the noun of another bucket, right before their own, explained."""
    other_nouns = {
        (link.first, link.last): reading.tokens[link.first : link.last]
        for reading in readings
        for link in _own_nouns_of(reading)
    }
    return [_explain_modifiers(reading, other_nouns) for reading in readings]


def _explain_modifiers(
    reading: BucketReading, other_nouns: Mapping[tuple[int, int], Sequence[QuestionToken]]
) -> BucketReading:
    own_starts = {link.first for link in _own_nouns_of(reading)}
    explained = {token.word for (_, last), tokens in other_nouns.items() if last in own_starts for token in tokens}
    roles = {
        word: WordRole.EXPLAINED if word.casefold() in explained and role is WordRole.UNKNOWN else role
        for word, role in reading.word_roles.items()
    }
    return replace(reading, word_roles=roles) if roles != reading.word_roles else reading


def _own_nouns_of(reading: BucketReading) -> list[SpanLink]:
    return [link for link in reading.links if _is_own_noun(link.meaning, link.weight)]


def _is_own_noun(meaning: object, weight: float) -> bool:
    return isinstance(meaning, BucketNoun) and weight >= _MIN_NOUN_WEIGHT


def prefer_asked_buckets(readings: Sequence[BucketReading]) -> list[BucketReading]:
    """Returns the readings with a higher score for those whose noun the question asks for."""
    asked = find_asked_buckets(readings)
    return [
        replace(reading, score=reading.score + _ASKED_NOUN_BONUS) if reading.bucket in asked else reading
        for reading in readings
    ]
