"""The result of a turn from the outcome of its question: reply, offered choices, export file, next state."""

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from agent.errors import PriceUnknown, SpendingCapReached
from agent.outcome import Answer, Choice, Clarify, ExportOutcome, Outcome, Refused, StartOverOutcome
from agent.reasoning_log import ReasoningLog
from agent.translation.languages import get_reply_language, use_language
from bot.conversation.answer_provenance import provenance_of
from bot.conversation.clarifications import ClarificationOffers, OfferedChoices
from bot.conversation.exports import ExportFileRequest, ExportFiles
from bot.conversation.json_result import result_to_json
from bot.conversation.notices import (
    CONTINUE_PRIVATELY_LABEL,
    MODEL_BUDGET_REMARK,
    MODEL_LOST_REMARK,
    MODEL_UNAVAILABLE_REMARK,
    MODEL_UNPRICED_REMARK,
    NOT_GRANTED_NOTICE,
    START_OVER_LABEL,
    count_change_note,
)
from bot.conversation.plan_history import state_after_outcome
from bot.conversation.reply_builder import (
    StoredOffer,
    can_be_saved,
    choices_reply_for,
    file_reply_for,
    file_sentence_for,
    notice_reply_for,
    reply_for,
)
from bot.conversation.turn_result import TurnResult, join_texts, text_parts_of
from bot.dialogue.turn_context import TurnContext
from bot.surface.replies import Reply, TextPart
from bot.surface.surface_registry import SurfaceRegistry
from bot.translation import translate_message
from bot.web_search.web_replies import offer_web_search
from bot.web_search.web_search import WebSearch
from storage.search.codec import plan_to_json
from storage.search.ids import Generation, LegId
from storage.search.plan import Leg, ListDocuments, Plan, unfiltered_search_of
from storage.search.refinement import ContinuePrivately, StartOver


class TurnResultBuilder:
    """Builds turn results. It stores the choices that a reply offers, and writes the files of exports."""

    def __init__(
        self,
        *,
        clarifications: ClarificationOffers,
        exports: ExportFiles,
        surfaces: SurfaceRegistry,
        show_pictures: bool,
        web_search: WebSearch | None,
    ) -> None:
        self._clarifications, self._exports, self._surfaces = clarifications, exports, surfaces
        self._show_pictures, self._web_search = show_pictures, web_search

    async def build_turn_result(
        self,
        question: str,
        outcome: Outcome,
        turn_context: TurnContext,
        *,
        notes: Sequence[str] = (),
        offers_web: bool = True,
    ) -> TurnResult:
        """Returns an outcome's result, in its language.

        `notes` come first: they say what has changed since a button was offered. `offers_web`: where nothing was found
        and the settings allow it.
        """
        with use_language(outcome.language):
            return await self._build_result_parts(question, outcome, turn_context, notes, offers_web=offers_web)

    async def build_not_granted_result(self, question: str, turn_context: TurnContext) -> TurnResult:
        """Returns the result of a plan of which the current grants cover no bucket."""
        return await self.build_turn_result(question, refuse_with(NOT_GRANTED_NOTICE), turn_context)

    async def build_offer_result(self, markdown: str, offered: OfferedChoices, turn_context: TurnContext) -> TurnResult:
        """Returns a text with choices, which leaves the conversation's state unchanged."""
        offer = await self._clarifications.store_offer(
            turn_context.inbound, turn_context.turn, turn_context.state.scope_key, offered
        )
        return TurnResult(
            reply=choices_reply_for(turn_context.turn, markdown, offer),
            result=result_to_json(turn_context.result_request_for(""), StartOverOutcome(text=markdown), offer=offer),
        )

    async def _build_result_parts(
        self,
        question: str,
        outcome: Outcome,
        turn_context: TurnContext,
        notes: Sequence[str],
        *,
        offers_web: bool,
    ) -> TurnResult:
        remark = _model_remark_for(turn_context.reasoning_log)
        if isinstance(outcome, ExportOutcome):
            return await self.write_export(question, outcome, turn_context, notes=(*notes, remark and f"_{remark}_"))
        if isinstance(outcome, (Answer, Clarify)) and remark:
            outcome = replace(outcome, assumptions=(*outcome.assumptions, remark))
        offer = await self._store_offer(question, outcome, turn_context, offers_web=offers_web)
        result = result_to_json(turn_context.result_request_for(question), outcome, offer=offer)
        return TurnResult(
            reply=reply_for(
                turn_context.turn,
                outcome,
                offer,
                leading_parts=text_parts_of(notes),
                show_pictures=self._show_pictures,
            ),
            result=result | {"text": join_texts(*notes, result["text"])},
            state=state_after_outcome(turn_context.state, turn_context.turn, question, outcome),
            provenance=provenance_of(outcome, turn_context.scope, turn_context.content.file_ids),
            saveable_plan=plan_to_json(outcome.plan)
            if isinstance(outcome, (Answer, Clarify)) and can_be_saved(outcome)
            else None,
        )

    async def _store_offer(
        self, question: str, outcome: Outcome, turn_context: TurnContext, *, offers_web: bool
    ) -> StoredOffer | None:
        inbound, offered = turn_context.inbound, _offered_choices_of(question, outcome)
        if offered is None:
            return None
        if offers_web and self._web_search is not None and self._web_search.is_searchable(question, outcome.language):
            offered = replace(offered, choices=(*offered.choices, *offer_web_search(outcome)))
        if turn_context.may_go_private and self._surfaces.thread_placer_for(inbound.surface) is not None:
            continue_privately = Choice(
                label=translate_message(CONTINUE_PRIVATELY_LABEL),
                count=None,
                leg=offered.plan.legs[0].id,
                effect=ContinuePrivately(),
            )
            offered = replace(offered, choices=(*offered.choices, continue_privately))
        return await self._clarifications.store_offer(inbound, turn_context.turn, turn_context.state.scope_key, offered)

    async def write_export(
        self, question: str, outcome: ExportOutcome, turn_context: TurnContext, *, notes: Sequence[str] = ()
    ) -> TurnResult:
        inbound, leg = turn_context.inbound, outcome.plan.leg_by_id(outcome.leg)
        request = ExportFileRequest(
            turn=turn_context.turn,
            conversation=inbound.conversation,
            person=inbound.person,
            audience=inbound.audience,
            leg=leg,
        )
        file = await self._exports.write_file(request, turn_context.report_progress)
        notes = (*notes, count_change_note(file.rows, outcome.count or None))
        text = join_texts(*notes, file_sentence_for(file))
        return TurnResult(
            reply=file_reply_for(turn_context.turn, file, leading_parts=text_parts_of(notes)),
            result=result_to_json(turn_context.result_request_for(question), outcome, files=(file,), text=text),
            state=state_after_outcome(turn_context.state, turn_context.turn, question, outcome),
            provenance=provenance_of(outcome, turn_context.scope, turn_context.content.file_ids),
        )


def refuse_with(notice: str) -> Refused:
    return Refused(text=translate_message(notice), language=get_reply_language())


def notice_turn_result(question: str, sentence: str, turn_context: TurnContext) -> TurnResult:
    """Returns a result with one sentence that leaves the conversation's state unchanged."""
    result = result_to_json(turn_context.result_request_for(question), StartOverOutcome(text=sentence))
    return TurnResult(reply=notice_reply_for(turn_context.turn, sentence), result=result)


def text_turn_result(question: str, markdown: str, turn_context: TurnContext) -> TurnResult:
    """Returns a result with this text, which leaves the conversation's state unchanged."""
    result = result_to_json(turn_context.result_request_for(question), StartOverOutcome(text=markdown))
    parts = (TextPart(markdown=markdown),) if markdown else ()
    return TurnResult(reply=Reply(turn=turn_context.turn, parts=parts), result=result)


def _model_remark_for(log: ReasoningLog) -> str:
    """Returns why rules answered in place of the model; empty if they did not, or if the model was not asked."""
    match log.unavailability:
        case None:
            return ""
        case SpendingCapReached():
            return translate_message(MODEL_BUDGET_REMARK)
        case PriceUnknown():
            return translate_message(MODEL_UNPRICED_REMARK)
        case _:
            return translate_message(MODEL_LOST_REMARK if log.used_model else MODEL_UNAVAILABLE_REMARK)


def _offered_choices_of(question: str, outcome: Outcome) -> OfferedChoices | None:
    """Returns the choices of an outcome; None for exports and starting over. A refusal gets a plan without filters."""
    match outcome:
        case Answer(plan=plan, kept_conditions=kept_conditions) | Clarify(plan=plan, kept_conditions=kept_conditions):
            start_over = Choice(
                label=translate_message(START_OVER_LABEL), count=None, leg=plan.legs[0].id, effect=StartOver()
            )
            choices = (*outcome.choices, start_over) if kept_conditions else outcome.choices
            return OfferedChoices(plan=plan, choices=choices, generation=outcome.generation)
        case Refused():
            leg = Leg(id=LegId("1"), question=question, search=unfiltered_search_of(), answer_form=ListDocuments())
            plan = Plan(question=question, legs=(leg,), language=outcome.language)
            return OfferedChoices(plan=plan, choices=(), generation=Generation(""))
        case ExportOutcome() | StartOverOutcome():
            return None
        case _:
            assert_never(outcome)
