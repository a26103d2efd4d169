"""Answers a look-up from the sentences of all documents in scope, where fields and names do not answer it.

A question whose words fit no field or no document may still be answered by a sentence: a rule of the house, a labelled
line, a paragraph of a letter. So before a look-up asks back, reports nothing, or quotes by words alone, the sentences
of the best passages are scored by what is asked (`agent.evidence`). Only a sentence that holds enough of it is quoted.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from agent.decomposition import ContinuedQuestion
from agent.english.function_words import PRONOUNS_OF_PERSONS, QUESTION_WORDS, YES_NO_VERBS
from agent.english.gradable_adjectives import compares_all
from agent.english.light_words import is_light_word
from agent.evidence.asked_values import (
    AskedKind,
    asks_for_past_amount,
    asks_for_past_time,
    asks_for_total,
    find_new_values,
    kinds_asked_for,
    states_demand,
    states_rate,
    states_rule,
    states_total,
)
from agent.evidence.evidence_score import (
    MIN_ANSWER_SCORE,
    MIN_CLOSEST_SCORE,
    MIN_LIKELY_SCORE,
    MIN_NEAR_SCORE,
    MIN_SETTLING_SCORE,
    MIN_SURE_LIKELY_SCORE,
    MIN_SURE_SCORE,
    AssessedSentence,
    EvidenceFeatures,
    score_evidence,
)
from agent.evidence.question_parts import refers_to_earlier_part
from agent.evidence.question_words import WeighedQuestion
from agent.evidence.sentence_scores import ScoredSentence
from agent.evidence.stated_causes import asks_for_cause, find_cause
from agent.evidence.stated_limits import is_of_other_range
from agent.evidence.text_lines import TextLine, words_of
from agent.evidence.word_meanings import WordMeanings
from agent.evidence.yes_or_no import is_yes_no_question
from agent.forms.clarifications import SeveralDocumentsFacts, UnknownWordsFacts
from agent.forms.find_passages import (
    NoAnswerFacts,
    NoMentionFacts,
    QuotationsFacts,
    report_no_answer,
)
from agent.forms.read_fields import FieldValuesFacts, SeveralValuesFacts
from agent.outcome import FoundPassage, OutcomeKind, SearchRoute
from agent.retrieval.answer_type import AnswerType, asks_for_documents, asks_for_several, counted_noun_of
from agent.retrieval.quotations import DocumentQuote, QuotableSentence, merge_equal_sentences
from agent.review.leg_review import Enough, LegClarification, LegReview, build_leg_result
from agent.review.sentence_evidence import (
    RankedEvidence,
    depends_on_earlier_question,
    english_question_of,
    find_sentence_evidence,
    unique_passages,
    words_of_fields,
)
from storage.search.analyser import fold_text
from storage.search.conditions import ComparisonCondition, conjuncts_of
from storage.search.documents import FieldValue
from storage.search.ids import DocId
from storage.search.plan import CheckClaims, ComputeNumbers, FindPassages, ReadFields
from storage.search.schema import FieldType

_MIN_ASKED_SHARE = 0.55  # of what is asked, that a sentence and its surroundings must hold
_MIN_SECTION_SHARE = 0.2  # of what is asked, that the sentence or its heading must hold themselves
_MIN_NAMES_SHARE = 0.99  # of the names, that the passage must hold
_MIN_LIKELY_NAMES_SHARE = 0.3  # the same for a sentence that is quoted by its score
_MIN_SETTLING_SHARE = 0.6  # of a yes-or-no question, that the sentence or its heading must hold to settle it
_MIN_ANSWER_SCORE_SHARE = 0.85  # of the best score, for the best sentence that answers
_MIN_EXPLAINED_SHARE = 0.4  # of what is asked, that labels and conditions must explain for the values to be the answer
_CLEAR_MARGIN = 0.2  # by which a sentence holds more of what is asked than labels explain
_MIN_SETTLING_SHARE_UNDER_TITLE = 0.75  # the same with its title and the lines beside it
_MIN_OPEN_SHARE = 0.8  # of a yes-or-no question, that a sentence must hold to be quoted where it does not settle it
_MIN_EQUAL_SHARE = 0.93  # of the best score, for a sentence of another passage to be quoted beside it
_MIN_BESIDE_SHARE = 0.8  # of the best score, for a further sentence of the same passage
_MAX_QUOTED_SENTENCES = 3
_MIN_NUMBER_SCORE = 0.7  # 0 to 1, of a sentence with some number, or with one that could be counted
_EQUAL_LIKELIHOOD = 0.08  # by which the likeliest sentence must be likelier to be chosen for that alone
_MIN_POSSIBLE_SHARE = 0.15  # of what is asked, that a sentence with a value of the asked kind must hold
_ASSESSED_SENTENCES = 8  # the best ones with a value of the asked kind
# Of the best of the sentences that come closest, and at least, for the score of a further one.
_MIN_CLOSEST_SHARE, _MIN_OTHER_SCORE = 0.5, 0.25
_OPEN_QUESTION_STARTS = QUESTION_WORDS - {"which"} | {"whats", "whos", "wheres", "hows"}
_MIN_OWN_WORDS = 2  # content words of a question with such a pronoun, from which it says itself what is meant
_SENTENCE_END = re.compile(r"(?<=[.?!;:])\s+")
_LIST_ITEM = re.compile(r"\s*(?:\d{1,3}[.)]|[-*•]\s)")
_LEADING_PREPOSITIONS = frozenset("about at by for from in of on per since to under until with within".split())
_TEXT_FORMS = (FindPassages, CheckClaims, ReadFields)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PartAnswer:
    """The sentence that answers a part of a question, or else comes closest."""

    evidence: RankedEvidence
    sentence: ScoredSentence
    score: float  # 0 to 1, that it answers
    is_possible: bool  # it may answer by its kind
    assessed: AssessedSentence
    others: tuple["_PartAnswer", ...] = ()  # the next best sentences, best first

    @property
    def is_enough(self) -> bool:
        return self.assessed.is_enough

    @property
    def is_sure(self) -> bool:
        """Whether it is quoted without a reserve: below, fewer than half of the quotations are right."""
        if asks_for_total(self.evidence.question.text) and not states_total(self.sentence.line.quote.text):
            return False
        return self.score >= (MIN_SURE_SCORE if self.evidence.kinds else MIN_SURE_LIKELY_SCORE)


async def answer_from_sentences(
    review: LegReview,
    decision: Enough | LegClarification,
    meanings: WordMeanings,
    *,
    earlier_question: str = "",
    told_documents: Sequence[DocId] = (),
) -> Enough | LegClarification:
    """Returns an answer by quoted sentences, if they hold enough of what is asked; else `decision`.

    Each part of a question needs a sentence: "which extension do I call *and until when*". `earlier_question` is the
    part of the message before this one: "who smells gas? *which number should they ring?*". `told_documents` answered
    this part: "who does the lifts, and when does *that contract* end?" is about them.

    Values that do not answer the question become a report of nothing found; quotations that do not hold enough of what
    is asked are shown as what comes closest, not as an answer. Without word vectors the decision stays as it is, since
    the shares that are required were measured with them.
    """
    if not meanings.is_available:
        return decision
    reads_fields = isinstance(decision.facts, (FieldValuesFacts, SeveralValuesFacts))
    continued = review.alternatives.continued if not (earlier_question or reads_fields) else None
    if continued is not None:
        earlier_question = continued.earlier
        review = replace(review, leg=replace(review.leg, question=continued.message))
    joined = _join_follow_up(review, continued)
    if not _may_be_answered_by_text(joined, decision):
        return decision
    evidence = await find_sentence_evidence(review, meanings, earlier_question, is_followup=continued is not None)
    review = joined
    if not evidence or not all(part.sentences for part in evidence):
        is_repetition = continued is not None and isinstance(decision.facts, QuotationsFacts)
        return report_no_answer(review, NoAnswerFacts(), decision.hits) if is_repetition else decision
    if reads_fields and review.alternatives.is_understood:
        return decision
    question, kinds = evidence[0].question, frozenset[AskedKind]().union(*(part.kinds for part in evidence))
    are_values = _may_be_values(decision, kinds)
    explained = _share_explained_by_fields(review, question) if are_values else 0.0
    is_elsewhere = _points_back(review, question) or not evidence[0].is_of_asked_time
    answers = list[_PartAnswer]()
    for part in evidence:
        told = (answers[0].sentence.line.passage.hit.doc_id,) if answers and answers[0].is_enough else told_documents
        referring = _within_documents(part, told)
        answers.append(await _answer_part(referring, decision, meanings, is_elsewhere=is_elsewhere))
    if explained >= _MIN_EXPLAINED_SHARE and not _says_more(answers, explained):
        return decision
    if any(answer.is_possible and _leaves_open(answer, decision) for answer in answers):
        return decision
    review.session.context.reasoning_log.evidence.extend(answer.assessed for answer in answers if answer.is_possible)
    if all(answer.is_enough for answer in answers):
        return _quote_evidence(review, answers, decision.hits)
    if reads_fields and (AnswerType.DAY in kinds or not are_values):
        return report_no_answer(review, NoAnswerFacts(), decision.hits)
    return _show_closest(review, decision, [answer for answer in answers if answer.score >= MIN_NEAR_SCORE])


def _within_documents(part: RankedEvidence, told_documents: Sequence[DocId]) -> RankedEvidence:
    """Returns the evidence of the documents that answered an earlier part of the message, if this part refers to what
    they tell: "who does the lifts, and when does *that contract* end?". All evidence, if they have none.
    """
    if not told_documents or not refers_to_earlier_part(part.part):
        return part
    sentences = tuple(each for each in part.sentences if each.line.passage.hit.doc_id in told_documents)
    return replace(part, sentences=sentences) if sentences else part


def _join_follow_up(review: LegReview, continued: ContinuedQuestion | None) -> LegReview:
    """Returns the review with the question before a follow-up that does not say itself what it is about."""
    if continued is None or is_yes_no_question(continued.message):
        return review
    if not depends_on_earlier_question(english_question_of(review), is_followup=True):
        return review
    return replace(review, leg=replace(review.leg, question=f"{continued.earlier} {continued.message}"))


def _says_more(answers: Sequence[_PartAnswer], explained: float) -> bool:
    """Whether a sentence with a value of the asked kind holds clearly more of what is asked than labels explain."""
    return len(answers) == 1 and any(
        answer.is_enough
        and answer.evidence.kinds
        and answer.sentence.section_share >= max(explained + _CLEAR_MARGIN, _MIN_SETTLING_SHARE)
        for answer in answers
    )


async def _answer_part(
    evidence: RankedEvidence, decision: Enough | LegClarification, meanings: WordMeanings, *, is_elsewhere: bool
) -> _PartAnswer:
    """Returns the sentence that answers the part of a question, or else comes closest. `is_elsewhere`: none answers."""
    possible = list[ScoredSentence]() if is_elsewhere else _possible_sentences(evidence, decision)
    settling = () if is_elsewhere else _settling_sentences(evidence)
    possible = [*settling, *(sentence for sentence in possible if sentence not in settling)]
    assessed = [
        (sentence, await evidence.assess_sentence(sentence, meanings))
        for sentence in (possible or evidence.sentences)[:_ASSESSED_SENTENCES]
    ]
    chosen = _choose_sentence(assessed) if possible and evidence.kinds else assessed[0]
    chosen = assessed[0] if settling else chosen
    others = sorted((pair for pair in assessed if pair is not chosen), key=lambda pair: -score_evidence(pair[1]))

    def build_answer(
        sentence: ScoredSentence, features: EvidenceFeatures, others: tuple[_PartAnswer, ...] = ()
    ) -> _PartAnswer:
        score = score_evidence(features)
        may_answer = (
            bool(possible) and _may_answer(sentence, evidence) and _may_tell_count(sentence, evidence, decision)
        )
        is_enough = may_answer and (sentence in settling or score >= _floor_for(sentence, evidence, decision))
        doc_id = sentence.line.passage.hit.doc_id
        return _PartAnswer(
            evidence=evidence,
            sentence=sentence,
            score=score,
            is_possible=bool(possible),
            assessed=AssessedSentence(doc_id=doc_id, features=features, is_enough=is_enough),
            others=others,
        )

    return build_answer(*chosen, tuple(build_answer(*pair) for pair in others[: _MAX_QUOTED_SENTENCES - 1]))


def _choose_sentence(
    assessed: Sequence[tuple[ScoredSentence, EvidenceFeatures]],
) -> tuple[ScoredSentence, EvidenceFeatures]:
    """Returns the sentence most likely to answer; of those of its document that are nearly as likely, the one that
    holds most of the question.
    """
    likeliest, features = max(assessed, key=lambda pair: score_evidence(pair[1]))
    floor, document = score_evidence(features) - _EQUAL_LIKELIHOOD, likeliest.line.passage.hit.doc_id
    return max(
        (pair for pair in assessed if score_evidence(pair[1]) >= floor and pair[0].line.passage.hit.doc_id == document),
        key=lambda pair: pair[0].score,
    )


def _settling_sentences(evidence: RankedEvidence) -> Sequence[ScoredSentence]:
    """Returns the sentences that settle a yes-or-no question by what they name, best first; none if they disagree."""
    if not is_yes_no_question(evidence.part):
        return ()
    verdicts = {
        sentence: verdict
        for sentence in evidence.sentences[:_ASSESSED_SENTENCES]
        if (verdict := evidence.verdict_of(sentence)) is not None and evidence.holds_claim(sentence)
    }
    return tuple(verdicts) if len(set(verdicts.values())) == 1 else ()


def _floor_for(sentence: ScoredSentence, evidence: RankedEvidence, decision: Enough | LegClarification) -> float:
    """Returns the score (0 to 1) from which the sentence is an answer."""
    if AnswerType.NUMBER in evidence.kinds and not _answers(sentence, evidence.kinds):
        return _MIN_NUMBER_SCORE  # any text holds some number
    if AnswerType.NUMBER in evidence.kinds and isinstance(decision.facts, UnknownWordsFacts):
        return _MIN_NUMBER_SCORE  # the documents could be counted instead
    return MIN_ANSWER_SCORE if evidence.kinds else MIN_LIKELY_SCORE


def _possible_sentences(evidence: RankedEvidence, decision: Enough | LegClarification) -> Sequence[ScoredSentence]:
    """Returns the sentences that may answer by what they hold, best first; of a question to texts also by their kind.

    Where one of them holds what is required, and no value of a kind is asked for, it is the only one.
    """
    best = _best_answer(evidence)
    is_text_question = isinstance(decision.facts, (QuotationsFacts, NoAnswerFacts, NoMentionFacts))
    is_any_possible = is_text_question or (bool(evidence.kinds) and isinstance(decision.facts, UnknownWordsFacts))
    if not is_any_possible or (best is not None and not evidence.kinds):
        return [best] if best is not None else []
    is_of_named = isinstance(decision.facts, NoMentionFacts)
    return [
        sentence
        for sentence in evidence.sentences
        if sentence.adds_words
        and (sentence.has_value or not evidence.kinds)
        and (sentence.names_share >= _MIN_NAMES_SHARE or not is_of_named)
        and (sentence.asked_share >= _MIN_POSSIBLE_SHARE or not evidence.kinds)
        and not _is_of_other_case(sentence, evidence)
    ]


def _may_answer(sentence: ScoredSentence, evidence: RankedEvidence) -> bool:
    """Whether the sentence itself holds something that is asked, and its passage the names in the question.

    A passage without any of them is about something else, and one with half of a person's name about somebody else.
    """
    hit = sentence.line.passage.hit
    asked = [word for word in evidence.question.asked if not word.is_kind]
    if asked and all(is_light_word(word.word) for word in asked):
        return False  # "who of us went?": any sentence about going would do
    if compares_all(evidence.question.text) and not compares_all(sentence.line.quote.text):
        return False  # "who pays the most?" is answered by no single document, unless it says so
    text = sentence.line.quote.text
    question = evidence.question.text
    asks_total = asks_for_total(question)
    if asks_total and (states_rate(text) or states_rule(text)) and not states_total(text):
        return False  # "what do they pay altogether?" is not answered by a fee for each of them
    if asks_for_past_amount(question) and states_rule(text):
        return False  # "how much have we paid for missed visits?" is not answered by what is paid for one
    if _is_of_other_case(sentence, evidence):
        return False
    holds_names = sentence.names_share >= _MIN_LIKELY_NAMES_SHARE
    is_of_names = not evidence.question.holds_half_of_name(words_of(f"{hit.title} {hit.doc_id}\n{hit.text}"))
    return holds_names and is_of_names and (sentence.has_value or sentence.own_share > 0)


def _is_of_other_case(sentence: ScoredSentence, evidence: RankedEvidence) -> bool:
    """ "How long were they stuck?" is not answered by how long anybody may be, nor "who places an order for £5,000?"
    by "up to £1,000 …".
    """
    question, text = evidence.question.text, sentence.line.quote.text
    return (asks_for_past_time(question) and states_demand(text)) or is_of_other_range(text, question)


def _may_tell_count(sentence: ScoredSentence, evidence: RankedEvidence, decision: Enough | LegClarification) -> bool:
    """ "How many brews have we *poured away*": where documents are counted but for words that are not understood,
    whether the sentence or its heading has one of these words. Else its number is one of something else.
    """
    if AnswerType.NUMBER not in evidence.kinds or not isinstance(decision.facts, UnknownWordsFacts):
        return True
    line, stem_of = sentence.line, evidence.question.word_stems.stem_of
    held = {stem_of(word) for word in line.words | words_of(line.heading) | words_of(line.passage.hit.title)}
    return any(stem_of(word) in held for phrase in decision.facts.words for word in words_of(phrase))


def _show_closest(
    review: LegReview, decision: Enough | LegClarification, near: Sequence[_PartAnswer]
) -> Enough | LegClarification:
    """Returns a report of what comes closest instead of a quotation that does not hold enough of the question.

    `near`: a sentence for each part that one has to do with. It is quoted if it may answer, or is of a document that
    the question names; else its document is only offered. Of a question of one part the next best sentences are quoted
    too: where the best one does not answer, one of them does as often. Other decisions are kept.
    """
    if isinstance(decision.facts, NoMentionFacts):
        near = [answer for answer in near if answer.sentence.names_share >= _MIN_NAMES_SHARE]
        if not near:
            return decision
    elif not isinstance(decision.facts, (QuotationsFacts, NoAnswerFacts)):
        return decision
    is_named = isinstance(decision.facts, NoMentionFacts)
    closest = [answer for answer in near if is_named or answer.score >= MIN_CLOSEST_SCORE]
    if len(closest) == len(near) == 1:
        closest += [
            other
            for other in closest[0].others
            if other.score >= max(_MIN_CLOSEST_SHARE * closest[0].score, _MIN_OTHER_SCORE)
        ]
    facts = NoAnswerFacts(
        unknown_words=decision.facts.unknown_words if isinstance(decision.facts, NoAnswerFacts) else (),
        closest=_merge_answers(closest),
        near=_merge_answers(near),
        asks_yes_or_no=bool(closest) and is_yes_no_question(review.leg.question),
    )
    return report_no_answer(review, facts, decision.hits)


def _merge_answers(answers: Sequence[_PartAnswer]) -> tuple[QuotableSentence, ...]:
    return tuple(merge_equal_sentences([_quotable(answer.sentence) for answer in answers]))


def _quotable(sentence: ScoredSentence) -> tuple[float, FoundPassage, DocumentQuote]:
    return sentence.score, sentence.line.passage, sentence.line.quote


def _leaves_open(answer: _PartAnswer, decision: Enough | LegClarification) -> bool:
    """Whether a sentence neither settles a yes-or-no question that is not answered yet, nor holds nearly all of it."""
    return (
        not isinstance(decision, Enough)
        and is_yes_no_question(answer.evidence.part)
        and answer.sentence.own_share < _MIN_OPEN_SHARE
        and answer.evidence.verdict_of(answer.sentence) is None
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
    question = english_question_of(review)
    if review.alternatives.is_checked or asks_for_documents(question):
        return False  # no sentence is all documents of a kind
    if isinstance(decision, Enough):
        return isinstance(decision.facts, (QuotationsFacts, FieldValuesFacts, SeveralValuesFacts))
    asks_openly = _asks_openly(question)
    if decision.kind is OutcomeKind.NO_RESULTS:
        return isinstance(review.leg.answer_form, _TEXT_FORMS) or (
            asks_openly and not review.alternatives.is_understood
        )
    return (
        asks_openly
        and (not review.leg.answer_form.computes or _may_be_stated_number(review, decision))
        and isinstance(decision.facts, (UnknownWordsFacts, SeveralDocumentsFacts))
        and not _asks_which_document(review, decision)
    )


def _asks_openly(question: str) -> bool:
    """Whether a sentence may answer: a value is asked for, or a sentence begins with a question word or a verb."""
    is_open = bool(kinds_asked_for(question)) or is_yes_no_question(question)
    return is_open or any(map(_begins_openly, _SENTENCE_END.split(question)))


def _begins_openly(sentence: str) -> bool:
    """Whether the sentence asks for more than a set: "what is …", "is …", "*under* which number …"; not "which …"."""
    words = sentence.casefold().replace("'", "").replace("’", "").split()
    if words[:1] and words[0] in _LEADING_PREPOSITIONS:
        return words[1:2] != [] and words[1] in QUESTION_WORDS
    return words[:1] != [] and words[0] in _OPEN_QUESTION_STARTS | YES_NO_VERBS


def _may_be_stated_number(review: LegReview, decision: LegClarification) -> bool:
    """Whether a text may state the number or the amount that no field tells: "how many people came to the open day"."""
    return (
        isinstance(review.leg.answer_form, ComputeNumbers)
        and isinstance(decision.facts, UnknownWordsFacts)
        and (
            counted_noun_of(review.leg.question) is not None or AnswerType.MONEY in kinds_asked_for(review.leg.question)
        )
    )


def _asks_which_document(review: LegReview, decision: LegClarification) -> bool:
    """Whether fields hold what is asked, and it is only open of which document."""
    return isinstance(decision.facts, SeveralDocumentsFacts) and review.alternatives.is_understood


def _share_explained_by_fields(review: LegReview, question: WeighedQuestion) -> float:
    """Returns the share (0 to 1) of what is asked that the labels of the read fields and the conditions explain."""
    if all(word.is_kind for word in question.asked):
        return 1.0
    return question.share_of(question.asked, (1.0, frozenset(words_of_fields(review))))


def _best_answer(evidence: RankedEvidence) -> ScoredSentence | None:
    """Returns the best sentence that answers, unless a clearly better one holds no answer."""
    is_yes_no = is_yes_no_question(evidence.question.text)
    return next(
        (
            sentence
            for sentence in evidence.sentences
            if _answers(sentence, evidence.kinds)
            and not _is_of_other_case(sentence, evidence)
            and (_may_settle(sentence) or not is_yes_no)
            and sentence.score >= _MIN_ANSWER_SCORE_SHARE * evidence.sentences[0].score
        ),
        None,
    )


def _may_be_values(decision: Enough | LegClarification, kinds: frozenset[AskedKind]) -> bool:
    """Whether values of fields are shown that may be of an asked kind: a car is nobody's name."""
    facts = decision.facts
    documents = facts.documents if isinstance(facts, SeveralValuesFacts) else (facts,)
    values = [value for fact in documents if isinstance(fact, FieldValuesFacts) for value in fact.values]
    return bool(values) and not (
        AnswerType.NAME in kinds and all(_is_no_name(value.value, value.field.type) for value in values)
    )


def _is_no_name(value: FieldValue, type_: FieldType) -> bool:
    is_text = type_ in (FieldType.CATEGORY, FieldType.TEXT, FieldType.LIST)
    return not is_text or any(character.isdigit() for character in str(value)) or str(value).islower()


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
    review: LegReview, answers: Sequence[_PartAnswer], hits: tuple[FoundPassage, ...]
) -> Enough | LegClarification:
    first, is_single = answers[0], len(answers) == 1
    is_yes_no = is_single and is_yes_no_question(review.leg.question)
    may_settle = (
        _may_settle(first.sentence)
        or first.score >= MIN_SETTLING_SCORE
        or (is_yes_no and first.evidence.holds_claim(first.sentence))
    )
    verdict = first.evidence.verdict_of(first.sentence) if is_yes_no and may_settle else None
    if is_single and verdict is None:
        quoted = list(_sentences_to_quote(first.sentence, first.evidence))
    else:
        quoted = list(dict.fromkeys(answer.sentence.line for answer in answers))
    merged = merge_equal_sentences([(first.sentence.score, line.passage, line.quote) for line in quoted])
    if asks_for_several(english_question_of(review)) or (is_yes_no and verdict is None):
        facts = NoAnswerFacts(closest=tuple(merged), asks_yes_or_no=is_yes_no)
        return report_no_answer(review, facts, _hits_with(review, hits, quoted))
    facts = QuotationsFacts(
        sentences=tuple(merged),
        answer_type=_highlighted_kind(merged, first.evidence, review.leg.question) if is_single else None,
        counted_noun=counted_noun_of(review.leg.question),
        verdict=verdict,
        is_sure=verdict is not None
        or (all(answer.is_sure for answer in answers) and not (is_single and _lacks_cause(first))),
    )
    return Enough(
        result=replace(
            build_leg_result(review, OutcomeKind.ANSWER, None),
            doc_ids=tuple(dict.fromkeys(cited.document.doc_id for cited in facts.quotes)),
            is_sure=facts.is_sure,
        ),
        facts=facts,
        hits=_hits_with(review, hits, quoted),
        route=SearchRoute.HYBRID,
    )


def _hits_with(review: LegReview, hits: Sequence[FoundPassage], lines: Sequence[TextLine]) -> tuple[FoundPassage, ...]:
    """Returns the hits and the passages of the lines, as many as are reported."""
    passages = unique_passages([*hits, *(line.passage for line in lines)])
    return tuple(passages)[: review.session.context.limits.reported_hits]


def _lacks_cause(answer: _PartAnswer) -> bool:
    """Whether a cause is asked for, and no sentence near the best one tells one."""
    return asks_for_cause(answer.evidence.question.text) and _find_cause_of(answer.sentence, answer.evidence) is None


def _find_cause_of(sentence: ScoredSentence, evidence: RankedEvidence) -> TextLine | None:
    return find_cause(sentence.line, _lines_with(sentence.line, evidence))


def _lines_with(line: TextLine, evidence: RankedEvidence) -> Sequence[TextLine]:
    """Returns the lines of its passage."""
    return next(lines for lines in evidence.lines_by_passage if line in lines)


def _sentences_to_quote(best: ScoredSentence, evidence: RankedEvidence) -> Iterator[TextLine]:
    """Yields the best sentence and those that answer nearly as well.

    Of the same passage these may be a bit worse, for a question of two parts. A question that asks for no kind of value
    is often answered by the next sentence: "The gate sticks. Its hinge is bent."
    """
    yield best.line
    cause = _find_cause_of(best, evidence) if asks_for_cause(evidence.question.text) else None
    if cause is not None and cause is not best.line:
        yield cause
        return
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


def _lines_after(line: TextLine, evidence: RankedEvidence) -> Iterator[TextLine]:
    """Yields the next sentence of the same block; the next two for a question about what happened, or why.

    An account ends where the next item of a list begins.
    """
    lines = _lines_with(line, evidence)
    index = lines.index(line) + 1
    is_account = evidence.question.asks_account
    following = lines[index : index + (_MAX_QUOTED_SENTENCES - 1 if is_account else 1)]
    if is_account:
        following = list(takewhile(lambda other: not _LIST_ITEM.match(other.quote.text), following))
    yield from (other for other in following if other.block == line.block and not other.is_heading)


def _highlighted_kind(
    sentences: Sequence[QuotableSentence], evidence: RankedEvidence, question: str
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
