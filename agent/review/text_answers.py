"""Answers a look-up from the sentences of all documents in scope, where fields and names do not answer it.

A question whose words fit no field or no document may still be answered by a sentence: a rule of the house, a labelled
line, a paragraph of a letter. So before a look-up asks back, reports nothing, or quotes by words alone, the sentences
of the best passages are scored by what is asked (`agent.evidence`). Only a sentence that holds enough of it is quoted.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from agent.english.function_words import QUESTION_WORDS, YES_NO_VERBS
from agent.evidence.asked_values import AskedKind, find_new_values, kinds_asked_for
from agent.evidence.question_words import AskedQuestion, read_question
from agent.evidence.sentence_scores import ScoredSentence, SentenceScorer, rank_by_meaning
from agent.evidence.text_lines import TextLine, split_lines, words_of
from agent.evidence.word_meanings import WordMeanings
from agent.evidence.yes_or_no import is_yes_no_question, verdict_of
from agent.forms.clarifications import SeveralDocumentsFacts, UnknownWordsFacts
from agent.forms.find_passages import QuotationsFacts, is_rendered_record, rank_leg_passages
from agent.outcome import FoundPassage, OutcomeKind, SearchRoute
from agent.retrieval.answer_type import AnswerType, counted_noun_of
from agent.retrieval.full_text_fallback import search_all_text
from agent.retrieval.quotations import QuotableSentence, merge_equal_sentences
from agent.review.leg_review import Enough, LegClarification, LegReview, build_leg_result
from storage.search.ids import ChunkId
from storage.search.plan import CheckClaims, FindPassages, ReadFields

_READ_PASSAGES = 12  # the best ones in scope, and as many of the documents that the question names
_MIN_ASKED_SHARE = 0.55  # of what is asked, that a sentence and its surroundings must hold
_MIN_OWN_SHARE = 0.2  # of what is asked, that the sentence or its heading must hold themselves
_MIN_NAMES_SHARE = 0.99  # of the names, that the passage must hold
_MIN_SETTLING_SHARE = 0.6  # of a yes-or-no question, that the sentence or its heading must hold to settle it
_MIN_EQUAL_SHARE = 0.93  # of the best score, for a sentence of another passage to be quoted beside it
_MIN_BESIDE_SHARE = 0.8  # of the best score, for a further sentence of the same passage
_MAX_QUOTED_SENTENCES = 3
_OPEN_QUESTION_STARTS = QUESTION_WORDS - {"which"} | {"whats", "whos", "wheres", "hows"}
_TEXT_FORMS = (FindPassages, CheckClaims, ReadFields)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Evidence:
    """The sentences that may answer a question, best first."""

    question: AskedQuestion
    kinds: frozenset[AskedKind]
    sentences: Sequence[ScoredSentence]
    lines_by_passage: Sequence[Sequence[TextLine]]


async def answer_from_sentences(
    review: LegReview, decision: Enough | LegClarification, meanings: WordMeanings
) -> Enough | LegClarification:
    """Returns an answer by quoted sentences, if one of them holds enough of what is asked; else `decision`."""
    if not _may_be_answered_by_text(review, decision):
        return decision
    evidence = await _find_evidence(review, meanings)
    if evidence is None or not evidence.sentences or not _answers(evidence.sentences[0], evidence.kinds):
        return decision
    return _quote_evidence(review, evidence, decision.hits)


def _may_be_answered_by_text(review: LegReview, decision: Enough | LegClarification) -> bool:
    if isinstance(decision, Enough):
        return isinstance(decision.facts, QuotationsFacts)
    words = review.leg.question.casefold().replace("'", "").replace("’", "").split()
    asks_openly = bool(words) and words[0] in _OPEN_QUESTION_STARTS | YES_NO_VERBS
    if decision.kind is OutcomeKind.NO_RESULTS:
        return isinstance(review.leg.answer_form, _TEXT_FORMS) or (
            asks_openly and not review.alternatives.is_understood
        )
    return asks_openly and isinstance(decision.facts, (UnknownWordsFacts, SeveralDocumentsFacts))


async def _find_evidence(review: LegReview, meanings: WordMeanings) -> _Evidence | None:
    """Scores the sentences of the best passages; None if these are only records of tables."""
    text_review = await search_all_text(review)
    terms, ranked = await rank_leg_passages(
        text_review, text_review.requests.passage_requests, include_naming_terms=True, use_reranker=False
    )
    _, named = await rank_leg_passages(
        review, review.requests.passage_requests, include_naming_terms=False, use_reranker=False
    )
    passages = [
        passage
        for passage in _unique_passages([*ranked[:_READ_PASSAGES], *named[:_READ_PASSAGES]])
        if not is_rendered_record(review, passage.hit)
    ]
    if not passages:
        return None
    lines_by_passage = [split_lines(passage) for passage in passages]
    question = await read_question(
        review.leg.question,
        terms,
        [line for lines in lines_by_passage for line in lines],
        review.question_context.analysers[passages[0].hit.bucket],
        meanings,
    )
    kinds = kinds_asked_for(review.leg.question)
    scorer = SentenceScorer(question=question, kinds=kinds)
    scored = [
        sentence
        for passage, lines in zip(passages, lines_by_passage, strict=True)
        for sentence in scorer.score_lines(lines, words_of(f"{passage.hit.title} {passage.hit.doc_id}"))
    ]
    return _Evidence(
        question=question,
        kinds=kinds,
        sentences=await rank_by_meaning(scored, review.leg.question, meanings),
        lines_by_passage=lines_by_passage,
    )


def _unique_passages(passages: Iterable[FoundPassage]) -> Iterator[FoundPassage]:
    seen = set[ChunkId]()
    for passage in passages:
        if passage.hit.chunk_id not in seen:
            seen.add(passage.hit.chunk_id)
            yield passage


def _answers(sentence: ScoredSentence, kinds: frozenset[AskedKind]) -> bool:
    return (
        sentence.asked_share >= _MIN_ASKED_SHARE
        and sentence.own_share >= _MIN_OWN_SHARE
        and sentence.names_share >= _MIN_NAMES_SHARE
        and sentence.adds_words
        and (sentence.has_value or not kinds)
    )


def _quote_evidence(review: LegReview, evidence: _Evidence, hits: tuple[FoundPassage, ...]) -> Enough:
    best = evidence.sentences[0]
    is_yes_no = is_yes_no_question(review.leg.question)
    verdict = (
        verdict_of(best.line.quote.text, review.leg.question)
        if is_yes_no and best.own_share >= _MIN_SETTLING_SHARE
        else None
    )
    quoted = list(_sentences_to_quote(evidence)) if verdict is None else [best.line]
    merged = merge_equal_sentences([(best.score, line.passage, line.quote) for line in quoted])
    facts = QuotationsFacts(
        sentences=tuple(merged),
        answer_type=_highlighted_kind(merged, evidence, review.leg.question),
        counted_noun=counted_noun_of(review.leg.question),
        settles_question=not is_yes_no or verdict is not None,
        verdict=verdict,
    )
    limit = review.session.context.limits.reported_hits
    quoted_passages = [line.passage for line in quoted]
    return Enough(
        result=replace(
            build_leg_result(review, OutcomeKind.ANSWER, None),
            doc_ids=tuple(dict.fromkeys(cited.document.doc_id for cited in facts.quotes)),
        ),
        facts=facts,
        hits=tuple(_unique_passages([*quoted_passages, *hits]))[:limit],
        route=SearchRoute.HYBRID,
    )


def _sentences_to_quote(evidence: _Evidence) -> Iterator[TextLine]:
    """Yields the best sentence and those that answer nearly as well.

    Of the same passage these may be a bit worse, for a question of two parts. A question that asks for no kind of value
    is often answered by the next sentence: "The gate sticks. Its hinge is bent."
    """
    best, *others = evidence.sentences
    yield best.line
    further = [
        sentence.line
        for sentence in others
        if _answers(sentence, evidence.kinds)
        and sentence.score
        >= best.score * (_MIN_BESIDE_SHARE if sentence.line.passage is best.line.passage else _MIN_EQUAL_SHARE)
    ]
    following = _line_after(best.line, evidence) if not evidence.kinds else None
    wanted = [line for line in (following, *further) if line is not None]
    yield from list(dict.fromkeys(wanted))[: _MAX_QUOTED_SENTENCES - 1]


def _line_after(line: TextLine, evidence: _Evidence) -> TextLine | None:
    """Returns the next sentence of the same block."""
    lines = next(lines for lines in evidence.lines_by_passage if line in lines)
    following = lines[lines.index(line) + 1 :][:1]
    return next((other for other in following if other.block == line.block and not other.is_heading), None)


def _highlighted_kind(sentences: Sequence[QuotableSentence], evidence: _Evidence, question: str) -> AnswerType | None:
    """Returns the kind of the value that is shown in bold; None if the texts have none of an asked kind."""
    texts = [sentence.places[0][1].text for sentence in sentences]
    found = (
        kind
        for kind in sorted(evidence.kinds)
        if isinstance(kind, AnswerType)
        and any(find_new_values(text, {kind}, question, words_of(question)) for text in texts)
    )
    return next(found, None)
