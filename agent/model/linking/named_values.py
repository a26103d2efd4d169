"""Links names and categories that a model wrote to the values of the visible documents."""

from collections.abc import Sequence

from rapidfuzz import fuzz, process

from agent.assumptions import CorrectedSpelling
from agent.model.linking.field_names import NamedField
from agent.model.linking.linked_parts import LinkingNotes, list_names
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import PartialMatch, ValueMatch
from storage.search.analyser import fold_text
from storage.search.conditions import ComparisonCondition, ComparisonOperator, Condition, OrCondition
from storage.search.ids import FieldName
from storage.search.schema import FieldType, SchemaField

_MIN_SPELLING_SCORE = 88.0  # 0 to 100, for a value to be taken for another one
_MIN_SPELLING_MARGIN = 4.0  # to the next value
_MIN_NEAR_SCORE = 60.0  # for a value to be named to the model
_NEAR_VALUES = 5
_TRUE_WORDS = frozenset({"true", "yes", "1"})
_FALSE_WORDS = frozenset({"false", "no", "0"})
_MAX_COMPARED_VALUES = 50_000  # of a field, by spelling


def build_flag_condition(named: NamedField, values: Sequence[str], words: str, notes: LinkingNotes) -> Condition | None:
    """Returns the condition that a flag is set or not set; None with a problem noted."""
    folded = {value.strip().casefold() for value in values}
    if folded and (folded <= _TRUE_WORDS or folded <= _FALSE_WORDS):
        return ComparisonCondition(field=named.name, op=ComparisonOperator.EQ, value=folded <= _TRUE_WORDS, words=words)
    notes.report_problem(f"{named.path} is a flag: its value is true or false")
    return None


def build_named_condition(
    named: NamedField, field: SchemaField, op: str, values: Sequence[str], words: str, lexicon: BucketLexicon,
    notes: LinkingNotes,
) -> Condition | None:  # fmt: skip
    """Returns the condition that a field has one of the values, or contains one of them; None with a problem noted.

    `op` is `is`, `is_not`, `contains` or `not_contains`; the caller negates.
    """
    if op not in ("is", "is_not", "contains", "not_contains"):
        notes.report_problem(f"{named.path} is neither a number nor a date, so it cannot be compared by {op}")
        return None
    if not values:
        notes.report_problem(f"{named.path} needs a value to compare with")
        return None
    parts = [
        _link_value(named, field, value, words, lexicon, notes, contains=op.endswith("contains")) for value in values
    ]
    return _join_alternatives(field, parts, words)


def _link_value(
    named: NamedField, field: SchemaField, value: str, words: str, lexicon: BucketLexicon, notes: LinkingNotes,
    *, contains: bool,
) -> Condition:  # fmt: skip
    """Returns the condition for one value. A value that no document has stays as it is written: it finds nothing, and
    the reply offers the nearest values.
    """
    if not contains:
        linked = _link_whole_value(named, field, value, words, lexicon)
        if linked is not None:
            return linked
    folded, held = fold_text(value), lexicon.folded_values_of(named.rows_field or named.name, _column_of(named))
    if any(folded in other for other in held):
        return ComparisonCondition(field=named.name, op=ComparisonOperator.CONTAINS, value=value, words=words)
    if contains:
        linked = _link_whole_value(named, field, value, words, lexicon)
        if linked is not None:
            return linked
    near = _near_values(named, value, lexicon)
    corrected = _corrected_value(near)
    if corrected is not None:
        notes.assumptions.append(CorrectedSpelling(written=value, meant=corrected))
        return _equality(named, field, corrected, words)
    if held and fold_text(value) not in fold_text(words):  # what the person wrote stays: the nearest values are offered
        closest = list_names([repr(other) for other, _ in near]) if near else "nothing like it"
        notes.problems.append(f"no document has {named.path} = {value!r}; the values hold {closest}")
    if field.type is FieldType.TEXT or contains:
        return ComparisonCondition(field=named.name, op=ComparisonOperator.CONTAINS, value=value, words=words)
    return _equality(named, field, value, words)


def _link_whole_value(
    named: NamedField, field: SchemaField, value: str, words: str, lexicon: BucketLexicon
) -> Condition | None:
    """Links the value as the rules link the words of a question: by its fold, its stems, a synonym of the schema, or a
    part that stands for it. None if it means no value of the field.
    """
    key = (named.rows_field or named.name, _column_of(named))
    meanings = [
        meaning
        for meaning in lexicon.meanings_of_text(value)
        if isinstance(meaning, (ValueMatch, PartialMatch)) and (meaning.field, meaning.column) == key
    ]
    matches = [meaning.value for meaning in meanings if isinstance(meaning, ValueMatch)]
    exact = next((match for match in matches if fold_text(match) == fold_text(value)), None)
    if exact is not None or matches:
        return _equality(named, field, exact or matches[0], words)
    partial = next((meaning for meaning in meanings if isinstance(meaning, PartialMatch)), None)
    if partial is None:
        return None
    return _join_alternatives(field, [_equality(named, field, other, words) for other in partial.values], words)


def _column_of(named: NamedField) -> FieldName | None:
    return None if named.rows_field is None else named.name


def _equality(named: NamedField, field: SchemaField, value: str, words: str) -> ComparisonCondition:
    op = ComparisonOperator.HAS if field.type is FieldType.LIST else ComparisonOperator.EQ
    return ComparisonCondition(field=named.name, op=op, value=value, words=words)


def _join_alternatives(field: SchemaField, parts: Sequence[Condition], words: str) -> Condition:
    """Returns "one of the values": as one condition where the field has a single value."""
    if len(parts) == 1:
        return parts[0]
    values = [
        part.value
        for part in parts
        if isinstance(part, ComparisonCondition) and part.op is ComparisonOperator.EQ and isinstance(part.value, str)
    ]
    if field.type is FieldType.LIST or len(values) < len(parts):
        return OrCondition(tuple(parts))
    name = next(part.field for part in parts if isinstance(part, ComparisonCondition))
    return ComparisonCondition(field=name, op=ComparisonOperator.IN, value=tuple(dict.fromkeys(values)), words=words)


def _near_values(named: NamedField, value: str, lexicon: BucketLexicon) -> list[tuple[str, float]]:
    """Returns the values of the field that are spelled most like `value`, each with its likeness (0 to 100)."""
    vocabulary = lexicon.vocabulary_of(named.rows_field or named.name, named.name if named.rows_field else None)
    if vocabulary is None:
        return []
    choices = [other.value for other in vocabulary.values[:_MAX_COMPARED_VALUES]]
    found = process.extract(
        value, choices, scorer=fuzz.WRatio, processor=fold_text, limit=_NEAR_VALUES, score_cutoff=_MIN_NEAR_SCORE
    )
    return [(other, score) for other, score, _ in found]


def _corrected_value(near: Sequence[tuple[str, float]]) -> str | None:
    """Returns the value that a misspelt one means: far more alike than any other."""
    if not near or near[0][1] < _MIN_SPELLING_SCORE:
        return None
    return near[0][0] if len(near) == 1 or near[0][1] - near[1][1] >= _MIN_SPELLING_MARGIN else None
