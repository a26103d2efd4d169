"""The outcome of a turn before it is posted, and its JSON, which the inbox stores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any as Json

from agent.limits import AnswerLimits
from agent.reasoning_log import ReasoningLog
from bot.conversation.answer_provenance import AnswerProvenance, provenance_from_json, provenance_to_json
from bot.conversation.json_result import ResultRequest, failure_to_json
from bot.conversation.reasoning_record import logged_fields_of, reasoning_to_json
from bot.conversation.reply_builder import notice_reply_for
from bot.ids import ChoiceId, TurnId
from bot.saved_searches.run_outcomes import SearchRunOutcome, run_outcome_from_json, run_outcome_to_json
from bot.surface.attachments import format_unfetched_notice
from bot.surface.inbound import Inbound, TextMessage
from bot.surface.json_codec import (
    inbound_from_json,
    inbound_to_json,
    reply_from_json,
    reply_to_json,
    translate_read_errors,
)
from bot.surface.replies import ChosenPart, Reply, ReplyPart, TextPart
from storage.sql.stores.conversations import ConversationState


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """The outcome of a turn before it is posted. The inbox stores it, so a killed process loses nothing after that."""

    reply: Reply
    result: dict[str, Json]
    state: ConversationState | None = None  # the conversation's state after the turn; None: unchanged
    private_turn: Inbound | None = None  # a new turn of the same person in a private conversation
    uses_choice: ChoiceId | None = None  # the choice that this turn uses, if it is still open
    settles_turn: TurnId | None = None  # the turn whose buttons are removed
    chosen_part: ChosenPart | None = None
    provenance: AnswerProvenance | None = None
    ending: str | None = None  # overrides the outcome as the stored ending
    search_run: SearchRunOutcome | None = None  # of a saved search
    saveable_plan: Mapping[str, Json] | None = None  # as JSON, if the reply has the button that saves the search
    reasoning: Mapping[str, Json] = field(default_factory=dict[str, Json])  # see `reasoning_to_json`

    @property
    def error(self) -> str | None:
        return self.result.get("error")


def failed_turn_result(inbound: Inbound, turn: TurnId, sentence: str) -> TurnResult:
    """A turn that ends in one plain sentence."""
    question = inbound.body.text if isinstance(inbound.body, TextMessage) else ""
    return TurnResult(
        reply=notice_reply_for(turn, sentence),
        result=failure_to_json(result_request_of(inbound, turn, question), sentence),
    )


def result_request_of(
    inbound: Inbound, turn: TurnId, question: str, limits: AnswerLimits | None = None
) -> ResultRequest:
    answer_limits = limits or AnswerLimits()
    return ResultRequest(
        question=question,
        conversation=inbound.conversation,
        turn=turn,
        max_hits=answer_limits.reported_hits,
        max_doc_ids=answer_limits.reported_documents,
    )


def with_reasoning(turn_result: TurnResult, log: ReasoningLog) -> TurnResult:
    """The result with what the turn's reasoner did, which a failed turn has no other record of."""
    result = turn_result.result | (logged_fields_of(log) if log.calls else {})
    return replace(turn_result, result=result, reasoning=reasoning_to_json(log))


def with_skipped_files(turn_result: TurnResult, names: Sequence[str]) -> TurnResult:
    """The result with a first line that names the files that were not fetched."""
    return with_leading_lines(turn_result, [format_unfetched_notice(names)] if names else [])


def with_leading_lines(turn_result: TurnResult, lines: Sequence[str]) -> TurnResult:
    """The result with these lines of Markdown before everything else."""
    if not lines:
        return turn_result
    return replace(
        turn_result,
        reply=replace(turn_result.reply, parts=(*text_parts_of(lines), *turn_result.reply.parts)),
        result=turn_result.result | {"text": join_texts(*lines, turn_result.result["text"])},
    )


def text_parts_of(lines: Sequence[str]) -> tuple[ReplyPart, ...]:
    """A part of Markdown for each line that is not empty."""
    return tuple(TextPart(markdown=line) for line in lines if line)


def join_texts(*texts: str) -> str:
    """The texts that are not empty, as paragraphs."""
    return "\n\n".join(filter(None, texts))


def turn_result_to_json(turn_result: TurnResult) -> dict[str, Json]:
    state, chosen, provenance = turn_result.state, turn_result.chosen_part, turn_result.provenance
    return {
        "version": 1,
        "reply": reply_to_json(turn_result.reply),
        "result": turn_result.result,
        "state": None if state is None else _state_to_json(state),
        "begins": None if turn_result.private_turn is None else inbound_to_json(turn_result.private_turn),
        "uses": turn_result.uses_choice,
        "settles": turn_result.settles_turn,
        "chosen": None if chosen is None else {"label": chosen.label, "by": chosen.by},
        "rests_on": None if provenance is None else provenance_to_json(provenance, turn_result.result),
        "ending": turn_result.ending,
        **({} if turn_result.search_run is None else {"search_run": run_outcome_to_json(turn_result.search_run)}),
        **({} if turn_result.saveable_plan is None else {"plan": turn_result.saveable_plan}),
        **({"reasoning": turn_result.reasoning} if turn_result.reasoning else {}),
    }


def _state_to_json(state: ConversationState) -> dict[str, Json]:
    """The fields of the state. `asdict` would copy the whole plan recursively."""
    return {name: getattr(state, name) for name in ConversationState.__dataclass_fields__}


def turn_result_from_json(data: Mapping[str, Json]) -> TurnResult:
    """Raises `UnreadableTurn`."""
    with translate_read_errors():
        return _turn_result_from_fields(data)


def _turn_result_from_fields(data: Mapping[str, Json]) -> TurnResult:
    chosen, provenance = data["chosen"], data.get("rests_on")  # older stored turns have no provenance
    private_turn, search_run = data.get("begins"), data.get("search_run")
    return TurnResult(
        reply=reply_from_json(data["reply"]),
        result=data["result"],
        state=None if data["state"] is None else ConversationState(**data["state"]),
        private_turn=None if private_turn is None else inbound_from_json(private_turn),
        uses_choice=data["uses"],
        settles_turn=data["settles"],
        chosen_part=None if chosen is None else ChosenPart(label=chosen["label"], by=chosen["by"]),
        provenance=None if provenance is None else provenance_from_json(provenance, data["result"]),
        ending=data.get("ending"),
        search_run=None if search_run is None else run_outcome_from_json(search_run),
        saveable_plan=data.get("plan"),
        reasoning=data.get("reasoning", {}),
    )
