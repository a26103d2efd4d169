"""Answers by topic: a sentence about each of several topics, or the document whose title is about the asked one."""

from collections.abc import Sequence
from dataclasses import replace

from agent.english.document_questions import topic_of_document
from agent.english.light_words import is_light_word
from agent.evidence.question_words import WordStems, share_start
from agent.evidence.text_lines import TextLine, split_lines, words_of
from agent.forms.find_passages import (
    NoAnswerFacts,
    QuotationsFacts,
    is_rendered_record,
    quote_answer,
    rank_leg_passages,
)
from agent.outcome import FoundPassage, OutcomeKind, SearchRoute
from agent.retrieval.full_text_fallback import search_all_text
from agent.retrieval.fusion import coverage_of_hit, fuse_hits, matchers_by_bucket, rerank_passages
from agent.retrieval.leg_requests import weigh_question_terms
from agent.retrieval.named_documents import is_confined_to_named_documents
from agent.retrieval.quotations import merge_equal_sentences
from agent.retrieval.ranking_terms import content_words_of
from agent.retrieval.sub_queries.sub_query_rankings import SubQueryRequests
from agent.review.leg_review import Enough, LegClarification, LegReview, build_leg_result
from agent.review.sentence_evidence import unique_passages

_MIN_COVERAGE = 0.75  # share of a topic's weight that one of its best passages must hold
_JUDGED_PASSAGES = 3
# They say what kind of text it is, and not what it is about.
_KINDS_OF_RULES = frozenset(
    """step steps procedure procedures instruction instructions rule rules guide guideline guidelines policy policies
    process""".split()
)
_MIN_TITLE_SHARE = 0.6  # of the topic's words, that the title of the document must hold
_MIN_SHARE = 0.99  # of the topic's words, that the title and the text must hold
_READ_PASSAGES = 40  # the best ones in scope


async def name_document_of_topic(review: LegReview, decision: Enough | LegClarification) -> Enough | None:
    """Returns an answer with the document whose title is about the topic, if the question asks for one document.

    None where no title is, or several are, and where the question is answered from fields.
    """
    topic = topic_of_document(review.leg.question)
    if topic is None or not isinstance(decision.facts, (NoAnswerFacts, QuotationsFacts)):
        return None
    analyser = review.question_context.analysers[review.leg.search.buckets[0]]
    stems = WordStems(analyser)
    telling = {stems.stem_of(word) for word in content_words_of(topic, analyser) if _tells_topic(word)}
    if not telling:
        return None
    passages = await _read_passages(review)
    about = [passage for passage in passages if _is_about(passage, passages, telling, stems)]
    if len({passage.hit.doc_id for passage in about}) != 1:
        return None
    return _quote_line(review, decision, _line_of_topic(about, telling, stems))


def _tells_topic(word: str) -> bool:
    return len(word) > 1 and word not in _KINDS_OF_RULES and not is_light_word(word)


async def _read_passages(review: LegReview) -> list[FoundPassage]:
    """Returns the best passages of texts in scope, without rows of tables."""
    text_review = await search_all_text(review)
    _, ranked = await rank_leg_passages(
        text_review, text_review.requests.passage_requests, include_naming_terms=True, use_reranker=False
    )
    return [
        passage
        for passage in unique_passages(ranked[:_READ_PASSAGES])
        if not is_rendered_record(review, passage.hit) and "#" not in passage.hit.doc_id
    ]


def _is_about(passage: FoundPassage, passages: Sequence[FoundPassage], telling: set[str], stems: WordStems) -> bool:
    """Whether the title of the passage's document holds most of the topic, and its passages the rest."""
    title = words_of(passage.hit.title)
    texts = (other.hit.text for other in passages if other.hit.doc_id == passage.hit.doc_id)
    held = title.union(*map(words_of, texts))
    return _share_of(telling, title, stems) >= _MIN_TITLE_SHARE and _share_of(telling, held, stems) >= _MIN_SHARE


def _share_of(telling: set[str], words: frozenset[str], stems: WordStems) -> float:
    held = {stems.stem_of(word) for word in words}
    return sum(_is_held(stem, held) for stem in telling) / len(telling)


def _is_held(stem: str, held: set[str]) -> bool:
    return stem in held or any(share_start(stem, other) for other in held)


def _line_of_topic(passages: Sequence[FoundPassage], telling: set[str], stems: WordStems) -> TextLine:
    """Returns the first line with most words of the topic: the title, where the text has it."""
    lines = [line for passage in sorted(passages, key=_position_of) for line in split_lines(passage)]
    return max(lines, key=lambda line: _share_of(telling, line.words, stems))


def _position_of(passage: FoundPassage) -> int:
    return passage.hit.start


def _quote_line(review: LegReview, decision: Enough | LegClarification, line: TextLine) -> Enough:
    quoted = merge_equal_sentences([(1.0, line.passage, line.quote)])
    hits = tuple(unique_passages([line.passage, *decision.hits]))[: review.session.context.limits.reported_hits]
    return Enough(
        result=replace(build_leg_result(review, OutcomeKind.ANSWER, None), doc_ids=(line.passage.hit.doc_id,)),
        facts=QuotationsFacts(sentences=tuple(quoted), answer_type=None),
        hits=hits,
        route=SearchRoute.HYBRID,
    )


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
