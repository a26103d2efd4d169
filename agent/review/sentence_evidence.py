"""The sentences of all documents in scope that may answer a question, or a part of it, best first."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from agent.english.function_words import PRONOUNS_OF_PERSONS, QUESTION_WORDS, STOP_WORDS, YES_NO_VERBS
from agent.english.light_words import is_light_word
from agent.evidence.asked_values import AskedKind, kinds_asked_for, words_for_kinds
from agent.evidence.calendar_words import (
    CALENDAR_WORDS,
    first_month_in,
    holds_months_of,
    meeting_month_of,
    months_in,
    weekdays_in,
)
from agent.evidence.english_glosses import WordGlosses, glosses_for
from agent.evidence.evidence_score import EvidenceFeatures
from agent.evidence.question_parts import split_question_parts
from agent.evidence.question_words import (
    LIGHT_WORDS,
    WeighedQuestion,
    WeighedWord,
    WordStems,
    read_question,
    share_start,
)
from agent.evidence.sentence_scores import (
    ScoredSentence,
    SentenceScorer,
    known_names_in,
    rank_by_meaning,
    text_in_context,
)
from agent.evidence.stated_limits import CONTINUING_WORDS, UNIT_WORDS, verdict_by_limit
from agent.evidence.text_lines import WORD, TextLine, split_lines, words_of
from agent.evidence.word_meanings import WordMeanings
from agent.evidence.yes_or_no import forbids_all, split_case, verdict_of
from agent.forms.find_passages import is_rendered_record, rank_leg_passages
from agent.outcome import FoundPassage
from agent.retrieval.full_text_fallback import search_all_text
from agent.review.leg_review import LegReview
from storage.quantities.spelled_numbers import NUMBERS_BY_WORD
from storage.search.analyser import fold_text
from storage.search.conditions import TITLE_FIELD, ComparisonCondition, conjuncts_of
from storage.search.ids import ChunkId, DocId
from storage.search.index import PassageHit
from storage.text.identifiers import is_identifier
from storage.text.snowball_analyser import analyser_for

_LONG_SENTENCE_WORDS = 30
_MAX_GREETING_WORDS = 6
_READ_PASSAGES = 40  # the best ones in scope, and as many of the documents that the question names
_READ_CHARACTERS = 40_000  # code points of them
_MIN_LABELLED_SHARE = 0.8  # of the lines of a row of a table
_MIN_RECORD_LINES = 6  # labelled lines, from which a passage is a row of a table whatever else it holds
_MIN_OWN_PART_SHARE = 0.5  # of what a part of a message asks, for a sentence that is found by an earlier part too
_CODE = re.compile(r"\b([a-z]{1,8})(\d{1,3})\b")  # "p2", "sev1"
_AMOUNT_WORD = re.compile(r"\d+[a-z]{1,4}")  # "12k", "25kg"
_MIN_OWN_CLAIM_SHARE = 0.5  # of a yes-or-no question, that the sentence which settles it must hold itself
_MIN_SHARE_OF_BAN = 0.25  # the same for a sentence that forbids all that it names
_MIN_OWN_WORDS = 2  # content words of a part of a message, from which it says itself what it is about
_POINTING_WORDS = PRONOUNS_OF_PERSONS | frozenset("it its this that they them their there those these same".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedEvidence:
    """The sentences that may answer a question, or one of its parts, best first."""

    question: WeighedQuestion
    part: str  # what this evidence is about: a part of the question, or all of it
    kinds: frozenset[AskedKind]
    sentences: Sequence[ScoredSentence]
    lines_by_passage: Sequence[Sequence[TextLine]]
    is_of_asked_time: bool  # a document holds the month that is asked about, if one is
    glosses: WordGlosses  # of the language of the texts

    def verdict_of(self, sentence: ScoredSentence) -> bool | None:
        """Whether the sentence settles a yes-or-no question, and how: see `agent.evidence.yes_or_no`."""
        text, question = self._in_asked_words(sentence.line.quote.text), self.question
        if self.glosses.is_english:
            return verdict_of(text, question.text, question.word_stems.analyser)
        return verdict_of(
            self.glosses.gloss_sentence(text), self.glosses.gloss_question(question.text), analyser_for("en")
        )

    def _in_asked_words(self, text: str) -> str:
        """Returns the text with the words of the question for their synonyms: "not *sacked*" for "not dismissed"."""
        word_stems = self.question.word_stems
        asked = [word for word in self.question.asked if not word.is_kind]

        def replace_synonym(match: re.Match[str]) -> str:
            stem = word_stems.stem_of(fold_text(match[0]))
            return next((word.word for word in asked if word_stems.are_synonyms(word.stem, stem)), match[0])

        return WORD.sub(replace_synonym, text)

    def holds_claim(self, sentence: ScoredSentence) -> bool:
        """Whether the sentence, its heading and its title name all that a yes-or-no question does, in its own words.

        Words that mean nearly the same do not count: cats are no dogs. Days are compared by `verdict_of`. The case in
        which the question asks may be in the lines beside it: "… This holds for dogs on a lead as well." So may what
        a ban leaves out: of the exam, where the text is about exams and says "food is not allowed".
        """
        question, line, stems = self.question, sentence.line, self.question.word_stems
        claim, case = map(words_of, split_case(question.text))
        if not _names_such_days(question.text, f"{line.heading} {line.passage.hit.title} {line.quote.text}"):
            return False
        told = self._stems_of(line.words)
        around = told | self._stems_of(words_of(f"{line.heading} {line.passage.hit.title}"))
        lines = next(lines for lines in self.lines_by_passage if line in lines)
        beside = around.union(*(self._stems_of(other.words) for other in lines if other.block == line.block))
        is_compared = verdict_by_limit(line.quote.text, question.text) is not None
        telling = [
            word
            for word in (*question.names, *question.asked)
            if _tells_thing(word.word) and not (is_compared and _is_of_amount(word.word))
        ]
        own = [word for word in telling if word.word in claim - case]
        share = sum(word.weight for word in own if _is_held(word, told, stems)) / (
            sum(word.weight for word in own) or 1.0
        )
        is_ban = self.glosses.is_english and forbids_all(line.quote.text, question.text, question.word_stems.analyser)
        return (
            share >= (_MIN_SHARE_OF_BAN if is_ban else _MIN_OWN_CLAIM_SHARE)
            and all(_is_held(word, beside if is_ban else around, stems) for word in own)
            and all(_is_held(word, beside, stems) for word in telling if word.word in case)
        )

    def _stems_of(self, words: frozenset[str]) -> frozenset[str]:
        return frozenset(map(self.question.word_stems.stem_of, words))

    async def assess_sentence(self, sentence: ScoredSentence, meanings: WordMeanings) -> EvidenceFeatures:
        """Returns what the score of the sentence as an answer rests on."""
        line, question = sentence.line, self.question
        hit = line.passage.hit
        (sentence_cosine,) = await meanings.cosines_with(
            self.glosses.gloss_question(question.text), [self.glosses.gloss_sentence(text_in_context(line))]
        )
        held = words_of(f"{hit.title} {hit.doc_id}\n{hit.text}")
        rank = next(rank for rank, lines in enumerate(self.lines_by_passage) if line in lines)
        return EvidenceFeatures(
            covered_share=question.covered_share_of(held),
            asked_share=sentence.asked_share,
            names_share=sentence.names_share,
            sentence_cosine=sentence_cosine,
            question_length=math.log(max(question.length, 1)),
            own_share=sentence.section_share,
            margin=self._margin_of(sentence),
            passage_rank=1 / (1 + rank),
            value_agreement=(1.0 if sentence.has_value else -1.0) if self.kinds else 0.0,
            sentence_length=min(len(line.quote.text.split()) / _LONG_SENTENCE_WORDS, 1.0),
        )

    def _margin_of(self, sentence: ScoredSentence) -> float:
        """Returns by how much (0 to 1) the sentence scores higher than every sentence of another document."""
        doc_id = sentence.line.passage.hit.doc_id
        others = (other.score for other in self.sentences if other.line.passage.hit.doc_id != doc_id)
        return min(max(sentence.score - max(others, default=0.0), 0.0), 1.0)


def _tells_thing(word: str) -> bool:
    """Whether a word of a question names a thing: not a day, nor whom a rule is for, nor what anybody does."""
    return not (word in LIGHT_WORDS or is_light_word(word) or word.removesuffix("s") in CALENDAR_WORDS)


def _is_of_amount(word: str) -> bool:
    """Whether a word is of an amount that was compared with a limit, or asks whether to go on: "can we *carry* on"."""
    is_number = word.isdigit() or word in NUMBERS_BY_WORD or _AMOUNT_WORD.fullmatch(word) is not None
    return is_number or word in UNIT_WORDS or word in CONTINUING_WORDS


def _names_such_days(question: str, text: str) -> bool:
    """ "Are we open on *Saturdays*": whether the text names weekdays if the question does, and months likewise."""
    return all(not find_days(question) or bool(find_days(text)) for find_days in (weekdays_in, months_in))


def _is_held(word: WeighedWord, stems: frozenset[str], word_stems: WordStems) -> bool:
    return word.stem in stems or any(
        share_start(word.stem, stem) or (not word.is_name and word_stems.are_synonyms(word.stem, stem))
        for stem in stems
    )


async def find_sentence_evidence(
    review: LegReview,
    meanings: WordMeanings,
    earlier_question: str,
    *,
    is_followup: bool = False,
    within: DocId | None = None,
) -> tuple[RankedEvidence, ...]:
    """Scores the sentences of the best passages, for each part of the question; empty if these are only records.

    `earlier_question` is the part of the message before this one, or of a follow-up the question that it continues.
    A follow-up that depends on this question is about the documents that the last reply cited. There is no evidence
    without them, nor if it has no word of its own that a sentence could hold; its own names must be in the passage.
    `within`: only the sentences of this document, whatever identifiers the question holds.
    """
    own_words = words_of(review.leg.question)
    own_question = review.leg.question
    message = english_question_of(review) if is_followup else own_question
    is_joined = bool(earlier_question) and depends_on_earlier_question(message, is_followup=is_followup)
    continues = is_joined and is_followup
    found_nothing, found_documents = review.question_context.found_nothing, review.question_context.found_documents
    if continues and (found_nothing or not found_documents):
        return ()
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
        if not _is_record(review, passage.hit)
        and (passage.hit.doc_id == within if within else _mentions_identifiers(passage.hit, review.leg.question))
    ]
    if continues and asks_question(message):
        passages = [passage for passage in passages if passage.hit.doc_id in found_documents]
    if not passages:
        return ()
    of_asked_time = {passage.hit.doc_id for passage in passages if _is_of_asked_month(passage.hit, review.leg.question)}
    passages = [passage for passage in passages if not of_asked_time or passage.hit.doc_id in of_asked_time]
    of_meeting = _documents_of_meeting(passages, review.leg.question)
    passages = [passage for passage in passages if not of_meeting or passage.hit.doc_id in of_meeting]
    lines_by_passage = [split_lines(passage) for passage in passages]
    analyser = review.question_context.analysers[passages[0].hit.bucket]
    glosses = glosses_for(analyser.language)
    parts = split_question_parts(own_question)
    kinds_by_part = [kinds_asked_for(glosses.gloss_question(part)) for part in parts]
    if continues and len(parts) == 1 and not asks_question(message):
        kinds_by_part = [kinds_asked_for(glosses.gloss_question(earlier_question))]
    question = await read_question(
        review.leg.question,
        terms,
        [line for lines in lines_by_passage for line in lines],
        analyser,
        meanings,
        kind_words=words_for_kinds(frozenset[AskedKind]().union(*kinds_by_part)),
        other_words=words_of_fields(review),
        glosses=glosses,
    )
    own = [word for word in question.asked if is_joined and word.word in own_words and not word.is_kind]
    own_names = [word for word in question.names if continues and word.word in own_words]
    if continues and not own and not own_names:
        return ()
    evidence = list[RankedEvidence]()
    known_names = known_names_in([line for lines in lines_by_passage for line in lines])
    for part, kinds in zip(parts, kinds_by_part, strict=True):
        scorer = SentenceScorer(
            question=question,
            kinds=kinds,
            part=tuple(_words_of_part(question, part)) if len(parts) > 1 else (),
            glosses=glosses,
            known_names=known_names,
        )
        scored = [
            sentence
            for passage, lines in zip(passages, lines_by_passage, strict=True)
            if _holds_names(passage.hit, own_names)
            for of_passage in [scorer.score_lines(lines, words_of(f"{passage.hit.title} {passage.hit.doc_id}"))]
            for sentence in of_passage
            if (
                not own
                or _holds_own_part(sentence, own, question, is_followup=is_followup)
                or (is_followup and asks_question(message) and _is_beside_own_part(sentence, of_passage, own, question))
            )
            and not _is_greeting(sentence.line.quote.text)
            and not _is_of_other_code(sentence.line, part if len(parts) > 1 else own_question)
        ]
        evidence.append(
            RankedEvidence(
                question=question,
                part=part if len(parts) > 1 else review.leg.question,
                kinds=kinds,
                sentences=await rank_by_meaning(scored, review.leg.question, meanings, glosses),
                lines_by_passage=lines_by_passage,
                is_of_asked_time=bool(of_asked_time),
                glosses=glosses,
            )
        )
    return tuple(evidence)


def _is_greeting(text: str) -> bool:
    """ "Dear Ms Moor," opens a letter, and tells nothing."""
    return text.rstrip().endswith(",") and len(text.split()) <= _MAX_GREETING_WORDS


def _words_of_part(question: WeighedQuestion, part: str) -> Iterator[WeighedWord]:
    own_words = words_of(part)
    yield from (word for word in question.asked if word.word in own_words and not word.is_kind)


def english_question_of(review: LegReview) -> str:
    """Returns the question in English words, by the language of the documents."""
    analyser = review.question_context.analysers[review.leg.search.buckets[0]]
    return glosses_for(analyser.language).gloss_question(review.leg.question)


def depends_on_earlier_question(question: str, *, is_followup: bool) -> bool:
    """Whether hardly a word says what the part of a message is about: "and *which number* should they *ring*?".

    A follow-up also depends on the question before it if it points to something: "who is paying *that*?".
    """
    words = words_of(question)
    ignored = STOP_WORDS | QUESTION_WORDS | YES_NO_VERBS | words_for_kinds(kinds_asked_for(question))
    is_pointing = is_followup and not words.isdisjoint(_POINTING_WORDS)
    return is_pointing or len([word for word in words if word not in ignored and len(word) > 1]) < _MIN_OWN_WORDS


def asks_question(message: str) -> bool:
    """Whether the message says itself what is asked: "and *when*?"; "and a cat?" only replaces a word."""
    return not words_of(message).isdisjoint(QUESTION_WORDS)


def _is_of_asked_month(hit: PassageHit, question: str) -> bool:
    return holds_months_of(question, hit.title, f"{hit.doc_id}\n{hit.text}")


def _documents_of_meeting(passages: Sequence[FoundPassage], question: str) -> set[DocId]:
    """ "What was decided in the *September* meeting": returns the documents whose title, id or beginning has the month.

    Minutes name the next meeting and what was put off, too: these months are not theirs.
    """
    month = meeting_month_of(question)
    if month is None:
        return set()
    openings = (
        (
            passage.hit.doc_id,
            f"{passage.hit.title}\n{passage.hit.doc_id}\n{'' if passage.hit.start else passage.hit.text}",
        )
        for passage in passages
    )
    return {doc_id for doc_id, opening in openings if first_month_in(opening) == month}


def _holds_own_part(
    sentence: ScoredSentence, own: Sequence[WeighedWord], question: WeighedQuestion, *, is_followup: bool
) -> bool:
    """Whether the sentence or its heading holds what the part of a message itself asks, if another part adds to it.

    A follow-up may name another document, so that its title counts: "and on the *travel* one?".
    """
    heading = f"{sentence.line.heading} {sentence.line.passage.hit.title}" if is_followup else sentence.line.heading
    levels = (1.0, sentence.line.words), (1.0, words_of(heading))
    return question.share_of(own, *levels) >= _MIN_OWN_PART_SHARE


def _is_beside_own_part(
    sentence: ScoredSentence,
    of_passage: Sequence[ScoredSentence],
    own: Sequence[WeighedWord],
    question: WeighedQuestion,
) -> bool:
    """Whether a value of the asked kind is beside a sentence that holds what is asked and has no such value itself:
    "The clock has stopped. Only *Ada Moor* knows the movement."
    """
    index = of_passage.index(sentence)
    beside = [
        other
        for other in of_passage[max(index - 1, 0) : index + 2]
        if other.line.block == sentence.line.block and not other.has_value
    ]
    return sentence.has_value and any(
        question.share_of(own, (1.0, other.line.words)) >= _MIN_OWN_PART_SHARE for other in beside
    )


def _holds_names(hit: PassageHit, names: Sequence[WeighedWord]) -> bool:
    """Whether the passage or its title has a word that begins like each name: compounds and genitives count."""
    held = words_of(f"{hit.title} {hit.doc_id}\n{hit.text}")
    return all(any(word.startswith(name.stem) for word in held) for name in names)


def _mentions_identifiers(hit: PassageHit, question: str) -> bool:
    """Whether the passage or its title holds each identifier of the question: TC-27 says nothing about TC-18."""
    text = fold_text(f"{hit.title} {hit.doc_id}\n{hit.text}")
    words = (word.strip(".,;:!?()\"'“”’") for word in question.split())
    return all(fold_text(word) in text for word in words if is_identifier(word))


def _is_of_other_code(line: TextLine, question: str) -> bool:
    """Whether a sentence is about another class than the question: "P1 within an hour" says nothing about P2."""
    asked = set(_CODE.findall(fold_text(question)))
    if not asked:
        return False
    held = set(_CODE.findall(fold_text(f"{line.heading}\n{line.quote.text}")))
    return asked.isdisjoint(held) and not {letters for letters, _ in asked}.isdisjoint({letters for letters, _ in held})


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
    for passage in unique_passages(found for rank in zip_longest(*rankings) for found in rank if found is not None):
        yield passage
        left -= len(passage.hit.text)
        if left < 0:
            return


def unique_passages(passages: Iterable[FoundPassage]) -> Iterator[FoundPassage]:
    seen = set[ChunkId]()
    for passage in passages:
        if passage.hit.chunk_id not in seen:
            seen.add(passage.hit.chunk_id)
            yield passage


def words_of_fields(review: LegReview) -> Iterator[str]:
    """Yields the folded words of the read fields, of the conditions, and of the buckets' nouns."""
    schemas = review.question_context.schemas
    for bucket, name in review.leg.answer_form.requested_fields:
        field = schemas[bucket].by_name[name]
        yield from words_of(" ".join((field.name, field.label, *field.synonyms)))
    for clause in review.leg.search.clauses:
        schema = schemas[clause.bucket]
        yield from words_of(" ".join((schema.bucket.replace("_", " "), schema.title, *schema.synonyms)))
        comparisons = [each for each in conjuncts_of(clause.condition) if isinstance(each, ComparisonCondition)]
        in_title = [each for each in comparisons if each.field == TITLE_FIELD]
        for condition in comparisons:
            if condition.field in schema.by_name or (condition in in_title and len(in_title) > 1):
                yield from words_of(condition.words)
