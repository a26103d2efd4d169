"""Passes the values that one search gives on to another: "the vendor with the highest total, and its contracts"."""

from dataclasses import replace

from agent.decomposition import PassedValues, PlannedQuestion
from agent.forms.figures import build_group_lines
from agent.retrieval.session import RetrievalSession
from storage.search.conditions import ComparisonCondition, ComparisonOperator, Condition, NotCondition, OrCondition
from storage.search.index import AggregateLine, AggregateRequest
from storage.search.plan import AggregateFunction, AnswerForm, ComputeNumbers

_MAX_PASSED_VALUES = 20


async def pass_values_on(session: RetrievalSession, planned: PlannedQuestion) -> PlannedQuestion:
    """Returns the plan with each passed value as a condition; one round trip. Raises only the errors of the index.

    No value leaves a set without documents.
    """
    if not planned.passed_values:
        return planned
    requests = {passed: _build_request(passed) for passed in planned.passed_values}
    answers = await session.ask_index(tuple(requests.values()), record=tuple(requests.values()))
    plan = planned.plan
    for passed, request in requests.items():
        values = _first_groups(passed.source.answer_form, answers[request])
        search = plan.leg_by_id(passed.leg).search.with_condition(_build_condition(passed, values), passed.bucket)
        plan = plan.with_search(passed.leg, search)
    return replace(planned, plan=plan, passed_values=())


def _build_request(passed: PassedValues) -> AggregateRequest:
    form = passed.source.answer_form
    return AggregateRequest(
        passed.source.search, form.computed_field, form.grouping,
        with_median=AggregateFunction.MEDIAN in form.computed_functions,
        factor=form.computed_factor,
    )  # fmt: skip


def _first_groups(form: AnswerForm, lines: tuple[AggregateLine, ...]) -> list[str]:
    """Returns the values of the first groups, in the order that the form gives them."""
    if not isinstance(form, ComputeNumbers):
        return []
    named = [line for line in lines if isinstance(line.group, str)]
    return list(dict.fromkeys(line.label for line in build_group_lines(form, named)))


def _build_condition(passed: PassedValues, values: list[str]) -> Condition:
    op = ComparisonOperator.HAS if passed.is_list else ComparisonOperator.EQ
    condition = OrCondition(
        tuple(
            ComparisonCondition(field=passed.field, op=op, value=value, words=passed.words)
            for value in values[:_MAX_PASSED_VALUES]
        )
    )
    return NotCondition(condition) if passed.is_negated else condition
