"""Conditions for "is … still with us", "is … still valid": the day on which it ends is unknown or not yet past."""

from collections.abc import Iterator

from agent.english.function_words import STOP_WORDS, YES_NO_VERBS
from agent.rules.binding.field_fit import words_of_field
from agent.rules.linking.lexicon import FieldMention, PartialMatch, ValueMatch
from agent.rules.linking.span_selection import SpanSelection
from storage.search.conditions import (
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    OrCondition,
)
from storage.search.schema import FieldType, SchemaField

_VALIDITY_FIELD_WORDS = frozenset(
    "until till expiry expires expiration expire valid validity end ends renewal lapses".split()
)
_END_FIELD_WORDS = frozenset(
    """left leaving departed departure end ended ends exit retired retirement deceased died death closed closing
    closure terminated termination disposed scrapped sold cancelled withdrawn discontinued decommissioned""".split()
)
_VALID_WORDS = frozenset("valid good current".split())
_LASTING_WORDS = frozenset("valid current".split())  # without "still" too
_CONTINUING_WORDS = frozenset(
    """working employed running active alive living going around with here open existing operating use used service
    on in part member one""".split()
)
_MIN_NAMES = 2  # values that together name a document where none identifies it


def build_present_conditions(selection: SpanSelection) -> Iterator[Condition]:
    """Yields what "still" says of a named document, if the bucket has a date on which its documents end."""
    index = _find_present_word(selection)
    if index is None or selection.today is None or not _names_document(selection, index):
        return
    asks_validity = any(token.word in _VALID_WORDS for token in selection.tokens[index:])
    field = _find_end_field(selection, asks_validity=asks_validity)
    if field is None:
        return
    selection.consumed_tokens.update(range(index, len(selection.tokens)))
    stems = selection.lexicon.stems_of(field.name)
    selection.consumed_tokens.update(
        position for position, token in enumerate(selection.tokens[:index]) if token.stem in stems
    )
    words = selection.question[selection.tokens[index].start : selection.tokens[-1].end]
    yield OrCondition(
        (
            MissingCondition(field=field.name, words=words),
            ComparisonCondition(
                field=field.name, op=ComparisonOperator.GTE, value=selection.today.isoformat(), words=words
            ),
        )
    )


def is_present_condition(condition: Condition) -> bool:
    """Whether the condition says that the documents have not ended."""
    match condition:
        case OrCondition((MissingCondition(field=missing), ComparisonCondition(field=compared, op=op))):
            return missing == compared and op is ComparisonOperator.GTE
        case _:
            return False


def _find_present_word(selection: SpanSelection) -> int | None:
    """Returns the token of "still", or of "valid" at the end, in a question for yes or no; nothing linked follows."""
    tokens = selection.tokens
    if not tokens or tokens[0].word not in YES_NO_VERBS:
        return None
    index = next((position for position, token in enumerate(tokens) if token.word == "still"), None)
    if index is None and tokens[-1].word in _LASTING_WORDS:
        index = len(tokens) - 1
    if index is None or index == 0 or any(_is_meaningful(selection, later) for later in range(index, len(tokens))):
        return None
    return index if _only_says_present(selection, index) else None


def _is_meaningful(selection: SpanSelection, index: int) -> bool:
    """Whether the token is in a value, a literal or a flag, so that something else is asked."""
    links = (link for link in selection.links if link.first <= index < link.last)
    return any(first <= index < last for _, first, last in selection.literal_spans) or any(
        isinstance(link.meaning, (ValueMatch, PartialMatch)) or selection.lexicon.is_flag(link.meaning)
        for link in links
    )


def _only_says_present(selection: SpanSelection, index: int) -> bool:
    """ "Still *on the team*", "still *working for us*": whether at most one noun follows, which says of what."""
    words = [token.word for token in selection.tokens[index + 1 :]]
    plain = STOP_WORDS | _CONTINUING_WORDS | _VALID_WORDS | {"us", "ours", "them", "at"}
    others = [word for word in words if word not in plain]
    return len(others) <= 1 and (not others or bool(set(words) & (_CONTINUING_WORDS | {"a", "an", "for", "of"})))


def _names_document(selection: SpanSelection, index: int) -> bool:
    lexicon = selection.lexicon
    values = [
        link.meaning
        for link in selection.links
        if isinstance(link.meaning, (ValueMatch, PartialMatch)) and link.meaning.column is None and link.last <= index
    ]
    return len(values) >= _MIN_NAMES or any(lexicon.is_identifying(value.field) for value in values)


def _find_end_field(selection: SpanSelection, *, asks_validity: bool) -> SchemaField | None:
    """Returns the date on which the validity ends, or on which the thing itself does."""
    dates = [field for field in selection.lexicon.schema.fields if field.type is FieldType.DATE]
    mentioned = {
        link.meaning.field
        for link in selection.links
        if isinstance(link.meaning, FieldMention) and link.meaning.column is None
    }
    wanted = _VALIDITY_FIELD_WORDS if asks_validity else _END_FIELD_WORDS
    ending = [field for field in dates if words_of_field(field) & wanted]
    if not asks_validity:
        ending = ending or [field for field in dates if words_of_field(field) & _VALIDITY_FIELD_WORDS]
    named = [field for field in ending if field.name in mentioned]
    if len(ending) > 1 and not named:
        labelled = [field for field in ending if set(field.name.split("_")) & wanted]
        ending = labelled if len(labelled) == 1 else ending
    return next(iter((*named, *(ending if len(ending) == 1 else ()))), None)
