"""How a field splits a set. All values are fetched with their counts; cells and tails are made of them here."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from typing import assert_never

from storage.opensearch.asking import Ask, Steps, documents_by_term, one_search, side_by_side, together, total
from storage.opensearch.compile import among, both, has, term
from storage.opensearch.connection import Object
from storage.opensearch.layout import Coded
from storage.opensearch.parts import Part, fields_in
from storage.opensearch.terms import same_fold, shown
from storage.search.cells import periods_of, ranges_of
from storage.search.conditions import Scalar
from storage.search.errors import InvalidCondition
from storage.search.ids import FieldName
from storage.search.index import Facet, FacetAnswer, Neighbours, PeriodFacet, RangeFacet, ValueCount, ValueFacet
from storage.search.normal import typed_scalar
from storage.search.schema import FieldType

_MEASURED = (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE)


def facet(parts: Sequence[Part], request: Facet) -> Steps[FacetAnswer]:
    fields = fields_in(parts, request.field)
    if len(fields) > 1 and not all(one.field.shared for one in fields):
        raise InvalidCondition(f"the field {request.field!r} is not shared by these buckets")
    if not fields:
        yield []
        return ValueFacet(values=(), other=0, missing=0, distinct=0, overlapping=False)
    match fields[0].field.type:
        case FieldType.CATEGORY | FieldType.TEXT:
            return (yield from _values(parts, fields, request))
        case FieldType.LIST:
            return (yield from _members(parts, fields, request))
        case FieldType.FLAG:
            return (yield from _flags(parts, fields, request))
        case FieldType.NUMBER | FieldType.MONEY:
            size, counted = yield from _distinct(parts, fields)
            ranges = ranges_of(counted, request.parts)
            return RangeFacet(ranges=ranges, missing=size - sum(count for _, count in counted))
        case FieldType.DATE:
            size, counted = yield from _distinct(parts, fields)
            days = [(str(measured(day, FieldType.DATE)), count) for day, count in counted]
            return PeriodFacet(
                periods=periods_of(days, request.parts), missing=size - sum(count for _, count in counted)
            )
        case FieldType.ROWS:
            raise InvalidCondition(f"the field {request.field!r} holds rows, which have no facet")
        case _:
            assert_never(fields[0].field.type)


def _all(parts: Sequence[Part]) -> Steps[int]:
    return total([one_search(part.index, part.query) for part in parts])


def _with(parts: Sequence[Part], conditions: Sequence[Object]) -> Steps[int]:
    """The documents of the set that meet the condition of their bucket."""
    pairs = zip(parts, conditions, strict=True)
    return total([one_search(part.index, both(part.query, condition)) for part, condition in pairs])


def _by_term(parts: Sequence[Part], paths: Sequence[str]) -> Steps[Counter[str]]:
    """The documents of the set by term of the path in their bucket."""
    pairs = zip(parts, paths, strict=True)
    counted = yield from together([documents_by_term(part.index, part.query, path) for part, path in pairs])
    return sum(map(Counter, counted), Counter[str]())


def _distinct(parts: Sequence[Part], fields: Sequence[Coded]) -> Steps[tuple[int, list[tuple[float, int]]]]:
    """The documents of the set, and how many have which number or day, in order."""
    size, counted = yield from side_by_side(_all(parts), _by_term(parts, [one.code for one in fields]))
    return size, sorted((float(value) + 0.0, count) for value, count in counted.items())


def _flags(parts: Sequence[Part], fields: Sequence[Coded], request: Facet) -> Steps[FacetAnswer]:
    size, true = yield from side_by_side(_all(parts), _with(parts, [among(one.code, [True]) for one in fields]))
    counted = sorted(
        (ValueCount(value=value, count=count) for value, count in (("true", true), ("false", size - true)) if count),
        key=lambda one: (-one.count, one.value),
    )
    cells = tuple(counted[: max(request.limit, 0)])
    other = size - sum(one.count for one in cells)
    return ValueFacet(values=cells, other=other, missing=0, distinct=len(counted), overlapping=False)


def _values(parts: Sequence[Part], fields: Sequence[Coded], request: Facet) -> Steps[FacetAnswer]:
    """Of a field with one value a document: what is written alike is added up."""
    size, written = yield from side_by_side(_all(parts), _by_term(parts, [one.raw for one in fields]))
    counted = Counter[str]()
    for label, count in written.items():
        counted[same_fold(label, is_key=False)] += count
    values = values_of(counted, written, request.limit)
    with_value = counted.total()
    return ValueFacet(
        values=values,
        other=with_value - sum(value.count for value in values),
        missing=size - with_value,
        distinct=len(counted),
        overlapping=False,
    )


def _members(parts: Sequence[Part], fields: Sequence[Coded], request: Facet) -> Steps[FacetAnswer]:
    """Of a list: a document is counted once for each of its members, and once in `other` if it stands in no cell."""
    size, ((folds, written), with_value) = yield from side_by_side(
        _all(parts),
        side_by_side(
            side_by_side(_by_term(parts, [one.code for one in fields]), _by_term(parts, [one.raw for one in fields])),
            _with(parts, [has(one) for one in fields]),
        ),
    )
    counted = Counter({same_fold(term, is_key=True): count for term, count in folds.items()})
    other = 0
    if len(counted) > request.limit:
        cells = _largest(folds, request.limit)
        inside = yield from _with(parts, [among(one.code, cells) for one in fields])
        other = with_value - inside
    return ValueFacet(
        values=values_of(counted, written, request.limit),
        other=other,
        missing=size - with_value,
        distinct=len(counted),
        overlapping=True,
    )


def _largest(counted: Mapping[str, int], limit: int) -> list[str]:
    return sorted(counted, key=lambda term: (-counted[term], term))[: max(limit, 0)]


def values_of(counted: Mapping[str, int], written: Mapping[str, int], limit: int) -> tuple[ValueCount, ...]:
    """The largest of the folds, then in their order, each as it is written most often."""
    labels = labels_of(written)
    return tuple(ValueCount(value=labels[one], count=counted[one]) for one in _largest(counted, limit))


def labels_of(written: Mapping[str, int]) -> dict[str, str]:
    """For each fold how most documents write it; ties: first by code point."""
    labels = dict[str, str]()
    for label in _largest(written, len(written)):
        labels.setdefault(same_fold(label, is_key=False), shown(label))
    return labels


def nearest(parts: Sequence[Part], name: FieldName, value: float | str) -> Steps[Neighbours]:
    """Raises `InvalidCondition` for a field that has no order of numbers, or a value of another type."""
    fields = fields_in(parts, name)
    kind = fields[0].field.type if fields else FieldType.NUMBER
    if kind not in _MEASURED:
        raise InvalidCondition(f"the field {name!r} has no nearest value")
    wanted = term(typed_scalar(value, kind, name), kind) if fields else value
    found = yield [_around(part, one, wanted) for part, one in zip(parts, fields, strict=True)]
    below = [one.aggregations["below"]["value"]["value"] for one in found]
    above = [one.aggregations["above"]["value"]["value"] for one in found]
    return Neighbours(
        below=_shown(max((one for one in below if one is not None), default=None), kind),
        above=_shown(min((one for one in above if one is not None), default=None), kind),
    )


def _around(part: Part, one: Coded, value: Scalar) -> Ask:
    below: Object = {"filter": {"range": {one.code: {"lt": value}}}, "aggs": {"value": {"max": {"field": one.code}}}}
    above: Object = {"filter": {"range": {one.code: {"gt": value}}}, "aggs": {"value": {"min": {"field": one.code}}}}
    return one_search(part.index, part.query, {"below": below, "above": above})


def _shown(value: float | None, kind: FieldType) -> float | str | None:
    return value if value is None else measured(value, kind)


def measured(value: float, kind: FieldType) -> float | str:
    """A number, or the ISO day of a date's number."""
    return date.fromordinal(int(value)).isoformat() if kind is FieldType.DATE else value + 0.0
