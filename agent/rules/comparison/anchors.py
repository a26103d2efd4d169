"""Anchors of a comparison: the values, nouns, dates, numbers, identifiers and unknown words in a question."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from agent.english.function_words import (
    AGGREGATE_WORDS,
    FILLER_WORDS,
    MEASURE_NOUNS,
    PERIOD_WORDS,
    STOP_WORDS,
    SUMMARY_WORDS,
)
from agent.rules.comparison.cues import MaskedQuestion
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, PartialMatch, ValueMatch
from agent.rules.literals.literal_types import DateLiteral, QuestionLiteral
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.words.tokens import QuestionToken
from storage.search.conditions import ComparisonOperator
from storage.search.ids import FieldName

WORD_WEIGHT = 0.6
COORDINATORS = frozenset({"and", "or", "nor", "&"})
CONTRAST_WORDS = frozenset({"with", "to", "against", "from", "than", "versus", "vs", "v"})
_UNINFORMATIVE_WORDS = (
    STOP_WORDS
    | FILLER_WORDS
    | AGGREGATE_WORDS
    | SUMMARY_WORDS
    | CONTRAST_WORDS
    | MEASURE_NOUNS.keys()
    | PERIOD_WORDS.keys()
)
AnchorKind: TypeAlias = str | tuple[FieldName, FieldName | None]  # the field of a value, or one of the kinds below
NOUN_KIND, DATE_KIND, NUMBER_KIND, IDENTIFIER_KIND, WORD_KIND = "noun", "days", "number", "identifier", "word"


@dataclass(frozen=True, slots=True)
class ComparisonAnchor:
    """`tokens[first:last]` name a thing of the kind `kind`."""

    first: int
    last: int
    kind: AnchorKind
    weight: float


def find_anchors(
    question: MaskedQuestion, readings: Sequence[BucketReading], literals: Sequence[QuestionLiteral]
) -> list[ComparisonAnchor]:
    """Returns the anchors in order: values, nouns, numbers, dates, and words without a meaning."""
    best_reading, tokens = readings[0], readings[0].tokens
    anchors: list[ComparisonAnchor] = []
    covered_tokens: set[int] = set()
    for link in best_reading.links:
        covered_tokens |= set(range(link.first, link.last))
        match link.meaning:
            case ValueMatch(field=field, column=column) | PartialMatch(field=field, column=column):
                anchors.append(ComparisonAnchor(link.first, link.last, (field, column), 1.0))
            case BucketNoun():
                anchors.append(ComparisonAnchor(link.first, link.last, NOUN_KIND, 0.4))
            case FieldMention():
                pass
    for literal in literals:
        indexes = [
            index
            for index, token in enumerate(tokens)
            if token.start >= literal.number_start and token.end <= literal.end
        ]
        if indexes and not set(indexes) & covered_tokens:
            covered_tokens |= set(indexes)
            if _may_be_side(literal):
                anchors.append(
                    ComparisonAnchor(
                        indexes[0], indexes[-1] + 1, DATE_KIND if isinstance(literal, DateLiteral) else NUMBER_KIND, 1.0
                    )
                )
    anchors += [ComparisonAnchor(index, index + 1, NOUN_KIND, 0.4) for index in _noun_substitutes(tokens, anchors)]
    for first, last in _find_unknown_runs(tokens, covered_tokens, question):
        is_identifier = any(char.isdigit() for token in tokens[first:last] for char in token.word)
        anchors.append(
            ComparisonAnchor(
                first, last, IDENTIFIER_KIND if is_identifier else WORD_KIND, 1.0 if is_identifier else WORD_WEIGHT
            )
        )
    return sorted(anchors, key=lambda anchor: anchor.first)


def _noun_substitutes(tokens: Sequence[QuestionToken], anchors: Sequence[ComparisonAnchor]) -> Iterator[int]:
    """ "The A agreement and the B *one*": yields the tokens that stand for the noun."""
    anchor_ends = {anchor.last for anchor in anchors}
    for index, token in enumerate(tokens):
        word_after = tokens[index + 1].word if index + 1 < len(tokens) else ""
        if token.word in ("one", "ones") and index in anchor_ends and word_after != "of":
            yield index


def _may_be_side(literal: QuestionLiteral) -> bool:
    """Whether the literal may be a side; a literal with a comparator ("over 50") is a condition."""
    return literal.op is ComparisonOperator.EQ or (
        isinstance(literal, DateLiteral) and literal.op is ComparisonOperator.BETWEEN
    )


def _find_unknown_runs(
    tokens: Sequence[QuestionToken], covered_tokens: set[int], question: MaskedQuestion
) -> Iterator[tuple[int, int]]:
    """Yields the spans of content words without a meaning in the bucket."""
    run: list[int] = []
    for index, token in enumerate(tokens):
        is_uninformative = token.word in _UNINFORMATIVE_WORDS or (index == 0 and _has_opening_verb(tokens))
        if index in covered_tokens or (is_uninformative and not token.is_quoted):
            if run:
                yield run[0], run[-1] + 1
            run = []
            continue
        if run and _is_separated(tokens[run[-1]].end, token.start, question):
            yield run[0], run[-1] + 1
            run = []
        run.append(index)
    if run:
        yield run[0], run[-1] + 1


def _is_separated(end: int, start: int, question: MaskedQuestion) -> bool:
    """Whether punctuation or a blanked cue appears between two words."""
    gap = question.text[end:start]
    return any(mark in gap for mark in (",", ";", ":", " /", "/ ")) or any(
        end <= first and last <= start for first, last in question.cue_spans
    )


def _has_opening_verb(tokens: Sequence[QuestionToken]) -> bool:
    """ "Put the one beside the other": whether the question opens with a verb of asking."""
    return len(tokens) > 1 and tokens[1].word in STOP_WORDS and tokens[1].word not in COORDINATORS


def speaks_in_plural(reading: BucketReading) -> bool:
    """Whether a noun for the documents is in the plural."""
    nouns = (reading.tokens[link.last - 1].word for link in reading.links if isinstance(link.meaning, BucketNoun))
    return any(word.endswith("s") and not word.endswith("ss") for word in nouns)
