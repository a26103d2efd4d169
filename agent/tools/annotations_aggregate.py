"""`annotations_aggregate`: exact numbers over all documents with certain field values, by group if wanted."""

from collections.abc import Iterator

from agent.compose.phrases.figures import format_computed_value
from agent.errors import UnusableToolCall
from agent.forms.compute_numbers import build_aggregate_request
from agent.forms.figures import build_group_lines, compute_figures
from agent.tools.collected_evidence import CollectedNumbers
from agent.tools.document_fields import find_document_field
from agent.tools.empty_sets import explain_empty_set
from agent.tools.excerpts import join_lines
from agent.tools.tool_access import ToolAccess
from agent.tools.tool_arguments import MAX_TOP_K, AggregateArguments, bound_number
from agent.tools.tool_protocol import DocumentTool, NumberFindings, ToolResult
from prompts.data_texts import quote_value
from storage.search.index import CountRequest
from storage.search.plan import AggregateFunction, ComputeNumbers, GroupBy
from storage.search.schema import FieldType, Schema, SchemaField

_MAX_SHOWN_GROUPS = 50
_MEASURED_TYPES = (FieldType.NUMBER, FieldType.MONEY)


async def _aggregate_values(arguments: AggregateArguments, access: ToolAccess) -> ToolResult:
    schema = access.find_schema(arguments.bucket)
    search = access.build_search(schema, arguments.filters)
    answer_form = _form_of(arguments, schema)
    count, aggregate = CountRequest(search), build_aggregate_request(search, answer_form)
    answers = await access.session.ask_index((count, aggregate))
    lines, set_count = answers[aggregate], answers[count]
    is_distinct = AggregateFunction.DISTINCT in answer_form.functions
    numbers = access.evidence.add_numbers(
        schema,
        answer_form,
        set_count,
        () if answer_form.group and not is_distinct else compute_figures(answer_form, lines, set_count),
        build_group_lines(answer_form, lines),
    )
    findings = NumberFindings(search=search, set_count=set_count, answer_form=answer_form, numbers=numbers)
    return ToolResult(
        findings=findings,
        text=join_lines(describe_numbers(numbers)) if set_count else explain_empty_set(search, access),
        arguments={
            "function": arguments.function.value,
            "field": answer_form.field or "",
            "group_by": "" if answer_form.group is None else answer_form.group.field,
        },
        documents=set_count,
    )


def _form_of(arguments: AggregateArguments, schema: Schema) -> ComputeNumbers:
    function = arguments.function
    group = _grouping_of(arguments, schema)
    if function is AggregateFunction.COUNT:
        field = None
    elif not arguments.field.strip():
        raise UnusableToolCall(f"{function.value} needs a field.")
    else:
        field = find_document_field(arguments.field, schema)
        _check_field(function, field, group)
    limit = bound_number(arguments.limit, 0, MAX_TOP_K) or None
    return ComputeNumbers(
        functions=(function,),
        field=None if field is None else field.name,
        group=group,
        limit=limit if group is not None else None,
        descending=arguments.descending,
    )


def _check_field(function: AggregateFunction, field: SchemaField, group: GroupBy | None) -> None:
    if function is AggregateFunction.DISTINCT:
        if field.type is FieldType.ROWS or group is not None:
            raise UnusableToolCall("distinct counts the values of one field that is not a rows field, without groups.")
    elif field.type not in _MEASURED_TYPES:
        hint = (
            " For the first or last day use annotations_search with order_by." if field.type is FieldType.DATE else ""
        )
        raise UnusableToolCall(
            f"{function.value} needs a number or money field; {field.name!r} is a {field.type.value} field.{hint}"
        )


def _grouping_of(arguments: AggregateArguments, schema: Schema) -> GroupBy | None:
    if not arguments.group_by.strip():
        return None
    field = find_document_field(arguments.group_by, schema)
    if field.type is FieldType.ROWS:
        raise UnusableToolCall(f"A rows field such as {field.name!r} makes no groups.")
    if arguments.period is not None and field.type is not FieldType.DATE:
        raise UnusableToolCall(f"A period needs a date field; {field.name!r} is a {field.type.value} field.")
    return GroupBy(field=field.name, period=arguments.period)


def describe_numbers(numbers: CollectedNumbers) -> Iterator[str]:
    """Yields the lines for a model: what was computed, over how many documents, and the numbers."""
    answer_form = numbers.answer_form
    field = numbers.schema.by_name.get(answer_form.field) if answer_form.field is not None else None
    function = answer_form.functions[0]
    what = function.value if field is None else f"{function.value} of {field.name}"
    yield f"[{numbers.id}] {what} over {numbers.count} documents of {numbers.schema.bucket} that meet the filters:"
    for figure in numbers.figures:
        value = format_computed_value(figure.function, figure.value, figure.unit, field if figure.unit else None)
        yield f"{value} (from {figure.count} documents with a value)"
    if answer_form.group is None:
        return
    for line in numbers.groups[:_MAX_SHOWN_GROUPS]:
        value = format_computed_value(function, line.value, line.unit, field)
        yield f"{answer_form.group.field} {quote_value(line.label)}: {value} (from {line.count} documents)"
    if len(numbers.groups) > _MAX_SHOWN_GROUPS:
        yield f"and {len(numbers.groups) - _MAX_SHOWN_GROUPS} more groups"
    yield from _describe_total(numbers)


def _describe_total(numbers: CollectedNumbers) -> Iterator[str]:
    if not numbers.groups:
        yield "No document has a value."


ANNOTATIONS_AGGREGATE = DocumentTool(
    name="annotations_aggregate",
    description="Computes a number over all documents of a bucket whose fields meet all filters: count, sum, average, "
    "minimum, maximum, median or distinct values of a field, by group or period if wanted. The numbers are exact.",
    arguments_type=AggregateArguments,
    run=_aggregate_values,
)
