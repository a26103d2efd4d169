"""Ways out of a search that finds nothing: other values, fewer conditions, other buckets."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from agent.decomposition import LegAlternatives
from agent.english.function_words import STOP_WORDS
from agent.refine.candidates import OfferedChoice, RefinementCandidate
from agent.refine.choice_labels import (
    AlsoMissingLabel,
    NearestValueLabel,
    OnlyConditionLabel,
    OtherBucketLabel,
    SpellingLabel,
    WithoutConditionLabel,
    WithoutWordLabel,
)
from agent.refine.refinements import reading_candidate
from storage.search.analyser import fold_text
from storage.search.conditions import (
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    NotCondition,
    RowCondition,
    SemiJoinCondition,
    conjunction_of,
    conjuncts_of,
)
from storage.search.ids import BucketId, FieldName
from storage.search.index import (
    IndexAnswers,
    IndexRequest,
    NearestValueRequest,
    SpellingRequest,
    SpellingSuggestion,
)
from storage.search.plan import Clause, Leg, Search
from storage.search.refinement import (
    AddBucket,
    CorrectWord,
    DropFilter,
    DropWord,
    IncludeMissing,
    UseNearest,
    UseReading,
    apply_refinement,
)
from storage.search.schema import FieldOrigin, FieldType, Schema

_MAX_RELAXATIONS = 5
_MAX_OF_A_KIND = 2  # choices with labels of one kind, so that the few choices are different ways on
_MAX_DROPPED = 3  # constraints that are each offered to be left out
_MAX_SPELLINGS = 3  # offered for a word
_MAX_CHECKED_WORDS = 12  # whose spelling the index looks up
_MIN_CORRECTABLE_LETTERS = 4
_MIN_LETTERS_FOR_TWO_EDITS = 8
_ORDER_OPERATORS = (
    ComparisonOperator.BETWEEN,
    ComparisonOperator.GT,
    ComparisonOperator.GTE,
    ComparisonOperator.LT,
    ComparisonOperator.LTE,
)
SchemasByBucket = Mapping[BucketId, Schema]


def relaxation_requests(leg: Leg, schemas: SchemasByBucket) -> list[IndexRequest[object]]:
    """Returns the requests that relaxations need: the nearest values of each condition, the spellings of each word."""
    requests: list[IndexRequest[object]] = []
    for clause in leg.search.clauses:
        for condition in conjuncts_of(clause.condition):
            requests += _nearest_requests(clause, condition, schemas[clause.bucket])
        for _, _, inner in _inner_clauses_of(clause, schemas):
            inner_leg = replace(leg, search=Search(clauses=(inner,)))
            requests += relaxation_requests(inner_leg, schemas)
    buckets = frozenset(leg.search.buckets)
    words = _words_to_spell_check(leg)
    requests += [SpellingRequest(buckets, word) for word in words]
    return requests


def _words_to_spell_check(leg: Leg) -> Sequence[str]:
    """Returns the first of the required words that may be misspelt, sorted: no phrases, no numbers."""
    required = {word for clause in leg.search.clauses for word in clause.required_terms}
    return sorted(word for word in required if " " not in word and not word.isdigit())[:_MAX_CHECKED_WORDS]


def _nearest_requests(clause: Clause, condition: Condition, schema: Schema) -> Iterator[NearestValueRequest]:
    if not isinstance(condition, ComparisonCondition) or condition.field not in schema.by_name:
        return
    field = schema.by_name[condition.field]
    if field.type not in (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE):
        return
    without = Search(clauses=(_clause_without_condition(clause, condition),))
    for value in dict.fromkeys(condition.value if isinstance(condition.value, tuple) else (condition.value,)):
        if not isinstance(value, bool):
            yield NearestValueRequest(without, field.name, value)


def _clause_without_condition(clause: Clause, condition: Condition) -> Clause:
    kept = (conjunct for conjunct in conjuncts_of(clause.condition) if conjunct != condition)
    return replace(clause, condition=conjunction_of(*kept))


def derive_relaxations(
    leg: Leg, answers: IndexAnswers | None, alternatives: LegAlternatives, schemas: SchemasByBucket
) -> list[RefinementCandidate]:
    """Returns, in this order: nearest values, spellings, the search without one constraint, other readings, documents
    with a missing value, other buckets, and each constraint alone.
    """
    candidates: list[RefinementCandidate] = []
    for clause in leg.search.clauses:
        schema = schemas[clause.bucket]
        for condition in conjuncts_of(clause.condition):
            if answers is not None:
                candidates += _nearest_candidates(leg.search, clause, condition, schema, answers)
        candidates += _inner_set_candidates(clause, answers, schemas)
    candidates += _spelling_candidates(leg, answers)
    for clause in leg.search.clauses:
        candidates += _drop_candidates(clause)
    candidates += [
        reading_candidate(reading) for reading in (*alternatives.equal_readings, *alternatives.wider_readings)
    ]
    for clause in leg.search.clauses:
        candidates += _missing_candidates_of_clause(clause, schemas[clause.bucket])
    candidates += other_bucket_candidates(leg, alternatives, schemas)
    return [*candidates, *_single_constraint_candidates(leg)]


def _inner_clauses_of(
    clause: Clause, schemas: SchemasByBucket
) -> Iterator[tuple[Condition, SemiJoinCondition, Clause]]:
    """Yields each conjunct that compares with a set of another bucket, by itself or in a row.

    After it come its condition that compares, and the clause of that set.
    """
    for conjunct in conjuncts_of(clause.condition):
        parts = conjuncts_of(conjunct.condition) if isinstance(conjunct, RowCondition) else (conjunct,)
        for part in parts:
            if isinstance(part, SemiJoinCondition) and part.bucket in schemas:
                yield conjunct, part, Clause(bucket=part.bucket, condition=part.condition)


def _replace_part(conjunct: Condition, old: SemiJoinCondition, new: SemiJoinCondition) -> Condition:
    """Returns the conjunct with another inner set; a condition on a row keeps its other parts."""
    if not isinstance(conjunct, RowCondition):
        return new
    parts = (new if part == old else part for part in conjuncts_of(conjunct.condition))
    return replace(conjunct, condition=conjunction_of(*parts))


def _inner_set_candidates(
    clause: Clause, answers: IndexAnswers | None, schemas: SchemasByBucket
) -> Iterator[RefinementCandidate]:
    """Yields what the inner sets may be instead: with the nearest values, or without one of their conditions."""
    for conjunct, semi_join, inner in _inner_clauses_of(clause, schemas):
        inner_search = Search(clauses=(inner,))
        candidates: list[RefinementCandidate] = []
        if answers is not None:
            for condition in conjuncts_of(inner.condition):
                schema = schemas[inner.bucket]
                candidates += _nearest_candidates(inner_search, inner, condition, schema, answers)
        candidates += [*_inner_set_candidates(inner, answers, schemas), *_drop_candidates(inner)]
        for candidate in candidates:
            relaxed = apply_refinement(candidate.refinement, inner_search).clauses[0].condition
            new = _replace_part(conjunct, semi_join, replace(semi_join, condition=relaxed))
            yield replace(candidate, refinement=UseNearest(old=conjunct, new=new, bucket=clause.bucket))


def other_bucket_candidates(
    leg: Leg, alternatives: LegAlternatives, schemas: SchemasByBucket
) -> list[RefinementCandidate]:
    """Returns a candidate for each bucket that was not chosen: it adds the clause of the question for this bucket.

    A bucket is left out unless every constraint of the question has one there that means the same.
    """
    return [
        RefinementCandidate(
            label=OtherBucketLabel(clause=clause),
            refinement=AddBucket(clause=clause),
        )
        for clause in alternatives.other_bucket_clauses
        if _supports_order(leg, schemas[clause.bucket], schemas)
        and any(_carries_constraints(own, clause, schemas) for own in leg.search.clauses)
    ]


def _carries_constraints(own: Clause, other: Clause, schemas: SchemasByBucket) -> bool:
    """Whether the other clause says what the own clause says: by fields that mean the same, or by a value or a word.

    The other clause has no further constraint, which the question would have to be bent for.
    """
    conditions, others = conjuncts_of(own.condition), conjuncts_of(other.condition)
    if not conditions and not own.required_terms:
        return False
    if len(others) + len(other.required_terms) > len(conditions) + len(own.required_terms):
        return False
    return all(
        any(_mean_the_same(condition, candidate, schemas[own.bucket], schemas[other.bucket]) for candidate in others)
        or _words_of_values(condition) & {fold_text(word) for word in other.required_terms}
        for condition in conditions
    )


def _mean_the_same(condition: Condition, other: Condition, own_schema: Schema, other_schema: Schema) -> bool:
    if _words_of_values(condition) & _words_of_values(other):
        return True
    names, other_names = _names_of_field(condition, own_schema), _names_of_field(other, other_schema)
    return bool(names & other_names) or condition == other


def _names_of_field(condition: Condition, schema: Schema) -> frozenset[str]:
    """Returns the folded names of the field that the condition compares; none for a condition of another kind."""
    compared = condition.condition if isinstance(condition, NotCondition) else condition
    field = schema.by_name.get(compared.field) if isinstance(compared, ComparisonCondition) else None
    if field is None:
        return frozenset()
    return frozenset(map(fold_text, (field.name, field.label, *field.plain_synonyms)))


def _words_of_values(condition: Condition) -> set[str]:
    """Returns the folded words that the condition compares with; days, numbers and flags are none."""
    if not isinstance(condition, ComparisonCondition) or condition.op in _ORDER_OPERATORS:
        return set()
    values = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    return {fold_text(value) for value in values if isinstance(value, str)}


def _supports_order(leg: Leg, other_schema: Schema, schemas: SchemasByBucket) -> bool:
    """Whether the documents of another bucket can be sorted in the order that the leg asks for."""
    order = leg.answer_form.list_order
    if order is None:
        return True
    field = schemas[leg.search.clauses[0].bucket].by_name[order.field]
    return order.field in other_schema.by_name and other_schema.by_name[order.field].type is field.type


def _nearest_candidates(
    search: Search, clause: Clause, condition: Condition, schema: Schema, answers: IndexAnswers
) -> Iterator[RefinementCandidate]:
    for request in _nearest_requests(clause, condition, schema):
        if not isinstance(condition, ComparisonCondition):
            continue
        field = schema.by_name[condition.field]
        around = answers[request]
        for value in (around.below, around.above):
            new = None if value is None else _nearest_condition(condition, value)
            if new is not None and value is not None:
                label = NearestValueLabel(field=field, condition=new)
                yield RefinementCandidate(
                    label=label, refinement=UseNearest(old=condition, new=new, bucket=clause.bucket)
                )


def _nearest_condition(condition: ComparisonCondition, value: float | str) -> ComparisonCondition | None:
    """Returns the condition with the nearest existing value; a year becomes the year of this value."""
    name, op = condition.field, condition.op
    if op is ComparisonOperator.BETWEEN and isinstance(condition.value, tuple) and isinstance(value, str):
        first, last = (str(day) for day in condition.value)
        if first[4:] == "-01-01" and last[4:] == "-12-31":
            return ComparisonCondition(
                field=name, op=ComparisonOperator.BETWEEN, value=(f"{value[:4]}-01-01", f"{value[:4]}-12-31")
            )
        return ComparisonCondition(field=name, op=ComparisonOperator.EQ, value=value)
    if op in (ComparisonOperator.GT, ComparisonOperator.GTE, ComparisonOperator.LT, ComparisonOperator.LTE):
        return ComparisonCondition(
            field=name,
            op=ComparisonOperator.GTE
            if op in (ComparisonOperator.GT, ComparisonOperator.GTE)
            else ComparisonOperator.LTE,
            value=value,
        )
    return ComparisonCondition(field=name, op=ComparisonOperator.EQ, value=value)


def _spelling_candidates(leg: Leg, answers: IndexAnswers | None) -> Iterator[RefinementCandidate]:
    buckets = frozenset(leg.search.buckets)
    words = _words_to_spell_check(leg)
    if answers is None:
        return
    for word in words:
        near = [spelling for spelling in answers[SpellingRequest(buckets, word)] if is_near_spelling(word, spelling)]
        for spelling in near[:_MAX_SPELLINGS]:
            yield RefinementCandidate(
                label=SpellingLabel(old=word, new=spelling.word), refinement=CorrectWord(old=word, new=spelling.word)
            )


def is_near_spelling(word: str, spelling: SpellingSuggestion) -> bool:
    """Whether the word may be a slip for the suggested word: "reciept", but not "hw" for "in".

    Both begin with the same letter; a word of fewer than four letters resembles too many others.
    """
    max_edits = 1 if len(word) < _MIN_LETTERS_FOR_TWO_EDITS else 2
    return (
        len(word) >= _MIN_CORRECTABLE_LETTERS
        and spelling.distance <= max_edits
        and fold_text(word)[:1] == fold_text(spelling.word)[:1]
        and spelling.word not in STOP_WORDS
    )


def _drop_candidates(clause: Clause) -> Iterator[RefinementCandidate]:
    conditions = conjuncts_of(clause.condition)
    if len(conditions) + len(clause.required_terms) < 2:
        return  # dropping the only constraint leaves the bucket, which answers nothing
    for condition in conditions:
        yield RefinementCandidate(
            label=WithoutConditionLabel(condition=condition, bucket=clause.bucket),
            refinement=DropFilter(condition=condition, bucket=clause.bucket),
        )
    for word in clause.required_terms:
        yield RefinementCandidate(
            label=WithoutWordLabel(word=word), refinement=DropWord(word=word, bucket=clause.bucket)
        )


def comparisons_with_missing(clause: Clause, schema: Schema) -> Iterator[tuple[Condition, FieldName]]:
    """Yields the comparisons of the clause, negated or not, on fields that may be missing in a document."""
    for condition in conjuncts_of(clause.condition):
        compared = condition.condition if isinstance(condition, NotCondition) else condition
        field = schema.by_name.get(compared.field) if isinstance(compared, ComparisonCondition) else None
        if field is not None and not field.absent_means_none and field.origin is not FieldOrigin.KIND:
            yield condition, field.name


def _missing_candidates_of_clause(clause: Clause, schema: Schema) -> Iterator[RefinementCandidate]:
    for condition, name in comparisons_with_missing(clause, schema):
        yield RefinementCandidate(
            label=AlsoMissingLabel(field=schema.by_name[name]),
            refinement=IncludeMissing(condition=condition, field=name, bucket=clause.bucket),
        )


def missing_candidates(leg: Leg, schemas: SchemasByBucket) -> list[RefinementCandidate]:
    """Returns candidates that include the documents with a missing value for a condition."""
    return [
        candidate
        for clause in leg.search.clauses
        for candidate in _missing_candidates_of_clause(clause, schemas[clause.bucket])
    ]


def _single_constraint_candidates(leg: Leg) -> Iterator[RefinementCandidate]:
    """Yields each constraint alone, for cases where dropping one of them is not enough."""
    for clause in leg.search.clauses:
        conditions = conjuncts_of(clause.condition)
        if len(conditions) + len(clause.required_terms) < 3:
            continue
        for condition in conditions:
            alone = Search(
                clauses=(Clause(bucket=clause.bucket, condition=condition),), ranking_text=leg.search.ranking_text
            )
            label = OnlyConditionLabel(condition=condition, bucket=clause.bucket)
            yield RefinementCandidate(label=label, refinement=UseReading(search=alone))


def limit_relaxations(choices: Sequence[OfferedChoice], taken: int = 0) -> list[OfferedChoice]:
    """Returns the first choices, a few of each kind, as many as fit beside `taken` others.

    The order of derivation puts those closest to the question first.
    """
    kinds = Counter[type]()
    kept: list[OfferedChoice] = []
    for choice in choices:
        kind = type(choice.label)
        kinds[kind] += 1
        is_dropped = isinstance(choice.label, (WithoutConditionLabel, WithoutWordLabel))
        if kinds[kind] <= (_MAX_DROPPED if is_dropped else _MAX_OF_A_KIND):
            kept.append(choice)
    return kept[: max(0, _MAX_RELAXATIONS - taken)]
