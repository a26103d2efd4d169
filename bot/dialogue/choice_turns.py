"""Turns that choose: clicks, and choices typed as words."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from agent.outcome import (
    Answer,
    Clarify,
    ExportOutcome,
    Outcome,
    OutcomeKind,
    SearchRoute,
    SearchTrace,
    StartOverOutcome,
)
from agent.translation.languages import get_reply_language, use_language
from bot.attachments.attachments import ConversationAttachments
from bot.conversation.clarifications import ClarificationOffers, SelectedChoice
from bot.conversation.notices import (
    ASK_PRIVATELY_NOTICE,
    CONTINUES_PRIVATELY_NOTICE,
    PARTLY_VISIBLE_NOTICE,
    STARTED_OVER_NOTICE,
    count_change_note,
)
from bot.conversation.turn_result import TurnResult
from bot.dialogue.agent_contexts import AgentContextBuilder
from bot.dialogue.question_agent import TimedAgent
from bot.dialogue.questions import private_question_of, validate_question
from bot.dialogue.result_builder import TurnResultBuilder, notice_turn_result
from bot.dialogue.saved_search_turns import SavedSearchTurns
from bot.dialogue.turn_context import TurnContext
from bot.dialogue.visible_plan import visible_plan
from bot.dialogue.web_search_turns import WebSearchTurns
from bot.ids import ChoiceId
from bot.surface.inbound import ButtonClick, TextMessage
from bot.surface.replies import ChosenPart
from bot.surface.surface_registry import SurfaceRegistry
from bot.translation import translate_message
from storage.search.ids import Generation, LegId
from storage.search.plan import Plan
from storage.search.refinement import (
    ContinuePrivately,
    ExportAll,
    JustAnswer,
    SaveSearch,
    SearchByMeaning,
    SearchWeb,
    StartOver,
    apply_to_plan,
)


class ChoiceTurns:
    """Applies a choice to the plan that it was offered with, as far as the current grants allow."""

    def __init__(
        self,
        *,
        clarifications: ClarificationOffers,
        attachments: ConversationAttachments,
        surfaces: SurfaceRegistry,
        now: Callable[[], datetime],
        agent: TimedAgent,
        contexts: AgentContextBuilder,
        results: TurnResultBuilder,
        saved_searches: SavedSearchTurns,
        web_search: WebSearchTurns,
    ) -> None:
        self._clarifications, self._attachments, self._surfaces = clarifications, attachments, surfaces
        self._now, self._agent, self._contexts, self._results = now, agent, contexts, results
        self._saved_searches, self._web_search = saved_searches, web_search

    async def detect_choice(self, turn_context: TurnContext) -> ChoiceId | None:
        body = turn_context.inbound.body
        if isinstance(body, ButtonClick):
            return body.choice
        if not isinstance(body, TextMessage):
            return None
        text, state = validate_question(body.text), turn_context.state
        asked_back = state.clarifications_in_a_row > 0
        return await self._clarifications.match_typed_choice(
            text, turn_context.inbound, state.scope_key, allow_ordinals=asked_back
        )

    async def handle_choice(self, choice: ChoiceId, turn_context: TurnContext) -> TurnResult:
        selected = await self._clarifications.look_up_choice(choice, turn_context.inbound)
        with use_language(selected.plan.language):
            turn_result = await self._apply_choice(selected, turn_context)
        if isinstance(selected.effect, ContinuePrivately):  # only a notice: the other buttons stay open
            return turn_result
        if isinstance(selected.effect, SearchWeb) and turn_result.state is None:  # the same
            return turn_result
        if turn_result.result["outcome"] == OutcomeKind.REFUSED.value:  # do not show the choice's label again
            return turn_result
        return replace(
            turn_result,
            uses_choice=choice,
            settles_turn=selected.turn,
            chosen_part=ChosenPart(
                label=selected.label, by=turn_context.inbound.person_name or turn_context.inbound.person
            ),
        )

    async def _apply_choice(self, selected: SelectedChoice, turn_context: TurnContext) -> TurnResult:
        effect, question = selected.effect, selected.question
        match effect:
            case StartOver():
                outcome = StartOverOutcome(text=translate_message(STARTED_OVER_NOTICE), language=get_reply_language())
                return await self._results.build_turn_result(question, outcome, turn_context)
            case ContinuePrivately():
                return await self._continue_privately(question, turn_context)
            case SearchWeb():
                return await self._web_search.search_on_click(selected, turn_context)
            case ExportAll():
                return await self._export_selected(selected, turn_context)
            case SaveSearch(schedule=schedule):
                return await self._saved_searches.save_selected(selected, schedule, turn_context)
            case JustAnswer():
                return await self._resume_plan(selected, selected.plan, turn_context, just_answer=True)
            case SearchByMeaning():
                return await self._resume_plan(
                    selected, self._agent.apply_search_by_meaning(selected.plan, selected.leg), turn_context
                )
            case _:
                refined = apply_to_plan(effect, selected.plan, selected.leg)
                return await self._resume_plan(selected, refined, turn_context)

    async def _continue_privately(self, question: str, turn_context: TurnContext) -> TurnResult:
        """Starts a private turn with the clicker's own rights; the reply here only says that it continues there."""
        threads = self._surfaces.thread_placer_for(turn_context.inbound.surface)
        address = None if threads is None else await threads.find_private_address(turn_context.inbound)
        if address is None:
            return notice_turn_result(question, translate_message(ASK_PRIVATELY_NOTICE), turn_context)
        files = await self._attachments.list_transferable_files(
            turn_context.inbound.conversation, turn_context.inbound.audience
        )
        private_turn = private_question_of(
            turn_context.inbound, turn_context.turn, question, address, self._now(), files
        )
        notice = translate_message(CONTINUES_PRIVATELY_NOTICE)
        return replace(notice_turn_result(question, notice, turn_context), private_turn=private_turn)

    async def _resume_plan(
        self, selected: SelectedChoice, plan: Plan, turn_context: TurnContext, *, just_answer: bool = False
    ) -> TurnResult:
        visible = visible_plan(plan, turn_context.content.scope)
        if visible is None:
            return await self._results.build_not_granted_result(selected.question, turn_context)
        context = replace(await self._contexts.build_context(turn_context), just_answer=just_answer)
        outcome = await self._agent.resume(visible, context)
        notes = (
            translate_message(PARTLY_VISIBLE_NOTICE) if visible != plan else "",
            count_change_note(_leg_count(outcome, selected.leg), selected.count),
        )
        return await self._results.build_turn_result(selected.question, outcome, turn_context, notes=notes)

    async def _export_selected(self, selected: SelectedChoice, turn_context: TurnContext) -> TurnResult:
        visible = visible_plan(selected.plan, turn_context.content.scope)
        if visible is None:
            return await self._results.build_not_granted_result(selected.question, turn_context)
        trace, generation = SearchTrace(route=SearchRoute.STRUCTURED), Generation("")
        export_outcome = ExportOutcome(
            plan=visible, leg=selected.leg, count=selected.count or 0, trace=trace, generation=generation
        )
        return await self._results.write_export(
            selected.question,
            export_outcome,
            turn_context,
            notes=(translate_message(PARTLY_VISIBLE_NOTICE) if visible != selected.plan else "",),
        )


def _leg_count(outcome: Outcome, leg_id: LegId) -> int | None:
    """Returns the number of documents of a leg: its document count, else its count."""
    if not isinstance(outcome, (Answer, Clarify)):
        return None
    leg = next((leg for leg in outcome.legs if leg.leg == leg_id), None)
    return None if leg is None else leg.document_count if leg.count is None else leg.count
