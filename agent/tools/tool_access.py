"""What the tools may use in one turn: the visible buckets, the session, and the evidence collected so far.

Names are resolved against the schemas of the visible buckets alone, so a bucket that exists but is not granted reads
like one that does not exist.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.assumptions import Assumption
from agent.decomposition import QuestionContext
from agent.errors import UnusableToolCall
from agent.retrieval.session import RetrievalSession
from agent.tools.collected_evidence import CollectedEvidence
from agent.tools.document_fields import shorten_name
from agent.tools.tool_filters import FilterLinker, ToolFilter
from storage.search.conditions import (
    DOC_ID_FIELD,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    conjunction_of,
)
from storage.search.ids import BucketId, DocId
from storage.search.plan import Clause, Search
from storage.search.schema import Schema

_MAX_SHOWN_BUCKETS = 40


@dataclass(slots=True, kw_only=True)
class ToolAccess:
    """Read-only access to the documents in scope, for one call. `notes` and `assumptions` are about its filters."""

    session: RetrievalSession
    question_context: QuestionContext
    linker: FilterLinker
    evidence: CollectedEvidence
    has_searched_documents: bool = False  # an earlier call has
    notes: tuple[str, ...] = ()
    assumptions: tuple[Assumption, ...] = ()

    def find_schema(self, bucket: str) -> Schema:
        """Raises `UnusableToolCall` for a bucket that is not visible."""
        schemas = self.question_context.schemas
        name = bucket.strip()
        if name in schemas:
            return schemas[BucketId(name)]
        by_label = [schema for schema in schemas.values() if schema.label.casefold() == name.casefold()]
        if len(by_label) == 1:
            return by_label[0]
        shown = ", ".join(list(schemas)[:_MAX_SHOWN_BUCKETS])
        raise UnusableToolCall(f"There is no bucket {shorten_name(bucket)}. The buckets are: {shown}.")

    def build_search(self, schema: Schema, filters: Sequence[ToolFilter], doc_id: str = "", query: str = "") -> Search:
        """Returns the set of the documents of the bucket that meet all filters. Raises `UnusableToolCall`."""
        linked = self.linker.link_filters(schema.bucket, filters)
        if linked.problems:
            raise UnusableToolCall(f"{'. '.join(linked.problems)}.")
        self.notes, self.assumptions = linked.notes, linked.assumptions
        conditions: list[Condition] = [linked.condition]
        if doc_id.strip():
            conditions.append(document_condition(self.find_document_id(doc_id)))
        clause = Clause(bucket=schema.bucket, condition=conjunction_of(*conditions))
        return Search(clauses=(clause,), ranking_text=query)

    def find_document_id(self, written_id: str) -> DocId:
        """Returns the id that the text is, or that of the document of the evidence that it names."""
        return self.evidence.document_of(written_id) or DocId(written_id.strip())


def document_condition(doc_id: DocId) -> ComparisonCondition:
    return ComparisonCondition(field=DOC_ID_FIELD, op=ComparisonOperator.EQ, value=doc_id)
