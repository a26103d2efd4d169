"""The protocol of a search of the web during a question, for tools of a model."""

from typing import Protocol

from agent.outcome import FoundPassage


class WebPassageSearch(Protocol):
    """Searches public pages for one question. What it finds is data from outside."""

    async def find_passages(self, query: str) -> tuple[FoundPassage, ...]:
        """Returns passages of pages that were found for the query, best first; the URL of a page is its source.

        Only words that the person has written are sent to the search server: all others are left out. Raises
        `UnusableToolCall` with the reason, for a query without such words, and where the web cannot be searched.
        """
        ...
