"""Documents and schemas as resources: `parley://documents/DOC_ID` and `parley://buckets/NAME/schema`."""

import re
from typing import Final
from urllib.parse import quote, unquote

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from bot.errors import UnknownDocument
from bot.programs.callers import ProgramCaller
from bot.programs.document_reading import DocumentReading

_DOCUMENT_URI: Final = re.compile(r"parley://documents/([^/?#]+)(?:\?start=(\d{1,10}))?")
_SCHEMA_URI: Final = re.compile(r"parley://buckets/([^/?#]+)/schema")
_SCHEMA_TYPE: Final = "application/yaml"
_MAX_URI_CHARS: Final = 5000
TEMPLATES: Final = (
    ResourceTemplate(
        name="document",
        title="Text of a document",
        uri_template="parley://documents/{doc_id}{?start}",
        description="The text from the character `start` on (0 without it), at most 100,000 characters at once; the "
        "second content, if there is one, is the address of the next part. The doc_id is percent-encoded.",
        mime_type="text/plain",
    ),
    ResourceTemplate(
        name="schema",
        title="Schema of a bucket",
        uri_template="parley://buckets/{bucket}/schema",
        description="The fields of a bucket's documents, with their types and synonyms, for the filters of tools.",
        mime_type=_SCHEMA_TYPE,
    ),
)


async def list_resources(reading: DocumentReading, caller: ProgramCaller, cursor: str | None) -> ListResourcesResult:
    """The schemas and then the documents, in pages. Raises `BotError`."""
    documents, next_cursor = await reading.list_documents(caller, cursor)
    resources = [] if cursor is not None else await _list_schemas(reading, caller)
    resources += [
        Resource(
            uri=document_uri_of(document.doc_id),
            name=document.doc_id,
            title=document.title,
            description=f"A document of {document.bucket}",
            mime_type="text/plain",
        )
        for document in documents
    ]
    return ListResourcesResult(resources=resources, next_cursor=next_cursor)


async def list_templates() -> ListResourceTemplatesResult:
    return ListResourceTemplatesResult(resource_templates=[*TEMPLATES])


async def read_resource(reading: DocumentReading, caller: ProgramCaller, uri: str) -> ReadResourceResult:
    """Raises `MCPError` for what does not exist or is not visible, else `BotError`."""
    try:
        if len(uri) <= _MAX_URI_CHARS and (match := _SCHEMA_URI.fullmatch(uri)) is not None:
            schema = await reading.read_schema(unquote(match[1]), caller)
            return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=_SCHEMA_TYPE, text=schema)])
        if len(uri) <= _MAX_URI_CHARS and (match := _DOCUMENT_URI.fullmatch(uri)) is not None:
            return await _read_document(reading, caller, uri, unquote(match[1]), int(match[2] or 0))
    except UnknownDocument:
        pass
    raise MCPError(code=INVALID_PARAMS, message="There is no such resource.", data={"uri": uri[:_MAX_URI_CHARS]})


def document_uri_of(doc_id: str) -> str:
    return f"parley://documents/{quote(doc_id, safe='')}"


async def _list_schemas(reading: DocumentReading, caller: ProgramCaller) -> list[Resource]:
    return [
        Resource(
            uri=f"parley://buckets/{quote(bucket.name, safe='')}/schema",
            name=f"schema of {bucket.name}",
            title=f"Schema of {bucket.title}",
            description=f"The fields of the {bucket.documents:,} documents of {bucket.name} that you may see",
            mime_type=_SCHEMA_TYPE,
        )
        for bucket in await reading.list_buckets(caller)
    ]


async def _read_document(
    reading: DocumentReading, caller: ProgramCaller, uri: str, doc_id: str, start: int
) -> ReadResourceResult:
    document = await reading.read_document(doc_id, start, caller)
    contents = [TextResourceContents(uri=uri, mime_type="text/plain", text=document.text)]
    if document.next_start is not None:
        next_uri = f"{document_uri_of(document.doc_id)}?start={document.next_start}"
        contents.append(TextResourceContents(uri=next_uri, mime_type="text/plain", text=f"It goes on at {next_uri}"))
    return ReadResourceResult(contents=[*contents])
