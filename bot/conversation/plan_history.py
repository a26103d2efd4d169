"""The plans of a conversation, to which a person can go back, and the conversation's state after a turn."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any as Json
from typing import Final, assert_never

from agent.outcome import Answer, Clarify, ExportOutcome, Outcome, Refused, StartOverOutcome
from bot.conversation.summary import ConversationSummary, summary_from_json, summary_to_json
from bot.ids import TurnId
from storage.search.codec import plan_from_json, plan_to_json
from storage.search.plan import Plan
from storage.sql.stores.conversations import ConversationState

_EARLIER_KEY: Final = "earlier"  # key of the earlier plans, stored beside the last plan's own keys
_TURN_KEY: Final = "turn"  # key of the turn that made a plan, stored beside the plan's own keys
_MAX_PLANS: Final = 6
MAX_PLAN_CHARACTERS: Final = 100_000  # of its JSON; the longest list in a message takes a half
MAX_HISTORY_CHARACTERS: Final = 3 * MAX_PLAN_CHARACTERS


@dataclass(frozen=True, slots=True)
class PlanHistory:
    """The latest plans under one scope, oldest first, each as JSON with the turn that made it."""

    entries: tuple[Mapping[str, Json], ...] = ()

    @classmethod
    def from_json(cls, data: Mapping[str, Json] | None) -> "PlanHistory":
        """Reads the JSON of the last plan, which holds the earlier ones."""
        if data is None:
            return cls()
        last_entry = {key: value for key, value in data.items() if key != _EARLIER_KEY}
        return cls((*data.get(_EARLIER_KEY, ()), last_entry))

    def to_json(self) -> dict[str, Json] | None:
        if not self.entries:
            return None
        *earlier_entries, last_entry = self.entries
        return dict(last_entry) | ({_EARLIER_KEY: earlier_entries} if earlier_entries else {})

    @property
    def last_plan(self) -> Plan | None:
        return plan_from_json(dict(self.entries[-1])) if self.entries else None

    @property
    def earlier_plans(self) -> tuple[Plan, ...]:
        """The plans before the last one, oldest first."""
        return tuple(plan_from_json(dict(entry)) for entry in self.entries[:-1])

    def with_plan(self, plan: Plan, turn: TurnId) -> "PlanHistory":
        """The history with one more plan. The same plan again replaces the last one."""
        plan_json = plan_to_json(plan)
        is_repeated = bool(self.entries) and _question_of(self.entries[-1]) == _question_of(plan_json)
        entries = self.entries[:-1] if is_repeated else self.entries
        return PlanHistory(_latest_entries((*entries, plan_json | {_TURN_KEY: turn})))

    def with_earlier_plan(self, plan: Plan, turn: TurnId) -> "PlanHistory":
        """The history after going back to `plan`: without the plan that was undone."""
        return PlanHistory((*self.entries[:-2], plan_to_json(plan) | {_TURN_KEY: turn}))

    def without_turns(self, turns: Collection[TurnId]) -> "PlanHistory":
        """The history without the latest plans, as far as these turns made them."""
        entries = self.entries
        while entries and entries[-1].get(_TURN_KEY) in turns:
            entries = entries[:-1]
        return PlanHistory(entries)


def _latest_entries(entries: tuple[Mapping[str, Json], ...]) -> tuple[Mapping[str, Json], ...]:
    """The latest entries that fit the limits, the last one in any case."""
    kept, size = list[Mapping[str, Json]](), 0
    for entry in reversed(entries[-_MAX_PLANS:]):
        size += _size_of(entry)
        if kept and size > MAX_HISTORY_CHARACTERS:
            break
        kept.append(entry)
    return tuple(reversed(kept))


def _size_of(entry: Mapping[str, Json]) -> int:
    return len(json.dumps(entry))


def _question_of(entry: Mapping[str, Json]) -> Plan:
    """The plan without what was shown, which may be other documents each time."""
    return plan_from_json({key: value for key, value in entry.items() if key != _TURN_KEY})


def summary_of(state: ConversationState) -> ConversationSummary:
    return summary_from_json(state.summary) if state.summary else ConversationSummary()


def state_after_outcome(
    state: ConversationState, turn: TurnId, question: str, outcome: Outcome
) -> ConversationState | None:
    """The state after a turn; None: unchanged."""
    plans = PlanHistory.from_json(state.last_plan)
    new_state = replace(state, summary=summary_to_json(summary_of(state).with_outcome(question, outcome, turn)))
    match outcome:
        case Clarify(is_understood=False):
            return new_state
        case Answer(plan=plan, is_undo=is_undo) | Clarify(plan=plan, is_undo=is_undo):
            plans = plans.with_earlier_plan(plan, turn) if is_undo else plans.with_plan(plan, turn)
            asked_back = outcome.clarifications_in_a_row if isinstance(outcome, Clarify) else 0
            return replace(new_state, last_plan=plans.to_json(), clarifications_in_a_row=asked_back)
        case ExportOutcome(plan=plan):
            return replace(new_state, last_plan=plans.with_plan(plan, turn).to_json(), clarifications_in_a_row=0)
        case StartOverOutcome():
            return replace(new_state, last_plan=None, clarifications_in_a_row=0)
        case Refused():
            return None
        case _:
            assert_never(outcome)


def state_after_web_answer(state: ConversationState, subject: str) -> ConversationState:
    """The state after a turn that the web answered. `subject`: what the pages are about, for the next query."""
    summary = replace(summary_of(state), web_subject=subject)
    return replace(state, summary=summary_to_json(summary), clarifications_in_a_row=0)


def without_large_plan(state: ConversationState) -> ConversationState:
    """The same state, or one without plans if the last one is too large to go on with.

    A follow-up adds its conditions to the last plan, so without a limit each turn of a conversation would store more
    than the one before.
    """
    entries = PlanHistory.from_json(state.last_plan).entries
    if not entries or _size_of(entries[-1]) <= MAX_PLAN_CHARACTERS:
        return state
    return replace(state, last_plan=None, clarifications_in_a_row=0)


def state_without_turns(state: ConversationState, turns: Collection[TurnId]) -> ConversationState:
    """The state as if these turns had not happened: without their plans and without their exchanges in the summary."""
    summary = summary_to_json(summary_of(state).without_turns(turns)) if state.summary else state.summary
    plans = PlanHistory.from_json(state.last_plan)
    remaining_plans = plans.without_turns(turns)
    if remaining_plans == plans:
        return replace(state, summary=summary)
    return replace(state, summary=summary, last_plan=remaining_plans.to_json(), clarifications_in_a_row=0)
