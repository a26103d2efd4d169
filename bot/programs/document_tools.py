"""The search tools of the model path, for other programs: one call each, in the scope of the caller."""

import json
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from datetime import datetime
from typing import Any as Json
from typing import Final, assert_never

from agent.context import AgentContext
from agent.errors import UnusableToolCall
from agent.evidence.word_meanings import TextEmbedder
from agent.gateway.messages import ToolCall, ToolDefinition
from agent.loop import load_question_context
from agent.model.linking.tool_filter_linking import ToolFilterLinker
from agent.retrieval.code.code_passages import find_code_passages
from agent.retrieval.code.code_query import read_code_query
from agent.retrieval.relevance import Reranker
from agent.retrieval.session import RetrievalSession
from agent.rules.reasoner import RuleReasoner
from agent.tools.tool_executor import ToolExecutor, open_tool_definitions
from agent.tools.tool_protocol import (
    DocumentFindings,
    NumberFindings,
    PassageFindings,
    RecordFindings,
    ToolFindings,
)
from bot.access.audience_scope import AccessResolver
from bot.conversation.json_result import (
    JsonObject,
    arguments_to_json,
    figure_to_json,
    flatten_condition,
    group_to_json,
    hit_to_json,
)
from bot.errors import InvalidCall
from bot.programs.callers import ProgramCaller
from bot.programs.failures import plain_failures
from bot.programs.tool_reports import OFFERED_TOOLS, SEMANTIC_TOOL, CodeReport, ToolReport
from storage.search.bucket_parts import with_parts
from storage.search.ids import BucketId
from storage.search.index import DocumentRecord, SearchIndex
from storage.search.plan import unfiltered_search_of

_CODE_CHARACTERS: Final = 1_500  # of a block of code that is shown
_DOCUMENT_TEXTS: Final = {  # a program's calls are each on their own, so no earlier evidence has an id
    "search_text": "Only this document, by its doc_id. Empty: all documents.",
    "search_semantic": "Only this document, by its doc_id. Empty: all documents.",
    "annotations_search": "Only this document, by its doc_id. Empty: all documents.",
    "get_document_metadata": "The doc_id of a document of the bucket.",
}


class DocumentTools:
    """Runs single tools. `load_rules` is called at the first call and returns the same object each time."""

    def __init__(
        self,
        *,
        index: SearchIndex,
        access: AccessResolver,
        load_rules: Callable[[], RuleReasoner],
        now: Callable[[], datetime],
        reranker: Reranker | None,
        embedder: TextEmbedder | None,
        uses_index_cosines: bool,
    ) -> None:
        self._index, self._access, self._load_rules, self._now = index, access, load_rules, now
        self._reranker, self._embedder, self._uses_index_cosines = reranker, embedder, uses_index_cosines
        self._offered = tuple(name for name in OFFERED_TOOLS if embedder is not None or name != SEMANTIC_TOOL)

    def describe_tools(self) -> tuple[ToolDefinition, ...]:
        """The tools that are offered; without an embedder, not the search by meaning."""
        return tuple(map(_for_program, (tool for tool in open_tool_definitions() if tool.name in self._offered)))

    async def run_tool(self, name: str, arguments: Mapping[str, Json], caller: ProgramCaller) -> ToolReport:
        """Runs a tool for what the caller may see now.

        Raises `InvalidCall` for arguments that are wrong, or that name what is not visible; `ProgramCallFailed`.
        """
        if name not in self._offered:
            raise InvalidCall(f"There is no such tool. The tools are: {', '.join(self._offered)}.")
        with plain_failures():
            executor = await self._open_executor(caller)
            try:
                call = ToolCall(id="1", name=name, arguments=json.dumps(dict(arguments)))
                executed, result = await executor.execute_call(call)
            except UnusableToolCall as exc:
                raise InvalidCall(str(exc)) from exc
            return ToolReport(text=result.text, fields=_findings_to_json(executed.findings))

    async def search_code(self, query: str, *, buckets: Sequence[str], limit: int, caller: ProgramCaller) -> CodeReport:
        """Finds blocks of code in these buckets, or in all that the caller may see now.

        Raises `InvalidCall` for a bucket that is not visible, or a query without words; `ProgramCallFailed`.
        """
        with plain_failures():
            executor = await self._open_executor(caller)
            context = executor.question_context
            members = {name: with_parts([BucketId(name)], context.schemas) & context.schemas.keys() for name in buckets}
            if unknown := [name for name, found in members.items() if not found]:
                raise InvalidCall(f"There is no bucket {unknown[0]!r}. The buckets are: {', '.join(context.schemas)}.")
            code_query = read_code_query(query)
            if not code_query.terms:
                raise InvalidCall("Name an identifier, or words of it, such as parseConfig or parse_config.")
            found = await find_code_passages(
                executor.session,
                unfiltered_search_of(*sorted(frozenset[BucketId]().union(*members.values()) or context.schemas)),
                code_query,
                context.analysers,
                max_characters=_CODE_CHARACTERS,
            )
            return CodeReport(query=query, passages=found[:limit])

    async def _open_executor(self, caller: ProgramCaller) -> ToolExecutor:
        """Raises `InvalidCall` where the caller may see no bucket."""
        scope = await self._access.scope_for_audience(caller.audience)
        await self._access.require_complete_buckets(scope)
        rules = self._load_rules()
        context = AgentContext(
            index=self._index.within_scope(scope),
            reasoner=rules,
            reranker=self._reranker,
            embedder=self._embedder,
            uses_index_cosines=self._uses_index_cosines,
            now=self._now(),
        )
        question_context = await load_question_context(context)
        if not question_context.schemas:
            raise InvalidCall("There is no bucket that you may see.")
        linker = ToolFilterLinker(
            lexicons=rules.lexicons_for(question_context), question="", today=question_context.now.date()
        )
        session = RetrievalSession(context, rules.name)
        return ToolExecutor(session=session, question_context=question_context, linker=linker)


def record_to_json(record: DocumentRecord) -> JsonObject:
    """A document with those of its values that were asked for."""
    return {
        "doc_id": record.doc_id,
        "bucket": record.bucket,
        "title": record.title,
        "source": record.source,
        "values": arguments_to_json({str(name): value for name, value in record.values.items()}),
    }


def _for_program(tool: ToolDefinition) -> ToolDefinition:
    parameters = deepcopy(dict(tool.parameters))
    if tool.name in _DOCUMENT_TEXTS:
        parameters["properties"]["doc_id"]["description"] = _DOCUMENT_TEXTS[tool.name]
    return ToolDefinition(name=tool.name, description=tool.description, parameters=parameters)


def _findings_to_json(findings: ToolFindings) -> JsonObject:
    """The keys of a result, and `documents` for records."""
    clause = findings.search.clauses[0]
    fields: JsonObject = {"bucket": clause.bucket, "filters": flatten_condition(clause.display_condition)}
    match findings:
        case PassageFindings(set_count=count, passages=passages):
            query = findings.search.ranking_text
            return fields | {
                "count": count,
                "hits": [hit_to_json(item.passage, (query,)) | {"title": item.passage.hit.title} for item in passages],
            }
        case RecordFindings(set_count=count, records=records):
            return fields | {"count": count, "documents": [record_to_json(item.record) for item in records]}
        case NumberFindings(set_count=count, numbers=numbers):
            return fields | {
                "count": count,
                "values": list(map(figure_to_json, numbers.figures)),
                "groups": list(map(group_to_json, numbers.groups)),
            }
        case DocumentFindings(record=record):
            return fields | {"count": 1, "documents": [record_to_json(record.record)]}
        case _:
            assert_never(findings)
