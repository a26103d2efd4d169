"""The tools of one turn: defines them for a model, executes its calls within the budget, and keeps the results."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any as Json
from typing import cast

from pydantic import ValidationError

from agent.assumptions import Assumption
from agent.decomposition import QuestionContext
from agent.errors import UnusableToolCall
from agent.gateway.messages import ToolCall, ToolDefinition
from agent.outcome import SearchAttempt
from agent.retrieval.session import RetrievalSession
from agent.tools.annotations_aggregate import ANNOTATIONS_AGGREGATE
from agent.tools.annotations_search import ANNOTATIONS_SEARCH
from agent.tools.collected_evidence import CollectedEvidence
from agent.tools.document_fields import shorten_name
from agent.tools.document_metadata import GET_DOCUMENT_METADATA
from agent.tools.search_passages import SEARCH_SEMANTIC, SEARCH_TEXT
from agent.tools.tool_access import ToolAccess
from agent.tools.tool_arguments import ToolArguments
from agent.tools.tool_budget import ToolBudget
from agent.tools.tool_definitions import define_open_tool, define_tool
from agent.tools.tool_filters import FilterLinker
from agent.tools.tool_protocol import DocumentTool, ToolFindings, ToolResult
from agent.web_search.search_tool import SEARCH_WEB
from storage.search.codec import search_to_json
from storage.search.errors import InvalidCondition, NotInScope

MAX_ARGUMENT_CHARACTERS = 20_000  # of one call
_MAX_ERRORS = 3  # shown for one call
_MAX_ERROR_CHARACTERS = 200
_TOOLS: Mapping[str, DocumentTool[ToolArguments]] = {
    tool.name: cast(DocumentTool[ToolArguments], tool)
    for tool in (SEARCH_TEXT, SEARCH_SEMANTIC, ANNOTATIONS_SEARCH, ANNOTATIONS_AGGREGATE, GET_DOCUMENT_METADATA)
}
_WEB_TOOL = cast(DocumentTool[ToolArguments], SEARCH_WEB)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedCall:
    """A call that ran: its id for the model (`c1`), its tool, and what it found."""

    id: str
    tool: str
    findings: ToolFindings
    assumptions: tuple[Assumption, ...] = ()  # made about its filters


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """The text for the model, and the executed call; None if it was refused or could not be executed."""

    text: str
    executed: ExecutedCall | None


def open_tool_definitions() -> tuple[ToolDefinition, ...]:
    """Returns the definitions for programs, without the web: arguments with a default may be left out."""
    return tuple(define_open_tool(tool.name, tool.description, tool.arguments_type) for tool in _TOOLS.values())


@dataclass(slots=True, kw_only=True)
class ToolExecutor:
    """Executes the calls of a model, in the scope of the session. Raises only `IndexUnavailable` and its kinds."""

    session: RetrievalSession
    question_context: QuestionContext
    linker: FilterLinker
    budget: ToolBudget = field(default_factory=ToolBudget)
    evidence: CollectedEvidence = field(default_factory=CollectedEvidence)
    executed_calls: dict[str, ExecutedCall] = field(default_factory=dict[str, ExecutedCall])

    @property
    def tools(self) -> Mapping[str, DocumentTool[ToolArguments]]:
        """The tools by name. The web is searched only where the context allows it."""
        return _TOOLS if self.session.context.web_search is None else {**_TOOLS, _WEB_TOOL.name: _WEB_TOOL}

    def define_tools(self) -> tuple[ToolDefinition, ...]:
        """Returns the definitions of the tools, for a request to a model."""
        return tuple(define_tool(tool.name, tool.description, tool.arguments_type) for tool in self.tools.values())

    async def run_call(self, call: ToolCall) -> ToolOutcome:
        """Executes a call, or says why not. Every call counts, whatever becomes of it."""
        if not self.budget.spend_call():
            return _refuse("No calls of tools are left. Answer with what you have.")
        try:
            executed, result = await self.execute_call(call)
        except UnusableToolCall as exc:
            return _refuse(f"Not executed. {exc} {self._remaining_text}")
        header = f"Result of call {executed.id} ({executed.tool}). {self._remaining_text}"
        return ToolOutcome(text=f"{header}\n{result.text}", executed=executed)

    @property
    def _remaining_text(self) -> str:
        return f"Calls left: {self.budget.remaining_calls}."

    async def execute_call(self, call: ToolCall) -> tuple[ExecutedCall, ToolResult]:
        """Executes a call beside the budget. Raises `UnusableToolCall` with the reason, and what `run_call` raises."""
        tool = _find_tool(call.name, self.tools)
        arguments = _parse_arguments(call.arguments, tool)
        asked = arguments.model_dump(mode="json")
        earlier = self.budget.find_earlier_call(tool.name, asked)
        if earlier is not None:
            raise UnusableToolCall(f"It repeats call {earlier}, whose result you have. Search for something else.")
        access = ToolAccess(
            session=self.session,
            question_context=self.question_context,
            linker=self.linker,
            evidence=self.evidence,
            has_searched_documents=any(executed.tool in _TOOLS for executed in self.executed_calls.values()),
        )
        started = time.perf_counter()
        try:
            result = await tool.run(arguments, access)
        except NotInScope as exc:
            raise UnusableToolCall("That bucket is not there any more.") from exc
        except InvalidCondition as exc:
            raise UnusableToolCall(f"{str(exc)[:_MAX_ERROR_CHARACTERS]}.") from exc
        executed = ExecutedCall(
            id=f"c{len(self.executed_calls) + 1}",
            tool=tool.name,
            findings=result.findings,
            assumptions=access.assumptions,
        )
        self.executed_calls[executed.id] = executed
        self.budget.remember_call(tool.name, asked, executed.id)
        self._record_attempt(executed, result, asked, (time.perf_counter() - started) * 1000)
        return executed, replace(result, text="\n".join((*(f"Note: {note}." for note in access.notes), result.text)))

    def _record_attempt(self, executed: ExecutedCall, result: ToolResult, asked: Mapping[str, Json], ms: float) -> None:
        """Records the call with the arguments of the model; `filters` are those that it was understood to mean."""
        arguments: dict[str, object] = {**asked, **result.arguments, "call": executed.id}
        arguments["written_filters"] = asked.get("filters", [])
        arguments["filters"] = search_to_json(result.findings.search)["clauses"]
        self.session.record_attempt(
            SearchAttempt(tool=executed.tool, arguments=arguments, documents=result.documents, ms=round(ms, 2))
        )


def _refuse(text: str) -> ToolOutcome:
    return ToolOutcome(text=text, executed=None)


def _find_tool(name: str, tools: Mapping[str, DocumentTool[ToolArguments]]) -> DocumentTool[ToolArguments]:
    tool = tools.get(name.strip())
    if tool is None:
        raise UnusableToolCall(f"There is no tool {shorten_name(name)}. The tools are: {', '.join(tools)}.")
    return tool


def _parse_arguments(arguments: str, tool: DocumentTool[ToolArguments]) -> ToolArguments:
    if len(arguments) > MAX_ARGUMENT_CHARACTERS:
        raise UnusableToolCall(f"The arguments are longer than {MAX_ARGUMENT_CHARACTERS} characters.")
    try:
        return tool.arguments_type.model_validate_json(arguments.strip() or "{}")
    except ValidationError as exc:
        known = ", ".join(tool.arguments_type.model_fields)
        raise UnusableToolCall(f"{describe_errors(exc)} The arguments of {tool.name} are: {known}.") from exc


def describe_errors(error: ValidationError) -> str:
    """Returns the first errors in a few words each, without the values that were written."""
    errors: Sequence[Mapping[str, Json]] = error.errors(include_url=False, include_input=False, include_context=False)
    described = [
        f"{'.'.join(map(str, entry['loc'])) or 'the arguments'}: {entry['msg']}"[:_MAX_ERROR_CHARACTERS]
        for entry in errors[:_MAX_ERRORS]
    ]
    return "; ".join(described) + "."
