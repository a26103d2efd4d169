"""Values that a language model, or any reader but the rules, finds in a text: checked, then joined with the rules'.

A value counts only if its words appear in the text, if it fits its field, and if the words hold it by our own parsers.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from storage.ingest.extract.annotation import MIN_VALUE_CONFIDENCE
from storage.ingest.extract.candidates import CandidatesByField, ExtractionInput, ValueCandidate
from storage.ingest.schemas.literals import NotationStyle
from storage.ingest.schemas.values import type_values
from storage.quantities.days import find_dates
from storage.quantities.languages import strip_accents
from storage.quantities.money import currency_code_of, find_amounts
from storage.quantities.numbers import NUMBER_PATTERN
from storage.quantities.spelled_numbers import parse_spelled_number
from storage.quantities.units import find_quantities
from storage.search.analyser import fold_text
from storage.search.documents import FieldValue
from storage.search.ids import FieldName
from storage.search.schema import FieldType, Schema, SchemaField

# Of values that rules and model agree on, that the model alone gives, and that contradict those of the rules
AGREED_CONFIDENCE, UNCONFIRMED_CONFIDENCE, CONTRADICTED_CONFIDENCE = 0.95, 0.75, 0.5
_OVERRULED_CONFIDENCE = 0.4  # of the rules' value; below the confidence of stored values
_MAX_QUOTED_WORDS = 300
_NUMBER = re.compile(NUMBER_PATTERN)
_CURRENCY_MARK = re.compile(r"[^\W\d_]+|[^\w\s.,]+")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_PLAIN_STYLE = NotationStyle(decimal_comma=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedValue:
    """A value as a reader gives it: a number with a decimal point, a day as `2031-05-09`, of a list one member.

    `words` are the words of the text that give it. Of a rows field it is one row: `cells` has the values by column.
    """

    field: FieldName
    value: str
    words: str
    cells: tuple[tuple[FieldName, str], ...] = ()


def check_quoted_values(
    quoted_values: Sequence[QuotedValue], document: ExtractionInput, schema: Schema
) -> CandidatesByField:
    """Returns the values that hold, each once, in their order, all with the confidence of an unconfirmed value."""
    checked: dict[FieldName, list[ValueCandidate]] = {}
    for quoted in quoted_values:
        field = schema.by_name.get(quoted.field)
        candidate = None if field is None else _check_quoted_value(quoted, field, document, schema)
        if candidate is not None and candidate.value not in [
            known.value for known in checked.setdefault(quoted.field, [])
        ]:
            checked[quoted.field].append(candidate)
    return {name: tuple(candidates) for name, candidates in checked.items() if candidates}


def join_candidates(rules: CandidatesByField, checked: CandidatesByField, schema: Schema) -> CandidatesByField:
    """Returns the candidates of both; those that both have are the surest."""
    joined = dict[FieldName, Sequence[ValueCandidate]]()
    for field in schema.fields:
        of_rules, of_reader = rules.get(field.name, ()), checked.get(field.name, ())
        if not of_reader:
            joined[field.name] = of_rules
        elif field.type in (FieldType.LIST, FieldType.ROWS):
            joined[field.name] = _join_members(field, of_rules, of_reader)
        else:
            joined[field.name] = _join_scalars(of_rules, of_reader)
    return {name: candidates for name, candidates in joined.items() if candidates}


def _join_scalars(of_rules: Sequence[ValueCandidate], of_reader: Sequence[ValueCandidate]) -> Sequence[ValueCandidate]:
    best, *_ = of_reader
    stored = [candidate for candidate in of_rules if candidate.confidence >= MIN_VALUE_CONFIDENCE][:1]
    if not stored:
        return (best, *of_rules)
    if _are_equal(stored[0].value, best.value):
        return (_confirm_candidate(stored[0], best), *of_rules[1:])
    overruled = (
        replace(candidate, confidence=min(candidate.confidence, _OVERRULED_CONFIDENCE)) for candidate in of_rules
    )
    return (replace(best, confidence=CONTRADICTED_CONFIDENCE), *overruled)


def _join_members(
    field: SchemaField, of_rules: Sequence[ValueCandidate], of_reader: Sequence[ValueCandidate]
) -> Sequence[ValueCandidate]:
    """Members of lists add up. Rows that only one of both has contradict each other, unless the rules have none."""
    unconfirmed = CONTRADICTED_CONFIDENCE if field.type is FieldType.ROWS and of_rules else UNCONFIRMED_CONFIDENCE
    members = [
        next(
            (
                _confirm_candidate(candidate, member)
                for member in of_reader
                if _are_equal(candidate.value, member.value)
            ),
            candidate,
        )
        for candidate in of_rules
    ]
    members += [
        replace(member, confidence=unconfirmed)
        for member in of_reader
        if not any(_are_equal(candidate.value, member.value) for candidate in of_rules)
    ]
    if field.type is FieldType.ROWS:
        return sorted(members, key=lambda member: member.start or 0)
    return sorted(members, key=lambda member: -member.confidence)


def _confirm_candidate(of_rules: ValueCandidate, of_reader: ValueCandidate) -> ValueCandidate:
    """The rules' value, with the evidence of either."""
    evidence = of_rules if of_rules.start is not None else of_reader
    confidence = max(of_rules.confidence, AGREED_CONFIDENCE)
    return replace(of_rules, confidence=confidence, start=evidence.start, end=evidence.end)


def _are_equal(value: FieldValue, other: FieldValue) -> bool:
    return _comparable(value) == _comparable(other)


def _comparable(value: object) -> object:
    if isinstance(value, str):
        return " ".join(fold_text(value).split())
    if isinstance(value, tuple):
        return tuple(_comparable(member) for member in cast(tuple[object, ...], value))
    if isinstance(value, Mapping):
        return {key: _comparable(cell) for key, cell in cast(Mapping[str, object], value).items()}
    return value


# -- checking


def _check_quoted_value(
    quoted: QuotedValue, field: SchemaField, document: ExtractionInput, schema: Schema
) -> ValueCandidate | None:
    span = _find_words(quoted.words, document.text)
    if span is None and _find_words(quoted.words, document.title) is None:
        return None
    value = _value_in_words(quoted, field, schema)
    if value is None:
        return None
    start, end = span or (None, None)
    return ValueCandidate(value=value, confidence=UNCONFIRMED_CONFIDENCE, start=start, end=end)


def _find_words(words: str, text: str) -> tuple[int, int] | None:
    """Returns where the words appear first; blanks, line breaks and case may differ."""
    pieces = words.split()
    if not pieces or len(pieces) > _MAX_QUOTED_WORDS:
        return None
    start = text.find(words.strip())
    if start >= 0:
        return start, start + len(words.strip())
    match = re.compile(r"\s+".join(map(re.escape, pieces)), re.IGNORECASE).search(text)
    return match.span() if match else None


def _value_in_words(quoted: QuotedValue, field: SchemaField, schema: Schema) -> FieldValue | None:
    """Returns the value in the type of the field; None if it does not fit, or if the words do not hold it."""
    match field.type:
        case FieldType.ROWS:
            cells = {
                column.name: value
                for column in field.columns
                for name, text in quoted.cells
                if name == column.name
                and (value := _scalar_in_words(text, quoted.words, column, field.columns)) is not None
            }
            return (cells,) if cells else None
        case FieldType.LIST:
            member = _name_in_words(quoted.value, quoted.words, field)
            return (member,) if member else None
        case _:
            return _scalar_in_words(quoted.value, quoted.words, field, schema.fields)


def _scalar_in_words(
    text: str, words: str, field: SchemaField, fields: Sequence[SchemaField]
) -> str | float | bool | None:
    if any(field.name == other.currency_field for other in fields):
        return _currency_in_words(text, words)
    match field.type:
        case FieldType.CATEGORY | FieldType.TEXT:
            return _name_in_words(text, words, field)
        case FieldType.NUMBER | FieldType.MONEY | FieldType.DATE | FieldType.FLAG:
            value = _typed_value(text, field)
            if value is None or field.type is FieldType.FLAG:
                return value
            return value if value in _literals_in(words, field) else None
        case FieldType.LIST | FieldType.ROWS:
            return None  # not scalar types; the caller handles them


def _typed_value(text: str, field: SchemaField, style: NotationStyle = _PLAIN_STYLE) -> str | float | bool | None:
    value = type_values({field.name: text}, {field.name: field}, {field.name: style}).values.get(field.name)
    return None if isinstance(value, tuple) else value


def _literals_in(words: str, field: SchemaField) -> Iterator[str | float | bool | None]:
    """Yields the values that the words can be read as, in every notation."""
    if field.type is FieldType.DATE:
        folded = strip_accents(words.casefold())
        for day_first in (True, False):
            yield from (span.iso for span in find_dates(folded, day_first=day_first))
        return
    if field.type is FieldType.MONEY:
        for decimal_mark in (".", ","):
            yield from (float(span.number) for span in find_amounts(words, 0, len(words), decimal_mark))
    pieces = [words, *(words[span.start : span.end] for span in find_quantities(words, 0, len(words)))]
    pieces += [match[0] for match in _NUMBER.finditer(words)]
    for decimal_comma in (False, True):
        style = NotationStyle(decimal_comma=decimal_comma)
        yield from (_typed_value(piece, field, style) for piece in pieces)
    for match in _WORD.finditer(words):
        if (number := parse_spelled_number(match[0].casefold())) is not None:
            yield float(number)


def _name_in_words(text: str, words: str, field: SchemaField) -> str | None:
    """Returns one of the listed values of the field; without a list, the text if it appears in the words."""
    name = " ".join(text.split())
    folded_name = fold_text(name)
    if field.values:
        for value, synonyms in field.values.items():
            if folded_name in map(fold_text, (value, *synonyms)):
                return value
        return None
    return name if name and folded_name in " ".join(fold_text(words).split()) else None


def _currency_in_words(text: str, words: str) -> str | None:
    code = currency_code_of(text)
    marks = (currency_code_of(match[0]) for match in _CURRENCY_MARK.finditer(words))
    return code if code is not None and code in marks else None
