"""Answers a look-up from the sentences of all documents in scope, where fields and names do not answer it.

A question whose words fit no field or no document may still be answered by a sentence: a rule of the house, a labelled
line, a paragraph of a letter. So before a look-up asks back, reports nothing, or quotes by words alone, the sentences
of the best passages are scored by what is asked (`agent.evidence`). Only a sentence that holds enough of it is quoted.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from agent.english.function_words import PRONOUNS_OF_PERSONS, QUESTION_WORDS, STOP_WORDS, YES_NO_VERBS
from agent.english.gradable_adjectives import compares_all
from agent.english.light_words import is_light_word
from agent.evidence.asked_values import AskedKind, find_new_values, kinds_asked_for, words_for_kinds
from agent.evidence.calendar_words import holds_months_of
from agent.evidence.evidence_score import (
    MIN_ANSWER_SCORE,
    MIN_CLOSEST_SCORE,
    MIN_LIKELY_SCORE,
    AssessedSentence,
    EvidenceFeatures,
    score_evidence,
)
from agent.evidence.question_words import WeighedQuestion, WeighedWord, read_question
from agent.evidence.sentence_scores import ScoredSentence, SentenceScorer, rank_by_meaning
from agent.evidence.text_lines import TextLine, split_lines, words_of
from agent.evidence.word_meanings import WordMeanings
from agent.evidence.yes_or_no import is_yes_no_question, verdict_of
from agent.forms.clarifications import SeveralDocumentsFacts, UnknownWordsFacts
from agent.forms.find_passages import (
    NoAnswerFacts,
    NoMentionFacts,
    QuotationsFacts,
    is_rendered_record,
    rank_leg_passages,
    report_no_answer,
)
from agent.forms.read_fields import FieldValuesFacts, SeveralValuesFacts
from agent.outcome import FoundPassage, OutcomeKind, SearchRoute
from agent.retrieval.answer_type import AnswerType, asks_for_documents, asks_for_several, counted_noun_of
from agent.retrieval.full_text_fallback import search_all_text
from agent.retrieval.quotations import DocumentQuote, QuotableSentence, merge_equal_sentences
from agent.review.leg_review import Enough, LegClarification, LegReview, build_leg_result
from storage.search.analyser import fold_text
from storage.search.conditions import ComparisonCondition, conjuncts_of
from storage.search.documents import FieldValue
from storage.search.ids import ChunkId
from storage.search.index import PassageHit
from storage.search.plan import CheckClaims, FindPassages, ReadFields
from storage.search.schema import FieldType
from storage.text.identifiers import is_identifier

_READ_PASSAGES = 40  # the best ones in scope, and as many of the documents that the question names
_READ_CHARACTERS = 40_000  # code points of them
_MIN_ASKED_SHARE = 0.55  # of what is asked, that a sentence and its surroundings must hold
_MIN_SECTION_SHARE = 0.2  # of what is asked, that the sentence or its heading must hold themselves
_MIN_NAMES_SHARE = 0.99  # of the names, that the passage must hold
_MIN_LIKELY_NAMES_SHARE = 0.3  # the same for a sentence that is quoted by its score
_MIN_SETTLING_SHARE = 0.6  # of a yes-or-no question, that the sentence or its heading must hold to settle it
_MIN_ANSWER_SCORE_SHARE = 0.85  # of the best score, for the best sentence that answers
_MIN_EXPLAINED_SHARE = 0.4  # of what is asked, that labels and conditions must explain for the values to be the answer
_MIN_LABELLED_SHARE = 0.8  # of the lines of a row of a table
_MIN_RECORD_LINES = 6  # labelled lines, from which a passage is a row of a table whatever else it holds
_MIN_SETTLING_SHARE_UNDER_TITLE = 0.75  # the same with its title and the lines beside it
_MIN_OPEN_SHARE = 0.8  # of a yes-or-no question, that a sentence must hold to be quoted where it does not settle it
_MIN_EQUAL_SHARE = 0.93  # of the best score, for a sentence of another passage to be quoted beside it
_MIN_BESIDE_SHARE = 0.8  # of the best score, for a further sentence of the same passage
_MIN_OWN_PART_SHARE = 0.5  # of what a part of a message asks, for a sentence that is found by an earlier part too
_MAX_QUOTED_SENTENCES = 3
_OPEN_QUESTION_STARTS = QUESTION_WORDS - {"which"} | {"whats", "whos", "wheres", "hows"}
_MIN_OWN_WORDS = 2  # content words of a question with such a pronoun, from which it says itself what is meant
_TEXT_FORMS = (FindPassages, CheckClaims, ReadFields)


@dataclass(frozen=True, slots=True, kw_only=True)
class _SentenceEvidence:
    """The sentences that may answer a question, best first."""

    question: WeighedQuestion
    kinds: frozenset[AskedKind]
    sentences: Sequence[ScoredSentence]
    lines_by_passage: Sequence[Sequence[TextLine]]
    is_of_asked_time: bool  # a document holds the month that is asked about, if one is

    def verdict_of(self, sentence: ScoredSentence) -> bool | None:
        return verdict_of(sentence.line.quote.text, self.question.text, self.question.word_stems.analyser)


async def answer_from_sentences(
    review: LegReview, decision: Enough | LegClarification, meanings: WordMeanings, *, earlier_question: str = ""
) -> Enough | LegClarification:
    """Returns an answer by quoted sentences, if one of them holds enough of what is asked; else `decision`.

    `earlier_question` is the part of the message before this one: "who smells gas? *which number should they ring?*".

    Values that do not answer the question become a report of nothing found; quotations that do not hold enough of what
    is asked are shown as what comes closest, not as an answer. Without word vectors the decision stays as it is, since
    the shares that are required were measured with them.
    """
    if not meanings.is_available or not _may_be_answered_by_text(review, decision):
        return decision
    evidence = await _find_evidence(review, meanings, earlier_question)
    if evidence is None or not evidence.sentences:
        return decision
    reads_fields = isinstance(decision.facts, (FieldValuesFacts, SeveralValuesFacts))
    if reads_fields and review.alternatives.is_understood:
        return decision
    are_values = _may_be_values(decision, evidence)
    explained = _share_explained_by_fields(review, evidence.question) if are_values else 0.0
    if explained >= _MIN_EXPLAINED_SHARE:
        return decision
    is_elsewhere = _points_back(review, evidence.question) or not evidence.is_of_asked_time
    best = None if is_elsewhere else _answering_sentence(evidence, decision)
    if best is not None and not isinstance(decision, Enough) and _leaves_open(best, evidence):
        return decision
    closest = best or evidence.sentences[0]
    features = await _assess_sentence(closest, evidence, meanings)
    score = score_evidence(features)
    if best is not None:
        is_required = _answers(best, evidence.kinds)
        may_be_likely = is_required or AnswerType.NUMBER not in evidence.kinds  # any text holds some number
        floor = MIN_ANSWER_SCORE if is_required else MIN_LIKELY_SCORE
        is_enough = score >= floor and may_be_likely and _may_answer(best, evidence)
        assessed = AssessedSentence(doc_id=best.line.passage.hit.doc_id, features=features, is_enough=is_enough)
        review.session.context.reasoning_log.evidence.append(assessed)
        if is_enough:
            return _quote_evidence(review, evidence, best, decision.hits)
    if reads_fields and (AnswerType.DAY in evidence.kinds or not are_values):
        return report_no_answer(review, NoAnswerFacts(), decision.hits)
    return _show_closest(review, decision, closest if score >= MIN_CLOSEST_SCORE else None)


def _answering_sentence(evidence: _SentenceEvidence, decision: Enough | LegClarification) -> ScoredSentence | None:
    """Returns the sentence that answers; of a question to texts, else the best one that may answer by its kind."""
    best = _best_answer(evidence)
    is_text_question = isinstance(decision.facts, (QuotationsFacts, NoAnswerFacts, NoMentionFacts))
    if best is not None or not (is_text_question or (evidence.kinds and isinstance(decision.facts, UnknownWordsFacts))):
        return best
    is_of_named = isinstance(decision.facts, NoMentionFacts)
    possible = (
        sentence
        for sentence in evidence.sentences
        if sentence.adds_words
        and (sentence.has_value or not evidence.kinds)
        and (sentence.names_share >= _MIN_NAMES_SHARE or not is_of_named)
    )
    return next(possible, None)


def _may_answer(sentence: ScoredSentence, evidence: _SentenceEvidence) -> bool:
    """Whether the sentence itself holds something that is asked, and its passage the names in the question.

    A passage without any of them is about something else, and one with half of a person's name about somebody else.
    """
    hit = sentence.line.passage.hit
    asked = [word for word in evidence.question.asked if not word.is_kind]
    if asked and all(is_light_word(word.word) for word in asked):
        return False  # "who of us went?": any sentence about going would do
    if compares_all(evidence.question.text) and not compares_all(sentence.line.quote.text):
        return False  # "who pays the most?" is answered by no single document, unless it says so
    holds_names = sentence.names_share >= _MIN_LIKELY_NAMES_SHARE
    is_of_names = not evidence.question.holds_half_of_name(words_of(f"{hit.title} {hit.doc_id}\n{hit.text}"))
    return holds_names and is_of_names and (sentence.has_value or sentence.own_share > 0)


def _show_closest(
    review: LegReview, decision: Enough | LegClarification, closest: ScoredSentence | None
) -> Enough | LegClarification:
    """Returns a report of what comes closest instead of a quotation that does not hold enough of the question.

    `closest`: None if no sentence has to do with the question. Other decisions are kept.
    """
    if isinstance(decision.facts, NoMentionFacts) and (closest is None or closest.names_share < _MIN_NAMES_SHARE):
        return decision
    if not isinstance(decision.facts, (QuotationsFacts, NoAnswerFacts, NoMentionFacts)):
        return decision
    merged = () if closest is None else merge_equal_sentences([_quotable(closest)])
    unknown_words = decision.facts.unknown_words if isinstance(decision.facts, NoAnswerFacts) else ()
    facts = NoAnswerFacts(
        unknown_words=unknown_words,
        closest=tuple(merged),
        asks_yes_or_no=bool(merged) and is_yes_no_question(review.leg.question),
    )
    return report_no_answer(review, facts, decision.hits)


def _quotable(sentence: ScoredSentence) -> tuple[float, FoundPassage, DocumentQuote]:
    return sentence.score, sentence.line.passage, sentence.line.quote


async def _assess_sentence(
    sentence: ScoredSentence, evidence: _SentenceEvidence, meanings: WordMeanings
) -> EvidenceFeatures:
    """Returns what the score of the sentence as an answer rests on."""
    line, question = sentence.line, evidence.question
    hit = line.passage.hit
    (sentence_cosine,) = await meanings.cosines_with(question.text, [f"{hit.title} {line.heading}\n{line.quote.text}"])
    held = words_of(f"{hit.title} {hit.doc_id}\n{hit.text}")
    rank = next(rank for rank, lines in enumerate(evidence.lines_by_passage) if line in lines)
    return EvidenceFeatures(
        covered_share=question.covered_share_of(held),
        asked_share=sentence.asked_share,
        names_share=sentence.names_share,
        sentence_cosine=sentence_cosine,
        key_word_likeness=question.key_word_likeness_to(held),
        question_length=math.log(max(question.length, 1)),
        own_share=sentence.section_share,
        margin=_margin_of(sentence, evidence),
        passage_rank=1 / (1 + rank),
    )


def _margin_of(sentence: ScoredSentence, evidence: _SentenceEvidence) -> float:
    """Returns by how much (0 to 1) the sentence scores higher than every sentence of another document."""
    doc_id = sentence.line.passage.hit.doc_id
    others = (other.score for other in evidence.sentences if other.line.passage.hit.doc_id != doc_id)
    return min(max(sentence.score - max(others, default=0.0), 0.0), 1.0)


def _leaves_open(sentence: ScoredSentence, evidence: _SentenceEvidence) -> bool:
    """Whether the sentence neither settles a yes-or-no question nor holds nearly all of it."""
    return (
        is_yes_no_question(evidence.question.text)
        and sentence.own_share < _MIN_OPEN_SHARE
        and evidence.verdict_of(sentence) is None
    )


def _points_back(review: LegReview, question: WeighedQuestion) -> bool:
    """Whether the question is about things of an earlier message, so that sentences elsewhere do not answer it."""
    if words_of(question.text) & PRONOUNS_OF_PERSONS and not question.names and len(question.asked) < _MIN_OWN_WORDS:
        return True
    text = fold_text(question.text)
    return any(
        isinstance(condition, ComparisonCondition) and fold_text(condition.words) not in text
        for clause in review.leg.search.clauses
        for condition in conjuncts_of(clause.condition)
    )


def _may_be_answered_by_text(review: LegReview, decision: Enough | LegClarification) -> bool:
    if review.alternatives.is_checked or asks_for_documents(review.leg.question):
        return False  # no sentence is all documents of a kind
    if isinstance(decision, Enough):
        return isinstance(decision.facts, (QuotationsFacts, FieldValuesFacts, SeveralValuesFacts))
    words = review.leg.question.casefold().replace("'", "").replace("’", "").split()
    asks_openly = bool(words) and (
        words[0] in _OPEN_QUESTION_STARTS | YES_NO_VERBS or bool(kinds_asked_for(review.leg.question))
    )
    if decision.kind is OutcomeKind.NO_RESULTS:
        return isinstance(review.leg.answer_form, _TEXT_FORMS) or (
            asks_openly and not review.alternatives.is_understood
        )
    return (
        asks_openly
        and not review.leg.answer_form.computes
        and isinstance(decision.facts, (UnknownWordsFacts, SeveralDocumentsFacts))
        and not _asks_which_document(review, decision)
    )


def _asks_which_document(review: LegReview, decision: LegClarification) -> bool:
    """Whether fields hold what is asked, and it is only open of which document."""
    return isinstance(decision.facts, SeveralDocumentsFacts) and review.alternatives.is_understood


def _share_explained_by_fields(review: LegReview, question: WeighedQuestion) -> float:
    """Returns the share (0 to 1) of what is asked that the labels of the read fields and the conditions explain."""
    if all(word.is_kind for word in question.asked):
        return 1.0
    return question.share_of(question.asked, (1.0, frozenset(_words_of_fields(review))))


def _words_of_fields(review: LegReview) -> Iterator[str]:
    """Yields the folded words of the read fields, of the conditions, and of the buckets' nouns."""
    schemas = review.question_context.schemas
    for bucket, name in review.leg.answer_form.requested_fields:
        field = schemas[bucket].by_name[name]
        yield from words_of(" ".join((field.name, field.label, *field.synonyms)))
    for clause in review.leg.search.clauses:
        schema = schemas[clause.bucket]
        yield from words_of(" ".join((schema.bucket.replace("_", " "), schema.title, *schema.synonyms)))
        for condition in conjuncts_of(clause.condition):
            if isinstance(condition, ComparisonCondition) and condition.field in schema.by_name:
                yield from words_of(condition.words)


def _best_answer(evidence: _SentenceEvidence) -> ScoredSentence | None:
    """Returns the best sentence that answers, unless a clearly better one holds no answer."""
    is_yes_no = is_yes_no_question(evidence.question.text)
    return next(
        (
            sentence
            for sentence in evidence.sentences
            if _answers(sentence, evidence.kinds)
            and (_may_settle(sentence) or not is_yes_no)
            and sentence.score >= _MIN_ANSWER_SCORE_SHARE * evidence.sentences[0].score
        ),
        None,
    )


def _may_be_values(decision: Enough | LegClarification, evidence: _SentenceEvidence) -> bool:
    """Whether values of fields are shown that may be of an asked kind: a car is nobody's name."""
    facts = decision.facts
    documents = facts.documents if isinstance(facts, SeveralValuesFacts) else (facts,)
    values = [value for fact in documents if isinstance(fact, FieldValuesFacts) for value in fact.values]
    return bool(values) and not (
        AnswerType.NAME in evidence.kinds and all(_is_no_name(value.value, value.field.type) for value in values)
    )


def _is_no_name(value: FieldValue, type_: FieldType) -> bool:
    is_text = type_ in (FieldType.CATEGORY, FieldType.TEXT, FieldType.LIST)
    return not is_text or any(character.isdigit() for character in str(value))


def _depends_on_earlier_part(question: str) -> bool:
    """Whether hardly a word says what the part of a message is about: "and *which number* should they *ring*?"."""
    ignored = STOP_WORDS | QUESTION_WORDS | YES_NO_VERBS | words_for_kinds(kinds_asked_for(question))
    return len([word for word in words_of(question) if word not in ignored and len(word) > 1]) < _MIN_OWN_WORDS


async def _find_evidence(review: LegReview, meanings: WordMeanings, earlier_question: str) -> _SentenceEvidence | None:
    """Scores the sentences of the best passages; None if these are only records of tables."""
    kinds, own_words = kinds_asked_for(review.leg.question), words_of(review.leg.question)
    is_joined = bool(earlier_question) and _depends_on_earlier_part(review.leg.question)
    if is_joined:
        review = replace(review, leg=replace(review.leg, question=f"{earlier_question} {review.leg.question}"))
    text_review = await search_all_text(review)
    terms, ranked = await rank_leg_passages(
        text_review, text_review.requests.passage_requests, include_naming_terms=True, use_reranker=False
    )
    _, named = await rank_leg_passages(
        review, review.requests.passage_requests, include_naming_terms=False, use_reranker=False
    )
    passages = [
        passage
        for passage in _passages_to_read(named[:_READ_PASSAGES], ranked[:_READ_PASSAGES])
        if not _is_record(review, passage.hit) and _mentions_identifiers(passage.hit, review.leg.question)
    ]
    if not passages:
        return None
    of_asked_time = {passage.hit.doc_id for passage in passages if _is_of_asked_month(passage.hit, review.leg.question)}
    passages = [passage for passage in passages if not of_asked_time or passage.hit.doc_id in of_asked_time]
    lines_by_passage = [split_lines(passage) for passage in passages]
    question = await read_question(
        review.leg.question,
        terms,
        [line for lines in lines_by_passage for line in lines],
        review.question_context.analysers[passages[0].hit.bucket],
        meanings,
        kind_words=words_for_kinds(kinds),
        other_words=_words_of_fields(review),
    )
    scorer = SentenceScorer(question=question, kinds=kinds)
    own = [word for word in question.asked if is_joined and word.word in own_words and not word.is_kind]
    scored = [
        sentence
        for passage, lines in zip(passages, lines_by_passage, strict=True)
        for sentence in scorer.score_lines(lines, words_of(f"{passage.hit.title} {passage.hit.doc_id}"))
        if not own or _holds_own_part(sentence, own, question)
    ]
    return _SentenceEvidence(
        question=question,
        kinds=kinds,
        sentences=await rank_by_meaning(scored, review.leg.question, meanings),
        lines_by_passage=lines_by_passage,
        is_of_asked_time=bool(of_asked_time),
    )


def _is_of_asked_month(hit: PassageHit, question: str) -> bool:
    return holds_months_of(question, hit.title, f"{hit.doc_id}\n{hit.text}")


def _holds_own_part(sentence: ScoredSentence, own: Sequence[WeighedWord], question: WeighedQuestion) -> bool:
    """Whether the sentence or its heading holds what the part of a message itself asks, if another part adds to it."""
    levels = (1.0, sentence.line.words), (1.0, words_of(sentence.line.heading))
    return question.share_of(own, *levels) >= _MIN_OWN_PART_SHARE


def _mentions_identifiers(hit: PassageHit, question: str) -> bool:
    """Whether the passage or its title holds each identifier of the question: TC-27 says nothing about TC-18."""
    text = fold_text(f"{hit.title} {hit.doc_id}\n{hit.text}")
    words = (word.strip(".,;:!?()\"'“”’") for word in question.split())
    return all(fold_text(word) in text for word in words if is_identifier(word))


def _is_record(review: LegReview, hit: PassageHit) -> bool:
    """Whether the passage is a row of a table, and not a text with labelled lines, such as a form under its heading."""
    names = [field.name for field in review.question_context.schemas[hit.bucket].fields]
    lines = [line for line in hit.text.splitlines() if line.strip()]
    labelled = [any(line.startswith(f"{name}: ") for name in names) for line in lines]
    is_row = sum(labelled) >= min(_MIN_LABELLED_SHARE * len(lines), _MIN_RECORD_LINES)
    return labelled[:1] == [True] and is_row and is_rendered_record(review, hit)


def _passages_to_read(*rankings: Sequence[FoundPassage]) -> Iterator[FoundPassage]:
    """Yields the passages of the rankings in turn, until enough text is read."""
    left = _READ_CHARACTERS
    for passage in _unique_passages(found for rank in zip_longest(*rankings) for found in rank if found is not None):
        yield passage
        left -= len(passage.hit.text)
        if left < 0:
            return


def _unique_passages(passages: Iterable[FoundPassage]) -> Iterator[FoundPassage]:
    seen = set[ChunkId]()
    for passage in passages:
        if passage.hit.chunk_id not in seen:
            seen.add(passage.hit.chunk_id)
            yield passage


def _answers(sentence: ScoredSentence, kinds: frozenset[AskedKind]) -> bool:
    return (
        sentence.asked_share >= _MIN_ASKED_SHARE
        and sentence.section_share >= _MIN_SECTION_SHARE
        and sentence.names_share >= _MIN_NAMES_SHARE
        and sentence.adds_words
        and (sentence.has_value or not kinds)
    )


def _may_settle(sentence: ScoredSentence) -> bool:
    """Whether the sentence holds enough of a yes-or-no question, by itself or under its title."""
    return sentence.section_share >= _MIN_SETTLING_SHARE or (
        sentence.asked_share >= _MIN_SETTLING_SHARE_UNDER_TITLE and sentence.own_share >= _MIN_SECTION_SHARE
    )


def _quote_evidence(
    review: LegReview, evidence: _SentenceEvidence, best: ScoredSentence, hits: tuple[FoundPassage, ...]
) -> Enough | LegClarification:
    is_yes_no = is_yes_no_question(review.leg.question)
    verdict = evidence.verdict_of(best) if is_yes_no and _may_settle(best) else None
    quoted = list(_sentences_to_quote(best, evidence)) if verdict is None else [best.line]
    merged = merge_equal_sentences([(best.score, line.passage, line.quote) for line in quoted])
    if asks_for_several(review.leg.question) or (is_yes_no and verdict is None):
        facts = NoAnswerFacts(closest=tuple(merged), asks_yes_or_no=is_yes_no)
        return report_no_answer(review, facts, _hits_with(review, hits, quoted))
    facts = QuotationsFacts(
        sentences=tuple(merged),
        answer_type=_highlighted_kind(merged, evidence, review.leg.question),
        counted_noun=counted_noun_of(review.leg.question),
        verdict=verdict,
    )
    return Enough(
        result=replace(
            build_leg_result(review, OutcomeKind.ANSWER, None),
            doc_ids=tuple(dict.fromkeys(cited.document.doc_id for cited in facts.quotes)),
        ),
        facts=facts,
        hits=_hits_with(review, hits, quoted),
        route=SearchRoute.HYBRID,
    )


def _hits_with(review: LegReview, hits: Sequence[FoundPassage], lines: Sequence[TextLine]) -> tuple[FoundPassage, ...]:
    """Returns the hits and the passages of the lines, as many as are reported."""
    passages = _unique_passages([*hits, *(line.passage for line in lines)])
    return tuple(passages)[: review.session.context.limits.reported_hits]


def _sentences_to_quote(best: ScoredSentence, evidence: _SentenceEvidence) -> Iterator[TextLine]:
    """Yields the best sentence and those that answer nearly as well.

    Of the same passage these may be a bit worse, for a question of two parts. A question that asks for no kind of value
    is often answered by the next sentence: "The gate sticks. Its hinge is bent."
    """
    yield best.line
    further = [
        sentence.line
        for sentence in evidence.sentences
        if sentence is not best
        and _answers(sentence, evidence.kinds)
        and (sentence.has_value or sentence.own_share >= _MIN_SECTION_SHARE)
        and sentence.score
        >= best.score * (_MIN_BESIDE_SHARE if sentence.line.passage is best.line.passage else _MIN_EQUAL_SHARE)
    ]
    following = list(_lines_after(best.line, evidence)) if not evidence.kinds else []
    yield from list(dict.fromkeys((*following, *further)))[: _MAX_QUOTED_SENTENCES - 1]


def _lines_after(line: TextLine, evidence: _SentenceEvidence) -> Iterator[TextLine]:
    """Yields the next sentence of the same block; the next two for a question about what happened, or why."""
    lines = next(lines for lines in evidence.lines_by_passage if line in lines)
    index = lines.index(line) + 1
    count = _MAX_QUOTED_SENTENCES - 1 if evidence.question.asks_account else 1
    yield from (other for other in lines[index : index + count] if other.block == line.block and not other.is_heading)


def _highlighted_kind(
    sentences: Sequence[QuotableSentence], evidence: _SentenceEvidence, question: str
) -> AnswerType | None:
    """Returns the kind of the value that is shown in bold; None if the texts have none of an asked kind."""
    texts = [sentence.places[0][1].text for sentence in sentences]
    found = (
        kind
        for kind in sorted(evidence.kinds)
        if isinstance(kind, AnswerType)
        and any(find_new_values(text, {kind}, question, words_of(question)) for text in texts)
    )
    return next(found, None)
