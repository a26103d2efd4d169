"""Retrieval in long documents: first the documents about the subject of the question, then their passages.

A passage of a long document rarely names the subject of the document. The words of a question that name the subject
stand in the title, the headings and the summary; the other words appear in the passage. If the best passages lack words
of the question, the passages of the documents with the best titles and summaries are searched alone, and each passage
is scored together with the summary of its document.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent.outcome import FoundPassage
from agent.retrieval.fusion import fuse_hits, matchers_by_bucket, rerank_passages
from agent.retrieval.leg_requests import hits_by_collector, weigh_question_terms
from agent.retrieval.ranking_terms import build_passage_requests, ranking_terms_for
from agent.retrieval.relevance import QueryTerm, StemMatcher, matched_share_of
from agent.review.leg_review import LegReview
from storage.search.conditions import DOC_ID_FIELD, ComparisonCondition, ComparisonOperator, conjunction_of
from storage.search.ids import BucketId, DocId
from storage.search.index import OutlineHit, PassageHit
from storage.search.plan import Search

_MAX_DOCUMENTS = 5  # documents whose passages are searched
_FETCHED_PASSAGES = 50  # passages of these documents that are fetched before reranking
_SUMMARY_WEIGHT = 0.8  # weight of a word in the title or summary; a word in the passage has weight 1
_SUBJECT_BONUS = 1.0  # added to the scores of a document's passages if its outline covers the whole question
_COVERAGE_MARGIN = 0.25  # share of the question that a passage must cover beyond the best passage without summaries
_COVERAGE_TOLERANCE = 0.1  # share of the question that a passage may lack beside the best and still be quoted
_MAX_QUOTED_PASSAGES = 3  # quoted passages; the others rank behind the passages found without summaries
_MIN_OUTLINE_SHARE = 0.15  # share of the question that the outline of a document must cover to tell it from others
_MIN_PASSAGE_SHARE = 0.15  # share of the question that the text of a passage must cover by itself


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPassages:
    """Passages of the documents about the subject of the question."""

    query_terms: Sequence[QueryTerm]
    passages: Sequence[FoundPassage]  # the few with about the best coverage, best first
    other_passages: Sequence[FoundPassage]
    coverage_with_summary: float  # 0 to 1: share of the question that the best passage and its summary cover


@dataclass(frozen=True, slots=True, kw_only=True)
class _CoverageScorer:
    """Scores how much of the question passages and documents cover. All shares are 0 to 1."""

    query_terms: Sequence[QueryTerm]
    matchers: Mapping[BucketId, StemMatcher]
    outlines: Mapping[DocId, OutlineHit]

    def share_in_outline(self, outline: OutlineHit) -> float:
        return matched_share_of(self.query_terms, self._stems_in_outline(outline))

    def share_in_passage(self, hit: PassageHit) -> float:
        return matched_share_of(self.query_terms, self.matchers[hit.bucket].find_stems(hit.text))

    def share_with_summary(self, hit: PassageHit) -> float:
        """The share that the passage covers together with the title and summary of its document."""
        passage_share = self.share_in_passage(hit)
        return passage_share + _SUMMARY_WEIGHT * (
            matched_share_of(self.query_terms, self._stems_with_document(hit)) - passage_share
        )

    def share_beyond_subject(self, hit: PassageHit) -> float:
        """The share that the passage covers without the words of its document's title and summary."""
        outline = self.outlines.get(hit.doc_id)
        subject = frozenset(self._stems_in_outline(outline)) if outline is not None else frozenset[str]()
        return matched_share_of(self.query_terms, frozenset(self.matchers[hit.bucket].find_stems(hit.text)) - subject)

    def lacks_known_terms(self, hit: PassageHit) -> bool:
        """Whether the passage and its title lack words of the question that some document contains."""
        find_stems = self.matchers[hit.bucket].find_stems
        known_terms = [term for term in self.query_terms if term.is_known]
        return (
            matched_share_of(known_terms, {**find_stems(hit.text), **find_stems(hit.title)}) <= 1 - _COVERAGE_TOLERANCE
        )

    def _stems_with_document(self, hit: PassageHit) -> Mapping[str, object]:
        find_stems, outline = self.matchers[hit.bucket].find_stems, self.outlines.get(hit.doc_id)
        return {
            **find_stems(hit.text),
            **find_stems(hit.title),
            **(self._stems_in_outline(outline) if outline is not None else {}),
        }

    def _stems_in_outline(self, outline: OutlineHit) -> Mapping[str, object]:
        find_stems = self.matchers[outline.bucket].find_stems
        return {**find_stems(outline.title), **find_stems(outline.summary)}


def is_about_long_document(review: LegReview) -> bool:
    """Whether the question is about a single, long document: then only its passages were searched."""
    outlines = review.answers[review.requests.outlines] if review.requests.outlines is not None else ()
    return review.count == 1 and any(outline.summary for outline in outlines)


async def find_in_best_documents(
    review: LegReview, passages: Sequence[FoundPassage], *, already_answered: bool
) -> TopicPassages | None:
    """Returns passages of the documents that fit the subject best, if one of these documents is long and the best of
    `passages` lacks words of the question. `already_answered`: `passages` answers the question, so the result is None
    unless the new passages are clearly better.
    """
    if review.requests.outlines is None or review.count == 1:
        return None
    outlines = review.answers[review.requests.outlines]
    query_terms = weigh_question_terms(
        review.requests, review.answers, review.question_context, include_naming_terms=True
    )
    matchers = matchers_by_bucket(query_terms, review.question_context.analysers)
    scorer = _CoverageScorer(
        query_terms=query_terms, matchers=matchers, outlines={outline.doc_id: outline for outline in outlines}
    )
    best_outlines = sorted(
        outlines, key=lambda outline: (-scorer.share_in_outline(outline), -outline.score, outline.doc_id)
    )[:_MAX_DOCUMENTS]
    if not any(outline.summary and scorer.share_in_outline(outline) >= _MIN_OUTLINE_SHARE for outline in best_outlines):
        return None
    if passages and not scorer.lacks_known_terms(passages[0].hit):
        return None
    found_passages = await _fetch_passages_of(review, review.requests.outlines.search, best_outlines, scorer)
    best_coverage = max((scorer.share_with_summary(passage.hit) for passage in found_passages), default=0.0)
    best_passages = [
        passage
        for passage in found_passages
        if scorer.share_with_summary(passage.hit) > best_coverage - _COVERAGE_TOLERANCE
    ][:_MAX_QUOTED_PASSAGES]
    if not best_passages or (
        already_answered and not _is_clearly_better(best_passages[0].hit, passages[0].hit, scorer)
    ):
        return None
    return TopicPassages(
        query_terms=query_terms,
        passages=best_passages,
        other_passages=[passage for passage in found_passages if passage not in best_passages],
        coverage_with_summary=best_coverage,
    )


def _is_clearly_better(hit: PassageHit, other: PassageHit, scorer: _CoverageScorer) -> bool:
    """Whether `hit` is better than `other`, which was found without summaries.

    The summary must make the difference, since the search without summaries has compared the texts of the passages.
    A summary tells documents apart, but not the passages of one document. Within one document, `hit` is better only if
    `other` covers nothing beyond the subject and `hit` covers no more by its own text.
    """
    summary_gain = scorer.share_with_summary(hit) - scorer.share_in_passage(hit)
    if (
        summary_gain < _COVERAGE_TOLERANCE
        or scorer.share_with_summary(hit) < scorer.share_with_summary(other) + _COVERAGE_MARGIN
    ):
        return False
    if hit.doc_id != other.doc_id:
        return True
    return scorer.share_beyond_subject(other) < _MIN_PASSAGE_SHARE and scorer.share_in_passage(
        hit
    ) <= scorer.share_in_passage(other)


async def _fetch_passages_of(
    review: LegReview, search: Search, outlines: Sequence[OutlineHit], scorer: _CoverageScorer
) -> Sequence[FoundPassage]:
    """Returns the passages of the documents that cover enough of the question, best first."""
    requests = build_passage_requests(
        _restrict_to_documents(search, outlines),
        ranking_terms_for(review.leg, review.question_context),
        review.leg.question,
        _FETCHED_PASSAGES,
    )
    answers = await review.session.ask_index([*requests.values()], record=[*requests.values()])
    subject_bonuses = {outline.doc_id: _SUBJECT_BONUS * scorer.share_in_outline(outline) for outline in outlines}
    passages = [
        replace(
            passage, score=passage.score + subject_bonuses[passage.hit.doc_id], found_by=(*passage.found_by, "summary")
        )
        for passage in fuse_hits(hits_by_collector(requests, answers))
        if scorer.share_in_passage(passage.hit) >= _MIN_PASSAGE_SHARE
    ]
    ordered = sorted(passages, key=lambda passage: (-passage.score, passage.hit.chunk_id))
    return rerank_passages(ordered, scorer.query_terms, review.question_context.analysers)


def _restrict_to_documents(search: Search, outlines: Sequence[OutlineHit]) -> Search:
    """Returns a search for ranking passages within the documents. The set of documents of the leg does not change."""
    ids = {
        bucket: tuple(outline.doc_id for outline in outlines if outline.bucket == bucket) for bucket in search.buckets
    }
    return search.with_clauses(
        *(
            replace(
                clause,
                condition=conjunction_of(
                    clause.condition,
                    ComparisonCondition(field=DOC_ID_FIELD, op=ComparisonOperator.IN, value=ids[clause.bucket]),
                ),
            )
            for clause in search.clauses
            if ids[clause.bucket]
        )
    )
