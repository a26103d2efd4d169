"""Splits of a question at a number of documents: "owners with *at least 3 loans*", "owners *without a loan*"."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent.english.function_words import CONTRACTED_NEGATIONS, LACK_WORDS, PREPOSITIONS, RELATIVE_PRONOUNS, STOP_WORDS
from agent.rules.linking.link_filter import is_content_word
from agent.rules.literals.literal_types import QuantityLiteral, QuestionLiteral
from agent.rules.nested.joins import DocumentCount
from agent.rules.nested.question_splits import QuestionSplit
from agent.rules.words.tokens import QuestionToken
from storage.search.conditions import ComparisonOperator

_NEGATORS = LACK_WORDS | CONTRACTED_NEGATIONS | frozenset("not never cannot".split())
_BEFORE_NEGATOR = RELATIVE_PRONOUNS | frozenset(
    "is are was were has have had do does did with there been be still and but".split()
)
_BEHIND_NEGATOR = STOP_WORDS | frozenset("single any ever one yet a an the t so far out up off in on to for".split())
_NO_MODIFIERS = RELATIVE_PRONOUNS | PREPOSITIONS
_MAX_VERBS = 1  # between the negator and what is lacking: "never *had* a loan", "do not *keep* lenses"
_MAX_NUMBER_DISTANCE = 4  # tokens between a number and the noun that it counts


def count_documents_in(
    split: QuestionSplit, question: str, tokens: Sequence[QuestionToken], literals: Sequence[QuestionLiteral]
) -> Iterator[QuestionSplit]:
    """Yields the split as one at a number of documents, if a number or a negation appears before its inner words."""
    if not split.join.can_be_counted:
        return
    first = next((index for index, token in enumerate(tokens) if token.start >= split.start), len(tokens))
    while first < len(tokens) and tokens[first].word in _NEGATORS | _BEHIND_NEGATOR:
        first += 1  # "*no* navigable rivers"
    if first == len(tokens) or tokens[first].start >= split.end:
        return
    negated_start = _start_of_negation(tokens, first)
    if negated_start is not None:
        negated = replace(split, start=negated_start, count=DocumentCount(least=0, most=0), is_left_out=True)
        for start in _starts_behind_negation(tokens, first):
            yield replace(negated, inner_text=question[start : split.end])
        return
    for literal in literals:
        counted = _count_by_literal(split, question, tokens, literal)
        if counted is not None:
            yield counted


def _start_of_negation(tokens: Sequence[QuestionToken], first: int) -> int | None:
    """Returns where the words begin that negate the phrase at the token `first`; None if none do."""
    index, verb_count = first - 1, 0
    while index >= 0 and tokens[index].word not in _NEGATORS:
        token = tokens[index]
        if token.is_name or token.is_quoted:
            return None
        if is_content_word(token) and token.word not in _BEHIND_NEGATOR:
            verb_count += 1
        if verb_count > _MAX_VERBS or token.word in RELATIVE_PRONOUNS:
            return None
        index -= 1
    if index < 0:
        return None
    while index > 1 and tokens[index - 1].word in _BEFORE_NEGATOR:
        index -= 1
    return tokens[index].start


def _starts_behind_negation(tokens: Sequence[QuestionToken], first: int) -> Iterator[int]:
    """Yields where the inner words may begin: the words behind the negator are verbs or modify the noun."""
    index = first
    while tokens[index - 1].word not in _NEGATORS:
        index -= 1
        if is_content_word(tokens[index]) and tokens[index].word not in _BEHIND_NEGATOR:
            yield tokens[index].start
    yield tokens[first].start


def _count_by_literal(
    split: QuestionSplit, question: str, tokens: Sequence[QuestionToken], literal: QuestionLiteral
) -> QuestionSplit | None:
    if not isinstance(literal, QuantityLiteral) or literal.currency or literal.is_ordinal or literal.is_article:
        return None
    number_end = max((token.end for token in tokens if token.start <= literal.number_start), default=0)
    begin = literal.end if literal.tail_start is not None else number_end
    between = [token for token in tokens if begin <= token.start < split.start]
    is_near = literal.start < begin <= split.start and len(between) <= _MAX_NUMBER_DISTANCE
    if not is_near or any(token.word in _NO_MODIFIERS for token in between):
        return None
    count = _count_of(literal)
    if count is None:
        return None
    inner_start = between[0].start if between else split.start
    inner_text = question[inner_start : split.end]
    return replace(split, start=literal.start, inner_text=inner_text, count=count, is_left_out=True)


def _count_of(literal: QuantityLiteral) -> DocumentCount | None:
    if literal.low != int(literal.low) or literal.low < 0:
        return None
    low = int(literal.low)
    match literal.op:
        case ComparisonOperator.GTE:
            return DocumentCount(least=max(low, 1))
        case ComparisonOperator.GT:
            return DocumentCount(least=low + 1)
        case ComparisonOperator.LT:
            return DocumentCount(least=0, most=low - 1) if low else None
        case ComparisonOperator.LTE:
            return DocumentCount(least=0, most=low)
        case ComparisonOperator.BETWEEN:
            return None if literal.high is None else DocumentCount(least=max(low, 1), most=int(literal.high))
        case ComparisonOperator.EQ:
            return DocumentCount(least=low, most=low)
        case _:
            return None
