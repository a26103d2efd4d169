"""The model reasoner: plans with a language model where rules do not suffice; each stage falls back to the rules."""

from collections.abc import Sequence

from agent.compose.composed_leg import ComposedLeg
from agent.decomposition import (
    Decomposition,
    ExportRequest,
    LegAlternatives,
    PlannedQuestion,
    QuestionContext,
    UnrecognisedQuestion,
)
from agent.errors import ModelUnavailable, UnusableReply
from agent.gateway.language_model import LanguageModel
from agent.model.options import ModelOptions, ModelUse
from agent.model.planning.complete_plans import is_completely_linked
from agent.model.planning.plan_comparison import compare_plans, join_agreeing_plans, offer_other_reading
from agent.model.planning.plan_linking import LinkedPlan
from agent.model.planning.question_planner import QuestionPlanner, RoutedQuestion
from agent.review.leg_review import Decision, LegFacts, LegReview
from agent.rules.reasoner import RuleReasoner
from storage.search.ids import BucketId, LegId
from storage.search.plan import Clause, FindPassages, Leg, LegCombination, Plan, Search

_DECOMPOSE = "decompose"


class ModelReasoner:
    """A reasoner that asks a language model, and the rules where the model does not answer or is not needed."""

    name = "model"

    def __init__(self, model: LanguageModel, rules: RuleReasoner, options: ModelOptions) -> None:
        self._rules, self._options = rules, options
        self._planner = QuestionPlanner(model, options)

    async def decompose_question(self, question: str, question_context: QuestionContext) -> Decomposition:
        """Returns the model's plan, linked to schema and values; that of the rules if it needs no model or none
        answers.
        """
        by_rules = await self._rules.decompose_question(question, question_context)
        lexicons = self._rules.lexicons_for(question_context)
        is_complete = is_completely_linked(by_rules, lexicons)
        if not _needs_judgement(by_rules) or (self._options.when is ModelUse.NEEDED and is_complete):
            return by_rules
        try:
            planned = await self._planner.plan_question(
                question, question_context, lexicons, _searched_buckets(by_rules)
            )
        except (ModelUnavailable, UnusableReply) as exc:
            question_context.reasoning_log.record_failure(_DECOMPOSE, exc)
            return by_rules
        if isinstance(planned, RoutedQuestion):
            return _plan_text_answer(question, planned)
        return _choose_plan(planned, by_rules, question_context, rules_are_complete=is_complete)

    async def review_legs(
        self, reviews: Sequence[LegReview], combination: LegCombination, *, is_last_round: bool
    ) -> Sequence[Decision]:
        return await self._rules.review_legs(reviews, combination, is_last_round=is_last_round)

    async def compose_leg(self, facts: LegFacts, review: LegReview) -> ComposedLeg:
        return await self._rules.compose_leg(facts, review)


def _choose_plan(
    linked: LinkedPlan, by_rules: Decomposition, question_context: QuestionContext, *, rules_are_complete: bool
) -> Decomposition:
    """Returns the model's plan, with what the rules know besides where both agree or both are sure."""
    log = question_context.reasoning_log
    if linked.planned is None:
        log.record_fallback(_DECOMPOSE, "the model's plan names nothing that exists")
        return by_rules
    planned = linked.planned
    log.plan_difference = compare_plans(planned, by_rules, rules_are_complete=rules_are_complete)
    if linked.wants_file and planned.plan.legs[-1].answer_form.lists_documents:
        return ExportRequest(plan=planned.plan, leg=planned.plan.legs[-1].id, assumptions=planned.assumptions)
    if not isinstance(by_rules, PlannedQuestion):
        return planned
    if log.plan_difference.kind == "same":
        return join_agreeing_plans(planned, by_rules)
    if rules_are_complete and not linked.problems:
        return offer_other_reading(planned, by_rules)
    return planned


def _needs_judgement(by_rules: Decomposition) -> bool:
    """Whether the message is a question about documents; commands, thanks and references to a list are not."""
    if isinstance(by_rules, UnrecognisedQuestion):
        return bool(by_rules.unknown_words)
    if isinstance(by_rules, PlannedQuestion):
        return not by_rules.is_undo and not by_rules.references
    return False


def _searched_buckets(by_rules: Decomposition) -> Sequence[BucketId]:
    legs = by_rules.plan.legs if isinstance(by_rules, PlannedQuestion) else ()
    return tuple(dict.fromkeys(bucket for leg in legs for bucket in leg.search.buckets))


def _plan_text_answer(question: str, routed: RoutedQuestion) -> PlannedQuestion:
    """Plans a search of the texts of the routed buckets."""
    search = Search(clauses=tuple(Clause(bucket=bucket) for bucket in routed.lexicons), ranking_text=question)
    probes = (routed.text_query,) if routed.text_query != question else ()
    leg = Leg(id=LegId("a"), question=question, search=search, answer_form=FindPassages(), probes=probes)
    return PlannedQuestion(
        plan=Plan(question=question, legs=(leg,)), alternatives=(LegAlternatives(leg=leg.id, is_understood=True),)
    )
