"""Resolves semi-joins: replaces each by a comparison with the values of its inner set, for any engine.

The inner sets of one depth are read in one round trip, the deepest first, within the same scope and in one state of the
index. What is left is a request without semi-joins, which the engine answers as always.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar, cast

from storage.search.analyser import fold_text
from storage.search.conditions import (
    DOC_ID_FIELD,
    ORDER_OPERATORS,
    TITLE_FIELD,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    NotCondition,
    Scalar,
    SemiJoinCondition,
    conjunction_of,
    locate_semi_joins,
    replace_semi_joins,
    semi_join_depth,
)
from storage.search.documents import RowValues
from storage.search.errors import IndexTimedOut, InnerSetTooLarge, UnknownField
from storage.search.evaluation.condition_normal_form import (
    bind_to_schema,
    check_join_field,
    is_iso_day,
    is_reserved_join_field,
    row_schema_of,
)
from storage.search.evaluation.row_selection import RowMatcher, row_condition_of, row_matcher_for
from storage.search.ids import BucketId, FieldName, Generation
from storage.search.index import (
    AggregateLine,
    AggregateRequest,
    DocumentRecord,
    IndexAnswers,
    IndexRequest,
    RecordPage,
    RecordPageRequest,
    SearchRequest,
)
from storage.search.plan import Clause, GroupBy, Search
from storage.search.schema import FieldType, Schema, SchemaOrder
from storage.search.scope import Scope

SendRequests: TypeAlias = Callable[[Sequence[IndexRequest[object]]], Awaitable[IndexAnswers]]
LoadSchemas: TypeAlias = Callable[[], Awaitable[Mapping[BucketId, Schema]]]
R = TypeVar("R", bound=IndexRequest[object])

MAX_INNER_VALUES = 100_000  # of one inner set, and documents of a bucket whose titles are compared
_PAGE_SIZE = 10_000
_TIED_RECORDS = 100  # read behind the first records of an ordered set, which may tie with the last of them
_MAX_ATTEMPTS = 20  # of requests whose index changes between two round trips
_TEXTUAL_TYPES = frozenset({FieldType.CATEGORY, FieldType.TEXT, FieldType.LIST})


async def answer_with_semi_joins(
    requests: Sequence[IndexRequest[object]], scope: Scope, send: SendRequests, load_schemas: LoadSchemas
) -> IndexAnswers:
    """Returns the answers to requests whose searches may hold semi-joins.

    Takes one round trip more for each depth of semi-joins; more only for inner sets of over 10,000 titles, and where
    over 100 documents tie for the last place of an ordered one. Raises `InvalidCondition`, `InnerSetTooLarge` for an
    inner set of more than `MAX_INNER_VALUES` values, and `IndexTimedOut` if the index changes all the time.
    """
    if not any(_has_semi_joins(request) for request in requests):
        return await send(requests)
    for _ in range(_MAX_ATTEMPTS):
        resolution = _SemiJoinResolution(scope, send, await load_schemas())
        try:
            return await resolution.answer_requests(requests)
        except _IndexMoved:
            continue
    raise IndexTimedOut("several round trips")


class _IndexMoved(Exception):
    """The index changed between two round trips."""


@dataclass(frozen=True, slots=True)
class _OuterField:
    """The field that a semi-join compares: of the documents of a bucket, or a column of their rows field."""

    bucket: BucketId
    rows_field: FieldName | None


@dataclass(frozen=True, slots=True)
class _TitleScan:
    """The titles of all visible documents of a bucket, which semi-joins on `title` are compared with."""

    bucket: BucketId


class _SemiJoinResolution:
    """One attempt to answer requests in one state of the index."""

    def __init__(self, scope: Scope, send: SendRequests, schemas: Mapping[BucketId, Schema]) -> None:
        self._scope, self._send, self._schemas = scope, send, schemas
        self._generation: Generation | None = None
        self._inner_values: dict[SemiJoinCondition, tuple[Scalar, ...]] = {}
        self._titles: dict[BucketId, Sequence[DocumentRecord]] = {}

    async def answer_requests(self, requests: Sequence[IndexRequest[object]]) -> IndexAnswers:
        pending = [
            placed
            for request in requests
            for clause in _clauses_of(request)
            for placed in _place_semi_joins(clause.match_condition, clause.bucket)
        ]
        levels = list[list[tuple[_OuterField, SemiJoinCondition]]]()
        while pending:
            levels.append(pending)
            pending = [inner for _, outer in pending for inner in _place_semi_joins(outer.condition, outer.bucket)]
        for level in reversed(levels):
            await self._load_inner_sets(level)
        resolved = {request: self._resolve_request(request) for request in requests}
        answers = await self._ask_index(list(dict.fromkeys(resolved.values())))
        return IndexAnswers(
            answers.generation,
            {request: answers[resolved[request]] for request in requests},
            embedding_failure=answers.embedding_failure,
        )

    async def _ask_index(self, requests: Sequence[IndexRequest[object]]) -> IndexAnswers:
        answers = await self._send(requests)
        if self._generation not in (None, answers.generation):
            raise _IndexMoved
        self._generation = answers.generation
        return answers

    # -- inner sets

    async def _load_inner_sets(self, level: Sequence[tuple[_OuterField, SemiJoinCondition]]) -> None:
        """Reads the inner sets of one depth, and the titles that they are compared with, in one round trip."""
        requests: dict[SemiJoinCondition | _TitleScan, AggregateRequest | RecordPageRequest] = {}
        for outer, semi_join in level:
            if semi_join.bucket not in self._schemas:
                self._inner_values[semi_join] = ()
            elif semi_join not in self._inner_values:
                requests[semi_join] = self._request_for(semi_join)
            compares_titles = semi_join.field == TITLE_FIELD and outer.rows_field is None
            if compares_titles and outer.bucket in self._schemas and outer.bucket not in self._titles:
                whole = Search(clauses=(Clause(bucket=outer.bucket),))
                requests[_TitleScan(outer.bucket)] = _page_request(whole, fields=frozenset())
        if not requests:
            return
        answers = await self._ask_index(list(requests.values()))
        for wanted, request in requests.items():
            answer = answers[cast(IndexRequest[object], request)]
            if isinstance(wanted, _TitleScan):
                self._titles[wanted.bucket] = await self._read_all_pages(cast(RecordPageRequest, request), answer)
            elif isinstance(request, RecordPageRequest):
                records = await self._read_first_records(wanted, request, answer)
                values = _values_of_records(records, wanted, self._row_matcher_for(wanted))
                self._inner_values[wanted] = _checked_values(wanted, values)
            else:
                lines = cast("tuple[AggregateLine, ...]", answer)
                self._inner_values[wanted] = _checked_values(
                    wanted, [line.group for line in lines if line.group is not None]
                )

    def _request_for(self, semi_join: SemiJoinCondition) -> AggregateRequest | RecordPageRequest:
        schema = self._schemas[semi_join.bucket]
        stored_field = semi_join.key if semi_join.key_rows is None else semi_join.key_rows
        check_join_field(semi_join.key, schema if semi_join.key_rows is None else row_schema_of(stored_field, schema))
        inner = Search(clauses=(Clause(bucket=semi_join.bucket, condition=self._inner_condition_of(semi_join)),))
        if semi_join.order_by is not None:
            _check_order_field(semi_join.order_by, schema)
            order = SchemaOrder(field=semi_join.order_by, descending=semi_join.is_descending)
            fields = frozenset({semi_join.order_by, stored_field} & schema.by_name.keys())
            limit = min(semi_join.limit + _TIED_RECORDS, _PAGE_SIZE)
            return _page_request(inner, fields=fields, order=order, limit=limit)
        has_groups = stored_field not in (TITLE_FIELD, DOC_ID_FIELD) and semi_join.key_rows is None
        if not has_groups or semi_join.min_count > 1:
            return _page_request(inner, fields=frozenset({stored_field} & schema.by_name.keys()))
        return AggregateRequest(inner, group=GroupBy(field=semi_join.key))

    def _inner_condition_of(self, semi_join: SemiJoinCondition) -> Condition:
        """Returns the condition of the inner set, which leaves out documents without the value that orders it."""
        condition = self._resolve_condition(semi_join.condition, semi_join.bucket)
        if semi_join.order_by is None:
            return condition
        return conjunction_of(condition, NotCondition(MissingCondition(field=semi_join.order_by)))

    def _row_matcher_for(self, semi_join: SemiJoinCondition) -> RowMatcher:
        """Returns the test whether the values of a row count. Raises `InvalidCondition` if the condition is unclear."""
        if semi_join.key_rows is None:
            return _accept_row
        schema = self._schemas[semi_join.bucket]
        resolved = bind_to_schema(self._resolve_condition(semi_join.condition, semi_join.bucket), schema)
        condition = row_condition_of(resolved, semi_join.key_rows)
        return (
            _accept_row if condition is None else row_matcher_for(condition, row_schema_of(semi_join.key_rows, schema))
        )

    async def _read_first_records(
        self, semi_join: SemiJoinCondition, request: RecordPageRequest, answer: object
    ) -> Sequence[DocumentRecord]:
        """Returns the first records of the inner set, with all that tie with the last of them."""
        if semi_join.order_by is None:
            return await self._read_all_pages(request, answer)
        records = cast(RecordPage, answer).records
        if len(records) <= semi_join.limit:
            return records
        last_key = _order_key(records[semi_join.limit - 1], semi_join.order_by)
        if records[-1:] and _order_key(records[-1], semi_join.order_by) == last_key:
            records = tuple(await self._read_all_pages(request, answer))
        return [
            record
            for index, record in enumerate(records)
            if index < semi_join.limit or _order_key(record, semi_join.order_by) == last_key
        ]

    async def _read_all_pages(self, request: RecordPageRequest, first_answer: object) -> Sequence[DocumentRecord]:
        page = cast(RecordPage, first_answer)
        records = list(page.records)
        while page.cursor is not None:
            if len(records) >= MAX_INNER_VALUES:
                raise _too_many_values(request.search.buckets[0])
            following = replace(request, cursor=page.cursor, limit=_PAGE_SIZE)
            page = (await self._ask_index([following]))[following]
            records += page.records
        return records

    # -- conditions without semi-joins

    def _resolve_request(self, request: R) -> R:
        if not isinstance(request, SearchRequest) or not _has_semi_joins(request):
            return request
        search = request.search
        clauses = tuple(
            replace(clause, condition=self._resolve_condition(clause.condition, clause.bucket))
            for clause in search.clauses
        )
        return replace(request, search=search.with_clauses(*clauses))

    def _resolve_condition(self, condition: Condition, bucket: BucketId) -> Condition:
        return replace_semi_joins(
            condition,
            lambda semi_join, rows_field: self._comparison_for(semi_join, _OuterField(bucket, rows_field)),
        )

    def _comparison_for(self, semi_join: SemiJoinCondition, outer: _OuterField) -> ComparisonCondition:
        values = self._inner_values[semi_join]
        field = semi_join.field
        if field == TITLE_FIELD and outer.rows_field is None:
            folds = {fold_text(value) for value in values if isinstance(value, str)}
            titles = self._titles.get(outer.bucket, ())
            values = tuple(record.doc_id for record in titles if fold_text(record.title) in folds)
            field = DOC_ID_FIELD
        elif outer.bucket in self._schemas:  # otherwise the engine refuses the bucket
            schema = self._schemas[outer.bucket]
            values = comparable_values(
                values, field, schema if outer.rows_field is None else row_schema_of(outer.rows_field, schema)
            )
        if semi_join.op in ORDER_OPERATORS and values:
            return compare_with_extreme(semi_join, values)
        return ComparisonCondition(field=field, op=ComparisonOperator.IN, value=values, words=semi_join.words)


def compare_with_extreme(semi_join: SemiJoinCondition, values: Sequence[Scalar]) -> ComparisonCondition:
    """Returns the comparison that holds for all the values, of which there is at least one: numbers, or ISO days."""
    is_above = semi_join.op in (ComparisonOperator.GT, ComparisonOperator.GTE)
    ordered = sorted(values, key=lambda value: (str(value) if isinstance(value, str) else "", _number_of(value)))
    extreme = ordered[-1] if is_above else ordered[0]
    return ComparisonCondition(field=semi_join.field, op=semi_join.op, value=extreme, words=semi_join.words)


def _number_of(value: Scalar) -> float:
    return 0.0 if isinstance(value, str) else float(value)


def comparable_values(values: Sequence[Scalar], field: FieldName, schema: Schema) -> tuple[Scalar, ...]:
    """Returns those of the values that a field can hold, in the order given: text for text, numbers for numbers.

    The schema is that of the documents, or of the rows of which the field is a column. Raises `UnknownField` and
    `InvalidCondition`.
    """
    check_join_field(field, schema)
    if is_reserved_join_field(field, schema) or schema.by_name[field].type in _TEXTUAL_TYPES:
        return tuple(value for value in values if isinstance(value, str))
    if schema.by_name[field].type is FieldType.DATE:
        return tuple(value for value in values if isinstance(value, str) and is_iso_day(value))
    return tuple(value for value in values if isinstance(value, float))


def _place_semi_joins(condition: Condition, bucket: BucketId) -> Iterator[tuple[_OuterField, SemiJoinCondition]]:
    for rows_field, semi_join in locate_semi_joins(condition):
        yield _OuterField(bucket, rows_field), semi_join


def _has_semi_joins(request: IndexRequest[object]) -> bool:
    return any(semi_join_depth(clause.condition) for clause in _clauses_of(request))


def _clauses_of(request: IndexRequest[object]) -> tuple[Clause, ...]:
    return request.search.clauses if isinstance(request, SearchRequest) else ()


def _page_request(
    search: Search, *, fields: frozenset[FieldName], order: SchemaOrder | None = None, limit: int = _PAGE_SIZE
) -> RecordPageRequest:
    return RecordPageRequest(search, order=order, limit=limit, fields=fields, order_by_id=order is None)


def _check_order_field(name: FieldName, schema: Schema) -> None:
    if name not in schema.by_name:
        raise UnknownField(name, schema.bucket)


def _order_key(record: DocumentRecord, field: FieldName) -> object:
    """Returns what two records have in common if they tie. All of them have a value: an absent flag is false."""
    value = record.values.get(field, False)
    return fold_text(value) if isinstance(value, str) else value


def _accept_row(row: RowValues) -> bool:
    return True


def _values_of_records(
    records: Sequence[DocumentRecord], semi_join: SemiJoinCondition, matches_row: RowMatcher
) -> list[Scalar]:
    """Returns the values of the key that at least `min_count` of the records have; of rows, in those that match."""
    name, key = semi_join.key_rows, semi_join.key
    values_of_each = [
        _values_of_record(record, key) if name is None else _values_of_rows(record, name, key, matches_row)
        for record in records
    ]
    counts = Counter(key for values in values_of_each for key in {_fold_value(value) for value in values})
    return [value for values in values_of_each for value in values if counts[_fold_value(value)] >= semi_join.min_count]


def _values_of_record(record: DocumentRecord, key: FieldName) -> Sequence[Scalar]:
    if key == TITLE_FIELD:
        return (record.title,)
    if key == DOC_ID_FIELD:
        return (record.doc_id,)
    value = record.values.get(key)
    if isinstance(value, tuple):
        return tuple(member for member in value if isinstance(member, str))
    return () if value is None else (value,)


def _values_of_rows(
    record: DocumentRecord, rows_field: FieldName, column: FieldName, matches_row: RowMatcher
) -> Sequence[Scalar]:
    rows = record.values.get(rows_field)
    if not isinstance(rows, tuple):
        return ()
    matching_rows = (row for row in rows if isinstance(row, Mapping) and column in row and matches_row(row))
    return tuple(dict.fromkeys(row[column] for row in matching_rows))


def _fold_value(value: Scalar) -> Scalar:
    return fold_text(value) if isinstance(value, str) else value


def _checked_values(semi_join: SemiJoinCondition, values: Sequence[Scalar]) -> tuple[Scalar, ...]:
    distinct = tuple(dict.fromkeys(values))
    if len(distinct) > MAX_INNER_VALUES:
        raise _too_many_values(semi_join.bucket)
    return distinct


def _too_many_values(bucket: BucketId) -> InnerSetTooLarge:
    return InnerSetTooLarge(bucket, MAX_INNER_VALUES)
