"""What the agent is given with a question: the index in its scope, the conversation so far, limits and callbacks."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from agent.context import AgentContext
from agent.evidence.word_meanings import TextEmbedder
from agent.reasoner import Reasoner
from agent.retrieval.relevance import Reranker
from bot.conversation.plan_history import PlanHistory, summary_of
from bot.conversation.summary import render_summary
from bot.dialogue.turn_context import TurnContext
from bot.errors import MissingBucket
from bot.ids import BucketId
from bot.surface.inbound import OperatorAudience
from storage.search.bucket_parts import with_parts
from storage.search.index import SearchIndex
from storage.search.scope import Scope


class AgentContextBuilder:
    """Builds the context of a turn, of a question asked outside any conversation, and of the warm-up question."""

    def __init__(
        self,
        *,
        reasoner: Reasoner,
        warm_up_reasoner: Reasoner,
        index: SearchIndex,
        now: Callable[[], datetime],
        reranker: Reranker | None,
        embedder: TextEmbedder | None,
        uses_index_cosines: bool,
    ) -> None:
        self._reasoner, self._warm_up_reasoner, self._index, self._now = reasoner, warm_up_reasoner, index, now
        self._reranker, self._embedder, self._uses_index_cosines = reranker, embedder, uses_index_cosines

    async def build_context(self, turn_context: TurnContext) -> AgentContext:
        inbound, state = turn_context.inbound, turn_context.state
        plans = PlanHistory.from_json(state.last_plan)
        return AgentContext(
            index=turn_context.content.index,
            reasoner=self._reasoner,
            reranker=self._reranker,
            embedder=self._embedder,
            uses_index_cosines=self._uses_index_cosines,
            now=self._now().astimezone(_time_zone_of(inbound.time_zone)),
            locale=inbound.locale,
            limits=turn_context.limits,
            last_plan=plans.last_plan,
            earlier_plans=plans.earlier_plans,
            conversation_summary=render_summary(summary_of(state)),
            found_nothing=summary_of(state).found_nothing,
            pending_words=summary_of(state).pending_words,
            found_documents=summary_of(state).found_documents,
            clarifications_in_a_row=state.clarifications_in_a_row,
            may_go_private=turn_context.may_go_private,
            report_progress=turn_context.report_progress,
            report_attempt=turn_context.report_attempt,
            report_partial_answer=turn_context.report_partial_answer,
            reasoning_log=turn_context.reasoning_log,
        )

    async def build_standalone_context(self, turn_context: TurnContext) -> AgentContext:
        """Leaves out the conversation so far, and attached files and web pages. Raises what the index raises."""
        return replace(
            await self.build_context(turn_context),
            index=self._index.within_scope(turn_context.scope),
            buckets=await self.requested_buckets(turn_context),
            last_plan=None,
            earlier_plans=(),
            conversation_summary="",
            found_nothing=False,
            pending_words=(),
            found_documents=(),
            clarifications_in_a_row=0,
        )

    def build_warm_up_context(self, scope: Scope) -> AgentContext:
        return AgentContext(
            index=self._index.within_scope(scope),
            reasoner=self._warm_up_reasoner,
            reranker=self._reranker,
            embedder=self._embedder,
            uses_index_cosines=self._uses_index_cosines,
            now=self._now(),
        )

    async def requested_buckets(self, turn_context: TurnContext) -> frozenset[BucketId] | None:
        """Returns the requested buckets that exist and are granted, with their parts; None if the request names none.

        Raises `MissingBucket` only for the operator: nobody else may learn whether a bucket exists.
        """
        if not turn_context.inbound.buckets:
            return None
        visible = await turn_context.content.index.load_schemas()
        requested = frozenset(map(BucketId, turn_context.inbound.buckets))
        unknown = sorted(requested - visible.keys())
        if unknown and isinstance(turn_context.inbound.audience, OperatorAudience):
            raise MissingBucket(unknown[0])
        return with_parts(requested, visible) & visible.keys()


def _time_zone_of(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
