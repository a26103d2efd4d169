"""What a tool is: its arguments, how it runs, and what it returns."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from agent.tools.collected_evidence import CollectedNumbers, CollectedPassage, CollectedRecord
from agent.tools.tool_access import ToolAccess
from agent.tools.tool_arguments import ToolArguments
from storage.search.plan import ComputeNumbers, Search
from storage.search.schema import SchemaOrder

ArgumentsT = TypeVar("ArgumentsT", bound=ToolArguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageFindings:
    """The best passages of a set, best first."""

    search: Search
    set_count: int  # documents in the set
    passages: tuple[CollectedPassage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFindings:
    """The count of a set, and its first documents."""

    search: Search
    set_count: int
    records: tuple[CollectedRecord, ...]
    order: SchemaOrder | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberFindings:
    """Numbers over a whole set."""

    search: Search
    set_count: int
    answer_form: ComputeNumbers
    numbers: CollectedNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFindings:
    """One document."""

    search: Search
    record: CollectedRecord


ToolFindings: TypeAlias = PassageFindings | RecordFindings | NumberFindings | DocumentFindings


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool found, as values and as text for the model. `arguments` and `documents` are recorded."""

    findings: ToolFindings
    text: str
    arguments: Mapping[str, object]
    documents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentTool(Generic[ArgumentsT]):
    """A tool. `run` raises `UnusableToolCall` for arguments that name something that does not exist."""

    name: str
    description: str
    arguments_type: type[ArgumentsT]
    run: Callable[[ArgumentsT, ToolAccess], Awaitable[ToolResult]]
