"""`get_document_metadata`: the title, source, size, field values and summary of one document."""

from agent.errors import UnusableToolCall
from agent.tools.document_fields import shorten_name
from agent.tools.excerpts import delimit_text, join_lines
from agent.tools.record_texts import describe_field
from agent.tools.tool_access import ToolAccess, document_condition
from agent.tools.tool_arguments import MetadataArguments
from agent.tools.tool_protocol import DocumentFindings, DocumentTool, ToolResult
from prompts.data_texts import quote_value
from storage.search.documents import Document
from storage.search.index import DocumentRequest, RecordPageRequest
from storage.search.plan import Clause, Search
from storage.search.schema import Schema

_MAX_SOURCE_CHARACTERS = 200


async def _load_metadata(arguments: MetadataArguments, access: ToolAccess) -> ToolResult:
    schema = access.find_schema(arguments.bucket)
    doc_id = access.find_document_id(arguments.doc_id)
    search = Search(clauses=(Clause(bucket=schema.bucket, condition=document_condition(doc_id)),))
    page, fetch = RecordPageRequest(search, limit=1), DocumentRequest((doc_id,))
    answers = await access.session.ask_index((page, fetch))
    records = answers[page].records  # of this bucket only; the document alone may be of another
    document = next(iter(answers[fetch]), None)
    if not records or document is None:
        raise UnusableToolCall(f"The bucket {schema.bucket!r} has no document {shorten_name(arguments.doc_id)}.")
    findings = DocumentFindings(search=search, record=access.evidence.add_record(records[0]))
    return ToolResult(
        findings=findings,
        text=_describe_document(findings, document, schema, arguments.context_characters),
        arguments={"doc_id": doc_id},
        documents=1,
    )


def _describe_document(findings: DocumentFindings, document: Document, schema: Schema, characters: int) -> str:
    record = findings.record.record
    pages = max((passage.page for passage in document.passages if passage.page is not None), default=0)
    size = f"{len(document.text)} characters" + (f" on {pages} pages" if pages else "")
    lines = [
        f"[{findings.record.id}] {quote_value(record.title)}, doc_id {quote_value(record.doc_id)}",
        f"bucket: {schema.bucket}",
        f"source: {quote_value(record.source, _MAX_SOURCE_CHARACTERS)}, {size}",
        *(describe_field(record, field) for field in schema.fields if field.name in record.values),
    ]
    missing = [field.name for field in schema.fields if field.name not in record.values]
    lines += [f"no value for: {', '.join(missing)}"] if missing else []
    outline = document.outline_text[:characters].strip()
    lines += ["summary:" if document.summary else "beginning:", delimit_text(outline)] if outline else []
    return join_lines(lines)


GET_DOCUMENT_METADATA = DocumentTool(
    name="get_document_metadata",
    description="Returns the title, source, size, all field values and the summary of one document.",
    arguments_type=MetadataArguments,
    run=_load_metadata,
)
