"""The model's decomposition of a question: choose buckets, plan with their schemas, link what was planned."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.decomposition import QuestionContext
from agent.gateway.call_budget import BudgetedModel
from agent.gateway.language_model import LanguageModel
from agent.gateway.structured_output import request_structured
from agent.model.options import ModelOptions
from agent.model.planning.closest_values import describe_closest_values, remaining_lines
from agent.model.planning.plan_comparison import describe_plan
from agent.model.planning.plan_linking import LinkedPlan, PlanLinker
from agent.model.planning.schema_text import describe_bucket_names, describe_buckets, pick_lexicons
from agent.model.prompt_values import MAX_QUESTION_CHARS, MAX_VALUE_LINE_CHARS, describe_day
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.token_counts import estimate_tokens
from prompts.data_texts import drop_hidden_characters, escape_headings
from prompts.outputs import QuestionPlanOutput, QuestionRouteOutput
from prompts.prompt_library import RenderedPrompt, load_prompt
from storage.search.ids import BucketId

PLAN_PROMPT, ROUTE_PROMPT = "plan_question", "route_question"
PLANNER_TOKENS = 3000  # of the whole prompt of the schema planner
_MIN_SCHEMA_TOKENS = 400
_DISPENSABLE_VALUES = ("closest_values", "last_plan", "conversation")  # in this order, for a long question
_MAX_ROUTED_BUCKETS = 3
_MAX_LAST_PLAN_CHARS = 1200
_ROUTER_TOKENS = 2400
_MAX_PLAN_TOKENS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutedQuestion:
    """The buckets whose schemas the planner sees. `text_query`: the answer is in text, so no plan need be made."""

    lexicons: Mapping[BucketId, BucketLexicon]
    text_query: str = ""
    language: str = "en"


class QuestionPlanner:
    """Asks the model for a plan. `ranked_buckets` below is the order in which the rules would search the buckets."""

    def __init__(self, model: LanguageModel, options: ModelOptions) -> None:
        self._model, self._options = BudgetedModel(model, options.max_calls), options

    async def plan_question(
        self,
        question: str,
        question_context: QuestionContext,
        lexicons: Mapping[BucketId, BucketLexicon],
        ranked_buckets: Sequence[BucketId],
    ) -> LinkedPlan | RoutedQuestion:
        """Returns the linked plan; or the buckets alone, where the router says that their texts answer.

        Raises `ModelUnavailable`, `UnusableReply`.
        """
        prompt = self.render_plan_prompt(question, question_context, lexicons)
        if prompt is None:
            routed = await self._route_question(question, question_context, lexicons, ranked_buckets)
            if routed.text_query:
                return routed
            lexicons = routed.lexicons
            prompt = self._render_fitting(question, question_context, lexicons)
        linker = PlanLinker(
            question=question,
            lexicons=lexicons,
            today=question_context.now.date(),
            max_parts=self._options.max_sub_queries,
            last_plan=question_context.last_plan,
        )
        reply = await request_structured(
            self._model,
            prompt,
            QuestionPlanOutput,
            question_context.reasoning_log,
            check=lambda output: linker.link_plan(output).problems,
            max_output_tokens=_MAX_PLAN_TOKENS,
            timeout_s=self._options.call_timeout_s,
        )
        return linker.link_plan(reply.value)

    def render_plan_prompt(
        self, question: str, question_context: QuestionContext, lexicons: Mapping[BucketId, BucketLexicon]
    ) -> RenderedPrompt | None:
        """Returns the prompt with the schemas of all these buckets; None if they do not fit."""
        values: dict[str, object] = {
            "max_parts": self._options.max_sub_queries,
            "today": describe_day(question_context.now.date()),
            "schemas": "",
            "closest_values": remaining_lines(describe_closest_values(question, lexicons), MAX_VALUE_LINE_CHARS),
            "conversation": escape_headings(question_context.conversation_summary),
            "last_plan": _describe_last_plan(question_context, lexicons),
            "question": escape_headings(question[:MAX_QUESTION_CHARS]),
        }
        template = load_prompt(PLAN_PROMPT)
        budget = _tokens_left(template.render(**values))
        for name in _DISPENSABLE_VALUES:
            if budget < _MIN_SCHEMA_TOKENS:
                values |= {name: ""}
                budget = _tokens_left(template.render(**values))
        schemas = describe_buckets(lexicons, question_context.vocabulary, question, max(budget, _MIN_SCHEMA_TOKENS))
        return None if schemas is None else template.render(**(values | {"schemas": schemas}))

    def _render_fitting(
        self, question: str, question_context: QuestionContext, lexicons: Mapping[BucketId, BucketLexicon]
    ) -> RenderedPrompt:
        """Returns the prompt with as many of the buckets as fit, at least with the names of the first one's fields."""
        chosen = dict(lexicons)
        while len(chosen) > 1:
            prompt = self.render_plan_prompt(question, question_context, chosen)
            if prompt is not None:
                return prompt
            chosen.popitem()
        prompt = self.render_plan_prompt(question, question_context, chosen)
        if prompt is not None:
            return prompt
        return load_prompt(PLAN_PROMPT).render(
            max_parts=self._options.max_sub_queries,
            today=describe_day(question_context.now.date()),
            schemas=describe_bucket_names(chosen, _MIN_SCHEMA_TOKENS),
            closest_values=[],
            conversation="",
            last_plan="",
            question=escape_headings(question[:MAX_QUESTION_CHARS]),
        )

    async def _route_question(
        self,
        question: str,
        question_context: QuestionContext,
        lexicons: Mapping[BucketId, BucketLexicon],
        ranked_buckets: Sequence[BucketId],
    ) -> RoutedQuestion:
        prompt = load_prompt(ROUTE_PROMPT).render(
            max_buckets=_MAX_ROUTED_BUCKETS,
            buckets=describe_bucket_names(lexicons, _ROUTER_TOKENS),
            closest_values=remaining_lines(describe_closest_values(question, lexicons), MAX_VALUE_LINE_CHARS),
            conversation=escape_headings(question_context.conversation_summary),
            question=escape_headings(question[:MAX_QUESTION_CHARS]),
        )
        reply = await request_structured(
            self._model,
            prompt,
            QuestionRouteOutput,
            question_context.reasoning_log,
            check=lambda output: [f"there is no bucket {name!r}" for name in output.buckets if name not in lexicons],
            timeout_s=self._options.call_timeout_s,
        )
        output = reply.value
        chosen = pick_lexicons(lexicons, output.buckets[:_MAX_ROUTED_BUCKETS])
        chosen = chosen or pick_lexicons(lexicons, ranked_buckets[:_MAX_ROUTED_BUCKETS])
        is_text = output.answer_from == "text" and not output.is_complex and not question_context.last_plan
        return RoutedQuestion(
            lexicons=chosen, text_query=output.search_query if is_text else "", language=output.language
        )


def _tokens_left(frame: RenderedPrompt) -> int:
    """Returns the tokens that a prompt without schemas leaves for them."""
    return PLANNER_TOKENS - estimate_tokens(frame.system) - estimate_tokens(frame.user)


def _describe_last_plan(question_context: QuestionContext, lexicons: Mapping[BucketId, BucketLexicon]) -> str:
    """Returns the last plan if all of its buckets are shown and it is short enough."""
    plan = question_context.last_plan
    if plan is None or not plan.read_buckets <= lexicons.keys():
        return ""
    text = drop_hidden_characters(describe_plan(plan))
    return text if len(text) <= _MAX_LAST_PLAN_CHARS else ""
