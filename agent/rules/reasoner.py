"""The rule reasoner: links values to the scoped dictionary and routes by the best and most complete reading."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from agent.assumptions import Assumption, ForeignLanguage
from agent.compose.composed_leg import ComposedLeg
from agent.compose.registry import compose_facts
from agent.decomposition import (
    AlternativeReading,
    Decomposition,
    ExportRequest,
    HelpRequest,
    KeptQuestion,
    LegAlternatives,
    PlannedQuestion,
    QuestionContext,
    SpellingCorrection,
    StartOverRequest,
    UnrecognisedQuestion,
)
from agent.english.commands import (
    is_help_request,
    is_start_over_request,
    is_thanks,
    is_undo_request,
    leg_to_export,
    strip_file_request,
)
from agent.english.function_words import DOCUMENT_NOUNS, LIST_VERBS, QUESTION_WORDS
from agent.review.leg_decisions import decide_legs
from agent.review.leg_review import Decision, LegFacts, LegReview
from agent.rules.comparison.comparison_plan import QuestionReader, plan_comparison
from agent.rules.comparison.share import plan_share
from agent.rules.followups.follow_up_plan import plan_follow_up
from agent.rules.followups.question_parts import (
    QuestionPart,
    add_missing_noun,
    continue_part,
    only_asks_to_show,
    searches_everything,
)
from agent.rules.forms.question_subject import drop_measure_words
from agent.rules.forms.recognisers import answer_form_of, drop_form_words, recognise_forms, text_form_of
from agent.rules.forms.unhandled_terms import find_unhandled_terms
from agent.rules.linking.lexicon import BucketLexicon, BucketNoun, PartialMatch, ValueMatch
from agent.rules.linking.lexicon_cache import LexiconCache
from agent.rules.literals.literal_types import QuestionLiteral
from agent.rules.literals.recognition import find_literals
from agent.rules.reading.bucket_reading import MIN_COVERAGE, BucketReading, read_question
from agent.rules.reading.literal_conditions import AlternativeCondition
from agent.rules.words.language_detection import detect_foreign_language
from agent.rules.words.overview_questions import normalize_summary_request
from agent.rules.words.question_splitting import split_questions
from agent.rules.words.tokens import find_quotations
from storage.search.conditions import TEXT_FIELD, NotCondition, conjunction_of, fields_of, title_condition_for
from storage.search.ids import BucketId, LegId
from storage.search.plan import (
    AggregateFunction,
    AnswerForm,
    CheckClaims,
    Clause,
    FindPassages,
    Leg,
    LegCombination,
    ListDocuments,
    Plan,
    ReadFields,
    Search,
    SummariseDocuments,
)
from storage.text.identifiers import is_identifier

_TIE_MARGIN = 0.05  # readings whose scores differ by less count as equal
_MAX_CORRECTED_BUCKETS = 3  # the number of best buckets that are searched for corrections
_TEXT_QUESTION_WORDS = QUESTION_WORDS - {"which"}  # they begin a question about the text of documents
_DOCUMENT_MEANINGS = (BucketNoun, ValueMatch, PartialMatch)
_VAGUE_ADJECTIVES = frozenset(
    """relevant pertinent applicable various respective individual actual corresponding specific particular possible
    remaining suitable appropriate good best nice main typical usual common similar new old recent big small there
    own single complete entire real proper""".split()
)
_MAX_REQUIRED_WORDS = 3  # more unlinked words than this are a topic that only ranks
_WORDS_BEFORE_NAMES = frozenset(
    "from with by about for of mentioning containing called named at against regarding".split()
)


class RuleReasoner:
    """A reasoner without a model or a network. It caches the lexicons of recent buckets."""

    name = "rule"

    def __init__(self) -> None:
        self._lexicon_cache = LexiconCache()

    async def decompose_question(self, question: str, question_context: QuestionContext) -> Decomposition:
        """Returns the decision for a question. It changes only the lexicon cache; a plan has at most four legs."""
        return self._decompose_question(question, question_context)

    async def review_legs(
        self, reviews: Sequence[LegReview], combination: LegCombination, *, is_last_round: bool
    ) -> Sequence[Decision]:
        return await decide_legs(reviews, combination, is_last_round=is_last_round)

    async def compose_leg(self, facts: LegFacts, review: LegReview) -> ComposedLeg:
        return compose_facts(facts, review)

    def _decompose_question(self, question: str, question_context: QuestionContext) -> Decomposition:
        if is_start_over_request(question):
            return StartOverRequest()
        if is_undo_request(question):
            return _previous_plan(question_context)
        if is_help_request(question):
            return HelpRequest()
        if is_thanks(question):
            return UnrecognisedQuestion(unknown_words=())
        tongue = detect_foreign_language(question)
        if tongue is not None:
            return _plan_text_search(question, tongue, question_context)
        known = self._lexicon_cache.lexicons_for(question_context)
        if question_context.last_plan is not None:
            leg = leg_to_export(question, question_context.last_plan)
            if leg is not None:
                return ExportRequest(plan=question_context.last_plan, leg=leg)
        listed = strip_file_request(question)
        if listed is not None:
            return _as_export(self._decompose_question(listed, question_context))
        reader = self._make_reader(known, question_context)
        parts = split_questions(question)
        comparison = plan_comparison(question, reader)
        follows_on = question_context.last_plan is not None and len(parts) == 1
        following = (
            plan_follow_up(question, question_context.last_plan, reader, question_context.earlier_plans)
            if follows_on and question_context.last_plan is not None
            else None
        )
        if following is not None and (comparison is None or following.references):
            return following
        if comparison is not None and comparison.is_certain:
            return comparison.planned
        several = self._plan_parts(question, parts, reader, question_context) if len(parts) > 1 else None
        alone = several or self._plan_single_question(question, reader, question_context)
        compares = comparison is not None and isinstance(alone, PlannedQuestion) and not alone.is_followup
        return replace(comparison.planned, fallback=alone) if comparison is not None and compares else alone

    def recognise_forms(
        self, question: str, question_context: QuestionContext
    ) -> tuple[BucketId, Sequence[tuple[str, AnswerForm]]]:
        """Returns the best bucket and the recognisers that accept the question there, in order, with their forms."""
        lexicons = self._lexicon_cache.lexicons_for(question_context)
        reading = self._read_text(normalize_summary_request(question), lexicons, question_context)[0]
        return reading.bucket, tuple(recognise_forms(reading, lexicons[reading.bucket]))

    def _plan_parts(
        self, question: str, parts: Sequence[str], reader: QuestionReader, question_context: QuestionContext
    ) -> PlannedQuestion | None:
        """Plans a leg per part; a part may continue the leg before it. Returns None if a part is no question."""
        found: list[QuestionPart] = []
        for index, part in enumerate(parts):
            if only_asks_to_show(part):
                return None
            leg_id = LegId(chr(97 + index))
            plan = (
                Plan(question=question, legs=tuple(planned_part.leg for planned_part in found))
                if found
                else question_context.last_plan
            )
            going_on = None if plan is None else continue_part(part, plan, reader, is_first=not found)
            if going_on is None:
                part = add_missing_noun(part, found[-1], reader) if found else part
                readings = reader.readings_of(normalize_summary_request(part))
                if not (_has_own_content(readings[0]) or _asks_for_number(readings[0], reader.lexicons)):
                    return None
                leg, doubt = _add_spelling_correction(
                    _plan_leg(leg_id, part, readings, reader.lexicons),
                    part,
                    readings,
                    reader.lexicons,
                    question_context,
                )
                found.append(
                    QuestionPart(
                        leg=leg, alternatives=doubt, assumptions=_assumptions_of(leg, readings[0], reader.lexicons)
                    )
                )
            else:
                found.append(going_on.with_leg_id(leg_id, part))
        if len(found) > 1 and any(
            planned_part.continues_search and searches_everything(before.leg)
            for before, planned_part in pairwise(found)
        ):
            return None  # "it" has no referent yet, so this is one question
        plan = Plan(
            question=question,
            legs=tuple(planned_part.leg for planned_part in found),
            combination=LegCombination.SEQUENCE
            if any(planned_part.continues_search for planned_part in found[1:])
            else LegCombination.SIDE_BY_SIDE,
        )
        doubts = tuple(planned_part.alternatives for planned_part in found)
        return PlannedQuestion(
            plan=plan,
            alternatives=doubts,
            assumptions=tuple(assumption for planned_part in found for assumption in planned_part.assumptions),
            references=tuple(pick for planned_part in found for pick in planned_part.references),
            is_followup=found[0].continues_search,
        )

    def _plan_single_question(
        self, question: str, reader: QuestionReader, question_context: QuestionContext
    ) -> Decomposition:
        """Plans a question that has only one part."""
        share = plan_share(question, reader)
        if share is not None:
            return share
        known, readings = reader.lexicons, reader.readings_of(normalize_summary_request(question))
        leg, doubt = _add_spelling_correction(
            _plan_leg(LegId("a"), question, readings, known), question, readings, known, question_context
        )
        if not _has_any_meaning(readings) and not _wants_all_documents(leg, readings):
            return UnrecognisedQuestion(unknown_words=max((r.unlinked_words for r in readings), key=len, default=()))
        plan, assumptions = Plan(question=question, legs=(leg,)), _assumptions_of(leg, readings[0], known)
        if leg_to_export(question, plan) and leg.answer_form.lists_documents:
            return ExportRequest(plan=plan, leg=leg.id, assumptions=assumptions)
        return PlannedQuestion(plan=plan, alternatives=(doubt,), assumptions=assumptions)

    def _make_reader(
        self, lexicons: Mapping[BucketId, BucketLexicon], question_context: QuestionContext
    ) -> QuestionReader:
        read: dict[str, list[BucketReading]] = {}  # several steps read the same text

        def cached_readings(text: str) -> list[BucketReading]:
            if text not in read:
                read[text] = self._read_text(text, lexicons, question_context)
            return read[text]

        return QuestionReader(
            literals_in=lambda text: find_literals(text, question_context.now.date()),
            readings_of=cached_readings,
            asks_for_list=lambda text: _asks_for_list(cached_readings(text)[0], lexicons),
            lexicons=lexicons,
        )

    def _read_text(
        self, question: str, lexicons: Mapping[BucketId, BucketLexicon], question_context: QuestionContext
    ) -> list[BucketReading]:
        """Returns a reading per bucket, best first; the larger bucket precedes if scores are equal."""
        return _read_buckets(question, lexicons, question_context)


def _as_export(decomposition: Decomposition) -> Decomposition:
    """Returns an export of the last list; returns other decisions unchanged."""
    legs = decomposition.plan.legs if isinstance(decomposition, PlannedQuestion) else ()
    if not isinstance(decomposition, PlannedQuestion) or not legs or not legs[-1].answer_form.lists_documents:
        return decomposition
    return ExportRequest(plan=decomposition.plan, leg=legs[-1].id, assumptions=decomposition.assumptions)


def _previous_plan(question_context: QuestionContext) -> PlannedQuestion | StartOverRequest:
    """Returns the plan before the last one, as an undo."""
    if not question_context.earlier_plans:
        return StartOverRequest(nothing_before=True)
    plan = question_context.earlier_plans[-1]
    return PlannedQuestion(
        plan=plan, kept_conditions=(KeptQuestion(question=plan.question),), is_followup=True, is_undo=True
    )


def _plan_text_search(question: str, language: str, question_context: QuestionContext) -> PlannedQuestion:
    """Plans a text search in all buckets for a question in another language."""
    search = Search(clauses=tuple(Clause(bucket=bucket) for bucket in question_context.schemas), ranking_text=question)
    leg = Leg(id=LegId("a"), question=question, search=search, answer_form=FindPassages())
    return PlannedQuestion(plan=Plan(question=question, legs=(leg,)), assumptions=(ForeignLanguage(language=language),))


def _asks_for_list(reading: BucketReading, lexicons: Mapping[BucketId, BucketLexicon]) -> bool:
    return answer_form_of(reading, lexicons[reading.bucket]).lists_documents


def _read_buckets(
    question: str,
    lexicons: Mapping[BucketId, BucketLexicon],
    question_context: QuestionContext,
    corrected_stems: Mapping[BucketId, Mapping[str, str]] | None = None,
) -> list[BucketReading]:
    literals: tuple[QuestionLiteral, ...] = find_literals(question, question_context.now.date())
    quotations = find_quotations(question)
    outside = tuple(literal for literal in literals if not any(q.start <= literal.start < q.end for q in quotations))
    meant = corrected_stems or {}
    today = question_context.now.date()
    readings = [
        read_question(lexicon, question, outside, quotations, meant.get(bucket), today)
        for bucket, lexicon in lexicons.items()
    ]
    return sorted(
        readings, key=lambda reading: (-reading.score, -lexicons[reading.bucket].document_count, reading.bucket)
    )


def _add_spelling_correction(
    leg_with_alternatives: tuple[Leg, LegAlternatives],
    question: str,
    readings: Sequence[BucketReading],
    lexicons: Mapping[BucketId, BucketLexicon],
    question_context: QuestionContext,
) -> tuple[Leg, LegAlternatives]:
    """Adds to the alternatives the leg that results if the unknown words are misspelt."""
    leg, doubt = leg_with_alternatives
    meant = {
        reading.bucket: _find_misspelt_words(reading, lexicons[reading.bucket])
        for reading in readings[:_MAX_CORRECTED_BUCKETS]
    }
    if not any(meant.values()):
        return leg_with_alternatives
    stems = {bucket: {misspelt.stem: misspelt.correction_stem for misspelt in words} for bucket, words in meant.items()}
    again = _read_buckets(question, lexicons, question_context, stems)
    words = tuple((misspelt.written, misspelt.correction) for misspelt in meant.get(again[0].bucket, ()))
    if not words:
        return leg_with_alternatives
    other, _ = _plan_leg(leg.id, question, again, lexicons)
    return leg, replace(doubt, spelling_correction=SpellingCorrection(corrections=words, leg=other))


@dataclass(frozen=True, slots=True, kw_only=True)
class _MisspeltWord:
    """A word as written and its likely correction, each with its stem."""

    written: str
    stem: str
    correction: str
    correction_stem: str


def _find_misspelt_words(reading: BucketReading, lexicon: BucketLexicon) -> list[_MisspeltWord]:
    """Returns the unlinked words that resemble a word known in the bucket."""
    left = " ".join(reading.unlinked_words).casefold()
    found = [
        (token, lexicon.correct_spelling(token))
        for token in reading.tokens
        if not token.is_quoted and token.word in left
    ]
    return [
        _MisspeltWord(written=token.word, stem=token.stem, correction=known[0], correction_stem=known[1])
        for token, known in found
        if known is not None
    ]


def _has_own_content(reading: BucketReading) -> bool:
    """Whether a part of a message is complete by itself; "Show them." is not."""
    return bool(reading.conditions or reading.unlinked_words or reading.unlinked_quotations or reading.asked_mentions)


def _asks_for_number(reading: BucketReading, lexicons: Mapping[BucketId, BucketLexicon]) -> bool:
    """ "How many receipts are there?" is about all receipts; "list the receipts" may be about earlier results."""
    return reading.has_noun and answer_form_of(reading, lexicons[reading.bucket]).computes


def _wants_all_documents(leg: Leg, readings: Sequence[BucketReading]) -> bool:
    """ "List all documents": whether it asks for all buckets; numbers other than a count need a single bucket."""
    named = any(token.word in DOCUMENT_NOUNS for token in readings[0].tokens)
    wanted = leg.answer_form
    counts = wanted.computed_functions == (AggregateFunction.COUNT,) or (wanted.computes and len(readings) == 1)
    return named and (wanted.lists_documents or counts)


def _is_empty_reading(reading: BucketReading) -> bool:
    return not (reading.conditions or reading.unlinked_words or reading.unlinked_quotations or reading.has_noun)


def _has_any_meaning(readings: Sequence[BucketReading]) -> bool:
    """Whether any reading has a condition, a noun, a field or a word to search for."""
    return any(
        reading.conditions
        or reading.unlinked_words
        or reading.unlinked_quotations
        or reading.has_noun
        or reading.asked_mentions
        for reading in readings
    )


def _assumptions_of(
    leg: Leg, reading: BucketReading, lexicons: Mapping[BucketId, BucketLexicon]
) -> tuple[Assumption, ...]:
    """Returns the assumptions of the reading, and those about terms that the plan does not handle."""
    return (*reading.assumptions, *find_unhandled_terms(leg.answer_form, reading, lexicons[reading.bucket]))


def _plan_leg(
    leg_id: LegId, question: str, readings: Sequence[BucketReading], lexicons: Mapping[BucketId, BucketLexicon]
) -> tuple[Leg, LegAlternatives]:
    wanted = _form_for_identifier(answer_form_of(readings[0], lexicons[readings[0].bucket]), readings[0])
    lexicon = lexicons[readings[0].bucket]
    best = drop_measure_words(drop_form_words(readings[0], lexicon), wanted, lexicon)
    readings = [best, *readings[1:]]
    if (told := _leg_by_identifier(leg_id, question, readings, lexicons)) is not None:
        return told, LegAlternatives(leg=leg_id)
    if wanted.reads_text or not _defines_set(best, wanted):
        return _lookup_leg(leg_id, question, readings, text_form_of(best, lexicon))
    if wanted.reads_values:
        return _value_leg(leg_id, question, best, wanted), LegAlternatives(leg=leg_id)
    chosen = _choose_readings(readings, wanted)
    clauses = tuple(_clause_of(reading) for reading in chosen)
    search = Search(clauses=clauses, ranking_text=question)
    doubt = LegAlternatives(
        leg=leg_id,
        equal_readings=tuple(
            _alternative_reading(search, best, alternative) for alternative in best.equal_alternatives
        ),
        fallback_readings=tuple(
            _alternative_reading(search, best, alternative) for alternative in best.fallback_alternatives
        ),
        wider_readings=tuple(
            _alternative_reading(search, best, alternative) for alternative in best.wider_alternatives
        ),
        other_bucket_clauses=_clauses_elsewhere(readings, chosen, wanted),
        droppable_words=tuple(
            word
            for word in best.unlinked_words
            if not (_is_name_like(word, question) or _is_distinguishing_word(word, best))
        ),
    )
    return Leg(id=leg_id, question=question, search=search, answer_form=wanted), doubt


def _leg_by_identifier(
    leg_id: LegId, question: str, readings: Sequence[BucketReading], lexicons: Mapping[BucketId, BucketLexicon]
) -> Leg | None:
    """Returns a leg for fields of a document that only an identifier names, in any bucket; else None."""
    ids = [title_condition_for(word) for word in readings[0].unlinked_words if is_identifier(word)]
    if not ids or any(reading.conditions or reading.has_noun for reading in readings):
        return None
    asked = [(reading, answer_form_of(reading, lexicons[reading.bucket])) for reading in readings]
    told = [(reading, wanted) for reading, wanted in asked if wanted.reads_values]
    clauses = tuple(
        Clause(bucket=reading.bucket, condition=conjunction_of(*ids), required_terms=reading.unlinked_quotations)
        for reading, _ in told
    )
    fields = tuple(field for _, wanted in told for field in wanted.requested_fields)
    wanted, search = ReadFields(fields=fields), Search(clauses=clauses, ranking_text=question)
    return Leg(id=leg_id, question=question, search=search, answer_form=wanted) if told else None


def _form_for_identifier(answer_form: AnswerForm, reading: BucketReading) -> AnswerForm:
    """Returns a list or a summary for a lone identifier; returns the form unchanged for other questions."""
    says_more = (
        reading.conditions or reading.unlinked_quotations or reading.asked_mentions or len(reading.unlinked_words) != 1
    )
    if says_more or answer_form not in (FindPassages(), CheckClaims()) or not is_identifier(reading.unlinked_words[0]):
        return answer_form
    return SummariseDocuments() if reading.tokens[0].word in QUESTION_WORDS else ListDocuments()


def _defines_set(reading: BucketReading, answer_form: AnswerForm) -> bool:
    """Whether the reading defines a set of documents, and is not only a search in their text."""
    first = reading.tokens[0].word if reading.tokens else ""
    if answer_form.is_of_whole_bucket and not (reading.unlinked_words or reading.unlinked_quotations):
        return True
    computes = answer_form.computes and len(reading.unlinked_words) <= 1
    if reading.has_noun and (
        first not in _TEXT_QUESTION_WORDS or reading.coverage >= MIN_COVERAGE or not reading.unlinked_words or computes
    ):
        topic = not reading.conditions and len(reading.unlinked_words) > _MAX_REQUIRED_WORDS
        return not (topic and answer_form.lists_documents)
    if reading.conditions and reading.is_exact:
        return reading.is_credible
    if (
        reading.asked_mentions
        and not (reading.unlinked_words or reading.unlinked_quotations)
        and answer_form.depends_on_field
    ):
        return True  # "the latest filing date": a field, and no other word
    if answer_form.reads_values:
        return 0 < len(reading.unlinked_words) <= _MAX_REQUIRED_WORDS  # a field and a possible title
    if len(reading.unlinked_words) == 1 and is_identifier(reading.unlinked_words[0]):
        return True
    if reading.unlinked_quotations or any(token.word in DOCUMENT_NOUNS for token in reading.tokens):
        return len(reading.unlinked_words) <= _MAX_REQUIRED_WORDS
    return first in LIST_VERBS and len(reading.unlinked_words) <= _MAX_REQUIRED_WORDS


def _value_leg(leg_id: LegId, question: str, reading: BucketReading, answer_form: AnswerForm) -> Leg:
    """Returns a leg for the values of a document named by conditions, or by the unlinked words as its title."""
    ids = [word for word in reading.unlinked_words if is_identifier(word)]
    named = [title_condition_for(word) for word in ids or reading.unlinked_words]
    of_fields = [condition for condition in reading.conditions if TEXT_FIELD not in fields_of(condition)]
    condition = conjunction_of(*of_fields) if reading.is_exact and of_fields else conjunction_of(*of_fields, *named)
    clause = Clause(bucket=reading.bucket, condition=condition, required_terms=reading.unlinked_quotations)
    return Leg(
        id=leg_id, question=question, search=Search(clauses=(clause,), ranking_text=question), answer_form=answer_form
    )


def _choose_readings(readings: Sequence[BucketReading], answer_form: AnswerForm) -> list[BucketReading]:
    """Returns the reading of the best bucket and those of buckets that fit equally well."""
    best = readings[0]
    counts = answer_form.is_document_count
    anywhere = counts and not best.has_noun and not best.conditions
    if answer_form.computes and not (anywhere or (counts and _is_empty_reading(best))):
        return [best]
    if answer_form.depends_on_field:
        return [best]  # other buckets may lack the field
    if not best.has_noun and not best.conditions:
        return [
            reading for reading in readings if not reading.conditions and not reading.has_noun
        ]  # only words: all buckets
    return [
        reading
        for reading in readings
        if reading is best
        or (
            best.score - reading.score <= _TIE_MARGIN
            and reading.has_noun == best.has_noun
            and reading.is_exact == best.is_exact
        )
    ]


def _clause_of(reading: BucketReading) -> Clause:
    """Returns a clause with the conditions, and with the unlinked words as required terms."""
    required = (*reading.unlinked_words, *reading.unlinked_quotations)
    return Clause(bucket=reading.bucket, condition=reading.condition, required_terms=required)


def _clauses_elsewhere(
    readings: Sequence[BucketReading], chosen: Sequence[BucketReading], answer_form: AnswerForm
) -> tuple[Clause, ...]:
    """Returns clauses for the other buckets: by their fields, or by words alone if they lack the field."""
    if not answer_form.shows_documents:
        return ()
    best = readings[0]
    open_to_others = bool(best.conditions) and not best.has_noun
    return tuple(
        _clause_of(reading)
        for reading in readings
        if reading not in chosen
        and (
            reading.is_exact
            if reading.conditions
            else open_to_others and bool(reading.unlinked_words or reading.unlinked_quotations)
        )
    )


def _lookup_leg(
    leg_id: LegId, question: str, readings: Sequence[BucketReading], answer_form: AnswerForm
) -> tuple[Leg, LegAlternatives]:
    """Returns a leg for a text search: conditions on whole values filter it, and all words rank the results."""
    narrowing = [reading for reading in readings if _narrows_search(reading)]
    best = narrowing[0] if narrowing else readings[0]
    runner_up = next((reading.score for reading in narrowing[1:]), 0.0)
    if narrowing and (best.has_noun or best.score - runner_up > _TIE_MARGIN):
        of_fields = conjunction_of(
            *(
                condition
                for condition in best.conditions
                if TEXT_FIELD not in fields_of(condition) and not isinstance(condition, NotCondition)
            )
        )
        clauses = (Clause(bucket=best.bucket, condition=of_fields, required_terms=_required_terms(best)),)
    else:
        clauses = tuple(Clause(bucket=reading.bucket, required_terms=_required_terms(reading)) for reading in readings)
    search = Search(clauses=clauses, ranking_text=question)
    return Leg(id=leg_id, question=question, search=search, answer_form=answer_form), LegAlternatives(leg=leg_id)


def _required_terms(reading: BucketReading) -> tuple[str, ...]:
    """Returns the terms that a document must contain: quoted phrases and identifiers."""
    return (*reading.unlinked_quotations, *filter(is_identifier, reading.unlinked_words))


def _narrows_search(reading: BucketReading) -> bool:
    """Whether the conditions of the reading are reliable enough to restrict the text search."""
    told = reading.has_whole_name or (reading.has_noun and reading.coverage >= MIN_COVERAGE)
    return reading.is_exact and bool(reading.conditions) and told


def _alternative_reading(
    search: Search,
    reading: BucketReading,
    alternative: AlternativeCondition,
) -> AlternativeReading:
    clauses = tuple(
        replace(clause, condition=conjunction_of(*alternative.all_conditions))
        if clause.bucket == reading.bucket
        else clause
        for clause in search.clauses
    )
    return AlternativeReading(
        bucket=reading.bucket, conditions=(alternative.replacement,), search=search.with_clauses(*clauses)
    )


def _is_distinguishing_word(word: str, reading: BucketReading) -> bool:
    """Whether an unknown word is an adjective of documents: "*purple* backpacks", "that are purple"."""
    tokens = reading.tokens
    index = next((index for index, token in enumerate(tokens) if token.word == word.casefold()), None)
    if index is None or index == 0 or word in _VAGUE_ADJECTIVES or word.endswith(("ing", "ed", "ly")):
        return False
    predicate = index == len(tokens) - 1 and tokens[index - 1].word in ("are", "is")
    return predicate or any(
        link.first == index + 1 and isinstance(link.meaning, _DOCUMENT_MEANINGS) for link in reading.links
    )


def _is_name_like(word: str, question: str) -> bool:
    """Whether an unknown word is essential: a name, an identifier, or a word after "from", "with" or "about"."""
    start = question.find(word)
    before = question[:start].split()
    if any(c.isdigit() for c in word) or " " in word or "-" in word:
        return True
    if word[:1].isupper() and before and before[-1].strip("?!.:;,").lower() not in QUESTION_WORDS:
        return True
    return bool(before) and before[-1].lower() in _WORDS_BEFORE_NAMES
