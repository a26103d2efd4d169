"""Follow-ups that correct, drop, add or combine, with the parcels of `test_bucket_reading`."""

from dataclasses import replace

import pytest

from agent.decomposition import EmptyExportRequest, ExportRequest, PlannedQuestion
from storage.search.conditions import ComparisonOperator as Op
from storage.search.plan import AggregateFunction, ComputeNumbers, LegCombination, ListDocuments
from tests.agent.rules.followups.test_follow_up_plan import conditions_of_plan, plan_conversation, plan_next_message
from tests.agent.rules.reading.test_bucket_reading import QUESTION_CONTEXT, comparison_on, decompose_question

BLUE_VAN = comparison_on("carrier", Op.EQ, "Blue Van")
REDLINE = comparison_on("carrier", Op.EQ, "Redline Post")
IN_2024 = comparison_on("sent", Op.BETWEEN, ("2024-01-01", "2024-12-31"))
COUNT = ComputeNumbers(functions=(AggregateFunction.COUNT,))


@pytest.mark.parametrize(
    "message",
    [
        "no, I meant Redline Post",
        "oops, Redline Post",
        "sorry I meant Redline Post",
        "make that Redline Post",
        "Redline Post instead",
        "wait, should be Redline Post rather",
    ],
)
def test_a_correction_replaces_the_condition_on_its_field(message: str) -> None:
    plan = plan_conversation("how many parcels by Blue Van in 2024", message)[-1]
    assert set(conditions_of_plan(plan)) == {REDLINE, IN_2024}
    assert plan.legs[0].answer_form == COUNT


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("no, under 4 kg then", comparison_on("weight", Op.LT, 4.0)),
        ("make it 4", comparison_on("weight", Op.LT, 4.0)),
        ("ok, more than 4", comparison_on("weight", Op.GT, 4.0)),
    ],
)
def test_a_new_bound_replaces_the_old_one(message: str, expected: object) -> None:
    assert conditions_of_plan(plan_conversation("parcels under 9 kg", message)[-1]) == [expected]


@pytest.mark.parametrize("message", ["whatever the carrier", "forget the carrier", "the carrier doesn't matter"])
def test_a_condition_that_no_longer_matters_is_dropped(message: str) -> None:
    assert conditions_of_plan(plan_conversation("parcels by Blue Van in 2024", message)[-1]) == [IN_2024]


def test_time_that_no_longer_matters_is_dropped() -> None:
    assert conditions_of_plan(plan_conversation("parcels by Blue Van in 2024", "regardless of the year")[-1]) == [
        BLUE_VAN
    ]


@pytest.mark.parametrize("message", ["and June?", "what about june", "in June"])
def test_a_bare_month_replaces_the_month_and_keeps_the_year(message: str) -> None:
    june = comparison_on("sent", Op.BETWEEN, ("2024-06-01", "2024-06-30"))
    assert conditions_of_plan(plan_conversation("parcels sent in May 2024", message)[-1]) == [june]


@pytest.mark.parametrize("message", ["the two of them combined", "both together", "and both?"])
def test_two_results_are_united(message: str) -> None:
    plan = plan_conversation("how many parcels by Blue Van", "and Redline Post?", message)[-1]
    assert conditions_of_plan(plan) == [comparison_on("carrier", Op.IN, ("Blue Van", "Redline Post"))]
    assert plan.legs[0].answer_form == COUNT


def test_versus_adds_a_side() -> None:
    plan = plan_conversation("total postage of Blue Van", "vs Redline Post?")[-1]
    assert plan.combination is LegCombination.COMPARE
    assert [leg.search.clauses[0].condition for leg in plan.legs] == [BLUE_VAN, REDLINE]


@pytest.mark.parametrize(
    ("question", "field"), [("what is the minimum width of insured parcels", "width"), ("parcels under 5 kg", "weight")]
)
def test_a_function_without_a_field_takes_the_field_of_the_last_question(question: str, field: str) -> None:
    answer_form = plan_conversation(question, "and the maximum?")[-1].legs[0].answer_form
    assert (answer_form.computed_functions, answer_form.computed_field) == ((AggregateFunction.MAXIMUM,), field)


def test_top_of_a_list_keeps_its_order() -> None:
    answer_form = plan_conversation("parcels by Blue Van", "sort by weight", "top 3")[-1].legs[0].answer_form
    assert isinstance(answer_form, ListDocuments)
    assert (answer_form.limit, answer_form.order is not None) == (3, True)


def test_nothing_is_exported_after_nothing_was_found() -> None:
    plan = plan_conversation("parcels by Blue Van")[-1]
    context = replace(QUESTION_CONTEXT, last_plan=plan, found_nothing=True)
    assert isinstance(decompose_question("export them", context), EmptyExportRequest)
    assert isinstance(decompose_question("export them", replace(context, found_nothing=False)), ExportRequest)
    assert isinstance(decompose_question("export them", QUESTION_CONTEXT), EmptyExportRequest)


def test_a_refinement_that_was_not_understood_does_not_stay() -> None:
    good, failed = plan_conversation("parcels by Blue Van", 'only those that mention "quux"')
    context = replace(QUESTION_CONTEXT, last_plan=failed, earlier_plans=(good,), found_nothing=True)
    decomposition = decompose_question("in 2024", context)
    assert isinstance(decomposition, PlannedQuestion)
    assert set(conditions_of_plan(decomposition.plan)) == {BLUE_VAN, IN_2024}
    assert decomposition.plan.legs[0].search.clauses[0].required_terms == ()


def test_a_new_condition_goes_back_to_the_list_after_a_question_about_one_of_it() -> None:
    plan = plan_conversation("heaviest parcel by Blue Van", "what's its width", "how about Redline Post")[-1]
    assert conditions_of_plan(plan) == [REDLINE]


def test_a_condition_that_is_not_there_changes_nothing_when_dropped() -> None:
    plans = plan_conversation("parcels by Blue Van", "forget the weight")
    assert plans[-1].legs[0].search.clauses == plans[0].legs[0].search.clauses


def test_a_word_that_was_not_understood_is_asked_about() -> None:
    plan = plan_conversation("parcels by Blue Van")[-1]
    planned = plan_next_message([plan], "only the gilded ones")
    assert planned.alternatives[0].unknown_words == ("gilded",)
    assert planned.plan.legs[0].search.clauses[0].required_terms == ()
