"""`search_web`: passages of public web pages, for a question that the documents do not answer."""

from collections.abc import Sequence
from typing import Final

from agent.errors import UnusableToolCall
from agent.tools.collected_evidence import CollectedPassage
from agent.tools.excerpts import delimit_text, join_lines
from agent.tools.tool_access import ToolAccess
from agent.tools.tool_arguments import WebSearchArguments
from agent.tools.tool_protocol import DocumentTool, PassageFindings, ToolResult
from prompts.data_texts import quote_value
from storage.search.plan import unfiltered_search_of

_MAX_PASSAGE_CHARACTERS: Final = 1_000


async def _search_web(arguments: WebSearchArguments, access: ToolAccess) -> ToolResult:
    web_search = access.session.context.web_search
    if web_search is None:
        raise UnusableToolCall("The web may not be searched.")
    if not access.has_searched_documents:
        raise UnusableToolCall("Search the documents first: the web is for what they do not answer.")
    found = await web_search.find_passages(arguments.query)
    passages = tuple(access.evidence.add_passage(passage) for passage in found)
    page_count = len({passage.hit.doc_id for passage in found})
    # The pages are in no index of documents, so that the search is one of their bucket without conditions
    search = unfiltered_search_of(*dict.fromkeys(passage.hit.bucket for passage in found))
    return ToolResult(
        findings=PassageFindings(search=search, set_count=page_count, passages=passages),
        text=join_lines(_describe_pages(passages, page_count)),
        arguments={},
        documents=page_count,
    )


def _describe_pages(passages: Sequence[CollectedPassage], page_count: int) -> list[str]:
    if not passages:
        return ["No page of the web was found for these words."]
    lines = [f"{page_count} pages of the web were read. Their best {len(passages)} passages:"]
    for item in passages:
        hit = item.passage.hit
        place = f"[{item.id}] {quote_value(hit.title)}, from the web: {quote_value(hit.source)}"
        lines.append(f"{place}\n{delimit_text(hit.text[:_MAX_PASSAGE_CHARACTERS])}")
    return lines


SEARCH_WEB = DocumentTool(
    name="search_web",
    description="Finds passages of public web pages, for what the documents do not say. Only after they were searched.",
    arguments_type=WebSearchArguments,
    run=_search_web,
)
