"""The model reasoner: plans with a language model where rules do not suffice; each stage falls back to the rules."""

import asyncio
from collections.abc import Sequence

from agent.answer_combination import JointAnswer
from agent.compose.composed_leg import ComposedLeg
from agent.decomposition import (
    Decomposition,
    ExportRequest,
    LegAlternatives,
    PlannedQuestion,
    QuestionContext,
)
from agent.errors import ModelUnavailable, UnusableReply
from agent.forms.check_claims import YesNoFacts
from agent.gateway.language_model import LanguageModel
from agent.model.answering.evidence_answerer import AnswerOptions, EvidenceAnswerer
from agent.model.answering.leg_synthesis import combine_leg_answers
from agent.model.document_check.text_set_checker import TextSetChecker
from agent.model.options import ModelOptions, ModelUse
from agent.model.planning.complete_plans import is_completely_linked, needs_judgement
from agent.model.planning.plan_comparison import compare_plans, join_agreeing_plans, offer_other_reading
from agent.model.planning.plan_linking import LinkedPlan, language_code_of
from agent.model.planning.question_planner import QuestionPlanner, RoutedQuestion
from agent.model.prompt_values import searched_buckets_of
from agent.outcome import OutcomeKind, SearchRoute
from agent.reasoning_log import SubQueryPurpose
from agent.retrieval.session import RetrievalSession
from agent.review.leg_review import Decision, LegClarification, LegFacts, LegReview, More
from agent.review.review import ReviewedPlan
from agent.rules.reasoner import RuleReasoner
from agent.verify import VerifiedLeg
from storage.search.ids import LegId
from storage.search.plan import Clause, FindPassages, Leg, LegCombination, Plan, Search, SummariseDocuments

_DECOMPOSE, _REVIEW = "decompose", "review"


class ModelReasoner:
    """A reasoner that asks a language model, and the rules where the model does not answer or is not needed."""

    name = "model"

    def __init__(self, model: LanguageModel, rules: RuleReasoner, options: ModelOptions) -> None:
        self._model, self._rules, self._options = model, rules, options
        self._planner = QuestionPlanner(model, options)
        self._answerer = EvidenceAnswerer(
            model,
            AnswerOptions(
                completeness=options.completeness,
                max_rounds=options.max_rounds,
                max_calls=options.max_calls,
                simple_calls=options.simple_calls,
                timeout_s=options.call_timeout_s,
            ),
        )
        self._checker = TextSetChecker(model, options)

    async def decompose_question(self, question: str, question_context: QuestionContext) -> Decomposition:
        """Returns the model's plan, linked to schema and values; that of the rules if it needs no model or none
        answers.
        """
        by_rules = await self._rules.decompose_question(question, question_context)
        lexicons = self._rules.lexicons_for(question_context)
        is_complete = is_completely_linked(by_rules, lexicons)
        if not needs_judgement(by_rules) or (self._options.when is ModelUse.NEEDED and is_complete):
            return by_rules
        try:
            planned = await self._planner.plan_question(
                question, question_context, lexicons, searched_buckets_of(by_rules)
            )
        except (ModelUnavailable, UnusableReply) as exc:
            question_context.reasoning_log.record_failure(_DECOMPOSE, exc)
            return by_rules
        if isinstance(planned, RoutedQuestion):
            return _plan_text_answer(question, planned)
        return _choose_plan(planned, by_rules, question_context, rules_are_complete=is_complete)

    async def replan_question(self, question: str, question_context: QuestionContext) -> Decomposition:
        return await self._rules.replan_question(question, question_context)

    async def check_documents(
        self, session: RetrievalSession, planned: PlannedQuestion, question_context: QuestionContext
    ) -> PlannedQuestion:
        """Implements `DocumentChecker`."""
        return await self._checker.check_documents(session, planned, question_context)

    async def review_legs(
        self, reviews: Sequence[LegReview], combination: LegCombination, *, is_last_round: bool
    ) -> Sequence[Decision]:
        """Decides by counts what counts decide; the model reviews and answers what appears in texts."""
        log = reviews[0].question_context.reasoning_log
        calls_left = max(self._options.max_calls - log.model_requests, 0)
        text_legs = [review.leg.id for review in reviews if review.leg.answer_form.reads_text][:calls_left]
        decisions = await self._rules.review_without_quoting(
            reviews, combination, is_last_round=is_last_round, unquoted_legs=frozenset(text_legs)
        )
        if len(decisions) != len(reviews) or combination is LegCombination.COMPARE:
            return decisions  # to search again with corrected words; or a table of sides
        unquoted = {index for index, review in enumerate(reviews) if review.leg.id in text_legs}
        not_text = [index for index in unquoted if not _is_answered_by_text(reviews[index], decisions[index])]
        decisions = await self._quote_sentences(reviews, decisions, not_text, is_last_round=is_last_round)
        written = await self._answer_by_text(reviews, decisions, calls_left, is_last_round=is_last_round)
        unanswered = [index for index in unquoted.difference(not_text) if written[index] is decisions[index]]
        return await self._quote_sentences(reviews, written, unanswered, is_last_round=is_last_round)

    async def _quote_sentences(
        self,
        reviews: Sequence[LegReview],
        decisions: Sequence[Decision],
        indexes: Sequence[int],
        *,
        is_last_round: bool,
    ) -> Sequence[Decision]:
        """Returns the decisions, those at `indexes` with the sentences that the rules would quote."""
        quoted = dict[int, Decision]()
        for index in indexes:
            [quoted[index]] = await self._rules.review_legs(
                [reviews[index]], LegCombination.ONE, is_last_round=is_last_round
            )
        return [quoted.get(index, decision) for index, decision in enumerate(decisions)]

    async def _answer_by_text(
        self, reviews: Sequence[LegReview], decisions: Sequence[Decision], calls_left: int, *, is_last_round: bool
    ) -> Sequence[Decision]:
        """Returns the decisions, with the model's for the legs that texts answer and that there are calls for."""
        answered_by_text = [
            index
            for index, (review, decision) in enumerate(zip(reviews, decisions, strict=True))
            if _is_answered_by_text(review, decision)
        ]
        affordable = answered_by_text[:calls_left]
        if len(affordable) < len(answered_by_text):
            reviews[0].question_context.reasoning_log.record_fallback(_REVIEW, "no calls left")
        written = await asyncio.gather(
            *(
                self._answer_leg(
                    reviews[index],
                    decisions[index],
                    is_last_round=is_last_round,
                    may_ask_again=calls_left >= 2 * len(affordable),
                    is_simple=len(reviews) == 1,
                )
                for index in affordable
            )
        )
        by_index = dict(zip(affordable, written, strict=True))
        return [by_index.get(index, decision) for index, decision in enumerate(decisions)]

    async def _answer_leg(
        self, review: LegReview, decision: Decision, *, is_last_round: bool, may_ask_again: bool, is_simple: bool
    ) -> Decision:
        if isinstance(decision, More):
            return decision
        return await self._answerer.answer_leg(
            review, decision, is_last_round=is_last_round, may_ask_again=may_ask_again, is_simple=is_simple
        )

    async def compose_leg(self, facts: LegFacts, review: LegReview) -> ComposedLeg:
        return await self._rules.compose_leg(facts, review)

    async def combine_answers(self, reviewed: ReviewedPlan, legs: Sequence[VerifiedLeg]) -> JointAnswer | None:
        """Implements `AnswerCombiner`."""
        language = reviewed.reviews[0].language
        return await combine_leg_answers(
            self._model, reviewed, legs, language=language, max_calls=self._options.max_calls
        )


def _choose_plan(
    linked: LinkedPlan, by_rules: Decomposition, question_context: QuestionContext, *, rules_are_complete: bool
) -> Decomposition:
    """Returns the model's plan, with what the rules know besides where both agree or both are sure."""
    log = question_context.reasoning_log
    if linked.planned is None:
        log.record_fallback(_DECOMPOSE, "the model's plan names nothing that exists")
        return by_rules
    planned = linked.planned
    log.leaves_topic = not (linked.continues_conversation or _continues_conversation(by_rules))
    if len(planned.plan.legs) > 1:
        log.complexity = linked.reasoning
        log.sub_queries = [
            SubQueryPurpose(question=leg.question, purpose=leg.answer_form.tag) for leg in planned.plan.legs
        ]
    log.plan_difference = compare_plans(planned, by_rules, rules_are_complete=rules_are_complete)
    last_leg = next(reversed(planned.plan.legs))
    if linked.wants_file and last_leg.answer_form.lists_documents and _is_certain(planned, last_leg.id):
        return ExportRequest(
            plan=planned.plan,
            leg=last_leg.id,
            alternatives=planned.alternatives,
            assumptions=planned.assumptions,
            is_of_model=True,
        )
    if not isinstance(by_rules, PlannedQuestion):
        return planned
    if log.plan_difference.kind == "same":
        return join_agreeing_plans(planned, by_rules)
    if rules_are_complete and not linked.problems:
        return offer_other_reading(planned, by_rules)
    return planned


def _continues_conversation(by_rules: Decomposition) -> bool:
    return isinstance(by_rules, PlannedQuestion) and by_rules.is_followup


def _is_certain(planned: PlannedQuestion, leg_id: LegId) -> bool:
    """Whether the set of the leg is found as it stands. Else the reply asks or lists, with the button that exports."""
    is_open = any(
        each.unknown_words or each.equal_readings or len(each.equal_forms) > 1
        for each in planned.alternatives
        if each.leg == leg_id
    )
    return not planned.passed_values and not is_open


def _is_answered_by_text(review: LegReview, decision: Decision) -> bool:
    """Whether the leg is answered from passages, or nothing was found in them; not where counts or values decide."""
    if isinstance(decision, More):
        return False
    if isinstance(decision.facts, YesNoFacts):
        return False
    if isinstance(decision, LegClarification):
        return decision.kind is OutcomeKind.NO_RESULTS and bool(decision.hits) and not _is_understood_set(review)
    return decision.route is not SearchRoute.STRUCTURED or isinstance(review.leg.answer_form, SummariseDocuments)


def _is_understood_set(review: LegReview) -> bool:
    """Whether fields alone define the set that is asked for, or its documents were read: then it is empty if it is
    empty, whatever other texts say.
    """
    if review.alternatives.is_checked:
        return True
    needs_text = any(clause.required_terms for clause in review.leg.search.clauses)
    return review.leg.answer_form.names_a_set and review.alternatives.is_understood and not needs_text


def _plan_text_answer(question: str, routed: RoutedQuestion) -> PlannedQuestion:
    """Plans a search of the texts of the routed buckets."""
    search = Search(clauses=tuple(Clause(bucket=bucket) for bucket in routed.lexicons), ranking_text=question)
    probes = (routed.text_query,) if routed.text_query != question else ()
    leg = Leg(id=LegId("a"), question=question, search=search, answer_form=FindPassages(), probes=probes)
    return PlannedQuestion(
        plan=Plan(question=question, legs=(leg,), language=language_code_of(routed.language)),
        alternatives=(LegAlternatives(leg=leg.id, is_understood=True),),
    )
