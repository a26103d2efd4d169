"""Bucket queries: a search split by bucket, each with the query for its documents."""

from collections.abc import Sequence
from dataclasses import dataclass

from storage.opensearch.connection import JsonObject
from storage.opensearch.mapping import IndexedField, IndexLayout
from storage.opensearch.reading import compile as compiled
from storage.search.errors import InvalidCondition, UnknownField
from storage.search.ids import FieldName
from storage.search.plan import Clause
from storage.search.scope import Scope


@dataclass(frozen=True, kw_only=True)
class BucketQuery:
    """The query for the visible documents that one clause of a search selects."""

    layout: IndexLayout
    clause: Clause
    scope: Scope
    documents_query: JsonObject

    @property
    def index(self) -> str:
        return self.layout.index

    @property
    def passages_query(self) -> JsonObject:
        """The query for the passages of these documents."""
        return compiled.passages_query(self.clause, self.layout, self.scope)

    def field_named(self, name: FieldName) -> IndexedField:
        """Returns the field. Raises `UnknownField`."""
        if name not in self.layout.indexed_fields:
            raise UnknownField(name, self.layout.bucket)
        return self.layout.indexed_fields[name]


def bucket_query_for(clause: Clause, layout: IndexLayout, scope: Scope) -> BucketQuery:
    """Returns the query of one clause. Raises `UnknownField` and `InvalidCondition`."""
    query = compiled.documents_query(clause, layout, scope)
    return BucketQuery(layout=layout, clause=clause, scope=scope, documents_query=query)


def fields_in_buckets(bucket_queries: Sequence[BucketQuery], name: FieldName) -> list[IndexedField]:
    """Returns the field in each bucket. Raises `UnknownField`, and `InvalidCondition` if its type differs."""
    fields = [bucket_query.field_named(name) for bucket_query in bucket_queries]
    if len({field.definition.type for field in fields}) > 1:
        raise InvalidCondition(f"the field {name!r} is not of one type in these buckets")
    return fields
