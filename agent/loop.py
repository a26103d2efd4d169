"""Runs the stages of the agent in order. `answer` and `resume` are its public functions."""

import time
from collections.abc import Mapping
from dataclasses import replace

from agent.answer_combination import AnswerCombiner
from agent.compose.assemble import assemble_outcome, compose_legs, with_described_assumptions
from agent.compose.help import answer_help_request
from agent.compose.replies import (
    NO_BUCKET_GRANTED_TEXT,
    NOTHING_BEFORE_TEXT,
    SEARCHING_PROGRESS,
    STARTED_OVER_TEXT,
    clarify_large_inner_set,
    clarify_not_understood,
    clarify_nothing_to_export,
)
from agent.context import AgentContext
from agent.decomposition import (
    EmptyExportRequest,
    ExportRequest,
    HelpRequest,
    LegAlternatives,
    PlannedQuestion,
    QuestionContext,
    StartOverRequest,
    UnrecognisedQuestion,
)
from agent.document_check import DocumentChecker
from agent.new_topic import forget_conversation, split_new_topic
from agent.outcome import Answer, Clarify, ExportOutcome, Outcome, Refused, SearchRoute, StartOverOutcome
from agent.question_loop import QuestionLoop
from agent.reasoner import PlanReasoner, Reasoner
from agent.retrieval.ordinal_references import resolve_ordinal_references
from agent.retrieval.session import RetrievalSession
from agent.review.passed_values import pass_values_on
from agent.review.review import review_plan
from agent.translation.languages import DEFAULT_LANGUAGE, get_reply_language, use_language
from agent.translation.message_catalogues import translate_message
from agent.verify import verify_legs
from storage.search.bucket_parts import parts_among
from storage.search.errors import IndexDamaged, InnerSetTooLarge
from storage.search.ids import BucketId, LegId
from storage.search.index import CountRequest, IndexVocabulary
from storage.search.plan import FindPassages, Leg, Plan
from storage.search.schema import Schema


async def answer(question: str, context: AgentContext) -> Outcome:
    """Answers a question. Raises only the errors of the index."""
    new_question = split_new_topic(question)
    if new_question is not None:
        question, context = new_question, forget_conversation(context)
    session = RetrievalSession(_with_translated_progress(context, get_reply_language()), context.reasoner.name)
    question_context = await load_question_context(context)
    if not question_context.schemas:
        return _refuse_question(context)
    with use_language(DEFAULT_LANGUAGE):  # only the reply is in another language, not what models read and check
        return await _answer_question(question, session, question_context, context.reasoner)


async def _answer_question(
    question: str, session: RetrievalSession, question_context: QuestionContext, reasoner: Reasoner
) -> Outcome:
    if isinstance(reasoner, QuestionLoop):
        looped = await reasoner.answer_in_loop(question, question_context, session)
        if looped is not None:
            return await _answer_plan(session, looped.planned, question_context, looped.reasoner)
    started = time.perf_counter()
    decomposition = await reasoner.decompose_question(question, question_context)
    session.record_stage("decompose", started)
    match decomposition:
        case PlannedQuestion():
            return await _answer_planned_question(session, decomposition, question_context, reasoner)
        case ExportRequest():
            return await _prepare_export(session, decomposition, question_context, reasoner)
        case _:
            with use_language(decomposition.language):
                return await _reply_to_request(question, decomposition, session, question_context)


async def _reply_to_request(
    question: str,
    request: StartOverRequest | EmptyExportRequest | HelpRequest | UnrecognisedQuestion,
    session: RetrievalSession,
    question_context: QuestionContext,
) -> Outcome:
    match request:
        case StartOverRequest(nothing_before=nothing_before, language=language):
            text = NOTHING_BEFORE_TEXT if nothing_before else STARTED_OVER_TEXT
            return StartOverOutcome(text=translate_message(text), language=language)
        case EmptyExportRequest():
            return clarify_nothing_to_export(question, session, question_context)
        case HelpRequest():
            return await answer_help_request(question, session, question_context)
        case UnrecognisedQuestion():
            return clarify_not_understood(question, session, question_context)


async def _answer_planned_question(
    session: RetrievalSession, planned: PlannedQuestion, question_context: QuestionContext, reasoner: Reasoner
) -> Outcome:
    try:
        planned = await resolve_ordinal_references(session, planned)
        planned = await pass_values_on(session, planned)
        planned = await _check_documents(session, planned, question_context, reasoner)
    except InnerSetTooLarge as exc:
        return _ask_about_inner_set(planned.plan, exc, session, question_context)
    return await _answer_plan(session, planned, question_context, reasoner)


async def _check_documents(
    session: RetrievalSession, planned: PlannedQuestion, question_context: QuestionContext, reasoner: Reasoner
) -> PlannedQuestion:
    if not isinstance(reasoner, DocumentChecker):
        return planned
    return await reasoner.check_documents(session, planned, question_context)


def _ask_about_inner_set(
    plan: Plan, too_large: InnerSetTooLarge, session: RetrievalSession, question_context: QuestionContext
) -> Clarify:
    with use_language(plan.language):
        return clarify_large_inner_set(plan, too_large, session, question_context)


def _with_translated_progress(context: AgentContext, language: str) -> AgentContext:
    """The context with progress in `language`, which the stages report in the words of `agent.compose.replies`."""

    def report_progress(message: str) -> None:
        with use_language(language):
            context.report_progress(translate_message(message))

    return replace(context, report_progress=report_progress)


def _refuse_question(context: AgentContext) -> Refused:
    """Refuses in the language that the context of the call has set."""
    return Refused(
        text=translate_message(NO_BUCKET_GRANTED_TEXT),
        may_go_private=context.may_go_private,
        language=get_reply_language(),
    )


async def _answer_plan(
    session: RetrievalSession, planned: PlannedQuestion, question_context: QuestionContext, reasoner: PlanReasoner
) -> Answer | Clarify:
    """Searches and reviews the plan, composes the text, and verifies it."""
    session.context.report_progress(SEARCHING_PROGRESS)
    try:
        reviewed = await review_plan(session, planned, question_context, reasoner)
    except InnerSetTooLarge as exc:
        return _ask_about_inner_set(planned.plan, exc, session, question_context)
    language = reviewed.plan.language
    with use_language(language):
        started = time.perf_counter()
        composed = await compose_legs(reviewed, reasoner)
        session.record_stage("compose", started)
    started = time.perf_counter()
    verified = verify_legs(composed, reviewed)
    faults = [fault for leg in verified for fault in leg.faults]
    if faults:
        question_context.reasoning_log.record_fallback("verify", ", ".join(dict.fromkeys(faults)))
    session.record_stage("verify", started)
    joint = None
    if len(verified) > 1 and reviewed.clarification is None and isinstance(reasoner, AnswerCombiner):
        started = time.perf_counter()
        joint = await reasoner.combine_answers(reviewed, verified)
        session.record_stage("combine", started)
    with use_language(language):
        return assemble_outcome(reviewed, verified, session.build_trace(SearchRoute.STRUCTURED), joint)


async def resume(plan: Plan, context: AgentContext) -> Outcome:
    """Answers a plan that a click or a typed choice has refined. Raises only the errors of the index."""
    session = RetrievalSession(_with_translated_progress(context, plan.language), context.reasoner.name)
    question_context = await load_question_context(context)
    if _plan_if_visible(plan, question_context.schemas) is None:
        return _refuse_question(context)
    with use_language(DEFAULT_LANGUAGE):
        alternatives = await _rebuild_alternatives(plan, context, question_context) if context.just_answer else ()
        planned = PlannedQuestion(plan=plan, alternatives=alternatives, is_followup=True)
        return await _answer_plan(session, planned, question_context, context.reasoner)


async def _rebuild_alternatives(
    plan: Plan, context: AgentContext, question_context: QuestionContext
) -> tuple[LegAlternatives, ...]:
    """Returns the readings that scored equally when the plan was made, so that the answer can say which one it took."""
    decomposition = await context.reasoner.replan_question(plan.question, replace(question_context, last_plan=None))
    if not isinstance(decomposition, PlannedQuestion):
        return ()
    unchanged = {
        leg.id
        for leg, replanned in zip(plan.legs, decomposition.plan.legs, strict=False)
        if leg.search == replanned.search
    }
    return tuple(
        LegAlternatives(
            leg=alternatives.leg,
            equal_readings=alternatives.equal_readings,
            equal_forms=alternatives.equal_forms,
            vague_condition=alternatives.vague_condition,
        )
        for alternatives in decomposition.alternatives
        if alternatives.leg in unchanged
    )


def apply_search_by_meaning(plan: Plan, leg_id: LegId) -> Plan:
    """Returns the plan with the leg's required words used only for ranking, not as a condition."""
    legs = tuple(_relax_required_terms(leg) if leg.id == leg_id else leg for leg in plan.legs)
    return replace(plan, legs=legs)


def _relax_required_terms(leg: Leg) -> Leg:
    clauses = tuple(replace(clause, required_terms=()) for clause in leg.search.clauses)
    return replace(leg, search=leg.search.with_clauses(*clauses), answer_form=FindPassages())


async def load_question_context(context: AgentContext) -> QuestionContext:
    """Raises `IndexDamaged` if the index has none of the buckets in scope: an empty file is not a missing grant."""
    vocabulary = await context.index.load_vocabulary()
    schemas = vocabulary.schemas
    if context.index.scope.buckets and not schemas:
        raise IndexDamaged("the index", "it has none of the buckets that are granted; parley doctor says more")
    schemas = {bucket: schema for bucket, schema in schemas.items() if not _is_only_divided(bucket, vocabulary)}
    if context.buckets is not None:
        schemas = {bucket: schema for bucket, schema in schemas.items() if bucket in context.buckets}
    return QuestionContext(
        schemas=schemas,
        vocabulary=vocabulary,
        analysers={bucket: context.index.analyser_for(bucket) for bucket in schemas},
        now=context.now,
        locale=context.locale,
        conversation_summary=context.conversation_summary,
        found_nothing=context.found_nothing,
        pending_words=context.pending_words,
        found_documents=context.found_documents,
        reasoning_log=context.reasoning_log,
        last_plan=_plan_if_visible(context.last_plan, schemas),
        earlier_plans=tuple(
            earlier_plan
            for earlier_plan in context.earlier_plans
            if _plan_if_visible(earlier_plan, schemas) is not None
        ),
    )


def _is_only_divided(bucket: BucketId, vocabulary: IndexVocabulary) -> bool:
    """Whether all documents of the bucket are in its parts: then questions are read in those alone."""
    return not vocabulary.document_count_of(bucket) and bool(parts_among(vocabulary.schemas, bucket))


def _plan_if_visible(plan: Plan | None, schemas: Mapping[BucketId, Schema]) -> Plan | None:
    """Returns the plan, or None if it searches a bucket that is no longer visible."""
    if plan is None:
        return None
    return plan if plan.read_buckets <= schemas.keys() else None


async def _prepare_export(
    session: RetrievalSession, request: ExportRequest, question_context: QuestionContext, reasoner: Reasoner
) -> Outcome:
    planned = PlannedQuestion(
        plan=request.plan,
        alternatives=request.alternatives,
        assumptions=request.assumptions,
        is_of_model=request.is_of_model,
    )
    try:
        planned = await _check_documents(session, planned, question_context, reasoner)
        count = CountRequest(planned.plan.leg_by_id(request.leg).search)
        answers = await session.ask_index((count,), record=(count,))
    except InnerSetTooLarge as exc:
        return _ask_about_inner_set(request.plan, exc, session, question_context)
    if not answers[count]:  # an empty file would not explain why it is empty
        return await _answer_plan(session, planned, question_context, reasoner)
    with use_language(request.language):
        plan = with_described_assumptions(planned.plan, planned.assumptions, question_context.schemas)
    return ExportOutcome(
        plan=plan,
        leg=request.leg,
        count=answers[count],
        trace=session.build_trace(SearchRoute.STRUCTURED),
        generation=answers.generation,
    )
