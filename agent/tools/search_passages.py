"""`search_text` and `search_semantic`: the best passages of a set, by their words or by their meaning."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent.errors import UnusableToolCall
from agent.outcome import FoundPassage
from agent.retrieval.code.code_passages import find_code_passages
from agent.retrieval.code.code_query import read_code_query
from agent.retrieval.fusion import RERANKED_PASSAGES, fuse_hits, matchers_by_bucket, rerank_passages, weigh_terms
from agent.retrieval.leg_requests import word_count_request
from agent.retrieval.ranking_terms import RankingTerms, ranking_terms_for
from agent.retrieval.relevance import QueryTerm
from agent.tools.collected_evidence import CollectedPassage
from agent.tools.empty_sets import explain_empty_set
from agent.tools.excerpts import delimit_text, excerpt_of
from agent.tools.tool_access import ToolAccess
from agent.tools.tool_arguments import PassageSearchArguments, TextSearchArguments
from agent.tools.tool_protocol import DocumentTool, PassageFindings, ToolResult
from prompts.data_texts import quote_value
from storage.search.documents import Document
from storage.search.ids import DocId, LegId
from storage.search.index import (
    CountRequest,
    DocumentRequest,
    IndexAnswers,
    KeywordPassageRequest,
    OutlineRequest,
    PassageHit,
    SemanticPassageRequest,
)
from storage.search.plan import FindPassages, Leg, Search, unfiltered_search_of

_FETCHED_PASSAGES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class _PassageRequests:
    """One round trip: the passages, the documents about the subject, the size of the set, the weights of words."""

    collector: str
    passages: KeywordPassageRequest | SemanticPassageRequest
    outlines: OutlineRequest
    count: CountRequest
    word_counts: Mapping[str, CountRequest]
    ranking: RankingTerms

    def weigh_words(self, answers: IndexAnswers, total_documents: int) -> tuple[QueryTerm, ...]:
        stems = self.ranking.content_stems
        return weigh_terms(
            {word: (stem, answers[self.word_counts[word]]) for word, stem in stems.items()}, total_documents
        )


async def _search_by_words(arguments: TextSearchArguments, access: ToolAccess) -> ToolResult:
    search = _build_search(arguments, access)
    if arguments.code:
        return await _search_code(arguments, access, search)
    passages = KeywordPassageRequest(search, arguments.query, _FETCHED_PASSAGES)
    return await _search_passages(arguments, access, search, "text", passages)


async def _search_by_meaning(arguments: PassageSearchArguments, access: ToolAccess) -> ToolResult:
    search = _build_search(arguments, access)
    passages = SemanticPassageRequest(search, arguments.query, _FETCHED_PASSAGES)
    return await _search_passages(arguments, access, search, "semantic", passages)


async def _search_code(arguments: TextSearchArguments, access: ToolAccess, search: Search) -> ToolResult:
    count = CountRequest(search)
    answers = await access.session.ask_index((count,))
    found = await find_code_passages(
        access.session,
        search,
        read_code_query(arguments.query),
        access.question_context.analysers,
        max_characters=arguments.context_characters,
    )
    findings = PassageFindings(
        search=search,
        set_count=answers[count],
        passages=tuple(access.evidence.add_passage(passage) for passage in found[: arguments.passage_limit]),
    )
    return ToolResult(
        findings=findings,
        text=_describe_code(findings, arguments, access),
        arguments={"query": arguments.query, "top_k": arguments.passage_limit, "code": True},
        documents=len({passage.passage.hit.doc_id for passage in findings.passages}),
    )


def _describe_code(findings: PassageFindings, arguments: TextSearchArguments, access: ToolAccess) -> str:
    if not findings.set_count:
        return explain_empty_set(findings.search, access)
    in_set = f"{findings.set_count} documents of {findings.search.buckets[0]} meet the filters."
    if not findings.passages:
        return f"{in_set} No block of code of them was found for {quote_value(arguments.query)}."
    places = [f"{describe_place(item)}\n{delimit_text(item.passage.hit.text)}" for item in findings.passages]
    return "\n".join([f"{in_set} The best {len(findings.passages)} blocks of code of them:", *places])


def _build_search(arguments: PassageSearchArguments, access: ToolAccess) -> Search:
    schema = access.find_schema(arguments.bucket)
    if not arguments.query.strip():
        raise UnusableToolCall("The query is empty: say what the passages are about, or use annotations_search.")
    return access.build_search(schema, arguments.filters, arguments.doc_id, arguments.query)


async def _search_passages(
    arguments: PassageSearchArguments,
    access: ToolAccess,
    search: Search,
    collector: str,
    passage_request: KeywordPassageRequest | SemanticPassageRequest,
) -> ToolResult:
    context = access.question_context
    leg = Leg(id=LegId("tool"), question=arguments.query, search=search, answer_form=FindPassages())
    ranking, whole = ranking_terms_for(leg, context), unfiltered_search_of(*context.schemas)
    requests = _PassageRequests(
        collector=collector,
        passages=passage_request,
        outlines=OutlineRequest(search, arguments.query),
        count=CountRequest(search),
        word_counts={word: word_count_request(whole, word) for word in ranking.content_stems},
        ranking=ranking,
    )
    answers = await access.session.ask_index(
        (requests.passages, requests.outlines, requests.count, *requests.word_counts.values())
    )
    terms = requests.weigh_words(answers, context.vocabulary.total_document_count)
    ranked = await _rank_passages(requests, answers, terms, access)
    shown = await _add_context(ranked[: arguments.passage_limit], arguments.context_characters, access)
    findings = PassageFindings(
        search=search,
        set_count=answers[requests.count],
        passages=tuple(access.evidence.add_passage(passage) for passage in shown),
    )
    return ToolResult(
        findings=findings,
        text=_describe_passages(findings, arguments, terms, access),
        arguments={"query": arguments.query, "top_k": arguments.passage_limit},
        documents=len({passage.passage.hit.doc_id for passage in findings.passages}),
    )


async def _rank_passages(
    requests: _PassageRequests, answers: IndexAnswers, terms: Sequence[QueryTerm], access: ToolAccess
) -> list[FoundPassage]:
    fused = fuse_hits({requests.collector: answers[requests.passages]}, answers[requests.outlines])
    scores = await access.session.rerank_scores(requests.passages.text, fused[:RERANKED_PASSAGES])
    return rerank_passages(fused, terms, access.question_context.analysers, scores)


async def _add_context(passages: Sequence[FoundPassage], characters: int, access: ToolAccess) -> Sequence[FoundPassage]:
    """Returns the passages that are shorter than `characters` with the text of their documents around them."""
    short = [passage.hit for passage in passages if len(passage.hit.text) < characters]
    if not short:
        return passages
    fetch = DocumentRequest(tuple(dict.fromkeys(hit.doc_id for hit in short)))
    documents = {document.doc_id: document for document in (await access.session.ask_index((fetch,)))[fetch]}
    return [replace(passage, hit=_widen_hit(passage.hit, documents, characters)) for passage in passages]


def _widen_hit(hit: PassageHit, documents: Mapping[DocId, Document], characters: int) -> PassageHit:
    document = documents.get(hit.doc_id)
    missing = characters - len(hit.text)
    if document is None or missing <= 0 or document.text[hit.start : hit.end] != hit.text:
        return hit
    start = max(hit.start - missing // 2, 0)
    end = min(start + characters, len(document.text))
    start = max(end - characters, 0)
    return replace(hit, start=start, end=end, text=document.text[start:end])


def _describe_passages(
    findings: PassageFindings, arguments: PassageSearchArguments, terms: Sequence[QueryTerm], access: ToolAccess
) -> str:
    bucket = findings.search.buckets[0]
    if not findings.set_count:
        return explain_empty_set(findings.search, access)
    in_set = f"{findings.set_count} documents of {bucket} meet the filters."
    if not findings.passages:
        return f"{in_set} No passage of them was found for {quote_value(arguments.query)}."
    matchers = matchers_by_bucket(terms, access.question_context.analysers)
    lines = [f"{in_set} The best {len(findings.passages)} passages of them:"]
    for item in findings.passages:
        hit = item.passage.hit
        text = excerpt_of(hit.text, arguments.context_characters, terms, matchers[hit.bucket])
        lines.append(f"{describe_place(item)}\n{delimit_text(text)}")
    return "\n".join(lines)


def describe_place(item: CollectedPassage) -> str:
    """Returns the line above a passage: its id, title, page, the language of code, and document."""
    hit = item.passage.hit
    page = f", page {hit.page}" if hit.page is not None else ""
    language = item.passage.code_language
    code = "" if language is None else f", code in {quote_value(language)}" if language else ", code"
    return f"[{item.id}] {quote_value(hit.title)}{page}{code}, doc_id {quote_value(hit.doc_id)}"


SEARCH_TEXT = DocumentTool(
    name="search_text",
    description="Finds the passages of a bucket that contain the words of a query. For names, numbers, exact terms.",
    arguments_type=TextSearchArguments,
    run=_search_by_words,
)
SEARCH_SEMANTIC = DocumentTool(
    name="search_semantic",
    description="Finds the passages of a bucket that are near a query in meaning, also in other words.",
    arguments_type=PassageSearchArguments,
    run=_search_by_meaning,
)
