"""Plans questions about a weekly rota that has a column for each day: "who works at Harbury on a Wednesday".

The column of the day says when somebody works, that somebody is off, or at which other place somebody is.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from agent.decomposition import LegAlternatives
from agent.english.rota_words import OFF_VALUES, PLACE_WORDS, WORKING_WORDS, is_asked_off, weekday_of_word
from agent.evidence.coded_places import find_leading_codes, find_places, is_of_place, leading_code_of, match_codes
from agent.rules.composition.short_names import short_names_of
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.literals.uncapitalised_names import is_ordinary_word
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.question_reader import QuestionReader
from agent.rules.words.tokens import QuestionToken
from storage.search.analyser import fold_text
from storage.search.conditions import (
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    NotCondition,
    OrCondition,
    conjunction_of,
)
from storage.search.ids import FieldName, LegId
from storage.search.plan import (
    AggregateFunction,
    AnswerForm,
    Clause,
    ComputeNumbers,
    Leg,
    ListDocuments,
    ReadFields,
    Search,
)
from storage.search.schema import FieldType, SchemaField

_MIN_DAY_COLUMNS = 5
_WORDS_BEFORE_DAY = frozenset("on a an every each the".split())
_NAMING_TYPES = (FieldType.CATEGORY, FieldType.TEXT)


@dataclass(frozen=True, slots=True, kw_only=True)
class DayColumnLeg:
    """The planned leg. `reading`: of the question without the day and the words for working."""

    leg: Leg
    alternatives: LegAlternatives
    reading: BucketReading


def plan_day_column(
    leg_id: LegId, question: str, readings: Sequence[BucketReading], reader: QuestionReader
) -> DayColumnLeg | None:
    """Returns the leg; None if the question names no single weekday, or has words that the rota does not know."""
    tokens = readings[0].tokens
    days = [index for index, token in enumerate(tokens) if weekday_of_word(token.word) is not None]
    day = weekday_of_word(tokens[days[0]].word) if len(days) == 1 else None
    if day is None or _has_date_beside(tokens[max(days[0] - 1, 0) : days[0] + 2]):
        return None
    dropped = {*days, *(index for index, token in enumerate(tokens) if token.word in WORKING_WORDS | PLACE_WORDS)}
    index = days[0] - 1
    while index >= 0 and tokens[index].word in _WORDS_BEFORE_DAY:
        dropped.add(index)
        index -= 1
    words = [token.word for token in tokens]
    for bucket, lexicon in reader.lexicons.items():
        column = _find_day_columns(lexicon).get(day)
        if column is None:
            continue
        person = _find_person(tokens, lexicon)
        left_out = dropped if person is None else dropped | {person[0]}
        kept = " ".join(question[tokens[i].start : tokens[i].end] for i in range(len(tokens)) if i not in left_out)
        reading = reader.read_in_bucket(kept, bucket)
        if reading.unlinked_words or reading.unlinked_quotations:
            continue
        named = () if person is None else (person[1],)
        planned = _plan_in_bucket(
            words, column, replace(reading, conditions=(*named, *reading.conditions)), lexicon, reader
        )
        if planned is not None:
            condition, answer_form = planned
            search = Search(clauses=(Clause(bucket=bucket, condition=condition),), ranking_text=question)
            return DayColumnLeg(
                leg=Leg(id=leg_id, question=question, search=search, answer_form=answer_form),
                alternatives=LegAlternatives(leg=leg_id, is_understood=True),
                reading=replace(reading, unlinked_words=()),
            )
    return None


def _find_person(tokens: Sequence[QuestionToken], lexicon: BucketLexicon) -> tuple[int, Condition] | None:
    """ "Which shop is *Ida* in": returns the token of a first name that only one person of the rota has."""
    field = next(iter(lexicon.roles.people), None)
    names: Mapping[str, str] = {} if field is None or not lexicon.roles.holds_people else short_names_of(field, lexicon)
    for index, (token, following) in enumerate(pairwise((*tokens, None))):
        name = names.get(token.word) if token is not None else None
        if token is None or name is None or (not token.is_name and is_ordinary_word(token.word)):
            continue
        if following is not None and following.word in fold_text(name).split():
            return None  # the whole name is read as a value
        value = ComparisonCondition(
            field=field or FieldName(""), op=ComparisonOperator.EQ, value=name, words=token.word
        )
        return index, value
    return None


def _has_date_beside(tokens: Sequence[QuestionToken]) -> bool:
    """ "Wednesday *3* December": whether a certain day is meant, and no day of every week."""
    return any(token.word.rstrip("stndrh").isdigit() for token in tokens)


def _find_day_columns(lexicon: BucketLexicon) -> Mapping[int, SchemaField]:
    """Returns the columns by weekday, from Monday as 0; none where fewer than five days have one."""
    columns = {
        day: field
        for field in lexicon.schema.fields
        if field.type in _NAMING_TYPES and (day := weekday_of_word(fold_text(field.label))) is not None
    }
    return columns if len(columns) >= _MIN_DAY_COLUMNS else {}


def _plan_in_bucket(
    words: Sequence[str], column: SchemaField, reading: BucketReading, lexicon: BucketLexicon, reader: QuestionReader
) -> tuple[Condition, AnswerForm] | None:
    """Returns the condition and the form: the value of a named person, or the people who work on the day."""
    named = [condition for condition in reading.conditions if _identifies(condition, lexicon)]
    base = next((field for field in lexicon.schema.fields if is_of_place(field)), None)
    if named:
        asks_place = not PLACE_WORDS.isdisjoint(words)
        fields = (column, base) if asks_place and base is not None else (column,)
        return reading.condition, ReadFields(fields=tuple((reading.bucket, field.name) for field in fields))
    asks_people = words[0] in ("who", "whos", "which") or reading.has_noun
    if not asks_people or not lexicon.roles.holds_people:
        return None
    places = [condition for condition in reading.conditions if base is not None and _is_equal(condition, base.name)]
    others = [condition for condition in reading.conditions if condition not in places]
    text = " ".join(words)
    off = [*_values_where(column, lexicon, lambda value: fold_text(value).strip() in OFF_VALUES)]
    if is_asked_off(words):
        here: Condition = _is_one_of(column.name, off, text)
        here = conjunction_of(*places, here)
    else:
        here = _working_condition(column, places, off, text, lexicon, reader)
    counts = tuple(words[:2]) == ("how", "many")
    form: AnswerForm = ComputeNumbers(functions=(AggregateFunction.COUNT,)) if counts else ListDocuments()
    return conjunction_of(*others, here), form


def _working_condition(
    column: SchemaField,
    places: Sequence[Condition],
    off: Sequence[str],
    words: str,
    lexicon: BucketLexicon,
    reader: QuestionReader,
) -> Condition:
    """Returns that the column says no "off"; at a place, that somebody of the place is at no other, or another here."""
    if not places:
        return NotCondition(_is_one_of(column.name, off, words))
    names = match_codes(find_leading_codes(lexicon.schema, lexicon.vocabulary_of), _all_places(reader))
    asked = {fold_text(str(condition.value)) for condition in places if isinstance(condition, ComparisonCondition)}
    here = {code for code, name in names.items() if fold_text(name) in asked}
    sent_here = [*_values_where(column, lexicon, lambda value: leading_code_of(value) in here)]
    sent_away = [*_values_where(column, lexicon, lambda value: leading_code_of(value) in names.keys() - here)]
    away = [*off, *sent_away]
    own = conjunction_of(*places, NotCondition(_is_one_of(column.name, away, words)))
    return OrCondition((own, _is_one_of(column.name, sent_here, words))) if sent_here else own


def _all_places(reader: QuestionReader) -> set[str]:
    return {
        place for lexicon in reader.lexicons.values() for place in find_places(lexicon.schema, lexicon.vocabulary_of)
    }


def _values_where(column: SchemaField, lexicon: BucketLexicon, accepts: Callable[[str], bool]) -> Iterator[str]:
    vocabulary = lexicon.vocabulary_of(column.name)
    yield from (item.value for item in (() if vocabulary is None else vocabulary.values) if accepts(item.value))


def _is_one_of(name: FieldName, values: Sequence[str], words: str) -> ComparisonCondition:
    return ComparisonCondition(field=name, op=ComparisonOperator.IN, value=tuple(values), words=words)


def _is_equal(condition: Condition, name: FieldName) -> bool:
    return isinstance(condition, ComparisonCondition) and condition.field == name


def _identifies(condition: Condition, lexicon: BucketLexicon) -> bool:
    return (
        isinstance(condition, ComparisonCondition)
        and condition.op is ComparisonOperator.EQ
        and condition.field in lexicon.schema.by_name
        and lexicon.is_identifying(condition.field)
    )
