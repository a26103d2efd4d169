"""A list of documents: the whole set, its first documents, or the next ones after those already shown."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.evidence.whole_rows import WholeRow, name_references, read_whole_row
from agent.forms.clarifications import (
    ask_to_narrow,
    ask_which_reading,
    missing_candidates,
    report_nothing_found,
    wider_reading_candidates,
)
from agent.forms.first_by_currency import first_records_by_currency
from agent.forms.form_handler import FormHandler
from agent.limits import SHOWN_DOCUMENTS
from agent.outcome import FoundPassage, OutcomeKind
from agent.refine import facets, relaxations
from agent.refine.candidates import RefinementCandidate
from agent.refine.facets import FacetSplit
from agent.refine.refinements import count_requests_for
from agent.retrieval.leg_requests import LegInquiry, LegRequests
from agent.retrieval.quotations import CitedQuote
from agent.retrieval.shown_documents import begins_as_shown, is_shown_list, shown_documents_of
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
from storage.search.conditions import ComparisonCondition, ComparisonOperator
from storage.search.documents import Document
from storage.search.ids import BucketId
from storage.search.index import CountRequest, DocumentRecord, DocumentRequest, PassageHit, RecordPageRequest
from storage.search.plan import ListDocuments
from storage.search.schema import SchemaField, SchemaOrder

_MAX_OTHER_BUCKETS = 3  # other buckets offered beside a list
_MAX_SKIPPED = 9_000  # documents that are read to show those after them


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFacts(LegFacts):
    """The first documents of a list."""

    answer_form: ListDocuments
    records: tuple[DocumentRecord, ...]
    total: int  # documents in the list
    order_field: SchemaField | None
    tie_count: int | None  # documents with the same value as the last one listed
    is_by_currency: bool  # holds the first documents of each currency
    split: FacetSplit | None  # the split behind the choices that narrow the list
    row: WholeRow | None = None  # of a list of one row of a table

    @property
    def quotes(self) -> tuple[CitedQuote, ...]:
        return () if self.row is None else (self.row.quote,)


@dataclass(frozen=True, slots=True, kw_only=True)
class NextDocumentsFacts(LegFacts):
    """The documents after those already shown; empty if all have been shown.

    `begins_anew`: the first documents of the list are others than those that were shown, so these are the first again.
    `earlier_total`: the documents of the set when it was shown, if they were more or fewer. `first_position` and
    `last_position` count from 1.
    """

    answer_form: ListDocuments
    records: tuple[DocumentRecord, ...]
    first_position: int
    last_position: int
    begins_anew: bool = False
    earlier_total: int | None = None


def _build_requests(answer_form: ListDocuments, inquiry: LegInquiry) -> LegRequests:
    search, limits = inquiry.leg.search, inquiry.limits
    whole = limits.overload_documents if inquiry.may_ask_back else limits.reported_documents
    shown_count = answer_form.shown.count if answer_form.shown is not None and answer_form.skip else 0
    size = max(answer_form.skip, shown_count) + (answer_form.limit + 1 if answer_form.limit else whole)
    page_size = min(size, max(limits.reported_documents, SHOWN_DOCUMENTS, _MAX_SKIPPED if answer_form.skip else 0))
    return replace(
        inquiry.request_set(),
        record_page=RecordPageRequest(search, answer_form.order, limit=page_size),
        facets=inquiry.request_facets() if answer_form.limit is None else (),
        passage_requests=inquiry.rank_passages(limits.reported_hits),
    )


async def decide_list(answer_form: ListDocuments, review: LegReview) -> Enough | LegClarification:
    count, limits = review.count, review.session.context.limits
    if count == 0:
        return report_nothing_found(review)
    if (several_readings := ask_which_reading(review)) is not None:
        return several_readings
    if answer_form.skip:
        return await _show_next_documents(answer_form, review)
    if answer_form.limit is None and count > limits.overload_documents and review.may_ask_back:
        return ask_to_narrow(
            review, limits.overload_documents, is_list=limits.overload_documents > limits.read_documents
        )
    by_currency = await first_records_by_currency(answer_form, review)
    records = by_currency or review.records[: answer_form.limit]
    total = len(by_currency) or (min(count, answer_form.limit) if answer_form.limit else count)
    split, cells = _split_list(review, total)
    candidates = (
        *cells,
        *wider_reading_candidates(review),
        *missing_candidates(review),
        *_other_bucket_candidates(review),
    )
    review.session.ask_with_next(count_requests_for(review.leg, candidates))
    facts = ListFacts(
        answer_form=answer_form,
        records=records,
        total=total,
        order_field=_field_of_order(review, answer_form.order) if answer_form.order is not None else None,
        tie_count=None if by_currency else await _count_ties(answer_form, review),
        is_by_currency=bool(by_currency),
        split=split if cells else None,
        row=await _load_row(records[0], review) if total == 1 and answer_form.order is None else None,
    )
    return Enough(
        result=replace(
            build_leg_result(review, OutcomeKind.ANSWER, total),
            doc_ids=document_ids_of(records)[: limits.reported_documents],
            records=records[:SHOWN_DOCUMENTS],
        ),
        facts=facts,
        shown_form=None if by_currency else _form_with_shown(answer_form, review, len(records[:SHOWN_DOCUMENTS])),
        hits=await _load_passage_by_document(review, records),
        candidates=candidates,
        export_count=count if total > SHOWN_DOCUMENTS else None,
        assumptions=assumptions_of(review),
    )


async def _load_row(record: DocumentRecord, review: LegReview) -> WholeRow | None:
    fetch, schemas = DocumentRequest((record.doc_id,)), review.question_context.schemas
    documents = (await review.session.ask_index((fetch,)))[fetch]
    row = read_whole_row(documents[0], schemas[record.bucket]) if documents else None
    return row and await name_references(row, review.session, schemas, schemas[record.bucket])


def _split_list(review: LegReview, total: int) -> tuple[FacetSplit | None, list[RefinementCandidate]]:
    if total <= SHOWN_DOCUMENTS or not review.requests.facets:
        return None, []
    return facets.choose_best_facet(review.leg, review.answers, review.requests.facets, review.question_context.schemas)


def _field_of_order(review: LegReview, order: SchemaOrder) -> SchemaField | None:
    fields = (review.question_context.schemas[bucket].by_name.get(order.field) for bucket in review.leg.search.buckets)
    return next(filter(None, fields), None)


async def _count_ties(answer_form: ListDocuments, review: LegReview) -> int | None:
    """Counts the documents with the value of the last one listed, if the limit leaves some of them out; else None."""
    records = review.records
    if answer_form.order is None or answer_form.limit is None or len(records) <= answer_form.limit:
        return None
    last, beyond = (
        records[position].values.get(answer_form.order.field) for position in (answer_form.limit - 1, answer_form.limit)
    )
    field = _field_of_order(review, answer_form.order)
    if field is None or last is None or isinstance(last, tuple) or last != beyond:
        return None
    same_value = ComparisonCondition(field=field.name, op=ComparisonOperator.EQ, value=last)
    ties = CountRequest(review.leg.search.with_condition(same_value))
    return (await review.session.ask_index((ties,)))[ties]


async def _show_next_documents(answer_form: ListDocuments, review: LegReview) -> Enough:
    """Answers with the documents of the set after those already shown.

    If others come first by now, the list begins again: going on would leave out some of them, or show some twice.
    """
    shown, page_size = answer_form.shown, min(answer_form.limit or SHOWN_DOCUMENTS, SHOWN_DOCUMENTS)
    begins_anew, earlier_total = False, None
    if shown is not None and is_shown_list(shown, review.leg.search, answer_form.order):
        begins_anew = not begins_as_shown(shown, review.records)
        earlier_total = shown.total if shown.total != review.count else None
        answer_form = replace(answer_form, skip=0 if begins_anew else min(answer_form.skip, shown.count))
    records = review.records[answer_form.skip :][:page_size]
    return Enough(
        result=replace(
            build_leg_result(review, OutcomeKind.ANSWER, len(records)),
            doc_ids=document_ids_of(records),
            records=records,
        ),
        facts=NextDocumentsFacts(
            answer_form=answer_form,
            records=records,
            first_position=answer_form.skip + 1,
            last_position=answer_form.skip + len(records),
            begins_anew=begins_anew,
            earlier_total=earlier_total,
        ),
        shown_form=_form_with_shown(answer_form, review, answer_form.skip + len(records)),
        hits=await _load_passage_by_document(review, records),
        export_count=review.count,
        assumptions=assumptions_of(review),
    )


def _form_with_shown(answer_form: ListDocuments, review: LegReview, shown_count: int) -> ListDocuments:
    shown = shown_documents_of(review.leg.search, answer_form.order, review.records[:shown_count], review.count)
    return replace(answer_form, shown=shown)


async def _load_passage_by_document(review: LegReview, records: Sequence[DocumentRecord]) -> tuple[FoundPassage, ...]:
    """Returns the best passage of each document, or its first passage if the question matches none."""
    passages = hits_by_document(review)
    ranked = {passage.hit.doc_id for passage in passages}
    limit = review.session.context.limits.reported_hits
    unranked = [record.doc_id for record in records[:limit] if record.doc_id not in ranked]
    ids_to_load = unranked[: max(limit - len(passages), 0)]
    if not ids_to_load:
        return passages
    fetch = DocumentRequest(tuple(ids_to_load))
    documents = (await review.session.ask_index((fetch,)))[fetch]
    buckets = {record.doc_id: record.bucket for record in records}
    first_passages = (
        _first_passage_of(document, buckets[document.doc_id]) for document in documents if document.passages
    )
    return (*passages, *first_passages)


def _first_passage_of(document: Document, bucket: BucketId) -> FoundPassage:
    passage = document.passages[0]
    hit = PassageHit(
        doc_id=document.doc_id, bucket=bucket, chunk_id=document.chunk_id_at(0), title=document.title,
        source=document.source, page=passage.page, start=passage.start, end=passage.end,
        text=document.text[passage.start : passage.end], score=0.0,
    )  # fmt: skip
    return FoundPassage(hit=hit, score=0.0, found_by=("annotations",))


def _other_bucket_candidates(review: LegReview) -> list[RefinementCandidate]:
    """Offers other buckets with matching documents, unless the question names its bucket."""
    question = fold_text(review.leg.question)
    schemas = [review.question_context.schemas[bucket] for bucket in review.leg.search.buckets]
    nouns = [fold_text(noun) for schema in schemas for noun in (schema.label, schema.bucket, *schema.synonyms)]
    if any(noun in question for noun in nouns if noun) or not review.may_ask_back:
        return []
    offered = relaxations.other_bucket_candidates(review.leg, review.alternatives, review.question_context.schemas)
    return offered[:_MAX_OTHER_BUCKETS]


HANDLER = FormHandler(answer_form=ListDocuments, build_requests=_build_requests, decide=decide_list)
