"""Conditions for days that are not given: "overdue" and "due", "back from the lab" and "still at the lab".

What is overdue has its day in the past, and nothing says that the matter is settled.
"""

from collections.abc import Iterator, Sequence

from agent.english.date_roles import ARRIVAL_PARTICLES, DUE_WORDS, SETTLED_WORDS, tells_arrival, tells_settling
from agent.english.function_words import FORMS_OF_BE, NEGATIONS
from agent.english.state_words import name_words_of
from agent.rules.binding.field_fit import is_deadline, words_of_field
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention, SpanLink
from agent.rules.linking.span_selection import SpanSelection
from agent.rules.literals.literal_types import DateLiteral
from agent.rules.words.tokens import QuestionToken
from storage.search.conditions import (
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    NotCondition,
    conjunction_of,
)
from storage.search.schema import FieldType, SchemaField

_HINT_WEIGHT = 0.4  # less than every other meaning
_WORDS_BEFORE_DUE = FORMS_OF_BE | frozenset("currently now still already falling fall falls".split())
_WORDS_BEFORE_WHAT_IS_DUE = frozenset("a an its their the for another".split())
_OPEN_QUESTION_WORDS = frozenset("when how until".split())
# What else is said of a day that is past, or is not: "has run out", "still in date".
_PHRASES_OF_DEADLINES = (
    (("run", "out"), ComparisonOperator.LT),
    (("ran", "out"), ComparisonOperator.LT),
    (("out", "of", "date"), ComparisonOperator.LT),
    (("past", "its", "date"), ComparisonOperator.LT),
    (("past", "their", "date"), ComparisonOperator.LT),
    (("lapsed",), ComparisonOperator.LT),
    (("in", "date"), ComparisonOperator.GTE),
)
_EMPTY_WORDS_OF_ARRIVALS = frozenset("in back from the a our date day on at arrived".split())
_ARTICLES = frozenset({"the", "our", "their"})
_WORDS_BEFORE_BACK = FORMS_OF_BE | frozenset("come came coming got not yet never still already now".split())
_MAX_WORDS_TO_NEGATION = 3
_NEGATING_WORDS = NEGATIONS | {"t"}


def build_deadline_conditions(selection: SpanSelection) -> Iterator[Condition]:
    """Yields what "overdue" and "due" mean, if the bucket has a date by which something must be done."""
    span = _find_deadline_words(selection)
    field = None if span is None else _find_deadline_field(selection)
    if span is None or field is None or selection.today is None:
        return
    first, last, op = span
    last = _end_of_what_is_due(selection, field, last)
    selection.usage.tokens.update(range(first, last))
    selection.usage.links.update(
        index for index, link in enumerate(selection.links) if first <= link.first and link.last <= last
    )
    words = selection.question[selection.tokens[first].start : selection.tokens[last - 1].end]
    parts: list[Condition] = [
        ComparisonCondition(field=field.name, op=op, value=selection.today.isoformat(), words=words)
    ]
    is_of_validity = not {"due", "overdue"} & {token.word for token in selection.tokens[first:last]}
    settled = None if is_of_validity else _find_settled_field(selection, field)
    if settled is not None:
        parts.append(MissingCondition(field=settled.name, words=words))
    elif not is_of_validity and (flag := _find_settled_flag(selection)) is not None:
        is_settled = ComparisonCondition(field=flag.name, op=ComparisonOperator.EQ, value=True, words=words)
        parts.append(NotCondition(is_settled))
    condition = conjunction_of(*parts)
    yield NotCondition(condition) if first in selection.negated_tokens else condition


def _end_of_what_is_due(selection: SpanSelection, field: SchemaField, last: int) -> int:
    """ "Overdue *a service*": returns the end of the words for what must be done, if the deadline is called by them."""
    words = [token.word for token in selection.tokens]
    noun = next((index for index in range(last, len(words)) if words[index] not in _WORDS_BEFORE_WHAT_IS_DUE), last)
    is_named = (
        noun > last and noun < len(words) and selection.lexicon.is_named_by(field.name, selection.tokens[noun].stem)
    )
    return noun + 1 if is_named else last


def find_due_links(lexicon: BucketLexicon, tokens: Sequence[QuestionToken]) -> Iterator[SpanLink]:
    """Yields a hint at the deadline for the word "due", which is too short to be known by the schema's other words."""
    indexes = [index for index, token in enumerate(tokens) if token.word == "due" and not token.is_quoted]
    if not indexes:
        return
    fields = [field for field in lexicon.schema.fields if is_deadline(field) and "due" in words_of_field(field)]
    if len(fields) == 1:
        meaning = FieldMention(fields[0].name, is_hint=True)
        yield from (SpanLink(first=index, last=index + 1, meaning=meaning, weight=_HINT_WEIGHT) for index in indexes)


def _find_deadline_words(selection: SpanSelection) -> tuple[int, int, ComparisonOperator] | None:
    """Returns the tokens of "overdue", "past due" or "are due", and how the day compares with today."""
    words = [token.word for token in selection.tokens]
    if (phrase := _find_phrase(selection, words)) is not None:
        return phrase
    if "overdue" not in words and "due" not in words:
        return None
    for index, word in enumerate(words):
        if selection.tokens[index].is_quoted or _is_value_or_flag(selection, index):
            continue
        if word == "overdue":
            return index, index + 1, ComparisonOperator.LT
        if word == "past" and "due" in words[index + 1 : index + 4]:
            last = words.index("due", index) + 1
            is_date = words[last : last + 1] in (["date"], ["dates"])
            return index, last + is_date, ComparisonOperator.LT
    return _find_due_word(selection, words)


def _find_phrase(selection: SpanSelection, words: list[str]) -> tuple[int, int, ComparisonOperator] | None:
    """ "Whose training *has run out*", "is it still *in date*": returns the words, where no day is given."""
    if not _OPEN_QUESTION_WORDS.isdisjoint(words) or any(
        isinstance(literal, DateLiteral) for literal, _, _ in selection.literal_spans
    ):
        return None
    for phrase, op in _PHRASES_OF_DEADLINES:
        if phrase[0] not in words:
            continue
        for first in range(1, len(words) - len(phrase) + 1):
            last = first + len(phrase)
            is_said = tuple(words[first:last]) == phrase and not selection.tokens[first].is_quoted
            if is_said and not any(_is_value_or_flag(selection, index) for index in range(first, last)):
                return first, last, op
    return None


def _find_due_word(selection: SpanSelection, words: list[str]) -> tuple[int, int, ComparisonOperator] | None:
    """ "Which bills are due?": the word alone, without a day and not asked for."""
    has_date = any(isinstance(literal, DateLiteral) or literal.unit for literal, _, _ in selection.literal_spans)
    if (
        has_date
        or "due" not in words[1:]
        or set(words) & _OPEN_QUESTION_WORDS
        or "to" in words[words.index("due") :][:2]
    ):
        return None
    index = words.index("due", 1)
    is_predicate = words[index - 1] in _WORDS_BEFORE_DUE and not _is_value_or_flag(selection, index)
    return (index, index + 1, ComparisonOperator.LTE) if is_predicate else None


def _is_value_or_flag(selection: SpanSelection, index: int) -> bool:
    """Whether the word at `index` is a value of the bucket or sets a flag."""
    return any(
        link.first <= index < link.last
        and (not isinstance(link.meaning, FieldMention) or selection.lexicon.is_flag(link.meaning))
        for link in selection.links
    )


def _find_deadline_field(selection: SpanSelection) -> SchemaField | None:
    fields = [field for field in selection.lexicon.schema.fields if is_deadline(field)]
    stems = {token.stem for token in selection.tokens if token.word not in DUE_WORDS}
    counts = [sum(selection.lexicon.is_named_by(field.name, stem) for stem in stems) for field in fields]
    if len(fields) > 1 and max(counts) and counts.count(max(counts)) == 1:
        return fields[counts.index(max(counts))]  # "whose *gas* certificate is overdue"
    return next((field for field in fields if words_of_field(field) & DUE_WORDS), fields[0] if fields else None)


def _find_settled_field(selection: SpanSelection, deadline: SchemaField) -> SchemaField | None:
    """Returns the date on which the matter was settled: an absent one leaves it open."""
    return next(
        (
            field
            for field in selection.lexicon.schema.fields
            if field.type is FieldType.DATE
            and field.name != deadline.name
            and not is_deadline(field)
            and tells_settling(words_of_field(field))
        ),
        None,
    )


def _find_settled_flag(selection: SpanSelection) -> SchemaField | None:
    """Returns the flag that says that the matter is settled: "Paid", "Returned"."""
    flags = [field for field in selection.lexicon.schema.fields if field.type is FieldType.FLAG]
    found = [field for field in flags if set(field.label.casefold().split()) <= SETTLED_WORDS]
    return found[0] if len(found) == 1 else None


# -- what has come in again


def build_arrival_conditions(selection: SpanSelection) -> Iterator[Condition]:
    """Yields that the day is there, or is missing, if the bucket has one date of this kind and the question says so."""
    field = _find_arrival_field(selection.lexicon)
    if field is None:
        return
    words = [token.word for token in selection.tokens]
    source = name_words_of(field) - _EMPTY_WORDS_OF_ARRIVALS
    found = next(_find_arrival_phrases(words, source), None)
    if found is None:
        return
    first, last, has_come = found
    taken = {index for span in selection.states for index in range(span.first, span.last)}
    if taken.intersection(range(first, last)) or _is_value(selection, first, last):
        return
    before = words[max(first - _MAX_WORDS_TO_NEGATION, 0) : first]
    is_negated = first in selection.negated_tokens or not _NEGATING_WORDS.isdisjoint(before)
    selection.usage.tokens.update(range(first, last))
    selection.usage.links.update(
        index for index, link in enumerate(selection.links) if first <= link.first and link.last <= last
    )
    text = selection.question[selection.tokens[first].start : selection.tokens[last - 1].end]
    missing = MissingCondition(field=field.name, words=text)
    yield NotCondition(missing) if has_come is not is_negated else missing


def _find_arrival_field(lexicon: BucketLexicon) -> SchemaField | None:
    found = [
        field
        for field in lexicon.schema.fields
        if field.type is FieldType.DATE and field.name in lexicon.vocabularies and tells_arrival(name_words_of(field))
    ]
    return found[0] if len(found) == 1 else None


def _find_arrival_phrases(words: Sequence[str], source: frozenset[str]) -> Iterator[tuple[int, int, bool]]:
    """Yields first and last token of what is said, and whether it says that something has come in."""
    for index, word in enumerate(words):
        before = words[index - 1] if index else ""
        if word in ARRIVAL_PARTICLES and words[index + 1 : index + 2] == ["from"]:
            last = _end_of_source(words, index + 2, source)
            if last:
                yield index, last, True
        elif word == "back" and before in _WORDS_BEFORE_BACK:
            yield index, index + 1, True
        elif word == "still" and words[index + 1 : index + 2] == ["at"]:
            last = _end_of_source(words, index + 2, source)
            if last:
                yield index, last, False


def _end_of_source(words: Sequence[str], first: int, source: frozenset[str]) -> int:
    """Returns the end of "the lab", where the date is called so; else 0."""
    index = first + (words[first : first + 1] != [] and words[first] in _ARTICLES)
    return index + 1 if index < len(words) and words[index] in source else 0


def _is_value(selection: SpanSelection, first: int, last: int) -> bool:
    return any(
        link.first < last and first < link.last and not isinstance(link.meaning, FieldMention)
        for link in selection.links
        if selection.tokens[link.first].word in ARRIVAL_PARTICLES
    )
