"""Turns about saved searches: requests in words, the choice of a schedule, and runs."""

from dataclasses import replace

from agent.outcome import Answer, Choice, Clarify
from bot.conversation.answer_provenance import provenance_of
from bot.conversation.clarifications import OfferedChoices, SelectedChoice
from bot.conversation.notices import EXPORT_ALL_LABEL
from bot.conversation.plan_history import PlanHistory
from bot.conversation.turn_result import TurnResult, turn_result_from_json
from bot.dialogue.agent_contexts import AgentContextBuilder
from bot.dialogue.question_agent import StandaloneAgent, TimedAgent
from bot.dialogue.result_builder import TurnResultBuilder, text_turn_result
from bot.dialogue.turn_context import TurnContext
from bot.dialogue.visible_plan import visible_plan
from bot.errors import AnswerNotFound, NotYourAnswer
from bot.ids import TurnId
from bot.saved_searches.request_kinds import SavedSearchRequest, SaveLastRequest
from bot.saved_searches.saved_searches import SavedSearches, StandaloneQuestions
from bot.saved_searches.search_wording import NO_SET_NOTICE, SCHEDULE_CHOICES, ask_for_schedule
from bot.saved_searches.watched_documents import find_plan_searches
from bot.surface.inbound import SavedSearchRun, have_same_readers
from bot.surface.json_codec import audience_from_json
from bot.translation import translate_message
from storage.search.codec import plan_from_json
from storage.search.ids import Generation
from storage.search.plan import Plan
from storage.search.refinement import ExportAll, SaveSearch
from storage.sql.stores.inbox import TurnInbox


class SavedSearchTurns:
    """Takes the requests to `SavedSearches`, and makes results of its texts and runs."""

    def __init__(
        self,
        *,
        saved_searches: SavedSearches,
        inbox: TurnInbox,
        agent: TimedAgent,
        contexts: AgentContextBuilder,
        results: TurnResultBuilder,
    ) -> None:
        self._saved_searches, self._inbox = saved_searches, inbox
        self._agent, self._contexts, self._results = agent, contexts, results

    async def answer_request(self, request: SavedSearchRequest, question: str, turn_context: TurnContext) -> TurnResult:
        if isinstance(request, SaveLastRequest):
            return await self.offer_schedules(
                PlanHistory.from_json(turn_context.state.last_plan).last_plan, turn_context
            )
        text = await self._saved_searches.answer_request(
            request,
            turn_context.inbound,
            turn_context.turn,
            turn_context.scope,
            await self._standalone_questions(turn_context),
        )
        return text_turn_result(question, text, turn_context)

    async def offer_schedules_for_turn(self, turn: TurnId, turn_context: TurnContext) -> TurnResult:
        """Offers when to ask the question of an earlier turn again. Raises `TurnActionRefused`, `UnreadableTurn`."""
        return await self.offer_schedules(await self._load_plan_of(turn, turn_context), turn_context)

    async def offer_schedules(self, plan: Plan | None, turn_context: TurnContext) -> TurnResult:
        """Offers when to ask the plan again, as far as it may be seen here."""
        visible = None if plan is None else visible_plan(plan, turn_context.scope)
        if visible is None or not find_plan_searches(visible):
            return text_turn_result("", translate_message(NO_SET_NOTICE), turn_context)
        choices = tuple(
            Choice(label=translate_message(label), count=None, leg=visible.legs[0].id, effect=SaveSearch(schedule))
            for label, schedule in SCHEDULE_CHOICES
        )
        return await self._results.build_offer_result(
            ask_for_schedule(visible),
            OfferedChoices(plan=visible, choices=choices, generation=Generation("")),
            turn_context,
        )

    async def save_selected(self, selected: SelectedChoice, schedule: str, turn_context: TurnContext) -> TurnResult:
        visible = visible_plan(selected.plan, turn_context.scope)
        if visible is None:
            return await self._results.build_not_granted_result(selected.question, turn_context)
        text = await self._saved_searches.save_plan(
            visible,
            schedule,
            turn_context.inbound,
            turn_context.turn,
            turn_context.scope,
            await self._standalone_questions(turn_context),
        )
        return text_turn_result(selected.question, text, turn_context)

    async def run_search(self, run: SavedSearchRun, turn_context: TurnContext) -> TurnResult:
        report = await self._saved_searches.run_search(
            run, turn_context.inbound, turn_context.scope, await self._standalone_questions(turn_context)
        )
        provenance, outcome = None, report.outcome
        if outcome is not None:
            provenance = provenance_of(outcome, turn_context.scope, frozenset())
        turn_result = text_turn_result("", report.text, turn_context)
        if report.unshown_count and isinstance(outcome, (Answer, Clarify)) and len(outcome.plan.legs) == 1:
            export = Choice(
                label=translate_message(EXPORT_ALL_LABEL),
                count=report.unshown_count,
                leg=outcome.plan.legs[0].id,
                effect=ExportAll(),
            )
            offered = OfferedChoices(plan=outcome.plan, choices=(export,), generation=outcome.generation)
            turn_result = await self._results.build_offer_result(report.text, offered, turn_context)
        return replace(turn_result, search_run=report.run, provenance=provenance)

    async def _load_plan_of(self, turn: TurnId, turn_context: TurnContext) -> Plan | None:
        """Returns the plan of an earlier turn of this conversation. Raises `TurnActionRefused`, `UnreadableTurn`."""
        stored_turn, inbound = await self._inbox.find_turn(turn), turn_context.inbound
        if stored_turn is None or stored_turn.conversation != inbound.conversation or stored_turn.outcome is None:
            raise AnswerNotFound()
        if not have_same_readers(audience_from_json(stored_turn.audience), inbound.audience):
            raise NotYourAnswer()
        plan = turn_result_from_json(stored_turn.outcome).saveable_plan
        return None if plan is None else plan_from_json(dict(plan))

    async def _standalone_questions(self, turn_context: TurnContext) -> StandaloneQuestions:
        """Asks questions by themselves: without the conversation so far, and not about attached files or web pages."""
        return StandaloneAgent(self._agent, await self._contexts.build_standalone_context(turn_context))
