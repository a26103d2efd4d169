"""Answers a search for several topics with a sentence about each, where no passage answers the whole of it."""

from dataclasses import replace

from agent.forms.find_passages import QuotationsFacts, quote_answer
from agent.outcome import OutcomeKind, SearchRoute
from agent.retrieval.fusion import coverage_of_hit, fuse_hits, matchers_by_bucket, rerank_passages
from agent.retrieval.leg_requests import weigh_question_terms
from agent.retrieval.named_documents import is_confined_to_named_documents
from agent.retrieval.ranking_terms import content_words_of
from agent.retrieval.sub_queries.sub_query_rankings import SubQueryRequests
from agent.review.leg_review import Enough, LegClarification, LegReview, build_leg_result

_MIN_COVERAGE = 0.75  # share of a topic's weight that one of its best passages must hold
_JUDGED_PASSAGES = 3


def answer_each_topic(review: LegReview, decision: Enough | LegClarification) -> Enough | LegClarification:
    """Returns an answer with the best sentence about each topic, if `decision` finds nothing or quotes one document.

    Returns `decision` unless the question has several topics, and a passage holds nearly all of each.
    """
    if is_confined_to_named_documents(review) or review.alternatives.is_confined:
        return decision
    if not _lacks_topics(decision) or review.session.sub_queries[:1] != (review.leg.question,):
        return decision
    answers = [_answer_topic(review, sub_query) for sub_query in review.requests.sub_queries]
    facts = [answer.facts for answer in answers if answer is not None]
    quotations = [topic_facts for topic_facts in facts if isinstance(topic_facts, QuotationsFacts)]
    if len(quotations) < len(answers):
        return decision
    sentences = tuple(dict.fromkeys(topic_facts.sentences[0] for topic_facts in quotations))
    merged = QuotationsFacts(
        sentences=sentences, answer_type=None, is_sure=all(topic_facts.is_sure for topic_facts in quotations)
    )
    return Enough(
        result=replace(
            build_leg_result(review, OutcomeKind.ANSWER, None),
            doc_ids=tuple(dict.fromkeys(cited.document.doc_id for cited in merged.quotes)),
            is_sure=merged.is_sure,
        ),
        facts=merged,
        hits=decision.hits,
        route=SearchRoute.HYBRID,
    )


def _lacks_topics(decision: Enough | LegClarification) -> bool:
    if isinstance(decision, LegClarification):
        return decision.kind is OutcomeKind.NO_RESULTS
    documents = {cited.document.doc_id for cited in decision.facts.quotes}
    return isinstance(decision.facts, QuotationsFacts) and len(documents) == 1


def _answer_topic(review: LegReview, sub_query: SubQueryRequests) -> Enough | None:
    """Returns the quotation of the best sentences about the topic; None if no passage holds nearly all of it."""
    analysers = review.question_context.analysers
    words = set(content_words_of(sub_query.text, analysers[review.leg.search.buckets[0]]))
    question = weigh_question_terms(review.requests, review.answers, review.question_context, include_naming_terms=True)
    terms = [term for term in question if term.word in words]
    ranking = fuse_hits({name: review.answers[request] for name, request in sub_query.passage_requests.items()})
    passages = rerank_passages(ranking, terms, analysers)
    matchers = matchers_by_bucket(terms, analysers)
    covering = [
        passage
        for passage in passages[:_JUDGED_PASSAGES]
        if coverage_of_hit(passage.hit, terms, matchers[passage.hit.bucket]) >= _MIN_COVERAGE
    ]
    if not covering:
        return None
    topic_review = replace(review, leg=replace(review.leg, question=sub_query.text))
    answer = quote_answer(topic_review, terms, covering, SearchRoute.HYBRID)
    return answer if isinstance(answer, Enough) else None
