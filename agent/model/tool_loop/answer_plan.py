"""The plan of a question that tools have answered: a leg for each result, and one for what was read in texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.assumptions import Assumption
from agent.decomposition import LegAlternatives, PlannedQuestion
from agent.tools.collected_evidence import CollectedItem
from agent.tools.tool_executor import ExecutedCall, ToolExecutor
from agent.tools.tool_protocol import (
    DocumentFindings,
    NumberFindings,
    PassageFindings,
    RecordFindings,
)
from prompts.outputs.tool_answer import ToolAnswerOutput, ToolAnswerResult
from storage.search.ids import BucketId, LegId
from storage.search.plan import (
    AggregateFunction,
    AnswerForm,
    Clause,
    ComputeNumbers,
    FindPassages,
    Leg,
    LegCombination,
    ListDocuments,
    Plan,
    Search,
)

_MAX_LEGS = 4
_LEG_IDS = "abcdefgh"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopAnswer:
    """The plan, and what a model wrote about its text leg. `text_leg` is None if results answer all of the question."""

    planned: PlannedQuestion
    answer: ToolAnswerOutput
    text_leg: LegId | None
    items: Mapping[str, CollectedItem]


def build_loop_answer(
    question: str,
    answer: ToolAnswerOutput,
    executor: ToolExecutor,
) -> LoopAnswer:
    """Returns the plan of the answer. The sets of its legs are those of the calls, so that they are counted again."""
    calls = executor.executed_calls
    results = [result for result in answer.results if _has_set(calls[result.call])]
    if not results and answer.outcome == "not_found":
        results = _empty_set_results(calls)
    results = results[:_MAX_LEGS]
    legs = [_leg_of_result(result, calls[result.call], position, question) for position, result in enumerate(results)]
    assumptions = [assumption for result in results for assumption in calls[result.call].assumptions]
    needs_text = not legs or (answer.outcome == "answered" and _says_more_than_results(answer))
    text_leg = None
    if needs_text:
        text_leg = LegId(_LEG_IDS[len(legs)])
        searched = (bucket for call in calls.values() for bucket in call.findings.search.buckets)
        schemas = executor.question_context.schemas
        buckets = tuple(bucket for bucket in dict.fromkeys(searched) if bucket in schemas) or tuple(schemas)
        legs.append(_build_text_leg(text_leg, question, buckets))
    return LoopAnswer(
        planned=_plan_legs(question, legs, assumptions), answer=answer, text_leg=text_leg, items=executor.evidence.items
    )


def _plan_legs(question: str, legs: Sequence[Leg], assumptions: Sequence[Assumption]) -> PlannedQuestion:
    combination = LegCombination.ONE if len(legs) == 1 else LegCombination.SIDE_BY_SIDE
    return PlannedQuestion(
        plan=Plan(question=question, legs=tuple(legs), combination=combination),
        alternatives=tuple(LegAlternatives(leg=leg.id, is_understood=True) for leg in legs),
        assumptions=tuple(dict.fromkeys(assumptions)),
    )


def _has_set(call: ExecutedCall) -> bool:
    """Whether the call has counted a set; passages and a single document are read, not counted."""
    return isinstance(call.findings, (RecordFindings, NumberFindings))


def _empty_set_results(calls: Mapping[str, ExecutedCall]) -> list[ToolAnswerResult]:
    """Returns the last call if all calls counted empty sets: then the empty set is the answer, with its ways out."""
    if not calls or not all(_has_set(call) and not _set_count_of(call) for call in calls.values()):
        return []
    return [ToolAnswerResult(call=list(calls)[-1], form="list")]


def _set_count_of(call: ExecutedCall) -> int:
    return 1 if isinstance(call.findings, DocumentFindings) else call.findings.set_count


def _says_more_than_results(answer: ToolAnswerOutput) -> bool:
    """Whether some sentence stands on passages; sentences on counted records and numbers only repeat the results."""
    return any(written.strip(" []").lower().startswith("p") for line in answer.sentences for written in line.evidence)


def _leg_of_result(result: ToolAnswerResult, call: ExecutedCall, position: int, question: str) -> Leg:
    return Leg(
        id=LegId(_LEG_IDS[position]),
        question=result.question.strip() or question,
        search=call.findings.search,
        answer_form=_form_of_result(result, call),
    )


def _form_of_result(result: ToolAnswerResult, call: ExecutedCall) -> AnswerForm:
    match call.findings:
        case NumberFindings(answer_form=answer_form):
            return answer_form
        case RecordFindings() if result.form == "count":
            return ComputeNumbers(functions=(AggregateFunction.COUNT,))
        case RecordFindings(order=order):
            return ListDocuments(order=order, limit=result.first if result.first > 0 else None)
        case PassageFindings() | DocumentFindings():
            return FindPassages()


def _build_text_leg(leg_id: LegId, question: str, buckets: Sequence[BucketId]) -> Leg:
    """Returns a leg over the buckets that were searched, in which a click or a follow-up searches again."""
    search = Search(clauses=tuple(Clause(bucket=bucket) for bucket in buckets), ranking_text=question)
    return Leg(id=leg_id, question=question, search=search, answer_form=FindPassages())
