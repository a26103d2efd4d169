"""Ways out of a question with words that were not understood: all, those that mention them, and parts by fields."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from agent.decomposition import LegAlternatives
from agent.english.state_words import is_unset_until_event
from agent.english.telling_words import select_telling_words
from agent.refine.candidates import RefinementCandidate
from agent.refine.choice_labels import (
    AllOfThemLabel,
    BucketLabel,
    ChoiceLabel,
    FieldValueLabel,
    FlagLabel,
    LikelyFieldLabel,
    MentionLabel,
    MissingFieldLabel,
    WithoutWordsLabel,
)
from agent.refine.facets import equality_condition_for, sorts_documents
from agent.refine.refinements import SchemasByBucket, fuller_set_candidates
from storage.search.conditions import MissingCondition, NotCondition
from storage.search.ids import BucketId, FieldName
from storage.search.index import FacetAnswer, FacetRequest, IndexAnswers, PeriodFacet, ValueFacet
from storage.search.plan import Leg, ReadFields, Search
from storage.search.refinement import AddFilter, OnlyBucket, OnlyMissing, UseForm, UseReading
from storage.search.schema import FieldOrigin, FieldType, SchemaField

_MAX_CHOICES = 6
_MIN_PARTS = 2  # choices by fields that are offered beside any others
_MAX_FIELDS = 4  # offered for a question about values
_MAX_VALUE_WORDS = 4  # of a value that names a kind
_LABELS_OF_OWN_VALUES = (["id"], ["no"], ["number"], ["code"], ["title"])  # the last word of the label
_FEW_DOCUMENTS = 4  # a set so small may be divided into single documents
_MAX_FIELD_VALUES = 7  # distinct values of a field that sorts documents into a few kinds
_MAX_VALUES_BY_FIELD = 4
_MAX_LIKE_VALUES = 2  # that mean nearly what the words mean


def unknown_word_candidates(
    leg: Leg,
    alternatives: LegAlternatives,
    answers: IndexAnswers,
    facets: Sequence[FacetRequest],
    schemas: SchemasByBucket,
    count: int,
    likeness: Mapping[str, float] | None = None,
) -> list[RefinementCandidate]:
    """Returns all documents of the leg's set, those that mention the words, and parts of the set by its fields.

    For a question about values: the fields that it may be about. `count`: of the set's documents. `likeness` (0 to 1)
    of the values of the fields to the words: parts by the likest values come first.
    """
    words = alternatives.unknown_words
    if leg.answer_form.reads_values:
        return field_candidates(leg, alternatives.suggested_fields, schemas)
    candidates = [
        RefinementCandidate(label=_label_of_whole(leg, words, count), refinement=UseReading(search=leg.search)),
        *fuller_set_candidates(alternatives, leg),
        *(mention_candidate(leg.search, group) for group in groups_of_words(words)),
    ]
    buckets = leg.search.buckets
    if len(buckets) != 1:
        return [*candidates, *map(_bucket_candidate, buckets)]
    fields = schemas[buckets[0]].by_name
    ordered = sorted(
        facets, key=lambda facet: _priority_of(fields[facet.field], answers[facet], alternatives.suggested_fields)
    )
    like_parts = _parts_by_like_values(fields, {facet.field: answers[facet] for facet in ordered}, likeness or {})
    related = [facet for facet in ordered if facet.field in alternatives.suggested_fields]
    parts = _parts_by_facets(related, fields, answers) or _parts_by_facets(ordered, fields, answers)
    parts = [*like_parts, *(part for part in parts if part not in like_parts)]
    return [*candidates, *parts[: max(_MIN_PARTS, _MAX_CHOICES - len(candidates))]]


def _parts_by_facets(
    facets: Sequence[FacetRequest], fields: Mapping[FieldName, SchemaField], answers: IndexAnswers
) -> list[RefinementCandidate]:
    parts = [part for facet in facets for part in _parts_by_field(fields[facet.field], answers[facet])]
    return parts + [part for facet in facets for part in _parts_by_event(fields[facet.field], answers[facet])]


def groups_of_words(words: Sequence[str]) -> Sequence[tuple[str, ...]]:
    """Returns all of the words that tell something, then each of them, if there are several."""
    words = select_telling_words(words) or words
    return [*dict.fromkeys([tuple(words), *((word,) for word in words)])]


def values_of_facets(facets: Sequence[FacetRequest], answers: IndexAnswers) -> Sequence[str]:
    """Returns the values, except numbers, by which the fields of the facets divide the set."""
    found = (answer for facet in facets if isinstance(answer := answers[facet], ValueFacet))
    return [value.value for answer in found for value in answer.values if any(map(str.isalpha, value.value))]


def mention_candidate(search: Search, words: tuple[str, ...]) -> RefinementCandidate:
    """Offers those documents of the search whose title or text holds all of the words."""
    return RefinementCandidate(
        label=MentionLabel(words=words), refinement=UseReading(search=mentioning_search(search, words))
    )


def _parts_by_like_values(
    fields: Mapping[FieldName, SchemaField],
    answers: Mapping[FieldName, FacetAnswer],
    likeness: Mapping[str, float],
) -> list[RefinementCandidate]:
    """ "*Cold*": returns the part "fridge"; the likest values first, a few at most."""
    found = [
        (likeness[value.value], fields[name], value.value)
        for name, answer in answers.items()
        if isinstance(answer, ValueFacet) and fields[name].type is not FieldType.FLAG
        for value in answer.values
        if value.value in likeness and len(value.value.split()) <= _MAX_VALUE_WORDS
    ]
    found.sort(key=lambda part: -part[0])
    return [_value_candidate(field, value) for _, field, value in found[:_MAX_LIKE_VALUES]]


def _label_of_whole(leg: Leg, words: Sequence[str], count: int) -> ChoiceLabel:
    """Returns the label of the set: "all of them", where a click shows several documents; else "without …"."""
    shows_all = leg.answer_form.lists_documents and leg.answer_form.list_limit is None and count > 1
    return AllOfThemLabel() if shows_all else WithoutWordsLabel(words=select_telling_words(words) or tuple(words))


def field_candidates(
    leg: Leg, suggested_fields: Iterable[FieldName], schemas: SchemasByBucket
) -> list[RefinementCandidate]:
    """Returns the fields that the question seemed to ask for, and those that it may mean, the likeliest first."""
    suggested = ((leg.search.buckets[0], name) for name in suggested_fields)
    fields = dict.fromkeys(
        (bucket, name)
        for bucket, name in (*leg.answer_form.requested_fields, *suggested)
        if name in schemas[bucket].by_name
    )
    return [
        RefinementCandidate(
            label=LikelyFieldLabel(field=schemas[bucket].by_name[name]),
            refinement=UseForm(answer_form=ReadFields(fields=((bucket, name),)), search=leg.search),
        )
        for bucket, name in [*fields][:_MAX_FIELDS]
    ]


def _bucket_candidate(bucket: BucketId) -> RefinementCandidate:
    return RefinementCandidate(label=BucketLabel(bucket=bucket), refinement=OnlyBucket(bucket=bucket))


def _priority_of(
    field: SchemaField, answer: FacetAnswer, suggested_fields: Sequence[FieldName]
) -> tuple[int, bool, bool, int]:
    """Sorts the fields: first those that the words may mean, then kinds and places before flags, then few values.

    Where a file is comes last: people know what they look for better.
    """
    rank = suggested_fields.index(field.name) if field.name in suggested_fields else len(suggested_fields)
    is_place_of_file = field.origin in (FieldOrigin.FOLDER, FieldOrigin.SHEET)
    is_flag = field.type is FieldType.FLAG
    return rank, is_place_of_file, is_flag, answer.distinct_count if isinstance(answer, ValueFacet) else 2


def mentioning_search(search: Search, words: Sequence[str]) -> Search:
    """Returns the search with the words as required terms."""
    clauses = (replace(clause, required_terms=(*clause.required_terms, *words)) for clause in search.clauses)
    return search.with_clauses(*clauses)


def _parts_by_field(field: SchemaField, answer: FacetAnswer) -> Iterator[RefinementCandidate]:
    """Yields the values of a field that sorts the set into a few kinds."""
    is_own = field.label.casefold().split()[-1:] in _LABELS_OF_OWN_VALUES
    if isinstance(answer, ValueFacet) and not is_own and _sorts_into_kinds(answer):
        for value in answer.values[:_MAX_VALUES_BY_FIELD]:
            yield _value_candidate(field, value.value)


def _parts_by_event(field: SchemaField, answer: FacetAnswer) -> Iterator[RefinementCandidate]:
    """Yields the documents to which an event has come, and the others: "returned", "not returned"."""
    has_value = isinstance(answer, PeriodFacet) and bool(answer.periods)
    if is_unset_until_event(field) and answer.missing_count and has_value:
        yield RefinementCandidate(label=MissingFieldLabel(field=field), refinement=OnlyMissing(field=field.name))
        is_known = NotCondition(MissingCondition(field=field.name))
        label = FieldValueLabel(field=field, value="")
        yield RefinementCandidate(label=label, refinement=AddFilter(condition=is_known))


def _sorts_into_kinds(answer: ValueFacet) -> bool:
    """Whether a few short values divide the documents into groups of several."""
    total = sum(value.count for value in answer.values)
    is_division = answer.distinct_count > 1 or answer.missing_count > 0
    is_short = all(len(value.value.split()) <= _MAX_VALUE_WORDS for value in answer.values)
    few = 1 <= answer.distinct_count <= _MAX_FIELD_VALUES
    sorts = sorts_documents(answer) and 2 * answer.distinct_count <= total
    is_told_apart = sorts or total <= _FEW_DOCUMENTS
    return few and is_division and is_short and is_told_apart and answer.missing_count <= total


def _value_candidate(field: SchemaField, value: str) -> RefinementCandidate:
    is_flag = field.type is FieldType.FLAG
    label = FlagLabel(field=field, is_set=value == "true") if is_flag else FieldValueLabel(field=field, value=value)
    return RefinementCandidate(label=label, refinement=AddFilter(condition=equality_condition_for(field, value)))
