"""The sides of a comparison. Each side is decided separately; the composed answer shows them in one table.

The documents of all sides are loaded in one round trip. A side with numbers over a set may have any size. A side whose
documents must be read asks back if it has too many of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from agent.assumptions import FirstOfSeveral
from agent.english.written_values import written_forms_of
from agent.forms.clarifications import ask_to_narrow, ask_which_document, report_nothing_found
from agent.forms.compute_numbers import answer_computation
from agent.forms.figures import currency_of_value
from agent.forms.find_passages import decide_passages
from agent.forms.read_fields import decide_field_values
from agent.outcome import ComputedFigure, FoundPassage, GroupLine, OutcomeKind, SearchRoute
from agent.refine.facets import facet_requests
from agent.retrieval.fusion import fuse_hits
from agent.retrieval.leg_requests import hits_by_collector, weigh_question_terms
from agent.retrieval.quotations import CitedQuote, DocumentQuote, cite_values, find_sentence_with_value, rank_sentences
from agent.retrieval.relevance import QueryTerm
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
from storage.search.conditions import MATCH_ALL, TEXT_FIELD, TITLE_FIELD, ComparisonCondition, Condition, conjuncts_of
from storage.search.documents import Document, FieldValue
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import DocumentRecord, DocumentRequest, PassageHit
from storage.search.numbers import to_json_number
from storage.search.plan import AggregateFunction, ComputeNumbers, ListDocuments, ReadFields
from storage.search.schema import FieldType, Schema, SchemaField

_MAX_FIELD_ROWS = 8  # fields compared when the question names none
_MIN_SENTENCE_SCORE = 0.4  # of the question, that a quoted sentence must hold
_MEASURED_TYPES = (FieldType.NUMBER, FieldType.MONEY)


# -- the cells of a side, one for each row of the table


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureCell:
    """A figure over the set of the side."""

    figure: ComputedFigure
    field: SchemaField | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCell:
    """The figure of a group."""

    group: GroupLine
    field: SchemaField | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentCountCell:
    """The number of documents of the side. `is_measured`: the sides are compared by this number."""

    count: int
    is_measured: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeCell:
    """The lowest and the highest value of a field."""

    field: SchemaField
    low: float | str
    high: float | str
    unit: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonValuesCell:
    """The values of a field, most frequent first."""

    field: SchemaField
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueCell:
    """The value of a field of one document. If `value` is None, `sentence` answers instead."""

    field: SchemaField
    value: FieldValue | None
    unit: str | None
    sentence: DocumentQuote | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteCell:
    """A quote from the text of the side."""

    cited: CitedQuote


SideCell: TypeAlias = FigureCell | GroupCell | DocumentCountCell | RangeCell | CommonValuesCell | ValueCell | QuoteCell


@dataclass(frozen=True, slots=True, kw_only=True)
class SideTitle:
    """The title of a side: a document title, else the conditions that only this side has, else its question."""

    document_title: str
    conditions: tuple[Condition, ...]
    text_conditions: tuple[ComparisonCondition, ...]
    required_terms: tuple[str, ...]
    schema: Schema
    schemas: Mapping[BucketId, Schema]  # of all visible buckets
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SideFacts(LegFacts):
    """One side: its own facts, and its column of the table."""

    facts: LegFacts
    cells: tuple[SideCell, ...]
    titles: tuple[SideTitle, ...]  # of all sides
    position: int  # of this side in `titles`
    is_titled: bool = True  # its sentence begins with its title

    @property
    def quotes(self) -> tuple[CitedQuote, ...]:
        return self.facts.quotes


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentCountFacts(LegFacts):
    """A side that is a group: its number of documents."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SideValuesFacts(LegFacts):
    """A side that is one document: its values, in one sentence."""

    document: Document
    values: tuple[ValueCell, ...]

    @property
    def quotes(self) -> tuple[CitedQuote, ...]:
        return cite_values(self.document, [cell.sentence for cell in self.values])


@dataclass(frozen=True, slots=True, kw_only=True)
class SideQuoteFacts(LegFacts):
    """A side that is text: the best sentence about the topic."""

    cited: CitedQuote

    @property
    def quotes(self) -> tuple[CitedQuote, ...]:
        return (self.cited,)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ComparedSide:
    """A side before it is decided."""

    review: LegReview
    document: Document | None
    field_names: Sequence[FieldName]
    titles: tuple[SideTitle, ...]
    position: int

    def build_facts(self, facts: LegFacts, cells: Iterable[SideCell], *, is_titled: bool = True) -> SideFacts:
        return SideFacts(
            facts=facts, cells=tuple(cells), titles=self.titles, position=self.position, is_titled=is_titled
        )


async def decide_comparison_sides(reviews: Sequence[LegReview]) -> list[Enough | LegClarification]:
    """Returns the decisions on all sides, in order.

    One round trip loads the documents of all sides. A side that is too large, or that needs the text, takes more.
    """
    id_by_leg = {review.leg.id: _document_to_read(review) for review in reviews}
    ids = tuple(dict.fromkeys(doc_id for doc_id in id_by_leg.values() if doc_id is not None))
    documents: dict[DocId, Document] = {}
    if ids:
        fetch = DocumentRequest(ids)
        documents = {document.doc_id: document for document in (await reviews[0].session.ask_index((fetch,)))[fetch]}
    documents_by_side = [
        documents.get(doc_id) if (doc_id := id_by_leg[review.leg.id]) is not None else None for review in reviews
    ]
    titles = tuple(
        _title_of_side(review, document, reviews) for review, document in zip(reviews, documents_by_side, strict=True)
    )
    is_single = all(review.count == 1 for review in reviews)  # the range of one document is its value
    return [
        await _decide_side(
            _ComparedSide(
                review=review,
                document=document,
                field_names=_computed_field_of(review)
                if is_single and isinstance(review.leg.answer_form, ComputeNumbers)
                else _fields_to_compare(review, documents_by_side),
                titles=titles,
                position=position,
            )
        )
        for position, (review, document) in enumerate(zip(reviews, documents_by_side, strict=True))
    ]


async def _decide_side(side: _ComparedSide) -> Enough | LegClarification:
    review = side.review
    match review.leg.answer_form:
        case ComputeNumbers() if side.field_names and side.document is not None:
            return await _decide_document_side(side, side.document)
        case ComputeNumbers() as answer_form:
            return _add_figure_column(side, answer_form, answer_computation(answer_form, review, side.document))
        case _ if _is_too_large(review):
            return ask_to_narrow(await _request_facets(review), review.session.context.limits.read_documents)
        case ReadFields() if side.document is not None:
            return await _decide_document_side(side, side.document)
        case ReadFields() if review.count > 1:
            return ask_which_document(review, review.records)
        case ReadFields() as answer_form:
            return _add_quote_column(side, await decide_field_values(answer_form, review))
        case ListDocuments():
            return _decide_group_side(side)
        case _:
            return await _decide_text_side(side)


def _document_to_read(review: LegReview) -> DocId | None:
    """Returns the document to read for the side: its only one, or the first if any of them may answer; else None."""
    any_may_answer = review.leg.answer_form.reads_values and (_all_records_agree(review) or not review.may_ask_back)
    is_read = review.count == 1 or any_may_answer
    return next(iter(document_ids_of(review.records)), None) if is_read else None


def _all_records_agree(review: LegReview) -> bool:
    """Whether all documents of a small set have the same values in the requested fields."""
    if not review.leg.answer_form.reads_values or _asks_for_all_fields(review):
        return False
    names, records = _requested_fields_of(review), review.records
    values = {tuple(repr(record.values.get(name)) for name in names) for record in records}
    return len(values) == 1 and review.count == len(records)


def _bucket_of_records(review: LegReview) -> BucketId:
    """Returns the bucket of the first document found, since the search may span several buckets."""
    return review.records[0].bucket if review.records else review.leg.search.clauses[0].bucket


def _schema_of_records(review: LegReview) -> Schema:
    return review.question_context.schemas[_bucket_of_records(review)]


def _asks_for_all_fields(review: LegReview) -> bool:
    """Whether the leg requests all fields, which means that the question names none."""
    all_names = {field.name for field in _schema_of_records(review).fields if field.type is not FieldType.ROWS}
    return len(all_names) > 1 and set(_requested_fields_of(review)) == all_names


def _requested_fields_of(review: LegReview) -> list[FieldName]:
    """Returns the requested fields of the bucket that holds the documents."""
    bucket = _bucket_of_records(review)
    return [name for field_bucket, name in review.leg.answer_form.requested_fields if field_bucket == bucket]


def _fields_to_compare(review: LegReview, documents: Sequence[Document | None]) -> list[FieldName]:
    """Returns the fields to compare: those that the question names, else those in which the documents differ."""
    names = _requested_fields_of(review)
    loaded_documents = [document for document in documents if document is not None]
    if not _asks_for_all_fields(review) or len(loaded_documents) < 2:
        return names[:_MAX_FIELD_ROWS] if _asks_for_all_fields(review) else names
    differing = [name for name in names if len({repr(document.values.get(name)) for document in loaded_documents}) > 1]
    return (differing or names)[:_MAX_FIELD_ROWS]


def _computed_field_of(review: LegReview) -> list[FieldName]:
    answer_form = review.leg.answer_form
    if not isinstance(answer_form, ComputeNumbers):
        return []
    name = answer_form.group.field if answer_form.group is not None and answer_form.field is None else answer_form.field
    return [name] if name is not None and AggregateFunction.SUM not in answer_form.functions else []


def _is_too_large(review: LegReview) -> bool:
    """Whether the side has too many documents to read.

    Only a list, or a set with a condition, can be too large. A question to all text is not.
    """
    is_narrowed = any(clause.display_condition != MATCH_ALL for clause in review.leg.search.clauses)
    is_list = review.leg.answer_form.lists_documents
    exceeds_limit = _document_count_of(review) > review.session.context.limits.read_documents
    return exceeds_limit and (is_narrowed or is_list) and review.may_ask_back and not _all_records_agree(review)


async def _request_facets(review: LegReview) -> LegReview:
    """Adds the facets that may split the set. Only lists have requested them before."""
    if review.requests.facets:
        return review
    facets = tuple(facet_requests(review.leg.search, review.question_context.schemas))
    requests = replace(review.requests, facets=facets)
    if not facets:
        return replace(review, requests=requests)
    answers = await review.session.ask_index([*requests.all_requests()])
    return replace(review, requests=requests, answers=answers)


# -- titles of sides


def _title_of_side(review: LegReview, document: Document | None, sides: Sequence[LegReview]) -> SideTitle:
    """Returns the title shared by the documents of the side, and the conditions that not all sides share."""
    conditions_by_side = [
        {condition for clause in side.leg.search.clauses for condition in conjuncts_of(clause.display_condition)}
        for side in sides
    ]
    shared = set[Condition].intersection(*conditions_by_side)
    clause = review.leg.search.clauses[0]
    distinguishing_conditions = [condition for condition in conjuncts_of(clause.condition) if condition not in shared]
    is_counted = review.leg.answer_form.is_document_count  # "more in 2031 than in 2032": no side is its document
    title = document.title if document is not None and review.count == 1 else _shared_title_of(review)
    return SideTitle(
        document_title="" if is_counted else title,
        conditions=tuple(condition for condition in distinguishing_conditions if not _is_text_condition(condition)),
        text_conditions=tuple(
            condition
            for condition in distinguishing_conditions
            if isinstance(condition, ComparisonCondition) and _is_text_condition(condition)
        ),
        required_terms=clause.required_terms if len(review.leg.search.clauses) == 1 else (),
        schema=review.question_context.schemas[clause.bucket],
        schemas=review.question_context.schemas,
        question=review.leg.question,
    )


def _shared_title_of(review: LegReview) -> str:
    """Returns the title of all documents of the side; empty if titles differ, or if not all documents are loaded."""
    records = _known_records_of(review)
    titles = {record.title for record in records}
    return titles.pop() if len(titles) == 1 and len(records) == _document_count_of(review) else ""


def _document_count_of(review: LegReview) -> int:
    """Returns the number of documents of the side; 1 for "the cheapest panel"."""
    limit = review.leg.answer_form.list_limit
    return review.count if limit is None else min(review.count, limit)


def _known_records_of(review: LegReview) -> Sequence[DocumentRecord]:
    """Returns the records of the side that are loaded, which may be fewer than its documents."""
    return review.records[: _document_count_of(review)]


def _is_text_condition(condition: Condition) -> bool:
    return isinstance(condition, ComparisonCondition) and condition.field in (TITLE_FIELD, TEXT_FIELD)


# -- sides that are numbers


def _add_figure_column(
    side: _ComparedSide, answer_form: ComputeNumbers, decision: Enough | LegClarification
) -> Enough | LegClarification:
    if isinstance(decision, LegClarification):
        return decision
    schema = _schema_of_records(side.review)
    field = schema.by_name.get(answer_form.field) if answer_form.field is not None else None
    cells: list[SideCell] = (
        [GroupCell(group=group, field=field) for group in decision.result.groups]
        if answer_form.group is not None
        else [FigureCell(figure=figure, field=field) for figure in decision.result.figures]
    )
    counts = any(isinstance(cell, FigureCell) and cell.figure.function is AggregateFunction.COUNT for cell in cells)
    if not counts:
        cells.append(DocumentCountCell(count=side.review.count, is_measured=False))
    return replace(decision, facts=side.build_facts(decision.facts, cells))


# -- sides that are groups


def _decide_group_side(side: _ComparedSide) -> Enough | LegClarification:
    """Shows the range of each number or date field, and the values of each category, list or flag field."""
    review = side.review
    if review.count == 0:
        return report_nothing_found(review)
    records, count = _known_records_of(review), _document_count_of(review)
    cells: list[SideCell] = [DocumentCountCell(count=count, is_measured=True)]
    for field in _schema_of_records(review).fields:
        is_ordered = field.type in (*_MEASURED_TYPES, FieldType.DATE)
        cell = _range_cell_of(field, records) if is_ordered else _common_values_cell_of(field, records)
        cells += [cell] if cell is not None else []
    return Enough(
        result=replace(build_leg_result(review, OutcomeKind.ANSWER, count), doc_ids=document_ids_of(records)),
        facts=side.build_facts(DocumentCountFacts(count=count), cells),
        hits=hits_by_document(review),
        export_count=review.count if count == review.count else None,
        assumptions=assumptions_of(review),
    )


def _range_cell_of(field: SchemaField, records: Sequence[DocumentRecord]) -> RangeCell | None:
    values = [value for record in records if isinstance(value := record.values.get(field.name), (float, str))]
    currencies = {currency_of_value(record.values, field) for record in records if field.name in record.values}
    if not values or len(currencies) > 1:
        return None
    low, high = min(values, key=sort_key_of_value), max(values, key=sort_key_of_value)
    return RangeCell(field=field, low=low, high=high, unit=next(iter(currencies)))


def sort_key_of_value(value: float | str) -> tuple[float, str]:
    """Sorts numbers by size, and days by date."""
    return (0.0, value) if isinstance(value, str) else (value, "")


def _common_values_cell_of(field: SchemaField, records: Sequence[DocumentRecord]) -> CommonValuesCell | None:
    if field.type not in (FieldType.CATEGORY, FieldType.LIST, FieldType.FLAG):
        return None
    values = [part for record in records for part in _split_value(record.values.get(field.name))]
    by_frequency = sorted(dict.fromkeys(values), key=lambda value: (-values.count(value), value))
    return CommonValuesCell(field=field, values=tuple(by_frequency)) if by_frequency else None


def _split_value(value: FieldValue | None) -> list[str]:
    if isinstance(value, tuple):
        return [part for part in value if isinstance(part, str)]
    if value is None:
        return []
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    return [value if isinstance(value, str) else str(to_json_number(value))]


# -- sides that are one document


async def _decide_document_side(side: _ComparedSide, document: Document) -> Enough | LegClarification:
    review = side.review
    schema = _schema_of_records(review)
    cells: list[ValueCell] = []
    for name in side.field_names:
        field, value = schema.by_name[name], document.values.get(name)
        sentence = _sentence_for_value(review, document, field, value)
        if value is None and (sentence is None or len(side.field_names) > 1):
            continue
        unit = (currency_of_value(document.values, field) or field.unit or None) if value is not None else None
        cells.append(ValueCell(field=field, value=value, unit=unit, sentence=sentence))
    if not cells:
        return await _decide_text_side(side)
    facts = SideValuesFacts(document=document, values=tuple(cells))
    assumptions = assumptions_of(review)
    if review.count > 1 and not _all_records_agree(review):
        assumptions = (*assumptions, FirstOfSeveral(count=review.count, search=review.leg.search))
    return Enough(
        result=replace(
            build_leg_result(review, OutcomeKind.ANSWER, None),
            doc_ids=(document.doc_id,),
            records=review.records[:1],
        ),
        facts=side.build_facts(facts, cells),
        hits=_quoted_hits_first(review, document, facts.quotes),
        assumptions=assumptions,
    )


def _sentence_for_value(
    review: LegReview, document: Document, field: SchemaField, value: FieldValue | None
) -> DocumentQuote | None:
    """Returns the sentence that holds the value, or the best sentence about the topic if there is no value."""
    if value is not None:
        return find_sentence_with_value(document, written_forms_of(value, field), [field.label, *field.plain_synonyms])
    ranked_sentences = _topic_sentences_of(review)
    return ranked_sentences[0][1] if ranked_sentences else None


def _quoted_hits_first(review: LegReview, document: Document, quotes: Sequence[CitedQuote]) -> tuple[FoundPassage, ...]:
    """Returns the quoted passages, then the best passages of the search; each passage once."""
    bucket = _bucket_of_records(review)
    quoted = [_passage_at_offset(document, bucket, cited.quote.start) for cited in quotes]
    ranked = fuse_hits(hits_by_collector(review.requests.passage_requests, review.answers))
    passages = [*(passage for passage in quoted if passage is not None), *ranked]
    unique = {passage.hit.chunk_id: passage for passage in reversed(passages)}
    return tuple(reversed(unique.values()))[: review.session.context.limits.reported_hits]


def _passage_at_offset(document: Document, bucket: BucketId, offset: int) -> FoundPassage | None:
    for position, passage in enumerate(document.passages):
        if passage.start <= offset < passage.end:
            hit = PassageHit(
                doc_id=document.doc_id, bucket=bucket, chunk_id=document.chunk_id_at(position), title=document.title,
                source=document.source, page=passage.page, start=passage.start, end=passage.end,
                text=document.text[passage.start : passage.end], score=0.0,
            )  # fmt: skip
            return FoundPassage(hit=hit, score=0.0, found_by=("annotations",))
    return None


# -- sides that are text


async def _decide_text_side(side: _ComparedSide) -> Enough | LegClarification:
    """Quotes the best sentence about the topic. The set identifies the side, so only the topic must match."""
    review = side.review
    is_narrowed = any(clause.display_condition != MATCH_ALL for clause in review.leg.search.clauses)
    if is_narrowed and not review.count:
        return report_nothing_found(review)
    ranked_sentences = _topic_sentences_of(review) if is_narrowed else []
    if not ranked_sentences:
        return _add_quote_column(side, await decide_passages(review))
    passage, quote = ranked_sentences[0]
    hit = passage.hit
    record = DocumentRecord(doc_id=hit.doc_id, bucket=hit.bucket, title=hit.title, source=hit.source, values={})
    cited = CitedQuote(document=record, quote=quote)
    passages = fuse_hits(hits_by_collector(review.requests.passage_requests, review.answers))
    ranked = [passage, *(other for other in passages if other.hit != hit)]
    return Enough(
        result=replace(build_leg_result(review, OutcomeKind.ANSWER, None), doc_ids=(hit.doc_id,)),
        facts=side.build_facts(SideQuoteFacts(cited=cited), [QuoteCell(cited=cited)]),
        hits=tuple(ranked[: review.session.context.limits.reported_hits]),
        assumptions=assumptions_of(review),
        route=SearchRoute.LONG_TEXT,
    )


def _topic_sentences_of(review: LegReview) -> list[tuple[FoundPassage, DocumentQuote]]:
    """Returns at most three sentences of the side about the topic, best first."""
    topic = _topic_terms_of(review)
    passages = fuse_hits(hits_by_collector(review.requests.passage_requests, review.answers))
    ranked = rank_sentences(passages, topic, review.question_context.analysers, review.leg) if topic else []
    return [(passage, quote) for score, passage, quote in ranked if score >= _MIN_SENTENCE_SCORE][:3]


def _topic_terms_of(review: LegReview) -> tuple[QueryTerm, ...]:
    """Returns the terms of the question without those that name the side."""
    if not review.requests.asked_stems:
        return ()
    bucket = review.leg.search.buckets[0]
    topic_words = {
        term.text for term in review.question_context.analysers[bucket].extract_terms(review.leg.search.ranking_text)
    }
    return tuple(
        term
        for term in weigh_question_terms(review.requests, review.answers, review.question_context)
        if term.stem in topic_words
    )


def _add_quote_column(side: _ComparedSide, decision: Enough | LegClarification) -> Enough | LegClarification:
    if isinstance(decision, LegClarification) or not decision.facts.quotes:
        return decision
    cell = QuoteCell(cited=decision.facts.quotes[0])
    return replace(decision, facts=side.build_facts(decision.facts, [cell], is_titled=False))
