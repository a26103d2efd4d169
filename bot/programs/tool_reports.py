"""The search tools that other programs are offered, and what one of them found."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any as Json
from typing import Final

OFFERED_TOOLS: Final = ("search_text", "annotations_search", "annotations_aggregate", "get_document_metadata")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReport:
    """What a tool found: as text for a model, and as JSON in the words of a result."""

    text: str
    fields: Mapping[str, Json]
