"""Pages of records of two indexes as pages of one.

A page of each index is read and the two are merged. What of them did not fit is read again for the next page: the
cursor holds for each index where its page began, and the last record shown, which those before it are left out by.
So a page costs one round trip, and each index reads at most twice what is shown.
"""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

from storage.search.errors import InvalidCondition
from storage.search.halves import Asked, Halves, Said, Steps
from storage.search.ids import FieldName
from storage.search.index import Answers, Page, Record, Records
from storage.search.plan import Search
from storage.search.schema import FieldType, SchemaOrder
from storage.search.text import fold

Key: TypeAlias = float | str | None  # None: without the value
_MOST = 40_000  # records of one page; an index gives twice as many


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standing:
    """Where a record stands in an order. Those without the value come last, in both directions."""

    key: Key
    doc_id: str
    descending: bool

    def __lt__(self, other: "_Standing") -> bool:
        if self.key == other.key:
            return self.doc_id < other.doc_id
        if self.key is None or other.key is None:
            return other.key is None
        return _smaller(other.key, self.key) if self.descending else _smaller(self.key, other.key)


def _smaller(one: float | str, other: float | str) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return one < other
    if isinstance(one, str) or isinstance(other, str):
        raise InvalidCondition("the cursor is of another order")
    return one < other


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """How far one index has been read."""

    after: str | None = None  # its cursor that the page began at; None: at the beginning
    taken: int = 0  # records of that page that were shown
    is_done: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cursor:
    main: _Place = _Place()
    beside: _Place = _Place()
    last: _Standing | None = None  # None: nothing was shown

    @property
    def is_done(self) -> bool:
        return self.main.is_done and self.beside.is_done


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    by: SchemaOrder | None
    is_flag: bool  # absent means false

    def standing(self, record: Record) -> _Standing:
        if self.by is None:
            return _Standing(key=None, doc_id=record.doc_id, descending=False)
        value = record.values.get(self.by.field)
        key = (
            float(bool(value)) if self.is_flag else fold(value) if isinstance(value, str) else cast(float | None, value)
        )
        return _Standing(key=key, doc_id=record.doc_id, descending=self.by.descending)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Half:
    """What is asked of one index for one page."""

    place: _Place
    shown: Records
    passed: Records  # what was shown before of the same page: its cursor is the next place to begin at

    @property
    def requests(self) -> tuple[Records, ...]:
        if self.place.is_done:
            return ()
        return (self.shown, self.passed) if self.place.taken else (self.shown,)

    def unseen(self, said: Answers, last: _Standing | None, order: _Order) -> Page:
        """What comes after the last record shown."""
        if self.place.is_done:
            return Page(records=(), cursor=None)
        found = said[self.shown]
        records = (one for one in found.records if last is None or last < order.standing(one))
        return Page(records=tuple(records), cursor=found.cursor)

    def place_after(self, shown: int, unseen: Page, said: Answers, last: _Standing | None, order: _Order) -> _Place:
        """`shown`: of the unseen. `last`: of the page before."""
        if shown == len(unseen.records):
            return _Place(after=unseen.cursor, is_done=unseen.cursor is None)
        if self.place.taken:
            passed = said[self.passed]
            # In a set that changed meanwhile, that page may reach beyond what was shown.
            if passed.cursor is not None and last is not None and not last < order.standing(passed.records[-1]):
                return _Place(after=passed.cursor, taken=shown)
        return _Place(after=self.place.after, taken=self.place.taken + shown)


def page(halves: Halves, request: Records) -> Steps[Page]:
    """Raises `UnknownField`, and `InvalidCondition` also for a cursor that this order did not give."""
    limit = min(max(request.limit, 1), _MOST)
    cursor = _Cursor() if request.after is None else _read(request.after, request.order)
    main, beside = _half(halves.main, request, cursor.main, limit), _half(halves.beside, request, cursor.beside, limit)
    said = yield Asked(main=main.requests, beside=beside.requests, schemas=request.order is not None)
    order = _order(said, halves.whole, request.order)
    one, other = main.unseen(said.main, cursor.last, order), beside.unseen(said.beside, cursor.last, order)
    listed = sorted((*one.records, *other.records), key=order.standing)
    listed = listed[: min(limit, *(_known(listed, page, order) for page in (one, other)))]
    records = tuple(_as_asked(record, request) for record in listed)
    last = order.standing(listed[-1]) if listed else cursor.last
    seen = [sum(last is not None and not last < order.standing(r) for r in page.records) for page in (one, other)]
    after = _Cursor(
        main=main.place_after(seen[0], one, said.main, cursor.last, order),
        beside=beside.place_after(seen[1], other, said.beside, cursor.last, order),
        last=last,
    )
    return Page(records=records, cursor=None if after.is_done else _written(after, request.order))


def _half(search: Search, request: Records, place: _Place, limit: int) -> _Half:
    key = frozenset({request.order.field}) if request.order else frozenset[FieldName]()
    shown = replace(
        request,
        search=search,
        after=place.after,
        limit=place.taken + limit,
        fields=None if request.fields is None else request.fields | key,
        by_id=True,
    )
    return _Half(place=place, shown=shown, passed=replace(shown, limit=place.taken, fields=key))


def _order(said: Said, search: Search, by: SchemaOrder | None) -> _Order:
    is_flag = by is not None and said.fields(search, by.field)[0].type is FieldType.FLAG
    return _Order(by=by, is_flag=is_flag)


def _known(listed: Sequence[Record], page: Page, order: _Order) -> int:
    """How many of the list stand before what one index has not yet given."""
    if page.cursor is None:
        return len(listed)
    if not page.records:
        return 0
    end = order.standing(page.records[-1])
    return sum(not end < order.standing(record) for record in listed)


def _as_asked(record: Record, request: Records) -> Record:
    if request.fields is None:
        return record
    return replace(record, values={name: value for name, value in record.values.items() if name in request.fields})


def _written(cursor: _Cursor, by: SchemaOrder | None) -> str:
    places = [[place.after, place.taken, place.is_done] for place in (cursor.main, cursor.beside)]
    last = None if cursor.last is None else [cursor.last.key, cursor.last.doc_id]
    return base64.urlsafe_b64encode(json.dumps([_named(by), *places, last]).encode()).decode()


def _named(by: SchemaOrder | None) -> list[object] | None:
    return None if by is None else [by.field, by.descending]


def _read(cursor: str, by: SchemaOrder | None) -> _Cursor:
    try:
        named, main, beside, last = cast(list[object], json.loads(base64.urlsafe_b64decode(cursor.encode())))
        places = _place(main), _place(beside)
        standing = None if last is None else _standing(last, by)
    except (ValueError, TypeError, binascii.Error) as exc:
        raise InvalidCondition("the cursor is not one of this index") from exc
    if named != _named(by):
        raise InvalidCondition("the cursor is of another order")
    return _Cursor(main=places[0], beside=places[1], last=standing)


def _place(written: object) -> _Place:
    after, taken, is_done = cast(list[object], written)
    if not isinstance(after, (str, type(None))) or not isinstance(taken, int) or not isinstance(is_done, bool):
        raise TypeError("not a place")
    if not 0 <= taken <= _MOST:
        raise ValueError("not a place of a page")
    return _Place(after=after, taken=taken, is_done=is_done)


def _standing(written: object, by: SchemaOrder | None) -> _Standing:
    key, doc_id = cast(list[object], written)
    if not isinstance(key, (str, float, type(None))) or not isinstance(doc_id, str):
        raise TypeError("not a standing")
    return _Standing(key=key, doc_id=doc_id, descending=by is not None and by.descending)
