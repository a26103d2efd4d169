"""Turns the lines of an aggregate into figures and groups."""

from collections.abc import Sequence
from datetime import date
from typing import assert_never

from agent.outcome import ComputedFigure, GroupLine
from storage.search.documents import FieldValues
from storage.search.index import AggregateLine
from storage.search.numbers import to_json_number
from storage.search.plan import AggregateFunction, CalendarPeriod, ComputeNumbers
from storage.search.schema import SchemaField

_MAX_SHARING_GROUPS = 5  # groups that are named together, if they share the first place


def compute_figures(
    answer_form: ComputeNumbers, lines: Sequence[AggregateLine], count: int
) -> tuple[ComputedFigure, ...]:
    """Returns one figure per function and unit. A count is the `count` of the set."""
    figures: list[ComputedFigure] = []
    for function in answer_form.functions:
        if function is AggregateFunction.COUNT:
            figures.append(ComputedFigure(function=function, field=None, value=float(count), unit=None, count=count))
            continue
        if function is AggregateFunction.DISTINCT:
            figures.append(_count_distinct_values(answer_form, lines, count))
            continue
        figures += [
            ComputedFigure(
                function=function,
                field=answer_form.field,
                value=value_of_function(function, line),
                unit=line.unit,
                count=line.count,
                factor=answer_form.factor,
            )
            for line in lines
            if line.count
        ]
    return tuple(figures)


def _count_distinct_values(answer_form: ComputeNumbers, lines: Sequence[AggregateLine], count: int) -> ComputedFigure:
    """Counts the values. `lines` has a line for each value, and one for the documents without a value."""
    lacking = sum(line.count for line in lines if line.group is None)
    values = sum(line.group is not None for line in lines)
    return ComputedFigure(
        function=AggregateFunction.DISTINCT,
        field=answer_form.field,
        value=float(values),
        unit=None,
        count=count - lacking,
    )


def compute_share(part_count: int, whole_count: int) -> ComputedFigure:
    """Returns the share in percent. `whole_count` is at least 1."""
    return ComputedFigure(
        function=AggregateFunction.SHARE,
        field=None,
        value=round(100 * part_count / whole_count, 2),
        unit="percent",
        count=part_count,
    )


def build_group_lines(answer_form: ComputeNumbers, lines: Sequence[AggregateLine]) -> tuple[GroupLine, ...]:
    """Returns a line per group and unit.

    Periods are sorted by time, groups by value if a limit or a function of values is asked for, and else by count.
    """
    group = answer_form.group
    if group is None:
        return ()
    function = answer_form.functions[0]
    result = [
        GroupLine(
            label=format_group(line.group, group.period),
            value=value_of_function(function, line),
            unit=line.unit,
            count=line.count,
        )
        for line in lines
        if line.count and not ((answer_form.limit or function is AggregateFunction.DISTINCT) and line.group is None)
    ]
    if group.period is not None and answer_form.limit is None:
        return tuple(sorted(result, key=lambda group_line: group_line.label))
    if answer_form.limit is not None or function not in (AggregateFunction.COUNT, AggregateFunction.DISTINCT):
        result.sort(
            key=lambda group_line: (-group_line.value if answer_form.descending else group_line.value, group_line.label)
        )
    return _limit_lines_by_unit(result, answer_form.limit)


def _limit_lines_by_unit(lines: Sequence[GroupLine], limit: int | None) -> tuple[GroupLine, ...]:
    """Applies the limit to each unit separately, since amounts in different currencies have no order.

    The unit with the most documents comes first.
    """
    units = dict.fromkeys(line.unit for line in lines)
    commonest = sorted(units, key=lambda unit: -sum(line.count for line in lines if line.unit == unit))
    return tuple(line for unit in commonest for line in _limit_lines([x for x in lines if x.unit == unit], limit))


def _limit_lines(lines: Sequence[GroupLine], limit: int | None) -> Sequence[GroupLine]:
    """Returns the first lines. A single place is shared by all that have its value, as far as they can be named."""
    if limit != 1 or not lines:
        return lines[:limit]
    sharing = [line for line in lines if line.value == lines[0].value]
    return sharing if len(sharing) <= _MAX_SHARING_GROUPS else lines[:1]


def value_of_function(function: AggregateFunction, line: AggregateLine) -> float:
    return {
        AggregateFunction.SUM: line.sum,
        AggregateFunction.AVERAGE: line.average,
        AggregateFunction.MINIMUM: line.minimum,
        AggregateFunction.MAXIMUM: line.maximum,
        AggregateFunction.MEDIAN: line.median or 0.0,
    }.get(function, float(line.count))


def format_group(group: str | float | bool | None, period: CalendarPeriod | None) -> str:
    if group is None:
        return "(none)"
    if isinstance(group, bool):
        return "yes" if group else "no"
    if not isinstance(group, str):
        return str(to_json_number(group))
    return group if period is None else label_of_period(group, period)


def label_of_period(day: str, period: CalendarPeriod) -> str:
    """Returns the label of the period that begins on `day`: "2024", "2024 Q1", "2024-03", "2024-03-01"."""
    match period:
        case CalendarPeriod.DAY:
            return day
        case CalendarPeriod.MONTH:
            return day[:7]
        case CalendarPeriod.QUARTER:
            return f"{day[:4]} Q{(int(day[5:7]) + 2) // 3}"
        case CalendarPeriod.YEAR:
            return day[:4]
        case _:
            assert_never(period)


def ordinal_of_period(label: str, period: CalendarPeriod) -> int | None:
    """Returns the number of the period of a label by `label_of_period`: the next period has the next number.

    None for the group of the documents without a day.
    """
    if not label[:4].isdigit():
        return None
    year = int(label[:4])
    match period:
        case CalendarPeriod.DAY:
            return date.fromisoformat(label).toordinal()
        case CalendarPeriod.MONTH:
            return 12 * year + int(label[5:])
        case CalendarPeriod.QUARTER:
            return 4 * year + int(label[6:])
        case CalendarPeriod.YEAR:
            return year
        case _:
            assert_never(period)


def currency_of_value(values: FieldValues, field: SchemaField) -> str | None:
    """Returns the currency of the document's amount in `field`, or None if it is unknown."""
    if field.currency:
        return field.currency
    currency = values.get(field.currency_field) if field.currency_field is not None else None
    return currency if isinstance(currency, str) else None
