"""Ways out: derive candidate refinements, count them all in one round trip, drop the dead ends, rank the rest.

Two round trips at most: one that asks the index what there is (`suggest`), one that counts. What the first would ask is
already in hand for an overload, whose facets came with its count.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent.compose import amount_words, noun_of
from agent.outcome import Choice
from agent.reasoner import Doubt
from agent.tools import Desk
from agent.wording import condition_words, number_words, period_words, plural, value_words
from storage.search.conditions import DOC_ID, All, Compare, Condition, Not, Op, Scalar, all_of, conjuncts
from storage.search.ids import BucketId, FieldName
from storage.search.index import (
    Answers,
    Count,
    Facet,
    FacetAnswer,
    Nearest,
    PeriodFacet,
    RangeFacet,
    Record,
    Request,
    Spellings,
    ValueCount,
    ValueFacet,
)
from storage.search.plan import Clause, Leg, ListDocuments, Search
from storage.search.refinement import (
    AddBucket,
    AddFilter,
    ChooseDocument,
    CorrectWord,
    DropFilter,
    DropWord,
    ExportAll,
    JustAnswer,
    OnlyBucket,
    OnlyMissing,
    OpenTail,
    Refinement,
    SearchByMeaning,
    TakeInMissing,
    TakeReading,
    UseNearest,
    apply,
)
from storage.search.schema import Field, FieldType, Schema

_SHOWN_CELLS = 6
_PARTS = 6
_MOST_FACETS = 12
_MOST_WAYS_OUT = 10
_FACETABLE = (FieldType.CATEGORY, FieldType.DATE, FieldType.NUMBER, FieldType.MONEY, FieldType.FLAG, FieldType.LIST)

Schemas = Mapping[BucketId, Schema]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A refinement that may be offered, not yet counted."""

    label: str
    does: Refinement


async def counted(desk: Desk, leg: Leg, candidates: Sequence[Candidate]) -> list[Choice]:
    """The candidates that lead somewhere else than nowhere, in the order given, each with its count; one round trip.

    One that changes nothing is left out, unless it is the reading that was taken: that one is to be told from others.
    """
    offered = [
        one for one in candidates if isinstance(one.does, TakeReading) or apply(one.does, leg.search) != leg.search
    ]
    if not offered:
        return []
    counts = {one: Count(apply(one.does, leg.search)) for one in offered}
    now = Count(leg.search)
    answers = await desk.ask((now, *counts.values()))
    seen: set[Search] = set()
    choices: list[Choice] = []
    for one, count in counts.items():
        widens = not isinstance(one.does, AddBucket) or answers[count] > answers[now]
        if answers[count] and count.search not in seen and widens:
            seen.add(count.search)
            choices.append(Choice(label=one.label, count=_brought(leg, answers[count]), leg=leg.id, does=one.does))
    return choices


def _brought(leg: Leg, count: int) -> int:
    """What a click then finds: of "the first three", three."""
    limit = leg.wanted.limit if isinstance(leg.wanted, ListDocuments) else None
    return count if limit is None else min(count, limit)


# -- too much


def facet_requests(search: Search, schemas: Schemas) -> list[Facet]:
    """The facets that may split the set; none where it spans buckets (they split it)."""
    if len(search.clauses) != 1:
        return []
    clause = search.clauses[0]
    fields = [one for one in schemas[clause.bucket].fields if one.type in _FACETABLE and _splits(one, clause)]
    declared = [one for one in fields if one.facet]
    return [Facet(search, one.name, parts=_PARTS) for one in (declared or fields)[:_MOST_FACETS]]


def _splits(field: Field, clause: Clause) -> bool:
    """Fixed fields cannot; amounts of several currencies do not compare."""
    fixed = {one.field for one in conjuncts(clause.condition) if isinstance(one, Compare) and one.op is Op.EQ}
    if field.name in fixed:
        return False
    return field.type is not FieldType.MONEY or bool(field.currency) or field.currency_field in fixed


def narrowing(leg: Leg, answers: Answers, facets: Sequence[Facet], schemas: Schemas) -> tuple[str, list[Candidate]]:
    """The facet that splits the set best, as candidates; and what they go by. Empty where nothing splits it."""
    if len(leg.search.clauses) != 1:
        return "where they are", [
            Candidate(label=f"{schemas[bucket].label}", does=OnlyBucket(bucket=bucket)) for bucket in leg.search.buckets
        ]
    schema = schemas[leg.search.clauses[0].bucket]
    scored = [(_entropy(answers[one]), _overlaps(answers[one]), at) for at, one in enumerate(facets)]
    disjoint = [one for one in scored if one[0] > 0.05 and not one[1]]
    best = max(disjoint or [one for one in scored if one[0] > 0.05], key=lambda one: (one[0], -one[2]), default=None)
    if best is None:
        return "", []
    field = schema.by_name[facets[best[2]].field]
    note = " (may overlap)" if best[1] else ""
    return field.label.lower() + note, list(_cells(field, answers[facets[best[2]]]))


def _overlaps(answer: FacetAnswer) -> bool:
    return isinstance(answer, ValueFacet) and answer.overlapping


def _entropy(answer: FacetAnswer) -> float:
    """Bits, over what the buttons can show: the cells shown, the merged tail, the missing."""
    match answer:
        case ValueFacet():
            shown = _shown(answer)
            parts = [one.count for one in shown]
            parts += [sum(one.count for one in answer.values[len(shown) :]) + answer.other]
        case RangeFacet():
            parts = [one.count for one in answer.ranges]
        case PeriodFacet():
            parts = [one.count for one in answer.periods]
    return _bits([*parts, answer.missing])


def _bits(parts: Sequence[int]) -> float:
    total = sum(parts)
    return -sum(part / total * math.log2(part / total) for part in parts if part) if total else 0.0


def _shown(answer: ValueFacet) -> Sequence[ValueCount]:
    """All values when one more than fits would be merged alone."""
    fits = _SHOWN_CELLS + 1 if answer.distinct == _SHOWN_CELLS + 1 else _SHOWN_CELLS
    return answer.values[:fits]


def _cells(field: Field, answer: FacetAnswer) -> Iterator[Candidate]:
    match answer:
        case ValueFacet():
            yield from _value_cells(field, answer)
        case RangeFacet():
            for one in answer.ranges:
                yield Candidate(label=_range_words(field, one.low, one.high), does=_within(field, one.low, one.high))
        case PeriodFacet():
            for one in answer.periods:
                between = Compare(field=field.name, op=Op.BETWEEN, value=(one.first, one.last))
                yield Candidate(label=period_words(one.first, one.last), does=AddFilter(condition=between))
    if answer.missing and not field.absent_means_none:
        yield Candidate(label=f"no {field.label.lower()}", does=OnlyMissing(field=field.name))


def _value_cells(field: Field, answer: ValueFacet) -> Iterator[Candidate]:
    shown = [one.value for one in answer.values[: len(_shown(answer))]]
    for value in shown:
        yield Candidate(label=_cell_words(field, value), does=AddFilter(condition=_is(field, value)))
    if answer.distinct > len(shown):
        tail = Not(Compare(field=field.name, op=Op.IN, value=tuple(shown)))
        rest = answer.distinct - len(shown)
        label = f"{rest:,} more {plural(field.label.lower()) if rest > 1 else field.label.lower()}"
        if field.type is FieldType.LIST:
            yield Candidate(label=f"none of these {plural(field.label.lower())}", does=OpenTail(condition=tail))
        else:
            yield Candidate(label=label, does=OpenTail(condition=tail))


def _cell_words(field: Field, value: str) -> str:
    if field.type is FieldType.FLAG:
        return field.label if value == "true" else f"not {field.label}"
    return value


def _is(field: Field, value: str) -> Condition:
    if field.type is FieldType.FLAG:
        return Compare(field=field.name, op=Op.EQ, value=value == "true")
    return Compare(field=field.name, op=Op.HAS if field.type is FieldType.LIST else Op.EQ, value=value)


def _within(field: Field, low: float, high: float | None) -> AddFilter:
    bounds: list[Condition] = [Compare(field=field.name, op=Op.GTE, value=low)]
    if high is not None:
        bounds.append(Compare(field=field.name, op=Op.LT, value=high))
    return AddFilter(condition=All(tuple(bounds)))


def _range_words(field: Field, low: float, high: float | None) -> str:
    start = amount_words(low, field.currency or None, field)
    if high is None:
        return f"{start} and up"
    first = number_words(low) if field.unit else start  # the unit is said once
    last = amount_words(high, field.currency or None, field)
    return f"{first} to under {last.removeprefix(f'{field.currency} ')}"


def actions(leg: Leg, count: int | None, *, anyway: bool, of: str = "") -> list[Choice]:
    """The choices that are no refinements: the export of `count` rows, if there are any, and the plain answer."""
    offered: list[Choice] = []
    if count:
        offered.append(Choice(label=f"Export all as CSV{of}", count=count, leg=leg.id, does=ExportAll()))
    if anyway:
        offered.append(Choice(label="Just answer", count=None, leg=leg.id, does=JustAnswer()))
    return offered


# -- nothing


def ways_out_requests(leg: Leg, schemas: Schemas) -> list[Request[object]]:
    """What to ask the index before deriving ways out: neighbours of values that match nothing, spellings of words."""
    requests: list[Request[object]] = []
    for clause in leg.search.clauses:
        for condition in conjuncts(clause.condition):
            requests += _nearest_requests(leg.search, clause, condition, schemas[clause.bucket])
    buckets = frozenset(leg.search.buckets)
    words = _spelt(leg)
    requests += [Spellings(buckets, word) for word in sorted(words)]
    return requests


def _spelt(leg: Leg) -> set[str]:
    """The required words that may be misspelt: no phrases, no numbers."""
    required = {word for clause in leg.search.clauses for word in clause.required}
    return {word for word in required if " " not in word and not word.isdigit()}


def _nearest_requests(search: Search, clause: Clause, condition: Condition, schema: Schema) -> Iterator[Nearest]:
    if not isinstance(condition, Compare) or condition.field not in schema.by_name:
        return
    field = schema.by_name[condition.field]
    if field.type not in (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE):
        return
    without = Search(clauses=(_without(clause, condition),))
    for value in dict.fromkeys(condition.value if isinstance(condition.value, tuple) else (condition.value,)):
        if not isinstance(value, bool):
            yield Nearest(without, field.name, value)


def _without(clause: Clause, condition: Condition) -> Clause:
    kept = (one for one in conjuncts(clause.condition) if one != condition)
    return Clause(bucket=clause.bucket, condition=all_of(*kept), required=clause.required)


def ways_out(leg: Leg, answers: Answers | None, doubt: Doubt, schemas: Schemas) -> list[Candidate]:
    """Nearest values, spellings, each constraint dropped alone, documents that do not say, other buckets."""
    found: list[Candidate] = []
    for clause in leg.search.clauses:
        schema = schemas[clause.bucket]
        for condition in conjuncts(clause.condition):
            if answers is not None:
                found += _nearest(leg.search, clause, condition, schema, answers)
    found += _spellings(leg, answers)
    for clause in leg.search.clauses:
        found += _drops(clause, schemas[clause.bucket])
    found += [Candidate(label=one.words, does=TakeReading(search=one.search)) for one in (*doubt.alike, *doubt.wider)]
    for clause in leg.search.clauses:
        found += _missing(clause, schemas[clause.bucket])
    found += elsewhere(leg, doubt, schemas)
    return [*found, *_lone(leg, schemas)]


def elsewhere(leg: Leg, doubt: Doubt, schemas: Schemas) -> list[Candidate]:
    """What the question says to buckets that were not chosen, each to be taken in as well."""
    return [
        Candidate(
            label=f"in {schemas[clause.bucket].label}: {_clause_words(clause, schemas)}", does=AddBucket(clause=clause)
        )
        for clause in doubt.elsewhere
        if _orders(leg, schemas[clause.bucket], schemas)
    ]


def _orders(leg: Leg, other: Schema, schemas: Schemas) -> bool:
    """Whether another bucket can stand in the order that the leg asks for."""
    order = leg.wanted.order if isinstance(leg.wanted, ListDocuments) else None
    if order is None:
        return True
    field = schemas[leg.search.clauses[0].bucket].by_name[order.field]
    return order.field in other.by_name and other.by_name[order.field].type is field.type


def _clause_words(clause: Clause, schemas: Schemas) -> str:
    schema = schemas[clause.bucket]
    words = [condition_words(one, schema) for one in conjuncts(clause.condition)]
    return " and ".join([*words, *(f"mentions “{word}”" for word in clause.required)])


def _nearest(
    search: Search, clause: Clause, condition: Condition, schema: Schema, answers: Answers
) -> Iterator[Candidate]:
    for request in _nearest_requests(search, clause, condition, schema):
        if not isinstance(condition, Compare):
            continue
        field = schema.by_name[condition.field]
        around = answers[request]
        for value in (around.below, around.above):
            new = None if value is None else _near(condition, value)
            if new is not None and value is not None:
                label = f"{field.label} {_near_words(new, field)} instead"
                yield Candidate(label=label, does=UseNearest(old=condition, new=new, bucket=clause.bucket))


def _near(condition: Compare, value: float | str) -> Compare | None:
    """The condition with the nearest value that exists; a period becomes the like period around it."""
    name, op = condition.field, condition.op
    if op is Op.BETWEEN and isinstance(condition.value, tuple) and isinstance(value, str):
        first, last = (str(one) for one in condition.value)
        if first[4:] == "-01-01" and last[4:] == "-12-31":
            return Compare(field=name, op=Op.BETWEEN, value=(f"{value[:4]}-01-01", f"{value[:4]}-12-31"))
        return Compare(field=name, op=Op.EQ, value=value)
    if op in (Op.GT, Op.GTE, Op.LT, Op.LTE):
        return Compare(field=name, op=Op.GTE if op in (Op.GT, Op.GTE) else Op.LTE, value=value)
    return Compare(field=name, op=Op.EQ, value=value)


def _near_words(condition: Compare, field: Field) -> str:
    if isinstance(condition.value, tuple):
        return period_words(str(condition.value[0]), str(condition.value[1]))
    sign = {Op.GTE: "from ", Op.LTE: "up to "}.get(condition.op, "")
    return sign + value_words(condition.value, field)


def _spellings(leg: Leg, answers: Answers | None) -> Iterator[Candidate]:
    buckets = frozenset(leg.search.buckets)
    words = _spelt(leg)
    if answers is None:
        return
    for word in sorted(words):
        for spelling in answers[Spellings(buckets, word)][:3]:
            yield Candidate(
                label=f"“{spelling.word}” instead of “{word}”", does=CorrectWord(old=word, new=spelling.word)
            )


def _drops(clause: Clause, schema: Schema) -> Iterator[Candidate]:
    conditions = conjuncts(clause.condition)
    if len(conditions) + len(clause.required) < 2:
        return  # dropping the only constraint leaves the bucket, which answers nothing
    for condition in conditions:
        yield Candidate(
            label=f"without: {condition_words(condition, schema)}",
            does=DropFilter(condition=condition, bucket=clause.bucket),
        )
    for word in clause.required:
        yield Candidate(label=f"without: mentions “{word}”", does=DropWord(word=word, bucket=clause.bucket))


def missing_of(clause: Clause, schema: Schema) -> Iterator[tuple[Condition, FieldName]]:
    """The comparisons of the clause, negated or not, on fields that a document may lack."""
    for condition in conjuncts(clause.condition):
        compared = condition.condition if isinstance(condition, Not) else condition
        field = schema.by_name.get(compared.field) if isinstance(compared, Compare) else None
        if field is not None and not field.absent_means_none:
            yield condition, field.name


def _missing(clause: Clause, schema: Schema) -> Iterator[Candidate]:
    for condition, name in missing_of(clause, schema):
        yield Candidate(
            label=f"also those with no {schema.by_name[name].label.lower()}",
            does=TakeInMissing(condition=condition, field=name, bucket=clause.bucket),
        )


def take_in_missing(leg: Leg, schemas: Schemas) -> list[Candidate]:
    """The documents that a filter asks about and that do not say."""
    return [one for clause in leg.search.clauses for one in _missing(clause, schemas[clause.bucket])]


def _lone(leg: Leg, schemas: Schemas) -> Iterator[Candidate]:
    """Each constraint alone, for when dropping one is not enough."""
    for clause in leg.search.clauses:
        conditions = conjuncts(clause.condition)
        if len(conditions) + len(clause.required) < 3:
            continue
        for condition in conditions:
            alone = Search(clauses=(Clause(bucket=clause.bucket, condition=condition),), ranking=leg.search.ranking)
            label = f"only: {condition_words(condition, schemas[clause.bucket])}"
            yield Candidate(label=label, does=TakeReading(search=alone))


def offered_ways_out(choices: Sequence[Choice]) -> list[Choice]:
    """Not more than fit; those that keep most of what was asked come first, as they were derived."""
    return list(choices[:_MOST_WAYS_OUT])


def meaning_action(leg: Leg) -> list[Choice]:
    """Offered where required words may be what finds nothing."""
    asks = any(clause.required for clause in leg.search.clauses)
    return [Choice(label="Search by meaning instead", count=None, leg=leg.id, does=SearchByMeaning())] if asks else []


# -- several meanings


def readings(leg: Leg, doubt: Doubt, schemas: Schemas, taken: str) -> list[Candidate]:
    """The reading taken and those that score as well."""
    first = Candidate(label=taken, does=TakeReading(search=leg.search))
    return [first, *(Candidate(label=one.words, does=TakeReading(search=one.search)) for one in doubt.alike)]


def documents(records: Sequence[Record], more: bool) -> list[Candidate]:
    """Documents by name; "more" leads to the rest."""
    shown = records[:_SHOWN_CELLS]
    named = [
        Candidate(
            label=one.title or one.doc_id,
            does=ChooseDocument(condition=_doc(Op.EQ, one.doc_id), bucket=one.bucket),
        )
        for one in shown
    ]
    if more or len(records) > len(shown):
        rest = Not(_doc(Op.IN, tuple(str(one.doc_id) for one in shown)))
        named.append(Candidate(label="another of them", does=OpenTail(condition=rest)))
    return named


def _doc(op: Op, value: Scalar | tuple[Scalar, ...]) -> Compare:
    return Compare(field=DOC_ID, op=op, value=value)


def noun(search: Search, schemas: Schemas) -> str:
    """What the documents of a set are called: the bucket's noun, or "document" where there are several."""
    return noun_of(schemas[search.clauses[0].bucket]) if len(search.clauses) == 1 else "document"
