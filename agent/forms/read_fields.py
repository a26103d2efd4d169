"""Answers with the values of fields of one document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from agent.assumptions import FirstOfSeveral
from agent.english.written_values import written_forms_of
from agent.evidence.coded_places import find_leading_codes, find_places, leading_code_of, match_codes
from agent.evidence.referred_names import find_referred_names
from agent.forms.clarifications import (
    ask_which_document,
    ask_which_reading,
    report_nothing_found,
    wider_reading_candidates,
)
from agent.forms.figures import currency_of_value
from agent.forms.find_passages import decide_from_all_text, quote_answer, quotes_only_records, rank_leg_passages
from agent.forms.form_handler import FormHandler
from agent.forms.list_documents import decide_list
from agent.limits import SHOWN_DOCUMENTS
from agent.outcome import FoundPassage, OutcomeKind, SearchRoute
from agent.retrieval.leg_requests import LegInquiry, LegRequests
from agent.retrieval.quotations import (
    CitedQuote,
    DocumentQuote,
    best_sentence_with_value,
    cite_values,
    find_extracted_sentence,
    find_sentence_with_value,
    rank_sentences,
    sort_quoted_first,
)
from agent.review.leg_review import (
    Enough,
    LegClarification,
    LegFacts,
    LegReview,
    assumptions_of,
    build_leg_result,
    document_ids_of,
)
from storage.search.conditions import DOC_ID_FIELD, TITLE_FIELD, ComparisonCondition, conjuncts_of, fields_of
from storage.search.documents import Document, FieldValue
from storage.search.ids import DocId, FieldName
from storage.search.index import DocumentRecord, DocumentRequest, RecordPageRequest
from storage.search.plan import ListDocuments, ReadFields, Search
from storage.search.schema import SchemaField
from storage.text.identifiers import is_identifier

_MAX_READ_DOCUMENTS = 3  # documents whose values are all given; with more, the question is which one is meant
_CITED_PASSAGES = 10  # passages of the document that are read for a sentence to cite
_MIN_SENTENCE_SCORE = 0.4  # of the question, that a sentence without the value must hold to be cited


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldValueFact:
    """The value of a field, and the sentence that supports it; None if no sentence does."""

    field: SchemaField
    value: FieldValue
    currency: str | None
    sentence: DocumentQuote | None
    referred_name: str = ""  # what the document is called that the value refers to


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldValuesFacts(LegFacts):
    """The values of one document."""

    document: Document
    values: tuple[FieldValueFact, ...]

    @property
    def quotes(self) -> tuple[CitedQuote, ...]:
        return cite_values(self.document, [value.sentence for value in self.values])


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingValuesFacts(LegFacts):
    """The document has no value for the fields that the question is about."""

    record: DocumentRecord
    fields: tuple[SchemaField, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeveralValuesFacts(LegFacts):
    """The values of a few documents, the first ones of `count`."""

    documents: tuple[FieldValuesFacts, ...]
    count: int

    @property
    def quotes(self) -> tuple[CitedQuote, ...]:
        return tuple(quote for facts in self.documents for quote in facts.quotes)


def _build_requests(_: ReadFields, inquiry: LegInquiry) -> LegRequests:
    of_set = inquiry.request_set()
    return replace(
        inquiry.request_text(inquiry.leg.question),
        record_page=RecordPageRequest(inquiry.leg.search, limit=inquiry.limits.read_documents + 1),
        missing_counts=of_set.missing_counts,
        equal_reading_counts=of_set.equal_reading_counts,
        documents=_request_named_documents(inquiry.leg.search),
    )


def _request_named_documents(search: Search) -> DocumentRequest | None:
    """Returns the request for the few documents whose ids the search gives: one of them will be read."""
    conditions = [condition for clause in search.clauses for condition in conjuncts_of(clause.condition)]
    named = [
        condition.value if isinstance(condition.value, tuple) else (condition.value,)
        for condition in conditions
        if isinstance(condition, ComparisonCondition) and condition.field == DOC_ID_FIELD
    ]
    ids = tuple(DocId(str(doc_id)) for doc_id in named[0]) if named else ()
    return DocumentRequest(ids) if 0 < len(ids) <= _MAX_READ_DOCUMENTS else None


async def decide_field_values(answer_form: ReadFields, review: LegReview) -> Enough | LegClarification:
    count, records = review.count, review.records
    if count == 0:
        by_title = any(TITLE_FIELD in fields_of(clause.condition) for clause in review.leg.search.clauses)
        return await decide_from_all_text(review) if by_title else report_nothing_found(review)
    if (several_readings := ask_which_reading(review)) is not None:
        return several_readings
    names = [name for bucket, name in answer_form.fields if bucket == records[0].bucket]
    if answer_form.of_each and count > 1:
        return await _read_each(review, records, names)
    if count > 1 and _only_name_documents(records, names, review):
        return await decide_list(ListDocuments(), review)
    if count > 1 and not _records_agree(records, names, count):
        if count <= _MAX_READ_DOCUMENTS and (several := await _read_several(review, records, names)) is not None:
            return several
        if review.may_ask_back:
            return ask_which_document(review, records)
        return _assume_first_document(review, await _read_field_values(review, records[:1], names))
    return await _read_field_values(review, records, names)


def _only_name_documents(
    records: Sequence[DocumentRecord], field_names: Sequence[FieldName], review: LegReview
) -> bool:
    """ "What did we *invoice* in March": whether all that is asked of several documents is their own number."""
    fields = review.question_context.schemas[records[0].bucket].fields
    if not fields or tuple(field_names) != (fields[0].name,):
        return False
    values = [str(record.values.get(field_names[0], "")) for record in records]
    return all(map(is_identifier, values)) and len(set(values)) == len(values)


async def _read_several(
    review: LegReview, records: Sequence[DocumentRecord], field_names: Sequence[FieldName]
) -> Enough | None:
    """Returns the values of each of a few documents; None if one of them has no value."""
    review.session.ask_with_next(DocumentRequest((record.doc_id,)) for record in records)
    decisions = [await _read_field_values(review, [record], field_names) for record in records]
    facts = [decision.facts for decision in decisions if isinstance(decision.facts, FieldValuesFacts)]
    first = decisions[0]
    if len(facts) < len(records) or not isinstance(first, Enough):
        return None
    return replace(
        first,
        result=replace(first.result, doc_ids=document_ids_of(records), records=tuple(records[:SHOWN_DOCUMENTS])),
        facts=SeveralValuesFacts(documents=tuple(facts), count=len(facts)),
    )


async def _read_each(
    review: LegReview, records: Sequence[DocumentRecord], field_names: Sequence[FieldName]
) -> Enough | LegClarification:
    """Returns the values of the documents that have one."""
    schema = review.question_context.schemas[records[0].bucket]
    fetch = DocumentRequest(tuple(record.doc_id for record in records))
    found = {document.doc_id: document for document in (await review.session.ask_index((fetch,)))[fetch]}
    documents = [found[record.doc_id] for record in records if record.doc_id in found]
    facts = [
        FieldValuesFacts(
            document=document,
            values=tuple(
                _find_value(document, schema.by_name[name], ())
                for name in field_names
                if document.values.get(name) is not None
            ),
        )
        for document in documents
    ]
    facts = await _name_referred(review, [fact for fact in facts if fact.values])
    if not facts:
        return report_missing_values(review, records[0], tuple(schema.by_name[name] for name in field_names))
    return Enough(
        result=replace(
            build_leg_result(review, OutcomeKind.ANSWER, None),
            doc_ids=document_ids_of(records),
            records=tuple(records[:SHOWN_DOCUMENTS]),
        ),
        facts=SeveralValuesFacts(documents=tuple(facts), count=len(facts) + review.count - len(documents)),
        hits=(),
        candidates=tuple(wider_reading_candidates(review)),
        assumptions=assumptions_of(review),
    )


def _assume_first_document(review: LegReview, decision: Enough | LegClarification) -> Enough | LegClarification:
    assumption = FirstOfSeveral(count=review.count, search=review.leg.search)
    return replace(decision, assumptions=(*decision.assumptions, assumption))


def _records_agree(records: Sequence[DocumentRecord], field_names: Sequence[FieldName], count: int) -> bool:
    values = {tuple(repr(record.values.get(name)) for name in field_names) for record in records}
    return len(values) == 1 and count == len(records)


async def _load_document(review: LegReview, record: DocumentRecord) -> Document | None:
    """Returns the document of the record, in a round trip unless it was asked for by its id; None if it is gone."""
    named = review.requests.documents
    known = () if named is None else review.answers[named]
    found = next((document for document in known if document.doc_id == record.doc_id), None)
    if found is not None:
        return found
    fetch = DocumentRequest((record.doc_id,))
    return next(iter((await review.session.ask_index((fetch,)))[fetch]), None)


async def _read_field_values(
    review: LegReview, records: Sequence[DocumentRecord], field_names: Sequence[FieldName]
) -> Enough | LegClarification:
    document = await _load_document(review, records[0])
    if document is None:  # deleted since the first round trip
        return report_nothing_found(review)
    known_names = [name for name in field_names if document.values.get(name) is not None]
    question, ranked = await rank_leg_passages(
        review, review.requests.passage_requests, include_naming_terms=False, use_reranker=not known_names
    )
    ranked = [passage for passage in ranked if passage.hit.doc_id == document.doc_id]
    if not known_names:  # no field has a value, so the answer comes from the text, if that is more than the values
        quoted = quote_answer(review, question, ranked, SearchRoute.LONG_TEXT)
        asked = tuple(review.question_context.schemas[records[0].bucket].by_name[name] for name in field_names)
        quotes_record = quotes_only_records(review, [passage.hit for passage in ranked])
        return report_missing_values(review, records[0], asked) if quotes_record else quoted
    sentences = rank_sentences(
        ranked,
        question,
        review.question_context.analysers,
        review.leg,
        review.requests.schema_phrases,
        read_passages=_CITED_PASSAGES,
    )
    schema = review.question_context.schemas[records[0].bucket]
    facts = FieldValuesFacts(
        document=document,
        values=tuple(_find_value(document, schema.by_name[name], sentences) for name in known_names),
    )
    (facts,) = await _name_referred(review, (facts,))
    return Enough(
        result=replace(
            build_leg_result(review, OutcomeKind.ANSWER, None),
            doc_ids=document_ids_of(records),
            records=tuple(records[:SHOWN_DOCUMENTS]),
        ),
        facts=facts,
        hits=tuple(sort_quoted_first(ranked, facts.quotes)[: review.session.context.limits.reported_hits]),
        assumptions=assumptions_of(review),
    )


async def _name_referred(review: LegReview, facts: Sequence[FieldValuesFacts]) -> list[FieldValuesFacts]:
    """Adds what the documents are called that the values refer to."""
    pairs = [(value.field, value.value) for fact in facts for value in fact.values]
    names = {
        **_name_places(pairs, review),
        **await find_referred_names(pairs, review.session, review.question_context.schemas),
    }
    return [
        replace(
            fact,
            values=tuple(replace(value, referred_name=names.get(str(value.value), "")) for value in fact.values),
        )
        for fact in facts
    ]


def _name_places(pairs: Sequence[tuple[SchemaField, FieldValue | None]], review: LegReview) -> Mapping[str, str]:
    """ "SP 9-5.30" in a rota: returns the place of each value that begins with the code of one."""
    coded = [value for _, value in pairs if isinstance(value, str) and leading_code_of(value)]
    if not coded:
        return {}
    vocabulary, schemas = review.question_context.vocabulary, review.question_context.schemas
    places = {
        place
        for bucket, schema in schemas.items()
        for place in find_places(schema, partial(vocabulary.field_of, bucket))
    }
    codes = {
        code
        for clause in review.leg.search.clauses
        for code in find_leading_codes(schemas[clause.bucket], partial(vocabulary.field_of, clause.bucket))
    }
    names = match_codes(codes, places)
    return {value: names[code] for value in coded if (code := leading_code_of(value)) in names}


def report_missing_values(
    review: LegReview, record: DocumentRecord, fields: tuple[SchemaField, ...]
) -> LegClarification:
    """Says that the value is not known, which is not an answer."""
    return LegClarification(
        kind=OutcomeKind.NO_RESULTS,
        result=build_leg_result(review, OutcomeKind.NO_RESULTS, None),
        facts=MissingValuesFacts(record=record, fields=fields),
        candidates=(),
        assumptions=assumptions_of(review),
    )


def _find_value(
    document: Document, field: SchemaField, sentences: Sequence[tuple[float, FoundPassage, DocumentQuote]]
) -> FieldValueFact:
    """Returns the value with the sentence that holds it, or else with the best sentence about the question."""
    value = document.values[field.name]
    forms = written_forms_of(value, field)
    sentence = find_extracted_sentence(document, field.name) or best_sentence_with_value(sentences, forms)
    sentence = sentence or find_sentence_with_value(document, forms, [field.label, *field.plain_synonyms])
    if sentence is None and sentences and sentences[0][0] >= _MIN_SENTENCE_SCORE:
        sentence = sentences[0][2]
    return FieldValueFact(
        field=field, value=value, currency=currency_of_value(document.values, field), sentence=sentence
    )


HANDLER = FormHandler(answer_form=ReadFields, build_requests=_build_requests, decide=decide_field_values)
