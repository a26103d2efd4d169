"""Summaries: an outline of one document, or a sentence or two for each of several."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.evidence.whole_rows import WholeRow, read_whole_row
from agent.forms.clarifications import ask_to_narrow, report_nothing_found
from agent.forms.form_handler import FormHandler
from agent.limits import SHOWN_DOCUMENTS
from agent.outcome import OutcomeKind, SearchRoute
from agent.retrieval.fusion import fuse_hits
from agent.retrieval.key_sentences import KeySentence, key_sentences_of
from agent.retrieval.leg_requests import FETCHED_PASSAGES, LegInquiry, LegRequests, hits_by_collector
from agent.retrieval.quotations import CitedQuote, quote_beginning_of
from agent.review.leg_review import (
    Enough,
    LegClarification,
    LegFacts,
    LegReview,
    assumptions_of,
    build_leg_result,
    document_ids_of,
    hits_by_document,
)
from storage.search.analyser import fold_text
from storage.search.documents import Document
from storage.search.ids import DocId
from storage.search.index import DocumentRecord, DocumentRequest, RecordPageRequest
from storage.search.plan import SummariseDocuments

_OUTLINE_SENTENCES = 6  # in the summary of one document
_BRIEF_SENTENCES = 2  # for each of several documents


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineFacts(LegFacts):
    """The outline of one document: its record, and its key sentences."""

    record: DocumentRecord
    document: Document
    sentences: tuple[KeySentence, ...]
    summarised_count: int  # documents of the set that are summarised
    is_for_question: bool = False  # the sentences are those nearest to the question
    row: WholeRow | None = None  # shown instead of the sentences

    @property
    def quotes(self) -> tuple[CitedQuote, ...]:
        if self.row is not None:
            return (self.row.quote,)
        return tuple(CitedQuote(document=self.document, quote=sentence.quote) for sentence in self.sentences)


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefSummary:
    """One or two key sentences of a document; empty if no line reads as a sentence."""

    document: Document
    sentences: tuple[KeySentence, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SummariesFacts(LegFacts):
    """The summaries of several documents."""

    summaries: tuple[BriefSummary, ...]
    summarised_count: int  # documents of the set that are summarised


def _build_requests(_: SummariseDocuments, inquiry: LegInquiry) -> LegRequests:
    return replace(
        inquiry.request_set(),
        record_page=RecordPageRequest(inquiry.leg.search, limit=inquiry.limits.read_documents + 1),
        facets=inquiry.request_facets(),
        passage_requests=inquiry.rank_passages(FETCHED_PASSAGES),
    )


async def decide_summary(_: SummariseDocuments, review: LegReview) -> Enough | LegClarification:
    count, limits = review.count, review.session.context.limits
    if count == 0:
        return report_nothing_found(review)
    if count > limits.read_documents and review.may_ask_back:
        return ask_to_narrow(review, limits.read_documents)
    records = _records_to_summarise(review)
    fetch = DocumentRequest(document_ids_of(records))
    documents = (await review.session.ask_index((fetch,)))[fetch]
    return Enough(
        result=replace(
            build_leg_result(review, OutcomeKind.ANSWER, count),
            doc_ids=document_ids_of(records),
            records=tuple(records[:SHOWN_DOCUMENTS]),
        ),
        facts=_summarise(records, documents, review),
        hits=hits_by_document(review),
        assumptions=assumptions_of(review),
        route=SearchRoute.LONG_TEXT,
    )


def _summarise(
    records: Sequence[DocumentRecord], documents: Sequence[Document], review: LegReview
) -> OutlineFacts | SummariesFacts:
    topic_words = _topic_words_of(review)
    if len(documents) == 1:
        return OutlineFacts(
            record=records[0],
            document=documents[0],
            sentences=tuple(key_sentences_of(documents[0], _OUTLINE_SENTENCES, topic_words)),
            summarised_count=len(records),
            row=read_whole_row(documents[0], review.question_context.schemas[records[0].bucket]),
        )
    summaries = (
        BriefSummary(document=document, sentences=tuple(key_sentences_of(document, _BRIEF_SENTENCES, topic_words)))
        for document in documents
    )
    return SummariesFacts(summaries=tuple(summaries), summarised_count=len(records))


def quotes_of_summary(summary: BriefSummary) -> tuple[CitedQuote, ...]:
    quotes = tuple(CitedQuote(document=summary.document, quote=sentence.quote) for sentence in summary.sentences)
    if quotes or not summary.document.passages:
        return quotes
    return (CitedQuote(document=summary.document, quote=quote_beginning_of(summary.document)),)


def _records_to_summarise(review: LegReview) -> list[DocumentRecord]:
    """Returns the whole set, or the best-ranked documents of a set that is too large."""
    records, limit = list(review.records), review.session.context.limits.read_documents
    if review.count <= limit:
        return records
    record_by_id = {record.doc_id: record for record in records}
    best: dict[DocId, DocumentRecord] = {}
    for passage in fuse_hits(hits_by_collector(review.requests.passage_requests, review.answers)):
        hit = passage.hit
        bare = DocumentRecord(doc_id=hit.doc_id, bucket=hit.bucket, title=hit.title, source=hit.source, values={})
        best.setdefault(hit.doc_id, record_by_id.get(hit.doc_id, bare))
    others = {record.doc_id: record for record in records if record.doc_id not in best}
    return list((best | others).values())[:limit]


def _topic_words_of(review: LegReview) -> set[str]:
    """Returns the words that the summary must be about, folded."""
    required = " ".join(word for clause in review.leg.search.clauses for word in clause.required_terms)
    return set(fold_text(required).split())


HANDLER = FormHandler(answer_form=SummariseDocuments, build_requests=_build_requests, decide=decide_summary)
