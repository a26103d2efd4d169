"""Yes or no about a named document, decided by its values; answered from text where they decide nothing."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from agent.decomposition import QuestionContext
from agent.english.function_words import YES_NO_VERBS
from agent.english.written_values import written_forms_of
from agent.forms.clarifications import report_nothing_found, wider_reading_candidates
from agent.forms.find_passages import decide_passages, rank_leg_passages
from agent.forms.form_handler import FormHandler
from agent.forms.read_fields import report_missing_values
from agent.limits import SHOWN_DOCUMENTS
from agent.outcome import FoundPassage, OutcomeKind, SearchRoute, UnstatedValues
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
from agent.retrieval.ranking_terms import FORM_WORDS, claims_in_condition
from agent.retrieval.relevance import QueryTerm
from agent.review.leg_review import (
    Enough,
    LegClarification,
    LegFacts,
    LegReview,
    assumptions_of,
    build_leg_result,
    document_ids_of,
)
from storage.search.conditions import (
    DOC_ID_FIELD,
    ComparisonCondition,
    Condition,
    FieldComparisonCondition,
    MissingCondition,
    NotCondition,
    OrCondition,
    RowCondition,
    conjunction_of,
    conjuncts_of,
    fields_of,
    text_condition_for,
)
from storage.search.documents import Document
from storage.search.index import CountRequest, DocumentRecord, DocumentRequest, RecordPageRequest
from storage.search.plan import CheckClaims, ClaimQuantifier, Leg, Search
from storage.search.schema import FieldType, Schema, SchemaField

Comparison: TypeAlias = ComparisonCondition | FieldComparisonCondition
Claim: TypeAlias = Comparison | MissingCondition | NotCondition | OrCondition | RowCondition

_PLAIN_CLAIMS = (ComparisonCondition, FieldComparisonCondition, RowCondition)
_WORD_PATTERN = re.compile(r"\w+")
_MIN_COMPARISONS = 2  # conditions of a question that names a document and makes a claim about it
_MAX_UNCOVERED_WORDS = 1  # content words beside names and claim; with more, the question asks more than the claim


@dataclass(frozen=True, slots=True, kw_only=True)
class YesNoFacts(LegFacts):
    """Whether all claims are true of the document: its claims that decide, and the sentence that shows their value."""

    document: Document
    schema: Schema
    claims: tuple[Claim, ...]
    holds: bool
    support: DocumentQuote | None

    @property
    def quotes(self) -> tuple[CitedQuote, ...]:
        return cite_values(self.document, [self.support])


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedClaimFacts(LegFacts):
    """Of how many documents the claims are true. `records` are the first of the scope, or of those that fit."""

    quantifier: ClaimQuantifier
    claims: tuple[Condition, ...]
    scope: Search | None
    scope_count: int | None  # documents that the claims are about; None: all of the bucket
    count: int
    records: tuple[DocumentRecord, ...]
    schema: Schema
    unknown_fields: tuple[SchemaField, ...] = ()  # of the claims, which no document of the scope has
    unknown_documents: UnstatedValues | None = None  # for which the claims may be true

    @property
    def verdict(self) -> bool | None:
        """Whether it is so; None if the values do not tell.

        "No" needs a document of which the claims are false; where any document would do, no scarce field.
        """
        if self.count > 0 and (self.quantifier is ClaimQuantifier.ANY or self.count == self.scope_count):
            return True
        unknown = self.unknown_documents
        if unknown is None:
            return False
        if self.quantifier is ClaimQuantifier.ANY:
            return None if unknown.is_scarce else False
        return None if self.count + unknown.count == self.scope_count else False


def _build_requests(answer_form: CheckClaims, inquiry: LegInquiry) -> LegRequests:
    """Builds the requests of a text question to the named documents, whether the claims are true of them or not."""
    if answer_form.quantifier is not None:
        return _build_count_requests(answer_form, inquiry)
    claims = find_claims(inquiry.leg, inquiry.question_context)
    return inquiry.request_text(inquiry.ranking_text, _search_without_claims(inquiry.leg.search, claims))


def _build_count_requests(answer_form: CheckClaims, inquiry: LegInquiry) -> LegRequests:
    scope = answer_form.scope
    claims = _find_claims_of_existence(answer_form, inquiry.leg, inquiry.question_context)
    if claims:
        named = _search_without_claims(inquiry.leg.search, claims)
        requests = inquiry.request_text(inquiry.ranking_text, named)
        of_set = inquiry.request_set()
        return replace(
            requests,
            missing_counts=of_set.missing_counts,
            unstated=of_set.unstated,
            whole_count=CountRequest(named),
        )
    if scope is None or answer_form.quantifier is ClaimQuantifier.ALL:
        requests = replace(
            inquiry.request_set(), record_page=RecordPageRequest(inquiry.leg.search, limit=SHOWN_DOCUMENTS)
        )
    else:
        requests = inquiry.request_text(inquiry.ranking_text, scope)
    if scope is None:
        return requests
    return replace(requests, unstated=inquiry.request_unstated(scope), whole_count=CountRequest(scope))


async def decide_claims(answer_form: CheckClaims, review: LegReview) -> Enough | LegClarification:
    """Answers yes or no if one document is named and it has a value for every claim; else answers from text.

    With a quantifier the counts decide.
    """
    if answer_form.quantifier is not None:
        return await _decide_counted_claims(answer_form, answer_form.quantifier, review)
    claims = find_claims(review.leg, review.question_context)
    if not claims or len(review.records) != 1 or not _has_values_for(claims, review.records[0], review):
        return await decide_passages(review)
    return await _answer_claims(claims, review)


async def _decide_counted_claims(
    answer_form: CheckClaims, quantifier: ClaimQuantifier, review: LegReview
) -> Enough | LegClarification:
    existence = _find_claims_of_existence(answer_form, review.leg, review.question_context)
    if existence and len(review.records) == 1:
        return await _answer_claims(existence, review)
    records = await _read_records(review) if existence else review.records
    clause, whole_count = review.leg.search.clauses[0], None if existence else review.requests.whole_count
    scope_count = None if whole_count is None else review.answers[whole_count]
    scoped = () if answer_form.scope is None else conjuncts_of(answer_form.scope.clauses[0].condition)
    scope_terms = () if answer_form.scope is None else answer_form.scope.clauses[0].required_terms
    claims = (
        *(condition for condition in conjuncts_of(clause.condition) if condition not in scoped),
        *(text_condition_for(term) for term in clause.required_terms if term not in scope_terms),
    )
    if scope_count == 0 or not claims:
        return report_nothing_found(
            replace(review, leg=replace(review.leg, search=answer_form.scope or review.leg.search))
        )
    schema = review.question_context.schemas[clause.bucket]
    if quantifier is ClaimQuantifier.ANY and scope_count == 1 and review.records:
        unknown = _unknown_fields(claims, review.records[0], schema)
        if unknown and not review.count:
            return report_missing_values(review, review.records[0], unknown)
        plain = tuple(
            claim
            for claim in claims
            if isinstance(claim, _PLAIN_CLAIMS) or (isinstance(claim, NotCondition) and _asks_for_value(claim))
        )
        if len(plain) == len(claims):
            return await _answer_claims(plain, review)
    facts = CountedClaimFacts(
        quantifier=quantifier,
        claims=claims,
        scope=answer_form.scope,
        scope_count=scope_count,
        count=review.count,
        records=records,
        schema=schema,
        unknown_fields=await _find_fields_without_values(answer_form, claims, review) if scope_count else (),
        unknown_documents=review.unknown_documents,
    )
    if facts.unknown_fields:
        return LegClarification(
            kind=OutcomeKind.NO_RESULTS,
            result=build_leg_result(review, OutcomeKind.NO_RESULTS, None),
            facts=facts,
            candidates=(),
            assumptions=assumptions_of(review),
        )
    result = build_leg_result(review, OutcomeKind.ANSWER, None)
    return Enough(
        result=replace(result, doc_ids=document_ids_of(records), records=records[:SHOWN_DOCUMENTS]),
        facts=facts,
        candidates=tuple(wider_reading_candidates(review)),
        assumptions=assumptions_of(review),
    )


async def _find_fields_without_values(
    answer_form: CheckClaims, claims: Sequence[Condition], review: LegReview
) -> tuple[SchemaField, ...]:
    """Returns the fields of the claims that no document of the scope has, if no claim is true: nothing is known."""
    if answer_form.scope is None or review.count:
        return ()
    clause = answer_form.scope.clauses[0]
    schema = review.question_context.schemas[clause.bucket]
    compared = [claim for claim in claims if not _asks_for_value(claim)]
    names = sorted({name for claim in compared for name in fields_of(claim) if name in schema.by_name})
    counts = {
        name: CountRequest(
            answer_form.scope.with_clauses(
                replace(clause, condition=conjunction_of(clause.condition, NotCondition(MissingCondition(field=name))))
            )
        )
        for name in names
        if not schema.by_name[name].absent_means_none
    }
    answers = await review.session.ask_index((*counts.values(),)) if counts else None
    return tuple(schema.by_name[name] for name, count in counts.items() if answers is not None and not answers[count])


async def _read_records(review: LegReview) -> tuple[DocumentRecord, ...]:
    """Returns the first documents of the set; the requests of the review read all that the names fit."""
    page = RecordPageRequest(review.leg.search, limit=SHOWN_DOCUMENTS)
    return tuple((await review.session.ask_index((page,)))[page].records)


def _unknown_fields(claims: Iterable[Condition], record: DocumentRecord, schema: Schema) -> tuple[SchemaField, ...]:
    """Returns the fields of the claims without a value in the document; an absent list or flag has a meaning.

    "Have we *thanked* them": that there is no day of it is what the question asks.
    """
    compared = [claim for claim in claims if not _asks_for_value(claim)]
    fields = [schema.by_name[name] for claim in compared for name in sorted(fields_of(claim)) if name in schema.by_name]
    return tuple(field for field in fields if field.name not in record.values and not field.absent_means_none)


def _asks_for_value(claim: Condition) -> bool:
    return isinstance(claim.condition if isinstance(claim, NotCondition) else claim, MissingCondition)


# -- the claims of a question


def find_claims(leg: Leg, question_context: QuestionContext) -> tuple[Claim, ...]:
    """Returns the conditions that claim something about the documents that the others name; else empty.

    A later part of a message keeps the form of the part before it, but it may not ask for yes or no.
    """
    first = next(iter(leg.question.casefold().split()), "")
    if first not in YES_NO_VERBS or len(leg.search.clauses) != 1:
        return ()
    clause = leg.search.clauses[0]
    schema = question_context.schemas[clause.bucket]
    claims: tuple[Claim, ...] = claims_in_condition(clause.condition, schema, question_context)
    claims = claims or _find_claims_about_end(clause.condition, schema)
    claims = claims or _find_claim_after_names(clause.condition, leg.question, schema)
    return claims if len(claims) < len(conjuncts_of(clause.condition)) else ()


def _find_claims_of_existence(
    answer_form: CheckClaims, leg: Leg, question_context: QuestionContext
) -> tuple[Claim, ...]:
    """ "Is there *a bar* in Fir Hall?": returns what is claimed of the documents that the other conditions name."""
    if (
        answer_form.quantifier is not ClaimQuantifier.ANY
        or answer_form.scope is not None
        or len(leg.search.clauses) != 1
    ):
        return ()
    clause = leg.search.clauses[0]
    if any(map(_selects_by_id, conjuncts_of(clause.condition))):
        return ()  # the documents are known already, not only their names
    claims = claims_in_condition(clause.condition, question_context.schemas[clause.bucket], question_context)
    return claims if len(claims) < len(conjuncts_of(clause.condition)) else ()


def _selects_by_id(condition: Condition) -> bool:
    return isinstance(condition, ComparisonCondition) and condition.field == DOC_ID_FIELD


def _find_claims_about_end(condition: Condition, schema: Schema) -> tuple[Claim, ...]:
    """ "Is Ida Berg *still here*?": returns the conditions for which it matters whether there is a day at all."""
    return tuple(
        part
        for part in conjuncts_of(condition)
        if isinstance(part, (MissingCondition, NotCondition, OrCondition)) and _may_lack_day(part, schema)
    )


def _may_lack_day(condition: Condition, schema: Schema) -> bool:
    match condition:
        case MissingCondition(field=name):
            field = schema.by_name.get(name)
            return field is not None and field.type is FieldType.DATE
        case NotCondition(inner):
            return _may_lack_day(inner, schema)
        case OrCondition(members):
            return any(_may_lack_day(member, schema) for member in members)
        case _:
            return False


def _find_claim_after_names(condition: Condition, question: str, schema: Schema) -> tuple[Claim, ...]:
    """ "Is TCK-7 still *open*?": returns the claim that appears after all names of the document.

    The currency of an amount belongs to it.
    """
    parts = [part for part in conjuncts_of(condition) if isinstance(part, _PLAIN_CLAIMS) and part.words]
    if len(parts) < len(conjuncts_of(condition)):
        return ()
    spoken_parts = [part for part in parts if not _is_currency_of_any(part, parts, schema)]
    placed = sorted((question.find(part.words), index) for index, part in enumerate(spoken_parts))
    if len(placed) < _MIN_COMPARISONS or placed[0][0] < 0:
        return ()
    if len(_uncovered_words_of(question, parts)) > _MAX_UNCOVERED_WORDS:
        return ()  # the other words say what is asked
    last = spoken_parts[placed[-1][1]]
    if any(part is not last and fields_of(part) & fields_of(last) for part in spoken_parts):
        return ()
    return (last, *(part for part in parts if _is_currency_of_any(part, [last], schema)))


def _is_currency_of_any(part: Condition, amounts: Iterable[Condition], schema: Schema) -> bool:
    """Whether the condition says in which currency one of the amounts is."""
    fields = (schema.by_name.get(name) for amount in amounts for name in fields_of(amount))
    currency_fields = {field.currency_field for field in fields if field is not None}
    return isinstance(part, ComparisonCondition) and part.field in currency_fields


def _uncovered_words_of(question: str, parts: Iterable[Comparison | RowCondition]) -> list[str]:
    """Returns the content words that are in no condition."""
    covered = {word for part in parts for word in _WORD_PATTERN.findall(part.words.casefold())}
    words = _WORD_PATTERN.findall(question.casefold())[1:]  # the first word is the verb: "is", "do"
    return [word for word in words if word not in covered and word not in FORM_WORDS and word not in YES_NO_VERBS]


def _search_without_claims(search: Search, claims: Iterable[Claim]) -> Search:
    gone = set(claims)
    return search.with_clauses(
        *(
            replace(
                clause, condition=conjunction_of(*(part for part in conjuncts_of(clause.condition) if part not in gone))
            )
            for clause in search.clauses
        )
    )


# -- the answer


def _has_values_for(claims: Iterable[Claim], record: DocumentRecord, review: LegReview) -> bool:
    """Whether the document has a value to compare with each claim; a list or a flag always has one."""
    by_name = review.question_context.schemas[record.bucket].by_name
    fields = [by_name.get(name) for claim in claims for name in sorted(fields_of(claim))]
    may_be_absent = {name for claim in claims if not _is_comparison(claim) for name in fields_of(claim)}
    return all(
        field is not None and (field.absent_means_none or field.name in record.values or field.name in may_be_absent)
        for field in fields
    )


def _is_comparison(claim: Claim) -> bool:
    return isinstance(claim, (ComparisonCondition, FieldComparisonCondition))


async def _answer_claims(claims: tuple[Claim, ...], review: LegReview) -> Enough | LegClarification:
    record, holds = review.records[0], review.count == 1
    fetch = DocumentRequest((record.doc_id,))
    # A claim that holds beside one that does not must not be denied, so each claim is counted alone.
    searches = {} if holds else {claim: _search_with_claim(review.leg.search, claims, claim) for claim in claims}
    counts = {claim: CountRequest(search) for claim, search in searches.items()}
    answers = await review.session.ask_index((fetch, *counts.values()))
    document = next(iter(answers[fetch]), None)
    if document is None:  # deleted since the first round trip
        return report_nothing_found(review)
    deciding = tuple(claim for claim in claims if claim not in counts or not answers[counts[claim]]) or claims
    query_terms, passages = await rank_leg_passages(
        review, review.requests.passage_requests, include_naming_terms=False
    )
    facts = YesNoFacts(
        document=document,
        schema=review.question_context.schemas[record.bucket],
        claims=deciding,
        holds=holds,
        support=_find_support(deciding, document, review, query_terms, passages),
    )
    quotes = facts.quotes if facts.support is not None else ()
    return Enough(
        result=replace(build_leg_result(review, OutcomeKind.ANSWER, None), doc_ids=(record.doc_id,)),
        facts=facts,
        hits=tuple(sort_quoted_first(passages, quotes)[: review.session.context.limits.reported_hits]),
        route=SearchRoute.LONG_TEXT,
    )


def _search_with_claim(search: Search, claims: Iterable[Claim], kept_claim: Claim) -> Search:
    named = _search_without_claims(search, claims)
    return named.with_clauses(
        *(replace(clause, condition=conjunction_of(clause.condition, kept_claim)) for clause in named.clauses)
    )


def _find_support(
    claims: Sequence[Claim],
    document: Document,
    review: LegReview,
    query_terms: Sequence[QueryTerm],
    passages: Sequence[FoundPassage],
) -> DocumentQuote | None:
    """Returns the sentence that shows the value of a claim, preferably of the last one, which is what is asked."""
    own_passages = [passage for passage in passages if passage.hit.doc_id == document.doc_id]
    sentences = rank_sentences(
        own_passages, query_terms, review.question_context.analysers, review.leg, review.requests.schema_phrases
    )
    supports = (_find_sentence_for(claim, document, review, sentences) for claim in reversed(claims))
    return next((support for support in supports if support is not None), None)


def _find_sentence_for(
    claim: Claim,
    document: Document,
    review: LegReview,
    sentences: Sequence[tuple[float, FoundPassage, DocumentQuote]],
) -> DocumentQuote | None:
    schema, holds = review.question_context.schemas[review.records[0].bucket], review.count == 1
    if claims_in_condition(claim, schema, review.question_context):  # the text says it in other words than the value's
        return sentences[0][2] if holds and sentences else None
    for name in sorted(fields_of(claim) & document.values.keys()):
        field, value = schema.by_name[name], document.values[name]
        if field.type in (FieldType.LIST, FieldType.ROWS):
            if not holds or not isinstance(claim, ComparisonCondition):
                continue
            value = str(claim.value)
        forms = written_forms_of(value, field)
        labelled = find_sentence_with_value(document, forms, [field.label, *field.plain_synonyms])
        best = best_sentence_with_value(sentences, forms) or labelled
        # The question has the claimed number, and not the label of the field that has another.
        is_number = field.type in (FieldType.NUMBER, FieldType.MONEY)
        support = find_extracted_sentence(document, name) or (labelled if is_number else best)
        if support is not None:
            return support
    return None


HANDLER = FormHandler(answer_form=CheckClaims, build_requests=_build_requests, decide=decide_claims)
