"""Merging of the pages of records of two indexes.

One page of each index is read, and the two are merged. Records that do not fit are read again for the next page: the
cursor has the position at which each index's page began, and the last record shown, so that earlier records are
skipped. A page costs one round trip, and each index reads at most twice as many records as are shown.
"""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

from storage.federated.request_steps import RequestSteps, SearchHalves, StepAnswers, StepRequests
from storage.search.analyser import fold_text
from storage.search.errors import InvalidCondition
from storage.search.ids import FieldName
from storage.search.index import DocumentRecord, IndexAnswers, RecordPage, RecordPageRequest
from storage.search.plan import Search
from storage.search.schema import FieldType, SchemaOrder

SortKey: TypeAlias = float | str | None  # None: the document has no value
_MAX_PAGE_RECORDS = 40_000  # records of one page; each index reads up to twice as many


@dataclass(frozen=True, slots=True, kw_only=True)
class _SortPosition:
    """The position of a record in an order. Records without the value come last, in both directions."""

    key: SortKey
    doc_id: str
    descending: bool

    def __lt__(self, other: "_SortPosition") -> bool:
        if self.key == other.key:
            return self.doc_id < other.doc_id
        if self.key is None or other.key is None:
            return other.key is None
        return _is_smaller(other.key, self.key) if self.descending else _is_smaller(self.key, other.key)


def _is_smaller(left: float | str, right: float | str) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        return left < right
    if isinstance(left, str) or isinstance(right, str):
        raise InvalidCondition("the cursor is of another order")
    return left < right


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReadPosition:
    """The position up to which one index has been read."""

    cursor: str | None = None  # of the index, where the page began; None: at the first record
    shown_count: int = 0  # records of that page that have been shown
    is_done: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _FederatedCursor:
    main: _ReadPosition = _ReadPosition()
    secondary: _ReadPosition = _ReadPosition()
    last_shown: _SortPosition | None = None  # None: nothing has been shown

    @property
    def is_done(self) -> bool:
        return self.main.is_done and self.secondary.is_done


@dataclass(frozen=True, slots=True, kw_only=True)
class _MergedOrder:
    sort_order: SchemaOrder | None
    is_flag: bool  # the sort field is a flag: an absent value means false

    def sort_position_of(self, record: DocumentRecord) -> _SortPosition:
        if self.sort_order is None:
            return _SortPosition(key=None, doc_id=record.doc_id, descending=False)
        value = record.values.get(self.sort_order.field)
        key = (
            float(bool(value))
            if self.is_flag
            else fold_text(value)
            if isinstance(value, str)
            else cast(float | None, value)
        )
        return _SortPosition(key=key, doc_id=record.doc_id, descending=self.sort_order.descending)


@dataclass(frozen=True, slots=True, kw_only=True)
class _HalfPage:
    """The requests to one index for one page."""

    position: _ReadPosition
    page_request: RecordPageRequest
    resume_request: RecordPageRequest  # the records of the page that have been shown; its cursor is the next start

    @property
    def requests(self) -> tuple[RecordPageRequest, ...]:
        if self.position.is_done:
            return ()
        return (self.page_request, self.resume_request) if self.position.shown_count else (self.page_request,)

    def unshown_page_of(
        self, answers: IndexAnswers, last_shown: _SortPosition | None, order: _MergedOrder
    ) -> RecordPage:
        """Return the records of the index's page after `last_shown`."""
        if self.position.is_done:
            return RecordPage(records=(), cursor=None)
        page = answers[self.page_request]
        records = (
            record for record in page.records if last_shown is None or last_shown < order.sort_position_of(record)
        )
        return RecordPage(records=tuple(records), cursor=page.cursor)

    def next_position(
        self,
        shown_count: int,
        unshown_page: RecordPage,
        answers: IndexAnswers,
        last_shown: _SortPosition | None,
        order: _MergedOrder,
    ) -> _ReadPosition:
        """Return the read position after this page.

        `shown_count`: shown records of `unshown_page`. `last_shown`: the last record of the page before.
        """
        if shown_count == len(unshown_page.records):
            return _ReadPosition(cursor=unshown_page.cursor, is_done=unshown_page.cursor is None)
        if self.position.shown_count:
            resumed_page = answers[self.resume_request]
            # If the set has changed meanwhile, the resumed page may end after the last record shown.
            if (
                resumed_page.cursor is not None
                and last_shown is not None
                and not last_shown < order.sort_position_of(resumed_page.records[-1])
            ):
                return _ReadPosition(cursor=resumed_page.cursor, shown_count=shown_count)
        return _ReadPosition(cursor=self.position.cursor, shown_count=self.position.shown_count + shown_count)


def merge_pages(halves: SearchHalves, request: RecordPageRequest) -> RequestSteps[RecordPage]:
    """Merge a page of each index. Raises `UnknownField`, and `InvalidCondition` also for a cursor of another order."""
    limit = min(max(request.limit, 1), _MAX_PAGE_RECORDS)
    cursor = _FederatedCursor() if request.cursor is None else _decode_cursor(request.cursor, request.order)
    main, secondary = (
        _half_page_for(halves.main, request, cursor.main, limit),
        _half_page_for(halves.secondary, request, cursor.secondary, limit),
    )
    answers = yield StepRequests(
        main=main.requests, secondary=secondary.requests, needs_schemas=request.order is not None
    )
    order = _merged_order_for(answers, halves.whole, request.order)
    main_page, secondary_page = (
        main.unshown_page_of(answers.main, cursor.last_shown, order),
        secondary.unshown_page_of(answers.secondary, cursor.last_shown, order),
    )
    merged_records = sorted((*main_page.records, *secondary_page.records), key=order.sort_position_of)
    merged_records = merged_records[
        : min(limit, *(_count_certain(merged_records, page, order) for page in (main_page, secondary_page)))
    ]
    records = tuple(_select_requested_fields(record, request) for record in merged_records)
    last_shown = order.sort_position_of(merged_records[-1]) if merged_records else cursor.last_shown
    shown_counts = [
        sum(last_shown is not None and not last_shown < order.sort_position_of(record) for record in page.records)
        for page in (main_page, secondary_page)
    ]
    next_cursor = _FederatedCursor(
        main=main.next_position(shown_counts[0], main_page, answers.main, cursor.last_shown, order),
        secondary=secondary.next_position(shown_counts[1], secondary_page, answers.secondary, cursor.last_shown, order),
        last_shown=last_shown,
    )
    return RecordPage(
        records=records, cursor=None if next_cursor.is_done else _encode_cursor(next_cursor, request.order)
    )


def _half_page_for(search: Search, request: RecordPageRequest, position: _ReadPosition, limit: int) -> _HalfPage:
    sort_field = frozenset({request.order.field}) if request.order else frozenset[FieldName]()
    page_request = replace(
        request,
        search=search,
        cursor=position.cursor,
        limit=position.shown_count + limit,
        fields=None if request.fields is None else request.fields | sort_field,
        order_by_id=True,
    )
    return _HalfPage(
        position=position,
        page_request=page_request,
        resume_request=replace(page_request, limit=position.shown_count, fields=sort_field),
    )


def _merged_order_for(answers: StepAnswers, search: Search, sort_order: SchemaOrder | None) -> _MergedOrder:
    is_flag = sort_order is not None and answers.fields_named(search, sort_order.field)[0].type is FieldType.FLAG
    return _MergedOrder(sort_order=sort_order, is_flag=is_flag)


def _count_certain(merged_records: Sequence[DocumentRecord], page: RecordPage, order: _MergedOrder) -> int:
    """Returns how many of the merged records certainly come before all records that the index has not yet read."""
    if page.cursor is None:
        return len(merged_records)
    if not page.records:
        return 0
    last_position = order.sort_position_of(page.records[-1])
    return sum(not last_position < order.sort_position_of(record) for record in merged_records)


def _select_requested_fields(record: DocumentRecord, request: RecordPageRequest) -> DocumentRecord:
    if request.fields is None:
        return record
    return replace(record, values={name: value for name, value in record.values.items() if name in request.fields})


def _encode_cursor(cursor: _FederatedCursor, sort_order: SchemaOrder | None) -> str:
    read_positions = [
        [read_position.cursor, read_position.shown_count, read_position.is_done]
        for read_position in (cursor.main, cursor.secondary)
    ]
    last_shown = None if cursor.last_shown is None else [cursor.last_shown.key, cursor.last_shown.doc_id]
    return base64.urlsafe_b64encode(
        json.dumps([_order_to_json(sort_order), *read_positions, last_shown]).encode()
    ).decode()


def _order_to_json(sort_order: SchemaOrder | None) -> list[object] | None:
    return None if sort_order is None else [sort_order.field, sort_order.descending]


def _decode_cursor(cursor: str, sort_order: SchemaOrder | None) -> _FederatedCursor:
    try:
        order_json, main_json, secondary_json, last_shown_json = cast(
            list[object], json.loads(base64.urlsafe_b64decode(cursor.encode()))
        )
        read_positions = _parse_read_position(main_json), _parse_read_position(secondary_json)
        last_shown = None if last_shown_json is None else _parse_sort_position(last_shown_json, sort_order)
    except (ValueError, TypeError, binascii.Error) as exc:
        raise InvalidCondition("the cursor is not one of this index") from exc
    if order_json != _order_to_json(sort_order):
        raise InvalidCondition("the cursor is of another order")
    return _FederatedCursor(main=read_positions[0], secondary=read_positions[1], last_shown=last_shown)


def _parse_read_position(data: object) -> _ReadPosition:
    index_cursor, shown_count, is_done = cast(list[object], data)
    if (
        not isinstance(index_cursor, (str, type(None)))
        or not isinstance(shown_count, int)
        or not isinstance(is_done, bool)
    ):
        raise TypeError("not a place")
    if not 0 <= shown_count <= _MAX_PAGE_RECORDS:
        raise ValueError("not a place of a page")
    return _ReadPosition(cursor=index_cursor, shown_count=shown_count, is_done=is_done)


def _parse_sort_position(data: object, sort_order: SchemaOrder | None) -> _SortPosition:
    key, doc_id = cast(list[object], data)
    if not isinstance(key, (str, float, type(None))) or not isinstance(doc_id, str):
        raise TypeError("not a standing")
    return _SortPosition(key=key, doc_id=doc_id, descending=sort_order is not None and sort_order.descending)
