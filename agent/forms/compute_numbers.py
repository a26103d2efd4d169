"""Numbers over a set of documents: figures, groups, and its share of another set."""

from dataclasses import dataclass, field, replace

from agent.english.written_values import written_forms_of
from agent.evidence.referred_names import NamesByValue, find_referred_names
from agent.forms.clarifications import (
    ask_which_reading,
    list_candidates,
    missing_candidates,
    report_nothing_found,
    wider_reading_candidates,
)
from agent.forms.cross_table import decide_cross_table
from agent.forms.figures import build_group_lines, compute_figures, compute_share
from agent.forms.form_handler import FormHandler
from agent.limits import SHOWN_DOCUMENTS
from agent.outcome import ComputedFigure, GroupLine, OutcomeKind
from agent.retrieval.leg_requests import LegInquiry, LegRequests
from agent.retrieval.quotations import CitedQuote, find_sentence_with_value, quote_beginning_of
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
from storage.search.documents import SURE_CONFIDENCE, Document
from storage.search.index import AggregateRequest, CountRequest, DocumentRequest, RecordPageRequest
from storage.search.plan import AggregateFunction, ComputeNumbers, GroupBy, Search
from storage.search.schema import Schema, SchemaField

_MAX_CHECKED_DOCUMENTS = 100  # whose readings of a value are looked at one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadValueCounts:
    """How many values of the computed field were read from texts, and how many of these readings are sure."""

    read: int  # at least 1
    sure: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputationFacts(LegFacts):
    """Figures over the whole set, or a figure for each group."""

    answer_form: ComputeNumbers
    schema: Schema
    figures: tuple[ComputedFigure, ...]
    groups: tuple[GroupLine, ...]
    support: CitedQuote | None  # from the only document of the set
    has_value_in_text: bool  # the quote of `support` holds the value
    read_values: ReadValueCounts | None = None  # None: given as values, or in too many documents to look at each
    group_names: NamesByValue = field(default_factory=dict[str, str])  # what the groups refer to, by their labels

    @property
    def field(self) -> SchemaField | None:
        return self.schema.by_name.get(self.answer_form.field) if self.answer_form.field is not None else None

    @property
    def factor(self) -> SchemaField | None:
        return self.schema.by_name.get(self.answer_form.factor) if self.answer_form.factor is not None else None

    @property
    def quotes(self) -> tuple[CitedQuote, ...]:
        return (self.support,) if self.support is not None else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareFacts(LegFacts):
    """The set's share of the documents of `whole`."""

    figure: ComputedFigure
    schema: Schema
    whole: Search
    whole_count: int


def _build_requests(answer_form: ComputeNumbers, inquiry: LegInquiry) -> LegRequests:
    search, requests = inquiry.leg.search, inquiry.request_set()
    if answer_form.share_base is not None:
        requests = replace(requests, unstated=inquiry.request_unstated(answer_form.share_base))
    return replace(
        requests,
        record_page=RecordPageRequest(search, limit=inquiry.limits.reported_documents, fields=frozenset()),
        aggregate=build_aggregate_request(search, answer_form),
        passage_requests=inquiry.rank_passages(inquiry.limits.reported_hits),
        whole_count=None if answer_form.share_base is None else CountRequest(answer_form.share_base),
    )


def build_aggregate_request(search: Search, answer_form: ComputeNumbers) -> AggregateRequest:
    """Builds the request. Distinct values are counted as groups."""
    if AggregateFunction.DISTINCT in answer_form.functions and answer_form.field is not None:
        return AggregateRequest(search, group=GroupBy(field=answer_form.field))
    with_median = AggregateFunction.MEDIAN in answer_form.functions
    return AggregateRequest(
        search, answer_form.field, answer_form.group, with_median=with_median, factor=answer_form.factor
    )


async def decide_computation(answer_form: ComputeNumbers, review: LegReview) -> Enough | LegClarification:
    """Decides on numbers over the set. If the set has one document, loads it as support."""
    document: Document | None = None
    if review.count == 1:
        fetch = DocumentRequest(document_ids_of(review.records))
        document = next(iter((await review.session.ask_index((fetch,)))[fetch]), None)
    group, second = answer_form.group, answer_form.second_group
    if review.count and group is not None and second is not None:
        return ask_which_reading(review) or await decide_cross_table(answer_form, group, second, review)
    decision = await _name_groups(review, answer_computation(answer_form, review, document))
    return await _count_read_values(review, decision)


async def _name_groups(review: LegReview, decision: Enough | LegClarification) -> Enough | LegClarification:
    """Adds what the documents are called that the values refer to by which the set is grouped."""
    facts = decision.facts
    if not isinstance(decision, Enough) or not isinstance(facts, ComputationFacts) or facts.answer_form.group is None:
        return decision
    grouped = facts.schema.by_name[facts.answer_form.group.field]
    pairs = [(grouped, group.label) for group in facts.groups[:SHOWN_DOCUMENTS]]
    names = await find_referred_names(pairs, review.session, review.question_context.schemas)
    return replace(decision, facts=replace(facts, group_names=names))


async def _count_read_values(review: LegReview, decision: Enough | LegClarification) -> Enough | LegClarification:
    """Adds how sure the values are that texts gave. A single document is quoted instead."""
    facts = decision.facts
    if not isinstance(decision, Enough) or not isinstance(facts, ComputationFacts) or facts.field is None:
        return decision
    if not facts.field.labels or not 1 < review.count <= min(_MAX_CHECKED_DOCUMENTS, len(review.records)):
        return decision
    fetch = DocumentRequest(document_ids_of(review.records))
    documents = (await review.session.ask_index((fetch,)))[fetch]
    readings = [
        confidence
        for document in documents
        if facts.field.name in document.values and (confidence := _confidence_of(document, facts.field)) is not None
    ]
    if not readings:
        return decision
    sure = sum(confidence >= SURE_CONFIDENCE for confidence in readings)
    counts = ReadValueCounts(read=len(readings), sure=sure)
    return replace(decision, facts=replace(facts, read_values=counts))


def _confidence_of(document: Document, field: SchemaField) -> float | None:
    """Returns the confidence of the best reading of the field's value; None if no text gave it."""
    annotations = (annotation for annotation in document.annotations if annotation.field == field.name)
    return max((annotation.confidence for annotation in annotations), default=None)


def answer_computation(
    answer_form: ComputeNumbers, review: LegReview, document: Document | None
) -> Enough | LegClarification:
    """Decides on numbers over the set. `document` is its only member, which supports the numbers; else None."""
    count, lines = review.count, review.aggregate_lines
    is_share = review.requests.whole_count is not None
    if not (_has_whole(review) if is_share else count):
        return report_nothing_found(review)
    if (several_readings := ask_which_reading(review)) is not None:
        return several_readings
    if review.requests.whole_count is not None and answer_form.share_base is not None:
        return _answer_share(review, answer_form.share_base, review.answers[review.requests.whole_count])
    schema = review.question_context.schemas[review.leg.search.clauses[0].bucket]
    is_distinct = AggregateFunction.DISTINCT in answer_form.functions
    field = schema.by_name.get(answer_form.field) if answer_form.field is not None else None
    quoted = field if answer_form.factor is None else None  # no sentence holds a product
    support, has_value = _find_support(document, quoted) if document is not None else (None, False)
    facts = ComputationFacts(
        answer_form=answer_form,
        schema=schema,
        figures=() if answer_form.group and not is_distinct else compute_figures(answer_form, lines, count),
        groups=build_group_lines(answer_form, lines),
        support=support,
        has_value_in_text=has_value,
    )
    return Enough(
        result=replace(
            build_leg_result(review, OutcomeKind.ANSWER, count),
            doc_ids=() if answer_form.limit is not None else document_ids_of(review.records),  # it names groups
            figures=facts.figures,
            groups=facts.groups,
        ),
        facts=facts,
        hits=hits_by_document(review),
        candidates=(*list_candidates(review), *wider_reading_candidates(review), *missing_candidates(review)),
        export_count=count or None,
        assumptions=assumptions_of(review),
    )


def _has_whole(review: LegReview) -> bool:
    """Whether the leg asks for a share of a set that is not empty. Then a share of 0 is an answer."""
    return review.requests.whole_count is not None and review.answers[review.requests.whole_count] > 0


def _answer_share(review: LegReview, whole: Search, whole_count: int) -> Enough:
    """Answers with the set's share of `whole`."""
    figure = compute_share(review.count, whole_count)
    schema = review.question_context.schemas[review.leg.search.clauses[0].bucket]
    return Enough(
        result=replace(
            build_leg_result(review, OutcomeKind.ANSWER, review.count),
            doc_ids=document_ids_of(review.records),
            figures=(figure,),
        ),
        facts=ShareFacts(figure=figure, schema=schema, whole=whole, whole_count=whole_count),
        hits=hits_by_document(review),
        candidates=(*list_candidates(review), *wider_reading_candidates(review), *missing_candidates(review)),
        export_count=review.count or None,
        assumptions=assumptions_of(review),
    )


def _find_support(document: Document, field: SchemaField | None) -> tuple[CitedQuote, bool]:
    """Returns the sentence of the document that holds the value, and True; else its beginning, and False."""
    value = document.values.get(field.name) if field is not None else None
    quote = (
        find_sentence_with_value(document, written_forms_of(value, field), [field.label])
        if field and value is not None
        else None
    )
    return CitedQuote(document=document, quote=quote or quote_beginning_of(document)), quote is not None


HANDLER = FormHandler(answer_form=ComputeNumbers, build_requests=_build_requests, decide=decide_computation)
