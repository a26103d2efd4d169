"""The extractor that ships with Parley: rules, without a model."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from storage.ingest.extract.candidates import CandidatesByField, ExtractionInput
from storage.ingest.work_budget import borrowed_budget
from storage.search.schema import Schema

if TYPE_CHECKING:
    from storage.ingest.extract.schema_readers import SchemaReaders


_MAX_CACHED_SCHEMAS = 32  # a bucket has one for each kind of its documents


class RuleExtractor:
    """Implements `Extractor`. Loads the rules on first use; caches the compiled readers of the last schemas."""

    def __init__(self) -> None:
        self._recent_readers: list[tuple[Schema, SchemaReaders]] = []

    async def prepare_documents(self, documents: Sequence[ExtractionInput], schema: Schema) -> None:
        """Does nothing: each document is read by itself."""

    async def extract_candidates(self, document: ExtractionInput, schema: Schema) -> CandidatesByField:
        return await asyncio.to_thread(self._extract_within_budget, document, schema)

    def _extract_within_budget(self, document: ExtractionInput, schema: Schema) -> CandidatesByField:
        with borrowed_budget():
            return self.extract_in_thread(document, schema)

    def extract_in_thread(self, document: ExtractionInput, schema: Schema) -> CandidatesByField:
        """`extract_candidates` in the calling thread."""
        from storage.ingest.extract.document_text import DocumentText

        return self._readers_for(schema).read_document(DocumentText(document, schema.language))

    def _readers_for(self, schema: Schema) -> "SchemaReaders":
        from storage.ingest.extract.schema_readers import SchemaReaders

        for cached_schema, readers in self._recent_readers:
            if cached_schema is schema:
                return readers
        readers = SchemaReaders(schema)
        self._recent_readers = [(schema, readers), *self._recent_readers[: _MAX_CACHED_SCHEMAS - 1]]
        return readers
