"""Numbers by two groups: a row for each value of the one, a column for each value of the other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from agent.forms.clarifications import list_candidates
from agent.forms.figures import format_group, value_of_function
from agent.outcome import GroupLine, OutcomeKind
from agent.review.leg_review import (
    Enough,
    LegFacts,
    LegReview,
    assumptions_of,
    build_leg_result,
    document_ids_of,
    hits_by_document,
)
from storage.quantities.calendar_arithmetic import month_bounds
from storage.search.conditions import ComparisonCondition, ComparisonOperator, Condition, MissingCondition
from storage.search.index import AggregateLine, AggregateRequest
from storage.search.plan import CalendarPeriod, ComputeNumbers, GroupBy
from storage.search.schema import FieldType, Schema, SchemaField

_MAX_COLUMNS = 36
_MONTHS_BY_PERIOD = {CalendarPeriod.YEAR: 12, CalendarPeriod.QUARTER: 3, CalendarPeriod.MONTH: 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossTableFacts(LegFacts):
    """The cells of a table of two groups; a combination without documents has no cell."""

    answer_form: ComputeNumbers
    schema: Schema
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    cells: tuple[tuple[str, str, GroupLine], ...]  # row, column, figure; several for one cell if currencies differ
    left_out: int  # columns beyond the limit


async def decide_cross_table(answer_form: ComputeNumbers, group: GroupBy, second: GroupBy, review: LegReview) -> Enough:
    """Answers with the table; two more round trips: the columns, then all cells."""
    search, schema = review.leg.search, review.question_context.schemas[review.leg.search.clauses[0].bucket]
    outline = AggregateRequest(search, group=second)
    columns = (await review.session.ask_index((outline,)))[outline]
    shown = _ordered_columns(columns, second)[:_MAX_COLUMNS]
    requests = [
        AggregateRequest(
            search.with_condition(condition_of_group(line.group, second, schema.by_name[second.field])),
            answer_form.field,
            group,
            factor=answer_form.factor,
        )
        for line in shown
    ]
    answers = await review.session.ask_index(requests)
    function = answer_form.functions[0]
    cells = tuple(
        (
            format_group(line.group, group.period),
            format_group(column.group, second.period),
            GroupLine(
                label=f"{format_group(line.group, group.period)} · {format_group(column.group, second.period)}",
                value=value_of_function(function, line),
                unit=line.unit,
                count=line.count,
            ),
        )
        for column, request in zip(shown, requests, strict=True)
        for line in answers[request]
        if line.count
    )
    facts = CrossTableFacts(
        answer_form=answer_form,
        schema=schema,
        row_labels=_ordered_rows(review.aggregate_lines, group),
        column_labels=tuple(format_group(column.group, second.period) for column in shown),
        cells=cells,
        left_out=len(columns) - len(shown),
    )
    return Enough(
        result=replace(
            build_leg_result(review, OutcomeKind.ANSWER, review.count),
            doc_ids=document_ids_of(review.records),
            groups=tuple(line for _, _, line in cells),
        ),
        facts=facts,
        hits=hits_by_document(review),
        candidates=tuple(list_candidates(review)),
        export_count=review.count or None,
        assumptions=assumptions_of(review),
    )


def _ordered_columns(lines: Sequence[AggregateLine], group: GroupBy) -> list[AggregateLine]:
    """Returns periods by time, values by their number of documents; None last."""
    return sorted(lines, key=lambda line: (line.group is None, str(line.group) if group.period is not None else ""))


def _ordered_rows(lines: Sequence[AggregateLine], group: GroupBy) -> tuple[str, ...]:
    ordered = _ordered_columns([line for line in lines if line.count], group)
    return tuple(dict.fromkeys(format_group(line.group, group.period) for line in ordered))


def condition_of_group(group: str | float | bool | None, by: GroupBy, field: SchemaField) -> Condition:
    """Returns the condition for the documents of a group."""
    if group is None:
        return MissingCondition(field=by.field)
    if by.period is not None:
        return ComparisonCondition(
            field=by.field, op=ComparisonOperator.BETWEEN, value=(str(group), _last_day_of(str(group), by.period))
        )
    op = ComparisonOperator.HAS if field.type is FieldType.LIST else ComparisonOperator.EQ
    return ComparisonCondition(field=by.field, op=op, value=group)


def _last_day_of(first_day: str, period: CalendarPeriod) -> str:
    """Returns the last day of the period that begins on the day."""
    if period is CalendarPeriod.DAY:
        return first_day
    first = date.fromisoformat(first_day)
    return month_bounds(first.year, first.month + _MONTHS_BY_PERIOD[period] - 1)[1].isoformat()
