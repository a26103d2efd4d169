"""Finds the buckets whose noun a question asks for: "how many *visits* …", "list the *towns* …"."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from agent.english.function_words import (
    AGGREGATE_WORDS,
    AMOUNT_SUPERLATIVES,
    FILLER_WORDS,
    LASTING_VERBS,
    LIST_VERBS,
    ORDINALS,
    QUANTIFIERS,
    QUESTION_WORDS,
    SMALL_NUMBERS,
    STOP_WORDS,
)
from agent.english.gradable_adjectives import function_of_superlative
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, PartialMatch, SpanLink, ValueMatch
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.word_roles import WordRole
from agent.rules.words.tokens import QuestionToken, looks_plural
from storage.search.analyser import fold_text
from storage.search.ids import BucketId
from storage.search.schema import FieldType

_ASKED_NOUN_BONUS = 4.5  # score added to a reading whose bucket the question asks for
_MIN_NOUN_WEIGHT = 1.0  # of a noun that is one of the bucket's own names
_WORDS_BEFORE_NOUN = (
    STOP_WORDS | FILLER_WORDS | LIST_VERBS | QUANTIFIERS | QUESTION_WORDS | AGGREGATE_WORDS | LASTING_VERBS
    | ORDINALS.keys() | SMALL_NUMBERS.keys()
)  # fmt: skip
_MAX_MODIFIERS = 2  # words between "most" and what is counted: "the most completed night trips"
# Last words of the labels of fields that say what a document, or a person, is.
_KIND_LABELS = frozenset("type kind category class sort title role position profession occupation job".split())
_SERVING_WORDS = frozenset({"serving", "served"})
_OBLIQUE_WORDS = frozenset("of for from by with".split())  # the noun after these is not what is asked for


def find_asked_buckets(
    readings: Sequence[BucketReading], lexicons: Mapping[BucketId, BucketLexicon]
) -> frozenset[BucketId]:
    """Returns the buckets with the first noun of the question, if only words that ask precede it; else nothing."""
    own_starts = {
        reading.bucket: {link.first for link in _own_nouns_of(reading, lexicons[reading.bucket])}
        for reading in readings
    }
    kinds = {reading.bucket: _own_kinds_of(reading, lexicons[reading.bucket]) for reading in readings}
    starts = frozenset[int]().union(*own_starts.values(), *kinds.values())
    if not starts:
        return frozenset()
    first = _head_start(min(starts), readings, lexicons)
    asked = frozenset(bucket for bucket, bucket_starts in own_starts.items() if first in bucket_starts)
    if not asked:
        longest = max((ends[first] for ends in kinds.values() if first in ends), default=0)
        asked = frozenset(bucket for bucket, ends in kinds.items() if ends.get(first) == longest)
    reading = next(reading for reading in readings if reading.bucket in asked)
    noun_tokens = {
        index
        for other in readings
        for link in _own_nouns_of(other, lexicons[other.bucket])
        for index in range(link.first, link.last)
    }
    words_before = [
        token.word
        for index, token in enumerate(reading.tokens[:first])
        if index not in reading.literal_tokens | noun_tokens
    ]
    if _asks_for_most(words_before):
        del words_before[1]  # "which *estate* has the most repairs": what the repairs are compared by
    superlative_words = {word for phrase in _superlatives_in(words_before) for word in phrase}
    only_asks = all(word in _WORDS_BEFORE_NOUN or word in superlative_words or word.isdigit() for word in words_before)
    return asked if only_asks and not set(words_before) & _OBLIQUE_WORDS else frozenset()


def _asks_for_most(words: Sequence[str]) -> bool:
    return words[:1] in (["which"], ["what"]) and bool({"most", "fewest"} & set(words[2:]))


def _superlatives_in(words: Sequence[str]) -> list[tuple[str, ...]]:
    phrases = [*pairwise(words), *((word,) for word in words)]
    return [phrase for phrase in phrases if function_of_superlative(phrase) is not None]


def _head_start(first: int, readings: Sequence[BucketReading], lexicons: Mapping[BucketId, BucketLexicon]) -> int:
    """ "Ferry *companies*": returns the first token of the last of the nouns that appear side by side."""
    nouns = [link for reading in readings for link in _own_nouns_of(reading, lexicons[reading.bucket])]
    ends, starts = {link.last for link in nouns if link.first == first}, {link.first for link in nouns}
    return max(ends & starts, default=first)


def explain_nouns_of_others(
    readings: Sequence[BucketReading], lexicons: Mapping[BucketId, BucketLexicon]
) -> list[BucketReading]:
    """ "*Ferry* companies": returns the readings with the noun of another bucket, right before their own, explained."""
    other_nouns = {
        (link.first, link.last): reading.tokens[link.first : link.last]
        for reading in readings
        for link in _own_nouns_of(reading, lexicons[reading.bucket])
    }
    return [_explain_modifiers(reading, lexicons[reading.bucket], other_nouns) for reading in readings]


def _explain_modifiers(
    reading: BucketReading, lexicon: BucketLexicon, other_nouns: Mapping[tuple[int, int], Sequence[QuestionToken]]
) -> BucketReading:
    own_starts = {link.first for link in _own_nouns_of(reading, lexicon)}
    explained = {token.word for (_, last), tokens in other_nouns.items() if last in own_starts for token in tokens}
    roles = {
        word: WordRole.EXPLAINED if word.casefold() in explained and role is WordRole.UNKNOWN else role
        for word, role in reading.word_roles.items()
    }
    return replace(reading, word_roles=roles) if roles != reading.word_roles else reading


def _own_nouns_of(reading: BucketReading, lexicon: BucketLexicon) -> list[SpanLink]:
    """Returns the names of the bucket in the question, in order."""
    nouns = (link for link in reading.links if _is_own_noun(link, reading, lexicon))
    return sorted(nouns, key=lambda link: link.first)


def _is_own_noun(link: SpanLink, reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """Whether the link is one of the bucket's own names, also where one of its fields has the same name."""
    if isinstance(link.meaning, BucketNoun):
        return link.weight >= _MIN_NOUN_WEIGHT
    if not isinstance(link.meaning, FieldMention) or link.meaning.column is not None or link.meaning.is_hint:
        return False
    phrase = " ".join(token.word for token in reading.tokens[link.first : link.last])
    return lexicon.names_documents(phrase)


def _own_kinds_of(reading: BucketReading, lexicon: BucketLexicon) -> Mapping[int, int]:
    """Returns the first token of each kind of the bucket's documents in the question, and the token behind it."""
    return {link.first: link.last for link in reading.links if _names_own_kind(link, reading, lexicon)}


def _names_own_kind(link: SpanLink, reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """ "List all *tankers*", "how many *rescue boats*": whether the words are a kind of the bucket's documents.

    Either the field says what kind of thing a document is, or the words end in a noun of the bucket. A value that
    documents only have, as a firm has its products, is not a kind of them.
    """
    meaning = link.meaning
    if link.last < len(reading.tokens) and looks_plural(reading.tokens[link.last]):
        return False  # "bus drivers" are not buses
    if isinstance(meaning, FieldMention):  # "which *course* …" of documents that a field `course` names
        is_noun = meaning.column is None and not (meaning.is_hint or meaning.is_question)
        return is_noun and lexicon.is_identifying(meaning.field)
    if not isinstance(meaning, (ValueMatch, PartialMatch)) or meaning.column is not None:
        return False
    field = lexicon.get_field(meaning.field)
    if field.type is not FieldType.CATEGORY or meaning.field in lexicon.schema.references:
        return False
    is_kind = fold_text(field.label).split()[-1] in _KIND_LABELS
    return is_kind or lexicon.names_documents(reading.tokens[link.last - 1].word)


def _find_counted_buckets(
    readings: Sequence[BucketReading], lexicons: Mapping[BucketId, BucketLexicon]
) -> frozenset[BucketId]:
    """ "Which depot has the most *trips*": returns the buckets with the noun after "most", if a field is asked for."""
    if AMOUNT_SUPERLATIVES.isdisjoint(token.word for reading in readings[:1] for token in reading.tokens):
        return frozenset()
    return frozenset(
        reading.bucket
        for reading in readings
        for link in _own_nouns_of(reading, lexicons[reading.bucket])
        if AMOUNT_SUPERLATIVES
        & {token.word for token in reading.tokens[max(link.first - _MAX_MODIFIERS - 1, 0) : link.first]}
        and any(isinstance(other.meaning, FieldMention) and other.first in (1, 2) for other in reading.links)
        and reading.tokens[0].word in QUESTION_WORDS
    )


def _find_serving_buckets(
    readings: Sequence[BucketReading], lexicons: Mapping[BucketId, BucketLexicon]
) -> frozenset[BucketId]:
    """ "The longest *serving* cook": returns the buckets of people that know one of the other words."""
    if not any(token.word in _SERVING_WORDS for reading in readings[:1] for token in reading.tokens):
        return frozenset()
    return frozenset(
        reading.bucket
        for reading in readings
        if reading.links
        and lexicons[reading.bucket].roles.holds_people
        and any(
            function_of_superlative((first.word,)) is not None and second.word in _SERVING_WORDS
            for first, second in pairwise(reading.tokens)
        )
    )


_SPENDING_VERBS = frozenset("spent spend spends spending bought buy buys buying paid pay pays paying billed".split())


def prefer_asked_buckets(
    readings: Sequence[BucketReading], lexicons: Mapping[BucketId, BucketLexicon]
) -> list[BucketReading]:
    """Returns the readings with a higher score for those whose noun the question asks for, or counts."""
    asked = (
        _find_counted_buckets(readings, lexicons)
        or _find_serving_buckets(readings, lexicons)
        or find_asked_buckets(readings, lexicons)
    )
    return [
        replace(reading, score=reading.score + _ASKED_NOUN_BONUS) if reading.bucket in asked else reading
        for reading in readings
    ]


def prefer_buckets_of_money(
    readings: Sequence[BucketReading], lexicons: Mapping[BucketId, BucketLexicon]
) -> list[BucketReading]:
    """ "Which customer has *spent the most*": returns the readings with the best one of a bucket that holds amounts and
    names the customers first, where the bucket of the customers has no amounts.
    """
    best = max(readings, key=lambda reading: reading.score, default=None)
    words = {token.word for token in best.tokens} if best is not None else set[str]()
    if best is None or words.isdisjoint(AMOUNT_SUPERLATIVES) or words.isdisjoint(_SPENDING_VERBS):
        return list(readings)
    paying = [reading for reading in readings if lexicons[reading.bucket].roles.sums_of_money]
    named = [reading for reading in paying if any(not mention.is_hint for mention in reading.asked_mentions)]
    if not named or best in paying:
        return list(readings)
    preferred = max(named, key=lambda reading: reading.score)
    return [
        replace(reading, score=best.score + _ASKED_NOUN_BONUS) if reading is preferred else reading
        for reading in readings
    ]
