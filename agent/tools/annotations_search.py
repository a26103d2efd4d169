"""`annotations_search`: counts the documents with certain field values and shows the first of them."""

from agent.errors import UnusableToolCall
from agent.tools.document_fields import find_document_field, is_ordered
from agent.tools.empty_sets import explain_empty_set
from agent.tools.excerpts import join_lines
from agent.tools.record_texts import describe_record, short_fields_of
from agent.tools.tool_access import ToolAccess
from agent.tools.tool_arguments import RecordSearchArguments
from agent.tools.tool_protocol import DocumentTool, RecordFindings, ToolResult
from storage.search.index import CountRequest, RecordPageRequest
from storage.search.schema import Schema, SchemaOrder


async def _search_records(arguments: RecordSearchArguments, access: ToolAccess) -> ToolResult:
    schema = access.find_schema(arguments.bucket)
    search = access.build_search(schema, arguments.filters, arguments.doc_id)
    order = _order_of(arguments, schema)
    named = tuple(find_document_field(name, schema) for name in arguments.fields)
    fields = named or short_fields_of(schema, None if order is None else order.field)
    # Amounts are shown with their currencies, which are fields of their own
    currencies = {field.currency_field for field in fields if field.currency_field is not None}
    page = RecordPageRequest(
        search, order, limit=arguments.record_limit, fields=frozenset({field.name for field in fields} | currencies)
    )
    count = CountRequest(search)
    answers = await access.session.ask_index((count, page))
    findings = RecordFindings(
        search=search,
        set_count=answers[count],
        records=tuple(access.evidence.add_record(record) for record in answers[page].records),
        order=order,
    )
    lines = [_describe_set(findings), *(describe_record(item, schema, fields) for item in findings.records)]
    return ToolResult(
        findings=findings,
        text=join_lines(lines) if findings.set_count else explain_empty_set(search, access),
        arguments={"top_k": arguments.record_limit, "order_by": "" if order is None else order.field},
        documents=findings.set_count,
    )


def _order_of(arguments: RecordSearchArguments, schema: Schema) -> SchemaOrder | None:
    if not arguments.order_by.strip():
        return None
    field = find_document_field(arguments.order_by, schema)
    if not is_ordered(field):
        raise UnusableToolCall(f"A {field.type.value} field such as {field.name!r} gives no order.")
    return SchemaOrder(field=field.name, descending=arguments.descending)


def _describe_set(findings: RecordFindings) -> str:
    shown = len(findings.records)
    order = ""
    if findings.order is not None:
        order = f", by {findings.order.field}, {'largest or latest' if findings.order.descending else 'smallest'} first"
    rest = f" The first {shown} of them" if shown < findings.set_count else " These are all of them"
    return f"{findings.set_count} documents of {findings.search.buckets[0]} meet the filters.{rest}{order}:"


ANNOTATIONS_SEARCH = DocumentTool(
    name="annotations_search",
    description="Counts the documents of a bucket whose fields meet all filters, and shows the first of them in order. "
    "The count is exact. For lists, look-ups of field values, and the first by a field.",
    arguments_type=RecordSearchArguments,
    run=_search_records,
)
