"""Yes or no about a named document: the question looks like one about text, but the document's values decide it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.outcome import FoundPassage, OutcomeKind, SearchRoute
from agent.retrieval.quotations import CitedQuote, rank_sentences, sort_quoted_first
from agent.retrieval.relevance import QueryTerm
from agent.review.leg_review import Enough, LegFacts, LegReview, build_leg_result
from storage.search.conditions import ComparisonCondition
from storage.search.index import DocumentRecord
from storage.search.schema import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class YesNoFacts(LegFacts):
    """Whether all claims are true of the document, and the sentence that supports them."""

    record: DocumentRecord
    schema: Schema
    claims: tuple[ComparisonCondition, ...]
    holds: bool
    support: CitedQuote | None

    @property
    def quotes(self) -> tuple[CitedQuote, ...]:
        return (self.support,) if self.support is not None else ()


def decide_claims(
    review: LegReview, query_terms: Sequence[QueryTerm], passages: Sequence[FoundPassage]
) -> Enough | None:
    """Answers yes or no if one document is named and it has a value for every claim; else returns None."""
    records = review.records
    if not review.requests.checked_claims or len(records) != 1:
        return None
    record, schema = records[0], review.question_context.schemas[records[0].bucket]
    if any(_is_claim_unknown(claim, record, schema) for claim in review.requests.checked_claims):
        return None
    holds = review.count == 1
    facts = YesNoFacts(
        record=record,
        schema=schema,
        claims=review.requests.checked_claims,
        holds=holds,
        support=_find_support(review, record, query_terms, passages) if holds else None,
    )
    return Enough(
        result=replace(build_leg_result(review, OutcomeKind.ANSWER, None), doc_ids=(record.doc_id,)),
        facts=facts,
        hits=tuple(sort_quoted_first(passages, facts.quotes)[: review.session.context.limits.reported_hits]),
        route=SearchRoute.LONG_TEXT,
    )


def _find_support(
    review: LegReview, record: DocumentRecord, query_terms: Sequence[QueryTerm], passages: Sequence[FoundPassage]
) -> CitedQuote | None:
    sentences = rank_sentences(
        passages, query_terms, review.question_context.analysers, review.leg, review.requests.schema_phrases
    )
    return CitedQuote(document=record, quote=sentences[0][2]) if sentences else None


def _is_claim_unknown(claim: ComparisonCondition, record: DocumentRecord, schema: Schema) -> bool:
    """Whether the document has no value to compare; a list or a flag always has one."""
    field = schema.by_name.get(claim.field)
    return field is None or (not field.absent_means_none and field.name not in record.values)
