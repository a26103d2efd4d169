"""Builds the choices for an answer or a clarification. Each is counted before it is offered."""

from collections.abc import Sequence

from agent.forms.find_passages import NoAnswerFacts, NoMentionFacts, QuotationsFacts
from agent.outcome import FoundPassage, OutcomeKind
from agent.refine import refinements, relaxations
from agent.refine.candidates import OfferedChoice, RefinementCandidate
from agent.refine.choice_labels import (
    AlsoMissingLabel,
    NearestValueLabel,
    OnlyConditionLabel,
    OtherBucketLabel,
    WithoutConditionLabel,
)
from agent.refine.unknown_words import field_candidates
from agent.retrieval.quotations import QuotableSentence
from agent.review.leg_review import Enough, LegClarification, LegFacts, LegReview
from storage.search.ids import DocId
from storage.search.index import DocumentRequest, IndexRequest, PassageHit

_LABELS_OF_CONDITIONS = (
    AlsoMissingLabel,
    NearestValueLabel,
    OnlyConditionLabel,
    OtherBucketLabel,
    WithoutConditionLabel,
)
_BOTH_COLLECTORS = frozenset({"text", "semantic"})
_MAX_NEAREST_DOCUMENTS = 3  # offered where no text answers


async def offer_beside_answers(reviews: Sequence[LegReview], answers: Sequence[Enough]) -> tuple[OfferedChoice, ...]:
    offered: list[OfferedChoice] = []
    for review, answer in zip(reviews, answers, strict=True):
        nearest = await _nearest_document_candidates(review, answer)
        if nearest:  # the answer is not sure
            nearest = (
                *refinements.possible_set_candidates(review.alternatives, review.leg),
                *refinements.possible_form_candidates(review.alternatives, review.question_context.schemas),
                *nearest,
            )
        if candidates := (*answer.candidates, *nearest):
            offered += await refinements.count_refinements(review.session, review.leg, candidates)
        question = review.leg.question if len(answers) > 1 else ""  # tells the exports of several legs apart
        offered += refinements.action_choices(
            review.leg, answer.export_count, question=question, offer_just_answer=False
        )
    return tuple(offered)


async def offer_for_clarification(review: LegReview, clarification: LegClarification) -> tuple[OfferedChoice, ...]:
    session, leg = review.session, review.leg
    if clarification.kind is not OutcomeKind.NO_RESULTS:
        counted = await refinements.count_refinements(
            session, leg, clarification.candidates, shows_set=clarification.kind is OutcomeKind.OVERLOAD
        )
        actions = refinements.action_choices(
            leg, clarification.export_count, offer_just_answer=clarification.offer_just_answer
        )
        return (*counted, *actions)
    if not review.may_ask_back:
        return ()
    requests = relaxations.relaxation_requests(leg, review.question_context.schemas)
    answers = await session.ask_index(requests) if requests else None
    candidates = relaxations.derive_relaxations(leg, answers, review.alternatives, review.question_context.schemas)
    if isinstance(clarification.facts, NoAnswerFacts):  # it names no condition that a choice could leave out
        candidates = [candidate for candidate in candidates if not isinstance(candidate.label, _LABELS_OF_CONDITIONS)]
    session.ask_with_next(refinements.count_requests_for(leg, candidates))
    nearest = await refinements.count_refinements(
        session,
        leg,
        (
            *refinements.possible_set_candidates(review.alternatives, leg),
            *refinements.possible_form_candidates(review.alternatives, review.question_context.schemas),
            *await _nearest_document_candidates(review, clarification),
            *_field_candidates_of_row(review, clarification),
        ),
    )
    counted = relaxations.limit_relaxations(
        await refinements.count_refinements(session, leg, candidates), taken=len(nearest)
    )
    return (*counted, *nearest, *refinements.search_by_meaning_choices(leg))


def requests_for_relaxations(review: LegReview) -> list[IndexRequest[object]]:
    """Returns what `offer_for_clarification` asks of the index, as far as it is known before anything is answered.

    The choices with the nearest values are counted later, when these are known.
    """
    if not review.may_ask_back:
        return []
    leg, schemas = review.leg, review.question_context.schemas
    candidates = relaxations.derive_relaxations(leg, None, review.alternatives, schemas)
    return [*relaxations.relaxation_requests(leg, schemas), *refinements.count_requests_for(leg, candidates)]


async def _nearest_document_candidates(
    review: LegReview, decision: Enough | LegClarification
) -> Sequence[RefinementCandidate]:
    """Returns the documents that come closest to an answer.

    None where a quotation surely answers. Where no sentence comes near, documents that were found both by the words of
    the question and by its meaning: a row of a table, or a text that says it in other words. Where the question names a
    row, this row.
    """
    if isinstance(decision.facts, NoMentionFacts) and decision.facts.is_row:
        row_id = decision.facts.record.doc_id
        return await _document_candidates(
            review, [found.hit for found in decision.hits if found.hit.doc_id == row_id], (row_id,)
        )
    sentences = _doubtful_sentences(decision.facts)
    quoted = [passage.hit for sentence in sentences for passage, _ in sentence.places]
    found = decision.hits if sentences else _found_both_ways(decision)
    hits = [*quoted, *(passage.hit for passage in found)]
    if not hits:
        return ()
    doc_ids = tuple(dict.fromkeys(hit.doc_id for hit in hits))[:_MAX_NEAREST_DOCUMENTS]
    return await _document_candidates(review, [hit for hit in hits if hit.doc_id in doc_ids], doc_ids)


async def _document_candidates(
    review: LegReview, hits: Sequence[PassageHit], doc_ids: tuple[DocId, ...]
) -> Sequence[RefinementCandidate]:
    """Returns a choice for each document of the hits. What they and the forms beside them are counted by is known
    before the documents are, so that one round trip does for both.
    """
    counted = (
        *refinements.possible_form_candidates(review.alternatives, review.question_context.schemas),
        *refinements.shown_document_candidates(review.leg, hits, {}),
    )
    review.session.ask_with_next(refinements.count_requests_for(review.leg, counted))
    request = DocumentRequest(doc_ids)
    documents = {document.doc_id: document for document in (await review.session.ask_index((request,)))[request]}
    return refinements.shown_document_candidates(review.leg, hits, documents)


def _found_both_ways(decision: Enough | LegClarification) -> Sequence[FoundPassage]:
    if not isinstance(decision.facts, NoAnswerFacts):
        return ()
    return [passage for passage in decision.hits if _BOTH_COLLECTORS.issubset(passage.found_by)]


def _doubtful_sentences(facts: LegFacts) -> tuple[QuotableSentence, ...]:
    """Returns the quoted sentences that do not answer, or not surely."""
    if isinstance(facts, NoAnswerFacts):
        return facts.near or facts.closest
    return facts.sentences if isinstance(facts, QuotationsFacts) and not facts.is_sure else ()


def _field_candidates_of_row(review: LegReview, clarification: LegClarification) -> Sequence[RefinementCandidate]:
    """Returns the fields of the row of a table that the question names, where its words fit none of them."""
    facts = clarification.facts
    if not isinstance(facts, NoMentionFacts) or not facts.is_row:
        return ()
    record = facts.record
    held = [
        field.name
        for field in review.question_context.schemas[record.bucket].fields
        if field.name in record.values and str(record.values[field.name]) not in record.title
    ]
    return field_candidates(review.leg, (*review.alternatives.suggested_fields, *held), review.question_context.schemas)
