"""Tells the parts of a bucket apart by the words in their names: "jobs in the *north*" are those of `jobs_north`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, SpanLink
from agent.rules.linking.link_filter import content_coverage
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.words.tokens import QuestionToken, looks_plural
from storage.search.analyser import fold_text
from storage.search.bucket_parts import PART_SEPARATOR, is_part, parts_among, whole_bucket_of
from storage.search.ids import BucketId

_DETERMINERS = frozenset({"the", "our", "your"})
_PLACE_PREPOSITIONS = frozenset({"in", "from", "for"})
_NAMED_PART_BONUS = 8.0  # more than a part gets for a noun that the question asks for, and for knowing it


def prefer_named_parts(
    readings: Sequence[BucketReading], lexicons: Mapping[BucketId, BucketLexicon]
) -> list[BucketReading]:
    """Returns the readings with a higher score for a part that alone has a word of the question in its name.

    The word must have no other meaning in the reading, and none in those of the other parts. The word, and a noun of
    another part beside it ("the *jobs* in the north"), are explained there.
    """
    parts = sorted((reading for reading in readings if is_part(reading.bucket)), key=lambda reading: reading.bucket)
    named = dict[BucketId, BucketReading]()
    for _, group in groupby(parts, key=lambda reading: whole_bucket_of(reading.bucket)):
        siblings = list(group)
        if (part := _find_named_part(siblings, lexicons)) is not None:
            named[part.bucket] = part
    return [named.get(reading.bucket, reading) for reading in readings]


def find_sibling_readings(best: BucketReading, readings: Sequence[BucketReading]) -> list[BucketReading]:
    """Returns the readings of other parts of the same kind that understand the question as well as the best one.

    They are tables of another year or another site: `orders_2025` and `orders_2026`. None if the question names what
    tells the best part from them.
    """
    if not is_part(best.bucket):
        return []
    own_words, asked = _words_of_name(best.bucket), {token.word for token in best.tokens}
    return [
        reading
        for reading in readings
        if reading.bucket != best.bucket
        and whole_bucket_of(reading.bucket) == whole_bucket_of(best.bucket)
        and (other_words := _words_of_name(reading.bucket)) & own_words
        and not (own_words ^ other_words) & asked
        and reading.has_noun == best.has_noun
        and len(reading.conditions) == len(best.conditions)
        and len(reading.unlinked_words) <= len(best.unlinked_words)
    ]


def list_words_naming_part(
    tokens: Sequence[QuestionToken], bucket: BucketId, lexicons: Mapping[BucketId, BucketLexicon]
) -> Iterator[str]:
    """Yields the words that are in the name of the part, or a noun of another part; none for a whole bucket."""
    if not is_part(bucket):
        return
    stems = _stems_of_name(lexicons[bucket])
    yield from (token.word for token in tokens if token.stem in stems)
    for sibling in parts_among(lexicons, whole_bucket_of(bucket)):
        nouns = filter(_is_noun, lexicons[sibling].find_links(tokens))
        yield from (tokens[index].word for link in nouns for index in range(link.first, link.last))


def _find_named_part(
    siblings: Sequence[BucketReading], lexicons: Mapping[BucketId, BucketLexicon]
) -> BucketReading | None:
    """Returns the reading of the named part, with its higher score; None if the question names none, or several."""
    stems = {reading.bucket: _stems_of_name(lexicons[reading.bucket]) for reading in siblings}
    used = [_tokens_with_meaning(reading) for reading in siblings]
    noun_starts = {link.first for reading in siblings for link in reading.links if _is_noun(link)}
    named = [
        (reading, tokens)
        for reading in siblings
        if (
            tokens := {
                index
                for index, token in enumerate(reading.tokens)
                if token.stem in stems[reading.bucket]
                and sum(token.stem in other for other in stems.values()) == 1
                and not any(index in own for own in used)
                and (index + 1 in noun_starts or _follows_place_preposition(reading.tokens, index))
                and not looks_plural(token)  # "the *jobs* in the north": what a part holds tells parts apart less
            }
        )
    ]
    if len(named) != 1 or len(siblings) == 1:
        return None
    reading, tokens = named[0]
    spans = {(link.first, link.last) for other in siblings for link in other.links if _is_noun(link)}
    spans |= {(index, index + 1) for index in tokens}
    linked = {index for link in reading.links for index in range(link.first, link.last)} | reading.literal_tokens
    nouns: list[SpanLink] = []
    for first, last in sorted(spans, key=lambda span: (span[0], -span[1])):
        if linked.isdisjoint(range(first, last)):
            nouns.append(SpanLink(first=first, last=last, meaning=BucketNoun(), weight=0.0))
            linked.update(range(first, last))
    explained = {reading.tokens[index].word.casefold() for noun in nouns for index in range(noun.first, noun.last)}
    unlinked = tuple(word for word in reading.unlinked_words if word.casefold() not in explained)
    return replace(
        reading,
        score=reading.score + _NAMED_PART_BONUS,
        links=(*reading.links, *nouns),
        has_noun=True,
        unlinked_words=unlinked,
        word_roles={word: role for word, role in reading.word_roles.items() if word.casefold() not in explained},
        coverage=max(reading.coverage, content_coverage(reading.tokens, unlinked)),
    )


def _follows_place_preposition(tokens: Sequence[QuestionToken], index: int) -> bool:
    """ "In the *north*": whether a preposition of places appears before the word; elsewhere it may be a verb."""
    before = [token.word for token in tokens[max(index - 2, 0) : index]]
    if before and before[-1] in _DETERMINERS:
        before.pop()
    return bool(before) and before[-1] in _PLACE_PREPOSITIONS


def _stems_of_name(lexicon: BucketLexicon) -> frozenset[str]:
    """Returns the stems of the words in the name of the part, without numbers."""
    words = lexicon.schema.bucket.rpartition(PART_SEPARATOR)[2].replace("_", " ").replace("-", " ")
    return frozenset(stem for stem in lexicon.stems_in(words) if stem.isalpha())


def _words_of_name(part: BucketId) -> frozenset[str]:
    """Returns the words in the name of the part, folded, without numbers."""
    name = part.rpartition(PART_SEPARATOR)[2].replace("_", " ").replace("-", " ")
    return frozenset(word for word in fold_text(name).split() if word.isalpha())


def _tokens_with_meaning(reading: BucketReading) -> frozenset[int]:
    """Returns the tokens that are a value or a field, or belong to a literal."""
    linked = (index for link in reading.links if not _is_noun(link) for index in range(link.first, link.last))
    return frozenset(linked) | reading.literal_tokens


def _is_noun(link: SpanLink) -> bool:
    return isinstance(link.meaning, BucketNoun)
