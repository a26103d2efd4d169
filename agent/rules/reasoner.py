"""The rule reasoner: links values to the scoped dictionary and routes by the best and most complete reading."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from agent.assumptions import CorrectedSpelling, ForeignLanguage, UnknownWords
from agent.compose.composed_leg import ComposedLeg
from agent.compose.registry import compose_facts
from agent.decomposition import (
    Decomposition,
    EmptyExportRequest,
    ExportRequest,
    HelpRequest,
    KeptQuestion,
    LegAlternatives,
    PlannedQuestion,
    QuestionContext,
    StartOverRequest,
    UnrecognisedQuestion,
)
from agent.english.commands import (
    asks_for_file_only,
    is_help_request,
    is_start_over_request,
    is_thanks,
    is_undo_request,
    strip_file_request,
)
from agent.evidence.word_meanings import TextEmbedder, WordMeanings
from agent.languages.command_phrases import CommandKind, find_foreign_command
from agent.languages.language_pack import LanguagePack, load_pack
from agent.review.leg_decisions import decide_legs
from agent.review.leg_review import Decision, LegFacts, LegReview
from agent.rules.comparison.comparison_plan import plan_comparison
from agent.rules.confidence.reading_assessment import assess_readings
from agent.rules.followups.corrections import blank_correction_words
from agent.rules.followups.follow_up_plan import plan_follow_up
from agent.rules.followups.followup_context import forget_counted_claims, skip_failed_refinement
from agent.rules.followups.question_parts import searches_everything
from agent.rules.forms.recognisers import recognise_forms
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.lexicon_cache import LexiconCache
from agent.rules.linking.label_similarity import LabelEmbeddings
from agent.rules.linking.place_names import name_coded_places
from agent.rules.long_messages.list_conditions import asks_about_set, names_entry
from agent.rules.long_messages.long_message import ShortMessage, shorten_message
from agent.rules.planning.completed_question import plan_completed_question
from agent.rules.planning.left_over_words import name_unused_words
from agent.rules.planning.plain_message import PlainMessage, simplify_message
from agent.rules.planning.question_plan import has_compared_part, plan_parts, plan_single_question
from agent.rules.planning.referred_document import plan_referred_document, plan_referred_superior
from agent.rules.planning.translated_message import restore_words, translate_message
from agent.rules.reading.question_reader import QuestionReader
from agent.rules.words.language_detection import choose_reply_language, detect_foreign_language
from agent.rules.words.overview_questions import normalize_summary_request
from agent.rules.words.question_splitting import split_questions
from storage.search.ids import BucketId, LegId
from storage.search.plan import AnswerForm, Clause, FindPassages, Leg, LegCombination, Plan, Search

_MAX_READ_AT_ONCE: Final = 250  # code points of a question that is read in some ten milliseconds
_Read = TypeVar("_Read")


class RuleReasoner:
    """A reasoner without a model or a network. It caches the lexicons of recent buckets.

    `embedder`: compares words in meaning with the labels of fields; without it only words themselves are compared.
    """

    name = "rule"

    def __init__(self, embedder: TextEmbedder | None = None) -> None:
        self._lexicon_cache = LexiconCache()
        self._label_embeddings = LabelEmbeddings(embedder)
        self._word_meanings = WordMeanings(embedder)
        self._long_readings = asyncio.Semaphore(1)

    async def decompose_question(self, question: str, question_context: QuestionContext) -> Decomposition:
        """Returns the decision for a question. It changes only the lexicon cache; a plan has at most four legs."""
        lexicons = self.lexicons_for(question_context)
        message = shorten_message(question, lexicons)
        decomposition = await self._decompose_short(message, question_context, lexicons)
        return message.complete_decision(decomposition, lexicons)

    async def _decompose_short(
        self, message: ShortMessage, question_context: QuestionContext, lexicons: Mapping[BucketId, BucketLexicon]
    ) -> Decomposition:
        if not message.text_without_list or message.list_reading is None:
            return await self._decompose_message(message.text, question_context, lexicons)
        decomposition = await self._decompose_message(message.text_without_list, question_context, lexicons)
        if asks_about_set(decomposition):
            return decomposition
        with_entry = await self._decompose_message(message.text, question_context, lexicons)
        return with_entry if names_entry(with_entry, message.list_reading) else decomposition

    async def _decompose_message(
        self, question: str, question_context: QuestionContext, lexicons: Mapping[BucketId, BucketLexicon]
    ) -> Decomposition:
        language = choose_reply_language(question, question_context.last_plan, document_languages_of(lexicons))
        pack = load_pack(language)
        command = _find_command(question, question_context)
        if command is not None:
            return _with_language(command, language)
        if pack is not None:
            decomposition = await self._decompose_translated(question, pack, question_context, lexicons)
            return _with_language(decomposition, language)
        plain_message = await self._run_reading(question, lambda: simplify_message(question, lexicons))
        reader = await self._open_reader(plain_message.text, question_context, lexicons)
        decomposition = await self._run_reading(
            question, lambda: self._decompose_question(question, plain_message, question_context, reader)
        )
        return _with_language(_assess_words(decomposition, lexicons), language)

    async def _decompose_translated(
        self,
        question: str,
        pack: LanguagePack,
        question_context: QuestionContext,
        lexicons: Mapping[BucketId, BucketLexicon],
    ) -> Decomposition:
        """Decides on a message in a language that has a pack, as on the same message in English."""
        message = await self._run_reading(
            question, lambda: translate_message(question, pack, lexicons, question_context.now.date())
        )
        text = message.plain_message.text
        command = _find_command(message.rewritten.text, question_context) or _find_command(text, question_context)
        if command is not None:
            return command
        reader = await self._open_reader(text, question_context, lexicons)
        decomposition = await self._run_reading(
            question, lambda: self._decompose_plain_message(text, question_context, reader)
        )
        decomposition = _assess_words(decomposition, reader.lexicons)
        decomposition = _with_original(decomposition, question, message.plain_message)
        return decomposition if _is_undo(decomposition) else restore_words(decomposition, message)

    async def _run_reading(self, question: str, read: Callable[[], _Read]) -> _Read:
        """Returns what `read` returns. Long questions are read in a thread, one at a time, so that others go on."""
        if len(question) <= _MAX_READ_AT_ONCE:
            return read()
        async with self._long_readings:
            return await asyncio.to_thread(read)

    async def _open_reader(
        self, text: str, question_context: QuestionContext, lexicons: Mapping[BucketId, BucketLexicon]
    ) -> QuestionReader:
        last_plan = question_context.last_plan
        last_questions = [] if last_plan is None else [leg.question for leg in last_plan.legs]
        # An elliptic message is read as the last question with other values, so the words of both are compared.
        similarities = await self._label_embeddings.compare_words(" ".join([text, *last_questions]), lexicons)
        return QuestionReader(lexicons, question_context.now.date(), similarities)

    async def replan_question(self, question: str, question_context: QuestionContext) -> Decomposition:
        return await self.decompose_question(question, question_context)

    def lexicons_for(self, question_context: QuestionContext) -> Mapping[BucketId, BucketLexicon]:
        """Returns what words may mean in each visible bucket."""
        schemas = name_coded_places(question_context.schemas, question_context.vocabulary)
        return self._lexicon_cache.lexicons_for(replace(question_context, schemas=schemas))

    async def review_legs(
        self, reviews: Sequence[LegReview], combination: LegCombination, *, is_last_round: bool
    ) -> Sequence[Decision]:
        return await decide_legs(reviews, combination, self._word_meanings, is_last_round=is_last_round)

    async def review_without_quoting(
        self,
        reviews: Sequence[LegReview],
        combination: LegCombination,
        *,
        is_last_round: bool,
        unquoted_legs: frozenset[LegId],
    ) -> Sequence[Decision]:
        """Reviews, but looks for no sentences in the texts of some legs, which takes most of the time."""
        return await decide_legs(
            reviews, combination, self._word_meanings, is_last_round=is_last_round, unquoted_legs=unquoted_legs
        )

    async def compose_leg(self, facts: LegFacts, review: LegReview) -> ComposedLeg:
        return compose_facts(facts, review)

    def _decompose_question(
        self, question: str, plain_message: PlainMessage, question_context: QuestionContext, reader: QuestionReader
    ) -> Decomposition:
        language = detect_foreign_language(question, document_languages_of(reader.lexicons))
        if language is not None:
            return _plan_text_search(question, language, question_context)
        if plain_message.text == question:
            return self._decompose_plain_message(question, question_context, reader)
        command = _find_command(plain_message.text, question_context)
        if command is not None:
            return command
        decomposition = self._decompose_plain_message(plain_message.text, question_context, reader)
        return _with_original(decomposition, question, plain_message)

    def _decompose_plain_message(
        self, question: str, question_context: QuestionContext, reader: QuestionReader
    ) -> Decomposition:
        if asks_for_file_only(question):
            return _plan_export(question_context)
        question_context = forget_counted_claims(skip_failed_refinement(question_context))
        list_request = strip_file_request(question)
        if list_request is not None:
            return _as_export(self._decompose_plain_message(list_request, question_context, reader))
        parts = split_questions(question)
        if len(parts) > 1 and has_compared_part(parts):
            planned_parts = plan_parts(question, parts, reader, question_context.last_plan)
            if planned_parts is not None:
                return planned_parts
        referred = plan_referred_document(question, question_context.last_plan, reader) if len(parts) == 1 else None
        if referred is None and len(parts) == 1:
            referred = plan_referred_superior(question, question_context.last_plan, reader)
        if referred is not None:
            return referred
        comparison = plan_comparison(question, reader)
        last_plan = question_context.last_plan
        if last_plan is not None and len(parts) == 1 and comparison is None:
            completed = plan_completed_question(question, last_plan, reader)
            if completed is not None:
                return completed
        follow_up = (
            plan_follow_up(
                question, last_plan, reader, question_context.earlier_plans, question_context.found_documents
            )
            if last_plan is not None and len(parts) == 1
            else None
        )
        if follow_up is not None and (comparison is None or follow_up.references):
            return _ask_about_pending_words(follow_up, question_context.pending_words)
        correction = blank_correction_words(question)
        if correction.corrects:
            return self._decompose_plain_message(correction.text, replace(question_context, last_plan=None), reader)
        if comparison is not None and comparison.is_certain:
            return comparison.planned
        planned_parts = plan_parts(question, parts, reader, question_context.last_plan) if len(parts) > 1 else None
        planned = planned_parts or plan_single_question(question, reader)
        may_compare = comparison is not None and isinstance(planned, PlannedQuestion) and not planned.is_followup
        return replace(comparison.planned, fallback=planned) if comparison is not None and may_compare else planned

    def recognise_forms(
        self, question: str, question_context: QuestionContext
    ) -> tuple[BucketId, Sequence[tuple[str, AnswerForm]]]:
        """Returns the best bucket and the recognisers that accept the question there, in order, with their forms."""
        lexicons = self.lexicons_for(question_context)
        reader = QuestionReader(lexicons, question_context.now.date())
        reading = reader.readings_of(normalize_summary_request(question))[0]
        return reading.bucket, tuple(recognise_forms(reading, lexicons[reading.bucket]))


def _find_command(question: str, question_context: QuestionContext) -> Decomposition | None:
    """Returns the decision for a message that is not about documents; None for any other message."""
    if is_start_over_request(question):
        return StartOverRequest()
    if is_undo_request(question):
        return _previous_plan(question_context)
    if is_help_request(question):
        return HelpRequest()
    if is_thanks(question):
        return UnrecognisedQuestion()
    return _find_foreign_command(question, question_context)


def _find_foreign_command(question: str, question_context: QuestionContext) -> Decomposition | None:
    found = find_foreign_command(question)
    match None if found is None else found[1]:
        case CommandKind.START_OVER:
            return StartOverRequest()
        case CommandKind.UNDO:
            return _previous_plan(question_context)
        case CommandKind.HELP:
            return HelpRequest()
        case CommandKind.EXPORT:
            return _plan_export(question_context)
        case CommandKind.THANKS:
            return UnrecognisedQuestion()
        case None:
            return None


def document_languages_of(lexicons: Mapping[BucketId, BucketLexicon]) -> frozenset[str]:
    """The languages (ISO 639-1) of the documents that the audience may see; empty for those that are not stemmed."""
    return frozenset(lexicon.analyser.language for lexicon in lexicons.values())


def _assess_words(decomposition: Decomposition, lexicons: Mapping[BucketId, BucketLexicon]) -> Decomposition:
    if not isinstance(decomposition, PlannedQuestion):
        return decomposition
    return assess_readings(name_unused_words(decomposition, lexicons), lexicons)


def _with_language(decomposition: Decomposition, language: str) -> Decomposition:
    if decomposition.language == language:
        return decomposition
    if isinstance(decomposition, PlannedQuestion):
        fallback = decomposition.fallback
        return replace(
            decomposition,
            plan=replace(decomposition.plan, language=language),
            fallback=None if fallback is None else replace(fallback, plan=replace(fallback.plan, language=language)),
        )
    if isinstance(decomposition, ExportRequest):
        return replace(decomposition, plan=replace(decomposition.plan, language=language))
    return replace(decomposition, language=language)


def _with_original(decomposition: Decomposition, question: str, plain_message: PlainMessage) -> Decomposition:
    """Returns the decision with the question as it was written, and with the corrections in it as assumptions."""
    if not isinstance(decomposition, (PlannedQuestion, ExportRequest)) or _is_undo(decomposition):
        return decomposition
    corrections = tuple(CorrectedSpelling(written=written, meant=meant) for written, meant in plain_message.corrections)
    return replace(
        decomposition,
        plan=replace(decomposition.plan, question=question),
        assumptions=(*corrections, *decomposition.assumptions),
    )


def _is_undo(decomposition: Decomposition) -> bool:
    return isinstance(decomposition, PlannedQuestion) and decomposition.is_undo


def _plan_export(question_context: QuestionContext) -> ExportRequest | EmptyExportRequest:
    """Returns an export of the last results; of none if the last message found nothing."""
    plan = question_context.last_plan
    if plan is None or question_context.found_nothing or searches_everything(plan.legs[-1]):
        return EmptyExportRequest()
    return ExportRequest(plan=plan, leg=plan.legs[-1].id)


def _as_export(decomposition: Decomposition) -> Decomposition:
    """Returns an export of the last list; returns other decisions unchanged."""
    legs = decomposition.plan.legs if isinstance(decomposition, PlannedQuestion) else ()
    if not isinstance(decomposition, PlannedQuestion) or not legs or not legs[-1].answer_form.lists_documents:
        return decomposition
    return ExportRequest(plan=decomposition.plan, leg=legs[-1].id, assumptions=decomposition.assumptions)


def _ask_about_pending_words(follow_up: PlannedQuestion, pending_words: Sequence[str]) -> PlannedQuestion:
    """Returns a follow-up that still asks about the words of the last question that nobody has explained."""
    if not pending_words or not follow_up.is_followup:
        return follow_up
    forms = [leg.answer_form for leg in follow_up.plan.legs]
    if all(form.reads_values or form.reads_text for form in forms):  # about the documents that were found without them
        return replace(follow_up, assumptions=(*follow_up.assumptions, UnknownWords(words=tuple(pending_words))))
    legs = {alternatives.leg: alternatives for alternatives in follow_up.alternatives}
    return replace(
        follow_up,
        alternatives=tuple(
            replace(alternatives, unknown_words=tuple(dict.fromkeys((*pending_words, *alternatives.unknown_words))))
            for leg in follow_up.plan.legs
            for alternatives in [legs.get(leg.id, LegAlternatives(leg=leg.id))]
        ),
    )


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
