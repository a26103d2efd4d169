"""Change over time: a figure for each calendar period, compared with the period before."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from agent.forms.clarifications import (
    ask_which_reading,
    list_candidates,
    missing_candidates,
    report_nothing_found,
    wider_reading_candidates,
)
from agent.forms.figures import label_of_period
from agent.forms.form_handler import FormHandler
from agent.outcome import GroupLine, OutcomeKind
from agent.retrieval.leg_requests import LegInquiry, LegRequests
from agent.review.leg_review import (
    Enough,
    LegClarification,
    LegFacts,
    LegReview,
    assumptions_of,
    build_leg_result,
    document_ids_of,
    hits_by_document,
)
from storage.search.index import AggregateLine, AggregateRequest, RecordPageRequest
from storage.search.plan import AggregateFunction, CalendarPeriod, ChangeOverTime, GroupBy
from storage.search.schema import Schema, SchemaField

_MAX_MONTHS = 18  # longer spans are shown by quarter
_MAX_QUARTERS = 20  # longer spans are shown by year
_MAX_FILLED_PERIODS = 120  # above this, periods without documents are left out
_MONTHS = {CalendarPeriod.MONTH: 1, CalendarPeriod.QUARTER: 3, CalendarPeriod.YEAR: 12}
_DIGITS = 12  # significant digits of a change, as in the sums of the kernel


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodFigure:
    """The figure of one period, and its change from the period before.

    `change` is None for the first period and after a gap. `change_percent` is None also after a figure of 0.
    """

    label: str
    value: float
    unit: str | None
    count: int  # documents
    change: float | None
    change_percent: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeFacts(LegFacts):
    """The figures of all periods, separately for each unit. Amounts in different currencies are never compared."""

    function: AggregateFunction
    field: SchemaField | None
    day_field: SchemaField
    period: CalendarPeriod
    series: Mapping[str | None, tuple[PeriodFigure, ...]]  # by unit, most documents first
    undated_count: int  # documents without a date


def _build_requests(answer_form: ChangeOverTime, inquiry: LegInquiry) -> LegRequests:
    group = replace(answer_form.group, period=answer_form.group.period or CalendarPeriod.MONTH)
    return replace(
        inquiry.request_set(),
        record_page=RecordPageRequest(inquiry.leg.search, limit=inquiry.limits.reported_documents, fields=frozenset()),
        aggregate=AggregateRequest(inquiry.leg.search, answer_form.field, group),
        passage_requests=inquiry.rank_passages(inquiry.limits.reported_hits),
    )


async def decide_change(answer_form: ChangeOverTime, review: LegReview) -> Enough | LegClarification:
    if review.count == 0:
        return report_nothing_found(review)
    if (several_readings := ask_which_reading(review)) is not None:
        return several_readings
    lines: Sequence[AggregateLine] = review.aggregate_lines
    period = answer_form.group.period or _choose_period(lines)
    if answer_form.group.period is None and period is not CalendarPeriod.MONTH:
        group = GroupBy(field=answer_form.group.field, period=period)
        by_period = AggregateRequest(review.leg.search, answer_form.field, group)
        lines = (await review.session.ask_index((by_period,)))[by_period]
    schema = review.question_context.schemas[review.leg.search.clauses[0].bucket]
    facts = _build_facts(answer_form, schema, period, lines)
    return Enough(
        result=replace(
            build_leg_result(review, OutcomeKind.ANSWER, review.count),
            doc_ids=document_ids_of(review.records),
            groups=tuple(
                GroupLine(label=figure.label, value=figure.value, unit=figure.unit, count=figure.count)
                for figures in facts.series.values()
                for figure in figures
            ),
        ),
        facts=facts,
        hits=hits_by_document(review),
        candidates=(*list_candidates(review), *wider_reading_candidates(review), *missing_candidates(review)),
        export_count=review.count,
        assumptions=assumptions_of(review),
    )


def _choose_period(lines_by_month: Sequence[AggregateLine]) -> CalendarPeriod:
    """Returns the shortest period that does not divide the span into too many periods."""
    days = sorted(line.group for line in lines_by_month if isinstance(line.group, str) and line.count)
    months = _month_number(days[-1]) - _month_number(days[0]) + 1 if days else 0
    if months <= _MAX_MONTHS:
        return CalendarPeriod.MONTH
    return CalendarPeriod.QUARTER if months <= 3 * _MAX_QUARTERS else CalendarPeriod.YEAR


def _month_number(day: str) -> int:
    return 12 * int(day[:4]) + int(day[5:7])


def _build_facts(
    answer_form: ChangeOverTime, schema: Schema, period: CalendarPeriod, lines: Sequence[AggregateLine]
) -> ChangeFacts:
    dated = [line for line in lines if isinstance(line.group, str) and line.count]
    units = dict.fromkeys(line.unit for line in dated)
    commonest = sorted(units, key=lambda unit: -sum(line.count for line in dated if line.unit == unit))
    function = answer_form.functions[0]
    return ChangeFacts(
        function=function,
        field=schema.by_name.get(answer_form.field) if answer_form.field is not None else None,
        day_field=schema.by_name[answer_form.group.field],
        period=period,
        series={
            unit: tuple(_figures_of([line for line in dated if line.unit == unit], function, period))
            for unit in commonest
        },
        undated_count=sum(line.count for line in lines if line.group is None),
    )


def _figures_of(
    lines: Sequence[AggregateLine], function: AggregateFunction, period: CalendarPeriod
) -> Iterator[PeriodFigure]:
    """Yields the figures in order of time.

    A period without documents between two others has the figure 0. An average skips it.
    """
    by_day = {str(line.group): line for line in lines}
    value_before: float | None = None
    for day in _days_of_periods(sorted(by_day), period):
        line = by_day.get(day)
        if line is None and function is AggregateFunction.AVERAGE:
            value_before = None
            continue
        value = 0.0 if line is None else _value_of(line, function)
        change = None if value_before is None else float(f"{value - value_before:.{_DIGITS}g}")
        yield PeriodFigure(
            label=label_of_period(day, period),
            value=value,
            unit=next(iter(lines)).unit,
            count=0 if line is None else line.count,
            change=change,
            change_percent=round(100 * change / abs(value_before), 1) if change is not None and value_before else None,
        )
        value_before = value


def _value_of(line: AggregateLine, function: AggregateFunction) -> float:
    if function is AggregateFunction.SUM:
        return line.sum
    return line.average if function is AggregateFunction.AVERAGE else float(line.count)


def _days_of_periods(days: Sequence[str], period: CalendarPeriod) -> Iterator[str]:
    """Yields the first day of each period, from the first to the last; only `days` if there are too many periods."""
    filled: list[str] = []
    day = days[0] if days else ""
    while days and day <= days[-1] and len(filled) <= _MAX_FILLED_PERIODS:
        filled.append(day)
        day = _next_period(day, period)
    yield from filled if len(filled) <= _MAX_FILLED_PERIODS else days


def _next_period(day: str, period: CalendarPeriod) -> str:
    first = date.fromisoformat(day)
    if period is CalendarPeriod.DAY:
        return (first + timedelta(days=1)).isoformat()
    months = first.month - 1 + _MONTHS[period]
    return first.replace(year=first.year + months // 12, month=months % 12 + 1).isoformat()


HANDLER = FormHandler(answer_form=ChangeOverTime, build_requests=_build_requests, decide=decide_change)
