"""What a number without a unit stands for, unless it compares a field: a rank, a count of documents, an identifier."""

from collections.abc import Sequence, Set

from agent.english.function_words import (
    AGGREGATE_WORDS,
    COMPARATORS,
    FILLER_WORDS,
    MEASURE_NOUNS,
    PREPOSITIONS,
    RELATING_VERBS,
    STOP_WORDS,
)
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention, SpanLink
from agent.rules.literals.literal_types import LiteralSpan, QuantityLiteral
from agent.rules.words.tokens import QuestionToken, looks_plural
from storage.search.analyser import fold_text

_NO_NOUNS = (
    STOP_WORDS | FILLER_WORDS | COMPARATORS | PREPOSITIONS | AGGREGATE_WORDS | RELATING_VERBS | MEASURE_NOUNS.keys()
)
_VERB_ENDINGS = ("ing", "ed", "s")


def is_rank_or_count(literal_span: LiteralSpan, noun_boundaries: Set[int], tokens: Sequence[QuestionToken]) -> bool:
    """ "Contract 17", "5 contracts", "top 5": whether the number names or counts documents and compares no field."""
    literal, first, last = literal_span
    is_bare = isinstance(literal, QuantityLiteral) and literal.is_bare and not (literal.currency or literal.is_age)
    follows_rank = first > 0 and tokens[first - 1].word in ("top", "first", "last", "bottom")
    return is_bare and ((first > 0 and -first in noun_boundaries) or last in noun_boundaries or follows_rank)


def is_identifier(
    literal_span: LiteralSpan,
    tokens: Sequence[QuestionToken],
    links: Sequence[SpanLink],
    lexicon: BucketLexicon,
) -> bool:
    """ "Room 214", "line 12": whether the number names a thing, with its noun in the singular before it."""
    literal, first, last = literal_span
    if (
        not isinstance(literal, QuantityLiteral)
        or not literal.is_bare
        or literal.currency
        or literal.is_rate
        or literal.is_ordinal
    ):
        return False
    if first == 0 or literal.is_age or _counts_noun(last, tokens, links):
        return False
    token = tokens[first - 1]
    mentions = [link.meaning for link in links if isinstance(link.meaning, FieldMention) and link.last == first]
    if mentions:
        return all(_counts_things(mention, token, lexicon) for mention in mentions)
    is_noun = token.word.isalpha() and token.word not in _NO_NOUNS and not token.word.endswith(_VERB_ENDINGS)
    return is_noun and not token.is_quoted and not literal.unit


def _counts_noun(last: int, tokens: Sequence[QuestionToken], links: Sequence[SpanLink]) -> bool:
    """ "Seat 50 *guests*": whether a plural noun or a field's name follows the number."""
    if last >= len(tokens):
        return False
    return looks_plural(tokens[last]) or any(
        isinstance(link.meaning, FieldMention) and link.first == last for link in links
    )


def _counts_things(mention: FieldMention, token: QuestionToken, lexicon: BucketLexicon) -> bool:
    """ "Room 214", of a field "rooms": whether the field counts what the token names in the singular."""
    label_words = fold_text(lexicon.get_field(mention.field, mention.column).label).split()
    return token.word not in label_words and f"{token.word}s" in label_words
