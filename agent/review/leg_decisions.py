"""Decides the legs by rules: by document counts wherever counts are enough, each leg by its form."""

from collections.abc import Sequence

from agent.evidence.word_meanings import WordMeanings
from agent.forms.clarifications import ask_about_unknown_words
from agent.forms.compare_sides import decide_comparison_sides
from agent.forms.find_passages import NoAnswerFacts, QuotationsFacts
from agent.forms.registry import decide_by_form
from agent.outcome import OutcomeKind
from agent.retrieval.full_text_fallback import fall_back_to_full_text
from agent.retrieval.query_reformulation import reformulate_search
from agent.review.doubtful_reading import ask_about_doubtful_comparison, ask_about_doubtful_reading
from agent.review.leg_review import Decision, Enough, LegClarification, LegReview
from agent.review.nearest_sentences import show_nearest_sentences
from agent.review.partly_stated import ask_about_open_documents
from agent.review.table_answers import answer_from_tables
from agent.review.text_answers import answer_from_sentences
from agent.review.topic_answers import answer_each_topic, name_document_of_topic
from agent.review.unmentioned_words import drop_mentioned_words
from storage.search.ids import DocId, LegId
from storage.search.plan import LegCombination


async def decide_legs(
    reviews: Sequence[LegReview],
    combination: LegCombination,
    meanings: WordMeanings,
    *,
    is_last_round: bool,
    unquoted_legs: frozenset[LegId] = frozenset(),
) -> Sequence[Decision]:
    """Decides as `EvidenceReviewer` says. In the texts of `unquoted_legs` no sentence is looked for that answers."""
    reformulations = () if is_last_round else tuple(map(reformulate_search, reviews))
    more = [reformulated for reformulated in reformulations if reformulated is not None]
    if more:
        return more
    if combination is LegCombination.COMPARE:
        return ask_about_doubtful_comparison(reviews, await decide_comparison_sides(reviews))
    decisions = list[Enough | LegClarification]()
    for before, review in zip((None, *reviews), reviews, strict=False):
        decision = await _decide_leg(
            review,
            meanings,
            before.leg.question if before else "",
            _documents_told_by(decisions[-1]) if decisions else (),
            quotes_sentences=review.leg.id not in unquoted_legs,
        )
        decisions.append(decision)
    return decisions


def _documents_told_by(decision: Enough | LegClarification) -> Sequence[DocId]:
    """Returns the documents that a later part of the message may refer to: of quotations the best one's."""
    if isinstance(decision.facts, NoAnswerFacts):
        return tuple(passage.hit.doc_id for sentence in decision.facts.closest[:1] for passage, _ in sentence.places)
    if not isinstance(decision, Enough):
        return ()
    documents = decision.result.doc_ids
    return documents[:1] if isinstance(decision.facts, QuotationsFacts) else documents


async def _decide_leg(
    review: LegReview,
    meanings: WordMeanings,
    earlier_question: str,
    told_documents: Sequence[DocId],
    *,
    quotes_sentences: bool,
) -> Enough | LegClarification:
    decision = await ask_about_unknown_words(review, meanings) or await decide_by_form(review)
    if not quotes_sentences:
        return ask_about_doubtful_reading(review, ask_about_open_documents(review, decision))
    if (named := await name_document_of_topic(review, decision)) is not None:
        return named
    quoted = await answer_from_sentences(
        review, decision, meanings, earlier_question=earlier_question, told_documents=told_documents
    )
    answered = answer_each_topic(review, await show_nearest_sentences(review, quoted, meanings))
    answered = await answer_from_tables(review, answered, meanings)
    if isinstance(answered, LegClarification) and answered.kind is OutcomeKind.NO_RESULTS and not answered.hits:
        answered = await fall_back_to_full_text(review, answered)
    decided = ask_about_open_documents(review, await drop_mentioned_words(review, answered, meanings))
    return ask_about_doubtful_reading(review, decided)
