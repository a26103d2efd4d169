"""Finds what a question may ask of records that it does not name by any word which the buckets know.

"The most expensive *medicine*" fits the stock list by its price alone, and "how much did we credit for corked
*bottles*" the claims by an amount and a value. None of these is certain enough to be answered, so that they are offered
where no text answers.
"""

from collections.abc import Iterator, Mapping, Sequence

from agent.decomposition import AlternativeForm, PossibleSet
from agent.english.gradable_adjectives import ScaleKind, scale_of_superlative
from agent.english.telling_words import select_telling_words
from agent.rules.cues.function_phrases import FunctionPhrase
from agent.rules.cues.question_cues import QuestionCues, find_cues
from agent.rules.cues.ranked_fields import asks_for_length_of_service, find_joining_dates
from agent.rules.forms.recognisers import recognise_form
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention
from agent.rules.linking.like_conditions import find_like_conditions
from agent.rules.reading.bucket_reading import BucketReading
from storage.search.conditions import (
    TEXT_FIELD,
    TITLE_FIELD,
    Condition,
    MissingCondition,
    NotCondition,
    conjunction_of,
    fields_of,
)
from storage.search.ids import BucketId, FieldName
from storage.search.plan import (
    AggregateFunction,
    AnswerForm,
    Clause,
    ComputeNumbers,
    ListDocuments,
    ReadFields,
    Search,
)

_MAX_FORMS = 4
_MAX_SETS = 4
_MAX_SETS_OF_BUCKET = 3
_MAX_BEHIND = 0.9  # conditions that a set holds less than the likeliest one
_TELLING_SCALES = (ScaleKind.MONEY, ScaleKind.MEASURE, ScaleKind.AGE)  # "biggest" and "best" may be about any number
_NUMBERS_OF_FIELD = (AggregateFunction.SUM, AggregateFunction.AVERAGE)


def find_possible_forms(
    question: str, readings: Sequence[BucketReading], lexicons: Mapping[BucketId, BucketLexicon]
) -> tuple[AlternativeForm, ...]:
    """Returns a list of first documents or a number for each bucket that may be meant, the likeliest first."""
    found = [
        (reading, form)
        for reading in readings
        if lexicons[reading.bucket].holds_records
        for form in _forms_of(question, find_cues(reading, lexicons[reading.bucket]))
    ]
    named = [form for reading, form in found if _is_named(reading, form)]
    return tuple((named or [form for _, form in found])[:_MAX_FORMS])


def find_possible_sets(
    readings: Sequence[BucketReading], lexicons: Mapping[BucketId, BucketLexicon]
) -> tuple[PossibleSet, ...]:
    """Returns sets by the conditions of each reading, and by values that are like its words, the likeliest first."""
    ranked = sorted(
        (ranked for reading in readings for ranked in _rank_sets_of(reading, lexicons[reading.bucket])),
        key=lambda ranked: -ranked[0],
    )
    near = [found for rank, found in ranked if rank >= ranked[0][0] - _MAX_BEHIND]
    return tuple(dict.fromkeys(near))[:_MAX_SETS]


def _rank_sets_of(reading: BucketReading, lexicon: BucketLexicon) -> list[tuple[float, PossibleSet]]:
    """Returns a few sets of the bucket, each with how much of the question it holds."""
    conditions = [condition for condition in reading.conditions if not fields_of(condition) & {TEXT_FIELD, TITLE_FIELD}]
    taken = frozenset[FieldName]().union(*map(fields_of, conditions))
    words = select_telling_words(reading.unlinked_words)
    likes = [*find_like_conditions(words, reading.similarities, lexicon, taken)][:_MAX_SETS_OF_BUCKET]
    if not conditions and not likes:
        return []
    form = _form_of_set(find_cues(reading, lexicon))
    held = len(conditions) + reading.has_noun
    added: list[tuple[float, Sequence[Condition]]] = [(like.similarity, like.conditions) for like in likes]
    if conditions:
        added.append((0.0, ()))
    return [
        (
            held + similarity,
            PossibleSet(
                clause=Clause(bucket=lexicon.bucket, condition=conjunction_of(*conditions, *more)), answer_form=form
            ),
        )
        for similarity, more in added
    ]


def _form_of_set(cues: QuestionCues) -> AnswerForm:
    """Returns the fields that are asked of the documents, or a list of them, which tells their number as well."""
    form = recognise_form(cues)[1]
    return form if isinstance(form, ReadFields) else ListDocuments()


def _is_named(reading: BucketReading, form: AlternativeForm) -> bool:
    """Whether the question names the documents, a value of theirs, or the field."""
    return reading.has_noun or bool(reading.conditions) or _mentions_field(reading, form.field)


def _mentions_field(reading: BucketReading, name: FieldName) -> bool:
    return any(isinstance(link.meaning, FieldMention) and link.meaning.field == name for link in reading.links)


def _forms_of(question: str, cues: QuestionCues) -> Iterator[AlternativeForm]:
    reading, lexicon = cues.reading, cues.lexicon
    conditions = [condition for condition in reading.conditions if TEXT_FIELD not in fields_of(condition)]
    if cues.superlative is None and not conditions:
        return  # the form, which takes long to recognise, does not matter
    match recognise_form(cues)[1]:
        case ListDocuments(order=order, limit=limit) as form if order is not None and limit is not None:
            if cues.superlative is not None and _may_order(cues.superlative, order.field, cues):
                yield _form_with_known_field(question, lexicon, order.field, form, conditions)
        case ComputeNumbers(field=field, group=None, functions=functions) as form if field is not None:
            if conditions and set(functions) <= set(_NUMBERS_OF_FIELD) and _mentions_field(reading, field):
                yield _form_with_known_field(question, lexicon, field, form, conditions)
        case _:
            return


def _may_order(superlative: FunctionPhrase, name: FieldName, cues: QuestionCues) -> bool:
    if asks_for_length_of_service(superlative, cues.words):
        return name in find_joining_dates(cues.lexicon)
    found = scale_of_superlative(superlative.words)
    return found is not None and found[1].kind in _TELLING_SCALES


def _form_with_known_field(
    question: str,
    lexicon: BucketLexicon,
    name: FieldName,
    form: ListDocuments | ComputeNumbers,
    conditions: Sequence[Condition],
) -> AlternativeForm:
    known = NotCondition(MissingCondition(field=name))
    clause = Clause(bucket=lexicon.bucket, condition=conjunction_of(*conditions, known))
    return AlternativeForm(
        bucket=lexicon.bucket,
        field=name,
        answer_form=form,
        search=Search(clauses=(clause,), ranking_text=question),
    )
