"""The dictionary of what is visible in a bucket, and how many documents have which field."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from storage.opensearch.asking import Steps, documents_by_term, one_search, side_by_side, together, total
from storage.opensearch.compile import both, has, visible
from storage.opensearch.connection import Object
from storage.opensearch.facets import measured, values_of
from storage.opensearch.layout import DOCUMENT, Coded, Layout
from storage.opensearch.terms import same_fold
from storage.search.ids import BucketId, FieldName
from storage.search.index import FieldVocabulary
from storage.search.schema import FieldType
from storage.search.scope import Scope

Presence: TypeAlias = tuple[int, dict[FieldName, int]]
Seen: TypeAlias = tuple[int, list[FieldVocabulary]]  # the bucket's documents, and its fields that have values


@dataclass(frozen=True, kw_only=True)
class _Place:
    """A field, or a column within `rows`."""

    bucket: BucketId
    index: str
    name: FieldName
    coded: Coded
    rows: str | None
    query: Object  # of the visible documents that have a value


def vocabulary_of(layout: Layout, scope: Scope, limit: int) -> Steps[Seen]:
    query = both({"term": {"kind": DOCUMENT}}, visible(scope))
    size, fields = yield from side_by_side(
        total([one_search(layout.index, query)]),
        together([_field(place, limit) for place in _places(layout, query)]),
    )
    return size, [one for one in fields if one.documents]


def _places(layout: Layout, query: Object) -> Iterator[_Place]:
    """In order of the schema; columns follow their rows field."""
    for name, one in layout.fields.items():
        present = both(query, has(one))
        yield _Place(bucket=layout.bucket, index=layout.index, name=name, coded=one, rows=None, query=present)
        for column, inner in one.columns.items():
            nested: Object = {"nested": {"path": one.code, "query": has(inner)}}
            yield _Place(
                bucket=layout.bucket,
                index=layout.index,
                name=FieldName(f"{name}.{column}"),
                coded=inner,
                rows=one.code,
                query=both(query, nested),
            )


def _field(place: _Place, limit: int) -> Steps[FieldVocabulary]:
    match place.coded.field.type:
        case FieldType.CATEGORY | FieldType.LIST | FieldType.TEXT:
            return (yield from _strings(place, limit))
        case FieldType.NUMBER | FieldType.MONEY | FieldType.DATE:
            return (yield from _span(place))
        case FieldType.FLAG | FieldType.ROWS:
            documents = yield from total([one_search(place.index, place.query)])
            return FieldVocabulary(bucket=place.bucket, field=place.name, documents=documents)


def _strings(place: _Place, limit: int) -> Steps[FieldVocabulary]:
    documents, (folds, written) = yield from side_by_side(
        total([one_search(place.index, place.query)]),
        side_by_side(
            documents_by_term(place.index, place.query, place.coded.code, place.rows),
            documents_by_term(place.index, place.query, place.coded.raw, place.rows),
        ),
    )
    counted = Counter({same_fold(term, is_key=True): count for term, count in folds.items()})
    values = values_of(counted, written, limit)
    return FieldVocabulary(bucket=place.bucket, field=place.name, documents=documents, values=values)


def _span(place: _Place) -> Steps[FieldVocabulary]:
    low: Object = {"min": {"field": place.coded.code}}
    high: Object = {"max": {"field": place.coded.code}}
    asked: Object = {"low": low, "high": high}
    if place.rows is not None:
        asked = {"rows": {"nested": {"path": place.rows}, "aggs": asked}}
    (found,) = yield [one_search(place.index, place.query, asked)]
    ends = found.aggregations if place.rows is None else found.aggregations["rows"]
    kind = place.coded.field.type
    return FieldVocabulary(
        bucket=place.bucket,
        field=place.name,
        documents=found.total,
        low=_end(ends["low"]["value"], kind),
        high=_end(ends["high"]["value"], kind),
    )


def _end(value: float | None, kind: FieldType) -> float | str | None:
    return None if value is None else measured(value, kind)


def presence(layout: Layout) -> Steps[Presence]:
    """The documents of a bucket, and how many have a value of which field; fields without any are left out."""
    query: Object = {"term": {"kind": DOCUMENT}}
    asked: Object = {one.code: {"filter": has(one)} for one in layout.fields.values()}
    (found,) = yield [one_search(layout.index, query, asked)]
    counted = {name: int(found.aggregations[one.code]["doc_count"]) for name, one in layout.fields.items()}
    return found.total, {name: count for name, count in counted.items() if count}
