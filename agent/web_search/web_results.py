"""What a web search returns: URLs with a title and a snippet, all of it data from outside."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WebResult:
    """A URL that a search server found. `title` and `snippet` are raw text."""

    url: str
    title: str
    snippet: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedUrl:
    """A result with its score (0 to 1) and the reason in words."""

    result: WebResult
    score: float
    reason: str
