"""Ways out of a question with words that were not understood: all, those that mention them, and parts by fields."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent.decomposition import LegAlternatives
from agent.refine.choice_labels import AllOfThemLabel, FieldValueLabel, FlagLabel, MentionLabel, MissingFieldLabel
from agent.refine.refinements import RefinementCandidate, SchemasByBucket
from storage.search.conditions import ComparisonCondition, ComparisonOperator, MissingCondition, NotCondition
from storage.search.ids import FieldName
from storage.search.index import FacetAnswer, FacetRequest, IndexAnswers, ValueFacet
from storage.search.plan import Leg, Search
from storage.search.refinement import AddFilter, OnlyMissing, UseReading
from storage.search.schema import FieldType, SchemaField

_MAX_FIELDS = 3  # fields that are offered
_MAX_FIELD_VALUES = 7  # distinct values of a field that sorts documents into a few kinds
_MAX_VALUES_BY_FIELD = 4


def unknown_word_candidates(
    leg: Leg,
    alternatives: LegAlternatives,
    answers: IndexAnswers,
    facets: Sequence[FacetRequest],
    schemas: SchemasByBucket,
) -> list[RefinementCandidate]:
    """Returns all documents of the leg's set, those that mention the words, and parts of the set by its fields."""
    words = alternatives.unknown_words
    candidates = [
        RefinementCandidate(label=AllOfThemLabel(), refinement=UseReading(search=leg.search)),
        RefinementCandidate(
            label=MentionLabel(words=tuple(words)), refinement=UseReading(search=mentioning_search(leg.search, words))
        ),
    ]
    if len(leg.search.clauses) == 1:
        fields = schemas[leg.search.clauses[0].bucket].by_name
        ordered = sorted(facets, key=lambda request: _rank_of(request.field, alternatives.suggested_fields))
        parts = (list(_parts_by_field(fields[facet.field], answers[facet])) for facet in ordered)
        candidates += [candidate for part in list(filter(None, parts))[:_MAX_FIELDS] for candidate in part]
    return candidates


def _rank_of(name: FieldName, suggested_fields: Sequence[FieldName]) -> int:
    return suggested_fields.index(name) if name in suggested_fields else len(suggested_fields)


def mentioning_search(search: Search, words: Sequence[str]) -> Search:
    """Returns the search with the words as required terms."""
    clauses = (replace(clause, required_terms=(*clause.required_terms, *words)) for clause in search.clauses)
    return search.with_clauses(*clauses)


def _parts_by_field(field: SchemaField, answer: FacetAnswer) -> Iterator[RefinementCandidate]:
    """Yields the values of a field that sorts the set into a few kinds, and the documents with or without a day."""
    if isinstance(answer, ValueFacet) and 1 <= answer.distinct_count <= _MAX_FIELD_VALUES:
        for value in answer.values[:_MAX_VALUES_BY_FIELD]:
            yield _value_candidate(field, value.value)
    if field.type in (FieldType.DATE, FieldType.CATEGORY, FieldType.MONEY) and answer.missing_count:
        yield RefinementCandidate(label=MissingFieldLabel(field=field), refinement=OnlyMissing(field=field.name))
        if field.type is FieldType.DATE:
            is_known = NotCondition(MissingCondition(field=field.name))
            yield RefinementCandidate(
                label=FieldValueLabel(field=field, value=""), refinement=AddFilter(condition=is_known)
            )


def _value_candidate(field: SchemaField, value: str) -> RefinementCandidate:
    if field.type is FieldType.FLAG:
        is_set = value == "true"
        condition = ComparisonCondition(field=field.name, op=ComparisonOperator.EQ, value=is_set)
        return RefinementCandidate(
            label=FlagLabel(field=field, is_set=is_set), refinement=AddFilter(condition=condition)
        )
    operator = ComparisonOperator.HAS if field.type is FieldType.LIST else ComparisonOperator.EQ
    condition = ComparisonCondition(field=field.name, op=operator, value=value)
    return RefinementCandidate(
        label=FieldValueLabel(field=field, value=value), refinement=AddFilter(condition=condition)
    )
