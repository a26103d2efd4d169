"""The search tools that other programs are offered, and what one of them found."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any as Json
from typing import Final

from agent.outcome import FoundPassage
from bot.conversation.json_result import JsonObject, hit_to_json
from storage.ingest.pages.markdown import format_code_block, to_single_line

OFFERED_TOOLS: Final = (
    "search_text",
    "search_semantic",
    "annotations_search",
    "annotations_aggregate",
    "get_document_metadata",
)
SEMANTIC_TOOL: Final = "search_semantic"  # offered only where there are vectors to search by


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeReport:
    """The blocks of code that a query found, best first."""

    query: str
    passages: tuple[FoundPassage, ...]

    def to_tool_report(self) -> "ToolReport":
        fields: JsonObject = {
            "query": self.query,
            "outcome": "answer" if self.passages else "nothing_found",
            "hits": [
                hit_to_json(passage, (self.query,))
                | {"bucket": passage.hit.bucket, "title": passage.hit.title, "source": passage.hit.source}
                for passage in self.passages
            ],
        }
        return ToolReport(text=self.to_text(), fields=fields)

    def to_text(self) -> str:
        """The blocks in Markdown, each below its place."""
        if not self.passages:
            return "No block of code was found. Only documents with blocks of code are searched."
        return "\n\n".join(
            "\n".join(
                (
                    f"[{number}] {describe_code_place(passage)}",
                    *format_code_block(passage.hit.text, passage.code_language or ""),
                )
            )
            for number, passage in enumerate(self.passages, start=1)
        )


def describe_code_place(passage: FoundPassage) -> str:
    """The title and page of a document, on one line, with the address that citations lead to."""
    hit = passage.hit
    page = f", page {hit.page}" if hit.page is not None else ""
    return to_single_line(f"{hit.title}{page}{f' ({hit.source})' if hit.source else ''}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReport:
    """What a tool found: as text for a model, and as JSON in the words of a result."""

    text: str
    fields: Mapping[str, Json]
