"""Results of tools: the JSON of `parley ask --json`, and the same as text for a model."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any as Json

from mcp.types import CallToolResult, ContentBlock, ResourceLink, TextContent

from bot.programs.tool_reports import ToolReport
from bot.surface.replies import FilePart, TablePart
from bot.turns.turn_processor import FinishedTurn


def question_result_for(finished: FinishedTurn, evidence: Mapping[str, Json], *, shows_paths: bool) -> CallToolResult:
    """The result of a turn, with the summary of its evidence. A turn that failed is an error with its sentence.

    `shows_paths`: files are told by their paths; else by signed links, which are checked again at each use.
    """
    files = [part for part in finished.reply.parts if isinstance(part, FilePart)]
    places = "\n".join(f"{file.name}: {file.path if shows_paths else file.url}" for file in files)
    text = "\n\n".join(block for block in (*_describe_turn(finished), places) if block)
    content, result = list[ContentBlock]((TextContent(text=text),)), {**finished.result, "evidence": dict(evidence)}
    if not shows_paths:
        result["files"] = [{"name": file.name, "rows": file.rows, "path": None, "url": file.url} for file in files]
        content += [ResourceLink(uri=file.url, name=file.name, mime_type="text/csv") for file in files]
    return CallToolResult(content=content, structured_content=result, is_error=finished.error is not None)


def document_result_for(report: ToolReport) -> CallToolResult:
    """What a search tool found, as text and as JSON."""
    content: list[ContentBlock] = [TextContent(text=report.text)]
    return CallToolResult(content=content, structured_content=dict(report.fields))


def refusal_result_for(sentence: str) -> CallToolResult:
    content: list[ContentBlock] = [TextContent(text=sentence)]
    return CallToolResult(content=content, is_error=True)


def _describe_turn(finished: FinishedTurn) -> Iterator[str]:
    """Yields the reply with its tables, its sources, and how to pick a choice."""
    result = finished.result
    yield result["text"]
    yield from (_format_table(part) for part in finished.reply.parts if isinstance(part, TablePart))
    yield "\n".join(map(_describe_citation, result["citations"]))
    if result["choices"]:
        lines = [f"- choice {choice['id']}: {_describe_choice(choice)}" for choice in result["choices"]]
        heading = f"Choices of conversation {result['conversation']}; call agentic_search with both to pick one:"
        yield "\n".join((heading, *lines))
    elif result.get("error") is None:
        yield f"conversation: {result['conversation']}"


def _format_table(table: TablePart) -> str:
    """The table in Markdown, under its caption."""
    lines = [table.columns, ["---"] * len(table.columns), *table.rows]
    return "\n".join([*([table.caption] if table.caption else []), *map(_format_row, lines)])


def _format_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in cells)} |"


def _describe_citation(citation: Mapping[str, Json]) -> str:
    page = "" if citation["page"] is None else f", page {citation['page']}"
    return f"[{citation['marker']}] {citation['title']}{page}, doc_id {citation['doc_id']}"


def _describe_choice(choice: Mapping[str, Json]) -> str:
    return choice["label"] if choice["count"] is None else f"{choice['label']} · {choice['count']:,}"
