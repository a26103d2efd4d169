"""Makes pictures of groups and of change over time from the same figures as their tables."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Final

from agent.compose.phrases.figures import describe_function, format_computed_value, lowercase_measure
from agent.compose.phrases.values import format_number
from agent.compose.phrases.words import lowercase_label
from agent.forms.change_over_time import ChangeFacts
from agent.forms.compute_numbers import ComputationFacts
from agent.forms.figures import ordinal_of_period
from agent.outcome import GroupLine, PictureKind, PicturePoint, ResultPicture
from agent.translation.message_catalogues import translate_message, translate_plural
from storage.search.plan import AggregateFunction, CalendarPeriod
from storage.search.schema import FieldType, SchemaField

MAX_BARS: Final = 12  # the last one is the rest, where that is a true sum
_MIN_LINE_POINTS: Final = 3  # two periods are compared better as bars
_MAX_DESCRIBED_POINTS: Final = 12  # of a line; a longer one is described by its ends and extremes
_MAX_PICTURES: Final = 2  # of one answer: one for each unit
_DIGITS: Final = 12  # significant digits of a sum, as in the sums of the kernel
_COUNTING_FUNCTIONS: Final = (AggregateFunction.COUNT, AggregateFunction.DISTINCT)
_MEASURED_TYPES: Final = (FieldType.NUMBER, FieldType.MONEY)
_OVERLAPPING_TYPES: Final = (FieldType.LIST, FieldType.ROWS)  # a document is in several of their groups
FormatNumber = Callable[[float, str | None], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _PicturedFigures:
    """What is drawn: figures of one or more units by the values of one field."""

    title: str
    lines: Sequence[GroupLine]
    period: CalendarPeriod | None  # the lines are periods in order of time
    is_additive: bool  # the figures of several groups add up to that of all of them
    format_number: FormatNumber


def picture_groups(facts: ComputationFacts) -> tuple[ResultPicture, ...]:
    """Returns a picture for each unit with two groups or more."""
    answer_form, function = facts.answer_form, facts.answer_form.functions[0]
    if answer_form.group is None or not _is_measurable(function, facts.field):
        return ()
    group_field = facts.schema.by_name[answer_form.group.field]
    is_counted, is_ranked = function in _COUNTING_FUNCTIONS, answer_form.limit is not None
    return _build_pictures(
        _PicturedFigures(
            title=_title_of(function, facts.field, group_field.label, facts.factor),
            lines=[replace(line, value=float(line.count), unit=None) for line in facts.groups]
            if is_counted
            else facts.groups,
            period=None if is_ranked else answer_form.group.period,
            is_additive=function in (AggregateFunction.COUNT, AggregateFunction.SUM)
            and group_field.type not in _OVERLAPPING_TYPES
            and not is_ranked,
            format_number=_number_format_of(function, facts.field),
        )
    )


def picture_periods(facts: ChangeFacts) -> tuple[ResultPicture, ...]:
    """Returns a picture for each unit with two periods or more."""
    if not _is_measurable(facts.function, facts.field):
        return ()
    return _build_pictures(
        _PicturedFigures(
            title=_title_of(facts.function, facts.field, facts.day_field.label),
            lines=[
                GroupLine(label=figure.label, value=figure.value, unit=unit, count=figure.count)
                for unit, figures in facts.series.items()
                for figure in figures
            ],
            period=facts.period,
            is_additive=False,
            format_number=_number_format_of(facts.function, facts.field),
        )
    )


def _is_measurable(function: AggregateFunction, field: SchemaField | None) -> bool:
    """Whether a length can show the values. The earliest or latest day has none."""
    return function in _COUNTING_FUNCTIONS or (field is not None and field.type in _MEASURED_TYPES)


def _title_of(
    function: AggregateFunction, field: SchemaField | None, label: str, factor: SchemaField | None = None
) -> str:
    measure = translate_message("Documents")
    if function not in _COUNTING_FUNCTIONS and field is not None:
        measure = describe_function(function, lowercase_measure(field, factor))
    return translate_message("{measure}, by {labels}", measure=measure, labels=lowercase_label(label))


def _number_format_of(function: AggregateFunction, field: SchemaField | None) -> FormatNumber:
    if function in _COUNTING_FUNCTIONS:
        return lambda value, unit: format_number(value)
    return lambda value, unit: format_computed_value(function, value, unit, field)


def _build_pictures(figures: _PicturedFigures) -> tuple[ResultPicture, ...]:
    units = dict.fromkeys(line.unit for line in figures.lines)
    named = {unit: f"{figures.title} ({unit})" if unit and len(units) > 1 else figures.title for unit in units}
    pictures = (_build_picture(replace(figures, title=title), unit) for unit, title in named.items())
    return tuple(picture for picture in pictures if picture is not None)[:_MAX_PICTURES]


def _build_picture(figures: _PicturedFigures, unit: str | None) -> ResultPicture | None:
    """None for a single value, which is not a comparison."""
    lines = [line for line in figures.lines if line.unit == unit]
    if figures.period is not None:
        points = list(_points_of_periods(lines, figures.period, figures.format_number))
        if len(points) >= _MIN_LINE_POINTS:
            return ResultPicture(
                kind=PictureKind.LINE,
                title=figures.title,
                unit=unit,
                points=tuple(points),
                description=_describe_line(points),
            )
    if len(lines) < 2:
        return None
    bars = _bars_of(lines, unit, figures)
    title = figures.title
    if len(bars) < len(lines) and not bars[-1].is_rest:
        shown, count = format_number(len(bars)), format_number(len(lines))
        title += translate_message(" (the first {shown} of {count})", shown=shown, count=count)
    return ResultPicture(
        kind=PictureKind.BARS, title=title, unit=unit, points=tuple(bars), description=_describe_bars(bars)
    )


def _points_of_periods(
    lines: Iterable[GroupLine], period: CalendarPeriod, format_number: FormatNumber
) -> Iterator[PicturePoint]:
    """Yields the periods; the documents without a day are none."""
    ordinal_before: int | None = None
    for line in lines:
        ordinal = ordinal_of_period(line.label, period)
        if ordinal is None:
            continue
        yield PicturePoint(
            label=line.label,
            value=line.value,
            value_text=format_number(line.value, line.unit),
            follows_gap=ordinal_before is not None and ordinal != ordinal_before + 1,
        )
        ordinal_before = ordinal


def _bars_of(lines: Sequence[GroupLine], unit: str | None, figures: _PicturedFigures) -> list[PicturePoint]:
    is_cut = len(lines) > MAX_BARS
    shown = lines[: MAX_BARS - 1] if is_cut and figures.is_additive else lines[:MAX_BARS]
    bars = [
        PicturePoint(label=line.label, value=line.value, value_text=figures.format_number(line.value, unit))
        for line in shown
    ]
    if not (is_cut and figures.is_additive):
        return bars
    rest = lines[len(shown) :]
    total = float(f"{fsum(line.value for line in rest):.{_DIGITS}g}")
    label = translate_plural("{count} other", "{count} others", len(rest), count=format_number(len(rest)))
    return [
        *bars,
        PicturePoint(label=label, value=total, value_text=figures.format_number(total, unit), is_rest=True),
    ]


def _describe_bars(bars: Sequence[PicturePoint]) -> str:
    """ "Bars: Ghent 1,291.9 hl, Kortrijk 633.9 hl"."""
    return translate_message("Bars: {values}", values=_join_points(bars))


def _describe_line(points: Sequence[PicturePoint]) -> str:
    """ "Line: 2031-01 12, 2031-02 15, 2031-03 9"; of many points the ends, the highest and the lowest."""
    if len(points) <= _MAX_DESCRIBED_POINTS:
        return translate_message("Line: {values}", values=_join_points(points))
    highest, lowest = (choose(points, key=lambda point: point.value) for choose in (max, min))
    return translate_message(
        "Line: from {first} to {last}, highest {highest}, lowest {lowest}",
        first=_join_points(points[:1]),
        last=_join_points(points[-1:]),
        highest=_join_points([highest]),
        lowest=_join_points([lowest]),
    )


def _join_points(points: Iterable[PicturePoint]) -> str:
    return ", ".join(f"{point.label} {point.value_text}" for point in points)
