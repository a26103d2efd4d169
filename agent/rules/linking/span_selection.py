"""Span selection: the best set of meanings that do not overlap, and the tokens that are negated."""

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import date

from agent.assumptions import Assumption
from agent.english.function_words import (
    AGGREGATE_WORDS,
    CONTRACTED_NEGATIONS,
    DISJUNCTIONS,
    FILLER_WORDS,
    NEGATION_PAIRS,
    NEGATIONS,
    RELATIVE_PRONOUNS,
    STOP_WORDS,
)
from agent.english.inflection import PARTICIPLE_ENDINGS
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, PartialMatch, SpanLink, ValueMatch
from agent.rules.linking.exclusions import ExclusionPhrases
from agent.rules.linking.label_similarity import WordSimilarities
from agent.rules.linking.state_spans import StateSpan
from agent.rules.literals.literal_types import LiteralSpan, QuantityLiteral, QuestionLiteral
from agent.rules.words.tokens import QuestionToken
from storage.quantities.measures import SCALE_LETTERS
from storage.quantities.units import convert_unit, parse_unit
from storage.search.schema import FieldType

LITERAL_WEIGHT = 2.1
_NEGATING_WORDS = NEGATIONS | CONTRACTED_NEGATIONS | {first for first, _ in NEGATION_PAIRS}


@dataclass(slots=True, kw_only=True)
class SpanUsage:
    """What of a selection has given a condition so far. The builders of conditions add to it, in their order."""

    links: set[int] = field(default_factory=set[int])  # indexes of mentions that gave a condition
    tokens: set[int] = field(default_factory=set[int])  # tokens used for a condition, with no other meaning
    assumptions: list[Assumption] = field(default_factory=list[Assumption])


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanSelection:
    """The selected meanings of one question in one bucket; only `usage` changes while conditions are built."""

    lexicon: BucketLexicon
    question: str
    tokens: tuple[QuestionToken, ...]
    links: tuple[SpanLink, ...]
    measure_links: tuple[SpanLink, ...]  # mentions of a field by a word of measure: "wider than" mentions width
    rival_links: tuple[SpanLink, ...]  # all readings of words as values
    literal_spans: tuple[LiteralSpan, ...]
    negated_tokens: Set[int]
    doubly_negated_tokens: Set[int]  # "leaving out those *without* …"
    exclusions: ExclusionPhrases
    states: tuple[StateSpan, ...]  # words that say whether something lasts or is over
    today: date | None  # in the asker's time zone; None: no date is compared with today
    similarities: WordSimilarities
    usage: SpanUsage

    def without_literal(self, literal: QuestionLiteral | None) -> "SpanSelection":
        """Returns the selection, with the same usage, without a literal that binds to no field."""
        return replace(self, literal_spans=tuple(span for span in self.literal_spans if span[0] is not literal))

    def without_states(self, tokens: range) -> "SpanSelection":
        """Returns the selection, with the same usage, without the states that these tokens would tell."""
        states = (span for span in self.states if not set(tokens).issuperset(range(span.first, span.last)))
        return replace(self, states=tuple(states))


def literal_extent_in(literal: QuestionLiteral, lexicon: BucketLexicon) -> tuple[int, int]:
    """Returns start and end of the literal, without a word after the number that is not a unit here nor elsewhere."""
    if (
        isinstance(literal, QuantityLiteral)
        and literal.unit
        and not (is_measured_in(literal.unit) or has_known_unit(literal, lexicon))
    ):
        return literal.start, min(literal.end, literal.unit_start)
    return literal.start, literal.end


def has_known_unit(literal: QuantityLiteral, lexicon: BucketLexicon) -> bool:
    return any(convert_unit(literal.low, literal.unit, unit) is not None for unit in lexicon.field_units)


def is_measured_in(unit: str) -> bool:
    """Whether the word is a unit of measurement or a scale, not a noun that a number counts."""
    return unit in SCALE_LETTERS or parse_unit(unit) is not None


def token_range_in(tokens: Sequence[QuestionToken], start: int, end: int) -> tuple[int, int]:
    indexes = [
        index for index, token in enumerate(tokens) if token.start >= start and token.end <= end and not token.is_quoted
    ]
    return (indexes[0], indexes[-1] + 1) if indexes else (0, 0)


def select_spans(
    token_count: int, links: Sequence[SpanLink], literal_spans: Sequence[LiteralSpan]
) -> tuple[list[SpanLink], list[LiteralSpan]]:
    """Returns the links and literals that do not overlap and have the greatest total weight.

    The method is weighted interval scheduling.
    """
    spans_by_end: dict[int, list[tuple[int, float, SpanLink | LiteralSpan]]] = defaultdict(list)
    for link in links:
        spans_by_end[link.last].append((link.first, link.weight, link))
    for span in literal_spans:
        spans_by_end[span[2]].append((span[1], LITERAL_WEIGHT * (span[2] - span[1]), span))
    best: list[tuple[float, tuple[SpanLink | LiteralSpan, ...]]] = [(0.0, ())]
    for index in range(1, token_count + 1):
        best_here = best[index - 1]
        for first, weight, item in spans_by_end[index]:
            total = best[first][0] + weight
            if total > best_here[0] + 1e-9:
                best_here = (total, (*best[first][1], item))
        best.append(best_here)
    chosen = best[token_count][1]
    return [item for item in chosen if isinstance(item, SpanLink)], [item for item in chosen if isinstance(item, tuple)]


def find_negated_tokens(
    tokens: Sequence[QuestionToken],
    links: Sequence[SpanLink],
    compared_tokens: Set[int],
    lexicon: BucketLexicon,
    *,
    already_read: Set[int] = frozenset(),
) -> set[int]:
    """Returns the negated tokens: from a negating word to the end of its clause or list.

    The negating words in `already_read` belong to phrases whose scope is known (`exclusions`).

    A negating word that is part of a comparison ("didn't even reach 5", `compared_tokens`) negates nothing else.
    """
    if _NEGATING_WORDS.isdisjoint(token.word for token in tokens):
        return set()
    covered_tokens = {
        index
        for link in links
        if not isinstance(link.meaning, FieldMention) or link.meaning.is_negated
        for index in range(link.first, link.last)
    }
    negated: set[int] = set()
    for index, token in enumerate(tokens):
        word = token.word
        is_pair = index + 1 < len(tokens) and (word, tokens[index + 1].word) in NEGATION_PAIRS
        is_contracted = word in CONTRACTED_NEGATIONS and (
            word == "cannot" or (index + 1 < len(tokens) and tokens[index + 1].word == "t")
        )
        if (
            token.is_quoted
            or index in covered_tokens
            or index in compared_tokens
            or index in already_read
            or not (is_pair or is_contracted or word in NEGATIONS)
        ):
            continue
        if word == "non" and any(link.first <= index < link.last for link in links):
            continue  # "the non-renewal notice": part of a field's name
        if word == "non":
            negated.add(index + 1)  # "non-vegetarian French dishes": only the next word is negated
            continue
        if word == "no" and _is_number_abbreviation(tokens[index + 1 :], links, index):
            continue  # "CAS no. of"
        if word == "no" and tokens[index + 1 : index + 2] and tokens[index + 1].word in _WORDS_AFTER_NO_IN_NOUNS:
            continue  # "no-shows in October"
        if word == "minus" and index + 1 < len(tokens) and tokens[index + 1].word.isdigit():
            continue  # a sign
        if word in ("no", "not") and index + 2 < len(tokens) and tokens[index + 2].word == "than":
            continue  # "no more than": a comparator
        negated.update(_negation_scope(index + 1, tokens, links, compared_tokens, lexicon))
    return negated


def _is_number_abbreviation(following_tokens: Sequence[QuestionToken], links: Sequence[SpanLink], index: int) -> bool:
    """Whether "no." stands for "number", after a mention of a field."""
    follows_mention = any(isinstance(link.meaning, FieldMention) and link.last in (index, index + 1) for link in links)
    return follows_mention and (not following_tokens or following_tokens[0].word in ("of", "for", "is", "in"))


_WORDS_AFTER_NO_IN_NOUNS = frozenset({"show", "shows"})
_ARTICLES_AND_PREPOSITIONS = frozenset({"a", "an", "the", "any", "by", "from", "in", "with", "at", "of", "for"})
_MAX_NEGATION_DISTANCE = 5  # tokens from a negation to the token that it negates


def _negation_scope(
    start: int,
    tokens: Sequence[QuestionToken],
    links: Sequence[SpanLink],
    compared_tokens: Set[int],
    lexicon: BucketLexicon,
) -> Iterator[int]:
    """Yields the tokens from the negation to the first one it can negate, and on through a list ("or", "nor")."""
    linked_tokens = {
        index
        for link in links
        if not isinstance(link.meaning, BucketNoun) and not _leads_to_value(link, links, tokens, lexicon)
        for index in range(link.first, link.last)
    }
    has_negated = after_disjunction = False
    for index in range(start, len(tokens)):
        word = tokens[index].word
        if has_negated and tokens[index].begins_sentence:
            return
        if has_negated and not after_disjunction and index in compared_tokens and index - 1 not in compared_tokens:
            return  # "not sold out next month": the comparison is another phrase
        if (
            index in linked_tokens
            or tokens[index].is_quoted
            or (_is_content_word(word) and not _names_noun_or_field(index, links))
        ):
            if (
                has_negated
                and not after_disjunction
                and index - 1 not in linked_tokens
                and not _is_content_word(tokens[index - 1].word)
            ):
                return  # another phrase
            has_negated, after_disjunction = True, False
        elif has_negated and (word in DISJUNCTIONS or word == "nor"):
            after_disjunction = True
        elif (
            not (after_disjunction and word in _ARTICLES_AND_PREPOSITIONS)
            if has_negated
            else _is_beyond_negation(index - start, word) and not _goes_on_after_pronoun(index, tokens)
        ):
            return
        yield index


def _is_beyond_negation(distance: int, word: str) -> bool:
    """Whether the word is too far from the negation or starts a new clause."""
    return distance > _MAX_NEGATION_DISTANCE or (word in _CLAUSE_BOUNDARIES and distance > 0)


def _goes_on_after_pronoun(index: int, tokens: Sequence[QuestionToken]) -> bool:
    """ "Leaving out any *that* have lapsed": whether a relative clause says what the pronoun before it stands for."""
    return tokens[index].word in RELATIVE_PRONOUNS and tokens[index - 1].word in _PRONOUNS_BEFORE_CLAUSE


def _leads_to_value(
    link: SpanLink, links: Sequence[SpanLink], tokens: Sequence[QuestionToken], lexicon: BucketLexicon
) -> bool:
    """ "Not *dated* from 2017", "not *sponsored* by Acme": whether the link mentions a field whose value follows.

    After a participle, the value of another field is negated as well: "not *sent* by Acme", where "sent" is a date.
    """
    word_after = tokens[link.last].word if link.last < len(tokens) else ""
    if not isinstance(link.meaning, FieldMention) or lexicon.is_flag(link.meaning):
        return False
    value_index = link.last + (word_after in _ARTICLES_AND_PREPOSITIONS)
    if any(
        isinstance(other.meaning, (ValueMatch, PartialMatch))
        and other.first == value_index
        and (other.meaning.field == link.meaning.field or _is_participle_before(link, value_index, tokens))
        for other in links
    ):
        return True
    is_day = lexicon.get_field(link.meaning.field, link.meaning.column).type is FieldType.DATE
    return word_after in ("is", "are", "was", "were") or (
        is_day
        and word_after in ("from", "in", "at", "before", "after", "on", "since", "by", "until", "during", "within")
    )


def _is_participle_before(link: SpanLink, value_index: int, tokens: Sequence[QuestionToken]) -> bool:
    """Whether the link is a participle, with a preposition between it and the value."""
    is_single = link.last - link.first == 1 and value_index == link.last + 1
    return is_single and tokens[link.first].word.endswith(PARTICIPLE_ENDINGS)


_PRONOUNS_BEFORE_CLAUSE = frozenset("any those ones all anything anyone everyone everything them one".split())
_CLAUSE_BOUNDARIES = frozenset({"and", "but", "that", "which", "with"})


def _is_content_word(word: str) -> bool:
    return word not in STOP_WORDS and word not in FILLER_WORDS and word not in AGGREGATE_WORDS and len(word) > 1


def _names_noun_or_field(index: int, links: Sequence[SpanLink]) -> bool:
    """Whether the token is part of a bucket noun or a field mention."""
    return any(
        isinstance(link.meaning, (BucketNoun, FieldMention)) and link.first <= index < link.last for link in links
    )
