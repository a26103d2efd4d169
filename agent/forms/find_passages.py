"""Answers from text: quotes the sentences of the best passages that answer the question."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from agent.evidence.table_rows import holds_counted_cell
from agent.evidence.whole_rows import MIN_NAMES_OF_ROW, is_rendered_row
from agent.forms.clarifications import ask_which_document
from agent.forms.form_handler import FormHandler
from agent.outcome import FoundPassage, OutcomeKind, SearchRoute
from agent.retrieval.answer_type import (
    AnswerType,
    answer_type_of,
    asks_for_documents,
    counted_noun_of,
    find_values_in,
)
from agent.retrieval.fusion import (
    RERANKED_PASSAGES,
    coverage_beyond_title,
    coverage_of_hit,
    fuse_hits,
    matchers_by_bucket,
    merge_rankings,
)
from agent.retrieval.leg_requests import (
    LegInquiry,
    LegRequests,
    hits_by_collector,
    outlines_for,
    weigh_question_terms,
)
from agent.retrieval.long_text import find_in_best_documents, is_about_long_document
from agent.retrieval.named_documents import (
    is_confined_to_named_documents,
    names_whole_title,
    passages_mentioning_names,
    passages_under_named_title,
)
from agent.retrieval.quotations import (
    CitedQuote,
    DocumentQuote,
    QuotableSentence,
    merge_equal_sentences,
    rank_sentences,
)
from agent.retrieval.relevance import QueryTerm, matched_share_of
from agent.retrieval.sub_queries.sub_query_rankings import SubQueryFusion, add_probe_rankings
from agent.review.leg_review import Enough, LegClarification, LegFacts, LegReview, build_leg_result
from storage.search.conditions import ComparisonCondition, Condition, conjuncts_of
from storage.search.ids import ChunkId
from storage.search.index import DocumentRecord, KeywordPassageRequest, PassageHit, SemanticPassageRequest
from storage.search.plan import CheckClaims, FindPassages

# Shares of the question's weight that a passage must hold to count as found: together with its title, and of the words
# that its title lacks. Of 587 questions with and without their company's documents, 98 % are still answered, and 87 %
# rightly not; at 0.42 without the second share it is 100 % and 53 %.
_MIN_COVERAGE, _MIN_COVERAGE_BEYOND_TITLE = 0.55, 0.4
_MIN_COVERAGE_WITH_SUMMARY = 0.6  # the same share, for the best passage together with the summary of its document
_MIN_COSINE = 0.62  # at which a passage counts as found without shared words (WordLlama, 256 dimensions)
_COVERAGE_MARGIN = 0.1  # by which passages elsewhere must cover more of the question to replace those of the set
_MIN_SETTLING_SHARE = 0.75  # of a yes-or-no question's weight, that the sentence which settles it must hold
_JUDGED_PASSAGES = 5  # the best ones: whether they hold enough of the question
_MAX_QUOTED_SENTENCES = 3
_VALUE_ANSWERS = frozenset({AnswerType.DAY, AnswerType.MONEY, AnswerType.NUMBER})
_MIN_VALUE_SCORE_SHARE = 0.5  # of the best sentence's score, for a sentence that holds a value of the asked kind
_MIN_SCORE_SHARE = 0.75  # of the best sentence's score, required of each further quoted sentence
_MAX_OFFERED_DOCUMENTS = 20  # documents offered by name when a question about one document matches several

_RankedPassages: TypeAlias = tuple[Sequence[QueryTerm], list[FoundPassage]]  # the terms that rank them; best first


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotationsFacts(LegFacts):
    """The sentences that answer, best first."""

    sentences: tuple[QuotableSentence, ...]
    answer_type: AnswerType | None  # the kind of value asked for
    counted_noun: str | None = None  # the noun whose number is asked for
    verdict: bool | None = None  # what the first sentence answers a yes-or-no question with
    is_sure: bool = True  # False: the reply says that the sentences may not answer the question

    @property
    def quotes(self) -> tuple[CitedQuote, ...]:
        return tuple(cited for sentence in self.sentences for cited in quotes_of_sentence(sentence))


@dataclass(frozen=True, slots=True, kw_only=True)
class NoAnswerFacts(LegFacts):
    """No text answers the question. `unknown_words` are words of the question that no document holds.

    `closest` are the sentences that come closest to an answer, best first: they are shown, but not as an answer. Of
    those in `near` only the documents are offered.
    """

    unknown_words: tuple[str, ...] = ()
    closest: tuple[QuotableSentence, ...] = ()
    near: tuple[QuotableSentence, ...] = ()
    asks_yes_or_no: bool = False

    @property
    def quotes(self) -> tuple[CitedQuote, ...]:
        return tuple(cited for sentence in self.closest for cited in quotes_of_sentence(sentence))


@dataclass(frozen=True, slots=True, kw_only=True)
class NoMentionFacts(LegFacts):
    """No text of the named document answers the question. `is_row`: it is a row of a table, and has fields only."""

    record: DocumentRecord
    is_row: bool


def quotes_of_sentence(sentence: QuotableSentence) -> tuple[CitedQuote, ...]:
    return tuple(CitedQuote(document=_record_of_hit(passage.hit), quote=quote) for passage, quote in sentence.places)


def _build_requests(_: FindPassages, inquiry: LegInquiry) -> LegRequests:
    return inquiry.request_topics()


async def decide_from_all_text(review: LegReview) -> Enough | LegClarification:
    """Answers from all text in scope, for example if no document has the name in the question."""
    requests = review.requests.fallback_requests or review.requests.passage_requests
    return _decide_from_ranked_text(review, await rank_leg_passages(review, requests, include_naming_terms=True))


def _decide_from_ranked_text(review: LegReview, all_text: _RankedPassages) -> Enough | LegClarification:
    question, ranked = all_text
    decision = quote_answer(review, question, passages_mentioning_names(review, ranked), SearchRoute.HYBRID)
    is_empty = isinstance(decision, LegClarification) and decision.kind is OutcomeKind.NO_RESULTS
    return (
        replace(decision, hits=tuple(ranked[: review.session.context.limits.reported_hits])) if is_empty else decision
    )


async def decide_passages(review: LegReview) -> Enough | LegClarification:
    """Answers from the passages of the set, or from all text if that covers clearly more of the question.

    The words that chose the set may not have been names; then passages elsewhere cover more of the question. If the
    words certainly name the documents, no other document is quoted. Passages elsewhere are reported as hits.
    """
    if not review.requests.fallback_requests:
        return await _decide_from_set(review, await _rank_set(review))
    all_text = await rank_leg_passages(review, review.requests.fallback_requests, include_naming_terms=True)
    if is_confined_to_named_documents(review):
        decision = await _decide_from_set(review, await _rank_set(review))
        return _report_hits(review, decision, _unique_passages([*decision.hits, *all_text[1]]))
    in_set = await _rank_set(review)
    decision = _quote_clearly_better(review, *all_text, in_set) or await _decide_from_set(review, in_set)
    if isinstance(decision, LegClarification) and decision.kind is OutcomeKind.NO_RESULTS:
        decision = _decide_from_ranked_text(review, all_text)
    coverage_elsewhere = _best_coverage_of(review, *all_text)
    if review.session.sub_queries:  # the conditions may name the documents of one topic
        return _report_hits(review, decision, _unique_passages([*all_text[1], *decision.hits]))
    if coverage_elsewhere <= _best_coverage_of(review, all_text[0], in_set[1]) + _COVERAGE_MARGIN:
        return _report_hits(review, decision, _unique_passages([*decision.hits, *all_text[1]]))
    return _report_hits(review, decision, merge_rankings([(1.0, decision.hits), (1.0, all_text[1])]))


def _quote_clearly_better(
    review: LegReview,
    all_text_question: Sequence[QueryTerm],
    other_passages: Sequence[FoundPassage],
    in_set: _RankedPassages,
) -> Enough | LegClarification | None:
    """Answers from `other_passages` if they cover clearly more of the question than those of the set; else None."""
    question, ranked = in_set
    naming_passages = passages_mentioning_names(review, other_passages)
    if naming_passages and naming_passages[0].hit.doc_id in {passage.hit.doc_id for passage in ranked}:
        return None
    coverage = _best_coverage_of(review, all_text_question, naming_passages)
    if coverage <= _best_coverage_of(review, question, ranked) + _COVERAGE_MARGIN:
        return None
    return quote_answer(review, all_text_question, naming_passages, SearchRoute.HYBRID)


def _report_hits(
    review: LegReview, decision: Enough | LegClarification, hits: Sequence[FoundPassage]
) -> Enough | LegClarification:
    return replace(decision, hits=tuple(hits[: review.session.context.limits.reported_hits]))


async def _rank_set(review: LegReview) -> _RankedPassages:
    return await rank_leg_passages(review, review.requests.passage_requests, include_naming_terms=False)


async def _decide_from_set(review: LegReview, in_set: _RankedPassages) -> Enough | LegClarification:
    """Answers from the passages of the set, ranked with the summaries of their documents where that helps."""
    question, ranked = in_set
    if (titled := _passages_of_meant_document(review, question, ranked)) is not None:
        return quote_answer(review, question, titled, SearchRoute.HYBRID, ranked)
    decision = quote_answer(
        review, question, ranked, SearchRoute.LONG_TEXT if is_about_long_document(review) else SearchRoute.HYBRID
    )
    is_empty = isinstance(decision, LegClarification) and decision.kind is OutcomeKind.NO_RESULTS
    if isinstance(decision, LegClarification) and not is_empty:
        return decision
    if (best := await find_in_best_documents(review, ranked, already_answered=not is_empty)) is not None:
        by_summary = quote_answer(
            review,
            best.query_terms,
            best.passages,
            SearchRoute.LONG_TEXT,
            [*ranked, *best.other_passages],
            best.coverage_with_summary,
        )
        if isinstance(by_summary, Enough):
            return by_summary
    return decision


def _passages_of_meant_document(
    review: LegReview, query_terms: Sequence[QueryTerm], passages: Sequence[FoundPassage]
) -> Sequence[FoundPassage] | None:
    """Returns the passages of the document whose title the question names; None if others may be meant.

    A title that is named in part is meant only if no other document covers more of the question.
    """
    titled = passages_under_named_title(passages, query_terms, review.question_context.analysers)
    if not titled:
        return None
    analyser = review.question_context.analysers[titled[0].hit.bucket]
    if names_whole_title(titled[0].hit.title, query_terms, analyser):
        return titled
    covers_most = _best_coverage_of(review, query_terms, titled) >= _best_coverage_of(review, query_terms, passages)
    return titled if covers_most and _covers_enough(review, query_terms, titled) else None


async def rank_leg_passages(
    review: LegReview,
    requests: Mapping[str, KeywordPassageRequest | SemanticPassageRequest],
    *,
    include_naming_terms: bool,
    use_reranker: bool = True,
) -> _RankedPassages:
    """Returns the terms that rank the passages, and the passages, best first."""
    question = weigh_question_terms(
        review.requests, review.answers, review.question_context, include_naming_terms=include_naming_terms
    )
    passages = fuse_hits(
        hits_by_collector(requests, review.answers), outlines_for(review.requests, requests, review.answers)
    )
    if review.requests.sub_queries and requests is review.requests.widest_requests:
        passages = _fuse_sub_queries(review, question, passages)
    if probes := review.requests.probes_beside(requests):
        passages = add_probe_rankings(review.leg.question, passages, probes, review.answers)
    rerank_scores = (
        await review.session.rerank_scores(review.leg.question, passages[:RERANKED_PASSAGES]) if use_reranker else None
    )
    ranked = review.session.rank_passages(passages, question, review.question_context.analysers, rerank_scores)
    return question, ranked


def _fuse_sub_queries(
    review: LegReview, query_terms: Sequence[QueryTerm], passages: list[FoundPassage]
) -> list[FoundPassage]:
    """Returns the passages, also of the question's parts if these are topics of their own; records these parts."""
    fusion = SubQueryFusion(
        question=review.leg.question,
        sub_queries=review.requests.sub_queries,
        query_terms=query_terms,
        analysers=review.question_context.analysers,
    )
    fused = fusion.fuse_rankings(passages, review.answers)
    if fused is None:
        return passages
    review.session.sub_queries = (
        review.leg.question,
        *(sub_query.text for sub_query in review.requests.sub_queries),
    )
    return fused


def quote_answer(
    review: LegReview,
    query_terms: Sequence[QueryTerm],
    passages: Sequence[FoundPassage],
    route: SearchRoute,
    other_passages: Sequence[FoundPassage] = (),
    coverage_with_summary: float | None = None,
) -> Enough | LegClarification:
    """Quotes the best sentences of the passages; reports no answer if the passages cover too little of the question.

    Nor are sentences an answer to a question for all documents of a kind.

    `other_passages` are only reported as hits, after `passages`. `coverage_with_summary` is the share (0 to 1) of the
    question that the passages cover together with the summaries of their documents.
    """
    hits = _unique_passages([*passages, *other_passages])[: review.session.context.limits.reported_hits]
    if asks_for_documents(review.leg.question) or not (
        _covers_enough(review, query_terms, passages)
        or (coverage_with_summary is not None and coverage_with_summary >= _MIN_COVERAGE_WITH_SUMMARY)
    ):
        return _report_no_answer(review, [term.word for term in query_terms if not term.is_known], hits)
    ranked_sentences = rank_sentences(
        passages, query_terms, review.question_context.analysers, review.leg, review.requests.schema_phrases
    )
    sentences = _sentences_with_asked_value(ranked_sentences, review.leg.question)
    if not sentences or quotes_only_records(
        review, [passage.hit for _, passage, _ in sentences[:_MAX_QUOTED_SENTENCES]]
    ):
        return _report_no_answer(review, [term.word for term in query_terms if not term.is_known], hits)
    if _documents_answer_differently(review, sentences) and review.records:
        return ask_which_document(review, review.records)
    quoted = tuple(_take_sentences(sentences))
    asked = review.leg.question
    if not _settle_question(review, query_terms, quoted):
        return report_no_answer(review, NoAnswerFacts(closest=quoted, asks_yes_or_no=True), hits)
    facts = QuotationsFacts(sentences=quoted, answer_type=answer_type_of(asked), counted_noun=counted_noun_of(asked))
    return Enough(
        result=replace(
            build_leg_result(review, OutcomeKind.ANSWER, None),
            doc_ids=tuple(dict.fromkeys(cited.document.doc_id for cited in facts.quotes)),
        ),
        facts=facts,
        hits=hits,
        route=route,
    )


def _sentences_with_asked_value(
    sentences: Sequence[tuple[float, FoundPassage, DocumentQuote]], question: str
) -> Sequence[tuple[float, FoundPassage, DocumentQuote]]:
    """Returns the sentences with a value of the asked kind, if it is a day, an amount or a number; none of much less
    worth than the best sentence. Any sentence may answer other questions.
    """
    answer_type, counted_noun = answer_type_of(question), counted_noun_of(question)
    if answer_type is None or answer_type not in _VALUE_ANSWERS:
        return sentences
    return [
        sentence
        for sentence in sentences
        if sentence[0] >= _MIN_VALUE_SCORE_SHARE * sentences[0][0]
        and (
            find_values_in(sentence[2].text, answer_type, counted_noun)
            or (counted_noun and holds_counted_cell(sentence[2].text, sentence[1].hit.text, counted_noun, question))
        )
    ]


def quotes_only_records(review: LegReview, hits: Sequence[PassageHit]) -> bool:
    """Whether the passages are rows of tables, whose text says no more than their fields; true of none."""
    return all(is_rendered_record(review, hit) for hit in hits)


def is_rendered_record(review: LegReview, hit: PassageHit) -> bool:
    """Whether the passage is a row of a table, written as names and values: its fields answer questions, or nothing."""
    return is_rendered_row(hit.text, review.question_context.schemas[hit.bucket])


def is_part_of_record(text: str, review: LegReview) -> bool:
    """Whether the text is several values of a row, as it is stored: "id: T-1 course: First Aid outcome: passed"."""
    schemas = [review.question_context.schemas[bucket] for bucket in review.leg.search.buckets]
    return any(sum(f"{field.name}: " in text for field in schema.fields) >= MIN_NAMES_OF_ROW for schema in schemas)


def _take_sentences(
    sentences: Sequence[tuple[float, FoundPassage, DocumentQuote]],
) -> Iterator[QuotableSentence]:
    """Yields at most three sentences, none of them much worse than the best."""
    for rank, sentence in enumerate(merge_equal_sentences(sentences)[:_MAX_QUOTED_SENTENCES]):
        if rank and sentence.score < _MIN_SCORE_SHARE * sentences[0][0]:
            return
        yield sentence


def _settle_question(
    review: LegReview, query_terms: Sequence[QueryTerm], sentences: Sequence[QuotableSentence]
) -> bool:
    """Whether a quoted sentence, with its title, holds nearly all of a yes-or-no question; True for other questions."""
    if not isinstance(review.leg.answer_form, CheckClaims):
        return True
    matchers = matchers_by_bucket(query_terms, review.question_context.analysers)
    return any(
        matched_share_of(query_terms, matchers[passage.hit.bucket].find_stems(f"{passage.hit.title}\n{quote.text}"))
        >= _MIN_SETTLING_SHARE
        for sentence in sentences
        for passage, quote in sentence.places
    )


def _unique_passages(passages: Sequence[FoundPassage]) -> tuple[FoundPassage, ...]:
    by_chunk = dict[ChunkId, FoundPassage]()
    for passage in passages:
        by_chunk.setdefault(passage.hit.chunk_id, passage)
    return tuple(by_chunk.values())


def _covers_enough(review: LegReview, query_terms: Sequence[QueryTerm], passages: Sequence[FoundPassage]) -> bool:
    """Whether a passage holds enough of the question's weight, or is close enough to it in meaning."""
    semantic_request = review.requests.passage_requests.get("semantic")
    cosine = (
        max((hit.score for hit in review.answers[semantic_request][:1]), default=0.0)
        if semantic_request is not None
        else 0.0
    )
    if passages and cosine >= _MIN_COSINE and any(term.is_known for term in query_terms):
        return True
    matchers = matchers_by_bucket(query_terms, review.question_context.analysers)
    return any(
        coverage_of_hit(hit, query_terms, matchers[hit.bucket]) >= _MIN_COVERAGE
        and coverage_beyond_title(hit, query_terms, matchers[hit.bucket]) >= _MIN_COVERAGE_BEYOND_TITLE
        for hit in (passage.hit for passage in passages[:_JUDGED_PASSAGES])
    )


def _best_coverage_of(review: LegReview, query_terms: Sequence[QueryTerm], passages: Sequence[FoundPassage]) -> float:
    """Returns the largest share (0 to 1) of the question's weight that one of the first five passages holds."""
    matchers = matchers_by_bucket(query_terms, review.question_context.analysers)
    return max(
        (
            coverage_of_hit(passage.hit, query_terms, matchers[passage.hit.bucket])
            for passage in passages[:_JUDGED_PASSAGES]
        ),
        default=0.0,
    )


def _record_of_hit(hit: PassageHit) -> DocumentRecord:
    return DocumentRecord(doc_id=hit.doc_id, bucket=hit.bucket, title=hit.title, source=hit.source, values={})


def _documents_answer_differently(
    review: LegReview, sentences: Sequence[tuple[float, FoundPassage, DocumentQuote]]
) -> bool:
    """Whether several documents answer a question about one document equally well, but differently."""
    if (
        not review.may_ask_back
        or not 2 <= review.count <= _MAX_OFFERED_DOCUMENTS
        or not _asks_about_single_document(review)
    ):
        return False
    best = [(passage.hit.doc_id, quote.text) for score, passage, quote in sentences if score >= 0.93 * sentences[0][0]]
    return len({doc_id for doc_id, _ in best}) > 1 and len({text for _, text in best}) > 1


def _asks_about_single_document(review: LegReview) -> bool:
    """Whether the words of a condition follow "the" in the singular, as in "the battery cabinet"."""
    question = review.leg.question.casefold()
    words = [
        _question_words_of(condition)
        for clause in review.leg.search.clauses
        for condition in conjuncts_of(clause.condition)
    ]
    return any(" ".join(("the", word)) in question and not word.endswith("s") for word in words if word)


def _question_words_of(condition: Condition) -> str:
    return condition.words.casefold() if isinstance(condition, ComparisonCondition) else ""


def _report_no_answer(
    review: LegReview, unknown_words: Sequence[str], hits: tuple[FoundPassage, ...]
) -> LegClarification:
    """Reports that no text answers. The ranked passages are reported as hits."""
    is_named = len(review.records) == 1 and is_confined_to_named_documents(review)
    if not is_named:
        return report_no_answer(review, NoAnswerFacts(unknown_words=tuple(unknown_words)), hits)
    record = review.records[0]
    own_hits = [passage.hit for passage in hits if passage.hit.doc_id == record.doc_id]
    is_row = "#" in record.doc_id or any(is_rendered_record(review, hit) for hit in own_hits)
    return report_no_answer(review, NoMentionFacts(record=record, is_row=is_row), hits)


def report_no_answer(
    review: LegReview, facts: NoAnswerFacts | NoMentionFacts, hits: tuple[FoundPassage, ...]
) -> LegClarification:
    """Reports `facts`, with the passages that were ranked as hits."""
    return LegClarification(
        kind=OutcomeKind.NO_RESULTS,
        result=build_leg_result(review, OutcomeKind.NO_RESULTS, None),
        facts=facts,
        candidates=(),
        hits=hits,
        route=SearchRoute.HYBRID,
    )


HANDLER = FormHandler(
    answer_form=FindPassages, build_requests=_build_requests, decide=lambda _, review: decide_passages(review)
)
