"""Finds what a superlative may be about, where the question names no documents that the buckets know.

"The most expensive *medicine*" fits the stock list by its price alone. It is not certain enough to be answered, so it
is offered where no text answers.
"""

from collections.abc import Iterator, Mapping, Sequence

from agent.decomposition import AlternativeForm
from agent.english.gradable_adjectives import ScaleKind, scale_of_superlative
from agent.rules.cues.question_cues import QuestionCues, find_cues
from agent.rules.cues.ranked_fields import asks_for_length_of_service, find_joining_dates
from agent.rules.forms.recognisers import recognise_form
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention
from agent.rules.reading.bucket_reading import BucketReading
from storage.search.conditions import TEXT_FIELD, MissingCondition, NotCondition, conjunction_of, fields_of
from storage.search.ids import BucketId
from storage.search.plan import Clause, ListDocuments, Search

_MAX_FORMS = 4
_TELLING_SCALES = (ScaleKind.MONEY, ScaleKind.MEASURE, ScaleKind.AGE)  # "biggest" and "best" may be about any number


def find_possible_superlatives(
    question: str, readings: Sequence[BucketReading], lexicons: Mapping[BucketId, BucketLexicon]
) -> tuple[AlternativeForm, ...]:
    """Returns a list of the first documents for each bucket that has a field for the superlative, the best first."""
    found = [
        (reading, form)
        for reading in readings
        for form in _forms_of(question, reading, find_cues(reading, lexicons[reading.bucket]))
    ]
    named = [form for reading, form in found if _is_named(reading, form)]
    return tuple((named or [form for _, form in found])[:_MAX_FORMS])


def _is_named(reading: BucketReading, form: AlternativeForm) -> bool:
    """Whether the question names the documents, a value of theirs, or the field."""
    names_field = any(
        isinstance(link.meaning, FieldMention) and link.meaning.field == form.field for link in reading.links
    )
    return reading.has_noun or bool(reading.conditions) or names_field


def _forms_of(question: str, reading: BucketReading, cues: QuestionCues) -> Iterator[AlternativeForm]:
    lexicon = cues.lexicon
    if cues.superlative is None or not lexicon.holds_records:
        return
    _, form = recognise_form(cues)
    if not isinstance(form, ListDocuments) or form.order is None or form.limit is None:
        return
    if asks_for_length_of_service(cues.superlative, cues.words):
        if form.order.field not in find_joining_dates(lexicon):
            return
    elif not _is_telling(cues.superlative.words):
        return
    conditions = [condition for condition in reading.conditions if TEXT_FIELD not in fields_of(condition)]
    known = NotCondition(MissingCondition(field=form.order.field))
    clause = Clause(bucket=reading.bucket, condition=conjunction_of(*conditions, known))
    yield AlternativeForm(
        bucket=reading.bucket,
        field=form.order.field,
        answer_form=form,
        search=Search(clauses=(clause,), ranking_text=question),
    )


def _is_telling(superlative: tuple[str, ...]) -> bool:
    found = scale_of_superlative(superlative)
    return found is not None and found[1].kind in _TELLING_SCALES
