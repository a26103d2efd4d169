"""What two indexes say to one request, made into what one index over all their documents would say."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

from storage.search.cells import period_around
from storage.search.conditions import EVERYTHING, Compare, Condition, Missing, Op
from storage.search.documents import Document
from storage.search.errors import InvalidCondition
from storage.search.halves import Asked, Halves, Said, Steps, of_both
from storage.search.ids import FieldName
from storage.search.index import (
    Aggregate,
    Aggregated,
    Count,
    Facet,
    FacetAnswer,
    Fetch,
    Nearest,
    Neighbours,
    Spelling,
    Spellings,
)
from storage.search.numbers import median_of, money_from_scaled, rounded_average, rounded_sum
from storage.search.orders import line_order
from storage.search.plan import Group, Period, Search
from storage.search.schema import FieldType
from storage.search.text import fold

_Label: TypeAlias = str | float | bool | None
Key: TypeAlias = tuple[_Label, str | None]  # the group, folded, and the unit
_EVERY_WORD = 1_000_000  # a word that is rare in one index may be common in both


def count(halves: Halves) -> Steps[int]:
    one, other = yield from of_both(Count(halves.main), Count(halves.beside))
    return one + other


def fetched(request: Fetch) -> Steps[tuple[Document, ...]]:
    one, other = yield from of_both(request, request)
    found = {document.doc_id: document for document in (*one, *other)}
    return tuple(found[doc_id] for doc_id in dict.fromkeys(request.doc_ids) if doc_id in found)


def nearest(halves: Halves, request: Nearest) -> Steps[Neighbours]:
    main, beside = replace(request, search=halves.main), replace(request, search=halves.beside)
    said = yield Asked(main=(main,), beside=(beside,), schemas=True)
    said.fields(halves.whole, request.field)
    found = (said.main[main], said.beside[beside])
    # Of one type, as was just checked: numbers, or ISO days.
    below = cast(list[float], [one.below for one in found if one.below is not None])
    above = cast(list[float], [one.above for one in found if one.above is not None])
    return Neighbours(below=max(below, default=None), above=min(above, default=None))


def spellings(main: Spellings, beside: Spellings) -> Steps[tuple[Spelling, ...]]:
    limit = max(main.limit, 0)
    one, other = yield from of_both(replace(main, limit=_EVERY_WORD), replace(beside, limit=_EVERY_WORD))
    found = dict[str, Spelling]()
    for spelling in (*one, *other):
        known = found.get(spelling.word)
        documents = spelling.documents + (known.documents if known else 0)
        found[spelling.word] = replace(spelling, documents=documents)
    return tuple(sorted(found.values(), key=lambda one: (one.distance, -one.documents, one.word))[:limit])


def facet(halves: Halves, request: Facet) -> Steps[FacetAnswer]:
    """Refused as of fields that are not shared, since none of the index beside is. The search is checked first."""
    main, beside = Count(halves.main), Count(halves.beside)
    said = yield Asked(main=(main,), beside=(beside,), schemas=True)
    said.fields(halves.whole, request.field)
    raise InvalidCondition(f"the field {request.field!r} is not shared by these buckets")


# -- numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """The lines of one group and unit, of one index or of both."""

    lines: tuple[Aggregated, ...]

    @property
    def group(self) -> _Label:
        """As the index with more documents names it; ties: first by code point. Exact where both names are the same."""
        named = sorted(self.lines, key=lambda line: (-line.count, str(line.group)))
        return named[0].group

    def added(self, *, money: bool | None) -> Aggregated:
        """`money`: None where only documents are counted."""
        if len(self.lines) == 1:
            return self.lines[0]
        unit, documents = self.lines[0].unit, sum(line.count for line in self.lines)
        total = sum(line.unrounded for line in self.lines)
        low, high = min(line.minimum for line in self.lines), max(line.maximum for line in self.lines)
        added, average = _rounded(total, documents, low, high, unit, money=money)
        return Aggregated(
            group=self.group,
            unit=unit,
            count=documents,
            sum=added,
            average=average,
            minimum=low,
            maximum=high,
            unrounded=total,
        )


def _rounded(
    total: float, documents: int, low: float, high: float, unit: str | None, *, money: bool | None
) -> tuple[float, float]:
    """Sum and average."""
    if money is None:
        return 0.0, 0.0
    if money:
        return money_from_scaled(int(total), unit), money_from_scaled(int(total), unit, documents)
    added = rounded_sum(total, max(abs(low), abs(high)))
    return added, rounded_average(added, documents)


def aggregate(halves: Halves, request: Aggregate) -> Steps[tuple[Aggregated, ...]]:
    """Names of groups are those of the larger part where the two write them differently."""
    main, beside = replace(request, search=halves.main), replace(request, search=halves.beside)
    said = yield Asked(main=(main,), beside=(beside,), schemas=True)
    money = _is_money(said, halves.whole, request)
    kind = None if request.group is None else said.fields(halves.whole, request.group.field)[0].type
    pairs = _pairs(said.main[main], said.beside[beside])
    lines = {key: pair.added(money=money) for key, pair in pairs.items()}
    if request.median and request.field is not None:
        both = {key for key, pair in pairs.items() if len(pair.lines) > 1}
        medians = yield from _medians(halves, request.field, request.group, kind, both, money=bool(money))
        lines |= {key: replace(lines[key], median=median) for key, median in medians.items()}
    return tuple(sorted(lines.values(), key=line_order))


def _is_money(said: Said, search: Search, request: Aggregate) -> bool | None:
    if request.field is None:
        return None
    return said.fields(search, request.field)[0].type is FieldType.MONEY


def _pairs(*answers: Sequence[Aggregated]) -> dict[Key, _Pair]:
    pairs = dict[Key, _Pair]()
    for line in (line for lines in answers for line in lines):
        key = (fold(line.group) if isinstance(line.group, str) else line.group, line.unit)
        known = pairs.get(key)
        pairs[key] = _Pair(lines=(*(known.lines if known else ()), line))
    return pairs


def _medians(
    halves: Halves, field: FieldName, group: Group | None, kind: FieldType | None, wanted: set[Key], *, money: bool
) -> Steps[dict[Key, float]]:
    """Of groups that both have a part of: the values of each are counted in both, in one more round trip."""
    by_value = Aggregate(halves.whole, field, Group(field=field))
    main, beside = dict[_Label, Aggregate](), dict[_Label, Aggregate]()
    for label, _ in wanted:
        inside = EVERYTHING if group is None or kind is None else _in_group(group, label, kind)
        main[label] = replace(by_value, search=halves.main.narrowed(inside))
        beside[label] = replace(by_value, search=halves.beside.narrowed(inside))
    if not wanted:
        return {}
    said = yield Asked(main=tuple(main.values()), beside=tuple(beside.values()))
    counted = {key: _counted(key[1], said.main[main[key[0]]], said.beside[beside[key[0]]]) for key in wanted}
    return {key: _median(values, key[1], money=money) for key, values in counted.items()}


def _in_group(group: Group, value: _Label, kind: FieldType) -> Condition:
    if value is None:
        return Missing(field=group.field)
    if kind is FieldType.DATE:
        return Compare(field=group.field, op=Op.BETWEEN, value=period_around(str(value), group.period or Period.DAY))
    return Compare(field=group.field, op=Op.EQ, value=value)  # of a list: a member


def _counted(unit: str | None, *answers: Sequence[Aggregated]) -> Counter[float]:
    """The documents of each value."""
    counted = Counter[float]()
    for line in (line for lines in answers for line in lines if line.unit == unit):
        counted[cast(float, line.group)] += line.count
    return counted


def _median(counted: Mapping[float, int], unit: str | None, *, money: bool) -> float:
    places, passed, found = _places(sum(counted.values())), 0, list[float]()
    for value in sorted(counted):
        passed += counted[value]
        found += [value] * (sum(passed > place for place in places) - len(found))
    return median_of(found[0], found[-1], unit, money=money)


def _places(documents: int) -> tuple[int, int]:
    return (documents - 1) // 2, documents // 2
