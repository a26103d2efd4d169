"""Numbers over a set: by group and unit, in one composite aggregation a bucket, added up here."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TypeAlias, assert_never

from storage.opensearch.asking import Steps, documents_by_term, every_cell, side_by_side, together
from storage.opensearch.compile import EVERYTHING, both, has
from storage.opensearch.connection import Object
from storage.opensearch.encode import total_of
from storage.opensearch.facets import labels_of, measured
from storage.opensearch.layout import Coded
from storage.opensearch.parts import Part, fields_in
from storage.opensearch.terms import same_fold
from storage.opensearch.wire import Aggregations
from storage.search.conditions import Scalar
from storage.search.errors import InvalidCondition
from storage.search.index import Aggregate, Aggregated
from storage.search.numbers import median_of, money_from_scaled, rounded_average, rounded_sum
from storage.search.orders import line_order
from storage.search.plan import Group, Period
from storage.search.schema import FieldType

Key: TypeAlias = str | float | bool | None
_STRINGS = (FieldType.CATEGORY, FieldType.TEXT, FieldType.LIST)


@dataclass(kw_only=True)
class _Line:
    """Numbers of one group and unit, as they add up. `scaled` is the sum of money, `added` of other numbers; `values`
    are counted where the cells are of one value each.
    """

    count: int = 0
    scaled: int = 0
    added: float = 0.0
    low: float = float("inf")
    high: float = float("-inf")
    values: Counter[float] = field(default_factory=Counter[float])

    def add(self, cell: Object, one: Coded | None) -> None:
        self.count += cell["doc_count"]
        if one is None:
            return
        self.low, self.high = min(self.low, cell["low"]["value"]), max(self.high, cell["high"]["value"])
        if one.field.type is FieldType.MONEY:
            self.scaled += total_of(*(cell[f"sum_{at}"]["value"] for at in range(3)))
        else:
            self.added += cell["sum"]["value"]
        if "value" in cell["key"]:
            self.values[float(cell["key"]["value"])] += cell["doc_count"]

    def middle(self) -> tuple[float, float]:
        """The values that half of them lie below and above; the same one twice where their number is odd."""
        passed, found = 0, list[float]()
        for value in sorted(self.values):
            passed += self.values[value]
            found += [value] * (sum(passed > place for place in self._places()) - len(found))
        return found[0], found[-1]

    def _places(self) -> tuple[int, int]:
        return (self.count - 1) // 2, self.count // 2


def aggregate(parts: Sequence[Part], request: Aggregate) -> Steps[tuple[Aggregated, ...]]:
    fields: list[Coded] | list[None] = [None] * len(parts)
    if request.field is not None:
        fields = fields_in(parts, request.field)
        if any(one.field.type not in (FieldType.NUMBER, FieldType.MONEY) for one in fields):
            raise InvalidCondition(f"the field {request.field!r} is neither a number nor money")
    if request.median and request.field is None:
        raise InvalidCondition("a median is of a field")
    groups: list[Coded] | list[None] = [None] * len(parts)
    if request.group is not None:
        groups = fields_in(parts, request.group.field)
        _check_group(groups, request.group)
    cells, labels = yield from side_by_side(
        together([_cells(*one, request) for one in zip(parts, fields, groups, strict=True)]),
        _labels(parts, groups),
    )
    lines = dict[tuple[Key, str | None], _Line]()
    for one, group, found in zip(fields, groups, cells, strict=True):
        for cell in found:
            key = _group_of(cell["key"]["group"], group, request.group, labels) if group is not None else None
            lines.setdefault((key, _unit_of(cell, one)), _Line()).add(cell, one)
    done = [_aggregated(group, unit, line, fields[0], request) for (group, unit), line in lines.items()]
    return tuple(sorted(done, key=line_order))


def _check_group(groups: Sequence[Coded], group: Group) -> None:
    for one in groups:
        if one.field.type is FieldType.ROWS:
            raise InvalidCondition(f"the field {one.field.name!r} holds rows, which make no groups")
        if group.period is not None and one.field.type is not FieldType.DATE:
            raise InvalidCondition(f"the field {one.field.name!r} is no date and has no periods")


def _cells(part: Part, one: Coded | None, group: Coded | None, request: Aggregate) -> Steps[list[Object]]:
    # `kind` is the same for all documents: it makes one cell where nothing else tells them apart.
    unit = one.unit if one is not None and one.field.type is FieldType.MONEY else "kind"
    sources: list[Object] = [{"unit": {"terms": {"field": unit}}}]
    if group is not None:
        sources.append({"group": {"terms": {"field": _path(group, request.group), "missing_bucket": True}}})
    if request.median and one is not None:
        sources.append({"value": {"terms": {"field": one.code}}})  # a cell for each value: all of them are in order
    query = both(part.query, EVERYTHING if one is None else has(one))
    return every_cell(part.index, query, sources, {} if one is None else _numbers(one))


def _path(group: Coded, asked: Group | None) -> str:
    period = None if asked is None else asked.period
    return group.code if period in (None, Period.DAY) else group.period(period)


def _numbers(one: Coded) -> Aggregations:
    extremes: Aggregations = {"low": {"min": {"field": one.code}}, "high": {"max": {"field": one.code}}}
    if one.field.type is FieldType.MONEY:
        return extremes | {f"sum_{at}": {"sum": {"field": path}} for at, path in enumerate(one.scaled)}
    return extremes | {"sum": {"sum": {"field": one.code}}}


def _labels(parts: Sequence[Part], groups: Sequence[Coded | None]) -> Steps[dict[str, str]]:
    """How each fold of the group field is written most often in the whole set."""
    questions = [
        documents_by_term(part.index, part.query, group.raw)
        for part, group in zip(parts, groups, strict=True)
        if group is not None and group.field.type in _STRINGS
    ]
    counted = yield from together(questions)
    return labels_of(sum(map(Counter, counted), Counter[str]()))


def _group_of(found: Scalar | None, group: Coded, asked: Group | None, labels: dict[str, str]) -> Key:
    if found is None:
        return None
    match group.field.type:
        case FieldType.CATEGORY | FieldType.TEXT | FieldType.LIST:
            return labels[same_fold(str(found), is_key=True)]
        case FieldType.FLAG:
            return found in (True, "true")
        case FieldType.NUMBER | FieldType.MONEY:
            return float(found) + 0.0
        case FieldType.DATE:
            return _first_day(int(found), None if asked is None else asked.period)
        case FieldType.ROWS:
            raise AssertionError("rows make no groups")
        case _:
            assert_never(group.field.type)


def _first_day(number: int, period: Period | None) -> str:
    match period:
        case None | Period.DAY:
            return str(measured(number, FieldType.DATE))
        case Period.YEAR:
            return date(number, 1, 1).isoformat()
        case Period.QUARTER:
            return date(number // 4, number % 4 * 3 + 1, 1).isoformat()
        case Period.MONTH:
            return date(number // 12, number % 12 + 1, 1).isoformat()
        case _:
            assert_never(period)


def _unit_of(cell: Object, one: Coded | None) -> str | None:
    if one is None:
        return None
    return (cell["key"]["unit"] if one.field.type is FieldType.MONEY else one.field.unit) or None


def _aggregated(group: Key, unit: str | None, line: _Line, one: Coded | None, request: Aggregate) -> Aggregated:
    if one is None:
        return Aggregated(group=group, unit=None, count=line.count, sum=0.0, average=0.0, minimum=0.0, maximum=0.0)
    money = one.field.type is FieldType.MONEY
    if money:
        added, average = money_from_scaled(line.scaled, unit), money_from_scaled(line.scaled, unit, line.count)
    else:
        added = rounded_sum(line.added, max(abs(line.low), abs(line.high)))
        average = rounded_average(added, line.count)
    return Aggregated(
        group=group,
        unit=unit,
        count=line.count,
        sum=added,
        average=average,
        minimum=line.low + 0.0,
        maximum=line.high + 0.0,
        median=median_of(*line.middle(), unit, money=money) if request.median else None,
        unrounded=line.scaled if money else line.added,
    )
