"""The single-loop variant of the model reasoner: one conversation in which the model calls tools."""

import time
from collections.abc import Mapping, Sequence

from agent.compose.composed_leg import ComposedLeg
from agent.compose.replies import SEARCHING_PROGRESS
from agent.decomposition import Decomposition, PlannedQuestion, QuestionContext
from agent.errors import ModelUnavailable, UnusableReply
from agent.gateway.call_budget import BudgetedModel
from agent.gateway.language_model import LanguageModel
from agent.model.linking.tool_filter_linking import ToolFilterLinker
from agent.model.options import ModelOptions, ModelUse
from agent.model.planning.closest_values import describe_closest_values, remaining_lines
from agent.model.planning.complete_plans import is_completely_linked, needs_judgement
from agent.model.planning.schema_text import describe_bucket_names, describe_buckets, pick_lexicons
from agent.model.prompt_values import (
    MAX_QUESTION_CHARS,
    MAX_VALUE_LINE_CHARS,
    describe_day,
    searched_buckets_of,
)
from agent.model.tool_loop.answer_plan import build_loop_answer
from agent.model.tool_loop.conversation import ToolConversation
from agent.model.tool_loop.loop_reviewer import STAGE, LoopReviewer
from agent.question_loop import LoopedQuestion
from agent.reasoner import Reasoner
from agent.retrieval.session import RetrievalSession
from agent.review.leg_review import Decision, LegFacts, LegReview
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.reasoner import RuleReasoner
from agent.token_counts import estimate_tokens
from agent.tools.tool_budget import ToolBudget
from agent.tools.tool_executor import ToolExecutor
from prompts.data_texts import escape_headings
from prompts.prompt_library import RenderedPrompt, load_prompt
from storage.search.ids import BucketId
from storage.search.plan import LegCombination

LOOP_PROMPT = "answer_with_tools"
_SCHEMA_TOKENS = 2_000
_DESCRIBED_BUCKETS = 3  # of those that do not all fit; of the others only the names are told


class LoopReasoner:
    """Implements `Reasoner` and `QuestionLoop`. `staged` takes what is not for the loop, and what the loop fails at.

    `rules` recognise commands and follow-ups, link the filters, and review the sets.
    """

    name = "model"

    def __init__(self, model: LanguageModel, rules: RuleReasoner, staged: Reasoner, options: ModelOptions) -> None:
        self._model, self._rules, self._staged, self._options = model, rules, staged, options

    async def decompose_question(self, question: str, question_context: QuestionContext) -> Decomposition:
        return await self._staged.decompose_question(question, question_context)

    async def replan_question(self, question: str, question_context: QuestionContext) -> Decomposition:
        return await self._staged.replan_question(question, question_context)

    async def review_legs(
        self, reviews: Sequence[LegReview], combination: LegCombination, *, is_last_round: bool
    ) -> Sequence[Decision]:
        return await self._staged.review_legs(reviews, combination, is_last_round=is_last_round)

    async def compose_leg(self, facts: LegFacts, review: LegReview) -> ComposedLeg:
        return await self._staged.compose_leg(facts, review)

    async def answer_in_loop(
        self, question: str, question_context: QuestionContext, session: RetrievalSession
    ) -> LoopedQuestion | None:
        by_rules = await self._rules.decompose_question(question, question_context)
        lexicons = self._rules.lexicons_for(question_context)
        if not self._is_for_loop(by_rules, lexicons):
            return None
        started = time.perf_counter()
        session.context.report_progress(SEARCHING_PROGRESS)
        executor = ToolExecutor(
            session=session,
            question_context=question_context,
            linker=ToolFilterLinker(lexicons=lexicons, question=question, today=question_context.now.date()),
            budget=ToolBudget(max_calls=self._options.max_tool_calls),
        )
        conversation = ToolConversation(
            model=BudgetedModel(self._model, self._options.max_calls),
            executor=executor,
            options=self._options,
            log=question_context.reasoning_log,
        )
        prompt = self._render_prompt(
            question,
            question_context,
            lexicons,
            searched_buckets_of(by_rules),
            may_search_web=session.context.web_search is not None,
        )
        try:
            answer = await conversation.run_conversation(prompt)
        except (ModelUnavailable, UnusableReply) as exc:
            question_context.reasoning_log.record_failure(STAGE, exc)
            return None
        finally:
            session.record_stage(STAGE, started)
        loop_answer = build_loop_answer(question, answer, executor)
        return LoopedQuestion(
            planned=loop_answer.planned,
            reasoner=LoopReviewer(loop_answer=loop_answer, rules=self._rules, completeness=self._options.completeness),
        )

    def _is_for_loop(self, by_rules: Decomposition, lexicons: Mapping[BucketId, BucketLexicon]) -> bool:
        """Whether the message is a question of its own; commands and follow-ups are the reasoner's."""
        if not needs_judgement(by_rules) or (isinstance(by_rules, PlannedQuestion) and by_rules.is_followup):
            return False
        return self._options.when is ModelUse.ALWAYS or not is_completely_linked(by_rules, lexicons)

    def _render_prompt(
        self,
        question: str,
        question_context: QuestionContext,
        lexicons: Mapping[BucketId, BucketLexicon],
        ranked_buckets: Sequence[BucketId],
        *,
        may_search_web: bool,
    ) -> RenderedPrompt:
        return load_prompt(LOOP_PROMPT).render(
            max_tool_calls=self._options.max_tool_calls,
            max_replies=self._options.max_calls,
            may_search_web=may_search_web,
            today=describe_day(question_context.now.date()),
            schemas=_describe_schemas(question, lexicons, question_context, ranked_buckets),
            closest_values=remaining_lines(describe_closest_values(question, lexicons), MAX_VALUE_LINE_CHARS),
            conversation=escape_headings(question_context.conversation_summary),
            question=escape_headings(question[:MAX_QUESTION_CHARS]),
        )


def _describe_schemas(
    question: str,
    lexicons: Mapping[BucketId, BucketLexicon],
    question_context: QuestionContext,
    ranked_buckets: Sequence[BucketId],
) -> str:
    """Describes all buckets if they fit; else the likeliest of them, and names the others."""
    vocabulary = question_context.vocabulary
    whole = describe_buckets(lexicons, vocabulary, question, _SCHEMA_TOKENS)
    if whole is not None:
        return whole
    names = describe_bucket_names(lexicons, _SCHEMA_TOKENS // 2)
    left = max(_SCHEMA_TOKENS - estimate_tokens(names), 0)
    for count in range(_DESCRIBED_BUCKETS, 0, -1):
        likeliest = describe_buckets(pick_lexicons(lexicons, ranked_buckets[:count]), vocabulary, question, left)
        if likeliest:
            return f"{names}\n\n{likeliest}"
    return names
