"""The documents and schemas that a caller may see, for programs that read them as resources.

What is not visible does not exist: both are the same error.
"""

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Final, cast

from bot.access.audience_scope import AccessResolver
from bot.errors import InvalidCall, UnknownDocument
from bot.programs.callers import ProgramCaller
from bot.programs.failures import plain_failures
from storage.ingest.schemas.schema_file import schema_to_yaml
from storage.search.ids import BucketId, DocId
from storage.search.index import DocumentRequest, RecordPageRequest, ScopedIndex, SearchIndex
from storage.search.plan import unfiltered_search_of

_PAGE_DOCUMENTS: Final = 100
_MAX_TEXT_CHARS: Final = 100_000  # of one reading
_MAX_CURSOR_CHARS: Final = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadableBucket:
    """A bucket with the number of its documents that the caller may see."""

    name: str
    title: str
    documents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDocument:
    doc_id: str
    title: str
    bucket: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadableText:
    """A document's text from the character `start`. `next_start`: where the next part begins; None: this is the end."""

    doc_id: str
    title: str
    text: str
    start: int
    next_start: int | None


class DocumentReading:
    def __init__(self, *, index: SearchIndex, access: AccessResolver) -> None:
        self._index, self._access = index, access

    async def list_buckets(self, caller: ProgramCaller) -> list[ReadableBucket]:
        """Raises `ProgramCallFailed`, as all methods here do."""
        with plain_failures():
            vocabulary = await (await self._open_index(caller)).load_vocabulary()
            return [
                ReadableBucket(
                    name=bucket, title=schema.title or bucket, documents=vocabulary.document_count_of(bucket)
                )
                for bucket, schema in sorted(vocabulary.schemas.items())
            ]

    async def read_schema(self, bucket: str, caller: ProgramCaller) -> str:
        """The schema as YAML, as `parley bucket schema` prints it. Raises `UnknownDocument`."""
        with plain_failures():
            schemas = await (await self._open_index(caller)).load_schemas()
            schema = schemas.get(BucketId(bucket))
            if schema is None:
                raise UnknownDocument(bucket)
            return schema_to_yaml(schema)

    async def list_documents(
        self, caller: ProgramCaller, cursor: str | None = None
    ) -> tuple[list[ListedDocument], str | None]:
        """A page of the documents, by bucket and document id, and the cursor of the next page; None: it is the last.

        Raises `InvalidCall` for a cursor that is none.
        """
        with plain_failures():
            index = await self._open_index(caller)
            buckets = sorted(await index.load_schemas())
            bucket, page_cursor = (next(iter(buckets), None), None) if cursor is None else _parse_cursor(cursor)
            if bucket is None or bucket not in buckets:
                return [], None
            request = RecordPageRequest(
                unfiltered_search_of(bucket),
                cursor=page_cursor,
                limit=_PAGE_DOCUMENTS,
                fields=frozenset(),
                order_by_id=True,
            )
            page = (await index.answer_requests(request))[request]
            documents = [
                ListedDocument(doc_id=record.doc_id, title=record.title, bucket=record.bucket)
                for record in page.records
            ]
            if page.cursor is not None:
                return documents, _format_cursor(bucket, page.cursor)
            following = buckets[buckets.index(bucket) + 1 :]
            return documents, _format_cursor(following[0], None) if following else None

    async def read_document(self, doc_id: str, start: int, caller: ProgramCaller) -> ReadableText:
        """Raises `UnknownDocument`."""
        with plain_failures():
            request = DocumentRequest((DocId(doc_id),))
            index = await self._open_index(caller)
            document = next(iter((await index.answer_requests(request))[request]), None)
            if document is None:
                raise UnknownDocument(doc_id)
            end = start + _MAX_TEXT_CHARS
            return ReadableText(
                doc_id=document.doc_id,
                title=document.title,
                text=document.text[start:end],
                start=start,
                next_start=end if end < len(document.text) else None,
            )

    async def _open_index(self, caller: ProgramCaller) -> ScopedIndex:
        scope = await self._access.scope_for_audience(caller.audience)
        await self._access.require_complete_buckets(scope)
        return self._index.within_scope(scope)


def _format_cursor(bucket: BucketId, page_cursor: str | None) -> str:
    return base64.urlsafe_b64encode(json.dumps([bucket, page_cursor]).encode()).decode()


def _parse_cursor(text: str) -> tuple[BucketId, str | None]:
    """Raises `InvalidCall`."""
    try:
        value = cast(object, json.loads(base64.urlsafe_b64decode(text[:_MAX_CURSOR_CHARS].encode())))
    except (ValueError, binascii.Error, RecursionError) as exc:
        raise InvalidCall("This cursor is none of a list of documents.") from exc
    match value:
        case [str(bucket), (str() | None) as page_cursor]:
            return BucketId(bucket), page_cursor
        case _:
            raise InvalidCall("This cursor is none of a list of documents.")
