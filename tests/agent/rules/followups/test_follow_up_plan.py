"""Commands and follow-ups, with the parcels of `test_bucket_reading`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import pytest

from agent.decomposition import ExportRequest, KeptFieldCondition, PlannedQuestion, StartOverRequest
from agent.english.commands import (
    is_start_over_request,
    is_undo_request,
    leg_to_export,
    parse_more_request,
    strip_file_request,
)
from agent.rules.comparison.cues import replace_comparatives
from storage.search.conditions import ComparisonCondition, ComparisonOperator, Condition, NotCondition, conjuncts_of
from storage.search.ids import FieldName
from storage.search.plan import (
    AggregateFunction,
    ComputeNumbers,
    GroupBy,
    LegCombination,
    ListDocuments,
    Plan,
    ReadFields,
)
from storage.search.schema import SchemaOrder
from tests.agent.rules.reading.test_bucket_reading import (
    BUCKET,
    QUESTION_CONTEXT,
    comparison_on,
    decompose_question,
    plan_question,
)

CARRIER, WEIGHT = FieldName("carrier"), FieldName("weight")
BLUE_VAN = comparison_on("carrier", ComparisonOperator.EQ, "Blue Van")
HEAVY = comparison_on("weight", ComparisonOperator.GT, 5.0)


def plan_conversation(*questions: str) -> list[Plan]:
    """Returns the plans of a conversation; each question may continue the ones before it."""
    planned_so_far: list[Plan] = []
    for question in questions:
        planned_so_far.append(plan_next_message(planned_so_far, question).plan)
    return planned_so_far


def plan_next_message(earlier_plans: Sequence[Plan], question: str) -> PlannedQuestion:
    last_plan = earlier_plans[-1] if earlier_plans else None
    context = replace(QUESTION_CONTEXT, last_plan=last_plan, earlier_plans=tuple(earlier_plans[:-1]))
    return cast(PlannedQuestion, decompose_question(question, context))


def conditions_of_plan(plan: Plan) -> list[Condition]:
    return [*conjuncts_of(plan.legs[0].search.clauses[0].condition)]


@pytest.mark.parametrize("message", ["undo that", "Go back!", "take that back, please", "ok, undo", "back", "previous"])
def test_an_undo_request_is_a_command(message: str) -> None:
    assert is_undo_request(message)
    assert not is_start_over_request(message)


@pytest.mark.parametrize("message", ["which parcels went back?", "undo the parcel", "parcels that came back", "go"])
def test_words_of_undo_in_a_question_are_no_command(message: str) -> None:
    assert not is_undo_request(message)


EXPORT_REQUESTS = [
    *(
        "as CSV",
        "export them",
        "csv please",
        "export all 1,042 as CSV",
        "can I have that as a spreadsheet?",
        "make a csv",
    ),
    *(
        "give me all of them as an Excel file",
        "put them in a spreadsheet",
        "export now",
        "let me download them",
        "xlsx",
    ),
]


@pytest.mark.parametrize("message", EXPORT_REQUESTS)
def test_an_export_of_the_results_is_a_command(message: str) -> None:
    [last] = plan_conversation("list all parcels")

    assert leg_to_export(message, last) == last.legs[-1].id


@pytest.mark.parametrize(
    "message",
    [
        *("Export all parcels of Blue Van as CSV", "list the parcels of Blue Van as a spreadsheet, please"),
        *("Could you download the parcels of Blue Van?", "parcels of Blue Van in Excel format"),
    ],
)
def test_a_first_question_may_ask_for_a_file(message: str) -> None:
    request = decompose_question(message, QUESTION_CONTEXT)

    assert isinstance(request, ExportRequest)
    assert conditions_of_plan(request.plan) == [BLUE_VAN]


@pytest.mark.parametrize("message", ["export licences of 2022", "download speed of routers", "what is in Excel 4?"])
def test_a_question_about_files_is_no_request_for_a_file(message: str) -> None:
    assert strip_file_request(message) is None


@pytest.mark.parametrize(
    "message", ["who exports parcels?", "parcels with excel manuals", "what is a csv column?", "them"]
)
def test_words_for_files_in_a_question_are_no_command(message: str) -> None:
    [last] = plan_conversation("list all parcels")

    assert leg_to_export(message, last) is None


@pytest.mark.parametrize(
    ("message", "count"),
    [("more", None), ("the next ten", 10), ("show me 5 more", 5), ("next page", None), ("another three", 3)],
)
def test_a_request_for_more_may_have_a_number(message: str, count: int | None) -> None:
    request = parse_more_request(message)
    assert request is not None
    assert request.count == count


@pytest.mark.parametrize(
    "message", ["more than 5", "more parcels by Blue Van", "the next month", "continue with parcels"]
)
def test_a_constraint_is_no_request_for_more(message: str) -> None:
    assert parse_more_request(message) is None


def test_undo_returns_the_plan_before_the_last() -> None:
    earlier = plan_conversation("parcels by Blue Van", "only over 5 kg")
    result = plan_next_message(earlier, "undo that")
    assert (result.plan, result.is_undo) == (earlier[0], True)


def test_undo_of_the_first_question_starts_over() -> None:
    result = decompose_question(
        "go back", replace(QUESTION_CONTEXT, last_plan=plan_conversation("parcels by Blue Van")[-1])
    )
    assert result == StartOverRequest(nothing_before=True)


def test_of_them_adds_a_condition_and_replaces_none() -> None:
    (first,) = plan_conversation("parcels by Blue Van")
    result = plan_next_message([first], "how many of them are by Redline Post?")
    assert conditions_of_plan(result.plan) == [
        BLUE_VAN,
        comparison_on("carrier", ComparisonOperator.EQ, "Redline Post"),
    ]


def test_another_value_replaces_the_old_value_of_its_field() -> None:
    (first,) = plan_conversation("parcels by Blue Van over 5 kg")
    result = plan_next_message([first], "the same for Redline Post")
    assert set(conditions_of_plan(result.plan)) == {
        HEAVY,
        comparison_on("carrier", ComparisonOperator.EQ, "Redline Post"),
    }
    assert result.kept_conditions == (KeptFieldCondition(condition=HEAVY, bucket=BUCKET),)


def test_a_month_without_a_year_is_in_the_year_of_the_last_question() -> None:
    (first,) = plan_conversation("parcels by Blue Van in 2024")
    march = plan_next_message([first], "and in March?")
    assert comparison_on("sent", ComparisonOperator.BETWEEN, ("2024-03-01", "2024-03-31")) in conditions_of_plan(
        march.plan
    )


def test_the_others_are_the_rest_of_a_list_or_of_the_wider_set() -> None:
    others_of_list = plan_next_message(plan_conversation("parcels by Blue Van", "the 2 heaviest"), "the others")
    assert [(reference.positions, reference.is_exclusion) for reference in others_of_list.references] == [
        ((1, 2), True)
    ]
    others_of_set = plan_next_message(plan_conversation("parcels by Blue Van", "only over 5 kg"), "without those")
    assert conditions_of_plan(others_of_set.plan) == [BLUE_VAN, NotCondition(HEAVY)]


def test_a_comparative_after_a_short_list_chooses_from_this_list() -> None:
    result = plan_next_message(plan_conversation("parcels by Blue Van", "the 3 heaviest"), "which of them is longer?")
    order = SchemaOrder(field=FieldName("length"), descending=True)
    assert result.plan.legs[0].answer_form == ListDocuments(order=order, limit=1)
    assert [reference.positions for reference in result.references] == [(1, 2, 3)]


def test_compare_them_compares_the_results_that_exist() -> None:
    all_results = plan_next_message(plan_conversation("parcels by Blue Van"), "compare them")
    assert all_results.plan.combination is LegCombination.COMPARE
    assert [(reference.positions, reference.drop_leg_if_missing) for reference in all_results.references] == [
        ((position,), True) for position in (1, 2, 3, 4)
    ]
    two_results = plan_next_message(plan_conversation("parcels by Blue Van"), "compare the two by weight")
    assert [reference.drop_leg_if_missing for reference in two_results.references] == [False, False]
    assert {type(leg.answer_form) for leg in two_results.plan.legs} == {ReadFields}


def test_the_last_two_counts_are_compared_and_refined_together() -> None:
    earlier = plan_conversation("how many parcels came by Blue Van in 2023?", "and by Redline Post?")
    compared = plan_next_message(earlier, "compare the two")
    assert [leg.search for leg in compared.plan.legs] == [plan.legs[0].search for plan in earlier]
    with_year = plan_next_message([*earlier, compared.plan], "and in 2024?")
    assert all("2024-12-31" in str(leg.search) for leg in with_year.plan.legs)
    with_third_side = plan_next_message([*earlier, compared.plan], "what about Northern Star?")
    assert len(with_third_side.plan.legs) == 3


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("which of them is heavier?", "which of them is heaviest?"),
        ("which one is more expensive?", "which one is most expensive?"),
        ("which has the longer term?", "which has the longest term?"),
        ("which of them are longer than 5 m?", "which of them are longer than 5 m?"),
        ("parcels heavier", "parcels heavier"),
    ],
)
def test_a_comparative_that_chooses_from_the_results_becomes_a_superlative(message: str, expected: str) -> None:
    assert replace_comparatives(message) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many different carriers are there?", ComputeNumbers(
            functions=(AggregateFunction.DISTINCT,), field=CARRIER)),
        ("Which carriers are there?", ComputeNumbers(
            functions=(AggregateFunction.DISTINCT,), field=CARRIER, group=GroupBy(field=CARRIER))),
        ("List all carriers of parcels over 5 kg", ComputeNumbers(
            functions=(AggregateFunction.DISTINCT,), field=CARRIER, group=GroupBy(field=CARRIER))),
        ("Median weight of the parcels", ComputeNumbers(functions=(AggregateFunction.MEDIAN,), field=WEIGHT)),
        ("Parcels by carrier", ComputeNumbers(functions=(AggregateFunction.COUNT,), group=GroupBy(field=CARRIER))),
        ("Average weight per carrier", ComputeNumbers(
            functions=(AggregateFunction.AVERAGE,), field=WEIGHT, group=GroupBy(field=CARRIER))),
        ("The total and the average weight of parcels by Blue Van", ComputeNumbers(
            functions=(AggregateFunction.SUM, AggregateFunction.AVERAGE), field=WEIGHT)),
    ],
)  # fmt: skip
def test_numbers_may_be_asked_for_in_many_wordings(question: str, expected: ComputeNumbers) -> None:
    assert plan_question(question).plan.legs[0].answer_form == expected


def test_a_share_has_the_search_of_the_part_and_of_the_whole() -> None:
    plan = plan_question("What percentage of parcels in 2024 were by Blue Van?").plan
    answer_form = plan.legs[0].answer_form
    sent_in_2024 = comparison_on("sent", ComparisonOperator.BETWEEN, ("2024-01-01", "2024-12-31"))
    assert isinstance(answer_form, ComputeNumbers) and answer_form.share_base is not None  # noqa: PT018
    assert set(conditions_of_plan(plan)) == {BLUE_VAN, sent_in_2024}
    assert answer_form.share_base.clauses[0].condition == sent_in_2024


def test_a_share_of_money_is_no_share_of_documents() -> None:
    answer_form = plan_question("What share of the postage was paid to Blue Van?").plan.legs[0].answer_form
    assert not isinstance(answer_form, ComputeNumbers) or answer_form.share_base is None


def test_a_share_of_them_has_the_last_search_as_its_whole() -> None:
    (first,) = plan_conversation("parcels by Blue Van")
    share = plan_next_message([first], "what share of them are over 5 kg?").plan.legs[0]
    assert isinstance(share.answer_form, ComputeNumbers)
    assert share.answer_form.share_base == first.legs[0].search
    assert set(conjuncts_of(share.search.clauses[0].condition)) == {BLUE_VAN, HEAVY}


def test_the_next_page_skips_the_documents_shown_before() -> None:
    pages = plan_conversation("parcels by Blue Van", "more", "the next three")
    assert [plan.legs[0].answer_form for plan in pages[1:]] == [
        ListDocuments(limit=10, skip=10),
        ListDocuments(limit=3, skip=20),
    ]
    narrowed_form = plan_next_message(pages, "only over 5 kg").plan.legs[0].answer_form
    assert narrowed_form == ListDocuments()


def test_a_terse_comparison_has_a_leg_for_each_value() -> None:
    assert isinstance(BLUE_VAN, ComparisonCondition)
    for question in ("Blue Van / Redline Post: weight", "Weight: Blue Van vs Redline Post"):
        plan = plan_question(question).plan
        assert plan.combination is LegCombination.COMPARE, question
        assert ["Blue Van" in str(leg.search.clauses) for leg in plan.legs] == [True, False]


def test_a_comparison_by_period_sums_each_side() -> None:
    plan = plan_question("Blue Van vs Redline Post by year").plan
    assert {cast(ComputeNumbers, leg.answer_form).functions for leg in plan.legs} == {(AggregateFunction.SUM,)}
    assert all(cast(ComputeNumbers, leg.answer_form).group is not None for leg in plan.legs)
